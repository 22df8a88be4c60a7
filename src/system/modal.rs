use super::elastic::{Amplitude, Elastic, Field, ModeConstants, StationConstants};
use super::{BodyConstants, Bound, Declarations, ParamId, Quantity, Unit};
use crate::algebra::{Mat3, Vec3, Wrench};
use crate::spec::{self, PerAxis, at};
use std::f64::consts::TAU;

/// Modal data of a body from an external analysis: frequencies and damping ratios as parameters,
/// participation factors and shapes as constant tables.
///
/// The modes `Φ_k` are those of the body clamped at its origin, mass-normalised. The data are,
/// about the origin,
///
/// ```text
///     h_k = ∫ Φ_k dm,      r_k = ∫ x × Φ_k dm,      ∫ Φ_k·Φ_l dm = δ_kl.
/// ```
///
/// **Kinetic energy** of the mass centre and about the mass centre:
///
/// ```text
///     T = ½ m |v_c|² + ½ (ω·I_c ω + 2 ω·Σ b_k η̇_k + Σ N_kl η̇_k η̇_l)                  (1)
///     p_c = c + Σ h_k η_k/m,      v_c = v + ω × p_c + Σ h_k η̇_k/m                     (2)
///     b_k = r_k − c × h_k,        N_kl = δ_kl − h_k·h_l/m                             (3)
/// ```
///
/// with the mass centre `c` of the undeformed body and the inertia `I_c` about it. The first part
/// of (1) is exact. The second part is exact for the undeformed body only, and its coefficients are
/// constant in body axes: it lacks `∂I_c/∂η` and `∫ Φ_k × Φ_l dm`, which the data do not contain.
/// The linearised dynamics is therefore exact; the error is a modal force of second order in the
/// rates, relative to the elastic forces of order `(ω/ω_k)²`. There is no geometric stiffening.
///
/// (1) is one quadratic form in `v_c`, `ω` and `η̇` with constant coefficients: it is positive for
/// any deflection if it is positive for the undeformed body, which is validated. As it does not
/// depend on position and attitude of the body, linear and angular momentum are conserved.
///
/// **As an [`Elastic`]**, (2) is a displacement of the whole mass by the uniform field
/// `f_k = |h_k|/m` in the direction `e_k = h_k/|h_k|`; hence `a_k = |h_k|`, `Y_k = c |h_k|` and
/// `A_kl = |h_k| |h_l|/m`. The remainder, `b_k` of (3), is the [spin](ModeConstants::b) of the
/// mode.
#[derive(Clone, Debug)]
pub struct ModalData {
    /// Natural frequencies, Hz.
    frequency: ParamId,
    /// Damping ratio of each mode, if specified.
    damping_ratio: Option<ParamId>,
    /// First initial amplitude and first initial rate; each has one value for each mode.
    start: (ParamId, ParamId),
    /// For each mode, the momentum per unit of its rate about the body's origin, body axes: angular
    /// `r_k`, √kg·m, and linear `h_k`, √kg.
    participation: Vec<Wrench<f64>>,
    /// The body's origin and the nodes of the spec.
    nodes: Vec<Node>,
}

/// A node with known modal displacements.
#[derive(Clone, Debug)]
pub struct Node {
    /// The user's name; `None` for the body's origin.
    pub name: Option<String>,
    constants: StationConstants,
}

impl ModalData {
    /// Declares the parameters of the modal data of the body `name`.
    pub(super) fn declare(name: &str, written: &spec::ModalData, declare: &mut Declarations) -> Self {
        let n = written.frequencies.len();
        let mut each = |(field, place): (&str, &str), value: &dyn Fn(usize) -> f64, of: Quantity, tunable: bool| {
            let quantities = (1..=n).map(|k| Quantity {
                name: format!("{name}.{field}[{k}]"),
                ..of.clone()
            });
            let values: Vec<f64> = (0..n).map(value).collect();
            declare.parameters(
                quantities,
                &values,
                tunable,
                &at("body", name, &format!("modal.{place}")),
            )
        };
        let quantity =
            |what: &str, unit: Unit, bound: Bound| Quantity::new("", unit, format!("{what} of {name}")).bounded(bound);
        let frequency = quantity(
            "natural frequency of a mode, clamped at its origin,",
            Unit::Hertz,
            Bound::Positive,
        );
        let frequency = each(
            ("frequency", "frequencies"),
            &|k| written.frequencies[k],
            frequency,
            false,
        );
        let damping_ratio = written.damping_ratio.as_ref().map(|ratio: &PerAxis| {
            let quantity = quantity("damping ratio of a mode", Unit::One, Bound::NotNegative);
            each(("damping_ratio", "damping_ratio"), &|k| ratio.get(k), quantity, true)
        });
        let mut zero = |field: &str, what: &str| {
            let quantity = quantity(what, Unit::One, Bound::None);
            // Amplitudes are small.
            let quantity = Quantity {
                nominal: 1e-2,
                ..quantity
            };
            each((field, field), &|_| 0.0, quantity, false)
        };
        let start = (
            zero("eta_start", "initial amplitude (m·√kg) of a mode"),
            zero("etad_start", "initial rate (m·√kg/s) of a mode"),
        );
        let participation = (0..n).map(|k| {
            let row = written.participation.get(k);
            Wrench::new(vector(row, 3), vector(row, 0))
        });
        let origin = Node {
            name: None,
            constants: StationConstants {
                shape: vec![Vec3::zeros(); n],
                slope: vec![Vec3::zeros(); n],
                ..StationConstants::default()
            },
        };
        let nodes = written.node.iter().map(|(name, node)| Node::new(name, node, n));
        Self {
            frequency,
            damping_ratio,
            start,
            participation: participation.collect(),
            nodes: std::iter::once(origin).chain(nodes).collect(),
        }
    }

    /// Returns true if the modes have damping ratios.
    pub fn is_damped(&self) -> bool {
        self.damping_ratio.is_some()
    }

    /// Returns the number of modes.
    pub fn modes(&self) -> usize {
        self.participation.len()
    }

    /// Returns the parameter indices of the initial amplitude and the initial rate of the first
    /// mode; those of the other modes follow.
    pub fn start(&self) -> (ParamId, ParamId) {
        self.start
    }

    /// Returns the sums of the modes' effective masses along x, y and z, kg, and of their effective
    /// moments of inertia about the body's origin, kg·m².
    pub fn effective(&self) -> (Vec3<f64>, Vec3<f64>) {
        let square = |sum: Vec3<f64>, v: &Vec3<f64>| sum + v.component_mul(v);
        let all = self.participation.iter();
        let zero = (Vec3::zeros(), Vec3::zeros());
        all.fold(zero, |(mass, inertia), L| (square(mass, &L.f), square(inertia, &L.t)))
    }

    /// Returns the node nearest to the point `p` (m, body axes) of the undeformed body, and its
    /// distance, m.
    pub fn nearest(&self, p: &Vec3<f64>) -> (&Node, f64) {
        let away = |node: &Node| (node.constants.p - p).norm();
        let nodes = self.nodes.iter().map(|node| (node, away(node)));
        let nearest = nodes.min_by(|a, b| a.1.total_cmp(&b.1));
        nearest.expect("the origin is a node")
    }

    /// Returns the distance of the farthest node from the body's origin, m.
    pub fn size(&self) -> f64 {
        self.nodes
            .iter()
            .map(|node| node.constants.p.norm())
            .fold(0.0, f64::max)
    }

    /// Returns the constants of the dynamics for the parameters' values and the body's mass
    /// properties.
    pub(super) fn elastic(&self, values: &[f64], body: &BodyConstants) -> Elastic {
        let n = self.modes();
        let c = &body.p_BoBcm;
        let field = |(axis, k): (usize, usize)| {
            let a = self.participation[k].f[axis];
            (a != 0.0).then(|| Field {
                amplitude: Amplitude::Mode(k),
                axis,
                a,
                Y: c * a,
                l: 0.0,
            })
        };
        let fields: Vec<Field> = (0..3)
            .flat_map(|axis| (0..n).map(move |k| (axis, k)))
            .filter_map(field)
            .collect();
        let pairs = fields.iter().flat_map(|i| fields.iter().map(move |j| (i.a, j.a)));
        let mode = |(k, L): (usize, &Wrench<f64>)| {
            let omega = TAU * values[self.frequency.0 + k];
            let zeta = self.damping_ratio.map_or(0.0, |id| values[id.0 + k]);
            ModeConstants {
                b: L.shift(&-c).t, // (3)
                stiffness: omega * omega,
                damping: 2.0 * zeta * omega,
                of_curvature: [0.0; 2],
            }
        };
        Elastic {
            modes: self.participation.iter().enumerate().map(mode).collect(),
            along: Field::ranges(&fields),
            products: pairs.map(|(a_i, a_j)| a_i * a_j / body.m).collect(),
            fields,
            mass_terms: Vec::new(),
            h: body.h,
            J: body.J_Bo,
            mass: (0..n * n).map(|i| f64::from(i % (n + 1) == 0)).collect(),
            root: Vec3::zeros(),
            axes: Mat3::identity(),
            length: 0.0,
            line: Vec3::zeros(),
            omitted: Vec::new(),
        }
    }

    /// Returns the message for modal data whose momentum is not [consistent](Elastic::fits) with
    /// the body's mass.
    pub(super) fn misfit(&self, body: &BodyConstants) -> String {
        let (mass, inertia) = self.effective();
        let [mass, inertia, own] = [mass.into(), inertia.into(), body.J_Bo.d].map(|v: [f64; 3]| {
            let [x, y, z] = v.map(|x| crate::error::rounded(x, 4));
            format!("{x}, {y}, {z}")
        });
        format!(
            "the modes carry more momentum than the body's mass, mass centre and inertia allow: their effective masses are \
             [{mass}] kg, of {} kg, and their effective moments of inertia about the body's origin [{inertia}] kg·m², of \
             [{own}]. Check that the last three numbers of each row are about the body's origin (Nastran's MEFFMASS takes \
             them about that of the basic coordinate system, or about its GRID), that the modes are mass-normalised, that \
             all units are kg and m, and that `inertia` is about the mass centre",
            body.m
        )
    }
}

impl Node {
    fn new(name: &str, written: &spec::ModalNode, n: usize) -> Self {
        let rotation = written.rotation.as_deref().unwrap_or_default();
        Self {
            name: Some(name.to_owned()),
            constants: StationConstants {
                p: written.position.into(),
                written: written.position.into(),
                shape: (0..n).map(|k| vector(written.displacement.get(k), 0)).collect(),
                slope: (0..n).map(|k| vector(rotation.get(k), 0)).collect(),
                pairs: Vec::new(),
                is_aligned: false,
            },
        }
    }

    /// Returns the constants of a station at this node.
    pub(super) fn constants(&self) -> &StationConstants {
        &self.constants
    }
}

/// Returns three values of a row from `first`; missing values are zero.
fn vector(row: Option<&Vec<f64>>, first: usize) -> Vec3<f64> {
    let row = row.map_or(&[] as &[f64], Vec::as_slice);
    Vec3::from_fn(|i, _| row.get(first + i).copied().unwrap_or(0.0))
}
