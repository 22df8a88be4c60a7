use crate::error::Result;
use crate::start::{Start, half_axes};
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::{Model, Plant};
use grapple::system::{Body, BodyConstants, BodyKinematics};
use std::sync::Arc;

/// The spacecraft in space at its start. Positions are relative to the first body's origin, since
/// the world's origin may be far away.
pub struct Scene {
    pub model: Arc<Model>,
    pub bodies: Vec<Placed>,
    pub frames: Vec<(Vec3<f64>, Mat3<f64>)>,
    /// Root and tip of each ANCF beam.
    pub beams: Vec<[Vec3<f64>; 2]>,
    /// Columns of the joints' motion subspaces, world axes.
    pub motions: Vec<(Vec3<f64>, Vec3<f64>)>,
}

/// A body with its position.
pub struct Placed {
    pub axes: Mat3<f64>,
    pub origin: Vec3<f64>,
    /// Position of the joint that moves the body, on its parent; `None` for a body without a joint
    /// in the spec.
    pub joint: Option<Vec3<f64>>,
    pub ellipsoid: Ellipsoid,
}

/// An ellipsoid: its centre, and its principal half axes with their lengths.
pub struct Ellipsoid {
    pub centre: Vec3<f64>,
    pub half_axes: [Vec3<f64>; 3],
}

impl Scene {
    /// Computes all positions.
    ///
    /// # Errors
    /// Invalid parameters.
    pub fn of(model: &Arc<Model>) -> Result<Self> {
        let plant = Plant::new(Arc::clone(model))?;
        let Start {
            system,
            derived,
            kinematics,
        } = Start::of(model, &plant);
        let first = kinematics
            .bodies
            .first()
            .or_else(|| kinematics.points.first().map(|point| &point.at));
        let here = first.map_or_else(Vec3::zeros, |at| at.p_WB);
        let placed = |i: usize, body: &Body| {
            let (at, constants) = (&kinematics.bodies[i], &derived.bodies[i]);
            let P = body.parent.map_or_else(BodyKinematics::world, |p| kinematics.bodies[p]);
            Placed {
                axes: at.R_WB,
                origin: at.p_WB - here,
                joint: body.joint.written.then(|| P.p_WB - here + P.R_WB * constants.p_PF),
                ellipsoid: Ellipsoid::of(constants, at, &here),
            }
        };
        let frames = system.frames.iter().zip(&derived.frames).map(|(frame, constants)| {
            let at = &kinematics.bodies[frame.body];
            (at.p_WB - here + at.R_WB * constants.X_BF.p, at.R_WB * constants.X_BF.R)
        });
        let beams = system.nodal.iter();
        let ends = beams.map(|beam| [0, 1].map(|end| kinematics.points[beam.root + end].at.p_WB - here));
        Ok(Self {
            model: Arc::clone(model),
            bodies: system.bodies.iter().enumerate().map(|(i, b)| placed(i, b)).collect(),
            frames: frames.collect(),
            beams: ends.collect(),
            motions: kinematics.H.iter().map(|column| (column.w, column.v)).collect(),
        })
    }

    /// Returns the system's bodies with their positions.
    pub fn each(&self) -> impl Iterator<Item = (&Body, &Placed)> {
        self.model.system().bodies.iter().zip(&self.bodies)
    }

    /// Returns the points that the view should show apart: origins, mass centres, frames, ends of
    /// ANCF beams.
    pub fn places(&self) -> Vec<Vec3<f64>> {
        let of_bodies = self.bodies.iter().flat_map(|b| [b.origin, b.ellipsoid.centre]);
        let frames = self.frames.iter().map(|frame| frame.0);
        of_bodies
            .chain(frames)
            .chain(self.beams.iter().flatten().copied())
            .collect()
    }

    /// Returns points that enclose everything drawn, for a view with these directions right and up.
    pub fn extent(&self, right: &Vec3<f64>, up: &Vec3<f64>) -> Vec<Vec3<f64>> {
        let mut around = self.places();
        for body in &self.bodies {
            around.extend(body.joint);
            for direction in [right, up] {
                let reach = body.ellipsoid.reach(direction);
                around.extend([1.0, -1.0].map(|side| body.ellipsoid.centre + direction * (side * reach)));
            }
        }
        around
    }
}

impl Ellipsoid {
    /// Returns a body's ellipsoid relative to `here`.
    fn of(constants: &BodyConstants, at: &BodyKinematics<f64>, here: &Vec3<f64>) -> Self {
        Self {
            centre: at.p_WB - here + at.R_WB * constants.p_BoBcm,
            half_axes: half_axes(constants).map(|axis| at.R_WB * axis),
        }
    }

    /// Returns the distance from the centre to the tangent plane normal to a unit vector, m.
    pub fn reach(&self, direction: &Vec3<f64>) -> f64 {
        self.half_axes
            .iter()
            .map(|a| a.dot(direction).powi(2))
            .sum::<f64>()
            .sqrt()
    }
}
