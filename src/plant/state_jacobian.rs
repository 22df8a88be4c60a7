use super::context::Constants;
use super::coordinates::Coordinates;
use super::evaluation::instant;
use super::{LANES, Model, OperatingPoint, Plant, Tangent};
use crate::Error;
use crate::algebra::{Dual, Scalar};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{Derivatives, Local};
use crate::elements::{Elements, Instant};
use crate::system::{JointState, Kinematics};
use nalgebra::DMatrixViewMut;

/// Exact Jacobian of the states' derivatives, `A = ∂ẋ/∂x`, by the tree's recursion
/// ([`Derivatives`]).
///
/// The result is that of [`Tangent`] (dual numbers through the whole evaluation), computed faster;
/// the discrete state is constant here too. [`Tangent`] itself is used if the states are not
/// coordinates of joints and modes, if a drive tracks a reference, with captures and loops, if a
/// load depends on the velocity of a body or on the positions of several, with ANCF beams, or with
/// currents or masses among the states.
///
/// The workspace is allocated once, here; an evaluation does not allocate.
#[derive(Clone, Debug)]
pub struct StateJacobian(Way);

#[derive(Clone, Debug)]
enum Way {
    ByTree(Box<ByTree>),
    ByDuals(Box<Tangent<LANES>>),
}

impl StateJacobian {
    /// Allocates the workspace for a model.
    pub fn new(model: &Model) -> Self {
        let loads = &model.elements;
        let beyond = loads.drives_read_state()
            || loads.closures() > 0
            || loads.reads().motions
            || !model.states_in_loads().is_empty()
            || !model.system.propellant.is_empty()
            || !model.system.nodal.is_empty();
        Self(match model.coordinates {
            Coordinates::Minimal if !beyond => Way::ByTree(Box::new(ByTree::new(model))),
            _ => Way::ByDuals(Box::new(Tangent::new(model))),
        })
    }

    /// Computes `A` at an operating point, column by column (the order of the implicit
    /// integrators).
    ///
    /// # Errors
    /// [`Error::Singular`] and [`Error::NotFinite`], with the names.
    pub fn evaluate(&mut self, plant: &Plant, at: OperatingPoint, A: &mut [f64]) -> Result<(), Error> {
        match &mut self.0 {
            Way::ByTree(tree) => tree.evaluate(plant, at, A),
            Way::ByDuals(tangent) => tangent.state_jacobian(plant, at, A),
        }
    }
}

/// Jacobian by the tree's recursion, with its workspace.
#[derive(Clone, Debug)]
struct ByTree {
    kinematics: Kinematics<f64>,
    active: Applied<f64>,
    applied: Applied<f64>,
    derivatives: Derivatives,
    inputs: Vec<f64>,
    lifted: Vec<Dual<{ Local::LANES }>>,
}

impl ByTree {
    fn new(model: &Model) -> Self {
        let reads = model.elements.reads();
        Self {
            kinematics: Kinematics::new(&model.system),
            active: Applied::none(&model.system),
            applied: Applied::none(&model.system),
            derivatives: Derivatives::new(&model.system, reads.joints, reads.bodies),
            inputs: vec![0.0; model.sources.len()],
            lifted: vec![Dual::lift(0.0); model.sources.len()],
        }
    }

    fn evaluate(&mut self, plant: &Plant, at: OperatingPoint, A: &mut [f64]) -> Result<(), Error> {
        let of = plant.constants();
        let Constants {
            model,
            derived,
            parameters,
        } = of;
        let OperatingPoint { t, x, u, discrete } = at;
        let (system, loads) = (&model.system, &model.elements);
        let (q, rest) = x.split_at(system.nq);
        let qd = &rest[..system.nv];
        model.inputs_at(parameters, t, u, discrete, &mut self.inputs);
        self.kinematics.update(system, derived, q, qd);
        let joints = JointState { q, qd };
        let now = instant(of, None, &self.kinematics, joints, &self.inputs, discrete);
        self.active.clear();
        loads.add_active(&now, &mut self.active);
        self.applied.copy_from(&self.active);
        loads.add_conservative(&now, &mut self.applied);
        let (kinematics, derivatives) = (&self.kinematics, &mut self.derivatives);
        let at = of.at(kinematics);
        derivatives
            .accelerate(at, &self.applied, qd)
            .map_err(|singular| model.named(singular))?;
        for (lifted, &input) in self.lifted.iter_mut().zip(&self.inputs) {
            *lifted = Dual::lift(input);
        }
        for pass in 0..derivatives.passes() {
            derivatives.seed(pass, at, joints);
            let inputs = self.lifted.as_slice();
            let add = |local: &mut Local, load: fn(&Elements, &Instant<_>, &mut Applied<_>)| {
                let joints = JointState {
                    q: &local.q,
                    qd: &local.qd,
                };
                let now = instant(of, None, &local.kinematics, joints, inputs, discrete);
                load(loads, &now, &mut local.applied);
            };
            derivatives.local().applied.clear();
            add(derivatives.local(), Elements::add_active);
            derivatives.take_power(pass, system, kinematics, qd);
            add(derivatives.local(), Elements::add_conservative);
            derivatives.take(pass, at.mechanism());
        }
        let nx = x.len();
        A.fill(0.0);
        derivatives.jacobian(at, &self.active, joints, DMatrixViewMut::from_slice(A, nx, nx));
        // The product of zero and an entry is zero if the entry is finite, else NaN; eight entries
        // are tested at a time.
        let (eights, rest) = A.as_chunks::<8>();
        let mut zero = [0.0; 8];
        for eight in eights {
            for (zero, entry) in zero.iter_mut().zip(eight) {
                *zero += 0.0 * entry;
            }
        }
        let finite = zero.iter().chain(rest).all(|entry| entry.is_finite());
        match A.iter().position(|entry| !finite && !entry.is_finite()) {
            None => Ok(()),
            Some(at) => Err(Error::NotFinite {
                variable: format!("a partial derivative of {}", model.derivatives[at % nx].name),
                t,
            }),
        }
    }
}
