//! Coefficients of DOPRI5, the pair of order 5(4) of Dormand and Prince, with dense output of order
//! 4.
//!
//! HNW section II.5, Table 5.2, from J. R. Dormand, P. J. Prince, *A family of embedded Runge-Kutta
//! formulae*, J. Comput. Appl. Math. 6 (1980) 19–26, doi:10.1016/0771-050X(80)90013-3. The dense
//! output is that of HNW section II.6, in the nested form of Hairer and Wanner's code `dopri5.f`
//! (its constants `D1` … `D7`); the controller's constants are the defaults of that code.

use super::control::{Control, History};
use super::tableau::{ErrorEstimate, Tableau};

pub(super) static TABLEAU: Tableau = Tableau {
    order: 5,
    start_order: 5,
    dense_order: 4,
    c: &[0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0],
    a: &[
        &[],
        &[(0, 0.2)],
        &[(0, 3.0 / 40.0), (1, 9.0 / 40.0)],
        &[(0, 44.0 / 45.0), (1, -56.0 / 15.0), (2, 32.0 / 9.0)],
        &[
            (0, 19372.0 / 6561.0),
            (1, -25360.0 / 2187.0),
            (2, 64448.0 / 6561.0),
            (3, -212.0 / 729.0),
        ],
        &[
            (0, 9017.0 / 3168.0),
            (1, -355.0 / 33.0),
            (2, 46732.0 / 5247.0),
            (3, 49.0 / 176.0),
            (4, -5103.0 / 18656.0),
        ],
        &[
            (0, 35.0 / 384.0),
            (2, 500.0 / 1113.0),
            (3, 125.0 / 192.0),
            (4, -2187.0 / 6784.0),
            (5, 11.0 / 84.0),
        ],
    ],
    end: 6,
    error: ErrorEstimate::Embedded(&[
        (0, 71.0 / 57600.0),
        (2, -71.0 / 16695.0),
        (3, 71.0 / 1920.0),
        (4, -17253.0 / 339200.0),
        (5, 22.0 / 525.0),
        (6, -1.0 / 40.0),
    ]),
    dense: &[&[
        (0, -12715105075.0 / 11282082432.0),
        (2, 87487479700.0 / 32700410799.0),
        (3, -10690763975.0 / 1880347072.0),
        (4, 701980252875.0 / 199316789632.0),
        (5, -1453857185.0 / 822651844.0),
        (6, 69997945.0 / 29380423.0),
    ]],
    control: Control {
        exponent: 0.2 - 0.75 * 0.04,
        history: History::Proportional(0.04),
        safety: 0.9,
        shrink: 0.2,
        grow: 10.0,
        hold: 1.0,
        min_error: 1e-4,
    },
};
