use super::solid::Solid;
use crate::error::Result;
use crate::motion::contact_shapes;
use crate::motion::shapes::{Drawn, of_section, stand_in, written};
use crate::shapes::Meshes;
use crate::start::{Section, Start};
use grapple::algebra::{Mat3, Quaternion, Vec3};
use grapple::plant::{Model, Plant};
use grapple::system::{Body, BodyKinematics};
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
    /// Position of the mass centre.
    pub centre: Vec3<f64>,
    /// Its shapes; none for a node of a geometrically exact beam.
    pub solids: Vec<Solid>,
}

impl Scene {
    /// Computes all positions.
    ///
    /// # Errors
    /// Invalid parameters.
    pub fn of(model: &Arc<Model>, meshes: &Meshes) -> Result<Self> {
        let plant = Plant::new(Arc::clone(model))?;
        let start = Start::of(model, &plant);
        let Start {
            system,
            derived,
            kinematics,
        } = &start;
        let first = kinematics
            .bodies
            .first()
            .or_else(|| kinematics.points.first().map(|point| &point.at));
        let here = first.map_or_else(Vec3::zeros, |at| at.p_WB);
        let placed = |i: usize, body: &Body| {
            let (at, constants) = (&kinematics.bodies[i], &derived.bodies[i]);
            let P = body.parent.map_or_else(BodyKinematics::world, |p| kinematics.bodies[p]);
            let place = |p: Vec3<f64>| at.p_WB - here + at.R_WB * p;
            let mut drawn = start.drawn(i, model, meshes);
            if body.director.is_none() {
                drawn.extend(contact_shapes::of_body(&model.spec, &body.name, None));
            }
            Placed {
                axes: at.R_WB,
                origin: at.p_WB - here,
                joint: body.joint.written.then(|| P.p_WB - here + P.R_WB * constants.p_PF),
                centre: place(constants.p_BoBcm),
                solids: drawn.iter().map(|drawn| Solid::of(drawn, meshes, place)).collect(),
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
        let of_bodies = self.bodies.iter().flat_map(|b| [b.origin, b.centre]);
        let frames = self.frames.iter().map(|frame| frame.0);
        of_bodies
            .chain(frames)
            .chain(self.beams.iter().flatten().copied())
            .collect()
    }

    /// Returns points that enclose everything drawn.
    pub fn extent(&self) -> Vec<Vec3<f64>> {
        let mut around = self.places();
        for body in &self.bodies {
            around.extend(body.joint);
            around.extend(body.solids.iter().flat_map(|solid| &solid.points));
        }
        around
    }
}

impl Start<'_> {
    /// Returns the shapes of a body, undeformed, in its axes.
    fn drawn(&self, i: usize, model: &Model, meshes: &Meshes) -> Vec<Drawn> {
        let body = &self.system.bodies[i];
        if body.director.is_some() {
            return Vec::new();
        }
        let spec = model.spec.body.get(&body.name);
        if let Some(spec) = spec.filter(|spec| !spec.shape.is_empty()) {
            return written(&spec.shape, meshes, None);
        }
        let elastic = self.derived.bodies[i].elastic.as_ref();
        let Some(((beam, elastic), segments)) = spec
            .and_then(|spec| spec.beam.as_ref())
            .zip(elastic)
            .zip(body.beam.as_ref().map(|beam| beam.segments()))
        else {
            return vec![stand_in(
                &self.solid(i, model.spec.wheel.contains_key(&body.joint.name)),
            )];
        };
        let mut bar = of_section(Section::of_beam(beam), elastic.length * segments as f64);
        bar.r = (elastic.root + elastic.axes * Vec3::from(bar.r)).into();
        bar.q = Quaternion::from_rotation(&elastic.axes).to_array();
        vec![bar]
    }
}
