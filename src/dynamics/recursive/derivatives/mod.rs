//! The exact derivatives of the accelerations, by the tree.
//!
//! Sources: J. Carpentier and N. Mansard, Analytical derivatives of rigid body dynamics algorithms (RSS 2018); S. Singh, R. Russell
//! and P. Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra (RA-L 2022,
//! doi:10.1109/LRA.2022.3141194). Here they are derived for loads, modes and joints with several rates too, and not by the mass
//! matrix's inverse but by the articulated-body recursion itself.
//!
//! **One point.** All motions, loads and inertias of a tree stand about one point, which is where the root's origin is and moves on
//! uniformly: sums along the tree need no shifts, and accelerations are spatial ones (rates of velocities at a fixed point).
//!
//! **What moves outboard.** A coordinate that moves all outboard of it by the motion `ξ` changes their velocities and
//! accelerations, and the columns of all joints outboard, by
//!
//! ```text
//!     δv = ξ × v + ψ,     δa = ξ × a + φ − v × ψ,     δS = ξ × S                                       (1)
//!     ψ = v_λ × S,        φ = a_λ × S + v_λ × ψ       (a coordinate with the column ξ = S)             (2)
//!     ψ = S,              φ = (v_λ + v) × S           (its rate, with ξ = 0)                           (3)
//! ```
//!
//! where λ is what carries the joint and `v` is outboard of it. `ψ` and `φ` are the first and second rate of `ξ` as a moving field.
//! So the wrenches that the bodies ask for, `f = I a + v ×* I v − F`, change by
//!
//! ```text
//!     δf = ξ ×* f + I φ + 2 B ψ − G ξ,    2 B ψ = ∫ (x; 1) × 2 ψ_w × ẋ dm                              (4)
//! ```
//!
//! with the loads' own change `G` for a turn, beyond being carried along. `B` has three columns only: it is Coriolis's force. Inertias,
//! `B`, `G` and `f` are summed over all that is outboard.
//!
//! **The recursion.** With all accelerations free, rows of joints must keep their torques: seen from a joint, power of `S` on the
//! sum of `f` outboard. Where joint and coordinate stand in this order, `δS·f + S·(ξ ×* f) = 0`. So (4) enters the recursion of
//! [`ForwardDynamics`](super::ForwardDynamics) as a bias, once for each coordinate: `I φ + 2 B ψ − G ξ` at the joint's own group
//! and `ξ ×* f` inboard of it; in the rows outboard only `S·(2 B ψ − G ξ)` remain, three products each; and `φ` is added to the
//! acceleration on the way out. All columns go through the recursion side by side: O(n) each.
//!
//! **Flexible bodies.** A mode moves each station of its body by its own `(ξ, ψ, φ)`, and changes what the body itself asks for;
//! both are [local](Local).

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
use crate::system::{Derived, Kinematics, System};
use layout::Layout;
use motion::Moving;
use rows::{LANES, Lane, Six, Three};
use sum::{Sum, Turned};

/// The derivatives of coordinates' and rates' derivatives, and of the power of active loads, with respect to the state.
///
/// Room is taken once; evaluating takes none.
#[derive(Clone, Debug)]
pub struct Derivatives {
    layout: Layout,
    /// Whether loads read attitudes.
    bodies: bool,
    /// What belongs to one body or joint alone.
    local: Local,
    /// One for each body.
    at: Vec<Place>,
    /// One for each station.
    at_station: Vec<Place>,
    /// Of the loads on and outboard of each body and station.
    turned: Vec<Turned>,
    turned_station: Vec<Turned>,
    /// Of each body: its ordinary acceleration, and the velocity of its tree's point.
    A: Vec<Twist<f64>>,
    v_O: Vec<Vec3<f64>>,
    /// One for each degree of freedom of a joint.
    moving: Vec<Moving>,
    /// Velocity of what carries its group, before it.
    carried: Vec<Twist<f64>>,
    /// What is left outboard of its group.
    left: Vec<ArticulatedInertia<f64>>,
    /// `U`, `U/D` and `1/D`; of modes `U` and `M⁻¹ U`.
    U: Vec<Wrench<f64>>,
    K: Vec<Wrench<f64>>,
    per_D: Vec<f64>,
    /// `k`; of driven joints what is left of the torque.
    k: Vec<f64>,
    /// Factors of the modal mass of each flexible body with what hangs on it.
    M: Vec<Vec<f64>>,
    /// Columns of the stations, about the tree's point.
    T: Vec<Twist<f64>>,
    /// Of each mode: `(2 B)ᵀ` of its body alone.
    force_coriolis: Vec<Vec3<f64>>,
    qdd: Vec<f64>,
    /// Of each body, whether its joint is driven; what drives give.
    driven: Vec<bool>,
    drive: Vec<f64>,
    /// `φ` of the joints' rates; that of their coordinates is in `moving`.
    phi_v: Vec<Twist<f64>>,
    /// Change of the power of the active loads with each coordinate and rate, by degree of freedom.
    power_q: Vec<f64>,
    power_v: Vec<f64>,
    /// Room for one tree's columns: what is carried inwards and outwards in each slot, right-hand sides and then solutions
    /// row by row, `ψ_w` and `ξ_w` of the columns inboard of where the recursion stands, changes of the drives' power.
    carry: Vec<Six>,
    rows: Vec<Lane>,
    psi: Vec<Three>,
    turn: Vec<Three>,
    drive_power: Vec<Lane>,
    /// To which state each column belongs.
    targets: Vec<[Option<usize>; LANES]>,
    set: Vec<bool>,
}

/// A body or a station, with what is outboard of it.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// From the tree's point, m.
    r: Vec3<f64>,
    v: Twist<f64>,
    /// Acceleration beyond `A_bias`, and altogether.
    A: Twist<f64>,
    a: Twist<f64>,
    I: ArticulatedInertia<f64>,
    /// Articulated, with its bias.
    I_A: ArticulatedInertia<f64>,
    p_A: Wrench<f64>,
    /// The bias of the body itself.
    b: Wrench<f64>,
    sum: Sum,
}

impl Place {
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
    /// Room for a system, with loads that read the state of `joints` and the attitudes of `bodies`.
    pub fn new(system: &System, joints: bool, bodies: bool) -> Self {
        let layout = Layout::new(system, bodies);
        let blocks = layout.trees.iter().map(|tree| tree.blocks).max().unwrap_or(0);
        let (n, nv) = (system.bodies.len(), system.nv);
        Self {
            bodies,
            local: Local::new(system, joints, bodies),
            at: vec![Place::new(); n],
            at_station: vec![Place::new(); system.stations.len()],
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

    /// The accelerations where derivatives are wanted, for all loads `applied`.
    ///
    /// # Errors
    /// [`Singular`] if a joint moves no inertia.
    pub fn accelerate(
        &mut self,
        (system, derived): (&System, &Derived),
        kinematics: &Kinematics<f64>,
        applied: &Applied<f64>,
        qd: &[f64],
    ) -> Result<(), Singular> {
        self.driven.copy_from_slice(&applied.driven);
        for t in 0..self.layout.trees.len() {
            let bodies = self.layout.trees[t].bodies.clone();
            let v_O = kinematics.bodies[bodies.start].V_WB.v;
            for i in bodies.clone() {
                self.v_O[i] = v_O;
                self.place((system, derived), kinematics, applied, i, qd);
            }
            for i in bodies.clone().rev() {
                self.inwards((system, derived), kinematics, applied, i)?;
            }
            for i in bodies {
                self.outwards(system, kinematics, i, qd);
            }
        }
        Ok(())
    }

    /// What belongs to one body or joint alone: how many passes [`seed`](Self::seed), loads and [`take`](Self::take) it needs.
    pub fn passes(&self) -> usize {
        self.local.passes()
    }

    /// Makes the directions of a pass the independent variables of what [`local`](Self::local) holds; after
    /// [`accelerate`](Self::accelerate).
    pub fn seed(
        &mut self,
        pass: usize,
        of: (&System, &Derived),
        kinematics: &Kinematics<f64>,
        state: (&[f64], &[f64]),
    ) {
        self.local.seed(pass, of, (kinematics, &self.A), &self.v_O, state);
    }

    /// What the loads are to be evaluated at, and what they are.
    pub fn local(&mut self) -> &mut Local {
        &mut self.local
    }

    /// Takes how the power of the active loads changes, which alone are in [`Local::applied`].
    pub fn take_power(&mut self, pass: usize, system: &System, kinematics: &Kinematics<f64>, qd: &[f64]) {
        self.local.take_power(pass, system, kinematics, qd);
    }

    /// Takes how all loads change, which are in [`Local::applied`].
    pub fn take(&mut self, pass: usize, of: (&System, &Derived)) {
        let (local, at) = (&mut self.local, &self.at);
        local.take(pass, of, |i| at[i].r, &self.qdd);
    }
}
