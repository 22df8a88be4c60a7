use crate::algebra::{Recorded, Scalar, Tape, Twist};
use crate::dynamics::Applied;
use crate::dynamics::recursive::{Gradient, JointAdjoints, Partials, TreeAdjoint};
use crate::plant::context::Constants;
use crate::plant::{Evaluation, Model};
use crate::system::{JointState, Kinematics};

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
    /// Zeros in place of the derivatives of the rates.
    zeros: Vec<f64>,
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
                load: Applied::none(system),
                redundant: Redundant {
                    rates: [zeros(), zeros()],
                    kinematics: Kinematics::new(system),
                    tree: TreeAdjoint::new(system),
                    zeros: zeros(),
                    unused: zeros(),
                },
            })
        })
    }

    /// Computes `σ` and constrains `λ`, (18), for the adjoints of the reactions, which are variables
    /// of the tape from number `first` on. Requires [`TreeAdjoint::respond`].
    pub fn constrain(
        &mut self,
        of: Constants,
        rank: usize,
        values: &mut Evaluation<f64>,
        (tape, first): (&Tape, usize),
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
        self.along.extend((0..n).map(|k| tape.adjoint(first + k)));
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
        for (gradient, F) in gradients.iter_mut().zip(&self.load.wrench) {
            gradient.acceleration = gradient.acceleration + *F;
        }
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
            dynamics.respond(at, &self.load, rates);
        }
    }

    /// Returns `σ`, after [`constrain`](Self::constrain).
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// Keeps the inconsistent part of the rows, their residuals `r`. Requires
    /// [`constrain`](Self::constrain).
    pub fn set_residuals(&mut self, residuals: &[Recorded]) {
        self.sizes.clear();
        self.sizes.extend(residuals.iter().map(|residual| residual.value()));
    }

    /// Fills the kinematics with the rates `a` of one of the two sums of (20), 0 or 1; returns them
    /// and the rates.
    pub fn move_along(&mut self, of: Constants, q: &[f64], sum: usize) -> (&Kinematics<f64>, &[f64]) {
        let Redundant { rates, kinematics, .. } = &mut self.redundant;
        kinematics.update(&of.model.system, of.derived, q, &rates[sum]);
        (kinematics, &rates[sum])
    }

    /// Returns the weights of the rows in one of the two sums of (20): `r` or `e`.
    pub fn weights(&self, sum: usize) -> &[f64] {
        [&self.sizes, &self.along][sum]
    }

    /// Adds the derivatives of a sum of (20) to those with respect to the coordinates `q`, for the
    /// `partials` with respect to the motions of [`move_along`](Self::move_along).
    pub fn add_sum(&mut self, of: Constants, q: &[f64], sum: usize, partials: Partials, q_bar: &mut [f64]) {
        let Redundant {
            rates,
            kinematics,
            tree,
            zeros,
            unused,
        } = &mut self.redundant;
        let joints = JointState { q, qd: &rates[sum] };
        let mut bars = JointAdjoints { q: q_bar, qd: unused };
        tree.rest();
        tree.coordinates(of.at(kinematics), partials, joints, zeros, &mut bars);
    }
}
