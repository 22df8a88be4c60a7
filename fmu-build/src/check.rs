//! Checks of a valid spec for problems that are not errors.

use crate::compiled_spec::CompiledSpec;
use crate::error::Result;
use crate::modes::{Modes, Perturbations};
use crate::point::Point;
use crate::starts::{Assembled, assemble};
use crate::tree::Tree;
use crate::{bdf, growth, linearize, solver_advice, zeros};
use grapple::plant::{Linearisation, Model, Remarks};
use std::sync::Arc;

/// Largest number of states of a model whose modes are computed: with more, they take seconds.
const LARGEST: usize = 400;

/// Findings about a valid spec.
pub struct Check {
    /// The assembled start, if the spec has closed loops.
    pub loops: Option<Assembled>,
    /// Bodies and frames at the start, if the spec is that of a spacecraft.
    pub tree: Option<Tree>,
    /// Frequencies of flexible bodies, and warnings about unlikely values and tasks that make
    /// vibrations grow.
    pub remarks: Remarks,
    /// Advice on integration: fastest modes, method and speed, Model Exchange with BDF methods.
    pub advice: Vec<String>,
}

/// Checks a valid spec: its start, unlikely values, modes and speed.
///
/// # Errors
/// None for a valid spec.
pub fn check(compiled: &CompiledSpec) -> Result<Check> {
    let model = &compiled.model;
    let has_loops = !model.spec.closed_loop.is_empty();
    let loops = has_loops.then(|| assemble(model)).transpose()?;
    let (mut advice, mut tree, mut remarks) = (Vec::new(), None, compiled.remarks()?);
    if model.spec.controller.is_none() {
        tree = Some(Tree::of(model)?);
        if let Some((linear, modes)) = modes_at_start(model) {
            advice.extend(solver_advice::of_modes(model, &linear, &modes));
            advice.extend(bdf::advice(&linear, &modes, model.spec.experiment.step));
            let growing = growth::of_tasks(model, &linear, &modes);
            remarks.warnings.extend(compiled.located(&growing));
        }
        let of_run = solver_advice::of_run(model);
        advice.push(of_run.unwrap_or_else(|error| format!("Co-Simulation cannot start: {error}")));
    }
    Ok(Check {
        loops,
        tree,
        remarks,
        advice,
    })
}

/// Returns the remarks of [`check`] alone, which takes less time.
///
/// # Errors
/// None for a valid spec.
pub fn remarks(compiled: &CompiledSpec) -> Result<Remarks> {
    let (model, mut remarks) = (&compiled.model, compiled.remarks()?);
    let has_vibrations = !model.spec.task.is_empty() && model.spec.controller.is_none();
    let modes = has_vibrations.then(|| modes_at_start(model)).flatten();
    let growing = modes.map(|(linear, modes)| growth::of_tasks(model, &linear, &modes));
    remarks.warnings.extend(compiled.located(&growing.unwrap_or_default()));
    Ok(remarks)
}

/// Returns the linearisation at the start and its modes; `None` for a model that is too large or
/// cannot be linearised.
fn modes_at_start(model: &Arc<Model>) -> Option<(Linearisation, Modes)> {
    if model.states.len() > LARGEST {
        return None;
    }
    let mut point = Point::start(model).ok()?;
    let linear = point.linearised().ok()?;
    let perturbations = Perturbations {
        round_off: vec![zeros::round_off(&linear.A.abs(), 0)],
        gains: linearize::gains(model, &linear, &mut point).ok()?,
    };
    let modes = Modes::of(&linear, &perturbations).ok()?;
    Some((linear, modes))
}
