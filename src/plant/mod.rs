//! The waist of the house: above it nobody knows bodies, below it nobody knows FMI.
//!
//! A [`Model`] is what never changes; a [`Plant`] is a model with parameter values, ready to be
//! evaluated at any time, state and input. It keeps no time and no state of its own.

mod coordinates;
mod evaluation;
mod influence;
mod linear;
mod linearisation;
mod model;
mod outputs;
mod remarks;
mod start;
mod state_jacobian;
mod tangent;

pub use evaluation::Evaluation;
pub use influence::{Influence, Knowns};
pub use linearisation::Linearisation;
pub use model::{Model, Output, OutputKind};
pub use remarks::Remarks;
pub use start::StartAlong;
pub use state_jacobian::StateJacobian;
pub use tangent::{Jacobians, LANES, Tangent};

use crate::Error;
use crate::loads::Drive;
use crate::spec::JointMotion;
use crate::system::Derived;
use std::sync::Arc;

/// What an event has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// A mode.
    pub modes: bool,
    /// A state.
    pub states: bool,
}

/// A model with the values of its parameters, and room to evaluate it.
#[derive(Clone, Debug)]
pub struct Plant {
    model: Arc<Model>,
    parameters: Vec<f64>,
    derived: Derived,
    evaluation: Evaluation<f64>,
    /// Of each drive, the command that was none of its joint's motions and of which the user knows.
    refused: Vec<Option<f64>>,
}

impl Plant {
    /// The plant at the spec's parameter values.
    ///
    /// # Errors
    /// [`Error::Spec`] if they make no sense.
    pub fn new(model: Arc<Model>) -> Result<Self, Error> {
        let parameters = model.parameter_starts();
        let derived = derive(&model, &parameters, None)?;
        let evaluation = Evaluation::new(&model);
        Ok(Self {
            refused: vec![None; model.loads.drives.len()],
            model,
            parameters,
            derived,
            evaluation,
        })
    }

    /// What never changes.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The parameters' values.
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The constants that follow from them.
    pub fn derived(&self) -> &Derived {
        &self.derived
    }

    /// Takes new values of all parameters, and judges them together.
    ///
    /// # Errors
    /// [`Error::Spec`] with everything that is wrong; the old values then stay.
    pub fn set_parameters(&mut self, values: &[f64]) -> Result<(), Error> {
        let before = (self.parameters.as_slice(), &self.derived);
        self.derived = derive(&self.model, values, Some(before))?;
        self.parameters.copy_from_slice(values);
        Ok(())
    }

    /// The initial states and modes at the time `t` (s).
    pub fn start(&mut self, t: f64, x: &mut [f64], modes: &mut [i32]) {
        self.model.start(&self.derived, &self.parameters, x);
        self.model.start_modes(modes);
        // A joint that starts outside its range is refused before it comes to that.
        self.update_sides(t, x, modes, &mut Vec::new());
    }

    /// The states' derivatives.
    ///
    /// # Errors
    /// [`Error::Singular`] and [`Error::NotFinite`], with the names.
    pub fn derivative(&mut self, t: f64, x: &[f64], u: &[f64], modes: &[i32], dx: &mut [f64]) -> Result<(), Error> {
        let numbers = (&self.derived, self.parameters.as_slice());
        self.evaluation.derivative(&self.model, numbers, t, (x, u, modes), dx)?;
        match dx.iter().position(|d| !d.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                variable: self.model.derivatives[i].name.clone(),
                t,
            }),
        }
    }

    /// The states' derivatives and the outputs.
    ///
    /// # Errors
    /// As [`derivative`](Self::derivative).
    pub fn evaluate(
        &mut self,
        t: f64,
        (x, u, modes): (&[f64], &[f64], &[i32]),
        dx: &mut [f64],
        y: &mut [f64],
    ) -> Result<(), Error> {
        self.derivative(t, x, u, modes, dx)?;
        let numbers = (&self.derived, self.parameters.as_slice());
        self.evaluation.outputs(&self.model, numbers, (x, modes), y);
        Ok(())
    }

    /// The event indicators: positive as long as the modes are right.
    pub fn indicators(&mut self, x: &[f64], modes: &[i32], z: &mut [f64]) {
        if z.is_empty() {
            return;
        }
        let model = &self.model;
        let numbers = (&self.derived, self.parameters.as_slice());
        let (q, _) = self.evaluation.coordinates(model, numbers, x);
        let sides = &modes[model.signals.len()..];
        let (ranges, limits) = (&model.loads.ranges, &model.limits);
        for ((z, range), &side) in z.iter_mut().zip(ranges).zip(sides) {
            *z = range.indicator(&self.parameters, q, side);
        }
        let rest = z.iter_mut().zip(sides).skip(ranges.len());
        for ((z, &side), limit) in rest.zip(limits) {
            *z = limit.indicator(&self.parameters, &self.derived, q, side);
        }
    }

    /// When the next piece of a signal ends, s.
    pub fn next_time_event(&self, modes: &[i32]) -> Option<f64> {
        let ends = self.model.signals.iter().zip(modes);
        ends.filter_map(|(signal, &piece)| signal.wave(&self.parameters).end(piece))
            .min_by(f64::total_cmp)
    }

    /// Whether a command waits for an event at the time `t` (s) and the host's inputs `u`: it asks for another motion of a joint than it has, or for
    /// none, which has not been told yet.
    pub fn is_commanded(&mut self, t: f64, u: &[f64], modes: &[i32]) -> bool {
        if !self.model.is_switched() {
            return false;
        }
        let model = &self.model;
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, modes));
        let mut drives = model.loads.drives.iter().zip(&self.refused);
        drives.any(|(drive, refused)| match drive.command(inputs) {
            Some(Ok(motion)) => motion != drive.motion_now(model.motions(modes)),
            Some(Err(number)) => *refused != Some(number),
            None => false,
        })
    }

    /// Brings the modes to where time, state and commands are, and states to where a brake puts them; says what the user should know.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia where a joint is locked.
    pub fn update_modes(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        modes: &mut [i32],
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
        let modes_changed = self.update_sides(t, x, modes, messages);
        let (switched, states) = self.switch_motions(t, (x, u), modes, messages)?;
        Ok(Changes {
            modes: modes_changed || switched,
            states,
        })
    }

    /// Switches the motions of joints. Whether one was, and whether states jumped.
    fn switch_motions(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        modes: &mut [i32],
        messages: &mut Vec<String>,
    ) -> Result<(bool, bool), Error> {
        if !self.model.is_switched() {
            return Ok((false, false));
        }
        let model = &self.model;
        let drives = &model.loads.drives;
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, modes));
        let mut switched: Vec<(usize, &Drive, JointMotion)> = Vec::new();
        for (drive, refused) in drives.iter().zip(&mut self.refused) {
            match (drive.mode(), drive.command(inputs)) {
                (Some(mode), Some(Ok(motion))) => {
                    *refused = None;
                    if motion != drive.motion_now(model.motions(modes)) {
                        switched.push((mode, drive, motion));
                    }
                }
                (_, Some(Err(number))) if *refused != Some(number) => {
                    *refused = Some(number);
                    messages.push(drive.objection(number, t));
                }
                _ => {}
            }
        }
        if switched.is_empty() {
            return Ok((false, false));
        }
        let numbers = (&self.derived, self.parameters.as_slice());
        let (_, qd) = self.evaluation.coordinates(model, numbers, x);
        let told = switched.iter().map(|(_, drive, motion)| drive.message(*motion, qd, t));
        let told: Vec<String> = told.collect();
        let mut after = modes.to_vec();
        let first = modes.len() - model.loads.switched();
        for (mode, _, motion) in &switched {
            after[first + mode] = motion.number();
        }
        let locked = switched.iter().filter(|(.., motion)| *motion == JointMotion::Locked);
        let locked: Vec<usize> = locked.map(|(_, drive, _)| drive.body).collect();
        if !locked.is_empty() {
            let locks = |drive: &Drive| locked.contains(&drive.body);
            self.evaluation.lock(model, numbers, x, &after, locks)?;
        }
        modes.copy_from_slice(&after);
        messages.extend(told);
        Ok((true, !locked.is_empty()))
    }

    /// Brings the modes to where time and state are. True if one changed.
    fn update_sides(&mut self, t: f64, x: &[f64], modes: &mut [i32], messages: &mut Vec<String>) -> bool {
        let model = &self.model;
        let mut changed = false;
        for (signal, piece) in model.signals.iter().zip(&mut *modes) {
            let now = signal.wave(&self.parameters).piece(t);
            changed |= now != *piece;
            *piece = now;
        }
        if model.indicator_count() == 0 {
            return changed;
        }
        let numbers = (&self.derived, self.parameters.as_slice());
        let (q, _) = self.evaluation.coordinates(model, numbers, x);
        let (ranges, limits) = (&model.loads.ranges, &model.limits);
        let (sides, beyond) = modes[model.signals.len()..].split_at_mut(ranges.len());
        for (limit, mode) in limits.iter().zip(beyond) {
            let now = limit.next_mode(&self.parameters, &self.derived, q, *mode);
            if now != *mode {
                changed = true;
                *mode = now;
                if now != 0 {
                    messages.push(limit.message(&model.system, &self.parameters, &self.derived, q, t));
                }
            }
        }
        for (range, side) in ranges.iter().zip(sides) {
            let now = range.next_mode(&self.parameters, q, *side);
            if now != *side {
                changed = true;
                *side = now;
                if now != 0 {
                    messages.push(range.message(&self.parameters, q, now, t));
                }
            }
        }
        changed
    }
}

fn derive(model: &Model, values: &[f64], before: Option<(&[f64], &Derived)>) -> Result<Derived, Error> {
    let mut problems = Vec::new();
    let derived = model.judge(values, before, &mut problems);
    if problems.is_empty() {
        Ok(derived)
    } else {
        Err(Error::Spec(problems))
    }
}
