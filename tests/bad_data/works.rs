//! Checks that a model works for an importer.

use grapple::fmu::component::{Component, Fault};
use grapple::fmu::description::{Interfaces, describe};
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::Interface;
use grapple::fmu::registry::{Naming, ValueType};
use grapple::fmu::status::Status;
use grapple::plant::Model;
use model_description::ModelDescription;
use rand::{Rng, RngExt};
use std::sync::Arc;

/// Limit of evaluations in a step: a mutation can make a spacecraft arbitrarily stiff, and its
/// steps arbitrarily long.
const WORK: f64 = 200.0;

/// Checks one property of a model at random: its serialisation and XML, or a short run. A refusal
/// with a reason passes.
///
/// # Errors
/// The fault, as a message.
pub fn check(rng: &mut impl Rng, model: &Arc<Model>) -> Result<(), String> {
    match rng.random_range(0..3) {
        0 => written(model),
        1 => runs(Interface::CoSimulation, model),
        _ => runs(Interface::ModelExchange, model),
    }
}

/// Checks that the model reads back unchanged, and that its description is legal FMI.
fn written(model: &Arc<Model>) -> Result<(), String> {
    let bytes = model.to_bytes().map_err(|e| e.to_string())?;
    let again = Model::from_bytes(&bytes).map_err(|e| format!("the serialised model is not read: {e}"))?;
    let mut drawn = (*model.spec).clone();
    drawn.remove_shapes();
    if *again.spec != drawn {
        return Err("the model changes when it is written and read".to_owned());
    }
    let xml = match describe(model, Naming::Structured, Interfaces::Both) {
        Ok(xml) => xml,
        Err(error) => return check_message(&error.to_string()),
    };
    if let [problem, ..] = xml.check().as_slice() {
        return Err(format!("the description is not legal: {problem}"));
    }
    let text = xml
        .to_xml()
        .map_err(|e| format!("the description is not written: {e}"))?;
    let read = ModelDescription::from_xml(&text).map_err(|e| format!("the description is not read: {e}"))?;
    if read != xml {
        return Err("the description is read as something else".to_owned());
    }
    Ok(())
}

/// Checks that the model starts, makes a step and has finite values, or is refused with a reason.
fn runs(interface: Interface, model: &Arc<Model>) -> Result<(), String> {
    let made = Component::new(interface, Arc::clone(model), Naming::Structured, Guid([0; 16]), true);
    let mut component = match made {
        Ok(component) => component,
        Err(error) => return check_message(&error.to_string()),
    };
    if refused(start(&mut component))? || refused(component.exit_initialization_mode())? {
        return Ok(());
    }
    refused(run(&mut component)).map(|_| ())
}

/// Runs the initialisation to its end.
pub fn start(component: &mut Component) -> Result<(), Fault> {
    let limit = component
        .registry()
        .find("solver.work_limit")
        .map(|v| v.value_reference);
    let limit = limit.ok_or_else(|| Fault::error("there is no work limit"))?;
    component.set_real(&[limit], &[WORK])?;
    component.setup_experiment(None, 0.0, None)?;
    component.enter_initialization_mode();
    Ok(())
}

/// Makes a short run after the initialisation and reads everything.
pub fn run(component: &mut Component) -> Result<(), Fault> {
    match component.interface() {
        Interface::CoSimulation => {
            let t = component.time();
            component.do_step(t, 0.01)?;
        }
        Interface::ModelExchange => {
            component.new_discrete_states()?;
            component.enter_continuous_time_mode()?;
            let mut x = vec![0.0; component.registry().model().states.len()];
            let mut dx = x.clone();
            let mut z = vec![0.0; component.registry().model().indicator_count()];
            component.get_continuous_states(&mut x)?;
            component.get_derivatives(&mut dx)?;
            component.get_event_indicators(&mut z)?;
            if let Some(i) = dx.iter().chain(&z).position(|value| !value.is_finite()) {
                return Err(wrong(format!(
                    "derivative or indicator {i} of {} is not finite",
                    dx.len()
                )));
            }
            component.enter_event_mode().expect("Model Exchange");
            component.new_discrete_states()?;
        }
    }
    read(component)
}

/// Reads all real variables, which must be finite if they have values.
pub fn read(component: &mut Component) -> Result<(), Fault> {
    let registry = component.registry();
    let variables = registry.variables().filter(|v| v.value_type == ValueType::Real);
    let references: Vec<u32> = variables.map(|v| v.value_reference).collect();
    let mut values = vec![f64::NAN; references.len()];
    component.get_real(&references, &mut values)?;
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => Err(wrong(format!("variable {} is {}", references[i], values[i]))),
        None => Ok(()),
    }
}

/// Returns a fault found by this test; its status `fmi2Fatal` distinguishes it from refusals.
fn wrong(what: String) -> Fault {
    Fault {
        status: Status::Fatal,
        what,
    }
}

/// Returns true if a call was refused with a reason, false if it succeeded.
///
/// # Errors
/// The fault, as a message.
pub fn refused(outcome: Result<(), Fault>) -> Result<bool, String> {
    match outcome {
        Ok(()) => Ok(false),
        Err(fault) if fault.status == Status::Fatal => Err(fault.what),
        Err(fault) => check_message(&fault.what).map(|()| true),
    }
}

/// Checks that a message is neither empty nor too long.
///
/// # Errors
/// If it is.
pub fn check_message(message: &str) -> Result<(), String> {
    match message.trim().len() {
        0 => Err("it is refused without a reason".to_owned()),
        length if length > 1_000_000 => Err(format!("the reason has {length} bytes")),
        _ => Ok(()),
    }
}
