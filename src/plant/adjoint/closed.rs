use crate::algebra::{Recorded, Scalar, Tape, Twist, Wrench};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{Gradient, JointAdjoints, Partials, TreeAdjoint};
use crate::plant::closure::Closure;
use crate::plant::context::Constants;
use crate::plant::{Evaluation, Model, OperatingPoint};
use crate::system::{Carrier, JointState, Kinematics};

/// Adjoints of captures, loops and couplings (`docs/theory/adjoint.md`, whose numbers the comments
/// cite).
#[derive(Clone, Debug)]
pub(super) struct Closing {
    /// `σ`, the adjoints of the accelerations along the rows.
    sigma: Vec<f64>,
    /// `J λ` and the adjoints of the reactions; then their part `e` outside the range of `W`.
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
    /// Rates `a` of `M⁻¹ Jᵀ W⁺ σ` and of `M⁻¹ Jᵀ W⁺ ρ`.
    rates: [Vec<f64>; 2],
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
                    rates: [zeros(), zeros()],
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
        closure.add_accelerations(system, kinematics, dynamics.A(), tree.lambda(), &mut self.along);
        let zeros = &self.redundant.zeros;
        self.cuts.clear();
        self.cuts.extend(tree.cuts().map(|cut| *cut * -1.0));
        closure.add_accelerations(system, kinematics, &self.cuts, zeros, &mut self.along);
        self.sigma.clone_from(&self.along);
        closure.divide(rank, &mut self.sigma);
        self.sizes.clear();
        self.sizes.extend(self.sigma.iter().map(|sigma| -sigma));
        self.load.clear();
        closure.push(model, kinematics, &mut self.load, &self.sizes);
        let loads = self.load.wrench.iter().chain(&self.load.stations);
        for (gradient, F) in gradients.iter_mut().zip(loads) {
            gradient.acceleration = gradient.acceleration + *F;
        }
        self.load.join_stations(system, kinematics);
        tree.constrain(at, dynamics, &self.load, gradients);
        if rank >= n {
            return;
        }
        closure.add_accelerations(system, kinematics, dynamics.A(), tree.response(), &mut self.along);
        for (sum, rates) in self.redundant.rates.iter_mut().enumerate() {
            self.sizes.clear();
            self.sizes
                .extend_from_slice([&self.sigma[..], closure.reactions()][sum]);
            closure.divide(rank, &mut self.sizes);
            self.load.clear();
            closure.push(model, kinematics, &mut self.load, &self.sizes);
            self.load.join_stations(system, kinematics);
            dynamics.respond(at, &self.load, rates);
        }
    }

    /// Returns `σ`, after [`constrain`](Self::constrain).
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// Computes the derivatives of redundant rows, (20), with respect to the coordinates at
    /// constant unit reactions, and seeds the recorded ones. Requires
    /// [`constrain`](Self::constrain).
    pub fn redundant_rows(&mut self, of: Constants, at: OperatingPoint, closure: &Closure<Recorded>, tape: &mut Tape) {
        let (system, q) = (&of.model.system, &at.x[..of.model.system.nq]);
        let residuals = closure.residuals();
        let Redundant {
            rates,
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
        for (rates, weights) in rates.iter().zip([&self.sizes, &self.along]) {
            kinematics.update(system, of.derived, q, rates);
            gradients.fill(Gradient::zero());
            closure.seed_rates(weights, kinematics, tape, |on, F| match on {
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
    }

    /// Adds the derivatives of [`redundant_rows`](Self::redundant_rows) to those with respect to
    /// the states.
    pub fn add_redundant_rows(&self, x_bar: &mut [f64]) {
        let of_rows = x_bar.iter_mut().zip(&self.redundant.q_bar);
        of_rows.for_each(|(to, bar)| *to += bar);
    }
}
