//! The centre lines of flexible bodies over time.

use super::{Body, Start, array};
use crate::html::Floats;
use crate::results::Results;
use crate::start::prepared;
use grapple::Error;
use grapple::algebra::Vec3;
use grapple::plant::Model;
use grapple::spec::{Frame, Spec};
use grapple::system::{Kinematics, System};
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
}

/// An ANCF or geometrically exact beam: its nodes, between which its line is drawn as a cubic.
#[derive(Serialize)]
pub struct Nodal {
    name: String,
    /// Undeformed lengths of its elements along its line.
    elements: Vec<f64>,
    /// Position of each node.
    r: Vec<Floats>,
    /// Slope of each node; for a geometrically exact beam, the director along the beam.
    slope: Vec<Floats>,
}

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
        let Some([root, tip]) = body.line else { continue };
        let name = |k: usize| format!("{stem}{i}_{k}");
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
    let beams = lines.iter().zip(&rest).zip(bent).map(|(((body, _), rest), bent)| Beam {
        body: *body,
        rest: rest.iter().map(array).collect(),
        bent: Floats(bent),
    });
    Ok(beams.collect())
}

/// Returns a prefix that does not occur in the spec, for names of additional frames.
fn unused(spec: &Spec) -> String {
    let written = serde_json::to_string(spec).expect("a spec is plain JSON");
    let mut stem = "line".to_owned();
    while written.contains(&stem) {
        stem.push('_');
    }
    stem
}

/// Returns the positions of frames on a flexible body, from the body's origin, body axes.
fn line(system: &System, kinematics: &Kinematics<f64>, body: &str, names: &[String]) -> Vec<Vec3<f64>> {
    let root = system.bodies.iter().position(|b| b.name == body);
    let root = &kinematics.bodies[root.expect("the body belongs to the spacecraft")];
    let place = |name: &String| {
        let frame = system.frames.iter().find(|frame| frame.name == *name)?;
        let p = kinematics.stations[frame.station?].p_WB;
        Some(root.R_WB.tr_mul(&(p - root.p_WB)))
    };
    names.iter().filter_map(place).collect()
}

/// Returns the ANCF and geometrically exact beams; positions of nodes are relative to `origin`.
pub fn nodal(start: &Start, spec: &Spec, results: &Results, rows: &[usize], origin: &[f64; 3]) -> Vec<Nodal> {
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
            elements,
            r: all("r", origin),
            slope: all("slope", &[0.0; 3]),
        })
    });
    let directors = spec.body.iter().filter_map(|(name, body)| {
        let count = body.geometrically_exact_beam.as_ref()?.elements;
        let nodes = [name.clone()]
            .into_iter()
            .chain((2..=count + 1).map(|node| format!("{name}.node[{node}]")));
        let (mut r, mut slope) = (Vec::new(), Vec::new());
        for node in nodes {
            let place = results.get_vector::<3>(&format!("{node}.r"))?;
            r.push(Floats::seen_from(origin, &place, rows));
            let q = results.get_vector::<4>(&format!("{node}.q"))?;
            slope.push(Floats(
                rows.iter().flat_map(|&row| director(q.map(|part| part[row]))).collect(),
            ));
        }
        Some(Nodal {
            name: name.clone(),
            elements: vec![start.element_length(name)?; count],
            r,
            slope,
        })
    });
    beams.chain(directors).collect()
}

/// Returns the lengths of `count` equal elements.
fn equal(length: f64, count: usize) -> Vec<f64> {
    vec![length / count as f64; count]
}

/// Returns the director along the beam at a node with this attitude: its x axis.
fn director([w, x, y, z]: [f64; 4]) -> [f64; 3] {
    [
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y + w * z),
        2.0 * (x * z - w * y),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additional_frames_have_unused_names() {
        let spec = r#"
            name = "taken"
            [body.line]
            mass = 1.0
            inertia = [1.0, 1.0, 1.0]
            [frame.line_0_3]
            body = "line"
        "#;
        let spec: Spec = toml::from_str(spec).expect("it is a spec");
        assert_eq!(unused(&spec), "line__");
    }

    #[test]
    fn the_director_of_a_node_is_its_x_axis() {
        let half = 0.5f64.sqrt();
        // Rotated by 90° about z, then about y.
        for (q, d1) in [
            ([half, 0.0, 0.0, half], [0.0, 1.0, 0.0]),
            ([half, 0.0, half, 0.0], [0.0, 0.0, -1.0]),
        ] {
            let off = director(q)
                .iter()
                .zip(d1)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(off < 1e-15);
        }
    }
}
