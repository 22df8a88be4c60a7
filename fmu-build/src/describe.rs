//! Variables, units and capabilities of an FMU.

use crate::error::Result;
use crate::package::Package;
use crate::summaries::{interfaces, sorted, start};
use crate::table::{Cells, Table};
use crate::text::{aligned, number, size};
use model_description::{Causality, Kind, ModelDescription, ScalarVariable};
use std::fmt::{self, Write};

/// Description of an FMU; its text has key facts, capabilities and tables of the variables.
pub struct Description {
    /// Model description of the FMU.
    pub model: ModelDescription,
    /// Platforms on which it runs, e.g. "linux64".
    pub platforms: Vec<String>,
    /// Size of its file, bytes; none for a spec, whose FMU has not been built.
    pub size: Option<usize>,
}

/// Describes an FMU of any tool, or the FMU of a spec without building it.
///
/// # Errors
/// An archive that cannot be read.
pub fn describe(package: &Package) -> Result<Description> {
    Ok(Description {
        model: package.description()?,
        platforms: package.platforms()?,
        size: match package {
            Package::Fmu(path) => std::fs::metadata(path).ok().and_then(|file| file.len().try_into().ok()),
            Package::Spec(_) => None,
        },
    })
}

impl Description {
    /// Returns a table for values of the inputs; its only row has the time 0 s and the start
    /// values. Titles have no units, since FMPy takes a column's whole title as the name.
    pub fn inputs(&self) -> Table<'_> {
        let mut table = Table::default();
        table.push("time", "", Cells::Real(vec![0.0].into()));
        for variable in &self.model.model_variables {
            if variable.causality == Causality::Input {
                table.push(&variable.name, "", at_start(&variable.kind));
            }
        }
        table
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &self.model;
        writeln!(f, "{}", model.model_name)?;
        if let Some(sentence) = &model.description {
            writeln!(f, "{sentence}")?;
        }
        let mut text = format!("\n{}", aligned(&facts(self)));
        section(&mut text, "capabilities", &capabilities(model));
        let sorted = sorted(model);
        for (title, members) in [
            ("states", sorted.states),
            ("inputs", sorted.inputs),
            ("outputs", sorted.outputs),
            ("locals", sorted.locals),
            ("parameters", sorted.parameters),
        ] {
            let rows: Vec<_> = members.iter().map(|v| row(model, v)).collect();
            section(&mut text, title, &rows);
        }
        f.write_str(&text)
    }
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

fn facts(of: &Description) -> Vec<[String; 2]> {
    let description = &of.model;
    let mut facts = vec![(
        description.fmi_version.name().to_owned(),
        interfaces(description).to_owned(),
    )];
    let mut fact = |label: &str, value: Option<String>| facts.extend(value.map(|value| (label.to_owned(), value)));
    fact("platforms", Some(of.platforms.join(", ")));
    fact("size", of.size.map(size));
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

/// Returns one row for each capability: Model Exchange, Co-Simulation.
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

/// Returns name, unit, start value and description.
fn row(description: &ModelDescription, variable: &ScalarVariable) -> [String; 4] {
    [
        variable.name.clone(),
        description.unit_of(variable).unwrap_or_default().to_owned(),
        start(variable).unwrap_or_default(),
        variable.description.clone().unwrap_or_default(),
    ]
}

fn at_start(kind: &Kind) -> Cells<'_> {
    match kind {
        Kind::Real(real) => Cells::Real(vec![real.start.unwrap_or(0.0)].into()),
        Kind::Integer(integer) => Cells::Whole(vec![integer.start.unwrap_or(0).into()]),
        Kind::Boolean(boolean) => Cells::Whole(vec![boolean.start.unwrap_or(false).into()]),
        Kind::String(string) => Cells::Words(vec![string.start.as_deref().unwrap_or_default()]),
        Kind::Enumeration(item) => Cells::Whole(vec![item.start.unwrap_or(0).into()]),
    }
}
