//! Errors of a step.

use crate::error::instant;
use std::error::Error;
use std::fmt;

/// The reason for which a step has failed. The state is then that of the last accepted step.
///
/// `E` is the error of the [`Ode`](super::Ode).
#[derive(Clone, Debug, PartialEq)]
pub enum IntegrateError<E> {
    /// The limit of the step is not later than its start, or one of them is not a valid time.
    LimitNotAhead {
        /// Start of the step.
        t: f64,
        /// Limit of the step.
        t_limit: f64,
    },
    /// The length of the state vector differs from the number of states in the settings.
    WrongLength {
        /// Number of states in the settings.
        expected: usize,
        /// Length of the state vector.
        found: usize,
    },
    /// The initial state of the step is not finite.
    StateNotFinite {
        /// Start of the step.
        t: f64,
        /// Index of the first state that is not finite.
        component: usize,
    },
    /// The evaluations allowed in one call do not suffice for another attempt. If a new call
    /// continues the run, its results are bit-identical to those with a higher limit.
    WorkLimit {
        /// End time of the last accepted step.
        t_reached: f64,
        /// Evaluations done in this call.
        evaluations: u64,
    },
    /// The model reports an error at every step size tried; a fixed step is tried only once.
    Derivative {
        /// Start of the step.
        t: f64,
        /// Last step size tried; zero if the derivative at `t` itself has failed.
        h: f64,
        /// Error of the model.
        source: E,
    },
    /// The derivative or the new state is not finite, at every step size tried.
    NotFinite {
        /// Start of the step.
        t: f64,
        /// Last step size tried; zero if the derivative at `t` itself has failed.
        h: f64,
        /// Index of the first component that is not finite.
        component: usize,
    },
    /// The error exceeds the tolerance down to the smallest step size.
    StepTooSmall {
        /// Start of the step.
        t: f64,
        /// Last step size tried.
        h: f64,
        /// Index of the state with the largest error relative to its tolerance.
        component: usize,
        /// Its error relative to its tolerance.
        error_norm: f64,
    },
    /// Newton's iteration does not solve the implicit equations, at every step size tried; a fixed
    /// step is tried only once. Also reported if the equations have no [own step](super::OwnStep).
    NoConvergence {
        /// Start of the step.
        t: f64,
        /// Last step size tried.
        h: f64,
    },
    /// The memory belongs to other settings.
    WrongMemory {
        /// Number of values that the settings require.
        expected: usize,
        /// Number of values of the memory.
        found: usize,
    },
    /// There is no accepted step for the dense output.
    NoStep,
}

impl<E> IntegrateError<E> {
    /// Returns true if a new call may continue the run.
    pub(super) fn is_work_limit(&self) -> bool {
        matches!(self, IntegrateError::WorkLimit { .. })
    }

    /// Returns the index of the state that the error refers to, if any.
    pub fn component(&self) -> Option<usize> {
        match self {
            IntegrateError::StateNotFinite { component, .. }
            | IntegrateError::NotFinite { component, .. }
            | IntegrateError::StepTooSmall { component, .. } => Some(*component),
            IntegrateError::LimitNotAhead { .. }
            | IntegrateError::WrongLength { .. }
            | IntegrateError::WorkLimit { .. }
            | IntegrateError::Derivative { .. }
            | IntegrateError::NoConvergence { .. }
            | IntegrateError::WrongMemory { .. }
            | IntegrateError::NoStep => None,
        }
    }
}

impl<E: fmt::Display> fmt::Display for IntegrateError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |t: &f64| instant(*t);
        match self {
            IntegrateError::LimitNotAhead { t, t_limit } => {
                write!(
                    f,
                    "cannot integrate from t = {} to {}: the end is not later than the start",
                    at(t),
                    at(t_limit)
                )
            }
            IntegrateError::WrongLength { expected, found } => {
                write!(f, "{found} states given, {expected} expected")
            }
            IntegrateError::StateNotFinite { t, component } => {
                write!(f, "state {component} is not finite at t = {}", at(t))
            }
            IntegrateError::WorkLimit { t_reached, evaluations } => write!(
                f,
                "work limit: t = {} reached after {evaluations} derivative evaluations \
                 (a stiff model, or a limit too low?)",
                at(t_reached)
            ),
            IntegrateError::Derivative { t, h, source } => {
                write!(
                    f,
                    "the derivative cannot be evaluated at t = {}, step {h:.3e}: {source}",
                    at(t)
                )
            }
            IntegrateError::NotFinite { t, h, component } => write!(
                f,
                "state {component} or its derivative is not finite at t = {}, step {h:.3e}",
                at(t)
            ),
            IntegrateError::StepTooSmall {
                t,
                h,
                component,
                error_norm,
            } => write!(
                f,
                "step {h:.3e} at t = {} is too small to continue: the error of state {component} is \
                 {error_norm:.3} times its tolerance",
                at(t)
            ),
            IntegrateError::NoConvergence { t, h } => write!(
                f,
                "Newton's iteration does not converge at t = {}, step {h:.3e}: the step is too long, or the derivative has a jump there or is nearly singular",
                at(t)
            ),
            IntegrateError::WrongMemory { expected, found } => {
                write!(f, "an integrator memory of {found} numbers given, {expected} expected")
            }
            IntegrateError::NoStep => write!(f, "there is no accepted step to interpolate in"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> Error for IntegrateError<E> {}
