//! Simplified Newton iterations: how fast they converge, and the matrices they go by.
//!
//! HW (see [`super::radau5`]) section IV.8, *Stopping Criterion*.

use super::equations::{Equations, Failure, same_bits};
use super::memory::{Age, Memory};
use super::{Ode, Settings};

/// Solves with the Jacobian that is there; if that is another point's and the iteration does not converge, with a new one.
pub(super) fn with_good_jacobian<T, E>(
    memory: &mut Memory,
    mut solve: impl FnMut(&mut Memory) -> Result<T, Failure<E>>,
) -> Result<T, Failure<E>> {
    match solve(memory) {
        Err(Failure::NoConvergence) if memory.newton.jacobian == Age::Old => {
            memory.newton.jacobian = Age::None;
            solve(memory)
        }
        solved => solved,
    }
}

/// Watches the corrections of one solution.
#[derive(Debug)]
pub(super) struct Convergence {
    limits: Limits,
    /// Nothing better is left to try.
    is_last_resort: bool,
    /// Corrections so far.
    pub iterations: u32,
    /// The rate of convergence `Θ`, known from the second correction on.
    pub theta: f64,
    /// `Θ/(1 − Θ)`: how much of the last correction is still to come; infinite where they do not fall.
    pub eta: f64,
    /// The correction that showed itself to be round-off, if one did.
    pub floor: Option<f64>,
    last: f64,
    /// The last two corrections as parts of those before them; zero: not known.
    quotients: [f64; 2],
}

/// When an iteration is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The error left may be this large.
    pub target: f64,
    /// Corrections that are round-off: not larger than this, and they fall by less than half of what they fell so far.
    pub round_off: f64,
    /// So many corrections and no more.
    pub iterations: u32,
}

/// What a correction says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Another one is needed.
    GoOn,
    /// It was the last.
    Converged,
    /// It does not converge, or not within the iterations allowed.
    Hopeless,
}

impl Convergence {
    /// `eta` is that of the last solution: one correction may then be enough.
    pub fn new(limits: Limits, eta: f64) -> Convergence {
        Convergence {
            limits,
            is_last_resort: false,
            iterations: 0,
            theta: 0.0,
            eta: eta.max(f64::EPSILON).powf(0.8),
            floor: None,
            last: 0.0,
            quotients: [0.0; 2],
        }
    }

    /// Of a fixed step. With the Jacobian of its start there is nothing better left to try, and no shorter step: that the first corrections fall slowly, or grow, is no verdict then.
    pub fn of_fixed_step(limits: Limits, jacobian: Age) -> Convergence {
        Convergence {
            is_last_resort: jacobian == Age::Fresh,
            ..Convergence::new(limits, 1.0)
        }
    }

    /// Judges by the norm of the correction just made.
    pub fn observe(&mut self, correction: f64) -> Progress {
        let Limits {
            mut target,
            round_off,
            iterations,
        } = self.limits;
        self.iterations += 1;
        let left = iterations.saturating_sub(self.iterations);
        if self.iterations > 1 {
            let quotient = correction / self.last;
            let [before, last] = self.quotients;
            self.quotients = [last, quotient];
            self.theta = match self.iterations {
                2 => quotient,
                _ => (quotient * last).sqrt(),
            };
            let falls = self.theta < 0.99;
            // Where every other correction falls by little, the slower of two is the rate so far.
            let stands = quotient > 0.5 * (1.0 + before.max(last)) || !falls;
            if correction <= round_off && stands {
                self.floor = Some(correction);
                return Progress::Converged;
            }
            self.eta = if falls {
                self.theta / (1.0 - self.theta)
            } else {
                f64::INFINITY
            };
            let is_hopeless = if self.is_last_resort {
                self.iterations > 2 && self.theta > GROWS
            } else {
                // What will be left after the iterations that are left.
                let expected = self.eta * correction * self.theta.powi(left as i32);
                !falls || expected > target.max(round_off)
            };
            if is_hopeless {
                return Progress::Hopeless;
            }
        }
        self.last = correction.max(f64::MIN_POSITIVE);
        if left == 0 && self.is_last_resort {
            target = target.max(round_off);
        }
        if self.eta * correction <= target {
            Progress::Converged
        } else if left == 0 || !correction.is_finite() {
            Progress::Hopeless
        } else {
            Progress::GoOn
        }
    }
}

/// Two corrections in a row that grow by more than this, on average, are taken to go on so.
const GROWS: f64 = 2.0;

/// A step may differ from that of the Newton matrices by this part: the rate of convergence is hardly worse, and
/// equal steps between equal communication points do not have equal bits.
const SAME_STEP: f64 = 1e-6;

/// Whether a step may use the matrices of another.
pub(super) fn same_step(h: f64, of_matrices: f64) -> bool {
    (h / of_matrices - 1.0).abs() <= SAME_STEP
}

/// Sees to it that the memory's Jacobian and the step of its matrices are fit for a step of length `h` from
/// `(t, x)`, where the derivative is `dx`.
pub(super) fn linearise<O: Ode + ?Sized>(
    equations: &mut Equations<O>,
    t: f64,
    (x, dx): (&[f64], &[f64]),
    h: f64,
    settings: &Settings,
    room: &mut [f64],
    memory: &mut Memory,
) -> Result<(), Failure<O::Error>> {
    if memory.newton.jacobian == Age::None {
        equations
            .jacobian(t, (x, dx), settings, room, &mut memory.jacobian)
            // What is not finite must not be remembered: a saved state would be refused.
            .inspect_err(|_| memory.jacobian.fill(0.0))?;
        memory.newton.jacobian = Age::Fresh;
        memory.newton.matrix_step = h;
        memory.watch.radius = 0.0;
    }
    if !same_step(h, memory.newton.matrix_step) {
        memory.newton.matrix_step = h;
    }
    Ok(())
}

/// From what the matrices in a workspace were made.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    jacobian: Vec<f64>,
    /// Zero: there are no matrices.
    step: f64,
}

impl Origin {
    pub fn new(n: usize) -> Origin {
        Origin {
            jacobian: vec![0.0; n * n],
            step: 0.0,
        }
    }

    /// Whether the matrices are those that the memory asks for.
    pub fn is(&self, memory: &Memory) -> bool {
        self.step.to_bits() == memory.newton.matrix_step.to_bits() && same_bits(&self.jacobian, &memory.jacobian)
    }

    /// The matrices are now those that the memory asks for.
    pub fn set(&mut self, memory: &Memory) {
        self.jacobian.copy_from_slice(&memory.jacobian);
        self.step = memory.newton.matrix_step;
    }

    /// There are no matrices.
    pub fn forget(&mut self) {
        self.step = 0.0;
    }
}
