use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench, lift3, lift33, log, norm, roll_pitch_yaw, root};
use crate::dynamics::invariants::Invariants;
use crate::dynamics::{Applied, Dynamics};
use crate::elements::{Instant, strain_energy};
use crate::plant::closure::Closed;
use crate::plant::{Discrete, Model};
use crate::spec::JointType;
use crate::system::joint::{columns, dual, with_joint};
use crate::system::{AncfBeam, BodyKinematics, Elastic, Frame, FrameRef, JointState, Recovered};

/// Data for the outputs at one instant, in addition to the loads' view.
pub(in crate::plant) struct View<'a, S: Scalar> {
    pub now: Instant<'a, S>,
    /// Constant data.
    pub model: &'a Model,
    /// Solution of the dynamics: accelerations and transmitted wrenches.
    pub dynamics: &'a Dynamics<S>,
    /// Loads.
    pub applied: &'a Applied<S>,
    /// Attitudes of the bodies.
    pub q_WB: &'a [Quaternion<S>],
    /// Positions and motions of bodies in maximal coordinates, and the joint coordinates recovered
    /// from them.
    pub recovered: Option<&'a Recovered<S>>,
    /// Discrete state.
    pub discrete: &'a Discrete,
    /// State of each capture and loop.
    pub closed: &'a [Closed<S>],
}

/// Position and motion of a frame in the world.
pub(super) struct FrameMotion<S: Scalar> {
    pub q_WF: Quaternion<S>,
    pub R_WF: Mat3<S>,
    pub p_WF: Vec3<S>,
    pub V_WF: Twist<S>,
}

impl<S: Scalar> View<'_, S> {
    pub(super) fn frame(&self, frame: FrameRef) -> FrameMotion<S> {
        let now = &self.now;
        let q_WF = match frame {
            FrameRef::World => Quaternion::identity(),
            FrameRef::Body(body) => self.q_WB[body],
            FrameRef::Point(point) => Quaternion::from_rotation(&now.kinematics.points[point].at.R_WB),
            FrameRef::Frame(frame) => {
                let Frame { body, station, .. } = now.system.frames[frame];
                let bent = station.map(|station| now.system.bent(now.derived, station, now.q));
                let q_WB = bent.map_or(self.q_WB[body], |bent| self.q_WB[body] * bent);
                q_WB * now.derived.frames[frame].q_BF.lift()
            }
        };
        let arm = now.kinematics.arm(now.system, now.derived, frame);
        FrameMotion {
            q_WF,
            R_WF: arm.R,
            p_WF: now.kinematics.pose(now.system, now.derived, frame).p,
            V_WF: now.kinematics.carrier(now.system.carrier(frame)).V_WB.shift(&arm.p),
        }
    }

    pub(super) fn orbit(&self, y: &mut Cursor<S>) {
        if let Some(orbit) = self.now.orbit {
            y.vector(&orbit.R);
            y.vector(&orbit.V);
            y.quaternion(orbit.q_WO);
            y.number(norm(&orbit.w_WO));
        }
    }

    /// Writes position, attitude and motion of a free body relative to the LVLH frame.
    pub(super) fn in_orbit(&self, body: usize, y: &mut Cursor<S>) {
        let Some(orbit) = self.now.orbit else { return };
        let at = &self.now.kinematics.bodies[body];
        let (R_WO, w_WO) = (orbit.R_WO, orbit.w_WO);
        let q_OB = orbit.q_WO.conjugate() * self.q_WB[body];
        y.vector(&R_WO.tr_mul(&at.p_WB));
        y.quaternion(q_OB);
        y.vector(&R_WO.tr_mul(&(at.V_WB.v - w_WO.cross(&at.p_WB))));
        y.vector(&at.R_WB.tr_mul(&(at.V_WB.w - w_WO)));
        y.vector(&roll_pitch_yaw(q_OB));
    }

    pub(super) fn beam(&self, body: usize, y: &mut Cursor<S>) {
        let now = &self.now;
        let (system, constants) = (now.system, &now.derived.bodies[body]);
        let Some(elastic) = &constants.elastic else { return };
        let segments = system.segments(body);
        let modal = || {
            segments
                .clone()
                .filter_map(|i| Some((i, system.bodies[i].modes.as_ref()?)))
        };
        let tips = || {
            modal().filter_map(|(i, modes)| Some((i, &now.derived.stations[modes.tip?], &now.q[modes.coordinates()])))
        };
        match (tips().next(), tips().next_back()) {
            (Some((_, tip, eta)), _) if segments.len() == 1 => {
                y.vector(&(tip.place(eta) - lift3::<S>(&tip.written)));
                y.vector(&tip.turn(eta));
            }
            (_, Some((last, tip, eta))) => {
                let r = now.kinematics.bodies[last].R_WB * tip.place(eta);
                y.vector(&self.displaced(last, r, &lift3(&tip.written)));
                let turns = tips().map(|(_, tip, eta)| tip.attitude(eta));
                y.vector(&log(turns.fold(Quaternion::identity(), |q, turn| q * turn)));
            }
            _ => {}
        }
        self.root(body, elastic, y);
        y.number(modal().fold(S::zero(), |sum, (i, modes)| {
            let elastic = now.derived.bodies[i].elastic.as_ref();
            sum + elastic.map_or_else(S::zero, |elastic| elastic.strain_energy(&now.q[modes.coordinates()]))
        }));
    }

    /// Writes force and moment of the joint on a flexible body, about its root, in the root's axes;
    /// nothing for a free body.
    pub(super) fn root(&self, body: usize, elastic: &Elastic, y: &mut Cursor<S>) {
        let system = self.now.system;
        if system.bodies[body].joint.kind != JointType::Free {
            let R_WB = &self.now.kinematics.bodies[body].R_WB;
            let F = self.dynamics.transmitted(system, body).unwrap_or_else(Wrench::zero);
            let (t, f) = (R_WB.tr_mul(&F.t), R_WB.tr_mul(&F.f));
            let (r, R_BR) = (lift3::<S>(&elastic.root), lift33::<S>(&elastic.axes));
            y.vector(&R_BR.tr_mul(&f));
            y.vector(&R_BR.tr_mul(&(t - r.cross(&f))));
        }
    }

    /// Returns the displacement (m) by the deflection of a point at `placed` (m, axes of its
    /// station), in axes of the body of the spec.
    pub(super) fn deflection(&self, station: usize, placed: &Vec3<S>) -> Vec3<S> {
        let at = &self.now.kinematics.stations[station];
        let rest = lift3::<S>(&self.now.derived.stations[station].written) + placed;
        let body = self.now.system.stations[station].body;
        self.displaced(body, at.r_PB_W + at.R_WB * placed, &rest)
    }

    /// Returns the displacement (m) of a point at `r` (m, world axes) from the origin of `body`,
    /// which may be a segment, relative to its undeformed position `rest` (m) from the origin of
    /// the body of the spec, in that body's axes.
    fn displaced(&self, mut body: usize, mut r: Vec3<S>, rest: &Vec3<S>) -> Vec3<S> {
        let (system, kinematics) = (self.now.system, self.now.kinematics);
        while let (1.., Some(inner), Some(parent)) = (
            system.bodies[body].segment,
            system.bodies[body].station,
            system.bodies[body].parent,
        ) {
            r += kinematics.stations[inner].r_PB_W;
            body = parent;
        }
        kinematics.bodies[body].R_WB.tr_mul(&r) - rest
    }

    /// Writes displacement (m) and rotation (rad) of a geometrically exact beam's tip relative to
    /// the undeformed beam, root axes, and the strain energy (J).
    pub(super) fn geometrically_exact_beam(&self, index: usize, y: &mut Cursor<S>) {
        let now = &self.now;
        let beam = &now.system.directors[index];
        let (root, tip) = (&now.kinematics.bodies[beam.root], &now.kinematics.bodies[beam.tip()]);
        let element = &now.derived.directors[index].element;
        // The sum over elements is exact at any distance from the world's origin.
        let reach = beam.spans().map(|[_, b]| now.kinematics.bodies[b].r_PB_W);
        let mut off = root.R_WB.tr_mul(&reach.fold(Vec3::zeros(), |sum, r| sum + r));
        off.x -= S::lift(element.l * beam.elements as f64);
        y.vector(&off);
        y.vector(&log(Quaternion::from_rotation(&root.R_WB.tr_mul(&tip.R_WB))));
        y.number(strain_energy(now, index));
    }

    /// Writes the displacement (m) of an ANCF beam's tip relative to the straight beam, root axes,
    /// and the strain energy (J).
    pub(super) fn ancf_beam(&self, beam: usize, y: &mut Cursor<S>) {
        let now = &self.now;
        let beam = &now.system.nodal[beam];
        let [root, tip] = [beam.root, beam.root + 1].map(|point| &now.kinematics.points[point].at);
        let mut bent = root.R_WB.tr_mul(&(tip.p_WB - root.p_WB));
        let elements = || now.derived.nodal[beam.index].elements.iter();
        bent.x -= S::lift(elements().map(|element| element.l).sum());
        y.vector(&bent);
        let energies = elements().enumerate().map(|(i, element)| {
            let e = AncfBeam::of_element(now.q, beam.q, i);
            element.energy(&e, beam.curvature)
        });
        y.number(energies.fold(S::zero(), |sum, energy| sum + energy));
    }

    /// Writes the motion of `to` as seen by an observer fixed in `from`: the derivative of `r` is
    /// `v`.
    pub(super) fn measure(&self, from: FrameRef, to: FrameRef, y: &mut Cursor<S>) {
        let (A, B) = (self.frame(from), self.frame(to));
        let r_W = B.p_WF - A.p_WF;
        let v_W = B.V_WF.v - A.V_WF.v - A.V_WF.w.cross(&r_W);
        let w_W = B.V_WF.w - A.V_WF.w;
        y.vector(&A.R_WF.tr_mul(&r_W));
        y.quaternion(A.q_WF.conjugate() * B.q_WF);
        y.vector(&A.R_WF.tr_mul(&v_W));
        y.vector(&A.R_WF.tr_mul(&w_W));
        y.number(norm(&r_W));
    }

    /// Writes the wrench that joint `body` transmits, and its part orthogonal to the joint's
    /// motion: `W = F − Σ V (HᵀF)`.
    pub(super) fn reaction(&self, body: usize, y: &mut Cursor<S>) {
        let now = &self.now;
        let joint = &now.system.bodies[body].joint;
        let R_BW = now.kinematics.bodies[body].R_WB.transpose();
        let F = self.dynamics.transmitted(now.system, body).unwrap_or_else(Wrench::zero);
        let mut held = F;
        with_joint!(&now.derived.bodies[body].joint, j => {
            let H = columns(j, &now.kinematics.H, joint.v);
            for (V, H) in dual(H).iter().zip(H) {
                held = held - *V * F.power(H);
            }
        });
        // Components that are zero for the type of joint are set to zero exactly.
        match joint.kind {
            JointType::Spherical => held.t = Vec3::zeros(),
            JointType::Cartesian => held.f = Vec3::zeros(),
            _ => {}
        }
        for part in [F, held] {
            let part = part.express(&R_BW);
            y.vector(&part.f);
            y.vector(&part.t);
        }
    }

    /// Writes the wrench on the base from the joint that carries a body, about the joint's origin
    /// on the base, in the base's axes.
    pub(super) fn on_base(&self, body: usize, y: &mut Cursor<S>) {
        let (now, world) = (&self.now, BodyKinematics::world());
        let kinematics = now.kinematics;
        let carrier = now.system.bodies[body].carrier();
        let P = carrier.of(&kinematics.bodies, &kinematics.stations).unwrap_or(&world);
        let r = kinematics.bodies[body].r_PB_W - P.R_WB * lift3::<S>(&now.derived.bodies[body].p_PF);
        let F = self.dynamics.transmitted(now.system, body).unwrap_or_else(Wrench::zero);
        let base = now.system.bodies[body].parent.map(|parent| now.system.whole(parent));
        let R_WB = base.map_or(world.R_WB, |base| kinematics.bodies[base].R_WB);
        let on_base = (Wrench::zero() - F.shift(&r)).express(&R_WB.transpose());
        y.vector(&on_base.f);
        y.vector(&on_base.t);
    }

    pub(super) fn gaps(&self, which: impl Fn(&Recovered<S>) -> &[Twist<S>], y: &mut Cursor<S>) {
        let Some(gaps) = self.recovered.map(which) else {
            return;
        };
        let together = |of: fn(&Twist<S>) -> &Vec3<S>| {
            let squares = gaps.iter().map(|gap| of(gap).dot(of(gap)));
            root(squares.fold(S::zero(), |sum, square| sum + square))
        };
        y.number(together(|gap| &gap.v));
        y.number(together(|gap| &gap.w));
    }

    pub(super) fn distortion(&self, y: &mut Cursor<S>) {
        y.number(self.recovered.map_or(S::zero(), |recovered| root(recovered.distortion)));
    }

    pub(super) fn diagnostics(&self, y: &mut Cursor<S>) {
        let now = &self.now;
        let directors = self
            .recovered
            .and_then(|recovered| recovered.directors_rates.as_deref());
        let at = now.configuration();
        let sum = Invariants::new(at, JointState { q: now.q, qd: now.qd }, directors);
        let potential = self.model.elements.potential_energy(now);
        y.vector(&sum.p);
        y.vector(&sum.h);
        y.vector(&sum.mass_centre);
        y.number(sum.p_scale);
        y.number(sum.h_scale);
        y.number(sum.kinetic_energy);
        y.number(potential);
        y.number(sum.kinetic_energy + potential);
    }
}

/// Writer of numbers one after the other.
pub(super) struct Cursor<'a, S> {
    y: &'a mut [S],
    next: usize,
}

impl<'a, S: Scalar> Cursor<'a, S> {
    /// Starts at the first output.
    pub(super) fn new(y: &'a mut [S]) -> Self {
        Self { y, next: 0 }
    }

    /// Asserts that each group has written as many numbers as it has declared.
    pub(super) fn is_full(&self) {
        debug_assert_eq!(self.next, self.y.len(), "as many values are written as declared");
    }

    pub(super) fn number(&mut self, value: S) {
        self.y[self.next] = value;
        self.next += 1;
    }

    pub(super) fn vector(&mut self, v: &Vec3<S>) {
        v.iter().for_each(|&component| self.number(component));
    }

    pub(super) fn quaternion(&mut self, q: Quaternion<S>) {
        q.to_array().into_iter().for_each(|part| self.number(part));
    }
}
