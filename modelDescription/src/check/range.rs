//! Checks of numbers: they are finite, `min` does not exceed `max`, and start values lie between
//! these limits (§2.2.3, §2.2.7).

use std::fmt::Display;

use super::{Problem, Report, at, place};
use crate::{Kind, ModelDescription, Real, TypeKind};

pub(super) fn check(description: &ModelDescription, report: &mut Report) {
    report.0.extend(not_finite(description));
    for declared in &description.type_definitions {
        let here = place("type", &declared.name);
        match &declared.kind {
            TypeKind::Real(v) => {
                check_limits(&here, v.min, v.max, None, report);
                check_nominal(&here, v.nominal, report);
            }
            TypeKind::Integer(v) => check_limits(&here, v.min, v.max, None, report),
            TypeKind::Boolean | TypeKind::String | TypeKind::Enumeration(_) => {}
        }
    }
    for variable in &description.model_variables {
        let here = at(variable);
        let declared = description.declared_type(variable).map(|t| &t.kind);
        match (&variable.kind, declared) {
            (Kind::Real(v), Some(TypeKind::Real(t))) => {
                let (min, max) = (v.min.or(t.min), v.max.or(t.max));
                check_starts(&here, min, max, v, report);
                check_nominal(&here, v.nominal, report);
            }
            (Kind::Real(v), _) => {
                check_starts(&here, v.min, v.max, v, report);
                check_nominal(&here, v.nominal, report);
            }
            (Kind::Integer(v), Some(TypeKind::Integer(t))) => {
                let (min, max) = (v.min.or(t.min), v.max.or(t.max));
                check_limits(&here, min, max, v.start, report);
            }
            (Kind::Integer(v), _) => check_limits(&here, v.min, v.max, v.start, report),
            (Kind::Enumeration(v), _) => check_limits(&here, v.min, v.max, v.start, report),
            (Kind::Boolean(_) | Kind::String(_), _) => {}
        }
    }
}

/// Checks `min ≤ start ≤ max` for the start value, or for all of an array.
fn check_starts(place: &str, min: Option<f64>, max: Option<f64>, of: &Real, report: &mut Report) {
    check_limits(place, min, max, of.start, report);
    for &start in of.starts.iter().skip(1) {
        let known = report.0.len();
        check_limits(place, min, max, Some(start), report);
        if report.0.len() > known {
            return;
        }
    }
}

/// Checks `min ≤ start ≤ max` for the given values.
fn check_limits<T: PartialOrd + Display>(
    place: &str,
    min: Option<T>,
    max: Option<T>,
    start: Option<T>,
    report: &mut Report,
) {
    if let (Some(min), Some(max)) = (&min, &max)
        && min > max
    {
        report.add(place, format!("min {min} is above max {max}"));
        return;
    }
    if let (Some(min), Some(start)) = (&min, &start)
        && start < min
    {
        report.add(place, format!("start {start} is below min {min}"));
    }
    if let (Some(max), Some(start)) = (&max, &start)
        && start > max
    {
        report.add(place, format!("start {start} is above max {max}"));
    }
}

/// Checks that a nominal value is positive; absolute tolerances are computed from it.
fn check_nominal(place: &str, nominal: Option<f64>, report: &mut Report) {
    if let Some(nominal) = nominal
        && nominal <= 0.0
    {
        report.add(place, format!("nominal {nominal} is not above zero"));
    }
}

/// Returns all numbers that are infinite or NaN, in the order of the document.
pub(crate) fn not_finite(description: &ModelDescription) -> Vec<Problem> {
    let mut report = Report::default();
    for unit in &description.unit_definitions {
        let here = place("unit", &unit.name);
        if let Some(base) = &unit.base_unit {
            let numbers = [("factor", Some(base.factor)), ("offset", Some(base.offset))];
            require_finite(&here, numbers, &mut report);
        }
        for display in &unit.display_units {
            let here = place(&format!("{here}, display unit"), &display.name);
            let numbers = [("factor", Some(display.factor)), ("offset", Some(display.offset))];
            require_finite(&here, numbers, &mut report);
        }
    }
    for declared in &description.type_definitions {
        if let TypeKind::Real(v) = &declared.kind {
            let here = place("type", &declared.name);
            let numbers = [("min", v.min), ("max", v.max), ("nominal", v.nominal)];
            require_finite(&here, numbers, &mut report);
        }
    }
    if let Some(e) = &description.default_experiment {
        let numbers = [
            ("startTime", e.start_time),
            ("stopTime", e.stop_time),
            ("tolerance", e.tolerance),
            ("stepSize", e.step_size),
        ];
        require_finite("DefaultExperiment", numbers, &mut report);
    }
    for variable in &description.model_variables {
        if let Kind::Real(v) = &variable.kind {
            let numbers = [
                ("min", v.min),
                ("max", v.max),
                ("nominal", v.nominal),
                ("start", v.start),
            ];
            require_finite(&at(variable), numbers, &mut report);
            for &start in v.starts.iter().skip(1) {
                require_finite(&at(variable), [("start", Some(start))], &mut report);
            }
        }
    }
    report.0
}

fn require_finite<const N: usize>(place: &str, numbers: [(&str, Option<f64>); N], report: &mut Report) {
    for (attribute, value) in numbers {
        if let Some(value) = value
            && !value.is_finite()
        {
            report.add(place, format!("{attribute} is {value}, not a finite number"));
        }
    }
}
