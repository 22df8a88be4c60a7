//! grapple: dynamics of flexible space manipulators, the library inside the FMU.
#![deny(unsafe_code)]
pub mod algebra;
pub mod dynamics;
mod error;
pub mod integrate;
pub mod loads;
pub mod plant;
pub mod simulation;
pub mod spec;
pub mod system;
pub use error::{Error, Problem};
