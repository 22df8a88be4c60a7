use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the start is made to close the loops.
///
/// Of all positions (and rates) that close them, those nearest to the written ones are taken: the weighted sum of squares of the changes of the
/// joints' coordinates (rad, m; of rates rad/s, m/s) is least. Free bodies, modes and ANCF beams stay as they are written, unless the loops cannot
/// be closed without them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assembly {
    /// Joints whose written positions and rates are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// Weights of joints, greater for those that are to change less. Default 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub weights: IndexMap<String, f64>,
    /// Whether the run starts at rest in the static equilibrium nearest to that, under all loads, with signals and inputs as they start: joints,
    /// modes and ANCF beams move there. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub equilibrium: bool,
}
