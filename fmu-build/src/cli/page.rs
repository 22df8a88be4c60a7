use super::output::{named, print, warn};
use super::simulate::setting;
use fmu_build::files::Target;
use fmu_build::package::Package;
use fmu_build::recorded::{Recorded, RecordedOptions};
use fmu_build::report;
use fmu_build::shapes::Meshes;
use miette::Result;
use std::path::PathBuf;

/// Make the page of results that any program recorded, or compare runs.
///
///   grapple page run.csv --model my_arm.toml          run.html
///   grapple page a.parquet b.csv --model my_arm.fmu   both runs in each chart
///   grapple page loop.csv --model arm.toml --component servoed_arm
///
/// Results are CSV or Parquet with a column `time` (s) and columns named as the
/// variables of the FMU, as grapple, FMPy and OMSimulator write them; times may be
/// irregular. A subset of the variables suffices: positions are computed from the
/// states if they are there, and the page states the parts that cannot be drawn.
///
/// With several results the charts show all runs, each with its dash pattern; the
/// picture and the tables are those of the first.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Results, CSV or Parquet
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// The model of the runs: a spec, or an FMU that grapple built
    #[arg(long, short, value_name = "MODEL")]
    model: PathBuf,
    /// The page; by default the name of the first results with .html, in the current folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Name of the FMU in a system of FMUs, by which the titles of its columns begin
    #[arg(long, value_name = "NAME")]
    component: Option<String>,
    /// Value of a parameter that the runs changed
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, f64)>,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let package = Package::of(&arguments.model)?;
    let model = package.model()?;
    let options = RecordedOptions {
        component: arguments.component.clone(),
        set: arguments.set.clone(),
    };
    let mut reads = package.reads();
    reads.extend(arguments.results.iter().cloned());
    let default = || named(&arguments.results[0], "html");
    let page = Target::new(arguments.output.clone().unwrap_or_else(default), &reads)?;
    let read = |file: &PathBuf| Recorded::read(file, &model, &options);
    let mut recorded = arguments.results.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = recorded.iter().map(|run| run.name.clone()).collect();
    for (run, file) in recorded.iter_mut().zip(&arguments.results) {
        if names.iter().filter(|name| **name == run.name).count() > 1 {
            run.name = file.display().to_string();
        }
    }
    for run in &recorded {
        for remark in &run.remarks {
            warn(&format!("{}: warning: {remark}", run.name));
        }
    }
    let no_meshes = Meshes::default();
    let meshes = package.spec().map_or(&no_meshes, |spec| &spec.meshes);
    page.write(report::page_of_results(&model, meshes, recorded))?;
    print(&format!("{}: open it in a browser", page.path().display()))
}
