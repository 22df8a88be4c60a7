use super::{Compiler, Cursor, Element, Outputs, View};
use crate::algebra::Scalar;
use crate::spec::Spec;
use crate::system::{Quantity, System, Unit};

/// Reaction wheel: its angular momentum, as an output. Its rotor is a body, its motor that of the
/// rotor's joint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wheel {
    /// Index of the rotor's body.
    rotor: usize,
}

impl Element for Wheel {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let bodies = from.system.bodies.iter().enumerate();
        let rotors = bodies.filter(|(_, body)| from.spec.wheel.contains_key(&body.joint.name));
        rotors.map(|(rotor, _)| Self { rotor }).collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let name = &system.bodies[self.rotor].joint.name;
        let what = format!("angular momentum of wheel {name} about its axis, relative to the body that carries it");
        let name = format!("{name}.momentum");
        to.continuous([Quantity::new(name, Unit::NewtonMetreSecond, what)]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let inertia = now.derived.bodies[self.rotor].J_Bo.d[2];
        y.number(now.qd[now.system.bodies[self.rotor].joint.v] * S::lift(inertia));
    }
}
