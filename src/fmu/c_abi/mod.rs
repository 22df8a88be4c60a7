//! The 44 functions of FMI 2.0.4, as a host's linker sees them. The only `unsafe` of the library.
//!
//! Each function checks pointers, makes slices and strings of them, makes one safe call on the
//! [`Component`](super::component::Component), and turns the outcome into a status; `Handle::call` is the frame
//! around that call.
//!
//! | what could go wrong | what is done |
//! |---|---|
//! | a null pointer, a handle that is none | `fmi2Error` |
//! | null for an array of length zero | accepted |
//! | a panic behind the ABI | caught; the instance is lost, the host lives: `fmi2Fatal` |
//! | a call from inside the host's logger, or from a second thread | `fmi2Error` |
//! | traps, rounding or denormals other than the default | the default during the call, then the importer's again |
//! | null callbacks | accepted; `allocateMemory` and `freeMemory` are never called |
//!
//! # Safety
//!
//! What every function here asks of its caller is the standard's contract: a pointer is null or points to
//! as many elements as the count beside it says, strings end with a zero, a handle comes from
//! `fmi2Instantiate` and has not been freed.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // said once, above
#![allow(clippy::too_many_arguments)] // the standard's signatures

mod co_simulation;
mod common;
mod floating_point;
mod fmu_state;
mod handle;
mod host;
mod logger;
mod model_exchange;
mod panics;
mod pointers;
mod values;

pub use co_simulation::*;
pub use common::*;
pub use fmu_state::*;
pub use host::*;
pub use model_exchange::*;
pub use values::*;

#[cfg(test)]
mod tests;
