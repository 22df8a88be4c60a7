//! Butcher tableau of an explicit Runge-Kutta method.
//!
//! ```text
//!     kᵢ = f(t + cᵢ h, x₀ + h Σⱼ aᵢⱼ kⱼ)                               HNW II.1
//! ```
//!
//! The derivative at the end of the step counts as a stage, number `end`, with `c = 1` and
//! `a[end] = b`, so that `x₁ = x₀ + h Σⱼ bⱼ kⱼ` is the argument of that stage. It is the first
//! stage of the next step ("first same as last", FSAL), for all methods. The stages after `end`
//! serve the dense output only.

use super::control::Control;

/// The nonzero coefficients of one row, as pairs of the stage's index and the coefficient.
pub(super) type Row = &'static [(usize, f64)];

/// An explicit Runge-Kutta method with dense output.
#[derive(Debug)]
pub(super) struct Tableau {
    /// Order of the solution at the end of the step.
    pub order: u32,
    /// Order by which the first step is selected: that of the solution or of the error estimate.
    pub start_order: u32,
    /// Order of the dense output.
    pub dense_order: u32,
    /// Nodes of the stages.
    pub c: &'static [f64],
    /// Coefficients of each stage's argument, one row for each stage.
    pub a: &'static [Row],
    /// Index of the stage that is the derivative at the end of the step.
    pub end: usize,
    /// Error estimate.
    pub error: ErrorEstimate,
    /// Coefficients of the rows (3) of [`super::dense::Dense`].
    pub dense: &'static [Row],
    /// Constants of the step size controller.
    pub control: Control,
}

/// Error estimate of a tableau, before multiplication by `h`.
#[derive(Debug)]
pub(super) enum ErrorEstimate {
    /// No estimate.
    None,
    /// Difference of the solution from one embedded solution.
    Embedded(Row),
    /// Two differences, of order 5 and 3, combined as in HNW II.10.
    FifthAndThird {
        /// Difference from the solution of order 5.
        fifth: Row,
        /// Difference from the solution of order 3.
        third: Row,
    },
}

impl Tableau {
    /// Returns true if error estimate or dense output use stages between the ends of the step.
    pub fn uses_stages(&self) -> bool {
        !matches!(self.error, ErrorEstimate::None) || !self.dense.is_empty()
    }

    /// Returns true if the error estimate needs the derivative at the end of the step.
    pub fn error_uses_end(&self) -> bool {
        let uses_end = |row: Row| row.iter().any(|&(j, _)| j == self.end);
        match self.error {
            ErrorEstimate::None => false,
            ErrorEstimate::Embedded(row) => uses_end(row),
            ErrorEstimate::FifthAndThird { fifth, third } => uses_end(fifth) || uses_end(third),
        }
    }
}
