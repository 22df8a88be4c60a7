//! The family of explicit Runge-Kutta methods: one attempt of one step, and what it leaves for dense output.
//!
//! Everything here is workspace: if lost, only time is lost.

use super::dense::Dense;
use super::landing::Trial;
use super::lanes::{advance, first_not_finite, max_norm, worst};
use super::tableau::{ErrorEstimate, Row, Tableau};
use super::{Ode, Settings};

/// Why a derivative or an attempt has no value.
pub(super) enum Failure<E> {
    /// The model says so.
    Derivative(E),
    /// This component is not finite.
    NotFinite(usize),
}

/// The workspace of an explicit Runge-Kutta method.
#[derive(Clone, Debug)]
pub(super) struct Explicit {
    tableau: &'static Tableau,
    error_uses_end: bool,
    /// State at the start of the step.
    x0: Vec<f64>,
    /// State at its end, once attempted.
    x1: Vec<f64>,
    /// Argument of a stage.
    argument: Vec<f64>,
    /// Error estimate, before multiplication by `h`.
    error: Vec<f64>,
    /// No state at all.
    zeros: Vec<f64>,
    /// Tolerance of each state during this step.
    scale: Vec<f64>,
    /// Derivatives of the stages, one after the other.
    k: Vec<f64>,
    /// The rows of the dense output.
    rows: Vec<f64>,
    /// What is known of the solution.
    known: Known,
    /// Derivative evaluations so far.
    pub evaluations: u64,
}

/// What stages and rows are good for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// Nothing.
    Nothing,
    /// The first stage is the derivative at this time and `x0`.
    Start { t: f64 },
    /// All stages are those of a step; the stage `end` is the derivative at `t1` and `x1`.
    Step { t0: f64, t1: f64, h: f64, rows: bool },
}

impl Explicit {
    pub fn new(tableau: &'static Tableau, n: usize) -> Explicit {
        let zeros = || vec![0.0; n];
        Explicit {
            tableau,
            error_uses_end: tableau.error_uses_end(),
            x0: zeros(),
            x1: zeros(),
            argument: zeros(),
            error: zeros(),
            zeros: zeros(),
            scale: zeros(),
            k: vec![0.0; tableau.c.len() * n],
            rows: vec![0.0; (3 + tableau.dense.len()) * n],
            known: Known::Nothing,
            evaluations: 0,
        }
    }

    /// Forgets all derivatives: the next step evaluates its first stage again.
    pub fn invalidate(&mut self) {
        self.known = Known::Nothing;
    }

    /// Evaluations that one attempt and the dense output of its step need at most.
    pub fn evaluations_per_step(&self) -> u64 {
        (self.tableau.c.len() - 1) as u64
    }

    /// Start and length of the last accepted step.
    pub fn last_step(&self) -> Option<(f64, f64)> {
        match self.known {
            Known::Step { t0, h, .. } => Some((t0, h)),
            Known::Nothing | Known::Start { .. } => None,
        }
    }

    /// State at the end of the last attempt.
    pub fn x1(&self) -> &[f64] {
        &self.x1
    }

    /// Index of the state with the largest error in the last attempt.
    pub fn worst(&self) -> usize {
        worst(&self.error, &self.scale)
    }

    /// Prepares a step from `(t, x)`: the first stage is taken from the end of the last step if that was
    /// evaluated at the same bits, otherwise evaluated.
    pub fn start<O: Ode + ?Sized>(&mut self, ode: &mut O, t: f64, x: &[f64]) -> Result<(), Failure<O::Error>> {
        let n = x.len();
        match self.known {
            Known::Step { t1, .. } if same_point(t, x, t1, &self.x1) => {
                let end = self.tableau.end * n;
                self.k.copy_within(end..end + n, 0);
                self.x0.copy_from_slice(x);
            }
            Known::Start { t: t0 } if same_point(t, x, t0, &self.x0) => {}
            _ => {
                self.known = Known::Nothing;
                self.x0.copy_from_slice(x);
                self.evaluations += 1;
                evaluate(ode, t, &self.x0, nth_mut(&mut self.k, n, 0))?;
            }
        }
        self.known = Known::Start { t };
        Ok(())
    }

    /// Norms of the state and of its derivative at the start.
    pub fn start_norms(&mut self, settings: &Settings) -> (f64, f64) {
        self.set_scale_at_start(settings);
        let n = self.x0.len();
        (max_norm(&self.x0, &self.scale), max_norm(&self.k[..n], &self.scale))
    }

    /// Norm of the second derivative, from an Euler step of length `h` to `t1`; after [`Self::start_norms`].
    ///
    /// HNW II.4, *Starting step size*, (c) and (d).
    pub fn second_derivative_norm<O: Ode + ?Sized>(
        &mut self,
        ode: &mut O,
        t1: f64,
        h: f64,
    ) -> Result<f64, Failure<O::Error>> {
        let n = self.x0.len();
        advance(&mut self.argument, &self.x0, h, &[(0, 1.0)], &self.k);
        self.evaluations += 1;
        evaluate(ode, t1, &self.argument, nth_mut(&mut self.k, n, 1))?;
        self.set_error(&[(0, -1.0), (1, 1.0)]);
        Ok(max_norm(&self.error, &self.scale) / h)
    }

    /// Tries one step from the start; its error norm is at most 1 if it is accepted.
    ///
    /// An accepted step has its last derivative evaluated at the very bits at which the next step starts.
    pub fn attempt<O: Ode + ?Sized>(
        &mut self,
        ode: &mut O,
        t: f64,
        trial: Trial,
        settings: &Settings,
    ) -> Result<f64, Failure<O::Error>> {
        let end = self.tableau.end;
        for i in 1..end {
            self.stage(ode, i, t, trial.t1, trial.h)?;
        }
        let row = self.tableau.a[end];
        advance(&mut self.x1, &self.x0, trial.h, row, &self.k);
        check_finite(&self.x1)?;
        if self.error_uses_end {
            self.end_stage(ode, trial.t1)?;
        }
        let norm = self.error_norm(trial.h, settings);
        if norm <= 1.0 {
            if !self.error_uses_end {
                self.end_stage(ode, trial.t1)?;
            }
            self.known = Known::Step {
                t0: t,
                t1: trial.t1,
                h: trial.h,
                rows: false,
            };
        }
        Ok(norm)
    }

    /// The solution inside the last accepted step, or `None` if there is none.
    ///
    /// Costs the evaluations of the stages that serve the dense output alone, once per step.
    pub fn dense<O: Ode + ?Sized>(&mut self, ode: &mut O) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        let Known::Step { t0, t1, h, rows } = self.known else {
            return Ok(None);
        };
        if !rows {
            for i in self.tableau.end + 1..self.tableau.c.len() {
                self.stage(ode, i, t0, t1, h)?;
            }
            self.write_rows(h);
            self.known = Known::Step { t0, t1, h, rows: true };
        }
        Ok(Some(Dense {
            t0,
            t1,
            x0: &self.x0,
            x1: &self.x1,
            rows: &self.rows,
        }))
    }

    /// Evaluates stage `i` of a step from `t` to `t1`.
    fn stage<O: Ode + ?Sized>(
        &mut self,
        ode: &mut O,
        i: usize,
        t: f64,
        t1: f64,
        h: f64,
    ) -> Result<(), Failure<O::Error>> {
        let row = self.tableau.a[i];
        advance(&mut self.argument, &self.x0, h, row, &self.k);
        let c = self.tableau.c[i];
        let time = if c == 1.0 { t1 } else { t + c * h };
        let stage = nth_mut(&mut self.k, self.x0.len(), i);
        self.evaluations += 1;
        evaluate(ode, time, &self.argument, stage)
    }

    /// Evaluates the derivative at the end of the attempt.
    fn end_stage<O: Ode + ?Sized>(&mut self, ode: &mut O, t1: f64) -> Result<(), Failure<O::Error>> {
        let stage = nth_mut(&mut self.k, self.x0.len(), self.tableau.end);
        self.evaluations += 1;
        evaluate(ode, t1, &self.x1, stage)
    }

    /// The error of the attempt in units of the tolerance; never NaN.
    fn error_norm(&mut self, h: f64, settings: &Settings) -> f64 {
        let norm = match self.tableau.error {
            ErrorEstimate::None => 0.0,
            ErrorEstimate::Embedded(row) => {
                self.set_scale_of_step(settings);
                self.set_error(row);
                h * max_norm(&self.error, &self.scale)
            }
            ErrorEstimate::FifthAndThird { fifth, third } => {
                self.set_scale_of_step(settings);
                self.set_error(third);
                let norm3 = max_norm(&self.error, &self.scale);
                self.set_error(fifth);
                let norm5 = max_norm(&self.error, &self.scale);
                // HNW II.10: err = err₅ · err₅ / √(err₅² + 0.01 err₃²).
                let ratio = norm5 / norm5.hypot(0.1 * norm3);
                if norm5 == 0.0 { 0.0 } else { h * norm5 * ratio }
            }
        };
        if norm.is_nan() { f64::INFINITY } else { norm }
    }

    /// The error estimate as the sum of a row.
    fn set_error(&mut self, row: Row) {
        advance(&mut self.error, &self.zeros, 1.0, row, &self.k);
    }

    fn set_scale_at_start(&mut self, settings: &Settings) {
        let (abs, rel) = (&settings.absolute_tolerance, settings.relative_tolerance);
        for ((sc, abs), x0) in self.scale.iter_mut().zip(abs).zip(&self.x0) {
            *sc = abs + rel * x0.abs();
        }
    }

    fn set_scale_of_step(&mut self, settings: &Settings) {
        let (abs, rel) = (&settings.absolute_tolerance, settings.relative_tolerance);
        let both = self.x0.iter().zip(&self.x1);
        for ((sc, abs), (x0, x1)) in self.scale.iter_mut().zip(abs).zip(both) {
            *sc = abs + rel * x0.abs().max(x1.abs());
        }
    }

    /// Writes the rows (2) and (3) of [`Dense`].
    fn write_rows(&mut self, h: f64) {
        let n = self.x0.len();
        let (hermite, own) = self.rows.split_at_mut(3 * n);
        let (r1, rest) = hermite.split_at_mut(n);
        let (r2, r3) = rest.split_at_mut(n);
        let (f0, f1) = (nth(&self.k, n, 0), nth(&self.k, n, self.tableau.end));
        for i in 0..n {
            r1[i] = self.x1[i] - self.x0[i];
            r2[i] = h * f0[i] - r1[i];
            r3[i] = r1[i] - h * f1[i] - r2[i];
        }
        for (i, row) in self.tableau.dense.iter().enumerate() {
            let r = nth_mut(own, n, i);
            advance(r, &self.zeros, h, row, &self.k);
        }
    }
}

/// The `i`-th vector of `n` numbers in a row of such.
fn nth(all: &[f64], n: usize, i: usize) -> &[f64] {
    &all[i * n..(i + 1) * n]
}

fn nth_mut(all: &mut [f64], n: usize, i: usize) -> &mut [f64] {
    &mut all[i * n..(i + 1) * n]
}

/// The derivative at `(t, x)`, finite or a failure.
fn evaluate<O: Ode + ?Sized>(ode: &mut O, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Failure<O::Error>> {
    ode.derivative(t, x, dx).map_err(Failure::Derivative)?;
    check_finite(dx)
}

fn check_finite<E>(v: &[f64]) -> Result<(), Failure<E>> {
    first_not_finite(v).map_or(Ok(()), |i| Err(Failure::NotFinite(i)))
}

/// Whether two points are the same bit by bit; equality would take −0 for 0.
fn same_point(t: f64, x: &[f64], t_other: f64, x_other: &[f64]) -> bool {
    let differ = |a: f64, b: f64| a.to_bits() ^ b.to_bits();
    let bits = x.iter().zip(x_other).fold(0, |all, (a, b)| all | differ(*a, *b));
    bits | differ(t, t_other) == 0
}
