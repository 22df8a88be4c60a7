use crate::algebra::{Mat3, Quaternion, Scalar, Twist, Vec3, Wrench, lift3, lift33, log, norm, roll_pitch_yaw, root};
use crate::dynamics::invariants::Invariants;
use crate::dynamics::{Applied, Dynamics};
use crate::loads::{Instant, strain_energy};
use crate::plant::closure::Closed;
use crate::plant::{Discrete, Model};
use crate::spec::JointType;
use crate::system::joint::{columns, dual, with_joint};
use crate::system::{AncfBeam, BodyKinematics, Elastic, Frame, FrameRef, JointState, Recovered};

/// What the outputs need to know of one instant, beside the loads' view of it.
pub(in crate::plant) struct View<'a, S: Scalar> {
    pub now: Instant<'a, S>,
    /// What never changes.
    pub model: &'a Model,
    /// Accelerations.
    pub dynamics: &'a Dynamics<S>,
    /// The loads.
    pub applied: &'a Applied<S>,
    /// Attitudes of the bodies.
    pub q_WB: &'a [Quaternion<S>],
    /// Where bodies stand and move by themselves, what that makes of the joints.
    pub recovered: Option<&'a Recovered<S>>,
    /// What changes at events only.
    pub discrete: &'a Discrete,
    /// What holds each capture.
    pub closed: &'a [Closed<S>],
}

/// A frame's position and motion in the world.
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

    /// A free body, as one sees it who turns with the LVLH frame.
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

    /// What a flexible body gets through its joint, about its root, if it stands on one that transmits something.
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

    /// Displacement of a point (`placed`, m, axes of the station that it stands on) by the deflection, in axes of the body as it is
    /// written.
    pub(super) fn deflection(&self, station: usize, placed: &Vec3<S>) -> Vec3<S> {
        let at = &self.now.kinematics.stations[station];
        let rest = lift3::<S>(&self.now.derived.stations[station].written) + placed;
        let body = self.now.system.stations[station].body;
        self.displaced(body, at.r_PB_W + at.R_WB * placed, &rest)
    }

    /// How far a point at `r` (m, world axes) from the origin of `body`, or of a segment of it, is off its place at `rest` (m) from the origin of the body as it is
    /// written, in whose axes the answer is.
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

    /// How far the tip of a geometrically exact beam is off and turned from where it is at rest, and its strain energy.
    pub(super) fn geometrically_exact_beam(&self, index: usize, y: &mut Cursor<S>) {
        let now = &self.now;
        let beam = &now.system.directors[index];
        let (root, tip) = (&now.kinematics.bodies[beam.root], &now.kinematics.bodies[beam.tip()]);
        let element = &now.derived.directors[index].element;
        // Node by node: exact however far away all of it is.
        let reach = beam.spans().map(|[_, b]| now.kinematics.bodies[b].r_PB_W);
        let mut off = root.R_WB.tr_mul(&reach.fold(Vec3::zeros(), |sum, r| sum + r));
        off.x -= S::lift(element.l * beam.elements as f64);
        y.vector(&off);
        y.vector(&log(Quaternion::from_rotation(&root.R_WB.tr_mul(&tip.R_WB))));
        y.number(strain_energy(now, index));
    }

    /// How far the tip of an ANCF beam is off the direction at its root, and its strain energy.
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

    /// `to` as an observer fixed in `from` sees it: the derivative of `r` is `v`.
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

    /// What joint `body` transmits, and its part across the joint's motion: `W = F − Σ V (HᵀF)`.
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
        // What is nothing by the joint's nature shall not be round-off.
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

    /// What the base gets from the joint that carries a body, about the joint's origin on it.
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
        let potential = self.model.loads.potential_energy(now);
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

/// Writes numbers one after the other.
pub(super) struct Cursor<'a, S> {
    y: &'a mut [S],
    next: usize,
}

impl<'a, S: Scalar> Cursor<'a, S> {
    /// At the beginning.
    pub(super) fn new(y: &'a mut [S]) -> Self {
        Self { y, next: 0 }
    }

    /// Every group has written what it has declared, or all that follow it stand elsewhere.
    pub(super) fn is_full(&self) {
        debug_assert_eq!(self.next, self.y.len(), "outputs are written as they are declared");
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
