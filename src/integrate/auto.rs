//! One method for stiff and for other stretches of a run: DOPRI5 and RADAU5, whichever the equations ask for.
//!
//! DOPRI5 is stable while `h|λ|` stays below about 3.3 for the largest eigenvalue `λ` of the Jacobian, if that is real. Its stages
//! tell: the last two before the end are both taken at `t + h`, so that
//!
//! ```text
//!     h|λ| ≈ h ‖f(t + h, x₁) − f(t + h, g)‖ / ‖x₁ − g‖                                   (1)
//! ```
//!
//! where `g` is the stage before the end (HW section IV.2, *Automatic Stiffness Detection*; see [`super::radau5`]). Steps that keep to the boundary
//! of stability are limited by it, not by the accuracy asked for: RADAU5 would make longer ones. As in `dopri5.f`, the
//! method changes after 15 steps that say so, forgotten when 6 in a row do not.
//!
//! RADAU5 has the Jacobian, and its spectral radius says whether DOPRI5 could make the step that RADAU5 has just
//! made. The idea of going back by a bound on the Jacobian is that of L. Petzold, *Automatic selection of methods for solving
//! stiff and nonstiff systems of ordinary differential equations*, SIAM J. Sci. Stat. Comput. 4 (1983) 136–148,
//! doi:10.1137/0904010.
//!
//! What (1) does not tell: a fast vibration almost without damping, whose eigenvalues are imaginary, keeps DOPRI5 at `h|λ| ≈ 1` whether
//! it is excited, so that it has to be followed, or not, so that RADAU5 would pass over it. That is tried: after many steps with `h|λ|` near 1
//! RADAU5 makes one [`LEAP`] times as long, and stays if its error is within the tolerance. If it is not, the next trial waits twice as long.

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

/// `h|λ|` at which DOPRI5 is taken to be limited by stability: the constant of `dopri5.f`.
const STIFF: f64 = 3.25;

/// `h|λ|` below which DOPRI5 would do; less than [`STIFF`], so that the method does not change back at once.
const EASY: f64 = 2.0;

/// `h|λ|` above which a vibration may be what limits DOPRI5.
const NEAR: f64 = 0.5;

/// The step that RADAU5 has to make to be worth its while, in steps of DOPRI5: it costs about as much as eight.
const LEAP: f64 = 10.0;

/// The workspaces of both methods.
#[derive(Clone, Debug)]
pub(super) struct Auto {
    pub explicit: Explicit,
    pub radau5: Radau5,
    /// RADAU5 has taken the last step.
    pub stiff: bool,
    /// Room for the power method.
    v: Vec<f64>,
    Jv: Vec<f64>,
}

/// What a trial of RADAU5 has come to.
enum Leap {
    Made(Step),
    Rejected,
    /// The limit is too near.
    NoRoom,
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

    /// One accepted step with the method at work, and which one comes next.
    pub fn step<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        settings: &Settings,
        (t, t_limit): (f64, f64),
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Step, IntegrateError<O::Error>> {
        self.stiff = memory.watch.stiff;
        let mut rejected = false;
        if memory.watch.has_waited() {
            match self.leap(equations, settings, (t, t_limit), x, memory)? {
                Leap::Made(step) => return Ok(step),
                Leap::Rejected => rejected = true,
                Leap::NoRoom => {}
            }
        }
        let mut step = if self.stiff {
            adaptive::step(&mut self.radau5, equations, settings, (t, t_limit), x, memory)
        } else {
            adaptive::step(&mut self.explicit, equations, settings, (t, t_limit), x, memory)
        }?;
        step.rejections += u32::from(rejected);
        let speaks = self.asks_for_change(step.h, settings, memory);
        if memory.watch.vote(speaks) {
            step.changed_to = Some(change(memory));
        }
        Ok(step)
    }

    /// One step of RADAU5 that is much longer than DOPRI5's, if it succeeds and there is room for it before the limit.
    fn leap<O: Ode + ?Sized>(
        &mut self,
        equations: &mut Equations<O>,
        settings: &Settings,
        (t, t_limit): (f64, f64),
        x: &mut [f64],
        memory: &mut Memory,
    ) -> Result<Leap, IntegrateError<O::Error>> {
        let h = LEAP * memory.pace.h_next;
        if h > (t_limit - t).min(settings.h_max) {
            return Ok(Leap::NoRoom);
        }
        equations.afford(t, 1 + self.radau5.evaluations_per_step())?;
        let (watch, pace) = (memory.watch, memory.pace);
        change(memory);
        let trial = Trial::towards(t, h, t_limit);
        let attempt = match self.radau5.start(equations, t, x) {
            Ok(()) => self.radau5.attempt(equations, t, trial, settings, memory),
            Err(failure) => Err(failure),
        };
        match attempt {
            Ok(attempt) if attempt.norm <= 1.0 => {
                remember(&mut memory.pace, self.radau5.control(), trial, attempt);
                self.stiff = true;
                let mut step = Step::accepted(&self.radau5, trial, attempt.norm, 0, x);
                step.changed_to = Some(Method::Radau5);
                Ok(Leap::Made(step))
            }
            // If the model has failed, DOPRI5 will find out in its turn.
            _ => {
                self.radau5.invalidate();
                (memory.watch, memory.pace, memory.newton) = (watch, pace, Newton::UNKNOWN);
                memory.watch.wait_longer();
                Ok(Leap::Rejected)
            }
        }
    }

    /// Whether the step just taken, of length `h`, speaks for the other method.
    fn asks_for_change(&mut self, h: f64, settings: &Settings, memory: &mut Memory) -> bool {
        if !self.stiff {
            let reach = h * self.explicit.eigenvalue();
            memory.watch.count_near(reach > NEAR);
            return reach > STIFF;
        }
        if memory.watch.radius == 0.0 {
            memory.watch.radius = self.spectral_radius(settings, &memory.jacobian);
        }
        h * memory.watch.radius < EASY
    }

    /// The largest magnitude of an eigenvalue of the Jacobian, roughly, by the power method.
    ///
    /// A pair of complex eigenvalues makes the ratio of two norms in a row oscillate; the mean over ten is near enough.
    /// The norm is that of the absolute tolerances, in which states of all units are equals.
    fn spectral_radius(&mut self, settings: &Settings, jacobian: &[f64]) -> f64 {
        const HALF: i32 = 10;
        let scale = &settings.absolute_tolerance;
        let n = scale.len();
        // A start without symmetry, so that no eigenvector is likely to be missing from it.
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
                growth *= norm.powf(1.0 / f64::from(HALF));
            }
        }
        if growth.is_finite() { growth } else { f64::MAX }
    }

    /// Forgets all derivatives.
    pub fn invalidate(&mut self) {
        self.explicit.invalidate();
        self.radau5.invalidate();
    }
}

/// Puts the other method to work. The step is kept: each of them starts with one that suited the other.
fn change(memory: &mut Memory) -> Method {
    memory.watch = memory.watch.of_the_other_method();
    memory.newton = Newton::UNKNOWN;
    memory.pace.forget_errors();
    if memory.watch.stiff {
        Method::Radau5
    } else {
        Method::Dopri5
    }
}
