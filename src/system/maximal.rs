use super::joint::{Motion, dual, part_mut, quaternion_rate, with_joint};
use super::kinematics::{place, set_in_motion};
use super::{BodyKinematics, Derived, JointModel, Kinematics, System};
use crate::algebra::{Pose, Quaternion, Scalar, Twist, Vec3, lift3};

/// The states of a maximal formulation: of every body its attitude (quaternion), the position of its origin and its modal
/// amplitudes; then of every body its angular velocity (body axes), the velocity of its origin (inertial axes) and the amplitudes' rates.
///
/// From where two bodies are the angle between them follows up to whole turns only. So one more state for each angle of a joint, its winding,
/// follows the angle's rate, and tells the turn.
#[derive(Clone, Debug)]
pub struct Maximal {
    /// Of each body, where its position, its motion and its joint's windings begin.
    places: Vec<[usize; 3]>,
    /// Number of positions.
    pub nq: usize,
    /// Number of rates.
    pub nv: usize,
    /// Number of windings.
    pub windings: usize,
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
}

impl<S: Scalar> Recovered<S> {
    /// Room for a system.
    pub fn new(system: &System) -> Self {
        let n = system.bodies.len();
        Self {
            q: vec![S::zero(); system.nq],
            qd: vec![S::zero(); system.nv],
            q_WB: vec![Quaternion::identity(); n],
            gap: vec![Twist::zero(); n],
            gap_rate: vec![Twist::zero(); n],
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
    pub fn new(system: &System) -> Self {
        let (mut nq, mut nv, mut windings) = (0, 0, 0);
        let places = system.bodies.iter().map(|body| {
            let place = [nq, nv, windings];
            let modes = body.modes.as_ref().map_or(0, |modes| modes.n);
            nq += 7 + modes;
            nv += 6 + modes;
            windings += body.joint.angles();
            place
        });
        Self {
            places: places.collect(),
            nq,
            nv,
            windings,
        }
    }

    /// Where the position of body `i` begins among the positions; after the last body, where they end.
    pub fn position(&self, i: usize) -> usize {
        self.places.get(i).map_or(self.nq, |place| place[0])
    }

    /// Where its motion begins among the rates.
    pub fn motion(&self, i: usize) -> usize {
        self.places[i][1]
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
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let [position, rate, turn] = self.places[i];
            let angles = body.joint.angles();
            windings[turn..turn + angles].copy_from_slice(&q[body.joint.q..body.joint.q + angles]);
            let w = at.R_WB.tr_mul(&at.V_WB.w);
            positions[position..position + 4].copy_from_slice(&q_WB[i].to_array());
            positions[position + 4..position + 7].copy_from_slice(at.p_WB.as_slice());
            rates[rate..rate + 3].copy_from_slice(w.as_slice());
            rates[rate + 3..rate + 6].copy_from_slice(at.V_WB.v.as_slice());
            if let Some(modes) = &body.modes {
                positions[position + 7..position + 7 + modes.n].copy_from_slice(&q[modes.coordinates()]);
                rates[rate + 6..rate + 6 + modes.n].copy_from_slice(&qd[modes.rates()]);
            }
        }
    }

    /// The states' derivatives, from the accelerations `A` of the bodies beyond their `A_bias`, and the rates and accelerations of joints and modes.
    pub fn derivative<S: Scalar>(
        &self,
        system: &System,
        kinematics: &Kinematics<S>,
        (A, qd, qdd): (&[Twist<S>], &[S], &[S]),
        (positions, rates): (&[S], &[S]),
        (d_positions, d_rates, d_windings): (&mut [S], &mut [S], &mut [S]),
    ) {
        for (i, (body, at)) in system.bodies.iter().zip(&kinematics.bodies).enumerate() {
            let [position, rate, turn] = self.places[i];
            let angles = body.joint.angles();
            d_windings[turn..turn + angles].copy_from_slice(&qd[body.joint.v..body.joint.v + angles]);
            let acceleration = at.A_bias + A[i];
            let w = Vec3::from_column_slice(&rates[rate..rate + 3]);
            let q_dot = quaternion_rate(Quaternion::from_slice(&positions[position..]), w);
            // ω × ω = 0: the rate of the body's own components is that of the vector.
            let w_dot = at.R_WB.tr_mul(&acceleration.w);
            d_positions[position..position + 4].copy_from_slice(&q_dot.to_array());
            d_positions[position + 4..position + 7].copy_from_slice(at.V_WB.v.as_slice());
            d_rates[rate..rate + 3].copy_from_slice(w_dot.as_slice());
            d_rates[rate + 3..rate + 6].copy_from_slice(acceleration.v.as_slice());
            if let Some(modes) = &body.modes {
                let eta_dot = &rates[rate + 6..rate + 6 + modes.n];
                d_positions[position + 7..position + 7 + modes.n].copy_from_slice(eta_dot);
                d_rates[rate + 6..rate + 6 + modes.n].copy_from_slice(&qdd[modes.rates()]);
            }
        }
    }
}

impl<S: Scalar> Kinematics<S> {
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
        for (i, (body, constants)) in system.bodies.iter().zip(&derived.bodies).enumerate() {
            let [position, rate, turn] = layout.places[i];
            let q_WB = Quaternion::from_slice(&positions[position..]).normalised();
            let p_WB = Vec3::from_column_slice(&positions[position + 4..position + 7]);
            let w_B = Vec3::from_column_slice(&rates[rate..rate + 3]);
            let R_WB = q_WB.rotation();
            let V_WB = Twist::new(R_WB * w_B, Vec3::from_column_slice(&rates[rate + 3..rate + 6]));
            if let Some(modes) = &body.modes {
                recovered.q[modes.coordinates()].copy_from_slice(&positions[position + 7..position + 7 + modes.n]);
                recovered.qd[modes.rates()].copy_from_slice(&rates[rate + 6..rate + 6 + modes.n]);
            }
            recovered.q_WB[i] = q_WB;

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
    }
}
