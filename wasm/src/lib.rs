//! The FMU's library as a WebAssembly component, after the draft of the layered standard FMI-LS-WASM:
//! each function of `wit/fmi3.wit` calls the function of FMI 3.0 in C that it stands for.
//!
//! A component sees no file of its FMU, so the tool writes the model into it ([`model`]).

#![cfg(target_family = "wasm")]
// The C functions. In all calls `self.raw` is a valid handle (`Instance`), and arrays have the lengths
// beside them and live until the call returns.
#![allow(unsafe_code)]

mod instance;
mod model;

/// Types and traits of `wit/fmi3.wit`.
#[allow(missing_docs)]
mod wit {
    wit_bindgen::generate!({ world: "fmu", path: "wit", default_bindings_module: "crate::wit" });
}

use grapple::fmu::c_abi::*;
use grapple::fmu::fmi3::fmi3False;
use instance::{Instance, outcome, status};
use wit::exports::fmi::fmi3::co_simulation::{CoSimulationInstance, DoStepResult, GuestCoSimulationInstance};
use wit::exports::fmi::fmi3::common::Guest as Common;
use wit::exports::fmi::fmi3::model_exchange::{CompletedStepResult, GuestModelExchangeInstance, ModelExchangeInstance};
use wit::exports::fmi::fmi3::{co_simulation, model_exchange};
use wit::fmi::fmi3::types::{DiscreteStatesInfo, IntervalFraction, IntervalQualifier, Status, VariableDependency};

struct Fmu;

wit::export!(Fmu);

impl Common for Fmu {
    fn get_version() -> String {
        "3.0".to_owned()
    }
}

impl model_exchange::Guest for Fmu {
    type ModelExchangeInstance = Instance;
}

impl co_simulation::Guest for Fmu {
    type CoSimulationInstance = Instance;
}

/// Getter and setter of a type that no variable has.
macro_rules! absent {
    ($($get:ident $fmi3Get:ident $set:ident $fmi3Set:ident $Type:ty;)*) => {
        $(
            fn $get(&self, references: Vec<u32>) -> Result<Vec<$Type>, Status> {
                let (place, count) = (references.as_ptr(), references.len());
                let refused = unsafe { $fmi3Get(self.raw, place, count, std::ptr::null_mut(), 0) };
                outcome(refused, Vec::new())
            }

            fn $set(&self, references: Vec<u32>, _: Vec<$Type>) -> Status {
                let (place, count) = (references.as_ptr(), references.len());
                status(unsafe { $fmi3Set(self.raw, place, count, std::ptr::null(), 0) })
            }
        )*
    };
}

/// The functions that both kinds of instances have.
macro_rules! of_both_kinds {
    () => {
        fn set_debug_logging(&self, logging_on: bool, categories: Vec<String>) -> Status {
            self.set_debug_logging(logging_on, categories)
        }

        fn enter_initialization_mode(&self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Status {
            status(unsafe {
                fmi3EnterInitializationMode(
                    self.raw,
                    u8::from(tolerance.is_some()),
                    tolerance.unwrap_or(0.0),
                    start,
                    u8::from(stop.is_some()),
                    stop.unwrap_or(0.0),
                )
            })
        }

        fn exit_initialization_mode(&self) -> Status {
            status(unsafe { fmi3ExitInitializationMode(self.raw) })
        }

        fn enter_event_mode(&self) -> Status {
            status(unsafe { fmi3EnterEventMode(self.raw) })
        }

        fn update_discrete_states(&self) -> Result<DiscreteStatesInfo, Status> {
            self.update_discrete_states()
        }

        fn terminate(&self) -> Status {
            status(unsafe { fmi3Terminate(self.raw) })
        }

        fn reset(&self) -> Status {
            status(unsafe { fmi3Reset(self.raw) })
        }

        fn enter_configuration_mode(&self) -> Status {
            status(unsafe { fmi3EnterConfigurationMode(self.raw) })
        }

        fn exit_configuration_mode(&self) -> Status {
            status(unsafe { fmi3ExitConfigurationMode(self.raw) })
        }

        fn get_float64(&self, references: Vec<u32>) -> Result<Vec<f64>, Status> {
            let (place, count) = (references.as_ptr(), references.len());
            instance::filled(0.0, count, |values| unsafe {
                fmi3GetFloat64(self.raw, place, count, values, count)
            })
        }

        fn set_float64(&self, references: Vec<u32>, values: Vec<f64>) -> Status {
            let (place, count) = (references.as_ptr(), references.len());
            status(unsafe { fmi3SetFloat64(self.raw, place, count, values.as_ptr(), values.len()) })
        }

        fn get_boolean(&self, references: Vec<u32>) -> Result<Vec<bool>, Status> {
            let (place, count) = (references.as_ptr(), references.len());
            let values = instance::filled(fmi3False, count, |values| unsafe {
                fmi3GetBoolean(self.raw, place, count, values, count)
            })?;
            Ok(values.into_iter().map(|value| value != fmi3False).collect())
        }

        fn set_boolean(&self, references: Vec<u32>, values: Vec<bool>) -> Status {
            let (place, count) = (references.as_ptr(), references.len());
            let values: Vec<u8> = values.into_iter().map(u8::from).collect();
            status(unsafe { fmi3SetBoolean(self.raw, place, count, values.as_ptr(), values.len()) })
        }

        fn get_int32(&self, references: Vec<u32>) -> Result<Vec<i32>, Status> {
            let (place, count) = (references.as_ptr(), references.len());
            instance::filled(0, count, |values| unsafe {
                fmi3GetInt32(self.raw, place, count, values, count)
            })
        }

        fn set_int32(&self, references: Vec<u32>, values: Vec<i32>) -> Status {
            let (place, count) = (references.as_ptr(), references.len());
            status(unsafe { fmi3SetInt32(self.raw, place, count, values.as_ptr(), values.len()) })
        }

        absent! {
            get_float32 fmi3GetFloat32 set_float32 fmi3SetFloat32 f32;
            get_int8 fmi3GetInt8 set_int8 fmi3SetInt8 i8;
            get_int16 fmi3GetInt16 set_int16 fmi3SetInt16 i16;
            get_int64 fmi3GetInt64 set_int64 fmi3SetInt64 i64;
            get_uint8 fmi3GetUInt8 set_uint8 fmi3SetUInt8 u8;
            get_uint16 fmi3GetUInt16 set_uint16 fmi3SetUInt16 u16;
            get_uint32 fmi3GetUInt32 set_uint32 fmi3SetUInt32 u32;
            get_uint64 fmi3GetUInt64 set_uint64 fmi3SetUInt64 u64;
            get_string fmi3GetString set_string fmi3SetString String;
        }

        fn get_binary(&self, references: Vec<u32>) -> Result<Vec<Vec<u8>>, Status> {
            let (place, count, none) = (references.as_ptr(), references.len(), std::ptr::null_mut());
            let refused = unsafe { fmi3GetBinary(self.raw, place, count, none, std::ptr::null_mut(), 0) };
            outcome(refused, Vec::new())
        }

        fn set_binary(&self, references: Vec<u32>, _: Vec<Vec<u8>>) -> Status {
            let (place, count, none) = (references.as_ptr(), references.len(), std::ptr::null());
            status(unsafe { fmi3SetBinary(self.raw, place, count, none, std::ptr::null(), 0) })
        }

        fn get_clock(&self, references: Vec<u32>) -> Result<Vec<bool>, Status> {
            let (place, count) = (references.as_ptr(), references.len());
            let refused = unsafe { fmi3GetClock(self.raw, place, count, std::ptr::null_mut()) };
            outcome(refused, Vec::new())
        }

        fn set_clock(&self, references: Vec<u32>, _: Vec<bool>) -> Status {
            let (place, count) = (references.as_ptr(), references.len());
            status(unsafe { fmi3SetClock(self.raw, place, count, std::ptr::null()) })
        }

        fn get_number_of_variable_dependencies(&self, of: u32) -> Result<u64, Status> {
            let refused = unsafe { fmi3GetNumberOfVariableDependencies(self.raw, of, std::ptr::null_mut()) };
            outcome(refused, 0)
        }

        fn get_variable_dependencies(&self, of: u32) -> Result<Vec<VariableDependency>, Status> {
            let none = std::ptr::null_mut();
            let (references, kinds) = (std::ptr::null_mut(), std::ptr::null_mut());
            let refused = unsafe { fmi3GetVariableDependencies(self.raw, of, none, references, none, kinds, 0) };
            outcome(refused, Vec::new())
        }

        fn get_fmu_state(&self) -> Result<Vec<u8>, Status> {
            self.saved()
        }

        fn set_fmu_state(&self, state: Vec<u8>) -> Status {
            self.restore(&state)
        }

        fn get_directional_derivative(
            &self,
            unknowns: Vec<u32>,
            knowns: Vec<u32>,
            seed: Vec<f64>,
        ) -> Result<Vec<f64>, Status> {
            self.sensitivity(
                fmi3GetDirectionalDerivative,
                [&unknowns, &knowns],
                &seed,
                unknowns.len(),
            )
        }

        fn get_adjoint_derivative(
            &self,
            unknowns: Vec<u32>,
            knowns: Vec<u32>,
            seed: Vec<f64>,
        ) -> Result<Vec<f64>, Status> {
            self.sensitivity(
                fmi3GetAdjointDerivative,
                [&unknowns, &knowns],
                &seed,
                knowns.len(),
            )
        }

        fn get_interval_decimal(&self, references: Vec<u32>) -> Result<Vec<(f64, IntervalQualifier)>, Status> {
            let (place, count, none) = (references.as_ptr(), references.len(), std::ptr::null_mut());
            let refused = unsafe { fmi3GetIntervalDecimal(self.raw, place, count, none, std::ptr::null_mut()) };
            outcome(refused, Vec::new())
        }

        fn get_interval_fraction(
            &self,
            references: Vec<u32>,
        ) -> Result<Vec<(IntervalFraction, IntervalQualifier)>, Status> {
            let (place, count, none) = (references.as_ptr(), references.len(), std::ptr::null_mut());
            let refused = unsafe { fmi3GetIntervalFraction(self.raw, place, count, none, none, std::ptr::null_mut()) };
            outcome(refused, Vec::new())
        }

        fn get_shift_decimal(&self, references: Vec<u32>) -> Result<Vec<f64>, Status> {
            let (place, count) = (references.as_ptr(), references.len());
            let refused = unsafe { fmi3GetShiftDecimal(self.raw, place, count, std::ptr::null_mut()) };
            outcome(refused, Vec::new())
        }

        fn get_shift_fraction(&self, references: Vec<u32>) -> Result<Vec<IntervalFraction>, Status> {
            let (place, count, none) = (references.as_ptr(), references.len(), std::ptr::null_mut());
            let refused = unsafe { fmi3GetShiftFraction(self.raw, place, count, none, none) };
            outcome(refused, Vec::new())
        }

        fn set_interval_decimal(&self, references: Vec<u32>, _: Vec<f64>) -> Status {
            let (place, count) = (references.as_ptr(), references.len());
            status(unsafe { fmi3SetIntervalDecimal(self.raw, place, count, std::ptr::null()) })
        }

        fn set_interval_fraction(&self, references: Vec<u32>, _: Vec<IntervalFraction>) -> Status {
            let (place, count, none) = (references.as_ptr(), references.len(), std::ptr::null());
            status(unsafe { fmi3SetIntervalFraction(self.raw, place, count, none, none) })
        }

        fn set_shift_decimal(&self, references: Vec<u32>, _: Vec<f64>) -> Status {
            let (place, count) = (references.as_ptr(), references.len());
            status(unsafe { fmi3SetShiftDecimal(self.raw, place, count, std::ptr::null()) })
        }

        fn set_shift_fraction(&self, references: Vec<u32>, _: Vec<IntervalFraction>) -> Status {
            let (place, count, none) = (references.as_ptr(), references.len(), std::ptr::null());
            status(unsafe { fmi3SetShiftFraction(self.raw, place, count, none, none) })
        }

        fn evaluate_discrete_states(&self) -> Status {
            status(unsafe { fmi3EvaluateDiscreteStates(self.raw) })
        }

        fn enter_step_mode(&self) -> Status {
            status(unsafe { fmi3EnterStepMode(self.raw) })
        }

        fn get_output_derivatives(&self, requests: Vec<(u32, u32)>) -> Result<Vec<f64>, Status> {
            let references: Vec<u32> = requests.iter().map(|&(reference, _)| reference).collect();
            // An order that is no `i32` is no order of FMI either.
            let orders: Vec<i32> = requests
                .iter()
                .map(|&(_, order)| order.try_into().unwrap_or(0))
                .collect();
            let (place, orders, count) = (references.as_ptr(), orders.as_ptr(), requests.len());
            instance::filled(0.0, count, |values| unsafe {
                fmi3GetOutputDerivatives(self.raw, place, count, orders, values, count)
            })
        }
    };
}

impl GuestModelExchangeInstance for Instance {
    fn instantiate_model_exchange(
        name: String,
        token: String,
        _resource_path: String,
        visible: bool,
        logging_on: bool,
    ) -> Option<ModelExchangeInstance> {
        Instance::new(&name, &token, |name, token, resources, environment, log| unsafe {
            let (visible, logging_on) = (u8::from(visible), u8::from(logging_on));
            fmi3InstantiateModelExchange(name, token, resources, visible, logging_on, environment, log)
        })
        .map(ModelExchangeInstance::new)
    }

    of_both_kinds!();

    fn set_time(&self, time: f64) -> Status {
        status(unsafe { fmi3SetTime(self.raw, time) })
    }

    fn enter_continuous_time_mode(&self) -> Status {
        status(unsafe { fmi3EnterContinuousTimeMode(self.raw) })
    }

    fn set_continuous_states(&self, states: Vec<f64>) -> Status {
        status(unsafe { fmi3SetContinuousStates(self.raw, states.as_ptr(), states.len()) })
    }

    fn get_continuous_state_derivatives(&self) -> Result<Vec<f64>, Status> {
        let count = self.state_count()?;
        instance::filled(0.0, count, |values| unsafe {
            fmi3GetContinuousStateDerivatives(self.raw, values, count)
        })
    }

    fn get_event_indicators(&self) -> Result<Vec<f64>, Status> {
        let count = self.indicator_count()?;
        instance::filled(0.0, count, |values| unsafe {
            fmi3GetEventIndicators(self.raw, values, count)
        })
    }

    fn get_continuous_states(&self) -> Result<Vec<f64>, Status> {
        let count = self.state_count()?;
        instance::filled(0.0, count, |values| unsafe {
            fmi3GetContinuousStates(self.raw, values, count)
        })
    }

    fn get_nominals_of_continuous_states(&self) -> Result<Vec<f64>, Status> {
        let count = self.state_count()?;
        instance::filled(0.0, count, |values| unsafe {
            fmi3GetNominalsOfContinuousStates(self.raw, values, count)
        })
    }

    fn get_number_of_event_indicators(&self) -> Result<u64, Status> {
        self.indicator_count().map(|count| count as u64)
    }

    fn get_number_of_continuous_states(&self) -> Result<u64, Status> {
        self.state_count().map(|count| count as u64)
    }

    fn completed_integrator_step(&self, no_set_before: bool) -> Result<CompletedStepResult, Status> {
        let (mut event, mut end) = (fmi3False, fmi3False);
        let called = unsafe { fmi3CompletedIntegratorStep(self.raw, u8::from(no_set_before), &mut event, &mut end) };
        let result = CompletedStepResult {
            enter_event_mode: event != fmi3False,
            terminate_simulation: end != fmi3False,
        };
        outcome(called, result)
    }
}

impl GuestCoSimulationInstance for Instance {
    fn instantiate_co_simulation(
        name: String,
        token: String,
        _resource_path: String,
        visible: bool,
        logging_on: bool,
        event_mode_used: bool,
        early_return_allowed: bool,
        required_intermediate_variables: Vec<u32>,
    ) -> Option<CoSimulationInstance> {
        let required = &required_intermediate_variables;
        let [visible, logging_on, event_mode, early] =
            [visible, logging_on, event_mode_used, early_return_allowed].map(u8::from);
        Instance::new(&name, &token, |name, token, resources, environment, log| unsafe {
            fmi3InstantiateCoSimulation(
                name,
                token,
                resources,
                visible,
                logging_on,
                event_mode,
                early,
                required.as_ptr(),
                required.len(),
                environment,
                log,
                None,
            )
        })
        .map(CoSimulationInstance::new)
    }

    of_both_kinds!();

    /// FMI 3.0 has no such function.
    fn set_input_derivatives(&self, requests: Vec<(u32, u32)>, _: Vec<f64>) -> Status {
        self.log("set-input-derivatives: FMI 3.0 has no such function");
        if requests.is_empty() { Status::Ok } else { Status::Error }
    }

    fn do_step(&self, now: f64, step: f64, no_set_before: bool) -> Result<DoStepResult, Status> {
        let (mut event, mut end, mut early, mut reached) = (fmi3False, fmi3False, fmi3False, now);
        let called = unsafe {
            fmi3DoStep(
                self.raw,
                now,
                step,
                u8::from(no_set_before),
                &mut event,
                &mut end,
                &mut early,
                &mut reached,
            )
        };
        let result = DoStepResult {
            last_successful_time: reached,
            event_handling_needed: event != fmi3False,
            terminate_simulation: end != fmi3False,
            early_return: early != fmi3False,
        };
        outcome(called, result)
    }
}
