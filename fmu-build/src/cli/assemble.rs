use super::output::print;
use fmu_build::CompiledSpec;
use fmu_build::files::Target;
use fmu_build::starts::{SolvedStart, assemble};
use fmu_build::text::{aligned, count, number};
use grapple::plant::{Assembly, Model};
use miette::Result;
use std::path::PathBuf;

/// Compute a start that closes the loops of a spec, as near as possible to the spec's own.
///
///   grapple assemble bricard.toml                  violations and assembled start
///   grapple assemble bricard.toml -o closed.toml   the spec with that start
///
/// A run assembles its start by itself, unless the spec requests an equilibrium,
/// which `grapple equilibrium` prints. The section [assembly] of the spec lists joints
/// that are not moved and weights of the others.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec
    spec: PathBuf,
    /// A file for the spec with the solved start (without comments)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let compiled = CompiledSpec::read(&arguments.spec)?;
    let model = &compiled.model;
    let assembled = assemble(model)?;
    let assembly = &assembled.assembly;
    let independent = format!("{} independent", assembly.rank);
    print(&format!(
        "{}: {}, {} ({independent}, {} redundant), mobility {}",
        model.spec.name,
        count(assembly.written.len(), "loop"),
        count(assembly.rows, "constraint"),
        assembly.rows - assembly.rank,
        assembly.mobility
    ))?;
    if !assembly.written.is_empty() {
        print(aligned(&violations(model, assembly)).trim_end())?;
    }
    report(&compiled, &assembled.start, arguments.output.as_ref())
}

/// Returns a row for each loop: its violation at the spec's start and after the assembly.
fn violations(model: &Model, assembly: &Assembly) -> Vec<[String; 3]> {
    let shown = |[offset, angle]: &[f64; 2]| format!("{} m, {} rad", number(*offset, 3), number(*angle, 3));
    let head = ["loop", "violation in the spec", "assembled"].map(str::to_owned);
    let names = model.spec.closed_loop.keys();
    let rows = names.zip(assembly.written.iter().zip(&assembly.residual));
    std::iter::once(head)
        .chain(rows.map(|(name, (before, after))| [name.clone(), shown(before), shown(after)]))
        .collect()
}

/// Prints a solved start, and writes the spec with this start if an output file is given.
pub fn report(compiled: &CompiledSpec, start: &SolvedStart, output: Option<&PathBuf>) -> Result<()> {
    print(&changes(start))?;
    let Some(output) = output else { return Ok(()) };
    Target::new(output, &compiled.reads)?.write(start.toml()?)?;
    print(&format!("{}: the spec with this start", output.display()))
}

/// Returns a table of the coordinates and rates whose solved start differs from the spec's.
fn changes(start: &SolvedStart) -> String {
    let head = ["variable", "unit", "written", "start"].map(str::to_owned);
    // Differences within round-off are not listed.
    let rows = start
        .each()
        .filter(|(_, before, after)| (before - after).abs() > 1e-12 * before.abs().max(1.0));
    let rows = rows.map(|(state, before, after)| {
        let unit = state.unit.symbol().to_owned();
        [state.name.clone(), unit, number(before, 9), number(after, 9)]
    });
    let table: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    match table.len() {
        1 => "the start is that of the spec".to_owned(),
        _ => aligned(&table).trim_end().to_owned(),
    }
}
