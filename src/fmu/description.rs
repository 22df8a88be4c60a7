//! The registry as FMI's XML (§2.2): capabilities, variables and dependencies.
//!
//! Capabilities that are not implemented are declared false.

use super::array_description;
use super::arrays::Arrays;
use super::guid::Guid;
use super::lifecycle::{Interface, Standard};
use super::log::CATEGORIES;
use super::registry::{Naming, REGISTRY_VERSION, Registry, Slot, ValueType, Variable};
use crate::Error;
use crate::plant::{Dependencies, Knowns, Model};
use crate::system::Unit;
use model_description::{
    BaseUnit, Boolean, Category, CoSimulation, DefaultExperiment, DependencyKind, DisplayUnit, FmiVersion, Integer,
    Kind, ModelDescription, ModelExchange, ModelStructure, NamingConvention, Real, RealType, ScalarVariable,
    SimpleType, Tool, TypeKind, Unknown,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// FMI interfaces that an archive offers; some importers do not handle archives with both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interfaces {
    /// Model Exchange and Co-Simulation.
    #[default]
    Both,
    /// Model Exchange alone.
    ModelExchange,
    /// Co-Simulation alone.
    CoSimulation,
}

impl Interfaces {
    /// All choices, the default first.
    pub const ALL: [Self; 3] = [Self::Both, Self::ModelExchange, Self::CoSimulation];

    /// Returns true if an archive with these interfaces offers `interface`.
    pub fn offer(self, interface: Interface) -> bool {
        match interface {
            Interface::ModelExchange => self != Self::CoSimulation,
            Interface::CoSimulation => self != Self::ModelExchange,
        }
    }
}

/// Returns the model description of a compiled model for FMI 2.0.
///
/// # Errors
/// Those of [`describe_for`].
pub fn describe(model: &Arc<Model>, naming: Naming, interfaces: Interfaces) -> Result<ModelDescription, Error> {
    describe_for(Standard::Fmi2, model, naming, interfaces)
}

/// Returns the model description of a compiled model for a version of the standard.
///
/// # Errors
/// [`Error::Spec`] if two variables have the same name; [`Error::Format`] if the model cannot be
/// serialised, which the GUID requires.
pub fn describe_for(
    standard: Standard,
    model: &Arc<Model>,
    naming: Naming,
    interfaces: Interfaces,
) -> Result<ModelDescription, Error> {
    let registry = Registry::of(standard, Arc::clone(model), naming);
    registry.check_names()?;
    let guid = Guid::new(&model.to_bytes()?, naming, interfaces);
    let spec = &model.spec;
    // The states that an event may reset are declared in Model Exchange only.
    let jumps = match interfaces {
        Interfaces::CoSimulation => vec![false; model.states.len()],
        Interfaces::Both | Interfaces::ModelExchange => model.jumps(),
    };
    let described = (!spec.description.is_empty()).then(|| spec.description.clone());
    // Only Model Exchange has event indicators.
    let is_listed = |v: &Variable| !matches!(v.slot, Slot::Indicator(_)) || interfaces.offer(Interface::ModelExchange);
    Ok(ModelDescription {
        fmi_version: match standard {
            Standard::Fmi2 => FmiVersion::V2_0,
            Standard::Fmi3 => FmiVersion::V3_0,
        },
        model_name: spec.name.clone(),
        guid: guid.to_string(),
        description: described,
        generation_tool: Some(concat!("grapple ", env!("CARGO_PKG_VERSION")).to_owned()),
        variable_naming_convention: match naming {
            Naming::Structured => NamingConvention::Structured,
            Naming::Flat => NamingConvention::Flat,
        },
        number_of_event_indicators: u32::try_from(model.indicator_count()).ok(),
        model_exchange: (interfaces.offer(Interface::ModelExchange))
            .then(|| model_exchange(&spec.name, standard, model.has_commands())),
        co_simulation: (interfaces.offer(Interface::CoSimulation)).then(|| co_simulation(&spec.name, standard)),
        unit_definitions: units(&registry),
        type_definitions: types(&registry),
        log_categories: CATEGORIES
            .iter()
            .map(|(_, name, description)| Category {
                name: (*name).to_owned(),
                description: Some(match standard {
                    Standard::Fmi2 => (*description).to_owned(),
                    Standard::Fmi3 => description.replace("fmi2", "fmi3"),
                }),
            })
            .collect(),
        default_experiment: Some(DefaultExperiment {
            start_time: Some(0.0),
            stop_time: Some(spec.experiment.stop_time),
            tolerance: Some(spec.experiment.tolerance),
            step_size: Some(spec.experiment.step),
        }),
        vendor_annotations: annotations(standard),
        model_variables: (registry.variables().filter(is_listed))
            .map(|v| ScalarVariable {
                intermediate_update: standard == Standard::Fmi3 && registry.is_intermediate(v.slot),
                ..variable(&registry, &v, &jumps)
            })
            .collect(),
        model_structure: structure(&registry, standard, interfaces),
        ..ModelDescription::default()
    })
}

/// Returns the annotation with the registry's version; none in FMI 3.0, which names the types of
/// annotations by domains in reverse, and the project has no domain. The token contains the version.
fn annotations(standard: Standard) -> Vec<Tool> {
    match standard {
        Standard::Fmi2 => vec![Tool {
            name: "grapple".to_owned(),
            annotation: [("registryVersion".to_owned(), REGISTRY_VERSION.to_string())].into(),
        }],
        Standard::Fmi3 => Vec::new(),
    }
}

/// Returns the model description of a compiled model for FMI 3.0 with arrays: consecutive elements such as
/// `base.q[1]` … `base.q[4]` are one variable.
///
/// # Errors
/// Those of [`describe_for`].
pub fn describe_with_arrays(
    model: &Arc<Model>,
    naming: Naming,
    interfaces: Interfaces,
) -> Result<ModelDescription, Error> {
    let mut description = describe_for(Standard::Fmi3, model, naming, interfaces)?;
    let registry = Registry::of(Standard::Fmi3, Arc::clone(model), naming);
    array_description::group(&mut description, &Arrays::of(&registry));
    Ok(description)
}

fn model_exchange(identifier: &str, standard: Standard, is_commanded: bool) -> ModelExchange {
    ModelExchange {
        model_identifier: identifier.to_owned(),
        completed_integrator_step_not_needed: !is_commanded,
        can_not_use_memory_management_functions: true,
        can_get_and_set_fmu_state: true,
        can_serialize_fmu_state: true,
        provides_directional_derivative: true,
        provides_adjoint_derivatives: standard == Standard::Fmi3,
        ..ModelExchange::default()
    }
}

fn co_simulation(identifier: &str, standard: Standard) -> CoSimulation {
    CoSimulation {
        model_identifier: identifier.to_owned(),
        can_handle_variable_communication_step_size: true,
        can_interpolate_inputs: true,
        max_output_derivative_order: 1,
        can_not_use_memory_management_functions: true,
        can_get_and_set_fmu_state: true,
        can_serialize_fmu_state: true,
        provides_directional_derivative: true,
        provides_adjoint_derivatives: standard == Standard::Fmi3,
        might_return_early_from_do_step: standard == Standard::Fmi3,
        provides_intermediate_update: standard == Standard::Fmi3,
        can_return_early_after_intermediate_update: standard == Standard::Fmi3,
        has_event_mode: standard == Standard::Fmi3,
        ..CoSimulation::default()
    }
}

/// Returns every unit in use with its SI exponents; pure numbers have no unit.
fn units(registry: &Registry) -> Vec<model_description::Unit> {
    let mut units: Vec<Unit> = used_units(registry).collect();
    // Stiffness and force per length are two quantities with one symbol; they are adjacent here.
    units.dedup_by_key(|unit| unit.symbol());
    units
        .into_iter()
        .map(|unit| {
            let dimension = unit.dimension();
            let display = unit.display().map(|(name, factor)| DisplayUnit {
                name: name.to_owned(),
                factor,
                ..DisplayUnit::default()
            });
            model_description::Unit {
                name: unit.symbol().to_owned(),
                base_unit: Some(BaseUnit {
                    kg: dimension.kg,
                    m: dimension.m,
                    s: dimension.s,
                    a: dimension.A,
                    rad: dimension.rad,
                    factor: unit.factor(),
                    ..BaseUnit::default()
                }),
                display_units: display.into_iter().collect(),
            }
        })
        .collect()
}

/// Returns a type for every unit in use, with its physical quantity; pure numbers need none.
fn types(registry: &Registry) -> Vec<SimpleType> {
    used_units(registry)
        .map(|unit| SimpleType {
            name: unit.type_name().to_owned(),
            kind: TypeKind::Real(RealType {
                quantity: Some(unit.quantity().to_owned()),
                unit: Some(unit.symbol().to_owned()),
                display_unit: unit.display().map(|(name, _)| name.to_owned()),
                ..RealType::default()
            }),
            ..SimpleType::default()
        })
        .collect()
}

fn used_units(registry: &Registry) -> impl Iterator<Item = Unit> {
    let used: BTreeSet<Unit> = registry.variables().map(|v| v.quantity.unit).collect();
    used.into_iter().filter(|unit| !unit.symbol().is_empty())
}

/// Returns the index of a variable in the XML: its value reference plus one.
fn index(registry: &Registry, slot: Slot) -> u32 {
    registry.reference(slot) + 1
}

/// Returns a variable as its element in the XML; `jumps` marks the states that an event may reset.
fn variable(registry: &Registry, variable: &Variable, jumps: &[bool]) -> ScalarVariable {
    let quantity = variable.quantity;
    let unit = quantity.unit;
    let has_unit = !unit.symbol().is_empty();
    let [min, max] = quantity.bound.limits();
    let kind = match variable.value_type {
        ValueType::Boolean => Kind::Boolean(Boolean {
            start: variable.start.map(|start| start > 0.5),
            ..Boolean::default()
        }),
        ValueType::Integer => Kind::Integer(Integer {
            start: variable.start.map(|start| start.round() as i32),
            ..Integer::default()
        }),
        ValueType::Real => Kind::Real(Real {
            declared_type: has_unit.then(|| unit.type_name().to_owned()),
            min,
            max,
            unit: has_unit.then(|| unit.symbol().to_owned()),
            display_unit: unit.display().map(|(name, _)| name.to_owned()),
            nominal: (quantity.nominal != 1.0).then_some(quantity.nominal),
            start: variable.start,
            derivative: match variable.slot {
                Slot::Derivative(i) => Some(index(registry, Slot::State(i))),
                _ => None,
            },
            reinit: matches!(variable.slot, Slot::State(i) if jumps[i]),
            ..Real::default()
        }),
    };
    ScalarVariable {
        name: variable.name.clone().into_owned(),
        value_reference: variable.value_reference,
        description: (!quantity.description.is_empty()).then(|| match variable.value_type {
            ValueType::Boolean => in_terms_of_truth(&quantity.description),
            ValueType::Integer | ValueType::Real => quantity.description.clone(),
        }),
        causality: variable.causality,
        variability: variable.variability,
        initial: variable.initial,
        can_handle_multiple_set_per_time_instant: None,
        dimensions: Vec::new(),
        intermediate_update: false,
        kind,
    }
}

/// Returns the description of a Boolean from that of the real number that it is in FMI 2.0.
fn in_terms_of_truth(description: &str) -> String {
    [
        ("rises above 0.5", "becomes true"),
        ("falls to 0.5", "becomes false"),
        ("while above 0.5", "while true"),
        ("1 while", "true while"),
        (", 0 otherwise", ""),
    ]
    .iter()
    .fold(description.to_owned(), |text, (number, truth)| {
        text.replace(number, truth)
    })
}

/// Largest length of a list of dependencies that has `dependenciesKind` as well. Kinds take more
/// text than indices, so longer lists are without them, for the size of the XML.
const LONGEST_WITH_KINDS: usize = 32;

/// Largest total number of dependencies of all initial unknowns with which every list is written
/// (about 1 MB of XML).
const ALL_AT_START: usize = 200_000;

/// Largest number of dependencies written for one initial unknown if the total exceeds
/// [`ALL_AT_START`]. A longer list is left out: the unknown then may depend on all parameters and
/// inputs.
const LONGEST_AT_START: usize = 300;

/// Returns the knowns of FMI 3.0 beyond those of FMI 2.0 (FMI 3.0, §2.4.8) that an unknown may depend
/// on: during a run tunable parameters, and always the time. Fixed parameters are left out during a
/// run, since their values cannot change then. All tunable ones are listed, whether they act on the
/// unknown or not: their paths are not traced. States, and derivatives of positions, which follow from
/// the rates, depend on neither.
fn additional(registry: &Registry, slot: Slot, is_start: bool) -> Vec<Slot> {
    let model = registry.model();
    let is_state = matches!(slot, Slot::State(_));
    let is_kinematic = matches!(slot, Slot::Derivative(i) if i < model.rates().start);
    let has_time = match is_start {
        true if is_state || is_kinematic => model.starts_depend_on_time(),
        false if is_state || is_kinematic => false,
        _ => model.depends_on_time(),
    };
    let is_tunable = |&i: &usize| registry.parameter(i).tunable && !(is_state || is_kinematic || is_start);
    let tunable = (0..model.parameters.len()).filter(is_tunable).map(Slot::Parameter);
    tunable.chain(has_time.then_some(Slot::Time)).collect()
}

/// Returns outputs, derivatives and initial unknowns (§2.2.8), each with its dependencies; for FMI 3.0
/// also the event indicators.
fn structure(registry: &Registry, standard: Standard, interfaces: Interfaces) -> ModelStructure {
    let model = registry.model();
    let dependencies = Dependencies::of(model);
    let unknown = |slot: Slot, knowns: Option<&Knowns>, is_start: bool| {
        let Some(knowns) = knowns else {
            return Unknown::of(index(registry, slot));
        };
        let inputs = knowns.inputs.iter();
        let inputs = inputs.map(|&i| (Slot::Input(i), knowns.constant_inputs.contains(&i)));
        let states = knowns.states.iter();
        let states = states.map(|&i| (Slot::State(i), knowns.constant_states.contains(&i)));
        let parameters = knowns.parameters.iter().map(|&i| (Slot::Parameter(i), false));
        // In ascending order of the indices, so that each kind belongs to its dependency.
        let additional = match standard {
            Standard::Fmi2 => Vec::new(),
            Standard::Fmi3 => additional(registry, slot, is_start),
        };
        let additional = additional.into_iter().map(|slot| (slot, false));
        let listed = inputs.chain(states).chain(parameters).chain(additional);
        let listed: Vec<(Slot, bool)> = listed.collect();
        let kind = |&(_, is_constant): &(Slot, bool)| match is_constant {
            true => DependencyKind::Constant,
            false => DependencyKind::Dependent,
        };
        let has_kinds = listed.iter().any(|&(_, is_constant)| is_constant) && listed.len() <= LONGEST_WITH_KINDS;
        Unknown {
            dependencies_kind: has_kinds.then(|| listed.iter().map(kind).collect()),
            ..Unknown::depending_on(
                index(registry, slot),
                listed.iter().map(|&(known, _)| index(registry, known)),
            )
        }
    };
    let row = |rows: fn(&Dependencies) -> &Vec<Knowns>, i: usize| dependencies.as_ref().map(|of| &rows(of)[i]);
    let outputs = registry.variables().filter_map(|v| match v.slot {
        Slot::Parameter(_) | Slot::Input(_) | Slot::Time | Slot::Indicator(_) => None,
        Slot::State(i) => {
            let own = Knowns {
                states: vec![i],
                constant_states: vec![i],
                ..Knowns::default()
            };
            Some(unknown(v.slot, Some(&own), false))
        }
        Slot::Derivative(i) => Some(unknown(v.slot, row(|of| &of.derivatives, i), false)),
        Slot::Output(i) => Some(unknown(v.slot, row(|of| &of.outputs, i), false)),
    });
    // Every variable except parameters and inputs is an initial unknown.
    let length = |knowns: &Knowns| knowns.parameters.len() + knowns.inputs.len();
    let at_start = dependencies
        .iter()
        .flat_map(|of| [&of.initial_states, &of.initial_derivatives, &of.initial_outputs]);
    let longest = match at_start.flatten().map(length).sum::<usize>() <= ALL_AT_START {
        true => usize::MAX,
        false => LONGEST_AT_START,
    };
    let initial_unknowns = registry.variables().filter_map(|v| {
        let knowns = match v.slot {
            Slot::Parameter(_) | Slot::Input(_) | Slot::Time | Slot::Indicator(_) => return None,
            Slot::State(i) => row(|of| &of.initial_states, i),
            Slot::Derivative(i) => row(|of| &of.initial_derivatives, i),
            Slot::Output(i) => row(|of| &of.initial_outputs, i),
        };
        let knowns = knowns.filter(|knowns| length(knowns) <= longest);
        Some(unknown(v.slot, knowns, true))
    });
    let has_indicators = interfaces.offer(Interface::ModelExchange);
    let indicators = registry.variables().filter(|v| matches!(v.slot, Slot::Indicator(_)));
    let event_indicators = indicators
        .filter(|_| has_indicators)
        .map(|v| Unknown::of(index(registry, v.slot)));
    ModelStructure {
        outputs: outputs.collect(),
        derivatives: (0..model.states.len())
            .map(|i| unknown(Slot::Derivative(i), row(|of| &of.derivatives, i), false))
            .collect(),
        initial_unknowns: initial_unknowns.collect(),
        event_indicators: event_indicators.collect(),
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::fmu::testing::{Outcome, two_link};

    unit_tests![dependencies_agree_with_the_mechanics];

    fn dependencies_agree_with_the_mechanics() -> Outcome {
        let model = two_link()?;
        let registry = Registry::new(Arc::clone(&model), Naming::Structured);
        let xml = describe(&model, Naming::Structured, Interfaces::Both)?;
        let name = |index: &u32| xml.variable(*index).map_or("", |v| v.name.as_str()).to_owned();
        let depends = |unknowns: &[Unknown], of: &str| -> Result<Vec<String>, String> {
            let reference = registry.find(of).ok_or(of.to_owned())?.value_reference;
            let found = unknowns.iter().find(|u| u.index == reference + 1);
            let knowns = found.and_then(|u| u.dependencies.as_ref()).ok_or(of.to_owned())?;
            Ok(knowns.iter().map(name).collect())
        };
        let ModelStructure {
            outputs,
            derivatives,
            initial_unknowns,
            ..
        } = &xml.model_structure;
        assert_eq!(depends(derivatives, "der(elbow.q)")?, ["elbow.qd"]);
        assert_eq!(depends(derivatives, "der(base.r[2])")?, ["base.v[2]"]);
        assert_eq!(depends(outputs, "base.r[2]")?, ["base.r[2]"]);
        let kinds = |of: &str| {
            let reference = registry.find(of).map(|v| v.value_reference);
            let found = derivatives.iter().find(|u| Some(u.index) == reference.map(|r| r + 1));
            found.and_then(|u| u.dependencies_kind.clone())
        };
        assert_eq!(kinds("der(base.r[2])"), Some(vec![DependencyKind::Constant]));
        assert_eq!(kinds("der(elbow.qd)"), None);
        // Without gravity the joints do not depend on the spacecraft's pose or velocity.
        assert_eq!(
            depends(derivatives, "der(elbow.qd)")?,
            [
                "shoulder.tau",
                "shoulder.q_ref",
                "shoulder.qd_ref",
                "shoulder.servo",
                "elbow.tau",
                "shoulder.q",
                "elbow.q",
                "base.w[1]",
                "base.w[2]",
                "base.w[3]",
                "shoulder.qd",
                "elbow.qd",
            ]
        );
        assert_eq!(depends(outputs, "elbow.out_of_range")?, ["elbow.q"]);
        assert_eq!(depends(initial_unknowns, "elbow.q")?, ["elbow.q_start"]);
        let initially = depends(initial_unknowns, "der(elbow.qd)")?;
        for (known, acts) in [
            ("link2.mass", true),
            ("base.inertia_xy", true),
            ("elbow.axis[1]", true),
            ("elbow.tau", true),
            ("base.w_start[1]", true),
            ("base.r_start[1]", false),
            // An importer may start the elbow beyond its range.
            ("elbow.stop_stiffness", true),
            ("solver.work_limit", false),
        ] {
            assert_eq!(initially.iter().any(|name| name == known), acts, "{known}");
        }
        Ok(())
    }
}
