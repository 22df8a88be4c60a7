//! Everything that is wrong with a description, at once.
//!
//! One file per room of the description; each function below it adds its problems to a [`Report`].

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

/// Something that the standard, or the schema, does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    /// Where it is, such as `variable "elbow.q"` or `unit "N.m"`.
    pub place: String,
    /// What is wrong, with the value.
    pub message: String,
}

impl ModelDescription {
    /// All that is illegal in this description; empty if a host has no reason to refuse it.
    ///
    /// Beyond the standard's own text, these are reported too, since hosts stumble over them:
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

    /// Reports what comes a second time.
    fn unique<'a>(&mut self, what: &str, names: impl IntoIterator<Item = &'a str>) {
        let mut seen = HashSet::new();
        for name in names {
            if !seen.insert(name) {
                self.add(place(what, name), "the name is not unique");
            }
        }
    }
}

/// A place with a name: `unit "N.m"`.
fn place(what: &str, name: &str) -> String {
    format!("{what} {name:?}")
}

/// The place of a variable.
fn at(variable: &ScalarVariable) -> String {
    place("variable", &variable.name)
}
