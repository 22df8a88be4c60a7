//! Impacts of contacts: contact points, response, impact laws and reports.

use super::Discrete;
use super::context::Constants;
use super::evaluation::Evaluation;
use super::impulse::Operator;
use crate::Error;
use crate::algebra::Vec3;
use crate::dynamics::impact::{Law, PointImpact, Refusal, frictionless};
use crate::elements::{Contact, ImpactReport, ImpactStatus, Pair};
use crate::event::{Occurrence, Pairing, Refused};
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
    index: usize,
    pub contact: &'a Contact,
    pub pair: Pair<f64>,
    /// Normal from b towards a, inertial axes.
    n: Vec3<f64>,
    /// Impact law; `None` for a capture.
    law: Option<Law>,
}

/// Outcome of one impact: the contact's index, the report and the event.
pub(super) type Reported = (usize, ImpactReport, Occurrence);

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
            let report = ImpactReport::blank(ImpactStatus::OutOfReach, discrete.reports[index].count, t);
            let distance = apart;
            reported.push((index, report, refused(contact, Refused::OutOfReach { distance, reach })));
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

/// Returns the report and the event of each contact for the impulses `p` at the relative velocities
/// `u` before.
pub(super) fn report_impacts(
    t: f64,
    discrete: &Discrete,
    reached: &[ReachedContact],
    operator: &Operator,
    p: &DVector<f64>,
    u: &DVector<f64>,
    statuses: &[ImpactStatus],
) -> Vec<Reported> {
    let after = operator.after(u, p);
    let sum = u + &after;
    let with_rows = reached.iter().zip(firsts(reached.iter().map(|reached| &reached.pair)));
    let reported = with_rows.zip(statuses).map(|((reached, first), &status)| {
        let rows = reached.pair.rows().len();
        // The rows of forces come after those of moments.
        let linear = first + rows - 3;
        let [impulse, before, velocity] = [p, u, &after].map(|all| vector(all, linear));
        let count = discrete.reports[reached.index].count + f64::from(u8::from(status.is_impact()));
        let [p, sum] = [p, &sum].map(|all| all.rows(first, rows));
        let u_n = reached.n.dot(&before);
        let mut report = ImpactReport {
            impulse,
            velocities: [before, velocity],
            energy_change: 0.5 * p.dot(&sum),
            restitution: match status.is_impact() && u_n != 0.0 {
                true => -reached.n.dot(&velocity) / u_n,
                false => 0.0,
            },
            ..ImpactReport::blank(status, count, t)
        };
        let moments = reached.pair.rows().zip(&p).take(rows - 3);
        report.moment_impulse = moments.fold(Vec3::zeros(), |sum, (row, p)| sum + reached.pair.unit(row).t * *p);
        let W = operator.W.fixed_view::<3, 3>(linear, linear).into_owned();
        if let Some(point) = PointImpact::new(W, before, reached.n) {
            report.set_response(&point, tangential(&point, reached, &impulse));
        }
        // The bounds of `r_E` apply to impulses without moment only.
        if reached.pair.turns() {
            report.band = [0.0; 2];
        }
        let occurrence = occurrence(reached, &report);
        (reached.index, report, occurrence)
    });
    reported.collect()
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

/// Returns the tangential impulse relative to that of a sticking impact.
fn tangential(point: &PointImpact, reached: &ReachedContact, p: &Vec3<f64>) -> f64 {
    if let Some(Law::EnergyFriction { r_f, .. }) = reached.law {
        return r_f;
    }
    let sticking = point.p_II() - reached.n * reached.n.dot(&point.p_II());
    match sticking.norm_squared() {
        0.0 => 1.0,
        square => sticking.dot(p) / square,
    }
}

/// Returns the response (1/kg) at contact `i` to an impulse at contact `j`, for pairs without
/// moments.
fn block(operator: &Operator, i: usize, j: usize) -> Matrix3<f64> {
    operator.W.fixed_view::<3, 3>(3 * i, 3 * j).into_owned()
}

/// Returns three rows from `first` on.
fn vector(all: &DVector<f64>, first: usize) -> Vec3<f64> {
    all.fixed_rows::<3>(first).into_owned()
}

/// Returns the names of a contact and its frames.
fn pairing(contact: &Contact) -> Pairing {
    Pairing {
        contact: contact.name.clone(),
        frames: contact.names.clone(),
        captures: contact.capture().is_some(),
    }
}

fn refused(contact: &Contact, reason: Refused) -> Occurrence {
    let pairing = pairing(contact);
    Occurrence::ImpactRefused { pairing, reason }
}

/// Returns the event of an impact.
fn occurrence(reached: &ReachedContact, report: &ImpactReport) -> Occurrence {
    let ReachedContact { contact, n, law, .. } = reached;
    if report.status.is_impact() {
        return Occurrence::Impact {
            pairing: pairing(contact),
            impulse: report.impulse.norm(),
            work: report.energy_change,
            clamped: (report.status == ImpactStatus::Clamped).then_some(report.band),
        };
    }
    let reason = match (report.status, law) {
        (ImpactStatus::Separating, _) => Refused::Separating {
            speed: n.dot(&report.velocities[1]),
        },
        (ImpactStatus::Inconsistent, Some(Law::EnergyFriction { r_E, r_f, .. })) => Refused::Inconsistent {
            r_E: *r_E,
            r_f: *r_f,
            bounds: report.band,
        },
        (ImpactStatus::Adhesive, _) => Refused::Adhesive,
        (ImpactStatus::Coupled, _) => Refused::Coupled,
        _ => Refused::Unsolved,
    };
    refused(contact, reason)
}
