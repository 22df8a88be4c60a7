//! Automatic selection between DOPRI5 and RADAU5 by stiffness detection.
//!
//! DOPRI5 is stable for `h|λ|` below about 3.3, with the largest eigenvalue `λ` of the Jacobian, if
//! it is real. Two stages at `t + h` give an estimate:
//!
//! ```text
//!     h|λ| ≈ h ‖f(t + h, x₁) − f(t + h, g)‖ / ‖x₁ − g‖                                   (1)
//! ```
//!
//! where `g` is the argument of the last stage before the end (HW section IV.2, *Automatic
//! Stiffness Detection*; see [`super::radau5`]). If the steps stay at the boundary of stability,
//! they are limited by stability and not by accuracy, and RADAU5 can take longer ones. As in
//! `dopri5.f`, the method changes after 15 such steps; 6 consecutive other steps reset the count.
//!
//! RADAU5 evaluates the Jacobian, whose spectral radius determines if DOPRI5 would be stable at the
//! current step size. Changing back by a bound on the Jacobian follows L. Petzold, *Automatic
//! selection of methods for solving stiff and nonstiff systems of ordinary differential equations*,
//! SIAM J. Sci. Stat. Comput. 4 (1983) 136–148, doi:10.1137/0904010.
//!
//! (1) does not detect a fast, almost undamped vibration with imaginary eigenvalues: the vibration
//! limits DOPRI5 to `h|λ| ≈ 1` both if it is excited (and must be resolved) and if it is not (and
//! RADAU5 could take longer steps). A trial distinguishes the two cases: after many steps with
//! `h|λ|` above [`NEAR`], RADAU5 takes one step [`TRIAL_RATIO`] times as long and stays selected if
//! the error is within the tolerance. Otherwise the number of steps to the next trial doubles.

use super::adaptive::remember;
use super::equations::Equations;
use super::error::IntegrateError;
use super::explicit::Explicit;
use super::landing::Trial;
use super::lanes::max_norm;
use super::memory::{Memory, Newton};
use super::method::Method;
use super::one_step::{Adaptive, OneStep};
use super::radau::Radau5;
use super::step::Step;
use super::{Ode, Settings, adaptive, dopri5};

/// Limit of `h|λ|` above which stability limits DOPRI5: the constant of `dopri5.f`.
const STIFF: f64 = 3.25;

/// Limit of `h|λ|` below which DOPRI5 is selected; less than [`STIFF`] for hysteresis.
const NONSTIFF: f64 = 2.0;

/// Limit of `h|λ|` above which a vibration may be the reason for DOPRI5's step size.
const NEAR: f64 = 0.5;

/// Length of a trial step of RADAU5, in steps of DOPRI5; it costs about as much as eight of them.
const TRIAL_RATIO: f64 = 10.0;

/// The workspaces of both methods.
#[derive(Clone, Debug)]
pub(super) struct Auto {
    pub explicit: Explicit,
    pub radau5: Radau5,
    /// True if RADAU5 took the last step.
    pub stiff: bool,
    /// Workspace of the power method: a vector and its product with the Jacobian.
    v: Vec<f64>,
    Jv: Vec<f64>,
}

/// The result of a trial step of RADAU5.
enum TrialStep {
    Made(Step),
    Rejected,
    /// No trial was made: the step would exceed the limit or the maximum step length.
    TooLong,
}

impl Auto {
    pub fn new(settings: &Settings) -> Auto {
        let n = settings.n_states();
        Auto {
            explicit: Explicit::new(&dopri5::TABLEAU, n),
            radau5: Radau5::new(settings),
            stiff: false,
            v: vec![0.0; n],
            Jv: vec![0.0; n],
        }
    }

    /// Takes one accepted step with the current method, and selects the next method.
    pub fn step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        settings: &Settings,
        (t, t_limit): (f64, f64),
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Step, IntegrateError<O::Error>> {
        self.stiff = memory.method_selection.stiff;
        let mut rejected = false;
        if memory.method_selection.is_trial_scheduled() {
            match self.trial_step(equations, settings, (t, t_limit), x, memory)? {
                TrialStep::Made(step) => return Ok(step),
                TrialStep::Rejected => rejected = true,
                TrialStep::TooLong => {}
            }
        }
        let mut step = if self.stiff {
            adaptive::step(&mut self.radau5, equations, settings, (t, t_limit), x, memory)
        } else {
            adaptive::step(&mut self.explicit, equations, settings, (t, t_limit), x, memory)
        }?;
        step.rejections += u32::from(rejected);
        let counts = self.counts_for_change(step.h, settings, memory);
        if memory.method_selection.vote(counts) {
            step.changed_to = Some(change(memory));
        }
        Ok(step)
    }

    /// Takes one trial step with RADAU5, [`TRIAL_RATIO`] times as long as the next step of DOPRI5,
    /// if the limits allow it.
    fn trial_step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        settings: &Settings,
        (t, t_limit): (f64, f64),
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<TrialStep, IntegrateError<O::Error>> {
        let h = TRIAL_RATIO * memory.step_history.h_next;
        if h > (t_limit - t).min(settings.h_max) {
            return Ok(TrialStep::TooLong);
        }
        equations.afford(t, 1 + self.radau5.evaluations_per_step())?;
        let (method_selection, step_history) = (memory.method_selection, memory.step_history);
        change(memory);
        let trial = Trial::towards(t, h, t_limit);
        let attempt = match self.radau5.start(equations, t, x) {
            Ok(()) => self.radau5.attempt(equations, t, trial, settings, memory),
            Err(failure) => Err(failure),
        };
        match attempt {
            Ok(attempt) if attempt.norm <= 1.0 => {
                remember(&mut memory.step_history, self.radau5.control(), trial, attempt);
                self.stiff = true;
                let mut step = Step::accepted(&self.radau5, trial, attempt.norm, 0, x);
                step.changed_to = Some(Method::Radau5);
                Ok(TrialStep::Made(step))
            }
            // After a failure of the model as well, DOPRI5 takes the step or reports the error.
            _ => {
                self.radau5.invalidate();
                (memory.method_selection, memory.step_history, memory.newton) =
                    (method_selection, step_history, Newton::UNKNOWN);
                memory.method_selection.double_trial_interval();
                Ok(TrialStep::Rejected)
            }
        }
    }

    /// Returns true if the last step, of length `h`, counts for a change of the method; also counts
    /// the steps of DOPRI5 that a vibration may have limited.
    fn counts_for_change(&mut self, h: f64, settings: &Settings, memory: &mut Memory) -> bool {
        if !self.stiff {
            let reach = h * self.explicit.eigenvalue();
            memory.method_selection.count_near(reach > NEAR);
            return reach > STIFF;
        }
        if memory.method_selection.radius == 0.0 {
            memory.method_selection.radius = self.spectral_radius(settings, &memory.jacobian);
        }
        h * memory.method_selection.radius < NONSTIFF
    }

    /// Returns an estimate of the Jacobian's spectral radius, by the power method.
    ///
    /// With a complex pair of eigenvalues the ratio of consecutive norms oscillates; the geometric
    /// mean of ten ratios is sufficient. The norm is weighted with the absolute tolerances, which
    /// makes states of different units comparable.
    fn spectral_radius(&mut self, settings: &Settings, jacobian: &[f64]) -> f64 {
        const HALF: i32 = 10;
        let scale = &settings.absolute_tolerance;
        let n = scale.len();
        // An irregular start vector, likely to contain all eigenvectors.
        for (i, (v, scale)) in self.v.iter_mut().zip(scale).enumerate() {
            *v = scale * (1.0 + libm::sin(i as f64));
        }
        let mut growth = 1.0;
        for round in 0..2 * HALF {
            self.Jv.fill(0.0);
            for (column, v) in jacobian.chunks_exact(n.max(1)).zip(&self.v) {
                for (sum, entry) in self.Jv.iter_mut().zip(column) {
                    *sum += entry * v;
                }
            }
            let norm = max_norm(&self.Jv, scale);
            if norm == 0.0 {
                return 0.0;
            }
            for (v, Jv) in self.v.iter_mut().zip(&self.Jv) {
                *v = Jv / norm;
            }
            if round >= HALF {
                growth *= libm::pow(norm, 1.0 / f64::from(HALF));
            }
        }
        if growth.is_finite() { growth } else { f64::MAX }
    }

    /// Discards all stored derivatives.
    pub fn invalidate(&mut self) {
        self.explicit.invalidate();
        self.radau5.invalidate();
    }
}

/// Changes the method in the memory and returns the new one. The step size is kept, which suits the
/// other method as well.
fn change(memory: &mut Memory) -> Method {
    memory.method_selection = memory.method_selection.of_the_other_method();
    memory.newton = Newton::UNKNOWN;
    memory.step_history.forget_errors();
    if memory.method_selection.stiff {
        Method::Radau5
    } else {
        Method::Dopri5
    }
}
