use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Electric part of the motor of a joint: a direct-current motor, or a brushless motor whose
/// currents are controlled along the quadrature axis.
///
/// The input `<joint>.voltage` (V) takes the place of the torque input. With the voltage `u`, the
/// current `i`, the resistance `R`, the inductance `L`, the torque constant `k`, the ratio `N` of the
/// joint's drive train (1 without one) and the rate `θ̇` of its rotor divided by `N` (without one, of
/// the joint), `u = R i + L di/dt + N k θ̇`. The torque at the child is `N k i`; with a drive train it
/// acts on the rotor as `k i`. Outputs are the current, the torque at the child, the electric power
/// `u i` and the copper loss `R i²`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DcMotor {
    /// Resistance of the armature, Ohm, positive.
    pub resistance: f64,
    /// Torque constant, N·m/A, positive, equal to the constant of the back-EMF in V·s/rad. Without
    /// drive train that of motor and gear: the ratio times the motor's own.
    pub torque_constant: f64,
    /// Inductance of the armature, H, positive. The current `<joint>.current` is then a state, which
    /// starts at zero. Default: none; the current follows the voltage at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inductance: Option<f64>,
    /// Largest magnitude of the voltage, V, positive. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voltage_limit: Option<f64>,
}
