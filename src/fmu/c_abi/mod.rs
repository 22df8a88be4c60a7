//! The exported functions: `fmi2` has the 44 of FMI 2.0.4, `fmi3` the 75 of FMI 3.0.2. The only
//! `unsafe` code of the library.
//!
//! Each function checks pointers, makes slices and strings of them, makes one safe call on the
//! [`Component`](super::component::Component) and returns the outcome as a status. `Handle::call`
//! contains the checks that all calls share.
//!
//! | fault | handling |
//! |---|---|
//! | a null pointer, a pointer that is not a live handle | error |
//! | a function of one standard on an instance made by the other | error |
//! | null for an array of length zero | accepted |
//! | a panic in a call | caught: fatal; the instance is lost, the importer's process continues |
//! | a call from inside the importer's logger, or from a second thread | error |
//! | a call from inside the importer's callback for intermediate updates | getters read a copy of the instance; others: error |
//! | an importer with other floating-point traps, rounding or denormals than the default | the default applies during the call; then the importer's setting is restored |
//! | null callbacks | accepted; `allocateMemory` and `freeMemory` are never called |
//!
//! # Safety
//!
//! Every function relies on the standard's contract: a pointer is null or points to as many
//! elements as its count states, strings end with a zero, and a handle comes from a function that
//! instantiates and has not been freed.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // documented once, above
#![allow(clippy::too_many_arguments)] // the standard's signatures

mod common;
mod floating_point;
mod fmi2;
mod fmi3;
mod handle;
mod instantiate;
mod intermediate;
mod logger;
mod panics;
mod pointers;
mod saved_states;
pub mod together;

pub use fmi2::*;
pub use fmi3::*;

#[cfg(feature = "inside")]
pub(super) mod tests;
