mod arm;
mod coordinates;
mod held;
mod partials;

pub use held::HeldAttitude;
pub use partials::{Gradient, JointAdjoints, Partials, add_kinematics};

use crate::algebra::{ArticulatedInertia, Twist, Vec3, Wrench};
use crate::dynamics::body::{inertia_and_bias, rigid_body};
use crate::dynamics::{Applied, Dynamics};
use crate::spec::JointType;
use crate::system::{AncfBeam, Carrier, Configuration, Kinematics, Modes, ReferenceMotion, System};

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
    fn add<const RESTS: bool>(&mut self, w: &Vec3<f64>, of: &Gradient) {
        let [G_0, G_1, _] = &mut self.G;
        *G_0 = *G_0 + of.pose;
        G_0.t += self.A.w.cross(&of.acceleration.t);
        if !RESTS {
            *G_1 = *G_1 + of.velocity;
            G_0.t += w.cross(&of.velocity.t);
            G_1.t += w.cross(&of.acceleration.t);
        }
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
        self.begin_with(at, applied, A, qdd, qdd_bar, |_, i| {
            inertia_and_bias(at.system, at.derived, at.kinematics, i)
        });
    }

    /// [`begin`](Self::begin) in the same position as before, at rest.
    pub fn begin_again_at_rest(
        &mut self,
        at: Configuration<f64>,
        applied: &Applied<f64>,
        A: &[Twist<f64>],
        qdd: &[f64],
        qdd_bar: &[f64],
    ) {
        self.begin_with(at, applied, A, qdd, qdd_bar, |before, _| (before.I, Wrench::zero()));
    }

    /// [`begin`](Self::begin) with the inertias and the inertial wrenches at zero accelerations.
    fn begin_with(
        &mut self,
        at: Configuration<f64>,
        applied: &Applied<f64>,
        A: &[Twist<f64>],
        qdd: &[f64],
        qdd_bar: &[f64],
        inertia: impl Fn(&BodyAdjoint, usize) -> (ArticulatedInertia<f64>, Wrench<f64>),
    ) {
        let Configuration { system, kinematics, .. } = at;
        self.direct.copy_from_slice(qdd_bar);
        self.qdd_bar.copy_from_slice(qdd_bar);
        self.lambda.fill(0.0);
        self.virtual_rates.fill(0.0);
        for (i, body) in self.bodies.iter_mut().enumerate() {
            let (I, bias) = inertia(body, i);
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
}
