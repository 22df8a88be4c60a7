use crate::Error;
use crate::fmu::fmi2::fmi2Status;
use crate::fmu::log::Category;

/// A failed call: its status and a message for the user (§2.1.3).
///
/// A failed call leaves the instance unchanged, with two exceptions: a discarded step keeps the
/// time reached, and known log categories are switched although others are unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// `fmi2Error`, `fmi2Discard`, or `fmi2Fatal` after an internal error.
    pub status: fmi2Status,
    /// Error message.
    pub what: String,
}

impl Fault {
    /// Returns a fault with `fmi2Error`.
    pub fn error(what: impl Into<String>) -> Self {
        Self {
            status: fmi2Status::ERROR,
            what: what.into(),
        }
    }

    /// Returns a fault with `fmi2Discard`: a smaller step could succeed, or the information does
    /// not exist.
    pub fn discard(what: impl Into<String>) -> Self {
        Self {
            status: fmi2Status::DISCARD,
            what: what.into(),
        }
    }

    /// Returns the log category of the status.
    pub fn category(&self) -> Category {
        match self.status {
            fmi2Status::DISCARD => Category::Discard,
            fmi2Status::FATAL => Category::Fatal,
            _ => Category::Error,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::error(error.to_string())
    }
}
