//! The closed list of methods.

use super::tableau::Tableau;
use super::{dop853, dopri5, rk4};

/// How a step is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Dormand and Prince's pair of order 5(4): the default for moderate accuracy (1e-3 … 1e-8).
    Dopri5,
    /// Dormand and Prince's method of order 8 with estimators of order 5 and 3: for smooth problems and
    /// high accuracy (1e-7 … 1e-13).
    Dop853,
    /// The classical method of order 4 with a fixed step: the work per second is known beforehand.
    ///
    /// No error is estimated and the tolerances are not read. The way to the limit is divided into equal
    /// steps no longer than `step`, so a `step` that divides the communication interval is taken as it is.
    Rk4 {
        /// The longest step, in units of `t`.
        step: f64,
    },
}

impl Method {
    /// The name used in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Dopri5 => "dopri5",
            Method::Dop853 => "dop853",
            Method::Rk4 { .. } => "rk4",
        }
    }

    /// Order `p` of the solution at the end of a step: the error of one step is O(hᵖ⁺¹).
    pub fn order(&self) -> u32 {
        self.tableau().order
    }

    /// Order `q` of the dense output: its error inside a step that starts exactly is O(hᵠ⁺¹).
    pub fn dense_order(&self) -> u32 {
        self.tableau().dense_order
    }

    /// The fixed step, or `None` for an adaptive method.
    pub fn fixed_step(&self) -> Option<f64> {
        match self {
            Method::Dopri5 | Method::Dop853 => None,
            Method::Rk4 { step } => Some(*step),
        }
    }

    pub(super) fn tableau(&self) -> &'static Tableau {
        match self {
            Method::Dopri5 => &dopri5::TABLEAU,
            Method::Dop853 => &dop853::TABLEAU,
            Method::Rk4 { .. } => &rk4::TABLEAU,
        }
    }
}
