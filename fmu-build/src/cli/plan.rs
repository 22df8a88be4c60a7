use super::output::print;
use fmu_build::CompiledSpec;
use fmu_build::files::Target;
use fmu_build::table::{Cells, Table};
use fmu_build::text::{aligned, number};
use grapple::plant::Planned;
use grapple::spec::{Joint, Spec};
use grapple::system::{Unit, significant};
use miette::Result;
use std::path::PathBuf;

/// Print the planned motions of a spec's joints, [plan.<name>].
///
///   grapple plan approach.toml                   ends, largest rates, accelerations
///   grapple plan approach.toml -o motions.csv    the references over time
///
/// A plan moves frames to their goals by inverse kinematics of the joints. The file
/// has a column for each reference, as `grapple simulate --inputs` reads it for an
/// FMU of the spec without its plans.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec with plans
    spec: PathBuf,
    /// A file for the references at the times of all plans: `.csv` or `.parquet`
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let compiled = CompiledSpec::read(&arguments.spec)?;
    let spec = &compiled.model.spec;
    let plans = CompiledSpec::plans(&arguments.spec)?;
    if plans.is_empty() {
        return print("the spec has no [plan.<name>]");
    }
    for (name, planned) in &plans {
        let [from, until] = [planned.times.first(), planned.times.last()].map(|t| number(*t.unwrap_or(&0.0), 6));
        print(&format!("plan \"{name}\", {from} s to {until} s:\n"))?;
        print(&aligned(&rows(spec, planned)))?;
    }
    let Some(output) = &arguments.output else { return Ok(()) };
    let target = Target::new(output, &compiled.reads)?;
    references(spec, &plans).save(&target)?;
    print(&format!("{}: the references", output.display()))
}

/// Returns a row for each joint: ends of its motion, largest rate and acceleration.
fn rows(spec: &Spec, planned: &Planned) -> Vec<[String; 6]> {
    let head = [
        "joint",
        "unit",
        "from",
        "to",
        "largest rate, /s",
        "largest acceleration, /s²",
    ]
    .map(str::to_owned);
    let joints = planned.joints.iter().zip(&planned.courses);
    let rows = joints.map(|(joint, [positions, rates, accelerations])| {
        // Angles and lengths of joints are of the order of one.
        let shown = |x: f64, digits| number(significant(x, 1.0), digits);
        let largest = |column: &[f64]| shown(column.iter().fold(0.0, |most, x| x.abs().max(most)), 4);
        let end = |position: Option<&f64>| shown(*position.unwrap_or(&0.0), 6);
        [
            joint.clone(),
            unit(spec, joint).symbol().to_owned(),
            end(positions.first()),
            end(positions.last()),
            largest(rates),
            largest(accelerations),
        ]
    });
    std::iter::once(head).chain(rows).collect()
}

/// Returns the unit of a joint's position.
fn unit(spec: &Spec, joint: &str) -> Unit {
    match spec.joint.get(joint).is_some_and(|joint| joint.kind.is_angular(0)) {
        true => Unit::Radian,
        false => Unit::Metre,
    }
}

/// Returns the references of all plans at the times of all their knots; before and after its own
/// times a plan's joints rest.
fn references(spec: &Spec, plans: &[(String, Planned)]) -> Table<'static> {
    let mut times: Vec<f64> = plans
        .iter()
        .flat_map(|(_, planned)| planned.times.iter().copied())
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let mut table = Table::default();
    table.push("time", "s", Cells::Real(times.clone().into()));
    for (_, planned) in plans {
        for (j, joint) in planned.joints.iter().enumerate() {
            let units = match unit(spec, joint) {
                Unit::Radian => [Unit::Radian, Unit::RadianPerSecond, Unit::RadianPerSecond2],
                _ => [Unit::Metre, Unit::MetrePerSecond, Unit::MetrePerSecond2],
            };
            let references: Vec<[f64; 3]> = times.iter().map(|&t| planned.at(j, t)).collect();
            // A servo without feed-forward has no input for the acceleration.
            let fields = if spec.joint.get(joint).is_some_and(Joint::feeds_forward) {
                3
            } else {
                2
            };
            let inputs = ["q_ref", "qd_ref", "qdd_ref"].into_iter().zip(units).take(fields);
            for (k, (field, unit)) in inputs.enumerate() {
                let cells: Vec<f64> = references.iter().map(|reference| reference[k]).collect();
                table.push(format!("{joint}.{field}"), unit.symbol(), Cells::Real(cells.into()));
            }
        }
    }
    table
}
