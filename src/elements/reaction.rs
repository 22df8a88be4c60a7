use super::{Compiler, Cursor, Element, Invariance, Outputs, View};
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::spec::{JointType, Spec};
use crate::system::joint::{columns, dual, with_joint};
use crate::system::{Body, BodyKinematics, Quantity, System, Unit};

/// Wrench that a joint transmits to its child, its part orthogonal to the joint's motion, and the
/// wrench on the base, as outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    /// Index of the joint's child.
    body: usize,
}

/// Returns the base to which a joint attaches: the world (`Some(None)`) or a free body; `None` if
/// the joint attaches to a body further along an arm.
fn base(system: &System, body: usize) -> Option<Option<&Body>> {
    let parent = system.bodies[body].parent;
    match parent.map(|parent| &system.bodies[system.whole(parent)]) {
        None => Some(None),
        Some(parent) => (parent.joint.kind == JointType::Free).then_some(Some(parent)),
    }
}

impl Element for Reaction {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        if !from.spec.output.reactions {
            return Vec::new();
        }
        let bodies = from.system.bodies.iter().enumerate();
        let jointed = bodies.filter(|(_, body)| body.joint.written && body.joint.kind != JointType::Free);
        jointed.map(|(body, _)| Self { body }).collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let joint = &system.bodies[self.body].joint.name;
        let mut wrench = |part: &str, what: &str, axes: &str| {
            let mut vector = |kind: &str, unit, what: String| {
                to.invariant(
                    Invariance::Galilean,
                    Quantity::vector(&format!("{joint}.{part}_{kind}"), unit, &what),
                );
            };
            vector("force", Unit::Newton, format!("force {what}; {axes} axes"));
            let about = format!("moment {what}, about the joint's origin on it; {axes} axes");
            vector("moment", Unit::NewtonMetre, about);
        };
        let on_child = format!("on the child through joint {joint}");
        wrench("reaction", &format!("{on_child}, its actuation included"), "child");
        wrench(
            "constraint",
            &format!("{on_child}, constraint part: no power on the joint's motion"),
            "child",
        );
        if let Some(base) = base(system, self.body) {
            let (base, axes) = base.map_or(("the world", "inertial"), |base| (&*base.name, &*base.name));
            let what = format!("on {base}, the manipulator's base, through joint {joint}");
            wrench("base", &what, axes);
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let (now, body) = (&view.now, self.body);
        let R_BW = now.kinematics.bodies[body].R_WB.transpose();
        let F = view.transmitted(body);
        for part in [F, orthogonal(view, body, F)] {
            y.wrench(&part.express(&R_BW));
        }
        if base(now.system, body).is_some() {
            y.wrench(&on_base(view, body, F));
        }
    }
}

/// Returns the part of the transmitted wrench `F` that has no power on the joint's motion:
/// `W = F − Σ V (HᵀF)`, with the axes `H` of its rates and the [`dual`] wrenches `V`.
fn orthogonal<S: Scalar>(view: &View<S>, body: usize, F: Wrench<S>) -> Wrench<S> {
    let now = &view.now;
    let joint = &now.system.bodies[body].joint;
    let mut held = F;
    with_joint!(&now.derived.bodies[body].joint, j => {
        let H = columns(j, &now.kinematics.H, joint.v);
        for (V, H) in dual(H).iter().zip(H) {
            held = held - *V * F.power(H);
        }
    });
    // Components that are zero for the type of joint are set to zero exactly.
    match joint.kind {
        JointType::Spherical => held.t = Vec3::zeros(),
        JointType::Cartesian => held.f = Vec3::zeros(),
        _ => {}
    }
    held
}

/// Returns the wrench on the base, about the joint's origin on the base, in the base's axes.
fn on_base<S: Scalar>(view: &View<S>, body: usize, F: Wrench<S>) -> Wrench<S> {
    let (now, world) = (&view.now, BodyKinematics::world());
    let kinematics = now.kinematics;
    let carrier = now.system.bodies[body].carrier();
    let P = carrier.of(&kinematics.bodies, &kinematics.stations).unwrap_or(&world);
    let r = kinematics.bodies[body].r_PB_W - P.R_WB * lift3::<S>(&now.derived.bodies[body].p_PF);
    let base = now.system.bodies[body].parent.map(|parent| now.system.whole(parent));
    let R_WB = base.map_or(world.R_WB, |base| kinematics.bodies[base].R_WB);
    (Wrench::zero() - F.shift(&r)).express(&R_WB.transpose())
}
