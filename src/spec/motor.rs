use super::PerAxis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Motor of a joint: it exerts the sum of the torque input and the servo's torque within these
/// limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Largest magnitude of the torque (force), N·m (N), positive.
    pub torque_limit: PerAxis,
    /// Largest rate, rad/s (m/s), positive. Over the last 1 % below it the torque that raises the
    /// rate decreases linearly to zero. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<PerAxis>,
}
