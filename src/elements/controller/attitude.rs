//! Attitude of a controller: its law, and the wheels or the port that exert the moment.

use super::desaturation::{Desaturation, Exerted};
use super::filter::{Filters, Memory};
use super::limited::Limited;
use super::{LimitStates, Measured, Modes};
use crate::Problem;
use crate::algebra::{Mat3, Quaternion, Scalar, Vec3};
use crate::elements::allocation::{IN_A_PLANE, are_in_a_plane, spread, wheel_torque};
use crate::elements::attitude_servo::AttitudeLaw;
use crate::elements::{Cursor, Limit, Values, replace, report};
use crate::spec::{self, ControlledWheel};
use crate::system::{Bound, Declarations, InputKind, ParamId, Quantity, Unit};

/// Attitude law of a body in another FMU.
#[derive(Clone, Debug)]
pub(super) struct Attitude {
    body: String,
    /// Index of the first of four inputs, the measured attitude.
    q: usize,
    /// Index of the first of three inputs, the measured angular velocity.
    w: usize,
    law: AttitudeLaw,
    /// Filters of each component of the moment.
    filters: Vec<Filters>,
    /// Port that exerts the moment.
    port: Option<String>,
    /// Wheels that exert the moment; empty with a port.
    wheels: Vec<Wheel>,
    desaturation: Option<Desaturation>,
    /// Its index among the attitudes of the controller.
    index: usize,
    /// Index of the first wheel's limit state.
    first_limit: usize,
}

/// Reaction wheel of the spacecraft.
#[derive(Clone, Debug)]
struct Wheel {
    name: String,
    /// First of three parameters, the axis.
    axis: ParamId,
    limit: Limited,
}

/// Returns the path of a field of an attitude in the spec.
pub(super) fn place(body: &str, field: &[&str]) -> Vec<String> {
    let path = ["controller", "attitude", body].into_iter();
    path.chain(field.iter().copied()).map(str::to_owned).collect()
}

impl Wheel {
    fn declare(body: &str, name: &str, written: &ControlledWheel, declare: &mut Declarations) -> Self {
        let of = |field: &str| place(body, &["wheel", name, field]);
        let what = format!("axis of wheel {name}, axes of {body}");
        let axis = Quantity::vector(&format!("{name}.axis"), Unit::One, &what);
        let axis = declare.parameters(axis, &written.axis, false, &of("axis"));
        let limit = written.torque_limit.map(|limit| {
            let what = format!("largest torque for the motor of wheel {name}");
            let quantity = Quantity::new(format!("{name}.torque_limit"), Unit::NewtonMetre, what);
            declare.parameter(quantity.bounded(Bound::Positive), limit, true, &of("torque_limit"))
        });
        Self {
            name: name.to_owned(),
            axis,
            limit: Limited(limit),
        }
    }

    /// Returns the unit vector along the axis; zero without a direction.
    fn direction(&self, parameters: &[f64]) -> Vec3<f64> {
        self.axis.direction(parameters).unwrap_or_else(Vec3::zeros)
    }
}

impl Attitude {
    /// Declares an attitude with its index, and those of its first limit state and its first filter.
    pub fn declare(
        body: &str,
        written: &spec::ControlledAttitude,
        [index, first_limit, first_filter]: [usize; 3],
        sample_time: Option<ParamId>,
        declare: &mut Declarations,
    ) -> Self {
        let mut gains = |field: &str, value: &spec::PerAxis, unit, what: &str| {
            let what = format!("attitude law's {what} gain of {body}, body axes");
            declare.gains(&format!("{body}.{field}"), value, unit, &what, &place(body, &[field]))
        };
        let kp = gains("kp", &written.kp, Unit::NewtonMetrePerRadian, "proportional");
        let kd = gains("kd", &written.kd, Unit::NewtonMetreSecondPerRadian, "derivative");
        let at = place(body, &["filter"]);
        let filters = Filters::declare(
            (body, &at[..]),
            &written.filter,
            sample_time,
            [3, first_filter],
            declare,
        );
        let wheels = written.wheel.iter();
        let wheels: Vec<Wheel> = wheels
            .map(|(name, wheel)| Wheel::declare(body, name, wheel, declare))
            .collect();
        let mut attitude = |field: &str, what: &str| {
            let first = declare.inputs.len();
            let quantities = Quantity::quaternion(&format!("{body}.{field}"), &format!("{what} of {body}, quaternion"));
            for (quantity, start) in quantities.into_iter().zip([1.0, 0.0, 0.0, 0.0]) {
                declare.input(quantity, start, InputKind::Continuous);
            }
            first
        };
        let (q, q_ref) = (
            attitude("q", "measured attitude"),
            attitude("q_ref", "reference attitude"),
        );
        let mut velocity = |field: &str, what: &str| {
            let first = declare.inputs.len();
            let what = format!("{what} of {body}, body axes");
            for quantity in Quantity::vector(&format!("{body}.{field}"), Unit::RadianPerSecond, &what) {
                declare.input(quantity, 0.0, InputKind::Continuous);
            }
            first
        };
        let (w, w_ref) = (
            velocity("w", "measured angular velocity"),
            velocity("w_ref", "reference angular velocity"),
        );
        let law = AttitudeLaw {
            q_ref,
            w_ref,
            switch: None,
            kp,
            kd,
        };
        Self {
            body: body.to_owned(),
            q,
            w,
            law,
            filters,
            port: written.port.clone(),
            desaturation: Desaturation::declare(body, written, wheels.iter().map(|wheel| wheel.axis), declare),
            wheels,
            index,
            first_limit,
        }
    }

    /// Returns the number of its limit states.
    pub fn limit_count(&self) -> usize {
        self.wheels.len()
    }

    /// Returns the number of the filters of all components.
    pub fn filter_count(&self) -> usize {
        self.filters.iter().map(Filters::count).sum()
    }

    /// Updates the memories of its filters.
    pub fn advance_filters(&self, now: Measured<f64>, memories: &mut [Memory]) {
        for (filters, &moment) in self.filters.iter().zip(&self.feedback(now)) {
            filters.advance(now.parameters, moment, memories);
        }
    }

    pub fn indicator_count(&self) -> usize {
        let limited = self.wheels.iter().filter(|wheel| wheel.limit.0.is_some());
        limited.count() + usize::from(self.desaturation.is_some())
    }

    /// Returns the quantities of its outputs.
    pub fn quantities(&self) -> impl Iterator<Item = Quantity> {
        let body = &self.body;
        let mut all = Vec::new();
        if let Some(port) = &self.port {
            let what = format!("commanded torque at port {port}, axes of {body}");
            all.extend(Quantity::vector(&format!("{port}.t"), Unit::NewtonMetre, &what));
        }
        all.extend(self.wheels.iter().map(|Wheel { name, .. }| {
            let what = format!("commanded torque on the rotor of wheel {name}");
            Quantity::new(format!("{name}.tau"), Unit::NewtonMetre, what)
        }));
        all.extend(self.desaturation.iter().flat_map(Desaturation::levels));
        let mut vector = |field: &str, unit, what: &str| {
            all.extend(Quantity::vector(&format!("{body}.{field}"), unit, what));
        };
        let what = format!("commanded moment on {body}, body axes");
        vector("servo_torque", Unit::NewtonMetre, &what);
        let what = format!("rotation vector from the attitude of {body} to its reference, body axes");
        vector("attitude_error", Unit::Radian, &what);
        all.extend(self.desaturation.iter().flat_map(Desaturation::vectors));
        all.into_iter()
    }

    /// Reports a wheel's axis without a direction, and wheels whose axes do not span all three
    /// directions.
    pub fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let mut all = true;
        for wheel in &self.wheels {
            if wheel.axis.direction(of.values).is_none() {
                all = false;
                let what = "the axis has zero length".to_owned();
                report(of.declared, wheel.axis, problems, what);
            }
        }
        if all && !self.wheels.is_empty() && are_in_a_plane(&self.spread(of.values)) {
            problems.push(Problem {
                at: place(&self.body, &["wheel"]),
                what: IN_A_PLANE.to_owned(),
            });
        }
        self.filters.iter().for_each(|filters| filters.validate(of, problems));
        if let Some(desaturation) = &self.desaturation {
            desaturation.validate(of, problems);
        }
    }

    fn spread(&self, parameters: &[f64]) -> Mat3<f64> {
        spread(self.wheels.iter().map(|wheel| wheel.direction(parameters)))
    }

    fn attitude<S: Scalar>(&self, now: Measured<S>) -> Quaternion<S> {
        Quaternion::from_slice(&now.inputs[self.q..])
    }

    /// Returns the moment by the gains before filters, N·m, body axes.
    fn feedback<S: Scalar>(&self, now: Measured<S>) -> Vec3<S> {
        let w = Vec3::from_column_slice(&now.inputs[self.w..self.w + 3]);
        self.law.moment(now.parameters, now.inputs, self.attitude(now), &w)
    }

    /// Returns the commanded moment on the body, N·m, body axes.
    fn moment<S: Scalar>(&self, now: Measured<S>) -> Vec3<S> {
        let moment = self.feedback(now);
        Vec3::from_fn(|i, _| self.filters[i].output(now, moment[i]))
    }

    /// Returns the moment of the thrusters, N·m, body axes.
    fn exerted<S: Scalar>(&self, now: Measured<S>, modes: Modes, states: LimitStates) -> Option<Exerted<S>> {
        let desaturation = self.desaturation.as_ref()?;
        Some(desaturation.exerted(now, modes.desaturating[self.index], states))
    }

    /// Passes each wheel to `to`, with the index of its limit state and its commanded torque before its
    /// limit, N·m. The wheels exert the part of the moment that the thrusters do not exert.
    fn each_wheel<S: Scalar>(
        &self,
        now: Measured<S>,
        exerted: Option<&Exerted<S>>,
        mut to: impl FnMut(&Wheel, usize, S),
    ) {
        let spread = self.spread(now.parameters);
        let moment = self.moment(now);
        let moment = exerted.map_or(moment, |exerted| moment - exerted.moment);
        for (wheel, limit) in self.wheels.iter().zip(self.first_limit..) {
            let axis = wheel.direction(now.parameters);
            to(wheel, limit, wheel_torque(&spread, &axis, &moment));
        }
    }

    /// Updates its modes. Returns true if one changed.
    pub fn update(&self, now: Measured<f64>, limits: &mut [Limit], desaturating: &mut [bool]) -> bool {
        let mut changed = false;
        if let Some(desaturation) = &self.desaturation {
            let is_on = &mut desaturating[self.index];
            changed |= replace(is_on, desaturation.next(now, *is_on));
        }
        let exerted = self.exerted(now, Modes::new(limits, desaturating), LimitStates::Present);
        self.each_wheel(now, exerted.as_ref(), |wheel, i, commanded| {
            let next = wheel.limit.next(now.parameters, commanded, limits[i]);
            changed |= replace(&mut limits[i], next);
        });
        changed
    }

    /// Writes its event indicators.
    pub fn indicate(&self, now: Measured<f64>, modes: Modes, z: &mut Cursor<f64>) {
        let exerted = self.exerted(now, modes, LimitStates::Present);
        self.each_wheel(now, exerted.as_ref(), |wheel, i, commanded| {
            wheel.limit.indicate(now.parameters, commanded, modes.limits[i], z);
        });
        if let Some(desaturation) = &self.desaturation {
            z.number(desaturation.indicator(now, modes.desaturating[self.index]));
        }
    }

    /// Passes the values of its outputs to `to`.
    pub fn evaluate<S: Scalar>(&self, now: Measured<S>, modes: Modes, states: LimitStates, to: &mut impl FnMut(S)) {
        let (moment, exerted) = (self.moment(now), self.exerted(now, modes, states));
        let vector = |v: &Vec3<S>, to: &mut dyn FnMut(S)| v.iter().for_each(|&part| to(part));
        if self.port.is_some() {
            vector(&moment, to);
        }
        self.each_wheel(now, exerted.as_ref(), |wheel, i, commanded| {
            to(wheel.limit.torque(now, commanded, modes.limits[i], states));
        });
        let desaturation = self.desaturation.as_ref().zip(exerted.as_ref());
        if let Some((desaturation, exerted)) = desaturation {
            desaturation.evaluate(now, exerted, to);
        }
        vector(&moment, to);
        vector(&self.law.error(now.inputs, self.attitude(now)), to);
        if let Some((desaturation, exerted)) = desaturation {
            vector(&desaturation.momentum(now), to);
            vector(&exerted.moment, to);
        }
    }
}
