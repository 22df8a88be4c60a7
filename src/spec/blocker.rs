//! Solids that block the line of sight of a sensor.

use super::element::Report;
use super::{Shape, ShapeType, Spec, unknown};
use crate::algebra::{Pose, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Depth inside a solid, as a part of its dimensions, below which a point is on its surface.
pub(crate) const SURFACE: f64 = 1e-9;

/// Solid that blocks a line of sight: a sphere, box or cylinder at a frame, or all shapes of a body in
/// pictures.
///
/// A line that only touches a solid is not blocked: a target may be on the surface of its own body. The
/// radii, lengths and sizes become parameters of the FMU, such as `<sensor>.blocker_radius[1]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blocker {
    /// Frame or body at whose origin and in whose axes the solid is. With `shapes` a body.
    pub frame: String,
    /// Type. Default `sphere`.
    #[serde(default, rename = "type", skip_serializing_if = "BlockerType::is_sphere")]
    pub kind: BlockerType,
    /// Radius of a sphere or cylinder, m, positive. Required there, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Length of a cylinder along z, m, positive. Required there, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Lengths of a box along x, y, z, m, positive. Required there, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<[f64; 3]>,
    /// Centre of the solid in axes of the frame, m. Default `[0, 0, 0]`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub origin: [f64; 3],
    /// Attitude of the solid in the frame, unit quaternion (w, x, y, z). Default: the frame's axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// True for all shapes `[body.<name>.shape]` of a rigid body, which are spheres, boxes, panels and
    /// cylinders. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shapes: bool,
}

/// Type of a solid that blocks a line of sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockerType {
    /// Sphere.
    #[default]
    Sphere,
    /// Box.
    Box,
    /// Cylinder about z.
    Cylinder,
}

impl BlockerType {
    fn is_sphere(&self) -> bool {
        *self == Self::Sphere
    }

    /// Returns the word of the spec.
    fn name(self) -> &'static str {
        match self {
            Self::Sphere => "sphere",
            Self::Box => "box",
            Self::Cylinder => "cylinder",
        }
    }
}

fn is_zero(position: &[f64; 3]) -> bool {
    *position == [0.0; 3]
}

impl Blocker {
    /// Returns a shape of a body as a solid; `None` for a shape that is none.
    fn of_shape(body: &str, shape: &Shape) -> Option<Self> {
        let kind = match shape.kind {
            ShapeType::Sphere => BlockerType::Sphere,
            ShapeType::Box | ShapeType::Panel => BlockerType::Box,
            ShapeType::Cylinder => BlockerType::Cylinder,
            ShapeType::Cone | ShapeType::Truss | ShapeType::Mesh => return None,
        };
        let is_turned = shape.orientation.is_some() || shape.rpy_deg.is_some();
        Some(Self {
            frame: body.to_owned(),
            kind,
            radius: shape.radius,
            length: shape.length,
            size: shape.size,
            origin: shape.origin,
            orientation: is_turned.then(|| shape.attitude().to_array()),
            shapes: false,
        })
    }

    /// Returns the solids for which it stands.
    pub(crate) fn solids(&self, spec: &Spec) -> Vec<Self> {
        if !self.shapes {
            return vec![self.clone()];
        }
        let shapes = spec.body.get(&self.frame).map(|body| body.shape.values());
        let solid = |shape: &Shape| Self::of_shape(&self.frame, shape);
        shapes.into_iter().flatten().filter_map(solid).collect()
    }

    /// Returns the pose of the solid in its frame.
    pub(crate) fn pose(&self) -> Pose<f64> {
        Pose::from_parts(super::rotation(self.orientation, None), self.origin.into())
    }

    /// Returns true if a point in axes of the solid is inside it, not on its surface.
    fn contains(&self, p: &Vec3<f64>) -> bool {
        let inner = 1.0 - SURFACE;
        let [radius, length] = [self.radius, self.length].map(|value| value.unwrap_or(0.0) * inner);
        match self.kind {
            BlockerType::Sphere => p.norm() < radius,
            BlockerType::Cylinder => p.xy().norm() < radius && 2.0 * p.z.abs() < length,
            BlockerType::Box => {
                let size = self.size.unwrap_or([0.0; 3]);
                p.iter().zip(size).all(|(p, size)| 2.0 * p.abs() < size * inner)
            }
        }
    }

    /// Reports fields that are missing, not of the type, or not positive.
    fn check_fields(&self, report: &mut Report) {
        let kind = self.kind.name();
        let (is_sphere, is_box) = (self.kind == BlockerType::Sphere, self.kind == BlockerType::Box);
        let size = self.size.map(|size| size.into_iter().fold(f64::INFINITY, f64::min));
        let fields = [
            ("radius", self.radius, !is_box),
            ("length", self.length, !is_box && !is_sphere),
            ("size", size, is_box),
        ];
        for (field, value, is_its) in fields {
            let what = match value {
                Some(_) if !is_its => format!("a {kind} has no `{field}`"),
                None if is_its => format!("a {kind} needs a `{field}`"),
                Some(value) if value <= 0.0 => format!("`{field}` is {value}, not positive"),
                _ => continue,
            };
            report.add("blocked_by", format!("solid at \"{}\": {what}", self.frame));
        }
        if let Some(q) = self.orientation {
            let length = super::Quaternion::from_slice(&q).norm_squared().sqrt();
            if (length - 1.0).abs() > 1e-6 {
                let what = format!(
                    "solid at \"{}\": the quaternion {q:?} is not of unit length",
                    self.frame
                );
                report.add("blocked_by", what);
            }
        }
    }

    /// Reports a body without shapes, and shapes that are no solids.
    fn check_shapes(&self, spec: &Spec, report: &mut Report) {
        let name = &self.frame;
        let is_alone = self.radius.is_none() && self.length.is_none() && self.size.is_none();
        if !is_alone || !self.kind.is_sphere() || !is_zero(&self.origin) || self.orientation.is_some() {
            report.add(
                "blocked_by",
                format!("with `shapes` the solids are those of \"{name}\": write no other field"),
            );
        }
        let Some(body) = spec.body.get(name) else {
            if spec.has_frame(name) {
                let what = format!(
                    "\"{name}\" is not a body, and has no shapes: {}",
                    unknown("body", name, spec.body.keys())
                );
                report.add("blocked_by", what);
            }
            return;
        };
        if !body.is_rigid() {
            report.add(
                "blocked_by",
                format!("\"{name}\" is flexible, and its shapes bend: write solids at its frames"),
            );
        }
        if body.shape.is_empty() {
            report.add(
                "blocked_by",
                format!("body \"{name}\" has no shapes: write [body.{name}.shape.<name>], or a solid"),
            );
        }
        for (shape, written) in &body.shape {
            if Self::of_shape(name, written).is_none() {
                let what = format!(
                    "shape \"{shape}\" of body \"{name}\" is a {}, which blocks no line of sight: only spheres, boxes, \
                     panels and cylinders do; write solids in place of `shapes`",
                    written.kind.name()
                );
                report.add("blocked_by", what);
            }
        }
    }

    /// Reports errors of a solid of the sensor at `frame` that measures `target`.
    pub(super) fn check(&self, spec: &Spec, [frame, target]: [Option<&str>; 2], report: &mut Report) {
        match self.shapes {
            true => self.check_shapes(spec, report),
            false => self.check_fields(report),
        }
        for (name, what) in [(frame, "the sensor's frame"), (target, "the target")] {
            let Some(name) = name else { continue };
            let is_inside = self.solids(spec).iter().any(|solid| {
                let position = solid.position_of(spec, name);
                position.is_some_and(|p| solid.contains(&p))
            });
            if is_inside {
                let found = format!(
                    "{what}, \"{name}\", is inside a solid at \"{}\": its sight is always blocked; leave the solid out, or \
                     make it smaller",
                    self.frame
                );
                report.add("blocked_by", found);
            }
        }
    }

    /// Returns the origin of a frame or body in axes of the solid, m; `None` if they may move relative
    /// to each other.
    fn position_of(&self, spec: &Spec, name: &str) -> Option<Vec3<f64>> {
        let (own, other) = (spec.body_of(&self.frame)?, spec.body_of(name)?);
        let is_rigid = spec.body.get(own).is_some_and(super::Body::is_rigid);
        if self.frame != name && (own != other || !is_rigid) {
            return None;
        }
        let pose = |frame: &str| match spec.frame.get(frame) {
            Some(of) => Pose::from_parts(super::rotation(of.orientation, of.rpy_deg), of.origin.into()),
            None => Pose::from_parts(super::Quaternion::identity(), Vec3::zeros()),
        };
        let solid = pose(&self.frame).compose(&self.pose());
        Some(solid.inverse().compose(&pose(name)).p)
    }
}

impl Spec {
    /// Writes the solids of sensors that are shapes of bodies as such, with their numbers.
    pub(super) fn write_blockers(&mut self) {
        let mut sensors = std::mem::take(&mut self.sensor);
        for sensor in sensors.values_mut() {
            sensor.blocked_by = sensor.blocked_by.iter().flat_map(|of| of.solids(self)).collect();
        }
        self.sensor = sensors;
    }
}
