//! Assembly: computation of positions and rates at which all loops are closed, nearest to the start
//! that is written in the spec.

use super::Model;
use super::context::Constants;
use super::equilibrium::Equilibrium;
use crate::Error;
use crate::algebra::{Quaternion, Vec3, log, spd};
use crate::dynamics::LeastNorm;
use crate::spec::{Assembly as Written, JointMotion, JointType};
use crate::system::{Derived, JointState, Kinematics, Unit};

/// Weights of free bodies, modes and ANCF beams: fixed in the first attempt, heavy in the second,
/// so that they change little.
const KEPT: f64 = f64::INFINITY;
const HEAVY: f64 = 1e4;
/// Largest number of iterations of each search.
const MOST_ROUNDS: usize = 200;
/// Norm of all violations (m and rad) below which the loops are closed, per metre of the
/// mechanism's length.
const CLOSED: f64 = 1e-12;
/// Largest change of a coordinate to the nearby position of the test for a singular position, rad
/// or m.
const NEARBY: f64 = 1e-3;

fn open(name: &str, what: impl Into<String>) -> Error {
    Error::Assembly {
        closure: name.to_owned(),
        what: what.into(),
    }
}

/// Result of the assembly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// Coordinates of joints, modes and nodes.
    pub q: Vec<f64>,
    /// Rates of the coordinates.
    pub qd: Vec<f64>,
    /// Constraint violation of each loop at the written start: of offsets, m, and of angles, rad.
    pub written: Vec<[f64; 2]>,
    /// Constraint violation of each loop after the assembly: of offsets, m, and of angles, rad.
    pub residual: Vec<[f64; 2]>,
    /// Rank of the loops' constraint rows.
    pub rank: usize,
    /// Number of constraint rows.
    pub rows: usize,
    /// Mobility: number of free rates less the rank; without loops the number of all rates.
    pub mobility: usize,
}

/// Solver of the loops' constraints `φ(q) = 0` and `J q̇ = 0`, with its workspace.
struct Solver<'a> {
    of: Constants<'a>,
    kinematics: Kinematics<f64>,
    /// Constraint violations on position level; `rates` has those on velocity level.
    phi: Vec<f64>,
    rates: Vec<f64>,
    /// Jacobian, row by row.
    J: Vec<f64>,
    /// Reciprocal weights of the rates; zero for fixed ones.
    freedom: Vec<f64>,
    A: Vec<f64>,
    y: Vec<f64>,
}

impl Model {
    /// Computes the coordinates and rates that close all loops at the start, at the time `t` (s).
    /// Without loops they are as written.
    ///
    /// # Errors
    /// [`Error::Assembly`] with the loop that cannot be closed, that is in a singular position,
    /// that prevents a prescribed motion, or that leaves no mobility.
    pub fn assembly(&self, derived: &Derived, t: f64, parameters: &[f64]) -> Result<Assembly, Error> {
        let (mut q, mut qd) = self.start_at(derived, t, parameters);
        if self.elements.closed_loops.is_empty() {
            let mobility = qd.len();
            return Ok(Assembly {
                q,
                qd,
                mobility,
                ..Assembly::default()
            });
        }
        let mut solver = Solver::new(Constants {
            model: self,
            derived,
            parameters,
        });
        let written = solver.violations(&q);
        solver.assemble(&mut q, &mut qd)?;
        let residual = solver.violations(&q);
        let (rank, motions, _) = solver.rank(&q);
        solver.check_position(&q, rank)?;
        let rows = solver.phi.len();
        let drives = &self.elements.drives;
        let is_driven = drives.iter().any(|drive| drive.motion() == JointMotion::Prescribed);
        if is_driven && solver.rank_with_drives(&q) > rank {
            let what = "the prescribed joints cannot move as prescribed: the loop's other joints have too few degrees of freedom";
            return Err(open(&self.elements.closed_loops[0].name, what));
        }
        if motions == rank && rows > 0 && !is_driven {
            let what = format!(
                "the loops constrain all {motions} degrees of freedom of the joints ({rank} independent constraints): \
                 nothing can move; \
                 release a joint or remove a loop"
            );
            return Err(open(&self.elements.closed_loops[0].name, what));
        }
        Ok(Assembly {
            q,
            qd,
            written,
            residual,
            rank,
            rows,
            mobility: motions - rank,
        })
    }

    /// Moves the coordinates `q` of joints, modes and nodes by `factor` times the displacement
    /// `step`, which has one number for each rate. Quaternions are normalised.
    pub(super) fn retract(&self, derived: &Derived, q: &mut [f64], step: &[f64], factor: f64) {
        let step: Vec<f64> = step.iter().map(|&step| step * factor).collect();
        let mut q_dot = vec![0.0; q.len()];
        self.system.q_dot(derived, q, &step, &mut q_dot);
        for (q, q_dot) in q.iter_mut().zip(q_dot) {
            *q += q_dot;
        }
        for body in &self.system.bodies {
            if let JointType::Free | JointType::Spherical = body.joint.kind {
                let q = &mut q[body.joint.q..body.joint.q + 4];
                q.copy_from_slice(&Quaternion::from_slice(q).normalised().to_array());
            }
        }
    }

    /// Returns true if the start is computed: it closes loops, places the masses of tethers, or is an
    /// equilibrium.
    pub(super) fn is_assembled(&self) -> bool {
        !self.elements.closed_loops.is_empty() || !self.elements.tethers.is_empty() || self.seeks_equilibrium()
    }

    /// Computes the coordinates and rates at the start of a run, at the time `t` (s).
    ///
    /// # Errors
    /// [`Error::Assembly`], [`Error::NoEquilibrium`].
    pub fn solved_start(&self, derived: &Derived, t: f64, parameters: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let (mut q, mut qd) = self.start_at(derived, t, parameters);
        let of = Constants {
            model: self,
            derived,
            parameters,
        };
        if !self.elements.closed_loops.is_empty() {
            Solver::new(of).assemble(&mut q, &mut qd)?;
            self.place_tethers(derived, parameters, &mut q, &mut qd);
        }
        if self.seeks_equilibrium() {
            q = Equilibrium::of(of, t, &q)?.q;
            qd.fill(0.0);
        }
        Ok((q, qd))
    }
}

impl<'a> Solver<'a> {
    fn new(of: Constants<'a>) -> Self {
        let model = of.model;
        let (n, nv) = (model.elements.loop_rows(), model.system.nv);
        Self {
            of,
            kinematics: Kinematics::new(&model.system),
            phi: vec![0.0; n],
            rates: vec![0.0; n],
            J: vec![0.0; n * nv],
            freedom: vec![0.0; nv],
            A: vec![0.0; n * n],
            y: vec![0.0; n],
        }
    }

    /// Closes the loops with free bodies, modes and ANCF beams as written; if that fails, with
    /// these free to move.
    fn assemble(&mut self, q: &mut [f64], qd: &mut [f64]) -> Result<(), Error> {
        let (q_written, qd_written) = (q.to_vec(), qd.to_vec());
        let written = JointState {
            q: &q_written,
            qd: &qd_written,
        };
        let attempt = self.close(KEPT, written, q, qd);
        let Err(error) = attempt else { return Ok(()) };
        self.close(HEAVY, written, q, qd).map_err(|_| error)
    }

    fn close(&mut self, heavy: f64, written: JointState<f64>, q: &mut [f64], qd: &mut [f64]) -> Result<(), Error> {
        q.copy_from_slice(written.q);
        qd.copy_from_slice(written.qd);
        self.weigh(heavy);
        self.close_positions(q)?;
        self.approach(written.q, q)?;
        self.close_rates(q, qd)
    }

    /// Sets the reciprocal weights of the rates.
    fn weigh(&mut self, heavy: f64) {
        let none = Written::default();
        let options = self.of.model.spec.assembly.as_ref().unwrap_or(&none);
        self.freedom.fill(heavy.recip());
        for body in &self.of.model.system.bodies {
            let joint = &body.joint;
            let rates = &mut self.freedom[joint.v..joint.v + joint.nv];
            if joint.motion != JointMotion::Loads || options.fixed.contains(&joint.name) {
                rates.fill(0.0);
            } else if joint.written && joint.kind != JointType::Free {
                rates.fill(options.weights.get(&joint.name).copied().unwrap_or(1.0).recip());
            }
        }
    }

    /// Fills the constraint violations on position and velocity level at coordinates and rates.
    fn evaluate(&mut self, q: &[f64], qd: &[f64]) {
        let Constants {
            model,
            derived,
            parameters,
        } = self.of;
        self.kinematics.update(&model.system, derived, q, qd);
        let of = self.of.at(&self.kinematics);
        let mut row = 0;
        for closed_loop in &model.elements.closed_loops {
            closed_loop.constraints(of, &closed_loop.pair(of), parameters, |constraint| {
                (self.phi[row], self.rates[row]) = (constraint.violation, constraint.rate);
                row += 1;
            });
        }
    }

    /// Fills `J` at the coordinates `q`: each column is `φ̇` for one unit rate.
    fn linearise(&mut self, q: &[f64]) {
        let (n, nv) = (self.phi.len(), self.freedom.len());
        let mut unit = vec![0.0; nv];
        for k in 0..nv {
            unit[k] = 1.0;
            self.evaluate(q, &unit);
            unit[k] = 0.0;
            for i in 0..n {
                self.J[i * nv + k] = self.rates[i];
            }
        }
    }

    /// Fills `A = J G Jᵀ + μ` with the reciprocal weights `G`.
    fn fill(&mut self, mu: f64) {
        let (n, nv) = (self.phi.len(), self.freedom.len());
        for i in 0..n {
            for j in 0..=i {
                let mut sum = 0.0;
                for k in 0..nv {
                    sum += self.J[i * nv + k] * self.J[j * nv + k] * self.freedom[k];
                }
                self.A[i * n + j] = sum;
            }
            self.A[i * n + i] += mu;
        }
    }

    /// Returns `G Jᵀ (J G Jᵀ + μ)⁻¹ r`, the least-norm change of the rates that compensates `r`;
    /// `None` if the matrix is singular.
    fn step(&mut self, mu: f64, r: &[f64]) -> Option<Vec<f64>> {
        let (n, nv) = (self.phi.len(), self.freedom.len());
        self.fill(mu);
        self.y.copy_from_slice(r);
        spd::factor(&mut self.A, n).ok()?;
        spd::solve(&self.A, &mut self.y);
        let column = |k: usize| {
            let terms = (0..n).map(|i| self.J[i * nv + k] * self.y[i]);
            terms.fold(0.0, |sum, term| sum + term) * self.freedom[k]
        };
        Some((0..nv).map(column).collect())
    }

    /// Returns the norm of the violations.
    fn size(&self) -> f64 {
        self.phi.iter().map(|phi| phi * phi).sum::<f64>().sqrt()
    }

    /// Returns the mechanism's length: the largest distance between the origins of a body and its
    /// parent, but at least 1 m. It scales tolerances of mixed metres and radians.
    fn length(&self) -> f64 {
        let arms = self.kinematics.bodies.iter().map(|body| body.r_PB_W.norm());
        arms.fold(1.0, f64::max)
    }

    /// Closes the positions by the Levenberg–Marquardt method with `μ = |φ|²`, which converges
    /// quadratically even if rows are redundant.
    ///
    /// # Errors
    /// [`Error::Assembly`] if a loop is open at the end.
    fn close_positions(&mut self, q: &mut [f64]) -> Result<(), Error> {
        let rest = vec![0.0; self.freedom.len()];
        let mut damping = 1.0;
        self.evaluate(q, &rest);
        // Two more steps after convergence reduce the round-off, and with it the error of
        // difference quotients of the assembled start.
        let mut polish = 0;
        for _ in 0..MOST_ROUNDS {
            let before = self.size();
            if before <= CLOSED * self.length() {
                polish += 1;
                if polish > 2 {
                    break;
                }
            }
            let phi = self.phi.clone();
            self.linearise(q);
            let floor = 1e-14 * self.J.iter().map(|x| x * x).sum::<f64>();
            let mu = (damping * before * before).max(floor).max(f64::MIN_POSITIVE);
            let Some(step) = self.step(mu, &phi) else { break };
            let mut next = q.to_vec();
            self.retract(&mut next, &step, -1.0);
            self.evaluate(&next, &rest);
            // After convergence the violation fluctuates by round-off, and every step is accepted.
            if self.size() <= before || polish > 0 {
                q.copy_from_slice(&next);
                damping = (damping * 0.25).max(1e-6);
            } else {
                damping *= 8.0;
                if damping > 1e12 {
                    break;
                }
                self.phi.copy_from_slice(&phi);
            }
        }
        self.evaluate(q, &rest);
        self.check_closed()
    }

    /// Moves, with the loops closed, to the coordinates nearest to the written ones, by steps of
    /// `d − J⁺ (φ + J d)` with the displacement `d` to the written ones.
    ///
    /// # Errors
    /// [`Error::Assembly`] if a loop is open at the end.
    fn approach(&mut self, written: &[f64], q: &mut [f64]) -> Result<(), Error> {
        let rest = vec![0.0; self.freedom.len()];
        let nv = self.freedom.len();
        let closed = q.to_vec();
        for _ in 0..MOST_ROUNDS {
            let d = self.difference(q, written);
            self.linearise(q);
            self.evaluate(q, &rest);
            let r: Vec<f64> = (0..self.phi.len())
                .map(|i| (0..nv).fold(self.phi[i], |sum, k| sum + self.J[i * nv + k] * d[k]))
                .collect();
            let floor = 1e-14 * self.J.iter().map(|x| x * x).sum::<f64>();
            let Some(step) = self.step(floor.max(f64::MIN_POSITIVE), &r) else {
                break;
            };
            let step: Vec<f64> = (d.iter().zip(&step).zip(&self.freedom))
                .map(|((d, step), freedom)| if *freedom > 0.0 { *d - *step } else { 0.0 })
                .collect();
            let size = step.iter().map(|x| x.abs()).fold(0.0, f64::max);
            // Long steps are halved to stay near the curved set of closed positions.
            self.retract(q, &step, if size > 0.1 { 0.5 } else { 1.0 });
            if size < 1e-13 * self.length() {
                break;
            }
        }
        let near = self.close_positions(q);
        if near.is_err() {
            q.copy_from_slice(&closed);
            self.evaluate(q, &rest);
        }
        self.check_closed()
    }

    fn close_rates(&mut self, q: &[f64], qd: &mut [f64]) -> Result<(), Error> {
        self.linearise(q);
        let floor = 1e-14 * self.J.iter().map(|x| x * x).sum::<f64>();
        let mut left = f64::INFINITY;
        for _ in 0..6 {
            self.evaluate(q, qd);
            left = self.rates.iter().map(|rate| rate * rate).sum::<f64>().sqrt();
            let r = self.rates.clone();
            let Some(step) = self.step(floor.max(f64::MIN_POSITIVE), &r) else {
                break;
            };
            for (qd, step) in qd.iter_mut().zip(step) {
                *qd -= step;
            }
        }
        self.evaluate(q, qd);
        let speed = qd.iter().map(|rate| rate.abs()).fold(1.0, f64::max);
        left = left.min(self.rates.iter().map(|rate| rate * rate).sum::<f64>().sqrt());
        match left <= 1e-10 * speed * self.length() {
            true => Ok(()),
            false => {
                let (name, [offset, angle]) = self.worst(&self.rates);
                let (offset, angle) = (Unit::MetrePerSecond.about(offset), Unit::RadianPerSecond.about(angle));
                let what = format!(
                    "the rates violate its constraints: {offset} and {angle} remain between its frames; \
                     the rates of fixed, locked and prescribed joints are not changed"
                );
                Err(open(name, what))
            }
        }
    }

    /// Validates that all loops are closed, and none of them with its frames rotated by half a
    /// turn, which satisfies the same constraints.
    ///
    /// # Errors
    /// [`Error::Assembly`] with the loop.
    fn check_closed(&self) -> Result<(), Error> {
        if self.size() > 10.0 * CLOSED * self.length() {
            let (name, [offset, angle]) = self.worst(&self.phi);
            let (offset, angle) = (Unit::Metre.about(offset), Unit::Radian.about(angle));
            let what = format!(
                "it cannot be closed: a constraint violation of {offset} and {angle} remains at the nearest positions; \
                 use a nearer start, other lengths or fewer fixed joints"
            );
            return Err(open(name, what));
        }
        let of = self.of.at(&self.kinematics);
        let turned = self.of.model.elements.closed_loops.iter();
        match turned
            .into_iter()
            .find(|of_loop| !of_loop.is_upright(of, self.of.parameters))
        {
            Some(turned) => {
                let what = "it closes only with its frames rotated by half a turn from the required attitude: use a nearer start";
                Err(open(&turned.name, what))
            }
            None => Ok(()),
        }
    }

    /// Returns the name of the loop with the largest numbers in `rows` (one for each constraint),
    /// and their norms: of offsets, of angles.
    fn worst(&self, rows: &[f64]) -> (&str, [f64; 2]) {
        let sizes = self.by_loop(rows);
        let size = |sizes: &[f64; 2]| libm::hypot(sizes[0], sizes[1]);
        let worst = (0..sizes.len()).max_by(|&i, &j| size(&sizes[i]).total_cmp(&size(&sizes[j])));
        worst.map_or_else(Default::default, |worst| {
            (self.of.model.elements.closed_loops[worst].name.as_str(), sizes[worst])
        })
    }

    /// Returns the norms of each loop's numbers in `rows`: of offsets, of angles.
    fn by_loop(&self, rows: &[f64]) -> Vec<[f64; 2]> {
        let mut row = 0;
        let sizes = self.of.model.elements.closed_loops.iter().map(|closed_loop| {
            let mut squares = [0.0; 2];
            let parameters = self.of.parameters;
            let of = self.of.at(&self.kinematics);
            closed_loop.constraints(of, &closed_loop.pair(of), parameters, |constraint| {
                squares[usize::from(!constraint.is_offset)] += rows[row] * rows[row];
                row += 1;
            });
            squares.map(f64::sqrt)
        });
        sizes.collect()
    }

    fn violations(&mut self, q: &[f64]) -> Vec<[f64; 2]> {
        let rest = vec![0.0; self.freedom.len()];
        self.evaluate(q, &rest);
        self.by_loop(&self.phi)
    }

    fn retract(&self, q: &mut [f64], step: &[f64], factor: f64) {
        self.of.model.retract(self.of.derived, q, step, factor);
    }

    /// Returns the displacement, one number for each rate, that leads from the coordinates `from`
    /// to `to`.
    fn difference(&self, from: &[f64], to: &[f64]) -> Vec<f64> {
        let system = &self.of.model.system;
        let mut d = vec![0.0; system.nv];
        let mut plain = |q: std::ops::Range<usize>, v: usize| {
            for (k, q) in q.enumerate() {
                d[v + k] = to[q] - from[q];
            }
        };
        for body in &system.bodies {
            let joint = &body.joint;
            match joint.kind {
                JointType::Free => plain(joint.q + 4..joint.q + joint.nq, joint.v + 3),
                JointType::Spherical => {}
                _ => plain(joint.q..joint.q + joint.nq, joint.v),
            }
            if let Some(modes) = &body.modes {
                plain(modes.coordinates(), modes.rates().start);
            }
        }
        for beam in &system.nodal {
            plain(beam.coordinates(), beam.rates().start);
        }
        for joint in system.bodies.iter().map(|body| &body.joint) {
            if let JointType::Free | JointType::Spherical = joint.kind {
                let [from, to] = [from, to].map(|q| Quaternion::from_slice(&q[joint.q..]));
                let turn: Vec3<f64> = log(from.conjugate() * to);
                d[joint.v..joint.v + 3].copy_from_slice(turn.as_slice());
            }
        }
        d
    }
}

impl Solver<'_> {
    /// Returns the rank of the constraint rows with locked and prescribed joints fixed, the number
    /// of free rates, and the row nearest to linear dependence.
    fn rank(&mut self, q: &[f64]) -> (usize, usize, usize) {
        self.linearise(q);
        self.freedom.fill(1.0);
        for body in &self.of.model.system.bodies {
            let joint = &body.joint;
            if joint.motion != JointMotion::Loads {
                self.freedom[joint.v..joint.v + joint.nv].fill(0.0);
            }
        }
        self.fill(0.0);
        let n = self.phi.len();
        let mut rows = LeastNorm::new(n);
        let rank = rows.rank_of_rows(&self.A, n);
        let motions = self.freedom.iter().filter(|&&freedom| freedom > 0.0).count();
        (rank, motions, rows.last_pivot())
    }

    /// Returns the rank of the constraint rows if locked and prescribed joints are free too.
    fn rank_with_drives(&mut self, q: &[f64]) -> usize {
        self.linearise(q);
        self.freedom.fill(1.0);
        self.fill(0.0);
        let n = self.phi.len();
        LeastNorm::new(n).rank_of_rows(&self.A, n)
    }

    /// Validates that the rank at a nearby position is not larger. At a singular position it is:
    /// some rows are redundant there that are independent nearby.
    ///
    /// # Errors
    /// [`Error::Assembly`] with the loop in a singular position.
    fn check_position(&mut self, q: &[f64], rank: usize) -> Result<(), Error> {
        if self.phi.is_empty() {
            return Ok(());
        }
        let mut nearby = q.to_vec();
        // The direction of the displacement is fixed; it has no symmetry that a mechanism might
        // share.
        let step: Vec<f64> = (0..self.freedom.len())
            .map(|k| {
                if self.freedom[k] > 0.0 {
                    libm::sin(1.0 + 1.7 * k as f64) * NEARBY
                } else {
                    0.0
                }
            })
            .collect();
        self.retract(&mut nearby, &step, 1.0);
        self.weigh(1.0);
        if self.close_positions(&mut nearby).is_err() {
            return Ok(());
        }
        let (rank_nearby, _, row) = self.rank(&nearby);
        if rank_nearby <= rank {
            return Ok(());
        }
        let mut ends = self.of.model.elements.closed_loops.iter().scan(0, |end, closed_loop| {
            *end += closed_loop.count();
            Some((*end, closed_loop))
        });
        let closed_loop = ends.find(|(end, _)| row < *end).map(|(_, closed_loop)| closed_loop);
        let what = format!(
            "it starts in a singular position (stretched or folded?): {rank} of its constraints are independent there, {rank_nearby} nearby, \
             and its motion is not determined; use another start"
        );
        Err(open(
            closed_loop.map_or("", |closed_loop| closed_loop.name.as_str()),
            what,
        ))
    }
}
