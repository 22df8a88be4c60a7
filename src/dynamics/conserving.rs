//! Energy–momentum conserving step in natural coordinates.
//!
//! The natural coordinates of a body are the position `r` of its origin and its directors `d_k`
//! (columns of `D`). The kinetic energy is quadratic in their rates, with constant coefficients,
//!
//! ```text
//!     T = ½ m ṙ·ṙ + ṙ·Ḋ h + ½ tr(Ḋ E Ḋᵀ),  h = ∫x dm,  E = ∫x xᵀ dm = ½ tr(J) 1 − J   (1)
//! ```
//!
//! and the joint constraints `g` are quadratic in the coordinates. The midpoint rule with
//! `q̄ = (q₀ + q₁)/2`, `v̄ = (q₁ − q₀)/Δt = (v₀ + v₁)/2` and `g(q₁) = 0`,
//!
//! ```text
//!     M (v₁ − v₀)/Δt = Q(q̄, v̄) − G(q̄)ᵀ λ                                            (2)
//! ```
//!
//! therefore conserves `T` if no load does work and the angular momentum if no load exerts a
//! moment, because `G(q̄)(q₁ − q₀) = g(q₁) − g(q₀)` exactly (J. C. Simo and N. Tarnow, *ZAMP* 43
//! (1992) 757–792; O. Gonzalez, *Physica D* 132 (1999) 165–174; in the plane, with multipliers, G.
//! Yang et al., 10.1007/s11071-023-08395-w). The multipliers are eliminated by the discrete null
//! space method (P. Betsch and S. Leyendecker, *Int. J. Numer. Meth. Eng.* 67 (2006) 499–552). A
//! body stays rigid if
//!
//! ```text
//!     (d₁ − d₀)/Δt = w̄ × d̄  for all directors,  that is  D̄ = (1 − ½ Δt [w̄])⁻¹ D₀     (3)
//! ```
//!
//! Two bodies with a common axis `n` have `w̄_B = w̄_P + γ n̄`, and a common point has one midpoint
//! velocity: the relative midpoint velocity is in the joint's motion subspace at the midpoint axes.
//! The unknowns are the midpoint rates of joints and nodes, one for each degree of freedom. The
//! equations are the projections of (2) on these motions, on which joint reactions have no power.
//!
//! A joint angle is not a quadratic function of the directors. With `p = ½ Δt w̄_P` and
//! `g = ½ Δt γ`, the relative rotation between a carrier that turns by `p` and a body that turns by
//! `p + g` is the quaternion (not normalised, carrier axes)
//!
//! ```text
//!     (1 + p·p + p·g,  g − p × g)                                                     (4)
//! ```
//!
//! Joint loads are evaluated at the midpoint `(q₀ + q₁)/2` of the joint coordinates and at the
//! rates `(q₁ − q₀)/Δt`, and are scaled by the derivative of these rates with respect to `γ`; the
//! work of a linear spring then equals the difference of its energies. Nonlinear elements use a
//! discrete gradient ([`Elements::add_of_step`](crate::elements::Elements::add_of_step)). A rotor's
//! rate is not a rate of the directors; its energy is conserved to second order only.

use super::Applied;
use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench, angle_per_sine, cross_matrix, lift3, lift33};
use crate::nodal::Span;
use crate::system::joint::{Motion, dual, part, with_joint};
use crate::system::{
    AncfBeam, BodyKinematics, Configuration, JointModel, Kinematics, Mechanism, Natural, PER_NODE, System,
};

/// The state at the start of a step.
#[derive(Clone, Debug)]
pub struct Start {
    /// Natural coordinates and rates of each body.
    pub bodies: Vec<Natural>,
    /// Coordinates of joints and nodes (`nq`).
    pub q: Vec<f64>,
    /// Rates of joints and nodes (`nv`).
    pub qd: Vec<f64>,
}

/// The midpoint of a step.
#[derive(Clone, Debug)]
pub struct Midpoint<S: Scalar<Constant = f64>> {
    /// Midpoint coordinates of joints and nodes, the mean of both ends (`nq`); attitude quaternions
    /// are not normalised.
    pub q: Vec<S>,
    /// Finite-difference rates (`nv`); of attitudes `(q₁ − q₀)/Δt = ½ q ⊗ (0, w)` with the
    /// normalised midpoint quaternion `q`.
    pub qd: Vec<S>,
    /// Ratio of each finite-difference rate `qd` to the midpoint rate `u`, for joints with one axis
    /// per rate; below one for angles.
    rate_ratio: Vec<S>,
    /// Unbalanced wrench on each body, about its origin, world axes; after the backward pass of the
    /// residual including its outboard part, which is the wrench that its joint transmits.
    pub F: Vec<Wrench<S>>,
}

impl<S: Scalar<Constant = f64>> Midpoint<S> {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        Self {
            q: vec![S::zero(); system.nq],
            qd: vec![S::zero(); system.nv],
            rate_ratio: vec![S::one(); system.nv],
            F: vec![Wrench::zero(); system.bodies.len()],
        }
    }
}

/// Returns the relative rotation (4) in the carrier's directors `D` at the start of the step.
fn relative_rotation<S: Scalar<Constant = f64>>(D: &Mat3<f64>, p: &Vec3<S>, g: &Vec3<S>) -> Quaternion<S> {
    let v = lift33::<S>(D).tr_mul(&(g - p.cross(g)));
    Quaternion::new(S::one() + p.dot(&(p + g)), v.x, v.y, v.z)
}

/// Returns the ratio of the finite-difference rate of an angle to its midpoint rate, from (4) about
/// an axis: `atan2(|g|, 1 + p·p + p·g)/|g|`.
fn rate_ratio<S: Scalar<Constant = f64>>(p: &Vec3<S>, axis: &Vec3<S>, g: S) -> S {
    angle_per_sine(g * g, S::one() + p.dot(p) + p.dot(axis) * g)
}

/// Returns the map (3) from the directors at the start of a step to those at the midpoint, for
/// `θ = Δt w̄`: `(1 + ½ [θ] + ¼ θ θᵀ)/(1 + ¼ θ·θ)`.
fn mean<S: Scalar<Constant = f64>>(theta: &Vec3<S>) -> Mat3<S> {
    let half = theta * S::lift(0.5);
    (Mat3::identity() + cross_matrix(&half) + half * half.transpose()) / (S::one() + half.dot(&half))
}

impl Start {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        Self {
            bodies: vec![Natural::WORLD; system.bodies.len()],
            q: vec![0.0; system.nq],
            qd: vec![0.0; system.nv],
        }
    }

    /// Computes midpoint coordinates and kinematics from the midpoint rates `u` (`nv`) and the step
    /// `h` (s). Midpoint directors are the mean of those at both ends and so not of unit length;
    /// the midpoint position of a body-fixed point is the mean of its end positions.
    ///
    /// `u` holds the rates of joints and nodes, except for free bodies (angular velocity, then
    /// velocity of the origin) and spherical joints (angular velocity), all in world axes.
    pub fn midpoint<S: Scalar<Constant = f64>>(
        &self,
        mechanism: Mechanism<'_>,
        h: f64,
        u: &[S],
        kinematics: &mut Kinematics<S>,
        midpoint: &mut Midpoint<S>,
    ) {
        let Mechanism { system, derived } = mechanism;
        let Midpoint { q, qd, rate_ratio, .. } = midpoint;
        let (h, half) = (S::lift(h), S::lift(0.5 * h));
        let world = BodyKinematics::world();
        for (i, (body, constants)) in system.bodies.iter().zip(&derived.bodies).enumerate() {
            let (jq, jv, n) = (body.joint.q, body.joint.v, body.joint.nv);
            let (done, rest) = kinematics.bodies.split_at_mut(i);
            let (P, B) = (body.parent.map_or(&world, |parent| &done[parent]), &mut rest[0]);
            let carrier = MidpointCarrier {
                at: P,
                start: body.parent.map_or(&Natural::WORLD, |parent| &self.bodies[parent]),
                h,
                half,
                p: P.V_WB.w * half,
            };
            let (q_0, u) = (&self.q[jq..jq + body.joint.nq], &u[jv..jv + n]);
            let (q, qd) = (&mut q[jq..jq + body.joint.nq], &mut qd[jv..jv + n]);
            let (H, rate_ratio) = (&mut kinematics.H[jv..jv + n], &mut rate_ratio[jv..jv + n]);
            let offset = carrier.subspace(&constants.joint, q_0, u, H, rate_ratio);
            B.r_PB_W = P.R_WB * lift3::<S>(&constants.p_PF) + offset;
            let mut V_FB = Twist::zero();
            match &constants.joint {
                JointModel::Spherical(_) => V_FB.w = Vec3::from_column_slice(u),
                JointModel::Free(_) => {}
                _ => {
                    for (k, (H, &u)) in H.iter().zip(u).enumerate() {
                        qd[k] = rate_ratio[k] * u;
                        q[k] = S::lift(q_0[k]) + half * qd[k];
                        V_FB = V_FB + *H * u;
                    }
                }
            }
            let start = &self.bodies[i];
            B.V_WB = match constants.joint {
                JointModel::Free(_) => Twist::from_slice(u),
                _ => P.V_WB.shift(&B.r_PB_W) + V_FB,
            };
            B.R_WB = mean(&(B.V_WB.w * h)) * lift33::<S>(&start.D);
            B.p_WB = lift3::<S>(&start.r) + B.V_WB.v * half;
            B.A_bias = Twist::zero();
            match &constants.joint {
                JointModel::Spherical(joint) => {
                    let between = carrier.attitude(&V_FB.w, joint.attitude(part(q_0, 0)));
                    q.copy_from_slice(&joint.coordinates(between.mean));
                    carrier.write_spherical(&between, &V_FB.w, H, qd);
                }
                JointModel::Free(joint) => {
                    B.r_PB_W = B.p_WB - P.p_WB;
                    let own = B.V_WB - P.V_WB.shift(&B.r_PB_W);
                    let p_FB = P.R_WB.tr_mul(&B.r_PB_W) - lift3::<S>(&constants.p_PF);
                    let between = carrier.attitude(&own.w, joint.attitude(part(q_0, 0)));
                    q.copy_from_slice(&joint.coordinates(between.mean, &p_FB));
                    qd[..3].copy_from_slice(B.R_WB.tr_mul(&own.w).as_slice());
                    qd[3..].copy_from_slice((P.R_WB * lift33::<S>(joint.axes())).tr_mul(&own.v).as_slice());
                }
                _ => {}
            }
        }
        for beam in &system.nodal {
            for (k, v) in beam.coordinates().zip(beam.rates()) {
                (q[k], qd[v]) = (S::lift(self.q[k]) + half * u[v], u[v]);
            }
        }
        kinematics.place_points(system, derived, q, qd);
    }

    /// Returns body `i` at the end of the step, extrapolated from the midpoint, with the velocity
    /// of [`Natural::twist`].
    fn end<S: Scalar<Constant = f64>>(&self, i: usize, h: f64, kinematics: &Kinematics<S>) -> End<S> {
        let (start, at, two) = (&self.bodies[i], &kinematics.bodies[i], S::lift(2.0));
        let D = at.R_WB * two - lift33::<S>(&start.D);
        let D_rate = cross_matrix(&at.V_WB.w) * at.R_WB * two - lift33::<S>(&start.D_rate);
        let w = (0..3).fold(Vec3::zeros(), |w, k| w + D.column(k).cross(&D_rate.column(k)));
        End {
            D,
            r: lift3::<S>(&start.r) + at.V_WB.v * S::lift(h),
            V: Twist::new(w * S::lift(0.5), at.V_WB.v * two - lift3::<S>(&start.v)),
        }
    }

    /// Computes the residual of (2) under the midpoint loads, one value for each rate of `u`, N·m
    /// or N. Requires [`midpoint`](Self::midpoint).
    pub fn residual<S: Scalar<Constant = f64>>(
        &self,
        at: Configuration<S>,
        applied: &Applied<S>,
        h: f64,
        u: &[S],
        midpoint: &mut Midpoint<S>,
        residual: &mut [S],
    ) {
        let per_h = S::lift(1.0 / h);
        let equations = StepEquations {
            start: self,
            at,
            applied,
            h,
            per_h,
            twice_per_h: S::lift(2.0) * per_h,
            u,
        };
        equations.set_wrenches(&mut midpoint.F);
        for (i, body) in at.system.bodies.iter().enumerate().rev() {
            equations.write_joint(i, midpoint, residual);
            // A free joint transmits no wrench unless it is driven.
            let transmits = body.joint.nv < 6 || applied.driven[i];
            if let Some(parent) = body.parent.filter(|_| transmits) {
                midpoint.F[parent] = midpoint.F[parent] + midpoint.F[i].shift(&at.kinematics.bodies[i].r_PB_W);
            }
        }
        equations.write_nodes(midpoint, residual);
    }
}

/// The carrier of a joint at the midpoint of a step.
struct MidpointCarrier<'a, S: Scalar<Constant = f64>> {
    /// Kinematics of the carrier at the midpoint.
    at: &'a BodyKinematics<S>,
    /// Natural coordinates of the carrier at the start.
    start: &'a Natural,
    /// Step length and its half, s.
    h: S,
    half: S,
    /// `p` of (4).
    p: Vec3<S>,
}

impl<S: Scalar<Constant = f64>> MidpointCarrier<'_, S> {
    /// Returns the column of `H` for a rotation about `axis` (carrier axes), and the ratio of the
    /// finite-difference rate of its angle to the midpoint rate.
    #[inline(always)]
    fn turned(&self, axis: &Vec3<f64>, rate: S) -> (Twist<S>, S) {
        let ratio = rate_ratio(&self.p, &lift3(&(self.start.D * axis)), self.half * rate);
        (Twist::new(self.at.R_WB * lift3::<S>(axis), Vec3::zeros()), ratio)
    }

    /// Returns the column of `H` for a translation along `axis` (carrier axes) from the coordinate
    /// `x_0` (m) at the rate `rate` (m/s), and the mean displacement of the two ends.
    ///
    /// The slider moves from `x₀ a₀` to `x₁ a₁` with
    /// `(x₁ a₁ − x₀ a₀)/Δt = ẋ (1 + ½ Δt [w̄]) a₀ + w̄ × (x₀ a₀ + x₁ a₁)/2`: the first term gives
    /// the column, and the lever arm of the carrier's rotation is the mean displacement.
    #[inline(always)]
    fn slid(&self, axis: Vec3<f64>, x_0: f64, rate: S) -> (Twist<S>, Vec3<S>) {
        let a_0 = lift3::<S>(&(self.start.D * axis));
        let a_1 = self.at.R_WB * lift3::<S>(&axis) * S::lift(2.0) - a_0;
        let direction = a_0 + self.at.V_WB.w.cross(&a_0) * self.half;
        let x_0 = S::lift(x_0);
        let lever = (a_0 * x_0 + a_1 * (x_0 + self.h * rate)) * S::lift(0.5);
        (Twist::new(Vec3::zeros(), direction), lever)
    }

    /// Computes the columns `H` of a joint with one axis per rate, and the ratios of its
    /// finite-difference rates to the midpoint rates; returns the mean displacement. For fixed,
    /// spherical and free joints `H` and the ratios stay unchanged.
    #[inline(always)]
    fn subspace(
        &self,
        joint: &JointModel<f64>,
        q_0: &[f64],
        u: &[S],
        H: &mut [Twist<S>],
        rate_ratios: &mut [S],
    ) -> Vec3<S> {
        let mut offset = Vec3::zeros();
        match joint {
            JointModel::Fixed(_) | JointModel::Spherical(_) | JointModel::Free(_) => {}
            JointModel::Revolute(joint) => (H[0], rate_ratios[0]) = self.turned(joint.axis(), u[0]),
            JointModel::Prismatic(joint) => (H[0], offset) = self.slid(*joint.axis(), q_0[0], u[0]),
            JointModel::Cylindrical(joint) => {
                (H[0], rate_ratios[0]) = self.turned(joint.axis(), u[0]);
                (H[1], offset) = self.slid(*joint.axis(), q_0[1], u[1]);
            }
            JointModel::Screw(joint) => {
                // The travel is proportional to the angle, whose finite-difference rate is
                // `rate_ratio` times the midpoint rate.
                let (turn, ratio) = self.turned(joint.axis(), u[0]);
                let lead = S::lift(joint.lead()) * ratio;
                let (slide, lever) = self.slid(*joint.axis(), q_0[0] * joint.lead(), u[0] * lead);
                (H[0], rate_ratios[0]) = (turn + slide * lead, ratio);
                offset = lever;
            }
            JointModel::Planar(joint) => {
                (H[0], rate_ratios[0]) = self.turned(joint.normal(), u[0]);
                for (k, axis) in joint.across().iter().enumerate() {
                    let (direction, lever) = self.slid(*axis, q_0[1 + k], u[1 + k]);
                    H[1 + k] = direction;
                    offset += lever;
                }
            }
            JointModel::Rectangular(joint) => {
                for (k, axis) in joint.axes().column_iter().take(2).enumerate() {
                    let (direction, lever) = self.slid(axis.into_owned(), q_0[k], u[k]);
                    H[k] = direction;
                    offset += lever;
                }
            }
            JointModel::Cartesian(joint) => {
                for (k, axis) in joint.axes().column_iter().enumerate() {
                    let (direction, lever) = self.slid(axis.into_owned(), q_0[k], u[k]);
                    H[k] = direction;
                    offset += lever;
                }
            }
            JointModel::Universal(joint) => {
                let [first, second] = joint.axes_at(q_0[0]);
                (H[0], rate_ratios[0]) = self.turned(&first, u[0]);
                // The second axis turns with the intermediate body of the joint.
                let between = self.at.V_WB.w + H[0].w * u[0];
                let second = lift3::<S>(&(self.start.D * second));
                H[1] = Twist::new(mean(&(between * self.h)) * second, Vec3::zeros());
                rate_ratios[1] = rate_ratio(&(between * self.half), &second, self.half * u[1]);
            }
        }
        offset
    }

    /// Returns the midpoint attitude relative to the carrier of a body with the relative angular
    /// velocity `w` (rad/s, world axes), from the relative attitude `q_0` at the start.
    #[inline(always)]
    fn attitude(&self, w: &Vec3<S>, q_0: Quaternion<f64>) -> MidpointAttitude<S> {
        MidpointAttitude::of(relative_rotation(&self.start.D, &self.p, &(w * self.half)), q_0)
    }

    /// Writes the columns `H` and the finite-difference rates `qd` of a spherical joint with the
    /// relative angular velocity `w`: `qd = Hᵀ w`.
    #[inline(always)]
    fn write_spherical(&self, between: &MidpointAttitude<S>, w: &Vec3<S>, H: &mut [Twist<S>], qd: &mut [S]) {
        let axes = lift33::<S>(&self.start.D) * between.mean.rotation() * between.rate_ratio;
        let axes = axes + cross_matrix(&self.p) * axes;
        for (H, axis) in H.iter_mut().zip(axes.column_iter()) {
            *H = Twist::new(axis.into_owned(), Vec3::zeros());
        }
        qd.copy_from_slice(axes.tr_mul(w).as_slice());
    }
}

/// The equations (2) of one step at the midpoint.
struct StepEquations<'a, S: Scalar<Constant = f64>> {
    start: &'a Start,
    at: Configuration<'a, S>,
    applied: &'a Applied<S>,
    /// Step length, s, `1/h` and `2/h`.
    h: f64,
    per_h: S,
    twice_per_h: S,
    /// Midpoint rates.
    u: &'a [S],
}

impl<S: Scalar<Constant = f64>> StepEquations<'_, S> {
    /// Computes the unbalanced wrench on each body: inertial forces less loads less the elastic
    /// forces of geometrically exact beams.
    #[inline(always)]
    fn set_wrenches(&self, F: &mut [Wrench<S>]) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = self.at;
        for (i, constants) in derived.bodies.iter().enumerate() {
            let (B, start) = (&kinematics.bodies[i], &self.start.bodies[i]);
            let D = (cross_matrix(&B.V_WB.w) * B.R_WB - lift33::<S>(&start.D_rate)) * self.twice_per_h;
            let v = (B.V_WB.v - lift3::<S>(&start.v)) * self.twice_per_h;
            let (first, second) = (lift3::<S>(&constants.h), lift33::<S>(&constants.J_Bo.second_moment()));
            let f = v * S::lift(constants.m) + D * first;
            let of_axes = v * first.transpose() + D * second;
            let t = (0..3).fold(Vec3::zeros(), |t, k| t + B.R_WB.column(k).cross(&of_axes.column(k)));
            F[i] = Wrench::new(t, f) - self.applied.wrench[i];
        }
        for (beam, constants) in system.directors.iter().zip(&derived.directors) {
            for (i, [a, b]) in beam.spans().enumerate() {
                let (A, B) = (&kinematics.bodies[a], &kinematics.bodies[b]);
                let rates = Span {
                    r: B.V_WB.v - A.V_WB.v,
                    triads: [A, B].map(|at| cross_matrix(&at.V_WB.w) * at.R_WB),
                };
                let (element, here) = constants.element(i, kinematics.span([a, b]));
                let (_, rates) = constants.element(i, rates);
                let stress = element.stress(&element.strain_of_step(&rates, self.h));
                let on_b = element.wrench(&here, &stress);
                F[b] = F[b] - on_b;
                F[a] = F[a] + on_b.shift(&here.r);
            }
        }
    }

    /// Writes the residual of body `i`'s joint; the wrench on the body includes its outboard part.
    #[inline(always)]
    fn write_joint(&self, i: usize, midpoint: &Midpoint<S>, residual: &mut [S]) {
        let (applied, kinematics) = (self.applied, self.at.kinematics);
        let body = &self.at.system.bodies[i];
        let (v, n) = (body.joint.v, body.joint.nv);
        let (B, F) = (&kinematics.bodies[i], &midpoint.F[i]);
        let (H, tau) = (&kinematics.H[v..v + n], &applied.tau[v..v + n]);
        let out = &mut residual[v..v + n];
        match &self.at.derived.bodies[i].joint {
            joint if applied.driven[i] => {
                let rates = match joint {
                    JointModel::Spherical(_) => &midpoint.qd,
                    _ => self.u,
                };
                for (k, out) in out.iter_mut().enumerate() {
                    let change = (rates[v + k] - S::lift(self.start.qd[v + k])) * self.twice_per_h;
                    *out = change - applied.qdd[v + k];
                }
            }
            JointModel::Spherical(_) => {
                let t = H.iter().zip(tau).fold(F.t, |t, (H, &tau)| t - H.w * tau);
                out.copy_from_slice(t.as_slice());
            }
            JointModel::Free(joint) => {
                let axes =
                    body.parent.map_or(Mat3::identity(), |P| kinematics.bodies[P].R_WB) * lift33::<S>(joint.axes());
                let t = F.t - B.R_WB * Vec3::from_column_slice(&tau[..3]);
                let f = F.f - axes * Vec3::from_column_slice(&tau[3..]);
                out[..3].copy_from_slice(t.as_slice());
                out[3..].copy_from_slice(f.as_slice());
            }
            joint => {
                for (k, out) in out.iter_mut().enumerate() {
                    *out = F.power(&H[k]) - tau[k] * midpoint.rate_ratio[v + k];
                }
                let rotors = &self.at.derived.rotor_inertia[v..v + n];
                if rotors.iter().any(|rotor| *rotor > 0.0) {
                    self.add_rotors(i, joint, rotors, &midpoint.q, out);
                }
            }
        }
    }

    /// Adds the torques of the rotors of body `i`'s joint to its residual.
    fn add_rotors(&self, i: usize, joint: &JointModel<f64>, rotors: &[f64], q: &[S], out: &mut [S]) {
        let (start, kinematics) = (self.start, self.at.kinematics);
        let body = &self.at.system.bodies[i];
        let B = start.end(i, self.h, kinematics);
        let P = body
            .parent
            .map_or_else(End::world, |P| start.end(P, self.h, kinematics));
        let V_FB = B.V - P.V.shift(&(B.r - P.r));
        with_joint!(joint, joint => {
            let first = body.joint.q;
            let q_1 = std::array::from_fn(|k| q[first + k] * S::lift(2.0) - S::lift(start.q[first + k]));
            let rates = dual(&joint.subspace(&q_1, &P.D, &B.D)).map(|V| V.power(&V_FB));
            // The joint rates at both ends follow from the bodies' velocities: `2 u − q̇₀` would
            // propagate an error of the initial rates to the next step.
            for (k, (out, rate)) in out.iter_mut().zip(rates).enumerate() {
                *out += (rate - S::lift(start.qd[body.joint.v + k])) * self.per_h * S::lift(rotors[k]);
            }
        });
    }

    /// Writes the residual of the nodes of ANCF beams.
    #[inline(always)]
    fn write_nodes(&self, midpoint: &Midpoint<S>, residual: &mut [S]) {
        let Configuration { system, derived, .. } = self.at;
        for (beam, constants) in system.nodal.iter().zip(&derived.nodal) {
            let out = &mut residual[beam.rates()];
            for (out, tau) in out.iter_mut().zip(&self.applied.tau[beam.rates()]) {
                *out = -*tau;
            }
            for (i, element) in constants.elements.iter().enumerate() {
                let e = AncfBeam::of_element(&midpoint.q, beam.q, i);
                let rate = AncfBeam::of_element(&midpoint.qd, beam.v, i);
                let mut Q = [Vec3::zeros(); 4];
                element.add_forces_of_step(&e, &rate, self.h, &mut Q);
                let before = AncfBeam::of_element(&self.start.qd, beam.v, i);
                let change: [Vec3<S>; 4] =
                    std::array::from_fn(|k| (rate[k] - lift3::<S>(&before[k])) * self.twice_per_h);
                for (k, row) in element.mass_matrix().into_iter().enumerate() {
                    let missing = crate::nodal::interpolate(row, &change) - Q[k];
                    let first = PER_NODE * i + 3 * k;
                    out[first..first + 3]
                        .iter_mut()
                        .zip(&missing)
                        .for_each(|(out, missing)| *out += *missing);
                }
            }
        }
    }
}

/// Directors, position and twist of a body at the end of a step, world axes.
struct End<S: Scalar<Constant = f64>> {
    D: Mat3<S>,
    r: Vec3<S>,
    V: Twist<S>,
}

impl<S: Scalar<Constant = f64>> End<S> {
    fn world() -> Self {
        Self {
            D: Mat3::identity(),
            r: Vec3::zeros(),
            V: Twist::zero(),
        }
    }
}

/// A relative attitude at the midpoint of a step.
struct MidpointAttitude<S> {
    /// `(q₀ + q₁)/2`.
    mean: Quaternion<S>,
    /// Ratio of the finite-difference rate to the midpoint rate for the rotation (4):
    /// `4 sin(δ/4)/|2(g − p × g)|` with the rotation angle δ.
    rate_ratio: S,
}

impl<S: Scalar<Constant = f64>> MidpointAttitude<S> {
    /// Creates the midpoint of `q₀` and of `q₀` rotated by (4).
    fn of(turn: Quaternion<S>, q_0: Quaternion<f64>) -> Self {
        let length = turn.norm_squared().sqrt();
        // `(q₀ + q₁)/2 = ½ (1 + turn/|turn|) ⊗ q₀`.
        let Quaternion { w, x, y, z } = turn;
        let k = S::lift(0.5) / length;
        let both = Quaternion::new((length + w) * k, x * k, y * k, z * k);
        Self {
            mean: both * q_0.lift(),
            rate_ratio: S::lift(2.0) / (S::lift(2.0) * length * (length + w)).sqrt(),
        }
    }
}
