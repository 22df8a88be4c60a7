//! Capabilities of an FMU: the elements `ModelExchange` (§3.3.1) and `CoSimulation` (§4.3.1).
//!
//! Fields are named after FMI 2.0; FMI 3.0 has most of them under similar names. It has no memory
//! callbacks, no `fmi2SetRealInputDerivatives` and no asynchronous steps: those fields are not written.
//! `SourceFiles`, for FMUs with source code, is not represented and is skipped when read.

use serde::{Deserialize, Serialize};

use crate::xml::{is_false, is_zero};

/// Capabilities of an FMU for Model Exchange (§3.3.1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelExchange {
    /// Name of the shared library, a C identifier.
    #[serde(rename = "@modelIdentifier")]
    pub model_identifier: String,
    /// True if the FMU is a wrapper that needs an external tool.
    #[serde(rename = "@needsExecutionTool", default, skip_serializing_if = "is_false")]
    pub needs_execution_tool: bool,
    /// True if `fmi2CompletedIntegratorStep` need not be called and has no effect.
    #[serde(
        rename = "@completedIntegratorStepNotNeeded",
        default,
        skip_serializing_if = "is_false"
    )]
    pub completed_integrator_step_not_needed: bool,
    /// True if a process can have one instance only.
    #[serde(
        rename = "@canBeInstantiatedOnlyOncePerProcess",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_be_instantiated_only_once_per_process: bool,
    /// True if the callbacks `allocateMemory` and `freeMemory` are ignored.
    #[serde(
        rename = "@canNotUseMemoryManagementFunctions",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_not_use_memory_management_functions: bool,
    /// True if `fmi2GetFMUstate`, `fmi2SetFMUstate` and `fmi2FreeFMUstate` are supported.
    #[serde(rename = "@canGetAndSetFMUstate", default, skip_serializing_if = "is_false")]
    pub can_get_and_set_fmu_state: bool,
    /// True if a state can be serialised and deserialised; requires `can_get_and_set_fmu_state`.
    #[serde(rename = "@canSerializeFMUstate", default, skip_serializing_if = "is_false")]
    pub can_serialize_fmu_state: bool,
    /// True if `fmi2GetDirectionalDerivative` is supported.
    #[serde(rename = "@providesDirectionalDerivative", default, skip_serializing_if = "is_false")]
    pub provides_directional_derivative: bool,
    /// True if `fmi3GetAdjointDerivative` is supported; FMI 3.0 only.
    #[serde(skip)]
    pub provides_adjoint_derivatives: bool,
}

/// Capabilities of an FMU for Co-Simulation (§4.3.1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoSimulation {
    /// Name of the shared library, a C identifier.
    #[serde(rename = "@modelIdentifier")]
    pub model_identifier: String,
    /// True if the FMU is a wrapper that needs an external tool.
    #[serde(rename = "@needsExecutionTool", default, skip_serializing_if = "is_false")]
    pub needs_execution_tool: bool,
    /// True if the communication step size may vary.
    #[serde(
        rename = "@canHandleVariableCommunicationStepSize",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_handle_variable_communication_step_size: bool,
    /// True if `fmi2SetRealInputDerivatives` is supported.
    #[serde(rename = "@canInterpolateInputs", default, skip_serializing_if = "is_false")]
    pub can_interpolate_inputs: bool,
    /// Highest order supported by `fmi2GetRealOutputDerivatives`.
    #[serde(rename = "@maxOutputDerivativeOrder", default, skip_serializing_if = "is_zero")]
    pub max_output_derivative_order: u32,
    /// True if `fmi2DoStep` may run asynchronously. The standard spells it "Asynchronuously".
    #[serde(rename = "@canRunAsynchronuously", default, skip_serializing_if = "is_false")]
    pub can_run_asynchronuously: bool,
    /// True if a process can have one instance only.
    #[serde(
        rename = "@canBeInstantiatedOnlyOncePerProcess",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_be_instantiated_only_once_per_process: bool,
    /// True if the callbacks `allocateMemory` and `freeMemory` are ignored.
    #[serde(
        rename = "@canNotUseMemoryManagementFunctions",
        default,
        skip_serializing_if = "is_false"
    )]
    pub can_not_use_memory_management_functions: bool,
    /// True if `fmi2GetFMUstate`, `fmi2SetFMUstate` and `fmi2FreeFMUstate` are supported.
    #[serde(rename = "@canGetAndSetFMUstate", default, skip_serializing_if = "is_false")]
    pub can_get_and_set_fmu_state: bool,
    /// True if a state can be serialised and deserialised; requires `can_get_and_set_fmu_state`.
    #[serde(rename = "@canSerializeFMUstate", default, skip_serializing_if = "is_false")]
    pub can_serialize_fmu_state: bool,
    /// True if `fmi2GetDirectionalDerivative` is supported at communication points.
    #[serde(rename = "@providesDirectionalDerivative", default, skip_serializing_if = "is_false")]
    pub provides_directional_derivative: bool,
    /// True if `fmi3GetAdjointDerivative` is supported; FMI 3.0 only.
    #[serde(skip)]
    pub provides_adjoint_derivatives: bool,
    /// True if `fmi3DoStep` may return before the end of the step; FMI 3.0 only.
    #[serde(skip)]
    pub might_return_early_from_do_step: bool,
    /// True if the FMU calls the importer after steps of its integrator; FMI 3.0 only.
    #[serde(skip)]
    pub provides_intermediate_update: bool,
    /// True if `fmi3DoStep` can return early at such a call; FMI 3.0 only.
    #[serde(skip)]
    pub can_return_early_after_intermediate_update: bool,
    /// True if the FMU supports Event Mode in Co-Simulation; FMI 3.0 only.
    #[serde(skip)]
    pub has_event_mode: bool,
}
