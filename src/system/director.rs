use super::{Bound, Declarations, Joint, Kinematics, ParamId, Quantity, System, Unit};
use crate::algebra::{Scalar, Sym3, Vec3};
use crate::nodal::{DirectorElement, Span};
use crate::spec::{self, JointType, at};

/// A geometrically exact beam: the bodies that are its nodes, and the indices of its parameters.
#[derive(Clone, Debug)]
pub struct GeometricallyExactBeam {
    /// The body at its root. The other nodes follow in order.
    pub root: usize,
    /// Number of elements.
    pub elements: usize,
    length: ParamId,
    mass_per_length: ParamId,
    polar_inertia_per_length: ParamId,
    EA: ParamId,
    GJ: ParamId,
    /// Shear stiffness along y and z; both indices are equal if the spec gives one value.
    GA: [ParamId; 2],
    /// Bending stiffness about y and z.
    EI: [ParamId; 2],
    damping_time: Option<ParamId>,
}

/// The constants of a geometrically exact beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectorConstants {
    /// The element; all elements of the beam are equal.
    pub element: DirectorElement,
    /// Damping time τ, s: the stresses are those due to the strain plus τ times the strain rate.
    pub damping_time: f64,
}

impl GeometricallyExactBeam {
    fn declare(name: &str, root: usize, written: &spec::GeometricallyExactBeam, declare: &mut Declarations) -> Self {
        let mut number = |field: &str, unit: Unit, bound, value: f64, what: &str| {
            let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} of {name}"));
            let place = at("body", name, &format!("geometrically_exact_beam.{field}"));
            declare.parameter(quantity.bounded(bound), value, false, &place)
        };
        let positive = Bound::Positive;
        let (per_length, newton, bending) = (Unit::KilogramPerMetre, Unit::Newton, Unit::NewtonMetre2);
        let polar = "polar inertia per length";
        Self {
            root,
            elements: written.elements,
            length: number("length", Unit::Metre, positive, written.length, "length"),
            mass_per_length: number(
                "mass_per_length",
                per_length,
                positive,
                written.mass_per_length,
                "mass per length",
            ),
            polar_inertia_per_length: number(
                "polar_inertia_per_length",
                Unit::KilogramMetre,
                positive,
                written.polar_inertia_per_length,
                polar,
            ),
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
        let along = place.x / self.element_length(values);
        // The cast maps NaN to zero.
        (along.round().max(0.0) as usize).min(self.elements)
    }

    fn element_length(&self, values: &[f64]) -> f64 {
        self.length.of(values) / self.elements as f64
    }

    /// Returns the undeformed position of a node from the root, m, root axes.
    pub(super) fn place(&self, values: &[f64], node: usize) -> Vec3<f64> {
        Vec3::x() * (self.element_length(values) * node as f64)
    }

    /// Returns mass (kg), mass centre (m) and inertia about it (kg·m²) of a node, body axes. A node
    /// consists of the adjacent halves of its elements, as rigid bars. Mass, mass centre and
    /// inertia of the whole straight beam are therefore exact, and the inertia of the bars
    /// compensates the excess stiffness of the elements for short waves.
    pub(super) fn node(&self, values: &[f64], node: usize) -> (f64, Vec3<f64>, Sym3<f64>) {
        let half = 0.5 * self.element_length(values);
        let m = self.mass_per_length.of(values) * half;
        let polar = self.polar_inertia_per_length.of(values) * half;
        let [EI_y, EI_z] = self.EI.map(|id| id.of(values));
        let part = |EI: f64| m * half * half / 12.0 + polar * EI / (EI_y + EI_z);
        let bar = Sym3 {
            d: [polar, part(EI_y), part(EI_z)],
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

    pub(super) fn derive(&self, values: &[f64]) -> DirectorConstants {
        let [[GA_y, GA_z], [EI_y, EI_z]] = [self.GA, self.EI].map(|ids| ids.map(|id| id.of(values)));
        DirectorConstants {
            element: DirectorElement {
                l: self.element_length(values),
                stretch: Vec3::new(self.EA.of(values), GA_y, GA_z),
                bend: Vec3::new(self.GJ.of(values), EI_y, EI_z),
            },
            damping_time: self.damping_time.map_or(0.0, |id| id.of(values)),
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

    /// Returns the undeformed position of the node `body` of a geometrically exact beam from the
    /// beam's root, m, root axes; zero for other bodies.
    pub(super) fn node_place(&self, body: usize, values: &[f64]) -> Vec3<f64> {
        let beam = self.bodies[body].director.map(|index| &self.directors[index]);
        beam.map_or_else(Vec3::zeros, |beam| beam.place(values, self.bodies[body].segment))
    }
}
