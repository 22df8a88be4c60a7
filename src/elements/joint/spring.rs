//! Springs of joints.

use super::{Field, JointTable};
use crate::algebra::{Quaternion, Scalar, Vec3, log, norm, sinc};
use crate::dynamics::Applied;
use crate::elements::{Element, Elements, Instant, Reads, Resistance};
use crate::spec::{JointType, at};
use crate::system::{Bound, Declarations, ParamId, Quantity, Unit};

/// Linear spring, `τ = −stiffness (q − rest)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spring {
    coordinate: usize,
    rate: usize,
    stiffness: ParamId,
    rest: Option<ParamId>,
}

/// Spring of a spherical joint, `t = −stiffness θ` with the rotation vector θ (rad); its energy is
/// `½ stiffness |θ|²`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BallSpring {
    coordinate: usize,
    rate: usize,
    stiffness: ParamId,
}

/// Declares the spring of a joint.
pub(super) fn declare(of: JointTable, to: &mut Elements, declare: &mut Declarations) {
    let Some(spring) = &of.written.spring else {
        return;
    };
    let (joint, name) = (of.joint, &of.joint.name);
    if joint.kind == JointType::Spherical {
        let what = format!("spring stiffness of joint {name}");
        let quantity = Quantity::new(format!("{name}.stiffness"), Unit::NewtonMetrePerRadian, what);
        let at = at("joint", name, "spring.stiffness");
        to.ball_joint_springs.push(BallSpring {
            coordinate: joint.q,
            rate: joint.v,
            stiffness: declare.parameter(quantity.bounded(Bound::NotNegative), spring.stiffness.get(0), true, &at),
        });
        return;
    }
    let stiffness = Field {
        name: "stiffness",
        place: "spring.stiffness",
        unit: |units| units.stiffness,
        bound: Bound::NotNegative,
        what: "spring stiffness",
    };
    let rest = Field {
        name: "rest",
        place: "spring.rest",
        unit: |units| units.position,
        bound: Bound::None,
        what: "rest position of the spring",
    };
    let stiffness = of.parameters(stiffness, &spring.stiffness, declare);
    let rest = spring.rest.as_ref().map(|values| of.parameters(rest, values, declare));
    to.joint_springs.extend((0..joint.nv).map(|i| Spring {
        coordinate: joint.q + i,
        rate: joint.v + i,
        stiffness: stiffness.nth(i),
        rest: rest.map(|first| first.nth(i)),
    }));
}

impl Spring {
    fn stretch<S: Scalar>(&self, now: &Instant<S>) -> S {
        let rest = self.rest.map_or(S::Constant::number(0.0), |id| id.of(now.parameters));
        now.q[self.coordinate] - S::lift(rest)
    }
}

impl BallSpring {
    fn attitude<S: Scalar>(&self, now: &Instant<S>) -> Quaternion<S> {
        Quaternion::from_slice(&now.q[self.coordinate..])
    }
}

impl Element for Spring {
    fn reads(&self) -> Reads {
        Reads::JOINT
    }

    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        applied.tau[self.rate] -= S::lift(self.stiffness.of(now.parameters)) * self.stretch(now);
    }

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        on(self.rate, Resistance::of(self.stiffness.of(now.parameters), S::zero()));
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let stretch = self.stretch(now);
        Some(stretch * stretch * S::lift(self.stiffness.of(now.parameters) * 0.5))
    }
}

impl Element for BallSpring {
    fn reads(&self) -> Reads {
        Reads::JOINT
    }

    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let stiffness = S::lift(self.stiffness.of(now.parameters));
        let theta = log(self.attitude(now));
        for i in 0..3 {
            applied.tau[self.rate + i] -= stiffness * theta[i];
        }
    }

    fn add_of_step<S: Scalar>(&self, now: &Instant<S>, _h: f64, q_0: &[f64], applied: &mut Applied<S>) {
        let (before, mean) = (Quaternion::from_slice(&q_0[self.coordinate..]), self.attitude(now));
        let more = mean_turn(before, mean) - log(mean);
        for i in 0..3 {
            applied.tau[self.rate + i] -= S::lift(self.stiffness.of(now.parameters)) * more[i];
        }
    }

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        let resistance = Resistance::of(self.stiffness.of(now.parameters), S::zero());
        (0..3).for_each(|i| on(self.rate + i, resistance));
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let theta = log(self.attitude(now));
        Some(theta.dot(&theta) * S::lift(self.stiffness.of(now.parameters) * 0.5))
    }
}

/// Returns the rotation vector `θ̄` (rad) with `h θ̄·w̄ = ½ (|θ₁|² − |θ₀|²)` for a step of length
/// `h` from the unit quaternion `q₀` to `q₁ = 2 q̄ − q₀`, with the angular velocity `w̄` defined by
/// `(q₁ − q₀)/h = ½ q̄/|q̄| ⊗ (0, w̄)`.
///
/// The angle `φ` is a function of the quaternion's scalar part alone, `|w| = cos φ/2`, and
/// `w₁ − w₀ = −½ h v̄·w̄` with the vector part `v̄` of `q̄/|q̄|`. Hence
/// `θ̄ = −¼ v̄ (φ₁² − φ₀²)/(w₁ − w₀)`, where
///
/// ```text
///     (φ₁² − φ₀²)/(cos φ₁/2 − cos φ₀/2) = −8/(sinc((φ₀ + φ₁)/4) sinc((φ₁ − φ₀)/4))
/// ```
fn mean_turn<S: Scalar>(q_0: Quaternion<f64>, mean: Quaternion<S>) -> Vec3<S> {
    let two = S::lift(2.0);
    let q_0 = q_0.lift::<S>();
    let v = mean.vector();
    let (v_1, w_1) = (v * two - q_0.vector(), mean.w * two - q_0.w);
    let angle = |v: &Vec3<S>, w: S| norm(v).atan2(if w.value() < 0.0 { -w } else { w }) * two;
    let (phi_0, phi_1) = (angle(&q_0.vector(), q_0.w), angle(&v_1, w_1));
    let slope = if q_0.w.value() * w_1.value() >= 0.0 {
        let quarter = S::lift(0.25);
        let slope = S::lift(-8.0) / (sinc((phi_0 + phi_1) * quarter) * sinc((phi_1 - phi_0) * quarter));
        if mean.w.value() < 0.0 { -slope } else { slope }
    } else {
        // The scalar part changed its sign: the shortest rotation at the end has the opposite
        // sense.
        (phi_1 * phi_1 - phi_0 * phi_0) / (w_1 - q_0.w)
    };
    v * (slope * S::lift(-0.25) / mean.norm_squared().sqrt())
}
