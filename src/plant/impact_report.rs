//! Reports and events of impacts and captures, also of refused ones.

use super::Discrete;
use super::impact::{ReachedContact, firsts, vector};
use super::impulse::Operator;
use crate::algebra::Vec3;
use crate::dynamics::impact::{Law, PointImpact};
use crate::elements::{Contact, ImpactReport, ImpactStatus};
use crate::event::{Occurrence, Pairing, Refused};
use crate::spec::{Inconsistent, Tangential};
use crate::system::significant;
use nalgebra::DVector;

/// Excess over 1 of a restitution that is reported: more than round-off.
const FASTER: f64 = 1e-9;

/// Outcome of one impact: the contact's index, the report and the event.
pub(super) type Reported = (usize, ImpactReport, Occurrence);

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
            let (r_f, of) = tangential(&point, reached, &impulse);
            report.set_response(&point, r_f, of);
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

/// Returns the tangential impulse relative to that of a sticking impact.
fn tangential(point: &PointImpact, reached: &ReachedContact, p: &Vec3<f64>) -> (f64, Tangential) {
    if let Some(Law::EnergyFriction { r_f, tangential, .. }) = reached.law {
        return (r_f, tangential);
    }
    let sticking = point.p_II() - reached.n * reached.n.dot(&point.p_II());
    let ratio = match sticking.norm_squared() {
        0.0 => 1.0,
        square => sticking.dot(p) / square,
    };
    (ratio, Tangential::Plastic)
}

/// Returns the report and the event of a contact whose frames are out of reach at the time `t` (s).
pub(super) fn out_of_reach(t: f64, discrete: &Discrete, index: usize, contact: &Contact, reason: Refused) -> Reported {
    let report = ImpactReport::blank(ImpactStatus::OutOfReach, discrete.reports[index].count, t);
    (index, report, refused(contact, reason))
}

/// Returns the names of a contact and its frames.
pub(super) fn pairing(contact: &Contact) -> Pairing {
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

/// Returns the restitution of an impact with an accepted `r_E` after which the surfaces separate
/// faster than they approached, and the energy (J) that the motion along the normal `n` gained.
fn gain(report: &ImpactReport, n: &Vec3<f64>, law: &Option<Law>) -> Option<[f64; 2]> {
    let (e, before) = (report.restitution, n.dot(&report.velocities[0]));
    let energy = 0.5 * report.virtual_mass * before * before * (e * e - 1.0);
    let accept = Inconsistent::Accept;
    let accepts = matches!(law, Some(Law::EnergyFriction { on_inconsistent, .. }) if *on_inconsistent == accept);
    (accepts && e > 1.0 + FASTER).then_some([e, energy])
}

/// Returns the event of an impact.
fn occurrence(reached: &ReachedContact, report: &ImpactReport) -> Occurrence {
    let ReachedContact { contact, n, law, .. } = reached;
    if report.status.is_impact() {
        return Occurrence::Impact {
            pairing: pairing(contact),
            impulse: report.impulse.norm(),
            work: significant(
                report.energy_change,
                report.impulse.norm() * report.velocities[0].norm(),
            ),
            clamped: (report.status == ImpactStatus::Clamped).then_some(report.band),
            gain: gain(report, n, law),
        };
    }
    let reason = match (report.status, law) {
        (ImpactStatus::Separating, _) => Refused::Separating {
            speed: significant(n.dot(&report.velocities[1]), report.velocities[1].norm()),
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
