use super::libraries::Libraries;
use super::output::{print, warn};
use fmu_build::CompiledSpec;
use fmu_build::couple::couple;
use fmu_build::files::{Target, folder};
use fmu_build::margin::interface::{Coupling, Limits};
use fmu_build::split::{Split, SplitOptions, split};
use fmu_build::text::{count, number};
use miette::{IntoDiagnostic, Result};
use std::path::PathBuf;

/// Divide a spacecraft into two FMUs that are coupled mechanically.
///
///   grapple split held_payload.toml --at gripper            at a grasp or a fixed joint
///   grapple split arm.toml --at elbow --frequency 5 -o out  at a joint that moves
///
/// The carrier gives the motion of a frame and takes a wrench; the carried part takes
/// the motion and gives the wrench of a spring-damper in six directions, the interface.
/// A cut at a grasp keeps its gains, and the two parts together are the model itself. A
/// cut at a joint has an interface with the given frequency and damping ratio, from the
/// effective masses of both sides; of a joint that moves, the child is divided into two
/// halves. Signals are inside the two parts. The command writes the two specs and the
/// SSP file, and prints the longest stable communication steps. The specs get a fifth of
/// the shortest as their step, or the time constant of the fastest mode if that is
/// shorter.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec
    spec: PathBuf,
    /// A joint or a grasp
    #[arg(long, value_name = "NAME")]
    at: String,
    /// Frequency of an interface at a joint, Hz
    #[arg(long, value_name = "F", default_value_t = 10.0)]
    frequency: f64,
    /// Damping ratio of an interface at a joint
    #[arg(long, value_name = "D", default_value_t = 0.7)]
    damping_ratio: f64,
    /// Communication step that the specs get, s
    #[arg(long, value_name = "H", value_parser = super::simulate::positive)]
    step: Option<f64>,
    /// Folder of the files; by default the current one
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    libraries: Libraries,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let whole = CompiledSpec::read(&arguments.spec)?;
    let options = SplitOptions {
        at: arguments.at.clone(),
        frequency: arguments.frequency,
        damping_ratio: arguments.damping_ratio,
    };
    let mut parts = split(&whole, &options)?;
    let limits = limits(&parts)?;
    let written = whole.model.spec.experiment.step;
    let step = arguments.step.unwrap_or_else(|| recommended(&limits, written));
    let into = arguments.output.clone().unwrap_or_default();
    if arguments.output.is_some() {
        folder(&into)?;
    }
    let mut paths = Vec::new();
    // The part with the interface is the first that a master steps.
    let stem = arguments.spec.file_stem().unwrap_or_default().to_string_lossy();
    for (suffix, part) in [("carried", &mut parts.carried), ("carrier", &mut parts.carrier)] {
        part.experiment.step = step;
        let target = Target::new(into.join(format!("{stem}_{suffix}.toml")), &whole.reads)?;
        target.write(grapple::spec::to_toml(part).into_diagnostic()?)?;
        paths.push(target.path().to_owned());
    }
    let libraries = arguments.libraries.read()?;
    let system = couple(&paths, &[], &libraries)?;
    system
        .warnings
        .iter()
        .for_each(|warning| warn(&format!("warning: {warning}")));
    let ssp = Target::new(into.join(format!("{stem}_split.ssp")), &whole.reads)?;
    ssp.write(&system.bytes)?;
    print(limits.to_string().trim_end())?;
    print(&format!(
        "{}: gives the wrench of interface {}",
        paths[0].display(),
        parts.interface
    ))?;
    print(&format!(
        "{}: gives the motion of frame {}",
        paths[1].display(),
        parts.interface
    ))?;
    print(&format!(
        "{}: both, {}; its parts request steps of {} s",
        ssp.path().display(),
        count(system.connections.len(), "connection"),
        number(step, 6)
    ))
}

fn limits(parts: &Split) -> Result<Limits> {
    let [carrier, carried] = [&parts.carrier, &parts.carried].map(CompiledSpec::of);
    let (carrier, carried) = (carrier?, carried?);
    let coupling = Coupling::of([&carrier, &carried])?.expect("the parts have one interface");
    Ok(coupling.limits(carrier.model.spec.experiment.step)?)
}

/// Returns the step for accurate results, rounded down to 1, 2 or 5 times a power of ten, and at most
/// `written`, that of the undivided spacecraft.
fn recommended(limits: &Limits, written: f64) -> f64 {
    let step = limits.accurate();
    let power = 10f64.powi(step.log10().floor() as i32);
    let digits = [5.0, 2.0, 1.0].into_iter();
    let rounded = digits
        .map(|digit| digit * power)
        .find(|rounded| *rounded <= step * (1.0 + 1e-9));
    rounded.unwrap_or(power).min(written)
}
