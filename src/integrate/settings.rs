//! Settings of the integrator.

use std::error::Error;
use std::fmt;

use super::method::Method;

/// Settings of the integrator; constant for a [`Stepper`](super::Stepper).
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub(super) method: Method,
    pub(super) relative_tolerance: f64,
    pub(super) absolute_tolerance: Vec<f64>,
    pub(super) h_max: f64,
    pub(super) initial_step: Option<f64>,
    pub(super) max_evaluations: u64,
    pub(super) follows: bool,
}

impl Settings {
    /// Default of [`with_max_evaluations`](Self::with_max_evaluations).
    pub const DEFAULT_MAX_EVALUATIONS: u64 = 1_000_000;

    /// Smallest relative tolerance: below it the error estimate is round-off.
    pub const MIN_RELATIVE_TOLERANCE: f64 = 10.0 * f64::EPSILON;

    /// Largest relative tolerance: beyond it error control is meaningless.
    pub const MAX_RELATIVE_TOLERANCE: f64 = 0.5;

    /// Creates settings for as many states as nominal values.
    ///
    /// The tolerance of state `i` is absolute below the magnitude `nominal[i]` and relative above
    /// it: its absolute tolerance is `relative_tolerance * |nominal[i]|`. A step is accepted if,
    /// for every `i`,
    ///
    /// ```text
    ///     |errorᵢ| ≤ absᵢ + rel · max(|x₀ᵢ|, |x₁ᵢ|)                     HNW II.4 (4.10)
    /// ```
    ///
    /// with the error estimate of the method ([`Method::Radau5`] scales the tolerance).
    ///
    /// # Errors
    ///
    /// If the tolerance is not in `MIN_RELATIVE_TOLERANCE ..= MAX_RELATIVE_TOLERANCE`, a nominal
    /// value is zero or not finite (or its product with the tolerance underflows), or a fixed step
    /// is not positive.
    pub fn new(method: Method, relative_tolerance: f64, nominal: &[f64]) -> Result<Settings, SettingsError> {
        if !(Self::MIN_RELATIVE_TOLERANCE..=Self::MAX_RELATIVE_TOLERANCE).contains(&relative_tolerance) {
            return Err(SettingsError::RelativeTolerance(relative_tolerance));
        }
        if let Some(step) = method.fixed_step() {
            positive("fixed step", step)?;
        }
        let absolute_tolerance: Vec<f64> = nominal.iter().map(|x| relative_tolerance * x.abs()).collect();
        let refused = |a: &f64| !(a.is_finite() && *a >= f64::MIN_POSITIVE);
        if let Some(component) = absolute_tolerance.iter().position(refused) {
            return Err(SettingsError::Nominal {
                component,
                value: nominal[component],
            });
        }
        Ok(Settings {
            method,
            relative_tolerance,
            absolute_tolerance,
            h_max: f64::INFINITY,
            initial_step: None,
            max_evaluations: Self::DEFAULT_MAX_EVALUATIONS,
            follows: false,
        })
    }

    /// Sets the maximum step length, which a step may exceed by 1 % to end on its limit. Infinite
    /// by default.
    ///
    /// # Errors
    ///
    /// If `h_max` is not positive.
    pub fn with_h_max(mut self, h_max: f64) -> Result<Settings, SettingsError> {
        if h_max != f64::INFINITY {
            positive("longest step", h_max)?;
        }
        self.h_max = h_max;
        Ok(self)
    }

    /// Sets the first trial step of an adaptive method; by default it is computed from the
    /// equations.
    ///
    /// # Errors
    ///
    /// If `initial_step` is not positive and finite.
    pub fn with_initial_step(mut self, initial_step: f64) -> Result<Settings, SettingsError> {
        positive("initial step", initial_step)?;
        self.initial_step = Some(initial_step);
        Ok(self)
    }

    /// Sets the number of derivative evaluations allowed in one call, that is, from one
    /// [`begin_call`](super::Stepper::begin_call) to the next.
    #[must_use]
    pub fn with_max_evaluations(mut self, max_evaluations: u64) -> Settings {
        self.max_evaluations = max_evaluations;
        self
    }

    /// Makes the results a smooth function of the start if each step is the one that another run
    /// has taken ([`Memory::follow`](super::Memory::follow)): no error estimate rejects a step, and
    /// RADAU5 iterates to round-off, as the other implicit methods always do.
    #[must_use]
    pub fn following(mut self) -> Settings {
        self.follows = true;
        self
    }

    /// Returns true if a step with this error norm, never NaN, is accepted.
    pub(super) fn accepts(&self, norm: f64) -> bool {
        norm <= 1.0 || self.follows
    }

    /// Returns the number of derivative evaluations allowed in one call, as of
    /// [`with_max_evaluations`](Self::with_max_evaluations).
    pub fn max_evaluations(&self) -> u64 {
        self.max_evaluations
    }

    /// Returns these settings for no states.
    pub(super) fn without_states(&self) -> Settings {
        Settings {
            absolute_tolerance: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Returns the number of states.
    pub fn n_states(&self) -> usize {
        self.absolute_tolerance.len()
    }

    /// Returns the relative tolerance, equal for all states.
    pub fn relative_tolerance(&self) -> f64 {
        self.relative_tolerance
    }

    /// Returns the absolute tolerance of each state, in its own unit.
    pub fn absolute_tolerance(&self) -> &[f64] {
        &self.absolute_tolerance
    }

    /// Returns the magnitude of a state below which its tolerance is absolute.
    pub(super) fn nominal(&self, component: usize) -> f64 {
        self.absolute_tolerance[component] / self.relative_tolerance
    }

    /// Computes the tolerance of each state in a step from `x0` to `x1`: `absᵢ + rel · max(|x₀ᵢ|,
    /// |x₁ᵢ|)`.
    pub(super) fn scale(&self, x0: &[f64], x1: &[f64], scale: &mut [f64]) {
        let both = x0.iter().zip(x1);
        for ((sc, abs), (x0, x1)) in scale.iter_mut().zip(&self.absolute_tolerance).zip(both) {
            *sc = abs + self.relative_tolerance * x0.abs().max(x1.abs());
        }
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), SettingsError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(SettingsError::NotPositive { name, value })
    }
}

/// The reason for which settings are invalid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingsError {
    /// The relative tolerance is out of range.
    RelativeTolerance(f64),
    /// A nominal value gives no usable absolute tolerance: it is zero, not finite or too small.
    Nominal {
        /// Index of the state.
        component: usize,
        /// Its nominal value.
        value: f64,
    },
    /// A step length is not positive and finite.
    NotPositive {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::RelativeTolerance(value) => write!(
                f,
                "relative tolerance {value:e} is not between {:e} and {}",
                Settings::MIN_RELATIVE_TOLERANCE,
                Settings::MAX_RELATIVE_TOLERANCE
            ),
            SettingsError::Nominal { component, value } => write!(
                f,
                "nominal value {value:e} of state {component} gives no usable absolute tolerance"
            ),
            SettingsError::NotPositive { name, value } => {
                write!(f, "{name} {value:e} is not positive and finite")
            }
        }
    }
}

impl Error for SettingsError {}
