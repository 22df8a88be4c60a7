//! Simplified Newton iterations: monitoring of convergence, and reuse of the matrices.
//!
//! HW (see [`super::radau5`]) section IV.8, *Stopping Criterion*.

use super::equations::{Equations, Failure, StateAndDerivative, same_bits};
use super::memory::{Age, Memory};
use super::{Ode, Settings};
use crate::algebra::integer_power;

/// Calls `solve` with the memory's Jacobian. If the iteration does not converge and the Jacobian is
/// from an earlier step, calls it again with a Jacobian to be evaluated anew.
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

/// Monitor of the convergence of one Newton iteration.
#[derive(Debug)]
pub(super) struct Convergence {
    limits: Limits,
    /// True if the step is fixed and the Jacobian is new: nothing else can be tried, so that the
    /// iteration continues even if it converges slowly.
    is_last_resort: bool,
    /// Number of corrections so far.
    pub iterations: u32,
    /// Contraction rate `Θ`; zero before the second correction.
    pub theta: f64,
    /// `Θ/(1 − Θ)`: remaining error relative to the last correction; infinite without contraction.
    pub eta: f64,
    /// Norm of the correction at which the iteration stagnated by round-off, if it did.
    pub floor: Option<f64>,
    /// Norm of the last correction.
    last: f64,
    /// Last two ratios of consecutive corrections; zero if not known yet.
    quotients: [f64; 2],
}

/// Stopping criterion of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Tolerance of the estimated remaining error.
    pub target: f64,
    /// Upper bound of a correction that may be round-off. To count as round-off, it must also
    /// stagnate: its ratio to the previous correction exceeds the mean of 1 and the larger of the
    /// two ratios before, or the contraction rate is at least 0.99.
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
    /// The iteration diverges, or would not reach the tolerance within the number of corrections.
    WillNotConverge,
}

impl Convergence {
    /// Creates a monitor. `eta` is that of the previous iteration: it estimates the error after the
    /// first correction, so that one correction may suffice. If it is infinite, two are necessary.
    pub fn new(limits: Limits, eta: f64) -> Convergence {
        Convergence {
            limits,
            is_last_resort: false,
            iterations: 0,
            theta: 0.0,
            eta: libm::pow(eta.max(f64::EPSILON), 0.8),
            floor: None,
            last: 0.0,
            quotients: [0.0; 2],
        }
    }

    /// Creates a monitor for a fixed step. With a fresh Jacobian nothing else can be tried, so that
    /// slow convergence or growth of the first corrections does not stop the iteration.
    pub fn of_fixed_step(limits: Limits, jacobian: Age) -> Convergence {
        Convergence {
            is_last_resort: jacobian == Age::Fresh,
            ..Convergence::new(limits, 1.0)
        }
    }

    /// Evaluates a correction with the norm `correction`; returns the decision.
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
            // If fast and slow contraction alternate, the larger of two ratios is the reference.
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
                // Expected error after the remaining corrections.
                let expected = self.eta * correction * integer_power(self.theta, left);
                !falls || expected > target.max(round_off)
            };
            if is_hopeless {
                return Progress::WillNotConverge;
            }
        }
        self.last = correction.max(f64::MIN_POSITIVE);
        if left == 0 && self.is_last_resort {
            target = target.max(round_off);
        }
        if self.eta * correction <= target {
            Progress::Converged
        } else if left == 0 || !correction.is_finite() {
            Progress::WillNotConverge
        } else {
            Progress::GoOn
        }
    }
}

/// Growth of the corrections, as geometric mean of two ratios, above which the iteration diverges.
const GROWS: f64 = 2.0;

/// Largest relative difference of a step length from that in the Newton matrices at which these are
/// reused: the contraction rate hardly changes. Steps between equidistant communication points are
/// equal, but not bit-identical.
const SAME_STEP: f64 = 1e-6;

/// Returns true if a step of length `h` may use Newton matrices for the length `of_matrices`.
pub(super) fn same_step(h: f64, of_matrices: f64) -> bool {
    (h / of_matrices - 1.0).abs() <= SAME_STEP
}

/// Evaluates the memory's Jacobian anew if it is invalid, and updates the step size of the matrices
/// if it differs, for a step of length `h` from `start` at the time `t`.
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
    }
    if !same_step(h, memory.newton.matrix_step) {
        memory.newton.matrix_step = h;
    }
    Ok(())
}

/// Jacobian and step size from which the factored matrices in a workspace were computed.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    jacobian: Vec<f64>,
    /// Step size; zero if there are no matrices.
    step: f64,
}

impl Origin {
    pub fn new(n: usize) -> Origin {
        Origin {
            jacobian: vec![0.0; n * n],
            step: 0.0,
        }
    }

    /// Returns true if the matrices were computed from the Jacobian and step size of the memory.
    pub fn is(&self, memory: &Memory) -> bool {
        self.step.to_bits() == memory.newton.matrix_step.to_bits() && same_bits(&self.jacobian, &memory.jacobian)
    }

    /// Records that the matrices were computed from the Jacobian and step size of the memory.
    pub fn set(&mut self, memory: &Memory) {
        self.jacobian.copy_from_slice(&memory.jacobian);
        self.step = memory.newton.matrix_step;
    }

    /// Records that there are no matrices.
    pub fn forget(&mut self) {
        self.step = 0.0;
    }
}
