//! Impulses of an impact of points that may rest.

use super::problem::{least_norm, pseudo_solution};
use super::{Candidate, STILL};
use crate::dynamics::impact::{Friction, NoContactForce, with_friction};
use crate::plant::context::Constants;
use nalgebra::{DMatrix, DVector};

/// Number of bisections of the restitution of an impact that would gain energy.
const BISECTIONS: usize = 30;

/// Gain of energy relative to that of the relative motion that counts as round-off.
const NO_GAIN: f64 = 1e-13;

/// Returns the impulses (N·s) of an impact of several points: Newton's restitution and Coulomb
/// friction at the velocities after the impact. Where it would gain energy, the restitution is
/// reduced until it does not: without restitution it never does.
pub(super) fn impact_impulses(
    of: Constants,
    candidates: &[Candidate],
    W: &DMatrix<f64>,
    u: &DVector<f64>,
    noise: f64,
) -> Result<DVector<f64>, NoContactForce> {
    let coefficients = candidates
        .iter()
        .map(|of_point| of_point.contact.rest_coefficients(of.parameters));
    let coefficients: Vec<[f64; 2]> = coefficients.collect();
    let points: Vec<Friction> = coefficients.iter().map(|&[_, mu]| Friction::Coulomb { mu }).collect();
    let with = |part: f64| {
        let mut b = u.clone();
        for (i, (candidate, [e, _])) in candidates.iter().zip(&coefficients).enumerate() {
            if -u[3 * i] > candidate.rest.speed(of.parameters) {
                b[3 * i] *= 1.0 + part * e;
            }
        }
        let p = with_friction(W, &b, &points, &least_norm(W, &b, &points), noise)?;
        let work = 0.5 * p.dot(&(u * 2.0 + W * &p));
        Ok((work <= NO_GAIN * p.amax() * u.amax()).then_some(p))
    };
    if let Some(p) = with(1.0)? {
        return Ok(p);
    }
    let (mut fits, mut gains) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let part = 0.5 * (fits + gains);
        match with(part)? {
            Some(_) => fits = part,
            None => gains = part,
        }
    }
    with(fits)?.map_or_else(|| Ok(DVector::zeros(u.len())), Ok)
}

/// Returns the impulses `p` of an impact in which all points approach no faster than they may rest, with
/// those that also end slow separation of points that were in contact. Otherwise a body would rock from
/// edge to edge, lower and faster, and the margin of the gap would feed its motion.
pub(super) fn settled(
    of: Constants,
    candidates: &[Candidate],
    W: &DMatrix<f64>,
    u: &DVector<f64>,
    mut p: DVector<f64>,
) -> DVector<f64> {
    let is_slow = |candidate: &Candidate| -candidate.u.x <= candidate.rest.speed(of.parameters);
    if !candidates.iter().all(|point| is_slow(point) && !point.has_jumped) {
        return p;
    }
    let after = u + W * &p;
    let mut rows = Vec::new();
    for (k, point) in candidates.iter().enumerate().map(|(i, point)| (3 * i, point)) {
        let was_in_contact = point.was_held || point.u.x < -STILL;
        if was_in_contact && after[k] <= point.rest.speed(of.parameters) {
            rows.push(k);
            let slip = after.rows(k + 1, 2).norm();
            rows.extend(
                [k + 1, k + 2]
                    .iter()
                    .filter(|_| slip <= STILL && point.contact.has_friction()),
            );
        }
    }
    if rows.iter().any(|&k| after[k].abs() > STILL) {
        let stop = pseudo_solution(&W.select_rows(&rows).select_columns(&rows), &-after.select_rows(&rows));
        rows.iter().zip(&stop).for_each(|(&k, stop)| p[k] += stop);
    }
    p
}
