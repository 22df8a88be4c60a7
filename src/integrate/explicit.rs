//! Explicit Runge-Kutta methods: attempts of single steps, and their dense output.
//!
//! All data are workspace: their loss costs computing time, but does not change results.

use super::control::Control;
use super::dense::{Dense, hermite};
use super::equations::{Equations, Failure, StateAndDerivative, check_finite};
use super::initial::{Workspace, initial_step};
use super::known::{End, StepData, Taken};
use super::landing::Trial;
use super::lanes::{advance, euclidean_norm, max_norm, worst};
use super::memory::Memory;
use super::one_step::{Adaptive, Attempt, OneStep};
use super::tableau::{ErrorEstimate, Row, Tableau};
use super::{Ode, Settings};

/// The workspace of an explicit Runge-Kutta method.
#[derive(Clone, Debug)]
pub(super) struct Explicit {
    tableau: &'static Tableau,
    /// True if the error estimate needs the derivative at the end of the step.
    error_uses_end: bool,
    /// State at the start of the step.
    x0: Vec<f64>,
    /// State at the end of the last attempt.
    x1: Vec<f64>,
    /// Argument of a stage.
    argument: Vec<f64>,
    /// Error estimate, before multiplication by `h`.
    error: Vec<f64>,
    /// A zero state.
    zeros: Vec<f64>,
    /// Tolerance of each state during this step.
    scale: Vec<f64>,
    /// Derivatives of the stages, consecutively.
    k: Vec<f64>,
    /// The rows of the dense output.
    rows: Vec<f64>,
    /// True if `rows` belong to the last accepted step.
    rows_written: bool,
    /// Reuse of the derivatives at both ends: stage 0 of `k` at the start, stage `end` at the end.
    known: StepData,
}

/// Norms of the differences of two stages at the same time, relative to the tolerance.
#[derive(Clone, Copy, Default)]
pub(super) struct Differences {
    of_state: f64,
    /// 1/s.
    pub of_derivative: f64,
}

impl Differences {
    /// Returns the estimate of the Jacobian's spectral radius, 1/s; zero for equal states.
    pub fn eigenvalue(self) -> f64 {
        match self.of_state > 0.0 {
            true => self.of_derivative / self.of_state,
            false => 0.0,
        }
    }
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
            rows_written: false,
            known: StepData::NOTHING,
        }
    }

    /// Evaluates stage `i` of a step from `t` to `t1`.
    fn stage<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        i: usize,
        t: f64,
        (t1, h): (f64, f64),
    ) -> Result<(), Failure<O::Error>> {
        let row = self.tableau.a[i];
        advance(&mut self.argument, &self.x0, h, row, &self.k);
        let c = self.tableau.c[i];
        let time = if c == 1.0 { t1 } else { t + c * h };
        let stage = nth_mut(&mut self.k, self.x0.len(), i);
        equations.derivative(time, &self.argument, stage)
    }

    /// Copies the stages of the attempt and the state at its end, if they were computed ahead. Returns
    /// true if the derivative at the end is among them.
    fn take_ahead<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>, t: f64, trial: Trial) -> Option<bool> {
        let ahead = equations.ode.ahead()?.explicit(self.tableau, t, trial, &self.x0)?;
        let (n, end) = (self.x0.len(), self.tableau.end);
        let first = if self.tableau.uses_stages() { 1 } else { end };
        self.k[first * n..][..ahead.k.len()].copy_from_slice(ahead.k);
        self.x1.copy_from_slice(ahead.x1);
        let has_end = first * n + ahead.k.len() > end * n;
        *equations.evaluations += end as u64 - 1;
        Some(has_end)
    }

    /// Evaluates the derivative at the end of the attempt, unless it was computed ahead.
    fn end_stage<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t1: f64,
        is_known: bool,
    ) -> Result<(), Failure<O::Error>> {
        if is_known {
            *equations.evaluations += 1;
            return Ok(());
        }
        let stage = nth_mut(&mut self.k, self.x0.len(), self.tableau.end);
        equations.derivative_at_end(t1, &self.x1, stage)
    }

    /// Returns the derivative at `(t, x)` if a step from there would reuse it.
    pub fn known_start(&self, t: f64, x: &[f64]) -> Option<&[f64]> {
        let n = self.x0.len();
        match self.known.known(t, x, &self.x0, &self.x1)? {
            End::Start => Some(nth(&self.k, n, 0)),
            End::End => Some(nth(&self.k, n, self.tableau.end)),
        }
    }

    /// Returns an estimate of the spectral radius of the Jacobian from the last accepted step, for
    /// a tableau with a second stage at the end of the step (DOPRI5): equation (1) of
    /// [`super::auto`]. Zero if the arguments of both stages are equal, or without a last step.
    pub fn eigenvalue(&mut self) -> f64 {
        self.differences_at_end(|this| max_norm(&this.error, &this.scale))
            .eigenvalue()
    }

    /// Returns the differences of that estimate in the Euclidean norm, relative to absolute tolerances:
    /// those of a vibration, whose amplitudes and rates of equal energy are equal there, do not depend
    /// on its phase.
    pub fn differences(&mut self, settings: &Settings) -> Differences {
        let absolute = settings.absolute_tolerance();
        self.differences_at_end(|this| euclidean_norm(&this.error, absolute))
    }

    fn differences_at_end(&mut self, norm: impl Fn(&Self) -> f64) -> Differences {
        let Some(Taken { h, .. }) = self.known.step() else {
            return Differences::default();
        };
        let (n, end) = (self.x0.len(), self.tableau.end);
        advance(&mut self.argument, &self.x0, h, self.tableau.a[end - 1], &self.k);
        difference(&self.x1, &self.argument, &mut self.error);
        let of_state = norm(self);
        difference(nth(&self.k, n, end), nth(&self.k, n, end - 1), &mut self.error);
        let of_derivative = norm(self);
        Differences {
            of_state,
            of_derivative,
        }
    }

    /// Returns the norm of `h Σⱼ aⱼ kⱼ`, with the stages of the last accepted step and the
    /// coefficients `row`, relative to the tolerance; zero without a last step.
    pub fn norm_of(&mut self, row: Row) -> f64 {
        let Some(Taken { h, .. }) = self.known.step() else {
            return 0.0;
        };
        self.set_error(row);
        h * max_norm(&self.error, &self.scale)
    }

    /// Returns the error of the attempt relative to the tolerance; never NaN.
    fn error_norm(&mut self, h: f64, settings: &Settings) -> f64 {
        let norm = match self.tableau.error {
            ErrorEstimate::None => 0.0,
            ErrorEstimate::Embedded(row) => {
                settings.scale(&self.x0, &self.x1, &mut self.scale);
                self.set_error(row);
                h * max_norm(&self.error, &self.scale)
            }
            ErrorEstimate::FifthAndThird { fifth, third } => {
                settings.scale(&self.x0, &self.x1, &mut self.scale);
                self.set_error(third);
                let norm3 = max_norm(&self.error, &self.scale);
                self.set_error(fifth);
                let norm5 = max_norm(&self.error, &self.scale);
                // HNW II.10: err = err₅ · err₅ / √(err₅² + 0.01 err₃²).
                let ratio = norm5 / libm::hypot(norm5, 0.1 * norm3);
                if norm5 == 0.0 { 0.0 } else { h * norm5 * ratio }
            }
        };
        if norm.is_nan() { f64::INFINITY } else { norm }
    }

    /// Computes the error estimate, before multiplication by `h`, from a row of the tableau.
    fn set_error(&mut self, row: Row) {
        advance(&mut self.error, &self.zeros, 1.0, row, &self.k);
    }

    /// Computes the rows (2) and (3) of [`Dense`].
    fn write_rows(&mut self, h: f64) {
        let n = self.x0.len();
        let (two, own) = self.rows.split_at_mut(3 * n);
        let start = StateAndDerivative::new(&self.x0, nth(&self.k, n, 0));
        let end = StateAndDerivative::new(&self.x1, nth(&self.k, n, self.tableau.end));
        hermite(h, start, end, two);
        for (i, row) in self.tableau.dense.iter().enumerate() {
            let r = nth_mut(own, n, i);
            advance(r, &self.zeros, h, row, &self.k);
        }
    }
}

impl OneStep for Explicit {
    fn evaluations_per_step(&self) -> u64 {
        (self.tableau.c.len() - 1) as u64
    }

    /// Reuses the derivative at the end of the last step as first stage if the step starts at that
    /// point, bit by bit; evaluates it otherwise.
    fn start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        x: &[f64],
    ) -> Result<(), Failure<O::Error>> {
        let n = x.len();
        let (first, rest) = self.k.split_at_mut(n);
        let end = StateAndDerivative::new(&self.x1, &rest[(self.tableau.end - 1) * n..][..n]);
        self.known.start(equations, t, x, &mut self.x0, first, end)
    }

    /// Evaluates the derivative at the end exactly at `(t₁, x₁)`, so that the next step can reuse
    /// it.
    fn attempt<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        _: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>> {
        let end = self.tableau.end;
        let has_end = match self.take_ahead(equations, t, trial) {
            Some(has_end) => has_end,
            None => {
                for i in 1..end {
                    self.stage(equations, i, t, (trial.t1, trial.h))?;
                }
                let row = self.tableau.a[end];
                advance(&mut self.x1, &self.x0, trial.h, row, &self.k);
                check_finite(&self.x1)?;
                false
            }
        };
        if self.error_uses_end {
            self.end_stage(equations, trial.t1, has_end)?;
        }
        let norm = self.error_norm(trial.h, settings);
        if settings.accepts(norm) {
            if !self.error_uses_end {
                self.end_stage(equations, trial.t1, has_end)?;
            }
            let step = Taken {
                t0: t,
                t1: trial.t1,
                h: trial.h,
            };
            self.known.take(step, *equations.evaluations);
            self.rows_written = false;
        }
        Ok(Attempt {
            norm,
            newton_safety: 1.0,
        })
    }

    fn x1(&self) -> &[f64] {
        &self.x1
    }

    fn last_step(&self) -> Option<(f64, f64)> {
        self.known.step().map(|step| (step.t0, step.h))
    }

    /// The first call for a step evaluates the stages that only dense output needs.
    fn dense<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        let Some(Taken { t0, t1, h }) = self.known.step() else {
            return Ok(None);
        };
        if !self.rows_written {
            for i in self.tableau.end + 1..self.tableau.c.len() {
                self.stage(equations, i, t0, (t1, h))?;
            }
            self.write_rows(h);
            self.rows_written = true;
        }
        Ok(Some(Dense {
            t0,
            t1,
            x0: &self.x0,
            x1: &self.x1,
            rows: &self.rows,
        }))
    }

    fn invalidate(&mut self) {
        self.known.forget();
    }
}

impl Adaptive for Explicit {
    fn control(&self) -> &'static Control {
        &self.tableau.control
    }

    fn initial_step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        t_limit: f64,
        settings: &Settings,
    ) -> Result<f64, Failure<O::Error>> {
        let (first, rest) = self.k.split_at_mut(self.x0.len());
        let start = StateAndDerivative::new(&self.x0, first);
        let workspace = Workspace {
            scale: &mut self.scale,
            argument: &mut self.argument,
            derivative: nth_mut(rest, self.x0.len(), 0),
        };
        let order = self.tableau.start_order;
        Ok(initial_step(equations, t, t_limit, start, order, settings, workspace))
    }

    fn worst(&self) -> usize {
        worst(&self.error, &self.scale)
    }
}

/// Computes `out = a − b`.
fn difference(a: &[f64], b: &[f64], out: &mut [f64]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a - b;
    }
}

/// Returns the `i`-th of consecutive vectors of length `n`.
fn nth(all: &[f64], n: usize, i: usize) -> &[f64] {
    &all[i * n..(i + 1) * n]
}

fn nth_mut(all: &mut [f64], n: usize, i: usize) -> &mut [f64] {
    &mut all[i * n..(i + 1) * n]
}
