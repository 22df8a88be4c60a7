//! The verbs of the command line: each calls a function of the library; its module defines the
//! arguments and prints the results.

use super::{
    assemble, build, campaign, check, completions, couple, demo, describe, equilibrium, identify, import, interrupt,
    linearize, margin, modelica, new, output, page, plan, schema, simulate, split,
};
use clap::{CommandFactory, Parser, Subcommand};
use fmu_build::Error;
use std::ffi::OsString;

/// Dynamics of flexible space manipulators as an FMU.
///
/// A spacecraft is described in one text file, the spec. `build` makes an FMU of it that runs in
/// any tool that imports FMI 2.0, in Model Exchange and in Co-Simulation; no compiler is needed.
#[derive(Parser)]
#[command(name = "grapple", version, long_version = LONG_VERSION, after_help = EXAMPLE, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    verb: Verb,
}

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nFMI 2.0 (Model Exchange, Co-Simulation), ",
    env!("GRAPPLE_PLATFORM")
);

const EXAMPLE: &str = "\
The first five minutes:
  grapple demo                    a run of an example, and its page
  grapple new my_arm              a commented spec to start from
  grapple check my_arm.toml       all its errors
  grapple simulate my_arm.toml    a run: results and a page
  grapple build my_arm.toml       my_arm.fmu

Exit code: 0 success; 1 error in a spec, an FMU or a run; 2 error in the command
line; 3 all runs of the command are done, but some failed; 130 interrupted (Ctrl-C,
SIGTERM), with the results so far saved.";

#[derive(Subcommand)]
enum Verb {
    Demo(demo::Arguments),
    New(new::Arguments),
    Import(import::Arguments),
    Check(check::Arguments),
    Assemble(assemble::Arguments),
    Equilibrium(equilibrium::Arguments),
    Plan(plan::Arguments),
    Build(build::Arguments),
    Couple(couple::Arguments),
    Split(split::Arguments),
    Modelica(modelica::Arguments),
    Describe(describe::Arguments),
    Simulate(simulate::Arguments),
    Page(page::Arguments),
    Campaign(campaign::Arguments),
    Identify(identify::Arguments),
    Linearize(linearize::Arguments),
    Margin(margin::Arguments),
    Schema(schema::Arguments),
    Completions(completions::Arguments),
}

/// Runs the command line `words`, the first of which is the name of the program, and returns its exit
/// code. It prints, and handles Ctrl-C and SIGTERM.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let command = match CommandLine::try_parse_from(words) {
        Ok(command) => command,
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match run(command.verb) {
        Ok(()) => 0,
        Err(report) => {
            output::warn(&format!("{report:?}"));
            if report.is::<campaign::Failed>() {
                3
            } else if matches!(report.downcast_ref(), Some(Error::Interrupted(_))) {
                interrupt::EXIT_CODE
            } else {
                1
            }
        }
    }
}

fn run(verb: Verb) -> miette::Result<()> {
    match verb {
        Verb::Demo(arguments) => demo::run(&arguments, |words| {
            let words = ["grapple"].iter().chain(words);
            run(CommandLine::parse_from(words).verb)
        }),
        Verb::New(arguments) => new::run(&arguments),
        Verb::Import(arguments) => import::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Assemble(arguments) => assemble::run(&arguments),
        Verb::Equilibrium(arguments) => equilibrium::run(&arguments),
        Verb::Plan(arguments) => plan::run(&arguments),
        Verb::Build(arguments) => build::run(&arguments),
        Verb::Couple(arguments) => couple::run(&arguments),
        Verb::Split(arguments) => split::run(&arguments),
        Verb::Modelica(arguments) => modelica::run(&arguments),
        Verb::Describe(arguments) => describe::run(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Page(arguments) => page::run(&arguments),
        Verb::Campaign(arguments) => campaign::run(&arguments),
        Verb::Identify(arguments) => identify::run(&arguments),
        Verb::Linearize(arguments) => linearize::run(&arguments),
        Verb::Margin(arguments) => margin::run(&arguments),
        Verb::Schema(arguments) => schema::run(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments, CommandLine::command()),
    }
}
