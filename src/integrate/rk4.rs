//! Coefficients of the classical Runge-Kutta method of order 4.
//!
//! HNW section II.1, Table 1.2, from W. Kutta, *Beitrag zur näherungsweisen Integration totaler
//! Differentialgleichungen*, Zeitschrift für Mathematik und Physik 46 (1901) 435–453. Its dense
//! output is the cubic Hermite interpolant, of order 3 (HNW section II.6).

use super::control::Control;
use super::tableau::{ErrorEstimate, Tableau};

pub(super) static TABLEAU: Tableau = Tableau {
    order: 4,
    start_order: 4,
    dense_order: 3,
    c: &[0.0, 0.5, 0.5, 1.0, 1.0],
    a: &[
        &[],
        &[(0, 0.5)],
        &[(1, 0.5)],
        &[(2, 1.0)],
        &[(0, 1.0 / 6.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0), (3, 1.0 / 6.0)],
    ],
    end: 4,
    error: ErrorEstimate::None,
    dense: &[],
    control: Control::NONE,
};
