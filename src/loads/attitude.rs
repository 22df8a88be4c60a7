use super::Instant;
use crate::algebra::{Quaternion, Scalar, Vec3, Wrench, lift3, log};
use crate::dynamics::Applied;
use crate::spec::{self, Axes, at};
use crate::system::{Body, Bound, Declarations, ParamId, Quantity, Unit};

/// Brings an attitude to a reference: `t = kp θ + kd (w_ref − w)` while the switch is on, θ the rotation vector of `q* ⊗ q_ref`; all in axes of what turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttitudeLaw {
    /// First of four inputs.
    pub q_ref: usize,
    /// First of three inputs.
    pub w_ref: usize,
    pub switch: usize,
    /// First of three gains, N·m/rad.
    pub kp: ParamId,
    /// First of three gains, N·m·s/rad.
    pub kd: ParamId,
}

impl AttitudeLaw {
    /// How far the attitude `q` is off its reference: the rotation vector, rad.
    pub fn error<S: Scalar>(&self, now: &Instant<S>, q: Quaternion<S>) -> Vec3<S> {
        let [q, q_ref] = [q, Quaternion::from_slice(&now.inputs[self.q_ref..])].map(Quaternion::normalised);
        log(q.conjugate() * q_ref)
    }

    /// The moment at the attitude `q` and the angular velocity `w`, N·m.
    pub fn moment<S: Scalar>(&self, now: &Instant<S>, q: Quaternion<S>, w: &Vec3<S>) -> Vec3<S> {
        if now.inputs[self.switch].value() <= 0.5 {
            return Vec3::zeros();
        }
        let w_ref = Vec3::from_column_slice(&now.inputs[self.w_ref..self.w_ref + 3]);
        let gain = |id: ParamId| id.vector(now.parameters).map(S::lift);
        gain(self.kp).component_mul(&self.error(now, q)) + gain(self.kd).component_mul(&(w_ref - w))
    }
}

/// An ideal moment from outside that holds the attitude of a free body.
#[derive(Clone, Copy, Debug)]
pub struct AttitudeServo {
    /// Index of the body.
    pub body: usize,
    axes: Axes,
    law: AttitudeLaw,
}

impl AttitudeServo {
    pub(super) fn declare(index: usize, body: &Body, servo: &spec::AttitudeServo, declare: &mut Declarations) -> Self {
        let name = &body.name;
        let mut gains = |field: &str, value: &spec::PerAxis, unit, what: &str| {
            let what = format!("attitude servo's {what} gain of {name}, body axes");
            let quantities = Quantity::vector(&format!("{name}.{field}"), unit, &what);
            declare.parameters(
                quantities.map(|quantity| quantity.bounded(Bound::NotNegative)),
                &[0, 1, 2].map(|i| value.get(i)),
                true,
                &at("body", name, &format!("attitude_servo.{field}")),
            )
        };
        let kp = gains("kp", &servo.kp, Unit::NewtonMetrePerRadian, "proportional");
        let kd = gains("kd", &servo.kd, Unit::NewtonMetreSecondPerRadian, "derivative");
        let what = format!("switches {name}'s attitude servo: on above 0.5");
        let switch = Quantity::new(format!("{name}.servo"), Unit::One, what);
        let switch = declare.input(switch, f64::from(servo.on), true);
        let q_ref = declare.inputs.len();
        let relative = match servo.axes {
            Axes::World => "",
            Axes::Orbital => " relative to the orbital axes",
        };
        let what = format!("reference attitude of {name}{relative}, quaternion");
        let attitude = Quantity::quaternion(&format!("{name}.q_ref"), &what);
        for (quantity, start) in attitude.into_iter().zip([1.0, 0.0, 0.0, 0.0]) {
            declare.input(quantity, start, false);
        }
        let w_ref = declare.inputs.len();
        let what = format!("reference angular velocity of {name}{relative}, body axes");
        for quantity in Quantity::vector(&format!("{name}.w_ref"), Unit::RadianPerSecond, &what) {
            declare.input(quantity, 0.0, false);
        }
        let law = AttitudeLaw {
            q_ref,
            w_ref,
            switch,
            kp,
            kd,
        };
        Self {
            body: index,
            axes: servo.axes,
            law,
        }
    }

    /// The moment on the body, N·m, body axes.
    pub fn torque<S: Scalar>(&self, now: &Instant<S>) -> Vec3<S> {
        let at = &now.kinematics.bodies[self.body];
        let q = Quaternion::from_slice(&now.q[now.system.bodies[self.body].joint.q..]);
        let (q, w) = match now.orbit.filter(|_| self.axes == Axes::Orbital) {
            Some(orbit) => (orbit.q_WO.conjugate().lift() * q, at.V_WB.w - lift3(&orbit.w_WO)),
            None => (q, at.V_WB.w),
        };
        self.law.moment(now, q, &at.R_WB.tr_mul(&w))
    }

    pub(super) fn add<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let moment = now.kinematics.bodies[self.body].R_WB * self.torque(now);
        let wrench = &mut applied.wrench[self.body];
        *wrench = *wrench + Wrench::new(moment, Vec3::zeros());
    }
}
