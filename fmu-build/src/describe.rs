use crate::craft::Craft;
use crate::platform::Platform;
use crate::text::{aligned, number, say, size};
use crate::words::{interfaces, start};
use crate::{archive, is_fmu};
use grapple::fmu::description::{Interfaces, describe};
use grapple::fmu::registry::Naming;
use miette::{IntoDiagnostic, Result, WrapErr};
use model_description::{Causality, ModelDescription, ScalarVariable};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Tell what an FMU, or that of a spec, has: variables, units, capabilities.
///
///   grapple describe my_arm.fmu
///   grapple describe my_arm.toml | less
///   grapple describe my_arm.fmu --inputs-template inputs.csv
///
/// The template is a CSV file with a column for time and one for each input, and
/// one row with their start values: fill in more rows and give it to FMPy
/// (`fmpy simulate --input-file inputs.csv`).
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// An FMU, of this or any other tool, or a spec
    model: PathBuf,
    /// Also write a CSV file to fill in with values of the inputs
    #[arg(long, value_name = "FILE")]
    inputs_template: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let (description, platforms) = if is_fmu(&arguments.model) {
        (
            archive::description(&arguments.model)?,
            archive::platforms(&arguments.model)?,
        )
    } else {
        let model = Craft::read(&arguments.model)?.model;
        let description = describe(&model, Naming::Structured, Interfaces::Both).into_diagnostic()?;
        (description, vec![Platform::here().to_string()])
    };
    say(told(&description, &platforms, file_size(&arguments.model)).trim_end())?;
    if let Some(path) = &arguments.inputs_template {
        std::fs::write(path, inputs_template(&description))
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", path.display()))?;
        say(&format!("\ninputs template: {}", path.display()))?;
    }
    Ok(())
}

fn file_size(path: &Path) -> Option<usize> {
    let length = is_fmu(path).then(|| std::fs::metadata(path).ok()?.len().try_into().ok());
    length.flatten()
}

/// The whole text.
fn told(description: &ModelDescription, platforms: &[String], bytes: Option<usize>) -> String {
    let mut text = format!("{}\n", description.model_name);
    if let Some(words) = &description.description {
        text += &format!("{words}\n");
    }
    text += "\n";
    text += &aligned(&facts(description, platforms, bytes));
    section(&mut text, "capabilities", &capabilities(description));

    let states: Vec<u32> = description.continuous_states().collect();
    let is_state = |index: u32| states.contains(&index);
    let group = |wanted: &dyn Fn(u32, &ScalarVariable) -> bool| {
        let members = description.indexed_variables().filter(|(i, v)| wanted(*i, v));
        members.map(|(_, v)| row(description, v)).collect::<Vec<_>>()
    };
    let derivative = |v: &ScalarVariable| v.derivative().is_some();
    section(&mut text, "states", &group(&|i, _| is_state(i)));
    section(&mut text, "inputs", &group(&|_, v| v.causality == Causality::Input));
    section(
        &mut text,
        "outputs",
        &group(&|i, v| v.causality == Causality::Output && !is_state(i) && !derivative(v)),
    );
    section(
        &mut text,
        "locals",
        &group(&|i, v| v.causality == Causality::Local && !is_state(i) && !derivative(v)),
    );
    section(
        &mut text,
        "parameters",
        &group(&|_, v| v.causality == Causality::Parameter),
    );
    text
}

fn section<const N: usize>(text: &mut String, title: &str, rows: &[[String; N]]) {
    if !rows.is_empty() {
        let title = match title {
            "capabilities" => title.to_owned(),
            _ => format!("{title} ({})", rows.len()),
        };
        let _ = write!(text, "\n{title}\n{}", aligned(rows));
    }
}

fn facts(description: &ModelDescription, platforms: &[String], bytes: Option<usize>) -> Vec<[String; 2]> {
    let mut facts = vec![("FMI 2.0".to_owned(), interfaces(description).to_owned())];
    let mut fact = |label: &str, value: Option<String>| facts.extend(value.map(|value| (label.to_owned(), value)));
    fact("platforms", Some(platforms.join(", ")));
    fact("size", bytes.map(size));
    fact("made by", description.generation_tool.clone());
    fact("GUID", Some(description.guid.clone()));
    fact(
        "event indicators",
        description.number_of_event_indicators.map(|n| n.to_string()),
    );
    if let Some(run) = &description.default_experiment {
        let seconds = |time: Option<f64>| time.map(|t| format!("{} s", number(t, 6)));
        fact("stop time", seconds(run.stop_time));
        fact("step", seconds(run.step_size));
        fact("tolerance", run.tolerance.map(|t| number(t, 3)));
    }
    facts.into_iter().map(|(label, value)| [label, value]).collect()
}

/// One row for each capability: Model Exchange, Co-Simulation.
fn capabilities(description: &ModelDescription) -> Vec<[String; 3]> {
    let exchange = description.model_exchange.as_ref();
    let simulation = description.co_simulation.as_ref();
    let word = |answer: Option<bool>| match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "–",
    };
    let order = simulation.map_or("–".to_owned(), |i| match i.max_output_derivative_order {
        0 => "no".to_owned(),
        order => format!("to order {order}"),
    });
    let mut rows = vec![["".to_owned(), "ME".to_owned(), "CS".to_owned()]];
    let mut row = |what: &str, me: Option<bool>, cs: Option<bool>| {
        rows.push([what.to_owned(), word(me).to_owned(), word(cs).to_owned()]);
    };
    row(
        "save and restore the state",
        exchange.map(|i| i.can_get_and_set_fmu_state),
        simulation.map(|i| i.can_get_and_set_fmu_state),
    );
    row(
        "the state as bytes",
        exchange.map(|i| i.can_serialize_fmu_state),
        simulation.map(|i| i.can_serialize_fmu_state),
    );
    row(
        "directional derivatives",
        exchange.map(|i| i.provides_directional_derivative),
        simulation.map(|i| i.provides_directional_derivative),
    );
    row(
        "several instances in one process",
        exchange.map(|i| !i.can_be_instantiated_only_once_per_process),
        simulation.map(|i| !i.can_be_instantiated_only_once_per_process),
    );
    row(
        "steps of different length",
        None,
        simulation.map(|i| i.can_handle_variable_communication_step_size),
    );
    row(
        "derivatives of inputs",
        None,
        simulation.map(|i| i.can_interpolate_inputs),
    );
    rows.push(["derivatives of outputs".to_owned(), "–".to_owned(), order]);
    rows
}

/// Name, unit, start, description.
fn row(description: &ModelDescription, variable: &ScalarVariable) -> [String; 4] {
    [
        variable.name.clone(),
        description.unit_of(variable).unwrap_or_default().to_owned(),
        start(variable).unwrap_or_default(),
        variable.description.clone().unwrap_or_default(),
    ]
}

/// `time,<inputs>`, and the start values at time zero.
fn inputs_template(description: &ModelDescription) -> String {
    let inputs = || {
        description
            .model_variables
            .iter()
            .filter(|v| v.causality == Causality::Input)
    };
    let names = inputs().map(|v| v.name.clone());
    let starts = inputs().map(|v| start(v).unwrap_or_else(|| "0".to_owned()));
    let line = |first: &str, rest: &mut dyn Iterator<Item = String>| {
        std::iter::once(first.to_owned())
            .chain(rest)
            .collect::<Vec<_>>()
            .join(",")
    };
    format!(
        "{}\n{}\n",
        line("time", &mut names.into_iter()),
        line("0", &mut starts.into_iter())
    )
}
