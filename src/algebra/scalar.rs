use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign};
use num_traits::{One, Zero};
use std::ops::Neg;

/// A real number of the dynamics: `f64` to run, a [`Dual`](super::Dual) number for exact derivatives.
///
/// Constants of the model stay `f64` and are [lifted](Scalar::lift) where they meet a variable.
/// Algorithms over a `Scalar` must be differentiable wherever the physics is: no
/// `sqrt` or `atan2` at zero (the derivative is NaN there), and no branch on a value unless both
/// sides agree to first order (see [`exp`](crate::algebra::exp) and [`log`](crate::algebra::log)).
pub trait Scalar:
    nalgebra::Scalar
    + Copy
    + PartialOrd
    + Zero
    + One
    + ClosedAddAssign
    + ClosedSubAssign
    + ClosedMulAssign
    + ClosedDivAssign
    + Neg<Output = Self>
{
    /// The constant `value`: all its derivatives are zero.
    fn lift(value: f64) -> Self;

    /// The value without its derivatives.
    fn value(self) -> f64;

    /// The square root.
    fn sqrt(self) -> Self;

    /// Sine and cosine of an angle in rad.
    fn sin_cos(self) -> (Self, Self);

    /// The angle of the point `(x, self)`, rad.
    fn atan2(self, x: Self) -> Self;

    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
}

// Compiled into what calls them, and the same bits with every C library.
impl Scalar for f64 {
    #[inline(always)]
    fn lift(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn value(self) -> f64 {
        self
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        libm::sincos(self)
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        libm::atan2(self, x)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        libm::tanh(self)
    }
}
