//! Units and types, and references to them (§2.2.2, §2.2.3).

use std::collections::HashSet;

use super::{Report, at, place};
use crate::{EnumerationType, Kind, ModelDescription, TypeKind, Unit};

pub(super) fn check(description: &ModelDescription, report: &mut Report) {
    check_definitions(&description.unit_definitions, report);
    check_types(description, report);

    for declared in &description.type_definitions {
        if let TypeKind::Real(real) = &declared.kind {
            let (unit, display) = (real.unit.as_deref(), real.display_unit.as_deref());
            let place = place("type", &declared.name);
            check_use(description, &place, unit, display, report);
        }
    }
    for variable in &description.model_variables {
        if let Kind::Real(real) = &variable.kind {
            // An undefined unit of the declared type is reported once, with the type.
            let (unit, display) = (real.unit.as_deref(), real.display_unit.as_deref());
            if unit.is_some() || display.is_some() {
                let unit = description.unit_of(variable);
                check_use(description, &at(variable), unit, display, report);
            }
        }
    }
}

/// Checks the list `UnitDefinitions` itself.
fn check_definitions(units: &[Unit], report: &mut Report) {
    report.unique("unit", units.iter().map(|u| u.name.as_str()));
    for unit in units {
        let here = place("unit", &unit.name);
        if unit.name == "1" {
            report.add(&here, "omit the unit of a dimensionless variable");
        }
        if unit.base_unit.as_ref().is_some_and(|b| b.factor == 0.0) {
            report.add(&here, "the factor to the base unit is zero");
        }
        let displays = unit.display_units.iter();
        report.unique(&format!("{here}, display unit"), displays.map(|d| d.name.as_str()));
        for display in &unit.display_units {
            if display.factor == 0.0 {
                let place = place(&format!("{here}, display unit"), &display.name);
                report.add(place, "the factor is zero");
            }
        }
    }
}

/// Checks that the unit of a type or variable is defined, and that its display unit is defined in
/// that unit.
fn check_use(
    description: &ModelDescription,
    place: &str,
    unit: Option<&str>,
    display: Option<&str>,
    report: &mut Report,
) {
    let Some(unit) = unit else {
        if let Some(display) = display {
            report.add(place, format!("displayUnit {display:?} without a unit"));
        }
        return;
    };
    let mut units = description.unit_definitions.iter();
    let Some(defined) = units.find(|u| u.name == unit) else {
        report.add(place, format!("unit {unit:?} is not defined"));
        return;
    };
    if let Some(display) = display
        && !defined.display_units.iter().any(|d| d.name == display)
    {
        let message = format!("displayUnit {display:?} is not defined in unit {unit:?}");
        report.add(place, message);
    }
}

/// Checks that names of types are unique and differ from those of variables, and that names and
/// values of an enumeration's items are unique.
fn check_types(description: &ModelDescription, report: &mut Report) {
    let types = &description.type_definitions;
    report.unique("type", types.iter().map(|t| t.name.as_str()));
    let variables = description.model_variables.iter();
    let variables: HashSet<&str> = variables.map(|v| v.name.as_str()).collect();
    for declared in types {
        let here = place("type", &declared.name);
        if variables.contains(declared.name.as_str()) {
            report.add(&here, "a variable has the same name");
        }
        if let TypeKind::Enumeration(enumeration) = &declared.kind {
            check_items(&here, enumeration, report);
        }
    }
}

fn check_items(place: &str, enumeration: &EnumerationType, report: &mut Report) {
    if enumeration.items.is_empty() {
        report.add(place, "the enumeration has no item");
    }
    let items = enumeration.items.iter();
    report.unique(&format!("{place}, item"), items.map(|i| i.name.as_str()));
    let mut values = HashSet::new();
    for item in &enumeration.items {
        if !values.insert(item.value) {
            let message = format!("item {:?} has a value already used: {}", item.name, item.value);
            report.add(place, message);
        }
    }
}
