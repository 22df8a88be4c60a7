use super::{Mask, Scalar};
use num_traits::{One, Zero};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Number with the set of variables on which it depends; each operation unites the sets of its
/// operands. A second set contains the variables whose factor (partial derivative) may vary: those
/// that enter by other operations than sums, differences and products with [`One::one`]. The factor
/// of every other variable is constant.
///
/// Sets depend on the operations, not on values: a [lifted](Scalar::lift) constant that is zero is
/// treated like any other constant, because a parameter may change. Only [`Zero::zero`] is zero for
/// all parameters; its products depend on no variable. A cancellation is not recognised (`x − x`
/// depends on `x`), so the set may be too large, never too small, except behind a branch on
/// [`value`](Scalar::value); [`select`](Scalar::select) unites both sides.
///
/// A set is stored as an index into a list of bit sets, the thread's arena, which
/// [`reset`](Self::reset) empties.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    value: f64,
    set: u32,
    /// Set of the variables whose factor may vary.
    varying: u32,
}

/// Index of the empty set, of a number that is zero for all values of the parameters.
const ALWAYS_ZERO: u32 = 0;
/// Index of the empty set, of an integer: a sum or product of ones, independent of the parameters.
const INTEGER: u32 = 1;
/// Index of the empty set, of any other constant.
const CONSTANT: u32 = 2;

/// Bit sets of one analysis; equal nonempty sets have equal indices.
#[derive(Default)]
struct Arena {
    sets: Vec<Box<[u64]>>,
    numbers: HashMap<Box<[u64]>, u32>,
    unions: HashMap<(u32, u32), u32>,
}

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::default();
}

impl Arena {
    fn number(&mut self, set: Box<[u64]>) -> u32 {
        *self.numbers.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            self.sets.len() as u32 - 1
        })
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let words = self.sets[a as usize].iter().zip(&*self.sets[b as usize]);
        let both = words.map(|(a, b)| a | b).collect();
        let number = self.number(both);
        self.unions.insert(key, number);
        number
    }
}

impl Traced {
    /// Empties the thread's arena and provides for up to `variables` variables; earlier numbers
    /// that depend on variables become invalid.
    pub fn reset(variables: usize) {
        ARENA.with_borrow_mut(|arena| {
            *arena = Arena::default();
            let none = vec![0; variables.div_ceil(64)].into_boxed_slice();
            // The indices ALWAYS_ZERO and INTEGER are not entered in `numbers`: a bit set that
            // turns out empty gets the index CONSTANT.
            arena.sets = vec![none.clone(); CONSTANT as usize];
            arena.number(none);
        });
    }

    /// Returns `value`, dependent on the variable `k`.
    ///
    /// # Panics
    /// If `k` is not below the number of variables of the last [`reset`](Self::reset), rounded up
    /// to a multiple of 64.
    pub fn variable(value: f64, k: usize) -> Self {
        let set = ARENA.with_borrow_mut(|arena| {
            let mut set = arena.sets[CONSTANT as usize].clone();
            set[k / 64] |= 1 << (k % 64);
            arena.number(set)
        });
        Self {
            value,
            set,
            varying: CONSTANT,
        }
    }

    /// Returns this value with the variables of `other` added to its dependencies, with varying
    /// factors.
    pub fn reading(self, other: Self) -> Self {
        Self {
            set: union(self.set, other.set),
            varying: union(self.varying, other.set),
            ..self
        }
    }

    /// Returns this value with the dependencies of `other`.
    pub fn like(self, other: Self) -> Self {
        Self {
            value: self.value,
            ..other
        }
    }

    /// Returns the indices of the variables on which it depends, ascending.
    pub fn variables(self) -> Vec<usize> {
        bits(self.set)
    }

    /// Returns the indices of the variables whose factor is constant, ascending.
    pub fn with_constant_factors(self) -> Vec<usize> {
        let varying = bits(self.varying);
        let mut variables = bits(self.set);
        variables.retain(|k| varying.binary_search(k).is_err());
        variables
    }

    /// Returns a number with the variables of `set`, all with varying factors.
    fn varying(value: f64, set: u32) -> Self {
        Self {
            value,
            set,
            varying: set,
        }
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self::varying(f(self.value), self.set.max(CONSTANT))
    }

    fn product(self, b: Self, value: f64) -> Self {
        let set = match self.set == ALWAYS_ZERO || b.set == ALWAYS_ZERO {
            true => ALWAYS_ZERO,
            false => union(self.set, b.set),
        };
        let varying = match (self.set, b.set) {
            (INTEGER, _) => b.varying,
            (_, INTEGER) => self.varying,
            _ => set,
        };
        Self { value, set, varying }
    }
}

/// Returns the indices of the variables of a set, ascending.
fn bits(set: u32) -> Vec<usize> {
    ARENA.with_borrow(|arena| {
        let words = arena.sets.get(set as usize).into_iter().flatten().enumerate();
        let bits = words.flat_map(|(i, word)| (0..64).filter(move |k| word >> k & 1 == 1).map(move |k| 64 * i + k));
        bits.collect()
    })
}

fn union(a: u32, b: u32) -> u32 {
    let (low, high) = (a.min(b), a.max(b));
    if low <= CONSTANT || low == high {
        return high;
    }
    ARENA.with_borrow_mut(|arena| arena.union(low, high))
}

impl Mask for Traced {
    fn is_needed(self) -> bool {
        true
    }
}

impl Scalar for Traced {
    type Constant = f64;

    /// One if the condition holds, else zero; depends on the variables of the condition.
    type Mask = Self;

    const IS_OUTLINED: bool = true;

    fn numbers(constants: &[f64]) -> &[f64] {
        constants
    }

    fn number(value: f64) -> Self {
        Self::varying(value, CONSTANT)
    }

    fn value(self) -> f64 {
        self.value
    }

    fn sqrt(self) -> Self {
        match self.set {
            ALWAYS_ZERO => self,
            _ => self.map(f64::sqrt),
        }
    }

    fn sin_cos(self) -> (Self, Self) {
        let (sine, cosine) = Scalar::sin_cos(self.value);
        let sine = match self.set {
            ALWAYS_ZERO => self,
            _ => self.map(|_| sine),
        };
        (sine, self.map(|_| cosine))
    }

    fn atan2(self, x: Self) -> Self {
        self.reading(x).map(|y| Scalar::atan2(y, x.value))
    }

    fn tanh(self) -> Self {
        self.map(Scalar::tanh)
    }

    fn exp(self) -> Self {
        self.map(Scalar::exp)
    }

    fn round(self) -> Self {
        self.map(f64::round)
    }

    fn exceeds(self, limit: f64) -> Self {
        self.map(|value| f64::from(u8::from(value > limit)))
    }

    fn select(condition: Self, yes: Self, no: Self) -> Self {
        let value = if condition.value > 0.5 { yes.value } else { no.value };
        Self::varying(value, union(union(yes.set, no.set), condition.set))
    }
}

impl Add for Traced {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        Self {
            value: self.value + b.value,
            set: union(self.set, b.set),
            varying: union(self.varying, b.varying),
        }
    }
}

impl Sub for Traced {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        self + -b
    }
}

impl Mul for Traced {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        self.product(b, self.value * b.value)
    }
}

impl Div for Traced {
    type Output = Self;

    fn div(self, b: Self) -> Self {
        // The divisor counts as CONSTANT at least: a quotient depends on its dividend even if the
        // divisor is always zero, and the factors of a quotient may vary.
        let b_set = b.set.max(CONSTANT);
        self.product(Self { set: b_set, ..b }, self.value / b.value)
    }
}

impl Neg for Traced {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            value: -self.value,
            ..self
        }
    }
}

impl AddAssign for Traced {
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for Traced {
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl MulAssign for Traced {
    fn mul_assign(&mut self, b: Self) {
        *self = *self * b;
    }
}

impl DivAssign for Traced {
    fn div_assign(&mut self, b: Self) {
        *self = *self / b;
    }
}

/// Equality includes the variables, so that a zero that depends on variables does not equal zero.
impl PartialEq for Traced {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.set.max(CONSTANT) == other.set.max(CONSTANT)
    }
}

impl PartialOrd for Traced {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl Zero for Traced {
    fn zero() -> Self {
        Self::varying(0.0, ALWAYS_ZERO)
    }

    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}

impl One for Traced {
    fn one() -> Self {
        Self::varying(1.0, INTEGER)
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        every_operation_unites_the_variables_of_its_operands,
        products_with_zero_depend_on_nothing_but_with_a_lifted_zero_they_do,
        factors_of_sums_are_constant_and_all_others_vary,
        select_unites_the_condition_and_both_sides,
        equal_sets_have_one_number_over_many_words,
    ];

    fn variables<const N: usize>() -> [Traced; N] {
        Traced::reset(N);
        std::array::from_fn(|k| Traced::variable(0.3 + k as f64, k))
    }

    fn every_operation_unites_the_variables_of_its_operands() {
        let [x, y] = variables();
        let two = Traced::lift(2.0);
        for (name, traced, expected) in [
            ("+", x + y, vec![0, 1]),
            ("−", x - y, vec![0, 1]),
            ("·", x * y, vec![0, 1]),
            ("/", x / y, vec![0, 1]),
            ("atan2", x.atan2(y), vec![0, 1]),
            ("reading", x.reading(y), vec![0, 1]),
            ("neg", -x, vec![0]),
            ("sqrt", x.sqrt(), vec![0]),
            ("sin", x.sin_cos().0, vec![0]),
            ("cos", y.sin_cos().1, vec![1]),
            ("tanh", y.tanh(), vec![1]),
            ("exp", x.exp(), vec![0]),
            ("round", x.round(), vec![0]),
            ("constant", two * two.sqrt() + two, vec![]),
            ("+ constant", two + x, vec![0]),
            ("· constant", two * y, vec![1]),
        ] {
            assert_eq!(traced.variables(), expected, "{name}");
        }
        let mut z = x;
        z += y;
        z -= two;
        z *= two;
        z /= y;
        assert_eq!(z.variables(), [0, 1]);
        assert_eq!(z.value(), ((0.3 + 1.3) - 2.0) * 2.0 / 1.3);
    }

    /// A parameter that is zero may become nonzero; a constant zero of an algorithm may not.
    fn products_with_zero_depend_on_nothing_but_with_a_lifted_zero_they_do() {
        let [x] = variables();
        let (zero, lifted) = (Traced::zero(), Traced::lift(0.0));
        for none in [
            x * zero,
            zero / x,
            zero.sqrt() * x,
            zero.sin_cos().0 * x,
            (zero + zero) * x,
        ] {
            assert_eq!((none.variables(), none.value()), (vec![], 0.0));
        }
        for kept in [
            x * lifted,
            x + zero,
            zero - x,
            (zero + lifted) * x,
            zero.sin_cos().1 * x,
            x / zero,
        ] {
            assert_eq!(kept.variables(), [0]);
        }
        assert!(zero == lifted && zero.is_zero() && !(x * lifted).is_zero());
    }

    fn factors_of_sums_are_constant_and_all_others_vary() {
        let [x, y, z] = variables();
        let two = Traced::lift(2.0);
        let sum = x * Traced::one() - y + two + z * two;
        assert_eq!(
            (sum.variables(), sum.with_constant_factors()),
            (vec![0, 1, 2], vec![0, 1])
        );
        assert_eq!((sum + x * z).with_constant_factors(), [1]);
        for varying in [
            x * y,
            x / two,
            x.sqrt(),
            x.round(),
            Traced::select(x.exceeds(0.0), x, y),
        ] {
            assert_eq!(varying.with_constant_factors(), [0; 0]);
        }
    }

    fn select_unites_the_condition_and_both_sides() {
        let [x, y, z] = variables();
        let selected = [0.2, 0.4].map(|limit| Traced::select(x.exceeds(limit), y, z));
        assert_eq!(selected.map(Traced::variables), [[0, 1, 2], [0, 1, 2]]);
        assert_eq!(selected.map(Traced::value), [1.3, 2.3]);
        assert!(x.exceeds(1.0).is_needed());
    }

    fn equal_sets_have_one_number_over_many_words() {
        let x: [Traced; 200] = variables();
        let forwards = x.iter().fold(Traced::zero(), |sum, &x| sum + x);
        let backwards = x.iter().rev().fold(Traced::zero(), |sum, &x| sum + x);
        assert_eq!(forwards.set, backwards.set);
        assert_eq!(forwards.variables(), (0..200).collect::<Vec<_>>());
        assert_eq!((x[199] * x[64]).variables(), [64, 199]);
    }
}
