//! Sensors: measured values as outputs, with errors, samples and a delay.

mod blocker;
mod errors;
mod sight;

use super::samples::{declare_sample_time, validate_sample_time};
use super::{Compiler, Cursor, Element, Outputs, Samples, Values, View};
use crate::algebra::{Scalar, Vec3, norm};
use crate::random::Noise;
use crate::spec::{self, SensorType, Spec, at};
use crate::system::{Bound, FrameRef, ParamId, Quantity, System, Unit, axis_name};
use crate::{Error, Problem};
use errors::{AXES, ErrorModel, Group, SampleIndex, Value, unseen};
use sight::Sight;

/// Sensor of a spacecraft.
///
/// Its samples hold `delay + 1` measurements, the oldest first, which is the output, and the random
/// walks of its biases.
#[derive(Clone, Debug)]
pub(crate) struct Sensor {
    pub name: String,
    /// Index among the sensors.
    number: usize,
    source: Source,
    groups: Vec<ErrorModel>,
    sight: Option<Sight>,
    /// Time between samples; `None` if it is continuous.
    pub sample_time: Option<ParamId>,
    /// Delay, samples.
    delay: usize,
    seed: Option<ParamId>,
    /// Outputs, without the flag for the sight.
    quantities: Vec<Quantity>,
}

/// Measured quantities.
#[derive(Clone, Debug)]
enum Source {
    /// Specific force and angular velocity of a frame, of which one may be absent.
    Inertial {
        frame: FrameRef,
        has_force: bool,
        has_rate: bool,
    },
    Attitude(FrameRef),
    /// Index of the first coordinate of a joint.
    Encoder(usize),
    /// Index of the coordinate of a joint, and periods per turn.
    Resolver(usize, f64),
    /// Index of the child body of a joint.
    Wrench(usize),
    Pose([FrameRef; 2]),
    Distance([FrameRef; 2]),
}

impl Source {
    /// Returns the source of a sensor; `None` with a reported problem if a frame does not exist.
    fn new(name: &str, written: &spec::Sensor, from: &mut Compiler) -> Option<Self> {
        let bodies = &from.system.bodies;
        let joint = written.joint.as_ref();
        let body = joint.and_then(|joint| bodies.iter().position(|body| body.joint.name == *joint));
        let coordinate = body.map(|body| bodies[body].joint.q);
        let mut frame = |field: &str, frame: &Option<String>| {
            let frame = frame.as_ref()?;
            from.frame(["sensor", name, field], frame)
        };
        let own = frame("frame", &written.frame);
        let target = frame("target", &written.target);
        let inertial = |has_force: bool, has_rate: bool| {
            Some(Self::Inertial {
                frame: own?,
                has_force,
                has_rate,
            })
        };
        match written.kind {
            SensorType::Imu => inertial(true, true),
            SensorType::Accelerometer => inertial(true, false),
            SensorType::Gyro => inertial(false, true),
            SensorType::StarTracker => Some(Self::Attitude(own?)),
            SensorType::Encoder => Some(Self::Encoder(coordinate?)),
            SensorType::Resolver => {
                let periods = f64::from(written.pole_pairs.unwrap_or(1));
                Some(Self::Resolver(coordinate?, periods))
            }
            SensorType::ForceTorque => Some(Self::Wrench(body?)),
            SensorType::Camera => Some(Self::Pose([own?, target?])),
            SensorType::Range => Some(Self::Distance([own?, target?])),
        }
    }

    /// Returns the frame from which there is a line of sight, and the target; without a target it is the
    /// ray along the frame's z axis.
    fn line(&self) -> Option<(FrameRef, Option<FrameRef>)> {
        match *self {
            Self::Pose([frame, target]) | Self::Distance([frame, target]) => Some((frame, Some(target))),
            Self::Attitude(frame) => Some((frame, None)),
            _ => None,
        }
    }

    /// Returns the true values of its groups; the second is not used if there is one only.
    fn values<S: Scalar>(&self, view: &View<S>) -> [Value<S>; 2] {
        let (now, none) = (&view.now, Value::Numbers([S::zero(); AXES]));
        match *self {
            Self::Inertial {
                frame,
                has_force,
                has_rate,
            } => {
                let F = view.frame(frame);
                let rate = || Value::vector(&view.spin(frame, &F));
                if !has_force {
                    return [rate(), none];
                }
                let A = now.configuration().acceleration(frame, view.dynamics.A(), view.qdd);
                let gravity = view.elements.gravity.iter();
                let free = gravity.fold(Vec3::zeros(), |sum, gravity| sum + gravity.at(now, &F.p_WF));
                let force = Value::vector(&F.R_WF.tr_mul(&(A.v - free)));
                [force, if has_rate { rate() } else { none }]
            }
            Self::Attitude(frame) => [Value::Attitude(view.frame(frame).q_WF), none],
            Self::Encoder(q) => {
                let coordinate = |i: usize| now.q.get(q + i).copied().unwrap_or_else(S::zero);
                [Value::Numbers(std::array::from_fn(coordinate)), none]
            }
            Self::Resolver(q, periods) => {
                let (sine, cosine) = (now.q[q] * S::lift(periods)).sin_cos();
                [Value::Numbers([sine, cosine, S::zero()]), none]
            }
            Self::Wrench(body) => {
                let R_BW = now.kinematics.bodies[body].R_WB.transpose();
                let F = view.transmitted(body).express(&R_BW);
                [Value::vector(&F.f), Value::vector(&F.t)]
            }
            Self::Pose(frames) => {
                let [F, T] = frames.map(|frame| view.frame(frame));
                let r = F.R_WF.tr_mul(&(T.p_WF - F.p_WF));
                [Value::vector(&r), Value::Attitude(F.q_WF.conjugate() * T.q_WF)]
            }
            Self::Distance(frames) => {
                let [F, T] = frames.map(|frame| now.configuration().pose(frame).p);
                [Value::Numbers([norm(&(T - F)), S::zero(), S::zero()]), none]
            }
        }
    }
}

/// Returns the quantities of a sensor's outputs, without the flag for the sight.
fn quantities(name: &str, written: &spec::Sensor, angular: &[bool]) -> Vec<Quantity> {
    let of = |field: &Option<String>| field.clone().unwrap_or_default();
    let (frame, joint, target) = (of(&written.frame), of(&written.joint), of(&written.target));
    let vector = |field: &str, unit, what: String| Quantity::vector(&format!("{name}.{field}"), unit, &what);
    let force = || {
        let what = format!("measured specific force at {frame}, its axes");
        vector("f", Unit::MetrePerSecond2, what)
    };
    let rate = || {
        let what = format!("measured angular velocity of {frame}, its axes");
        vector("w", Unit::RadianPerSecond, what)
    };
    let attitude = |what: String| Quantity::quaternion(&format!("{name}.q"), &format!("{what}, quaternion"));
    match written.kind {
        SensorType::Imu => [force(), rate()].concat(),
        SensorType::Accelerometer => force().into(),
        SensorType::Gyro => rate().into(),
        SensorType::StarTracker => attitude(format!("measured attitude of {frame}")).into(),
        SensorType::Encoder => {
            let axes = angular.iter().enumerate();
            axes.map(|(i, &is_angular)| {
                let unit = Unit::coordinate(is_angular).position;
                let what = format!("measured position of joint {joint}");
                Quantity::new(axis_name(name, angular.len(), "q", i), unit, what)
            })
            .collect()
        }
        SensorType::Resolver => ["sin", "cos"]
            .map(|field| {
                let what = format!("measured {field} of the angle of joint {joint}");
                Quantity::new(format!("{name}.{field}"), Unit::One, what)
            })
            .into(),
        SensorType::ForceTorque => {
            let what = |part: &str| format!("measured {part} on the child through joint {joint}");
            let force = vector("f", Unit::Newton, what("force") + ", child axes");
            let about = what("moment") + ", about the joint's origin on it; child axes";
            [force, vector("t", Unit::NewtonMetre, about)].concat()
        }
        SensorType::Camera => {
            let what = |part: &str| format!("measured {part} of {target} relative to {frame}");
            let r = vector("r", Unit::Metre, what("position") + &format!(", axes of {frame}"));
            r.into_iter().chain(attitude(what("attitude"))).collect()
        }
        SensorType::Range => {
            let what = format!("measured distance from {frame} to {target}");
            vec![Quantity::new(format!("{name}.distance"), Unit::Metre, what)]
        }
    }
}

/// Returns the number of axes of each group with errors, and their units; `angular` are the axes of
/// a measured joint.
fn groups(written: &spec::Sensor, angular: &[bool]) -> [(usize, [Unit; AXES]); 2] {
    let vector = |unit: Unit| (AXES, [unit; AXES]);
    let none = (0, [Unit::One; AXES]);
    let angle = vector(Unit::Radian);
    match written.kind {
        SensorType::Imu => [vector(Unit::MetrePerSecond2), vector(Unit::RadianPerSecond)],
        SensorType::Accelerometer => [vector(Unit::MetrePerSecond2), none],
        SensorType::Gyro => [vector(Unit::RadianPerSecond), none],
        SensorType::StarTracker => [angle, none],
        SensorType::Encoder => {
            let unit = |i: usize| Unit::coordinate(angular.get(i).copied().unwrap_or(true)).position;
            [(angular.len(), std::array::from_fn(unit)), none]
        }
        SensorType::Resolver => [(2, [Unit::One; AXES]), none],
        SensorType::ForceTorque => [vector(Unit::Newton), vector(Unit::NewtonMetre)],
        SensorType::Camera => [vector(Unit::Metre), angle],
        SensorType::Range => [(1, [Unit::Metre; AXES]), none],
    }
}

impl Sensor {
    fn declare(name: &str, number: usize, written: &spec::Sensor, source: Source, from: &mut Compiler) -> Self {
        let joint = written.joint.as_ref().and_then(|joint| from.spec.joint.get(joint));
        let angular: Vec<bool> = joint.map_or_else(Vec::new, |of| {
            (0..of.kind.rates()).map(|i| of.kind.is_angular(i)).collect()
        });
        let place = at("sensor", name, "sample_time");
        let sample_time = written
            .sample_time
            .map(|time| declare_sample_time([name, &format!("sensor {name}")], time, &place, from.declare));
        let seed = written.seed.map(|seed| {
            let what = format!("seed of the noise of sensor {name}; its whole part counts");
            let quantity = Quantity::new(format!("{name}.seed"), Unit::One, what).bounded(Bound::Between(0, i32::MAX));
            from.declare
                .parameter(quantity, f64::from(seed), false, &at("sensor", name, "seed"))
        });
        let fields = written.kind.groups().iter().zip(groups(written, &angular));
        let groups = fields.map(|(&(field, _), (n, units))| {
            let group = Group {
                sensor: name,
                field,
                n,
                units,
            };
            ErrorModel::declare(&group, written.errors(field), from.declare)
        });
        let groups = groups.collect();
        let sees = written.has_sight() || written.kind == SensorType::Camera;
        Self {
            name: name.to_owned(),
            number,
            source,
            groups,
            sight: sees.then(|| Sight::declare(name, written, from)),
            sample_time,
            delay: written.delay.unwrap_or(0) as usize,
            seed,
            quantities: quantities(name, written, &angular),
        }
    }

    /// Returns the number of its outputs.
    fn output_count(&self) -> usize {
        self.quantities.len() + usize::from(self.sight.is_some())
    }

    /// Returns the number of values that its samples hold; zero if it is continuous.
    pub fn held_count(&self) -> usize {
        match self.sample_time {
            Some(_) => {
                let walks = self.groups.iter().map(ErrorModel::walks).sum::<usize>();
                self.output_count() * (self.delay + 1) + walks
            }
            None => 0,
        }
    }

    fn noise(&self, parameters: &[f64]) -> Noise {
        let seed = self.seed.map_or(0.0, |seed| seed.of(parameters));
        Noise::new(seed as u64, &self.name)
    }

    /// Returns 1 if the target is in sight, else 0; `None` if it always is.
    fn seen<S: Scalar>(&self, view: &View<S>) -> Option<S> {
        let (sight, (frame, target)) = (self.sight.as_ref()?, self.source.line()?);
        Some(sight.of(view, frame, target))
    }

    /// Passes a measurement with the `random` errors to `to`.
    fn measure<S: Scalar>(&self, view: &View<S>, random: &[[f64; AXES]; 2], to: &mut impl FnMut(S)) {
        let seen = self.seen(view);
        let mut put = |value: S, unseen: S| {
            to(match seen {
                Some(seen) => S::select(seen.exceeds(0.5), value, unseen),
                None => value,
            });
        };
        for ((group, random), value) in self.groups.iter().zip(random).zip(self.source.values(view)) {
            let value = group.apply(S::numbers(view.now.parameters), random, value);
            match (value, unseen(&value)) {
                (Value::Attitude(q), Value::Attitude(unseen)) => {
                    let parts = q.to_array().into_iter().zip(unseen.to_array());
                    parts.for_each(|(part, unseen)| put(part, unseen));
                }
                (Value::Numbers(x), Value::Numbers(unseen)) => {
                    (0..group.n).for_each(|i| put(x[i], unseen[i]));
                }
                _ => {}
            }
        }
        if let Some(seen) = seen {
            to(seen);
        }
    }

    /// Takes the sample of `now`, after the one of `before`, into the values `now` holds.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the output that would not be finite.
    pub fn sample(&self, view: &View<f64>, t: f64, before: &Samples, now: &mut Samples) -> Result<(), Error> {
        let parameters = view.now.parameters;
        let is_first = !before.are_taken();
        let number = now.last();
        let index = SampleIndex {
            number,
            passed: if is_first { 0.0 } else { number - before.last() },
            period: self.sample_time.map_or(1.0, |time| time.of(parameters)),
        };
        let n = self.output_count();
        let (entries, mut walks) = now.held.split_at_mut(n * (self.delay + 1));
        let mut random = [[0.0; AXES]; 2];
        for (k, group) in self.groups.iter().enumerate() {
            let own = walks.split_off_mut(..group.walks()).unwrap_or_default();
            group.walk(parameters, self.noise(parameters), 2 * AXES * k, index, own);
            random[k] = group.random(parameters, self.noise(parameters), 2 * AXES * k, index, own);
        }
        entries.copy_within(n.., 0);
        let newest = &mut entries[n * self.delay..];
        if is_first || self.seen(view).is_none_or(|seen| seen > 0.5) {
            let mut places = newest.iter_mut();
            self.measure(view, &random, &mut |value| {
                if let Some(place) = places.next() {
                    *place = value;
                }
            });
        } else if let Some(visible) = newest.last_mut() {
            *visible = 0.0;
        }
        if let Some(k) = newest.iter().position(|value| !value.is_finite()) {
            let name = self.quantities.get(k).map_or(&self.name, |quantity| &quantity.name);
            let variable = name.clone();
            return Err(Error::NotFinite { variable, t });
        }
        if is_first {
            (0..self.delay).for_each(|k| entries.copy_within(n * self.delay.., n * k));
        }
        Ok(())
    }

    /// Returns the random errors of the first sample; zero if it is continuous.
    fn first_random(&self, parameters: &[f64]) -> [[f64; AXES]; 2] {
        let mut random = [[0.0; AXES]; 2];
        let Some(time) = self.sample_time else {
            return random;
        };
        let index = SampleIndex {
            number: 0.0,
            passed: 0.0,
            period: time.of(parameters),
        };
        for (k, group) in self.groups.iter().enumerate() {
            random[k] = group.random(parameters, self.noise(parameters), 2 * AXES * k, index, &[]);
        }
        random
    }
}

impl Element for Sensor {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut sensors = Vec::new();
        for (name, written) in &from.spec.sensor {
            if let Some(source) = Source::new(name, written, from) {
                sensors.push(Self::declare(name, sensors.len(), written, source, from));
            }
        }
        sensors
    }

    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if let Some(id) = self.sample_time {
            validate_sample_time(id, of, problems);
        }
        if let Some(sight) = &self.sight {
            sight.validate(of, problems);
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let quantities = self.quantities.iter().cloned();
        match self.sample_time {
            Some(_) => to.discrete(quantities),
            None => to.continuous(quantities),
        }
        if self.sight.is_some() {
            let object = match self.source {
                Source::Attitude(_) => "the sky along its axis",
                _ => "its target",
            };
            let what = format!("true while sensor {} sees {object}", self.name);
            let quantity = Quantity::new(format!("{}.visible", self.name), Unit::One, what);
            to.flag(quantity, std::iter::empty());
        }
    }

    /// Writes the outputs of the last sample; before the first, those that it would have now.
    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let samples = &view.discrete.samples[view.elements.first_sensor() + self.number];
        if samples.are_taken() {
            let held = samples.held[..self.output_count()].iter();
            held.for_each(|&held| y.number(S::lift(held)));
            return;
        }
        let random = self.first_random(S::numbers(view.now.parameters));
        self.measure(view, &random, &mut |value| y.number(value));
    }
}
