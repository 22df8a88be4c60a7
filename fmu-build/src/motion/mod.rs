//! The animated spacecraft of the page: shapes of bodies, joints and beams, and their poses at each
//! instant.
//!
//! Poses of bodies are the FMU's outputs. The deflection of a flexible body between root and tip is
//! not an output: it is computed from the amplitudes of its modes, by the kinematics of the same
//! spacecraft with additional frames.

mod bending;
mod interfaces;

use crate::html::Floats;
use crate::results::Results;
use crate::run::Run;
use crate::start::{Start, half_axes, prepared};
use bending::{Beam, Nodal};
use grapple::Error;
use grapple::algebra::Vec3;
use grapple::plant::Model;
use grapple::spec::{JointType, Kind};
use interfaces::{FrameTrack, Interface};
use serde::Serialize;
use std::sync::Arc;

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
    /// Message that beams with modes are not drawn, and why, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacking: Option<String>,
    /// Position of the world's origin on the reference orbit, from the central body's centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    orbit: Option<Floats>,
}

/// A body; positions on it are in its axes.
#[derive(Serialize)]
struct Body {
    name: String,
    /// Position of the body's origin.
    r: Floats,
    /// Attitude, a quaternion (w, x, y, z) for each instant.
    q: Floats,
    /// `None` for a beam, which is drawn as a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    ellipsoid: Option<Ellipsoid>,
    /// Positions of joints and frames on it.
    reaches: Vec<[f64; 3]>,
    /// Root and tip of the undeformed beam, if the body is a beam with modes.
    #[serde(skip)]
    line: Option<[Vec3<f64>; 2]>,
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

/// The ellipsoid of uniform density with a body's mass and inertia.
#[derive(Serialize)]
struct Ellipsoid {
    centre: [f64; 3],
    half_axes: [[f64; 3]; 3],
}

impl Motion {
    /// Returns the motion at the rows `rows`; none for a controller, or without positions among the
    /// variables.
    ///
    /// # Errors
    /// The parameters of the run are invalid.
    pub fn of(model: &Arc<Model>, run: &Run, rows: &[usize]) -> Result<Option<Self>, Error> {
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
            if let Some(body) = start.body(i, results, rows, &origin) {
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
        let joint = |(i, place): (usize, &Option<usize>)| start.joint(i, (*place)?);
        Ok(Some(Self {
            world: origin.map(|part| -part),
            beams,
            lacking,
            nodal: bending::nodal(&start, spec, results, rows, &origin),
            frames: interfaces::tracks(spec, results, rows, &origin),
            interfaces: interfaces::interfaces(spec, results, &run.events, rows),
            bodies,
            joints: places.iter().enumerate().filter_map(joint).collect(),
            orbit: results.get_vector::<3>("orbit.r").map(|r| Floats::of(&r, rows)),
        }))
    }
}

/// Shapes for the page, computed once: they do not change during the run.
impl Start<'_> {
    /// Returns a body; none for a body without outputs of its pose, and for the nodes of a
    /// geometrically exact beam after its root, which are points of the beam's line.
    fn body(&self, i: usize, results: &Results, rows: &[usize], origin: &[f64; 3]) -> Option<Body> {
        let body = &self.system.bodies[i];
        if body.director.is_some() && body.segment > 0 {
            return None;
        }
        let r = results.get_vector::<3>(&format!("{}.r", body.name))?;
        let attitude = results.get_vector::<4>(&format!("{}.q", body.name))?;
        let constants = &self.derived.bodies[i];
        let line = self.line(i);
        Some(Body {
            name: body.name.clone(),
            r: Floats::seen_from(origin, &r, rows),
            q: Floats::of(&attitude, rows),
            ellipsoid: (line.is_none() && body.director.is_none()).then(|| Ellipsoid {
                centre: array(&constants.p_BoBcm),
                half_axes: half_axes(constants).map(|axis| array(&axis)),
            }),
            reaches: match &line {
                Some(ends) => ends.iter().map(array).collect(),
                None => self.reaches(i).iter().map(array).collect(),
            },
            line,
        })
    }

    /// Returns root and tip of an undeformed beam with modes, body axes.
    fn line(&self, i: usize) -> Option<[Vec3<f64>; 2]> {
        let beam = self.system.bodies[i].beam.as_ref()?;
        let elastic = self.derived.bodies[i].elastic.as_ref()?;
        let along = elastic.axes.column(0) * (elastic.length * beam.segments() as f64);
        Some([elastic.root, elastic.root + along])
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
