//! The centre lines of flexible bodies over time.

use super::shapes::{self, Drawn};
use super::{Body, Line, Start, array};
use crate::html::Floats;
use crate::results::Results;
use crate::shapes::Meshes;
use crate::start::{Section, prepared};
use grapple::Error;
use grapple::algebra::{Mat3, Quaternion, Vec3};
use grapple::plant::Model;
use grapple::spec::{Axes, Frame, FreeStart, Shape, Spec, rotation};
use grapple::system::{Kinematics, System};
use indexmap::IndexMap;
use serde::Serialize;
use std::sync::Arc;

/// Number of points computed along a beam with modes, from its root to its tip.
const FRAMES: usize = 17;

/// The centre line of a beam with modes.
#[derive(Serialize)]
pub struct Beam {
    body: usize,
    /// Points on the line without deflection, body axes.
    rest: Vec<[f64; 3]>,
    /// Displacements of the points, body axes: of all points at one instant, then at the next.
    bent: Floats,
    /// Rotations of the sections about the axis at the points, rad; none if it does not twist.
    #[serde(skip_serializing_if = "Option::is_none")]
    twist: Option<Floats>,
    /// Attitude of the beam's axes in the body.
    axes: [f64; 4],
    length: f64,
}

/// An ANCF or geometrically exact beam: its nodes, between which its line is drawn as a cubic.
#[derive(Serialize)]
pub struct Nodal {
    name: String,
    /// Undeformed lengths of its elements along its line.
    elements: Vec<f64>,
    /// Position of each node.
    r: Vec<Floats>,
    /// Slope of each node of an ANCF beam.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    slope: Vec<Floats>,
    /// Attitude of each node of a geometrically exact beam.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    q: Vec<Floats>,
    /// Direction of the section's y axis on an ANCF beam at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    across: Option<[f64; 3]>,
    /// Shapes; x is the length along the axis.
    shapes: Vec<Drawn>,
}

/// Twist below which a beam counts as not twisted, rad.
const UNTWISTED: f64 = 1e-6;

/// Computes the centre lines of beams with modes at the run's amplitudes, by the kinematics of a
/// copy of the spacecraft that has additional frames along the beams.
///
/// # Errors
/// The spacecraft with these frames is invalid.
pub fn beams(spec: &Spec, results: &Results, rows: &[usize], bodies: &[Body]) -> Result<Vec<Beam>, Error> {
    let stem = unused(spec);
    let mut framed = spec.clone();
    let mut lines = Vec::new();
    for (i, body) in bodies.iter().enumerate() {
        let Some(line) = &body.line else { continue };
        let name = |k: usize| format!("{stem}{i}_{k}");
        for k in 0..FRAMES {
            let part = k as f64 / (FRAMES - 1) as f64;
            let origin = array(&line.point(part * line.length));
            let frame = Frame {
                body: body.name.clone(),
                origin,
                orientation: None,
                rpy_deg: None,
                contact_shape: None,
            };
            framed.frame.insert(name(k), frame);
        }
        lines.push((i, line, (0..FRAMES).map(name).collect::<Vec<_>>()));
    }
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let model = Arc::new(Model::compile(&framed)?);
    let plant = prepared(&model, results)?;
    let (system, derived) = (model.system(), plant.derived());
    let amplitudes: Vec<(usize, &[f64])> = system
        .states()
        .iter()
        .take(system.nq)
        .enumerate()
        .filter_map(|(i, state)| Some((i, results.get(&state.name).filter(|_| state.name.contains(".eta["))?)))
        .collect();
    let (mut q, mut qd) = model.start_at(derived, 0.0, plant.parameters());
    qd.fill(0.0);
    let mut kinematics = Kinematics::new(system);
    let mut points = |row: Option<usize>| -> Vec<Vec<(Vec3<f64>, Mat3<f64>)>> {
        for (i, values) in &amplitudes {
            q[*i] = row.map_or(0.0, |row| values[row]);
        }
        kinematics.update(system, derived, &q, &qd);
        let poses =
            |(body, _, names): &(usize, &Line, Vec<String>)| poses(system, &kinematics, &bodies[*body].name, names);
        lines.iter().map(poses).collect()
    };
    let rest = points(None);
    let mut bent = vec![(Vec::new(), Vec::new()); lines.len()];
    for &row in rows {
        for (k, now) in points(Some(row)).iter().enumerate() {
            let (displacements, twists) = &mut bent[k];
            for ((p, R), (p_0, R_0)) in now.iter().zip(&rest[k]) {
                displacements.extend(array(&(p - p_0)));
                let q = Quaternion::from_rotation(&(R * R_0.transpose()));
                let along = lines[k].1.axes.column(0);
                twists.push(2.0 * q.vector().dot(&along).atan2(q.w));
            }
        }
    }
    let beams = lines.iter().zip(&rest).zip(bent);
    let beams = beams.map(|(((body, line, _), rest), (displacements, twists))| Beam {
        body: *body,
        rest: rest.iter().map(|(p, _)| array(p)).collect(),
        bent: Floats(displacements),
        twist: (twists.iter().any(|angle| angle.abs() > UNTWISTED)).then_some(Floats(twists)),
        axes: Quaternion::from_rotation(&line.axes).to_array(),
        length: line.length,
    });
    Ok(beams.collect())
}

/// Returns a prefix that does not occur in the spec, for names of additional frames.
fn unused(spec: &Spec) -> String {
    let written = grapple::spec::to_toml(spec).expect("a spec is plain TOML");
    let mut stem = "line".to_owned();
    while written.contains(&stem) {
        stem.push('_');
    }
    stem
}

/// Returns the positions (from the body's origin) and attitudes of frames on a flexible body, body
/// axes.
fn poses(system: &System, kinematics: &Kinematics<f64>, body: &str, names: &[String]) -> Vec<(Vec3<f64>, Mat3<f64>)> {
    let root = system.bodies.iter().position(|b| b.name == body);
    let root = &kinematics.bodies[root.expect("the body belongs to the spacecraft")];
    let pose = |name: &String| {
        let frame = system.frames.iter().find(|frame| frame.name == *name)?;
        let at = &kinematics.stations[frame.station?];
        Some((root.R_WB.tr_mul(&(at.p_WB - root.p_WB)), root.R_WB.tr_mul(&at.R_WB)))
    };
    names.iter().filter_map(pose).collect()
}

/// Returns the ANCF and geometrically exact beams; positions of nodes are relative to `origin`.
pub fn nodal(
    start: &Start,
    spec: &Spec,
    meshes: &Meshes,
    results: &Results,
    rows: &[usize],
    origin: &[f64; 3],
) -> Vec<Nodal> {
    // Written shapes, or a stand-in with the beam's section.
    let shapes = |written: &IndexMap<String, Shape>, section, elements: &[f64]| match written.is_empty() {
        true => vec![shapes::of_section(section, elements.iter().sum())],
        false => shapes::written(written, meshes, None),
    };
    let beams = spec.ancf_beam.iter().filter_map(|(name, beam)| {
        let all = |what: &str, origin: &[f64; 3]| -> Vec<Floats> {
            let node = |i: usize| results.get_vector::<3>(&format!("{name}.node[{i}].{what}"));
            let nodes = (1..).map_while(node);
            nodes.map(|place| Floats::seen_from(origin, &place, rows)).collect()
        };
        let elements = match (beam.elements, beam.sections.as_slice()) {
            (Some(count), _) => equal(results.parameter(&format!("{name}.length"))?, count),
            (None, sections) => {
                let length = |i: usize| results.parameter(&format!("{name}.section[{}].length", i + 1));
                let section =
                    |(i, section): (usize, &grapple::spec::NodalSection)| Some(equal(length(i)?, section.elements));
                sections
                    .iter()
                    .enumerate()
                    .map(section)
                    .collect::<Option<Vec<_>>>()?
                    .concat()
            }
        };
        Some(Nodal {
            name: name.clone(),
            shapes: shapes(&beam.shape, None, &elements),
            elements,
            r: all("r", origin),
            slope: all("slope", &[0.0; 3]),
            q: Vec::new(),
            across: across(beam.start.as_ref()),
        })
    });
    let directors = spec.body.iter().filter_map(|(name, body)| {
        let beam = body.geometrically_exact_beam.as_ref()?;
        let count = beam.elements;
        let nodes = [name.clone()]
            .into_iter()
            .chain((2..=count + 1).map(|node| format!("{name}.node[{node}]")));
        let (mut r, mut q) = (Vec::new(), Vec::new());
        for node in nodes {
            let place = results.get_vector::<3>(&format!("{node}.r"))?;
            r.push(Floats::seen_from(origin, &place, rows));
            let attitude = results.get_vector::<4>(&format!("{node}.q"))?;
            q.push(Floats::of(&attitude, rows));
        }
        let elements = vec![start.element_length(name)?; count];
        Some(Nodal {
            name: name.clone(),
            shapes: shapes(&body.shape, Section::of_exact_beam(beam), &elements),
            elements,
            r,
            slope: Vec::new(),
            q,
            across: None,
        })
    });
    beams.chain(directors).collect()
}

/// Returns the lengths of `count` equal elements.
fn equal(length: f64, count: usize) -> Vec<f64> {
    vec![length / count as f64; count]
}

/// Returns the direction of an ANCF beam's section y axis at the start; none for a start in LVLH
/// axes.
fn across(start: Option<&FreeStart>) -> Option<[f64; 3]> {
    let attitude = start.map_or(Some(Quaternion::identity()), |start| {
        (start.axes == Axes::World).then(|| rotation(start.attitude, start.rpy_deg))
    });
    attitude.map(|q| array(&q.rotate(Vec3::y())))
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![additional_frames_have_unused_names];

    fn additional_frames_have_unused_names() {
        let spec = r#"
            name = "taken"
            [body.line]
            mass = 1.0
            inertia = [1.0, 1.0, 1.0]
            [frame.line_0_3]
            body = "line"
        "#;
        let spec = grapple::spec::from_toml(spec).expect("it is a spec");
        assert_eq!(unused(&spec), "line__");
    }
}
