//! Simplified Newton iterations: convergence, and reuse of the matrices.
//!
//! HW (see [`super::radau5`]) section IV.8, *Stopping Criterion*.

use super::equations::{Equations, Failure, StateAndDerivative, same_bits};
use super::memory::{Age, Memory};
use super::{Ode, Settings};

/// Solves with the stored Jacobian; if the iteration does not converge and the Jacobian is old,
/// solves again with a new one.
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

/// Monitors the convergence of one solution.
#[derive(Debug)]
pub(super) struct Convergence {
    limits: Limits,
    /// True if neither a new Jacobian nor a shorter step is available.
    is_last_resort: bool,
    /// Corrections so far.
    pub iterations: u32,
    /// Contraction rate `Θ`, known from the second correction.
    pub theta: f64,
    /// `Θ/(1 − Θ)`: error relative to the last correction; infinite without contraction.
    pub eta: f64,
    /// The correction that was round-off, if any.
    pub floor: Option<f64>,
    last: f64,
    /// Last two ratios of consecutive corrections; zero: not known.
    quotients: [f64; 2],
}

/// Stopping criterion of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Tolerance of the remaining error.
    pub target: f64,
    /// Upper bound of a correction that may be round-off. Its ratio to the previous correction must
    /// also exceed the mean of 1 and the larger of the two ratios before.
    pub round_off: f64,
    /// Maximum number of corrections.
    pub iterations: u32,
}

/// Decision after a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Another correction is needed.
    GoOn,
    /// The iteration has converged.
    Converged,
    /// The iteration diverges, or would exceed the number of corrections.
    Hopeless,
}

impl Convergence {
    /// Creates a monitor; `eta` is that of the last solution, with which one correction may
    /// suffice.
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

    /// Creates a monitor for a fixed step. With a fresh Jacobian no alternative remains, so slow or
    /// growing first corrections do not stop the iteration.
    pub fn of_fixed_step(limits: Limits, jacobian: Age) -> Convergence {
        Convergence {
            is_last_resort: jacobian == Age::Fresh,
            ..Convergence::new(limits, 1.0)
        }
    }

    /// Evaluates the norm of the last correction.
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
            // With alternating contraction the slower of two ratios counts as the rate.
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
                // Expected error after the remaining iterations.
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

/// Mean growth of two consecutive corrections that counts as divergence.
const GROWS: f64 = 2.0;

/// Relative difference of a step from that of the Newton matrices that allows reuse: the
/// contraction rate hardly changes, and equal steps between equidistant communication points are
/// not bit-identical.
const SAME_STEP: f64 = 1e-6;

/// Returns true if a step may use the matrices of another step.
pub(super) fn same_step(h: f64, of_matrices: f64) -> bool {
    (h / of_matrices - 1.0).abs() <= SAME_STEP
}

/// Updates the memory's Jacobian and the step size of its matrices, if necessary, for a step of
/// length `h` from `start` at time `t`.
pub(super) fn linearise<O: Ode + ?Sized>(
    equations: &mut Equations<O>,
    t: f64,
    start: StateAndDerivative,
    h: f64,
    settings: &Settings,
    workspace: &mut [f64],
    memory: &mut Memory,
) -> Result<(), Failure<O::Error>> {
    if memory.newton.jacobian == Age::None {
        equations
            .jacobian(t, start, settings, workspace, &mut memory.jacobian)
            // Values that are not finite must not be stored: a saved state would be rejected.
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

/// Jacobian and step size of the matrices in a workspace.
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

    /// Returns true if the matrices match the memory.
    pub fn is(&self, memory: &Memory) -> bool {
        self.step.to_bits() == memory.newton.matrix_step.to_bits() && same_bits(&self.jacobian, &memory.jacobian)
    }

    /// Records that the matrices match the memory.
    pub fn set(&mut self, memory: &Memory) {
        self.jacobian.copy_from_slice(&memory.jacobian);
        self.step = memory.newton.matrix_step;
    }

    /// Records that there are no matrices.
    pub fn forget(&mut self) {
        self.step = 0.0;
    }
}
