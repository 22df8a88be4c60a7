//! Why a step could not be taken.

use std::error::Error;
use std::fmt;

/// Why a step could not be taken. Time and state then are those of the last accepted step.
///
/// `E` is the error of the [`Ode`](super::Ode).
#[derive(Clone, Debug, PartialEq)]
pub enum IntegrateError<E> {
    /// The limit is not after the time, or one of them is not a number.
    LimitNotAhead {
        /// Where the step starts.
        t: f64,
        /// Where it must not pass.
        t_limit: f64,
    },
    /// A vector of states has another length than the settings.
    WrongLength {
        /// What the settings say.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// The state from which to step is not finite.
    StateNotFinite {
        /// Where the step starts.
        t: f64,
        /// Index of the first such state.
        component: usize,
    },
    /// The evaluations allowed in one call do not suffice for another attempt. Continuing in a
    /// new call gives the same bits as a call with a higher limit.
    WorkLimit {
        /// The time of the last accepted step.
        t_reached: f64,
        /// Evaluations done in this call.
        evaluations: u64,
    },
    /// The model has no derivative, however small the step.
    Derivative {
        /// Where the step starts.
        t: f64,
        /// The last step tried; zero when the derivative fails at `t` itself.
        h: f64,
        /// What the model says.
        source: E,
    },
    /// The derivative or the new state is not finite, however small the step.
    NotFinite {
        /// Where the step starts.
        t: f64,
        /// The last step tried; zero when the derivative fails at `t` itself.
        h: f64,
        /// Index of the first such component.
        component: usize,
    },
    /// The error stays above the tolerance, however small the step.
    StepTooSmall {
        /// Where the step starts.
        t: f64,
        /// The last step tried.
        h: f64,
        /// Index of the state with the largest error in units of its tolerance.
        component: usize,
        /// That error.
        error_norm: f64,
    },
    /// Newton's iteration does not solve the implicit equations of the step: however small the step, or of a fixed step.
    NoConvergence {
        /// Where the step starts.
        t: f64,
        /// The last step tried.
        h: f64,
    },
    /// The memory is not of these settings.
    WrongMemory {
        /// As many numbers as the settings ask for.
        expected: usize,
        /// As many as it has.
        found: usize,
    },
    /// There is no accepted step whose inside could be asked for.
    NoStep,
}

impl<E> IntegrateError<E> {
    /// The state to blame, where there is one.
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
