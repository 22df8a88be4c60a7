//! The model description of a thermostat, which uses the whole crate: written, read, and validated
//! after every kind of change.

mod check;
mod fmi3;
mod foreign;
mod golden;
mod model;
mod vdm;

/// The thermostat's model description, written by hand.
const GOLDEN: &str = include_str!("../../golden/thermostat.xml");
