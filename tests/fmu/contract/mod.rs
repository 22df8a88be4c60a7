//! The contract of FMI 2.0.4: a run in Model Exchange, one in Co-Simulation, and misuse of both.

mod beyond;
mod derivatives;
mod events;
mod instantiation;
mod misuse;
mod refusals;
mod restarts;
mod resting;
mod runs;
pub mod sensors;
mod starts;
mod state;
mod together;

use crate::driver::{Fmu, SPACECRAFT};

/// Returns the spacecraft with a range so wide that the elbow never reaches it: its runs have time
/// events but no state events.
fn fmu() -> Fmu {
    let stop = r#"max_deg = 20.0, stop = "compliant", stiffness = 50.0, damping = 0.0"#;
    assert!(SPACECRAFT.contains(stop));
    Fmu::of(&SPACECRAFT.replace(stop, "max_deg = 150.0"))
}
