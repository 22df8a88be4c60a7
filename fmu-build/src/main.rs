//! `grapple`: from a text file to an FMU that runs.
//!
//! One file per verb, each a recipe that reads from top to bottom; what several verbs need stands in
//! rooms of its own:
//!
//! | room | holds |
//! |---|---|
//! | [`new`], [`import`], [`check`], [`assemble`], [`equilibrium`], [`build`], [`couple`], [`describe`], [`simulate`], [`campaign`], [`linearize`], [`schema`], [`completions`] | the verbs |
//! | [`craft`], [`problems`] | a spec file read and compiled, or everything that is wrong with it |
//! | [`package`] | a spec or an FMU, whatever the command line names; the FMU of a model |
//! | [`files`] | the files that are written |
//! | [`urdf`] | a URDF file read, its links gathered into bodies, and written as a spec |
//! | [`archive`] | the FMU as a zip file: packed with reproducible bytes, unpacked to run |
//! | [`system_structure`] | several FMUs wired into one system, as SSP writes it |
//! | [`library`], [`binary`], [`platform`] | the shared libraries that an FMU carries, and what is found in them |
//! | [`documentation`], [`picture`] | what an FMU tells of itself: a page, and the craft drawn |
//! | [`start`] | a craft where it starts, and what its bodies look like |
//! | [`html`] | what pages are made of |
//! | [`fmu`], [`slave`] | an FMU unpacked and loaded; behind safe calls, the only `unsafe` here |
//! | [`run`], [`interrupt`] | a run in Co-Simulation, to its end or until someone ends it |
//! | [`results`], [`table`], [`events`], [`health`], [`charts`], [`motion`], [`page`] | what a run gives: the table and its files, what happened, the verdict, the page |
//! | [`signals`], [`input_table`] | the inputs that this program feeds while it runs an FMU |
//! | [`modes`], [`zeros`], [`matrices`] | what a linear craft gives: its modes, what of them is zero, the files |
//! | [`report`], [`progress`] | what the page says beside its charts; a bar for the patient |
//! | [`words`], [`text`] | what a spec is, in words; tables, units, numbers for people |

#![deny(unsafe_code)]

mod archive;
mod assemble;
mod bdf;
mod binary;
mod build;
mod campaign;
mod charts;
mod check;
mod completions;
mod couple;
mod craft;
mod describe;
mod documentation;
mod equilibrium;
mod events;
mod files;
mod fmu;
mod health;
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
mod system_structure;
mod table;
mod text;
mod urdf;
mod words;
mod zeros;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Dynamics of flexible space manipulators as an FMU.
///
/// A craft is described in one text file, the spec. `build` makes an FMU of it that runs in any tool
/// that imports FMI 2.0, in Model Exchange and in Co-Simulation; no compiler is needed.
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
  grapple check my_arm.toml       everything that is wrong with it
  grapple simulate my_arm.toml    a run, and a page to look at
  grapple build my_arm.toml       my_arm.fmu

Exit code: 0 done; 1 a spec, an FMU or a run is at fault; 2 the command line is;
3 runs of a campaign failed, and those of this command are all done;
130 interrupted (Ctrl-C, SIGTERM), and what is there is saved.";

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
