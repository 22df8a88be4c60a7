//! Loads on joint coordinates: torque inputs, viscous and dry friction, springs, servos.

use super::attitude::AttitudeLaw;
use super::servo::{AxisServo, BallServo, Fed, Gains, JointLaw, JointServo, Servo};
use super::{Instant, Motor, Resistance, motor};
use crate::algebra::{Quaternion, Scalar, Vec3, log, norm, sinc};
use crate::dynamics::Applied;
use crate::spec::{self, JointMotion, JointType, at};
use crate::system::{Bound, Declarations, Joint, ParamId, Quantity, Unit};

/// Lists of all joint loads.
#[derive(Clone, Debug, Default)]
pub(super) struct JointLoads {
    torques: Vec<Torque>,
    dampers: Vec<Damper>,
    frictions: Vec<Friction>,
    springs: Vec<Spring>,
    ball_springs: Vec<BallSpring>,
    /// Servos without a motor.
    servos: Vec<AxisServo>,
    ball_servos: Vec<BallServo>,
    /// All servos, by joint.
    pub by_joint: Vec<JointServo>,
}

/// Torque or force that is an input.
#[derive(Clone, Copy, Debug)]
struct Torque {
    rate: usize,
    input: usize,
}

/// Viscous friction, `τ = −damping q̇`.
#[derive(Clone, Copy, Debug)]
struct Damper {
    rate: usize,
    damping: ParamId,
}

/// Smoothed dry friction, `τ = −coulomb tanh(q̇ / slip)`.
#[derive(Clone, Copy, Debug)]
struct Friction {
    rate: usize,
    coulomb: ParamId,
    slip: ParamId,
}

/// Linear spring, `τ = −stiffness (q − rest)`.
#[derive(Clone, Copy, Debug)]
struct Spring {
    coordinate: usize,
    rate: usize,
    stiffness: ParamId,
    rest: Option<ParamId>,
}

/// Spring of a spherical joint, `t = −stiffness θ` with the rotation vector θ (rad); its energy is
/// `½ stiffness |θ|²`.
#[derive(Clone, Copy, Debug)]
struct BallSpring {
    coordinate: usize,
    rate: usize,
    stiffness: ParamId,
}

/// Declares one parameter for each axis of a joint, `[name of the quantity, field in the spec]`,
/// and returns the first.
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

/// Indices of the first inputs of a joint's reference: positions, rates, and accelerations if a
/// servo feeds forward.
#[derive(Clone, Copy)]
pub(super) struct References {
    pub q_ref: usize,
    pub qd_ref: usize,
    qdd_ref: Option<usize>,
}

/// Declares the inputs of a joint's reference and returns their indices.
fn declare_references(joint: &Joint, is_fed: bool, declare: &mut Declarations) -> References {
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
    let qdd_ref = is_fed.then_some(declare.inputs.len());
    for i in (0..joint.nv).filter(|_| is_fed) {
        let what = format!("reference acceleration of joint {name}, for what its servo feeds forward");
        let quantity = Quantity::new(joint.quantity_name("qdd_ref", i), units(i).acceleration, what);
        declare.input(quantity, 0.0, false);
    }
    References { q_ref, qd_ref, qdd_ref }
}

impl JointLoads {
    /// Declares the loads of one joint and returns the first inputs of its reference, `None` if it
    /// has none.
    pub fn declare(
        &mut self,
        body: usize,
        joint: &Joint,
        written: &spec::Joint,
        motors: &mut Vec<Motor>,
        drives: usize,
        declare: &mut Declarations,
    ) -> Option<References> {
        let name = &joint.name;
        let axes = 0..joint.nv;
        let angular = |i| joint.kind.is_angular(i);
        let units = |i| Unit::coordinate(angular(i));
        let nth = |id: ParamId, i: usize| ParamId(id.0 + i);

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
            self.dampers.extend(axes.clone().map(|i| Damper {
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
            self.frictions.extend(axes.clone().map(|i| Friction {
                rate: joint.v + i,
                coulomb: nth(coulomb, i),
                slip: nth(slip, i),
            }));
        }
        if let Some(spring) = &written.spring {
            if joint.kind == JointType::Spherical {
                let stiffness = declare.parameter(
                    Quantity::new(
                        format!("{name}.stiffness"),
                        Unit::NewtonMetrePerRadian,
                        format!("spring stiffness of joint {name}"),
                    )
                    .bounded(Bound::NotNegative),
                    spring.stiffness.get(0),
                    true,
                    &at("joint", name, "spring.stiffness"),
                );
                self.ball_springs.push(BallSpring {
                    coordinate: joint.q,
                    rate: joint.v,
                    stiffness,
                });
            } else {
                let stiffness = numbers(
                    joint,
                    declare,
                    ["stiffness", "spring.stiffness"],
                    &spring.stiffness,
                    |i| units(i).stiffness,
                    Bound::NotNegative,
                    "spring stiffness",
                );
                let rest = spring.rest.as_ref().map(|rest| {
                    let what = "relaxed position of the spring";
                    numbers(
                        joint,
                        declare,
                        ["rest", "spring.rest"],
                        rest,
                        |i| units(i).position,
                        Bound::None,
                        what,
                    )
                });
                self.springs.extend(axes.clone().map(|i| Spring {
                    coordinate: joint.q + i,
                    rate: joint.v + i,
                    stiffness: nth(stiffness, i),
                    rest: rest.map(|id| nth(id, i)),
                }));
            }
        }
        let gains = written.servo.as_ref().map(|servo| {
            (
                numbers(
                    joint,
                    declare,
                    ["kp", "servo.kp"],
                    &servo.kp,
                    |i| units(i).stiffness,
                    Bound::NotNegative,
                    "servo's proportional gain",
                ),
                numbers(
                    joint,
                    declare,
                    ["kd", "servo.kd"],
                    &servo.kd,
                    |i| units(i).damping,
                    Bound::NotNegative,
                    "servo's derivative gain",
                ),
                servo.on,
            )
        });
        let mut inputs = None;
        let has_torque = joint.motions.contains(&JointMotion::Loads);
        if written.input && has_torque && !matches!(joint.kind, JointType::Fixed | JointType::Free) {
            inputs = Some(declare.inputs.len());
            for i in axes.clone() {
                let what = if angular(i) { "torque" } else { "force" };
                let what = format!("{what} on the child of joint {name}, its reaction on the parent");
                let quantity = Quantity::new(joint.quantity_name("tau", i), units(i).force, what);
                declare.input(quantity, 0.0, false);
            }
        }
        let follows = written.servo.is_some() || written.tracking.is_some();
        let is_fed = written.feeds_forward();
        let references = follows.then(|| declare_references(joint, is_fed, declare));
        let mut servos = None;
        if let (Some((kp, kd, on)), Some(References { q_ref, qd_ref, .. })) = (gains, references) {
            let quantity = Quantity::new(
                format!("{name}.servo"),
                Unit::One,
                format!("switches joint {name}'s servo: on above 0.5"),
            );
            let switch = declare.input(quantity, f64::from(on), true);
            if joint.kind == JointType::Spherical {
                let law = AttitudeLaw {
                    q_ref,
                    w_ref: qd_ref,
                    switch,
                    kp,
                    kd,
                };
                let (coordinate, rate) = (joint.q, joint.v);
                let servo = BallServo { coordinate, rate, law };
                self.ball_servos.push(servo);
                self.by_joint.push(JointServo {
                    body,
                    law: JointLaw::Ball(servo),
                    fed: None,
                });
            } else {
                servos = Some(move |i: usize| Servo {
                    q_ref: q_ref + i,
                    qd_ref: qd_ref + i,
                    switch,
                    gains: Gains {
                        kp: nth(kp, i),
                        kd: nth(kd, i),
                    },
                    is_fed,
                });
            }
        }
        let torque = |i: usize| inputs.map(|first| first + i);
        let servo = |i: usize| servos.map(|servo| servo(i));
        let of_axis = |i: usize| {
            let (coordinate, rate) = (joint.q + i, joint.v + i);
            Some(AxisServo {
                coordinate,
                rate,
                law: servo(i)?,
            })
        };
        let laws: Vec<AxisServo> = axes.clone().filter_map(of_axis).collect();
        if !laws.is_empty() {
            let fed = references
                .and_then(|of| Some((of, of.qdd_ref?)))
                .map(|(of, qdd_ref)| Fed {
                    body,
                    coordinate: joint.q,
                    rate: joint.v,
                    axes: joint.nv,
                    q_ref: of.q_ref,
                    qd_ref: of.qd_ref,
                    qdd_ref,
                    switch: laws[0].law.switch,
                    tau: inputs,
                    motors: (written.motor.as_ref()).map(|_| motors.len()..motors.len() + joint.nv),
                    drive: joint.is_drivable().then_some(drives),
                });
            self.by_joint.push(JointServo {
                body,
                law: JointLaw::Axes(laws.clone()),
                fed,
            });
        }
        if let Some(motor) = &written.motor {
            let asked = |i: usize| (torque(i), servo(i));
            motors.extend(motor::declare(body, joint, motor, asked, declare));
        } else {
            self.torques.extend(axes.filter_map(|i| {
                let rate = joint.v + i;
                Some(Torque {
                    rate,
                    input: torque(i)?,
                })
            }));
            self.servos.extend(laws);
        }
        references
    }

    /// Returns true if one of the loads depends on a coordinate or a rate.
    pub fn read_state(&self) -> bool {
        let Self {
            torques: _,
            dampers,
            frictions,
            springs,
            ball_springs,
            servos,
            ball_servos,
            by_joint: _,
        } = self;
        let passive = dampers.is_empty() && frictions.is_empty() && springs.is_empty() && ball_springs.is_empty();
        !(passive && servos.is_empty() && ball_servos.is_empty())
    }

    /// Adds the torques (forces) without a potential, N·m or N.
    #[inline]
    pub fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let tau = &mut applied.tau;
        let value = |id: ParamId| S::lift(id.of(now.parameters));
        for t in &self.torques {
            tau[t.rate] += now.inputs[t.input];
        }
        for d in &self.dampers {
            tau[d.rate] -= value(d.damping) * now.qd[d.rate];
        }
        for f in &self.frictions {
            tau[f.rate] -= value(f.coulomb) * (now.qd[f.rate] / value(f.slip)).tanh();
        }
        for s in &self.servos {
            tau[s.rate] += s.torque(now);
        }
        for s in &self.ball_servos {
            let moment = s.torque(now);
            for (tau, moment) in tau[s.rate..].iter_mut().zip(&moment) {
                *tau += *moment;
            }
        }
    }

    /// Adds the torques (forces) of springs, N·m or N.
    pub fn add_conservative<S: Scalar>(&self, now: &Instant<S>, tau: &mut [S]) {
        let value = |id: ParamId| S::lift(id.of(now.parameters));
        for s in &self.springs {
            tau[s.rate] -= value(s.stiffness) * s.stretch(now);
        }
        for s in &self.ball_springs {
            let theta = log(s.attitude(now));
            for i in 0..3 {
                tau[s.rate + i] -= value(s.stiffness) * theta[i];
            }
        }
    }

    /// Adds the difference between the discrete gradient of the spherical springs' energy over a
    /// step from the coordinates `q_0` and their torques at the midpoint `now`.
    pub fn add_of_step<S: Scalar>(&self, now: &Instant<S>, q_0: &[f64], tau: &mut [S]) {
        for s in &self.ball_springs {
            let (before, mean) = (Quaternion::from_slice(&q_0[s.coordinate..]), s.attitude(now));
            let more = mean_turn(before, mean) - log(mean);
            for i in 0..3 {
                tau[s.rate + i] -= S::lift(s.stiffness.of(now.parameters)) * more[i];
            }
        }
    }

    /// Passes the [tangent stiffness and damping](super::Elements::resist) of the dampers, friction,
    /// springs and servos to `on`.
    pub fn resist(&self, now: &Instant<f64>, on: &mut impl FnMut(usize, Resistance)) {
        let value = |id: ParamId| id.of(now.parameters);
        for d in &self.dampers {
            on(d.rate, Resistance::of(0.0, value(d.damping)));
        }
        for f in &self.frictions {
            // The secant: the tangent vanishes while sliding, even if the friction is about to stop
            // the joint or to reverse.
            let slips = now.qd[f.rate] / value(f.slip);
            let part = if slips == 0.0 { 1.0 } else { slips.tanh() / slips };
            on(f.rate, Resistance::of(0.0, value(f.coulomb) / value(f.slip) * part));
        }
        for s in &self.springs {
            on(s.rate, Resistance::of(value(s.stiffness), 0.0));
        }
        for s in &self.ball_springs {
            (0..3).for_each(|i| on(s.rate + i, Resistance::of(value(s.stiffness), 0.0)));
        }
        for s in &self.servos {
            on(s.rate, s.law.resistance(&now.sensed()));
        }
        for s in &self.ball_servos {
            let resistances = s.law.resistances(&now.sensed());
            resistances
                .into_iter()
                .enumerate()
                .for_each(|(i, of)| on(s.rate + i, of));
        }
    }

    pub fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
        let mut energy = S::zero();
        for s in &self.springs {
            let stretch = s.stretch(now);
            energy += stretch * stretch * S::lift(0.5 * s.stiffness.of(now.parameters));
        }
        for s in &self.ball_springs {
            let theta = log(s.attitude(now));
            energy += theta.dot(&theta) * S::lift(0.5 * s.stiffness.of(now.parameters));
        }
        energy
    }
}

impl Spring {
    fn stretch<S: Scalar>(&self, now: &Instant<S>) -> S {
        let rest = self.rest.map_or(0.0, |id| id.of(now.parameters));
        now.q[self.coordinate] - S::lift(rest)
    }
}

impl BallSpring {
    fn attitude<S: Scalar>(&self, now: &Instant<S>) -> Quaternion<S> {
        Quaternion::from_slice(&now.q[self.coordinate..])
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
