use super::{Compiler, Cursor, Element, Instant, Invariance, Outputs, Resistance, View, beam};
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::spec::{JointType, Spec};
use crate::system::{self, Elastic, Quantity, System, Unit};

/// Elastic and damping forces on the modes of all flexible bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes;

impl Element for Modes {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let is_flexible = from.system.flexible().next().is_some();
        is_flexible.then_some(Self).into_iter().collect()
    }

    /// Adds the damping forces on the modes, `−2 ζ ω η̇`.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        for (modes, elastic) in flexible(now).filter(|(modes, _)| modes.are_damped) {
            for (k, mode) in elastic.modes.iter().enumerate() {
                applied.tau[modes.v + k] += now.qd[modes.v + k] * S::lift(-mode.damping);
            }
        }
    }

    /// Adds the elastic forces on the modes, `−ω² η`.
    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        for (modes, elastic) in flexible(now) {
            for (k, mode) in elastic.modes.iter().enumerate() {
                applied.tau[modes.v + k] -= now.q[modes.q + k] * S::lift(mode.stiffness);
            }
        }
    }

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        for (modes, elastic) in flexible(now) {
            for (k, mode) in elastic.modes.iter().enumerate() {
                on(modes.v + k, Resistance::of(mode.stiffness, mode.damping));
            }
        }
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        Some(flexible(now).fold(S::zero(), |energy, (modes, elastic)| {
            energy + elastic.strain_energy(&now.q[modes.coordinates()])
        }))
    }
}

/// Body with modal data: load at its root and strain energy, as outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModalBody(usize);

impl Element for ModalBody {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let bodies = from.system.bodies.iter().enumerate();
        bodies
            .filter(|(_, body)| body.modal.is_some())
            .map(|(i, _)| Self(i))
            .collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let body = &system.bodies[self.0];
        let name = &body.name;
        if body.joint.kind != JointType::Free {
            let force = format!("force on {name} through its joint, body axes");
            let moment = format!("moment on {name} through its joint, about its origin, body axes");
            let force = Quantity::vector(&format!("{name}.root_force"), Unit::Newton, &force);
            let moment = Quantity::vector(&format!("{name}.root_moment"), Unit::NewtonMetre, &moment);
            to.invariant(Invariance::Galilean, force.into_iter().chain(moment));
        }
        let what = format!("strain energy of {name}");
        to.continuous([Quantity::new(format!("{name}.elastic_energy"), Unit::Joule, what)]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let (modes, constants) = (&now.system.bodies[self.0].modes, &now.derived.bodies[self.0]);
        if let (Some(modes), Some(elastic)) = (modes, &constants.elastic) {
            beam::write_root_load(view, self.0, elastic, y);
            y.number(elastic.strain_energy(&now.q[modes.coordinates()]));
        }
    }
}

/// Returns the modes and elastic constants of the flexible bodies.
fn flexible<'a, S: Scalar>(
    now: &Instant<'a, S>,
) -> impl Iterator<Item = (&'a system::Modes, &'a Elastic<S::Constant>)> {
    let bodies = now.system.bodies.iter().zip(&now.derived.bodies);
    bodies.filter_map(|(body, constants)| Some((body.modes.as_ref()?, constants.elastic.as_deref()?)))
}
