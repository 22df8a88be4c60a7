//! Impacts of contacts: contact points, response and impact laws.

use super::Discrete;
use super::context::Constants;
use super::evaluation::Evaluation;
use super::impact_report::{Reported, out_of_reach, report_impacts};
use super::impulse::Operator;
use crate::Error;
use crate::algebra::Vec3;
use crate::dynamics::impact::{Law, PointImpact, Refusal, frictionless};
use crate::elements::{Contact, ImpactStatus, Pair};
use crate::event::Refused;
use crate::system::{Configuration, FrameRef};
use nalgebra::{DMatrix, DVector, Matrix3};

/// Response at one contact to an impulse at another, relative to the contacts' responses to their
/// own impulses, below which it is round-off and the contacts are uncoupled.
pub(super) const ROUND_OFF: f64 = 1e-12;

/// Response of a contact along its normal, relative to the response of the total mass, below which
/// the contact cannot move along it.
const LEAST_NORMAL_RESPONSE: f64 = 1e-11;

/// Contact within reach, with its contact point, normal and impact law.
pub(super) struct ReachedContact<'a> {
    pub index: usize,
    pub contact: &'a Contact,
    pub pair: Pair<f64>,
    /// Normal from b towards a, inertial axes.
    pub n: Vec3<f64>,
    /// Impact law; `None` for a capture.
    pub law: Option<Law>,
}

/// Returns, for each of the given contacts within reach at the states `x`, its pair, normal and
/// law. The pair's point is the origin of a for a capture, else halfway between the surfaces. For
/// each contact out of reach the report of the refused impact is returned.
pub(super) fn reached_contacts<'a>(
    of: Constants<'a>,
    evaluation: &mut Evaluation<f64>,
    t: f64,
    x: &[f64],
    discrete: &Discrete,
    contacts: &[usize],
) -> (Vec<Reported>, Vec<ReachedContact<'a>>) {
    let Constants { model, parameters, .. } = of;
    evaluation.update_kinematics(of, x);
    let at = of.at(&evaluation.kinematics);
    let (mut reported, mut reached) = (Vec::new(), Vec::new());
    for &index in contacts {
        let contact = &model.elements.contacts[index];
        let [A, B] = contact.poses(at);
        let apart = (A.p - B.p).norm();
        if let Some(reach) = contact.reach(parameters).filter(|reach| apart > *reach) {
            let reason = Refused::OutOfReach { distance: apart, reach };
            reported.push(out_of_reach(t, discrete, index, contact, reason));
            continue;
        }
        if let Some(inclined) = contact.inclined(at) {
            reported.push(out_of_reach(t, discrete, index, contact, inclined));
            continue;
        }
        reached.push(ReachedContact {
            index,
            contact,
            pair: pair(at, contact, parameters),
            n: contact.nearest(parameters, [&A, &B]).n,
            law: contact.law(parameters),
        });
    }
    (reported, reached)
}

/// Returns the pair of a contact's frames at its contact point.
fn pair(at: Configuration<f64>, contact: &Contact, parameters: &[f64]) -> Pair<f64> {
    match contact.capture() {
        Some(capture) => contact.captured_pair(at, capture),
        None => {
            let [A, B] = contact.poses(at);
            Pair::at(at, [contact.a, contact.b], contact.nearest(parameters, [&A, &B]).from_a)
        }
    }
}

/// Returns the index of each pair's first row among the rows of all pairs.
pub(super) fn firsts<'a>(pairs: impl IntoIterator<Item = &'a Pair<f64>>) -> impl Iterator<Item = usize> {
    pairs.into_iter().scan(0, |next, pair| {
        let first = *next;
        *next += pair.rows().len();
        Some(first)
    })
}

/// Applies the impulses of the given contacts, all at the same time.
///
/// Uncoupled contacts are solved separately by their laws; coupled frictionless contacts as one
/// linear complementarity problem; coupled contacts are refused if one of them has friction.
///
/// # Errors
/// [`Error::Singular`] if a part without inertia receives an impulse.
pub(super) fn solve_and_apply(
    of: Constants,
    evaluation: &mut Evaluation<f64>,
    t: f64,
    x: &mut [f64],
    discrete: &Discrete,
    contacts: &[usize],
) -> Result<Vec<Reported>, Error> {
    let (mut reported, reached) = reached_contacts(of, evaluation, t, x, discrete, contacts);
    let pairs: Vec<Pair<f64>> = reached.iter().map(|reached| reached.pair).collect();
    let u = evaluation.velocities(&pairs);
    let operator = evaluation.operator(of, x, discrete, &pairs)?;
    // A contact on a free-floating system has a response of at least one over the total mass; a
    // much smaller one means that the contact cannot move along its normal.
    let mass: f64 = of.derived.bodies.iter().map(|body| body.m).sum();
    let outcomes = solve(&reached, &operator, LEAST_NORMAL_RESPONSE / mass, &u);
    let impulses = outcomes
        .iter()
        .map(|outcome| outcome.map_or_else(|_| Vec3::zeros(), |(p, _)| p));
    let p = DVector::from_vec(impulses.flat_map(|p| [p.x, p.y, p.z]).collect());
    evaluation.add_velocity_jumps(of, x, discrete, &operator, &p, &u);
    let statuses: Vec<ImpactStatus> = outcomes
        .iter()
        .map(|outcome| outcome.map_or_else(|status| status, |(_, status)| status))
        .collect();
    reported.extend(report_impacts(t, discrete, &reached, &operator, &p, &u, &statuses));
    Ok(reported)
}

/// Applies the external impulse at a port. Returns its magnitude, N·s; `None` if the impulse is not
/// finite, and then nothing is applied.
///
/// # Errors
/// [`Error::Singular`] if a part without inertia receives an impulse.
pub(super) fn apply_port_impulse(
    of: Constants,
    evaluation: &mut Evaluation<f64>,
    x: &mut [f64],
    discrete: &Discrete,
    port: usize,
    inputs: &[f64],
) -> Result<Option<f64>, Error> {
    let Constants { model, derived, .. } = of;
    let port = &model.elements.ports[port];
    evaluation.update_kinematics(of, x);
    let at = of.at(&evaluation.kinematics);
    let pair = Pair::at_a(at, [port.frame, FrameRef::World]);
    let p = port.impulse(
        inputs,
        &evaluation.kinematics.pose(&model.system, derived, port.frame).R,
    );
    if !p.iter().all(|p| p.is_finite()) {
        return Ok(None);
    }
    let u = evaluation.velocities(&[pair]);
    let operator = evaluation.operator(of, x, discrete, &[pair])?;
    let impulse = DVector::from_column_slice(p.as_slice());
    evaluation.add_velocity_jumps(of, x, discrete, &operator, &impulse, &u);
    Ok(Some(p.norm()))
}

/// Returns the impulse (N·s, inertial axes) of each contact, or the status with the reason for
/// which it has none. A response along the normal of at most `least` (1/kg) counts as zero.
fn solve(
    reached: &[ReachedContact],
    operator: &Operator,
    least: f64,
    u: &DVector<f64>,
) -> Vec<Result<(Vec3<f64>, ImpactStatus), ImpactStatus>> {
    let mut outcomes = vec![Err(ImpactStatus::Unsolved); reached.len()];
    let response = |i: usize, j: usize| reached[i].n.dot(&(block(operator, i, j) * reached[j].n));
    let mut left: Vec<usize> = (0..reached.len()).filter(|&i| response(i, i) > least).collect();
    let size = |i: usize, j: usize| block(operator, i, j).norm();
    let is_coupled = |i: usize, j: usize| size(i, j) > ROUND_OFF * (size(i, i) * size(j, j)).sqrt();
    while let Some(first) = left.pop() {
        let mut group = vec![first];
        let mut seen = 0;
        while let Some(&i) = group.get(seen) {
            let (near, far) = left.iter().partition(|&&j| is_coupled(i, j));
            (left, seen) = (far, seen + 1);
            group.append(&mut { near });
        }
        if let [i] = group[..] {
            outcomes[i] = alone(&reached[i], &block(operator, i, i), &vector(u, 3 * i));
            continue;
        }
        let u_n = DVector::from_iterator(group.len(), group.iter().map(|&i| reached[i].n.dot(&vector(u, 3 * i))));
        let smooth: Option<Vec<f64>> = group.iter().map(|&i| reached[i].law?.smooth()).collect();
        let solved = smooth.as_ref().map(|e| {
            let W = DMatrix::from_fn(group.len(), group.len(), |k, l| response(group[k], group[l]));
            // A contact that separates has no restitution: it gets at most the impulse that keeps
            // its surfaces from penetrating.
            let e: Vec<f64> = e
                .iter()
                .zip(&u_n)
                .map(|(&e, &u_n)| if u_n < 0.0 { e } else { 0.0 })
                .collect();
            frictionless(&W, &u_n, &e)
        });
        for (k, &i) in group.iter().enumerate() {
            outcomes[i] = match &solved {
                None => Err(ImpactStatus::Coupled),
                Some(None) => Err(ImpactStatus::Unsolved),
                Some(Some(p)) if p[k] > 0.0 => Ok((reached[i].n * p[k], ImpactStatus::Impact)),
                Some(Some(_)) => Err(ImpactStatus::Separating),
            };
        }
    }
    outcomes
}

/// Returns the impulse (N·s) of an uncoupled contact by its law, or the status with the reason for
/// which it has none.
fn alone(reached: &ReachedContact, W: &Matrix3<f64>, u: &Vec3<f64>) -> Result<(Vec3<f64>, ImpactStatus), ImpactStatus> {
    let point = PointImpact::new(*W, *u, reached.n).ok_or(ImpactStatus::Unsolved)?;
    let law = reached.law.as_ref().ok_or(ImpactStatus::Unsolved)?;
    match point.impulse(law) {
        Ok(outcome) if outcome.clamped => Ok((outcome.p, ImpactStatus::Clamped)),
        Ok(outcome) => Ok((outcome.p, ImpactStatus::Impact)),
        Err(Refusal::Separating) => Err(ImpactStatus::Separating),
        Err(Refusal::Inconsistent { .. }) => Err(ImpactStatus::Inconsistent),
        Err(Refusal::Adhesive) => Err(ImpactStatus::Adhesive),
        Err(Refusal::NoEnd | Refusal::Parameter) => Err(ImpactStatus::Unsolved),
    }
}

/// Returns the response (1/kg) at contact `i` to an impulse at contact `j`, for pairs without
/// moments.
fn block(operator: &Operator, i: usize, j: usize) -> Matrix3<f64> {
    operator.W.fixed_view::<3, 3>(3 * i, 3 * j).into_owned()
}

/// Returns three rows from `first` on.
pub(super) fn vector(all: &DVector<f64>, first: usize) -> Vec3<f64> {
    all.fixed_rows::<3>(first).into_owned()
}
