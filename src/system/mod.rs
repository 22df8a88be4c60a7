//! The spec compiled: bodies in tree order, joints with their place in the state, frames.
//!
//! [`System`] holds topology, names and layout and never changes. The numbers in it are parameters;
//! [`System::derive`] turns their values into the constants of the dynamics ([`Derived`]).
//! [`Kinematics`] is what the dynamics and the loads share at one instant.

mod attitude;
mod beam;
mod compile;
mod declare;
mod deflection;
mod derive;
mod director;
mod elastic;
pub mod joint;
mod kinematics;
mod maximal;
mod modal;
mod nodal;
mod orbit;
mod quantity;
mod solved;
mod states;
mod unit;
mod velocities;

pub use beam::Beam;
pub use deflection::Deflection;
pub use derive::{BodyConstants, Derived, FrameConstants};
pub use director::{DirectorConstants, GeometricallyExactBeam};
pub use elastic::{Amplitude, Elastic, Field, ModeConstants, Modes, Place, Station, StationConstants};
pub use joint::JointModel;
pub use kinematics::{BodyKinematics, Kinematics};
pub use maximal::{Attitude, Baumgarte, Maximal, Natural, Recovered};
pub use modal::{ModalData, Node};
pub use nodal::{AncfBeam, NodalConstants, PER_NODE, Point, PointKinematics};
pub use orbit::{GravityAt, Orbit, OrbitConstants, OrbitPoint};
pub use quantity::{Bound, Declarations, Input, ParamId, Parameter, Quantity};
pub use unit::{Dimension, Unit};
pub use velocities::PER_BODY;

use crate::spec::{Axes, JointMotion, JointType};
use std::sync::Arc;

/// Bodies, joints and frames of one or more craft.
#[derive(Clone, Debug)]
pub struct System {
    /// Bodies, parents before children; each with the joint that carries it.
    pub bodies: Vec<Body>,
    /// Named frames.
    pub frames: Vec<Frame>,
    /// Places of flexible bodies that carry joints or frames, those of one body together.
    pub stations: Vec<Station>,
    /// Geometrically exact beams, whose nodes are bodies.
    pub directors: Vec<GeometricallyExactBeam>,
    /// ANCF beams, beside the bodies.
    pub nodal: Vec<AncfBeam>,
    /// Points of ANCF beams that carry frames, and their ends.
    pub points: Vec<Point>,
    /// Number of coordinates of all joints, modes and nodes.
    pub nq: usize,
    /// Number of rates of all joints, modes and nodes.
    pub nv: usize,
    /// Whether flexible bodies are coupled with their motion by the matrices at rest alone.
    pub couples_linearly: bool,
    /// The orbit along which the world's origin moves.
    pub orbit: Option<Orbit>,
}

/// A body and the joint that carries it.
#[derive(Clone, Debug)]
pub struct Body {
    /// The user's name.
    pub name: String,
    /// Index of the body that carries it; `None` is the world.
    pub parent: Option<usize>,
    /// Whether it carries no other body.
    pub is_leaf: bool,
    /// The joint between them.
    pub joint: Joint,
    /// The station on the parent where the joint stands, if the parent is flexible.
    pub station: Option<usize>,
    /// Modal coordinates, if the body is flexible.
    pub modes: Option<Modes>,
    /// Index among the bodies whose joint wrench is computed (flexible, drivable, fed forward, or all with `output.reactions`).
    pub kept: Option<usize>,
    /// What bends, if the body is a beam.
    pub beam: Option<Arc<Beam>>,
    /// Which segment of it this body is, or which node of a geometrically exact beam.
    pub segment: usize,
    /// The geometrically exact beam of which it is a node, among all of them.
    pub director: Option<usize>,
    /// What bends, if the body is flexible by modal data.
    pub modal: Option<Box<ModalData>>,
    /// Mass, at rest; if it is not written, the beam's.
    pub mass: Option<RigidMass>,
}

/// What a body's joint stands on, or a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The world.
    World,
    /// A rigid body.
    Body(usize),
    /// A bent place of a flexible body.
    Station(usize),
    /// A point of a ANCF beam.
    Point(usize),
}

impl Carrier {
    /// Its entry among those of the bodies and of the stations, of which trees are made.
    #[inline(always)]
    pub fn of<'a, T>(self, bodies: &'a [T], stations: &'a [T]) -> Option<&'a T> {
        match self {
            Self::World | Self::Point(_) => None,
            Self::Body(body) => Some(&bodies[body]),
            Self::Station(station) => Some(&stations[station]),
        }
    }
}

impl Body {
    /// What its joint stands on.
    #[inline(always)]
    pub fn carrier(&self) -> Carrier {
        match (self.station, self.parent) {
            (Some(station), _) => Carrier::Station(station),
            (None, Some(parent)) => Carrier::Body(parent),
            (None, None) => Carrier::World,
        }
    }

    /// The first of its modes' initial amplitudes, and of their rates, among the parameters.
    pub fn modal_start(&self) -> Option<(ParamId, ParamId)> {
        let beam = self.beam.as_ref().map(|beam| beam.start(self.segment));
        beam.or_else(|| self.modal.as_ref().map(|data| data.start()))
    }
}

/// The mass of a body at rest.
#[derive(Clone, Copy, Debug)]
pub struct RigidMass {
    /// Mass, kg.
    pub m: ParamId,
    /// Mass centre, m, three numbers.
    pub centre: ParamId,
    /// Inertia about the mass centre in body axes, kg·m²: xx, yy, zz, xy, xz, yz.
    pub inertia: ParamId,
}

/// A joint's place in the state, and its parameters.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The user's name; a free body that no joint carries lends its own.
    pub name: String,
    /// Whether the user wrote it; if not, it is the free joint under a free body.
    pub written: bool,
    /// Kind.
    pub kind: JointType,
    /// Who moves it at the start.
    pub motion: JointMotion,
    /// Who may move it, in the order of their numbers.
    pub motions: Vec<JointMotion>,
    /// Offset of its coordinates among all coordinates.
    pub q: usize,
    /// Offset of its rates among all rates.
    pub v: usize,
    /// Number of its coordinates.
    pub nq: usize,
    /// Number of its rates.
    pub nv: usize,
    /// Origin in the parent, m, three numbers.
    pub origin: Option<ParamId>,
    /// Attitude in the parent, a quaternion.
    pub orientation: Option<ParamId>,
    /// First axis.
    pub axis: Option<ParamId>,
    /// Second axis.
    pub axis2: Option<ParamId>,
    /// Reflected rotor inertia, one number for each rate.
    pub rotor_inertia: Option<ParamId>,
    /// Initial coordinates, in the state's order.
    pub q_start: Option<ParamId>,
    /// Initial rates, in the state's order.
    pub v_start: Option<ParamId>,
    /// The axes to which a free body's start is relative.
    pub start_axes: Axes,
}

impl Joint {
    /// Whether a drive or a brake may have it.
    pub fn is_drivable(&self) -> bool {
        self.motions != [JointMotion::Loads]
    }

    /// The name of coordinate-like quantity `what`, of axis `i` where the joint has several.
    pub fn quantity_name(&self, what: &str, i: usize) -> String {
        axis_name((&self.name, self.nv), what, i)
    }
}

/// The name of what axis `i` of a joint with `n` of them has.
pub(crate) fn axis_name((joint, n): (&str, usize), what: &str, i: usize) -> String {
    if n == 1 {
        format!("{joint}.{what}")
    } else {
        format!("{joint}.{what}[{}]", i + 1)
    }
}

/// A frame fixed to a body.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The user's name.
    pub name: String,
    /// Index of its body.
    pub body: usize,
    /// The station it is fixed to, if the body is flexible.
    pub station: Option<usize>,
    /// Origin in the body, m, three numbers.
    pub origin: ParamId,
    /// Attitude in the body, a quaternion.
    pub orientation: Option<ParamId>,
}

/// What a name in the spec's measures and ports stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameRef {
    /// The inertial frame.
    World,
    /// A body's own frame.
    Body(usize),
    /// A named frame.
    Frame(usize),
    /// A point of a ANCF beam.
    Point(usize),
}

impl System {
    /// The modal coordinates of all flexible bodies.
    pub fn flexible(&self) -> impl Iterator<Item = &Modes> {
        self.bodies.iter().filter_map(|body| body.modes.as_ref())
    }

    /// The bodies that are segments of the body `first` as it is written; itself alone if it is not cut.
    pub fn segments(&self, first: usize) -> std::ops::Range<usize> {
        first..first + self.bodies[first].beam.as_ref().map_or(1, |beam| beam.segments())
    }

    /// The body as it is written, of which this one may be a segment or a node.
    pub fn whole(&self, body: usize) -> usize {
        body - self.bodies[body].segment
    }

    /// Number of stations, each counted once for every mode of its body.
    pub fn columns(&self) -> usize {
        let modes = |station: &Station| self.bodies[station.body].modes.as_ref().map_or(0, |modes| modes.n);
        self.stations.iter().map(modes).sum()
    }

    /// Finds a frame, a body or `world` by name.
    pub fn frame(&self, name: &str) -> Option<FrameRef> {
        if name == crate::spec::WORLD {
            return Some(FrameRef::World);
        }
        let body = self.bodies.iter().position(|b| b.name == name).map(FrameRef::Body);
        let frame = || self.frames.iter().position(|f| f.name == name).map(FrameRef::Frame);
        let point = || self.points.iter().position(|p| p.name == name).map(FrameRef::Point);
        body.or_else(frame).or_else(point)
    }

    /// The same, of one that is written at a field of the spec; complains if it is not there.
    pub fn written_frame(
        &self,
        [section, name, field]: [&str; 3],
        frame: &str,
        problems: &mut Vec<crate::Problem>,
    ) -> Option<FrameRef> {
        let found = self.frame(frame);
        if found.is_none() {
            let what = format!("there is no frame or body \"{frame}\"");
            problems.push(crate::spec::problem(section, name, field, what));
        }
        found
    }

    /// What carries a frame: its body, or a bent place of it.
    pub fn carrier(&self, frame: FrameRef) -> Carrier {
        match frame {
            FrameRef::World => Carrier::World,
            FrameRef::Body(body) => Carrier::Body(body),
            FrameRef::Point(point) => Carrier::Point(point),
            FrameRef::Frame(frame) => match self.frames[frame].station {
                Some(station) => Carrier::Station(station),
                None => Carrier::Body(self.frames[frame].body),
            },
        }
    }

    /// What carries a frame rigidly, fixed joints passed over.
    pub fn rigid_carrier(&self, frame: FrameRef) -> Carrier {
        let mut on = self.carrier(frame);
        while let Carrier::Body(body) = on {
            let body = &self.bodies[body];
            if body.joint.kind != JointType::Fixed {
                break;
            }
            on = body.carrier();
        }
        on
    }
}
