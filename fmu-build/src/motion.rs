//! The craft in motion, for the page: what bodies, joints and beams look like, and where they are at each instant.
//!
//! Bodies are where the FMU says. How a flexible body is bent between its root and its tip is not among the FMU's
//! variables: it is found from the amplitudes of its modes, by the crate's own kinematics of a craft with more frames.

use crate::page::Floats;
use crate::results::Results;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::{Model, Plant};
use grapple::spec::{Frame, JointType, Kind, Spec};
use grapple::system::{Kinematics, System};
use serde::Serialize;
use std::sync::Arc;

/// Frames along a flexible body, from its root to its tip.
const FRAMES: usize = 17;

/// A craft in motion. Lengths are in m; places over time are in inertial axes, three numbers for each instant.
#[derive(Serialize)]
pub struct Motion {
    bodies: Vec<Body>,
    joints: Vec<Joint>,
    beams: Vec<Beam>,
    nodal: Vec<Nodal>,
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
    /// The centre of the ellipsoid of even density with its mass and inertia.
    centre: [f64; 3],
    /// The ellipsoid's half axes.
    half_axes: [[f64; 3]; 3],
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

/// A flexible body's line.
#[derive(Serialize)]
struct Beam {
    body: usize,
    /// Its points when nothing bends it.
    rest: Vec<[f64; 3]>,
    /// By how much they are displaced, point by point for each instant.
    bent: Floats,
}

/// A nodal beam: cubics between its nodes.
#[derive(Serialize)]
struct Nodal {
    name: String,
    /// Length of an element.
    element: f64,
    /// Places of its nodes.
    r: Vec<Floats>,
    /// Their slopes.
    slope: Vec<Floats>,
}

impl Motion {
    /// The motion at the rows `rows`. `None` for what is no craft, or has no places among its variables.
    pub fn of(model: &Arc<Model>, results: &Results, rows: &[usize]) -> Option<Self> {
        if model.spec.kind != Kind::Craft {
            return None;
        }
        let plant = prepared(model, results)?;
        let (system, derived) = (model.system(), plant.derived());
        let mut kinematics = Kinematics::new(system);
        let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
        model.start_coordinates(plant.parameters(), &mut q, &mut qd);
        kinematics.update(system, derived, &q, &qd);

        let mut places = vec![None; system.bodies.len()];
        let mut bodies: Vec<Body> = Vec::new();
        for (i, body) in system.bodies.iter().enumerate() {
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
                centre: array(&constants.p_BoBcm),
                half_axes: half_axes(&constants.I_Bcm.full(), constants.m),
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
        Some(Self {
            beams: beams(&model.spec, results, rows, &bodies),
            nodal: nodal(&model.spec, results, rows),
            bodies,
            joints,
            orbit: results.get_vector::<3>("orbit.r").map(|r| Floats::of(&r, rows)),
        })
    }
}

/// The model with the parameters of the run.
fn prepared(model: &Arc<Model>, results: &Results) -> Option<Plant> {
    let mut plant = Plant::new(Arc::clone(model)).ok()?;
    let set = model.parameters.iter().zip(plant.parameters());
    let values: Vec<f64> = set
        .map(|(parameter, value)| results.parameter(&parameter.quantity.name).unwrap_or(*value))
        .collect();
    plant.set_parameters(&values).ok()?;
    Some(plant)
}

/// The lines of beams with modes: the same craft with frames along them, at the run's amplitudes.
fn beams(spec: &Spec, results: &Results, rows: &[usize], bodies: &[Body]) -> Vec<Beam> {
    let mut framed = spec.clone();
    let mut lines = Vec::new();
    for (i, body) in bodies.iter().enumerate() {
        let Some([root, tip]) = body.line else { continue };
        let name = |k: usize| format!("{}_line_{k}", body.name);
        for k in 0..FRAMES {
            let part = k as f64 / (FRAMES - 1) as f64;
            let origin = array(&(root + (tip - root) * part));
            let frame = Frame {
                body: body.name.clone(),
                origin,
                orientation: None,
                rpy_deg: None,
            };
            framed.frame.insert(name(k), frame);
        }
        lines.push((i, (0..FRAMES).map(name).collect::<Vec<_>>()));
    }
    let Ok(model) = Model::compile(&framed).map(Arc::new) else {
        return Vec::new();
    };
    let Some(plant) = prepared(&model, results) else {
        return Vec::new();
    };
    let (system, derived) = (model.system(), plant.derived());
    let amplitudes: Vec<(usize, &[f64])> = system
        .states()
        .iter()
        .take(system.nq)
        .enumerate()
        .filter_map(|(i, state)| Some((i, results.get(&state.name).filter(|_| state.name.contains(".eta["))?)))
        .collect();
    let (mut q, mut qd) = (vec![0.0; system.nq], vec![0.0; system.nv]);
    model.start_coordinates(plant.parameters(), &mut q, &mut qd);
    qd.fill(0.0);
    let mut kinematics = Kinematics::new(system);
    let mut points = |row: Option<usize>| -> Vec<Vec<Vec3<f64>>> {
        for (i, values) in &amplitudes {
            q[*i] = row.map_or(0.0, |row| values[row]);
        }
        kinematics.update(system, derived, &q, &qd);
        let line = |(body, names): &(usize, Vec<String>)| line(system, &kinematics, &bodies[*body].name, names);
        lines.iter().map(line).collect()
    };
    let rest = points(None);
    let mut bent = vec![Vec::new(); lines.len()];
    for &row in rows {
        for (bent, (now, rest)) in bent.iter_mut().zip(points(Some(row)).iter().zip(&rest)) {
            bent.extend(now.iter().zip(rest).flat_map(|(now, rest)| array(&(now - rest))));
        }
    }
    let beams = lines.iter().zip(&rest).zip(bent);
    beams
        .map(|(((body, _), rest), bent)| Beam {
            body: *body,
            rest: rest.iter().map(array).collect(),
            bent: Floats(bent),
        })
        .collect()
}

/// Where frames on a flexible body are, in its axes.
fn line(system: &System, kinematics: &Kinematics<f64>, body: &str, names: &[String]) -> Vec<Vec3<f64>> {
    let root = system.bodies.iter().position(|b| b.name == body);
    let root = &kinematics.bodies[root.expect("the body is the craft's")];
    let place = |name: &String| {
        let frame = system.frames.iter().find(|frame| frame.name == *name)?;
        let p = kinematics.stations[frame.station?].p_WB;
        Some(root.R_WB.tr_mul(&(p - root.p_WB)))
    };
    names.iter().filter_map(place).collect()
}

fn nodal(spec: &Spec, results: &Results, rows: &[usize]) -> Vec<Nodal> {
    let beam = |name: &String| {
        let all = |what: &str| -> Vec<Floats> {
            let node = |i: usize| results.get_vector::<3>(&format!("{name}.node[{i}].{what}"));
            (1..).map_while(node).map(|r| Floats::of(&r, rows)).collect()
        };
        let (r, slope) = (all("r"), all("slope"));
        let ends = [r.first()?, r.get(1)?];
        let element = length(&std::array::from_fn(|j| ends[1].0[j] - ends[0].0[j]));
        Some(Nodal {
            name: name.clone(),
            element,
            r,
            slope,
        })
    };
    spec.nodal_beam.keys().filter_map(beam).collect()
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

fn length(v: &[f64; 3]) -> f64 {
    Vec3::from_row_slice(v).norm()
}
