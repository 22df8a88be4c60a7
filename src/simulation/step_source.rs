//! Step sizes that one run takes from another.
//!
//! The result of an integrator with step size control is no smooth function of parameters and start
//! values: a small change of them changes the number of steps, and the result by jumps as large as
//! the tolerance. The result for given steps is smooth, so that differences of runs with equal steps
//! are its derivatives up to round-off and the truncation error of the differences. This is internal
//! numerical differentiation: H. G. Bock, *Numerical treatment of inverse problems in chemical
//! reaction kinetics*, in: Modelling of Chemical Reaction Systems, Springer 1981, pp. 102–125,
//! doi:10.1007/978-3-642-68220-9_8.

use super::Simulation;
use crate::integrate::{Memory, Step, Stepper};
use std::sync::Arc;

/// Steps of a run, for other runs of the same model.
#[derive(Clone, Debug, Default)]
pub struct Steps(Vec<Recorded>);

/// A step: its length, the one that the step size control selected, and the integrator's memory
/// before it.
#[derive(Clone, Debug)]
struct Recorded {
    h: f64,
    natural: f64,
    before: Memory,
}

/// Source of the step sizes.
#[derive(Clone, Debug)]
pub(super) enum StepSource {
    /// The step size control.
    Own,
    /// The step size control; the steps are recorded.
    Recorded(Steps),
    /// The recorded steps of another run, from the one with the index `next`; after the last of
    /// them the step size control. `departures` counts the steps that were others.
    Following {
        steps: Arc<Steps>,
        next: usize,
        departures: u64,
    },
}

impl StepSource {
    /// Prepares the integrator's memory for a step.
    pub fn before_step(&mut self, memory: &mut Memory) {
        match self {
            Self::Own => {}
            Self::Recorded(Steps(steps)) => {
                let before = memory.before_step();
                let (h, natural) = (0.0, 0.0);
                steps.push(Recorded { h, natural, before });
            }
            Self::Following { steps, next, .. } => {
                if let Some(Recorded { h, natural, before }) = steps.0.get(*next) {
                    memory.follow(before, *h, *natural);
                }
            }
        }
    }

    /// Records a step, or removes the record of one that failed.
    pub fn after_step(&mut self, step: Option<&Step>) {
        match (self, step) {
            (Self::Recorded(Steps(steps)), Some(step)) => {
                if let Some(recorded) = steps.last_mut() {
                    (recorded.h, recorded.natural) = (step.h, step.natural);
                    // An attempt that was rejected is not repeated.
                    if step.rejections > 0 {
                        recorded.before.end_short_steps();
                    }
                }
            }
            (Self::Recorded(Steps(steps)), None) => {
                steps.pop();
            }
            (
                Self::Following {
                    steps,
                    next,
                    departures,
                },
                Some(step),
            ) => {
                let is_other = step.rejections > 0 || *next >= steps.0.len();
                *departures += u64::from(is_other);
                *next += 1;
            }
            _ => {}
        }
    }
}

impl Steps {
    /// Returns the number of steps.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl Simulation {
    /// Records the steps from here on.
    pub fn record_steps(&mut self) {
        self.step_source = StepSource::Recorded(Steps::default());
    }

    /// Returns the steps that were recorded since [`record_steps`](Self::record_steps) or the last
    /// call of this function.
    pub fn take_steps(&mut self) -> Steps {
        match &mut self.step_source {
            StepSource::Recorded(steps) => std::mem::take(steps),
            _ => Steps::default(),
        }
    }

    /// Takes the same steps as another run of the same model, with nearly the same states, from the
    /// present time on.
    pub fn follow_steps(&mut self, steps: Arc<Steps>) {
        let (next, departures) = (0, self.departures());
        if !matches!(self.step_source, StepSource::Following { .. }) {
            let settings = self.stepper.settings().clone();
            self.stepper = Stepper::new(settings.following());
        }
        self.step_source = StepSource::Following {
            steps,
            next,
            departures,
        };
    }

    /// Returns the number of steps that were not those of the run to be followed, or are left of it.
    pub fn departures(&self) -> u64 {
        match &self.step_source {
            StepSource::Following {
                steps,
                next,
                departures,
            } => departures + steps.0.len().saturating_sub(*next) as u64,
            _ => 0,
        }
    }
}
