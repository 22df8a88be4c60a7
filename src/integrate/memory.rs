//! What an integrator must remember from step to step.

use std::error::Error;
use std::fmt;

/// What an integrator must remember from step to step: with `t` and `x` it determines every bit
/// of the run that follows.
///
/// The default is the memory of a run that has not started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// The step to try next if no limit were in the way; zero: not chosen yet.
    pub(super) h_next: f64,
    /// Error norm of the last accepted step that no limit had shortened, at least
    /// [`Control::MIN_ERROR`](super::control::Control::MIN_ERROR).
    pub(super) last_error: f64,
    /// Whether the attempt before this one was rejected: then the step does not grow.
    pub(super) rejected: bool,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            h_next: 0.0,
            last_error: super::control::Control::MIN_ERROR,
            rejected: false,
        }
    }
}

impl Memory {
    /// How many numbers hold a memory.
    pub const LEN: usize = 3;

    /// The step that would be tried next if no limit were in the way, or `None` before the first.
    pub fn next_step(&self) -> Option<f64> {
        (self.h_next > 0.0).then_some(self.h_next)
    }

    /// The memory as plain numbers, for a saved state.
    pub fn to_array(&self) -> [f64; Memory::LEN] {
        [self.h_next, self.last_error, f64::from(u8::from(self.rejected))]
    }

    /// The memory that [`to_array`](Memory::to_array) gave, with identical bits.
    ///
    /// # Errors
    ///
    /// When the slice has another length or holds a value that no run can have.
    pub fn from_slice(values: &[f64]) -> Result<Memory, InvalidMemory> {
        let &[h_next, last_error, rejected] = values else {
            return Err(InvalidMemory::Length(values.len()));
        };
        let check = |index: usize, right: bool| {
            let value = values[index];
            right.then_some(()).ok_or(InvalidMemory::Value { index, value })
        };
        check(0, h_next >= 0.0 && h_next.is_finite())?;
        check(1, last_error > 0.0 && last_error <= 1.0)?;
        check(2, rejected == 0.0 || rejected == 1.0)?;
        Ok(Memory {
            h_next,
            last_error,
            rejected: rejected == 1.0,
        })
    }
}

/// Why numbers are not a memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidMemory {
    /// There are this many numbers instead of [`Memory::LEN`].
    Length(usize),
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
            InvalidMemory::Length(length) => {
                write!(f, "integrator memory has {length} values instead of {}", Memory::LEN)
            }
            InvalidMemory::Value { index, value } => {
                write!(f, "integrator memory: value {index} cannot be {value:e}")
            }
        }
    }
}

impl Error for InvalidMemory {}
