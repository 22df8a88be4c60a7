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

mod columns;
mod layout;
mod local;
mod motion;
mod rows;

pub use local::Local;

use super::SingularHinge;
use super::flexible_body;
use super::forward::deduct;
use crate::algebra::{ArticulatedInertia, Mat3, Sym3, Twist, Vec3, Wrench, cross_matrix, spd};
use crate::dynamics::Applied;
use crate::system::{Derived, Kinematics, System};
use layout::Layout;
use motion::{Moving, spatial};
use rows::{LANES, Lane, Six, Three};

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
    /// `k`; of prescribed joints what is left of the torque.
    k: Vec<f64>,
    /// Factors of the modal mass of each flexible body with what hangs on it.
    M: Vec<Vec<f64>>,
    /// Columns of the stations, about the tree's point.
    T: Vec<Twist<f64>>,
    /// Of each mode: `(2 B)ᵀ` of its body alone.
    force_coriolis: Vec<Vec3<f64>>,
    qdd: Vec<f64>,
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

/// What is summed over all that is outboard.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// `f`.
    f: Wrench<f64>,
    /// The torques of `2 B`.
    C: Mat3<f64>,
    /// Momentum, which makes the forces of `2 B`.
    momentum: Vec3<f64>,
}

/// What is summed of the loads, where they read attitudes.
#[derive(Clone, Copy, Debug)]
struct Turned {
    /// `G`.
    G: [Wrench<f64>; 3],
    /// The active loads.
    active: Wrench<f64>,
    /// How their power changes for a turn, beyond what the changed motion does.
    power: Vec3<f64>,
}

impl Sum {
    fn zero() -> Self {
        Self {
            f: Wrench::zero(),
            C: Mat3::zeros(),
            momentum: Vec3::zeros(),
        }
    }

    #[inline(always)]
    fn add(&mut self, other: &Self) {
        self.f = self.f + other.f;
        self.C += other.C;
        self.momentum += other.momentum;
    }

    /// `2 B ψ`.
    #[inline(always)]
    fn coriolis(&self, psi: &Vec3<f64>) -> Wrench<f64> {
        Wrench::new(self.C * psi, psi.cross(&self.momentum) * 2.0)
    }

    /// `(2 B)ᵀ S`.
    #[inline(always)]
    fn coriolis_on(&self, S: &Twist<f64>) -> Vec3<f64> {
        self.C.tr_mul(&S.w) + self.momentum.cross(&S.v) * 2.0
    }
}

impl Turned {
    fn zero() -> Self {
        Self {
            G: [Wrench::zero(); 3],
            active: Wrench::zero(),
            power: Vec3::zeros(),
        }
    }

    fn add(&mut self, other: &Self) {
        for (G, other) in self.G.iter_mut().zip(&other.G) {
            *G = *G + *other;
        }
        self.active = self.active + other.active;
        self.power += other.power;
    }

    /// `G ξ`.
    fn times(&self, xi: &Vec3<f64>) -> Wrench<f64> {
        self.G[0] * xi.x + self.G[1] * xi.y + self.G[2] * xi.z
    }

    /// `Gᵀ S`.
    fn on(&self, S: &Twist<f64>) -> Vec3<f64> {
        Vec3::from_fn(|k, _| self.G[k].power(S))
    }
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
    /// [`SingularHinge`] if a joint moves no inertia.
    pub fn accelerate(
        &mut self,
        (system, derived): (&System, &Derived),
        kinematics: &Kinematics<f64>,
        applied: &Applied<f64>,
        qd: &[f64],
    ) -> Result<(), SingularHinge> {
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

    /// Where a body is, how it moves, and what it asks for at `q̈ = 0`; columns of its joint and of its stations.
    fn place(
        &mut self,
        (system, derived): (&System, &Derived),
        kinematics: &Kinematics<f64>,
        applied: &Applied<f64>,
        i: usize,
        qd: &[f64],
    ) {
        let (body, at, constants) = (&system.bodies[i], &kinematics.bodies[i], &derived.bodies[i]);
        let v_O = self.v_O[i];
        let relative = |V: &Twist<f64>| Twist::new(V.w, V.v - v_O);
        let carrier = body.carrier().of(&self.at, &self.at_station);
        let (r, mut v) = match carrier {
            Some(P) => (P.r + at.r_PB_W, P.v),
            None => (Vec3::zeros(), Twist::new(Vec3::zeros(), -v_O)),
        };
        for g in self.layout.of_body[i].clone() {
            let group = self.layout.groups[g].clone();
            let before = v;
            for d in group.clone() {
                let rate = self.layout.rate[d];
                let S = kinematics.H[rate].shift(&-r);
                let psi = before.cross(&S);
                self.carried[d] = before;
                self.moving[d] = Moving { xi: S, psi, phi: psi };
                v = v + S * qd[rate];
            }
            // (3)
            for d in group {
                self.phi_v[d] = self.moving[d].psi + v.cross(&self.moving[d].xi);
            }
        }
        let place = &mut self.at[i];
        let V = relative(&at.V_WB);
        let (velocity, a_bias) = spatial(&V, &at.A_bias, &r);
        place.r = r;
        place.v = velocity;
        place.a = a_bias;
        let (w, v) = (&velocity.w, &velocity.v);
        place.sum = Sum::zero();
        let F = applied.wrench[i].shift(&r);
        match &body.modes {
            None => {
                let m = constants.m;
                let h_B = at.R_WB * constants.h;
                let h = h_B + r * m;
                let J = constants.J_Bo.express(&at.R_WB) + about(&r, &(h_B + r * (0.5 * m)));
                let I = ArticulatedInertia::rigid(m, &h, &J);
                let momentum = I.times(&velocity);
                // (4) of a rigid body, by Z = ∫ ẋ xᵀ dm = v hᵀ + [ω] ∫ x xᵀ dm.
                let mut second = -J.full();
                let half_trace = 0.5 * (J.d[0] + J.d[1] + J.d[2]);
                second.fill_diagonal(half_trace);
                for k in 0..3 {
                    second[(k, k)] -= J.d[k];
                }
                let Z = v * h.transpose() + cross_matrix(w) * second;
                let mut C = Z * -2.0;
                let trace = 2.0 * Z.trace();
                for k in 0..3 {
                    C[(k, k)] += trace;
                }
                place.sum.C = C;
                place.sum.momentum = momentum.f;
                place.b = I.times(&a_bias) + velocity.cross_wrench(&momentum) - F;
                place.I = I;
            }
            Some(modes) => {
                let bent = &kinematics.deflections[modes.index];
                let (I, b) = flexible_body(constants, bent, &at.A_bias);
                place.I = I.shift(&r);
                place.b = b.shift(&r) - F;
                place.sum.momentum = V.v * constants.m + w.cross(&bent.h) + bent.h_dot;
                for s in modes.stations.clone() {
                    let at = &kinematics.stations[s];
                    let place = &mut self.at_station[s];
                    place.r = r + at.r_PB_W;
                    (place.v, place.a) = spatial(&relative(&at.V_WB), &at.A_bias, &place.r);
                    place.sum = Sum::zero();
                    let first = system.stations[s].first;
                    for k in first..first + modes.n {
                        self.T[k] = kinematics.T[k].shift(&-place.r);
                    }
                    (place.I_A, place.p_A) = (ArticulatedInertia::zero(), Wrench::zero());
                }
            }
        }
        (place.I_A, place.p_A) = (place.I, place.b);
    }

    /// Takes a body's modes and joint out, as [`ForwardDynamics`](super::ForwardDynamics) does.
    fn inwards(
        &mut self,
        (system, derived): (&System, &Derived),
        kinematics: &Kinematics<f64>,
        applied: &Applied<f64>,
        i: usize,
    ) -> Result<(), SingularHinge> {
        let body = &system.bodies[i];
        let (mut I, mut p) = (self.at[i].I_A, self.at[i].p_A);
        let singular = |axis| SingularHinge { body: i, axis };
        if let Some(modes) = &body.modes {
            let bent = &kinematics.deflections[modes.index];
            let (n, first) = (modes.n, modes.v);
            let M = &mut self.M[modes.index];
            M.copy_from_slice(&bent.M);
            for k in 0..n {
                let L = &bent.L[k];
                self.U[first + k] = L.shift(&self.at[i].r);
                let bias = L.power(&kinematics.bodies[i].A_bias) + bent.modal_bias[k];
                self.k[first + k] = applied.tau[first + k] - bias;
            }
            for s in modes
                .stations
                .clone()
                .filter(|&s| self.layout.station_slot[s].is_some())
            {
                let (I_s, p_s) = (&self.at_station[s].I_A, &self.at_station[s].p_A);
                let T = &self.T[system.stations[s].first..][..n];
                for k in 0..n {
                    let U = I_s.times(&T[k]);
                    for l in 0..=k {
                        M[k * n + l] += U.power(&T[l]);
                    }
                    self.U[first + k] = self.U[first + k] + U;
                    self.k[first + k] -= p_s.power(&T[k]);
                }
                (I, p) = (I + *I_s, p + *p_s);
            }
            spd::factor(M, n).map_err(|mode| singular(body.joint.nv + mode))?;
            let K = &mut self.K[modes.rates()];
            K.copy_from_slice(&self.U[modes.rates()]);
            for axis in 0..3 {
                spd::solve(M, K, |row| &mut row.t[axis]);
                spd::solve(M, K, |row| &mut row.f[axis]);
            }
            let k = &mut self.k[modes.rates()];
            spd::solve(M, k, |x| x);
            deduct(&mut I, &mut p, &self.U[modes.rates()], K, k);
        }
        let joint = &body.joint;
        for g in self.layout.of_body[i].clone().rev() {
            let group = self.layout.groups[g].clone();
            self.left[group.start] = I;
            for d in group.rev() {
                let (rate, S) = (self.layout.rate[d], self.moving[d].xi);
                let U = I.times(&S);
                let D = U.power(&S) + derived.rotor_inertia[rate];
                self.U[d] = U;
                let left = applied.tau[rate] - p.power(&S);
                if joint.prescribed {
                    // K = 0 and k = q̈.
                    (self.per_D[d], self.K[d]) = (0.0, Wrench::zero());
                    let qdd = applied.qdd[rate];
                    self.drive[rate] = D * qdd - left;
                    self.k[d] = qdd;
                    p = p + U * qdd;
                } else if D > 0.0 {
                    self.per_D[d] = 1.0 / D;
                    self.K[d] = U * self.per_D[d];
                    self.k[d] = left * self.per_D[d];
                    deduct(&mut I, &mut p, &[U], &[self.K[d]], &[self.k[d]]);
                } else {
                    return Err(singular(rate - joint.v));
                }
            }
        }
        let carrier = match (body.station, body.parent) {
            (Some(s), _) => &mut self.at_station[s],
            (None, Some(P)) => &mut self.at[P],
            (None, None) => return Ok(()),
        };
        carrier.I_A = carrier.I_A + I;
        carrier.p_A = carrier.p_A + p;
        Ok(())
    }

    /// Accelerates a body and all that it carries, and gives the columns their `φ`.
    fn outwards(&mut self, system: &System, kinematics: &Kinematics<f64>, i: usize, qd: &[f64]) {
        let body = &system.bodies[i];
        let (mut A, mut a) = match body.carrier().of(&self.at, &self.at_station) {
            Some(P) => (P.A, P.a),
            None => (Twist::zero(), Twist::zero()),
        };
        for g in self.layout.of_body[i].clone() {
            let group = self.layout.groups[g].clone();
            let before = a;
            for d in group {
                let (rate, Moving { xi: S, psi, .. }) = (self.layout.rate[d], self.moving[d]);
                if body.joint.prescribed {
                    self.drive[rate] += self.U[d].power(&A);
                }
                let qdd = self.k[d] - self.K[d].power(&A);
                self.qdd[rate] = qdd;
                A = A + S * qdd;
                a = a + S * qdd + psi * qd[rate];
                // (2)
                self.moving[d].phi = before.cross(&S) + self.carried[d].cross(&psi);
            }
        }
        let place = &mut self.at[i];
        place.A = A;
        place.a = place.a + A;
        place.sum.f = place.I.times(&A) + place.b;
        let at = &kinematics.bodies[i];
        self.A[i] = at.A_bias + A.shift(&place.r);
        if let Some(modes) = &body.modes {
            for v in modes.rates() {
                let qdd = self.k[v] - self.K[v].power(&A);
                self.qdd[v] = qdd;
                let L = kinematics.deflections[modes.index].L[v - modes.v].shift(&place.r);
                place.sum.f = place.sum.f + L * qdd;
            }
            for s in modes.stations.clone() {
                let T = self.T[system.stations[s].first..].iter().zip(&self.qdd[modes.rates()]);
                let station = &mut self.at_station[s];
                station.A = T.fold(A, |A, (T, &rate)| A + *T * rate);
                station.a = station.a + station.A;
            }
        }
    }
}

/// `2 (r·c) 1 − r cᵀ − c rᵀ`: with `c = h + ½ m r`, what an inertia about a body's origin grows by about the point `r` inboard.
fn about(r: &Vec3<f64>, c: &Vec3<f64>) -> Sym3<f64> {
    let twice = 2.0 * r.dot(c);
    Sym3 {
        d: [
            twice - 2.0 * r.x * c.x,
            twice - 2.0 * r.y * c.y,
            twice - 2.0 * r.z * c.z,
        ],
        o: [-r.x * c.y - r.y * c.x, -r.x * c.z - r.z * c.x, -r.y * c.z - r.z * c.y],
    }
}
