use super::output::print;
use fmu_build::describe::describe;
use fmu_build::files::Target;
use fmu_build::package::Package;
use miette::Result;
use std::path::PathBuf;

/// Print variables, units and capabilities of an FMU, or of a spec's FMU.
///
///   grapple describe my_arm.fmu
///   grapple describe my_arm.toml | less
///   grapple describe my_arm.fmu --inputs-template inputs.csv
///
/// The template is a CSV file with a column for time and one for each input, and
/// one row with their start values: fill in more rows and pass it to
/// `grapple simulate --inputs inputs.csv` or `fmpy simulate --input-file inputs.csv`.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// An FMU, of this or any other tool, or a spec
    model: PathBuf,
    /// Also write a CSV file for values of the inputs, to be filled in
    #[arg(long, value_name = "FILE")]
    inputs_template: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let package = Package::of(&arguments.model)?;
    let template = arguments.inputs_template.as_ref();
    let template = template.map(|path| Target::new(path, &package.reads())).transpose()?;
    let description = describe(&package)?;
    print(description.to_string().trim_end())?;
    if let Some(template) = template {
        description.inputs().save(&template)?;
        print(&format!("\ninputs template: {}", template.path().display()))?;
    }
    Ok(())
}
