//! Filters of a controller's commands.

use super::Measured;
use crate::Problem;
use crate::algebra::Scalar;
use crate::elements::{Values, report};
use crate::spec;
use crate::system::{Bound, Declarations, ParamId, Quantity, Unit};
use nalgebra::Vector2;
use std::f64::consts::PI;

/// Memory of a filter between samples, in the transposed direct form II; `None` before the first
/// sample.
pub(crate) type Memory = Option<Vector2<f64>>;

/// Filters of one command in series.
#[derive(Clone, Debug)]
pub(super) struct Filters {
    list: Vec<Filter>,
    /// Index of the first filter's memory.
    first: usize,
    /// True for the first of several commands, which have the same parameters.
    validates: bool,
}

/// Filter, discretised by Tustin's method with prewarping.
#[derive(Clone, Copy, Debug)]
struct Filter {
    sample_time: ParamId,
    frequency: ParamId,
    ratio: Option<ParamId>,
    depth: Option<ParamId>,
}

/// Coefficients of `(b₀ + b₁ z⁻¹ + b₂ z⁻²)/(1 + a₁ z⁻¹ + a₂ z⁻²)`.
struct Biquad {
    b: [f64; 3],
    a: [f64; 2],
}

impl Filters {
    /// Declares the parameters of the filters of `count` commands of a part `name`, whose memories
    /// begin at `first`. Without samples there are no filters.
    pub fn declare(
        (name, at): (&str, &[String]),
        written: &[spec::Filter],
        sample_time: Option<ParamId>,
        [count, first]: [usize; 2],
        declare: &mut Declarations,
    ) -> Vec<Self> {
        let filter = |(k, filter): (usize, &spec::Filter), sample_time: ParamId, declare: &mut Declarations| {
            let number = k + 1;
            let mut parameter = |field: &str, unit, bound, value: f64, what: &str| {
                let what = format!("{what} of filter {number} of {name}");
                let quantity = Quantity::new(format!("{name}.filter_{number}.{field}"), unit, what);
                declare.parameter(quantity.bounded(bound), value, true, at)
            };
            Filter {
                sample_time,
                frequency: parameter("frequency", Unit::Hertz, Bound::Positive, filter.frequency, "frequency"),
                ratio: (filter.ratio())
                    .map(|ratio| parameter("damping_ratio", Unit::One, Bound::Positive, ratio, "damping ratio")),
                depth: (filter.depth()).map(|depth| {
                    let what = "gain at the frequency";
                    parameter("depth", Unit::One, Bound::NotNegative, depth, what)
                }),
            }
        };
        let list: Vec<Filter> = match sample_time {
            Some(sample_time) => written
                .iter()
                .enumerate()
                .map(|written| filter(written, sample_time, declare))
                .collect(),
            None => Vec::new(),
        };
        let of_axis = |axis: usize| Self {
            list: list.clone(),
            first: first + axis * list.len(),
            validates: axis == 0,
        };
        (0..count).map(of_axis).collect()
    }

    /// Returns the number of memories.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Reports frequencies from half the sampling rate, and depths of one and more.
    pub fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        for filter in self.list.iter().filter(|_| self.validates) {
            let frequency = filter.frequency;
            let (found, highest) = (frequency.of(of.values), 0.5 / filter.sample_time.of(of.values));
            if found >= highest {
                let quantity = &of.declared[frequency.0].quantity;
                let [found, highest] = [found, highest].map(|value| quantity.unit.of(value));
                let what = format!(
                    "{} = {found} is not below half the sampling rate, {highest}",
                    quantity.name
                );
                report(of.declared, frequency, problems, what);
            }
            if let Some(depth) = filter.depth.filter(|depth| depth.of(of.values) >= 1.0) {
                let (name, value) = (&of.declared[depth.0].quantity.name, depth.of(of.values));
                let what = format!("{name} = {value} is not below 1: a notch reduces the gain");
                report(of.declared, depth, problems, what);
            }
        }
    }

    /// Returns the filtered command `u`; without memories, that before the first sample.
    pub fn output<S: Scalar>(&self, now: Measured<S>, u: S) -> S {
        let memories = now.filters.get(self.first..).unwrap_or_default();
        self.list
            .iter()
            .zip(memories)
            .fold(u, |u, (filter, memory)| match memory {
                Some(s) => u * S::lift(filter.coefficients(now.parameters).b[0]) + S::lift(s[0]),
                None => u,
            })
    }

    /// Updates the memories after the command `u`.
    pub fn advance(&self, parameters: &[f64], mut u: f64, memories: &mut [Memory]) {
        for (filter, memory) in self.list.iter().zip(&mut memories[self.first..]) {
            let Biquad { b, a } = filter.coefficients(parameters);
            let (y, last) = match memory {
                Some(s) => (b[0] * u + s[0], s[1]),
                // The memory of a constant command.
                None => (u, (b[2] - a[1]) * u),
            };
            *memory = Some(Vector2::new(b[1] * u - a[0] * y + last, b[2] * u - a[1] * y));
            u = y;
        }
    }
}

impl Filter {
    /// Returns the coefficients of `H(s)` with `s = ω/tan(ωT/2) · (1 − z⁻¹)/(1 + z⁻¹)`.
    fn coefficients(&self, parameters: &[f64]) -> Biquad {
        let t = libm::tan(PI * self.frequency.of(parameters) * self.sample_time.of(parameters));
        let Some(ratio) = self.ratio.map(|id| id.of(parameters)) else {
            let (gain, whole) = (t / (1.0 + t), (t - 1.0) / (1.0 + t));
            return Biquad {
                b: [gain, gain, 0.0],
                a: [whole, 0.0],
            };
        };
        let polynomial = |ratio: f64| {
            let (even, odd) = (1.0 + t * t, 2.0 * ratio * t);
            [even + odd, 2.0 * (t * t - 1.0), even - odd]
        };
        let [scale, a_1, a_2] = polynomial(ratio);
        let b = match self.depth.map(|id| id.of(parameters)) {
            Some(depth) => polynomial(depth * ratio),
            None => [t * t, 2.0 * t * t, t * t],
        };
        Biquad {
            b: b.map(|b| b / scale),
            a: [a_1 / scale, a_2 / scale],
        }
    }
}
