//! The contract of FMI 3.0.2. The component behind it is that of FMI 2.0, whose results are the
//! reference.

mod derivatives;
mod early_return;
mod event_mode;
mod instance;
mod instantiation;
mod intermediate;
mod misuse;
pub mod modes;
mod runs;
mod state;
mod types;

use grapple::fmu::fmi3::fmi3Status;
use instance::{Instance, Log};

const OK: fmi3Status = fmi3Status::OK;
const DISCARD: fmi3Status = fmi3Status::DISCARD;
const ERROR: fmi3Status = fmi3Status::ERROR;
