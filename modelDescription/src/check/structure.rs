//! The lists of unknowns: outputs, derivatives, initial unknowns, event indicators (§2.2.8).

use std::collections::BTreeSet;

use super::{Report, at};
use crate::{
    Causality, DependencyKind, FmiVersion, Initial, Kind, ModelDescription, ScalarVariable, Unknown, Variability,
};

pub(super) fn check(description: &ModelDescription, report: &mut Report) {
    let structure = &description.model_structure;
    let states: BTreeSet<u32> = description.continuous_states().collect();
    let is_outside = |v: &ScalarVariable| matches!(v.causality, Causality::Input | Causality::Independent);
    let is_fmi3 = description.fmi_version == FmiVersion::V3_0;
    // In FMI 3.0 parameters and discrete states are knowns during a run, too (§2.4.8). Nothing marks
    // a discrete state that belongs to no clock.
    let is_known_in_3 =
        |v: &ScalarVariable| is_fmi3 && (v.causality == Causality::Parameter || v.variability == Variability::Discrete);
    let is_known = |index: u32, v: &ScalarVariable| is_outside(v) || is_known_in_3(v) || states.contains(&index);
    let is_known_initially = |_, v: &ScalarVariable| is_outside(v) || v.effective_initial() == Some(Initial::Exact);

    let list = |name, unknowns| List {
        description,
        name,
        unknowns,
    };
    list("Outputs", &structure.outputs).check(is_known, |_| true, report);
    list("Derivatives", &structure.derivatives).check(is_known, |_| true, report);
    let kinds = |kind| matches!(kind, DependencyKind::Dependent | DependencyKind::Constant);
    list("InitialUnknowns", &structure.initial_unknowns).check(is_known_initially, kinds, report);
    list("EventIndicators", &structure.event_indicators).check(is_known, |_| true, report);

    check_outputs(description, report);
    check_derivatives(description, report);
    check_initial_unknowns(description, report);
    check_event_indicators(description, report);
}

/// One of the three lists, with its element's name.
struct List<'a> {
    description: &'a ModelDescription,
    name: &'static str,
    unknowns: &'a [Unknown],
}

impl List<'_> {
    /// Checks the rules common to all lists: valid and unique indexes, dependencies on knowns only.
    fn check(
        &self,
        is_known: impl Fn(u32, &ScalarVariable) -> bool,
        is_legal_kind: impl Fn(DependencyKind) -> bool,
        report: &mut Report,
    ) {
        let mut seen = BTreeSet::new();
        for unknown in self.unknowns {
            let Some(variable) = self.description.variable(unknown.index) else {
                let message = format!("there is no variable with index {}", unknown.index);
                report.add(self.name, message);
                continue;
            };
            let place = format!("{}, {}", self.name, at(variable));
            if !seen.insert(unknown.index) {
                report.add(&place, "it is listed more than once");
            }
            self.check_dependencies(&place, unknown, &is_known, report);
            check_kinds(&place, unknown, variable, &is_legal_kind, report);
        }
    }

    fn check_dependencies(
        &self,
        place: &str,
        unknown: &Unknown,
        is_known: impl Fn(u32, &ScalarVariable) -> bool,
        report: &mut Report,
    ) {
        let dependencies = unknown.dependencies.as_deref().unwrap_or_default();
        // FMI 3.0 requires no order, and its indexes are value references in the file.
        if self.description.fmi_version == FmiVersion::V2_0 && !dependencies.is_sorted_by(|a, b| a < b) {
            report.add(place, "the dependencies are not in ascending order");
        }
        for &index in dependencies {
            match self.description.variable(index) {
                None => {
                    let message = format!("dependency {index}: there is no such variable");
                    report.add(place, message);
                }
                Some(v) if !is_known(index, v) => {
                    let message = format!("dependency {index}: {} is not a known", at(v));
                    report.add(place, message);
                }
                Some(_) => {}
            }
        }
    }
}

fn check_kinds(
    place: &str,
    unknown: &Unknown,
    variable: &ScalarVariable,
    is_legal_kind: impl Fn(DependencyKind) -> bool,
    report: &mut Report,
) {
    let Some(kinds) = &unknown.dependencies_kind else {
        return;
    };
    if unknown.dependencies.as_ref().map(Vec::len) != Some(kinds.len()) {
        report.add(place, "dependenciesKind is not as long as dependencies");
    }
    let is_real = matches!(variable.kind, Kind::Real(_));
    if !is_real && kinds.iter().any(|&kind| kind != DependencyKind::Dependent) {
        report.add(place, "only a Real unknown can have a dependency with a factor");
    }
    if !kinds.iter().all(|&kind| is_legal_kind(kind)) {
        report.add(place, "only \"dependent\" and \"constant\" are allowed here");
    }
}

/// Checks that `Outputs` contains exactly the variables with causality output.
fn check_outputs(description: &ModelDescription, report: &mut Report) {
    let outputs = &description.model_structure.outputs;
    let listed: BTreeSet<u32> = outputs.iter().map(|u| u.index).collect();
    for (index, variable) in description.indexed_variables() {
        let is_output = variable.causality == Causality::Output;
        if is_output && !listed.contains(&index) {
            report.add(at(variable), "the output is missing in Outputs");
        }
        if !is_output && listed.contains(&index) {
            report.add(at(variable), "it is listed in Outputs, but its causality is not output");
        }
    }
}

/// Checks that each state has one derivative, and that Model Exchange lists all of them.
fn check_derivatives(description: &ModelDescription, report: &mut Report) {
    let mut states = BTreeSet::new();
    for unknown in &description.model_structure.derivatives {
        // An index out of range is reported by `List::check`.
        let Some(derivative) = description.variable(unknown.index) else {
            continue;
        };
        if derivative.variability != Variability::Continuous {
            report.add(at(derivative), "a state derivative must be continuous");
        }
        let Some(index) = derivative.derivative() else {
            report.add(at(derivative), "a state derivative must have the attribute derivative");
            continue;
        };
        let Some(state) = description.variable(index) else {
            continue;
        };
        if !states.insert(index) {
            report.add(at(state), "the state has two derivatives in Derivatives");
        }
        let is_computed = matches!(state.causality, Causality::Local | Causality::Output);
        if !is_computed || state.variability != Variability::Continuous {
            let message = "a continuous-time state must be a continuous output or local variable";
            report.add(at(state), message);
        }
    }
    if description.model_exchange.is_some() {
        for variable in &description.model_variables {
            if let Some(index) = variable.derivative()
                && let Some(state) = description.variable(index)
                && state.causality != Causality::Input
                && !states.contains(&index)
            {
                let message = format!("the derivative of {} is missing in Derivatives", at(state));
                report.add(at(variable), message);
            }
        }
    }
}

/// Checks that event indicators are continuous, and that FMI 2.0 has none as variables.
fn check_event_indicators(description: &ModelDescription, report: &mut Report) {
    let indicators = &description.model_structure.event_indicators;
    if description.fmi_version == FmiVersion::V2_0 && !indicators.is_empty() {
        report.add("ModelStructure", "FMI 2.0 has no event indicators that are variables");
    }
    for variable in indicators
        .iter()
        .filter_map(|unknown| description.variable(unknown.index))
    {
        if variable.variability != Variability::Continuous || !matches!(variable.kind, Kind::Real(_)) {
            report.add(at(variable), "an event indicator must be a continuous Real");
        }
    }
}

/// Checks that `InitialUnknowns` is exactly the required set, in FMI 2.0 ascending.
fn check_initial_unknowns(description: &ModelDescription, report: &mut Report) {
    const LIST: &str = "InitialUnknowns";
    let unknowns = &description.model_structure.initial_unknowns;
    // FMI 3.0 requires no particular order.
    if description.fmi_version == FmiVersion::V2_0 && !unknowns.is_sorted_by_key(|unknown| unknown.index) {
        report.add(LIST, "the indexes are not in ascending order");
    }
    let listed: BTreeSet<u32> = unknowns.iter().map(|u| u.index).collect();
    let expected: BTreeSet<u32> = description.expected_initial_unknowns().into_iter().collect();
    let variables = |indexes: Vec<u32>| {
        let found = indexes.into_iter().filter_map(|i| description.variable(i));
        found.collect::<Vec<_>>()
    };
    for variable in variables(expected.difference(&listed).copied().collect()) {
        report.add(at(variable), format!("it is missing in {LIST}"));
    }
    for variable in variables(listed.difference(&expected).copied().collect()) {
        report.add(
            at(variable),
            format!("it is listed in {LIST}, but is not initially unknown"),
        );
    }
}
