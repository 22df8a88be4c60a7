//! The compiled spec: bodies in tree order, joints with their offsets in the state, frames.
//!
//! [`System`] holds topology, names and layout, which are constant. Its numbers are parameters:
//! [`System::derive`] computes the constants of the dynamics ([`Derived`]) from their values.
//! [`Kinematics`] is the common input of dynamics and loads at one instant.

mod attitude;
mod beam;
mod compile;
mod context;
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
pub use context::{Configuration, JointState, Mechanism};
pub use deflection::Deflection;
pub use derive::{BodyConstants, Derived, FrameConstants};
pub use director::{DirectorConstants, GeometricallyExactBeam};
pub use elastic::{Amplitude, Elastic, Field, ModeConstants, Modes, Place, Station, StationConstants};
pub use joint::JointModel;
pub use kinematics::{BodyKinematics, Kinematics};
pub use maximal::{Attitude, Baumgarte, Maximal, MaximalState, Natural, Recovered, SystemMotion};
pub use modal::{ModalData, Node};
pub use nodal::{AncfBeam, NodalConstants, PER_NODE, Point, PointKinematics};
pub use orbit::{GravityAt, Orbit, OrbitConstants, OrbitPoint};
pub use quantity::{Bound, Declarations, Input, ParamId, Parameter, Quantity};
pub use unit::{Dimension, Unit};
pub use velocities::PER_BODY;

use crate::spec::{Axes, JointMotion, JointType};
use std::sync::Arc;

/// Bodies, joints and frames of one or more spacecraft.
#[derive(Clone, Debug)]
pub struct System {
    /// Bodies, parents before children; each with the joint that carries it.
    pub bodies: Vec<Body>,
    /// Named frames.
    pub frames: Vec<Frame>,
    /// Stations of flexible bodies, grouped by body.
    pub stations: Vec<Station>,
    /// Geometrically exact beams, whose nodes are bodies.
    pub directors: Vec<GeometricallyExactBeam>,
    /// ANCF beams, coupled to the bodies by loads only.
    pub nodal: Vec<AncfBeam>,
    /// Points of ANCF beams that carry frames, and their ends.
    pub points: Vec<Point>,
    /// Number of coordinates of all joints, modes and nodes.
    pub nq: usize,
    /// Number of rates of all joints, modes and nodes.
    pub nv: usize,
    /// True if flexible bodies use the linear coupling of the undeformed shape.
    pub couples_linearly: bool,
    /// The orbit along which the world's origin moves.
    pub orbit: Option<Orbit>,
}

/// A body and the joint that carries it.
#[derive(Clone, Debug)]
pub struct Body {
    /// The user's name.
    pub name: String,
    /// Index of the parent body; `None` is the world.
    pub parent: Option<usize>,
    /// True if it carries no other body.
    pub is_leaf: bool,
    /// The joint to the parent.
    pub joint: Joint,
    /// The station that carries the joint, if the parent is flexible.
    pub station: Option<usize>,
    /// Modal coordinates, if the body is flexible.
    pub modes: Option<Modes>,
    /// Index among the bodies whose joint reaction is computed (flexible, drivable, feed-forward,
    /// or all with `output.reactions`).
    pub kept: Option<usize>,
    /// The beam, if the body is one.
    pub beam: Option<Arc<Beam>>,
    /// Index of the beam segment, or of the node of a geometrically exact beam.
    pub segment: usize,
    /// Index of the geometrically exact beam of which it is a node.
    pub director: Option<usize>,
    /// Modal data, if they define the body's flexibility.
    pub modal: Option<Box<ModalData>>,
    /// Mass of the undeformed body; `None` takes that of the beam.
    pub mass: Option<RigidMass>,
}

/// The carrier of a joint or a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The world.
    World,
    /// A rigid body.
    Body(usize),
    /// A station of a flexible body.
    Station(usize),
    /// A point of an ANCF beam.
    Point(usize),
}

impl Carrier {
    /// Returns the carrier's entry in the lists of bodies or stations; `None` for the world and for
    /// points, which carry no bodies.
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
    /// Returns the carrier of its joint.
    #[inline(always)]
    pub fn carrier(&self) -> Carrier {
        match (self.station, self.parent) {
            (Some(station), _) => Carrier::Station(station),
            (None, Some(parent)) => Carrier::Body(parent),
            (None, None) => Carrier::World,
        }
    }

    /// Returns the parameter indices of the first initial amplitude and rate of its modes.
    pub fn modal_start(&self) -> Option<(ParamId, ParamId)> {
        let beam = self.beam.as_ref().map(|beam| beam.start(self.segment));
        beam.or_else(|| self.modal.as_ref().map(|data| data.start()))
    }
}

/// Mass properties of an undeformed body.
#[derive(Clone, Copy, Debug)]
pub struct RigidMass {
    /// Mass, kg.
    pub m: ParamId,
    /// Mass centre, m, three values.
    pub centre: ParamId,
    /// Inertia about the mass centre in body axes, kg·m²: xx, yy, zz, xy, xz, yz.
    pub inertia: ParamId,
}

/// Layout and parameters of a joint.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The user's name; the implicit joint of a free body has the body's name.
    pub name: String,
    /// True if it is in the spec; otherwise it is the implicit joint of a free body.
    pub written: bool,
    /// Type.
    pub kind: JointType,
    /// Initial motion mode.
    pub motion: JointMotion,
    /// Admissible motion modes, in the order of their command values.
    pub motions: Vec<JointMotion>,
    /// Offset of its coordinates among all coordinates.
    pub q: usize,
    /// Offset of its rates among all rates.
    pub v: usize,
    /// Number of its coordinates.
    pub nq: usize,
    /// Number of its rates.
    pub nv: usize,
    /// Origin in the parent, m, three values.
    pub origin: Option<ParamId>,
    /// Attitude in the parent, a quaternion.
    pub orientation: Option<ParamId>,
    /// First axis.
    pub axis: Option<ParamId>,
    /// Second axis.
    pub axis2: Option<ParamId>,
    /// Reflected rotor inertia, one value for each rate.
    pub rotor_inertia: Option<ParamId>,
    /// Initial coordinates, in the state's order.
    pub q_start: Option<ParamId>,
    /// Initial rates, in the state's order.
    pub v_start: Option<ParamId>,
    /// The axes to which a free body's start is relative.
    pub start_axes: Axes,
}

impl Joint {
    /// Returns true if a drive or a brake may act on it.
    pub fn is_drivable(&self) -> bool {
        self.motions != [JointMotion::Loads]
    }

    /// Returns the name of the coordinate-like quantity `what`, with the index `i` of the axis if
    /// the joint has several.
    pub fn quantity_name(&self, what: &str, i: usize) -> String {
        axis_name(&self.name, self.nv, what, i)
    }
}

/// Returns the name of the quantity `what` of axis `i` of a joint with `n` axes.
pub(crate) fn axis_name(joint: &str, n: usize, what: &str, i: usize) -> String {
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
    /// The station that carries it, if the body is flexible.
    pub station: Option<usize>,
    /// Origin in the body, m, three values.
    pub origin: ParamId,
    /// Attitude in the body, a quaternion.
    pub orientation: Option<ParamId>,
}

/// The object of a frame name in the spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameRef {
    /// The inertial frame.
    World,
    /// A body's own frame.
    Body(usize),
    /// A named frame.
    Frame(usize),
    /// A point of an ANCF beam.
    Point(usize),
}

impl System {
    /// Returns the modal coordinates of all flexible bodies.
    pub fn flexible(&self) -> impl Iterator<Item = &Modes> {
        self.bodies.iter().filter_map(|body| body.modes.as_ref())
    }

    /// Returns the bodies that are segments of the body `first` of the spec; itself if it has one
    /// segment.
    pub fn segments(&self, first: usize) -> std::ops::Range<usize> {
        first..first + self.bodies[first].beam.as_ref().map_or(1, |beam| beam.segments())
    }

    /// Returns the first body of the spec's body to which this segment or node belongs.
    pub fn whole(&self, body: usize) -> usize {
        body - self.bodies[body].segment
    }

    /// Returns the number of stations, each multiplied by the number of modes of its body.
    pub fn columns(&self) -> usize {
        let modes = |station: &Station| self.bodies[station.body].modes.as_ref().map_or(0, |modes| modes.n);
        self.stations.iter().map(modes).sum()
    }

    /// Returns the frame, body or `world` of this name.
    pub fn frame(&self, name: &str) -> Option<FrameRef> {
        if name == crate::spec::WORLD {
            return Some(FrameRef::World);
        }
        let body = self.bodies.iter().position(|b| b.name == name).map(FrameRef::Body);
        let frame = || self.frames.iter().position(|f| f.name == name).map(FrameRef::Frame);
        let point = || self.points.iter().position(|p| p.name == name).map(FrameRef::Point);
        body.or_else(frame).or_else(point)
    }

    /// [`frame`](Self::frame) with the location of the reference in the spec; a dangling reference
    /// is an error.
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

    /// Returns the carrier of a frame: a body, or a station of it.
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

    /// Returns the carrier of a frame, across fixed joints.
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
