use super::{Compiler, Cursor, Element, Invariance, Outputs, View};
use crate::algebra::{Scalar, Vec3, Wrench};
use crate::spec::Spec;
use crate::system::{Quantity, System, Unit};

/// Control moment gyro: the angular momentum of its rotor and its moment on the body that carries
/// it, as outputs. Gimbal and rotor are bodies.
#[derive(Clone, Debug)]
pub(crate) struct Cmg {
    /// Name in the spec.
    name: String,
    /// Indices of the bodies of the carrier, the gimbal and the rotor.
    carrier: usize,
    gimbal: usize,
    rotor: usize,
}

impl Element for Cmg {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let bodies = &from.system.bodies;
        let find = |name: &String| bodies.iter().position(|body| body.name == *name);
        let cmg = |(name, written): (&String, &crate::spec::Cmg)| {
            let [[gimbal, _], [rotor, _]] = crate::spec::Cmg::parts(name);
            Some(Self {
                name: name.clone(),
                carrier: find(&written.body)?,
                gimbal: find(&gimbal)?,
                rotor: find(&rotor)?,
            })
        };
        from.spec.cmg.iter().filter_map(cmg).collect()
    }

    fn outputs(&self, spec: &Spec, _: &System, to: &mut Outputs) {
        let (name, carrier) = (&self.name, &spec.cmg[&self.name].body);
        let what = format!(
            "angular momentum of the rotor of gyro {name} about its axis, relative to its gimbal, axes of {carrier}"
        );
        let momentum = Quantity::vector(&format!("{name}.momentum"), Unit::NewtonMetreSecond, &what);
        to.invariant(Invariance::Objective, momentum);
        let what = format!("moment of gyro {name} on {carrier}, about the centre of its rotor, axes of {carrier}");
        let moment = Quantity::vector(&format!("{name}.moment"), Unit::NewtonMetre, &what);
        to.invariant(Invariance::Galilean, moment);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let R_PW = now.kinematics.bodies[self.carrier].R_WB.transpose();
        let spin = now.qd[now.system.bodies[self.rotor].joint.v];
        let inertia = now.derived.bodies[self.rotor].J_Bo.d[2];
        let axis: Vec3<S> = now.kinematics.bodies[self.rotor].R_WB.column(2).into_owned();
        y.vector(&(R_PW * axis * (spin * S::lift(inertia))));
        // The gimbal's origin is the centre of the rotor.
        let F: Wrench<S> = Wrench::zero() - view.transmitted(self.gimbal);
        y.vector(&(R_PW * F.t));
    }
}
