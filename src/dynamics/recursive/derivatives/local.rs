//! Derivatives with respect to variables of one body or joint, by dual numbers, for all bodies and
//! joints at once.

use super::motion::{Moving, spatial};
use crate::algebra::{Dual, Mat3, Quaternion, Twist, Vec3, Wrench, cross_matrix, lift3, lift33};
use crate::dynamics::Applied;
use crate::dynamics::body::flexible_body;
use crate::spec::JointType;
use crate::system::{BodyKinematics, Configuration, JointState, Kinematics, Mechanism, Modes, System};

/// Number of directions in one pass.
const N: usize = Local::LANES;

/// A direction of differentiation. It is seeded in all bodies or joints at once, because the local
/// terms of one body do not depend on those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seed {
    /// Rotation about a world axis.
    Turn(usize),
    /// Angular velocity about a world axis, for flexible bodies.
    Spin(usize),
    /// Coordinate of a joint; of an attitude, a rotation about one of the body's axes.
    Coordinate(usize),
    /// Rate of a joint.
    Rate(usize),
    /// Amplitude of a mode.
    Amplitude(usize),
    /// Rate of an amplitude.
    AmplitudeRate(usize),
}

/// Derivatives of the loads and of the equations of flexible bodies with respect to local
/// variables: joint coordinates and rates, attitude, modes. Wrenches are about the bodies' own
/// origins unless stated otherwise, in world axes.
#[derive(Clone, Debug)]
pub struct Local {
    /// All directions.
    seeds: Vec<Seed>,
    /// Seeded kinematics, the argument of the loads.
    pub kinematics: Kinematics<Dual<N>>,
    /// Seeded coordinates.
    pub q: Vec<Dual<N>>,
    /// Seeded rates.
    pub qd: Vec<Dual<N>>,
    /// Loads: the result of the evaluation by the caller.
    pub applied: Applied<Dual<N>>,
    /// For each body: derivative of its load with respect to a rotation about each axis, less that
    /// of a load fixed to the body.
    pub(super) turned: Vec<[Wrench<f64>; 3]>,
    /// For each body: derivative of the power of active loads with respect to a rotation about each
    /// axis, less that of loads fixed to the body.
    pub(super) power_turned: Vec<Vec3<f64>>,
    /// For each rate: derivative of the force on a mode with respect to a rotation about each axis.
    pub(super) tau_turned: Vec<Vec3<f64>>,
    /// For each joint rate: derivatives of the force on it with respect to the coordinates of the
    /// joint.
    pub(super) tau_q: Vec<[f64; 3]>,
    /// For each joint rate: derivatives of the force on it with respect to the rates of the joint.
    pub(super) tau_v: Vec<[f64; 3]>,
    /// For the coordinate of each rate: derivative of the power of active loads, at constant
    /// velocities.
    pub(super) power_q: Vec<f64>,
    /// For each rate: derivative of the power of active loads due to the change of the loads.
    pub(super) power_v: Vec<f64>,
    /// For each mode: derivative of its body's bias wrench less the load with respect to the
    /// amplitude.
    pub(super) wrench_q: Vec<Wrench<f64>>,
    /// For each mode: derivative of the same wrench with respect to the amplitude's rate.
    pub(super) wrench_v: Vec<Wrench<f64>>,
    /// For each flexible body: derivatives of the modal inertial forces, at the current
    /// accelerations, less the loads on the modes, with respect to the amplitudes; row-major.
    pub(super) force_q: Vec<Vec<f64>>,
    /// For each flexible body: derivatives of the same forces with respect to the amplitudes'
    /// rates.
    pub(super) force_v: Vec<Vec<f64>>,
    /// For each flexible body: derivative of its bias wrench with respect to the angular velocity.
    pub(super) wrench_spin: Vec<[Wrench<f64>; 3]>,
    /// For each mode: derivative of its bias force with respect to the angular velocity.
    pub(super) force_spin: Vec<Vec3<f64>>,
    /// For each station and mode: derivative of the station's motion about the tree's point with
    /// respect to the amplitude.
    pub(super) moved_q: Vec<Moving>,
    /// For each station and mode: derivative of the same motion with respect to the amplitude's
    /// rate.
    pub(super) moved_v: Vec<Moving>,
    /// For each station: derivatives of the column of each mode, about the tree's point, with
    /// respect to the amplitudes of its body; row-major.
    pub(super) column_q: Vec<Vec<Twist<f64>>>,
}

impl Local {
    /// Number of directions in one pass.
    pub const LANES: usize = 4;

    pub(super) fn new(system: &System, joints: bool, bodies: bool) -> Self {
        let rates = system.bodies.iter().map(|body| body.joint.nv.min(3)).max().unwrap_or(0);
        let modes = system.flexible().map(|modes| modes.n).max().unwrap_or(0);
        let mut seeds = Vec::new();
        if joints {
            seeds.extend((0..rates).map(Seed::Coordinate));
            seeds.extend((0..rates).map(Seed::Rate));
        }
        if bodies {
            seeds.extend((0..3).map(Seed::Turn));
        }
        if modes > 0 {
            seeds.extend((0..3).map(Seed::Spin));
            seeds.extend((0..modes).map(Seed::Amplitude));
            seeds.extend((0..modes).map(Seed::AmplitudeRate));
        }
        let (n, nv, columns) = (system.bodies.len(), system.nv, system.columns());
        let square = || system.flexible().map(|modes| vec![0.0; modes.n * modes.n]).collect();
        let stations = system.stations.iter().map(|station| {
            let n = system.bodies[station.body].modes.as_ref().map_or(0, |modes| modes.n);
            vec![Twist::zero(); n * n]
        });
        Self {
            seeds,
            kinematics: Kinematics::new(system),
            q: vec![Dual::new(0.0, [0.0; N]); system.nq],
            qd: vec![Dual::new(0.0, [0.0; N]); nv],
            applied: Applied::none(system),
            turned: vec![[Wrench::zero(); 3]; n],
            power_turned: vec![Vec3::zeros(); n],
            tau_turned: vec![Vec3::zeros(); nv],
            tau_q: vec![[0.0; 3]; nv],
            tau_v: vec![[0.0; 3]; nv],
            power_q: vec![0.0; nv],
            power_v: vec![0.0; nv],
            wrench_q: vec![Wrench::zero(); nv],
            wrench_v: vec![Wrench::zero(); nv],
            force_q: square(),
            force_v: square(),
            wrench_spin: vec![[Wrench::zero(); 3]; system.flexible().count()],
            force_spin: vec![Vec3::zeros(); nv],
            moved_q: vec![Moving::default(); columns],
            moved_v: vec![Moving::default(); columns],
            column_q: stations.collect(),
        }
    }

    /// Returns the number of passes, each with one evaluation of the loads.
    pub fn passes(&self) -> usize {
        self.seeds.len().div_ceil(N)
    }

    /// Returns the directions of a pass, each with the index of its component in the dual numbers.
    fn seeds(&self, pass: usize) -> impl Iterator<Item = (usize, Seed)> + use<> {
        let mut seeds = [None; N];
        for (lane, seed) in seeds.iter_mut().zip(&self.seeds[pass * N..]) {
            *lane = Some(*seed);
        }
        seeds
            .into_iter()
            .enumerate()
            .filter_map(|(lane, seed)| Some((lane, seed?)))
    }

    /// Seeds the directions of a pass in kinematics, coordinates and rates. For each body, `A` is
    /// the ordinary acceleration of its origin, and `v_O` (m/s) the velocity of its tree's point.
    pub(super) fn seed(
        &mut self,
        pass: usize,
        at: Configuration<f64>,
        A: &[Twist<f64>],
        v_O: &[Vec3<f64>],
        joints: JointState<f64>,
    ) {
        self.lift(at.kinematics, A, v_O, joints);
        for (lane, seed) in self.seeds(pass) {
            self.seed_lane(lane, seed, at.system, at.kinematics, joints.q);
        }
        for (i, body) in at.system.bodies.iter().enumerate() {
            if let Some(modes) = &body.modes {
                let joints = JointState {
                    q: &self.q,
                    qd: &self.qd,
                };
                self.kinematics.bend(at.mechanism(), i, modes, joints);
            }
        }
    }

    /// Sets the values at the point of linearisation, with zero derivatives.
    fn lift(&mut self, kinematics: &Kinematics<f64>, A: &[Twist<f64>], v_O: &[Vec3<f64>], joints: JointState<f64>) {
        let lift = |to: &mut [Dual<N>], from: &[f64]| {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = Dual::new(from, [0.0; N]);
            }
        };
        lift(&mut self.q, joints.q);
        lift(&mut self.qd, joints.qd);
        for (i, (body, at)) in self.kinematics.bodies.iter_mut().zip(&kinematics.bodies).enumerate() {
            *body = BodyKinematics {
                R_WB: lift33(&at.R_WB),
                p_WB: Vec3::zeros(),
                r_PB_W: Vec3::zeros(),
                V_WB: Twist::new(lift3(&at.V_WB.w), lift3(&(at.V_WB.v - v_O[i]))),
                A_bias: Twist::new(lift3(&A[i].w), lift3(&A[i].v)),
            };
        }
    }

    /// Seeds one direction in all bodies or joints.
    fn seed_lane(&mut self, lane: usize, seed: Seed, system: &System, kinematics: &Kinematics<f64>, q: &[f64]) {
        let joints = || system.bodies.iter().map(|body| &body.joint);
        match seed {
            Seed::Turn(axis) => {
                for (body, at) in self.kinematics.bodies.iter_mut().zip(&kinematics.bodies) {
                    let change = cross_matrix(&unit(axis)) * at.R_WB;
                    for (entry, change) in body.R_WB.iter_mut().zip(change.iter()) {
                        entry.eps[lane] = *change;
                    }
                }
            }
            Seed::Spin(axis) => {
                for body in &mut self.kinematics.bodies {
                    body.V_WB.w[axis].eps[lane] = 1.0;
                }
            }
            Seed::Coordinate(k) => {
                for joint in joints().filter(|joint| k < joint.nv) {
                    match joint.kind {
                        JointType::Free => {}
                        JointType::Spherical => {
                            let turned = Quaternion::from_slice(&q[joint.q..]).rate(unit(k)).to_array();
                            for (part, change) in self.q[joint.q..].iter_mut().zip(turned) {
                                part.eps[lane] = change;
                            }
                        }
                        _ => self.q[joint.q + k].eps[lane] = 1.0,
                    }
                }
            }
            Seed::Rate(k) => {
                for joint in joints().filter(|joint| k < joint.nv) {
                    self.qd[joint.v + k].eps[lane] = 1.0;
                }
            }
            Seed::Amplitude(k) => {
                for modes in system.flexible().filter(|modes| k < modes.n) {
                    self.q[modes.q + k].eps[lane] = 1.0;
                }
            }
            Seed::AmplitudeRate(k) => {
                for modes in system.flexible().filter(|modes| k < modes.n) {
                    self.qd[modes.v + k].eps[lane] = 1.0;
                }
            }
        }
    }

    /// Stores the derivatives of the power from [`applied`](Self::applied), which holds the active
    /// loads only.
    pub(super) fn take_power(&mut self, pass: usize, system: &System, kinematics: &Kinematics<f64>, qd: &[f64]) {
        for (lane, seed) in self.seeds(pass) {
            for (i, body) in system.bodies.iter().enumerate() {
                let (joint, V) = (&body.joint, &kinematics.bodies[i].V_WB);
                let tau = |rates: std::ops::Range<usize>| -> f64 {
                    rates.map(|v| self.applied.tau[v].eps[lane] * qd[v]).sum()
                };
                let of_joint = |rates| {
                    if body.joint.kind == JointType::Free {
                        0.0
                    } else {
                        tau(rates)
                    }
                };
                let on_modes = body.modes.as_ref().map_or(0.0, |modes| tau(modes.rates()));
                let wrench = along(&self.applied.wrench[i], lane);
                match (seed, &body.modes) {
                    (Seed::Turn(axis), _) => {
                        let change = wrench - carried(&values(&self.applied.wrench[i]), axis);
                        self.power_turned[i][axis] = change.power(V) + on_modes;
                    }
                    (Seed::Coordinate(k), _) if k < joint.nv => {
                        self.power_q[joint.v + k] = of_joint(joint.v..joint.v + joint.nv);
                    }
                    (Seed::Rate(k), _) if k < joint.nv => {
                        self.power_v[joint.v + k] = of_joint(joint.v..joint.v + joint.nv);
                    }
                    (Seed::Amplitude(k), Some(modes)) if k < modes.n => {
                        self.power_q[modes.v + k] = wrench.power(V) + on_modes;
                    }
                    (Seed::AmplitudeRate(k), Some(modes)) if k < modes.n => {
                        self.power_v[modes.v + k] = wrench.power(V) + on_modes;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Stores all other derivatives from [`applied`](Self::applied), which holds all loads. `r` (m)
    /// returns the position of a body's origin from the tree's point.
    pub(super) fn take(&mut self, pass: usize, mechanism: Mechanism, r: impl Fn(usize) -> Vec3<f64>, qdd: &[f64]) {
        let system = mechanism.system;
        for (lane, seed) in self.seeds(pass) {
            for (i, body) in system.bodies.iter().enumerate() {
                let joint = &body.joint;
                match seed {
                    Seed::Turn(axis) => {
                        let F = &self.applied.wrench[i];
                        self.turned[i][axis] = along(F, lane) - carried(&values(F), axis);
                        for v in body.modes.iter().flat_map(Modes::rates) {
                            self.tau_turned[v][axis] = self.applied.tau[v].eps[lane];
                        }
                    }
                    Seed::Coordinate(k) if k < joint.nv && joint.kind != JointType::Free => {
                        for v in joint.v..joint.v + joint.nv {
                            self.tau_q[v][k] = self.applied.tau[v].eps[lane];
                        }
                    }
                    Seed::Rate(k) if k < joint.nv && joint.kind != JointType::Free => {
                        for v in joint.v..joint.v + joint.nv {
                            self.tau_v[v][k] = self.applied.tau[v].eps[lane];
                        }
                    }
                    _ => {}
                }
            }
        }
        for (i, body) in system.bodies.iter().enumerate() {
            if let Some(modes) = &body.modes {
                self.take_flexible(pass, mechanism, i, modes, &r(i), qdd);
            }
        }
    }

    fn take_flexible(
        &mut self,
        pass: usize,
        mechanism: Mechanism,
        i: usize,
        modes: &Modes,
        r: &Vec3<f64>,
        qdd: &[f64],
    ) {
        let Mechanism { system, derived } = mechanism;
        let eta_ddot = qdd[modes.rates()].iter().map(|&qdd| Dual::new(qdd, [0.0; N]));
        let bent = &self.kinematics.deflections[modes.index];
        let A = &self.kinematics.bodies[i].A_bias;
        let (n, b) = (modes.n, modes.index);
        // Inertial wrench of the body at the current accelerations, less the load.
        let bias_force = flexible_body(&derived.bodies[i], bent, A).1;
        let bias_force = bent
            .L
            .iter()
            .zip(eta_ddot.clone())
            .fold(bias_force, |F, (L, rate)| F + *L * rate);
        let bias_force = bias_force - self.applied.wrench[i];
        for (lane, seed) in self.seeds(pass) {
            match seed {
                Seed::Spin(axis) => self.wrench_spin[b][axis] = along(&bent.bias, lane),
                Seed::Amplitude(l) if l < n => self.wrench_q[modes.v + l] = along(&bias_force, lane),
                Seed::AmplitudeRate(l) if l < n => self.wrench_v[modes.v + l] = along(&bias_force, lane),
                _ => {}
            }
        }
        for k in 0..n {
            let own = bent.L[k].power(A) + bent.modal_bias[k] - self.applied.tau[modes.v + k];
            let row = bent.M[k * n..].iter().zip(eta_ddot.clone());
            let bias_force = row.fold(own, |sum, (M, rate)| sum + *M * rate);
            for (lane, seed) in self.seeds(pass) {
                match seed {
                    Seed::Spin(axis) => self.force_spin[modes.v + k][axis] = bent.modal_bias[k].eps[lane],
                    Seed::Amplitude(l) if l < n => self.force_q[b][k * n + l] = bias_force.eps[lane],
                    Seed::AmplitudeRate(l) if l < n => self.force_v[b][k * n + l] = bias_force.eps[lane],
                    _ => {}
                }
            }
        }
        for s in modes.stations.clone() {
            let first = system.stations[s].first;
            let (at, T) = (self.kinematics.stations[s], &self.kinematics.T[first..first + n]);
            let r = lift3(r) + at.r_PB_W;
            let A = T
                .iter()
                .zip(eta_ddot.clone())
                .fold(at.A_bias, |A, (T, rate)| A + *T * rate);
            let (v, a) = spatial(&at.V_WB, &A, &r);
            let (v_0, a_0) = (value(&v), value(&a));
            for (lane, seed) in self.seeds(pass) {
                let (v, a) = (change(&v, lane), change(&a, lane));
                match seed {
                    Seed::Amplitude(l) if l < n => {
                        let xi = value(&T[l].shift(&-r));
                        self.moved_q[first + l] = Moving::new(xi, (v, a), (v_0, a_0));
                        for k in 0..n {
                            self.column_q[s][k * n + l] = change(&T[k].shift(&-r), lane);
                        }
                    }
                    Seed::AmplitudeRate(l) if l < n => {
                        self.moved_v[first + l] = Moving::new(Twist::zero(), (v, a), (v_0, a_0));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Returns a unit vector.
pub(super) fn unit(axis: usize) -> Vec3<f64> {
    Vec3::ith(axis, 1.0)
}

/// Returns the derivative of a load fixed to its body with respect to a rotation about an axis.
fn carried(F: &Wrench<f64>, axis: usize) -> Wrench<f64> {
    let turn: Mat3<f64> = cross_matrix(&unit(axis));
    Wrench::new(turn * F.t, turn * F.f)
}

fn values(F: &Wrench<Dual<N>>) -> Wrench<f64> {
    Wrench::new(F.t.map(|x| x.re), F.f.map(|x| x.re))
}

fn along(F: &Wrench<Dual<N>>, lane: usize) -> Wrench<f64> {
    Wrench::new(F.t.map(|x| x.eps[lane]), F.f.map(|x| x.eps[lane]))
}

fn value(V: &Twist<Dual<N>>) -> Twist<f64> {
    Twist::new(V.w.map(|x| x.re), V.v.map(|x| x.re))
}

fn change(V: &Twist<Dual<N>>, lane: usize) -> Twist<f64> {
    Twist::new(V.w.map(|x| x.eps[lane]), V.v.map(|x| x.eps[lane]))
}
