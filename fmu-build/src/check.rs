use crate::bdf;
use crate::compiled_spec::CompiledSpec;
use crate::summaries::bodies;
use crate::text::{count, number, print, typeset, warn};
use grapple::plant::Plant;
use miette::{IntoDiagnostic, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// List all errors of a spec, with line, name and value.
///
///   grapple check my_arm.toml
///   grapple check --quiet *.toml    problems and warnings only
///
/// A warning reports a value that is legal but unlikely, and does not change the exit
/// code. Lightly damped fast vibrations, for which a BDF method in Model Exchange is
/// unstable, are reported with advice.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Spec files
    #[arg(required = true)]
    specs: Vec<PathBuf>,
    /// Print nothing for a spec without problems or warnings
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut outcome = Ok(());
    for spec in &arguments.specs {
        // The last report is printed by main.
        if let Err(report) = check(spec, arguments.quiet)
            && let Err(earlier) = std::mem::replace(&mut outcome, Err(report))
        {
            warn(&format!("{earlier:?}"));
        }
    }
    outcome
}

fn check(spec: &Path, quiet: bool) -> Result<()> {
    let compiled = CompiledSpec::read(spec)?;
    if !quiet {
        print(&format!("{}: {}", spec.display(), summary(&compiled)))?;
    }
    if !quiet && !compiled.model.spec.closed_loop.is_empty() {
        print(&format!("  {}", loops(&compiled)?))?;
    }
    compiled.remark(quiet)?;
    if !quiet && let Some(advice) = bdf::advice(&compiled.model) {
        print(&format!("  {advice}"))?;
    }
    Ok(())
}

/// Returns "1 loop closed: 5 constraints, 4 independent; mobility 1; the start is moved by at most
/// 0.01 (hinge1.q)".
fn loops(compiled: &CompiledSpec) -> Result<String> {
    let model = &compiled.model;
    let plant = Plant::new(Arc::clone(model)).into_diagnostic()?;
    let (derived, parameters) = (plant.derived(), plant.parameters());
    let closed = model.assembly(derived, 0.0, parameters).into_diagnostic()?;
    let written = model.start_at(derived, 0.0, parameters);
    let before = written.0.iter().chain(&written.1);
    let moved = closed
        .q
        .iter()
        .chain(&closed.qd)
        .zip(before)
        .map(|(after, before)| (after - before).abs());
    let most = moved
        .zip(model.system().states())
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    let start = match most {
        Some((by, state)) if by > 1e-12 => {
            let (by, unit) = (number(by, 3), typeset(state.unit.symbol()));
            format!("the start is moved by at most {by} {unit} ({})", state.name)
        }
        _ => "the start is as written".to_owned(),
    };
    Ok(format!(
        "{} closed: {}, {} independent; mobility {}; {start}",
        count(closed.written.len(), "loop"),
        count(closed.rows, "constraint"),
        closed.rank,
        closed.mobility
    ))
}

/// Returns "no problems: 3 bodies, 2 joints, 18 states, 2 inputs, 58 outputs".
fn summary(compiled: &CompiledSpec) -> String {
    let model = &compiled.model;
    let spec = &model.spec;
    let of = match &spec.controller {
        Some(controller) => format!("a controller of {}", count(controller.joint.len(), "joint")),
        None => format!("{}, {}", bodies(spec), count(spec.joint.len(), "joint")),
    };
    format!(
        "no problems: {of}, {}, {}, {}",
        count(model.states.len(), "state"),
        count(model.inputs.len(), "input"),
        count(model.outputs.len(), "output"),
    )
}
