//! Viscous and dry friction of joints.

use super::{Field, JointTable, sticking};
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::elements::{Element, Elements, Instant, Reads, Resistance};
use crate::system::{Bound, Declarations, ParamId};

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

/// Declares viscous and dry friction.
pub(super) fn declare(of: JointTable, to: &mut Elements, declare: &mut Declarations) {
    let (joint, axes) = (of.joint, 0..of.joint.nv);
    if let Some(damping) = &of.written.damping {
        let field = Field {
            name: "damping",
            place: "damping",
            unit: |units| units.damping,
            bound: Bound::NotNegative,
            what: "viscous friction",
        };
        let damping = of.parameters(field, damping, declare);
        to.dampers.extend(axes.clone().map(|i| Damper {
            rate: joint.v + i,
            damping: damping.nth(i),
        }));
    }
    let Some(friction) = &of.written.friction else {
        return;
    };
    let Some(slips) = &friction.slip else {
        sticking::declare(of, friction, None, to, declare);
        return;
    };
    let coulomb = Field {
        name: "friction",
        place: "friction.coulomb",
        unit: |units| units.force,
        bound: Bound::NotNegative,
        what: "dry friction",
    };
    let slip = Field {
        name: "friction_slip",
        place: "friction.slip",
        unit: |units| units.rate,
        bound: Bound::Positive,
        what: "rate at which 76 % of the dry friction acts,",
    };
    let coulomb = of.parameters(coulomb, &friction.coulomb, declare);
    let slip = of.parameters(slip, slips, declare);
    to.frictions.extend(axes.map(|i| Friction {
        rate: joint.v + i,
        coulomb: coulomb.nth(i),
        slip: slip.nth(i),
    }));
}

impl Element for Damper {
    fn reads(&self) -> Reads {
        Reads::JOINT
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] -= S::lift(self.damping.of(now.parameters)) * now.qd[self.rate];
    }

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        on(self.rate, Resistance::of(S::zero(), self.damping.of(now.parameters)));
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

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        let [coulomb, slip] = [self.coulomb, self.slip].map(|id| id.of(now.parameters));
        on(self.rate, tanh_resistance(coulomb, now.qd[self.rate], slip));
    }
}

/// Returns the secant `−τ/q̇` of the friction `τ = −coulomb tanh(q̇ / slip)` as its damping, in place
/// of the tangent, which vanishes while the joint slides, even if the friction is about to stop the
/// joint or to reverse.
pub(super) fn tanh_resistance<S: Scalar>(coulomb: S, rate: S, slip: S) -> Resistance<S> {
    let slips = rate / slip;
    let rests = |slips: f64, zero| slips == zero;
    let [part] = S::branch(slips, S::zero(), rests, || [S::one()], || [slips.tanh() / slips]);
    Resistance::of(S::zero(), coulomb / slip * part)
}
