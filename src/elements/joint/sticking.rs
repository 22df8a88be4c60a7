//! Dry friction that sticks: Coulomb friction with a breakaway torque.

use super::drive_train::DriveTrain;
use super::{Drive, Field, JointTable};
use crate::Problem;
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::elements::{
    Cursor, Discrete, Element, Elements, EventContext, Instant, Invariance, Outputs, Reads, Stored, Values, View,
    Watched, report,
};
use crate::spec::{self, JointMotion, PerAxis, Spec};
use crate::system::{Bound, Declarations, ParamId, Quantity, System, Unit};

/// Dry friction of a joint with one axis, without regularisation.
///
/// While the joint slides in the direction `s = ±1`, the friction is
///
/// ```text
///     τ = −s f,   f = f_c + (f_b − f_c)/(1 + (q̇/v)²) + (1/η − 1) |T|
/// ```
///
/// with Coulomb's friction `f_c`, the breakaway torque `f_b`, the Stribeck rate `v` (D. P. Hess and
/// A. Soom, *J. Tribology* 112 (1990) 147–152) and, on the rotor of a drive train, the gear's
/// torque `T` and efficiency `η`. When its rate becomes zero the joint sticks, which is a
/// constraint `q̈ = 0`: it does not creep. It slides again, in the direction of the other torques,
/// as soon as the torque that holds it exceeds `f` at zero rate.
#[derive(Clone, Debug)]
pub struct StickingFriction {
    /// Index among these frictions.
    pub number: usize,
    /// Index of the joint's child body.
    pub body: usize,
    /// Index of the joint's rate.
    pub rate: usize,
    coordinate: usize,
    /// Name of the joint.
    joint: String,
    unit: Unit,
    /// True for friction on the rotor of the joint's drive train.
    is_on_rotor: bool,
    coulomb: ParamId,
    breakaway: Option<ParamId>,
    stribeck: Option<ParamId>,
    /// Drive of the joint, if it has one.
    drive: Option<Box<Drive>>,
    gear: Option<(Box<DriveTrain>, ParamId)>,
}

/// Sticking or sliding of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sliding {
    /// The joint sticks.
    #[default]
    Stuck,
    /// The rate is positive.
    Forward,
    /// The rate is negative.
    Backward,
}

impl Sliding {
    /// Returns the state of a joint that slides in the direction of a rate (rad/s, m/s) or a torque
    /// (N·m, N).
    pub fn along(direction: f64) -> Self {
        if direction < 0.0 { Self::Backward } else { Self::Forward }
    }

    /// Returns the direction `s`: 1 or −1; 0 for a joint that sticks.
    pub fn sign(self) -> f64 {
        match self {
            Self::Stuck => 0.0,
            Self::Forward => 1.0,
            Self::Backward => -1.0,
        }
    }
}

impl Stored for Sliding {
    fn write(&self, to: &mut impl FnMut(f64)) {
        to(self.sign());
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        match i32::read(next)? {
            0 => Some(Self::Stuck),
            1 => Some(Self::Forward),
            -1 => Some(Self::Backward),
            _ => None,
        }
    }
}

/// Rate (rad/s, m/s) by which a sliding joint has to pass zero before it sticks, against sequences
/// of events.
const RATE_HYSTERESIS: f64 = 1e-9;
/// Excess of the holding torque, relative to the breakaway torque, with which a joint begins to
/// slide, against sequences of events.
const TORQUE_HYSTERESIS: f64 = 1e-9;

/// Rotor of a drive train on which friction acts.
pub(super) struct OnRotor {
    /// Index of the rotor's body.
    pub body: usize,
    /// Indices of its coordinate and its rate.
    pub joint: [usize; 2],
    /// Drive train and its efficiency, if it has one.
    pub gear: Option<(Box<DriveTrain>, ParamId)>,
}

/// Declares dry friction that sticks, of a joint or of its drive train.
pub(super) fn declare(
    of: JointTable,
    written: &spec::Friction,
    on_rotor: Option<OnRotor>,
    to: &mut Elements,
    declare: &mut Declarations,
) {
    let joint = of.joint;
    let [prefix, section] = if on_rotor.is_some() {
        ["gear_", "drive_train."]
    } else {
        [""; 2]
    };
    let mut parameter = |name: &str, field: &str, value: &PerAxis, what: &str| {
        let is_rate = field == "stribeck";
        let field = Field {
            name: &format!("{prefix}{name}"),
            place: &format!("{section}friction.{field}"),
            unit: |units| units.force,
            bound: Bound::NotNegative,
            what,
        };
        let of_rate = Field {
            unit: |units| units.rate,
            bound: Bound::Positive,
            ..field
        };
        of.parameter(if is_rate { of_rate } else { field }, 0, value.get(0), declare)
    };
    let coulomb = parameter("friction", "coulomb", &written.coulomb, "dry friction");
    let breakaway = written.breakaway.as_ref();
    let breakaway = breakaway.map(|value| parameter("breakaway", "breakaway", value, "breakaway torque (force)"));
    let stribeck = written.stribeck.as_ref();
    let stribeck = stribeck.map(|value| parameter("stribeck", "stribeck", value, "Stribeck rate of the dry friction"));
    let is_on_rotor = on_rotor.is_some();
    let OnRotor {
        body,
        joint: [coordinate, rate],
        gear,
    } = on_rotor.unwrap_or(OnRotor {
        body: of.body,
        joint: [joint.q, joint.v],
        gear: None,
    });
    to.sticking.push(StickingFriction {
        number: to.sticking.len(),
        body,
        coordinate,
        rate,
        joint: joint.name.clone(),
        unit: Unit::coordinate(joint.kind.is_angular(0)).force,
        is_on_rotor,
        coulomb,
        breakaway,
        stribeck,
        drive: None,
        gear,
    });
}

impl StickingFriction {
    /// Connects the friction with the drive of its joint, after all joints are declared.
    pub(in crate::elements) fn link(&mut self, drives: &[Drive]) {
        let drive = drives.iter().find(|drive| drive.body == self.body);
        self.drive = drive.cloned().map(Box::new);
    }

    /// Returns true if loads move the joint: only then friction can hold it.
    pub fn is_free(&self, motions: &[JointMotion]) -> bool {
        Drive::leaves_to_loads(self.drive.as_deref(), motions)
    }

    /// Returns true while it holds the joint.
    pub fn holds(&self, discrete: &Discrete) -> bool {
        discrete.sliding[self.number] == Sliding::Stuck && self.is_free(&discrete.motions)
    }

    /// Returns the state of a joint at a rate (rad/s, m/s).
    pub fn at_rate(rate: f64) -> Sliding {
        if rate.abs() > RATE_HYSTERESIS {
            Sliding::along(rate)
        } else {
            Sliding::Stuck
        }
    }

    /// Returns true if a joint that slides has lost its rate (rad/s, m/s).
    pub fn has_stopped(state: Sliding, rate: f64) -> bool {
        state != Sliding::Stuck && rate * state.sign() <= -0.5 * RATE_HYSTERESIS
    }

    /// Returns the excess of the torque `hold` (N·m, N) that holds the joint over the
    /// breakaway torque, relative to it, less half of the hysteresis.
    pub fn excess(&self, parameters: &[f64], q: &[f64], qd: &[f64], hold: f64) -> f64 {
        let most = self.friction(parameters, q, qd, 0.0);
        hold.abs() / most.max(f64::MIN_POSITIVE) - 1.0 - 0.5 * TORQUE_HYSTERESIS
    }

    /// Returns the magnitude `f` of the friction at a rate (rad/s, m/s), N·m or N.
    fn friction<S: Scalar>(&self, parameters: &[S::Constant], q: &[S], qd: &[S], rate: S) -> S {
        let coulomb = S::lift(self.coulomb.of(parameters));
        let mut friction = coulomb;
        if let Some(breakaway) = self.breakaway {
            let more = S::lift(breakaway.of(parameters)) - coulomb;
            let slip = self.stribeck.map_or(S::zero(), |id| rate / S::lift(id.of(parameters)));
            friction += more / (S::one() + slip * slip);
        }
        if let Some((gear, efficiency)) = &self.gear {
            let loss = S::lift(S::Constant::number(1.0) / efficiency.of(parameters) - S::Constant::number(1.0));
            friction += gear.transmitted(parameters, q, qd) * loss;
        }
        friction
    }
}

impl Element for StickingFriction {
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if let Some(id) = self.breakaway {
            let [breakaway, coulomb] = [id, self.coulomb].map(|id| id.of(of.values));
            if breakaway < coulomb {
                let [breakaway, coulomb] = [breakaway, coulomb].map(|value| self.unit.of(value));
                let what =
                    format!("the breakaway torque (force) {breakaway} is below the friction {coulomb} of sliding");
                report(of.declared, id, problems, what);
            }
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let joint = &self.joint;
        let [of, prefix] = if self.is_on_rotor {
            ["the drive train of joint", "gear_"]
        } else {
            ["joint", ""]
        };
        let torque = format!("torque (force) of dry friction in {of} {joint}, sliding or holding it");
        let quantity = Quantity::new(format!("{joint}.{prefix}friction_torque"), self.unit, torque);
        to.invariant(Invariance::Galilean, [quantity]);
        let sticks = format!("true while {of} {joint} sticks by dry friction");
        let quantity = Quantity::new(format!("{joint}.{prefix}sticks"), Unit::One, sticks);
        to.flag(quantity, std::iter::once(self.coordinate));
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let is_free = self.is_free(now.motions);
        let state = now.sliding[self.number];
        y.number(match state {
            Sliding::Stuck if is_free => view.dynamics.drive[self.rate],
            _ => self.torque(now, state),
        });
        y.flag(state == Sliding::Stuck && is_free);
    }

    fn reads(&self) -> Reads {
        if self.gear.is_some() {
            Reads::MOTION
        } else {
            Reads::JOINT
        }
    }

    fn reads_world(&self, _: &System) -> bool {
        false
    }

    /// Adds the friction of sliding, or sets that the joint sticks. It follows the joint's
    /// [`Drive`](super::Drive), whose motion takes precedence.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let state = now.sliding[self.number];
        if self.drive.is_none() || !applied.driven[self.body] {
            applied.driven[self.body] = state == Sliding::Stuck;
            applied.qdd[self.rate] = -now.qd[self.rate] * S::lift(now.kinematics.damping);
        }
        applied.tau[self.rate] += self.torque(now, state);
    }

    fn indicator_count(&self) -> usize {
        1
    }

    fn watches(&self) -> Watched {
        Watched {
            inputs: true,
            holds: true,
            ..Watched::default()
        }
    }

    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        let (sensed, state) = (&now.sensed, discrete.sliding[self.number]);
        z.number(match state {
            Sliding::Stuck if !self.is_free(&discrete.motions) => 2.0 * RATE_HYSTERESIS - sensed.qd[self.rate].abs(),
            Sliding::Stuck => now.hold.get(self.rate).map_or(1.0, |&hold| {
                0.5 * TORQUE_HYSTERESIS - self.excess(sensed.parameters, sensed.q, sensed.qd, hold)
            }),
            _ => sensed.qd[self.rate] * state.sign() + RATE_HYSTERESIS,
        });
    }
}

impl StickingFriction {
    /// Returns the torque (force) in a state, N·m or N; zero for a joint that sticks.
    fn torque<S: Scalar>(&self, now: &Instant<S>, state: Sliding) -> S {
        if state == Sliding::Stuck {
            return S::zero();
        }
        let friction = self.friction(now.parameters, now.q, now.qd, now.qd[self.rate]);
        -friction * S::lift(state.sign())
    }
}
