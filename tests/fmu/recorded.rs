//! Logged messages in the golden file. The driver, which benchmarks use too, does without.

use crate::driver::{Log, assert_named};
use crate::messages;
use grapple::fmu::fmi2::fmi2Status;

/// Assertions on a log whose messages are recorded.
pub trait Recorded {
    /// [`Log::assert_named`], and records the message.
    fn assert_logged(&self, status: fmi2Status, names: &[&str]);
}

impl Recorded for Log {
    #[track_caller]
    fn assert_logged(&self, status: fmi2Status, names: &[&str]) {
        messages::record(messages::without_decimals(self.assert_named(status, names)));
    }
}

/// [`assert_named`], and records the message.
#[track_caller]
pub fn assert_logged(status: fmi2Status, names: &[&str]) {
    messages::record(messages::without_decimals(assert_named(status, names)));
}
