//! Drive trains: the elastic gear between the rotor of a motor and the child of a joint.

use super::friction::tanh_resistance;
use super::{Drive, Field, JointTable, Sliding, StickingFriction, sticking};
use crate::Problem;
use crate::algebra::{Mask, Scalar};
use crate::dynamics::Applied;
use crate::elements::{Cursor, Element, Elements, Instant, Outputs, Reads, Resistance, Values, View, report};
use crate::spec::{self, Spec};
use crate::system::{Bound, CoordinateUnits, Declarations, ParamId, Quantity, System, Unit};

/// Gear between the rotor of a motor and the child of a joint.
///
/// With the angles θ of the rotor (divided by the ratio) and q of the child, and the stretch `e` of
/// the gear, which is the twist `δ = θ − q` less the backlash `b`,
///
/// ```text
///     e = δ − b/2 for δ > b/2,   δ + b/2 for δ < −b/2,   0 in between
///     T = k e + k₃ e³ + c δ̇,     τ_q = T,   τ_θ = −T − (f + (1/η − 1) |T|) tanh(θ̇/s)
/// ```
///
/// With backlash, spring and damper together only push: `T` has the sign of `e`, and is zero for
/// `e = 0`. With `θ̇ > 0`, steady motion and no friction `f`, the motor exerts `T/η` to drive the
/// child, and holds back `(2 − 1/η) T` of a torque `T` with which the child drives the motor.
#[derive(Clone, Debug)]
pub(crate) struct DriveTrain {
    /// Name of the joint.
    joint: String,
    /// Indices of the child and of the rotor among the bodies.
    bodies: [usize; 2],
    /// Indices of the coordinate and the rate of the joint and of the rotor.
    child: [usize; 2],
    rotor: [usize; 2],
    stiffness: ParamId,
    hardening: Option<ParamId>,
    damping: Option<ParamId>,
    backlash: Option<ParamId>,
    efficiency: Option<ParamId>,
    friction: Option<Loss>,
    holds_child: Holds,
    holds_rotor: Holds,
}

/// Drive or brake, and dry friction that sticks, of one side of a drive train.
#[derive(Clone, Debug, Default)]
struct Holds {
    drive: Option<Box<Drive>>,
    /// Number of the friction.
    friction: Option<usize>,
}

impl Holds {
    /// Returns the drive and the friction of the joint of a body.
    fn of(body: usize, drives: &[Drive], frictions: &[StickingFriction]) -> Self {
        let drive = drives.iter().find(|drive| drive.body == body);
        let friction = frictions.iter().find(|friction| friction.body == body);
        Self {
            drive: drive.cloned().map(Box::new),
            friction: friction.map(|friction| friction.number),
        }
    }

    /// Returns true while loads do not move the joint.
    fn holds<S: Scalar>(&self, now: &Instant<S>) -> bool {
        let sticks = self
            .friction
            .is_some_and(|number| now.sliding[number] == Sliding::Stuck);
        sticks || !Drive::leaves_to_loads(self.drive.as_deref(), now.motions)
    }
}

/// Friction of motor and gear, on the rotor.
#[derive(Clone, Copy, Debug)]
struct Loss {
    coulomb: ParamId,
    slip: ParamId,
}

/// Stretch and torques of a drive train at one instant.
struct Loaded<S> {
    /// `e`, rad.
    stretch: S,
    /// Torques of the spring and of the damper on the child, N·m.
    spring: S,
    damper: S,
}

/// Creates the drive train of a joint and declares its parameters.
pub(super) fn declare(of: JointTable, system: &System, to: &mut Elements, declare: &mut Declarations) {
    let (joint, Some(written)) = (of.joint, &of.written.drive_train) else {
        return;
    };
    let mut bodies = system.bodies.iter();
    let Some(rotor) = bodies.position(|body| body.joint.drives.as_ref() == Some(&joint.name)) else {
        return;
    };
    let motor = &system.bodies[rotor].joint;
    let mut number = |field: &str, unit: Unit, bound: Bound, value: f64, what: &str| {
        let what = format!("{what} of the drive train of joint {}", joint.name);
        let quantity = Quantity::new(format!("{}.gear_{field}", joint.name), unit, what).bounded(bound);
        let place = spec::at("joint", &joint.name, &format!("drive_train.{field}"));
        declare.parameter(quantity, value, true, &place)
    };
    let of_angle: CoordinateUnits = Unit::coordinate(true);
    let stiffness = number(
        "stiffness",
        of_angle.stiffness,
        Bound::Positive,
        written.stiffness,
        "stiffness",
    );
    let mut optional =
        |field, unit, value: Option<f64>, what| value.map(|value| number(field, unit, Bound::NotNegative, value, what));
    let hardening = optional(
        "hardening",
        Unit::NewtonMetrePerRadian3,
        written.hardening,
        "cubic part of the stiffness",
    );
    let damping = optional("damping", of_angle.damping, written.damping, "damping");
    let backlash = optional("backlash", Unit::Radian, written.backlash, "backlash");
    let efficiency = optional("efficiency", Unit::One, written.efficiency, "efficiency");
    let written_friction = written.friction.as_ref();
    let friction = written_friction.and_then(|friction| {
        let slips = friction.slip.as_ref()?;
        let coulomb = Field {
            name: "gear_friction",
            place: "drive_train.friction.coulomb",
            unit: |units| units.force,
            bound: Bound::NotNegative,
            what: "friction of the drive train",
        };
        let slip = Field {
            name: "gear_slip",
            place: "drive_train.friction.slip",
            unit: |units| units.rate,
            bound: Bound::Positive,
            what: "rate at which 76 % of the friction acts in the drive train",
        };
        Some(Loss {
            coulomb: of.parameters(coulomb, &friction.coulomb, declare),
            slip: of.parameters(slip, slips, declare),
        })
    });
    let train = DriveTrain {
        joint: joint.name.clone(),
        child: [joint.q, joint.v],
        rotor: [motor.q, motor.v],
        stiffness,
        hardening,
        damping,
        backlash,
        efficiency,
        friction,
        bodies: [of.body, rotor],
        holds_child: Holds::default(),
        holds_rotor: Holds::default(),
    };
    if let Some(friction) = written_friction.filter(|friction| friction.sticks()) {
        let on = sticking::OnRotor {
            body: rotor,
            joint: train.rotor,
            gear: efficiency.map(|efficiency| (Box::new(train.clone()), efficiency)),
        };
        sticking::declare(of, friction, Some(on), to, declare);
    }
    to.drive_trains.push(train);
}

impl DriveTrain {
    /// Connects the drive train with what can hold its sides, after all joints are declared.
    pub(in crate::elements) fn link(&mut self, drives: &[Drive], frictions: &[StickingFriction]) {
        let [child, rotor] = self.bodies.map(|body| Holds::of(body, drives, frictions));
        (self.holds_child, self.holds_rotor) = (child, rotor);
    }

    /// Starts the rotor with the position and the rate of the child.
    pub fn start<S: Scalar>(&self, q: &mut [S], qd: &mut [S]) {
        q[self.rotor[0]] = q[self.child[0]];
        qd[self.rotor[1]] = qd[self.child[1]];
    }

    /// Returns the twist `δ`, rad.
    fn twist<S: Scalar>(&self, q: &[S]) -> S {
        q[self.rotor[0]] - q[self.child[0]]
    }

    /// Returns the constants `k` (N·m/rad) and `k₃` (N·m/rad³).
    fn constants<S: Scalar>(&self, parameters: &[S::Constant]) -> [S; 2] {
        let hardening = self.hardening.map_or(S::Constant::number(0.0), |id| id.of(parameters));
        [self.stiffness.of(parameters), hardening].map(S::lift)
    }

    /// Returns stretch and torques.
    fn load<S: Scalar>(&self, parameters: &[S::Constant], q: &[S], qd: &[S]) -> Loaded<S> {
        let [k, k_3]: [S; 2] = self.constants(parameters);
        let twist = self.twist(q);
        let stretch = match self.backlash {
            None => twist,
            Some(backlash) => {
                let play = S::lift(backlash.of(parameters) * 0.5);
                let (above, below) = (twist - play, twist + play);
                let beyond = S::select(above.exceeds(0.0), above, S::zero());
                S::select((-below).exceeds(0.0), below, beyond)
            }
        };
        let spring = stretch * (k + k_3 * stretch * stretch);
        let damper = self.damping.map_or_else(S::zero, |damping| {
            let damper = (qd[self.rotor[1]] - qd[self.child[1]]) * S::lift(damping.of(parameters));
            if self.backlash.is_none() {
                return damper;
            }
            // Of the damper's torque, the part that does not reverse the spring's.
            let pushes_up = S::select((spring + damper).exceeds(0.0), damper, -spring);
            let pushes_down = S::select((-spring - damper).exceeds(0.0), damper, -spring);
            let pushes = S::select(stretch.exceeds(0.0), pushes_up, S::zero());
            S::select((-stretch).exceeds(0.0), pushes_down, pushes)
        });
        Loaded {
            stretch,
            spring,
            damper,
        }
    }

    /// Returns the magnitude of the torque on the child, N·m.
    pub(super) fn transmitted<S: Scalar>(&self, parameters: &[S::Constant], q: &[S], qd: &[S]) -> S {
        let loaded = self.load(parameters, q, qd);
        let torque = loaded.spring + loaded.damper;
        S::select(torque.exceeds(0.0), torque, -torque)
    }

    /// Returns the friction at full slip, N·m.
    fn friction_size<S: Scalar>(&self, loss: &Loss, now: &Instant<S>) -> S {
        let of_load = self.efficiency.map_or(S::Constant::number(0.0), |id| {
            S::Constant::number(1.0) / id.of(now.parameters) - S::Constant::number(1.0)
        });
        let transmitted = self.transmitted(now.parameters, now.q, now.qd);
        S::lift(loss.coulomb.of(now.parameters)) + transmitted * S::lift(of_load)
    }

    /// Returns the potential energy at the stretch `e`, J.
    fn potential<S: Scalar>(&self, parameters: &[S::Constant], e: S) -> S {
        let [k, k_3]: [S; 2] = self.constants(parameters);
        let square = e * e;
        square * (k * S::lift(0.5) + k_3 * square * S::lift(0.25))
    }

    /// Adds a torque on the child and its reverse on the rotor.
    fn act<S: Scalar>(&self, torque: S, applied: &mut Applied<S>) {
        applied.tau[self.child[1]] += torque;
        applied.tau[self.rotor[1]] -= torque;
    }
}

impl Element for DriveTrain {
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if let Some(id) = self
            .efficiency
            .filter(|id| !(0.0 < id.of(of.values) && id.of(of.values) <= 1.0))
        {
            let what = format!("the efficiency {} is not above 0 and at most 1", id.of(of.values));
            report(of.declared, id, problems, what);
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let joint = &self.joint;
        let twist = format!("twist of the drive train of joint {joint}, rotor (divided by the ratio) less child");
        let torque = format!("torque that the drive train of joint {joint} exerts on the child");
        to.continuous([
            Quantity::new(format!("{joint}.gear_twist"), Unit::Radian, twist),
            Quantity::new(format!("{joint}.gear_torque"), Unit::NewtonMetre, torque),
        ]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let loaded = self.load(view.now.parameters, view.now.q, view.now.qd);
        y.number(self.twist(view.now.q));
        y.number(loaded.spring + loaded.damper);
    }

    /// The torque depends on two joints, unlike the other loads on joints.
    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn reads_world(&self, _: &System) -> bool {
        false
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if self.damping.is_none() && self.friction.is_none() {
            return;
        }
        let loaded = self.load(now.parameters, now.q, now.qd);
        self.act(loaded.damper, applied);
        if let Some(loss) = self.friction {
            let (friction, slip) = (self.friction_size(&loss, now), S::lift(loss.slip.of(now.parameters)));
            applied.tau[self.rotor[1]] -= friction * (now.qd[self.rotor[1]] / slip).tanh();
        }
    }

    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        self.act(self.load(now.parameters, now.q, now.qd).spring, applied);
    }

    /// Passes the stiffness and the damping on one side while the other side is held: only then they
    /// belong to a single rate. While both move, linearly implicit methods treat the gear explicitly.
    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        let [k, k_3]: [S; 2] = self.constants(now.parameters);
        let loaded = self.load(now.parameters, now.q, now.qd);
        // With backlash, none where the gear is loose or its damper would pull.
        let pushes = self
            .backlash
            .map(|_| (loaded.spring * (loaded.spring + loaded.damper)).exceeds(0.0));
        if pushes.is_none_or(Mask::is_needed) {
            let damping = self.damping.map_or(S::zero(), |id| id.of(now.parameters));
            let gear = Resistance::of(k + S::lift(3.0) * k_3 * loaded.stretch * loaded.stretch, damping);
            let gear = pushes.map_or(gear, |pushes| gear.only_where(pushes));
            let [holds_child, holds_rotor] = [&self.holds_child, &self.holds_rotor].map(|by| by.holds(now));
            if holds_rotor {
                on(self.child[1], gear);
            }
            if holds_child {
                on(self.rotor[1], gear);
            }
        }
        if let Some(loss) = self.friction {
            let slip = loss.slip.of(now.parameters);
            let friction = self.friction_size(&loss, now);
            on(self.rotor[1], tanh_resistance(friction, now.qd[self.rotor[1]], slip));
        }
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        Some(self.potential(now.parameters, self.load(now.parameters, now.q, now.qd).stretch))
    }
}
