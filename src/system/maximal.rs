use super::joint::{Motion, columns, dual, part_mut, quaternion_rate, with_joint};
use super::kinematics::{place, set_in_motion};
use super::{BodyKinematics, Derived, JointModel, JointState, Kinematics, Mechanism, System};
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, lift3, norm};
use crate::spec::StatePoint;
use std::ops::Range;

/// State layout of maximal coordinates. Positions: for each body its [attitude](Attitude), the
/// position of its [point](Self::point) and its modal amplitudes. Rates: for each body the rate of
/// its attitude, the velocity of its point (inertial axes) and the amplitudes' rates. Coordinates
/// and rates of ANCF beams follow.
///
/// The pose of two bodies determines the joint angle up to full turns. One further state for each
/// joint angle, the unwrapped-angle state, integrates the angle's rate and selects the turn.
#[derive(Clone, Debug)]
pub struct Maximal {
    /// Representation of attitudes.
    pub attitude: Attitude,
    /// Point of each body whose position and velocity are states.
    pub point: StatePoint,
    /// For each body, the offsets of its positions, its rates and its unwrapped-angle states.
    offsets: Vec<[usize; 3]>,
    /// Number of nodal coordinates of ANCF beams, at the end of the positions; their rates are at
    /// the end of the rates.
    nodes: usize,
    /// Number of positions.
    pub nq: usize,
    /// Number of rates.
    pub nv: usize,
    /// Number of unwrapped-angle states.
    pub unwrapped: usize,
}

/// Representation of a body's attitude and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attitude {
    /// A quaternion, and the angular velocity in body axes.
    Quaternion,
    /// The three unit vectors of the body's axes in the world (directors), and their rates: natural
    /// coordinates (J. García de Jalón and E. Bayo, *Kinematic and Dynamic Simulation of Multibody
    /// Systems*, Springer 1994, ch. 4).
    Directors,
}

/// Positions, rates and unwrapped-angle states of all bodies, in the layout of [`Maximal`], or
/// their derivatives. `T` is a shared or mutable slice.
#[derive(Clone, Copy, Debug)]
pub struct MaximalState<T> {
    /// Positions.
    pub positions: T,
    /// Rates.
    pub rates: T,
    /// Unwrapped angles, rad.
    pub unwrapped: T,
}

/// Rates and accelerations of a system at one instant.
#[derive(Clone, Copy, Debug)]
pub struct SystemMotion<'a, S: Scalar> {
    /// Accelerations of the bodies' origins beyond [`A_bias`](BodyKinematics::A_bias), world axes.
    pub A: &'a [Twist<S>],
    /// Rates of joints, modes and nodes.
    pub qd: &'a [S],
    /// Their derivatives.
    pub qdd: &'a [S],
}

/// States of one body's attitude.
#[derive(Clone, Copy)]
struct AttitudeState<'a, S> {
    position: &'a [S],
    rate: &'a [S],
}

impl Attitude {
    /// Returns the number of its coordinates and of its rates.
    pub fn counts(self) -> [usize; 2] {
        match self {
            Self::Quaternion => [4, 3],
            Self::Directors => [9, 9],
        }
    }

    /// Writes the states of an attitude and its rate, without distortion.
    fn write<S: Scalar>(self, q_WB: &Quaternion<S>, at: &BodyKinematics<S>, position: &mut [S], rate: &mut [S]) {
        match self {
            Self::Quaternion => {
                position.copy_from_slice(&q_WB.to_array());
                rate.copy_from_slice(at.R_WB.tr_mul(&at.V_WB.w).as_slice());
            }
            Self::Directors => {
                position.copy_from_slice(at.R_WB.as_slice());
                for (rate, d) in rate.chunks_exact_mut(3).zip(at.R_WB.column_iter()) {
                    rate.copy_from_slice(at.V_WB.w.cross(&d).as_slice());
                }
            }
        }
    }

    /// Reads the attitude, and the angular velocity in world axes.
    ///
    /// Directors need not be orthonormal: the attitude is that of their Gram–Schmidt basis,
    /// `d_k = R (e_k + s_k)` with a triangular distortion `s`, and the angular velocity is that of
    /// this basis. With `d₁ = ℓ x` and `d₂ = b x + h y`
    ///
    /// ```text
    ///     ω_y = −z·ḋ₁/ℓ,   ω_z = y·ḋ₁/ℓ,   ω_x = (z·ḋ₂ + b ω_y)/h
    /// ```
    fn read<S: Scalar>(self, position: &[S], rate: &[S]) -> (Quaternion<S>, Mat3<S>, Vec3<S>) {
        match self {
            Self::Quaternion => {
                let q_WB = Quaternion::from_slice(position).normalised();
                let R_WB = q_WB.rotation();
                (q_WB, R_WB, R_WB * Vec3::from_column_slice(rate))
            }
            Self::Directors => {
                let [d1, d2] = [director(position, 0), director(position, 1)];
                let length = norm(&d1);
                let x = d1 / length;
                let beside = x.dot(&d2);
                let across = d2 - x * beside;
                let height = norm(&across);
                let y = across / height;
                let z = x.cross(&y);
                let R_WB = Mat3::from_columns(&[x, y, z]);
                let [d1_rate, d2_rate] = [director(rate, 0), director(rate, 1)];
                let (w_y, w_z) = (-z.dot(&d1_rate) / length, y.dot(&d1_rate) / length);
                let w_x = (z.dot(&d2_rate) + w_y * beside) / height;
                (Quaternion::from_rotation(&R_WB), R_WB, x * w_x + y * w_y + z * w_z)
            }
        }
    }

    /// Returns the deviation of directors from orthonormality: the sum of squares of the distortion
    /// `s`, equal to that of `R s`; zero for a quaternion.
    fn distortion<S: Scalar>(self, position: &[S], R_WB: &Mat3<S>) -> S {
        match self {
            Self::Quaternion => S::zero(),
            Self::Directors => {
                let off = Mat3::from_column_slice(position) - R_WB;
                off.dot(&off)
            }
        }
    }

    /// Returns the quaternion with its continuous sign: a quaternion state has one already; for
    /// directors the joint rotation determines it.
    fn signed<S: Scalar>(self, q_WB: Quaternion<S>, by_joint: impl FnOnce() -> Quaternion<S>) -> Quaternion<S> {
        match self {
            Self::Quaternion => q_WB,
            Self::Directors => q_WB.along(by_joint()),
        }
    }

    /// Computes the derivatives of the states from the angular acceleration `ω̇` in world axes. A
    /// distortion of directors decays in body axes, `s̈ + 2 α ṡ + β² s = 0`, without effect on the
    /// motion:
    ///
    /// ```text
    ///     d̈ = ω̇ × d + ω × (ω × d + 2 R ṡ) − R (2 α ṡ + β² s)
    /// ```
    fn derivative<S: Scalar>(
        self,
        at: &BodyKinematics<S>,
        angular: &Vec3<S>,
        baumgarte: Baumgarte,
        state: AttitudeState<S>,
        d_position: &mut [S],
        d_rate: &mut [S],
    ) {
        let AttitudeState { position, rate } = state;
        match self {
            Self::Quaternion => {
                let w = Vec3::from_column_slice(rate);
                let q_dot = quaternion_rate(Quaternion::from_slice(position), w);
                d_position.copy_from_slice(&q_dot.to_array());
                // ω × ω = 0: the components in body axes have the rate of the vector.
                d_rate.copy_from_slice(at.R_WB.tr_mul(angular).as_slice());
            }
            Self::Directors => {
                d_position.copy_from_slice(rate);
                let w = &at.V_WB.w;
                let (damping, stiffness) = (2.0 * baumgarte.alpha, baumgarte.beta * baumgarte.beta);
                for (k, d_rate) in d_rate.chunks_exact_mut(3).enumerate() {
                    let d = director(position, k);
                    let turning = w.cross(&d);
                    let mut s = at.R_WB.tr_mul(&d);
                    let mut s_rate = at.R_WB.tr_mul(&(director(rate, k) - turning));
                    s[k] -= S::one();
                    // The entries of s below its diagonal are round-off and would rotate the body.
                    s.rows_mut(k + 1, 2 - k).fill(S::zero());
                    s_rate.rows_mut(k + 1, 2 - k).fill(S::zero());
                    let returning = at.R_WB * (s_rate * S::lift(damping) + s * S::lift(stiffness));
                    let turning = turning + at.R_WB * s_rate * S::lift(2.0);
                    d_rate.copy_from_slice((angular.cross(&d) + w.cross(&turning) - returning).as_slice());
                }
            }
        }
    }
}

/// Returns the director `k`, or its rate.
fn director<S: Scalar>(of: &[S], k: usize) -> Vec3<S> {
    Vec3::from_column_slice(&of[3 * k..3 * k + 3])
}

/// A body in natural coordinates, world axes.
#[derive(Clone, Copy, Debug)]
pub struct Natural {
    /// Directors, columns.
    pub D: Mat3<f64>,
    /// Its origin, m.
    pub r: Vec3<f64>,
    /// Rates of the directors, 1/s.
    pub D_rate: Mat3<f64>,
    /// Velocity of the origin, m/s.
    pub v: Vec3<f64>,
}

impl Natural {
    /// Returns the twist nearest to the directors' rates: angular velocity `½ Σ d × ḋ`, and the
    /// velocity of the origin. For orthonormal directors it does not depend on the choice of body
    /// axes.
    pub fn twist(&self) -> Twist<f64> {
        let turning = (0..3).fold(Vec3::zeros(), |w, k| w + self.D.column(k).cross(&self.D_rate.column(k)));
        Twist::new(turning * 0.5, self.v)
    }

    /// The world in natural coordinates.
    pub const WORLD: Self = Self {
        D: Mat3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        r: Vec3::new(0.0, 0.0, 0.0),
        D_rate: Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        v: Vec3::new(0.0, 0.0, 0.0),
    };
}

/// Joint coordinates and rates determined from positions and motions of the bodies, with the
/// constraint violations.
#[derive(Clone, Debug)]
pub struct Recovered<S: Scalar> {
    /// Coordinates of joints and modes, in the [`System`]'s layout.
    pub q: Vec<S>,
    /// Their rates.
    pub qd: Vec<S>,
    /// Attitudes of the bodies.
    pub q_WB: Vec<Quaternion<S>>,
    /// For each body, the constraint violation at position level: rotation vector (rad) and
    /// displacement (m) from the admissible pose, world axes.
    pub violation: Vec<Twist<S>>,
    /// For each body, the constraint violation at velocity level, rad/s and m/s.
    pub violation_rate: Vec<Twist<S>>,
    /// Sum of squares of the distortions of all bodies' directors.
    pub distortion: S,
    /// For each body, the rates of its directors as columns, 1/s, if directors are states.
    pub directors_rates: Option<Vec<Mat3<S>>>,
}

impl<S: Scalar> Recovered<S> {
    /// Allocates the quantities of `system`; `with` is the representation of attitudes in maximal
    /// coordinates, if these are the states.
    pub fn new(system: &System, with: Option<Attitude>) -> Self {
        let n = system.bodies.len();
        Self {
            q: vec![S::zero(); system.nq],
            qd: vec![S::zero(); system.nv],
            q_WB: vec![Quaternion::identity(); n],
            violation: vec![Twist::zero(); n],
            violation_rate: vec![Twist::zero(); n],
            distortion: S::zero(),
            directors_rates: (with == Some(Attitude::Directors)).then(|| vec![Mat3::zeros(); n]),
        }
    }
}

/// Baumgarte stabilisation: constraint violations decay as `φ̈ + 2 α φ̇ + β² φ = 0`, to first
/// order, for distances in inertial axes and for rotations in those of the joint (J. Baumgarte,
/// *Comput. Methods Appl. Mech. Eng.* 1 (1972) 1–16).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baumgarte {
    /// 1/s.
    pub alpha: f64,
    /// 1/s.
    pub beta: f64,
}

impl Baumgarte {
    /// No stabilisation.
    pub const NONE: Self = Self { alpha: 0.0, beta: 0.0 };
}

impl Maximal {
    /// Creates the layout of a system, with the states of the bodies' origins.
    pub fn new(system: &System, attitude: Attitude) -> Self {
        let [n_q, n_v] = attitude.counts();
        let (mut nq, mut nv, mut unwrapped) = (0, 0, 0);
        let offsets = system.bodies.iter().map(|body| {
            let place = [nq, nv, unwrapped];
            let modes = body.modes.as_ref().map_or(0, |modes| modes.n);
            nq += n_q + 3 + modes;
            nv += n_v + 3 + modes;
            unwrapped += body.joint.kind.angles();
            place
        });
        let offsets: Vec<[usize; 3]> = offsets.collect();
        let nodes: usize = system.nodal.iter().map(|beam| beam.n).sum();
        Self {
            attitude,
            point: StatePoint::Origin,
            offsets,
            nodes,
            nq: nq + nodes,
            nv: nv + nodes,
            unwrapped,
        }
    }

    /// Returns the layout with the states of the given points.
    pub fn of_points(self, point: StatePoint) -> Self {
        Self { point, ..self }
    }

    /// Returns the offset of body `i` among the positions; after the last body, the end of the
    /// bodies' positions.
    pub fn position(&self, i: usize) -> usize {
        self.offsets.get(i).map_or(self.nq - self.nodes, |place| place[0])
    }

    /// Returns the offset of body `i` among the rates.
    pub fn motion(&self, i: usize) -> usize {
        self.offsets[i][1]
    }

    /// Returns position and motion of body `i` in natural coordinates, if directors are states.
    pub fn natural(&self, i: usize, positions: &[f64], rates: &[f64]) -> Natural {
        let [position, rate, _] = self.offsets[i];
        Natural {
            D: Mat3::from_column_slice(&positions[position..position + 9]),
            r: Vec3::from_column_slice(&positions[position + 9..position + 12]),
            D_rate: Mat3::from_column_slice(&rates[rate..rate + 9]),
            v: Vec3::from_column_slice(&rates[rate + 9..rate + 12]),
        }
    }

    /// Writes position and motion of body `i` in natural coordinates, if directors are states.
    pub fn set_natural(&self, i: usize, body: &Natural, positions: &mut [f64], rates: &mut [f64]) {
        let [position, rate, _] = self.offsets[i];
        positions[position..position + 9].copy_from_slice(body.D.as_slice());
        positions[position + 9..position + 12].copy_from_slice(body.r.as_slice());
        rates[rate..rate + 9].copy_from_slice(body.D_rate.as_slice());
        rates[rate + 9..rate + 12].copy_from_slice(body.v.as_slice());
    }

    /// Returns the index ranges of the nodal coordinates among the positions, and of their rates
    /// among the rates.
    pub fn nodes(&self) -> [Range<usize>; 2] {
        [self.nq - self.nodes..self.nq, self.nv - self.nodes..self.nv]
    }

    /// Returns the offset of the unwrapped-angle states of body `i`'s joint.
    pub fn unwrapped(&self, i: usize) -> usize {
        self.offsets[i][2]
    }

    /// Returns the offsets of the amplitudes of body `i` among the positions, and of their rates
    /// among the rates.
    pub fn modes(&self, i: usize) -> [usize; 2] {
        let [n_q, n_v] = self.attitude.counts();
        [self.offsets[i][0] + n_q + 3, self.offsets[i][1] + n_v + 3]
    }

    /// Writes the states of bodies whose positions and motions satisfy the joints.
    pub fn write<S: Scalar>(
        &self,
        mechanism: Mechanism<'_, S::Constant>,
        kinematics: &Kinematics<S>,
        joints: JointState<S>,
        q_WB: &[Quaternion<S>],
        states: MaximalState<&mut [S]>,
    ) {
        let system = mechanism.system;
        let JointState { q, qd } = joints;
        let MaximalState {
            positions,
            rates,
            unwrapped,
        } = states;
        let [n_q, n_v] = self.attitude.counts();
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let [position, rate, turn] = self.offsets[i];
            let angles = body.joint.kind.angles();
            unwrapped[turn..turn + angles].copy_from_slice(&q[body.joint.q..body.joint.q + angles]);
            let (attitude, rest) = positions[position..].split_at_mut(n_q);
            let (change, rest_rates) = rates[rate..].split_at_mut(n_v);
            self.attitude.write(&q_WB[i], at, attitude, change);
            let (c, c_dot) = self.state_point(mechanism, kinematics, i);
            rest[..3].copy_from_slice((at.p_WB + c).as_slice());
            rest_rates[..3].copy_from_slice((at.V_WB.v + c_dot).as_slice());
            if let Some(modes) = &body.modes {
                rest[3..3 + modes.n].copy_from_slice(&q[modes.coordinates()]);
                rest_rates[3..3 + modes.n].copy_from_slice(&qd[modes.rates()]);
            }
        }
        positions[self.nq - self.nodes..].copy_from_slice(&q[system.nq - self.nodes..]);
        rates[self.nv - self.nodes..].copy_from_slice(&qd[system.nv - self.nodes..]);
    }

    /// Returns the point of body `i` from its origin (m) and its velocity relative to that of the
    /// origin (m/s), world axes.
    fn state_point<S: Scalar>(
        &self,
        of: Mechanism<'_, S::Constant>,
        kinematics: &Kinematics<S>,
        i: usize,
    ) -> (Vec3<S>, Vec3<S>) {
        match self.point {
            StatePoint::Origin => (Vec3::zeros(), Vec3::zeros()),
            StatePoint::MassCentre => kinematics.mass_centre(of, i),
        }
    }

    /// Computes the derivatives of the states from the accelerations of the system.
    pub fn derivative<S: Scalar>(
        &self,
        mechanism: Mechanism<'_, S::Constant>,
        kinematics: &Kinematics<S>,
        motion: SystemMotion<S>,
        baumgarte: Baumgarte,
        states: MaximalState<&[S]>,
        derivatives: MaximalState<&mut [S]>,
    ) {
        let system = mechanism.system;
        let SystemMotion { A, qd, qdd } = motion;
        let MaximalState { positions, rates, .. } = states;
        let MaximalState {
            positions: d_positions,
            rates: d_rates,
            unwrapped: d_unwrapped,
        } = derivatives;
        let [n_q, n_v] = self.attitude.counts();
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let [position, rate, turn] = self.offsets[i];
            let angles = body.joint.kind.angles();
            d_unwrapped[turn..turn + angles].copy_from_slice(&qd[body.joint.v..body.joint.v + angles]);
            let acceleration = at.A_bias + A[i];
            let (d_attitude, d_rest) = d_positions[position..].split_at_mut(n_q);
            let (d_change, d_rest_rates) = d_rates[rate..].split_at_mut(n_v);
            let state = AttitudeState {
                position: &positions[position..position + n_q],
                rate: &rates[rate..rate + n_v],
            };
            self.attitude
                .derivative(at, &acceleration.w, baumgarte, state, d_attitude, d_change);
            let a = match self.point {
                StatePoint::Origin => acceleration.v,
                StatePoint::MassCentre => kinematics.acceleration_of_mass_centre(mechanism, i, &acceleration, qdd),
            };
            d_rest[..3].copy_from_slice(&rates[rate + n_v..rate + n_v + 3]);
            d_rest_rates[..3].copy_from_slice(a.as_slice());
            if let Some(modes) = &body.modes {
                let eta_dot = &rates[rate + n_v + 3..rate + n_v + 3 + modes.n];
                d_rest[3..3 + modes.n].copy_from_slice(eta_dot);
                d_rest_rates[3..3 + modes.n].copy_from_slice(&qdd[modes.rates()]);
            }
        }
        d_positions[self.nq - self.nodes..].copy_from_slice(&rates[self.nv - self.nodes..]);
        d_rates[self.nv - self.nodes..].copy_from_slice(&qdd[system.nv - self.nodes..]);
    }
}

impl<S: Scalar> BodyKinematics<S> {
    /// Returns the small displacement from this pose to another: rotation vector (axial vector of
    /// the antisymmetric part of `R_WB R_selfᵀ`, rad), then translation (m), world axes.
    #[inline(always)]
    fn displacement_to(&self, R_WB: &Mat3<S>, p_WB: &Vec3<S>) -> Twist<S> {
        let turn = (0..3).fold(Vec3::zeros(), |turn, k| {
            turn + self.R_WB.column(k).cross(&R_WB.column(k))
        });
        Twist::new(turn * S::lift(0.5), p_WB - self.p_WB)
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Computes the joint rates for the bodies' twists `V_WB`, at the current positions.
    pub fn joint_rates(&self, system: &System, derived: &Derived<S::Constant>, V_WB: &[Twist<S>], qd: &mut [S]) {
        for (i, (body, constants)) in system.bodies.iter().zip(&derived.bodies).enumerate() {
            let V_FB = V_WB[i]
                - body
                    .parent
                    .map_or(Twist::zero(), |P| V_WB[P].shift(&self.bodies[i].r_PB_W));
            let v = body.joint.v;
            with_joint!(&constants.joint, joint => {
                *part_mut(qd, v) = dual(columns(joint, &self.H, v)).map(|V| V.power(&V_FB));
            });
        }
    }

    /// Computes all quantities from the positions and rates of the bodies, and recovers coordinates
    /// and rates of the joints.
    ///
    /// A joint's coordinates are those of the admissible pose that is nearest to the actual
    /// relative pose of its two bodies. The remaining constraint violation decays as `baumgarte`
    /// defines: a body's [`A_bias`](BodyKinematics::A_bias) is that of its joint's motion minus
    /// `2 α φ̇ + β² φ`.
    pub fn recover(
        &mut self,
        mechanism: Mechanism<'_, S::Constant>,
        layout: &Maximal,
        baumgarte: Baumgarte,
        states: MaximalState<&[S]>,
        recovered: &mut Recovered<S>,
    ) {
        let Mechanism { system, derived } = mechanism;
        let (positions, rates) = (states.positions, states.rates);
        self.damping = 2.0 * baumgarte.alpha;
        let world = BodyKinematics::world();
        let [n_q, n_v] = layout.attitude.counts();
        recovered.distortion = S::zero();
        for (i, (body, constants)) in system.bodies.iter().zip(&derived.bodies).enumerate() {
            let [position, rate, turn] = layout.offsets[i];
            let (attitude, rest) = positions[position..].split_at(n_q);
            let (change, rest_rates) = rates[rate..].split_at(n_v);
            let (q_WB, R_WB, w) = layout.attitude.read(attitude, change);
            if let Some(modes) = &body.modes {
                recovered.q[modes.coordinates()].copy_from_slice(&rest[3..3 + modes.n]);
                recovered.qd[modes.rates()].copy_from_slice(&rest_rates[3..3 + modes.n]);
            }
            if layout.point == StatePoint::MassCentre {
                // The deflection depends on the attitude and the angular velocity only.
                (self.bodies[i].R_WB, self.bodies[i].V_WB.w) = (R_WB, w);
                if let Some(modes) = &body.modes {
                    let (q, qd) = (recovered.q.as_slice(), recovered.qd.as_slice());
                    self.deflect(mechanism, i, modes, JointState { q, qd });
                }
            }
            let (c, c_dot) = layout.state_point(mechanism, self, i);
            let p_WB = Vec3::from_column_slice(&rest[..3]) - c;
            let V_WB = Twist::new(w, Vec3::from_column_slice(&rest_rates[..3]) - c_dot);
            recovered.q_WB[i] = q_WB;
            recovered.distortion += layout.attitude.distortion(attitude, &R_WB);
            if let Some(rates) = &mut recovered.directors_rates {
                rates[i] = Mat3::from_column_slice(change);
            }

            let (done, rest) = self.bodies.split_at_mut(i);
            let (P, B) = (body.carrier().of(done, &self.stations).unwrap_or(&world), &mut rest[0]);
            let p_PF = lift3::<S>(&constants.p_PF);
            let X_FB = Pose {
                R: P.R_WB.tr_mul(&R_WB),
                p: P.R_WB.tr_mul(&(p_WB - P.p_WB)) - p_PF,
            };
            // The relative attitude with its continuous sign; only some joint types evaluate it.
            let q_FB = || {
                system
                    .carrier_attitude(derived, body, &recovered.q, &recovered.q_WB)
                    .conjugate()
                    * q_WB
            };
            let (jq, jv) = (body.joint.q, body.joint.v);
            with_joint!(&constants.joint, joint => {
                let H = part_mut(&mut self.H, jv);
                let q = joint.nearest(&X_FB, q_FB, &states.unwrapped[turn..]);
                place(joint, P, &p_PF, &q, H, B);
                let V_FB = V_WB - P.V_WB.shift(&B.r_PB_W);
                let qd = dual(H).map(|V| V.power(&V_FB));
                set_in_motion(joint, P, &qd, H, B);
                recovered.q_WB[i] = layout.attitude.signed(q_WB, || {
                    system.carrier_attitude(derived, body, &recovered.q, &recovered.q_WB) * joint.attitude(&q)
                });
                *part_mut(&mut recovered.q, jq) = q;
                *part_mut(&mut recovered.qd, jv) = qd;
            });
            let (violation, violation_rate) = match constants.joint {
                JointModel::Free(_) => (Twist::zero(), Twist::zero()),
                _ => (B.displacement_to(&R_WB, &p_WB), V_WB - B.V_WB),
            };
            (recovered.violation[i], recovered.violation_rate[i]) = (violation, violation_rate);
            let Baumgarte { alpha, beta } = baumgarte;
            // Rotation vector and rate refer to the admissible pose, which rotates.
            B.A_bias.w += B.V_WB.w.cross(&violation_rate.w);
            B.A_bias = B.A_bias - violation_rate * S::lift(2.0 * alpha) - violation * S::lift(beta * beta);
            // The body's own state. `r_PB_W` remains that of the admissible pose, where the
            // constraint acts.
            (B.R_WB, B.p_WB, B.V_WB) = (R_WB, p_WB, V_WB);
            if let Some(modes) = &body.modes {
                let (q, qd) = (recovered.q.as_slice(), recovered.qd.as_slice());
                self.bend(mechanism, i, modes, JointState { q, qd });
            }
        }
        let nodes = layout.nodes;
        recovered.q[system.nq - nodes..].copy_from_slice(&positions[layout.nq - nodes..]);
        recovered.qd[system.nv - nodes..].copy_from_slice(&rates[layout.nv - nodes..]);
        self.place_points(system, derived, &recovered.q, &recovered.qd);
    }
}
