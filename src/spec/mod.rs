//! The spec: one TOML file, as plain data.
//!
//! [`Spec`] mirrors the file field by field. [`read`] parses it and reports all errors at once,
//! each [`Problem`] with its position in the file. Numbers are stored as written: their units and
//! limits are in the field docs, from which the JSON schema for editors ([`schema`]) is generated.
//! The layer [`system`](crate::system) derives the mechanical model from them.

mod added;
mod ancf_beam;
mod assembly;
mod beam;
mod beam_shape;
mod blocker;
mod body;
mod bushing;
mod check;
mod closed_loop;
mod cmg;
mod contact;
mod contact_group;
mod contact_mesh;
mod contact_shape;
mod controller;
mod dc_motor;
mod default;
mod drive_train;
mod element;
mod epoch;
mod experiment;
mod exposed_surface;
mod filter;
mod formulation;
mod geometrically_exact_beam;
mod grasp;
mod include;
mod joint;
mod kinematics;
mod law_model;
mod line_load;
mod magnetic_dipole;
mod measure;
mod misread;
mod modal;
mod monitor;
mod motor;
mod mount;
mod names;
mod node;
mod orbit;
mod part;
mod plan;
mod port;
mod renamed;
mod salvage;
mod sensor;
mod shape;
mod shaper;
mod signal;
mod source;
mod tank;
mod task;
mod tether;
mod thermal_bending;
mod thruster;
mod wheel;

#[cfg(feature = "inside")]
test_modules![
    include::tests,
    misread::tests,
    mount,
    names::tests,
    renamed::tests,
    signal::tests
];

pub(crate) use added::Added;
use added::on_rigid_body;
pub use ancf_beam::{AncfBeam, Curvature, NodalSection, NodeStart};
pub use assembly::Assembly;
pub use beam::{Beam, Boundary, Section};
pub use beam_shape::BeamShape;
pub(crate) use blocker::SURFACE;
pub use blocker::{Blocker, BlockerType};
pub use body::{AttitudeServo, Body, Frame, FreeStart, Inertia};
pub(crate) use bushing::BushingFields;
pub use check::unknown;
pub use closed_loop::{Loop, LoopType};
pub use cmg::{Cmg, Gimbal, GyroRotor};
pub use contact::{Contact, ImpactLaw, Inconsistent, Surface, Tangential};
pub use contact_group::ContactGroup;
pub use contact_mesh::{HullsOfFiles, MOST_HULL_VERTICES};
pub use contact_shape::{ContactShape, ContactShapeType};
pub use controller::{
    AngleUnit, ControlledAttitude, ControlledJoint, ControlledThruster, ControlledWheel, Controller, Kind, References,
};
pub use dc_motor::DcMotor;
pub use drive_train::DriveTrain;
pub(crate) use drive_train::Geared;
pub(crate) use element::{FrameField, Report, Table};
pub use epoch::Epoch;
pub use experiment::{Environment, Experiment, Method, Output, Solver};
pub use exposed_surface::{ExposedSurface, Radiation, SurfaceDrag, SurfaceShape};
pub use filter::{Filter, FilterType};
pub use formulation::{Capability, Constraints, Coupling, Formulation, QuaternionOptions, StatePoint};
pub use geometrically_exact_beam::GeometricallyExactBeam;
pub use grasp::Grasp;
pub use include::{Composed, Included, compose};
pub use joint::{
    FeedForward, Friction, Joint, JointMotion, JointStart, JointType, PerAxis, Range, Servo, Spring, Stop, Tracking,
};
pub use kinematics::{KinematicOutput, Kinematics};
pub use line_load::LineLoad;
pub use magnetic_dipole::MagneticDipole;
pub use measure::Measure;
pub use misread::{misread, words};
pub use modal::{ModalData, ModalNode};
pub use monitor::Monitor;
pub use motor::Motor;
pub use mount::{Mount, places};
pub use names::{LONGEST_NAME, mangled, objection, objection_to_parts};
pub(crate) use node::Node;
pub use node::{ReadError, from_text};
pub use orbit::{Atmosphere, Axes, EARTH_MU, Ephemeris, Gravity, MagneticField, Orbit, ThirdBody};
pub use part::Connection;
pub use plan::{Coordinates, Goal, Kept, Plan};
pub use port::{Port, PortAxes};
pub use renamed::variable as renamed;
pub use sensor::{Sensor, SensorErrors, SensorType};
pub use shape::{Shape, ShapeType};
pub use shaper::{Shaper, ShaperType};
pub use signal::{Interpolation, Signal, Waveform};
pub(crate) use signal::{derivative_of, empty_window};
pub use source::{Source, read_bytes, read_text};
pub use tank::{Cylinder, RigidLiquid, SloshDirections, SloshMode, SloshModel, SloshStart, Tank};
pub use task::{Component, Task, Waypoint};
pub use tether::{Reel, Tether};
pub use thermal_bending::ThermalBending;
pub use thruster::{Throttle, Thruster};
pub use wheel::Wheel;

use crate::algebra::Quaternion;
use crate::{Error, Problem};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the inertial frame in joints and other references.
pub const WORLD: &str = "world";

/// Version of the spec's format that this library reads. Version 0.1 had format 1.
pub const FORMAT: u32 = 2;

fn format() -> u32 {
    FORMAT
}

fn is_format(format: &u32) -> bool {
    *format == FORMAT
}

/// Declares [`Spec`] with the sections of the elements.
macro_rules! spec {
    ($($doc:literal $list:ident: $Kind:ty $([$section:ident: $Section:ty])?,)+) => {
        /// Spec of a spacecraft, of several in one system, or of a controller, with the experiment to run.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Spec {
            /// Name of the model, and model identifier of the FMU: a letter, then letters, digits and
            /// underscores, at most 128 characters.
            pub name: String,
            /// Version of the spec's format. This version of grapple reads format 2 only; later versions
            /// also read it, with a warning for each name that has changed. Default 2.
            #[serde(default = "format", skip_serializing_if = "is_format")]
            pub format: u32,
            /// Other specs on which this one is based, by their files, relative to this file. They are
            /// read in their order, then this one: tables are merged, every other value replaces the
            /// one before it. Default: none.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub include: Vec<String>,
            /// Other specs as parts of this one, by their files. Default: none.
            #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
            pub mount: IndexMap<String, Mount>,
            /// Description of the model, one sentence, for the FMU. Default: none.
            #[serde(default, skip_serializing_if = "String::is_empty")]
            pub description: String,
            /// Content of the spec: the model of a spacecraft, or a controller. Default `spacecraft`.
            #[serde(default, skip_serializing_if = "Kind::is_spacecraft")]
            pub kind: Kind,
            /// Joints and attitudes of a controller with their gains; required for `kind = "controller"`,
            /// and only there.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub controller: Option<Controller>,
            /// Coordinates and equations of motion. Default `recursive`.
            #[serde(default, skip_serializing_if = "Formulation::is_default")]
            pub formulation: Formulation,
            /// Gains that reduce constraint violations of the joints. Not for `recursive`, whose joints are
            /// no constraints.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub constraints: Option<Constraints>,
            /// Options of the formulation `quaternion`.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub quaternion: Option<QuaternionOptions>,
            /// Gravity, or the reference orbit.
            #[serde(default)]
            pub environment: Environment,
            /// Bodies. A body that is no joint's child floats freely.
            #[serde(default)]
            pub body: IndexMap<String, Body>,
            /// Large beams in absolute nodal coordinates, outside the trees of bodies.
            #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
            pub ancf_beam: IndexMap<String, AncfBeam>,
            /// Joints. Each connects one child body with its parent body or the world.
            #[serde(default)]
            pub joint: IndexMap<String, Joint>,
            /// Named frames on bodies and ANCF beams: tips, grapple fixtures, sensors.
            #[serde(default)]
            pub frame: IndexMap<String, Frame>,
            /// Reaction wheels.
            #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
            pub wheel: IndexMap<String, Wheel>,
            /// Joints that close kinematic loops, for the whole run.
            #[serde(default, rename = "loop", skip_serializing_if = "IndexMap::is_empty")]
            pub closed_loop: IndexMap<String, Loop>,
            /// Computation of a start that closes all loops, or of a static equilibrium.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub assembly: Option<Assembly>,
            /// Planned motions of joints.
            #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
            pub plan: IndexMap<String, Plan>,
            /// Groups of frames and bodies with shapes, whose pairs have contact.
            #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
            pub contact_group: IndexMap<String, ContactGroup>,
            /// Courses of inputs over time, by the input's name: `[signal."elbow.tau"]`.
            #[serde(default)]
            pub signal: IndexMap<String, Signal>,
            /// Start values of inputs of the FMU, SI units, by the input's name: `"elbow.q_ref" = 0.3`.
            /// Default: those of the elements, mostly zero.
            #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
            pub input: IndexMap<String, f64>,
            /// Selection of the FMU's outputs.
            #[serde(default)]
            pub output: Output,
            /// Run of `grapple simulate`, and default experiment of the FMU.
            #[serde(default)]
            pub experiment: Experiment,
            /// Integration method of Co-Simulation.
            #[serde(default)]
            pub solver: Solver,
            /// Limits of constraint violation and energy balance; a Co-Simulation run that exceeds one
            /// stops with an error.
            #[serde(default, skip_serializing_if = "Monitor::is_default")]
            pub monitor: Monitor,
            $($(#[doc = $doc]
            #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
            pub $section: IndexMap<String, $Section>,)?)+
        }

        /// Names of the elements' sections.
        pub(crate) const ELEMENT_SECTIONS: &[&str] = &[$($(stringify!($section),)?)+];

        impl Spec {
            /// Passes each table of an element's section to `to`: section, name, fields.
            pub(crate) fn each_element<'a>(&'a self, mut to: impl FnMut(&'static str, &'a str, &'a dyn Table)) {
                $($(for (name, table) in &self.$section {
                    to(stringify!($section), name, table);
                })?)+
            }

            /// Keeps the tables of elements for which `keep` returns true.
            pub(crate) fn retain_elements(&mut self, keep: impl Fn(&str, &str, &dyn Table) -> bool) {
                $($(self.$section.retain(|name, table| keep(stringify!($section), name, table));)?)+
            }
        }
    };
}

for_each_element!(spec);

impl Spec {
    /// Removes the shapes of pictures, which are first written as solids where they block sensors, and
    /// those of groups, whose contacts have them.
    pub fn remove_shapes(&mut self) {
        self.write_blockers();
        self.frame.values_mut().for_each(|frame| frame.contact_shape = None);
        self.body.values_mut().for_each(|body| body.contact_shape = None);
        self.body.values_mut().for_each(|body| body.shape.clear());
        self.ancf_beam.values_mut().for_each(|beam| beam.shape.clear());
    }

    /// Returns true if a frame, a body or an ANCF beam has this name.
    pub(crate) fn has_frame(&self, name: &str) -> bool {
        self.frames().any(|known| known == name)
    }

    /// Returns the names of all frames, bodies and ANCF beams.
    pub fn frames(&self) -> impl Iterator<Item = &String> {
        self.frame.keys().chain(self.body.keys()).chain(self.ancf_beam.keys())
    }

    /// Returns the name of the ANCF beam to which `frame` is fixed, or which has this name itself.
    pub(crate) fn on_ancf_beam(&self, frame: &str) -> Option<&str> {
        let beam = self.frame.get(frame).map_or(frame, |frame| &frame.body);
        self.ancf_beam.get_key_value(beam).map(|(name, _)| name.as_str())
    }

    /// Returns true if there is an ANCF beam or a geometrically exact beam.
    pub fn has_nonlinear_beams(&self) -> bool {
        let is_exact = |body: &Body| body.geometrically_exact_beam.is_some();
        !self.ancf_beam.is_empty() || self.body.values().any(is_exact)
    }

    /// Returns the point of each body whose position and velocity are states of maximal
    /// coordinates.
    pub(crate) fn state_point(&self) -> StatePoint {
        self.quaternion
            .as_ref()
            .map_or(StatePoint::Origin, |options| options.point)
    }

    /// Returns the owner of a servo with feed-forward, `joint "elbow"` or `body "bus"`, for messages.
    pub(crate) fn fed(&self) -> Option<String> {
        let joint = self.joint.iter().find(|(_, joint)| joint.feeds_forward());
        let joint = joint.map(|(name, _)| format!("joint \"{name}\""));
        let body = || self.body.iter().find(|(_, body)| body.feeds_forward());
        joint.or_else(|| body().map(|(name, _)| format!("body \"{name}\"")))
    }

    /// Returns the objection to a part of the model that feed-forward and tasks do not include;
    /// `None` without these.
    pub(crate) fn objection_of_feed_forward(&self, to: &str) -> Option<String> {
        let (rigid, remedy) = self.rigid_model()?;
        Some(format!("{rigid} does not include {to}{remedy}"))
    }

    /// Returns the first task or feed-forward torque, which are computed for the spacecraft with
    /// undeformed bodies, and the end of a message that objects to it.
    pub(crate) fn rigid_model(&self) -> Option<(String, &'static str)> {
        let task = self.task.keys().next().map(|task| (format!("task \"{task}\""), ""));
        let fed = || {
            Some((
                format!("the feed-forward torque of {}", self.fed()?),
                ": leave `feed_forward` out",
            ))
        };
        task.or_else(fed)
    }

    /// Returns sections and names of the elements that act between the system and the world.
    pub fn elements_on_world(&self) -> Vec<(&'static str, &str)> {
        let mut found = Vec::new();
        self.each_element(|section, name, table| {
            if table.frames().iter().any(|field| field.frame == WORLD) {
                found.push((section, name));
            }
        });
        found
    }

    /// Returns the spec with the contacts of groups in their place, `None` without groups.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem of the groups.
    pub(crate) fn with_pairs(&self) -> Result<Option<Box<Self>>, Error> {
        contact_group::expanded(self)
    }

    /// Returns problems with those in contacts of groups at their groups.
    pub(crate) fn at_groups(&self, problems: Vec<Problem>) -> Vec<Problem> {
        contact_group::at_groups(self, problems)
    }

    /// Returns true if momentum, energy and work are outputs: for a spacecraft with `[output]
    /// diagnostics = true`.
    pub(crate) fn has_diagnostics(&self) -> bool {
        self.output.diagnostics && self.kind == Kind::Spacecraft
    }
}

/// Reads a spec and validates its structure: names, references, the trees of bodies, counts of
/// numbers. Included specs and tables are loaded from their files, whose paths are relative to
/// `directory`.
///
/// Values of numbers are validated when a [`Model`](crate::plant::Model) is compiled;
/// [`Model::read`](crate::plant::Model::read) does both.
///
/// # Errors
/// [`Error::Spec`] with every problem found; for a text that is not TOML, only the first syntax
/// error.
pub fn read(text: &str, directory: &std::path::Path) -> Result<Spec, Error> {
    let (spec, problems) = parse(&compose(text, directory)?, directory)?;
    if problems.is_empty() {
        Ok(spec)
    } else {
        Err(Error::Spec(spec.at_groups(problems)))
    }
}

/// Reads a composed spec as [`read`] does, and returns it with its problems, those in contacts of
/// groups at these contacts.
///
/// # Errors
/// [`Error::Spec`] if the text cannot be parsed as a [`Spec`].
pub(crate) fn parse(composed: &Composed, directory: &std::path::Path) -> Result<(Spec, Vec<Problem>), Error> {
    let text = &composed.text;
    if !composed.problems.is_empty() {
        return Err(Error::Spec(composed.problems.clone()));
    }
    let mut problems = source::non_finite_numbers(text)?;
    let mut spec: Spec = match from_toml(text) {
        Ok(spec) => spec,
        Err(first) => return misread::parse(composed, directory, &first, problems),
    };
    signal::load_tables(&mut spec, directory, &mut problems);
    contact_mesh::load(&mut spec, &composed.meshes, &mut problems);
    contact_group::expand(&mut spec, &mut problems);
    check::check(&spec, &mut problems);
    Ok((spec, problems))
}

/// Reads the fields of a spec from its text, without validation.
///
/// # Errors
/// The first error in the text.
pub fn from_toml(text: &str) -> Result<Spec, ReadError> {
    from_text(text)
}

/// Returns the text of a spec.
///
/// # Errors
/// None for a valid spec.
pub fn to_toml(spec: &Spec) -> Result<String, toml::ser::Error> {
    toml::to_string(&toml::Table::try_from(spec)?)
}

/// Validates a spec that was not read from a TOML file, as [`read`] does.
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

/// Returns the JSON schema of the spec, for editors.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Spec);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}

/// Returns a rotation that is written as a unit quaternion or as roll, pitch and yaw; the identity
/// if neither is written.
///
/// `rpy_deg` (degrees) rotates about the fixed axes x, then y, then z, as in URDF: `R = Rz(yaw)
/// Ry(pitch) Rx(roll)`.
pub fn rotation(quaternion: Option<[f64; 4]>, rpy_deg: Option<[f64; 3]>) -> Quaternion<f64> {
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

/// Returns the path `section.name.field` of a field in the file. The field may be nested,
/// `start.position`; empty parts are left out.
pub(crate) fn at(section: &str, name: &str, field: &str) -> Vec<String> {
    [section, name]
        .into_iter()
        .chain(field.split('.'))
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns a problem at `section.name.field`.
pub(crate) fn problem(section: &str, name: &str, field: &str, what: String) -> Problem {
    Problem {
        at: at(section, name, field),
        what,
    }
}
