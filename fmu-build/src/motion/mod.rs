//! The animated spacecraft of the page: shapes of bodies, joints and beams, and their poses at each
//! instant.
//!
//! Poses of bodies are the FMU's outputs. The deflection of a flexible body between root and tip is
//! not an output: it is computed from the amplitudes of its modes, by the kinematics of the same
//! spacecraft with additional frames.

mod arrows;
mod bending;
pub(crate) mod contact_shapes;
mod interfaces;
pub(crate) mod shapes;
mod tethers;

#[cfg(feature = "inside")]
test_modules![bending::tests, contact_shapes::tests, interfaces::tests];

use crate::html::Floats;
use crate::results::Results;
use crate::run::Run;
use crate::shapes::Meshes;
use crate::start::{Section, Start, prepared};
use arrows::Arrow;
use bending::{Beam, Nodal};
use grapple::Error;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::Model;
use grapple::spec::{JointType, Kind, Spec};
use interfaces::{FrameTrack, Interface};
use serde::Serialize;
use shapes::{Drawn, MeshData, WheelTrack};
use std::sync::Arc;
use tethers::TetherTrack;

/// Motion of a spacecraft. Lengths are in m; positions over time are in inertial axes, three
/// numbers for each instant, relative to the first body's position at the start.
#[derive(Serialize)]
pub struct Motion {
    /// Position of the world's origin relative to the first body's at the start.
    world: [f64; 3],
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    beams: Vec<Beam>,
    nodal: Vec<Nodal>,
    frames: Vec<FrameTrack>,
    interfaces: Vec<Interface>,
    tethers: Vec<TetherTrack>,
    wheels: Vec<WheelTrack>,
    arrows: Vec<Arrow>,
    meshes: Vec<MeshData>,
    /// Message that beams with modes are not drawn, and why, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacking: Option<String>,
    /// Position of the world's origin on the reference orbit, from the central body's centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    orbit: Option<Floats>,
    /// Radius of the central body, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    planet_radius: Option<f64>,
}

/// A body; positions on it are in its axes.
#[derive(Serialize)]
struct Body {
    name: String,
    /// Position of the body's origin.
    r: Floats,
    /// Attitude, a quaternion (w, x, y, z) for each instant.
    q: Floats,
    /// Shapes in body axes; those of a beam are drawn along its axis.
    shapes: Vec<Drawn>,
    /// Positions of joints and frames on it.
    reaches: Vec<[f64; 3]>,
    /// The undeformed axis, if the body is a beam with modes.
    #[serde(skip)]
    line: Option<Line>,
}

/// Axis of an undeformed beam with modes, in body axes.
pub(crate) struct Line {
    /// Position of the root.
    root: Vec3<f64>,
    /// Axes of the beam: the first is along it.
    axes: Mat3<f64>,
    length: f64,
}

impl Line {
    fn point(&self, x: f64) -> Vec3<f64> {
        self.root + self.axes.column(0) * x
    }
}

/// A joint. It is drawn at the origin of the body that it moves, with its axes of motion in that
/// body's axes.
#[derive(Serialize)]
struct Joint {
    name: String,
    kind: &'static str,
    body: usize,
    axes: Vec<[f64; 3]>,
}

impl Motion {
    /// Returns the motion at the rows `rows`; none for a controller, or without positions among the
    /// variables.
    ///
    /// # Errors
    /// The parameters of the run are invalid.
    pub fn of(model: &Arc<Model>, meshes: &Meshes, run: &Run, rows: &[usize]) -> Result<Option<Self>, Error> {
        if model.spec.kind != Kind::Spacecraft {
            return Ok(None);
        }
        let (spec, results) = (&model.spec, &run.results);
        let plant = prepared(model, results)?;
        let start = Start::of(model, &plant);
        let first = start
            .system
            .bodies
            .iter()
            .find_map(|body| results.get_vector::<3>(&format!("{}.r", body.name)));
        let origin = match (first, rows.first()) {
            (Some(r), Some(&row)) => r.map(|part| part[row]),
            _ => [0.0; 3],
        };
        let mut places = vec![None; start.system.bodies.len()];
        let mut bodies = Vec::new();
        for (i, place) in places.iter_mut().enumerate() {
            if let Some(body) = start.body(i, spec, meshes, results, rows, &origin) {
                *place = Some(bodies.len());
                bodies.push(body);
            }
        }
        if bodies.is_empty() {
            return Ok(None);
        }
        let (beams, lacking) = match bending::beams(spec, results, rows, &bodies) {
            Ok(beams) => (beams, None),
            Err(error) => (Vec::new(), Some(format!("Beams with modes are not drawn: {error}"))),
        };
        let drawn = |name: &str| bodies.iter().position(|body: &Body| body.name == name);
        let joint = |(i, place): (usize, &Option<usize>)| start.joint(i, (*place)?);
        Ok(Some(Self {
            world: origin.map(|part| -part),
            beams,
            lacking,
            nodal: bending::nodal(&start, spec, meshes, results, rows, &origin),
            frames: interfaces::tracks(spec, results, rows, &origin, drawn),
            interfaces: interfaces::interfaces(spec, results, &run.events, rows),
            tethers: tethers::tracks(spec, results, rows, &origin),
            wheels: shapes::wheels(&start, spec, results, rows, drawn),
            arrows: arrows::arrows(spec, results, rows),
            meshes: shapes::meshes(meshes),
            bodies,
            joints: places.iter().enumerate().filter_map(joint).collect(),
            orbit: results.get_vector::<3>("orbit.r").map(|r| Floats::of(&r, rows)),
            planet_radius: spec.environment.orbit.as_ref().map(|orbit| orbit.radius),
        }))
    }
}

/// Shapes for the page, computed once: they do not change during the run.
impl Start<'_> {
    /// Returns a body; none for a body without outputs of its pose, and for the nodes of a
    /// geometrically exact beam after its root, which are points of the beam's line.
    fn body(
        &self,
        i: usize,
        spec: &Spec,
        meshes: &Meshes,
        results: &Results,
        rows: &[usize],
        origin: &[f64; 3],
    ) -> Option<Body> {
        let body = &self.system.bodies[i];
        if body.director.is_some() && body.segment > 0 {
            return None;
        }
        let r = results.get_vector::<3>(&format!("{}.r", body.name))?;
        let attitude = results.get_vector::<4>(&format!("{}.q", body.name))?;
        let line = self.line(i);
        let written = spec.body.get(&body.name);
        let mut shapes = match written.filter(|body| !body.shape.is_empty()) {
            Some(written) => shapes::written(&written.shape, meshes, line.as_ref()),
            None => match &line {
                Some(line) => {
                    let section = written.and_then(|body| Section::of_beam(body.beam.as_ref()?));
                    vec![shapes::of_section(section, line.length)]
                }
                None => vec![shapes::stand_in(&self.solid(i, false))],
            },
        };
        shapes.extend(contact_shapes::of_body(spec, &body.name, line.as_ref()));
        Some(Body {
            name: body.name.clone(),
            r: Floats::seen_from(origin, &r, rows),
            q: Floats::of(&attitude, rows),
            // Those of a geometrically exact beam are with its nodes.
            shapes: if body.director.is_some() { Vec::new() } else { shapes },
            reaches: match &line {
                Some(line) => [0.0, line.length].map(|x| array(&line.point(x))).to_vec(),
                None => self.reaches(i).iter().map(array).collect(),
            },
            line,
        })
    }

    /// Returns the axis of an undeformed beam with modes.
    fn line(&self, i: usize) -> Option<Line> {
        let beam = self.system.bodies[i].beam.as_ref()?;
        let elastic = self.derived.bodies[i].elastic.as_ref()?;
        Some(Line {
            root: elastic.root,
            axes: elastic.axes,
            length: elastic.length * beam.segments() as f64,
        })
    }

    /// Returns the undeformed length of each element of a geometrically exact beam, m.
    fn element_length(&self, name: &str) -> Option<f64> {
        let body = self.system.bodies.iter().find(|body| body.name == name)?;
        Some(self.derived.directors[body.director?].element.l)
    }

    /// Returns the positions of joints and frames on a body, body axes.
    fn reaches(&self, i: usize) -> Vec<Vec3<f64>> {
        let Self { system, derived, .. } = self;
        let carried = system
            .bodies
            .iter()
            .enumerate()
            .filter(|(_, child)| child.parent == Some(i));
        let joints = carried.map(|(c, child)| self.station(i, child.station) + derived.bodies[c].p_PF);
        let frames = system.frames.iter().enumerate().filter(|(_, frame)| frame.body == i);
        let frames = frames.map(|(f, frame)| self.station(i, frame.station) + derived.frames[f].X_BF.p);
        joints.chain(frames).collect()
    }

    /// Returns the position of a flexible body's station (a point on it), body axes; zero for none.
    fn station(&self, i: usize, station: Option<usize>) -> Vec3<f64> {
        let body = &self.kinematics.bodies[i];
        station.map_or(Vec3::zeros(), |station| {
            body.R_WB.tr_mul(&(self.kinematics.stations[station].p_WB - body.p_WB))
        })
    }

    /// Returns the joint that moves a body, if the spec has one; `body` is the index among the
    /// drawn bodies.
    fn joint(&self, i: usize, body: usize) -> Option<Joint> {
        let joint = &self.system.bodies[i].joint;
        let R = self.kinematics.bodies[i].R_WB;
        let is_axial = !matches!(joint.kind, JointType::Spherical | JointType::Free);
        let columns = self.kinematics.H[joint.v..joint.v + joint.nv]
            .iter()
            .filter(|_| is_axial);
        let axes = columns.map(|H| if H.w.norm() > 0.5 { H.w } else { H.v });
        joint.written.then(|| Joint {
            name: joint.name.clone(),
            kind: joint.kind.name(),
            body,
            axes: axes.map(|axis| array(&R.tr_mul(&axis))).collect(),
        })
    }
}

fn array(v: &Vec3<f64>) -> [f64; 3] {
    [v.x, v.y, v.z]
}
