//! What an FMU can do: the elements `ModelExchange` (§3.3.1) and `CoSimulation` (§4.3.1).
//!
//! `SourceFiles`, for FMUs that come as source code, is not held and is skipped when read.

use serde::{Deserialize, Serialize};

use crate::xml::{is_false, is_zero};

/// The capabilities of an FMU used for Model Exchange (§3.3.1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelExchange {
    /// Name of the shared library, an identifier of C.
    #[serde(rename = "@modelIdentifier")]
    pub model_identifier: String,
    /// The FMU only talks to a tool that must be there.
    #[serde(rename = "@needsExecutionTool", default, skip_serializing_if = "is_false")]
    pub needs_execution_tool: bool,
    /// `fmi2CompletedIntegratorStep` need not be called and has no effect.
    #[serde(
        rename = "@completedIntegratorStepNotNeeded",
        default,
        skip_serializing_if = "is_false"
    )]
    pub completed_integrator_step_not_needed: bool,
    /// A second instance needs a second process.
    #[serde(
        rename = "@canBeInstantiatedOnlyOncePerProcess",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_be_instantiated_only_once_per_process: bool,
    /// The callbacks `allocateMemory` and `freeMemory` are ignored.
    #[serde(
        rename = "@canNotUseMemoryManagementFunctions",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_not_use_memory_management_functions: bool,
    /// `fmi2GetFMUstate`, `fmi2SetFMUstate` and `fmi2FreeFMUstate` work.
    #[serde(rename = "@canGetAndSetFMUstate", default, skip_serializing_if = "is_false")]
    pub can_get_and_set_fmu_state: bool,
    /// A state can be turned into bytes and back; implies the one above.
    #[serde(rename = "@canSerializeFMUstate", default, skip_serializing_if = "is_false")]
    pub can_serialize_fmu_state: bool,
    /// `fmi2GetDirectionalDerivative` works.
    #[serde(rename = "@providesDirectionalDerivative", default, skip_serializing_if = "is_false")]
    pub provides_directional_derivative: bool,
}

/// The capabilities of an FMU used for Co-Simulation (§4.3.1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoSimulation {
    /// Name of the shared library, an identifier of C.
    #[serde(rename = "@modelIdentifier")]
    pub model_identifier: String,
    /// The FMU only talks to a tool that must be there.
    #[serde(rename = "@needsExecutionTool", default, skip_serializing_if = "is_false")]
    pub needs_execution_tool: bool,
    /// The communication step may differ from call to call.
    #[serde(
        rename = "@canHandleVariableCommunicationStepSize",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_handle_variable_communication_step_size: bool,
    /// `fmi2SetRealInputDerivatives` has an effect.
    #[serde(rename = "@canInterpolateInputs", default, skip_serializing_if = "is_false")]
    pub can_interpolate_inputs: bool,
    /// Highest order `fmi2GetRealOutputDerivatives` gives.
    #[serde(rename = "@maxOutputDerivativeOrder", default, skip_serializing_if = "is_zero")]
    pub max_output_derivative_order: u32,
    /// `fmi2DoStep` may return before it is done. The standard spells it "Asynchronuously".
    #[serde(rename = "@canRunAsynchronuously", default, skip_serializing_if = "is_false")]
    pub can_run_asynchronuously: bool,
    /// A second instance needs a second process.
    #[serde(
        rename = "@canBeInstantiatedOnlyOncePerProcess",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_be_instantiated_only_once_per_process: bool,
    /// The callbacks `allocateMemory` and `freeMemory` are ignored.
    #[serde(
        rename = "@canNotUseMemoryManagementFunctions",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_not_use_memory_management_functions: bool,
    /// `fmi2GetFMUstate`, `fmi2SetFMUstate` and `fmi2FreeFMUstate` work.
    #[serde(rename = "@canGetAndSetFMUstate", default, skip_serializing_if = "is_false")]
    pub can_get_and_set_fmu_state: bool,
    /// A state can be turned into bytes and back; implies the one above.
    #[serde(rename = "@canSerializeFMUstate", default, skip_serializing_if = "is_false")]
    pub can_serialize_fmu_state: bool,
    /// `fmi2GetDirectionalDerivative` works at communication points.
    #[serde(rename = "@providesDirectionalDerivative", default, skip_serializing_if = "is_false")]
    pub provides_directional_derivative: bool,
}
