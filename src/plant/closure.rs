//! Captures, loops, couplings and contacts that rest: constraints in addition to the tree's joints,
//! between bodies and between joints, enforced by reactions.

mod adjoint;
mod bilateral;
mod combined;
mod gram_schmidt;
mod responses;
mod rest;
mod sticking;
mod stiction;

#[cfg(feature = "inside")]
test_modules![combined::tests, gram_schmidt::tests, sticking::tests];

use super::context::ConstantsOf;
use super::evaluation::Engine;
use super::{Discrete, Model};
use crate::Error;
use crate::algebra::{Scalar, Twist, Vec3, Wrench, skyline};
use crate::dynamics::{Applied, LeastNorm};
use crate::elements::{Closed, Pair, PointForce};
use crate::system::{JointState, Kinematics, System};
use combined::Combined;
pub(super) use combined::Scaled;
pub use rest::Rows;

/// Scalar constraints of all active captures, all loops, all couplings and all contact points that
/// rest, and their reactions.
///
/// With the constraint violations `φ`, the Jacobian `J` of their rates, and the accelerations `A`
/// without reactions,
///
/// ```text
///     φ̈ + 2α φ̇ + β² φ = 0   ⟺   W λ = b − J A,     W = J M⁻¹ Jᵀ
/// (1)
/// ```
///
/// `W` is computed column by column, by unit reactions through the formulation
/// ([`Dynamics::respond`]), for independent combinations of the rows of contact points
/// ([`Combined`]). Its rank is determined at the start and at events ([`Discrete::rank`]).
/// If it is less than the number of rows, some are redundant, and `λ` is the least-norm solution of
/// all rows together ([`LeastNorm`], forces in N and moments in N·m): it does not depend on a
/// choice of rows and is smooth as long as the rank is constant.
#[derive(Clone, Debug)]
pub(super) struct Closure<S: Scalar> {
    rows: Vec<Row<S>>,
    held: Vec<Held<S>>,
    /// Loads without the reactions.
    pub(super) loads: Applied<S>,
    combined: Combined<S>,
    /// Lower triangle of `W` of the combinations, row by row.
    W: Vec<S>,
    /// Column of the first entry that may not be zero in each row of the lower triangle of `W`.
    first: Vec<usize>,
    responses: Vec<f64>,
    /// Responses of the combinations.
    scales: Vec<f64>,
    factors: Vec<S>,
    least_norm: LeastNorm<S>,
    lambda: Vec<S>,
    /// Right side and solution of the combinations.
    along: Vec<S>,
    /// Reference reactions, of the rows and of the combinations.
    references: Vec<S>,
    combined_references: Vec<S>,
    /// Power of the captures that draw two beams together, and of the friction of sliding contacts, W.
    pub drawing: S,
    /// State of each capture, then of each loop, of each coupling and of each point that may rest, for
    /// the outputs.
    pub state: Vec<Closed<S>>,
    /// Force of each point that may rest.
    points: Vec<PointForce<S>>,
    /// `W` with all its entries, and a residual, where the reactions do not act along the rows.
    sliding: rest::Asymmetric<S>,
    /// Unit reactions of the rows of contact points between two bodies, about the point of the first.
    about: Vec<Wrench<S>>,
    /// True if all reactions act along their rows.
    is_symmetric: bool,
}

/// Scalar constraint.
#[derive(Clone, Copy, Debug)]
struct Row<S: Scalar> {
    /// Index of its capture, loop or coupling in [`Closure::held`].
    held: usize,
    /// Direction of the row, and unit reaction but for [`reaction`](Self::reaction).
    unit: Reaction<S>,
    /// Velocity-level violation `φ̇`, rad/s or m/s.
    rate: S,
    /// Required value of `unit·A`, where `A` is the relative acceleration without its
    /// velocity-dependent part (bias); for a coupling, of `φ̈`.
    target: S,
    /// Data of a row of a contact point; `None` for other rows.
    rest: Option<rest::RestRow<S>>,
}

/// Matrix of unit wrenches: `W = J M⁻¹ Kᵀ`. Its two sides differ for points that slide with
/// friction only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Along the rows, `J`.
    Rows,
    /// Unit reactions, `K`.
    Reactions,
}

/// Reaction of a scalar constraint.
#[derive(Clone, Copy, Debug)]
enum Reaction<S: Scalar> {
    /// Wrench on frame a, about the pair's point, world axes; its reverse acts on frame b.
    Wrench(Wrench<S>),
    /// Torque on the first rate, and `−ratio` times this torque on the second.
    Torques { rates: [usize; 2], ratio: S },
}

/// Capture, loop or coupling that is active now.
#[derive(Clone, Copy, Debug)]
struct Held<S: Scalar> {
    /// Index in [`Closure::state`].
    index: usize,
    /// Frames on which it acts; `None` for a coupling.
    pair: Option<Pair<S>>,
}

impl<S: Scalar> Closure<S> {
    /// Allocates the workspace for a model's captures, loops and couplings; `None` if it has none.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let (n, rows) = (model.elements.closures(), model.elements.most_rows());
        (n > 0).then(|| {
            Box::new(Self {
                rows: Vec::with_capacity(rows),
                held: Vec::with_capacity(n),
                loads: Applied::none(&model.system),
                combined: Combined::new(rows),
                W: vec![S::zero(); rows * rows],
                first: Vec::with_capacity(rows),
                responses: vec![0.0; rows],
                scales: vec![0.0; rows],
                factors: vec![S::zero(); rows * rows],
                least_norm: LeastNorm::new(rows),
                lambda: vec![S::zero(); rows],
                along: vec![S::zero(); rows],
                references: vec![S::zero(); rows],
                combined_references: vec![S::zero(); rows],
                drawing: S::zero(),
                state: vec![Closed::none(); n],
                points: vec![PointForce::none(); model.elements.rest_points()],
                sliding: rest::Asymmetric::new(model),
                about: vec![Wrench::zero(); if model.elements.rest_points() > 0 { rows } else { 0 }],
                is_symmetric: true,
            })
        })
    }

    /// Computes the reactions from the solution without them, adds them to the loads and solves
    /// again. With `stabilises` false, constraint violations are not stabilised, as for the
    /// velocity jumps of an impulse.
    ///
    /// # Errors
    /// [`Error::SingularLoop`] where the rank of the rows has dropped; those of the dynamics.
    pub fn hold(
        &mut self,
        of: ConstantsOf<S>,
        stabilises: bool,
        discrete: &Discrete,
        mut engine: Engine<S>,
        at: JointState<S>,
        qdd: &mut [S],
    ) -> Result<(), Error> {
        let model = of.model;
        let system = &model.system;
        let kinematics = engine.kinematics;
        self.set_up(of, stabilises, discrete, kinematics, at);
        self.drawing = S::zero();
        let n = self.rows.len();
        if n == 0 {
            return Ok(());
        }
        let mut k = 0;
        while k < n {
            let index = self.rows[k].held;
            let A = self.held[index].accelerates(system, kinematics, engine.dynamics.A(), qdd);
            while k < n && self.rows[k].held == index {
                self.lambda[k] = self.rows[k].target - self.rows[k].unit.accelerates(&A, qdd);
                k += 1;
            }
        }
        self.loads.copy_from(engine.applied);
        self.respond(of, &mut engine, qdd);
        let rank = discrete.rank;
        if rank < self.combined.len() && self.is_symmetric() {
            self.fill_responses(of, &mut engine, qdd);
        }
        self.factor(model, rank)?;
        self.solve(rank);
        let Engine { applied, dynamics, .. } = engine;
        applied.copy_from(&self.loads);
        for (row, &lambda) in self.rows.iter().zip(&self.lambda) {
            let held = &self.held[row.held];
            let closed = &mut self.state[held.index];
            if closed.draws {
                self.drawing += lambda * row.rate;
            }
            if let Some(rest) = &row.rest {
                self.drawing += rest.press(&mut self.points[rest.number], lambda);
            }
            match row.reaction() {
                Reaction::Wrench(unit) => closed.wrench = closed.wrench + unit * lambda,
                Reaction::Torques { .. } => {
                    closed.torque = lambda;
                    row.unit.push(held, system, kinematics, applied, lambda);
                }
            }
        }
        for held in &self.held {
            if let Some(pair) = &held.pair {
                pair.push(system, kinematics, applied, self.state[held.index].wrench);
            }
        }
        dynamics
            .solve(of.at(kinematics), applied, at.q, qdd)
            .map_err(|singular| model.named(singular))
    }

    /// Returns the rank of the rows of all active captures and loops at the coordinates `q`, for
    /// the rates of joints, modes and nodes that no drive prescribes. It is computed from `J Jᵀ`,
    /// which has the rank of `W` without the round-off of the dynamics. It allocates.
    pub fn determine_rank(&mut self, of: ConstantsOf<S>, discrete: &Discrete, q: &[S], driven: &[bool]) -> usize {
        let system = &of.model.system;
        let mut kinematics = Kinematics::new(system);
        let mut unit = vec![S::zero(); system.nv];
        let mut columns = Vec::new();
        for v in 0..system.nv {
            let mut of_drives = system.bodies.iter().zip(driven).filter(|(_, driven)| **driven);
            if of_drives.any(|(body, _)| (body.joint.v..body.joint.v + body.joint.nv).contains(&v)) {
                continue;
            }
            unit[v] = S::one();
            kinematics.update(system, of.derived, q, &unit);
            self.set_up(of, false, discrete, &kinematics, JointState { q, qd: &unit });
            unit[v] = S::zero();
            columns.push(self.rows.iter().map(|row| row.rate).collect::<Vec<S>>());
        }
        let n = self.rows.len();
        for i in 0..n {
            for j in 0..=i {
                let products = columns.iter().map(|column| column[i] * column[j]);
                self.W[i * n + j] = products.fold(S::zero(), |sum, product| sum + product);
            }
        }
        self.least_norm.rank_of_rows(&self.W[..n * n], n)
    }

    /// Factors `W` of this rank.
    ///
    /// # Errors
    /// [`Error::SingularLoop`] where the rank of `W` has dropped.
    fn factor(&mut self, model: &Model, rank: usize) -> Result<(), Error> {
        let n = self.combined.len();
        let factored = if !self.is_symmetric() {
            self.factor_asymmetric(rank)
        } else if rank >= n {
            let factors = &mut self.factors[..n * n];
            factors.copy_from_slice(&self.W[..n * n]);
            skyline::factor(factors, &self.first)
        } else {
            self.combined.largest(&self.responses, &mut self.scales);
            let factored = self.least_norm.factor(&self.W[..n * n], n, rank, &self.scales);
            factored.map(|_| ())
        };
        factored.map_err(|combination| Error::SingularLoop {
            closure: self.name_of(model, self.combined.units[combination].row),
        })
    }

    /// Replaces the right side in `lambda` by the reactions, with the last factors.
    fn substitute(&mut self, rank: usize) {
        let n = self.rows.len();
        let mut lambda = std::mem::take(&mut self.lambda);
        self.divide(rank, &mut lambda[..n]);
        self.lambda = lambda;
    }

    /// Replaces `b` by `W⁺ b`, with the last factors, for `W` of this rank.
    pub fn divide(&mut self, rank: usize, b: &mut [S]) {
        if !self.is_symmetric() {
            self.divide_asymmetric(b);
            return;
        }
        self.combined.project(b, &mut self.along);
        self.divide_combined(rank);
        self.combined.expand(&self.along, b);
    }

    /// Replaces the right side of the combinations by their solution.
    fn divide_combined(&mut self, rank: usize) {
        let n = self.combined.len();
        let along = &mut self.along[..n];
        if rank >= n {
            skyline::solve(&self.factors[..n * n], &self.first, along);
        } else {
            self.least_norm.solve(along);
        }
    }

    /// Returns `rᵀ W⁻¹ r` with `r = J A`: the reactions reduce the response to a unit wrench along
    /// itself by it. `A` and `qdd` are the response without reactions ([`Dynamics::respond`]) after
    /// [`hold`](Self::hold).
    pub fn reduction(
        &mut self,
        of: ConstantsOf<S>,
        discrete: &Discrete,
        kinematics: &Kinematics<S>,
        A: &[Twist<S>],
        qdd: &[S],
    ) -> S {
        let (system, n) = (&of.model.system, self.rows.len());
        if n == 0 {
            return S::zero();
        }
        for k in 0..n {
            self.lambda[k] = self.acceleration(k, system, kinematics, A, qdd);
        }
        self.substitute(discrete.rank);
        let powers = (0..n).map(|k| self.along(Side::Reactions, k, system, kinematics, A, qdd) * self.lambda[k]);
        powers.fold(S::zero(), |sum, power| sum + power)
    }

    /// Returns `J v` of the rows, rad/s or m/s, for rates `v` and the velocities `V` of the bodies at
    /// these rates.
    pub fn along_rows<'a>(
        &'a self,
        system: &'a System,
        kinematics: &'a Kinematics<S>,
        V: &'a [Twist<S>],
        v: &'a [S],
    ) -> impl Iterator<Item = S> + 'a {
        (0..self.rows.len()).map(move |k| self.acceleration(k, system, kinematics, V, v))
    }

    /// Returns the component of `J A` in a row.
    fn acceleration(&self, row: usize, system: &System, kinematics: &Kinematics<S>, A: &[Twist<S>], qdd: &[S]) -> S {
        let row = &self.rows[row];
        let relative = self.held[row.held].accelerates(system, kinematics, A, qdd);
        row.unit.accelerates(&relative, qdd)
    }

    /// Returns the component of `J A` or `K A` in a row.
    fn along(
        &self,
        side: Side,
        row: usize,
        system: &System,
        kinematics: &Kinematics<S>,
        A: &[Twist<S>],
        qdd: &[S],
    ) -> S {
        let row = &self.rows[row];
        let relative = self.held[row.held].accelerates(system, kinematics, A, qdd);
        row.of(side).accelerates(&relative, qdd)
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the kind and name of the capture or the loop to which a row belongs.
    pub fn name_of(&self, model: &Model, row: usize) -> String {
        model.elements.closure_name(self.held[self.rows[row].held].index)
    }

    /// Adds multiples `sizes` of the rows' unit reactions, or of unit wrenches along the rows, to
    /// the loads.
    pub fn push(&self, side: Side, model: &Model, kinematics: &Kinematics<S>, applied: &mut Applied<S>, sizes: &[S]) {
        for (row, &size) in self.rows.iter().zip(sizes) {
            let held = &self.held[row.held];
            row.of(side).push(held, &model.system, kinematics, applied, size);
        }
    }

    /// Lists the active captures, the loops and the couplings and their rows, with violations, rates
    /// and right sides, at coordinates and rates `at` of the joints.
    pub fn set_up(
        &mut self,
        of: ConstantsOf<S>,
        stabilises: bool,
        discrete: &Discrete,
        kinematics: &Kinematics<S>,
        at: JointState<S>,
    ) {
        let model = of.model;
        self.rows.clear();
        self.held.clear();
        self.is_symmetric = true;
        self.state.fill(Closed::none());
        self.points.fill(PointForce::none());
        for (contact, capture) in model.elements.captures() {
            if discrete.is_held(capture.number) {
                let captured = &discrete.captures[capture.number];
                self.add_capture(of, stabilises, kinematics, contact, capture, captured);
            }
        }
        let captures = model.elements.captures().count();
        for (k, closed_loop) in model.elements.closed_loops.iter().enumerate() {
            self.add_loop(of, stabilises, kinematics, captures + k, closed_loop);
        }
        let before = captures + model.elements.closed_loops.len();
        for (k, coupling) in model.elements.couplings.iter().enumerate() {
            self.add_coupling(of, stabilises, at, before + k, coupling);
        }
        let before = model.elements.bilateral_closures();
        self.add_stictions(of, stabilises, discrete, kinematics, before);
        self.add_rests(of, stabilises, discrete, kinematics, before);
    }
}

impl<S: Scalar> Row<S> {
    /// Returns the unit reaction: along the row, but for the friction of a point that slides.
    fn reaction(&self) -> Reaction<S> {
        match self.rest.and_then(|rest| rest.reaction) {
            Some(wrench) => Reaction::Wrench(wrench),
            None => self.unit,
        }
    }

    /// Returns the unit wrench of the row on a side of `W`.
    fn of(&self, side: Side) -> Reaction<S> {
        match side {
            Side::Rows => self.unit,
            Side::Reactions => self.reaction(),
        }
    }

    /// Returns true if the reaction is a force, false if it is a moment.
    fn is_offset(&self) -> bool {
        matches!(self.unit, Reaction::Wrench(unit) if unit.t == Vec3::zeros())
    }
}

impl<S: Scalar> Reaction<S> {
    /// Adds `size` times the reaction of a row of `held` to the loads.
    fn push(&self, held: &Held<S>, system: &System, kinematics: &Kinematics<S>, applied: &mut Applied<S>, size: S) {
        match (*self, &held.pair) {
            (Self::Wrench(unit), Some(pair)) => pair.push(system, kinematics, applied, unit * size),
            (Self::Torques { rates, ratio }, _) => {
                applied.tau[rates[0]] += size;
                applied.tau[rates[1]] -= size * ratio;
            }
            (Self::Wrench(_), None) => {}
        }
    }

    /// Returns `J A`: the acceleration along the reaction, from the relative acceleration `A` of
    /// the frames and the derivatives `qdd` of the rates.
    fn accelerates(&self, A: &Twist<S>, qdd: &[S]) -> S {
        match *self {
            Self::Wrench(unit) => unit.power(A),
            Self::Torques { rates, ratio } => qdd[rates[0]] - qdd[rates[1]] * ratio,
        }
    }
}

impl<S: Scalar> Held<S> {
    /// Returns the relative acceleration without its velocity-dependent part (bias), from the
    /// accelerations `A` of the bodies, also without it, and the derivatives `qdd` of the rates.
    fn accelerates(&self, system: &System, kinematics: &Kinematics<S>, A: &[Twist<S>], qdd: &[S]) -> Twist<S> {
        self.pair.as_ref().map_or_else(Twist::zero, |pair| {
            pair.relative(|on| kinematics.beyond_bias_of(system, on, A, qdd))
        })
    }
}
