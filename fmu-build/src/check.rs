use crate::craft::Craft;
use crate::text::{count, say};
use crate::words::bodies;
use miette::Result;
use std::path::PathBuf;

/// Find everything that is wrong with a spec, with line, name and value.
///
///   grapple check my_arm.toml
///   grapple check --quiet *.toml    nothing but the exit code and the problems
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Spec files
    #[arg(required = true)]
    specs: Vec<PathBuf>,
    /// Say nothing of a spec without problems
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut outcome = Ok(());
    for spec in &arguments.specs {
        match Craft::read(spec) {
            Ok(craft) => {
                if !arguments.quiet {
                    say(&format!("{}: {}", spec.display(), summary(&craft)));
                }
                craft.remark(arguments.quiet)?;
            }
            // The last report is main's to print.
            Err(report) => {
                if let Err(earlier) = std::mem::replace(&mut outcome, Err(report)) {
                    eprintln!("{earlier:?}");
                }
            }
        }
    }
    outcome
}

/// "no problems: 3 bodies, 2 joints, 18 states, 2 inputs, 58 outputs"
fn summary(craft: &Craft) -> String {
    let model = &craft.model;
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
