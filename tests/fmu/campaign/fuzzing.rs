//! Random arguments of calls (numbers, pointers, counts), mostly valid.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Fill value of output buffers and of the element after their end: a NaN that no computation
/// returns.
pub const SENTINEL: u64 = 0x7ff4_dead_beef_0001;

/// Returns a buffer of `n` numbers and one more element at the end, which must not be written.
pub fn buffer(n: usize) -> Vec<f64> {
    vec![f64::from_bits(SENTINEL); n + 1]
}

/// Makes arguments invalid at random.
pub struct Fuzz<'a> {
    pub random: &'a mut ChaCha8Rng,
    /// Probability that an argument is made invalid, 0 to 1.
    pub level: f64,
    /// Set if an argument of the current call is invalid, so that the call must be refused.
    pub wrong: bool,
}

impl<'a> Fuzz<'a> {
    pub fn new(random: &'a mut ChaCha8Rng, level: f64) -> Self {
        Self {
            random,
            level,
            wrong: false,
        }
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.random.random_bool(p.clamp(0.0, 1.0))
    }

    /// Returns one of the elements at random.
    pub fn any<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        (!of.is_empty()).then(|| of[self.random.random_range(0..of.len())])
    }

    /// Returns a pointer to the slice; at random null, or a misaligned pointer. `count` elements
    /// will be accessed: with zero the pointer is always valid for the library.
    pub fn pointer<T>(&mut self, to: &mut [T], count: usize) -> *mut T {
        let good = to.as_mut_ptr();
        if !self.chance(self.level) {
            return good;
        }
        self.wrong |= count > 0;
        match align_of::<T>() > 1 && self.chance(0.3) {
            true => good.cast::<u8>().wrapping_add(1).cast(),
            false => std::ptr::null_mut(),
        }
    }

    /// Returns the count; at random an impossible one.
    pub fn count(&mut self, n: usize) -> usize {
        if !self.chance(0.3 * self.level) {
            return n;
        }
        self.wrong = true;
        match self.random.random_range(0..3) {
            0 => usize::MAX,
            1 => isize::MAX as usize,
            _ => usize::MAX / 8 + 1,
        }
    }

    /// Returns a number near `value`, or an arbitrary one.
    pub fn number(&mut self, value: f64) -> f64 {
        if self.chance(self.level) {
            return self.odd(value);
        }
        match self.random.random_range(0..6) {
            0 => value,
            1 => value * self.random.random_range(0.9..1.1),
            2 => value + self.random.random_range(-0.1..0.1),
            3 => self.random.random_range(-1.0..1.0),
            4 => value * self.random.random_range(0.5..2.0),
            _ => 0.0,
        }
    }

    /// Returns an arbitrary number.
    pub fn odd(&mut self, value: f64) -> f64 {
        match self.random.random_range(0..20) {
            0 | 1 => f64::NAN,
            2 => f64::INFINITY,
            3 => f64::NEG_INFINITY,
            4 => 0.0,
            5 => -0.0,
            6 => f64::from_bits(self.random.random_range(1..1 << 52)),
            7 => f64::MIN_POSITIVE,
            8 => f64::MAX,
            9 => f64::MIN,
            10 => -value,
            11 => value * 1e-9,
            12 => value * 1e9,
            13 => f64::from_bits(self.random.random()),
            14 => self.random.random_range(-10_i32..10).into(),
            _ => {
                let sign = if self.chance(0.5) { 1.0 } else { -1.0 };
                sign * 10_f64.powf(self.random.random_range(-320.0..308.25))
            }
        }
    }

    /// Returns a value of a C enumeration or a Boolean, within `good` or outside.
    pub fn integer(&mut self, good: std::ops::Range<i32>) -> i32 {
        match self.chance(self.level) {
            true => {
                let odd = [-1, 77, i32::MAX, i32::MIN, good.end];
                odd[self.random.random_range(0..odd.len())]
            }
            false => self.random.random_range(good),
        }
    }

    /// Returns a few references of `good`; at random with arbitrary or repeated ones added.
    pub fn references(&mut self, good: &[u32], count: u32) -> Vec<u32> {
        let most = if self.chance(0.1) { 40 } else { 4 };
        let n = self.random.random_range(0..=most);
        let mut references: Vec<u32> = (0..n).filter_map(|_| self.any(good)).collect();
        if self.chance(self.level) {
            let odd = [u32::MAX, count, self.random.random_range(0..count), 1 << 31, 0];
            for _ in 0..self.random.random_range(1..4) {
                let at = self.random.random_range(0..=references.len());
                let reference = odd[self.random.random_range(0..odd.len())];
                references.insert(at, reference);
            }
        }
        references
    }
}

/// Random choices of a sequence.
pub struct Dice {
    pub random: ChaCha8Rng,
    /// Probability that an argument is made invalid, and that a call is out of order, 0 to 1.
    pub level: f64,
}

impl Dice {
    pub fn which(&mut self, n: usize) -> usize {
        self.random.random_range(0..n)
    }

    pub fn any_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.which(of.len())]
    }

    pub fn fuzz(&mut self) -> Fuzz<'_> {
        Fuzz::new(&mut self.random, self.level)
    }

    /// Returns a step length, s: mostly a plausible one.
    pub fn step_size(&mut self) -> f64 {
        if self.random.random_bool(0.2 * self.level) {
            return self.fuzz().odd(0.01);
        }
        let h = 10_f64.powf(self.random.random_range(-6.0..-1.0));
        self.any_of(&[h, h, h, 0.01, 0.0])
    }
}

/// Returns the first elements of an argument as text, for the journal.
pub fn shown<T: std::fmt::Debug>(of: &[T]) -> String {
    match of.len() {
        0..=6 => format!("{of:?}"),
        n => format!("{:?} and {} more", &of[..6], n - 6),
    }
}
