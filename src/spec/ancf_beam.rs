use super::FreeStart;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A large beam by itself: nodes in the world with cubic elements between them, which bend and move as far as they will. Joined to a craft by grasps.
///
/// It is straight at rest; its x axis goes from its root to its tip. It bends alike in all planes and has neither torsion nor section: what holds it holds its direction.
///
/// Frames stand on it by their distance from the root, `origin = [x, 0, 0]`; its own name means its root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AncfBeam {
    /// Length, m. Not with `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Number of elements. Two describe a beam that is bent a little; a circle needs eight. At most 256. Not with `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<usize>,
    /// Mass per length, kg/m. Not with `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass_per_length: Option<f64>,
    /// Stiffness against stretch, N. Not with `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EA: Option<f64>,
    /// Stiffness against bending, in all planes, N·m². Not with `sections`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub EI: Option<f64>,
    /// Sections of a beam that is not the same everywhere, from the root to the tip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<NodalSection>,
    /// The curvature that is bent. Default `quadratic`.
    #[serde(default, skip_serializing_if = "Curvature::is_default")]
    pub curvature: Curvature,
    /// Where its root starts, the attitude of its axes, and how it moves, as a rigid body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<FreeStart>,
    /// How its nodes start off the straight beam, one after the other from the root to the tip. Default: straight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_nodes: Vec<NodeStart>,
}

/// How a node of an ANCF beam starts off the straight beam, in axes of its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeStart {
    /// By so much its place, m.
    pub displacement: [f64; 3],
    /// By so much its direction `dr/dx`, of length one where the beam is not stretched.
    pub slope: [f64; 3],
}

/// A uniform section of an ANCF beam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodalSection {
    /// Length, m.
    pub length: f64,
    /// Number of elements. All sections together have at most 256.
    pub elements: usize,
    /// Mass per length, kg/m.
    pub mass_per_length: f64,
    /// Stiffness against stretch, N.
    pub EA: f64,
    /// Stiffness against bending, in all planes, N·m².
    pub EI: f64,
}

/// How the curvature of an ANCF beam is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Curvature {
    /// By the second derivative of its places along the beam: the cheapest, and right as long as it is stretched little (an error of twice the strain).
    #[default]
    Quadratic,
    /// Exactly, for strains above a thousandth.
    Exact,
}

impl Curvature {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl AncfBeam {
    /// How many nodes it has.
    pub(crate) fn nodes(&self) -> usize {
        let elements = self
            .all_sections()
            .iter()
            .fold(0, |sum: usize, section| sum.saturating_add(section.elements));
        elements.saturating_add(1)
    }

    /// Its sections, a single one if it is uniform; none where a number is missing.
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
