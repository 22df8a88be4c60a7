use crate::bdf;
use crate::craft::Craft;
use crate::text::{count, say, warn};
use crate::words::bodies;
use miette::Result;
use std::path::{Path, PathBuf};

/// Find everything that is wrong with a spec, with line, name and value.
///
///   grapple check my_arm.toml
///   grapple check --quiet *.toml    nothing but the exit code, problems and warnings
///
/// A warning tells of what is likely not meant, and does not change the exit code.
/// Fast vibrations with little damping, for which a BDF method in Model Exchange is
/// unstable, are reported with advice.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Spec files
    #[arg(required = true)]
    specs: Vec<PathBuf>,
    /// Say nothing of a spec without problems or warnings
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let mut outcome = Ok(());
    for spec in &arguments.specs {
        // The last report is main's to print.
        if let Err(report) = look_at(spec, arguments.quiet)
            && let Err(earlier) = std::mem::replace(&mut outcome, Err(report))
        {
            warn(&format!("{earlier:?}"));
        }
    }
    outcome
}

fn look_at(spec: &Path, quiet: bool) -> Result<()> {
    let craft = Craft::read(spec)?;
    if !quiet {
        say(&format!("{}: {}", spec.display(), summary(&craft)))?;
    }
    craft.remark(quiet)?;
    if !quiet && let Some(advice) = bdf::advice(&craft.model) {
        say(&format!("  {advice}"))?;
    }
    Ok(())
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
