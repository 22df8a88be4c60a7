//! The craft in motion, for the page: what bodies, joints and beams look like, and where they are at each instant.
//!
//! Bodies are where the FMU says. How a flexible body is bent between its root and its tip is not among the FMU's
//! variables: it is found from the amplitudes of its modes, by the crate's own kinematics of a craft with more frames.

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

/// A craft in motion. Lengths are in m; places over time are in inertial axes, three numbers for each instant, from where the first body starts.
#[derive(Serialize)]
pub struct Motion {
    /// Where the world's origin is from there.
    world: [f64; 3],
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    beams: Vec<Beam>,
    nodal: Vec<Nodal>,
    frames: Vec<FrameTrack>,
    interfaces: Vec<Interface>,
    /// What could not be drawn, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacking: Option<String>,
    /// The craft's place on its orbit, from the Earth's centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    orbit: Option<Floats>,
}

/// A body; places on it are in its axes.
#[derive(Serialize)]
struct Body {
    name: String,
    /// Its origin.
    r: Floats,
    /// Its attitude, a quaternion (w, x, y, z) for each instant.
    q: Floats,
    /// None of what is drawn as a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    ellipsoid: Option<Ellipsoid>,
    /// Where joints and frames stand on it: it reaches there.
    reaches: Vec<[f64; 3]>,
    /// Root and tip of its beam at rest.
    #[serde(skip)]
    line: Option<[Vec3<f64>; 2]>,
}

/// A joint; its place is in the axes of the body that it moves, which is at its origin.
#[derive(Serialize)]
struct Joint {
    name: String,
    kind: &'static str,
    body: usize,
    axes: Vec<[f64; 3]>,
}

/// The ellipsoid of even density with a body's mass and inertia.
#[derive(Serialize)]
struct Ellipsoid {
    centre: [f64; 3],
    half_axes: [[f64; 3]; 3],
}

impl Motion {
    /// The motion at the rows `rows`. `None` for what is no craft, or has no places among its variables.
    ///
    /// # Errors
    /// There is no craft with the parameters of the run.
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
            nodal: bending::nodal(spec, results, rows, &origin),
            frames: interfaces::tracks(spec, results, rows, &origin),
            interfaces: interfaces::interfaces(spec, results, &run.events, rows),
            bodies,
            joints: places.iter().enumerate().filter_map(joint).collect(),
            orbit: results.get_vector::<3>("orbit.r").map(|r| Floats::of(&r, rows)),
        }))
    }
}

/// What its bodies look like does not change.
impl Start<'_> {
    /// A body. `None` of one that has no places, and of a geometrically exact beam's nodes behind its root: they are points of its line.
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

    /// Root and tip of a beam with modes, in its axes.
    fn line(&self, i: usize) -> Option<[Vec3<f64>; 2]> {
        let beam = self.system.bodies[i].beam.as_ref()?;
        let elastic = self.derived.bodies[i].elastic.as_ref()?;
        let along = elastic.axes.column(0) * (elastic.length * beam.segments() as f64);
        Some([elastic.root, elastic.root + along])
    }

    /// Where joints and frames stand on a body, in its axes.
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

    /// Where a station of a body is, in its axes; without one its origin.
    fn station(&self, i: usize, station: Option<usize>) -> Vec3<f64> {
        let body = &self.kinematics.bodies[i];
        station.map_or(Vec3::zeros(), |station| {
            body.R_WB.tr_mul(&(self.kinematics.stations[station].p_WB - body.p_WB))
        })
    }

    /// The joint that moves a body, if one is written; `body` is that one's place among those that are shown.
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
