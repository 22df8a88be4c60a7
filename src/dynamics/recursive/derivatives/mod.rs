//! Analytical derivatives of the forward dynamics, by recursion over the tree.
//!
//! Sources: J. Carpentier and N. Mansard, Analytical derivatives of rigid body dynamics algorithms
//! (RSS 2018); S. Singh, R. Russell and P. Wensing, Efficient analytical derivatives of rigid-body
//! dynamics using spatial vector algebra (RA-L 2022, doi:10.1109/LRA.2022.3141194). This module
//! extends them to loads, modes and joints with several rates, and replaces the inverse of the mass
//! matrix by the articulated-body recursion.
//!
//! **Reference point.** All motions, loads and inertias of a tree refer to one point that coincides
//! with the root's origin and moves uniformly: sums along the tree need no shifts, and
//! accelerations are spatial ones (rates of velocities at a fixed point).
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
//! where λ is the carrier of the joint and `v` the velocity outboard of it. `ψ` and `φ` are the
//! first and second time derivative of the moving field `ξ`. The bodies' inverse dynamics
//! `f = I a + v ×* I v − F` changes by
//!
//! ```text
//!     δf = ξ ×* f + I φ + 2 B ψ − G ξ,    2 B ψ = ∫ (x; 1) × 2 ψ_w × ẋ dm                    (4)
//! ```
//!
//! where `G` is the derivative of the load with respect to a rotation in excess of rotating with
//! the body. `B` has three columns only (the Coriolis force). Inertias, `B`, `G` and `f` are summed
//! over the outboard part.
//!
//! **Recursion.** The joint torques are given, so that the derivative of `S·Σf` (over the outboard
//! bodies) vanishes for each joint. If the coordinate is inboard of the joint,
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

/// Derivatives of the time derivatives of coordinates and rates, and of the power of active loads,
/// with respect to the state.
///
/// All memory is allocated at construction.
#[derive(Clone, Debug)]
pub struct Derivatives {
    layout: Layout,
    /// True if loads read attitudes.
    bodies: bool,
    /// Local derivatives of bodies and joints.
    local: Local,
    /// Quantities of each body.
    at: Vec<BodyState>,
    /// Quantities of each station.
    at_station: Vec<BodyState>,
    /// Sums of the loads on and outboard of each body and station.
    turned: Vec<Turned>,
    turned_station: Vec<Turned>,
    /// For each body: its ordinary acceleration, and the velocity of its tree's point.
    A: Vec<Twist<f64>>,
    v_O: Vec<Vec3<f64>>,
    /// Outboard motion of each joint's degree of freedom.
    moving: Vec<Moving>,
    /// Velocity of the carrier of each group.
    carried: Vec<Twist<f64>>,
    /// Remaining articulated inertia outboard of each group.
    left: Vec<ArticulatedInertia<f64>>,
    /// `U`, `U/D` and `1/D`; for modes `U` and `M⁻¹ U`.
    U: Vec<Wrench<f64>>,
    K: Vec<Wrench<f64>>,
    per_D: Vec<f64>,
    /// `k`; for driven joints the remaining torque.
    k: Vec<f64>,
    /// Factors of the modal mass of each flexible body, with the inertia attached to its stations.
    M: Vec<Vec<f64>>,
    /// Columns of the stations about the tree's point.
    T: Vec<Twist<f64>>,
    /// For each mode: `(2 B)ᵀ` of its body alone.
    force_coriolis: Vec<Vec3<f64>>,
    qdd: Vec<f64>,
    /// True for each body with a driven joint; the drive forces.
    driven: Vec<bool>,
    drive: Vec<f64>,
    /// `φ` of the joints' rates; that of their coordinates is in `moving`.
    phi_v: Vec<Twist<f64>>,
    /// Derivative of the power of active loads with respect to each coordinate and rate, by degree
    /// of freedom.
    power_q: Vec<f64>,
    power_v: Vec<f64>,
    /// Workspace for the columns of one tree: the slots of both passes; right-hand sides, then
    /// solutions, row by row; `ψ_w` and `ξ_w` of the columns inboard of the current body;
    /// derivatives of the drives' power.
    carry: Vec<Six>,
    rows: Vec<Lane>,
    psi: Vec<Three>,
    turn: Vec<Three>,
    drive_power: Vec<Lane>,
    /// State index of each column.
    targets: Vec<[Option<usize>; LANES]>,
    set: Vec<bool>,
}

/// A body or a station, with sums over its outboard part.
#[derive(Clone, Copy, Debug)]
struct BodyState {
    /// Position from the tree's point, m.
    r: Vec3<f64>,
    v: Twist<f64>,
    /// Acceleration beyond `A_bias`, and total acceleration.
    A: Twist<f64>,
    a: Twist<f64>,
    I: ArticulatedInertia<f64>,
    /// Articulated inertia and its bias.
    I_A: ArticulatedInertia<f64>,
    p_A: Wrench<f64>,
    /// Bias of the body alone.
    b: Wrench<f64>,
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
    /// Allocates for `system`; `joints` and `bodies` are true if loads read joint states and
    /// attitudes.
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

    /// Computes the accelerations under the loads `applied`, at which the derivatives are taken.
    ///
    /// # Errors
    /// [`Singular`] if a joint has zero inertia along a rate.
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

    /// Returns the number of passes of the local derivatives: [`seed`](Self::seed), loads,
    /// [`take`](Self::take).
    pub fn passes(&self) -> usize {
        self.local.passes()
    }

    /// Seeds the directions of a pass in [`local`](Self::local); requires
    /// [`accelerate`](Self::accelerate).
    pub fn seed(&mut self, pass: usize, at: Configuration<f64>, joints: JointState<f64>) {
        self.local.seed(pass, at, &self.A, &self.v_O, joints);
    }

    /// Returns the arguments and the results of the loads' evaluation.
    pub fn local(&mut self) -> &mut Local {
        &mut self.local
    }

    /// Stores the derivatives of the power of the active loads; [`Local::applied`] must hold only
    /// these.
    pub fn take_power(&mut self, pass: usize, system: &System, kinematics: &Kinematics<f64>, qd: &[f64]) {
        self.local.take_power(pass, system, kinematics, qd);
    }

    /// Stores the derivatives of all loads in [`Local::applied`].
    pub fn take(&mut self, pass: usize, mechanism: Mechanism) {
        let (local, at) = (&mut self.local, &self.at);
        local.take(pass, mechanism, |i| at[i].r, &self.qdd);
    }
}
