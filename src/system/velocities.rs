use super::joint::{Motion, dual, part, part_mut, with_joint};
use super::kinematics::{place, set_in_motion};
use super::{Baumgarte, BodyKinematics, Derived, Kinematics, Mechanism, Recovered, System};
use crate::algebra::{Scalar, Twist, lift3};

/// Components of one body's dual velocity: its angular velocity, then the velocity of its mass
/// centre, both in body axes.
pub const PER_BODY: usize = 6;

impl System {
    /// Computes the derivatives of the coordinates of joints and modes from their rates.
    pub fn q_dot<S: Scalar>(&self, derived: &Derived<S::Constant>, q: &[S], qd: &[S], q_dot: &mut [S]) {
        for (body, constants) in self.bodies.iter().zip(&derived.bodies) {
            let joint = &body.joint;
            with_joint!(&constants.joint, j => {
                *part_mut(q_dot, joint.q) = j.q_dot(part(q, joint.q), part(qd, joint.v));
            });
            if let Some(modes) = &body.modes {
                q_dot[modes.coordinates()].copy_from_slice(&qd[modes.rates()]);
            }
        }
        for beam in &self.nodal {
            q_dot[beam.coordinates()].copy_from_slice(&qd[beam.rates()]);
        }
    }

    /// Computes the rates for which [`q_dot`](Self::q_dot) returns `q_dot`, except for its parts
    /// along quaternions.
    pub fn rates_of<S: Scalar>(&self, derived: &Derived<S::Constant>, q: &[S], q_dot: &[S], qd: &mut [S]) {
        for (body, constants) in self.bodies.iter().zip(&derived.bodies) {
            let joint = &body.joint;
            with_joint!(&constants.joint, j => {
                *part_mut(qd, joint.v) = j.rates_of(part(q, joint.q), part(q_dot, joint.q));
            });
            if let Some(modes) = &body.modes {
                qd[modes.rates()].copy_from_slice(&q_dot[modes.coordinates()]);
            }
        }
        for beam in &self.nodal {
            qd[beam.rates()].copy_from_slice(&q_dot[beam.coordinates()]);
        }
    }

    /// Writes the dual velocities of bodies whose motion satisfies the joints to `rates`.
    pub fn write_velocities<S: Scalar>(
        &self,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        rates: &mut [S],
    ) {
        let bodies = derived.bodies.iter().zip(&kinematics.bodies);
        for ((constants, at), rates) in bodies.zip(rates.chunks_mut(PER_BODY)) {
            let w = at.V_WB.express(&at.R_WB.transpose()).shift(&lift3(&constants.p_BoBcm));
            rates.copy_from_slice(&w.to_array());
        }
    }

    /// Computes the derivatives of the dual velocities from the accelerations `A` of the bodies'
    /// origins beyond their `A_bias`.
    pub fn velocities_dot<S: Scalar>(
        &self,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        A: &[Twist<S>],
        d_rates: &mut [S],
    ) {
        let bodies = derived.bodies.iter().zip(&kinematics.bodies).zip(A);
        for (((constants, at), A), d_rates) in bodies.zip(d_rates.chunks_mut(PER_BODY)) {
            let (R_BW, c) = (at.R_WB.transpose(), lift3(&constants.p_BoBcm));
            let (V, A) = (at.V_WB.express(&R_BW), (at.A_bias + *A).express(&R_BW));
            // The mass centre has the velocity v + ω × c and the acceleration a + α × c + ω × (ω ×
            // c). The derivative of the velocity's components in body axes is a + α × c − ω × v.
            let w_dot = Twist::new(A.w, A.v + A.w.cross(&c) - V.w.cross(&V.v));
            d_rates.copy_from_slice(&w_dot.to_array());
        }
    }
}

impl<S: Scalar> Kinematics<S> {
    /// Computes all quantities from the joint coordinates `q` (`nq`) and the dual velocities of all
    /// bodies, and recovers the joint rates.
    ///
    /// A joint's rates are those of the admissible motion nearest to that of its bodies. The
    /// remaining constraint violation at velocity level is damped ([`damping`](Self::damping)).
    pub fn follow(
        &mut self,
        mechanism: Mechanism<'_, S::Constant>,
        baumgarte: Baumgarte,
        q: &[S],
        rates: &[S],
        recovered: &mut Recovered<S>,
    ) {
        let Mechanism { system, derived } = mechanism;
        self.damping = 2.0 * baumgarte.alpha;
        recovered.q.copy_from_slice(q);
        let world = BodyKinematics::world();
        for (i, (body, constants)) in system.bodies.iter().zip(&derived.bodies).enumerate() {
            let (done, rest) = self.bodies.split_at_mut(i);
            let (P, B) = (body.parent.map_or(&world, |parent| &done[parent]), &mut rest[0]);
            let (p_PF, c) = (lift3(&constants.p_PF), lift3::<S>(&constants.p_BoBcm));
            let (jq, jv) = (body.joint.q, body.joint.v);
            with_joint!(&constants.joint, joint => {
                let H = part_mut(&mut self.H, jv);
                place(joint, P, &p_PF, part(q, jq), H, B);
                let V_WB = Twist::from_slice(&rates[PER_BODY * i..]).shift(&-c).express(&B.R_WB);
                let qd = dual(H).map(|V| V.power(&(V_WB - P.V_WB.shift(&B.r_PB_W))));
                set_in_motion(joint, P, &qd, H, B);
                *part_mut(&mut recovered.qd, jv) = qd;
                recovered.violation_rate[i] = V_WB - B.V_WB;
                B.V_WB = V_WB;
            });
        }
    }
}
