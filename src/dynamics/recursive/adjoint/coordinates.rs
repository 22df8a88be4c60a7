use super::arm::{Arm, Frame};
use super::{BodyAdjoint, Gradient, JointAdjoints, Partials, TreeAdjoint};
use crate::algebra::{Quaternion, Twist, Vec3, Wrench};
use crate::spec::JointType;
use crate::system::joint::groups;
use crate::system::{
    BodyKinematics, Carrier, Configuration, JointState, Kinematics, ModalAdjoints, ModalMotion, Modes, System,
    along_modes,
};

/// Recursion to the derivatives with respect to coordinates and rates.
impl TreeAdjoint {
    /// Adds the derivatives with respect to coordinates and rates to `bars`; `qdd` are the
    /// derivatives of the rates.
    pub fn coordinates(
        &mut self,
        at: Configuration<f64>,
        of: Partials,
        joints: JointState<f64>,
        qdd: &[f64],
        bars: &mut JointAdjoints,
    ) {
        self.add_coordinates::<false>(at, of, joints, qdd, bars);
    }

    /// [`coordinates`](Self::coordinates) at zero rates, of functions that depend neither on
    /// velocities nor on the joints' columns; without the derivatives with respect to rates of
    /// joints.
    pub fn coordinates_at_rest(
        &mut self,
        at: Configuration<f64>,
        bodies: &[Gradient],
        joints: JointState<f64>,
        qdd: &[f64],
        bars: &mut JointAdjoints,
    ) {
        self.add_coordinates::<true>(at, Partials { bodies, columns: &[] }, joints, qdd, bars);
    }

    /// [`coordinates`](Self::coordinates); if `RESTS`, without operations on velocities, which are
    /// zero.
    fn add_coordinates<const RESTS: bool>(
        &mut self,
        at: Configuration<f64>,
        of: Partials,
        joints: JointState<f64>,
        qdd: &[f64],
        bars: &mut JointAdjoints,
    ) {
        let (system, kinematics) = (at.system, at.kinematics);
        for i in (0..system.bodies.len()).rev() {
            if let Some(modes) = &system.bodies[i].modes {
                for s in modes.stations.clone() {
                    let w = &kinematics.stations[s].V_WB.w;
                    self.stations[s].add::<RESTS>(w, &of.bodies[system.bodies.len() + s]);
                }
                self.add_modes::<RESTS>(at, i, modes, joints, qdd, bars);
            }
            self.add_own::<RESTS>(&kinematics.bodies[i], i, &of.bodies[i]);
            if !RESTS {
                self.add_columns(system, kinematics, i, of.columns);
            }
            self.joint::<RESTS>(at, i, joints, qdd, bars);
            self.propagate_to_parent::<RESTS>(system, kinematics, i, joints.qd, qdd);
        }
    }

    /// Adds the body's own part to `G`, (5) and (6).
    fn add_own<const RESTS: bool>(&mut self, here: &BodyKinematics<f64>, i: usize, of: &Gradient) {
        let body = &mut self.bodies[i];
        let w = &here.V_WB.w;
        let moved = body.virtual_motion + body.cut;
        let (mu, nu, inertial) = (&moved.w, &moved.v, &body.inertial);
        let by_acceleration = body.by_acceleration;
        let (I, load) = (&body.I, body.inertial - body.own);
        let [G_0, G_1, _] = &mut body.G;
        let a = &body.A;
        G_0.t -= a.v.cross(&by_acceleration.f)
            + nu.cross(&inertial.f)
            + body.cut.w.cross(&inertial.t)
            + body.virtual_motion.w.cross(&load.t);
        G_0.f += body.own.f.cross(&body.cut.w) - body.f.f.cross(&of.reaction.w);
        if !RESTS {
            let h = Vec3::new(I.B[(2, 1)], I.B[(0, 2)], I.B[(1, 0)]);
            let by_h = w.cross(&h).cross(nu) + h.cross(&nu.cross(w));
            let by_J = I.J.times(w).cross(mu) + I.J.times(&mu.cross(w));
            G_1.t += by_h + by_J + w.cross(&by_acceleration.t);
        }
        body.add::<RESTS>(w, of);
    }

    /// Adds the derivatives with respect to the columns of the joint of body `i`, which rotate with
    /// the body or with its carrier.
    fn add_columns(&mut self, system: &System, kinematics: &Kinematics<f64>, i: usize, columns: &[Wrench<f64>]) {
        let body = &system.bodies[i];
        let joint = &body.joint;
        for k in 0..joint.nv {
            let (H, of) = (&kinematics.H[joint.v + k], &columns[joint.v + k]);
            if of.to_array() == [0.0; 6] {
                continue;
            }
            let moment = H.w.cross(&of.t) + H.v.cross(&of.f);
            let on_carrier = match joint.kind {
                JointType::Universal => k == 0,
                JointType::Planar => k > 0,
                JointType::Free => k > 2,
                _ => false,
            };
            let fixed_to = if on_carrier { body.carrier() } else { Carrier::Body(i) };
            if let Some(carrier) = self.carrier_mut(fixed_to) {
                carrier.G[0].t += moment;
            }
        }
    }

    /// Adds the derivatives with respect to coordinates and rates of the joint of body `i`, (7).
    fn joint<const RESTS: bool>(
        &self,
        at: Configuration<f64>,
        i: usize,
        joints: JointState<f64>,
        qdd: &[f64],
        bars: &mut JointAdjoints,
    ) {
        let kinematics = at.kinematics;
        let body = &at.system.bodies[i];
        let joint = &body.joint;
        let BodyAdjoint { G, f, .. } = &self.bodies[i];
        let turned = |w: &Vec3<f64>, C: &Twist<f64>| Twist::new(w.cross(&C.w), w.cross(&C.v));
        let mut frame = self.frame(kinematics, body.carrier());
        let mut of_q = [0.0; 6];
        for (number, group) in groups(joint.kind).iter().enumerate() {
            let before = frame;
            // The translations of a free joint precede its rotations.
            let on_world = matches!(body.carrier(), Carrier::World);
            let is_fixed = on_world && (number == 0 || joint.kind == JointType::Free);
            for v in group.clone().map(|k| joint.v + k) {
                let H = &kinematics.H[v];
                frame.alpha += H.w * qdd[v];
                if !RESTS {
                    frame.w += H.w * joints.qd[v];
                    frame.alpha += before.w.cross(&H.w) * joints.qd[v];
                }
                frame.virtual_w -= H.w * self.lambda[v];
            }
            for k in group.clone() {
                let C = &kinematics.H[joint.v + k];
                if is_fixed && RESTS {
                    of_q[k] = G[0].power(C);
                    continue;
                }
                if RESTS {
                    let virtual_C = turned(&before.virtual_w, C);
                    of_q[k] = G[0].power(C) + G[2].power(&turned(&before.alpha, C)) + f.power(&virtual_C);
                    continue;
                }
                if is_fixed {
                    of_q[k] = G[0].power(C);
                    bars.qd[joint.v + k] += G[1].power(C) + G[2].power(&turned(&frame.w, C));
                    continue;
                }
                let C_1 = turned(&before.w, C);
                let C_2 = turned(&before.alpha, C) + turned(&before.w, &C_1);
                let virtual_C = turned(&before.virtual_w, C);
                of_q[k] = G[0].power(C) + G[1].power(&C_1) + G[2].power(&C_2) + f.power(&virtual_C);
                bars.qd[joint.v + k] += G[1].power(C) + G[2].power(&(C_1 + turned(&frame.w, C)));
            }
        }
        let is_attitude = joint.nq > joint.nv;
        let attitude = is_attitude.then(|| Quaternion::from_slice(&joints.q[joint.q..]));
        let scale = attitude.map_or(0.0, |attitude| 4.0 / attitude.norm_squared());
        for (k, &of_q) in of_q[..joint.nv].iter().enumerate() {
            match attitude.filter(|_| k < 3) {
                // A change δq is the rotation θ = 2 (q* ⊗ δq)/|q|² (body axes): its component along
                // e is δq·(½ q ⊗ (0, e)) times 4/|q|².
                Some(attitude) => {
                    let along = attitude.rate(Vec3::ith(k, 1.0)).to_array();
                    for (to, along) in bars.q[joint.q..].iter_mut().zip(along) {
                        *to += along * (scale * of_q);
                    }
                }
                None => bars.q[joint.q + k + usize::from(is_attitude)] += of_q,
            }
        }
    }

    /// Returns the motion of a joint's carrier.
    fn frame(&self, kinematics: &Kinematics<f64>, carrier: Carrier) -> Frame {
        let zero = Vec3::zeros();
        let at = carrier.of(&kinematics.bodies, &kinematics.stations);
        match at.zip(carrier.of(&self.bodies, &self.stations)) {
            Some((at, P)) => Frame {
                w: at.V_WB.w,
                alpha: P.A.w,
                virtual_w: P.virtual_motion.w,
            },
            None => Frame {
                w: zero,
                alpha: zero,
                virtual_w: zero,
            },
        }
    }

    /// Adds the derivatives with respect to amplitudes and rates of the modes of body `i`, (9) to
    /// (12), and adds `G` and `f` of its stations to those of the body.
    fn add_modes<const RESTS: bool>(
        &mut self,
        at: Configuration<f64>,
        i: usize,
        modes: &Modes,
        joints: JointState<f64>,
        qdd: &[f64],
        bars: &mut JointAdjoints,
    ) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        let (here, Some(elastic)) = (&kinematics.bodies[i], &derived.bodies[i].elastic) else {
            return;
        };
        let motion = ModalMotion {
            eta: &joints.q[modes.coordinates()],
            rate: &joints.qd[modes.rates()],
            acceleration: &qdd[modes.rates()],
            virtual_rate: &self.virtual_rates[modes.rates()],
        };
        let mut bars = ModalAdjoints {
            eta: &mut bars.q[modes.coordinates()],
            rate: &mut bars.qd[modes.rates()],
        };
        let BodyAdjoint {
            virtual_motion, cut, ..
        } = self.bodies[i];
        let (w, bent) = (here.V_WB.w, &kinematics.deflections[modes.index]);
        let moved = self.bodies[i].motion(w, virtual_motion + cut);
        let by_w = bent.virtual_power(elastic, here, &moved, motion, &mut self.fields, &mut bars);
        self.bodies[i].G[1].t += by_w;
        let body = self.bodies[i].motion(w, virtual_motion);
        for s in modes.stations.clone() {
            let BodyAdjoint { G, f, .. } = self.stations[s];
            let bias = derived.stations[s].add_adjoints(here, &body, motion, &G, &f, &mut bars);
            let r = kinematics.stations[s].r_PB_W;
            let along = |rates: &[f64]| along_modes(system, &kinematics.T, modes, s, rates);
            let arm = Arm::new(
                r,
                self.frame(kinematics, Carrier::Body(i)),
                along(motion.rate),
                along(motion.acceleration) + bias,
                along(motion.virtual_rate),
            );
            arm.carry::<RESTS>(&G, &f, &mut self.bodies[i]);
        }
    }

    /// Adds `G` and `f` of body `i` to those of its parent, (8).
    fn propagate_to_parent<const RESTS: bool>(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        i: usize,
        qd: &[f64],
        qdd: &[f64],
    ) {
        let body = &system.bodies[i];
        if matches!(body.carrier(), Carrier::World) {
            return;
        }
        let frame = self.frame(kinematics, body.carrier());
        let rates = body.joint.v..body.joint.v + body.joint.nv;
        let sum = |rates: &[f64]| {
            let columns = kinematics.H[body.joint.v..].iter().zip(rates);
            columns.fold(Vec3::zeros(), |sum, (H, &rate)| sum + H.v * rate)
        };
        let (r, u_dot) = (kinematics.bodies[i].r_PB_W, sum(&qdd[rates.clone()]));
        let virtual_u = -sum(&self.lambda[rates.clone()]);
        let arm = match RESTS {
            true => Arm::at_rest(r, frame, u_dot, virtual_u),
            false => Arm::new(r, frame, sum(&qd[rates]), u_dot, virtual_u),
        };
        let BodyAdjoint { G, f, .. } = self.bodies[i];
        if let Some(carrier) = self.carrier_mut(body.carrier()) {
            arm.carry::<RESTS>(&G, &f, carrier);
        }
    }
}
