use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign};
use num_traits::{One, Zero};
use std::ops::{Mul, Neg};

/// Condition of a [`select`](Scalar::select): a `bool`, the dependencies of the condition, or a
/// condition of each lane.
pub trait Mask: Copy {
    /// Returns true if the value for a true condition has to be computed: for a `bool` if it is
    /// true, for [`Traced`](super::Traced) always, because it records both sides, for
    /// [`Lanes`](super::Lanes) if it is true in any lane.
    fn is_needed(self) -> bool;
}

impl Mask for bool {
    #[inline(always)]
    fn is_needed(self) -> bool {
        self
    }
}

/// A number or a constant of the model that can be combined with variables of the type `S`.
pub trait Lift<S>: nalgebra::Scalar + Copy {
    /// Returns the value as an `S`, with zero derivatives.
    fn lifted(self) -> S;
}

impl<S: Scalar> Lift<S> for f64 {
    #[inline(always)]
    fn lifted(self) -> S {
        S::number(self)
    }
}

/// Scalar type of the dynamics: `f64` for simulation, [`Dual`](super::Dual) for exact derivatives,
/// [`Recorded`](super::Recorded) for adjoint derivatives, [`Traced`](super::Traced) for
/// dependencies, [`Lanes`](super::Lanes) for several runs at once.
///
/// Constants of the model have the type [`Constant`](Scalar::Constant): [`Lanes`](super::Lanes) for
/// several runs, `f64` for the other types. They and numbers are [lifted](Scalar::lift) when combined
/// with a variable.
/// Algorithms over a `Scalar` must be differentiable wherever the physics is: no `sqrt` or `atan2`
/// at zero (the derivative is NaN there), and no branch on a value, unless both sides depend on the
/// same variables and agree to first order (see [`exp`](crate::algebra::exp) and
/// [`log`](crate::algebra::log)). Elsewhere use [`select`](Scalar::select) in place of a branch.
/// Code that runs in lanes branches by [`holds`](Scalar::holds) and [`branch`](Scalar::branch), since
/// [`value`](Scalar::value) is not defined for lanes that differ.
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
    /// Type of the model's constants that are combined with numbers of this type: the values of the
    /// parameters, and what is computed from them.
    type Constant: Scalar<Constant = Self::Constant> + Lift<Self> + Mul<f64, Output = Self::Constant>;

    /// Type of the result of a comparison.
    type Mask: Mask;

    /// True if the larger operations on vectors and matrices are not inlined, because
    /// those on numbers take many instructions: an operation then has one copy of its code, in place
    /// of one in each of its callers.
    const IS_OUTLINED: bool = false;

    /// True if [`sum_of_products`](Self::sum_of_products) is less work than its operations one by one.
    const FUSES: bool = false;

    /// Returns the sum of the products `k a b` of up to six terms `(a, b, k)`.
    fn sum_of_products<const N: usize>(terms: [(Self, Self, f64); N]) -> Self {
        terms
            .into_iter()
            .fold(Self::zero(), |sum, (a, b, k)| sum + a * b * Self::lift(k))
    }

    /// Returns `value`, a function of numbers with these partial derivatives, to first order. The
    /// iterator may not compute with numbers of this type.
    fn with_partials(value: f64, terms: impl Iterator<Item = (Self, f64)>) -> Self {
        terms.fold(Self::lift(value), |sum, (x, partial)| {
            sum + (x - Self::lift(x.value())) * Self::lift(partial)
        })
    }

    /// Returns constants of the model as numbers, for elements that are evaluated with numbers only.
    ///
    /// # Panics
    /// If the type's constants are not numbers.
    fn numbers(constants: &[Self::Constant]) -> &[f64];

    /// Returns the number `value`, with zero derivatives.
    fn number(value: f64) -> Self;

    /// Returns the number or the constant of the model `value`, with zero derivatives.
    #[inline(always)]
    fn lift(value: impl Lift<Self>) -> Self {
        value.lifted()
    }

    /// Returns the value without derivatives.
    ///
    /// # Panics
    /// If lanes differ.
    fn value(self) -> f64;

    /// Returns true if the condition holds for the values of `a` and `b`, in all lanes: only for
    /// conditions whose failure is an error of all lanes.
    #[inline(always)]
    fn holds(a: Self, b: Self, condition: impl Fn(f64, f64) -> bool) -> bool {
        condition(a.value(), b.value())
    }

    /// Returns `yes` if the condition holds for the values of `a` and `b`, else `no`. If lanes differ,
    /// both are evaluated, and each lane has its own. [`Traced`](super::Traced) records the branch taken
    /// only: both have to depend on the same variables.
    #[inline(always)]
    fn branch<const M: usize>(
        a: Self,
        b: Self,
        condition: impl Fn(f64, f64) -> bool,
        yes: impl FnOnce() -> [Self; M],
        no: impl FnOnce() -> [Self; M],
    ) -> [Self; M] {
        if condition(a.value(), b.value()) { yes() } else { no() }
    }

    /// Returns the square root.
    fn sqrt(self) -> Self;

    /// Returns sine and cosine of an angle in rad.
    fn sin_cos(self) -> (Self, Self);

    /// Returns the polar angle of the point with the abscissa `x` and the ordinate `self`, rad.
    fn atan2(self, x: Self) -> Self;

    /// Returns the hyperbolic tangent.
    fn tanh(self) -> Self;

    /// Returns the exponential function.
    fn exp(self) -> Self;

    /// Returns the nearest integer; its derivative is zero.
    fn round(self) -> Self;

    /// Returns the condition that the value exceeds `limit`.
    fn exceeds(self, limit: f64) -> Self::Mask;

    /// Returns `yes` where the condition holds, else `no`.
    fn select(condition: Self::Mask, yes: Self, no: Self) -> Self;
}

/// Evaluates the body of a function over the scalar `$S`: in a function of its own if
/// [`Scalar::IS_OUTLINED`]. The result is the same.
macro_rules! outlined {
    ($S:ty, $body:expr) => {
        if <$S as $crate::algebra::Scalar>::IS_OUTLINED {
            $crate::algebra::scalar::apart(|| $body)
        } else {
            $body
        }
    };
}
pub(crate) use outlined;

/// Calls `work` in a function of its own.
#[inline(never)]
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

// The functions of `libm` can be inlined, and do not depend on the platform's C library.
impl Scalar for f64 {
    type Constant = f64;
    type Mask = bool;

    #[inline(always)]
    fn numbers(constants: &[f64]) -> &[f64] {
        constants
    }

    #[inline(always)]
    fn number(value: f64) -> Self {
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

    #[inline(always)]
    fn exp(self) -> Self {
        libm::exp(self)
    }

    #[inline(always)]
    fn round(self) -> Self {
        self.round()
    }

    #[inline(always)]
    fn exceeds(self, limit: f64) -> bool {
        self > limit
    }

    #[inline(always)]
    fn select(condition: bool, yes: Self, no: Self) -> Self {
        if condition { yes } else { no }
    }
}
