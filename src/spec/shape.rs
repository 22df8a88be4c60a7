use super::rotation;
use crate::algebra::Quaternion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shape of a body or an ANCF beam in pictures; a body has any number of shapes, each with a name.
/// Shapes have no influence on the dynamics and are not in the FMU.
///
/// On a beam every shape follows the bent axis: each point of it keeps its position relative to the
/// beam's cross-section. On a geometrically exact beam and on an ANCF beam, x is the length along
/// the axis from the root, and y and z are axes of the section. A body without shapes is drawn as a
/// box (if it is slender and symmetric, or a wheel, as a cylinder) of uniform density with its mass
/// and inertia; a beam as a bar or a tube with its section, if the spec defines one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Type.
    #[serde(rename = "type")]
    pub kind: ShapeType,
    /// Lengths along x, y, z, m, positive. Required for `box`, `panel` and `truss`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<[f64; 3]>,
    /// Radius, m, positive. Required for `cylinder`, `cone` and `sphere`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Length along z, m, positive. Required for `cylinder` and `cone`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// File of a mesh in the folder of the spec or below, relative to it: STL, OBJ, COLLADA
    /// (`.dae`) or glTF (`.gltf`, `.glb`), at most 64 MiB and 500 000 triangles. Required for
    /// `mesh`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Factors of a mesh's coordinates along x, y, z, not zero: `[0.001, 0.001, 0.001]` for a file
    /// in mm. Default `[1, 1, 1]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f64; 3]>,
    /// Position of the shape's centre (of a mesh: of its origin), m, from the body's origin in body
    /// axes. Default `[0, 0, 0]`.
    #[serde(default, skip_serializing_if = "is_origin")]
    pub origin: [f64; 3],
    /// Attitude of the shape's axes in the body, unit quaternion (w, x, y, z). Default: body axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<[f64; 4]>,
    /// Attitude in place of `orientation`: roll, pitch, yaw about the body's fixed axes x, y, z,
    /// degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpy_deg: Option<[f64; 3]>,
    /// Colour as in CSS: a name (`"gold"`) or `"#rrggbb"`; `"#rrggbbaa"` with opacity. Default:
    /// that of the mesh's materials, else that of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

/// Type of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShapeType {
    /// Box.
    Box,
    /// Cylinder about z.
    Cylinder,
    /// Sphere.
    Sphere,
    /// Cone about z, with its tip towards +z.
    Cone,
    /// Solar panel: a box with cells on its two largest faces.
    Panel,
    /// Truss of tubes with four longerons along the longest side of a box.
    Truss,
    /// Triangles from a file.
    Mesh,
}

impl ShapeType {
    /// Returns the word of the spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Cylinder => "cylinder",
            Self::Sphere => "sphere",
            Self::Cone => "cone",
            Self::Panel => "panel",
            Self::Truss => "truss",
            Self::Mesh => "mesh",
        }
    }
}

impl Shape {
    /// Returns the attitude of the shape's axes in the body.
    pub fn attitude(&self) -> Quaternion<f64> {
        rotation(self.orientation, self.rpy_deg)
    }
}

fn is_origin(position: &[f64; 3]) -> bool {
    *position == [0.0; 3]
}
