//! Analytical derivatives of the forward dynamics, by recursion over the tree.
//!
//! Sources: J. Carpentier and N. Mansard, Analytical derivatives of rigid body dynamics algorithms
//! (RSS 2018); S. Singh, R. Russell and P. Wensing, Efficient analytical derivatives of rigid-body
//! dynamics using spatial vector algebra (RA-L 2022, doi:10.1109/LRA.2022.3141194). This module
//! extends them to loads, modes and joints with several rates, and replaces the inverse of the mass
//! matrix by the articulated-body recursion.
//!
//! **Reference point.** All motions, loads and inertias of a tree refer to one point, *the tree's
//! point*, which coincides with the root's origin and moves uniformly: sums along the tree need no
//! shifts, and accelerations are spatial ones (rates of velocities at a fixed point).
//!
//! **Outboard motion.** A coordinate that moves its outboard part by the motion `ξ` changes
//! outboard velocities, accelerations and joint columns by
//!
//! ```text
//!     δv = ξ × v + ψ,     δa = ξ × a + φ − v × ψ,     δS = ξ × S                             (1)
//!     ψ = v_λ × S,        φ = a_λ × S + v_λ × ψ       (a coordinate with the column ξ = S)   (2)
//!     ψ = S,              φ = (v_λ + v) × S           (its rate, with ξ = 0)                 (3)
//! ```
//!
//! where λ is the carrier of the joint and `v` the velocity outboard of the joint. `ψ` and `φ` are
//! the first and second time derivative of `ξ`, which moves with the bodies. The inverse dynamics
//! of a body, `f = I a + v ×* I v − F`, changes by
//!
//! ```text
//!     δf = ξ ×* f + I φ + 2 B ψ − G ξ,    2 B ψ = ∫ (x; 1) × 2 ψ_w × ẋ dm                    (4)
//! ```
//!
//! where `G` is the derivative of the load `F` with respect to a rotation of the body, less that of
//! a load fixed to the body. `B` has three columns only (the Coriolis force). Inertias, `B`, `G`
//! and `f` are summed over the outboard part.
//!
//! **Recursion.** The joint torques are given, so that the derivative of `S·Σf` (sum over the
//! outboard bodies) vanishes for each joint. If the coordinate is inboard of the joint,
//! `δS·f + S·(ξ ×* f) = 0`. Therefore (4) enters the recursion of
//! [`ForwardDynamics`](super::ForwardDynamics) as one bias per coordinate: `I φ + 2 B ψ − G ξ` at
//! the joint's own group and `ξ ×* f` inboard of it. In outboard rows only `S·(2 B ψ − G ξ)`
//! remains, three products each; `φ` is added to the acceleration in the forward pass. All columns
//! are processed simultaneously, O(n) each.
//!
//! **Flexible bodies.** A mode moves each station of its body by its own `(ξ, ψ, φ)` and changes
//! the body's bias forces; both are [local](Local).

mod accelerations;
mod columns;
mod layout;
mod local;
mod modal;
mod motion;
mod rows;
mod sum;
mod write;

pub use local::Local;

use crate::algebra::{ArticulatedInertia, Twist, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::dynamics::Singular;
use crate::system::{Configuration, JointState, Kinematics, Mechanism, System};
use layout::Layout;
use motion::Moving;
use rows::{LANES, Lane, Six, Three};
use sum::{Sum, Turned};

/// Jacobian of the state's time derivative: derivatives of `q̇`, `q̈` and the power of active loads
/// (those without a potential) with respect to coordinates and rates.
///
/// All memory is allocated at construction.
#[derive(Clone, Debug)]
pub struct Derivatives {
    layout: Layout,
    /// True if loads depend on the attitudes of bodies.
    bodies: bool,
    /// Local derivatives of bodies and joints.
    local: Local,
    /// Quantities of each body.
    at: Vec<BodyState>,
    /// Quantities of each station.
    at_station: Vec<BodyState>,
    /// Sums of the loads on each body and its outboard part.
    turned: Vec<Turned>,
    /// Sums of the loads outboard of each station.
    turned_station: Vec<Turned>,
    /// Ordinary acceleration of each body's origin, `A_bias` included.
    A: Vec<Twist<f64>>,
    /// For each body: velocity of its tree's point, m/s, world axes.
    v_O: Vec<Vec3<f64>>,
    /// Outboard motion of each joint's degree of freedom.
    moving: Vec<Moving>,
    /// For each degree of freedom of a joint: velocity inboard of its group.
    carried: Vec<Twist<f64>>,
    /// Articulated inertia outboard of each group before the group is condensed, at the index of
    /// the group's first degree of freedom.
    left: Vec<ArticulatedInertia<f64>>,
    /// `U`, `U/D` and `1/D`; for modes `U` and `M⁻¹ U`.
    U: Vec<Wrench<f64>>,
    K: Vec<Wrench<f64>>,
    per_D: Vec<f64>,
    /// `k`; for driven joints the prescribed `q̈`.
    k: Vec<f64>,
    /// Factors of the modal mass of each flexible body, with the inertia attached to its stations.
    M: Vec<Vec<f64>>,
    /// Columns of the stations about the tree's point.
    T: Vec<Twist<f64>>,
    /// For each mode: `(2 B)ᵀ` times its column, of its body alone.
    force_coriolis: Vec<Vec3<f64>>,
    qdd: Vec<f64>,
    /// True for each body with a driven joint.
    driven: Vec<bool>,
    /// Drive force on each rate of a driven joint, N·m or N.
    drive: Vec<f64>,
    /// `φ` of the joints' rates, (3); that of their coordinates, (2), is in `moving`.
    phi_v: Vec<Twist<f64>>,
    /// Derivative of the power of active loads with respect to each coordinate and rate, by degree
    /// of freedom.
    power_q: Vec<f64>,
    power_v: Vec<f64>,
    /// Workspace for the columns of one tree: biases (backward pass) or accelerations (forward
    /// pass) of all columns, in the slots of the layout.
    carry: Vec<Six>,
    /// Right-hand sides, then derivatives of `q̈`, row by row.
    rows: Vec<Lane>,
    /// `ψ_w` of all columns inboard of the current body, the others zero.
    psi: Vec<Three>,
    /// `ξ_w` of these columns.
    turn: Vec<Three>,
    /// Derivatives of the drives' power.
    drive_power: Vec<Lane>,
    /// State index of each column; `None` without one.
    targets: Vec<[Option<usize>; LANES]>,
    /// True for bodies whose inboard columns are marked in `psi` and `turn`.
    set: Vec<bool>,
}

/// Quantities of a body or a station, about the tree's point, with sums over its outboard part.
#[derive(Clone, Copy, Debug)]
struct BodyState {
    /// Position of its origin from the tree's point, m.
    r: Vec3<f64>,
    /// Spatial velocity.
    v: Twist<f64>,
    /// Acceleration beyond that at `q̈ = 0`.
    A: Twist<f64>,
    /// Total spatial acceleration.
    a: Twist<f64>,
    /// Inertia of the body alone.
    I: ArticulatedInertia<f64>,
    /// Articulated inertia and its bias.
    I_A: ArticulatedInertia<f64>,
    p_A: Wrench<f64>,
    /// Bias of the body alone: the wrench at `q̈ = 0`, less the load.
    b: Wrench<f64>,
    /// Sums over the body and its outboard part.
    sum: Sum,
}

impl BodyState {
    fn new() -> Self {
        Self {
            r: Vec3::zeros(),
            v: Twist::zero(),
            A: Twist::zero(),
            a: Twist::zero(),
            I: ArticulatedInertia::zero(),
            I_A: ArticulatedInertia::zero(),
            p_A: Wrench::zero(),
            b: Wrench::zero(),
            sum: Sum::zero(),
        }
    }
}

impl Derivatives {
    /// Allocates for `system`; `joints` is true if loads depend on joint states, `bodies` if they
    /// depend on the attitudes of bodies.
    pub fn new(system: &System, joints: bool, bodies: bool) -> Self {
        let layout = Layout::new(system, bodies);
        let blocks = layout.trees.iter().map(|tree| tree.blocks).max().unwrap_or(0);
        let (n, nv) = (system.bodies.len(), system.nv);
        Self {
            bodies,
            local: Local::new(system, joints, bodies),
            at: vec![BodyState::new(); n],
            at_station: vec![BodyState::new(); system.stations.len()],
            turned: vec![Turned::zero(); n],
            turned_station: vec![Turned::zero(); system.stations.len()],
            A: vec![Twist::zero(); n],
            v_O: vec![Vec3::zeros(); n],
            moving: vec![Moving::default(); nv],
            carried: vec![Twist::zero(); nv],
            left: vec![ArticulatedInertia::zero(); nv],
            U: vec![Wrench::zero(); nv],
            K: vec![Wrench::zero(); nv],
            per_D: vec![0.0; nv],
            k: vec![0.0; nv],
            M: system.flexible().map(|modes| vec![0.0; modes.n * modes.n]).collect(),
            T: vec![Twist::zero(); system.columns()],
            force_coriolis: vec![Vec3::zeros(); nv],
            qdd: vec![0.0; nv],
            driven: vec![false; n],
            drive: vec![0.0; nv],
            phi_v: vec![Twist::zero(); nv],
            power_q: vec![0.0; nv],
            power_v: vec![0.0; nv],
            carry: vec![[[0.0; LANES]; 6]; layout.slots * blocks],
            rows: vec![[0.0; LANES]; nv * blocks],
            psi: vec![[[0.0; LANES]; 3]; blocks],
            turn: vec![[[0.0; LANES]; 3]; blocks],
            drive_power: vec![[0.0; LANES]; blocks],
            targets: vec![[None; LANES]; blocks],
            set: vec![false; n],
            layout,
        }
    }

    /// Computes the accelerations under the loads `applied`: the point of linearisation.
    ///
    /// # Errors
    /// [`Singular`] if a joint has zero inertia along a rate, or a mode has zero inertia.
    pub fn accelerate(&mut self, at: Configuration<f64>, applied: &Applied<f64>, qd: &[f64]) -> Result<(), Singular> {
        self.driven.copy_from_slice(&applied.driven);
        for t in 0..self.layout.trees.len() {
            let bodies = self.layout.trees[t].bodies.clone();
            let v_O = at.kinematics.bodies[bodies.start].V_WB.v;
            for i in bodies.clone() {
                self.v_O[i] = v_O;
                self.body_state(at, applied, i, qd);
            }
            for i in bodies.clone().rev() {
                self.backward_pass(at, applied, i)?;
            }
            for i in bodies {
                self.forward_pass(at.system, at.kinematics, i, qd);
            }
        }
        Ok(())
    }

    /// Returns the number of passes for the local derivatives. In each, the caller calls
    /// [`seed`](Self::seed), evaluates the loads in [`local`](Self::local) and calls
    /// [`take`](Self::take).
    pub fn passes(&self) -> usize {
        self.local.passes()
    }

    /// Seeds the directions of a pass in [`local`](Self::local); requires
    /// [`accelerate`](Self::accelerate).
    pub fn seed(&mut self, pass: usize, at: Configuration<f64>, joints: JointState<f64>) {
        self.local.seed(pass, at, &self.A, &self.v_O, joints);
    }

    /// Returns the local derivatives, with the arguments and results of the loads' evaluation.
    pub fn local(&mut self) -> &mut Local {
        &mut self.local
    }

    /// Stores the derivatives of the power of the active loads; [`Local::applied`] must hold the
    /// active loads only.
    pub fn take_power(&mut self, pass: usize, system: &System, kinematics: &Kinematics<f64>, qd: &[f64]) {
        self.local.take_power(pass, system, kinematics, qd);
    }

    /// Stores the derivatives of all loads, which [`Local::applied`] must hold.
    pub fn take(&mut self, pass: usize, mechanism: Mechanism) {
        let (local, at) = (&mut self.local, &self.at);
        local.take(pass, mechanism, |i| at[i].r, &self.qdd);
    }
}
