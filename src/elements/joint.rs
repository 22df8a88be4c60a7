//! Elements of a joint: torque inputs, viscous and dry friction; springs, servos, motors, drives
//! and ranges have their own files.

use super::{Drive, Element, Elements, Instant, Reads, Resistance, joint_spring, motor, range, servo};
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::spec::{self, JointMotion, JointType, at};
use crate::system::{Bound, Declarations, Joint, ParamId, Quantity, Unit};

/// Torque (force) on one axis of a joint, set by an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Torque {
    rate: usize,
    input: usize,
}

/// Viscous friction, `τ = −damping q̇`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Damper {
    rate: usize,
    damping: ParamId,
}

/// Smoothed dry friction, `τ = −coulomb tanh(q̇ / slip)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Friction {
    rate: usize,
    coulomb: ParamId,
    slip: ParamId,
}

/// Returns the parameter whose index is greater by `i` than that of `id`.
pub(super) fn nth(id: ParamId, i: usize) -> ParamId {
    ParamId(id.0 + i)
}

/// Declares one parameter for each axis of a joint and returns the first: `field` is the end of
/// their names, `place` the field of the spec with their values.
pub(super) fn numbers(
    joint: &Joint,
    declare: &mut Declarations,
    [field, place]: [&str; 2],
    value: &spec::PerAxis,
    unit: impl Fn(usize) -> Unit,
    bound: Bound,
    what: &str,
) -> ParamId {
    let name = &joint.name;
    let values: Vec<f64> = (0..joint.nv).map(|i| value.get(i)).collect();
    let quantities = (0..joint.nv).map(|i| {
        Quantity::new(
            joint.quantity_name(field, i),
            unit(i),
            format!("{what} of joint {name}"),
        )
        .bounded(bound)
    });
    declare.parameters(quantities, &values, true, &at("joint", name, place))
}

/// Indices of the first inputs of a joint's reference: positions, rates, and accelerations if the
/// servo has feed-forward.
#[derive(Clone, Copy)]
pub(super) struct References {
    pub q_ref: usize,
    pub qd_ref: usize,
    pub qdd_ref: Option<usize>,
}

/// Declares the inputs of a joint's reference and returns their indices.
fn declare_references(joint: &Joint, has_feed_forward: bool, declare: &mut Declarations) -> References {
    let name = &joint.name;
    let units = |i| Unit::coordinate(joint.kind.is_angular(i));
    let q_ref = declare.inputs.len();
    if joint.kind == JointType::Spherical {
        let what = format!("reference attitude of joint {name}, quaternion");
        let quantities = Quantity::quaternion(&format!("{name}.q_ref"), &what);
        for (quantity, start) in quantities.into_iter().zip([1.0, 0.0, 0.0, 0.0]) {
            declare.input(quantity, start, false);
        }
    } else {
        for i in 0..joint.nv {
            let what = format!("reference position of joint {name}");
            let quantity = Quantity::new(joint.quantity_name("q_ref", i), units(i).position, what);
            declare.input(quantity, 0.0, false);
        }
    }
    let qd_ref = declare.inputs.len();
    for i in 0..joint.nv {
        let what = format!("reference rate of joint {name}");
        let quantity = Quantity::new(joint.quantity_name("qd_ref", i), units(i).rate, what);
        declare.input(quantity, 0.0, false);
    }
    let qdd_ref = has_feed_forward.then_some(declare.inputs.len());
    for i in (0..joint.nv).filter(|_| has_feed_forward) {
        let what = format!("reference acceleration of joint {name}, for the feed-forward of its servo");
        let quantity = Quantity::new(joint.quantity_name("qdd_ref", i), units(i).acceleration, what);
        declare.input(quantity, 0.0, false);
    }
    References { q_ref, qd_ref, qdd_ref }
}

/// Creates the elements of the joint whose child is `body`, and declares their parameters and
/// inputs.
pub(super) fn declare(
    body: usize,
    joint: &Joint,
    written: &spec::Joint,
    to: &mut Elements,
    declare: &mut Declarations,
) {
    declare_friction(joint, written, to, declare);
    if let Some(spring) = &written.spring {
        joint_spring::declare(joint, spring, to, declare);
    }
    let gains = written
        .servo
        .as_ref()
        .map(|servo| servo::declare_gains(joint, servo, declare));
    let torque = declare_torque(joint, written, declare);
    let follows = written.servo.is_some() || written.tracking.is_some();
    let has_feed_forward = written.feeds_forward();
    let references = follows.then(|| declare_references(joint, has_feed_forward, declare));
    let laws = match gains.zip(references) {
        Some((gains, references)) => {
            let declared = servo::Declared {
                body,
                joint,
                written,
                gains,
                references,
                torque,
            };
            servo::declare(declared, to, declare)
        }
        None => Vec::new(),
    };
    let axis_torque = |i: usize| torque.map(|first| first + i);
    if let Some(written) = &written.motor {
        let command_of = |i: usize| (axis_torque(i), laws.get(i).map(|servo| servo.law));
        motor::declare(body, joint, written, command_of, to, declare);
    } else {
        to.torques.extend((0..joint.nv).filter_map(|i| {
            Some(Torque {
                rate: joint.v + i,
                input: axis_torque(i)?,
            })
        }));
        to.axis_servos.extend(laws);
    }
    let mode = to.drives.iter().filter(|drive| drive.is_switched()).count();
    to.drives
        .extend(Drive::declare(body, joint, written, mode, references, declare));
    range::declare(joint, written, to, declare);
}

/// Declares viscous and dry friction.
fn declare_friction(joint: &Joint, written: &spec::Joint, to: &mut Elements, declare: &mut Declarations) {
    let units = |i| Unit::coordinate(joint.kind.is_angular(i));
    let axes = 0..joint.nv;
    if let Some(damping) = &written.damping {
        let id = numbers(
            joint,
            declare,
            ["damping"; 2],
            damping,
            |i| units(i).damping,
            Bound::NotNegative,
            "viscous friction",
        );
        to.dampers.extend(axes.clone().map(|i| Damper {
            rate: joint.v + i,
            damping: nth(id, i),
        }));
    }
    if let Some(friction) = &written.friction {
        let coulomb = numbers(
            joint,
            declare,
            ["friction", "friction.coulomb"],
            &friction.coulomb,
            |i| units(i).force,
            Bound::NotNegative,
            "dry friction",
        );
        let slip = numbers(
            joint,
            declare,
            ["friction_slip", "friction.slip"],
            &friction.slip,
            |i| units(i).rate,
            Bound::Positive,
            "rate at which 76 % of the dry friction acts,",
        );
        to.frictions.extend(axes.map(|i| Friction {
            rate: joint.v + i,
            coulomb: nth(coulomb, i),
            slip: nth(slip, i),
        }));
    }
}

/// Declares the torque inputs of a joint and returns the first, `None` if it has none.
fn declare_torque(joint: &Joint, written: &spec::Joint, declare: &mut Declarations) -> Option<usize> {
    let is_moved_by_torques = joint.motions.contains(&JointMotion::Loads);
    if !written.input || !is_moved_by_torques || matches!(joint.kind, JointType::Fixed | JointType::Free) {
        return None;
    }
    let first = declare.inputs.len();
    for i in 0..joint.nv {
        let is_angular = joint.kind.is_angular(i);
        let what = if is_angular { "torque" } else { "force" };
        let what = format!(
            "{what} on the child of joint {}, its reaction on the parent",
            joint.name
        );
        let unit = Unit::coordinate(is_angular).force;
        declare.input(Quantity::new(joint.quantity_name("tau", i), unit, what), 0.0, false);
    }
    Some(first)
}

impl Element for Torque {
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] += now.inputs[self.input];
    }
}

impl Element for Damper {
    fn reads(&self) -> Reads {
        Reads::JOINT
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] -= S::lift(self.damping.of(now.parameters)) * now.qd[self.rate];
    }

    fn resist(&self, now: &Instant<f64>, on: &mut impl FnMut(usize, Resistance)) {
        on(self.rate, Resistance::of(0.0, self.damping.of(now.parameters)));
    }
}

impl Element for Friction {
    fn reads(&self) -> Reads {
        Reads::JOINT
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let [coulomb, slip] = [self.coulomb, self.slip].map(|id| S::lift(id.of(now.parameters)));
        applied.tau[self.rate] -= coulomb * (now.qd[self.rate] / slip).tanh();
    }

    /// Passes the secant `−τ/q̇` in place of the tangent, which vanishes while the joint slides,
    /// even if the friction is about to stop the joint or to reverse.
    fn resist(&self, now: &Instant<f64>, on: &mut impl FnMut(usize, Resistance)) {
        let [coulomb, slip] = [self.coulomb, self.slip].map(|id| id.of(now.parameters));
        let slips = now.qd[self.rate] / slip;
        let part = if slips == 0.0 { 1.0 } else { libm::tanh(slips) / slips };
        on(self.rate, Resistance::of(0.0, coulomb / slip * part));
    }
}
