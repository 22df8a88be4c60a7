use super::interrupt::{self, TemporaryFolder};
use super::output::{print, warn};
use super::progress::Progress;
use fmu_build::Control;
use fmu_build::files::Target;
use fmu_build::fmu::Fmu;
use fmu_build::identify::{IdentificationFile, identify};
use fmu_build::package::Package;
use miette::Result;
use std::path::PathBuf;

/// Identify masses, stiffnesses, start values and other parameters from a measured run.
///
///   grapple identify payload.toml                      estimates with 95 % intervals
///   grapple identify payload.toml --output fit.csv     also the model's run, as a table
///   grapple page measured.csv fit.csv --model arm.toml    both in one page
///
/// An identification is a text file next to the model:
///
///   model = "arm.toml"                 # a spec or an FMU
///   data = "measured.csv"              # a column `time`, and columns named as variables
///
///   [parameter."payload.mass"]
///   guess = 80.0                       # kg; by default the prior's mean or the model's value
///
///   [parameter."elbow.damping"]
///   prior = { mean = 5.0, sigma = 2.0 }
///
/// Columns with names of inputs drive the model, without noise; those with names of
/// states and outputs are compared with it, all of them or those of the sections
/// [measurement."…"], where `sigma` gives the standard deviation of the noise, which is
/// estimated otherwise. Empty cells are values that were not measured. Parameters that
/// the measurement does not determine are named. See docs/identification.md.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The file of the identification
    file: PathBuf,
    /// Also write the measured variables of the model with the estimates: CSV or Parquet
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let file = IdentificationFile::read(&arguments.file)?;
    let reads = [arguments.file.clone(), file.model(), file.data()];
    let output = arguments.output.as_ref().map(|path| Target::new(path, &reads));
    let output = output.transpose()?;
    let package = Package::of(&file.model())?;
    let temporary = TemporaryFolder::new()?;
    let fmu = Fmu::unpack(&package, temporary.path())?;
    let mut progress = Progress::new(|done| format!("step {done:.0}"));
    let control = Control {
        progress: Some(&mut |done, whole| progress.at(done, whole)),
        cancel: Some(interrupt::flag()),
    };
    let identified = identify(&file, &fmu, control)?;
    drop(progress);
    print(identified.to_string().trim_end())?;
    identified.warnings().iter().for_each(|warning| warn(warning));
    if let Some(output) = output {
        identified.fit.table().save(&output)?;
        print(&format!("{}: the run with these values", output.path().display()))?;
    }
    Ok(())
}
