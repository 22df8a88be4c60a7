use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Assembly of the start: the computation of positions and rates that close all loops.
///
/// Of all positions (and rates) that close them, those nearest to the written ones are taken, with
/// the least weighted sum of squares of the changes of the joints' coordinates (rad, m; of rates
/// rad/s, m/s). Free bodies, modes and ANCF beams keep their written start, unless the joints alone
/// cannot close the loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assembly {
    /// Joints whose written positions and rates are kept. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
    /// Weights of joints, positive: the greater, the less the joint changes. Default 1.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub weights: IndexMap<String, f64>,
    /// Start at rest in static equilibrium, found by a search from the assembled start, under all
    /// loads, with signals and inputs at their start values. Joints, modes and ANCF beams move
    /// there. Not with `[environment.orbit]`. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub equilibrium: bool,
}
