//! A memory's plain numbers, read one after the other.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

/// What is left of the numbers.
pub(super) struct Numbers<'a> {
    all: &'a [f64],
    next: usize,
}

impl<'a> Numbers<'a> {
    /// All of them are still there.
    pub fn new(all: &'a [f64]) -> Numbers<'a> {
        Numbers { all, next: 0 }
    }

    /// The next number, which a run can have only within `range`.
    pub fn within(&mut self, range: RangeInclusive<f64>) -> Result<f64, InvalidMemory> {
        let (index, value) = (self.next, self.all.get(self.next).copied().unwrap_or(f64::NAN));
        self.next += 1;
        match range.contains(&value) {
            true => Ok(value),
            false => Err(InvalidMemory::Value { index, value }),
        }
    }

    /// The next number, which is zero or more.
    pub fn not_negative(&mut self) -> Result<f64, InvalidMemory> {
        self.within(0.0..=f64::MAX)
    }

    /// The next number, a whole one.
    pub fn count(&mut self, range: RangeInclusive<u16>) -> Result<u16, InvalidMemory> {
        let index = self.next;
        let value = self.within(f64::from(*range.start())..=f64::from(*range.end()))?;
        match value.fract() == 0.0 {
            true => Ok(value as u16),
            false => Err(InvalidMemory::Value { index, value }),
        }
    }

    /// The next number, which says yes or no.
    pub fn flag(&mut self) -> Result<bool, InvalidMemory> {
        Ok(self.count(0..=1)? == 1)
    }

    /// All numbers that are left, any finite ones.
    pub fn rest(mut self) -> Result<&'a [f64], InvalidMemory> {
        let rest = self.all.get(self.next..).unwrap_or_default();
        for _ in rest {
            self.within(f64::MIN..=f64::MAX)?;
        }
        Ok(rest)
    }
}

/// Why numbers are not a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidMemory {
    /// There are more or fewer numbers than the settings ask for.
    Length {
        /// As many as the settings ask for.
        expected: usize,
        /// As many as were given.
        found: usize,
    },
    /// One number is impossible.
    Value {
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
}

impl fmt::Display for InvalidMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidMemory::Length { expected, found } => {
                write!(f, "integrator memory has {found} values instead of {expected}")
            }
            InvalidMemory::Value { index, value } => {
                write!(f, "integrator memory: value {index} cannot be {value:e}")
            }
        }
    }
}

impl Error for InvalidMemory {}
