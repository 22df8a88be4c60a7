//! Reader of a saved memory: validates its numbers one after the other.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

/// The numbers of a memory, and the index of the next one to be read.
pub(super) struct Numbers<'a> {
    all: &'a [f64],
    next: usize,
}

impl<'a> Numbers<'a> {
    /// Creates a reader at the first number.
    pub fn new(all: &'a [f64]) -> Numbers<'a> {
        Numbers { all, next: 0 }
    }

    /// Reads the next number, which must be within `range`.
    pub fn within(&mut self, range: RangeInclusive<f64>) -> Result<f64, InvalidMemory> {
        let (index, value) = (self.next, self.all.get(self.next).copied().unwrap_or(f64::NAN));
        self.next += 1;
        match range.contains(&value) {
            true => Ok(value),
            false => Err(InvalidMemory::Value { index, value }),
        }
    }

    /// Reads the next number, which must be zero or positive.
    pub fn not_negative(&mut self) -> Result<f64, InvalidMemory> {
        self.within(0.0..=f64::MAX)
    }

    /// Reads the next number, which must be an integer within `range`.
    pub fn count(&mut self, range: RangeInclusive<u32>) -> Result<u32, InvalidMemory> {
        let index = self.next;
        let value = self.within(f64::from(*range.start())..=f64::from(*range.end()))?;
        match value.fract() == 0.0 {
            true => Ok(value as u32),
            false => Err(InvalidMemory::Value { index, value }),
        }
    }

    /// Reads the next number as a boolean; it must be 0 or 1.
    pub fn flag(&mut self) -> Result<bool, InvalidMemory> {
        Ok(self.count(0..=1)? == 1)
    }

    /// Reads all remaining numbers, which must be finite.
    pub fn rest(mut self) -> Result<&'a [f64], InvalidMemory> {
        let rest = self.all.get(self.next..).unwrap_or_default();
        for _ in rest {
            self.within(f64::MIN..=f64::MAX)?;
        }
        Ok(rest)
    }
}

/// The reason for which numbers are not a valid memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidMemory {
    /// The number of values differs from that of the settings.
    Length {
        /// Number of values that the settings require.
        expected: usize,
        /// Number of values found.
        found: usize,
    },
    /// A value is outside its range.
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
