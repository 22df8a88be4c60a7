use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a run in Co-Simulation is stopped with an error because its numbers are no longer true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Monitor {
    /// Largest constraint violation of a loop or a capture, m and rad. Default 0.001.
    pub constraint_violation: f64,
    /// Largest error of the energy balance: of `system.energy − system.work`, less its value at the start, as a part of the largest
    /// kinetic energy and work so far. Watched where there are diagnostics. Default 0.02.
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
    /// Whether nothing of it is written.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
