//! Problems with known solutions, and an integration loop.

use std::convert::Infallible;

use super::super::{Alternatives, Memory, Method, Ode, OwnStep, Settings, Span, Step, Stepper};

/// Automatic selection for equations without [`Ode::stage`].
pub const AUTO: Method = Method::Auto(Alternatives {
    rosenbrock: false,
    vibrates: false,
    radau5: true,
});

type Function<'a, E> = dyn FnMut(f64, &[f64], &mut [f64]) -> Result<(), E> + 'a;

/// A function as an [`Ode`], with the implicit midpoint rule as its own step:
/// `R(u) = u − f(t + h/2, x₀ + h/2 u)`. One type for all functions, so that the methods are compiled
/// once.
pub struct Rhs<'a, E> {
    f: Box<Function<'a, E>>,
    /// Initial state of the own step.
    x0: Vec<f64>,
}

/// Returns the function as an [`Ode`].
pub fn rhs<'a, E>(f: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E> + 'a) -> Rhs<'a, E> {
    Rhs {
        f: Box::new(f),
        x0: Vec::new(),
    }
}

impl<E> Ode for Rhs<'_, E> {
    type Error = E;

    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), E> {
        (self.f)(t, x, dx)
    }

    fn own_step(&mut self) -> Option<&mut dyn OwnStep<Error = E>> {
        Some(self)
    }
}

impl<E> OwnStep for Rhs<'_, E> {
    type Error = E;

    fn begin(&mut self, span: Span, x: &[f64], u: &mut [f64]) -> Result<(), E> {
        self.x0 = x.to_vec();
        (self.f)(span.t, x, u)
    }

    fn residual(&mut self, Span { t, h }: Span, u: &[f64], residual: &mut [f64]) -> Result<(), E> {
        let middle: Vec<f64> = self.x0.iter().zip(u).map(|(x, u)| x + 0.5 * h * u).collect();
        (self.f)(t + 0.5 * h, &middle, residual)?;
        residual.iter_mut().zip(u).for_each(|(r, u)| *r = u - *r);
        Ok(())
    }

    fn jacobian(&mut self, span: Span, u: &[f64], jacobian: &mut [f64]) -> Result<(), E> {
        let (mut here, mut there, mut moved) = (u.to_vec(), u.to_vec(), u.to_vec());
        self.residual(span, u, &mut here)?;
        for (j, column) in jacobian.chunks_exact_mut(u.len().max(1)).enumerate() {
            moved[j] = u[j] + 1e-8 * u[j].abs().max(1.0);
            self.residual(span, &moved, &mut there)?;
            for (entry, (there, here)) in column.iter_mut().zip(there.iter().zip(&here)) {
                *entry = (there - here) / (moved[j] - u[j]);
            }
            moved[j] = u[j];
        }
        Ok(())
    }

    fn end(&mut self, Span { h, .. }: Span, x0: &[f64], u: &[f64], x1: &mut [f64]) -> Result<(), E> {
        for (x1, (x0, u)) in x1.iter_mut().zip(x0.iter().zip(u)) {
            *x1 = x0 + h * u;
        }
        Ok(())
    }
}

/// Returns an [`Ode`] that never fails, from a function.
pub fn ode<'a>(f: impl Fn(f64, &[f64], &mut [f64]) + 'a) -> Rhs<'a, Infallible> {
    rhs(move |t, x: &[f64], dx: &mut [f64]| {
        f(t, x, dx);
        Ok(())
    })
}

/// Returns a nonlinear, coupled, time-dependent problem with the solution `x = e^{sin t}`,
/// `y = 1/(1 + t²)`.
pub fn smooth() -> impl Ode<Error = Infallible> {
    ode(|t, x, dx| {
        dx[0] = x[0] * t.cos() * x[1] * (1.0 + t * t);
        dx[1] = -2.0 * t * x[1] * x[1] * x[0] / t.sin().exp();
    })
}

pub fn smooth_solution(t: f64) -> [f64; 2] {
    [t.sin().exp(), 1.0 / (1.0 + t * t)]
}

/// Returns the planar two-body problem with unit gravitational parameter.
pub fn kepler() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| {
        let r = x[0].hypot(x[1]);
        let r3 = r * r * r;
        dx.copy_from_slice(&[x[2], x[3], -x[0] / r3, -x[1] / r3]);
    })
}

/// Returns position and velocity at `t` on the Kepler orbit of unit semi-major axis and
/// eccentricity `e` that starts at its pericentre.
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

/// Returns the planar restricted three-body problem of HNW II.0 (0.1).
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

/// Initial state of the periodic orbit of HNW II.0 (0.2).
pub const ARENSTORF_START: [f64; 4] = [0.994, 0.0, 0.0, -2.001_585_106_379_082_5];
/// Period of that orbit.
pub const ARENSTORF_PERIOD: f64 = 17.065_216_560_157_963;

/// Returns Robertson's reaction, HW IV.1.
pub fn robertson() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| {
        let (slow, fast, back) = (0.04 * x[0], 3e7 * x[1] * x[1], 1e4 * x[1] * x[2]);
        dx.copy_from_slice(&[back - slow, slow - back - fast, fast]);
    })
}

/// Returns van der Pol's oscillator in the time of its slow motion, HW IV.1, with `ε = 1e-6`.
pub fn van_der_pol() -> impl Ode<Error = Infallible> {
    ode(|_, x, dx| dx.copy_from_slice(&[x[1], ((1.0 - x[0] * x[0]) * x[1] - x[0]) / 1e-6]))
}

/// Returns the problem HIRES (high irradiance response of plants), HW IV.10.
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

/// Integrates from `t0` to `t_end` without communication points between; returns the steps.
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

/// Returns the Euclidean norm of `a − b`.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square = |(a, b): (&f64, &f64)| (a - b).powi(2);
    a.iter().zip(b).map(square).sum::<f64>().sqrt()
}

/// Returns the least-squares slope through `(ln x, ln y)`.
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
