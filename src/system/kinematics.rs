use super::joint::{Motion, part, with_joint};
use super::{Carrier, Deflection, Derived, FrameRef, JointState, Mechanism, PointKinematics, System};
use crate::algebra::fused::{product, rotated};
use crate::algebra::{Mat3, Pose, Scalar, Twist, Vec3, lift3, lift33, one33, outlined, zero3};

/// Positions and motions of all bodies at one instant, the common input of loads and dynamics.
///
/// All quantities are in world axes. A body's motion is that of its own origin; accelerations are
/// the **ordinary** ones (second derivatives of positions). The part `A_bias` due to the rates is
/// separated from the part `A` due to their derivatives: a body's acceleration is `A_bias + A`,
/// with
///
/// ```text
///     A_B = shift(A_P, r) + H q̈,      r = p_B − p_P
/// ```
#[derive(Clone, Debug)]
pub struct Kinematics<S: Scalar> {
    /// Kinematics of each body, in tree order.
    pub bodies: Vec<BodyKinematics<S>>,
    /// Columns of the joints' motion subspaces, one for each rate, about the child's origin.
    pub H: Vec<Twist<S>>,
    /// Deflection of each flexible body.
    pub deflections: Vec<Deflection<S>>,
    /// Stations of flexible bodies, as carriers of bodies.
    pub stations: Vec<BodyKinematics<S>>,
    /// Points of ANCF beams.
    pub points: Vec<PointKinematics<S>>,
    /// Motion of each station for each mode of its body, about the station's origin.
    pub T: Vec<Twist<S>>,
    /// Mass of each body of [`System::propellant`] relative to its start, at which its inertia
    /// is that of [`Derived`].
    pub fills: Vec<S>,
    /// Damping of velocities that violate the joints, in formulations whose bodies have independent
    /// rates, 1/s: Baumgarte's `2α`.
    pub damping: f64,
    /// The carrier of the root bodies.
    world: BodyKinematics<S>,
}

/// Position and motion of one body.
#[derive(Clone, Copy, Debug)]
pub struct BodyKinematics<S: Scalar> {
    /// Attitude.
    pub R_WB: Mat3<S>,
    /// Position of the body's origin, m.
    pub p_WB: Vec3<S>,
    /// Position from the origin of its carrier (a body, a station, the world), m: without
    /// cancellation far from the world's origin. If the body has independent coordinates, it is the
    /// position in the admissible pose, which differs from the actual one by the constraint
    /// violation.
    pub r_PB_W: Vec3<S>,
    /// Angular velocity and velocity of the origin.
    pub V_WB: Twist<S>,
    /// The acceleration for `q̈ = 0`: centripetal and Coriolis accelerations, accumulated from the
    /// world.
    pub A_bias: Twist<S>,
}

impl<S: Scalar> BodyKinematics<S> {
    /// Returns the world as a carrier.
    #[inline(always)]
    pub fn world() -> Self {
        Self {
            R_WB: one33(),
            p_WB: zero3(),
            r_PB_W: zero3(),
            V_WB: Twist::zero(),
            A_bias: Twist::zero(),
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Allocates the quantities of `system`.
    pub fn new(system: &System) -> Self {
        Self {
            bodies: vec![BodyKinematics::world(); system.bodies.len()],
            H: vec![Twist::zero(); system.nv],
            deflections: system.flexible().map(|modes| Deflection::new(modes.n)).collect(),
            stations: vec![BodyKinematics::world(); system.stations.len()],
            points: vec![PointKinematics::nowhere(); system.points.len()],
            T: vec![Twist::zero(); system.columns()],
            fills: vec![S::one(); system.propellant.len()],
            damping: 0.0,
            world: BodyKinematics::world(),
        }
    }

    /// Returns the mass of body `i` relative to its start; `None` for a constant mass.
    #[inline]
    pub fn fill(&self, system: &System, i: usize) -> Option<S> {
        let number = system.propellant.iter().position(|&body| body == i)?;
        Some(self.fills[number])
    }

    /// Returns the mass of body `i`, kg.
    #[inline]
    pub fn mass(&self, of: Mechanism<'_, S::Constant>, i: usize) -> S {
        let m = S::lift(of.derived.bodies[i].m);
        self.fill(of.system, i).map_or(m, |fill| m * fill)
    }

    /// Returns position and motion of a frame's carrier.
    #[inline]
    pub fn carrier(&self, on: Carrier) -> BodyKinematics<S> {
        self.at(on).copied().unwrap_or_else(BodyKinematics::world)
    }

    /// Returns position and motion of a carrier; `None` for the world.
    #[inline]
    fn at(&self, on: Carrier) -> Option<&BodyKinematics<S>> {
        match on {
            Carrier::Point(point) => Some(&self.points[point].at),
            _ => on.of(&self.bodies, &self.stations),
        }
    }

    /// Returns the acceleration of a frame's carrier beyond `A_bias`, about its origin, from those
    /// of the bodies' origins (`A`) and the derivatives `qdd` of the rates.
    #[inline]
    pub fn beyond_bias_of(&self, system: &System, on: Carrier, A: &[Twist<S>], qdd: &[S]) -> Twist<S> {
        match on {
            Carrier::World => Twist::zero(),
            Carrier::Body(body) => A[body],
            Carrier::Point(point) => {
                let beam = &system.nodal[system.points[point].beam];
                self.points[point].beyond_bias(beam, qdd)
            }
            Carrier::Station(s) => {
                let body = system.stations[s].body;
                let modes = system.bodies[body].modes.as_ref();
                modes.map_or_else(Twist::zero, |modes| {
                    self.beyond_bias(system, modes, s, &A[body], &qdd[modes.rates()])
                })
            }
        }
    }

    /// Returns the pose of a frame relative to its carrier's origin, in world axes: without
    /// cancellation far from the world's origin.
    #[inline]
    pub fn arm(&self, system: &System, derived: &Derived<S::Constant>, frame: FrameRef) -> Pose<S> {
        let R = self.at(system.carrier(frame)).map_or_else(Mat3::identity, |at| at.R_WB);
        match frame {
            FrameRef::World | FrameRef::Body(_) | FrameRef::Point(_) => Pose { R, p: zero3() },
            FrameRef::Frame(frame) => {
                let X_BF = &derived.frames[frame].X_BF;
                let p = rotated(&R, &lift3(&X_BF.p));
                match system.frames[frame].is_turned {
                    true => Pose {
                        R: product(&R, &lift33(&X_BF.R)),
                        p,
                    },
                    false => Pose { R, p },
                }
            }
        }
    }

    /// Returns the pose of a frame in the world.
    pub fn pose(&self, system: &System, derived: &Derived<S::Constant>, frame: FrameRef) -> Pose<S> {
        let Pose { R, p } = self.arm(system, derived, frame);
        match self.at(system.carrier(frame)) {
            Some(at) => Pose { R, p: at.p_WB + p },
            None => Pose { R, p },
        }
    }

    /// Returns the values of [`pose`](Self::pose): of a record, without operations.
    pub fn pose_values(&self, system: &System, derived: &Derived<S::Constant>, frame: FrameRef) -> Pose<f64> {
        let at = self.at(system.carrier(frame));
        let on = at.map_or_else(Pose::identity, |at| Pose {
            R: at.R_WB.map(Scalar::value),
            p: at.p_WB.map(Scalar::value),
        });
        match frame {
            FrameRef::Frame(frame) => {
                let Pose { R, p } = &derived.frames[frame].X_BF;
                on.compose(&Pose {
                    R: R.map(Scalar::value),
                    p: p.map(Scalar::value),
                })
            }
            FrameRef::World | FrameRef::Body(_) | FrameRef::Point(_) => on,
        }
    }

    /// Computes all quantities for the coordinates `q` (`nq`) and the rates `qd` (`nv`).
    pub fn update(&mut self, system: &System, derived: &Derived<S::Constant>, q: &[S], qd: &[S]) {
        for (i, (body, constants)) in system.bodies.iter().zip(&derived.bodies).enumerate() {
            let (done, rest) = self.bodies.split_at_mut(i);
            let P = body.carrier().of(done, &self.stations).unwrap_or(&self.world);
            let p_PF = lift3(&constants.p_PF);
            let (jq, jv) = (body.joint.q, body.joint.v);
            with_joint!(&constants.joint, joint => {
                carry(joint, P, &p_PF, part(q, jq), part(qd, jv), super::joint::part_mut(&mut self.H, jv), &mut rest[0]);
            });
            if let Some(modes) = &body.modes {
                self.bend(Mechanism { system, derived }, i, modes, JointState { q, qd });
            }
        }
        self.place_points(system, derived, q, qd);
    }

    /// Computes position and motion of the points of ANCF beams.
    pub fn place_points(&mut self, system: &System, derived: &Derived<S::Constant>, q: &[S], qd: &[S]) {
        for ((at, point), site) in self.points.iter_mut().zip(&system.points).zip(&derived.sites) {
            let z = &derived.nodal[point.beam].z;
            at.update(&system.nodal[point.beam], z, site, q, qd);
        }
    }
}

/// Computes position and motion of a body B from those of its carrier P; F is the joint's inboard
/// frame.
#[inline(always)]
fn carry<J: Motion<S, NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
    joint: &J,
    P: &BodyKinematics<S>,
    p_PF: &Vec3<S>,
    q: &[S; NQ],
    qd: &[S; NV],
    H: &mut [Twist<S>; NV],
    B: &mut BodyKinematics<S>,
) {
    let (mut columns, mut at) = ([Twist::zero(); NV], BodyKinematics::world());
    place(joint, P, p_PF, q, &mut columns, &mut at);
    set_in_motion(joint, P, qd, &columns, &mut at);
    (*H, *B) = (columns, at);
}

/// Computes the position of B and the motion subspace of its joint.
#[inline(always)]
pub(super) fn place<J: Motion<S, NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
    joint: &J,
    P: &BodyKinematics<S>,
    p_PF: &Vec3<S>,
    q: &[S; NQ],
    H: &mut [Twist<S>; NV],
    B: &mut BodyKinematics<S>,
) {
    outlined!(S, {
        // F is fixed to P and has the same axes.
        let R_WF = &P.R_WB;
        let X_FB = joint.pose(q);
        B.R_WB = R_WF * X_FB.R;
        B.r_PB_W = if J::TRANSLATES {
            R_WF * (p_PF + X_FB.p)
        } else {
            R_WF * p_PF
        };
        B.p_WB = P.p_WB + B.r_PB_W;
        *H = joint.subspace(q, R_WF, &B.R_WB);
    })
}

/// Computes velocity and bias acceleration of B; requires [`place`].
#[inline(always)]
pub(super) fn set_in_motion<J: Motion<S, NQ, NV>, const NQ: usize, const NV: usize, S: Scalar>(
    joint: &J,
    P: &BodyKinematics<S>,
    qd: &[S; NV],
    H: &[Twist<S>; NV],
    B: &mut BodyKinematics<S>,
) {
    outlined!(S, {
        let V_FB = joint.velocity(H, qd);
        let bias = joint.bias(H, qd);

        // (1)  w = w_P + w_FB,                v = v_P + w_P × r + v_FB
        // (2)  α = α_P + w_P × w_FB + bias_w, a = a_P + α_P × r + w_P × (w_P × r + 2 v_FB) + bias_v
        let w_P = &P.V_WB.w;
        let w_P_x_r = w_P.cross(&B.r_PB_W);
        B.V_WB = Twist::new(P.V_WB.w, P.V_WB.v + w_P_x_r);
        B.A_bias = P.A_bias.shift(&B.r_PB_W) + bias;
        B.A_bias.v += w_P.cross(&w_P_x_r);
        if J::ROTATES {
            B.V_WB.w += V_FB.w;
            B.A_bias.w += w_P.cross(&V_FB.w);
        }
        if J::TRANSLATES {
            B.V_WB.v += V_FB.v;
            B.A_bias.v += w_P.cross(&(V_FB.v + V_FB.v));
        }
    })
}
