//! The functions behind the command line `grapple`: a text file becomes an FMU that runs.
//!
//! Every verb is a function with typed arguments, a typed result and a typed error. Functions
//! neither print nor read arguments nor end the process; long work takes a [`Control`] with a
//! progress function and a flag that cancels it. Units are SI. The command line itself is
//! `command_line`, with the feature `cli`.
//!
//! | verb | function |
//! |---|---|
//! | `new` | [`templates::TEMPLATES`], [`templates::Template::spec`] |
//! | `import` | [`import::import`] |
//! | `check` | [`CompiledSpec::read`], [`check::check`], [`check_fmu::check_fmu`] |
//! | `assemble`, `equilibrium` | [`starts::assemble`], [`starts::equilibrium`] |
//! | `build` | [`build::build`] |
//! | `couple` | [`couple::couple`] |
//! | `split` | [`split::split`] |
//! | `modelica` | [`modelica::modelica`] |
//! | `describe` | [`describe::describe`] |
//! | `simulate` | [`simulate::simulate`], [`coupled_system::CoupledSystem::run`], [`report::page`] |
//! | `page` | [`recorded::Recorded::read`], [`report::page_of_results`] |
//! | `campaign` | [`campaign::StudyFile::campaign`], [`campaign::Campaign::open`], [`campaign::Work::run`] |
//! | `identify` | [`identify::IdentificationFile::read`], [`identify::identify`] |
//! | `linearize` | [`linearize::linearize`] |
//! | `margin` | [`margin::SampledLoops::margins`], [`margin::interface::Coupling::limits`] |
//! | `schema` | [`schema::json`], [`schema::markdown`] |
//!
//! | module | contents |
//! |---|---|
//! | [`compiled_spec`], [`problems`] | a spec, read and compiled, or all its errors |
//! | [`package`], [`fmu`] | a spec or an FMU, by its file name; an FMU, unpacked and loaded |
//! | [`coupled_system`], [`coupled_run`] | connected FMUs, loaded; the co-simulation algorithm |
//! | [`archive`] | the FMU as a zip file: packed with reproducible bytes, unpacked to run |
//! | [`library`], [`binary`], [`platform`] | the shared libraries of an FMU, and their inspection |
//! | [`run`], [`results`], [`diagnostics`] | a run in Co-Simulation, its results and diagnostics |
//! | [`input_table`], [`table`], [`files`] | tables of inputs and results; output files |
//! | [`table_file`], [`recorded`] | tables that any program wrote; results that it recorded |
//! | [`sensitivities`] | derivatives of a run with respect to parameters and start values |
//! | [`modes`], [`tree`] | the modes of a linearised model; the tree of its bodies |
//! | [`report`], [`picture`] | a run's page; a drawing of the spacecraft |
//! | [`shapes`] | the shapes of a spec: validation, and the meshes read from files |
//! | [`mod@reference`] | reference results inside an FMU |
//! | `component` | the model inside the library for WebAssembly |
//! | `terminals` | the terminals of an FMU of FMI 3.0 |
//! | [`summaries`], [`text`] | summaries of a spec; tables, units, numbers as text |
//!
//! ```no_run
//! use fmu_build::simulate::{SimulateOptions, simulate};
//! use fmu_build::{CompiledSpec, Control, fmu::Fmu, linearize};
//! use std::path::Path;
//!
//! let compiled = CompiledSpec::read(Path::new("my_arm.toml"))?;
//! let linear = linearize::linearize(&compiled.model, &Default::default(), &Control::default())?;
//! println!("{linear}");
//!
//! let fmu = Fmu::open(Path::new("my_arm.toml"))?;
//! let run = simulate(&fmu, &SimulateOptions::default(), Control::default())?;
//! println!("{:?}", run.results.get("elbow.q"));
//! # Ok::<(), fmu_build::Error>(())
//! ```

#![deny(unsafe_code)]

// The modules of the command line use the library by its name, as other programs do.
#[cfg(feature = "cli")]
extern crate self as fmu_build;

pub mod archive;
mod bdf;
pub mod binary;
pub mod build;
pub mod campaign;
mod charts;
pub mod check;
pub mod check_fmu;
#[cfg(feature = "cli")]
mod cli;
pub mod compiled_spec;
mod component;
mod control;
pub mod couple;
pub mod coupled_run;
pub mod coupled_system;
pub mod describe;
pub mod diagnostics;
mod documentation;
mod error;
mod file_kind;
pub mod files;
pub mod fmu;
mod growth;
mod html;
pub mod identify;
pub mod import;
pub mod input_table;
mod instance;
pub mod lanes;
pub mod library;
pub mod linearize;
pub mod margin;
mod matrices;
pub mod modelica;
pub mod modes;
mod motion;
pub mod package;
mod page;
pub mod picture;
pub mod platform;
mod plausible;
mod point;
pub mod problems;
pub mod recorded;
pub mod reference;
pub mod report;
pub mod results;
pub mod run;
pub mod schema;
pub mod sensitivities;
pub mod shapes;
mod signals;
pub mod simulate;
mod slave;
mod solver_advice;
pub mod split;
mod ssp;
mod start;
pub mod starts;
pub mod summaries;
mod system_structure;
pub mod table;
pub mod table_file;
pub mod templates;
mod terminals;
pub mod text;
mod toml_file;
pub mod tree;
mod urdf;
mod zeros;
mod zip_entry;

#[cfg(feature = "inside")]
#[macro_use(test_modules, unit_tests)]
extern crate grapple;

#[cfg(feature = "inside")]
#[path = "../../tests/alone/mod.rs"]
mod alone;
#[cfg(feature = "inside")]
#[path = "../../tests/example_files/mod.rs"]
mod example_files;

#[cfg(feature = "inside")]
test_modules![
    bdf::tests,
    binary::tests,
    campaign,
    charts::tests,
    files::tests,
    html::tests,
    identify,
    margin,
    motion,
    picture,
    platform::tests,
    report,
    results::tests,
    shapes,
    signals::tests,
    slave::tests,
    start::tests,
    table::tests,
    table_file::tests,
    text::tests,
    tree::tests,
    urdf::tests,
    zeros::tests
];

/// The unit tests; `tests/inside` runs them.
#[cfg(feature = "inside")]
#[doc(hidden)]
pub const UNIT_TESTS: grapple::inside::Tests = TESTS;

#[cfg(feature = "cli")]
pub use cli::main as command_line;
pub use compiled_spec::CompiledSpec;
pub use control::Control;
pub use error::{Cause, Error, Result};
pub use problems::Problems;
