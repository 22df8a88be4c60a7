//! Messages to the host (§2.1.5, §2.2.4).
//!
//! Quiet by default: failures and events, nothing else, since some hosts always ask for logging
//! (rule S3). Failures are handed over even where the host has not asked, so that no refusal goes
//! unexplained; `fmi2SetDebugLogging` silences those too. Never a word to stdout or stderr.

use super::fmi2::fmi2Status;
use std::ffi::CString;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A call that had no effect.
    Error,
    /// A step that could succeed if it were smaller.
    Discard,
    /// The end of an instance.
    Fatal,
    /// What happened in the model: a joint left its range.
    Events,
    /// Steps and evaluations of the Co-Simulation solver; off unless asked for by name.
    Solver,
}

/// All categories, each with its FMI name and what is logged under it.
pub const CATEGORIES: [(Category, &str, &str); 5] = [
    (Category::Error, "logStatusError", "why a call returned fmi2Error"),
    (Category::Discard, "logStatusDiscard", "why a call returned fmi2Discard"),
    (Category::Fatal, "logStatusFatal", "why an instance is lost (fmi2Fatal)"),
    (
        Category::Events,
        "logEvents",
        "events of the model, such as a joint that leaves its range",
    ),
    (
        Category::Solver,
        "logSolver",
        "steps and evaluations of the Co-Simulation solver, at the end of a run",
    ),
];

/// The standard's name for all categories together (§2.2.4).
pub const ALL: &str = "logAll";

/// The standard's other categories (§2.2.4): no message belongs to them, so switching one has no effect. The XML does not
/// list them, but importers switch categories by the standard's list too.
const WITHOUT_MESSAGES: [&str; 5] = [
    "logSingularLinearSystems",
    "logNonlinearSystems",
    "logDynamicStateSelection",
    "logStatusWarning",
    "logStatusPending",
];

impl Category {
    /// FMI's name.
    pub fn name(self) -> &'static str {
        CATEGORIES[self as usize].1
    }
}

/// One message, ready for the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Status of the call it belongs to.
    pub status: fmi2Status,
    /// What it is about.
    pub category: Category,
    /// The text, finished.
    pub text: String,
}

/// Which categories an instance logs, and the messages that wait until its call is over.
#[derive(Clone, Debug)]
pub struct Log {
    enabled: [bool; CATEGORIES.len()],
    waiting: Vec<Message>,
}

impl Log {
    /// The log of a new instance; `logging_on` as in `fmi2Instantiate`.
    pub fn new(logging_on: bool) -> Self {
        Self {
            enabled: CATEGORIES.map(|(category, ..)| match category {
                Category::Error | Category::Discard | Category::Fatal => true,
                Category::Events => logging_on,
                Category::Solver => false,
            }),
            waiting: Vec::new(),
        }
    }

    /// Switches categories, by name; all of them if none is named (§2.1.6). Returns the names that are neither categories of
    /// this library nor of the standard.
    pub fn switch<'a>(&mut self, on: bool, names: &[&'a str]) -> Vec<&'a str> {
        let mut unknown = Vec::new();
        if names.is_empty() {
            self.enabled = [on; CATEGORIES.len()];
            // Asking for everything at once is what hosts do by habit.
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

    /// Whether messages of a category are wanted.
    pub fn wants(&self, category: Category) -> bool {
        self.enabled[category as usize]
    }

    /// Adds a message, if its category is wanted.
    pub fn add(&mut self, status: fmi2Status, category: Category, text: String) {
        if self.wants(category) {
            self.waiting.push(Message { status, category, text });
        }
    }

    /// The messages that wait, oldest first.
    pub fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.waiting)
    }
}

/// A text as the host's logger takes it: a format of `printf` without arguments (`%` doubled), `#`
/// doubled as the standard has it for its references to variables, no trailing line break.
pub fn c_text(text: &str) -> CString {
    let mut escaped = Vec::with_capacity(text.len() + 1);
    for byte in text.trim_end().bytes() {
        match byte {
            b'%' | b'#' => escaped.extend([byte, byte]),
            0 => escaped.push(b' '),
            _ => escaped.push(byte),
        }
    }
    CString::new(escaped).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_stands_at_its_own_place() {
        for (i, (category, ..)) in CATEGORIES.iter().enumerate() {
            assert_eq!(*category as usize, i);
        }
    }

    #[test]
    fn failures_are_logged_without_being_asked_for_and_silenced_when_told() {
        let mut log = Log::new(false);
        log.add(fmi2Status::ERROR, Category::Error, "a".into());
        log.add(fmi2Status::OK, Category::Events, "b".into());
        assert_eq!(log.take().len(), 1);
        assert_eq!(log.switch(true, &["logEvents", "nonsense"]), ["nonsense"]);
        log.add(fmi2Status::OK, Category::Events, "b".into());
        assert_eq!(log.take().len(), 1);
        assert!(log.switch(false, &[]).is_empty());
        log.add(fmi2Status::ERROR, Category::Error, "a".into());
        assert!(log.take().is_empty());
    }

    /// The names of §2.2.4; those that the XML lists come first.
    #[test]
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
        assert!(CATEGORIES.iter().all(|(category, ..)| !log.wants(*category)));
        assert_eq!(log.switch(true, &["logStatusWarnings"]), ["logStatusWarnings"]);
    }

    #[test]
    fn a_message_is_safe_as_a_format() {
        assert_eq!(c_text("100% of #3\0.\n").as_bytes(), b"100%% of ##3 .");
    }
}
