//! Forces and moments over time, as arrows in the picture.

use crate::html::Floats;
use crate::results::Results;
use grapple::algebra::{Quaternion, Vec3};
use grapple::spec::{PortAxes, Spec, WORLD};
use serde::Serialize;

/// A force or a moment at a frame or a body.
#[derive(Serialize)]
pub struct Arrow {
    name: String,
    /// Unit: N or N·m.
    unit: &'static str,
    /// Name of the frame or body at whose origin it acts.
    at: String,
    /// Components in world axes.
    vector: Floats,
}

/// Returns the forces and moments of the run that are not always zero: of thrusters, ports,
/// attitude servos, contacts, grasps and loops, and the reactions of joints if they are outputs.
pub fn arrows(spec: &Spec, results: &Results, rows: &[usize]) -> Vec<Arrow> {
    let run = Recorded { results, rows };
    let mut arrows = Vec::new();
    for (name, thruster) in &spec.thruster {
        if let Some(force) = results.get(&format!("{name}.force")) {
            let direction = Vec3::from(thruster.direction).normalize();
            let vectors = rows.iter().map(|&row| direction * force[row]).collect();
            arrows.extend(run.turned(name, "N", &thruster.frame, vectors));
        }
    }
    for (name, port) in &spec.port {
        for (field, unit) in [("f", "N"), ("t", "N·m")] {
            let Some(vectors) = run.vectors(&format!("{name}.{field}")) else {
                continue;
            };
            arrows.extend(match port.axes {
                PortAxes::World => Some(run.arrow(name, unit, &port.frame, vectors)),
                PortAxes::Frame => run.turned(name, unit, &port.frame, vectors),
            });
        }
    }
    for (name, body) in spec.body.iter().filter(|(_, body)| body.attitude_servo.is_some()) {
        let is_ideal = body
            .attitude_servo
            .as_ref()
            .is_some_and(|servo| servo.wheels.is_empty());
        if let Some(vectors) = run.vectors(&format!("{name}.servo_torque")).filter(|_| is_ideal) {
            arrows.extend(run.turned(&format!("{name} servo"), "N·m", name, vectors));
        }
    }
    for (name, joint) in &spec.joint {
        for (field, unit) in [("reaction_force", "N"), ("reaction_moment", "N·m")] {
            if let Some(vectors) = run.vectors(&format!("{name}.{field}")) {
                arrows.extend(run.turned(name, unit, &joint.child, vectors));
            }
        }
    }
    let contacts = spec.contact.iter().map(|(name, contact)| (name, &contact.a));
    let grasps = spec.grasp.iter().map(|(name, grasp)| (name, &grasp.a));
    let loops = spec.closed_loop.iter().map(|(name, closed)| (name, &closed.a));
    for (name, at) in contacts.chain(grasps).chain(loops) {
        for (field, unit) in [("force", "N"), ("moment", "N·m")] {
            if let Some(vectors) = run.vectors(&format!("{name}.{field}")) {
                arrows.push(run.arrow(name, unit, at, vectors));
            }
        }
    }
    let has_place = |at: &str| at == WORLD || run.results.get(&format!("{at}.r[1]")).is_some();
    arrows.retain(|arrow| has_place(&arrow.at) && arrow.vector.0.iter().any(|part| *part != 0.0));
    arrows
}

struct Recorded<'a> {
    results: &'a Results,
    rows: &'a [usize],
}

impl Recorded<'_> {
    /// Returns the values of a vector at the rows.
    fn vectors(&self, name: &str) -> Option<Vec<Vec3<f64>>> {
        let parts = self.results.get_vector::<3>(name)?;
        let at = |&row: &usize| Vec3::from(parts.map(|part| part[row]));
        Some(self.rows.iter().map(at).collect())
    }

    /// Returns an arrow of vectors in axes of the frame at which they act; none if its attitude is
    /// not an output.
    fn turned(&self, name: &str, unit: &'static str, at: &str, vectors: Vec<Vec3<f64>>) -> Option<Arrow> {
        let q = self.results.get_vector::<4>(&format!("{at}.q"))?;
        let attitude = |&row: &usize| Quaternion::from_slice(&q.map(|part| part[row]));
        let turned = self.rows.iter().zip(vectors).map(|(row, v)| attitude(row).rotate(v));
        Some(self.arrow(name, unit, at, turned.collect()))
    }

    /// Returns an arrow of vectors in world axes.
    fn arrow(&self, name: &str, unit: &'static str, at: &str, vectors: Vec<Vec3<f64>>) -> Arrow {
        Arrow {
            name: name.to_owned(),
            unit,
            at: at.to_owned(),
            vector: Floats(vectors.iter().flat_map(|v| [v.x, v.y, v.z]).collect()),
        }
    }
}
