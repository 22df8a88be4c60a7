//! The 75 exported functions of FMI 3.0.2.

mod absent;
mod co_simulation;
mod common;
mod fmu_state;
mod model_exchange;
mod values;

pub use absent::*;
pub use co_simulation::*;
pub use common::*;
pub use fmu_state::*;
pub use model_exchange::*;
pub use values::*;
