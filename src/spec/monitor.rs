use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of constraint violation and energy balance. A run in Co-Simulation that exceeds one stops
/// with an error; runs in Model Exchange are not monitored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Monitor {
    /// Largest constraint violation of a loop or a capture, m and rad, positive. Default 0.001.
    pub constraint_violation: f64,
    /// Largest error of the energy balance, positive: change of `system.energy − system.work` since
    /// the start, relative to the largest kinetic energy and work so far. It needs `[output]
    /// diagnostics`. Default 0.02.
    pub energy_balance: f64,
}

impl Default for Monitor {
    fn default() -> Self {
        Self {
            constraint_violation: 1e-3,
            energy_balance: 0.02,
        }
    }
}

impl Monitor {
    /// Returns true if all limits have their default values.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
