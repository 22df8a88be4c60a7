//! `ModelExchange` (§3.4) and `CoSimulation` (§4.4).

use serde::{Deserialize, Serialize};

use crate::xml::{is_false, is_zero};

#[derive(Serialize, Deserialize)]
pub(super) struct ModelExchange {
    #[serde(rename = "@modelIdentifier")]
    model_identifier: String,
    #[serde(rename = "@needsExecutionTool", default, skip_serializing_if = "is_false")]
    needs_execution_tool: bool,
    #[serde(
        rename = "@canBeInstantiatedOnlyOncePerProcess",
        default,
        skip_serializing_if = "is_false"
    )]
    can_be_instantiated_only_once_per_process: bool,
    #[serde(rename = "@canGetAndSetFMUState", default, skip_serializing_if = "is_false")]
    can_get_and_set_fmu_state: bool,
    #[serde(rename = "@canSerializeFMUState", default, skip_serializing_if = "is_false")]
    can_serialize_fmu_state: bool,
    #[serde(
        rename = "@providesDirectionalDerivatives",
        default,
        skip_serializing_if = "is_false"
    )]
    provides_directional_derivatives: bool,
    #[serde(rename = "@providesAdjointDerivatives", default, skip_serializing_if = "is_false")]
    provides_adjoint_derivatives: bool,
    #[serde(rename = "@needsCompletedIntegratorStep", default, skip_serializing_if = "is_false")]
    needs_completed_integrator_step: bool,
}

impl ModelExchange {
    pub fn of(of: &crate::ModelExchange) -> Self {
        Self {
            model_identifier: of.model_identifier.clone(),
            needs_execution_tool: of.needs_execution_tool,
            can_be_instantiated_only_once_per_process: of.can_be_instantiated_only_once_per_process,
            can_get_and_set_fmu_state: of.can_get_and_set_fmu_state,
            can_serialize_fmu_state: of.can_serialize_fmu_state,
            provides_directional_derivatives: of.provides_directional_derivative,
            provides_adjoint_derivatives: of.provides_adjoint_derivatives,
            needs_completed_integrator_step: !of.completed_integrator_step_not_needed,
        }
    }

    pub fn into_interface(self) -> crate::ModelExchange {
        crate::ModelExchange {
            model_identifier: self.model_identifier,
            needs_execution_tool: self.needs_execution_tool,
            completed_integrator_step_not_needed: !self.needs_completed_integrator_step,
            can_be_instantiated_only_once_per_process: self.can_be_instantiated_only_once_per_process,
            // FMI 3.0 has no such functions.
            can_not_use_memory_management_functions: true,
            can_get_and_set_fmu_state: self.can_get_and_set_fmu_state,
            can_serialize_fmu_state: self.can_serialize_fmu_state,
            provides_directional_derivative: self.provides_directional_derivatives,
            provides_adjoint_derivatives: self.provides_adjoint_derivatives,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct CoSimulation {
    #[serde(rename = "@modelIdentifier")]
    model_identifier: String,
    #[serde(rename = "@needsExecutionTool", default, skip_serializing_if = "is_false")]
    needs_execution_tool: bool,
    #[serde(
        rename = "@canBeInstantiatedOnlyOncePerProcess",
        default,
        skip_serializing_if = "is_false"
    )]
    can_be_instantiated_only_once_per_process: bool,
    #[serde(rename = "@canGetAndSetFMUState", default, skip_serializing_if = "is_false")]
    can_get_and_set_fmu_state: bool,
    #[serde(rename = "@canSerializeFMUState", default, skip_serializing_if = "is_false")]
    can_serialize_fmu_state: bool,
    #[serde(
        rename = "@providesDirectionalDerivatives",
        default,
        skip_serializing_if = "is_false"
    )]
    provides_directional_derivatives: bool,
    #[serde(rename = "@providesAdjointDerivatives", default, skip_serializing_if = "is_false")]
    provides_adjoint_derivatives: bool,
    #[serde(
        rename = "@canHandleVariableCommunicationStepSize",
        default,
        skip_serializing_if = "is_false"
    )]
    can_handle_variable_communication_step_size: bool,
    #[serde(rename = "@maxOutputDerivativeOrder", default, skip_serializing_if = "is_zero")]
    max_output_derivative_order: u32,
    #[serde(rename = "@mightReturnEarlyFromDoStep", default, skip_serializing_if = "is_false")]
    might_return_early_from_do_step: bool,
    #[serde(rename = "@providesIntermediateUpdate", default, skip_serializing_if = "is_false")]
    provides_intermediate_update: bool,
    #[serde(
        rename = "@canReturnEarlyAfterIntermediateUpdate",
        default,
        skip_serializing_if = "is_false"
    )]
    can_return_early_after_intermediate_update: bool,
    #[serde(rename = "@hasEventMode", default, skip_serializing_if = "is_false")]
    has_event_mode: bool,
}

impl CoSimulation {
    pub fn of(of: &crate::CoSimulation) -> Self {
        Self {
            model_identifier: of.model_identifier.clone(),
            needs_execution_tool: of.needs_execution_tool,
            can_be_instantiated_only_once_per_process: of.can_be_instantiated_only_once_per_process,
            can_get_and_set_fmu_state: of.can_get_and_set_fmu_state,
            can_serialize_fmu_state: of.can_serialize_fmu_state,
            provides_directional_derivatives: of.provides_directional_derivative,
            provides_adjoint_derivatives: of.provides_adjoint_derivatives,
            can_handle_variable_communication_step_size: of.can_handle_variable_communication_step_size,
            max_output_derivative_order: of.max_output_derivative_order,
            might_return_early_from_do_step: of.might_return_early_from_do_step,
            provides_intermediate_update: of.provides_intermediate_update,
            can_return_early_after_intermediate_update: of.can_return_early_after_intermediate_update,
            has_event_mode: of.has_event_mode,
        }
    }

    pub fn into_interface(self) -> crate::CoSimulation {
        crate::CoSimulation {
            model_identifier: self.model_identifier,
            needs_execution_tool: self.needs_execution_tool,
            can_handle_variable_communication_step_size: self.can_handle_variable_communication_step_size,
            // FMI 3.0 has none of these three.
            can_interpolate_inputs: false,
            can_run_asynchronuously: false,
            can_not_use_memory_management_functions: true,
            max_output_derivative_order: self.max_output_derivative_order,
            can_be_instantiated_only_once_per_process: self.can_be_instantiated_only_once_per_process,
            can_get_and_set_fmu_state: self.can_get_and_set_fmu_state,
            can_serialize_fmu_state: self.can_serialize_fmu_state,
            provides_directional_derivative: self.provides_directional_derivatives,
            provides_adjoint_derivatives: self.provides_adjoint_derivatives,
            might_return_early_from_do_step: self.might_return_early_from_do_step,
            provides_intermediate_update: self.provides_intermediate_update,
            can_return_early_after_intermediate_update: self.can_return_early_after_intermediate_update,
            has_event_mode: self.has_event_mode,
        }
    }
}
