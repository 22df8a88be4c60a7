//! What the user writes: one TOML file, as plain data.
//!
//! [`Spec`] mirrors the file field by field; [`read`] parses it and reports everything that is
//! wrong with it at once, each [`Problem`] with the place in the file. Numbers stand
//! as written: units and rules are in the field docs, which also make the editors' JSON schema
//! ([`schema`]). What the numbers *mean* is decided one floor up, in [`system`](crate::system).

mod actuator;
mod ancf_beam;
mod assembly;
mod beam;
mod body;
mod check;
mod closed_loop;
mod contact;
mod controller;
mod default;
mod experiment;
mod formulation;
mod geometrically_exact_beam;
mod grasp;
mod joint;
mod modal;
mod monitor;
mod names;
mod orbit;
mod renamed;
mod salvage;
mod signal;
mod source;

pub use actuator::{Motor, Throttle, Thruster, Wheel};
pub use ancf_beam::{AncfBeam, Curvature, NodalSection, NodeStart};
pub use assembly::Assembly;
pub use beam::{Beam, Boundary, Section};
pub use body::{AttitudeServo, Body, Frame, FreeStart, Inertia, LineLoad, Measure, Port, PortAxes};
pub use check::unknown;
pub use closed_loop::{Loop, LoopType};
pub use contact::{Contact, ImpactLaw, Inconsistent, Surface};
pub use controller::{ControlledJoint, Controller, Kind};
pub use experiment::{Environment, Experiment, Method, Output, Solver};
pub use formulation::{Capability, Constraints, Coupling, Formulation, QuaternionOptions};
pub use geometrically_exact_beam::GeometricallyExactBeam;
pub use grasp::Grasp;
pub use joint::{
    FeedForward, Friction, Joint, JointMotion, JointStart, JointType, PerAxis, Range, Servo, Spring, Stop, Tracking,
};
pub use modal::{ModalData, ModalNode};
pub use monitor::Monitor;
pub use names::{LONGEST_NAME, mangled, objection};
pub use orbit::{Axes, Gravity, Orbit};
pub use renamed::variable as renamed;
pub(crate) use signal::empty_window;
pub use signal::{Interpolation, Signal, Waveform};
pub use source::{Source, read_text};

use crate::algebra::Quaternion;
use crate::{Error, Problem};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name by which joints and measures refer to the inertial frame.
pub const WORLD: &str = "world";

/// Version of the format that this library reads. Format 1 was that of version 0.1.
pub const FORMAT: u32 = 2;

fn format() -> u32 {
    FORMAT
}

fn is_format(format: &u32) -> bool {
    *format == FORMAT
}

/// A craft, or several in one system, or a controller; with the experiment to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Name of the model: letters, digits and underscores, at most 128. Becomes the FMU's model identifier.
    pub name: String,
    /// Version of this format, as written by `grapple new`: 2. Later versions read it, with a warning
    /// for names that have changed since. Default 2.
    #[serde(default = "format", skip_serializing_if = "is_format")]
    pub format: u32,
    /// One sentence on what it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it is. Default `spacecraft`.
    #[serde(default, skip_serializing_if = "Kind::is_spacecraft")]
    pub kind: Kind,
    /// The joints that a controller acts on, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
    /// How the equations of motion are written. Default `recursive`.
    #[serde(default, skip_serializing_if = "Formulation::is_default")]
    pub formulation: Formulation,
    /// How constraints that have drifted apart are brought together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
    /// Options of the formulation `quaternion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quaternion: Option<QuaternionOptions>,
    /// What surrounds the craft.
    #[serde(default)]
    pub environment: Environment,
    /// The bodies. One that is no joint's child floats freely.
    #[serde(default)]
    pub body: IndexMap<String, Body>,
    /// Large beams in absolute nodal coordinates, beside the bodies.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub ancf_beam: IndexMap<String, AncfBeam>,
    /// The joints. Each carries one child body on its parent.
    #[serde(default)]
    pub joint: IndexMap<String, Joint>,
    /// Named frames on bodies: tips, grapple fixtures, sensors.
    #[serde(default)]
    pub frame: IndexMap<String, Frame>,
    /// Relative motion between two frames, as outputs.
    #[serde(default)]
    pub measure: IndexMap<String, Measure>,
    /// Frames on which a wrench from outside acts, as inputs.
    #[serde(default)]
    pub port: IndexMap<String, Port>,
    /// Reaction wheels.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub wheel: IndexMap<String, Wheel>,
    /// Thrusters.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub thruster: IndexMap<String, Thruster>,
    /// Beams along which a force from outside is spread, as inputs.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub line_load: IndexMap<String, LineLoad>,
    /// Frames that may strike each other.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub contact: IndexMap<String, Contact>,
    /// Frames that a gripper with some give holds together.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub grasp: IndexMap<String, Grasp>,
    /// Joints that close kinematic loops.
    #[serde(default, rename = "loop", skip_serializing_if = "IndexMap::is_empty")]
    pub closed_loop: IndexMap<String, Loop>,
    /// How the start is made to close the loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembly: Option<Assembly>,
    /// What drives the inputs, by the input's name: `[signal."elbow.tau"]`.
    #[serde(default)]
    pub signal: IndexMap<String, Signal>,
    /// Which outputs the FMU offers.
    #[serde(default)]
    pub output: Output,
    /// The run that `grapple simulate` makes, and the FMU's default experiment.
    #[serde(default)]
    pub experiment: Experiment,
    /// How the FMU integrates in Co-Simulation.
    #[serde(default)]
    pub solver: Solver,
    /// When a run in Co-Simulation is stopped because it is no longer true.
    #[serde(default, skip_serializing_if = "Monitor::is_default")]
    pub monitor: Monitor,
}

impl Spec {
    /// Whether something has this name that stands somewhere: a frame, a body, an ANCF beam.
    pub(crate) fn has_frame(&self, name: &str) -> bool {
        self.frames().any(|known| known == name)
    }

    /// The names of frames, bodies and ANCF beams.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &String> {
        self.frame.keys().chain(self.body.keys()).chain(self.ancf_beam.keys())
    }

    /// The ANCF beam on which a frame stands, or that it is.
    pub(crate) fn on_ancf_beam(&self, frame: &str) -> Option<&str> {
        let beam = self.frame.get(frame).map_or(frame, |frame| &frame.body);
        self.ancf_beam.get_key_value(beam).map(|(name, _)| name.as_str())
    }

    /// Whether momentum, energy and work are outputs: of a craft, if they are wanted.
    pub(crate) fn has_diagnostics(&self) -> bool {
        self.output.diagnostics && self.kind == Kind::Spacecraft
    }
}

/// Reads a spec, and checks what can be seen in it alone: names, references, the tree, counts.
/// Tables are loaded from their CSV files, beside `directory`.
///
/// The values of the numbers are judged when a [`Model`](crate::plant::Model) is compiled;
/// [`Model::read`](crate::plant::Model::read) does both.
///
/// # Errors
/// [`Error::Spec`] with every problem found. Of a file that is not TOML it is the first; where fields are unknown, missing or of a wrong type,
/// these, the first of each thing, and numbers that are not finite.
pub fn read(text: &str, directory: &std::path::Path) -> Result<Spec, Error> {
    let (spec, problems) = parse(text, directory)?;
    if problems.is_empty() {
        Ok(spec)
    } else {
        Err(Error::Spec(problems))
    }
}

/// As [`read`], with the spec even if there are problems.
pub(crate) fn parse(text: &str, directory: &std::path::Path) -> Result<(Spec, Vec<Problem>), Error> {
    let mut problems = source::non_finite_numbers(text)?;
    let mut spec: Spec = match toml::from_str(text) {
        Ok(spec) => spec,
        Err(first) => {
            problems.extend(source::misread(text, &first));
            return Err(Error::Spec(problems));
        }
    };
    signal::load_tables(&mut spec, directory, &mut problems);
    check::check(&spec, &mut problems);
    Ok((spec, problems))
}

/// Checks a spec that was not read from its TOML file, as [`read`] does.
///
/// # Errors
/// [`Error::Spec`] with every problem found.
pub fn check(spec: &Spec) -> Result<(), Error> {
    let mut problems = Vec::new();
    check::check(spec, &mut problems);
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::Spec(problems))
    }
}

/// The JSON schema of the spec, for editors.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Spec);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}

/// A rotation as the spec writes it: a unit quaternion, or roll, pitch and yaw.
///
/// `rpy_deg` turns about the fixed axes x, then y, then z (as in URDF): `R = Rz(yaw) Ry(pitch) Rx(roll)`.
pub(crate) fn rotation(quaternion: Option<[f64; 4]>, rpy_deg: Option<[f64; 3]>) -> Quaternion<f64> {
    match (quaternion, rpy_deg) {
        (Some(q), _) => Quaternion::from_slice(&q),
        (None, Some(angles)) => {
            let [x, y, z] = [0, 1, 2].map(|i| {
                let mut axis = nalgebra::Vector3::zeros();
                axis[i] = 1.0;
                Quaternion::from_axis_angle(axis, angles[i].to_radians())
            });
            z * y * x
        }
        (None, None) => Quaternion::identity(),
    }
}

/// The shortest rotation that takes z to a direction.
fn rotation_to(direction: [f64; 3]) -> Quaternion<f64> {
    let d = nalgebra::Vector3::from(direction).normalize();
    let q = Quaternion::new(1.0 + d.z, -d.y, d.x, 0.0);
    if q.norm_squared() > 1e-12 {
        q.normalised()
    } else {
        Quaternion::new(0.0, 1.0, 0.0, 0.0)
    }
}

/// The place `section.name.field` in the file; the field may be nested, `start.position`.
pub(crate) fn at(section: &str, name: &str, field: &str) -> Vec<String> {
    [section, name]
        .into_iter()
        .chain(field.split('.'))
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

pub(crate) fn problem(section: &str, name: &str, field: &str, what: String) -> Problem {
    Problem {
        at: at(section, name, field),
        what,
    }
}
