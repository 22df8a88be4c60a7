//! Automatic selection between DOPRI5, the Rosenbrock-W method and RADAU5 by counted cost.
//!
//! The cost of a method is the number of its evaluations, with a surcharge for the solution of
//! linear systems, per time integrated. From time to time another method takes some steps on trial,
//! and replaces the method in use if its cost is clearly lower. After an unsuccessful trial the
//! interval to the next one doubles, unless the cost of the method in use rises above that of the
//! trial. The steps of a trial are within the tolerance as all others. Counts are not times: a run
//! is reproducible bit by bit.
//!
//! Trials are omitted where another method is unlikely to be better:
//!
//! - DOPRI5 is the best choice for smooth motions. It is stable for `h|λ|` below about 3.3, with
//!   the largest eigenvalue `λ` of the Jacobian, if it is real, and resolves vibrations with `h|λ|`
//!   below about 1. Two stages at `t + h` give an estimate (HNW section IV.2, *Automatic Stiffness
//!   Detection*, in HW; see [`super::radau5`]), with the argument `g` of the last stage before the
//!   end:
//!
//!   ```text
//!       h|λ| ≈ h ‖f(t + h, x₁) − f(t + h, g)‖ / ‖x₁ − g‖                                 (1)
//!   ```
//!
//!   Only steps with `h|λ|` above [`NEAR`] count towards a trial.
//! - Limits of the steps, such as communication points, may not allow a method the longer steps
//!   that it needs to be better.

use super::adaptive;
use super::equations::Equations;
use super::error::IntegrateError;
use super::explicit::Explicit;
use super::memory::{Memory, Newton};
use super::method::{Alternatives, Method};
use super::method_selection::{Candidate, MethodSelection};
use super::one_step::OneStep;
use super::radau::Radau5;
use super::rosenbrock::Rosenbrock;
use super::step::Step;
use super::{Ode, Settings, dopri5};

/// Limit of `h|λ|` above which stability or a vibration may be the reason for DOPRI5's step size.
const NEAR: f64 = 0.5;

/// The workspaces of all methods.
#[derive(Clone, Debug)]
pub(super) struct Auto {
    pub explicit: Explicit,
    pub rosenbrock: Rosenbrock,
    pub radau5: Radau5,
    alternatives: Alternatives,
    /// Method of the last attempt.
    pub taken: Candidate,
}

impl Auto {
    /// Allocates for the settings' states; nothing for methods that are not among `alternatives`.
    pub fn new(settings: &Settings, alternatives: Alternatives) -> Auto {
        let n = settings.n_states();
        let none = &settings.without_states();
        Auto {
            explicit: Explicit::new(&dopri5::TABLEAU, n),
            rosenbrock: Rosenbrock::new(if alternatives.rosenbrock { n } else { 0 }),
            radau5: Radau5::new(if alternatives.radau5 { settings } else { none }),
            alternatives,
            taken: Candidate::Dopri5,
        }
    }

    /// Takes one accepted step with the method in use, and selects the next method.
    pub fn step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        settings: &Settings,
        (t, t_limit): (f64, f64),
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Step, IntegrateError<O::Error>> {
        // A saved state that is damaged may have a method without workspace.
        if !memory.method_selection.is_among(self.alternatives) {
            memory.method_selection = MethodSelection::start(self.alternatives);
        }
        let (at_entry, n) = (memory.method_selection, settings.n_states());
        memory.method_selection.allow((t_limit - t).min(settings.h_max));
        let mut failures = 0;
        let mut step = match self.step_in_use(equations, settings, (t, t_limit), x, memory) {
            // After a failure of the model as well, the method before takes the step or reports the
            // error.
            Err(error) if memory.method_selection.before.is_some() && !error.is_work_limit() => {
                end_trial(false, memory);
                failures = 1;
                self.step_in_use(equations, settings, (t, t_limit), x, memory)
            }
            taken => taken,
        }
        .inspect_err(|error| {
            if !error.is_work_limit() {
                memory.method_selection = at_entry;
            }
        })?;
        step.rejections += failures;
        let is_on_trial = memory.method_selection.before.is_some();
        let may_gain = !is_on_trial && (self.taken != Candidate::Dopri5 || step.h * self.explicit.eigenvalue() > NEAR);
        let evaluations = f64::from(step.evaluations);
        if let Some(success) = memory.method_selection.count(step.h, evaluations, may_gain, n) {
            step.changed_to = success.then_some(self.taken.into());
            end_trial(success, memory);
        }
        // Here, not before a step: a call that continues after a work limit must not schedule again.
        let affordable = |method| self.evaluations_per_step(method) < settings.max_evaluations;
        let scheduled = memory.method_selection.scheduled(self.alternatives, n);
        if let Some(method) = scheduled.filter(|method| affordable(*method)) {
            begin_trial(method, memory);
        }
        Ok(step)
    }

    /// Takes one accepted step with the method in use.
    fn step_in_use<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        settings: &Settings,
        times: (f64, f64),
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Step, IntegrateError<O::Error>> {
        self.taken = memory.method_selection.method;
        match self.taken {
            Candidate::Dopri5 => adaptive::step(&mut self.explicit, equations, settings, times, x, memory),
            Candidate::Rosenbrock => adaptive::step(&mut self.rosenbrock, equations, settings, times, x, memory),
            Candidate::Radau5 => adaptive::step(&mut self.radau5, equations, settings, times, x, memory),
        }
    }

    /// Returns the maximum number of evaluations for a step with a method, with its start.
    fn evaluations_per_step(&self, method: Candidate) -> u64 {
        1 + match method {
            Candidate::Dopri5 => self.explicit.evaluations_per_step(),
            Candidate::Rosenbrock => self.rosenbrock.evaluations_per_step(),
            Candidate::Radau5 => self.radau5.evaluations_per_step(),
        }
    }

    /// Discards all stored derivatives.
    pub fn invalidate(&mut self) {
        self.explicit.invalidate();
        self.rosenbrock.invalidate();
        self.radau5.invalidate();
    }
}

/// Begins a trial with the step size of the method in use.
fn begin_trial(method: Candidate, memory: &mut Memory) {
    let h = memory.step_history.h_next;
    memory.method_selection.begin_trial(method, h);
    memory.step_history.forget_attempts();
    if method == Candidate::Radau5 {
        memory.newton = Newton::UNKNOWN;
    }
}

/// Ends a trial. The method before continues with its own step size, and RADAU5 with its Jacobian
/// unless steps were rejected in the trial.
fn end_trial(success: bool, memory: &mut Memory) {
    let tried = memory.method_selection.method;
    memory.method_selection.end_trial(success);
    if !success {
        memory.step_history.h_next = memory.method_selection.h_before;
        memory.step_history.forget_attempts();
        memory.newton.h = 0.0;
        if tried == Candidate::Radau5 {
            memory.newton = Newton::UNKNOWN;
        }
    }
}

impl From<Candidate> for Method {
    fn from(candidate: Candidate) -> Method {
        match candidate {
            Candidate::Dopri5 => Method::Dopri5,
            Candidate::Rosenbrock => Method::Rosenbrock,
            Candidate::Radau5 => Method::Radau5,
        }
    }
}
