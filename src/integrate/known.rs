//! What a workspace knows of the solution, so that no derivative is made twice.

use super::Ode;
use super::equations::{Equations, Failure, same_point};

/// What is known of the states and derivatives at both ends of a step.
#[derive(Clone, Debug)]
pub(super) struct Known {
    what: What,
    /// How many evaluations there were when the last of it was made.
    since: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// Nothing.
    Nothing,
    /// The derivative at the start, `t`.
    Start { t: f64 },
    /// All of a step, the derivative at its end too.
    Step(Taken),
}

/// A step that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    pub t0: f64,
    pub t1: f64,
    pub h: f64,
}

impl Known {
    pub const NOTHING: Known = Known {
        what: What::Nothing,
        since: 0,
    };

    /// Prepares a step from `(t, x)`: sees to it that these are `x0` and its derivative `f0`. Taken from the end of the last step if that has the same bits, or evaluated.
    pub fn start<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        (t, x): (f64, &[f64]),
        (x0, f0): (&mut [f64], &mut [f64]),
        (x1, f1): (&[f64], &[f64]),
    ) -> Result<(), Failure<O::Error>> {
        match self.what {
            What::Step(Taken { t1, .. }) if same_point(t, x, t1, x1) => {
                x0.copy_from_slice(x);
                f0.copy_from_slice(f1);
                self.since = equations.reuse(self.since);
            }
            What::Start { t: t0 } if same_point(t, x, t0, x0) => self.since = equations.reuse(self.since),
            _ => {
                self.what = What::Nothing;
                x0.copy_from_slice(x);
                equations.derivative(t, x0, f0)?;
                self.since = *equations.evaluations;
            }
        }
        self.what = What::Start { t };
        Ok(())
    }

    /// A step was accepted, and the derivative at its end was the last evaluation.
    pub fn take(&mut self, step: Taken, evaluations: u64) {
        (self.what, self.since) = (What::Step(step), evaluations);
    }

    /// The last accepted step, if nothing came after it.
    pub fn step(&self) -> Option<Taken> {
        match self.what {
            What::Step(step) => Some(step),
            What::Nothing | What::Start { .. } => None,
        }
    }

    /// Forgets all of it.
    pub fn forget(&mut self) {
        self.what = What::Nothing;
    }
}
