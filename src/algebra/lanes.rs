//! Numbers of several runs, one in each lane.

use super::scalar::apart;
use super::{Lift, Mask, Scalar};
use num_traits::{One, Zero};
use std::cmp::Ordering;
use std::f64::consts::FRAC_2_PI;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use wide::{f64x4, f64x8, u64x4, u64x8};

/// A number of each of `N` runs. Each operation has in each lane the bits of that on `f64`; NaN has any
/// payload.
///
/// Four and eight lanes are combined as vectors ([`wide`]), to which the array is aligned.
///
/// # Panics
/// [`value`](Scalar::value) and all comparisons but [`exceeds`](Scalar::exceeds) have one result for
/// all lanes; they panic if the lanes' results differ.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Lanes<const N: usize>(pub [f64; N]);

/// Condition of each lane: all bits are set where it is true.
#[derive(Clone, Copy, Debug)]
pub struct LaneMask<const N: usize>([u64; N]);

/// A number, or several that are combined as a vector.
trait Vector:
    Copy + Neg<Output = Self> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    fn root(self) -> Self;

    fn magnitude(self) -> Self;

    /// Returns the numbers with the sign reversed where that of `b` is negative.
    fn signed_by(self, b: Self) -> Self;
}

macro_rules! vector {
    ($V:ty, $signed_by:expr) => {
        impl Vector for $V {
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn signed_by(self, b: Self) -> Self {
                $signed_by(self, b)
            }
        }
    };
}
vector!(f64, |a: f64, b: f64| f64::from_bits(a.to_bits() ^ (b.to_bits() & SIGN)));
vector!(f64x4, |a, b| a ^ (b & f64x4::splat(f64::from_bits(SIGN))));
vector!(f64x8, |a, b| a ^ (b & f64x8::splat(f64::from_bits(SIGN))));

/// An operation on two numbers, or on vectors of them.
trait Operation {
    fn of<V: Vector>(a: V, b: V) -> V;
}

macro_rules! operation {
    ($Name:ident($a:ident, $b:ident) => $of:expr) => {
        struct $Name;

        impl Operation for $Name {
            #[inline(always)]
            fn of<V: Vector>($a: V, $b: V) -> V {
                $of
            }
        }
    };
}
operation!(Sum(a, b) => a + b);
operation!(Difference(a, b) => a - b);
operation!(Product(a, b) => a * b);
operation!(Quotient(a, b) => a / b);
operation!(Signed(a, b) => a.signed_by(b));
operation!(Negative(a, _b) => -a);
operation!(Magnitude(a, _b) => a.magnitude());
operation!(Root(a, _b) => a.root());

/// Returns all numbers, if there are `M`.
#[inline(always)]
fn all<T: Copy, const N: usize, const M: usize>(of: &[T; N]) -> Option<[T; M]> {
    if N == M { of.first_chunk().copied() } else { None }
}

/// Returns the numbers, of which there are `N`.
#[inline(always)]
fn resized<T: Copy + Default, const M: usize, const N: usize>(of: [T; M]) -> [T; N] {
    let mut to = [T::default(); N];
    to.copy_from_slice(&of);
    to
}

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    fn combine<O: Operation>(self, b: Self) -> Self {
        if let (Some(a), Some(b)) = (all(&self.0), all(&b.0)) {
            return Self(resized(O::of(f64x8::new(a), f64x8::new(b)).to_array()));
        }
        if let (Some(a), Some(b)) = (all(&self.0), all(&b.0)) {
            return Self(resized(O::of(f64x4::new(a), f64x4::new(b)).to_array()));
        }
        self.zip(b, |a, b| O::of(a, b))
    }

    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], b.0[i])))
    }

    #[inline(always)]
    fn mask(self, b: Self, condition: impl Fn(f64, f64) -> bool) -> LaneMask<N> {
        LaneMask(std::array::from_fn(|i| {
            if condition(self.0[i], b.0[i]) { u64::MAX } else { 0 }
        }))
    }

    /// Returns the numbers with the sign reversed where that of `b` is negative.
    #[inline(always)]
    fn signed_by(self, b: Self) -> Self {
        self.combine::<Signed>(b)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.combine::<Magnitude>(self)
    }
}

const SIGN: u64 = 1 << 63;

impl<const N: usize> Mask for LaneMask<N> {
    /// Returns true if the condition is true in any lane.
    #[inline(always)]
    fn is_needed(self) -> bool {
        self.0.iter().fold(0, |any, lane| any | lane) != 0
    }
}

impl<const N: usize> LaneMask<N> {
    #[inline(always)]
    fn is_everywhere(self) -> bool {
        self.0.iter().fold(u64::MAX, |all, lane| all & lane) != 0
    }

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|lane| !lane))
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & b.0[i]))
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | b.0[i]))
    }
}

/// Returns the result that all lanes have in common.
///
/// # Panics
/// If they differ.
#[inline(always)]
fn common<T: PartialEq + Copy, const N: usize>(results: [T; N]) -> T {
    if results.iter().any(|result| *result != results[0]) {
        differ();
    }
    results[0]
}

#[cold]
#[inline(never)]
fn differ() -> ! {
    panic!("a branch on numbers that differ between lanes");
}

impl<const N: usize> Lift<Self> for Lanes<N> {
    #[inline(always)]
    fn lifted(self) -> Self {
        self
    }
}

impl<const N: usize> Scalar for Lanes<N> {
    type Constant = Self;
    type Mask = LaneMask<N>;

    fn numbers(_: &[Self]) -> &[f64] {
        panic!("an element outside Model::runs_in_lanes reads parameters as f64");
    }

    #[inline(always)]
    fn number(value: f64) -> Self {
        Self([value; N])
    }

    #[inline(always)]
    fn value(self) -> f64 {
        f64::from_bits(common(self.0.map(f64::to_bits)))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.combine::<Root>(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        sin_cos(self)
    }

    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        self.zip(x, libm::atan2)
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        self.map(libm::tanh)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        self.map(libm::exp)
    }

    #[inline(always)]
    fn round(self) -> Self {
        self.map(f64::round)
    }

    #[inline(always)]
    fn exceeds(self, limit: f64) -> LaneMask<N> {
        if let Some(x) = all(&self.0) {
            let mask = f64x8::new(x).simd_gt(f64x8::splat(limit));
            return LaneMask(resized(mask.to_bits().to_array()));
        }
        if let Some(x) = all(&self.0) {
            let mask = f64x4::new(x).simd_gt(f64x4::splat(limit));
            return LaneMask(resized(mask.to_bits().to_array()));
        }
        self.mask(Self::number(limit), |x, limit| x > limit)
    }

    #[inline(always)]
    fn select(condition: LaneMask<N>, yes: Self, no: Self) -> Self {
        if let (Some(mask), Some(yes), Some(no)) = (all(&condition.0), all(&yes.0), all(&no.0)) {
            let mask = f64x8::from_bits(u64x8::new(mask));
            return Self(resized(mask.select(f64x8::new(yes), f64x8::new(no)).to_array()));
        }
        if let (Some(mask), Some(yes), Some(no)) = (all(&condition.0), all(&yes.0), all(&no.0)) {
            let mask = f64x4::from_bits(u64x4::new(mask));
            return Self(resized(mask.select(f64x4::new(yes), f64x4::new(no)).to_array()));
        }
        Self(std::array::from_fn(|i| {
            let mask = condition.0[i];
            f64::from_bits((yes.0[i].to_bits() & mask) | (no.0[i].to_bits() & !mask))
        }))
    }

    #[inline(always)]
    fn holds(a: Self, b: Self, condition: impl Fn(f64, f64) -> bool) -> bool {
        a.mask(b, condition).is_everywhere()
    }

    #[inline(always)]
    fn branch<const M: usize>(
        a: Self,
        b: Self,
        condition: impl Fn(f64, f64) -> bool,
        yes: impl FnOnce() -> [Self; M],
        no: impl FnOnce() -> [Self; M],
    ) -> [Self; M] {
        let mask = a.mask(b, condition);
        if mask.is_everywhere() {
            return yes();
        }
        let no = no();
        if !mask.is_needed() {
            return no;
        }
        let yes = yes();
        std::array::from_fn(|i| Self::select(mask, yes[i], no[i]))
    }
}

/// First 33 bits of π/2, and the rest.
const HALF_PI: [f64; 2] = [
    f64::from_bits(0x3FF9_21FB_5440_0000),
    f64::from_bits(0x3DD0_B461_1A62_6331),
];
/// Coefficients of `sin x` beyond `x`, in powers of `x²` (FreeBSD's `k_sin.c`).
#[expect(clippy::excessive_precision, reason = "as in the source")]
const SINE: [f64; 6] = [
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
];
/// Coefficients of `cos x` beyond `1 − ½ x²`, in powers of `x²` (FreeBSD's `k_cos.c`).
#[expect(clippy::excessive_precision, reason = "as in the source")]
const COSINE: [f64; 6] = [
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
];

/// A sum with this number is rounded to an integer, which its lowest bits have.
const TO_INTEGER: f64 = 1.5 / f64::EPSILON;

/// Returns sine and cosine with the bits of `libm::sincos`: without branches, except for arguments
/// that `libm` may reduce in more than one round. These lanes are left to it.
///
/// Up to 9π/4 `libm` reduces an argument in one round, except where it has the high word of a multiple
/// of π/2: if it is nearer than 7.7e-6 to a multiple. Beyond, it does so if 16 bits at most cancel, and
/// finds the multiple by rounding.
#[inline(never)]
fn sin_cos<const N: usize>(x: Lanes<N>) -> (Lanes<N>, Lanes<N>) {
    let (zero, one, to_integer) = (Lanes::zero(), Lanes::<N>::one(), Lanes::number(TO_INTEGER));
    let a = x.abs();
    // libm compares high words: with the largest number that has the high word of the limit.
    let limit = |high: u64| f64::from_bits((high << 32) | 0xffff_ffff);
    let exceeds = |high: u64| a.exceeds(limit(high));
    let step = |high: u64| Lanes::select(exceeds(high), one, zero);
    let first = exceeds(0x3fe9_21fb);
    let few = step(0x3fe9_21fb) + step(0x4002_d97c) + (step(0x400f_6a7a) + step(0x4015_fdbc));
    let is_far = exceeds(0x401c_463b);
    let rounded = Lanes::select(is_far, a * FRAC_2_PI, few) + to_integer;
    let n = rounded - to_integer;
    let (z, w) = (a - n * HALF_PI[0], n * HALF_PI[1]);
    let y = z - w;
    let rest = z - y - w;
    let least = Lanes::select(is_far, a * (1.0 / 65536.0), Lanes::number(7.7e-6));
    let in_one_round = y
        .abs()
        .mask(least, |y, least| y > least)
        .and(exceeds(0x4139_21fa).not());
    let is_small = a.mask(Lanes::number(limit(0x3fe9_21fb)), |a, limit| a <= limit);
    let slow = is_small.or(in_one_round).not();
    let (s, c) = (reduced_sine(y, rest, first), reduced_cosine(y, rest));
    // Quadrants 1 and 3 exchange sine and cosine; 2 and 3 have a negative sine, 1 and 2 a negative
    // cosine.
    let is_odd = LaneMask(rounded.0.map(|n| (n.to_bits() & 1).wrapping_neg()));
    let sign = |of: u64| f64::from_bits((of & 2) << 62);
    let mut sine = Lanes::select(is_odd, c, s)
        .signed_by(rounded.map(|n| sign(n.to_bits())))
        .signed_by(x);
    let mut cosine = Lanes::select(is_odd, s, c).signed_by(rounded.map(|n| sign(n.to_bits() + 1)));
    if slow.is_needed() {
        (sine, cosine) = apart(|| {
            let each = x.0.map(libm::sincos);
            (
                Lanes::select(slow, Lanes(each.map(|of| of.0)), sine),
                Lanes::select(slow, Lanes(each.map(|of| of.1)), cosine),
            )
        });
    }
    (sine, cosine)
}

/// Returns the sine of `x + y` up to π/4, in the order of `k_sin`, which differs for arguments that
/// are reduced.
#[inline(always)]
fn reduced_sine<const N: usize>(x: Lanes<N>, y: Lanes<N>, is_reduced: LaneMask<N>) -> Lanes<N> {
    let k = Lanes::<N>::number;
    let z = x * x;
    let w = z * z;
    let r = k(SINE[1]) + z * (k(SINE[2]) + z * k(SINE[3])) + z * w * (k(SINE[4]) + z * k(SINE[5]));
    let v = z * x;
    let plain = x + v * (k(SINE[0]) + z * r);
    let reduced = x - (z * (k(0.5) * y - v * r) - y - v * k(SINE[0]));
    Lanes::select(is_reduced, reduced, plain)
}

/// Returns the cosine of `x + y` up to π/4, in the order of `k_cos`.
#[inline(always)]
fn reduced_cosine<const N: usize>(x: Lanes<N>, y: Lanes<N>) -> Lanes<N> {
    let k = Lanes::<N>::number;
    let z = x * x;
    let w = z * z;
    let r = z * (k(COSINE[0]) + z * (k(COSINE[1]) + z * k(COSINE[2])))
        + w * w * (k(COSINE[3]) + z * (k(COSINE[4]) + z * k(COSINE[5])));
    let half = k(0.5) * z;
    let w = k(1.0) - half;
    w + (k(1.0) - w - half + (z * r - x * y))
}

macro_rules! operator {
    ($Name:ident $Op:ident $op:ident $Assign:ident $assign:ident) => {
        impl<const N: usize> $Op for Lanes<N> {
            type Output = Self;

            #[inline(always)]
            fn $op(self, b: Self) -> Self {
                self.combine::<$Name>(b)
            }
        }

        impl<const N: usize> $Assign for Lanes<N> {
            #[inline(always)]
            fn $assign(&mut self, b: Self) {
                *self = self.combine::<$Name>(b);
            }
        }
    };
}
operator!(Sum Add add AddAssign add_assign);
operator!(Difference Sub sub SubAssign sub_assign);
operator!(Product Mul mul MulAssign mul_assign);
operator!(Quotient Div div DivAssign div_assign);

impl<const N: usize> Mul<f64> for Lanes<N> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, b: f64) -> Self {
        self * Self::number(b)
    }
}

impl<const N: usize> Neg for Lanes<N> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.combine::<Negative>(self)
    }
}

impl<const N: usize> PartialEq for Lanes<N> {
    #[inline(always)]
    fn eq(&self, b: &Self) -> bool {
        common(std::array::from_fn::<_, N, _>(|i| self.0[i] == b.0[i]))
    }
}

impl<const N: usize> PartialOrd for Lanes<N> {
    #[inline(always)]
    fn partial_cmp(&self, b: &Self) -> Option<Ordering> {
        common(std::array::from_fn::<_, N, _>(|i| self.0[i].partial_cmp(&b.0[i])))
    }
}

impl<const N: usize> Zero for Lanes<N> {
    #[inline(always)]
    fn zero() -> Self {
        Self([0.0; N])
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}

impl<const N: usize> One for Lanes<N> {
    #[inline(always)]
    fn one() -> Self {
        Self([1.0; N])
    }
}
