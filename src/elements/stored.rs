//! Serialisation of the discrete state as numbers, for the saved FMU state.

use crate::spec::JointMotion;
use nalgebra::SMatrix;

/// Discrete value that is stored as a fixed count of numbers.
pub trait Stored: Sized {
    /// Passes its numbers to `to`, in a fixed order.
    fn write(&self, to: &mut impl FnMut(f64));

    /// Reads a value from the next numbers; `None` if they represent no valid value.
    fn read(next: &mut impl FnMut() -> f64) -> Option<Self>;
}

/// Part of the discrete state: one value, or a list whose length the model determines.
pub(crate) trait StoredAll {
    /// Passes the numbers of its values to `to`, in their order.
    fn write_all(&self, to: &mut impl FnMut(f64));

    /// Reads its values from the next numbers; `None` if they represent no valid value.
    fn read_all(&mut self, next: &mut impl FnMut() -> f64) -> Option<()>;
}

impl<T: Stored> StoredAll for Vec<T> {
    fn write_all(&self, to: &mut impl FnMut(f64)) {
        self.iter().for_each(|value| value.write(to));
    }

    fn read_all(&mut self, next: &mut impl FnMut() -> f64) -> Option<()> {
        for value in self {
            *value = T::read(next)?;
        }
        Some(())
    }
}

impl StoredAll for usize {
    fn write_all(&self, to: &mut impl FnMut(f64)) {
        self.write(to);
    }

    fn read_all(&mut self, next: &mut impl FnMut() -> f64) -> Option<()> {
        *self = Self::read(next)?;
        Some(())
    }
}

impl Stored for f64 {
    fn write(&self, to: &mut impl FnMut(f64)) {
        to(*self);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        Some(next()).filter(|number| number.is_finite())
    }
}

impl Stored for i32 {
    fn write(&self, to: &mut impl FnMut(f64)) {
        to(f64::from(*self));
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let number = next();
        // The conversion saturates, and NaN becomes zero; both differ from `number` and are
        // rejected.
        let whole = number as i32;
        (f64::from(whole) == number).then_some(whole)
    }
}

impl Stored for usize {
    fn write(&self, to: &mut impl FnMut(f64)) {
        to(*self as f64);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        usize::try_from(i32::read(next)?).ok()
    }
}

impl Stored for bool {
    fn write(&self, to: &mut impl FnMut(f64)) {
        to(f64::from(*self));
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        match i32::read(next)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for JointMotion {
    fn write(&self, to: &mut impl FnMut(f64)) {
        self.number().write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let number = i32::read(next)?;
        Self::ALL.into_iter().find(|motion| motion.number() == number)
    }
}

impl<T: Stored + Default> Stored for Option<T> {
    fn write(&self, to: &mut impl FnMut(f64)) {
        self.is_some().write(to);
        match self {
            Some(value) => value.write(to),
            None => T::default().write(to),
        }
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let is_some = bool::read(next)?;
        let value = T::read(next)?;
        Some(is_some.then_some(value))
    }
}

impl<const R: usize, const C: usize> Stored for SMatrix<f64, R, C> {
    fn write(&self, to: &mut impl FnMut(f64)) {
        self.iter().for_each(|number| number.write(to));
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let mut read = Self::zeros();
        for number in read.iter_mut() {
            *number = f64::read(next)?;
        }
        Some(read)
    }
}
