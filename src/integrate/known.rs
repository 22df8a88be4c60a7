//! Reuse of the states and derivatives stored for both ends of a step.

use super::Ode;
use super::equations::{Equations, Failure, StateAndDerivative, same_point};

/// Validity of the states and derivatives stored for both ends of a step.
#[derive(Clone, Debug)]
pub(super) struct StepData {
    stored: Stored,
    /// Count of evaluations at which the last stored derivative was evaluated.
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stored {
    /// No data.
    Nothing,
    /// State and derivative at the start of a step, at the time `t`.
    Start { t: f64 },
    /// States and derivatives at both ends of an accepted step.
    Step(Taken),
}

/// An end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Start,
    End,
}

/// An accepted step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    pub t0: f64,
    pub t1: f64,
    pub h: f64,
}

impl StepData {
    pub const NOTHING: StepData = StepData {
        stored: Stored::Nothing,
        since: 0,
    };

    /// Prepares a step from `(t, x)`: sets `x0` and its derivative `f0`. The derivative is reused
    /// if `(t, x)` is bit-identical to the `end` of the last step or to the stored start, otherwise
    /// evaluated.
    pub fn start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        t: f64,
        x: &[f64],
        x0: &mut [f64],
        f0: &mut [f64],
        end: StateAndDerivative,
    ) -> Result<(), Failure<O::Error>> {
        match self.stored {
            Stored::Step(Taken { t1, .. }) if same_point(t, x, t1, end.x) => {
                x0.copy_from_slice(x);
                f0.copy_from_slice(end.dx);
                self.since = equations.reuse(self.since);
            }
            Stored::Start { t: t0 } if same_point(t, x, t0, x0) => self.since = equations.reuse(self.since),
            _ => {
                self.stored = Stored::Nothing;
                x0.copy_from_slice(x);
                equations.derivative(t, x0, f0)?;
                self.since = *equations.evaluations;
            }
        }
        self.stored = Stored::Start { t };
        Ok(())
    }

    /// Returns the end of the last step whose derivative a step from `(t, x)` would reuse.
    pub fn known(&self, t: f64, x: &[f64], x0: &[f64], x1: &[f64]) -> Option<End> {
        match self.stored {
            Stored::Step(Taken { t1, .. }) if same_point(t, x, t1, x1) => Some(End::End),
            Stored::Start { t: t0 } if same_point(t, x, t0, x0) => Some(End::Start),
            _ => None,
        }
    }

    /// Stores an accepted step; the derivative at its end was the last evaluation.
    pub fn take(&mut self, step: Taken, evaluations: u64) {
        (self.stored, self.since) = (Stored::Step(step), evaluations);
    }

    /// Returns the last accepted step; `None` if the start of another step has replaced it.
    pub fn step(&self) -> Option<Taken> {
        match self.stored {
            Stored::Step(step) => Some(step),
            Stored::Nothing | Stored::Start { .. } => None,
        }
    }

    /// Discards all data.
    pub fn forget(&mut self) {
        self.stored = Stored::Nothing;
    }
}
