//! The registry as FMI's XML (§2.2): what the FMU can do, its variables, and what depends on what.
//!
//! A capability that is not there is declared false.

use super::log::CATEGORIES;
use super::registry::{Guid, Naming, Registry, Slot, Variable};
use crate::Error;
use crate::plant::Model;
use crate::system::Unit;
use model_description::{
    BaseUnit, Boolean, Category, CoSimulation, DefaultExperiment, DisplayUnit, Kind, ModelDescription, ModelExchange,
    ModelStructure, NamingConvention, Real, ScalarVariable, Unknown,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which of FMI's two interfaces an archive offers; some importers mis-handle archives with both.
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

/// The model description of a compiled model.
///
/// # Errors
/// [`Error::Spec`] when two variables would bear one name; [`Error::Format`] when the model cannot be
/// written as bytes, of which the GUID is made.
pub fn describe(model: &Arc<Model>, naming: Naming, interfaces: Interfaces) -> Result<ModelDescription, Error> {
    let registry = Registry::new(Arc::clone(model), naming);
    registry.check_names()?;
    let guid = Guid::new(&model.to_bytes()?, naming);
    let spec = &model.spec;
    let described = (!spec.description.is_empty()).then(|| spec.description.clone());
    Ok(ModelDescription {
        model_name: spec.name.clone(),
        guid: guid.to_string(),
        description: described,
        generation_tool: Some(concat!("grapple ", env!("CARGO_PKG_VERSION")).to_owned()),
        variable_naming_convention: match naming {
            Naming::Structured => NamingConvention::Structured,
            Naming::Flat => NamingConvention::Flat,
        },
        number_of_event_indicators: u32::try_from(model.indicator_count()).ok(),
        model_exchange: (interfaces != Interfaces::CoSimulation).then(|| model_exchange(&spec.name)),
        co_simulation: (interfaces != Interfaces::ModelExchange).then(|| co_simulation(&spec.name)),
        unit_definitions: units(&registry),
        log_categories: CATEGORIES
            .iter()
            .map(|(_, name, description)| Category {
                name: (*name).to_owned(),
                description: Some((*description).to_owned()),
            })
            .collect(),
        default_experiment: Some(DefaultExperiment {
            start_time: Some(0.0),
            stop_time: Some(spec.experiment.stop_time),
            tolerance: Some(spec.experiment.tolerance),
            step_size: Some(spec.experiment.step),
        }),
        model_variables: registry.variables().map(|v| variable(&registry, &v)).collect(),
        model_structure: structure(&registry),
        ..ModelDescription::default()
    })
}

fn model_exchange(identifier: &str) -> ModelExchange {
    ModelExchange {
        model_identifier: identifier.to_owned(),
        completed_integrator_step_not_needed: true,
        can_not_use_memory_management_functions: true,
        can_get_and_set_fmu_state: true,
        can_serialize_fmu_state: true,
        ..ModelExchange::default()
    }
}

fn co_simulation(identifier: &str) -> CoSimulation {
    CoSimulation {
        model_identifier: identifier.to_owned(),
        can_handle_variable_communication_step_size: true,
        can_interpolate_inputs: true,
        max_output_derivative_order: 1,
        can_not_use_memory_management_functions: true,
        can_get_and_set_fmu_state: true,
        can_serialize_fmu_state: true,
        ..CoSimulation::default()
    }
}

/// Every unit in use, with its SI exponents; a pure number has none.
fn units(registry: &Registry) -> Vec<model_description::Unit> {
    let used: BTreeSet<Unit> = registry.variables().map(|v| v.quantity.unit).collect();
    let used = used.into_iter().filter(|&unit| unit != Unit::One);
    used.map(|unit| {
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
                rad: dimension.rad,
                ..BaseUnit::default()
            }),
            display_units: display.into_iter().collect(),
        }
    })
    .collect()
}

/// Index in the XML: counted from one, in the order of the value references.
fn index(registry: &Registry, slot: Slot) -> u32 {
    registry.reference(slot) + 1
}

fn variable(registry: &Registry, variable: &Variable) -> ScalarVariable {
    let quantity = variable.quantity;
    let unit = quantity.unit;
    let kind = match variable.slot {
        Slot::Flag(_) => Kind::Boolean(Boolean::default()),
        slot => Kind::Real(Real {
            unit: (unit != Unit::One).then(|| unit.symbol().to_owned()),
            display_unit: unit.display().map(|(name, _)| name.to_owned()),
            nominal: (quantity.nominal != 1.0).then_some(quantity.nominal),
            start: variable.start,
            derivative: match slot {
                Slot::Derivative(i) => Some(index(registry, Slot::State(i))),
                _ => None,
            },
            ..Real::default()
        }),
    };
    ScalarVariable {
        name: variable.name.clone().into_owned(),
        value_reference: variable.value_reference,
        description: (!quantity.description.is_empty()).then(|| quantity.description.clone()),
        causality: variable.causality,
        variability: variable.variability,
        initial: variable.initial,
        can_handle_multiple_set_per_time_instant: None,
        kind,
    }
}

/// Outputs, derivatives, initial unknowns (§2.2.8). States and plain rates say what they depend on; the
/// others may depend on all.
fn structure(registry: &Registry) -> ModelStructure {
    let model = registry.model();
    let rates = rates(model);
    let unknown = |slot: Slot| {
        let at = index(registry, slot);
        match slot {
            Slot::State(_) => Unknown::depending_on(at, [at]),
            Slot::Derivative(i) => match rates.get(i).copied().flatten() {
                Some(rate) => Unknown::depending_on(at, [index(registry, Slot::State(rate))]),
                None => Unknown::of(at),
            },
            _ => Unknown::of(at),
        }
    };
    let computed = registry.variables().map(|v| v.slot);
    let outputs: Vec<Unknown> = computed
        .filter(|slot| !matches!(slot, Slot::Parameter(_) | Slot::Input(_)))
        .map(unknown)
        .collect();
    ModelStructure {
        derivatives: (0..model.states.len()).map(|i| unknown(Slot::Derivative(i))).collect(),
        // Every output is calculated, the states and their derivatives among them.
        initial_unknowns: outputs.iter().map(|output| Unknown::of(output.index)).collect(),
        outputs,
    }
}

/// For each state the state that is its derivative, where there is one: the coordinates of joints
/// without quaternion.
fn rates(model: &Model) -> Vec<Option<usize>> {
    let system = model.system();
    let mut rates = vec![None; model.states.len()];
    for body in &system.bodies {
        let joint = &body.joint;
        if joint.nq == joint.nv {
            for k in 0..joint.nq {
                if let Some(rate) = rates.get_mut(joint.q + k) {
                    *rate = Some(system.nq + joint.v + k);
                }
            }
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fmu::testing::{Outcome, two_link};

    #[test]
    fn every_flavour_is_legal_and_one_to_one_with_the_registry() -> Outcome {
        let model = two_link()?;
        for naming in [Naming::Structured, Naming::Flat] {
            for interfaces in [Interfaces::Both, Interfaces::ModelExchange, Interfaces::CoSimulation] {
                let xml = describe(&model, naming, interfaces)?;
                assert_eq!(xml.check(), []);
                let registry = Registry::new(Arc::clone(&model), naming);
                assert_eq!(xml.model_variables.len(), registry.len());
                for (written, own) in xml.model_variables.iter().zip(registry.variables()) {
                    assert_eq!(
                        (written.name.as_str(), written.value_reference),
                        (own.name.as_ref(), own.value_reference)
                    );
                }
                assert_eq!(ModelDescription::from_xml(&xml.to_xml()?)?, xml);
                let initial: Vec<u32> = xml.model_structure.initial_unknowns.iter().map(|u| u.index).collect();
                assert_eq!(initial, xml.expected_initial_unknowns());
            }
        }
        Ok(())
    }

    #[test]
    fn the_derivative_of_an_angle_depends_on_its_rate_alone() -> Outcome {
        let model = two_link()?;
        let registry = Registry::new(Arc::clone(&model), Naming::Structured);
        let xml = describe(&model, Naming::Structured, Interfaces::Both)?;
        let index = |name: &str| {
            registry
                .find(name)
                .map(|v| v.value_reference + 1)
                .ok_or(name.to_owned())
        };
        let der = index("der(elbow.q)")?;
        let found = xml.model_structure.derivatives.iter().find(|u| u.index == der);
        assert_eq!(
            found.and_then(|u| u.dependencies.clone()),
            Some(vec![index("elbow.qd")?])
        );
        Ok(())
    }
}
