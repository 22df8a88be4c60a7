use nalgebra::RealField;
use num_dual::DualSVec64;

/// A real number of the dynamics: `f64` to run, a [`Dual`] number for exact derivatives.
///
/// Constants of the model stay `f64` and are [lifted](Scalar::lift) where they meet a variable.
/// Algorithms over a `Scalar` must be differentiable wherever the physics is: no `norm()`,
/// `sqrt` or `atan2` at zero (the derivative is NaN there), and no branch on a value unless both
/// sides agree to first order (see [`exp`](crate::algebra::exp) and [`log`](crate::algebra::log)).
pub trait Scalar: RealField + Copy {
    /// The constant `value`: all its derivatives are zero.
    fn lift(value: f64) -> Self;

    /// The value without its derivatives.
    fn value(self) -> f64;
}

impl Scalar for f64 {
    #[inline(always)]
    fn lift(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
}

/// A number with its exact derivatives in `N` directions.
///
/// Keep `N` small (at most 8): the cost per direction grows when the numbers leave the cache.
pub type Dual<const N: usize> = DualSVec64<N>;

impl<const N: usize> Scalar for Dual<N> {
    #[inline(always)]
    fn lift(value: f64) -> Self {
        Self::from_re(value)
    }

    #[inline(always)]
    fn value(self) -> f64 {
        self.re
    }
}
