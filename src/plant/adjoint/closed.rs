use crate::algebra::{Recorded, Scalar, Tape, Twist, Wrench};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{Gradient, JointAdjoints, Partials, TreeAdjoint};
use crate::plant::closure::{Closure, Side};
use crate::plant::context::Constants;
use crate::plant::{Evaluation, Model, OperatingPoint};
use crate::system::{Carrier, JointState, Kinematics};

/// Adjoints of captures, loops, couplings and contacts that rest (`docs/theory/adjoint.md`, whose
/// numbers the comments cite).
#[derive(Clone, Debug)]
pub(super) struct Closing {
    /// `σ`, the adjoints of the accelerations along the rows.
    sigma: Vec<f64>,
    /// `K λ` and the adjoints of the reactions; then their part `e` outside the range of `Wᵀ`.
    along: Vec<f64>,
    /// Workspace for multiples of the unit reactions; then the residuals `r`.
    sizes: Vec<f64>,
    /// Negative adjoints of the reactions of joints, as motions of the bodies.
    cuts: Vec<Twist<f64>>,
    load: Applied<f64>,
    redundant: Redundant,
}

/// Workspace for redundant rows, (20).
#[derive(Clone, Debug)]
struct Redundant {
    /// Rates `a₁ = M⁻¹ Kᵀ W⁺ σ` and `a₂ = M⁻¹ Jᵀ W⁺ᵀ (ρ − ρ₀)`, and, for points that slide with
    /// friction, `a₃ = M⁻¹ Kᵀ e`.
    rates: [Vec<f64>; 3],
    /// `W⁺ᵀ (ρ − ρ₀)`.
    y: Vec<f64>,
    /// Accelerations of the bodies that belong to `a₂` and `a₃`.
    A: [Vec<Twist<f64>>; 2],
    kinematics: Kinematics<f64>,
    tree: TreeAdjoint,
    gradients: Vec<Gradient>,
    /// Derivatives with respect to the joints' columns: zero.
    columns: Vec<Wrench<f64>>,
    /// Zeros in place of the derivatives of the rates.
    zeros: Vec<f64>,
    q_bar: Vec<f64>,
    /// Adjoints of the rates `a`, which are constants.
    unused: Vec<f64>,
}

impl Closing {
    /// Allocates for a model; `None` without captures, loops and couplings.
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let (n, system) = (model.elements.most_rows(), &model.system);
        let zeros = || vec![0.0; system.nv];
        (n > 0).then(|| {
            Box::new(Self {
                sigma: Vec::with_capacity(n),
                along: Vec::with_capacity(n),
                sizes: Vec::with_capacity(n),
                cuts: Vec::with_capacity(system.bodies.len()),
                load: Applied::apart(system),
                redundant: Redundant {
                    rates: [zeros(), zeros(), zeros()],
                    y: Vec::with_capacity(n),
                    A: [(); 2].map(|()| vec![Twist::zero(); system.bodies.len()]),
                    kinematics: Kinematics::new(system),
                    tree: TreeAdjoint::new(system),
                    gradients: vec![Gradient::zero(); system.bodies.len() + system.stations.len()],
                    columns: vec![Wrench::zero(); system.nv],
                    q_bar: vec![0.0; system.nq],
                    zeros: zeros(),
                    unused: zeros(),
                },
            })
        })
    }

    /// Computes `σ` and constrains `λ`, (18), for the adjoints of the reactions, one for each row.
    /// Requires [`TreeAdjoint::respond`].
    pub fn constrain(
        &mut self,
        of: Constants,
        rank: usize,
        values: &mut Evaluation<f64>,
        of_reactions: impl Iterator<Item = f64>,
        tree: &mut TreeAdjoint,
        gradients: &mut [Gradient],
    ) {
        let (model, system) = (of.model, &of.model.system);
        let Evaluation {
            kinematics,
            dynamics,
            closure: Some(closure),
            ..
        } = values
        else {
            return;
        };
        let at = of.at(kinematics);
        let n = closure.row_count();
        self.along.clear();
        self.along.extend(of_reactions.take(n));
        let reactions = Side::Reactions;
        closure.add_accelerations(
            reactions,
            system,
            kinematics,
            dynamics.A(),
            tree.lambda(),
            &mut self.along,
        );
        let zeros = &self.redundant.zeros;
        self.cuts.clear();
        self.cuts.extend(tree.cuts().map(|cut| *cut * -1.0));
        closure.add_accelerations(reactions, system, kinematics, &self.cuts, zeros, &mut self.along);
        self.sigma.clone_from(&self.along);
        closure.divide_transposed(rank, &mut self.sigma);
        self.sizes.clear();
        self.sizes.extend(self.sigma.iter().map(|sigma| -sigma));
        self.load.clear();
        closure.push(Side::Rows, model, kinematics, &mut self.load, &self.sizes);
        let loads = self.load.wrench.iter().chain(&self.load.stations);
        for (gradient, F) in gradients.iter_mut().zip(loads) {
            gradient.acceleration = gradient.acceleration + *F;
        }
        self.load.join_stations(system, kinematics);
        tree.constrain(at, dynamics, &self.load, gradients);
        if rank >= n {
            return;
        }
        closure.add_accelerations(
            reactions,
            system,
            kinematics,
            dynamics.A(),
            tree.response(),
            &mut self.along,
        );
        let Redundant { rates, y, A, .. } = &mut self.redundant;
        self.sizes.clone_from(&self.sigma);
        closure.divide(rank, &mut self.sizes);
        y.clear();
        y.extend(closure.beyond_reference());
        closure.divide_transposed(rank, y);
        let loads = [(reactions, &self.sizes), (Side::Rows, &*y), (reactions, &self.along)];
        let count = if closure.is_symmetric() { 2 } else { 3 };
        for (sum, (side, sizes)) in loads.into_iter().enumerate().take(count) {
            self.load.clear();
            closure.push(side, model, kinematics, &mut self.load, sizes);
            self.load.join_stations(system, kinematics);
            dynamics.respond(at, &self.load, &mut rates[sum]);
            if sum > 0 {
                A[sum - 1].copy_from_slice(dynamics.A());
            }
        }
    }

    /// Returns `σ`, after [`constrain`](Self::constrain).
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// Computes the derivatives of redundant rows, (20) and (20a), with respect to the coordinates
    /// at constant unit wrenches, and seeds the recorded ones and the relative masses `fills`.
    /// Requires [`constrain`](Self::constrain).
    pub fn redundant_rows(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        closure: &Closure<Recorded>,
        fills: &[Recorded],
        tape: &mut Tape,
    ) {
        let (system, q) = (&of.model.system, &at.x[..of.model.system.nq]);
        let residuals = closure.residuals();
        let Redundant {
            rates,
            y,
            A,
            kinematics,
            tree,
            gradients,
            columns,
            zeros,
            q_bar,
            unused,
        } = &mut self.redundant;
        q_bar.fill(0.0);
        if at.discrete.rank >= residuals.len() {
            return;
        }
        self.sizes.clear();
        self.sizes.extend(residuals.iter().map(|residual| residual.value()));
        let sums = [
            (Side::Rows, &self.sizes),
            (Side::Reactions, &self.along),
            (Side::Rows, &*y),
        ];
        let count = if closure.is_symmetric() { 2 } else { 3 };
        for (rates, (side, weights)) in rates.iter().zip(sums).take(count) {
            kinematics.update(system, of.derived, q, rates);
            gradients.fill(Gradient::zero());
            closure.seed_rates(side, weights, kinematics, tape, |on, F| match on {
                Carrier::World => {}
                Carrier::Body(i) => gradients[i].velocity = gradients[i].velocity + F,
                Carrier::Station(s) => {
                    let gradient = &mut gradients[system.bodies.len() + s];
                    gradient.velocity = gradient.velocity + F;
                }
                Carrier::Point(p) => {
                    let beam = &system.nodal[system.points[p].beam];
                    kinematics.points[p].add_rate_adjoint(beam, rates, &F.t, q_bar);
                }
            });
            let joints = JointState { q, qd: rates };
            let mut bars = JointAdjoints { q: q_bar, qd: unused };
            let partials = Partials {
                bodies: gradients,
                columns,
            };
            tree.rest();
            tree.coordinates(of.at(kinematics), partials, joints, zeros, &mut bars);
        }
        if closure.is_symmetric() {
            return;
        }
        let (of_fills, values) = (kinematics.fills.iter_mut(), fills.iter().map(|fill| fill.value()));
        of_fills.zip(values).for_each(|(to, fill)| *to = fill);
        kinematics.update(system, of.derived, q, zeros);
        gradients.fill(Gradient::zero());
        self.load.clear();
        let rest = of.at(kinematics);
        tree.begin(rest, &self.load, &A[1], &rates[2], zeros);
        tree.respond_as(rest, &A[0], &rates[1], gradients);
        let joints = JointState { q, qd: zeros };
        let mut bars = JointAdjoints { q: q_bar, qd: unused };
        let partials = Partials {
            bodies: gradients,
            columns,
        };
        tree.coordinates(rest, partials, joints, &rates[2], &mut bars);
        for (&body, fill) in system.propellant.iter().zip(fills) {
            tape.seed(*fill, tree.of_fill(rest, body));
        }
    }

    /// Adds the derivatives of [`redundant_rows`](Self::redundant_rows) to those with respect to
    /// the states.
    pub fn add_redundant_rows(&self, x_bar: &mut [f64]) {
        let of_rows = x_bar.iter_mut().zip(&self.redundant.q_bar);
        of_rows.for_each(|(to, bar)| *to += bar);
    }
}
