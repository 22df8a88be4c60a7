mod arm;
mod held;
mod partials;

pub use held::HeldAttitude;
pub use partials::{Gradient, JointAdjoints, Partials, add_kinematics};

use arm::{Arm, Frame};

use crate::algebra::{ArticulatedInertia, Quaternion, Twist, Vec3, Wrench};
use crate::dynamics::body::{inertia_and_bias, rigid_body};
use crate::dynamics::{Applied, Dynamics};
use crate::spec::JointType;
use crate::system::joint::groups;
use crate::system::{
    AncfBeam, BodyKinematics, Carrier, Configuration, JointState, Kinematics, ModalAdjoints, ModalMotion, Modes,
    ReferenceMotion, System, along_modes,
};

/// Adjoint of the equations of motion of trees of rigid and flexible bodies, in O(n).
///
/// A function of positions, velocities, accelerations, joint reactions and loads has derivatives
/// with respect to all of these, the [`Gradient`]. This recursion computes from them the
/// derivatives with respect to coordinates, rates and loads alone, for accelerations that solve the
/// equations of motion (`docs/theory/adjoint.md`, whose numbers the comments cite). The calls are,
/// in order:
/// [`begin`](Self::begin), [`accelerations`](Self::accelerations), [`respond`](Self::respond) and
/// [`coordinates`](Self::coordinates).
#[derive(Clone, Debug)]
pub struct TreeAdjoint {
    bodies: Vec<BodyAdjoint>,
    /// Stations of flexible bodies, as bodies without mass.
    stations: Vec<BodyAdjoint>,
    /// Adjoints of the derivatives of the rates, without the part from bodies.
    direct: Vec<f64>,
    /// Adjoints of the derivatives of the rates, with the part from bodies.
    qdd_bar: Vec<f64>,
    /// `λ`: the adjoints of the generalised forces.
    lambda: Vec<f64>,
    /// Part of `λ` due to one load.
    response: Vec<f64>,
    load: Applied<f64>,
    /// Rates of the modes in the virtual motion, `−λ`.
    virtual_rates: Vec<f64>,
    /// Workspace for the fields of a flexible body.
    fields: Vec<[f64; 4]>,
}

#[derive(Clone, Copy, Debug)]
struct BodyAdjoint {
    /// Acceleration of the origin, `A_bias` included.
    A: Twist<f64>,
    I: ArticulatedInertia<f64>,
    /// Inertial wrench; the same less the load; the last summed over the outboard part.
    inertial: Wrench<f64>,
    own: Wrench<f64>,
    f: Wrench<f64>,
    /// Virtual motion `Λ` by the rates `−λ`, and by the adjoints of reactions.
    virtual_motion: Twist<f64>,
    cut: Twist<f64>,
    /// Derivative of the virtual power of the inertial forces with respect to the acceleration.
    by_acceleration: Wrench<f64>,
    /// Derivatives with respect to a virtual displacement of the body and of its outboard part, and
    /// to its first and second time derivative.
    G: [Wrench<f64>; 3],
}

impl BodyAdjoint {
    /// Creates that of a station with the acceleration `A`.
    fn new(A: Twist<f64>) -> Self {
        Self {
            A,
            I: ArticulatedInertia::zero(),
            inertial: Wrench::zero(),
            own: Wrench::zero(),
            f: Wrench::zero(),
            virtual_motion: Twist::zero(),
            cut: Twist::zero(),
            by_acceleration: Wrench::zero(),
            G: [Wrench::zero(); 3],
        }
    }

    /// Adds the derivatives of a function of position and motion, (4), apart from that with respect to
    /// the acceleration in `G[2]`; `w` is the angular velocity.
    fn add(&mut self, w: &Vec3<f64>, of: &Gradient) {
        let [G_0, G_1, _] = &mut self.G;
        *G_0 = *G_0 + of.pose;
        *G_1 = *G_1 + of.velocity;
        G_0.t += w.cross(&of.velocity.t) + self.A.w.cross(&of.acceleration.t);
        G_1.t += w.cross(&of.acceleration.t);
    }

    fn motion(&self, w: Vec3<f64>, virtual_motion: Twist<f64>) -> ReferenceMotion {
        ReferenceMotion {
            w,
            A: self.A,
            virtual_motion,
        }
    }
}

impl TreeAdjoint {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        let body = BodyAdjoint::new(Twist::zero());
        let fields = system.flexible().map(Modes::most_fields);
        Self {
            bodies: vec![body; system.bodies.len()],
            stations: vec![body; system.stations.len()],
            direct: vec![0.0; system.nv],
            qdd_bar: vec![0.0; system.nv],
            lambda: vec![0.0; system.nv],
            response: vec![0.0; system.nv],
            load: Applied::none(system),
            virtual_rates: vec![0.0; system.nv],
            fields: Vec::with_capacity(fields.max().unwrap_or(0)),
        }
    }

    /// Stores the solution `qdd` of the equations of motion under the loads `applied`, with the
    /// accelerations `A` beyond `A_bias`, and begins with the adjoints `qdd_bar` of the rates'
    /// derivatives.
    pub fn begin(
        &mut self,
        at: Configuration<f64>,
        applied: &Applied<f64>,
        A: &[Twist<f64>],
        qdd: &[f64],
        qdd_bar: &[f64],
    ) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        self.direct.copy_from_slice(qdd_bar);
        self.qdd_bar.copy_from_slice(qdd_bar);
        self.lambda.fill(0.0);
        self.virtual_rates.fill(0.0);
        for (i, body) in self.bodies.iter_mut().enumerate() {
            let (I, bias) = inertia_and_bias(system, derived, kinematics, i);
            let mut inertial = I.times(&A[i]) + bias;
            if let Some(modes) = &system.bodies[i].modes {
                let eta_ddot = &qdd[modes.rates()];
                for (L, &rate) in kinematics.deflections[modes.index].L.iter().zip(eta_ddot) {
                    inertial = inertial + *L * rate;
                }
                for s in modes.stations.clone() {
                    let beyond = kinematics.beyond_bias(system, modes, s, &A[i], eta_ddot);
                    self.stations[s] = BodyAdjoint::new(kinematics.stations[s].A_bias + beyond);
                }
            }
            let own = inertial - applied.wrench[i];
            *body = BodyAdjoint {
                I,
                inertial,
                own,
                f: own,
                ..BodyAdjoint::new(kinematics.bodies[i].A_bias + A[i])
            };
        }
    }

    /// Returns the entry of a carrier; `None` for the world.
    fn carrier_mut(&mut self, carrier: Carrier) -> Option<&mut BodyAdjoint> {
        match carrier {
            Carrier::Body(body) => Some(&mut self.bodies[body]),
            Carrier::Station(station) => Some(&mut self.stations[station]),
            Carrier::World | Carrier::Point(_) => None,
        }
    }

    /// Returns the acceleration of the origin of body `i`, or of station `i` less the number of
    /// bodies, `A_bias` included.
    pub fn acceleration(&self, i: usize) -> &Twist<f64> {
        let stations = self.stations.get(i.wrapping_sub(self.bodies.len()));
        &stations.unwrap_or_else(|| &self.bodies[i]).A
    }

    /// Adds the adjoints of accelerations and reactions of bodies, and the `direct` ones of the
    /// rates' derivatives, to the adjoints of the rates' derivatives.
    pub fn accelerations(&mut self, at: Configuration<f64>, gradients: &[Gradient], direct: &[f64]) {
        let (system, kinematics) = (at.system, at.kinematics);
        for (sum, direct) in self.direct.iter_mut().zip(direct) {
            *sum += direct;
        }
        for (i, body) in system.bodies.iter().enumerate() {
            let carrier = body.carrier().of(&self.bodies, &self.stations);
            let carried = carrier.map_or_else(Twist::zero, |P| P.cut.shift(&kinematics.bodies[i].r_PB_W));
            let cut = carried + gradients[i].reaction;
            self.bodies[i].cut = cut;
            for s in body.modes.iter().flat_map(|modes| modes.stations.clone()) {
                self.stations[s].cut = cut.shift(&kinematics.stations[s].r_PB_W);
            }
        }
        self.sum_accelerations(system, kinematics, gradients);
        self.qdd_bar.copy_from_slice(&self.direct);
        for (i, body) in system.bodies.iter().enumerate() {
            for v in body.joint.v..body.joint.v + body.joint.nv {
                self.qdd_bar[v] += self.bodies[i].G[2].power(&kinematics.H[v]);
            }
            if let Some(modes) = &body.modes {
                let cut = self.bodies[i].cut;
                for (v, L) in modes.rates().zip(&kinematics.deflections[modes.index].L) {
                    self.qdd_bar[v] += L.power(&cut);
                }
                for s in modes.stations.clone() {
                    let G = &self.stations[s].G[2];
                    for (v, T) in modes.rates().zip(&kinematics.T[system.stations[s].first..]) {
                        self.qdd_bar[v] += G.power(T);
                    }
                }
            }
        }
    }

    /// Computes the derivatives with respect to the second time derivative of virtual
    /// displacements.
    fn sum_accelerations(&mut self, system: &System, kinematics: &Kinematics<f64>, gradients: &[Gradient]) {
        for (i, (body, gradient)) in self.bodies.iter_mut().zip(gradients).enumerate() {
            body.by_acceleration = body.I.times(&(body.virtual_motion + body.cut));
            if let Some(modes) = &system.bodies[i].modes {
                let rates = &self.virtual_rates[modes.rates()];
                for (L, &rate) in kinematics.deflections[modes.index].L.iter().zip(rates) {
                    body.by_acceleration = body.by_acceleration + *L * rate;
                }
            }
            body.G[2] = body.by_acceleration + gradient.acceleration;
        }
        for (station, gradient) in self.stations.iter_mut().zip(&gradients[system.bodies.len()..]) {
            station.G[2] = gradient.acceleration;
        }
        for (i, body) in system.bodies.iter().enumerate().rev() {
            for s in body.modes.iter().flat_map(|modes| modes.stations.clone()) {
                let carried = self.stations[s].G[2].shift(&kinematics.stations[s].r_PB_W);
                self.bodies[i].G[2] = self.bodies[i].G[2] + carried;
            }
            let carried = self.bodies[i].G[2].shift(&kinematics.bodies[i].r_PB_W);
            if let Some(carrier) = self.carrier_mut(body.carrier()) {
                carrier.G[2] = carrier.G[2] + carried;
            }
        }
    }

    /// Solves `M λ = q̈_bar` with the factorisation of the last solution by `dynamics`, and
    /// computes the virtual motion `Λ`.
    pub fn respond(&mut self, at: Configuration<f64>, dynamics: &mut Dynamics<f64>, gradients: &[Gradient]) {
        self.collect(at);
        dynamics.respond(at, &self.load, &mut self.response);
        self.add_response(at, dynamics.A(), gradients);
    }

    /// Sets the loads to the adjoints of the rates' derivatives.
    fn collect(&mut self, at: Configuration<f64>) {
        let (system, kinematics) = (at.system, at.kinematics);
        self.load.clear();
        for (i, body) in system.bodies.iter().enumerate() {
            let rates = body.joint.v..body.joint.v + body.joint.nv;
            if let Some(modes) = &body.modes {
                self.load.tau[modes.rates()].copy_from_slice(&self.qdd_bar[modes.rates()]);
            }
            if body.joint.kind != JointType::Free {
                self.load.tau[rates.clone()].copy_from_slice(&self.qdd_bar[rates]);
                continue;
            }
            // The response has no generalised forces of free joints: they are a wrench and its
            // reaction.
            let columns = kinematics.H[rates.clone()].iter().zip(&self.qdd_bar[rates]);
            let F = columns.fold(Wrench::zero(), |F, (H, &tau)| F + Wrench::new(H.w, H.v) * tau);
            self.load.wrench[i] = self.load.wrench[i] + F;
            let reaction = F.shift(&kinematics.bodies[i].r_PB_W) * -1.0;
            self.load.push(system, kinematics, body.carrier(), reaction);
        }
        for rates in system.nodal.iter().map(AncfBeam::rates) {
            self.load.tau[rates.clone()].copy_from_slice(&self.qdd_bar[rates]);
        }
    }

    /// Adds the adjoints of accelerations that the adjoints of constraints cause: wrenches on
    /// bodies and generalised forces, which `gradients` include as adjoints of the bodies'
    /// accelerations. Requires [`respond`](Self::respond).
    pub fn constrain(
        &mut self,
        at: Configuration<f64>,
        dynamics: &mut Dynamics<f64>,
        load: &Applied<f64>,
        gradients: &[Gradient],
    ) {
        for (direct, tau) in self.direct.iter_mut().zip(&load.tau) {
            *direct += tau;
        }
        dynamics.respond(at, load, &mut self.response);
        self.add_response(at, dynamics.A(), gradients);
    }

    /// Adds the response with the accelerations `A` to `λ` and the virtual motion `Λ`.
    fn add_response(&mut self, at: Configuration<f64>, A: &[Twist<f64>], gradients: &[Gradient]) {
        let (system, kinematics) = (at.system, at.kinematics);
        for (v, response) in self.response.iter().enumerate() {
            self.lambda[v] += response;
            self.virtual_rates[v] = -self.lambda[v];
        }
        for (i, (body, A)) in self.bodies.iter_mut().zip(A).enumerate() {
            body.virtual_motion = body.virtual_motion - *A;
            if let Some(modes) = &system.bodies[i].modes {
                let rates = &self.virtual_rates[modes.rates()];
                for s in modes.stations.clone() {
                    let moved = kinematics.beyond_bias(system, modes, s, &body.virtual_motion, rates);
                    self.stations[s].virtual_motion = moved;
                }
            }
        }
        self.sum_accelerations(system, kinematics, gradients);
    }

    /// Returns the adjoints of the rates' derivatives; requires
    /// [`accelerations`](Self::accelerations).
    pub fn qdd_bar(&self) -> &[f64] {
        &self.qdd_bar
    }

    /// Returns `λ`, the adjoints of the generalised forces.
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Returns the motions of the bodies by the adjoints of the joints' reactions.
    pub fn cuts(&self) -> impl Iterator<Item = &Twist<f64>> {
        self.bodies.iter().map(|body| &body.cut)
    }

    /// Returns the part of `λ` of the last [`constrain`](Self::constrain).
    pub fn response(&self) -> &[f64] {
        &self.response
    }

    /// Sets all bodies to rest, without loads and adjoints, so that
    /// [`coordinates`](Self::coordinates) differentiates a function of positions and velocities.
    pub fn rest(&mut self) {
        let all = self.bodies.iter_mut().chain(&mut self.stations);
        all.for_each(|body| *body = BodyAdjoint::new(Twist::zero()));
        self.lambda.fill(0.0);
        self.virtual_rates.fill(0.0);
    }

    /// Returns the adjoint of the load on a body, a twist; requires [`respond`](Self::respond).
    pub fn of_wrench(&self, body: usize) -> Twist<f64> {
        (self.bodies[body].virtual_motion + self.bodies[body].cut) * -1.0
    }

    /// Returns the adjoint of the load on station `s`, a twist; requires [`respond`](Self::respond).
    pub fn of_station(&self, s: usize) -> Twist<f64> {
        (self.stations[s].virtual_motion + self.stations[s].cut) * -1.0
    }

    /// Returns the adjoint of the mass of `body` relative to that at the start, (21); requires
    /// [`respond`](Self::respond).
    pub fn of_fill(&self, at: Configuration<f64>, body: usize) -> f64 {
        let (here, adjoint) = (&at.kinematics.bodies[body], &self.bodies[body]);
        let (I, bias) = rigid_body(&at.derived.bodies[body], here);
        let inertial = I.times(&(adjoint.A - here.A_bias)) + bias;
        inertial.power(&(adjoint.virtual_motion + adjoint.cut))
    }

    /// Returns the adjoint of the prescribed derivative of the rate `v` of the joint of `body`.
    pub fn of_driven(&self, kinematics: &Kinematics<f64>, body: usize, v: usize) -> f64 {
        self.direct[v] + self.bodies[body].G[2].power(&kinematics.H[v])
    }

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
        let (system, kinematics) = (at.system, at.kinematics);
        for i in (0..system.bodies.len()).rev() {
            if let Some(modes) = &system.bodies[i].modes {
                for s in modes.stations.clone() {
                    let w = &kinematics.stations[s].V_WB.w;
                    self.stations[s].add(w, &of.bodies[system.bodies.len() + s]);
                }
                self.add_modes(at, i, modes, joints, qdd, bars);
            }
            self.add_own(&kinematics.bodies[i], i, &of.bodies[i]);
            self.add_columns(system, kinematics, i, of.columns);
            self.joint(at, i, joints, qdd, bars);
            self.propagate_to_parent(system, kinematics, i, joints.qd, qdd);
        }
    }

    /// Adds the body's own part to `G`, (5) and (6).
    fn add_own(&mut self, here: &BodyKinematics<f64>, i: usize, of: &Gradient) {
        let body = &mut self.bodies[i];
        let w = &here.V_WB.w;
        let moved = body.virtual_motion + body.cut;
        let (mu, nu, inertial) = (&moved.w, &moved.v, &body.inertial);
        let by_acceleration = body.by_acceleration;
        let (I, load) = (&body.I, body.inertial - body.own);
        let h = Vec3::new(I.B[(2, 1)], I.B[(0, 2)], I.B[(1, 0)]);
        let by_w = w.cross(&h).cross(nu) + h.cross(&nu.cross(w)) + I.J.times(w).cross(mu) + I.J.times(&mu.cross(w));
        let [G_0, G_1, _] = &mut body.G;
        let a = &body.A;
        G_0.t -= a.v.cross(&by_acceleration.f)
            + nu.cross(&inertial.f)
            + body.cut.w.cross(&inertial.t)
            + body.virtual_motion.w.cross(&load.t);
        G_0.f += body.own.f.cross(&body.cut.w) - body.f.f.cross(&of.reaction.w);
        G_1.t += by_w + w.cross(&by_acceleration.t);
        body.add(w, of);
    }

    /// Adds the derivatives with respect to the columns of the joint of body `i`, which rotate with
    /// the body or with its carrier.
    fn add_columns(&mut self, system: &System, kinematics: &Kinematics<f64>, i: usize, columns: &[Wrench<f64>]) {
        let body = &system.bodies[i];
        let joint = &body.joint;
        for k in 0..joint.nv {
            let (H, of) = (&kinematics.H[joint.v + k], &columns[joint.v + k]);
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
    fn joint(&self, at: Configuration<f64>, i: usize, joints: JointState<f64>, qdd: &[f64], bars: &mut JointAdjoints) {
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
                frame.w += H.w * joints.qd[v];
                frame.alpha += H.w * qdd[v] + before.w.cross(&H.w) * joints.qd[v];
                frame.virtual_w -= H.w * self.lambda[v];
            }
            for k in group.clone() {
                let C = &kinematics.H[joint.v + k];
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
    fn add_modes(
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
            arm.carry(&G, &f, &mut self.bodies[i]);
        }
    }

    /// Adds `G` and `f` of body `i` to those of its parent, (8).
    fn propagate_to_parent(
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
        let arm = Arm::new(
            kinematics.bodies[i].r_PB_W,
            frame,
            sum(&qd[rates.clone()]),
            sum(&qdd[rates.clone()]),
            -sum(&self.lambda[rates]),
        );
        let BodyAdjoint { G, f, .. } = self.bodies[i];
        if let Some(carrier) = self.carrier_mut(body.carrier()) {
            arm.carry(&G, &f, carrier);
        }
    }
}
