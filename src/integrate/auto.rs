//! Automatic selection between DOPRI5, the Rosenbrock-W method and RADAU5 by counted cost, and of a
//! pair of lower order for short steps of DOPRI5.
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
//!
//! DOPRI5 makes vibrations grow where `h|λ|` is above 1. An error estimate of 8e-4 of their amplitude
//! or more rejects such steps, unless the relative tolerance is larger: a vibration then grows without
//! end. At tolerances above [`LOOSE`], if the equations [vibrate](Alternatives::vibrates), `h|λ|` by
//! (1) is therefore limited to [`STABLE`].
//!
//! A step of DOPRI5 that a limit makes short, of the length `h` to the limit, is more accurate than
//! the tolerance requires. The pair of order 3(2) of Bogacki and Shampine takes it with half of the
//! evaluations. Its error estimate in a step is to leading order `h³ x⃛ / 48`. DOPRI5's stages give
//! the same number without an evaluation: those at `t`, `t + 4h/5` and `t + h`, of second order or
//! higher, differentiate `f` twice:
//!
//! ```text
//!     h³ x⃛ / 48 ≈ h (−5 k₁ + 25 k₄ − 20 k₇) / 96                                         (2)
//! ```
//!
//! The pair takes the step if this estimate, or that of its own last step, scaled to the length of
//! the step, is at most [`SHARE`] of the tolerance. No trial is needed, since the cost is known, and
//! no other method is tried meanwhile: none takes fewer evaluations in a step. Nor is stiffness
//! detected: instability raises the error estimate, and DOPRI5 returns.

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
use super::tableau::Row;
use super::{Next, Ode, Settings, bogacki_shampine, dopri5};

/// Limit of `h|λ|` above which stability or a vibration may be the reason for DOPRI5's step size.
const NEAR: f64 = 0.5;

/// Limit of `h|λ|` below which DOPRI5 is stable on the imaginary axis: the axis' stable part ends at
/// 0.998, and `h|λ|` of a step is known after it.
const STABLE: f64 = 0.95;

/// Relative tolerance above which steps are limited: at the end of the axis' stable part the error
/// estimate is 8.3e-4 of a vibration's amplitude. The controller selects steps with less.
const LOOSE: f64 = 5e-4;

/// Least `h ‖f(t + h, x₁) − f(t + h, g)‖`, relative to the tolerance, at which steps are limited: less
/// may be round-off.
const VISIBLE: f64 = 0.01;

/// Largest error estimate of the pair of order 3(2), relative to the tolerance. Errors add up over
/// many short steps. That of a vibration in a step is `2 h|λ|` times the estimate, which is at most
/// `2 SHARE` of the tolerance per radian; in steps that only the tolerance limits, DOPRI5's is about
/// 0.3.
const SHARE: f64 = 0.01;

/// Largest ratio of a step of that pair to the step before.
const GROWTH: f64 = 2.0;

/// Coefficients of (2).
pub(super) const THIRD_DERIVATIVE: Row = &[(0, -5.0 / 96.0), (3, 25.0 / 96.0), (6, -20.0 / 96.0)];

/// The workspaces of all methods.
#[derive(Clone, Debug)]
pub(super) struct Auto {
    dopri5: Explicit,
    bogacki_shampine: Explicit,
    pub rosenbrock: Rosenbrock,
    pub radau5: Radau5,
    alternatives: Alternatives,
    /// Method of the last attempt.
    pub taken: Candidate,
    /// True if the pair of order 3(2) has taken the last step in place of DOPRI5.
    is_short: bool,
}

impl Auto {
    /// Allocates for the settings' states; nothing for methods that are not among `alternatives`.
    pub fn new(settings: &Settings, alternatives: Alternatives) -> Auto {
        let n = settings.n_states();
        let none = &settings.without_states();
        Auto {
            dopri5: Explicit::new(&dopri5::TABLEAU, n),
            bogacki_shampine: Explicit::new(&bogacki_shampine::TABLEAU, n),
            rosenbrock: Rosenbrock::new(if alternatives.rosenbrock { n } else { 0 }),
            radau5: Radau5::new(if alternatives.radau5 { settings } else { none }),
            alternatives,
            taken: Candidate::Dopri5,
            is_short: false,
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
        let at_entry = (memory.method_selection, memory.step_history);
        let n = settings.n_states();
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
                (memory.method_selection, memory.step_history) = at_entry;
            }
        })?;
        step.rejections += failures;
        let is_on_trial = memory.method_selection.before.is_some();
        let may_gain = self.limit_next(&step, settings, memory) && !is_on_trial;
        memory.method_selection.short = self.longest_short_step(&step, settings);
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
            Candidate::Dopri5 => self.explicit_step(equations, settings, times.0, times.1, x, memory),
            Candidate::Rosenbrock => adaptive::step(&mut self.rosenbrock, equations, settings, times, x, memory),
            Candidate::Radau5 => adaptive::step(&mut self.radau5, equations, settings, times, x, memory),
        }
    }

    /// Takes one accepted step with the pair of order 3(2), if it is short enough, or DOPRI5.
    fn explicit_step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        settings: &Settings,
        t: f64,
        t_limit: f64,
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Step, IntegrateError<O::Error>> {
        let mut rejections = 0;
        self.is_short = is_short(settings, memory, t, t_limit);
        if self.is_short {
            let pair = &mut self.bogacki_shampine;
            if let Some(step) = adaptive::attempt(pair, equations, settings, t, t_limit, x, memory)? {
                return Ok(step);
            }
            // In the memory, so that a call that continues after a work limit does not repeat it.
            (self.is_short, memory.method_selection.short, rejections) = (false, 0.0, 1);
        }
        let mut step = adaptive::step(&mut self.dopri5, equations, settings, (t, t_limit), x, memory)?;
        step.rejections += rejections;
        Ok(step)
    }

    /// Returns the longest step for which the error estimate of the pair of order 3(2) is expected
    /// to be admissible after this step; zero if no limit has shortened this step, or another method
    /// than DOPRI5 is in use.
    fn longest_short_step(&mut self, step: &Step, settings: &Settings) -> f64 {
        let is_limited = step.landed || 2.0 * step.h > settings.h_max;
        let norm = match self.taken {
            Candidate::Dopri5 if self.is_short => step.error_norm,
            Candidate::Dopri5 if is_limited => self.dopri5.norm_of(THIRD_DERIVATIVE),
            Candidate::Dopri5 | Candidate::Rosenbrock | Candidate::Radau5 => return 0.0,
        };
        let ratio = libm::cbrt(SHARE / norm).min(GROWTH);
        (step.h * ratio).min(f64::MAX)
    }

    /// Limits the next step of DOPRI5 to stable ones, after this step. Returns true if another method
    /// may cost less.
    fn limit_next(&mut self, step: &Step, settings: &Settings, memory: &mut Memory) -> bool {
        if self.taken != Candidate::Dopri5 {
            return true;
        }
        if self.is_short {
            return false;
        }
        if self.alternatives.vibrates && settings.relative_tolerance() > LOOSE {
            let differences = self.dopri5.differences(settings);
            let (eigenvalue, h_next) = (differences.eigenvalue(), &mut memory.step_history.h_next);
            if step.h * differences.of_derivative > VISIBLE && *h_next * eigenvalue > STABLE {
                *h_next = STABLE / eigenvalue;
            }
        }
        step.h * self.dopri5.eigenvalue() > NEAR
    }

    /// Returns the derivative at `(t, x)` if the next attempt would reuse it as the one at its start.
    pub fn known_start(&self, next: Next, t: f64, x: &[f64]) -> Option<&[f64]> {
        match next.is_short() {
            true => self.bogacki_shampine.known_start(t, x),
            false => self.dopri5.known_start(t, x),
        }
    }

    /// Returns the workspace of the last step, taken with the pair of order 3(2) or DOPRI5.
    pub fn explicit(&mut self) -> &mut Explicit {
        match self.is_short {
            true => &mut self.bogacki_shampine,
            false => &mut self.dopri5,
        }
    }

    /// Returns the maximum number of evaluations for a step with a method, with its start.
    fn evaluations_per_step(&self, method: Candidate) -> u64 {
        1 + match method {
            Candidate::Dopri5 => self.dopri5.evaluations_per_step(),
            Candidate::Rosenbrock => self.rosenbrock.evaluations_per_step(),
            Candidate::Radau5 => self.radau5.evaluations_per_step(),
        }
    }

    /// Discards all stored derivatives.
    pub fn invalidate(&mut self) {
        self.dopri5.invalidate();
        self.bogacki_shampine.invalidate();
        self.rosenbrock.invalidate();
        self.radau5.invalidate();
    }
}

/// Returns true if the pair of order 3(2) takes the next step in place of DOPRI5.
pub(super) fn is_short(settings: &Settings, memory: &Memory, t: f64, t_limit: f64) -> bool {
    settings.h_max.min(t_limit - t) <= memory.method_selection.short
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
