//! The 44 exported functions of FMI 2.0.4.

mod co_simulation;
mod common;
mod fmu_state;
mod importer;
mod model_exchange;
mod values;

pub use co_simulation::*;
pub use common::*;
pub use fmu_state::*;
pub use importer::*;
pub use model_exchange::*;
pub use values::*;
