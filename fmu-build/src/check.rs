//! Checks of a valid spec for problems that are not errors.

use crate::bdf;
use crate::compiled_spec::CompiledSpec;
use crate::error::Result;
use crate::starts::{Assembled, assemble};
use grapple::plant::Remarks;

/// Findings about a valid spec.
pub struct Check {
    /// The assembled start, if the spec has closed loops.
    pub loops: Option<Assembled>,
    /// Frequencies of flexible bodies, and warnings about unlikely values.
    pub remarks: Remarks,
    /// Advice on Model Exchange for lightly damped fast vibrations.
    pub advice: Option<String>,
}

/// Checks a valid spec: its start, unlikely values, vibrations for which BDF methods are unstable.
///
/// # Errors
/// None for a valid spec.
pub fn check(compiled: &CompiledSpec) -> Result<Check> {
    let model = &compiled.model;
    let has_loops = !model.spec.closed_loop.is_empty();
    Ok(Check {
        loops: has_loops.then(|| assemble(model)).transpose()?,
        remarks: compiled.remarks()?,
        advice: bdf::advice(model),
    })
}
