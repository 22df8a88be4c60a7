//! Instances of a library for many runs.

use super::{FmuLibrary, Slave};
use crate::error::Result;

/// Instances of a library, of which those whose run has ended are used again.
///
/// A reset instance equals a new one, and keeps the compiled model and the modes of beams whose
/// parameters stay.
pub struct Instances<'l> {
    /// The library.
    pub library: &'l FmuLibrary,
    free: Vec<Slave<'l>>,
}

impl<'l> Instances<'l> {
    /// Returns instances of a library, none as yet.
    pub fn of(library: &'l FmuLibrary) -> Self {
        let free = Vec::new();
        Self { library, free }
    }

    /// Returns an instance for a run: a reset one, or a new one.
    ///
    /// # Errors
    /// The FMU's message, if the call fails.
    pub fn take(&mut self) -> Result<Slave<'l>> {
        let Some(mut slave) = self.free.pop() else {
            return self.library.instantiate();
        };
        slave.reset()?;
        Ok(slave)
    }

    /// Takes back an instance whose run has ended without a failure.
    pub fn take_back(&mut self, slave: Slave<'l>) {
        self.free.push(slave);
    }
}
