use crate::Error;
use crate::fmu::fmi2::fmi2Status;
use crate::fmu::log::Category;

/// Why a call did not do what it was asked: a status, and a message in the user's words (§2.1.3).
///
/// A call that ends so has changed nothing but what it says: of a discarded step, the time reached; of log categories, those that exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// `fmi2Error`, or `fmi2Discard` where a smaller step could succeed.
    pub status: fmi2Status,
    /// What is wrong.
    pub what: String,
}

impl Fault {
    /// The call is refused.
    pub fn error(what: impl Into<String>) -> Self {
        Self {
            status: fmi2Status::ERROR,
            what: what.into(),
        }
    }

    /// A smaller step could succeed, or the information does not exist.
    pub fn discard(what: impl Into<String>) -> Self {
        Self {
            status: fmi2Status::DISCARD,
            what: what.into(),
        }
    }

    /// The log category that goes with the status.
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
