use super::element::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shape of `a` or `b` in a contact, centred at the origin of its frame, with its axis along the z
/// axis of the frame. A plane passes through the origin. The dimensions become parameters of the
/// FMU, such as `<contact>.a.radius`.
///
/// A `mesh` is the convex hull of its vertices. They become part of the model: the FMU reads no file.
///
/// A shape is independent of the shapes of bodies in pictures. `docs/contacts.md` lists the pairs of
/// shapes whose distance is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactShape {
    /// Type.
    #[serde(rename = "type")]
    pub kind: ContactShapeType,
    /// Lengths along x, y, z, m, positive. Required for `box`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<[f64; 3]>,
    /// Radius, m, positive; of a cone at z = −`length`/2, of a funnel inside at z = `length`/2.
    /// Required for all types but `plane` and `box`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Radius at the narrow end of a `cone` (z = `length`/2) or inside that of a `funnel`
    /// (z = −`length`/2), m, not negative, smaller than `radius`. Default 0: a tip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_radius: Option<f64>,
    /// Length along z, m, positive; of a capsule without its round ends. Required for `capsule`,
    /// `cylinder`, `cone` and `funnel`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// File of a `mesh` in the folder of the spec or below, relative to it: STL, OBJ, COLLADA (`.dae`)
    /// or glTF (`.gltf`, `.glb`), at most 64 MiB and 500 000 triangles. Contact is that of the convex
    /// hull, with at most 256 vertices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Factors of the coordinates of a `file` along x, y, z, not zero. Default `[1, 1, 1]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f64; 3]>,
    /// Points, m, whose convex hull is the shape: of a `mesh`, in place of a `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Vec<[f64; 3]>>,
    /// Thickness of the wall of a `funnel`, perpendicular to it, m, positive. Required there, and
    /// only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
}

/// Type of a shape of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactShapeType {
    /// Plane z = 0. Points with z < 0 penetrate.
    Plane,
    /// Sphere.
    Sphere,
    /// Disc without thickness, perpendicular to z, with contact on both sides and at its rim.
    Disc,
    /// Cylinder about z with hemispheres at both ends.
    Capsule,
    /// Box.
    Box,
    /// Solid cylinder about z.
    Cylinder,
    /// Solid cone about z, truncated or with its tip towards +z.
    Cone,
    /// Conical wall about z, open at both ends, with its mouth towards +z: the drogue of a docking
    /// mechanism, with contact inside, outside and at the rims.
    Funnel,
    /// Convex hull of the vertices of a mesh, in axes of the frame.
    Mesh,
}

use ContactShapeType::{Box, Capsule, Cone, Cylinder, Disc, Funnel, Mesh, Plane, Sphere};

impl ContactShapeType {
    /// Returns true for a shape that is bounded and convex.
    pub fn is_convex_body(self) -> bool {
        matches!(self, Sphere | Disc | Capsule | Box | Cylinder | Cone | Mesh)
    }

    /// Returns true for a shape with flat faces on all sides.
    pub fn is_polyhedron(self) -> bool {
        matches!(self, Box | Mesh)
    }

    /// Returns the word of the spec.
    pub fn name(self) -> &'static str {
        match self {
            Plane => "plane",
            Sphere => "sphere",
            Disc => "disc",
            Capsule => "capsule",
            Box => "box",
            Cylinder => "cylinder",
            Cone => "cone",
            Funnel => "funnel",
            Mesh => "mesh",
        }
    }
}

impl ContactShape {
    /// Reports fields of the shape `side` ("shape_a" or "shape_b") that its type does not have, and
    /// missing ones.
    pub(in crate::spec) fn check(&self, side: &str, report: &mut Report) {
        let round = [Sphere, Disc, Capsule, Cylinder, Cone, Funnel];
        let fields: [(&str, bool, &[ContactShapeType], bool); 8] = [
            ("size", self.size.is_some(), &[Box], true),
            ("radius", self.radius.is_some(), &round, true),
            ("end_radius", self.end_radius.is_some(), &[Cone, Funnel], false),
            (
                "length",
                self.length.is_some(),
                &[Capsule, Cylinder, Cone, Funnel],
                true,
            ),
            ("thickness", self.thickness.is_some(), &[Funnel], true),
            ("file", self.file.is_some(), &[Mesh], false),
            ("scale", self.scale.is_some(), &[Mesh], false),
            ("vertices", self.vertices.is_some(), &[Mesh], false),
        ];
        let name = self.kind.name();
        for (field, is_written, kinds, is_needed) in fields {
            let belongs = kinds.contains(&self.kind);
            if is_written && !belongs {
                report.add(
                    format!("{side}.{field}"),
                    format!("a {name} has no `{field}`: leave it out"),
                );
            } else if belongs && is_needed && !is_written {
                let what = format!("missing field `{field}`: a {name} needs it");
                report.add(format!("{side}.{field}"), what);
            }
        }
        if self.kind == Mesh && self.vertices.is_none() {
            let what = match &self.file {
                Some(file) => format!("the mesh {file:?} has not been read: write the spec as a file"),
                None => "missing field `file`: a mesh needs it, or `vertices`".to_owned(),
            };
            report.add(format!("{side}.file"), what);
        }
        self.check_hull(side, report);
    }

    /// Returns the reason for which the distance of two shapes is not computed; `None` if it is.
    /// `None` for a is a point.
    pub(super) fn without_distance([a, b]: [Option<ContactShapeType>; 2]) -> Option<String> {
        let [Some(of_a), Some(of_b)] = [a, b] else {
            let thin = [a, b].contains(&Some(Disc));
            return thin.then(|| {
                "a point has no contact with a disc, which has no thickness: give `a` a sphere, or write \
                 surface = \"disc\", which is one-sided"
                    .to_owned()
            });
        };
        let of_body = |of: ContactShapeType, other: ContactShapeType| {
            of.is_convex_body() && (other == Plane || other.is_convex_body())
        };
        if of_a == Sphere || of_b == Sphere || of_body(of_a, of_b) || of_body(of_b, of_a) {
            return None;
        }
        Some(format!(
            "the distance of a {} from a {} is not computed: a plane has one from each shape but planes and funnels, a funnel \
             from spheres and points",
            of_a.name(),
            of_b.name(),
        ))
    }

    /// Returns true if the nearest point of the two shapes may jump between faces, edges or lines, so
    /// that one contact point is not a continuous function of the poses. Capsules are warned of.
    pub(super) fn has_flat_contact(kinds: [ContactShapeType; 2]) -> bool {
        !kinds.contains(&Sphere) && kinds != [Capsule, Capsule]
    }
}
