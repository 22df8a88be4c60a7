use super::allocation::{IN_A_PLANE, are_in_a_plane, spread, wheel_torque};
use super::{Compiler, Cursor, Element, Instant, Motor, Outputs, Reads, Resistance, Sensed, Values, View};
use crate::Problem;
use crate::algebra::{Lift, Mask, Mat3, Quaternion, Scalar, Vec3, Wrench, log};
use crate::dynamics::Applied;
use crate::spec::{self, Axes, FeedForward, Spec, at};
use crate::system::{Declarations, Derived, InputKind, JointModel, ParamId, Quantity, System, Unit};

/// Proportional-derivative law of an attitude: `t = kp θ + kd (w_ref − w)`, while the switch is on if
/// there is one, with the rotation vector θ of `q* ⊗ q_ref`; all in the axes of the rotating body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttitudeLaw {
    /// Index of the first of four inputs.
    pub q_ref: usize,
    /// Index of the first of three inputs, rad/s.
    pub w_ref: usize,
    pub switch: Option<usize>,
    /// First of three gains, N·m/rad.
    pub kp: ParamId,
    /// First of three gains, N·m·s/rad.
    pub kd: ParamId,
}

impl AttitudeLaw {
    /// Returns the rotation vector (rad, body axes) from the attitude `q` to its reference.
    pub fn error<S: Scalar>(&self, inputs: &[S], q: Quaternion<S>) -> Vec3<S> {
        let [q, q_ref] = [q, Quaternion::from_slice(&inputs[self.q_ref..])].map(Quaternion::normalised);
        log(q.conjugate() * q_ref)
    }

    /// Returns the moment (N·m, body axes) at the attitude `q` and the angular velocity `w` (rad/s,
    /// body axes).
    pub fn moment<S: Scalar>(
        &self,
        parameters: &[impl Lift<S>],
        inputs: &[S],
        q: Quaternion<S>,
        w: &Vec3<S>,
    ) -> Vec3<S> {
        let is_on = self.switch.map(|switch| inputs[switch].exceeds(0.5));
        if is_on.is_some_and(|is_on| !is_on.is_needed()) {
            return Vec3::zeros();
        }
        let w_ref = Vec3::from_column_slice(&inputs[self.w_ref..self.w_ref + 3]);
        let gain = |id: ParamId| id.vector(parameters).map(S::lift);
        let moment = gain(self.kp).component_mul(&self.error(inputs, q)) + gain(self.kd).component_mul(&(w_ref - w));
        match is_on {
            Some(is_on) => moment.map(|t| S::select(is_on, t, S::zero())),
            None => moment,
        }
    }

    /// Returns the tangent stiffness and damping about each body axis, near the reference.
    pub fn resistances<S: Scalar<Constant = S>>(&self, now: &Sensed<S>) -> [Resistance<S>; 3] {
        let is_on = self.switch.map(|switch| now.inputs[switch].exceeds(0.5));
        let [kp, kd] = [self.kp, self.kd].map(|id| id.vector(now.parameters));
        std::array::from_fn(|i| {
            let own = Resistance::of(kp[i], kd[i]);
            is_on.map_or(own, |is_on| own.only_where(is_on))
        })
    }
}

/// Servo of a free body's attitude, actuated by an ideal external moment or by reaction wheels.
#[derive(Clone, Debug)]
pub struct AttitudeServo {
    /// Index of the body.
    pub body: usize,
    /// Index of the first of four coordinates of its attitude.
    pub coordinate: usize,
    /// Index of the first of its three angular rates.
    pub rate: usize,
    /// Index of the input that switches the servo.
    pub switch: usize,
    axes: Axes,
    law: AttitudeLaw,
    /// Index of the first of three inputs of the reference's angular acceleration, rad/s²; `None`
    /// without feed-forward.
    pub wd_ref: Option<usize>,
    /// Location of the list of wheels in the spec, for messages.
    at: Vec<String>,
    /// Body indices of the rotors of its wheels; empty for an ideal external moment.
    rotors: Vec<usize>,
}

impl AttitudeServo {
    fn declare(index: usize, system: &System, servo: &spec::AttitudeServo, declare: &mut Declarations) -> Self {
        let (name, joint) = (&system.bodies[index].name, &system.bodies[index].joint);
        let mut gains = |field: &str, value: &spec::PerAxis, unit, what: &str| {
            let what = format!("attitude servo's {what} gain of {name}, body axes");
            let place = at("body", name, &format!("attitude_servo.{field}"));
            declare.gains(&format!("{name}.{field}"), value, unit, &what, &place)
        };
        let kp = gains("kp", &servo.kp, Unit::NewtonMetrePerRadian, "proportional");
        let kd = gains("kd", &servo.kd, Unit::NewtonMetreSecondPerRadian, "derivative");
        let what = format!("switches {name}'s attitude servo: on while above 0.5");
        let switch = Quantity::new(format!("{name}.servo"), Unit::One, what);
        let switch = declare.input(switch, f64::from(servo.on), InputKind::Switch);
        let q_ref = declare.inputs.len();
        let relative = match servo.axes {
            Axes::World => "",
            Axes::Lvlh => " relative to the LVLH frame",
        };
        let what = format!("reference attitude of {name}{relative}, quaternion");
        let attitude = Quantity::quaternion(&format!("{name}.q_ref"), &what);
        for (quantity, start) in attitude.into_iter().zip([1.0, 0.0, 0.0, 0.0]) {
            declare.input(quantity, start, InputKind::Continuous);
        }
        let w_ref = declare.inputs.len();
        let what = format!("reference angular velocity of {name}{relative}, body axes");
        for quantity in Quantity::vector(&format!("{name}.w_ref"), Unit::RadianPerSecond, &what) {
            declare.input(quantity, 0.0, InputKind::Continuous);
        }
        let wd_ref = (servo.feed_forward == FeedForward::Rigid).then(|| {
            let what = format!("derivative of {name}'s w_ref, for the feed-forward of its attitude servo, body axes");
            let first = declare.inputs.len();
            for quantity in Quantity::vector(&format!("{name}.wd_ref"), Unit::RadianPerSecond2, &what) {
                declare.input(quantity, 0.0, InputKind::Continuous);
            }
            first
        });
        let law = AttitudeLaw {
            q_ref,
            w_ref,
            switch: Some(switch),
            kp,
            kd,
        };
        let bodies = system.bodies.iter().enumerate();
        let rotors = bodies.filter(|(_, body)| servo.wheels.contains(&body.joint.name));
        Self {
            body: index,
            coordinate: joint.q,
            rate: joint.v,
            switch,
            axes: servo.axes,
            law,
            wd_ref,
            at: at("body", name, "attitude_servo.wheels"),
            rotors: rotors.map(|(i, _)| i).collect(),
        }
    }

    /// Links the servo to the motors of its wheels, which then add its torque to their command.
    pub(super) fn link(&self, motors: &mut [Motor]) {
        for motor in motors {
            if self.rotors.contains(&motor.body) {
                motor.attitude = Some(Box::new(self.clone()));
            }
        }
    }

    /// Returns true if the servo is on.
    pub fn is_on<S: Scalar>(&self, inputs: &[S]) -> bool {
        inputs[self.switch].value() > 0.5
    }

    /// Returns the body's attitude, angular velocity (rad/s) and angular acceleration (rad/s²) on
    /// the reference, relative to the world, body axes.
    ///
    /// With a reference `w` relative to the LVLH frame, which turns with `w_WO`,
    ///
    /// ```text
    ///     w_WB = w + w_WO,   ẇ_WB = ẇ + ẇ_WO − w × w_WO   (components in body axes)
    /// ```
    pub fn reference<S: Scalar>(&self, now: &Sensed<S>) -> (Quaternion<S>, Vec3<S>, Vec3<S>) {
        let inputs = now.inputs;
        let vector = |first: usize| Vec3::from_column_slice(&inputs[first..first + 3]);
        let (q, w) = (
            Quaternion::from_slice(&inputs[self.law.q_ref..]).normalised(),
            vector(self.law.w_ref),
        );
        let wd = self.wd_ref.map_or_else(Vec3::zeros, vector);
        match now.orbit.filter(|_| self.axes == Axes::Lvlh) {
            Some(orbit) => {
                let q = orbit.q_WO * q;
                let w_WO = q.conjugate().rotate(orbit.w_WO);
                let wd_WO = q.conjugate().rotate(orbit.wd_WO());
                (q, w + w_WO, wd + wd_WO - w.cross(&w_WO))
            }
            None => (q, w, wd),
        }
    }

    /// Returns the commanded moment on the body, N·m, body axes.
    pub fn torque<S: Scalar>(&self, now: &Sensed<S>) -> Vec3<S> {
        let q = Quaternion::from_slice(&now.q[self.coordinate..]).normalised();
        let w = Vec3::from_column_slice(&now.qd[self.rate..self.rate + 3]);
        let (q, w) = match now.orbit.filter(|_| self.axes == Axes::Lvlh) {
            Some(orbit) => {
                let w_WO = q.conjugate().rotate(orbit.w_WO);
                (orbit.q_WO.conjugate() * q, w - w_WO)
            }
            None => (q, w),
        };
        let moment = self.law.moment(now.parameters, now.inputs, q, &w);
        match now.feed_forward.get(self.rate..self.rate + 3) {
            Some(fed) if self.wd_ref.is_some() => moment + Vec3::from_column_slice(fed),
            _ => moment,
        }
    }

    /// Returns `A Aᵀ`, with the wheels' axes as the columns of `A`.
    fn spread<S: Scalar>(&self, derived: &Derived<S::Constant>) -> Mat3<f64> {
        spread(self.rotors.iter().map(|&rotor| wheel_axis::<S>(derived, rotor)))
    }

    /// Returns the commanded torque of a wheel's motor on its rotor, N·m: see [`wheel_torque`].
    pub(super) fn of_wheel<S: Scalar>(&self, now: &Sensed<S>, rotor: usize) -> S {
        let axis = wheel_axis::<S>(now.derived, rotor);
        wheel_torque(&self.spread::<S>(now.derived), &axis, &self.torque(now))
    }
}

impl Element for AttitudeServo {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut servos = Vec::new();
        for (i, body) in from.system.bodies.iter().enumerate() {
            let written = from.spec.body.get(&body.name);
            if let Some(servo) = written.and_then(|written| written.attitude_servo.as_ref()) {
                servos.push(Self::declare(i, from.system, servo, from.declare));
            }
        }
        servos
    }

    /// Reports wheels whose axes do not span all three directions.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if !self.rotors.is_empty() && are_in_a_plane(&self.spread::<f64>(of.derived)) {
            problems.push(Problem {
                at: self.at.clone(),
                what: IN_A_PLANE.to_owned(),
            });
        }
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let name = &system.bodies[self.body].name;
        let what = format!("commanded moment of {name}'s attitude servo, body axes");
        to.continuous(Quantity::vector(
            &format!("{name}.servo_torque"),
            Unit::NewtonMetre,
            &what,
        ));
        if self.wd_ref.is_some() {
            let what = format!(
                "feed-forward part of the moment of {name}'s attitude servo: inverse dynamics of the rigid \
                spacecraft, body axes"
            );
            to.continuous(Quantity::vector(
                &format!("{name}.feed_forward"),
                Unit::NewtonMetre,
                &what,
            ));
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = view.now.sensed();
        y.vector(&self.torque(&now));
        if self.wd_ref.is_some() {
            y.vector(&Vec3::from_column_slice(&now.feed_forward[self.rate..self.rate + 3]));
        }
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if !self.rotors.is_empty() {
            return;
        }
        let moment = now.kinematics.bodies[self.body].R_WB * self.torque(&now.sensed());
        let wrench = &mut applied.wrench[self.body];
        *wrench = *wrench + Wrench::new(moment, Vec3::zeros());
    }
}

/// Returns the unit axis of the wheel with this rotor, in the axes of the wheel's carrier.
fn wheel_axis<S: Scalar>(derived: &Derived<S::Constant>, rotor: usize) -> Vec3<f64> {
    match &derived.bodies[rotor].joint {
        JointModel::Revolute(joint) => Vec3::from_column_slice(S::numbers(joint.axis().as_slice())),
        _ => Vec3::zeros(),
    }
}
