use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign};
use num_traits::{One, Zero};
use std::ops::Neg;

/// Scalar type of the dynamics: `f64` for simulation, [`Dual`](super::Dual) for exact derivatives.
///
/// Constants of the model are `f64` and are [lifted](Scalar::lift) when combined with a variable.
/// Algorithms over a `Scalar` must be differentiable wherever the physics is: no `sqrt` or `atan2`
/// at zero (the derivative is NaN there), and no branch on a value unless both sides agree to first
/// order (see [`exp`](crate::algebra::exp) and [`log`](crate::algebra::log)).
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
    /// Returns the constant `value`, with zero derivatives.
    fn lift(value: f64) -> Self;

    /// Returns the value without derivatives.
    fn value(self) -> f64;

    /// Returns the square root.
    fn sqrt(self) -> Self;

    /// Returns sine and cosine of an angle in rad.
    fn sin_cos(self) -> (Self, Self);

    /// Returns the angle of the point `(x, self)`, rad.
    fn atan2(self, x: Self) -> Self;

    /// Returns the hyperbolic tangent.
    fn tanh(self) -> Self;
}

// Inlined, and bit-identical for all C libraries.
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
