//! A run of an FMU in Co-Simulation.

use crate::control::Control;
use crate::error::{Result, invalid};
use crate::fmu::{Fmu, is_real, recorded};
use crate::run::{Experiment, Plan, Request, Run};
use grapple::spec::Signal;
use indexmap::IndexMap;
use model_description::Causality;

/// Options of a run; by default it is the spec's experiment.
#[derive(Default)]
pub struct SimulateOptions {
    /// Times and tolerance that replace those of the spec's experiment.
    pub experiment: Experiment,
    /// Signals of inputs, by the input's name; they replace those of the spec.
    pub inputs: IndexMap<String, Signal>,
    /// Values of parameters, and of inputs without a signal, by their names; SI units.
    pub set: Vec<(String, f64)>,
}

/// Runs an FMU to its end, until it fails or until it is cancelled, and records all of its outputs,
/// states and inputs.
///
/// # Errors
/// An unknown name or an invalid value; too many steps or values. A run that ends early is returned
/// with the reason in [`failure`](Run::failure), not as an error.
pub fn simulate(fmu: &Fmu, options: &SimulateOptions, mut control: Control) -> Result<Run> {
    let plan = Plan::new(fmu, &options.experiment, &options.inputs)?;
    let request = Request {
        settings: &settings(fmu, &plan, &options.set)?,
        once: &fmu.variables(|v| v.causality == Causality::Parameter && is_real(v)),
        recorded: &fmu.variables(recorded(&fmu.description)),
        log: if fmu.logs("logEventValues") {
            &["logEventValues", "logSolver"]
        } else {
            &["logEvents", "logSolver"]
        },
    };
    plan.record(fmu, &request, |t| {
        control.report(t, plan.times.stop);
        control.flow()
    })
}

/// Returns the value reference and the value of each setting.
pub(crate) fn settings(fmu: &Fmu, plan: &Plan, set: &[(String, f64)]) -> Result<Vec<(u32, f64)>> {
    let setting = |(name, value): &(String, f64)| {
        let variable = fmu.settable(name)?;
        if plan.drives(variable) {
            return Err(invalid!(
                "{name} is driven by a signal of the spec, or by --inputs; change it there"
            ));
        }
        match value.is_finite() {
            true => Ok((variable.value_reference, *value)),
            false => Err(invalid!("{name} = {value} is not a finite number")),
        }
    };
    set.iter().map(setting).collect()
}
