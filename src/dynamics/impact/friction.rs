use super::polyhedral::{Edges, with_pyramids};
use nalgebra::{DMatrix, DVector};

/// Residual of a solution, relative to the largest unknown.
const CONVERGED: f64 = 1e-13;

/// Changes of velocities by forces of a reasonable size, relative to the largest velocity: larger ones
/// have round-off that is no solution.
const REASONABLE: f64 = 1e4;

/// Number of attempts to end by Newton's method; before each there are ten sweeps more than before the
/// last.
const ATTEMPTS: usize = 60;

/// Number of attempts before another start.
const FEW_ATTEMPTS: usize = 6;

/// Angles between the edges of friction pyramids, rad, in successive attempts.
const SPREADS: [f64; 5] = [0.4, 0.1, 0.02, 0.004, 0.0008];

/// Parts of the projections' steps in the sweeps before successive attempts: where friction and normal
/// force are strongly coupled, whole steps lead in circles.
const PARTS: [f64; 4] = [1.0, 0.5, 0.25, 0.7];

/// Largest number of steps of Newton's method.
const STEPS: usize = 25;

/// Regularisation of Newton's equations, relative to the largest squared column.
const REGULAR: f64 = 1e-14;

/// Response, relative to the largest, below which a contact point cannot move along its normal.
const LEAST_RESPONSE: f64 = 1e-11;

/// Friction of one contact point, with its coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Friction {
    /// The tangential force is in the friction disc, and opposite to the motion at its rim.
    Coulomb {
        /// Coefficient of friction μ.
        mu: f64,
    },
    /// The point slides: the tangential force is `−μ p_n d`.
    Sliding {
        /// Coefficient of friction μ.
        mu: f64,
        /// Unit vector d of the sliding, along the two tangents.
        direction: [f64; 2],
    },
}

/// Reason for which there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoContactForce {
    /// The normal force of this point would pull it into the surface by its friction (Painlevé's
    /// paradox).
    Jammed(usize),
    /// The iteration did not converge; with the point that has the largest residual.
    Unsolved(usize),
}

/// Returns the forces or impulses `p` of several contact points with Coulomb friction: a solution of
///
/// ```text
///     w = W p + b,     0 ≤ p_n ⟂ w_n ≥ 0,     |p_t| ≤ μ p_n,
///     w_t = −ν p_t with ν ≥ 0, ν (μ p_n − |p_t|) = 0
/// ```
///
/// Each point has three rows: along its normal and two tangents. `W` is symmetric and positive
/// semidefinite. `w` are velocities after an impact (J. J. Moreau, in *Nonsmooth Mechanics and
/// Applications* (1988)), or accelerations of points at rest (C. Glocker, *Set-Valued Force Laws*
/// (2001)). The search begins at `start`; where the solution is not unique, the result is near it.
/// Differences of `w` up to `noise` count as round-off.
///
/// Method: block Gauss–Seidel sweeps with projections on the friction cones, then Newton's method on
/// the same projections. Where this does not converge, both begin at a solution with friction pyramids
/// in place of the cones, which Lemke's method finds.
///
/// # Errors
/// [`NoContactForce`], with a point. Without points that slide and with equal restitution the
/// problem of an impact has a solution.
pub fn with_friction(
    W: &DMatrix<f64>,
    b: &DVector<f64>,
    points: &[Friction],
    start: &DVector<f64>,
    noise: f64,
) -> Result<DVector<f64>, NoContactForce> {
    if b.iter().all(|b| b.abs() <= noise) {
        return Ok(DVector::zeros(b.len()));
    }
    let problem = Problem::new(W, b, points, noise)?;
    problem
        .by_sweeps(problem.clipped(start), FEW_ATTEMPTS)
        .or_else(|| problem.by_pyramids())
        .ok_or_else(|| NoContactForce::Unsolved(problem.residual(&problem.clipped(start)).iamax() / 3))
}

/// Returns the friction forces `p` of several contacts whose limits `m` (N) are known, by their normal
/// forces: a solution of
///
/// ```text
///     w = W p + b,     |p_i| ≤ m_i,     w_i = −ν_i p_i with ν_i ≥ 0, ν_i (m_i − |p_i|) = 0
/// ```
///
/// Each contact has two rows, along the surface; otherwise as [`with_friction`]. The solution makes
/// `½ pᵀ W p + bᵀ p` least, so that `w` is unique. `None` if the iteration does not converge.
pub fn with_limits(
    W: &DMatrix<f64>,
    b: &DVector<f64>,
    limits: &[f64],
    start: &DVector<f64>,
    noise: f64,
) -> Option<DVector<f64>> {
    // Points whose normal forces are the limits, and do not change.
    let points = vec![Friction::Coulomb { mu: 1.0 }; limits.len()];
    let n = 3 * limits.len();
    let row = |k: usize| (k % 3).checked_sub(1).map(|along| 2 * (k / 3) + along);
    let all = |of: &DVector<f64>| DVector::from_fn(n, |k, _| row(k).map_or(0.0, |row| of[row]));
    let of_all = DMatrix::from_fn(n, n, |i, j| match (row(i), row(j)) {
        (Some(i), Some(j)) => W[(i, j)],
        _ => 0.0,
    });
    let (b, mut start) = (all(b), all(start));
    limits.iter().enumerate().for_each(|(i, limit)| start[3 * i] = *limit);
    let mut problem = Problem::new(&of_all, &b, &points, noise).ok()?;
    problem.has_limits = true;
    let p = problem.by_sweeps(problem.clipped(&start), ATTEMPTS)?;
    Some(DVector::from_fn(2 * limits.len(), |k, _| p[3 * (k / 2) + 1 + k % 2]))
}

struct Problem<'a> {
    W: &'a DMatrix<f64>,
    b: &'a DVector<f64>,
    points: &'a [Friction],
    /// Steps of the projections of the normal and of the tangential force of each point, kg; zero for
    /// a point that cannot move.
    steps: Vec<[f64; 2]>,
    noise: f64,
    /// True if the normal forces are given.
    has_limits: bool,
}

impl<'a> Problem<'a> {
    fn new(
        W: &'a DMatrix<f64>,
        b: &'a DVector<f64>,
        points: &'a [Friction],
        noise: f64,
    ) -> Result<Self, NoContactForce> {
        let least = LEAST_RESPONSE * W.diagonal().amax();
        let step = |response: f64| if response > least { response.recip() } else { 0.0 };
        let mut steps = Vec::with_capacity(points.len());
        for (i, friction) in points.iter().enumerate() {
            let k = 3 * i;
            let (normal, tangential) = match *friction {
                Friction::Sliding { mu, direction } => {
                    let across = W[(k, k + 1)] * direction[0] + W[(k, k + 2)] * direction[1];
                    let response = W[(k, k)] - mu * across;
                    if W[(k, k)] > least && response <= least {
                        return Err(NoContactForce::Jammed(i));
                    }
                    (response, 0.0)
                }
                Friction::Coulomb { .. } => {
                    let [a, c, d] = [W[(k + 1, k + 1)], W[(k + 2, k + 2)], W[(k + 1, k + 2)]];
                    let spread = (0.25 * (a - c) * (a - c) + d * d).sqrt();
                    (W[(k, k)], 0.5 * (a + c) + spread)
                }
            };
            steps.push([step(normal), step(tangential)]);
        }
        Ok(Self {
            W,
            b,
            points,
            steps,
            noise,
            has_limits: false,
        })
    }

    fn row(&self, k: usize, p: &DVector<f64>) -> f64 {
        self.W.column(k).dot(p) + self.b[k]
    }

    /// Improves the force of each point, one after the other, by this part of its step.
    fn sweep(&self, p: &mut DVector<f64>, part: f64) {
        for (i, friction) in self.points.iter().enumerate() {
            let (k, [normal, tangential]) = (3 * i, self.steps[i].map(|step| part * step));
            p[k] = (p[k] - normal * self.row(k, p)).max(0.0);
            match *friction {
                Friction::Sliding { mu, direction } => {
                    (p[k + 1], p[k + 2]) = (-mu * p[k] * direction[0], -mu * p[k] * direction[1]);
                }
                Friction::Coulomb { mu } => {
                    let t = [1, 2].map(|j| p[k + j] - tangential * self.row(k + j, p));
                    let t = within(t, mu * p[k]);
                    (p[k + 1], p[k + 2]) = (t[0], t[1]);
                }
            }
        }
    }

    /// Returns the forces within the friction cones that are nearest, or those of sliding points.
    fn clipped(&self, p: &DVector<f64>) -> DVector<f64> {
        let mut p = p.clone();
        for (i, friction) in self.points.iter().enumerate() {
            let k = 3 * i;
            p[k] = p[k].max(0.0);
            let t = match *friction {
                Friction::Sliding { mu, direction } => direction.map(|d| -mu * p[k] * d),
                Friction::Coulomb { mu } => within([p[k + 1], p[k + 2]], mu * p[k]),
            };
            (p[k + 1], p[k + 2]) = (t[0], t[1]);
        }
        p
    }

    /// Returns the differences between the forces and their projections: zero for a solution.
    fn residual(&self, p: &DVector<f64>) -> DVector<f64> {
        let mut residual = DVector::zeros(p.len());
        for (i, friction) in self.points.iter().enumerate() {
            let (k, [normal, tangential]) = (3 * i, self.steps[i]);
            residual[k] = p[k] - (p[k] - normal * self.row(k, p)).max(0.0);
            let t = match *friction {
                Friction::Sliding { mu, direction } => direction.map(|d| -mu * p[k] * d),
                Friction::Coulomb { mu } => {
                    let t = [1, 2].map(|j| p[k + j] - tangential * self.row(k + j, p));
                    within(t, mu * p[k].max(0.0))
                }
            };
            (residual[k + 1], residual[k + 2]) = (p[k + 1] - t[0], p[k + 2] - t[1]);
        }
        residual
    }

    /// Returns a solution that Newton's method finds after sweeps from `p`, in this number of
    /// attempts.
    fn by_sweeps(&self, mut p: DVector<f64>, attempts: usize) -> Option<DVector<f64>> {
        for attempt in 0..attempts {
            let ended = self.by_newton(&p);
            if self.has_converged(&ended) {
                return Some(self.clipped(&ended));
            }
            for _ in 0..20 + 10 * attempt {
                self.sweep(&mut p, PARTS[attempt % PARTS.len()]);
            }
            if self.has_converged(&p) {
                return Some(p);
            }
        }
        None
    }

    /// Returns a solution that is found from one with friction pyramids in place of the cones. The
    /// pyramids are refined about their own result.
    fn by_pyramids(&self) -> Option<DVector<f64>> {
        let mut edges = vec![Edges::even(); self.points.len()];
        let mut start = with_pyramids(self.W, self.b, self.points, &edges)?;
        for spread in SPREADS {
            if let Some(p) = self.by_sweeps(self.clipped(&start), FEW_ATTEMPTS) {
                return Some(p);
            }
            for (i, edges) in edges.iter_mut().enumerate() {
                *edges = Edges::about([start[3 * i + 1], start[3 * i + 2]], spread);
            }
            match with_pyramids(self.W, self.b, self.points, &edges) {
                Some(finer) => start = finer,
                None => break,
            }
        }
        self.by_sweeps(self.clipped(&start), ATTEMPTS)
    }

    /// Returns true if the velocity or acceleration of each point has the error of round-off at most:
    /// relative to the largest one, and to the changes by the forces on other points.
    fn has_converged(&self, p: &DVector<f64>) -> bool {
        let p = self.clipped(p);
        let (residual, most) = (self.residual(&p), self.b.amax());
        (0..p.len()).all(|k| {
            let step = self.steps[k / 3][usize::from(!k.is_multiple_of(3))];
            let size = (0..p.len()).fold(most, |most, j| most.max((self.W[(j, k)] * p[j]).abs()));
            let size = size.min(REASONABLE * most);
            residual[k].abs() <= CONVERGED * p[k].abs() + step * (CONVERGED * size + self.noise)
        })
    }

    /// Returns the result of Newton's method from `p`; where its matrix is singular, the nearest
    /// solution of its equations is taken.
    fn by_newton(&self, p: &DVector<f64>) -> DVector<f64> {
        let mut p = p.clone();
        for _ in 0..STEPS {
            let residual = self.residual(&p);
            let J = self.derivative(&p);
            let mut squares = &J * J.transpose();
            let more = REGULAR * squares.diagonal().amax();
            (0..squares.nrows()).for_each(|i| squares[(i, i)] += more);
            let Some(factors) = squares.cholesky() else { break };
            let mut step = J.tr_mul(&factors.solve(&residual));
            if self.has_limits {
                (0..self.points.len()).for_each(|i| step[3 * i] = 0.0);
            }
            if !step.iter().all(|x| x.is_finite()) {
                break;
            }
            p -= &step;
            if step.amax() <= 0.1 * CONVERGED * p.amax() {
                break;
            }
        }
        p
    }

    /// Returns the derivative of the [`residual`](Self::residual) with respect to the forces.
    fn derivative(&self, p: &DVector<f64>) -> DMatrix<f64> {
        let mut J = DMatrix::identity(p.len(), p.len());
        for (i, friction) in self.points.iter().enumerate() {
            let (k, [normal, tangential]) = (3 * i, self.steps[i]);
            let is_pressed = p[k] - normal * self.row(k, p) > 0.0;
            if is_pressed && !self.has_limits {
                J.row_mut(k).copy_from(&(self.W.row(k) * normal));
            }
            match *friction {
                Friction::Sliding { mu, direction } => {
                    (J[(k + 1, k)], J[(k + 2, k)]) = (mu * direction[0], mu * direction[1]);
                }
                Friction::Coulomb { .. } if !is_pressed => {}
                Friction::Coulomb { mu } => {
                    let t = [1, 2].map(|j| p[k + j] - tangential * self.row(k + j, p));
                    let (size, most) = ((t[0] * t[0] + t[1] * t[1]).sqrt(), mu * p[k].max(0.0));
                    let across = self.W.rows(k + 1, 2) * tangential;
                    if size <= most {
                        J.rows_mut(k + 1, 2).copy_from(&across);
                        continue;
                    }
                    // The projection on the disc is most·t/|t|.
                    let unit = [t[0] / size, t[1] / size];
                    let ratio = most / size;
                    for (r, row) in [0, 1].map(|r| (r, k + 1 + r)) {
                        for column in 0..p.len() {
                            let dt = [0, 1].map(|c| f64::from(u8::from(column == k + 1 + c)) - across[(c, column)]);
                            let along = unit[0] * dt[0] + unit[1] * dt[1];
                            let mut change = ratio * (dt[r] - unit[r] * along);
                            if column == k && p[k] > 0.0 {
                                change += mu * unit[r];
                            }
                            J[(row, column)] = f64::from(u8::from(row == column)) - change;
                        }
                    }
                }
            }
        }
        J
    }
}

/// Returns the nearest point of a disc with this radius about the origin.
fn within(t: [f64; 2], radius: f64) -> [f64; 2] {
    let size = (t[0] * t[0] + t[1] * t[1]).sqrt();
    match size <= radius {
        true => t,
        false => t.map(|t| t * (radius / size)),
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::random::Sequence;

    unit_tests![
        random_impacts_satisfy_complementarity_cone_and_energy,
        sliding_rod_of_painleve_is_reported,
        random_contacts_with_limits_dissipate_most,
    ];

    /// Random states of up to eight points between rigid bodies, with redundant rows: complementarity,
    /// friction cones, and the energy of a plastic impact.
    fn random_impacts_satisfy_complementarity_cone_and_energy() {
        let (mut worst, mut gained, mut kinds) = (0.0_f64, f64::NEG_INFINITY, [0; 3]);
        // Of the last four no solution is found without the start with friction pyramids.
        for case in (0..3000).chain([40_933, 176_931, 240_501, 272_514]) {
            let mut rng = Sequence::new(case as u64);
            let (m, rank) = (1 + case % 8, 3 + case % 10);
            let J = DMatrix::from_fn(3 * m, rank, |_, _| rng.next_in(-1.0..1.0));
            let W = &J * J.transpose();
            let u = &J * DVector::from_fn(rank, |_, _| rng.next_in(-1.0..1.0));
            let points: Vec<_> = (0..m)
                .map(|_| Friction::Coulomb {
                    mu: rng.next_in(0.0..1.2),
                })
                .collect();
            let p = with_friction(&W, &u, &points, &DVector::zeros(3 * m), 0.0).expect("a solution");
            let after = &W * &p + &u;
            let size = u.amax();
            for (i, friction) in points.iter().enumerate() {
                let Friction::Coulomb { mu } = friction else { continue };
                let k = 3 * i;
                let [p_t, w_t] = [&p, &after].map(|v| (v[k + 1] * v[k + 1] + v[k + 2] * v[k + 2]).sqrt());
                assert!(p[k] >= 0.0 && p_t <= mu * p[k] * (1.0 + 1e-12));
                worst = worst
                    .max(-after[k] / size)
                    .max(p[k] * after[k].abs() / (size * p.amax()));
                let against = p[k + 1] * after[k + 1] + p[k + 2] * after[k + 2];
                // Friction of the largest size opposes the sliding; less of it has no sliding.
                worst = worst.max((mu * p[k] * w_t + against).abs() / (size * p.amax()));
                kinds[if p[k] == 0.0 {
                    0
                } else if w_t > 1e-9 * size {
                    1
                } else {
                    2
                }] += 1;
            }
            let energy = 0.5 * p.dot(&(&u + &after));
            gained = gained.max(energy / size);
        }
        println!("off by {worst:.1e} (1e-10), energy at most {gained:.1e}; separate, slide, stick {kinds:?}");
        assert!(worst < 1e-10 && gained <= 1e-14 && kinds.iter().all(|&count| count > 300));
    }

    /// Random contacts of known limits, with redundant rows: no force exceeds its limit, what slides does so
    /// against a force at its limit, and no other forces within the limits lead to less
    /// `½ pᵀ W p + bᵀ p`.
    fn random_contacts_with_limits_dissipate_most() {
        let (mut worst, mut kinds) = (0.0_f64, [0; 2]);
        for case in 0..1000 {
            let mut rng = Sequence::new(case);
            let (m, rank) = (1 + (case % 6) as usize, 3 + (case % 7) as usize);
            let J = DMatrix::from_fn(2 * m, rank, |_, _| rng.next_in(-1.0..1.0));
            let W = &J * J.transpose();
            let b = &J * DVector::from_fn(rank, |_, _| rng.next_in(-1.0..1.0));
            let limits: Vec<f64> = (0..m).map(|_| rng.next_in(0.0..1.0)).collect();
            let p = with_limits(&W, &b, &limits, &DVector::zeros(2 * m), 0.0).expect("a solution");
            let w = &W * &p + &b;
            for (i, limit) in limits.iter().enumerate() {
                let size = |v: &DVector<f64>| (v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1]).sqrt();
                let against = p[2 * i] * w[2 * i] + p[2 * i + 1] * w[2 * i + 1];
                worst = worst
                    .max(size(&p) - limit * (1.0 + 1e-12))
                    .max(limit * size(&w) + against);
                kinds[usize::from(size(&w) > 1e-9)] += 1;
            }
            let cost = |p: &DVector<f64>| 0.5 * p.dot(&(&W * p)) + b.dot(p);
            for _ in 0..20 {
                let mut other = DVector::from_fn(2 * m, |_, _| rng.next_in(-1.0..1.0));
                for (i, limit) in limits.iter().enumerate() {
                    let size = other.rows(2 * i, 2).norm().max(1.0);
                    other.rows_mut(2 * i, 2).scale_mut(limit / size);
                }
                worst = worst.max(cost(&p) - cost(&other));
            }
        }
        println!("off by {worst:.1e} (1e-10); stick, slide {kinds:?}");
        assert!(worst < 1e-10 && kinds.iter().all(|&count| count > 300));
    }

    /// A rod whose friction presses it into the surface has no force (P. Painlevé, *C. R. Acad. Sci.*
    /// 121 (1895)).
    fn sliding_rod_of_painleve_is_reported() {
        let (angle, mu) = (1.0_f64, 2.0);
        // Thin rod of unit mass and half length 1, inertia 1/3, that slides on its lower end.
        let arm = [angle.cos(), angle.sin()];
        let W = DMatrix::from_row_slice(
            3,
            3,
            &[
                1.0 + 3.0 * arm[0] * arm[0],
                -3.0 * arm[0] * arm[1],
                0.0,
                -3.0 * arm[0] * arm[1],
                1.0 + 3.0 * arm[1] * arm[1],
                0.0,
                0.0,
                0.0,
                1.0,
            ],
        );
        let b = DVector::from_vec(vec![-1.0, 0.0, 0.0]);
        let slide = |sign: f64| {
            [Friction::Sliding {
                mu,
                direction: [sign, 0.0],
            }]
        };
        let solved = |sign| with_friction(&W, &b, &slide(sign), &DVector::zeros(3), 0.0);
        assert_eq!(solved(-1.0), Err(NoContactForce::Jammed(0)));
        assert!(solved(1.0).is_ok_and(|p| p[0] > 0.0));
    }
}
