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

/// Number of binary digits of impulses, of which those near the least number lose some.
const DIGITS: i32 = 52;

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

/// Returns [`impact_impulses`] of points with these coefficients. Velocities and responses are scaled
/// by powers of two, so that products of small ones do not underflow.
fn impulses(
    W: &DMatrix<f64>,
    u: &DVector<f64>,
    coefficients: &[Coefficients],
    noise: f64,
) -> Result<DVector<f64>, NoContactForce> {
    let fastest = (0..coefficients.len()).map(|i| u[3 * i]).enumerate();
    let fastest = fastest.min_by(|one, other| one.1.total_cmp(&other.1));
    let Some((first, _)) = fastest.filter(|(_, u_n)| *u_n < 0.0) else {
        return Ok(DVector::zeros(u.len()));
    };
    let unsolved = NoContactForce::Unsolved(first);
    let most = W.diagonal().amax();
    if !(most > 0.0 && most.is_finite() && u.amax().is_finite()) {
        return Err(unsolved);
    }
    let [by_W, by_u] = [most, u.amax()].map(|size| libm::frexp(size).1);
    let problem = Impact {
        W: &W.map(|w| libm::ldexp(w, -by_W)),
        u: &u.map(|u| libm::ldexp(u, -by_u)),
        coefficients,
        // Velocities near the least number are rounded to it.
        noise: libm::ldexp(noise + f64::from_bits(1), -by_u),
    };
    let scaled = problem.solution()?;
    let exponent = by_u - by_W;
    let of_problem = |p: &DVector<f64>| p.map(|p| libm::ldexp(p, -exponent));
    let p = scaled.map(|p| libm::ldexp(p, exponent));
    let rounded = of_problem(&p);
    if rounded == scaled {
        return Ok(p);
    }
    // Impulses near the least number: rounded towards zero, and smaller by as much as that changes them.
    let smaller = (0..=DIGITS).map(|bits| 1.0 - libm::ldexp(1.0, bits - DIGITS - 1));
    let rounded = smaller.map(|part| problem.in_cones(&scaled.map(|p| towards_zero(part * p, exponent))));
    let mut possible = rounded.filter(|p| p.amax() > 0.0 && p.amax().is_finite());
    possible.find(|p| !problem.gains(&of_problem(p))).ok_or(unsolved)
}

/// Returns `p·2^exponent` without the digits below the least number.
fn towards_zero(p: f64, exponent: i32) -> f64 {
    let rounded = libm::ldexp(p, exponent);
    match libm::ldexp(rounded, -exponent).abs() > p.abs() {
        true => f64::from_bits(rounded.to_bits() - 1),
        false => rounded,
    }
}

/// Impact of several points, with velocities and responses of the order of one.
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
            // Negated, so that NaN is an error.
            if !(after >= -most) {
                return Err(NoContactForce::Unsolved(k / 3));
            }
        }
        Ok(p)
    }

    /// Returns true if impulses gain more energy than round-off.
    fn gains(&self, p: &DVector<f64>) -> bool {
        let work = 0.5 * p.dot(&(self.u * 2.0 + self.W * p));
        // Negated, so that NaN is a gain.
        !(work <= NO_GAIN * p.amax() * self.u.amax())
    }

    /// Returns impulses with the tangential parts reduced to the friction cones.
    fn in_cones(&self, p: &DVector<f64>) -> DVector<f64> {
        let mut p = p.clone();
        for (i, Coefficients { mu, .. }) in self.coefficients.iter().enumerate() {
            let k = 3 * i;
            let size = libm::hypot(p[k + 1], p[k + 2]);
            if size > mu * p[k] {
                // Products with numbers near the least one are rounded; quotients of them are exact.
                let ratio = mu * (p[k] / size);
                for j in [k + 1, k + 2] {
                    let part = libm::trunc(ratio * (p[j] / f64::from_bits(1)));
                    p[j] = part * f64::from_bits(1);
                }
            }
        }
        p
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

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
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (points, rank) = (1 + seed as usize % 8, 3 + seed as usize % 10);
            // Different coefficients of redundant points may need many attempts.
            let one = (seed % 4 < 3).then(|| rng.random_range(0.0..1.0));
            let responses = DVector::from_fn(rank, |_, _| libm::exp10(rng.random_range(-0.5..0.5) * decades));
            let mut J = DMatrix::from_fn(3 * points, rank, |_, _| rng.random_range(-1.0..1.0));
            let mut noise = 0.0_f64;
            for i in 1..points {
                if rng.random_range(0.0..1.0) < 0.3 {
                    let off = libm::exp10(rng.random_range(-16.0..-6.0));
                    noise = noise.max(2.0 * off);
                    for k in 0..3 {
                        for column in 0..rank {
                            J[(3 * i + k, column)] = J[(3 * (i - 1) + k, column)] + off * rng.random_range(-1.0..1.0);
                        }
                    }
                }
            }
            let v = DVector::from_fn(rank, |_, _| rng.random_range(-1.0..1.0));
            let u = &J * v;
            let most = u.amax();
            Self {
                W: &J * DMatrix::from_diagonal(&responses) * J.transpose(),
                u: u.map(|u| libm::ldexp(u / most, exponent)),
                coefficients: (0..points)
                    .map(|_| Coefficients {
                        e: if rng.random_range(0.0..1.0) < 0.5 {
                            0.0
                        } else {
                            rng.random_range(0.0..1.0)
                        },
                        mu: rng.random_range(0.0..1.2),
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
    /// and gain no energy: for masses of up to eight decades and for nearly redundant points. Of the largest mass
    /// ratios some have an error in place of a solution. None are zero.
    #[test]
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

    /// Velocities and impulses of any size down to the least number have the solution of those of size one:
    /// the same digits, as far as these exist, and no gain of energy. None are zero.
    #[test]
    fn impulses_near_the_least_number_gain_no_energy() {
        let (mut compared, mut tiny, mut unsolved) = (0, 0, 0);
        for seed in (0..120).filter(|seed| seed % 4 < 3) {
            for exponent in [-300, -600, -1000, -1040, -1070, -1073] {
                let case = Case::random(seed, 2.0, exponent);
                if !case.approaches() {
                    continue;
                }
                let large = Case {
                    u: case.u.map(|u| libm::ldexp(u, -exponent)),
                    ..Case::random(seed, 2.0, 0)
                };
                let noise = libm::ldexp(case.noise, exponent);
                let Ok(p) = impulses(&case.W, &case.u, &case.coefficients, noise) else {
                    assert!(exponent < -1050, "case {seed}, 2^{exponent}");
                    unsolved += 1;
                    continue;
                };
                assert!(p.amax() > 0.0, "case {seed}, 2^{exponent}");
                let p = p.map(|p| libm::ldexp(p, -exponent));
                if exponent >= -600 {
                    let of_large = impulses(&large.W, &large.u, &large.coefficients, large.noise);
                    assert_eq!(Ok(p), of_large, "case {seed}, 2^{exponent}");
                    compared += 1;
                    continue;
                }
                let [_, cone, work] = large.errors(&p);
                // The least impulse of one point is its rounding.
                let least = libm::ldexp(1.0, -1074 - exponent) / p.amax();
                assert!(
                    work < 1e-13 && cone <= 1e-12 + least,
                    "case {seed}, 2^{exponent}: {work:e} {cone:e}"
                );
                tiny += 1;
            }
        }
        println!("{compared} compared, {tiny} near the least number, {unsolved} have smaller impulses");
        assert!(compared > 100 && tiny > 150);
    }

    /// A point that cannot move but approaches has an error, no impulse of zero.
    #[test]
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
