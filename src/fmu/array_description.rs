//! Model description of an FMU with arrays, from that of the same FMU with scalars.

use super::arrays::{self, Arrays};
use crate::spec::mangled;
use model_description::{
    DependencyKind, Kind, ModelDescription, ModelStructure, NamingConvention, ScalarVariable, Unknown,
};
use std::collections::BTreeMap;

/// Replaces the scalars of a description by arrays.
pub fn group(description: &mut ModelDescription, arrays: &Arrays) {
    description.guid += arrays::TOKEN;
    let scalars = std::mem::take(&mut description.model_variables);
    // For each scalar the index of its variable.
    let mut index = Vec::with_capacity(scalars.len());
    let mut rest = scalars.as_slice();
    while let Some(first) = rest.first() {
        let n = arrays.length(first.value_reference).unwrap_or(1).max(1) as usize;
        let (elements, others) = rest.split_at(n);
        description.model_variables.push(match elements {
            [scalar] => scalar.clone(),
            elements => array(elements, description.variable_naming_convention),
        });
        let new = u32::try_from(description.model_variables.len()).unwrap_or(u32::MAX);
        index.extend(std::iter::repeat_n(new, n));
        rest = others;
    }
    let of = |old: u32| index[old as usize - 1];
    for variable in &mut description.model_variables {
        if let Kind::Real(real) = &mut variable.kind {
            real.derivative = real.derivative.map(of);
        }
    }
    let old = std::mem::take(&mut description.model_structure);
    let list = |unknowns: &[Unknown]| merged(unknowns, of);
    description.model_structure = ModelStructure {
        outputs: list(&old.outputs),
        derivatives: list(&old.derivatives),
        initial_unknowns: list(&old.initial_unknowns),
        event_indicators: list(&old.event_indicators),
    };
}

/// Returns the array with these elements.
fn array(elements: &[ScalarVariable], naming: NamingConvention) -> ScalarVariable {
    let mut array = elements[0].clone();
    array.dimensions = vec![u32::try_from(elements.len()).unwrap_or(u32::MAX)];
    array.name = match naming {
        NamingConvention::Structured => arrays::element(&array.name).map_or(array.name, |(name, _)| name),
        // `base_q_1_` is `base.q[1]`, and `der_base_q_1__` its derivative.
        NamingConvention::Flat => flat(&array.name),
    };
    array.description = common(elements);
    if let Kind::Real(real) = &mut array.kind {
        let reals = || {
            elements.iter().filter_map(|element| match &element.kind {
                Kind::Real(real) => Some(real),
                _ => None,
            })
        };
        real.starts = reals().filter_map(|real| real.start).collect();
        real.reinit = reals().any(|real| real.reinit);
    }
    array
}

/// Returns the flat name of an array from that of its first element.
fn flat(first: &str) -> String {
    let index = mangled("[1]");
    match first
        .strip_suffix(&format!("{index}_"))
        .filter(|_| first.starts_with("der_"))
    {
        Some(inner) => format!("{inner}_"),
        None => first.strip_suffix(&index).unwrap_or(first).to_owned(),
    }
}

/// Returns the description of an array: "attitude of base, inertial axes, quaternion: w, x, y, z"
/// if the descriptions of its elements differ after the last comma only, else the first and the
/// last of them: "first, …, last".
fn common(elements: &[ScalarVariable]) -> Option<String> {
    let texts: Vec<&str> = elements.iter().filter_map(|v| v.description.as_deref()).collect();
    let first = *texts.first()?;
    let parts: Option<Vec<(&str, &str)>> = texts.iter().map(|text| text.rsplit_once(", ")).collect();
    match parts {
        Some(parts) if parts.iter().all(|(head, _)| *head == parts[0].0) => {
            let tails: Vec<&str> = parts.iter().map(|(_, tail)| *tail).collect();
            Some(format!("{}: {}", parts[0].0, tails.join(", ")))
        }
        _ => match texts.last() {
            Some(last) if *last != first => Some(format!("{first}, …, {last}")),
            _ => Some(first.to_owned()),
        },
    }
}

/// Returns a list of unknowns in which the elements of an array are one. It depends on all that an
/// element depends on, by constant factors if each element does.
fn merged(unknowns: &[Unknown], of: impl Fn(u32) -> u32) -> Vec<Unknown> {
    let mut list: Vec<Unknown> = Vec::new();
    let same = unknowns.chunk_by(|a, b| of(a.index) == of(b.index));
    for elements in same {
        let mut kinds: Option<BTreeMap<u32, DependencyKind>> = Some(BTreeMap::new());
        let mut has_kinds = false;
        for element in elements {
            let (Some(dependencies), Some(found)) = (&element.dependencies, &mut kinds) else {
                kinds = None;
                break;
            };
            has_kinds |= element.dependencies_kind.is_some();
            for (k, &dependency) in dependencies.iter().enumerate() {
                let kind = element
                    .dependencies_kind
                    .as_ref()
                    .and_then(|kinds| kinds.get(k).copied());
                let kind = kind.unwrap_or(DependencyKind::Dependent);
                found
                    .entry(of(dependency))
                    .and_modify(|known| {
                        if kind != *known {
                            *known = DependencyKind::Dependent;
                        }
                    })
                    .or_insert(kind);
            }
        }
        let is_known = kinds.as_ref().is_some_and(|kinds| has_kinds && !kinds.is_empty());
        list.push(Unknown {
            index: of(elements[0].index),
            dependencies: kinds.as_ref().map(|kinds| kinds.keys().copied().collect()),
            dependencies_kind: kinds.filter(|_| is_known).map(|kinds| kinds.into_values().collect()),
        });
    }
    list
}
