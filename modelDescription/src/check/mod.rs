//! Validation of a model description; reports all problems at once.
//!
//! One file per part of the description; each adds its problems to a [`Report`].

mod alias;
mod header;
mod name;
mod range;
mod structure;
mod unit;
mod variable;

use std::collections::HashSet;
use std::fmt::Display;

pub(crate) use range::not_finite;

use crate::{ModelDescription, ScalarVariable};

/// A violation of the standard or of the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    /// Location, such as `variable "elbow.q"` or `unit "N.m"`.
    pub place: String,
    /// The violation, with the value.
    pub message: String,
}

impl ModelDescription {
    /// Returns all violations in this description; empty if it is valid.
    ///
    /// In addition to violations of the standard's text, the following are reported, because
    /// importers fail on them:
    ///
    /// - a unit called `1` (a variable without unit has no unit attribute);
    /// - a display unit that its unit does not define (the standard would ignore it);
    /// - a start value outside of `min` and `max`, a nominal value that is not above zero;
    /// - a value reference of 2³¹ or more, which some importers cast to a negative number;
    /// - for Model Exchange, a derivative of an output or local variable that no entry of
    ///   `Derivatives` covers.
    pub fn check(&self) -> Vec<Problem> {
        let mut report = Report::default();
        header::check(self, &mut report);
        unit::check(self, &mut report);
        variable::check(self, &mut report);
        alias::check(self, &mut report);
        range::check(self, &mut report);
        structure::check(self, &mut report);
        report.0
    }
}

/// The problems found so far.
#[derive(Default)]
struct Report(Vec<Problem>);

impl Report {
    fn add(&mut self, place: impl Display, message: impl Display) {
        self.0.push(Problem {
            place: place.to_string(),
            message: message.to_string(),
        });
    }

    /// Reports duplicate names.
    fn unique<'a>(&mut self, what: &str, names: impl IntoIterator<Item = &'a str>) {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name) {
                self.add(place(what, name), "the name is not unique");
            }
        }
    }
}

/// Returns a location with a name: `unit "N.m"`.
fn place(what: &str, name: &str) -> String {
    format!("{what} {name:?}")
}

/// Returns the location of a variable.
fn at(variable: &ScalarVariable) -> String {
    place("variable", &variable.name)
}
