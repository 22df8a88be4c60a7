//! The texts and tables of a run's page.

mod tables;
mod tiles;

use crate::charts::{charts, rows};
use crate::diagnostics::Diagnostics;
use crate::fmu::Fmu;
use crate::html::Floats;
use crate::motion::Motion;
use crate::page::{Mark, Page, Variable};
use crate::results::Column;
use crate::run::Run;
use crate::start::prepared;
use crate::summaries::{bodies_and_mass, controlled, joints, method};
use crate::text::{number, typeset};
use grapple::Event;
use grapple::plant::Model;
use std::sync::Arc;

/// Returns the page of a run as one HTML file, with charts, tables and the animated spacecraft. It
/// needs no network.
pub fn page(fmu: &Fmu, run: &Run) -> String {
    let spec = &fmu.model.spec;
    let diagnostics = Diagnostics::of(spec, run);
    let (time, charts) = charts(spec, &run.results, diagnostics.is_free());
    let rows = rows(run.results.time.len());
    let mut foot = vec![
        "Drag to zoom, double-click to zoom out; click a name to hide its line. All charts show the \
         instant under the pointer."
            .to_owned(),
    ];
    if time.len() < run.results.time.len() {
        foot.push(format!(
            "{} of {} rows are plotted.",
            time.len(),
            run.results.time.len()
        ));
    }
    foot.push(format!(
        "{}, FMI 2.0 Co-Simulation, GUID {}. Charts: uPlot; picture: three.js (both MIT licence).",
        fmu.description.generation_tool.as_deref().unwrap_or("grapple"),
        fmu.description.guid
    ));
    let mut messages = messages(run);
    let model = Arc::new(fmu.model.clone());
    let motion = Motion::of(&model, &fmu.meshes, run, &rows).unwrap_or_else(|error| {
        messages.push(format!("The spacecraft is not drawn: {error}"));
        None
    });
    let page = Page {
        name: spec.name.clone(),
        description: spec.description.clone(),
        facts: facts(&model, run),
        messages,
        marks: marks(run),
        diagnostics: tiles::tiles(&diagnostics),
        time,
        tables: tables::tables(run),
        charts,
        motion,
        variables: variables(run, &rows),
        foot,
    };
    page.to_html()
}

/// Returns the messages without a time, and the reason of an early end.
fn messages(run: &Run) -> Vec<String> {
    let failure = run
        .failure
        .as_ref()
        .map(|failure| format!("The run did not reach its end: {}", failure.in_line()));
    run.messages.iter().cloned().chain(failure).collect()
}

/// Returns the marks of all events of the spacecraft.
fn marks(run: &Run) -> Vec<Mark> {
    let mark = |event: &Event| Mark {
        time: event.t,
        text: event.what.to_string(),
        contact: event.contact().is_some(),
    };
    let of_spacecraft = run.events.iter().filter(|event| !event.is_of_solver());
    of_spacecraft.map(mark).collect()
}

/// Returns all recorded variables; a constant variable has a single value.
fn variables(run: &Run, rows: &[usize]) -> Vec<Variable> {
    let variable = |column: &Column| {
        let first = column.values.first();
        let constant = column.values.iter().all(|value| Some(value) == first);
        let rows = if constant { &rows[..rows.len().min(1)] } else { rows };
        Variable {
            name: column.name.clone(),
            unit: typeset(&column.unit),
            values: Floats::of(&[column.values.as_slice()], rows),
        }
    };
    run.results.columns.iter().map(variable).collect()
}

fn facts(model: &Arc<Model>, run: &Run) -> Vec<(String, String)> {
    let spec = &model.spec;
    let plant = prepared(model, &run.results);
    let mass = plant.map_or(f64::NAN, |plant| plant.derived().mass());
    let mut facts = vec![match &spec.controller {
        Some(controller) => ("Controller".to_owned(), controlled(controller)),
        None => ("Spacecraft".to_owned(), bodies_and_mass(spec, mass)),
    }];
    let mut fact = |label: &str, value: String| facts.push((label.to_owned(), value));
    fact("Joints", joints(spec));
    let method = method(spec.solver.method);
    fact(
        "Solver",
        format!("{method}, tolerance {}", number(run.times.tolerance, 3)),
    );
    fact(
        "Run",
        format!(
            "{} s in steps of {} s",
            number(run.times.stop, 6),
            number(run.times.step, 6)
        ),
    );
    facts
}
