use crate::Error;
use crate::fmu::log::Category;
use crate::fmu::status::Status;

/// A failed call: its status and a message for the user (§2.1.3).
///
/// A failed call leaves the instance unchanged, with two exceptions: a discarded step keeps the
/// time reached, and known log categories are switched although others are unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Error, discard, or fatal after an internal error.
    pub status: Status,
    /// Error message.
    pub what: String,
}

impl Fault {
    /// Returns a fault with [`Status::Error`].
    pub fn error(what: impl Into<String>) -> Self {
        Self {
            status: Status::Error,
            what: what.into(),
        }
    }

    /// Returns a fault with [`Status::Discard`]: a smaller step could succeed, or the information does
    /// not exist.
    pub fn discard(what: impl Into<String>) -> Self {
        Self {
            status: Status::Discard,
            what: what.into(),
        }
    }

    /// Returns the log category of the status.
    pub fn category(&self) -> Category {
        match self.status {
            Status::Discard => Category::Discard,
            Status::Fatal => Category::Fatal,
            _ => Category::Error,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::error(error.to_string())
    }
}
