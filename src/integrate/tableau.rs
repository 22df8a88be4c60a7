//! The form of an explicit Runge-Kutta method: a table of numbers, no algorithm.
//!
//! ```text
//!     kᵢ = f(t + cᵢ h, x₀ + h Σⱼ aᵢⱼ kⱼ)                               HNW II.1
//! ```
//!
//! The derivative at the end of the step is counted as one of the stages, number `end`, with
//! `c = 1` and `a[end] = b`, so that `x₁ = x₀ + h Σⱼ bⱼ kⱼ` is that stage's argument. It is the first
//! stage of the next step ("first same as last", FSAL), whether the method's authors use it or not.
//! The stages after `end` serve the dense output alone.

use super::control::Control;

/// The non-zero coefficients of one row, each with the number of the stage it multiplies.
pub(super) type Row = &'static [(usize, f64)];

/// An explicit Runge-Kutta method with dense output.
#[derive(Debug)]
pub(super) struct Tableau {
    /// Order of the solution at the end of the step.
    pub order: u32,
    /// Order of the dense output.
    pub dense_order: u32,
    /// Where in the step each stage lies.
    pub c: &'static [f64],
    /// How each stage's argument is made of the stages before it.
    pub a: &'static [Row],
    /// The number of the stage at the end of the step.
    pub end: usize,
    /// How the error is estimated.
    pub error: ErrorEstimate,
    /// The method's own part of the dense output; see [`super::dense`].
    pub dense: &'static [Row],
    /// The controller's constants.
    pub control: Control,
}

/// How a tableau estimates the error of a step, before multiplication by `h`.
#[derive(Debug)]
pub(super) enum ErrorEstimate {
    /// Not at all.
    None,
    /// By the difference to one embedded solution.
    Embedded(Row),
    /// By two differences, of order 5 and 3, combined as in HNW II.10.
    FifthAndThird {
        /// To the solution of order 5.
        fifth: Row,
        /// To the solution of order 3.
        third: Row,
    },
}

impl Tableau {
    /// Whether the error estimate needs the derivative at the end of the step.
    pub fn error_uses_end(&self) -> bool {
        let uses_end = |row: Row| row.iter().any(|&(j, _)| j == self.end);
        match self.error {
            ErrorEstimate::None => false,
            ErrorEstimate::Embedded(row) => uses_end(row),
            ErrorEstimate::FifthAndThird { fifth, third } => uses_end(fifth) || uses_end(third),
        }
    }
}
