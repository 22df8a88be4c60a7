//! Names: C identifiers, and the grammar of structured names (§2.2.9).

use super::{Report, at};
use crate::{Kind, ModelDescription, NamingConvention};

/// Checks that variable names are unique and follow the naming convention.
pub(super) fn check(description: &ModelDescription, report: &mut Report) {
    let variables = description.model_variables.iter();
    report.unique("variable", variables.map(|v| v.name.as_str()));
    for variable in &description.model_variables {
        let name = &variable.name;
        if name.is_empty() || name.contains(['\t', '\n', '\r']) {
            report.add(at(variable), "the name is empty or has a tab or line break");
        } else if description.variable_naming_convention == NamingConvention::Structured && !is_structured(name) {
            report.add(
                at(variable),
                "the name does not follow variableNamingConvention=\"structured\"",
            );
        } else if description.variable_naming_convention == NamingConvention::Structured
            && name.starts_with("der(")
            && !matches!(variable.kind, Kind::Real(_))
        {
            report.add(at(variable), "a derivative, der(…), must be Real");
        }
    }
}

/// Returns true for a letter or `_`, followed by letters, digits or `_`.
pub(super) fn is_c_identifier(text: &str) -> bool {
    text.starts_with(is_nondigit) && text.chars().all(|c| is_nondigit(c) || c.is_ascii_digit())
}

/// Returns true if a name follows the grammar of the standard:
///
/// ```text
/// name       = identifier | "der(" identifier [ "," unsignedInteger ] ")"
/// identifier = B-name [ arrayIndices ] { "." B-name [ arrayIndices ] }
/// B-name     = nondigit { digit | nondigit } | Q-name
/// ```
pub(super) fn is_structured(name: &str) -> bool {
    let is_whole = |rest: Option<&str>| rest == Some("");
    let derivative = || {
        let rest = identifier(name.strip_prefix("der(")?)?;
        let rest = match rest.strip_prefix(',') {
            Some(order) => unsigned_integer(order)?,
            None => rest,
        };
        rest.strip_prefix(')')
    };
    is_whole(identifier(name)) || is_whole(derivative())
}

// Each of the following functions matches its production at the beginning of a text and returns the
// remaining text, or `None` if the beginning does not match.

fn identifier(text: &str) -> Option<&str> {
    let mut rest = array_indices(b_name(text)?)?;
    while let Some(next) = rest.strip_prefix('.') {
        rest = array_indices(b_name(next)?)?;
    }
    Some(rest)
}

fn b_name(text: &str) -> Option<&str> {
    match text.strip_prefix('\'') {
        Some(quoted) => q_name(quoted),
        None => text
            .starts_with(is_nondigit)
            .then(|| text.trim_start_matches(|c: char| is_nondigit(c) || c.is_ascii_digit())),
    }
}

/// Matches a quoted name after its opening apostrophe: at least one character, and the closing one.
fn q_name(text: &str) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((place, character)) = characters.next() {
        match character {
            '\'' => return (place > 0).then(|| &text[place + 1..]),
            '\\' => {
                let (_, escaped) = characters.next()?;
                "'\"?\\abfnrtv".contains(escaped).then_some(())?;
            }
            _ => is_q_char(character).then_some(())?,
        }
    }
    None
}

/// Matches array indices like `[1,2]`, if there are any.
fn array_indices(text: &str) -> Option<&str> {
    let Some(first) = text.strip_prefix('[') else {
        return Some(text);
    };
    let mut rest = unsigned_integer(first)?;
    while let Some(next) = rest.strip_prefix(',') {
        rest = unsigned_integer(next)?;
    }
    rest.strip_prefix(']')
}

fn unsigned_integer(text: &str) -> Option<&str> {
    text.starts_with(|c: char| c.is_ascii_digit())
        .then(|| text.trim_start_matches(|c: char| c.is_ascii_digit()))
}

fn is_nondigit(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic()
}

fn is_q_char(c: char) -> bool {
    is_nondigit(c) || c.is_ascii_digit() || "!#$%&()*+,-./:;<>=?@[]^{}|~ ".contains(c)
}

#[cfg(test)]
mod tests {
    use super::is_structured;

    #[test]
    fn the_examples_of_the_standard_are_structured_names() {
        for name in [
            "vehicle.engine.speed",
            "resistor12.u",
            "v_min",
            "robot.axis.'motor #234'",
            "der(pipe[3,4].T[14],2)",
            "der(x)",
            "der",
            "_0",
            r"'it\'s'.x",
        ] {
            assert!(is_structured(name), "{name}");
        }
    }

    #[test]
    fn names_outside_the_grammar_are_rejected() {
        for name in [
            "",
            "1x",
            "a b",
            "a..b",
            "a.",
            ".a",
            "a[",
            "a[]",
            "a[1",
            "a[1,]",
            "a[i]",
            "a[1][2]",
            "der(x",
            "der()",
            "der(x,)",
            "der(x,n)",
            "der(der(x))",
            "der(x).y",
            "''",
            "'a",
            r"'\q'",
            "a'b'",
            "é",
            "'é'",
            "a-b",
            "x)",
        ] {
            assert!(!is_structured(name), "{name}");
        }
    }
}
