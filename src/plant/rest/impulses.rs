//! Impulses of an impact of points that may rest.

use super::problem::{least_norm, pseudo_solution};
use super::{Candidate, STILL};
use crate::dynamics::impact::{Friction, NoContactForce, with_friction};
use crate::plant::context::Constants;
use nalgebra::{DMatrix, DVector};

/// Number of bisections of the restitution of an impact that would gain energy or has no solution.
const BISECTIONS: usize = 30;

/// Number of them without a solution at which they end.
const UNSOLVED: usize = 8;

/// Gain of energy relative to that of the relative motion that counts as round-off.
const NO_GAIN: f64 = 1e-13;

/// Velocity up to which points count as not approaching, m/s: products of smaller ones underflow.
const LEAST_SPEED: f64 = 1e-140;

/// Velocity of approach after an impact, relative to the largest velocity and to the largest change of
/// the velocity of the point, up to which the impact is solved.
const SOLVED: f64 = 1e-9;

/// Coefficients of a point in an impact.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    /// Restitution; zero for a point that approaches slowly.
    e: f64,
    /// Friction.
    mu: f64,
}

/// Returns the impulses (N·s) of an impact of several points: Newton's restitution and Coulomb
/// friction at the velocities after the impact. Where it would gain energy or has no solution, the
/// restitution is reduced until it does not: without restitution it never gains any, and is solvable.
///
/// # Errors
/// [`NoContactForce`], with the point: no impulses are found that end its approach.
pub(super) fn impact_impulses(
    of: Constants,
    candidates: &[Candidate],
    W: &DMatrix<f64>,
    u: &DVector<f64>,
    noise: f64,
) -> Result<DVector<f64>, NoContactForce> {
    let coefficients = candidates.iter().enumerate().map(|(i, candidate)| {
        let [e, mu] = candidate.contact.rest_coefficients(of.parameters);
        let is_fast = -u[3 * i] > candidate.rest.speed(of.parameters);
        Coefficients {
            e: if is_fast { e } else { 0.0 },
            mu,
        }
    });
    impulses(W, u, &coefficients.collect::<Vec<_>>(), noise)
}

/// Returns [`impact_impulses`] of points with these coefficients.
fn impulses(
    W: &DMatrix<f64>,
    u: &DVector<f64>,
    coefficients: &[Coefficients],
    noise: f64,
) -> Result<DVector<f64>, NoContactForce> {
    if (0..coefficients.len()).all(|i| u[3 * i] >= -LEAST_SPEED) {
        return Ok(DVector::zeros(u.len()));
    }
    Impact {
        W,
        u,
        coefficients,
        noise,
    }
    .solution()
}

/// Impact of several points.
struct Impact<'a> {
    W: &'a DMatrix<f64>,
    u: &'a DVector<f64>,
    coefficients: &'a [Coefficients],
    /// Round-off of `u`.
    noise: f64,
}

impl Impact<'_> {
    /// Returns the impulses.
    fn solution(&self) -> Result<DVector<f64>, NoContactForce> {
        let first = self.with_part(1.0);
        if let Ok(p) = &first
            && !self.gains(p)
        {
            return first;
        }
        let mut best = self.with_part(0.0)?;
        if self.gains(&best) {
            // Round-off of the solution: no smaller multiple of these impulses gains more.
            best *= (-2.0 * best.dot(self.u) / best.dot(&(self.W * &best))).clamp(0.0, 1.0);
            return self.verified(self.u, best, self.noise);
        }
        let (mut fits, mut gains) = (0.0, 1.0);
        let mut unsolved = usize::from(first.is_err());
        for _ in 0..BISECTIONS {
            let part = 0.5 * (fits + gains);
            match self.with_part(part) {
                Ok(p) if !self.gains(&p) => (fits, best) = (part, p),
                Ok(_) => gains = part,
                Err(_) if unsolved == UNSOLVED => break,
                Err(_) => (unsolved, gains) = (unsolved + 1, part),
            }
        }
        Ok(best)
    }

    /// Returns the impulses with this part of the restitution. Velocities that are round-off have
    /// impulses too, if any are found.
    fn with_part(&self, part: f64) -> Result<DVector<f64>, NoContactForce> {
        let mut b = self.u.clone();
        for (i, Coefficients { e, .. }) in self.coefficients.iter().enumerate() {
            if b[3 * i] < 0.0 {
                b[3 * i] *= 1.0 + part * e;
            }
        }
        let points = self.coefficients.iter().map(|of| Friction::Coulomb { mu: of.mu });
        let points: Vec<Friction> = points.collect();
        let start = least_norm(self.W, &b, &points);
        let mut noise = self.noise;
        let mut p = with_friction(self.W, &b, &points, &start, noise)?;
        if p.iter().all(|p| *p == 0.0) {
            noise = 0.0;
            p = with_friction(self.W, &b, &points, &start, noise)?;
        }
        self.verified(&b, p, noise)
    }

    /// Returns impulses that end the approach of all points, for the velocities `b` with restitution.
    ///
    /// # Errors
    /// [`NoContactForce::Unsolved`], with a point that still approaches.
    fn verified(&self, b: &DVector<f64>, p: DVector<f64>, noise: f64) -> Result<DVector<f64>, NoContactForce> {
        for k in (0..b.len()).step_by(3) {
            let changes = self.W.column(k).component_mul(&p);
            let after = b[k] + changes.sum();
            let most = noise + SOLVED * changes.iter().fold(b.amax(), |most, change| most.max(change.abs()));
            if after < -most || after.is_nan() {
                return Err(NoContactForce::Unsolved(k / 3));
            }
        }
        Ok(p)
    }

    /// Returns true if impulses gain more energy than round-off.
    fn gains(&self, p: &DVector<f64>) -> bool {
        let work = 0.5 * p.dot(&(self.u * 2.0 + self.W * p));
        work > NO_GAIN * p.amax() * self.u.amax() || work.is_nan()
    }
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

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::random::Sequence;

    unit_tests![
        impulses_of_random_sets_are_solutions,
        impulses_are_proportional_to_velocities,
        approach_of_points_without_a_response_is_an_error,
    ];

    /// Impact of random points between bodies.
    struct Case {
        W: DMatrix<f64>,
        u: DVector<f64>,
        coefficients: Vec<Coefficients>,
        /// Part of the velocities by which nearly redundant points differ.
        noise: f64,
    }

    impl Case {
        /// Returns points whose bodies have masses with this ratio at most (decades), some of them nearly
        /// redundant, with the largest velocity 2^`exponent` m/s at most.
        fn random(seed: u64, decades: f64, exponent: i32) -> Self {
            let mut rng = Sequence::new(seed);
            let (points, rank) = (1 + seed as usize % 8, 3 + seed as usize % 10);
            let responses = DVector::from_fn(rank, |_, _| libm::exp10(rng.next_in(-0.5..0.5) * decades));
            let mut J = DMatrix::from_fn(3 * points, rank, |_, _| rng.next_in(-1.0..1.0));
            let mut noise = 0.0_f64;
            for i in 1..points {
                if rng.next_in(0.0..1.0) < 0.3 {
                    let off = libm::exp10(rng.next_in(-16.0..-6.0));
                    noise = noise.max(2.0 * off);
                    for k in 0..3 {
                        for column in 0..rank {
                            J[(3 * i + k, column)] = J[(3 * (i - 1) + k, column)] + off * rng.next_in(-1.0..1.0);
                        }
                    }
                }
            }
            let v = DVector::from_fn(rank, |_, _| rng.next_in(-1.0..1.0));
            let u = &J * v;
            let most = u.amax();
            Self {
                W: &J * DMatrix::from_diagonal(&responses) * J.transpose(),
                u: u.map(|u| libm::ldexp(u / most, exponent)),
                coefficients: (0..points)
                    .map(|_| Coefficients {
                        e: if rng.next_in(0.0..1.0) < 0.5 {
                            0.0
                        } else {
                            rng.next_in(0.0..1.0)
                        },
                        mu: rng.next_in(0.0..1.2),
                    })
                    .collect(),
                noise,
            }
        }

        fn approaches(&self) -> bool {
            (0..self.coefficients.len()).any(|i| self.u[3 * i] < 0.0)
        }

        /// Returns the largest violation of complementarity, of the friction cones and of the energy by
        /// impulses, relative to velocities and impulses, with restitution reduced where this was necessary.
        fn errors(&self, p: &DVector<f64>) -> [f64; 3] {
            let after = &self.W * p + &self.u;
            let (size, most) = (self.u.amax(), p.amax());
            let (mut complementary, mut cone) = (0.0_f64, 0.0_f64);
            for (i, of) in self.coefficients.iter().enumerate() {
                let k = 3 * i;
                let rebound = of.e * (-self.u[k]).max(0.0);
                complementary = complementary
                    .max(-p[k] / most)
                    .max(-after[k] / size)
                    .max((after[k] - rebound) / size * (p[k] / most));
                let tangential = libm::hypot(p[k + 1], p[k + 2]);
                cone = cone.max((tangential - of.mu * p[k]) / most);
                let against = p[k + 1] / most * after[k + 1] + p[k + 2] / most * after[k + 2];
                let slip = libm::hypot(after[k + 1], after[k + 2]);
                complementary = complementary.max((of.mu * p[k] / most * slip + against).abs() / size);
            }
            let work = 0.5 * (p / most).dot(&(&self.u + &after)) / size;
            [complementary, cone, work]
        }
    }

    /// Impulses of random sets of points end every approach, with complementarity, in the friction cones,
    /// and gain no energy: for masses of up to eight decades and for nearly redundant points. Of the
    /// largest mass ratios some have an error in place of a solution. None are zero.
    fn impulses_of_random_sets_are_solutions() {
        for (decades, count) in [(0.0, 200), (4.0, 200), (8.0, 200)] {
            let (mut worst, mut unsolved, mut solved) = ([0.0_f64; 3], 0, 0);
            for seed in 0..count {
                let case = Case::random(seed, decades, 0);
                if !case.approaches() {
                    continue;
                }
                match impulses(&case.W, &case.u, &case.coefficients, case.noise) {
                    Ok(p) => {
                        assert!(p.amax() > 0.0, "case {seed}");
                        let mut errors = case.errors(&p);
                        errors[0] -= 10.0 * case.noise;
                        worst = std::array::from_fn(|i| worst[i].max(errors[i]));
                        solved += 1;
                    }
                    Err(_) => unsolved += 1,
                }
            }
            println!("{decades} decades: {solved} solved, {unsolved} not, errors {worst:?}");
            assert!(worst[0] < 1e-9 && worst[1] < 1e-12 && worst[2] < 1e-13);
            let most = if decades > 4.0 { 10 } else { 0 };
            assert!(unsolved <= most && solved > 150);
        }
    }

    /// Impulses of slow points are proportional to those of fast ones, down to the velocity that counts
    /// as none.
    fn impulses_are_proportional_to_velocities() {
        let mut compared = 0;
        for seed in 0..120 {
            for exponent in [-100, -300, -440, -600] {
                let (slow, fast) = (Case::random(seed, 2.0, exponent), Case::random(seed, 2.0, 0));
                let of = |case: &Case, noise: f64| impulses(&case.W, &case.u, &case.coefficients, noise);
                let p = of(&slow, libm::ldexp(slow.noise, exponent)).map(|p| p.map(|p| libm::ldexp(p, -exponent)));
                if exponent < -450 {
                    assert_eq!(p, Ok(DVector::zeros(slow.u.len())));
                } else if fast.approaches() {
                    let (p, of_fast) = (p.expect("impulses"), of(&fast, fast.noise).expect("impulses"));
                    // Below, squares of the smaller impulses underflow.
                    let most = if exponent < -300 { 1e-12 * of_fast.amax() } else { 0.0 };
                    let off = (p - &of_fast).amax();
                    assert!(off <= most, "case {seed}, 2^{exponent}: {off:e}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 200);
    }

    /// A point that cannot move but approaches has an error, no impulse of zero.
    fn approach_of_points_without_a_response_is_an_error() {
        let mut W = DMatrix::identity(6, 6);
        (3..6).for_each(|k| W[(k, k)] = 0.0);
        let u = DVector::from_vec(vec![-1.0, 0.0, 0.0, -0.5, 0.0, 0.0]);
        let coefficients = [Coefficients { e: 0.0, mu: 0.3 }; 2];
        assert_eq!(impulses(&W, &u, &coefficients, 0.0), Err(NoContactForce::Unsolved(1)));
        let nothing = DMatrix::zeros(6, 6);
        assert_eq!(
            impulses(&nothing, &u, &coefficients, 0.0),
            Err(NoContactForce::Unsolved(0))
        );
        // Round-off of 1 m/s does not hide the approach.
        let p = impulses(&DMatrix::identity(6, 6), &u, &coefficients, 1.0).expect("impulses");
        assert!((p[0] - 1.0).abs() < 1e-12 && (p[3] - 0.5).abs() < 1e-12);
    }
}
