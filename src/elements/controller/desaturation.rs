//! Desaturation of a controller's wheels: thrusters take the momentum that the wheels store.

use super::attitude::place;
use super::{LimitStates, Measured};
use crate::Problem;
use crate::algebra::{Scalar, Vec3, lift3, norm};
use crate::elements::allocation::Thrusters;
use crate::elements::band::HYSTERESIS;
use crate::elements::{Values, report};
use crate::spec::{ControlledAttitude, ControlledThruster};
use crate::system::{Bound, Declarations, InputKind, ParamId, Quantity, Unit};
use indexmap::IndexMap;

/// Part of the momentum limit at which desaturation ends, unless the spec has another momentum.
const RELEASE: f64 = 0.1;

/// Desaturation of a body's wheels.
#[derive(Clone, Debug)]
pub(super) struct Desaturation {
    /// Name of the body.
    body: String,
    rotors: Vec<Rotor>,
    /// Names of the thrusters.
    thrusters: Vec<String>,
    /// First of three parameters of the first thruster; those of the others follow.
    torques: ParamId,
    limit: ParamId,
    release: Option<ParamId>,
    time: ParamId,
}

/// Rotor of a wheel.
#[derive(Clone, Copy, Debug)]
struct Rotor {
    /// First of three parameters, the axis.
    axis: ParamId,
    inertia: ParamId,
    /// Index of the input with the measured rate.
    qd: usize,
}

/// Moment of the thrusters.
#[derive(Clone, Copy)]
pub(super) struct Exerted<S: Scalar> {
    /// Multiplier of the wanted moment.
    y: Vec3<S>,
    /// Factor on all levels, so that none exceeds 1.
    factor: S,
    /// Moment on the body, N·m, body axes.
    pub moment: Vec3<S>,
}

impl Desaturation {
    /// Declares the desaturation of a body's wheels; `None` without thrusters. `axes` has the first
    /// parameter of each wheel's axis.
    pub fn declare(
        body: &str,
        written: &ControlledAttitude,
        axes: impl Iterator<Item = ParamId>,
        declare: &mut Declarations,
    ) -> Option<Self> {
        if written.thruster.is_empty() {
            return None;
        }
        let torques = declare_torques(body, &written.thruster, declare);
        let mut number = |field: &str, value: Option<f64>, unit, what: &str| {
            let quantity = Quantity::new(format!("{body}.{field}"), unit, format!("{what} of {body}'s wheels"));
            let quantity = quantity.bounded(Bound::Positive);
            value.map(|value| declare.parameter(quantity, value, true, &place(body, &[field])))
        };
        let momentum = Unit::NewtonMetreSecond;
        let what = "momentum at which desaturation begins";
        let limit = number("momentum_limit", written.momentum_limit, momentum, what);
        let what = "momentum at which desaturation ends";
        let release = number("momentum_release", written.momentum_release, momentum, what);
        let what = "time constant of the desaturation";
        let time = number("desaturation_time", written.desaturation_time, Unit::Second, what);
        let mut rotors = Vec::new();
        for ((name, wheel), axis) in written.wheel.iter().zip(axes) {
            let what = format!("inertia of the rotor of wheel {name} about its axis");
            let inertia = Quantity::new(format!("{name}.inertia"), Unit::KilogramMetre2, what);
            let at = place(body, &["wheel", name, "inertia"]);
            let inertia = declare.parameter(inertia.bounded(Bound::Positive), wheel.inertia?, false, &at);
            let what = format!("measured rate of wheel {name}");
            let qd = Quantity::new(format!("{name}.qd"), Unit::RadianPerSecond, what);
            let qd = declare.input(qd, 0.0, InputKind::Continuous);
            rotors.push(Rotor { axis, inertia, qd });
        }
        Some(Self {
            body: body.to_owned(),
            rotors,
            thrusters: written.thruster.keys().cloned().collect(),
            torques,
            limit: limit?,
            release,
            time: time?,
        })
    }

    /// Returns the quantities of the thrusters' levels.
    pub fn levels(&self) -> impl Iterator<Item = Quantity> {
        self.thrusters.iter().map(|name| {
            let what = format!("commanded throttle of thruster {name}, from 0 to 1");
            Quantity::new(format!("{name}.level"), Unit::One, what)
        })
    }

    /// Returns the quantities of the momentum and of the thrusters' moment.
    pub fn vectors(&self) -> impl Iterator<Item = Quantity> {
        let body = &self.body;
        let what = format!("angular momentum that the wheels of {body} store, body axes");
        let momentum = Quantity::vector(&format!("{body}.wheel_momentum"), Unit::NewtonMetreSecond, &what);
        let what = format!("commanded moment of the thrusters on {body}, body axes");
        let moment = Quantity::vector(&format!("{body}.thruster_torque"), Unit::NewtonMetre, &what);
        momentum.into_iter().chain(moment)
    }

    fn thrusters<'a>(&self, parameters: &'a [f64]) -> Thrusters<'a> {
        Thrusters::new(parameters, self.torques, self.thrusters.len())
    }

    /// Reports a thruster without a torque, a direction in which the thrusters exert no moment, and a
    /// release that is not below the limit.
    pub fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let mut all = true;
        for i in 0..self.thrusters.len() {
            let torque = self.torques.nth(3 * i);
            if torque.direction(of.values).is_none() {
                all = false;
                report(of.declared, torque, problems, "the torque is zero".to_owned());
            }
        }
        let missing = all.then(|| self.thrusters(of.values).missing_direction()).flatten();
        if let Some(missing) = missing {
            let [x, y, z] = [missing.x, missing.y, missing.z].map(|part| part + 0.0);
            problems.push(Problem {
                at: place(&self.body, &["thruster"]),
                what: format!("no levels of the thrusters exert a moment along [{x}, {y}, {z}], body axes"),
            });
        }
        let limit = self.limit.of(of.values);
        if let Some(release) = self.release
            && (0.0..=release.of(of.values)).contains(&limit)
        {
            let [found, limit] = [release, self.limit].map(|id| of.declared[id.0].quantity.unit.of(id.of(of.values)));
            let what = format!("desaturation ends at {found}, which is not below `momentum_limit`, {limit}");
            report(of.declared, release, problems, what);
        }
    }

    /// Returns the angular momentum of the wheels relative to the body, N·m·s, body axes.
    pub fn momentum<S: Scalar>(&self, now: Measured<S>) -> Vec3<S> {
        let of_rotor = |rotor: &Rotor| {
            let axis = rotor.axis.direction(now.parameters).unwrap_or_else(Vec3::zeros);
            lift3::<S>(&(axis * rotor.inertia.of(now.parameters))) * now.inputs[rotor.qd]
        };
        self.rotors
            .iter()
            .map(of_rotor)
            .fold(Vec3::zeros(), |sum, part| sum + part)
    }

    /// Returns the event indicator: positive while the state is valid, negative once it has to change.
    pub fn indicator<S: Scalar>(&self, now: Measured<S>, is_on: bool) -> f64 {
        let (stored, threshold) = (norm(&self.momentum(now)).value(), self.threshold(now.parameters, is_on));
        let inside = if is_on { stored - threshold } else { threshold - stored };
        inside + HYSTERESIS * threshold
    }

    /// Returns the momentum at which the state changes, N·m·s.
    fn threshold(&self, parameters: &[f64], is_on: bool) -> f64 {
        let limit = self.limit.of(parameters);
        match self.release {
            _ if !is_on => limit,
            Some(release) => release.of(parameters),
            None => RELEASE * limit,
        }
    }

    /// Returns true if the wheels are desaturated at these inputs, where `is_on` is the last state. It
    /// changes at half the indicator's margin already, like [`Band`](crate::elements::band::Band).
    pub fn next<S: Scalar>(&self, now: Measured<S>, is_on: bool) -> bool {
        let margin = HYSTERESIS * self.threshold(now.parameters, is_on);
        let is_valid = self.indicator(now, is_on) > 0.5 * margin;
        is_on == is_valid
    }

    /// Returns the moment of the thrusters: as far as their levels do not exceed 1, `−h/T` with the
    /// wheels' momentum `h` and the time constant `T`; zero while `is_on` is false.
    pub fn exerted<S: Scalar>(&self, now: Measured<S>, is_on: bool, states: LimitStates) -> Exerted<S> {
        let is_on = match states {
            LimitStates::Present => is_on,
            LimitStates::Next => self.next(now, is_on),
        };
        if !is_on {
            return Exerted {
                y: Vec3::zeros(),
                factor: S::one(),
                moment: Vec3::zeros(),
            };
        }
        let thrusters = self.thrusters(now.parameters);
        let wanted = self.momentum(now) * S::lift(-1.0 / self.time.of(now.parameters));
        let y = thrusters.multiplier(&wanted);
        let mut largest = S::one();
        for i in 0..self.thrusters.len() {
            let level = thrusters.level(i, &y);
            largest = S::select((level - largest).exceeds(0.0), level, largest);
        }
        let factor = S::one() / largest;
        let mut moment = Vec3::zeros();
        for i in 0..self.thrusters.len() {
            moment += lift3::<S>(&thrusters.torque(i)) * (thrusters.level(i, &y) * factor);
        }
        Exerted { y, factor, moment }
    }

    /// Passes the levels of all thrusters to `to`.
    pub fn evaluate<S: Scalar>(&self, now: Measured<S>, exerted: &Exerted<S>, to: &mut impl FnMut(S)) {
        let thrusters = self.thrusters(now.parameters);
        (0..self.thrusters.len()).for_each(|i| to(thrusters.level(i, &exerted.y) * exerted.factor));
    }
}

/// Declares the torques of all thrusters; returns the index of the first parameter.
fn declare_torques(
    body: &str,
    thrusters: &IndexMap<String, ControlledThruster>,
    declare: &mut Declarations,
) -> ParamId {
    let first = ParamId(declare.parameters.len());
    for (name, thruster) in thrusters {
        let what = format!("torque of thruster {name} at full thrust about the mass centre of {body}, body axes");
        let quantities = Quantity::vector(&format!("{name}.torque"), Unit::NewtonMetre, &what);
        let at = place(body, &["thruster", name, "torque"]);
        declare.parameters(quantities, &thruster.torque, false, &at);
    }
    first
}
