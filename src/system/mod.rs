//! The compiled spec: bodies in tree order, joints with their offsets in the state, frames.
//!
//! [`System`] holds topology, names and layout, which do not depend on parameters.
//! [`System::derive`] computes the constants of the dynamics ([`Derived`]) from the parameters'
//! values. [`Kinematics`] is the common input of dynamics and loads at one instant.

mod atmosphere;
mod attitude;
mod beam;
mod beam_shape;
mod compile;
mod context;
mod declare;
mod deflection;
mod derive;
mod director;
mod elastic;
mod ephemeris;
pub mod joint;
mod kinematics;
mod maximal;
mod modal;
mod nodal;
mod orbit;
mod quantity;
mod shadow;
mod sky;
mod solved;
mod states;
mod unit;
mod velocities;
mod zonal;

#[cfg(feature = "inside")]
test_modules![unit::tests];

pub use atmosphere::AtmosphereConstants;
pub use beam::Beam;
pub use context::{Configuration, JointState, Mechanism};
pub use deflection::{
    Deflection, FieldChange, ModalAdjoints, ModalMotion, MomentumWeights, ReferenceMotion, along_modes,
};
pub use derive::{BodyConstants, Derived, FrameConstants};
pub use director::{DirectorConstants, GeometricallyExactBeam};
pub use elastic::{Amplitude, Elastic, Field, Location, ModeConstants, Modes, Station, StationConstants};
pub use ephemeris::{ASTRONOMICAL_UNIT, moon, sun};
pub use joint::JointModel;
pub use kinematics::{BodyKinematics, Kinematics};
pub use maximal::{Attitude, Baumgarte, Maximal, MaximalState, Natural, Recovered, SystemMotion};
pub use modal::{ModalData, Node};
pub use nodal::{AncfBeam, NodalConstants, PER_NODE, Point, PointGradient, PointKinematics};
pub use orbit::{GravityAt, Orbit, OrbitConstants, OrbitPoint};
pub use quantity::{Bound, Declarations, Input, InputKind, ParamId, Parameter, Quantity};
pub use shadow::sunlight;
pub use sky::{Sky, SkyConstants};
pub(crate) use unit::CoordinateUnits;
pub use unit::{Dimension, Unit, significant};
pub use velocities::PER_BODY;

use crate::spec::{Axes, JointMotion, JointType, Tank};
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
    /// Points of ANCF beams: those that carry frames, and the ends of the beams.
    pub points: Vec<Point>,
    /// Bodies of propellant that thrusters draw: their masses are states.
    pub propellant: Vec<usize>,
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
    /// The joint that connects it to the parent.
    pub joint: Joint,
    /// The station that carries the joint, if the parent is flexible.
    pub station: Option<usize>,
    /// Modal coordinates, if the body is flexible.
    pub modes: Option<Modes>,
    /// Index among the bodies whose joint reaction is computed: flexible bodies, bodies with a
    /// drivable joint or feed-forward, or all bodies with `output.reactions`.
    pub reaction_index: Option<usize>,
    /// The beam, if the body is one.
    pub beam: Option<Arc<Beam>>,
    /// Index of the beam segment, or of the node of a geometrically exact beam.
    pub segment: usize,
    /// Index of the geometrically exact beam of which it is a node.
    pub director: Option<usize>,
    /// Modal data, if they define the body's flexibility.
    pub modal: Option<Box<ModalData>>,
    /// Mass properties of the undeformed body; `None` if they are those of its beam, segment or
    /// node.
    pub mass: Option<RigidMass>,
}

/// Object that carries a joint or a frame.
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
    /// Returns true for a rigid body on a free joint in the world that carries no other body: it is a
    /// tree of its own.
    pub fn is_alone(&self) -> bool {
        self.joint.kind == JointType::Free && self.parent.is_none() && self.is_leaf && self.modes.is_none()
    }

    /// Returns the carrier of its joint.
    #[inline(always)]
    pub fn carrier(&self) -> Carrier {
        match (self.station, self.parent) {
            (Some(station), _) => Carrier::Station(station),
            (None, Some(parent)) => Carrier::Body(parent),
            (None, None) => Carrier::World,
        }
    }

    /// Returns the parameter indices of the initial amplitude and the initial rate of its first
    /// mode; those of the other modes follow.
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
    /// Type of the joint.
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
    /// Origin of the joint frame in the parent, m, three values.
    pub origin: Option<ParamId>,
    /// Attitude of the joint frame in the parent, a quaternion.
    pub orientation: Option<ParamId>,
    /// First axis, joint frame, three values.
    pub axis: Option<ParamId>,
    /// Second axis, joint frame, three values.
    pub axis2: Option<ParamId>,
    /// Travel of a screw joint per turn, m.
    pub pitch: Option<ParamId>,
    /// Name of the joint whose motor this rotor is, if a drive train connects them.
    pub drives: Option<String>,
    /// Turns of the rotor per turn of the coordinate, if it is the rotor of a drive train.
    pub ratio: Option<ParamId>,
    /// Reflected rotor inertia, one value for each rate.
    pub rotor_inertia: Option<ParamId>,
    /// Initial coordinates, in the state's order.
    pub q_start: Option<ParamId>,
    /// Initial rates, in the state's order.
    pub v_start: Option<ParamId>,
    /// Axes to which the initial state of a free body is relative.
    pub start_axes: Axes,
}

impl Joint {
    /// Returns true if a drive or a brake may act on it.
    pub fn is_drivable(&self) -> bool {
        self.motions != [JointMotion::Loads]
    }

    /// Returns the joint with the name of its actuators in the spec: the rotor of a drive train has
    /// the actuators of the joint that it drives.
    pub fn as_actuated(&self) -> Self {
        Self {
            name: self.drives.as_ref().unwrap_or(&self.name).clone(),
            ..self.clone()
        }
    }

    /// Returns the variable name of the quantity `what` of axis `i` of this joint.
    pub fn quantity_name(&self, what: &str, i: usize) -> String {
        axis_name(&self.name, self.nv, what, i)
    }
}

/// Returns the variable name of the quantity `what` of axis `i` (from zero) of a joint with `n`
/// axes: `<joint>.<what>`, with the index `[i + 1]` if there are several axes.
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
    /// True if its axes differ from those of its carrier, or may differ.
    pub is_turned: bool,
}

/// The object to which a frame name in the spec refers.
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

    /// Returns the bodies that are the segments of a body of the spec; `first` is the first of
    /// them, and the only one if the body is not divided.
    pub fn segments(&self, first: usize) -> std::ops::Range<usize> {
        first..first + self.bodies[first].beam.as_ref().map_or(1, |beam| beam.segments())
    }

    /// Returns the index of the first segment or node of the spec's body to which `body` belongs;
    /// `body` itself if it is neither.
    pub fn whole(&self, body: usize) -> usize {
        body - self.bodies[body].segment
    }

    /// Returns the length of [`Kinematics::T`]: the sum over all stations of the number of modes of
    /// the station's body.
    pub fn columns(&self) -> usize {
        let modes = |station: &Station| self.bodies[station.body].modes.as_ref().map_or(0, |modes| modes.n);
        self.stations.iter().map(modes).sum()
    }

    /// Returns the world, body, named frame or point of an ANCF beam with this name.
    pub fn frame(&self, name: &str) -> Option<FrameRef> {
        if name == crate::spec::WORLD {
            return Some(FrameRef::World);
        }
        let body = self.bodies.iter().position(|b| b.name == name).map(FrameRef::Body);
        let frame = || self.frames.iter().position(|f| f.name == name).map(FrameRef::Frame);
        let point = || self.points.iter().position(|p| p.name == name).map(FrameRef::Point);
        body.or_else(frame).or_else(point)
    }

    /// Returns [`frame`](Self::frame); if there is none of this name, adds an error to `problems`,
    /// with the location `[section, name, field]` of the reference in the spec.
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

    /// Returns the carrier of a frame: the world, a body, a station of a flexible body, or a point
    /// of an ANCF beam.
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

    /// Returns the body that carries a frame; `None` for the world and for ANCF beams.
    pub fn carrying_body(&self, frame: FrameRef) -> Option<usize> {
        match self.carrier(frame) {
            Carrier::Body(body) => Some(body),
            Carrier::Station(station) => Some(self.stations[station].body),
            Carrier::World | Carrier::Point(_) => None,
        }
    }

    /// Returns the root body of the tree of a body.
    pub fn root(&self, mut body: usize) -> usize {
        while let Some(parent) = self.bodies[body].parent {
            body = parent;
        }
        body
    }

    /// Returns the root body of the tree of each rate; `usize::MAX` for rates of ANCF beams.
    pub fn rate_roots(&self) -> Vec<usize> {
        let mut roots = vec![usize::MAX; self.nv];
        for (i, body) in self.bodies.iter().enumerate() {
            let modes = body.modes.as_ref().map_or(0..0, |modes| modes.rates());
            let own = (body.joint.v..body.joint.v + body.joint.nv).chain(modes);
            own.for_each(|v| roots[v] = self.root(i));
        }
        roots
    }

    /// Returns true for a body on an implicit free joint in the world: no load reads its position.
    pub fn is_root(&self, body: usize) -> bool {
        let Body { parent, joint, .. } = &self.bodies[body];
        parent.is_none() && joint.kind == JointType::Free && !joint.written
    }

    /// Returns true if a motion of all free bodies and ANCF beams together does not change the
    /// position and attitude of one frame relative to the other. A frame on an ANCF beam has axes
    /// that depend on its attitude in the world.
    pub fn move_together(&self, frames: [FrameRef; 2]) -> bool {
        let [a, b] = frames.map(|frame| match self.carrier(frame) {
            Carrier::World => Some(false),
            _ => self.carrying_body(frame).map(|body| self.is_root(self.root(body))),
        });
        a.is_some() && a == b
    }

    /// Returns the index of a tank's propellant in [`propellant`](Self::propellant), and its body;
    /// `None` if no thruster draws from the tank.
    pub fn propellant_of(&self, tank: &str) -> Option<(usize, usize)> {
        let liquid = Tank::liquid(tank);
        (self.propellant.iter().copied().enumerate()).find(|(_, body)| self.bodies[*body].name == liquid)
    }

    /// Returns the carrier of a frame; as long as it is a body with a fixed joint, the carrier of
    /// that joint takes its place.
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
