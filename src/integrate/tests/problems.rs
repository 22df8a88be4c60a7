//! Problems with known solutions, and a loop.

use std::convert::Infallible;

use super::super::{Memory, Ode, Settings, Step, Stepper};

/// A function as an [`Ode`].
pub struct Rhs<F>(pub F);

impl<E, F: FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>> Ode for Rhs<F> {
    type Error = E;
    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), E> {
        (self.0)(t, x, dx)
    }
}

/// An [`Ode`] that never fails, from a function.
pub fn ode(f: impl Fn(f64, &[f64], &mut [f64])) -> impl Ode<Error = Infallible> {
    Rhs(move |t, x: &[f64], dx: &mut [f64]| {
        f(t, x, dx);
        Ok(())
    })
}

/// Nonlinear, coupled and with explicit time: `x = e^{sin t}`, `y = 1/(1 + t²)`.
pub fn smooth() -> impl Ode<Error = Infallible> {
    ode(|t, x, dx| {
        dx[0] = x[0] * t.cos() * x[1] * (1.0 + t * t);
        dx[1] = -2.0 * t * x[1] * x[1] * x[0] / t.sin().exp();
    })
}

pub fn smooth_solution(t: f64) -> [f64; 2] {
    [t.sin().exp(), 1.0 / (1.0 + t * t)]
}

/// The planar two-body problem with unit gravitational parameter.
pub fn kepler() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| {
        let r = x[0].hypot(x[1]);
        let r3 = r * r * r;
        dx.copy_from_slice(&[x[2], x[3], -x[0] / r3, -x[1] / r3]);
    })
}

/// The Kepler orbit of unit semi-major axis that starts in its pericentre.
pub fn kepler_solution(e: f64, t: f64) -> [f64; 4] {
    let mut anomaly = t;
    for _ in 0..50 {
        anomaly -= (anomaly - e * anomaly.sin() - t) / (1.0 - e * anomaly.cos());
    }
    let (s, c) = anomaly.sin_cos();
    let rate = 1.0 / (1.0 - e * c);
    let b = (1.0 - e * e).sqrt();
    [c - e, b * s, -s * rate, b * c * rate]
}

/// The restricted three-body problem of HNW II.0 (0.1).
pub fn arenstorf() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| {
        let mu = 0.012277471;
        let nu = 1.0 - mu;
        let d1 = ((x[0] + mu).powi(2) + x[1].powi(2)).powf(1.5);
        let d2 = ((x[0] - nu).powi(2) + x[1].powi(2)).powf(1.5);
        dx[0] = x[2];
        dx[1] = x[3];
        dx[2] = x[0] + 2.0 * x[3] - nu * (x[0] + mu) / d1 - mu * (x[0] - nu) / d2;
        dx[3] = x[1] - 2.0 * x[2] - nu * x[1] / d1 - mu * x[1] / d2;
    })
}

/// The start of the periodic orbit of HNW II.0 (0.2), and its period.
pub const ARENSTORF_START: [f64; 4] = [0.994, 0.0, 0.0, -2.001_585_106_379_082_5];
pub const ARENSTORF_PERIOD: f64 = 17.065_216_560_157_963;

/// The reaction of Robertson, HW IV.1.
pub fn robertson() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| {
        let (slow, fast, back) = (0.04 * x[0], 3e7 * x[1] * x[1], 1e4 * x[1] * x[2]);
        dx.copy_from_slice(&[back - slow, slow - back - fast, fast]);
    })
}

/// The oscillator of van der Pol in the time of its slow motion, HW IV.1, with `ε = 1e-6`.
pub fn van_der_pol() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| dx.copy_from_slice(&[x[1], ((1.0 - x[0] * x[0]) * x[1] - x[0]) / 1e-6]))
}

/// The high irradiance response of plants, HW IV.10.
pub fn hires() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| {
        let bind = 280.0 * x[5] * x[7];
        dx[0] = -1.71 * x[0] + 0.43 * x[1] + 8.32 * x[2] + 0.0007;
        dx[1] = 1.71 * x[0] - 8.75 * x[1];
        dx[2] = -10.03 * x[2] + 0.43 * x[3] + 0.035 * x[4];
        dx[3] = 8.32 * x[1] + 1.71 * x[2] - 1.12 * x[3];
        dx[4] = -1.745 * x[4] + 0.43 * x[5] + 0.43 * x[6];
        dx[5] = -bind + 0.69 * x[3] + 1.71 * x[4] - 0.43 * x[5] + 0.69 * x[6];
        dx[6] = bind - 1.81 * x[6];
        dx[7] = -dx[6];
    })
}

/// Runs to `t_end` in one call; returns the steps.
pub fn run<O: Ode<Error: std::fmt::Debug>>(
    settings: Settings,
    ode: &mut O,
    t0: f64,
    t_end: f64,
    x: &mut [f64],
) -> Vec<Step> {
    let mut stepper = Stepper::new(settings);
    let (mut t, mut memory, mut steps) = (t0, Memory::new(stepper.settings()), Vec::new());
    while t < t_end {
        let step = stepper.step(ode, t, t_end, x, &mut memory).expect("step");
        t = step.t;
        steps.push(step);
    }
    steps
}

/// Euclidean norm of the difference.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square = |(a, b): (&f64, &f64)| (a - b).powi(2);
    a.iter().zip(b).map(square).sum::<f64>().sqrt()
}

/// Slope of the straight line through `(ln x, ln y)` by least squares.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs = points.iter().map(|(x, y)| (x.ln(), y.ln()));
    let (sx, sy) = logs.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mx, my) = (sx / n, sy / n);
    let (sxy, sxx) = logs.fold((0.0, 0.0), |(a, b), (x, y)| {
        (a + (x - mx) * (y - my), b + (x - mx) * (x - mx))
    });
    sxy / sxx
}
