//! Rows of contact points that rest (`docs/theory/resting-contact.md`).

use super::super::Model;
use super::super::context::{Constants, ConstantsOf};
use super::super::evaluation::Engine;
use super::{Closure, Held, Reaction, Row};
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::elements::{Closed, Discrete, Hold, PointForce, RestingFrames};
use crate::system::{JointState, Kinematics};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// Number of iterative refinements of a solution by the squares of `W`.
const REFINEMENTS: usize = 2;

/// Data of a row of a contact point.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestRow<S: Scalar> {
    /// Index of the point among all that may rest.
    pub number: usize,
    /// True for the row of a compliant contact, which has no row along the normal.
    is_compliant: bool,
    /// True for the row along the normal.
    is_normal: bool,
    /// Force per unit of the row's reaction, world axes.
    force: Vec3<S>,
    /// Unit reaction if it does not act along the row: the normal force with the friction.
    pub reaction: Option<Wrench<S>>,
    /// Power of the friction per unit of the row's reaction, W.
    power: S,
    /// Reaction to which the solution is nearest if it is not unique, N.
    reference: f64,
}

/// Workspace for rows whose reactions do not act along them.
#[derive(Clone, Debug)]
pub(super) struct Asymmetric<S: Scalar> {
    /// Right side.
    b: Vec<S>,
    /// Residual, then its solution.
    y: Vec<S>,
}

impl<S: Scalar> Asymmetric<S> {
    pub fn new(model: &Model) -> Self {
        let n = match model.elements.rest_points() {
            0 => 0,
            _ => model.elements.most_rows(),
        };
        Self {
            b: vec![S::zero(); n],
            y: vec![S::zero(); n],
        }
    }
}

impl<S: Scalar> RestRow<S> {
    /// Creates the data of a row along the tangent `t` of a compliant contact that sticks, with its
    /// velocity `rate` (m/s) and reaction of reference (N).
    pub fn of_stiction(number: usize, t: Vec3<S>, rate: S, reference: f64) -> Self {
        Self {
            number,
            is_compliant: true,
            is_normal: false,
            force: t,
            reaction: None,
            power: rate,
            reference,
        }
    }

    /// Adds the reaction `lambda` (N) of the row to the force of its point; returns the power of its
    /// friction, W.
    pub fn press(&self, point: &mut PointForce<S>, lambda: S) -> S {
        point.force += self.force * lambda;
        if self.is_normal {
            point.normal = lambda;
        }
        self.power * lambda
    }
}

impl<S: Scalar> Closure<S> {
    /// Returns the force of each point that may rest, after [`hold`](Self::hold).
    pub fn points(&self) -> &[PointForce<S>] {
        &self.points
    }

    /// Adds the rows of all points that rest; `before` is the index of the first point in
    /// [`state`](Self::state).
    ///
    /// A point that sticks has three rows, along the normal and two tangents; a point that slides has
    /// the row of the normal, with the friction in its reaction.
    pub(super) fn add_rests(
        &mut self,
        of: ConstantsOf<S>,
        stabilises: bool,
        discrete: &Discrete,
        kinematics: &Kinematics<S>,
        before: usize,
    ) {
        let parameters = of.parameters;
        let at = of.at(kinematics);
        let mut frames: Option<(usize, RestingFrames<S>)> = None;
        for (number, (contact, rest, point)) in of.model.elements.rests().enumerate() {
            let state = &discrete.rests[number];
            if state.hold == Hold::Free {
                continue;
            }
            if frames.as_ref().is_none_or(|(first, _)| *first != rest.first) {
                frames = Some((rest.first, contact.frames_at(S::numbers(parameters), at)));
            }
            let Some((_, frames)) = &frames else { continue };
            let touching = frames.touching(point, S::numbers(parameters), discrete);
            let R_WB = frames.poses[1].R;
            let reference = R_WB.map(S::value) * state.reference;
            let [alpha, beta] = match stabilises {
                true => rest.gains(S::numbers(parameters)),
                false => [0.0; 2],
            };
            let n = touching.n;
            let held = self.held.len();
            let slides = state.hold == Hold::Sliding && state.direction != Vec3::zeros();
            self.is_symmetric &= !slides;
            let mut add = |e: Vec3<S>, e_dot: Vec3<S>, violation: S, is_normal: bool| {
                let rate = e.dot(&touching.u);
                let bias = e.dot(&touching.bias) + e_dot.dot(&touching.u);
                let slides = slides && is_normal;
                let mu = S::lift(contact.rest_coefficients(S::numbers(parameters))[1]);
                let friction = match slides {
                    true => -touching.direction(R_WB * lift3::<S>(&state.direction)) * mu,
                    false => Vec3::zeros(),
                };
                let force = e + friction;
                self.rows.push(Row {
                    held,
                    unit: Reaction::Wrench(Wrench::new(Vec3::zeros(), e)),
                    rate,
                    target: -bias - rate * S::lift(2.0 * alpha) - violation * S::lift(beta * beta),
                    rest: Some(RestRow {
                        number,
                        is_compliant: false,
                        is_normal,
                        force,
                        reaction: slides.then(|| Wrench::new(Vec3::zeros(), force)),
                        power: friction.dot(&touching.u),
                        reference: e.map(S::value).dot(&reference),
                    }),
                });
            };
            add(n, touching.n_dot, touching.gap, true);
            if state.hold == Hold::Sticking {
                for t in touching.t {
                    add(t, touching.w_B.cross(&t), S::zero(), false);
                }
            }
            self.points[number] = PointForce {
                from_a: touching.from_a,
                n,
                slip: touching.slip(),
                ..PointForce::none()
            };
            self.state[before + number] = Closed {
                held: true,
                squares: [S::zero(), touching.gap * touching.gap],
                ..Closed::none()
            };
            self.held.push(Held {
                index: before + number,
                pair: Some(touching.pair),
            });
        }
    }

    /// Returns true if all reactions act along their rows, so that `W` is symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.is_symmetric
    }

    /// Replaces the right side `b` in `lambda` by the reactions nearest to the reference ones, `λ₀ + W⁺
    /// (b − W λ₀)`. Without contact points the reference is zero.
    pub(super) fn solve(&mut self, rank: usize) {
        if !self.is_symmetric() {
            self.refer(-S::one());
            self.substitute(rank);
            self.refer(S::one());
            return;
        }
        let n = self.combined.len();
        let of_rows = self.rows.iter().map(|row| row.rest.map_or(0.0, |rest| rest.reference));
        let references = self.references.iter_mut().zip(of_rows);
        references.for_each(|(to, reference)| *to = S::lift(reference));
        self.combined.project(&self.references, &mut self.combined_references);
        self.combined.project(&self.lambda, &mut self.along);
        let (known, along) = (&self.combined_references[..n], &mut self.along[..n]);
        for (i, row) in self.W.chunks_exact(n).take(n).enumerate() {
            let mut product = row[i] * known[i];
            for (j, &entry) in row[..i].iter().enumerate() {
                product += entry * known[j];
                along[j] -= entry * known[i];
            }
            along[i] -= product;
        }
        self.divide_combined(rank);
        self.combined.expand(&self.along, &mut self.lambda);
        let reactions = self.lambda.iter_mut().zip(&self.references).take(self.rows.len());
        reactions.for_each(|(lambda, &reference)| *lambda += reference);
    }

    /// Subtracts `W λ₀` from the right side in `lambda` with −1, with +1 adds the reference reactions
    /// `λ₀` to the solution, if `W` is not symmetric.
    fn refer(&mut self, sign: S) {
        let n = self.rows.len();
        for k in 0..n {
            let reference = S::lift(self.rows[k].rest.map_or(0.0, |rest| rest.reference));
            if sign.value() > 0.0 {
                self.lambda[k] += reference;
                continue;
            }
            for l in 0..n {
                self.lambda[l] -= self.W[l * n + k] * reference;
            }
        }
    }

    /// Factors `W Wᵀ` of the given rank, where reactions do not act along their rows.
    ///
    /// # Errors
    /// The row where the rank has dropped.
    pub(super) fn factor_asymmetric(&mut self, rank: usize) -> Result<(), usize> {
        let n = self.rows.len();
        for i in 0..n {
            for j in 0..=i {
                let products = (0..n).map(|k| self.W[i * n + k] * self.W[j * n + k]);
                self.factors[i * n + j] = products.fold(S::zero(), |sum, product| sum + product);
            }
            self.responses[i] = self.factors[i * n + i].value();
        }
        let squares = &self.factors[..n * n];
        self.least_norm.factor(squares, n, rank, &self.responses).map(|_| ())
    }

    /// Replaces the right side in `lambda` by the solution `Wᵀ (W Wᵀ)⁺ b` of least norm.
    pub(super) fn divide_asymmetric(&mut self, lambda: &mut [S]) {
        let n = self.rows.len();
        let (b, y) = (&mut self.sliding.b[..n], &mut self.sliding.y[..n]);
        b.copy_from_slice(lambda);
        y.copy_from_slice(lambda);
        lambda.fill(S::zero());
        for _ in 0..=REFINEMENTS {
            self.least_norm.solve(y);
            for (k, lambda) in lambda.iter_mut().enumerate() {
                let products = (0..n).map(|i| self.W[i * n + k] * y[i]);
                *lambda += products.fold(S::zero(), |sum, product| sum + product);
            }
            for (i, (y, b)) in y.iter_mut().zip(&*b).enumerate() {
                let products = (0..n).map(|k| self.W[i * n + k] * lambda[k]);
                *y = products.fold(*b, |left, product| left - product);
            }
        }
    }
}

impl Closure<f64> {
    /// Replaces `b` by `(W⁺)ᵀ b = (W Wᵀ)⁺ W b`, with the last factors, for `W` of this rank.
    pub fn divide_transposed(&mut self, rank: usize, b: &mut [f64]) {
        if self.is_symmetric() {
            self.divide(rank, b);
            return;
        }
        let n = self.rows.len();
        let (residual, y) = (&mut self.sliding.b[..n], &mut self.sliding.y[..n]);
        residual.copy_from_slice(b);
        b.fill(0.0);
        for _ in 0..=REFINEMENTS {
            for (i, y) in y.iter_mut().enumerate() {
                *y = (0..n).map(|k| self.W[i * n + k] * residual[k]).sum();
            }
            self.least_norm.solve(y);
            for (k, residual) in residual.iter_mut().enumerate() {
                b[k] += y[k];
                *residual -= (0..n).map(|i| self.W[i * n + k] * y[i]).sum::<f64>();
            }
        }
    }

    /// Returns, for each row, the part of the reaction beyond its reference, after
    /// [`hold`](Self::hold), N or N·m.
    pub fn beyond_reference(&self) -> impl Iterator<Item = f64> {
        let reference = |row: &Row<f64>| row.rest.map_or(0.0, |rest| rest.reference);
        self.rows
            .iter()
            .zip(&self.lambda)
            .map(move |(row, lambda)| lambda - reference(row))
    }
}

/// Rows of all constraints, those of compliant contacts that stick and those of contact points last.
pub struct Rows {
    /// Rows of compliant contacts that stick.
    pub of_stictions: Range<usize>,
    /// Rows of contact points.
    pub of_points: Range<usize>,
    /// Responses of all rows to unit reactions.
    pub W: DMatrix<f64>,
    /// Accelerations along the rows that the constraints have to change, `J A − b`, m/s².
    pub along: DVector<f64>,
}

impl Rows {
    /// Returns the rows of a model without constraints.
    pub fn none() -> Self {
        Self {
            of_stictions: 0..0,
            of_points: 0..0,
            W: DMatrix::zeros(0, 0),
            along: DVector::zeros(0),
        }
    }
}

impl Closure<f64> {
    /// Computes the rows of all constraints and their responses, after a solution of the dynamics without
    /// reactions. The reactions of points that slide with friction must not be among them: `W` is
    /// symmetric. It allocates.
    pub fn problem(
        &mut self,
        of: Constants,
        discrete: &Discrete,
        mut engine: Engine<f64>,
        at: JointState<f64>,
        qdd: &mut [f64],
    ) -> Rows {
        let kinematics = engine.kinematics;
        self.set_up(of, true, discrete, kinematics, at);
        let n = self.rows.len();
        let along = (0..n).map(|k| {
            let accelerates = self.acceleration(k, &of.model.system, kinematics, engine.dynamics.A(), qdd);
            accelerates - self.rows[k].target
        });
        let along = DVector::from_iterator(n, along);
        self.respond(of, &mut engine, qdd);
        let W = self.combined.expand_matrix(&self.W, n);
        let stiction = self.rows.iter().position(|row| row.rest.is_some());
        let point = self
            .rows
            .iter()
            .position(|row| row.rest.is_some_and(|rest| !rest.is_compliant));
        let [of_stictions, of_points] = [stiction, point].map(|first| first.unwrap_or(n));
        Rows {
            of_stictions: of_stictions..of_points,
            of_points: of_points..n,
            W,
            along,
        }
    }
}
