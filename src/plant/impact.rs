//! Contacts that strike: where they meet, what they feel there, what their laws make of it.

use super::discrete::Bearing;
use super::evaluation::Evaluation;
use super::impulse::{Operator, Pair};
use super::report::{Report, Status};
use super::{Discrete, Model};
use crate::Error;
use crate::algebra::Vec3;
use crate::dynamics::impact::{Law, Meeting, Refusal, bearing_rows, frictionless, plastic};
use crate::loads::Contact;
use crate::system::Derived;
use nalgebra::{DMatrix, DVector};

/// Below this part of their own responses, an impulse at one contact does nothing at another: round-off.
const COUPLED: f64 = 1e-12;

/// What counts as no response, as a part of that of all bodies in one.
const NO_RESPONSE: f64 = 1e-11;

/// A contact that is in reach.
struct Met<'a> {
    index: usize,
    contact: &'a Contact,
    pair: Pair,
    /// From b towards a, inertial axes.
    n: Vec3<f64>,
    law: Law,
}

/// What came of one strike: the contact's index, the report, and what the user should know.
pub(super) type Told = (usize, Report, String);

/// Who meets whom, of some contacts, and at which point: that of `a` where it is `held`, else halfway between the two. Those out of reach are told.
fn meet<'a>(
    (model, derived, parameters): (&'a Model, &Derived, &[f64]),
    evaluation: &Evaluation<f64>,
    (t, discrete): (f64, &Discrete),
    contacts: &[usize],
) -> (Vec<Told>, Vec<Met<'a>>) {
    let system = &model.system;
    let (mut told, mut met) = (Vec::new(), Vec::new());
    for &index in contacts {
        let contact = &model.loads.contacts[index];
        let [X_WA, X_WB] = [contact.a, contact.b].map(|frame| evaluation.kinematics.pose(system, derived, frame));
        let arm = |frame| evaluation.kinematics.arm(system, derived, frame).p;
        let gap = X_WA.p - X_WB.p;
        let (apart, reach) = (gap.norm(), contact.reach(parameters));
        if apart > reach {
            let report = Report::blank(Status::OutOfReach, Report::count(&discrete.numbers, index));
            let what = format!("they are {apart} m apart, its reach is {reach} m");
            told.push((index, report, refused(t, contact, &what)));
            continue;
        }
        let turns = contact.turns();
        met.push(Met {
            index,
            contact,
            pair: Pair {
                a: system.carrier(contact.a),
                b: system.carrier(contact.b),
                arms: match turns {
                    Some(_) => [arm(contact.a), arm(contact.b) + gap],
                    None => [arm(contact.a) - gap * 0.5, arm(contact.b) + gap * 0.5],
                },
                turns: turns == Some(true),
            },
            n: contact.normal(parameters, &X_WB.R),
            law: contact.law(parameters),
        });
    }
    (told, met)
}

/// Captures some pairs, all at the same time: what ends all their relative motion at once, redundant rows told from others by the rank of `W`. They are held
/// from then on.
///
/// # Errors
/// [`Error::Singular`] if something moves no inertia.
pub(super) fn capture(
    (model, derived, parameters): (&Model, &Derived, &[f64]),
    evaluation: &mut Evaluation<f64>,
    (t, x, discrete): (f64, &mut [f64], &mut Discrete),
    contacts: &[usize],
) -> Result<Vec<Told>, Error> {
    let system = &model.system;
    let numbers = (derived, parameters);
    evaluation.stand(model, numbers, x);
    let (mut told, met) = meet((model, derived, parameters), evaluation, (t, discrete), contacts);
    let poses = met.iter().map(|met| {
        let [A, B] = [met.contact.a, met.contact.b].map(|frame| evaluation.kinematics.pose(system, derived, frame));
        (B.R.tr_mul(&(A.p - B.p)), B.R.tr_mul(&A.R))
    });
    let poses: Vec<_> = poses.collect();
    let pairs: Vec<Pair> = met.iter().map(|met| met.pair).collect();
    let u = evaluation.velocities(&pairs);
    let speeds = evaluation
        .kinematics
        .bodies
        .iter()
        .map(|at| at.V_WB.v.norm() + at.V_WB.w.norm());
    let is_still = u.amax() <= 1e-12 * speeds.fold(0.0, f64::max);
    let operator = evaluation.operator(model, (derived, x), discrete, &pairs)?;
    // Rows that contradict each other, or that no impulse moves, leave more than round-off; where nothing moves there is nothing else.
    let solved = plastic(&operator.W, &u).filter(|solved| is_still || solved.residual < 1e-9);
    let p = solved
        .as_ref()
        .map_or_else(|| DVector::zeros(u.len()), |solved| solved.impulse.clone());
    let after = &u + &operator.W * &p;
    if solved.is_some() {
        let work = 0.5 * p.dot(&(&u + &after));
        evaluation.strike(model, numbers, (x, discrete), &operator, (&p, work));
    }
    let mut first = 0;
    for (met, (place, attitude)) in met.iter().zip(&poses) {
        let rows = met.pair.rows();
        let part = |all: &DVector<f64>| all.rows(first, rows).into_owned();
        let (p, u, after) = (part(&p), part(&u), part(&after));
        let count = Report::count(&discrete.numbers, met.index);
        let mut report = match solved {
            Some(_) => Report::blank(Status::Struck, count + 1.0),
            None => Report::blank(Status::Unsolved, count),
        };
        let linear = |all: &DVector<f64>| all.fixed_rows::<3>(0).into_owned();
        report.impulse = linear(&p);
        report.velocities = [linear(&u), linear(&after)];
        report.energy_change = 0.5 * p.dot(&(&u + &after));
        let [u_n, after_n] = report.velocities.map(|u| met.n.dot(&u));
        report.restitution = restitution(u_n, after_n);
        if met.pair.turns {
            report.moment_impulse = p.fixed_rows::<3>(3).into_owned();
        }
        let W = operator.W.fixed_view::<3, 3>(first, first).into_owned();
        if let Some(meeting) = Meeting::new(W, report.velocities[0], met.n) {
            report.look(&meeting, 1.0);
        }
        first += rows;
        let capture = model.loads.captures().position(|(index, _)| index == met.index);
        if let (Some(capture), Some(_)) = (capture, &solved) {
            discrete.set_captured(model, capture, (place, attitude));
            let held = Bearing {
                held: true,
                rows: [false; 6],
            };
            discrete.set_bearing(model, capture, held);
        }
        let message = message(t, met, &report);
        told.push((met.index, report, message));
    }
    bear((model, derived, parameters), evaluation, x, discrete)?;
    Ok(told)
}

/// Chooses which rows of the captured pairs bear, where they are and as joints are held now: the others follow from them.
///
/// # Errors
/// [`Error::Singular`] if something moves no inertia.
pub(super) fn bear(
    (model, derived, parameters): (&Model, &Derived, &[f64]),
    evaluation: &mut Evaluation<f64>,
    x: &[f64],
    discrete: &mut Discrete,
) -> Result<(), Error> {
    let system = &model.system;
    let captures = model.loads.captures().enumerate();
    let held: Vec<(usize, &Contact)> = captures
        .filter(|(capture, _)| discrete.bearing(model, *capture).held)
        .map(|(capture, (_, contact))| (capture, contact))
        .collect();
    if held.is_empty() {
        return Ok(());
    }
    for (capture, _) in &held {
        discrete.set_bearing(model, *capture, Bearing::default());
    }
    evaluation.stand(model, (derived, parameters), x);
    let pair = |contact: &Contact| Pair {
        a: system.carrier(contact.a),
        b: system.carrier(contact.b),
        arms: {
            let [A, B] = [contact.a, contact.b].map(|frame| evaluation.kinematics.pose(system, derived, frame).p);
            let arm = |frame| evaluation.kinematics.arm(system, derived, frame).p;
            [arm(contact.a), arm(contact.b) + (A - B)]
        },
        turns: contact.turns() == Some(true),
    };
    let pairs: Vec<Pair> = held.iter().map(|(_, contact)| pair(contact)).collect();
    let operator = evaluation.operator(model, (derived, x), discrete, &pairs)?;
    let bearing = bearing_rows(&operator.W);
    let mut first = 0;
    for ((capture, _), pair) in held.iter().zip(&pairs) {
        let mut rows = [false; 6];
        for (row, bears) in rows.iter_mut().enumerate().take(pair.rows()) {
            *bears = bearing.contains(&(first + row));
        }
        first += pair.rows();
        discrete.set_bearing(model, *capture, Bearing { held: true, rows });
    }
    Ok(())
}

/// Lets some contacts strike, all at the same time.
///
/// What feels nothing of the others follows its own law. Those that feel each other solve their complementarity problem if they are smooth,
/// and are refused if they are not.
///
/// # Errors
/// [`Error::Singular`] if something moves no inertia.
pub(super) fn strike(
    (model, derived, parameters): (&Model, &Derived, &[f64]),
    evaluation: &mut Evaluation<f64>,
    (t, x, discrete): (f64, &mut [f64], &Discrete),
    contacts: &[usize],
) -> Result<Vec<Told>, Error> {
    evaluation.stand(model, (derived, parameters), x);
    let (mut told, met) = meet((model, derived, parameters), evaluation, (t, discrete), contacts);
    let pairs: Vec<Pair> = met.iter().map(|met| met.pair).collect();
    let u = evaluation.velocities(&pairs);
    let operator = evaluation.operator(model, (derived, x), discrete, &pairs)?;
    // To a unit impulse free craft answer by one over their mass at least; what answers much less is held by what it strikes.
    let mass: f64 = derived.bodies.iter().map(|body| body.m).sum();
    let statuses = solve(&met, (&operator, NO_RESPONSE / mass), &u);
    let mut p = DVector::zeros(u.len());
    for (i, outcome) in statuses.iter().enumerate() {
        if let Ok((impulse, _)) = outcome {
            p.fixed_rows_mut::<3>(3 * i).copy_from(impulse);
        }
    }
    let after = &u + &operator.W * &p;
    let work = 0.5 * p.dot(&(&u + &after));
    if statuses.iter().any(Result::is_ok) {
        evaluation.strike(model, (derived, parameters), (x, discrete), &operator, (&p, work));
    }
    for (i, (met, outcome)) in met.iter().zip(&statuses).enumerate() {
        let [p, u, after] = [&p, &u, &after].map(|all| vector(all, i));
        let count = Report::count(&discrete.numbers, met.index);
        let (status, count) = match outcome {
            Ok((_, status)) => (*status, count + 1.0),
            Err(status) => (*status, count),
        };
        let mut report = Report {
            impulse: p,
            velocities: [u, after],
            energy_change: 0.5 * p.dot(&(u + after)),
            restitution: restitution(met.n.dot(&u), met.n.dot(&after)),
            ..Report::blank(status, count)
        };
        if let Some(meeting) = meeting(met, &operator, &u, i) {
            report.look(&meeting, tangential(&meeting, met, &p));
        }
        let message = message(t, met, &report);
        told.push((met.index, report, message));
    }
    Ok(told)
}

/// The impulse of each, or why there is none. `least`: the response along the normal, 1/kg, below which nothing gives way.
fn solve(
    met: &[Met],
    (operator, least): (&Operator, f64),
    u: &DVector<f64>,
) -> Vec<Result<(Vec3<f64>, Status), Status>> {
    let mut outcomes = vec![Err(Status::Unsolved); met.len()];
    let response = |i: usize, j: usize| met[i].n.dot(&(block(operator, i, j) * met[j].n));
    let mut left: Vec<usize> = (0..met.len()).filter(|&i| response(i, i) > least).collect();
    let size = |i: usize, j: usize| block(operator, i, j).norm();
    let feels = |i: usize, j: usize| size(i, j) > COUPLED * (size(i, i) * size(j, j)).sqrt();
    while let Some(first) = left.pop() {
        let mut group = vec![first];
        let mut seen = 0;
        while let Some(&i) = group.get(seen) {
            let (near, far) = left.iter().partition(|&&j| feels(i, j));
            (left, seen) = (far, seen + 1);
            group.append(&mut { near });
        }
        if let [i] = group[..] {
            outcomes[i] = alone(&met[i], operator, &vector(u, i), i);
            continue;
        }
        let u_n = DVector::from_iterator(group.len(), group.iter().map(|&i| met[i].n.dot(&vector(u, i))));
        let smooth: Option<Vec<f64>> = group.iter().map(|&i| met[i].law.smooth()).collect();
        let solved = smooth.as_ref().map(|e| {
            let W = DMatrix::from_fn(group.len(), group.len(), |k, l| response(group[k], group[l]));
            // What moves apart has nothing to give back; it may be pushed, and then stays in touch.
            let e: Vec<f64> = e
                .iter()
                .zip(&u_n)
                .map(|(&e, &u_n)| if u_n < 0.0 { e } else { 0.0 })
                .collect();
            frictionless(&W, &u_n, &e)
        });
        for (k, &i) in group.iter().enumerate() {
            outcomes[i] = match &solved {
                None => Err(Status::Together),
                Some(None) => Err(Status::Unsolved),
                Some(Some(p)) if p[k] > 0.0 => Ok((met[i].n * p[k], Status::Struck)),
                Some(Some(_)) => Err(Status::Separating),
            };
        }
    }
    outcomes
}

/// The impulse of a contact that feels no other, by its law, or why there is none.
fn alone(met: &Met, operator: &Operator, u: &Vec3<f64>, i: usize) -> Result<(Vec3<f64>, Status), Status> {
    let meeting = meeting(met, operator, u, i).ok_or(Status::Unsolved)?;
    match meeting.impulse(&met.law) {
        Ok(outcome) if outcome.clamped => Ok((outcome.p, Status::Clamped)),
        Ok(outcome) => Ok((outcome.p, Status::Struck)),
        Err(Refusal::Separates) => Err(Status::Separating),
        Err(Refusal::Inconsistent { .. }) => Err(Status::Inconsistent),
        Err(Refusal::Adhesive) => Err(Status::Adhesive),
        Err(Refusal::NoEnd | Refusal::Parameter) => Err(Status::Unsolved),
    }
}

/// What contact `i` feels by itself.
fn meeting(met: &Met, operator: &Operator, u: &Vec3<f64>, i: usize) -> Option<Meeting> {
    Meeting::new(block(operator, i, i), *u, met.n)
}

/// `−u_n⁺/u_n`; zero where nothing approaches.
fn restitution(u_n: f64, after: f64) -> f64 {
    if u_n == 0.0 { 0.0 } else { -after / u_n }
}

/// The tangential impulse over that of an impact that sticks.
fn tangential(meeting: &Meeting, met: &Met, p: &Vec3<f64>) -> f64 {
    if let Law::EnergyFriction { r_f, .. } = met.law {
        return r_f;
    }
    let sticking = meeting.p_II() - met.n * met.n.dot(&meeting.p_II());
    match sticking.norm_squared() {
        0.0 => 1.0,
        square => sticking.dot(p) / square,
    }
}

fn block(operator: &Operator, i: usize, j: usize) -> nalgebra::Matrix3<f64> {
    operator.W.fixed_view::<3, 3>(3 * i, 3 * j).into_owned()
}

fn vector(all: &DVector<f64>, i: usize) -> Vec3<f64> {
    all.fixed_rows::<3>(3 * i).into_owned()
}

fn refused(t: f64, contact: &Contact, why: &str) -> String {
    let (name, [a, b]) = (&contact.name, &contact.names);
    let (verb, on) = match contact.turns() {
        Some(_) => ("capture", "with"),
        None => ("strike", "on"),
    };
    format!("t = {t} s: contact \"{name}\" does not {verb}, \"{a}\" {on} \"{b}\": {why}")
}

/// What the user should know of a strike.
fn message(t: f64, met: &Met, report: &Report) -> String {
    let Met { contact, n, law, .. } = met;
    let [low, high] = report.band;
    if report.status.is_struck() {
        let (p, work) = (report.impulse.norm(), report.energy_change);
        let clamped = match report.status {
            Status::Clamped => format!("; r_E was clamped to between {low} and {high}"),
            _ => String::new(),
        };
        let (name, [a, b]) = (&contact.name, &contact.names);
        let (verb, on) = match contact.turns() {
            Some(_) => ("captures", "with"),
            None => ("strikes", "on"),
        };
        return format!("t = {t} s: contact \"{name}\" {verb}, \"{a}\" {on} \"{b}\": {p} N·s, work {work} J{clamped}");
    }
    let why = match (report.status, law) {
        (Status::Separating, _) => format!("they move apart at {} m/s", n.dot(&report.velocities[1])),
        (Status::Inconsistent, Law::EnergyFriction { r_E, r_f, .. }) => {
            format!("no impact has r_E = {r_E} with r_f = {r_f}; r_E must lie between {low} and {high} here")
        }
        (Status::Adhesive, _) => "the impulse would have to pull".to_owned(),
        (Status::Together, _) => {
            "friction acts at several contacts that feel each other; at once only smooth ones can strike (mu = 0)"
                .to_owned()
        }
        _ => "nothing gives way there, or the impact finds no end".to_owned(),
    };
    refused(t, contact, &why)
}
