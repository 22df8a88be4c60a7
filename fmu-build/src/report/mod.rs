//! The texts and tables of a run's page.

mod tables;
mod tiles;

#[cfg(feature = "inside")]
test_modules![tables::tests];

use crate::charts::{charts, rows};
use crate::diagnostics::{Diagnostics, Momentum};
use crate::fmu::Fmu;
use crate::html::Floats;
use crate::motion::Motion;
use crate::page::{Mark, OtherRun, Page, Variable};
use crate::recorded::Recorded;
use crate::results::{Column, Results};
use crate::run::Run;
use crate::shapes::Meshes;
use crate::start::prepared;
use crate::summaries::{bodies_and_mass, controlled, joints, method};
use crate::text::{count, number, typeset};
use grapple::Event;
use grapple::plant::Model;
use grapple::spec::Spec;
use std::sync::Arc;

/// Returns the page of a run as one HTML file, with charts, tables and the animated spacecraft. It
/// needs no network.
pub fn page(fmu: &Fmu, run: &Run) -> String {
    let model = Arc::new(fmu.model.clone());
    let contents = Contents {
        meshes: &fmu.meshes,
        facts: facts(&model, run),
        messages: messages(run),
        diagnostics: Diagnostics::of(&model.spec, run),
        is_simulated: true,
        origin: format!(
            "{}, FMI 2.0 Co-Simulation, GUID {}.",
            fmu.description.generation_tool.as_deref().unwrap_or("grapple"),
            fmu.description.guid
        ),
    };
    contents.page(&model, run, Vec::new()).to_html()
}

/// Returns the page of recorded results of a model. Charts show all runs, the other parts the first.
///
/// # Panics
/// There are no runs.
pub fn page_of_results(model: &Arc<Model>, meshes: &Meshes, recorded: Vec<Recorded>) -> String {
    let several = recorded.len() > 1;
    let mut runs = recorded.into_iter();
    let first = runs.next().expect("at least one run");
    let label = if several { first.name.clone() } else { String::new() };
    let mut contents = Contents {
        meshes,
        facts: vec![
            spacecraft(model, &first.run.results),
            ("Joints".to_owned(), joints(&model.spec)),
            ("Results".to_owned(), extent(&first)),
        ],
        messages: first.remarks.clone(),
        diagnostics: diagnostics(&model.spec, &first),
        is_simulated: false,
        origin: "Results of a recorded run.".to_owned(),
    };
    let mut others = Vec::new();
    for run in runs {
        contents.facts.push(("Compared with".to_owned(), extent(&run)));
        let remarks = run.remarks.iter().map(|remark| format!("{}: {remark}", run.name));
        contents.messages.extend(remarks);
        others.push(other(&model.spec, &run));
    }
    let mut page = contents.page(model, &first.run, others);
    page.label = label;
    page.to_html()
}

/// Returns the diagnostics of recorded results. Momentum is not rated if inputs, which may be
/// external loads, are not in the table.
fn diagnostics(spec: &Spec, recorded: &Recorded) -> Diagnostics {
    let mut diagnostics = Diagnostics::of(spec, &recorded.run);
    if let Some(input) = recorded.missing_inputs.first().filter(|_| diagnostics.is_free()) {
        let why = format!("not rated: the table lacks the input {input}");
        diagnostics.momentum = Some(Momentum::Not(why));
    }
    diagnostics
}

fn other(spec: &Spec, run: &Recorded) -> OtherRun {
    let is_free = diagnostics(spec, run).is_free();
    let (time, charts) = charts(spec, &run.run.results, is_free);
    OtherRun {
        label: run.name.clone(),
        time,
        charts,
        variables: variables(&run.run.results, &rows(run.run.results.time.len())),
    }
}

/// Parts of a page that depend on the origin of its run.
struct Contents<'a> {
    /// Meshes of the shapes.
    meshes: &'a Meshes,
    facts: Vec<(String, String)>,
    messages: Vec<String>,
    diagnostics: Diagnostics,
    /// Set if the effort of the run is known.
    is_simulated: bool,
    origin: String,
}

impl Contents<'_> {
    fn page(self, model: &Arc<Model>, run: &Run, others: Vec<OtherRun>) -> Page {
        let spec = &model.spec;
        let (time, charts) = charts(spec, &run.results, self.diagnostics.is_free());
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
            "{} Charts: uPlot; picture: three.js (both MIT licence).",
            self.origin
        ));
        let mut messages = self.messages;
        let motion = Motion::of(model, self.meshes, run, &rows).unwrap_or_else(|error| {
            messages.push(format!("The spacecraft is not drawn: {error}"));
            None
        });
        Page {
            name: spec.name.clone(),
            description: spec.description.clone(),
            facts: self.facts,
            messages,
            marks: marks(run),
            diagnostics: tiles::tiles(&self.diagnostics, self.is_simulated),
            time,
            tables: tables::tables(run),
            charts,
            label: String::new(),
            others,
            motion,
            variables: variables(&run.results, &rows),
            foot,
        }
    }
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
fn variables(results: &Results, rows: &[usize]) -> Vec<Variable> {
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
    results.columns.iter().map(variable).collect()
}

fn facts(model: &Arc<Model>, run: &Run) -> Vec<(String, String)> {
    let spec = &model.spec;
    let mut facts = vec![spacecraft(model, &run.results)];
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

/// Returns the fact on the bodies and their mass, or on the controller.
fn spacecraft(model: &Arc<Model>, results: &Results) -> (String, String) {
    let mass = prepared(model, results).map_or(f64::NAN, |plant| plant.derived().mass());
    match &model.spec.controller {
        Some(controller) => ("Controller".to_owned(), controlled(controller)),
        None => ("Spacecraft".to_owned(), bodies_and_mass(&model.spec, mass)),
    }
}

/// Returns "arm: 501 rows from 0 s to 5 s".
fn extent(run: &Recorded) -> String {
    let time = &run.run.results.time;
    let [from, until] = [time.first(), time.last()].map(|t| number(*t.unwrap_or(&0.0), 6));
    format!("{}: {} from {from} s to {until} s", run.name, count(time.len(), "row"))
}
