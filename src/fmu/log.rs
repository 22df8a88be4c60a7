//! Messages to the importer (§2.1.5, §2.2.4).
//!
//! Failures are logged even if `fmi2Instantiate` is called with `loggingOn` false, so that every
//! refusal has a reason; only `fmi2SetDebugLogging` disables them. Events are logged if `loggingOn`
//! is true. Event values and the solver's statistics must be enabled by name, since some importers
//! always enable logging (rule S3). Nothing is written to stdout or stderr.

use super::status::Status;
use std::ffi::CString;

/// Category of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A call without effect: `fmi2Error`.
    Error,
    /// A step that could succeed if it were smaller: `fmi2Discard`.
    Discard,
    /// The loss of an instance: `fmi2Fatal`.
    Fatal,
    /// Events of the model, such as a joint that leaves its range.
    Events,
    /// Events as JSON objects, for programs; off unless enabled by name.
    EventValues,
    /// Steps and evaluations of the Co-Simulation solver; off unless enabled by name.
    Solver,
}

/// All categories, each with its FMI name and its description.
pub const CATEGORIES: [(Category, &str, &str); 6] = [
    (Category::Error, "logStatusError", "why a call returned fmi2Error"),
    (Category::Discard, "logStatusDiscard", "why a call returned fmi2Discard"),
    (Category::Fatal, "logStatusFatal", "why an instance is lost (fmi2Fatal)"),
    (
        Category::Events,
        "logEvents",
        "events of the model, such as a joint that leaves its range",
    ),
    (
        Category::EventValues,
        "logEventValues",
        "the same events as JSON objects, for programs",
    ),
    (
        Category::Solver,
        "logSolver",
        "steps and evaluations of the Co-Simulation solver, at the end of a run",
    ),
];

/// The standard's name for all categories together (§2.2.4).
pub const ALL: &str = "logAll";

/// The standard's other categories (§2.2.4). No message belongs to them, so switching one has no
/// effect. The XML does not list them, but importers also switch the categories of the standard's
/// list.
const WITHOUT_MESSAGES: [&str; 5] = [
    "logSingularLinearSystems",
    "logNonlinearSystems",
    "logDynamicStateSelection",
    "logStatusWarning",
    "logStatusPending",
];

impl Category {
    /// Returns the name of the category in FMI.
    pub fn name(self) -> &'static str {
        CATEGORIES[self as usize].1
    }
}

/// One message, ready for the importer.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Status of the call.
    pub status: Status,
    /// Category of the message.
    pub category: Category,
    /// Text; [`c_text`] escapes it for the importer's logger.
    pub text: String,
}

/// Enabled categories of an instance, and the messages of the call in progress.
#[derive(Clone, Debug)]
pub struct Log {
    enabled: [bool; CATEGORIES.len()],
    waiting: Vec<Message>,
}

impl Log {
    /// Returns the log of a new instance; `logging_on` as in `fmi2Instantiate`.
    pub fn new(logging_on: bool) -> Self {
        Self {
            enabled: CATEGORIES.map(|(category, ..)| match category {
                Category::Error | Category::Discard | Category::Fatal => true,
                Category::Events => logging_on,
                Category::EventValues | Category::Solver => false,
            }),
            waiting: Vec::new(),
        }
    }

    /// Switches the named categories on or off (§2.1.5). Without names it switches all, except that
    /// event values and the solver's statistics are then off in any case. Returns the names that
    /// are neither categories of this library nor of the standard.
    pub fn switch<'a>(&mut self, on: bool, names: &[&'a str]) -> Vec<&'a str> {
        let mut unknown = Vec::new();
        if names.is_empty() {
            self.enabled = [on; CATEGORIES.len()];
            // Many importers enable everything by default.
            self.enabled[Category::EventValues as usize] = false;
            self.enabled[Category::Solver as usize] = false;
        }
        for &name in names {
            if name == ALL {
                self.enabled = [on; CATEGORIES.len()];
            } else if let Some(k) = CATEGORIES.iter().position(|(_, known, _)| *known == name) {
                self.enabled[k] = on;
            } else if !WITHOUT_MESSAGES.contains(&name) {
                unknown.push(name);
            }
        }
        unknown
    }

    /// Returns true if a category is enabled.
    pub fn is_enabled(&self, category: Category) -> bool {
        self.enabled[category as usize]
    }

    /// Adds a message if its category is enabled.
    pub fn add(&mut self, status: Status, category: Category, text: String) {
        if self.is_enabled(category) {
            self.waiting.push(Message { status, category, text });
        }
    }

    /// Takes the pending messages, oldest first.
    pub fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.waiting)
    }
}

/// Returns a text in the form the importer's logger requires: `#` doubled since the standard uses it
/// for references to variables, no trailing line break; if `is_format` (FMI 2.0), a format of `printf`
/// without arguments (`%` doubled).
pub fn c_text(text: &str, is_format: bool) -> CString {
    let mut escaped = Vec::with_capacity(text.len() + 1);
    for byte in text.trim_end().bytes() {
        match byte {
            b'#' => escaped.extend([byte, byte]),
            b'%' if is_format => escaped.extend([byte, byte]),
            0 => escaped.push(b' '),
            _ => escaped.push(byte),
        }
    }
    CString::new(escaped).unwrap_or_default()
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        categories_are_listed_in_enumeration_order,
        failures_are_logged_by_default_and_can_be_disabled,
        every_category_of_the_standard_is_accepted,
        a_message_is_safe_as_a_format,
    ];

    fn categories_are_listed_in_enumeration_order() {
        for (i, (category, ..)) in CATEGORIES.iter().enumerate() {
            assert_eq!(*category as usize, i);
        }
    }

    fn failures_are_logged_by_default_and_can_be_disabled() {
        let mut log = Log::new(false);
        log.add(Status::Error, Category::Error, "a".into());
        log.add(Status::Ok, Category::Events, "b".into());
        assert_eq!(log.take().len(), 1);
        assert_eq!(log.switch(true, &["logEvents", "nonsense"]), ["nonsense"]);
        log.add(Status::Ok, Category::Events, "b".into());
        assert_eq!(log.take().len(), 1);
        assert!(log.switch(false, &[]).is_empty());
        log.add(Status::Error, Category::Error, "a".into());
        assert!(log.take().is_empty());
    }

    /// The names of §2.2.4; those in the XML come first.
    fn every_category_of_the_standard_is_accepted() {
        let mut log = Log::new(true);
        for name in [
            "logStatusError",
            "logStatusDiscard",
            "logStatusFatal",
            "logEvents",
            "logSingularLinearSystems",
            "logNonlinearSystems",
            "logDynamicStateSelection",
            "logStatusWarning",
            "logStatusPending",
            "logAll",
        ] {
            assert!(log.switch(false, &[name]).is_empty(), "{name}");
        }
        assert!(log.switch(true, &["logStatusWarning"]).is_empty());
        assert!(CATEGORIES.iter().all(|(category, ..)| !log.is_enabled(*category)));
        assert_eq!(log.switch(true, &["logStatusWarnings"]), ["logStatusWarnings"]);
    }

    fn a_message_is_safe_as_a_format() {
        assert_eq!(c_text("100% of #3\0.\n", true).as_bytes(), b"100%% of ##3 .");
        assert_eq!(c_text("100% of #3\0.\n", false).as_bytes(), b"100% of ##3 .");
    }
}
