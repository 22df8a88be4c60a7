//! Contacts that capture: how they close, and which of their rows bear.

use super::discrete::Bearing;
use super::evaluation::Evaluation;
use super::impact::{ROUND_OFF, Told, firsts, meet, pair, tell};
use super::report::Status;
use super::{Discrete, Model};
use crate::Error;
use crate::dynamics::impact::{bearing_rows, plastic};
use crate::loads::{Capture, Contact, Pair};
use crate::system::Derived;
use nalgebra::DVector;

/// Captures some pairs, all at the same time: what ends all their relative motion at once, redundant rows told from others by the rank of `W`. They are held
/// from then on.
///
/// # Errors
/// [`Error::Singular`] if something moves no inertia.
pub(super) fn capture(
    of: (&Model, &Derived, &[f64]),
    evaluation: &mut Evaluation<f64>,
    (t, x, discrete): (f64, &mut [f64], &mut Discrete),
    contacts: &[usize],
) -> Result<Vec<Told>, Error> {
    let (model, derived, parameters) = of;
    let (mut told, met) = meet(of, evaluation, (t, x, discrete), contacts);
    let seen = |contact: &Contact| {
        let frames = [contact.a, contact.b].map(|frame| evaluation.kinematics.pose(&model.system, derived, frame));
        Contact::relative_pose(&frames)
    };
    let poses: Vec<_> = met.iter().map(|met| seen(met.contact)).collect();
    let pairs: Vec<Pair<f64>> = met.iter().map(|met| met.pair).collect();
    let u = evaluation.velocities(&pairs);
    let bodies = evaluation.kinematics.bodies.iter();
    let speeds = bodies.map(|at| at.V_WB.v.norm() + at.V_WB.w.norm());
    let is_still = u.amax() <= ROUND_OFF * speeds.fold(0.0, f64::max);
    let operator = evaluation.operator(model, (derived, x), discrete, &pairs)?;
    // Rows that contradict each other, or that no impulse moves, leave more than round-off; where nothing moves there is nothing else.
    let solved = plastic(&operator.W, &u).filter(|solved| is_still || solved.residual < 1e-9);
    let (p, outcome) = match solved {
        Some(solved) => (solved.impulse, Status::Struck),
        None => (DVector::zeros(u.len()), Status::Unsolved),
    };
    evaluation.strike(model, (derived, parameters), (x, discrete), &operator, (&p, &u));
    told.extend(tell(
        (t, discrete),
        &met,
        &operator,
        (&p, &u),
        &vec![outcome; met.len()],
    ));
    if outcome.is_struck() {
        for (met, (place, attitude)) in met.iter().zip(&poses) {
            if let Some(capture) = met.contact.capture() {
                discrete.set_captured(model, capture.number, (place, attitude));
                discrete.set_bearing(model, capture.number, Bearing::HELD);
            }
        }
        choose_bearing_rows(of, evaluation, x, discrete)?;
    }
    Ok(told)
}

/// Chooses which rows of the captured pairs bear, where they are and as joints are held now: the others follow from them.
///
/// # Errors
/// [`Error::Singular`] if something moves no inertia.
pub(super) fn choose_bearing_rows(
    (model, derived, parameters): (&Model, &Derived, &[f64]),
    evaluation: &mut Evaluation<f64>,
    x: &[f64],
    discrete: &mut Discrete,
) -> Result<(), Error> {
    let captures = model.loads.captures();
    let held: Vec<(&Contact, Capture)> = captures
        .filter(|(_, capture)| discrete.bearing(model, capture.number).held)
        .collect();
    if held.is_empty() {
        return Ok(());
    }
    for (_, capture) in &held {
        discrete.set_bearing(model, capture.number, Bearing::default());
    }
    evaluation.update_kinematics(model, (derived, parameters), x);
    let at = (&model.system, derived, &evaluation.kinematics);
    let pairs: Vec<Pair<f64>> = held.iter().map(|(contact, _)| pair(at, contact, parameters)).collect();
    let operator = evaluation.operator(model, (derived, x), discrete, &pairs)?;
    let bearing = bearing_rows(&operator.W);
    for (((_, capture), pair), first) in held.iter().zip(&pairs).zip(firsts(&pairs)) {
        let mut bears = Bearing::HELD;
        for (place, row) in pair.rows().enumerate() {
            bears.rows[row] = bearing.contains(&(first + place));
        }
        discrete.set_bearing(model, capture.number, bears);
    }
    Ok(())
}
