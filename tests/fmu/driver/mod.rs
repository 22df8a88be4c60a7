//! An FMU and its instances, driven through the exported C functions: what all modules of this binary share.

mod fmu;
mod host;
mod instance;
pub mod integration;
pub mod process;

pub use fmu::{CRAFT, Fmu, catcher, instantiate, striker};
pub use host::{Log, allocations, callbacks, heard, told};
pub use instance::{Instance, assert_agree, assert_struck_alike, capturing_reference, next_event, ok, reference};

use grapple::fmu::fmi2::{fmi2Status, fmi2Type};

pub const OK: fmi2Status = fmi2Status::OK;
pub const DISCARD: fmi2Status = fmi2Status::DISCARD;
pub const ERROR: fmi2Status = fmi2Status::ERROR;
pub const FATAL: fmi2Status = fmi2Status::FATAL;
pub const ME: fmi2Type = fmi2Type::MODEL_EXCHANGE;
pub const CS: fmi2Type = fmi2Type::CO_SIMULATION;

/// Variables that tell two runs apart.
pub const WATCHED: [&str; 6] = [
    "shoulder.q",
    "elbow.q",
    "elbow.qd",
    "base.r[2]",
    "base.w[3]",
    "lower.r[1]",
];
