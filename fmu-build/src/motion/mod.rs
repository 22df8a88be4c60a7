//! The craft in motion, for the page: what bodies, joints and beams look like, and where they are at each instant.
//!
//! Bodies are where the FMU says. How a flexible body is bent between its root and its tip is not among the FMU's
//! variables: it is found from the amplitudes of its modes, by the crate's own kinematics of a craft with more frames.

mod bending;
mod interfaces;

use crate::page::Floats;
use crate::results::Results;
use crate::simulate::Run;
use bending::{Beam, Nodal};
use grapple::Error;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::{Model, Plant};
use grapple::spec::{JointType, Kind};
use grapple::system::Kinematics;
use interfaces::{Interface, Place};
use serde::Serialize;
use std::sync::Arc;

/// A craft in motion. Lengths are in m; places over time are in inertial axes, three numbers for each instant.
#[derive(Serialize)]
pub struct Motion {
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    beams: Vec<Beam>,
    nodal: Vec<Nodal>,
    frames: Vec<Place>,
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
    pub fn of(model: &Arc<Model>, run: &Run, rows: &[usize]) -> Option<Self> {
        let results = &run.results;
        if model.spec.kind != Kind::Craft {
            return None;
        }
        let plant = prepared(model, results).ok()?;
        let (system, derived) = (model.system(), plant.derived());
        let mut kinematics = Kinematics::new(system);
        let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
        model.start_coordinates(plant.parameters(), &mut q, &mut qd);
        kinematics.update(system, derived, &q, &qd);

        let mut places = vec![None; system.bodies.len()];
        let mut bodies: Vec<Body> = Vec::new();
        // A director beam's nodes behind its root are points of its line.
        let is_shown = |body: &grapple::system::Body| body.director.is_none() || body.segment == 0;
        for (i, body) in system.bodies.iter().enumerate().filter(|(_, body)| is_shown(body)) {
            let r = results.get_vector::<3>(&format!("{}.r", body.name));
            let attitude = results.get_vector::<4>(&format!("{}.q", body.name));
            let (Some(r), Some(attitude)) = (r, attitude) else {
                continue;
            };
            let constants = &derived.bodies[i];
            let R = kinematics.bodies[i].R_WB;
            let local = |p: Vec3<f64>| array(&R.tr_mul(&(p - kinematics.bodies[i].p_WB)));
            let carried = system
                .bodies
                .iter()
                .enumerate()
                .filter(|(_, child)| child.parent == Some(i));
            let mut reaches: Vec<[f64; 3]> = carried.map(|(c, _)| array(&derived.bodies[c].p_PF)).collect();
            let frames = system.frames.iter().enumerate().filter(|(_, frame)| frame.body == i);
            reaches.extend(frames.map(|(f, frame)| match frame.station {
                Some(station) => local(kinematics.stations[station].p_WB),
                None => array(&derived.frames[f].X_BF.p),
            }));
            let line = constants
                .elastic
                .as_ref()
                .filter(|_| body.beam.is_some())
                .map(|elastic| {
                    let segments = body.beam.as_ref().map_or(1, |beam| beam.segments());
                    let along = elastic.axes.column(0) * (elastic.length * segments as f64);
                    [elastic.root, elastic.root + along]
                });
            if let Some(ends) = &line {
                reaches = ends.iter().map(array).collect();
            }
            places[i] = Some(bodies.len());
            bodies.push(Body {
                name: body.name.clone(),
                r: Floats::of(&r, rows),
                q: Floats::of(&attitude, rows),
                ellipsoid: (line.is_none() && body.director.is_none()).then(|| Ellipsoid {
                    centre: array(&constants.p_BoBcm),
                    half_axes: half_axes(&constants.I_Bcm.full(), constants.m),
                }),
                reaches,
                line,
            });
        }
        let joints = system.bodies.iter().enumerate().filter(|(_, body)| body.joint.written);
        let joint = |(i, body): (usize, &grapple::system::Body)| {
            let R = kinematics.bodies[i].R_WB;
            let columns = &kinematics.H[body.joint.v..body.joint.v + body.joint.nv];
            let turning = !matches!(body.joint.kind, JointType::Spherical | JointType::Free);
            let along = columns
                .iter()
                .filter(|_| turning)
                .map(|H| if H.w.norm() > 0.5 { H.w } else { H.v });
            Some(Joint {
                name: body.joint.name.clone(),
                kind: body.joint.kind.name(),
                body: places[i]?,
                axes: along.map(|axis| array(&R.tr_mul(&axis))).collect(),
            })
        };
        let joints = joints.filter_map(joint).collect();
        if bodies.is_empty() {
            return None;
        }
        let spec = &model.spec;
        let (beams, lacking) = match bending::beams(spec, results, rows, &bodies) {
            Ok(beams) => (beams, None),
            Err(error) => (Vec::new(), Some(format!("Beams with modes are not drawn: {error}"))),
        };
        Some(Self {
            beams,
            lacking,
            nodal: bending::nodal(spec, results, rows),
            frames: interfaces::places(spec, results, rows),
            interfaces: interfaces::interfaces(spec, results, &run.events, rows),
            bodies,
            joints,
            orbit: results.get_vector::<3>("orbit.r").map(|r| Floats::of(&r, rows)),
        })
    }
}

/// The model with the parameters of the run.
fn prepared(model: &Arc<Model>, results: &Results) -> Result<Plant, Error> {
    let mut plant = Plant::new(Arc::clone(model))?;
    let set = model.parameters.iter().zip(plant.parameters());
    let values: Vec<f64> = set
        .map(|(parameter, value)| results.parameter(&parameter.quantity.name).unwrap_or(*value))
        .collect();
    plant.set_parameters(&values)?;
    Ok(plant)
}

/// Half axes of the ellipsoid of even density: `a²ᵢ = (5/m)(½ tr I − Iᵢ)` on the principal axes.
fn half_axes(I: &Mat3<f64>, m: f64) -> [[f64; 3]; 3] {
    let squares = (Mat3::identity() * (0.5 * I.trace()) - I) * (5.0 / m);
    let principal = squares.symmetric_eigen();
    let lengths = principal.eigenvalues.map(|square| square.max(0.0).sqrt());
    // A thin plate or rod still has something to show.
    let least = (0.03 * lengths.max()).max(1e-9);
    [0, 1, 2].map(|i| array(&(principal.eigenvectors.column(i) * lengths[i].max(least))))
}

fn array(v: &Vec3<f64>) -> [f64; 3] {
    [v.x, v.y, v.z]
}
