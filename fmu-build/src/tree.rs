//! The tree of a model's bodies at the start, with masses, joints and frames, as text.

use crate::error::Result;
use crate::start::Start;
use crate::text::{aligned, count, number};
use grapple::algebra::{Mat3, Quaternion, Vec3};
use grapple::plant::{Model, Plant};
use grapple::system::{FrameRef, significant};
use std::sync::Arc;

/// Deepest indentation: a chain of a thousand bodies would be a million blanks.
const DEEPEST: usize = 20;

/// Bodies, ANCF beams and frames of a spacecraft at the start of a run.
pub struct Tree {
    rows: Vec<Row>,
    /// Total mass, kg.
    mass: f64,
    free: Vec<String>,
    wheels: usize,
    rotors: usize,
}

/// A body, an ANCF beam or a frame.
struct Row {
    /// Number of bodies that carry it.
    depth: usize,
    name: String,
    /// Mass, kg; none for a frame.
    mass: Option<f64>,
    /// "floats", "revolute elbow", "wheel", "frame".
    kind: String,
    /// Position, m, world axes.
    p: Vec3<f64>,
    /// Rotation from world axes, or direction of an ANCF beam, as text.
    attitude: String,
}

impl Tree {
    /// Returns the tree of a model at the start of a run, with closed loops and in equilibrium if the
    /// spec says so.
    ///
    /// # Errors
    /// A start that cannot be computed.
    pub fn of(model: &Arc<Model>) -> Result<Self> {
        let plant = Plant::new(Arc::clone(model))?;
        let start = Start::solved(model, &plant)?;
        let mut tree = Self {
            rows: Vec::new(),
            mass: plant.derived().mass(),
            free: Vec::new(),
            wheels: 0,
            rotors: 0,
        };
        tree.add_bodies(model, &start);
        for beam in &start.system.nodal {
            let mass = start.derived.nodal[beam.index].m;
            tree.free.push(beam.name.clone());
            tree.add_point(&start, 0, &beam.name, beam.root, Some(mass));
            let points = start.system.points.iter().enumerate();
            for (i, point) in points.filter(|(_, point)| point.beam == beam.index && point.is_frame()) {
                tree.add_point(&start, 1, &point.name, i, None);
            }
        }
        Ok(tree)
    }

    /// Adds all bodies, each with the frames on it and followed by the bodies that it carries. Segments
    /// and nodes of a beam are one body.
    fn add_bodies(&mut self, model: &Model, start: &Start) {
        let system = start.system;
        let n = system.bodies.len();
        let (mut mass, mut carried, mut frames) = (vec![0.0; n], vec![Vec::new(); n], vec![Vec::new(); n]);
        for (i, body) in system.bodies.iter().enumerate() {
            mass[system.whole(i)] += start.derived.bodies[i].m;
            if let Some(parent) = body.parent.filter(|_| body.segment == 0) {
                carried[system.whole(parent)].push(i);
            }
        }
        for (i, frame) in system.frames.iter().enumerate() {
            frames[system.whole(frame.body)].push(i);
        }
        let roots = (0..n).rev().filter(|&i| system.bodies[i].parent.is_none());
        let mut waiting: Vec<(usize, usize)> = roots.map(|root| (root, 0)).collect();
        while let Some((i, depth)) = waiting.pop() {
            let kind = self.kind(model, start, i);
            let name = &system.bodies[i].name;
            self.add(start, depth, name, FrameRef::Body(i), Some(mass[i]), kind);
            for &frame in &frames[i] {
                let name = &system.frames[frame].name;
                self.add(start, depth + 1, name, FrameRef::Frame(frame), None, "frame".to_owned());
            }
            waiting.extend(carried[i].iter().rev().map(|&child| (child, depth + 1)));
        }
    }

    /// Returns the kind and name of the joint that carries a body, and counts it.
    fn kind(&mut self, model: &Model, start: &Start, body: usize) -> String {
        let body = &start.system.bodies[body];
        let joint = &body.joint;
        if model.spec.wheel.contains_key(&joint.name) {
            self.wheels += 1;
            format!("wheel {}", joint.name)
        } else if let Some(driven) = &joint.drives {
            self.rotors += 1;
            format!("rotor of {driven}")
        } else if joint.written {
            let on_world = if body.parent.is_none() { ", on the world" } else { "" };
            format!("{} {}{on_world}", joint.kind.name(), joint.name)
        } else {
            self.free.push(body.name.clone());
            "floats".to_owned()
        }
    }

    fn add(&mut self, start: &Start, depth: usize, name: &str, frame: FrameRef, mass: Option<f64>, kind: String) {
        let pose = start.kinematics.pose(start.system, start.derived, frame);
        self.rows.push(Row {
            depth,
            name: name.to_owned(),
            mass,
            kind,
            p: pose.p,
            attitude: rotation(&pose.R),
        });
    }

    /// Adds an ANCF beam at its root, or a frame on it.
    fn add_point(&mut self, start: &Start, depth: usize, name: &str, point: usize, mass: Option<f64>) {
        let at = &start.kinematics.points[point].at;
        self.rows.push(Row {
            depth,
            name: name.to_owned(),
            mass,
            kind: if mass.is_some() { "ANCF beam" } else { "frame" }.to_owned(),
            p: at.p_WB,
            attitude: format!("along {}", vector(&at.R_WB.column(0).into_owned(), 1.0, 4)),
        });
    }

    /// Returns the number of bodies, ANCF beams and frames.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns "mass 84 kg; floats: base; 3 wheels".
    pub fn summary(&self) -> String {
        let mut parts = vec![format!("mass {} kg", number(self.mass, 6))];
        parts.push(match self.free.as_slice() {
            [] => "nothing floats".to_owned(),
            free if free.len() > 6 => format!("{} float", count(free.len(), "part")),
            free => format!("floats: {}", free.join(", ")),
        });
        let rotors = [(self.wheels, "wheel"), (self.rotors, "rotor")];
        parts.extend(rotors.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)));
        parts.join("; ")
    }

    /// Returns a line for each body, ANCF beam and frame, indented below the body that carries it.
    pub fn lines(&self) -> String {
        let titles = ["at t = 0, world axes", "mass", "joint", "position (m)", "rotation"].map(str::to_owned);
        let farthest = self.rows.iter().map(|row| row.p.amax()).fold(1.0, f64::max);
        let row = |row: &Row| {
            [
                format!("{}{}", "  ".repeat(row.depth.min(DEEPEST)), row.name),
                row.mass
                    .map_or_else(String::new, |mass| format!("{} kg", number(mass, 5))),
                row.kind.clone(),
                vector(&row.p, farthest, 6),
                row.attitude.clone(),
            ]
        };
        let rows: Vec<_> = std::iter::once(titles).chain(self.rows.iter().map(row)).collect();
        aligned(&rows)
    }
}

/// Returns "(1, 0, -0.5)", without round-off relative to `scale`.
fn vector(v: &Vec3<f64>, scale: f64, digits: usize) -> String {
    let parts = [v.x, v.y, v.z].map(|part| number(significant(part, scale), digits));
    format!("({})", parts.join(", "))
}

/// Returns a rotation from world axes as "90° about y", "120° about (0.5774, 0.5774, 0.5774)"; "none"
/// for the identity.
fn rotation(R: &Mat3<f64>) -> String {
    let q = Quaternion::from_rotation(R);
    let (sign, v) = (if q.to_array()[0] < 0.0 { -1.0 } else { 1.0 }, q.vector());
    let angle = 2.0 * libm::atan2(v.norm(), sign * q.to_array()[0]).to_degrees();
    if angle < 1e-9 {
        return "none".to_owned();
    }
    let axis = v * (sign / v.norm());
    let along = (0..3).find(|&i| axis[i].abs() > 1.0 - 1e-12);
    match along {
        Some(i) => format!("{}° about {}", number(angle * axis[i].signum(), 6), ["x", "y", "z"][i]),
        None => format!("{}° about {}", number(angle, 6), vector(&axis, 1.0, 4)),
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![rotations_are_angles_about_axes];

    fn rotations_are_angles_about_axes() {
        let about = |axis: [f64; 3], degrees: f64| {
            let axis = Vec3::from(axis).normalize();
            rotation(&Quaternion::from_axis_angle(axis, degrees.to_radians()).rotation())
        };
        assert_eq!(about([0.0, 1.0, 0.0], 0.0), "none");
        assert_eq!(about([0.0, 1.0, 0.0], 90.0), "90° about y");
        assert_eq!(about([0.0, 0.0, 1.0], 270.0), "-90° about z");
        assert_eq!(about([1.0, 1.0, 1.0], 120.0), "120° about (0.5774, 0.5774, 0.5774)");
        assert_eq!(about([1.0, 0.0, 0.0], 180.0), "180° about x");
    }
}
