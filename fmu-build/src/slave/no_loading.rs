//! Stands in for the crate `libloading` on platforms without shared libraries, such as WebAssembly.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;

/// Error of each function here.
pub type Error = IoError;

/// A library, which cannot be made.
pub enum Library {}

impl Library {
    /// Returns the error that there are no shared libraries here.
    pub unsafe fn new(_file: &Path) -> Result<Self, Error> {
        Err(Error::new(
            ErrorKind::Unsupported,
            "this platform has no shared libraries",
        ))
    }

    /// Returns a symbol of the library.
    pub unsafe fn get<T>(&self, _name: &str) -> Result<&T, Error> {
        match *self {}
    }
}
