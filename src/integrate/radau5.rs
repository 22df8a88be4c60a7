//! Coefficients of RADAU5: the Radau IIA method of order 5 with three stages.
//!
//! Cited as HW: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II. Stiff and
//! Differential-Algebraic Problems*, 2nd edition, Springer 1996, doi:10.1007/978-3-642-05221-7;
//! section IV.5, Table 5.6, and section IV.8. The digits of `T` and its inverse are those of Hairer
//! and Wanner's code `radau5.f`, rounded once to the nearest double. The tests check that the
//! matrix `A` of the method, computed by (1) from these coefficients, satisfies the simplifying
//! conditions.

use super::control::{Control, History};

/// Nodes `c`: `(4 − √6)/10`, `(4 + √6)/10`, 1.
pub(super) const C: [f64; 3] = [0.1550510257216822, 0.6449489742783178, 1.0];

/// The real eigenvalue of `A⁻¹`: `3 + ∛9 − ∛3`.
pub(super) const GAMMA: f64 = 3.637834252744496;

/// Real part of the complex eigenvalues `α ± iβ` of `A⁻¹`: `α = 3 + (∛3 − ∛9)/2`.
pub(super) const ALPHA: f64 = 2.6810828736277523;

/// Imaginary part of the complex eigenvalues of `A⁻¹`: `β = (3^⅚ + 3^(7/6))/2`.
pub(super) const BETA: f64 = 3.0504301992474105;

/// Transformation to the eigenspaces:
///
/// ```text
///                ⎡ γ  0  0 ⎤
///     T⁻¹A⁻¹T =  ⎢ 0  α −β ⎥                                                      (1)   HW IV.8
///                ⎣ 0  β  α ⎦
/// ```
pub(super) const T: [[f64; 3]; 3] = [
    [0.09123239487089295, -0.1412552950209542, -0.030029194105147424],
    [0.241717932707107, 0.20412935229379994, 0.3829421127572619],
    [0.966048182615093, 1.0, 0.0],
];

/// The inverse of [`T`].
pub(super) const T_INVERSE: [[f64; 3]; 3] = [
    [4.325579890063155, 0.33919925181580984, 0.5417705399358749],
    [-4.178718591551905, -0.32768282076106237, 0.47662355450055044],
    [-0.5028726349457868, 2.571926949855605, -0.5960392048282249],
];

/// Weights of the stages in the error estimate, divided by `γ₀ = 1/γ`:
/// `(−13 − 7√6, −13 + 7√6, −1)/3`.
pub(super) const ERROR: [f64; 3] = [-10.048809399827416, 1.382142733160749, -1.0 / 3.0];

/// Order of the error estimate, 3, plus one.
const ESTIMATE: f64 = 4.0;

/// Constants of the step size controller, from `radau5.f`.
pub(super) static CONTROL: Control = Control {
    exponent: 1.0 / ESTIMATE,
    history: History::Predictive,
    safety: 0.9,
    shrink: 0.2,
    grow: 8.0,
    hold: 1.2,
    min_error: 1e-2,
};
