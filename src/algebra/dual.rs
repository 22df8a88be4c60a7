use super::Scalar;
use num_traits::{One, Zero};
use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Dual number: a value with exact derivatives in `N` directions (forward-mode automatic
/// differentiation).
///
/// `x + Σ ẋₖ εₖ` with `εₖ εₗ = 0`; every operation applies the chain rule:
///
/// ```text
///     f(x + ẋ ε) = f(x) + f′(x) ẋ ε
/// ```
///
/// Comparison uses the values; equality includes the derivatives, so that a zero with a nonzero
/// derivative does not equal zero. Source: Griewank and Walther, *Evaluating Derivatives*, 2nd ed.,
/// §3.1 (`eps` are the tangents). The derivatives are plain arrays, without the tag for "no
/// derivative" of `num-dual`, whose branches cost more than the multiplications they save
/// (`docs/benchmarks.md`). Loops over the array are used, because compilers unroll them better than
/// array combinators.
///
/// ```
/// use grapple::algebra::Dual;
/// let (x, y) = (Dual::<2>::variable(5.0, 0), Dual::variable(3.0, 1));
/// let z = x * x * y;
/// assert_eq!((z.re, z.eps), (75.0, [30.0, 25.0])); // x²y, 2xy, x²
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<const N: usize> {
    /// The value.
    pub re: f64,
    /// Its derivative in each direction.
    pub eps: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// Creates a dual number from the value and its derivatives.
    #[inline(always)]
    pub fn new(re: f64, eps: [f64; N]) -> Self {
        Self { re, eps }
    }

    /// Creates the independent variable of the direction `k`, at `value`.
    ///
    /// # Panics
    /// If there is no such direction.
    pub fn variable(value: f64, k: usize) -> Self {
        let mut eps = [0.0; N];
        eps[k] = 1.0;
        Self::new(value, eps)
    }

    /// Applies a function to the dual number, given the function's value `f` and derivative `slope`
    /// at `self.re`.
    #[inline(always)]
    fn chain(self, f: f64, slope: f64) -> Self {
        let mut eps = self.eps;
        for e in &mut eps {
            *e *= slope;
        }
        Self::new(f, eps)
    }

    /// Returns the dual number with the value `re` and the derivatives `a` times those of `self`
    /// plus `b` times those of `other`.
    #[inline(always)]
    fn combine(self, a: f64, other: Self, b: f64, re: f64) -> Self {
        let mut eps = [0.0; N];
        for k in 0..N {
            eps[k] = self.eps[k] * a + other.eps[k] * b;
        }
        Self::new(re, eps)
    }
}

impl<const N: usize> Scalar for Dual<N> {
    type Constant = f64;
    type Mask = bool;

    const IS_OUTLINED: bool = N > 1;

    #[inline(always)]
    fn numbers(constants: &[f64]) -> &[f64] {
        constants
    }

    #[inline(always)]
    fn number(value: f64) -> Self {
        Self::new(value, [0.0; N])
    }

    #[inline(always)]
    fn value(self) -> f64 {
        self.re
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.re.sqrt();
        self.chain(root, 0.5 / root)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = Scalar::sin_cos(self.re);
        (self.chain(s, c), self.chain(c, -s))
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let square = self.re * self.re + x.re * x.re;
        self.combine(x.re / square, x, -self.re / square, Scalar::atan2(self.re, x.re))
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        let t = Scalar::tanh(self.re);
        self.chain(t, 1.0 - t * t)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        let e = Scalar::exp(self.re);
        self.chain(e, e)
    }

    #[inline(always)]
    fn round(self) -> Self {
        Self::lift(self.re.round())
    }

    #[inline(always)]
    fn exceeds(self, limit: f64) -> bool {
        self.re > limit
    }

    #[inline(always)]
    fn select(condition: bool, yes: Self, no: Self) -> Self {
        if condition { yes } else { no }
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        let mut eps = [0.0; N];
        for k in 0..N {
            eps[k] = self.eps[k] + b.eps[k];
        }
        Self::new(self.re + b.re, eps)
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        let mut eps = [0.0; N];
        for k in 0..N {
            eps[k] = self.eps[k] - b.eps[k];
        }
        Self::new(self.re - b.re, eps)
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        self.combine(b.re, b, self.re, self.re * b.re)
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;

    #[inline(always)]
    fn div(self, b: Self) -> Self {
        let (quotient, inverse) = (self.re / b.re, 1.0 / b.re);
        self.combine(inverse, b, -quotient * inverse, quotient)
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        let mut eps = self.eps;
        for e in &mut eps {
            *e = -*e;
        }
        Self::new(-self.re, eps)
    }
}

impl<const N: usize> AddAssign for Dual<N> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl<const N: usize> SubAssign for Dual<N> {
    #[inline(always)]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl<const N: usize> MulAssign for Dual<N> {
    #[inline(always)]
    fn mul_assign(&mut self, b: Self) {
        *self = *self * b;
    }
}

impl<const N: usize> DivAssign for Dual<N> {
    #[inline(always)]
    fn div_assign(&mut self, b: Self) {
        *self = *self / b;
    }
}

impl<const N: usize> PartialOrd for Dual<N> {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<const N: usize> Zero for Dual<N> {
    #[inline(always)]
    fn zero() -> Self {
        Self::lift(0.0)
    }

    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}

impl<const N: usize> One for Dual<N> {
    #[inline(always)]
    fn one() -> Self {
        Self::lift(1.0)
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;

    unit_tests![
        every_operation_satisfies_the_chain_rule,
        directions_are_independent,
        a_zero_with_a_derivative_is_not_zero,
    ];

    /// Returns the derivative of `f` at `x` by central differences of fourth order with the step
    /// 1e-3; the error is below 1e-11 for functions of order one.
    fn slope(f: impl Fn(f64) -> f64, x: f64) -> f64 {
        let h = 1e-3;
        (f(x - 2.0 * h) - f(x + 2.0 * h) + 8.0 * (f(x + h) - f(x - h))) / (12.0 * h)
    }

    fn every_operation_satisfies_the_chain_rule() {
        type Case = (&'static str, fn(f64) -> f64, fn(Dual<1>) -> Dual<1>);
        let cases: [Case; 10] = [
            ("+", |x| x + 2.0, |x| x + Dual::lift(2.0)),
            ("−", |x| 2.0 - x, |x| Dual::lift(2.0) - x),
            ("·", |x| x * x, |x| x * x),
            ("/", |x| (x + 2.0) / (x * x), |x| (x + Dual::lift(2.0)) / (x * x)),
            ("neg", |x| -x, |x| -x),
            ("sqrt", f64::sqrt, Scalar::sqrt),
            ("sin cos", |x| x.sin() * x.cos(), |x| x.sin_cos().0 * x.sin_cos().1),
            ("tanh", f64::tanh, Scalar::tanh),
            ("exp", f64::exp, Scalar::exp),
            ("atan2", |x| (x * x).atan2(-x), |x| (x * x).atan2(-x)),
        ];
        for (name, f, dual) in cases {
            for x in [0.9, 1.7] {
                let found = dual(Dual::variable(x, 0));
                assert!((found.re - f(x)).abs() <= 4e-16 * f(x).abs().max(1.0), "{name} at {x}");
                let off = (found.eps[0] - slope(f, x)).abs();
                assert!(off < 1e-9, "{name} at {x}: {off:e}");
            }
        }
    }

    fn directions_are_independent() {
        let (x, y) = (Dual::<2>::variable(0.3, 0), Dual::variable(1.7, 1));
        let z = x.atan2(y) / y;
        let alone = Dual::<1>::variable(0.3, 0).atan2(Dual::lift(1.7)) / Dual::lift(1.7);
        assert_eq!((z.re, z.eps[0]), (alone.re, alone.eps[0]));
    }

    fn a_zero_with_a_derivative_is_not_zero() {
        let (zero, moves) = (Dual::<1>::zero(), Dual::variable(0.0, 0));
        assert!(zero.is_zero() && !moves.is_zero() && moves != zero);
        assert_eq!(moves.partial_cmp(&zero), Some(std::cmp::Ordering::Equal));
    }
}
