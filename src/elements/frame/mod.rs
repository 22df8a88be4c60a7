//! Outputs of frames on bodies and on ANCF beams.

pub(super) mod adjoint;

pub(crate) use adjoint::{FrameAdjoint, LoadSeeds, turn};
pub(super) use adjoint::{FrameBar, vector};

use super::{Compiler, Cursor, Element, Invariance, Outputs, View, beam};
use crate::algebra::{Scalar, Vec3, lift3};
use crate::spec::Spec;
use crate::system::{FrameRef, Quantity, System, Unit};

/// Number of the outputs of pose and motion.
pub(super) const POSE: usize = 3 + 4 + 3 + 3;

/// Frame on a body: its pose and motion, and its displacement by the body's deflection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame(usize);

impl Element for Frame {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        (0..from.system.frames.len()).map(Self).collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let frame = &system.frames[self.0];
        let name = &frame.name;
        outputs("frame", name, to);
        if frame.station.is_some() {
            let body = &system.bodies[system.whole(frame.body)].name;
            let what = format!("displacement of frame {name} by the deflection of {body}, its axes");
            let deflection = Quantity::vector(&format!("{name}.deflection"), Unit::Metre, &what);
            to.invariant(Invariance::Galilean, deflection);
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        observe(view, FrameRef::Frame(self.0), y);
        if let Some(station) = view.now.system.frames[self.0].station {
            let placed = lift3::<S>(&view.now.derived.frames[self.0].X_BF.p);
            y.vector(&deflection(view, station, &placed));
        }
    }
}

/// Declares pose and motion of the frame `name` as outputs; `what` is its kind, "frame" or "body",
/// for the descriptions.
pub(super) fn outputs(what: &str, name: &str, to: &mut Outputs) {
    let vector = |field: &str, unit, text: String| Quantity::vector(&format!("{name}.{field}"), unit, &text);
    let text = format!("position of {what} {name}, inertial axes");
    to.continuous(vector("r", Unit::Metre, text));
    let text = format!("attitude of {what} {name}, quaternion");
    to.continuous(Quantity::quaternion(&format!("{name}.q"), &text));
    let text = format!("velocity of {what} {name}'s origin, inertial axes");
    to.continuous(vector("v", Unit::MetrePerSecond, text));
    let text = format!("angular velocity of {what} {name}, its own axes");
    to.invariant(Invariance::Galilean, vector("w", Unit::RadianPerSecond, text));
}

/// Writes pose and motion of a frame on a body.
pub(super) fn observe<S: Scalar>(view: &View<S>, frame: FrameRef, y: &mut Cursor<S>) {
    if view.omits_frames {
        return y.skip(POSE);
    }
    let F = view.frame(frame);
    y.vector(&F.p_WF);
    y.quaternion(F.q_WF);
    y.vector(&F.V_WF.v);
    y.vector(&view.spin(frame, &F));
}

/// Returns the displacement (m, axes of the body of the spec) of a point by the deflection of its
/// body; `placed` (m) is its position from its station, in axes of the station.
fn deflection<S: Scalar>(view: &View<S>, station: usize, placed: &Vec3<S>) -> Vec3<S> {
    let now = &view.now;
    let (at, constants) = (&now.kinematics.stations[station], &now.derived.stations[station]);
    let rest = lift3::<S>(&constants.written) + placed;
    let body = now.system.stations[station].body;
    if let (0, Some(modes)) = (now.system.bodies[body].segment, &now.system.bodies[body].modes) {
        let eta = &now.q[modes.coordinates()];
        return constants.place(eta) + constants.attitude(eta).rotate(*placed) - rest;
    }
    beam::displacement(view, body, at.r_PB_W + at.R_WB * placed, &rest)
}

/// Frame on an ANCF beam: position, velocity, direction and angular velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point(usize);

impl Element for Point {
    /// Omits the points at roots and tips: they are nodes, whose positions are states.
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let points = from.system.points.iter().enumerate();
        points
            .filter(|(_, point)| point.is_frame())
            .map(|(i, _)| Self(i))
            .collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let name = &system.points[self.0].name;
        let mut vector = |field: &str, unit, what: &str| {
            let what = format!("{what} of frame {name}, inertial axes");
            to.continuous(Quantity::vector(&format!("{name}.{field}"), unit, &what));
        };
        vector("r", Unit::Metre, "position");
        vector("v", Unit::MetrePerSecond, "velocity");
        vector("direction", Unit::One, "tangent of the beam (unit vector)");
        vector(
            "w",
            Unit::RadianPerSecond,
            "angular velocity of the beam's tangent (no component along the tangent)",
        );
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let at = &view.now.kinematics.points[self.0].at;
        y.vector(&at.p_WB);
        y.vector(&at.V_WB.v);
        y.vector(&at.R_WB.column(0).into_owned());
        y.vector(&at.V_WB.w);
    }
}
