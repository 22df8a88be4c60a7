//! Captures: the impulse that closes them, and the rank of the constraints.

use super::context::Constants;
use super::evaluation::{Evaluation, joint_coordinates};
use super::impact::reached_contacts;
use super::impact_report::{Reported, report_impacts};
use super::{Discrete, Plant};
use crate::Error;
use crate::dynamics::impact::{Plastic, plastic};
use crate::elements::{Capture, Captured, ImpactStatus, Pair, Target};
use nalgebra::DVector;

/// Largest relative velocity of the frames after a capture's impulse, relative to the speed of the
/// fastest body. Start values with six digits leave as much in redundant rows; a capture that
/// leaves more is refused.
const ROUNDED: f64 = 1e-5;

/// Captures the given contacts, all at the same time: an impulse ends the relative motion of their
/// frames, and constraints hold the frames from then on. Redundant rows are detected by the rank of
/// `W`. If no impulse ends all relative motions, all captures are refused.
///
/// # Errors
/// [`Error::Singular`] if a part without inertia receives an impulse.
pub(super) fn capture(
    of: Constants,
    evaluation: &mut Evaluation<f64>,
    t: f64,
    x: &mut [f64],
    discrete: &mut Discrete,
    contacts: &[usize],
) -> Result<Vec<Reported>, Error> {
    let (mut reported, reached) = reached_contacts(of, evaluation, t, x, discrete, contacts);
    let at = of.at(&evaluation.kinematics);
    let closed: Vec<Captured> = reached.iter().map(|reached| reached.contact.close(at)).collect();
    let pairs: Vec<Pair<f64>> = reached.iter().map(|reached| reached.pair).collect();
    let u = evaluation.velocities(&pairs);
    let bodies = evaluation.kinematics.bodies.iter();
    let speeds = bodies.map(|at| at.V_WB.v.norm() + at.V_WB.w.norm());
    let speed = speeds.fold(0.0, f64::max);
    let operator = evaluation.operator(of, x, discrete, &pairs)?;
    // Contradictory rows, and rows that no impulse moves, leave more than rounded start values do.
    let is_ended = |solved: &Plastic| {
        let left = operator.after(&u, &solved.impulse).amax();
        solved.residual < 1e-9 || left <= ROUNDED * speed
    };
    let solved = plastic(&operator.W, &u).filter(is_ended);
    let (p, outcome) = match solved {
        Some(solved) => (solved.impulse, ImpactStatus::Impact),
        None => (DVector::zeros(u.len()), ImpactStatus::Unsolved),
    };
    evaluation.add_velocity_jumps(of, x, discrete, &operator, &p, &u);
    let outcomes = vec![outcome; reached.len()];
    reported.extend(report_impacts(t, discrete, &reached, &operator, &p, &u, &outcomes));
    if outcome.is_impact() {
        for (reached, captured) in reached.iter().zip(closed) {
            if let Some(capture) = reached.contact.capture() {
                discrete.captures[capture.number] = captured;
            }
        }
        evaluation.determine_rank(of, x, discrete);
    }
    Ok(reported)
}

impl Plant {
    /// Validates at the start, at the time `t` (s) and the importer's inputs `u`, that contacts
    /// without surfaces whose capture is commanded are captured.
    ///
    /// # Errors
    /// [`Error::NotCaptured`] with the contact.
    pub fn check_captured(&mut self, t: f64, u: &[f64], discrete: &Discrete) -> Result<(), Error> {
        let of = self.base.constants();
        let model = of.model;
        if model.elements.captures().next().is_none() {
            return Ok(());
        }
        let inputs = self.evaluation.inputs(of, t, u, discrete);
        for command in &model.elements.commands {
            let Target::Contact(index) = command.what else { continue };
            let contact = &model.elements.contacts[index];
            let is_open = |capture: Capture| !discrete.is_held(capture.number);
            if command.is_on(inputs) && contact.detection_number().is_none() && contact.capture().is_some_and(is_open) {
                return Err(Error::NotCaptured {
                    contact: contact.name.clone(),
                    frames: contact.names.clone(),
                });
            }
        }
        Ok(())
    }
}

impl Evaluation<f64> {
    /// Determines the rank of the rows of all active captures and all loops, at the positions of
    /// `x` and with the joints' present motions.
    pub(super) fn determine_rank(&mut self, of: Constants, x: &[f64], discrete: &mut Discrete) {
        if self.closure.is_none() {
            return;
        }
        // The rank depends on which joints are driven: `at_rest` marks those with drives.
        self.at_rest(of, x, discrete);
        for friction in &of.model.elements.sticking {
            self.applied.driven[friction.body] |= friction.holds(discrete);
        }
        let q = joint_coordinates(self.recovered.as_deref(), &of.model.split(x)).q;
        if let Some(closure) = &mut self.closure {
            discrete.rank = closure.determine_rank(of, discrete, q, &self.applied.driven);
        }
    }
}
