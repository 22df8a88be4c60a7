//! An FMU and its instances, called through the exported C functions: shared by all modules of this
//! binary.

mod fmu;
mod importer;
mod instance;
pub mod integration;
pub mod process;

pub use fmu::{Fmu, SPACECRAFT, catcher, impact_in_orbit, instantiate};
pub use importer::{Log, allocations, assert_named, callbacks, logged};
pub use instance::{Instance, assert_agree, assert_same_impact, capturing_reference, next_event, ok, reference};

use grapple::fmu::fmi2::{fmi2Status, fmi2Type};

pub const OK: fmi2Status = fmi2Status::OK;
pub const DISCARD: fmi2Status = fmi2Status::DISCARD;
pub const ERROR: fmi2Status = fmi2Status::ERROR;
pub const FATAL: fmi2Status = fmi2Status::FATAL;
pub const ME: fmi2Type = fmi2Type::MODEL_EXCHANGE;
pub const CS: fmi2Type = fmi2Type::CO_SIMULATION;

/// Variables by which two runs are compared.
pub const WATCHED: [&str; 6] = [
    "shoulder.q",
    "elbow.q",
    "elbow.qd",
    "base.r[2]",
    "base.w[3]",
    "lower.r[1]",
];
