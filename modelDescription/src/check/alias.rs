//! Variables that share a value reference (§2.2.7, "alias" variables).

use std::collections::BTreeMap;

use super::{Report, at};
use crate::{Causality, FmiVersion, Kind, ModelDescription, ScalarVariable, Variability};

/// Checks alias sets: aliases are one value with several names, so at most one of them may have a
/// start value of its own, and constants must have equal ones.
///
/// In FMI 3.0 value references are unique.
pub(super) fn check(description: &ModelDescription, report: &mut Report) {
    let is_fmi3 = description.fmi_version == FmiVersion::V3_0;
    let mut sets: BTreeMap<(&str, u32), Vec<&ScalarVariable>> = BTreeMap::new();
    for variable in &description.model_variables {
        let kind = if is_fmi3 { "" } else { handle_type(&variable.kind) };
        let key = (kind, variable.value_reference);
        sets.entry(key).or_default().push(variable);
    }
    for set in sets.values() {
        for (place, second) in set.iter().enumerate() {
            for first in &set[..place] {
                let wrong = match is_fmi3 {
                    true => Some("in FMI 3.0 it must be unique"),
                    false => objection(description, first, second),
                };
                if let Some(wrong) = wrong {
                    let message = format!(
                        "it shares value reference {} with variable {:?}, but {wrong}",
                        second.value_reference, first.name
                    );
                    report.add(at(second), message);
                    break;
                }
            }
        }
    }
}

/// Returns the reason for which two variables cannot be aliases, if any.
fn objection(description: &ModelDescription, a: &ScalarVariable, b: &ScalarVariable) -> Option<&'static str> {
    let is_constant = |v: &ScalarVariable| v.variability == Variability::Constant;
    let is_independent = |v: &ScalarVariable| v.causality == Causality::Independent;
    let is_free = |v: &ScalarVariable| v.kind.has_start() || is_independent(v);
    match (is_constant(a), is_constant(b)) {
        (true, true) if !same_start(&a.kind, &b.kind) => Some("they are constants with different values"),
        (true, false) | (false, true) => Some("only one of them is constant"),
        (false, false) if is_free(a) && is_free(b) => {
            Some("each has a value of its own (a start value, or it is the independent variable)")
        }
        _ if description.unit_of(a) != description.unit_of(b) => Some("their units differ"),
        _ => None,
    }
}

/// Returns the type in the C functions, which handle enumerations as integers.
fn handle_type(kind: &Kind) -> &'static str {
    match kind {
        Kind::Enumeration(_) => "Integer",
        other => other.base_type(),
    }
}

fn same_start(a: &Kind, b: &Kind) -> bool {
    let integer = |kind: &Kind| match kind {
        Kind::Integer(v) => v.start,
        Kind::Enumeration(v) => v.start,
        _ => None,
    };
    match (a, b) {
        (Kind::Real(a), Kind::Real(b)) => a.start == b.start,
        (Kind::Boolean(a), Kind::Boolean(b)) => a.start == b.start,
        (Kind::String(a), Kind::String(b)) => a.start == b.start,
        _ => integer(a) == integer(b),
    }
}
