use super::output::print;
use fmu_build::linearize::{LinearizeOptions, linearize};
use fmu_build::text::{count, number};
use fmu_build::{CompiledSpec, Control};
use miette::Result;
use std::path::PathBuf;

/// Linearize a model: matrices A, B, C, D, natural frequencies and damping.
///
///   grapple linearize my_arm.toml            at the start; into my_arm_linear
///   grapple linearize my_arm.toml --at 2.5   at 2.5 s of the spec's own run
///   grapple linearize my_arm.toml --inputs shoulder.tau --outputs tip.r -o a.npz
///
/// The derivatives are exact. The coordinates are those of small motions: attitudes
/// of free bodies and spherical joints are three small rotations about the body's own
/// axes (base.theta[1..3], rad) instead of a quaternion; the work is omitted. The
/// matrix T in the files maps them to the FMU's states.
///
/// Files: linear.json (everything), A.csv … D.csv, modes.txt (the printed text), and
/// linear.npz:
///
///   z = numpy.load("linear.npz"); z["A"]; z["coordinates"].astype(str)
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A spec
    spec: PathBuf,
    /// Time, s, of the spec's own run; by default its start
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = not_negative)]
    at: f64,
    /// Inputs, the columns of B and D: names, or `push.f` for push.f[1..3]; by default all but
    /// switches
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Outputs, the rows of C and D: outputs or states; by default all outputs
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    outputs: Vec<String>,
    /// A folder for all files, or one file that ends in .json or .npz
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let compiled = CompiledSpec::read(&arguments.spec)?;
    let options = LinearizeOptions {
        at: arguments.at,
        inputs: arguments.inputs.clone(),
        outputs: arguments.outputs.clone(),
    };
    let linearized = linearize(&compiled.model, &options, &Control::default())?;
    let (name, linear) = (&compiled.model.spec.name, &linearized.linear);
    linearized
        .events
        .iter()
        .try_for_each(|event| print(&event.to_string()))?;
    print(&format!(
        "{name} at {} s: {}, {}, {}",
        number(linearized.t, 6),
        count(linear.coordinates.len(), "coordinate"),
        count(linear.inputs.len(), "input"),
        count(linear.outputs.len(), "output")
    ))?;
    if let Some((rate, change)) = linear.fastest().filter(|(_, change)| change.abs() > 1e-9) {
        print(&format!(
            "not an equilibrium: der({rate}) = {}; the modes are those of the motion at this instant",
            number(change, 3)
        ))?;
    }
    print(linearized.to_string().trim_end())?;
    let stem = arguments.spec.file_stem().unwrap_or_default().to_string_lossy();
    let default = || PathBuf::from(format!("{stem}_linear"));
    let output = arguments.output.clone().unwrap_or_else(default);
    linearized.save(&output, &compiled.reads)?;
    print(&format!("{}: A, B, C, D", output.display()))
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a time that is not negative".to_owned()),
    }
}
