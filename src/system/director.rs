use super::beam_shape::Shape;
use super::{Body, Bound, Declarations, Joint, Kinematics, ParamId, Parameter, Quantity, System, Unit};
use crate::Problem;
use crate::algebra::{Pose, Scalar, Sym3, Twist, Vec3};
use crate::nodal::{CurvedBeam, DirectorElement, MOST_ROTATION, SectionOfBeam, Span};
use crate::spec::{self, JointType, at};

/// A geometrically exact beam: the bodies that are its nodes, and the indices of its parameters.
#[derive(Clone, Debug)]
pub struct GeometricallyExactBeam {
    /// The body at its root. The other nodes follow in order.
    pub root: usize,
    /// Number of elements.
    pub elements: usize,
    shape: Shape,
    mass_per_length: ParamId,
    inertia: SectionInertia,
    EA: ParamId,
    GJ: ParamId,
    /// Shear stiffness along y and z; both indices are equal if the spec gives one value.
    GA: [ParamId; 2],
    /// Bending stiffness about y and z.
    EI: [ParamId; 2],
    damping_time: Option<ParamId>,
}

/// Inertia of the section per length, kg·m.
#[derive(Clone, Copy, Debug)]
enum SectionInertia {
    /// About the beam's axis. It is divided between y and z in proportion to the bending stiffness.
    Polar(ParamId),
    /// About y and z.
    Transverse([ParamId; 2]),
}

/// The constants of a geometrically exact beam.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectorConstants {
    /// The element of a straight beam, whose elements are all equal. In a curved beam its length is
    /// the arc length of each element.
    pub element: DirectorElement,
    /// Damping time τ, s: the stresses are those due to the strain plus τ times the strain rate.
    pub damping_time: f64,
    /// Nodes and elements of a curved beam.
    pub curved: Option<Box<CurvedBeam>>,
}

impl DirectorConstants {
    /// Returns the element `i`, and its configuration from that of its two `nodes`: they are equal
    /// unless the beam is curved.
    #[inline(always)]
    pub fn element<S: Scalar>(&self, i: usize, nodes: Span<S>) -> (&DirectorElement, Span<S>) {
        match &self.curved {
            None => (&self.element, nodes),
            Some(beam) => (&beam.elements[i].element, beam.elements[i].span(nodes)),
        }
    }

    /// Expresses the rates `own` of the free joint between the nodes a and b of the element `i`
    /// (angular velocity in axes of b, velocity in axes of the joint) in axes of the directors: the
    /// angular velocity in those of b, the velocity in those of a.
    #[inline(always)]
    pub fn director_rates<S: Scalar>(&self, i: usize, own: Twist<S>) -> Twist<S> {
        match &self.curved {
            None => own,
            Some(beam) => beam.elements[i].rates(own),
        }
    }
}

impl GeometricallyExactBeam {
    fn declare(name: &str, root: usize, written: &spec::GeometricallyExactBeam, declare: &mut Declarations) -> Self {
        let shape = Shape::declare(name, written, declare);
        let mut number = |field: &str, unit: Unit, bound, value: f64, what: &str| {
            let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} of {name}"));
            let place = at("body", name, &format!("geometrically_exact_beam.{field}"));
            declare.parameter(quantity.bounded(bound), value, false, &place)
        };
        let positive = Bound::Positive;
        let (per_length, newton, bending) = (Unit::KilogramPerMetre, Unit::Newton, Unit::NewtonMetre2);
        Self {
            root,
            elements: written.elements,
            shape,
            mass_per_length: number(
                "mass_per_length",
                per_length,
                positive,
                written.mass_per_length,
                "mass per length",
            ),
            inertia: match written.polar_inertia_per_length {
                Some(value) => SectionInertia::Polar(number(
                    "polar_inertia_per_length",
                    Unit::KilogramMetre,
                    positive,
                    value,
                    "polar inertia per length",
                )),
                None => SectionInertia::Transverse(
                    [("y", written.inertia_y_per_length), ("z", written.inertia_z_per_length)].map(|(axis, value)| {
                        let field = format!("inertia_{axis}_per_length");
                        let what = format!("inertia of the section about {axis} per length");
                        number(&field, Unit::KilogramMetre, positive, value.unwrap_or(0.0), &what)
                    }),
                ),
            },
            EA: number("EA", newton, positive, written.EA, "axial stiffness"),
            GJ: number("GJ", bending, positive, written.GJ, "torsional stiffness"),
            GA: match written.GA {
                Some(GA) => [number("GA", newton, positive, GA, "shear stiffness"); 2],
                None => [("GA_y", written.GA_y, "along y"), ("GA_z", written.GA_z, "along z")].map(
                    |(field, value, along)| {
                        let what = format!("shear stiffness {along}");
                        number(field, newton, positive, value.unwrap_or(0.0), &what)
                    },
                ),
            },
            EI: match written.EI {
                Some(EI) => [number("EI", bending, positive, EI, "bending stiffness"); 2],
                None => [("EI_y", written.EI_y, "about y"), ("EI_z", written.EI_z, "about z")].map(
                    |(field, value, about)| {
                        let what = format!("bending stiffness {about}");
                        number(field, bending, positive, value.unwrap_or(0.0), &what)
                    },
                ),
            },
            damping_time: written.damping_time.map(|time| {
                let what = "damping time (stress due to the strain rate)";
                number("damping_time", Unit::Second, Bound::NotNegative, time, what)
            }),
        }
    }

    /// Returns the two bodies (nodes) of each element.
    pub fn spans(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let root = self.root;
        (0..self.elements).map(move |element| [root + element, root + element + 1])
    }

    /// Returns the body at the tip.
    pub fn tip(&self) -> usize {
        self.root + self.elements
    }

    /// Returns the index of the node, counted from the root, that is nearest to the undeformed
    /// position `place` in the body (m).
    fn nearest(&self, values: &[f64], place: &Vec3<f64>) -> usize {
        let Shape::Straight { length } = self.shape else {
            // An inadmissible shape is reported by `derive`.
            return self.curved(values).map_or(0, |beam| beam.nearest(place));
        };
        let along = place.x / (length.of(values) / self.elements as f64);
        // The cast maps NaN to zero.
        (along.round().max(0.0) as usize).min(self.elements)
    }

    /// Returns the beam along its curve; `None` if it is straight or the curve is inadmissible.
    fn curved(&self, values: &[f64]) -> Option<CurvedBeam> {
        let curve = self.shape.curve(values).ok().flatten()?;
        CurvedBeam::new(&curve, self.elements, &self.section(values)).ok()
    }

    fn section(&self, values: &[f64]) -> SectionOfBeam {
        let [[GA_y, GA_z], [EI_y, EI_z]] = [self.GA, self.EI].map(|ids| ids.map(|id| id.of(values)));
        SectionOfBeam {
            stretch: Vec3::new(self.EA.of(values), GA_y, GA_z),
            bend: Vec3::new(self.GJ.of(values), EI_y, EI_z),
            mass: self.mass_per_length.of(values),
            inertia: self.section_inertia(values, 1.0),
        }
    }

    /// Returns mass (kg), mass centre (m) and inertia about it (kg·m²) of a node, body axes. A node
    /// consists of the adjacent halves of its elements, as rigid bars. Mass, mass centre and
    /// inertia of the whole undeformed beam are therefore exact, and the inertia of the bars
    /// compensates the excess stiffness of the elements for short waves.
    pub(super) fn node(
        &self,
        values: &[f64],
        constants: &DirectorConstants,
        node: usize,
    ) -> (f64, Vec3<f64>, Sym3<f64>) {
        if let Some(beam) = &constants.curved {
            let mass = &beam.masses[node];
            return (mass.m, mass.centre, mass.inertia);
        }
        let half = 0.5 * constants.element.l;
        let m = self.mass_per_length.of(values) * half;
        let [polar, about_y, about_z] = self.section_inertia(values, half);
        let across = m * half * half / 12.0;
        let bar = Sym3 {
            d: [polar, across + about_y, across + about_z],
            o: [0.0; 3],
        };
        let sides = [(node > 0, -0.5 * half), (node < self.elements, 0.5 * half)];
        let bars: Vec<f64> = (sides.into_iter())
            .filter_map(|(there, x)| there.then_some(x))
            .collect();
        let centre = Vec3::x() * (bars.iter().sum::<f64>() / bars.len() as f64);
        let inertia = bars.iter().fold(Sym3::zero(), |inertia, &x| {
            inertia + bar + Sym3::point_mass(m, &(Vec3::x() * x - centre))
        });
        (m * bars.len() as f64, centre, inertia)
    }

    /// Returns the inertia about x, y and z of all sections on the length `l` (m), without that of
    /// their distance from its midpoint, kg·m².
    fn section_inertia(&self, values: &[f64], l: f64) -> [f64; 3] {
        match self.inertia {
            SectionInertia::Polar(id) => {
                let polar = id.of(values) * l;
                let [EI_y, EI_z] = self.EI.map(|id| id.of(values));
                [polar, polar * EI_y / (EI_y + EI_z), polar * EI_z / (EI_y + EI_z)]
            }
            SectionInertia::Transverse(ids) => {
                let [about_y, about_z] = ids.map(|id| id.of(values) * l);
                [about_y + about_z, about_y, about_z]
            }
        }
    }

    /// Computes the constants; reports an inadmissible shape, in whose place the beam is straight.
    pub(super) fn derive(
        &self,
        declared: &[Parameter],
        values: &[f64],
        problems: &mut Vec<Problem>,
    ) -> DirectorConstants {
        let SectionOfBeam { stretch, bend, .. } = self.section(values);
        let damping_time = self.damping_time.map_or(0.0, |id| id.of(values));
        let straight = |length: f64| DirectorConstants {
            element: DirectorElement {
                l: length / self.elements as f64,
                stretch,
                bend,
            },
            damping_time,
            curved: None,
        };
        let curve = match (self.shape, self.shape.curve(values)) {
            (Shape::Straight { length }, _) => return straight(length.of(values)),
            (_, Ok(Some(curve))) => curve,
            (_, Ok(None)) => return straight(1.0),
            (_, Err((id, what))) => {
                // The violation of a bound is reported with all others.
                if !what.is_empty() {
                    let at = declared[id.0].at.clone();
                    problems.push(Problem { at, what });
                }
                return straight(1.0);
            }
        };
        let constants = straight(curve.length());
        match CurvedBeam::new(&curve, self.elements, &self.section(values)) {
            Ok(beam) => DirectorConstants {
                curved: Some(Box::new(beam)),
                ..constants
            },
            Err(rotation) => {
                let what = format!(
                    "at rest an element bends by {:.1}°, and the most is {:.0}°: write more elements, or a smoother shape",
                    rotation.to_degrees(),
                    MOST_ROTATION.to_degrees()
                );
                let table = declared[self.shape.first().0].at.iter().take(3).cloned();
                let at = table.chain(["elements".to_owned()]).collect();
                problems.push(Problem { at, what });
                constants
            }
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Returns relative position and triads of the two bodies of an element.
    pub fn span(&self, [a, b]: [usize; 2]) -> Span<S> {
        Span {
            r: self.bodies[b].r_PB_W,
            triads: [self.bodies[a].R_WB, self.bodies[b].R_WB],
        }
    }
}

impl System {
    /// Appends the nodes of a geometrically exact beam after its root, the last body; each has a
    /// free joint relative to the preceding node.
    pub(super) fn geometrically_exact_beam(
        &mut self,
        name: &str,
        written: &spec::GeometricallyExactBeam,
        declare: &mut Declarations,
    ) {
        let (index, root) = (self.directors.len(), self.bodies.len() - 1);
        let beam = GeometricallyExactBeam::declare(name, root, written, declare);
        self.bodies[root].director = Some(index);
        for node in 1..=written.elements {
            let joint = Joint {
                written: true,
                kind: JointType::Free,
                nq: 7,
                nv: 6,
                ..Joint::fixed(&format!("{name}.element[{node}]"), (self.nq, self.nv))
            };
            self.nq += joint.nq;
            self.nv += joint.nv;
            let inner = self.bodies.len() - 1;
            self.body(
                format!("{name}.node[{}]", node + 1),
                Some(inner),
                joint,
                (None, node),
                None,
                None,
            );
            self.bodies[inner + 1].director = Some(index);
        }
        self.directors.push(beam);
    }

    /// Returns the body that carries the position `place` (m) of the body `first` in the spec: the
    /// nearest node of a geometrically exact beam, otherwise the body itself.
    pub(super) fn node_at(&self, first: usize, values: &[f64], place: &Vec3<f64>) -> usize {
        let beam = self.bodies[first].director.map(|index| &self.directors[index]);
        first + beam.map_or(0, |beam| beam.nearest(values, place))
    }

    /// Returns the undeformed position of the node `body` of a straight geometrically exact beam
    /// from the beam's root, m, root axes; zero for other bodies.
    pub(super) fn node_place(&self, body: usize, directors: &[DirectorConstants]) -> Vec3<f64> {
        let beam = self.bodies[body].director.map(|index| &directors[index]);
        beam.map_or_else(Vec3::zeros, |beam| {
            Vec3::x() * (beam.element.l * self.bodies[body].segment as f64)
        })
    }

    /// Returns the undeformed pose of the node `body` of a curved geometrically exact beam from the
    /// beam's root, root axes; `None` for other bodies.
    pub(super) fn node_pose<'a>(&self, body: usize, directors: &'a [DirectorConstants]) -> Option<&'a Pose<f64>> {
        let beam = directors[self.bodies[body].director?].curved.as_ref()?;
        Some(&beam.nodes[self.bodies[body].segment])
    }

    /// Returns true if the body is a node, after the root, of a geometrically exact beam that is
    /// curved without stress: its axes differ from those of the body in the spec.
    pub(super) fn is_turned_node(&self, body: usize) -> bool {
        let &Body { director, segment, .. } = &self.bodies[body];
        let is_curved = |index: usize| !matches!(self.directors[index].shape, Shape::Straight { .. });
        segment > 0 && director.is_some_and(is_curved)
    }
}
