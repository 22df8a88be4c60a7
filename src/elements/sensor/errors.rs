//! Errors of a group of measured numbers.

use crate::algebra::{Quaternion, Scalar, Vec3, exp};
use crate::random::Noise;
use crate::spec::{PerAxis, SensorErrors};
use crate::system::{Bound, Declarations, ParamId, Quantity, Unit};

/// Largest number of axes of a group.
pub(super) const AXES: usize = 3;

/// Measured value of a group: numbers of which the first `n` are used, or an attitude.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<S: Scalar> {
    Numbers([S; AXES]),
    Attitude(Quaternion<S>),
}

impl<S: Scalar> Value<S> {
    /// Creates the value of a vector.
    pub fn vector(v: &Vec3<S>) -> Self {
        Self::Numbers([v.x, v.y, v.z])
    }
}

/// Error model of a group. A parameter that is not written does not exist.
#[derive(Clone, Debug)]
pub(super) struct ErrorModel {
    /// Number of axes.
    pub n: usize,
    bias: Option<ParamId>,
    scale_factor: Option<ParamId>,
    misalignment: Option<ParamId>,
    noise: Option<ParamId>,
    noise_density: Option<ParamId>,
    bias_walk: Option<ParamId>,
    saturation: Option<ParamId>,
    quantisation: Option<ParamId>,
}

/// Group of a sensor for the declaration of its error model.
pub(super) struct Group<'a> {
    pub sensor: &'a str,
    /// Field of its table of errors.
    pub field: &'a str,
    /// Number of axes.
    pub n: usize,
    /// Unit of each axis.
    pub units: [Unit; AXES],
}

/// Number of a sample, and the times of the samples of a sensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleIndex {
    /// Number, counted from zero.
    pub number: f64,
    /// Number of sample times since the last sample, usually one; zero for the first sample.
    pub passed: f64,
    /// Time between samples, s.
    pub period: f64,
}

impl Group<'_> {
    fn place(&self, field: &str) -> Vec<String> {
        ["sensor", self.sensor, self.field, field].map(str::to_owned).into()
    }

    fn quantity(&self, field: &str, i: usize, unit: Unit, what: &str) -> Quantity {
        let prefix = match self.field {
            "error" => String::new(),
            group => format!("{group}_"),
        };
        let (sensor, n) = (self.sensor, self.n);
        let index = if n == 1 { String::new() } else { format!("[{}]", i + 1) };
        let of = match self.field {
            "error" => format!("sensor {sensor}"),
            group => format!("the {group} of sensor {sensor}"),
        };
        let axis = if n == 1 {
            String::new()
        } else {
            format!(", axis {}", i + 1)
        };
        Quantity::new(
            format!("{sensor}.{prefix}{field}{index}"),
            unit,
            format!("{what} of {of}{axis}"),
        )
    }

    fn declare(
        &self,
        (field, what): (&str, &str),
        value: Option<&PerAxis>,
        unit: impl Fn(usize) -> Unit,
        bound: Bound,
        to: &mut Declarations,
    ) -> Option<ParamId> {
        value.map(|value| {
            let quantities = (0..self.n).map(|i| self.quantity(field, i, unit(i), what).bounded(bound));
            let values: Vec<f64> = (0..self.n).map(|i| value.get(i)).collect();
            to.parameters(quantities, &values, true, &self.place(field))
        })
    }
}

impl ErrorModel {
    /// Declares the parameters of a group.
    pub fn declare(group: &Group, written: Option<&SensorErrors>, to: &mut Declarations) -> Self {
        let none = SensorErrors::default();
        let written = written.unwrap_or(&none);
        let own = |i: usize| group.units[i];
        let mut numbers = |field: (&str, &str), value: &Option<PerAxis>, unit: &dyn Fn(usize) -> Unit, bound| {
            group.declare(field, value.as_ref(), unit, bound, to)
        };
        let bias = numbers(("bias", "constant bias"), &written.bias, &own, Bound::None);
        let field = ("scale_factor", "relative error of the scale");
        let scale_factor = numbers(field, &written.scale_factor, &|_| Unit::One, Bound::None);
        let field = ("noise", "standard deviation of the white noise of a sample");
        let noise = numbers(field, &written.noise, &own, Bound::NotNegative);
        let field = ("noise_density", "density of the white noise per root of Hz");
        let noise_density = numbers(field, &written.noise_density, &|_| Unit::Scaled, Bound::NotNegative);
        let field = ("bias_walk", "random walk of the bias per root of s");
        let bias_walk = numbers(field, &written.bias_walk, &|_| Unit::Scaled, Bound::NotNegative);
        let field = ("saturation", "largest measured magnitude");
        let saturation = numbers(field, &written.saturation, &own, Bound::Positive);
        let field = ("quantisation", "step of the rounding");
        let quantisation = numbers(field, &written.quantisation, &own, Bound::Positive);
        let misalignment = written.misalignment.map(|vector| {
            let what = "rotation vector from the frame to the sensor's axes";
            let quantities = (0..AXES).map(|i| group.quantity("misalignment", i, Unit::Radian, what));
            to.parameters(quantities, &vector, true, &group.place("misalignment"))
        });
        Self {
            n: group.n,
            bias,
            scale_factor,
            misalignment,
            noise,
            noise_density,
            bias_walk,
            saturation,
            quantisation,
        }
    }

    /// Returns the number of biases that are random walks.
    pub fn walks(&self) -> usize {
        if self.bias_walk.is_some() { self.n } else { 0 }
    }

    /// Advances the random walks of the bias to a sample. The first channel of the group among
    /// those of the sensor is `first`: noise and walk of each axis are two.
    pub fn walk(&self, parameters: &[f64], noise: Noise, first: usize, at: SampleIndex, walks: &mut [f64]) {
        let Some(density) = self.bias_walk else { return };
        let root = (at.period * at.passed).sqrt();
        for (i, walk) in walks.iter_mut().enumerate().filter(|_| at.passed > 0.0) {
            let sigma = density.nth(i).of(parameters) * root;
            *walk += sigma * noise.normal((first + 2 * i + 1) as u64, at.number as u64);
        }
    }

    /// Returns the random part of the error of a sample, with the random walks of the bias.
    pub fn random(
        &self,
        parameters: &[f64],
        noise: Noise,
        first: usize,
        at: SampleIndex,
        walks: &[f64],
    ) -> [f64; AXES] {
        let number = |id: Option<ParamId>, i: usize| id.map_or(0.0, |id| id.nth(i).of(parameters));
        std::array::from_fn(|i| {
            if i >= self.n {
                return 0.0;
            }
            let walk = walks.get(i).copied().unwrap_or(0.0);
            if self.noise.is_none() && self.noise_density.is_none() {
                return walk;
            }
            let density = number(self.noise_density, i) / at.period.sqrt();
            let sigma = libm::hypot(number(self.noise, i), density);
            walk + sigma * noise.normal((first + 2 * i) as u64, at.number as u64)
        })
    }

    /// Returns the measured value of a true one, with the random part of the error.
    pub fn apply<S: Scalar>(&self, parameters: &[f64], random: &[f64; AXES], value: Value<S>) -> Value<S> {
        let added = |i: usize| {
            let bias = self.bias.filter(|_| i < self.n);
            random[i] + bias.map_or(0.0, |id| id.nth(i).of(parameters))
        };
        let mut x = match value {
            Value::Attitude(q) => {
                let error = Vec3::from_fn(|i, _| added(i));
                return Value::Attitude(q * exp(error).lift());
            }
            Value::Numbers(x) => x,
        };
        if let Some(id) = self.misalignment {
            let turn = exp(-id.vector(parameters)).lift::<S>();
            let turned = turn.rotate(Vec3::new(x[0], x[1], x[2]));
            x = [turned.x, turned.y, turned.z];
        }
        for (i, x) in x.iter_mut().enumerate().take(self.n) {
            if let Some(id) = self.scale_factor {
                *x *= S::lift(1.0 + id.nth(i).of(parameters));
            }
            *x += S::lift(added(i));
            if let Some(id) = self.saturation {
                let limit = id.nth(i).of(parameters);
                *x = S::select(x.exceeds(limit), S::lift(limit), *x);
                *x = S::select((-*x).exceeds(limit), S::lift(-limit), *x);
            }
            if let Some(id) = self.quantisation {
                let step = S::lift(id.nth(i).of(parameters));
                *x = (*x / step).round() * step;
            }
        }
        Value::Numbers(x)
    }
}

/// Returns a value that is measured before a target was in sight: zero, or the identity.
pub(super) fn unseen<S: Scalar>(value: &Value<S>) -> Value<S> {
    match value {
        Value::Numbers(_) => Value::vector(&Vec3::zeros()),
        Value::Attitude(_) => Value::Attitude(Quaternion::identity()),
    }
}
