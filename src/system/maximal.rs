use super::joint::{Motion, columns, dual, part_mut, quaternion_rate, with_joint};
use super::kinematics::{place, set_in_motion};
use super::{BodyKinematics, Derived, JointModel, Kinematics, System};
use crate::algebra::{Mat3, Pose, Quaternion, Scalar, Twist, Vec3, lift3, norm};
use std::ops::Range;

/// The states of a maximal formulation: of every body its [attitude](Attitude), the position of its origin and its modal
/// amplitudes; then of every body how its attitude changes, the velocity of its origin (inertial axes) and the amplitudes' rates. Coordinates of ANCF beams follow the positions, and their rates the rates.
///
/// From where two bodies are the angle between them follows up to whole turns only. So one more state for each angle of a joint, its winding,
/// follows the angle's rate, and tells the turn.
#[derive(Clone, Debug)]
pub struct Maximal {
    /// How attitudes are written.
    pub attitude: Attitude,
    /// Of each body, where its position, its motion and its joint's windings begin.
    places: Vec<[usize; 3]>,
    /// Number of nodal coordinates, which are the last of the positions, and their rates the last of the rates.
    nodes: usize,
    /// Number of positions.
    pub nq: usize,
    /// Number of rates.
    pub nv: usize,
    /// Number of windings.
    pub windings: usize,
}

/// How a body's attitude and its change are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attitude {
    /// A quaternion, and the angular velocity in body axes.
    Quaternion,
    /// The three unit vectors of the body's axes in the world (directors), and their rates: natural coordinates (J. García de Jalón and E. Bayo, *Kinematic and
    /// Dynamic Simulation of Multibody Systems*, Springer 1994, ch. 4).
    Directors,
}

impl Attitude {
    /// How many numbers it has, and how many its change.
    pub fn counts(self) -> [usize; 2] {
        match self {
            Self::Quaternion => [4, 3],
            Self::Directors => [9, 9],
        }
    }

    /// Writes an attitude that is one, and its change.
    fn write<S: Scalar>(self, (q_WB, at): (&Quaternion<S>, &BodyKinematics<S>), position: &mut [S], rate: &mut [S]) {
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
    /// Directors need not be at right angles: the axes are those that Gram and Schmidt make of them, `d_k = R (e_k + s_k)` with a
    /// triangular distortion `s`, and turn as these do, whatever the distortion. With `d₁ = ℓ x` and `d₂ = b x + h y`
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

    /// By how much it is off one: the sum of squares of `R s`, as long as `s`.
    fn distortion<S: Scalar>(self, position: &[S], R_WB: &Mat3<S>) -> S {
        match self {
            Self::Quaternion => S::zero(),
            Self::Directors => {
                let off = Mat3::from_column_slice(position) - R_WB;
                off.dot(&off)
            }
        }
    }

    /// The quaternion in the sign in which it moves continuously. A quaternion that is a state has it; axes have no sign, but the turn of a joint has.
    fn signed<S: Scalar>(self, q_WB: Quaternion<S>, by_joint: impl FnOnce() -> Quaternion<S>) -> Quaternion<S> {
        match self {
            Self::Quaternion => q_WB,
            Self::Directors => q_WB.along(by_joint()),
        }
    }

    /// The derivatives, of the angular acceleration `ω̇` in world axes. A distortion of directors dies out in body axes, `s̈ + 2 α ṡ + β² s = 0`,
    /// and moves nothing:
    ///
    /// ```text
    ///     d̈ = ω̇ × d + ω × (ω × d + 2 R ṡ) − R (2 α ṡ + β² s)
    /// ```
    fn derivative<S: Scalar>(
        self,
        (at, angular): (&BodyKinematics<S>, &Vec3<S>),
        baumgarte: Baumgarte,
        (position, rate): (&[S], &[S]),
        (d_position, d_rate): (&mut [S], &mut [S]),
    ) {
        match self {
            Self::Quaternion => {
                let w = Vec3::from_column_slice(rate);
                let q_dot = quaternion_rate(Quaternion::from_slice(position), w);
                d_position.copy_from_slice(&q_dot.to_array());
                // ω × ω = 0: the rate of the body's own components is that of the vector.
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
                    // Below the diagonal it is round-off, which would turn the body.
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

/// The director `k`, or its rate.
fn director<S: Scalar>(of: &[S], k: usize) -> Vec3<S> {
    Vec3::from_column_slice(&of[3 * k..3 * k + 3])
}

/// A body in natural coordinates, world axes.
#[derive(Clone, Copy, Debug)]
pub struct Natural {
    /// Its axes, columns.
    pub D: Mat3<f64>,
    /// Its origin, m.
    pub r: Vec3<f64>,
    /// Rates of the axes, 1/s.
    pub D_rate: Mat3<f64>,
    /// Velocity of the origin, m/s.
    pub v: Vec3<f64>,
}

impl Natural {
    /// How it moves: the turn that the axes' rates are nearest to, `½ Σ d × ḋ`, and the velocity of the origin. For axes at right angles it is the same whichever of a body's axes are taken.
    pub fn twist(&self) -> Twist<f64> {
        let turning = (0..3).fold(Vec3::zeros(), |w, k| w + self.D.column(k).cross(&self.D_rate.column(k)));
        Twist::new(turning * 0.5, self.v)
    }

    /// The world, as a body.
    pub const WORLD: Self = Self {
        D: Mat3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        r: Vec3::new(0.0, 0.0, 0.0),
        D_rate: Mat3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        v: Vec3::new(0.0, 0.0, 0.0),
    };
}

/// Joint coordinates and rates, found from where the bodies are and how they move, and how far that is from what the joints allow.
#[derive(Clone, Debug)]
pub struct Recovered<S: Scalar> {
    /// Coordinates of joints and modes, in the [`System`]'s layout.
    pub q: Vec<S>,
    /// Their rates.
    pub qd: Vec<S>,
    /// Attitudes of the bodies.
    pub q_WB: Vec<Quaternion<S>>,
    /// Of each body, by what turn (a rotation vector, rad) and distance (m) it is off where its joint could hold it, world axes.
    pub gap: Vec<Twist<S>>,
    /// How fast it moves otherwise than its joint allows, rad/s and m/s.
    pub gap_rate: Vec<Twist<S>>,
    /// By how much all bodies' directors are off unit length and right angles: the sum of squares.
    pub distortion: S,
    /// The rates of all bodies' directors, columns, 1/s, where they are states.
    pub directors_rates: Option<Vec<Mat3<S>>>,
}

impl<S: Scalar> Recovered<S> {
    /// Room for a system whose states are `with` attitudes, if they are.
    pub fn new(system: &System, with: Option<Attitude>) -> Self {
        let n = system.bodies.len();
        Self {
            q: vec![S::zero(); system.nq],
            qd: vec![S::zero(); system.nv],
            q_WB: vec![Quaternion::identity(); n],
            gap: vec![Twist::zero(); n],
            gap_rate: vec![Twist::zero(); n],
            distortion: S::zero(),
            directors_rates: (with == Some(Attitude::Directors)).then(|| vec![Mat3::zeros(); n]),
        }
    }
}

/// How a gap between bodies closes: `φ̈ + 2 α φ̇ + β² φ = 0`, to first order, for distances in inertial axes and for turns in the joint's (J. Baumgarte, *Comput. Methods Appl. Mech. Eng.* 1 (1972) 1–16).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baumgarte {
    /// 1/s.
    pub alpha: f64,
    /// 1/s.
    pub beta: f64,
}

impl Baumgarte {
    /// Gaps stay as they are.
    pub const NONE: Self = Self { alpha: 0.0, beta: 0.0 };
}

impl Maximal {
    /// The layout for a system.
    pub fn new(system: &System, attitude: Attitude) -> Self {
        let [n_q, n_v] = attitude.counts();
        let (mut nq, mut nv, mut windings) = (0, 0, 0);
        let places = system.bodies.iter().map(|body| {
            let place = [nq, nv, windings];
            let modes = body.modes.as_ref().map_or(0, |modes| modes.n);
            nq += n_q + 3 + modes;
            nv += n_v + 3 + modes;
            windings += body.joint.kind.angles();
            place
        });
        let places: Vec<[usize; 3]> = places.collect();
        let nodes: usize = system.nodal.iter().map(|beam| beam.n).sum();
        Self {
            attitude,
            places,
            nodes,
            nq: nq + nodes,
            nv: nv + nodes,
            windings,
        }
    }

    /// Where the position of body `i` begins among the positions; after the last body, where they end.
    pub fn position(&self, i: usize) -> usize {
        self.places.get(i).map_or(self.nq - self.nodes, |place| place[0])
    }

    /// Where its motion begins among the rates.
    pub fn motion(&self, i: usize) -> usize {
        self.places[i][1]
    }

    /// Body `i`, where attitudes are directors.
    pub fn natural(&self, i: usize, (positions, rates): (&[f64], &[f64])) -> Natural {
        let [position, rate, _] = self.places[i];
        Natural {
            D: Mat3::from_column_slice(&positions[position..position + 9]),
            r: Vec3::from_column_slice(&positions[position + 9..position + 12]),
            D_rate: Mat3::from_column_slice(&rates[rate..rate + 9]),
            v: Vec3::from_column_slice(&rates[rate + 9..rate + 12]),
        }
    }

    /// Writes it.
    pub fn set_natural(&self, i: usize, body: &Natural, (positions, rates): (&mut [f64], &mut [f64])) {
        let [position, rate, _] = self.places[i];
        positions[position..position + 9].copy_from_slice(body.D.as_slice());
        positions[position + 9..position + 12].copy_from_slice(body.r.as_slice());
        rates[rate..rate + 9].copy_from_slice(body.D_rate.as_slice());
        rates[rate + 9..rate + 12].copy_from_slice(body.v.as_slice());
    }

    /// Where the nodal coordinates are among the positions, and their rates among the rates.
    pub fn nodes(&self) -> [Range<usize>; 2] {
        [self.nq - self.nodes..self.nq, self.nv - self.nodes..self.nv]
    }

    /// Where the windings of body `i`'s joint begin.
    pub fn winding(&self, i: usize) -> usize {
        self.places[i][2]
    }

    /// Where the amplitudes of body `i` stand among the positions, and their rates among the rates.
    pub fn modes(&self, i: usize) -> [usize; 2] {
        let [n_q, n_v] = self.attitude.counts();
        [self.places[i][0] + n_q + 3, self.places[i][1] + n_v + 3]
    }

    /// Writes the states of bodies that stand and move as their joints allow.
    pub fn write<S: Scalar>(
        &self,
        system: &System,
        kinematics: &Kinematics<S>,
        (q, qd): (&[S], &[S]),
        q_WB: &[Quaternion<S>],
        (positions, rates, windings): (&mut [S], &mut [S], &mut [S]),
    ) {
        let [n_q, n_v] = self.attitude.counts();
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let [position, rate, turn] = self.places[i];
            let angles = body.joint.kind.angles();
            windings[turn..turn + angles].copy_from_slice(&q[body.joint.q..body.joint.q + angles]);
            let (attitude, rest) = positions[position..].split_at_mut(n_q);
            let (change, rest_rates) = rates[rate..].split_at_mut(n_v);
            self.attitude.write((&q_WB[i], at), attitude, change);
            rest[..3].copy_from_slice(at.p_WB.as_slice());
            rest_rates[..3].copy_from_slice(at.V_WB.v.as_slice());
            if let Some(modes) = &body.modes {
                rest[3..3 + modes.n].copy_from_slice(&q[modes.coordinates()]);
                rest_rates[3..3 + modes.n].copy_from_slice(&qd[modes.rates()]);
            }
        }
        positions[self.nq - self.nodes..].copy_from_slice(&q[system.nq - self.nodes..]);
        rates[self.nv - self.nodes..].copy_from_slice(&qd[system.nv - self.nodes..]);
    }

    /// The states' derivatives, from the accelerations `A` of the bodies beyond their `A_bias`, and the rates and accelerations of joints and modes.
    pub fn derivative<S: Scalar>(
        &self,
        system: &System,
        kinematics: &Kinematics<S>,
        (A, qd, qdd): (&[Twist<S>], &[S], &[S]),
        baumgarte: Baumgarte,
        (positions, rates): (&[S], &[S]),
        (d_positions, d_rates, d_windings): (&mut [S], &mut [S], &mut [S]),
    ) {
        let [n_q, n_v] = self.attitude.counts();
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let [position, rate, turn] = self.places[i];
            let angles = body.joint.kind.angles();
            d_windings[turn..turn + angles].copy_from_slice(&qd[body.joint.v..body.joint.v + angles]);
            let acceleration = at.A_bias + A[i];
            let (d_attitude, d_rest) = d_positions[position..].split_at_mut(n_q);
            let (d_change, d_rest_rates) = d_rates[rate..].split_at_mut(n_v);
            let here = (&positions[position..position + n_q], &rates[rate..rate + n_v]);
            let of = (at, &acceleration.w);
            self.attitude.derivative(of, baumgarte, here, (d_attitude, d_change));
            d_rest[..3].copy_from_slice(at.V_WB.v.as_slice());
            d_rest_rates[..3].copy_from_slice(acceleration.v.as_slice());
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

impl<S: Scalar> Kinematics<S> {
    /// The rates of joints whose bodies move with these twists `V_WB`, where the bodies are.
    pub fn joint_rates(&self, system: &System, derived: &Derived, V_WB: &[Twist<S>], qd: &mut [S]) {
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

    /// Fills everything from the positions and rates of all bodies, and gives joints' coordinates and rates.
    ///
    /// A joint is where it is nearest to the places of its two bodies. What is left between is a gap, and closes as `baumgarte` says: a body's
    /// [`A_bias`](BodyKinematics::A_bias) is that of its joint's motion less `2 α φ̇ + β² φ`.
    pub fn recover(
        &mut self,
        (system, derived, layout): (&System, &Derived, &Maximal),
        baumgarte: Baumgarte,
        (positions, rates, windings): (&[S], &[S], &[S]),
        recovered: &mut Recovered<S>,
    ) {
        self.damping = 2.0 * baumgarte.alpha;
        let world = BodyKinematics::world();
        let [n_q, n_v] = layout.attitude.counts();
        recovered.distortion = S::zero();
        for (i, (body, constants)) in system.bodies.iter().zip(&derived.bodies).enumerate() {
            let [position, rate, turn] = layout.places[i];
            let (attitude, rest) = positions[position..].split_at(n_q);
            let (change, rest_rates) = rates[rate..].split_at(n_v);
            let (q_WB, R_WB, w) = layout.attitude.read(attitude, change);
            let p_WB = Vec3::from_column_slice(&rest[..3]);
            let V_WB = Twist::new(w, Vec3::from_column_slice(&rest_rates[..3]));
            if let Some(modes) = &body.modes {
                recovered.q[modes.coordinates()].copy_from_slice(&rest[3..3 + modes.n]);
                recovered.qd[modes.rates()].copy_from_slice(&rest_rates[3..3 + modes.n]);
            }
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
            // The sign in which it moves continuously; few joints ask.
            let q_FB = || {
                system
                    .carrier_attitude(derived, body, &recovered.q, &recovered.q_WB)
                    .conjugate()
                    * q_WB
            };
            let (jq, jv) = (body.joint.q, body.joint.v);
            with_joint!(&constants.joint, joint => {
                let H = part_mut(&mut self.H, jv);
                let q = joint.nearest(&X_FB, q_FB, &windings[turn..]);
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
            let (gap, gap_rate) = match constants.joint {
                JointModel::Free(_) => (Twist::zero(), Twist::zero()),
                _ => {
                    // The small turn from where the joint has B to where it is: half the antisymmetric part of R Rᵀ.
                    let turn = (0..3).fold(Vec3::zeros(), |turn, k| turn + B.R_WB.column(k).cross(&R_WB.column(k)));
                    (Twist::new(turn * S::lift(0.5), p_WB - B.p_WB), V_WB - B.V_WB)
                }
            };
            (recovered.gap[i], recovered.gap_rate[i]) = (gap, gap_rate);
            let Baumgarte { alpha, beta } = baumgarte;
            // The turn and its rate are seen from where the joint has B, which turns.
            B.A_bias.w += B.V_WB.w.cross(&gap_rate.w);
            B.A_bias = B.A_bias - gap_rate * S::lift(2.0 * alpha) - gap * S::lift(beta * beta);
            // Its own state. `r_PB_W` stays that of the joint, where its constraint holds.
            (B.R_WB, B.p_WB, B.V_WB) = (R_WB, p_WB, V_WB);
            if let Some(modes) = &body.modes {
                self.bend(system, derived, (i, modes), &recovered.q, &recovered.qd);
            }
        }
        let nodes = layout.nodes;
        recovered.q[system.nq - nodes..].copy_from_slice(&positions[layout.nq - nodes..]);
        recovered.qd[system.nv - nodes..].copy_from_slice(&rates[layout.nv - nodes..]);
        self.place_points(system, derived, &recovered.q, &recovered.qd);
    }
}
