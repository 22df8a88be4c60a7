//! Coefficients of the pair of order 3(2) of Bogacki and Shampine.
//!
//! P. Bogacki, L. F. Shampine, *A 3(2) pair of Runge-Kutta formulas*, Appl. Math. Lett. 2 (1989)
//! 321–325, doi:10.1016/0893-9659(89)90079-7. Its error estimate uses the derivative at the end of
//! the step, and its dense output is the cubic Hermite interpolant, of order 3 (HNW section II.6).
//! On the real axis it is stable for `−2.51 ≤ h λ`, on the imaginary axis for `h |λ| ≤ √3`.

use super::control::{Control, History};
use super::tableau::{ErrorEstimate, Tableau};

pub(super) static TABLEAU: Tableau = Tableau {
    order: 3,
    start_order: 2,
    dense_order: 3,
    c: &[0.0, 0.5, 0.75, 1.0],
    a: &[
        &[],
        &[(0, 0.5)],
        &[(1, 0.75)],
        &[(0, 2.0 / 9.0), (1, 1.0 / 3.0), (2, 4.0 / 9.0)],
    ],
    end: 3,
    error: ErrorEstimate::Embedded(&[(0, -5.0 / 72.0), (1, 1.0 / 12.0), (2, 1.0 / 9.0), (3, -1.0 / 8.0)]),
    dense: &[],
    // As for DOPRI5, with the exponents of this order.
    control: Control {
        exponent: 1.0 / 3.0 - 0.75 * 0.04,
        history: History::Proportional(0.04),
        safety: 0.9,
        shrink: 0.2,
        grow: 10.0,
        hold: 1.0,
        min_error: 1e-4,
    },
};
