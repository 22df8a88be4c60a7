//! A thermostat that uses the whole crate: written, read, and checked after every kind of change.

mod check;
mod foreign;
mod golden;
mod model;

/// The handwritten thermostat.
const GOLDEN: &str = include_str!("../../golden/thermostat.xml");
