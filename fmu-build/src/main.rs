//! `grapple`: converts a text file to an FMU that runs.
//!
//! One module per verb; the other modules serve several verbs:
//!
//! | module | contents |
//! |---|---|
//! | [`new`], [`import`], [`check`], [`assemble`], [`equilibrium`], [`build`], [`couple`], [`describe`], [`simulate`], [`campaign`], [`linearize`], [`schema`], [`completions`] | the verbs |
//! | [`compiled_spec`], [`problems`] | a spec file, read and compiled, or all its errors |
//! | [`package`] | a spec or an FMU, as named on the command line; the FMU of a model |
//! | [`files`] | output files |
//! | [`urdf`] | a URDF file, read, its links merged to bodies, and written as a spec |
//! | [`archive`] | the FMU as a zip file: packed with reproducible bytes, unpacked to run |
//! | [`system_structure`] | several FMUs connected to one system in SSP's format |
//! | [`library`], [`binary`], [`platform`] | the shared libraries of an FMU, and their inspection |
//! | [`documentation`], [`picture`] | the documentation inside an FMU: a page and a drawing of the spacecraft |
//! | [`start`] | the spacecraft at its start, and the shapes of its bodies |
//! | [`html`] | building blocks of HTML pages |
//! | [`fmu`], [`slave`] | an FMU, unpacked and loaded, with safe calls; the only `unsafe` here |
//! | [`run`], [`interrupt`] | a run in Co-Simulation, to its end or until it is interrupted |
//! | [`results`], [`table`], [`diagnostics`], [`charts`], [`motion`], [`page`] | the results of a run: tables and files, events, diagnostics, the page |
//! | [`signals`], [`input_table`] | the inputs that this program sets while it runs an FMU |
//! | [`modes`], [`zeros`], [`matrices`] | a linearised model: its modes, its zero eigenvalues, the files |
//! | [`report`], [`progress`] | texts and tables of the page; a progress bar |
//! | [`summaries`], [`text`] | summaries of a spec; tables, units, numbers as text |

#![deny(unsafe_code)]

mod archive;
mod assemble;
mod bdf;
mod binary;
mod build;
mod campaign;
mod charts;
mod check;
mod compiled_spec;
mod completions;
mod couple;
mod describe;
mod diagnostics;
mod documentation;
mod equilibrium;
mod files;
mod fmu;
mod html;
mod import;
mod input_table;
mod interrupt;
mod library;
mod linearize;
mod matrices;
mod modes;
mod motion;
mod new;
mod package;
mod page;
mod picture;
mod platform;
mod problems;
mod progress;
mod report;
mod results;
mod run;
mod schema;
mod signals;
mod simulate;
mod slave;
mod start;
mod summaries;
mod system_structure;
mod table;
mod text;
mod urdf;
mod zeros;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

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
  grapple new my_arm              a commented spec to start from
  grapple check my_arm.toml       all its errors
  grapple simulate my_arm.toml    a run: results and a page
  grapple build my_arm.toml       my_arm.fmu

Exit code: 0 success; 1 error in a spec, an FMU or a run; 2 error in the command
line; 3 all runs of the command are done, but some failed; 130 interrupted (Ctrl-C,
SIGTERM), with the results so far saved.";

#[derive(Subcommand)]
enum Verb {
    New(new::Arguments),
    Import(import::Arguments),
    Check(check::Arguments),
    Assemble(assemble::Arguments),
    Equilibrium(equilibrium::Arguments),
    Build(build::Arguments),
    Couple(couple::Arguments),
    Describe(describe::Arguments),
    Simulate(simulate::Arguments),
    Campaign(campaign::Arguments),
    Linearize(linearize::Arguments),
    Schema(schema::Arguments),
    Completions(completions::Arguments),
}

fn main() -> ExitCode {
    let outcome = match CommandLine::parse().verb {
        Verb::New(arguments) => new::run(&arguments),
        Verb::Import(arguments) => import::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Assemble(arguments) => assemble::run(&arguments),
        Verb::Equilibrium(arguments) => equilibrium::run(&arguments),
        Verb::Build(arguments) => build::run(&arguments),
        Verb::Couple(arguments) => couple::run(&arguments),
        Verb::Describe(arguments) => describe::run(&arguments),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::Campaign(arguments) => campaign::run(&arguments),
        Verb::Linearize(arguments) => linearize::run(&arguments),
        Verb::Schema(arguments) => schema::run(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments, CommandLine::command()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            text::warn(&format!("{report:?}"));
            if report.is::<campaign::Failed>() {
                ExitCode::from(3)
            } else if report.is::<interrupt::Interrupted>() {
                ExitCode::from(interrupt::EXIT_CODE)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}
