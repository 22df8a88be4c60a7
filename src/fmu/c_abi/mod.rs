//! The 44 exported functions of FMI 2.0.4. The only `unsafe` code of the library.
//!
//! Each function checks pointers, makes slices and strings of them, makes one safe call on the
//! [`Component`](super::component::Component) and returns the outcome as a status. `Handle::call`
//! contains the checks that all calls share.
//!
//! | fault | handling |
//! |---|---|
//! | a null pointer, a pointer that is not a live handle | `fmi2Error` |
//! | null for an array of length zero | accepted |
//! | a panic in a call | caught: `fmi2Fatal`; the instance is lost, the importer's process continues |
//! | a call from inside the importer's logger, or from a second thread | `fmi2Error` |
//! | an importer with other floating-point traps, rounding or denormals than the default | the default applies during the call; then the importer's setting is restored |
//! | null callbacks | accepted; `allocateMemory` and `freeMemory` are never called |
//!
//! # Safety
//!
//! Every function relies on the standard's contract: a pointer is null or points to as many
//! elements as its count states, strings end with a zero, and a handle comes from `fmi2Instantiate`
//! and has not been freed.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // documented once, above
#![allow(clippy::too_many_arguments)] // the standard's signatures

mod co_simulation;
mod common;
mod floating_point;
mod fmu_state;
mod handle;
mod importer;
mod logger;
mod model_exchange;
mod panics;
mod pointers;
mod values;

pub use co_simulation::*;
pub use common::*;
pub use fmu_state::*;
pub use importer::*;
pub use model_exchange::*;
pub use values::*;

#[cfg(test)]
mod tests;
