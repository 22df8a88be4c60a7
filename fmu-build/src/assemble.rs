use crate::compiled_spec::CompiledSpec;
use crate::files::Target;
use crate::text::{aligned, count, number, print};
use grapple::plant::{Assembly, Model, Plant};
use grapple::spec::{FreeStart, JointStart, JointType, PerAxis, Spec};
use miette::{IntoDiagnostic, Result, WrapErr};
use std::path::PathBuf;
use std::sync::Arc;

/// Compute a start that closes the loops of a spec, as near as possible to the written one.
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
    let plant = Plant::new(Arc::clone(model)).into_diagnostic()?;
    let (derived, parameters) = (plant.derived(), plant.parameters());
    let assembly = model.assembly(derived, 0.0, parameters).into_diagnostic()?;
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
        print(aligned(&violations(model, &assembly)).trim_end())?;
    }
    let written = model.start_at(derived, 0.0, parameters);
    let start = (assembly.q.as_slice(), assembly.qd.as_slice());
    print(&changes(model, (&written.0, &written.1), start))?;
    write(&compiled, arguments.output.as_ref(), start, false)
}

/// Returns a row for each loop: its violation as written and after the assembly.
fn violations(model: &Model, assembly: &Assembly) -> Vec<[String; 3]> {
    let shown = |[offset, angle]: &[f64; 2]| format!("{} m, {} rad", number(*offset, 3), number(*angle, 3));
    let head = ["loop", "violation as written", "assembled"].map(str::to_owned);
    let names = model.spec.closed_loop.keys();
    let rows = names.zip(assembly.written.iter().zip(&assembly.residual));
    std::iter::once(head)
        .chain(rows.map(|(name, (before, after))| [name.clone(), shown(before), shown(after)]))
        .collect()
}

/// Returns a table of the coordinates and rates whose start differs from the written one.
pub fn changes(model: &Model, written: (&[f64], &[f64]), start: (&[f64], &[f64])) -> String {
    let names = model.system().states();
    let head = ["variable", "unit", "written", "start"].map(str::to_owned);
    let before = written.0.iter().chain(written.1);
    let after = start.0.iter().chain(start.1);
    // Differences within round-off are not listed.
    let rows = names
        .iter()
        .zip(before.zip(after))
        .filter(|(_, (before, after))| (**before - **after).abs() > 1e-12 * before.abs().max(1.0));
    let rows = rows.map(|(name, (before, after))| {
        let unit = name.unit.symbol().to_owned();
        [name.name.clone(), unit, number(*before, 9), number(*after, 9)]
    });
    let table: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    match table.len() {
        1 => "the start is as written".to_owned(),
        _ => aligned(&table).trim_end().to_owned(),
    }
}

/// Writes the spec with another start, if an output file is given.
pub fn write(
    compiled: &CompiledSpec,
    output: Option<&PathBuf>,
    start: (&[f64], &[f64]),
    in_equilibrium: bool,
) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    let mut spec = with_start(&compiled.model, start);
    if in_equilibrium {
        spec.assembly.get_or_insert_default().equilibrium = true;
    }
    let text = toml::to_string(&spec)
        .into_diagnostic()
        .wrap_err("the spec cannot be written")?;
    Target::new(output.clone(), &compiled.reads)?.write(text)?;
    print(&format!("{}: the spec with this start", output.display()))
}

/// Returns the spec with these coordinates and rates for the joints and free bodies of its system.
fn with_start(model: &Model, (q, qd): (&[f64], &[f64])) -> Spec {
    let mut spec = model.spec.clone();
    for body in &model.system().bodies {
        let joint = &body.joint;
        let (q, qd) = (&q[joint.q..joint.q + joint.nq], &qd[joint.v..joint.v + joint.nv]);
        let three = |of: &[f64]| [of[0], of[1], of[2]];
        if let Some(written) = spec.joint.get_mut(&joint.name).filter(|_| joint.written) {
            written.start = match joint.kind {
                JointType::Fixed => None,
                JointType::Spherical => Some(JointStart {
                    attitude: Some([q[0], q[1], q[2], q[3]]),
                    rate: Some(PerAxis::Each(qd.to_vec())),
                    ..JointStart::default()
                }),
                JointType::Free => Some(JointStart {
                    attitude: Some([q[0], q[1], q[2], q[3]]),
                    position: Some(PerAxis::Each(q[4..].to_vec())),
                    angular_velocity: Some(three(qd)),
                    velocity: Some(three(&qd[3..])),
                    ..JointStart::default()
                }),
                _ => Some(JointStart {
                    position: Some(PerAxis::Each(q.to_vec())),
                    rate: Some(PerAxis::Each(qd.to_vec())),
                    ..JointStart::default()
                }),
            };
        } else if let (JointType::Free, Some(written)) = (joint.kind, spec.body.get_mut(&body.name)) {
            let axes = written.start.as_ref().map(|start| start.axes).unwrap_or_default();
            // Starts relative to the orbit are not changed.
            if axes == grapple::spec::Axes::World {
                written.start = Some(FreeStart {
                    attitude: Some([q[0], q[1], q[2], q[3]]),
                    position: three(&q[4..]),
                    angular_velocity: three(qd),
                    velocity: three(&qd[3..]),
                    rpy_deg: None,
                    axes,
                });
            }
        }
    }
    spec
}
