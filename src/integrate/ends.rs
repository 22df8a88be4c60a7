//! Fixed-step methods whose dense output is interpolated between both ends of a step.

use super::dense::{Dense, hermite};
use super::equations::{Equations, Failure, StateAndDerivative, check_finite};
use super::landing::Trial;
use super::memory::Memory;
use super::one_step::{Attempt, OneStep};
use super::{Ode, Settings};

/// The rule by which a fixed-step method computes the end of a step.
pub(super) trait Rule {
    /// Returns the maximum number of evaluations per step, without those for dense output.
    fn evaluations_per_step(&self) -> u64;

    /// Computes the end of a step from `(t, ends.x0)` and writes its state into `ends.x1`.
    fn solve<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        ends: &mut Ends,
        memory: &mut Memory,
    ) -> Result<(), Failure<O::Error>>;

    /// Stores the data of a successful step in the memory, for the starting values of the next one.
    fn remember(&self, memory: &mut Memory);
}

/// A fixed-step method: its rule, and both ends of its last step.
#[derive(Clone, Debug)]
pub(super) struct FixedStep<R> {
    rule: R,
    ends: Ends,
}

impl<R> FixedStep<R> {
    /// Allocates for `n` states.
    pub fn new(n: usize, rule: R) -> Self {
        Self {
            rule,
            ends: Ends::new(n),
        }
    }
}

impl<R: Rule> OneStep for FixedStep<R> {
    fn evaluations_per_step(&self) -> u64 {
        // Dense output needs the derivatives at both ends.
        self.rule.evaluations_per_step() + 2
    }

    fn start<O: Ode + ?Sized>(&mut self, _: &mut Equations<O>, _: f64, x: &[f64]) -> Result<(), Failure<O::Error>> {
        self.ends.start(x);
        Ok(())
    }

    fn attempt<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        trial: Trial,
        settings: &Settings,
        memory: &mut Memory,
    ) -> Result<Attempt, Failure<O::Error>> {
        self.rule.solve(equations, t, trial, settings, &mut self.ends, memory)?;
        check_finite(&self.ends.x1)?;
        self.rule.remember(memory);
        (memory.newton.t0, memory.newton.h) = (t, trial.h);
        self.ends.finish(t, trial.t1, trial.h);
        Ok(Attempt {
            norm: 0.0,
            newton_safety: 1.0,
        })
    }

    fn x1(&self) -> &[f64] {
        &self.ends.x1
    }

    fn last_step(&self) -> Option<(f64, f64)> {
        self.ends.last.map(|(t0, _, h, _)| (t0, h))
    }

    fn dense<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        self.ends.dense(equations)
    }

    fn invalidate(&mut self) {
        self.ends.last = None;
    }
}

/// Both ends of a step; the dense output is the cubic Hermite interpolant.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub x0: Vec<f64>,
    pub x1: Vec<f64>,
    f0: Vec<f64>,
    f1: Vec<f64>,
    rows: Vec<f64>,
    /// Start time, end time and length of the last step; last, true if `rows` are its rows.
    last: Option<(f64, f64, f64, bool)>,
}

impl Ends {
    /// Allocates for `n` states.
    fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            x0: zeros(),
            x1: zeros(),
            f0: zeros(),
            f1: zeros(),
            rows: vec![0.0; 3 * n],
            last: None,
        }
    }

    /// Begins a step: stores its initial state and discards the last step.
    fn start(&mut self, x: &[f64]) {
        self.last = None;
        self.x0.copy_from_slice(x);
    }

    /// Records that `x1` is the end state of a step of length `h` from `t0` to `t1`.
    fn finish(&mut self, t0: f64, t1: f64, h: f64) {
        self.last = Some((t0, t1, h, false));
    }

    /// Evaluates the derivative at the start of the step, at the time `t`.
    pub fn evaluate_start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
    ) -> Result<(), Failure<O::Error>> {
        equations.derivative(t, &self.x0, &mut self.f0)
    }

    /// Returns state and derivative at the start. The derivative is valid only after
    /// [`evaluate_start`](Self::evaluate_start).
    pub fn at_start(&self) -> StateAndDerivative<'_> {
        StateAndDerivative::new(&self.x0, &self.f0)
    }

    /// Returns the dense output of the last step. The first call for a step evaluates the
    /// derivatives at both ends.
    fn dense<O: Ode + ?Sized>(&mut self, equations: &mut Equations<O>) -> Result<Option<Dense<'_>>, Failure<O::Error>> {
        let Some((t0, t1, h, written)) = self.last else {
            return Ok(None);
        };
        if !written {
            equations.derivative(t0, &self.x0, &mut self.f0)?;
            equations.derivative(t1, &self.x1, &mut self.f1)?;
            let start = StateAndDerivative::new(&self.x0, &self.f0);
            let end = StateAndDerivative::new(&self.x1, &self.f1);
            hermite(h, start, end, &mut self.rows);
            self.last = Some((t0, t1, h, true));
        }
        Ok(Some(Dense {
            t0,
            t1,
            x0: &self.x0,
            x1: &self.x1,
            rows: &self.rows,
        }))
    }
}
