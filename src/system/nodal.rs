mod adjoint;

pub use adjoint::PointGradient;

use super::{BodyKinematics, Bound, Declarations, Joint, OrbitPoint, ParamId, Parameter, Quantity, System, Unit};
use crate::Problem;
use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench, lift3, lift33, norm};
use crate::nodal::{Curvature, Element, Mass, Site, interpolate};
use crate::spec::{self, Axes, at};
use std::ops::Range;

/// Coordinates per node: position and slope.
pub const PER_NODE: usize = 6;

/// An ANCF beam: positions and slopes of its nodes are coordinates, their time derivatives are
/// rates.
#[derive(Clone, Debug)]
pub struct AncfBeam {
    /// The user's name.
    pub name: String,
    /// Index among the ANCF beams.
    pub index: usize,
    /// Offset of its coordinates among all coordinates.
    pub q: usize,
    /// Offset of its rates among all rates.
    pub v: usize,
    /// Number of its coordinates, equal to that of its rates.
    pub n: usize,
    /// Curvature measure of the bending energy.
    pub curvature: Curvature,
    /// Index of its root among the points of all beams; the next point is its tip.
    pub root: usize,
    sections: Vec<Section>,
    /// Initial attitude (four values), then initial position (three).
    pub q_start: ParamId,
    /// Initial angular velocity, then initial velocity (three values each).
    pub v_start: ParamId,
    /// Initial deviations of positions and slopes from the straight beam, in the order of its
    /// coordinates, in axes of its start.
    pub off_straight: ParamId,
    /// Axes to which the initial attitude, position and velocities are relative.
    pub start_axes: Axes,
}

/// Uniform section of an ANCF beam, with its number of elements.
#[derive(Clone, Copy, Debug)]
struct Section {
    elements: usize,
    length: ParamId,
    mass_per_length: ParamId,
    EA: ParamId,
    EI: ParamId,
}

/// A point of an ANCF beam: an end, or a point that carries a named frame.
#[derive(Clone, Debug)]
pub struct Point {
    /// Name of the frame; that of the beam for its root, empty for its tip.
    pub name: String,
    /// Index of the beam.
    pub beam: usize,
    /// Location on the beam.
    location: Location,
}

impl Point {
    /// Returns true for a frame, false for an end.
    pub fn is_frame(&self) -> bool {
        matches!(self.location, Location::At(_))
    }
}

#[derive(Clone, Copy, Debug)]
enum Location {
    Root,
    Tip,
    /// Distance from the root along the undeformed beam, m.
    At(ParamId),
}

/// Constants of an ANCF beam.
#[derive(Clone, Debug)]
pub struct NodalConstants {
    /// Its elements, root first.
    pub elements: Vec<Element>,
    /// Factored mass matrix of its nodal coordinates.
    pub mass_matrix: Mass,
    /// Mass, kg.
    pub m: f64,
    /// Initial z axis of the beam, world axes. For a start relative to the LVLH frame, that of the
    /// time 0.
    pub(super) z: Vec3<f64>,
}

impl AncfBeam {
    /// Returns the index range of its coordinates.
    pub fn coordinates(&self) -> Range<usize> {
        self.q..self.q + self.n
    }

    /// Returns the index range of its rates.
    pub fn rates(&self) -> Range<usize> {
        self.v..self.v + self.n
    }

    fn nodes(&self) -> usize {
        self.n / PER_NODE
    }

    /// Returns the quantities of all nodes: position and slope, or their rates.
    fn quantities(&self, [(location, place_unit), (slope, slope_unit)]: [(&str, Unit); 2]) -> Vec<Quantity> {
        let name = &self.name;
        let node = |i: usize| {
            let whose = format!("of node {} of {name}, inertial axes", i + 1);
            let vector = |field: &str, unit, what: &str| {
                Quantity::vector(
                    &format!("{name}.node[{}].{field}", i + 1),
                    unit,
                    &format!("{what} {whose}"),
                )
            };
            let (at, along) = match place_unit {
                Unit::Metre => ("position", "direction of the beam (dr/dx)"),
                _ => ("velocity", "rate of the direction of the beam"),
            };
            vector(location, place_unit, at)
                .into_iter()
                .chain(vector(slope, slope_unit, along))
        };
        (0..self.nodes()).flat_map(node).collect()
    }

    pub(super) fn states(&self) -> Vec<Quantity> {
        self.quantities([("r", Unit::Metre), ("slope", Unit::One)])
    }

    pub(super) fn state_rates(&self) -> Vec<Quantity> {
        self.quantities([("v", Unit::MetrePerSecond), ("slope_rate", Unit::PerSecond)])
    }

    /// Returns the nodal coordinates of an element, or their rates; `first` is the offset of the
    /// beam's coordinates in `all`.
    pub fn of_element<S: Scalar>(all: &[S], first: usize, element: usize) -> [Vec3<S>; 4] {
        let first = first + PER_NODE * element;
        std::array::from_fn(|k| Vec3::from_column_slice(&all[first + 3 * k..first + 3 * k + 3]))
    }

    /// Writes its initial coordinates and rates in the axes of the spec's start: the straight beam
    /// with the nodes' deviations, in rigid-body motion.
    pub fn start<S: Scalar>(&self, values: &[S], q: &mut [S], qd: &mut [S]) {
        let attitude = Quaternion::from_slice(&values[self.q_start.0..]).normalised();
        let vector = |first: usize| Vec3::from_column_slice(&values[first..first + 3]);
        let (r, v) = (vector(self.q_start.0 + 4), vector(self.v_start.0 + 3));
        let w = attitude.rotate(vector(self.v_start.0));
        let along = Vec3::new(S::one(), S::zero(), S::zero());
        let mut x = S::zero();
        let lengths = self.sections.iter().flat_map(|section| {
            let l = values[section.length.0] / S::lift(section.elements as f64);
            std::iter::repeat_n(l, section.elements)
        });
        let nodes = q[self.coordinates()].chunks_exact_mut(PER_NODE);
        let rates = qd[self.rates()].chunks_exact_mut(PER_NODE);
        let off = (self.off_straight.0..).step_by(PER_NODE);
        for (((q, qd), l), off) in nodes.zip(rates).zip(lengths.chain([S::zero()])).zip(off) {
            let u = attitude.rotate(along * x + vector(off));
            let slope = attitude.rotate(along + vector(off + 3));
            q[..3].copy_from_slice((r + u).as_slice());
            q[3..].copy_from_slice(slope.as_slice());
            qd[..3].copy_from_slice((v + w.cross(&u)).as_slice());
            qd[3..].copy_from_slice(w.cross(&slope).as_slice());
            x += l;
        }
    }

    /// Transforms a start in the rotating LVLH frame to world axes; positions and slopes transform
    /// as vectors.
    pub(super) fn start_in_orbit<S: Scalar>(&self, orbit: &OrbitPoint, q: &mut [S], qd: &mut [S]) {
        let (R_WO, w_WO) = (lift33::<S>(&orbit.R_WO), lift3::<S>(&orbit.w_WO));
        let vectors = q[self.coordinates()].chunks_exact_mut(3);
        for (q, qd) in vectors.zip(qd[self.v..self.v + self.n].chunks_exact_mut(3)) {
            let u = R_WO * Vec3::from_column_slice(q);
            let rate = R_WO * Vec3::from_column_slice(qd) + w_WO.cross(&u);
            q.copy_from_slice(u.as_slice());
            qd.copy_from_slice(rate.as_slice());
        }
    }

    fn derive(&self, values: &[f64], orbit: Option<&OrbitPoint>) -> NodalConstants {
        let elements: Vec<Element> = (self.sections.iter())
            .flat_map(|section| {
                let element = Element {
                    l: section.length.of(values) / section.elements as f64,
                    mass_per_length: section.mass_per_length.of(values),
                    EA: section.EA.of(values),
                    EI: section.EI.of(values),
                };
                std::iter::repeat_n(element, section.elements)
            })
            .collect();
        let z = self.q_start.quaternion(values).normalised().rotate(Vec3::z());
        NodalConstants {
            mass_matrix: Mass::new(&elements),
            m: elements.iter().map(Element::mass).sum(),
            elements,
            z: match (self.start_axes, orbit) {
                (Axes::Lvlh, Some(orbit)) => orbit.R_WO * z,
                _ => z,
            },
        }
    }
}

/// Declares the nodes' initial deviations from the straight beam; returns the index of the first
/// parameter.
fn declare_nodes(name: &str, written: &spec::AncfBeam, declare: &mut Declarations) -> Option<ParamId> {
    let starts = written
        .start_nodes
        .iter()
        .copied()
        .chain(std::iter::repeat(Default::default()));
    let declared = starts.take(written.nodes()).enumerate().map(|(i, start)| {
        let node = format!("{name}.node[{}]", i + 1);
        let mut vector = |field: &str, unit, what: &str, value: &[f64; 3]| {
            let what = format!(
                "initial deviation of the {what} of {node} from that of the straight beam, axes of the beam's \
                    initial attitude"
            );
            let quantities = Quantity::vector(&format!("{node}.{field}_start"), unit, &what);
            declare.parameters(quantities, value, false, &at("ancf_beam", name, "start_nodes"))
        };
        let first = vector("displacement", Unit::Metre, "position", &start.displacement);
        vector("slope", Unit::One, "direction (dr/dx)", &start.slope);
        first
    });
    declared.reduce(|first, _| first)
}

impl System {
    /// Creates the ANCF beams of a spec, with their ends as points; their coordinates follow those
    /// of joints and modes.
    pub(super) fn ancf_beams(&mut self, spec: &spec::Spec, declare: &mut Declarations) {
        for (name, written) in &spec.ancf_beam {
            let mut sections = Vec::new();
            let all = written.all_sections();
            for (i, section) in all.iter().enumerate() {
                let (prefix, location) = match all.len() {
                    1 if written.sections.is_empty() => (name.clone(), at("ancf_beam", name, "")),
                    _ => (format!("{name}.section[{}]", i + 1), at("ancf_beam", name, "sections")),
                };
                let mut number = |field: &str, unit, value: f64, what: &str| {
                    let quantity = Quantity::new(format!("{prefix}.{field}"), unit, format!("{what} of {prefix}"));
                    let location = [location.as_slice(), &[field.to_owned()]].concat();
                    declare.parameter(quantity.bounded(Bound::Positive), value, false, &location)
                };
                sections.push(Section {
                    elements: section.elements,
                    length: number("length", Unit::Metre, section.length, "length"),
                    mass_per_length: number(
                        "mass_per_length",
                        Unit::KilogramPerMetre,
                        section.mass_per_length,
                        "mass per length",
                    ),
                    EA: number("EA", Unit::Newton, section.EA, "axial stiffness"),
                    EI: number("EI", Unit::NewtonMetre2, section.EI, "bending stiffness"),
                });
            }
            let mut start = Joint::fixed(name, (0, 0));
            let location = at("ancf_beam", name, "start");
            super::declare::declare_free_start(
                &mut start,
                &written.start.clone().unwrap_or_default(),
                &location,
                declare,
            );
            let (Some(q_start), Some(v_start)) = (start.q_start, start.v_start) else {
                continue;
            };
            let Some(off_straight) = declare_nodes(name, written, declare) else {
                continue;
            };
            let (beam, root) = (self.nodal.len(), self.points.len());
            let point = |(name, location): (&str, Location)| Point {
                name: name.to_owned(),
                beam,
                location,
            };
            self.points
                .extend([(name.as_str(), Location::Root), ("", Location::Tip)].map(point));
            let n = PER_NODE * (1 + sections.iter().map(|section| section.elements).sum::<usize>());
            self.nodal.push(AncfBeam {
                name: name.clone(),
                index: beam,
                q: self.nq,
                v: self.nv,
                n,
                curvature: match written.curvature {
                    spec::Curvature::Quadratic => Curvature::Quadratic,
                    spec::Curvature::Exact => Curvature::Exact,
                },
                root,
                sections,
                q_start,
                v_start,
                off_straight,
                start_axes: start.start_axes,
            });
            self.nq += n;
            self.nv += n;
        }
    }

    /// Adds a frame as a point if it is on an ANCF beam; returns false otherwise.
    pub(super) fn point(&mut self, name: &str, on: &str, x: f64, declare: &mut Declarations) -> bool {
        let Some(beam) = self.nodal.iter().position(|beam| beam.name == on) else {
            return false;
        };
        let what = format!("distance of frame {name} from the root of {on}, along the beam");
        let quantity = Quantity::new(format!("{name}.x"), Unit::Metre, what).bounded(Bound::NotNegative);
        let x = declare.parameter(quantity, x, false, &at("frame", name, "origin"));
        self.points.push(Point {
            name: name.to_owned(),
            beam,
            location: Location::At(x),
        });
        true
    }

    /// Computes the constants of ANCF beams and of their points; reports invalid parameters.
    pub(super) fn derive_nodal(
        &self,
        declared: &[Parameter],
        values: &[f64],
        orbit: Option<&OrbitPoint>,
        problems: &mut Vec<Problem>,
    ) -> (Vec<NodalConstants>, Vec<Site>) {
        let mut derive = |beam: &AncfBeam| {
            let attitude = beam.q_start.quaternion(values);
            if attitude.norm_squared() < 1e-12 {
                problems.push(Problem {
                    at: declared[beam.q_start.0].at.clone(),
                    what: format!("the quaternion {:?} has zero norm", attitude.to_array()),
                });
            }
            for node in 0..beam.n / PER_NODE {
                let id = beam.off_straight.0 + PER_NODE * node + 3;
                let slope = Vec3::x() + Vec3::from_column_slice(&values[id..id + 3]);
                if slope.norm() < 1e-6 {
                    problems.push(Problem {
                        at: declared[id].at.clone(),
                        what: format!(
                            "the slope of node {} is zero at the start: the beam has no tangent there",
                            node + 1
                        ),
                    });
                }
            }
            beam.derive(values, orbit)
        };
        let beams: Vec<NodalConstants> = self.nodal.iter().map(&mut derive).collect();
        let mut site = |point: &Point| {
            let elements = &beams[point.beam].elements;
            let length: f64 = elements.iter().map(|element| element.l).sum();
            let x = match point.location {
                Location::Root => 0.0,
                Location::Tip => length,
                Location::At(id) => {
                    let x = id.of(values);
                    // The sum of the elements' lengths has round-off.
                    if !(0.0..=length * (1.0 + 1e-9)).contains(&x) {
                        let beam = &self.nodal[point.beam].name;
                        problems.push(Problem {
                            at: declared[id.0].at.clone(),
                            what: format!(
                                "x = {x} m is not on the beam \"{beam}\", which extends from 0 to {length} m"
                            ),
                        });
                    }
                    x
                }
            };
            Site::at(elements, x)
        };
        let sites = self.points.iter().map(&mut site).collect();
        (beams, sites)
    }
}

/// Position and motion of a point of an ANCF beam.
#[derive(Clone, Copy, Debug)]
pub struct PointKinematics<S: Scalar> {
    /// Position and motion of the point's axes, which carry frames. They rotate with the tangent of
    /// the beam, without spin about it: `w = r′ × ṙ′ / |r′|²`. The x axis is the tangent. The z
    /// axis is perpendicular to it and nearest to the beam's initial z axis, because the beam has
    /// no torsional coordinate.
    pub at: BodyKinematics<S>,
    /// The slope `r′`.
    slope: Vec3<S>,
    site: Site,
}

impl<S: Scalar> PointKinematics<S> {
    /// Creates a point of the same beam at the same site as `of`, with this position and motion.
    pub(crate) fn at_site_of(of: &PointKinematics<f64>, at: BodyKinematics<S>, slope: Vec3<S>) -> Self {
        Self {
            at,
            slope,
            site: of.site,
        }
    }

    pub(super) fn nowhere() -> Self {
        Self {
            at: BodyKinematics::world(),
            slope: Vec3::zeros(),
            site: Site::default(),
        }
    }

    /// Computes position and motion.
    pub(super) fn update(&mut self, beam: &AncfBeam, z: &Vec3<f64>, site: &Site, q: &[S], qd: &[S]) {
        let e = AncfBeam::of_element(q, beam.q, site.element);
        let e_dot = AncfBeam::of_element(qd, beam.v, site.element);
        let (slope, slope_rate) = (interpolate(site.slope, &e), interpolate(site.slope, &e_dot));
        let per_ss = S::one() / slope.dot(&slope);
        let w = slope.cross(&slope_rate) * per_ss;
        let stretching = slope.dot(&slope_rate) * per_ss;
        *self = Self {
            at: BodyKinematics {
                R_WB: about(&slope, z),
                p_WB: interpolate(site.shape, &e),
                r_PB_W: Vec3::zeros(),
                V_WB: Twist::new(w, interpolate(site.shape, &e_dot)),
                A_bias: Twist::new(w * (stretching * S::lift(-2.0)), Vec3::zeros()),
            },
            slope,
            site: *site,
        };
    }

    /// Returns the acceleration beyond `A_bias`, from the derivatives `qdd` of all rates.
    pub fn beyond_bias(&self, beam: &AncfBeam, qdd: &[S]) -> Twist<S> {
        let e = AncfBeam::of_element(qdd, beam.v, self.site.element);
        let w = self.slope.cross(&interpolate(self.site.slope, &e)) / self.slope.dot(&self.slope);
        Twist::new(w, interpolate(self.site.shape, &e))
    }

    /// Adds the derivatives of the component `t·ω` of the angular velocity with respect to the
    /// coordinates, at constant rates `qd`, to `q_bar`.
    pub(crate) fn add_rate_adjoint(&self, beam: &AncfBeam, qd: &[S], t: &Vec3<S>, q_bar: &mut [S]) {
        let rate = interpolate(self.site.slope, &AncfBeam::of_element(qd, beam.v, self.site.element));
        let per_ss = S::one() / self.slope.dot(&self.slope);
        let along = t.dot(&self.slope.cross(&rate)) * per_ss;
        let by_slope = (rate.cross(t) - self.slope * (along + along)) * per_ss;
        let first = beam.q + PER_NODE * self.site.element;
        for (bar, slope) in q_bar[first..].chunks_exact_mut(3).zip(self.site.slope) {
            bar.iter_mut()
                .zip(&by_slope)
                .for_each(|(bar, by)| *bar += *by * S::lift(slope));
        }
    }

    /// Adds the generalised forces of the wrench `F` about the point to `tau`; a moment about the
    /// tangent has no effect.
    pub fn push(&self, beam: &AncfBeam, F: &Wrench<S>, tau: &mut [S]) {
        let on_slope = F.t.cross(&self.slope) / self.slope.dot(&self.slope);
        let first = beam.v + PER_NODE * self.site.element;
        let weights = self.site.shape.into_iter().zip(self.site.slope);
        for (tau, (shape, slope)) in tau[first..].chunks_exact_mut(3).zip(weights) {
            let Q = F.f * S::lift(shape) + on_slope * S::lift(slope);
            tau.iter_mut().zip(&Q).for_each(|(tau, Q)| *tau += *Q);
        }
    }
}

/// Returns axes, as columns, with x along `along` and z nearest to the given direction `z`.
fn about<S: Scalar>(along: &Vec3<S>, z: &Vec3<f64>) -> Mat3<S> {
    let x = along / norm(along);
    let (_, across) = across(&x, z);
    let y = across / norm(&across);
    Mat3::from_columns(&[x, y, x.cross(&y)])
}

/// Returns the constant direction that determines the axes about the tangent `x`, and its product
/// with `x`: `z`, or if the tangent is parallel to it, an axis that is not.
fn across<S: Scalar>(x: &Vec3<S>, z: &Vec3<f64>) -> (Vec3<f64>, Vec3<S>) {
    let across = lift3::<S>(z).cross(x);
    match across.dot(&across).value() > 1e-16 {
        true => (*z, across),
        false => {
            let axis = Vec3::ith(z.iamin(), 1.0);
            (axis, lift3::<S>(&axis).cross(x))
        }
    }
}
