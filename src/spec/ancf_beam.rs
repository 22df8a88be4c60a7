use super::{FreeStart, Shape};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ANCF beam: a large beam in absolute nodal coordinates, with nodes in the world and cubic
/// elements between them. Bending and motion may be of any size. Grasps, captures and loops connect
/// it to bodies.
///
/// It is straight at rest, with x from the root to the tip. It has no cross-section: its bending
/// stiffness is equal in all planes, it has no torsion and no shear, and a connection holds its
/// direction only.
///
/// A frame on it is at the distance x from the root, `origin = [x, 0, 0]`; in place of a frame, the
/// beam's name stands for its root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AncfBeam {
    /// Length, m, positive. Required without `sections`, not with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Number of elements, 1 to 256: two for small bending, eight for a full circle. Required
    /// without `sections`, not with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<usize>,
    /// Mass per length, kg/m, positive. Required without `sections`, not with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_per_length: Option<f64>,
    /// Axial stiffness, N, positive. Required without `sections`, not with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EA: Option<f64>,
    /// Bending stiffness in all planes, N·m², positive. Required without `sections`, not with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI: Option<f64>,
    /// Sections of a beam that is not uniform, from the root to the tip, in place of `length`,
    /// `elements`, `mass_per_length`, `EA` and `EI`. Default: none, the beam is uniform.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<NodalSection>,
    /// Measure of curvature in the bending energy. Default `quadratic`.
    #[serde(default, skip_serializing_if = "Curvature::is_default")]
    pub curvature: Curvature,
    /// Initial position and velocity of the root, attitude and angular velocity of the straight
    /// beam as a rigid body. Default: at rest at the world's origin, along its x axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<FreeStart>,
    /// Initial deviations of the nodes from the straight beam, one entry for each node from the
    /// root to the tip. Default: straight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_nodes: Vec<NodeStart>,
    /// Shapes in pictures, by any name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub shape: IndexMap<String, Shape>,
}

/// Initial deviation of a node from the straight beam, in axes of the beam's `start`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeStart {
    /// Deviation of the position, m. Default `[0, 0, 0]`.
    pub displacement: [f64; 3],
    /// Deviation of the slope `dr/dx`, which has length one without stretch. Default `[0, 0, 0]`.
    pub slope: [f64; 3],
}

/// Uniform section of an ANCF beam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodalSection {
    /// Length, m, positive.
    pub length: f64,
    /// Number of elements, at least 1. All sections together have at most 256.
    pub elements: usize,
    /// Mass per length, kg/m, positive.
    pub mass_per_length: f64,
    /// Axial stiffness, N, positive.
    pub EA: f64,
    /// Bending stiffness in all planes, N·m², positive.
    pub EI: f64,
}

/// Measure of an ANCF beam's curvature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Curvature {
    /// Second derivative of the position along the beam. It costs least, and is accurate for small
    /// stretch: the relative error is twice the axial strain.
    #[default]
    Quadratic,
    /// Change of direction per length at rest: for axial strains above 0.001.
    Exact,
}

impl Curvature {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl AncfBeam {
    /// Returns the number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        let elements = self
            .all_sections()
            .iter()
            .fold(0, |sum: usize, section| sum.saturating_add(section.elements));
        elements.saturating_add(1)
    }

    /// Returns the sections: a single one for a uniform beam, none if one of its numbers is
    /// missing.
    pub(crate) fn all_sections(&self) -> Vec<NodalSection> {
        if !self.sections.is_empty() {
            return self.sections.clone();
        }
        let section = || {
            Some(NodalSection {
                length: self.length?,
                elements: self.elements?,
                mass_per_length: self.mass_per_length?,
                EA: self.EA?,
                EI: self.EI?,
            })
        };
        section().into_iter().collect()
    }
}
