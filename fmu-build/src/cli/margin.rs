use super::output::print;
use super::progress::Progress;
use fmu_build::margin::interface::Coupling;
use fmu_build::margin::{MarginOptions, SampledLoops};
use fmu_build::text::{count, number};
use fmu_build::{CompiledSpec, Control};
use miette::{Context, IntoDiagnostic, Result, miette};
use std::path::PathBuf;

/// Stability margins of a controller's sampled loops, or of the coupling of two spacecraft.
///
///   grapple margin arm.toml arm_controller.toml                 at the start
///   grapple margin arm.toml arm_controller.toml --at 2.5        at 2.5 s of the arm's own run
///   grapple margin arm.toml arm_controller.toml --sample 0.02   for another sample time
///   grapple margin carrier.toml carried.toml                    the parts of `grapple split`
///
/// The spacecraft is linearised (exact derivatives), its inputs are constant between
/// samples, and the control law is linear: torque limits are left out. Outputs of the
/// controller drive inputs of the same name, as `grapple couple` connects them. A
/// controller without sample_time is sampled at every communication step. Torques act
/// without delay if a master steps the controller before the spacecraft, and one
/// communication step later in the Jacobi algorithm; both are printed. The margins of a
/// loop hold with the other loops closed. With --state they are computed about a saved
/// state, the bytes of fmi2SerializeFMUstate, for example of a coupled run after a
/// capture.
///
/// Of two spacecraft that an interface couples, the longest stable communication steps
/// are printed, about their starts.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The spec of a spacecraft
    spacecraft: PathBuf,
    /// The spec of the controller, or of another spacecraft
    controller: PathBuf,
    /// Linearise at this time, s, of the spacecraft's run by itself, with the spec's signals; by
    /// default at the start, with the start values of the inputs
    #[arg(long, value_name = "T", conflicts_with = "state")]
    at: Option<f64>,
    /// File with a saved state of the spacecraft's FMU
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Sample time, s; by default that of the controller
    #[arg(long, value_name = "H")]
    sample: Option<f64>,
    /// Communication step, s; by default the shorter `step` of the two specs
    #[arg(long, value_name = "H")]
    step: Option<f64>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let [spacecraft, controller] = [&arguments.spacecraft, &arguments.controller].map(|path| CompiledSpec::read(path));
    let (spacecraft, controller) = (spacecraft?, controller?);
    let steps = [&spacecraft, &controller].map(|of| of.model.spec.experiment.step);
    if let Some(coupling) = Coupling::of([&spacecraft, &controller])? {
        if arguments.at.is_some() || arguments.state.is_some() || arguments.sample.is_some() {
            return Err(miette!(
                "--at, --state and --sample are for a controller: an interface is examined at the start"
            ));
        }
        let step = arguments.step.unwrap_or(steps[0].min(steps[1]));
        print(&format!("interface {} at the start of both parts", coupling.interface))?;
        return print(coupling.limits(step)?.to_string().trim_end());
    }
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).into_diagnostic();
        bytes.wrap_err_with(|| format!("cannot read {}", path.display()))
    };
    let options = MarginOptions {
        at: arguments.at,
        state: arguments.state.as_ref().map(read).transpose()?,
        sample: arguments.sample,
        step: arguments.step,
    };
    let loops = SampledLoops::of(&spacecraft, &controller, &options)?;
    let name = |of: &CompiledSpec| of.model.spec.name.clone();
    print(&format!(
        "{} closes {} of {} at {} s, sampled every {} s",
        name(&controller),
        count(loops.inputs.len(), "loop"),
        name(&spacecraft),
        number(loops.t, 6),
        number(loops.sample, 6)
    ))?;
    let mut progress = Progress::new(|done| format!("{done:.0} loops"));
    let control = Control {
        progress: Some(&mut |done, whole| progress.at(done, whole)),
        ..Control::default()
    };
    let margins = loops.margins(control)?;
    drop(progress);
    print(margins.to_string().trim_end())
}
