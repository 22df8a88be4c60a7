//! Errors of a step.

use std::error::Error;
use std::fmt;

/// The reason for which a step failed. Time and state are then those of the last accepted step.
///
/// `E` is the error of the [`Ode`](super::Ode).
#[derive(Clone, Debug, PartialEq)]
pub enum IntegrateError<E> {
    /// The limit is not after the time, or one of them is not a number.
    LimitNotAhead {
        /// Start of the step.
        t: f64,
        /// Limit of the step.
        t_limit: f64,
    },
    /// The state vector does not have the length of the settings.
    WrongLength {
        /// Length in the settings.
        expected: usize,
        /// Length of the state vector.
        found: usize,
    },
    /// The initial state of the step is not finite.
    StateNotFinite {
        /// Start of the step.
        t: f64,
        /// Index of the first such state.
        component: usize,
    },
    /// The evaluations allowed in one call do not suffice for another attempt. Continuation in a
    /// new call is bit-identical to a call with a higher limit.
    WorkLimit {
        /// The time of the last accepted step.
        t_reached: f64,
        /// Evaluations done in this call.
        evaluations: u64,
    },
    /// The model reports an error at any step size.
    Derivative {
        /// Start of the step.
        t: f64,
        /// Last step size tried; zero if the derivative fails at `t` itself.
        h: f64,
        /// Error of the model.
        source: E,
    },
    /// The derivative or the new state is not finite at any step size.
    NotFinite {
        /// Start of the step.
        t: f64,
        /// Last step size tried; zero if the derivative fails at `t` itself.
        h: f64,
        /// Index of the first such component.
        component: usize,
    },
    /// The error exceeds the tolerance at any step size.
    StepTooSmall {
        /// Start of the step.
        t: f64,
        /// Last step size tried.
        h: f64,
        /// Index of the state with the largest error relative to its tolerance.
        component: usize,
        /// That error.
        error_norm: f64,
    },
    /// Newton's iteration does not solve the implicit equations: at any step size, or at the fixed
    /// one.
    NoConvergence {
        /// Start of the step.
        t: f64,
        /// Last step size tried.
        h: f64,
    },
    /// The memory does not belong to these settings.
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
    /// Returns the state that the error refers to, if any.
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
        match self {
            IntegrateError::LimitNotAhead { t, t_limit } => {
                write!(f, "cannot integrate from t = {t} to {t_limit}: not ahead")
            }
            IntegrateError::WrongLength { expected, found } => {
                write!(f, "{found} states given, {expected} expected")
            }
            IntegrateError::StateNotFinite { t, component } => {
                write!(f, "state {component} is not finite at t = {t}")
            }
            IntegrateError::WorkLimit { t_reached, evaluations } => write!(
                f,
                "work limit: t = {t_reached} reached after {evaluations} derivative evaluations \
                 (a stiff model, or a limit too low?)"
            ),
            IntegrateError::Derivative { t, h, source } => {
                write!(f, "no derivative at t = {t}, step {h:e}: {source}")
            }
            IntegrateError::NotFinite { t, h, component } => write!(
                f,
                "state {component} or its derivative is not finite at t = {t}, step {h:e}"
            ),
            IntegrateError::StepTooSmall {
                t,
                h,
                component,
                error_norm,
            } => write!(
                f,
                "step {h:e} at t = {t} is too small to go on: the error of state {component} is \
                 {error_norm:.3} times its tolerance"
            ),
            IntegrateError::NoConvergence { t, h } => write!(
                f,
                "Newton's iteration does not converge at t = {t}, step {h:e}: the step is too long, or the derivative has a jump there or is nearly singular"
            ),
            IntegrateError::WrongMemory { expected, found } => {
                write!(f, "an integrator memory of {found} numbers given, {expected} expected")
            }
            IntegrateError::NoStep => write!(f, "no accepted step to interpolate in"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> Error for IntegrateError<E> {}
