//! Inquiry, instantiation, initialisation, events (FMI 3.0, §2.2 and §2.3).

use super::super::common::set_debug_logging;
use super::super::handle::Handle;
use super::super::instantiate::{Request, instantiate};
use super::super::logger::{Callback, Importer};
use super::super::pointers::{single, slice};
use crate::fmu::component::{Component, EventResult};
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;
use crate::fmu::lifecycle::{Interface, Standard};

/// Returns `"3.0"`. The string is valid while the library is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> fmi3String {
    c"3.0".as_ptr()
}

/// Switches log categories on or off.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    instance: fmi3Instance,
    loggingOn: fmi3Boolean,
    nCategories: usize,
    categories: *const fmi3String,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the array and its strings.
    unsafe {
        set_debug_logging(
            instance,
            Call::SetDebugLogging,
            loggingOn != fmi3False,
            (categories, nCategories),
        )
    }
}

/// Ends the log of an instance that was made with `loggingOn` false: in FMI 3.0 nothing is logged
/// then, failures included.
fn quieten(component: &mut Component, logging_on: fmi3Boolean) {
    if logging_on == fmi3False {
        component.log.switch(false, &[]);
    }
}

/// Creates an instance for Model Exchange; returns null on failure and logs the reason. `visible` is
/// ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    instanceName: fmi3String,
    instantiationToken: fmi3String,
    resourcePath: fmi3String,
    _visible: fmi3Boolean,
    loggingOn: fmi3Boolean,
    instanceEnvironment: fmi3InstanceEnvironment,
    logMessage: Option<fmi3LogMessageCallback>,
) -> fmi3Instance {
    let request = Request {
        standard: Standard::Fmi3,
        function: "fmi3InstantiateModelExchange",
        out_of_memory: c"fmi3InstantiateModelExchange: there is not enough memory for an instance",
        importer: Importer {
            callback: logMessage.map(Callback::Fmi3),
            environment: instanceEnvironment,
        },
        name: instanceName,
        token: instantiationToken,
        location: resourcePath,
        logging_on: loggingOn != fmi3False,
    };
    let finish = |component: &mut Component| {
        quieten(component, loggingOn);
        Ok(None)
    };
    // SAFETY: the importer keeps the standard's contract for the strings and the callback.
    unsafe { instantiate(&request, || Ok(Interface::ModelExchange), finish) }
}

/// Creates an instance for Co-Simulation; returns null on failure and logs the reason. `visible` is
/// ignored. With `intermediateUpdate` the importer is called after each step of the integrator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    instanceName: fmi3String,
    instantiationToken: fmi3String,
    resourcePath: fmi3String,
    _visible: fmi3Boolean,
    loggingOn: fmi3Boolean,
    eventModeUsed: fmi3Boolean,
    earlyReturnAllowed: fmi3Boolean,
    requiredIntermediateVariables: *const fmi3ValueReference,
    nRequiredIntermediateVariables: usize,
    instanceEnvironment: fmi3InstanceEnvironment,
    logMessage: Option<fmi3LogMessageCallback>,
    intermediateUpdate: Option<fmi3IntermediateUpdateCallback>,
) -> fmi3Instance {
    let request = Request {
        standard: Standard::Fmi3,
        function: "fmi3InstantiateCoSimulation",
        out_of_memory: c"fmi3InstantiateCoSimulation: there is not enough memory for an instance",
        importer: Importer {
            callback: logMessage.map(Callback::Fmi3),
            environment: instanceEnvironment,
        },
        name: instanceName,
        token: instantiationToken,
        location: resourcePath,
        logging_on: loggingOn != fmi3False,
    };
    let finish = |component: &mut Component| {
        quieten(component, loggingOn);
        component.use_events(eventModeUsed != fmi3False, earlyReturnAllowed != fmi3False);
        // SAFETY: the importer keeps the standard's contract for the array.
        let required = unsafe {
            slice(
                requiredIntermediateVariables,
                nRequiredIntermediateVariables,
                "requiredIntermediateVariables",
            )
        };
        required
            .and_then(|required| component.check_intermediate(required))
            .map_err(|fault| fault.what)?;
        Ok(intermediateUpdate.map(|callback| (callback, instanceEnvironment)))
    };
    // SAFETY: the importer keeps the standard's contract for the strings and the callbacks.
    unsafe { instantiate(&request, || Ok(Interface::CoSimulation), finish) }
}

/// Returns null and logs the reason: this FMU does not offer Scheduled Execution.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    instanceName: fmi3String,
    instantiationToken: fmi3String,
    resourcePath: fmi3String,
    _visible: fmi3Boolean,
    loggingOn: fmi3Boolean,
    instanceEnvironment: fmi3InstanceEnvironment,
    logMessage: Option<fmi3LogMessageCallback>,
    _clockUpdate: Option<fmi3ClockUpdateCallback>,
    _lockPreemption: Option<fmi3PreemptionCallback>,
    _unlockPreemption: Option<fmi3PreemptionCallback>,
) -> fmi3Instance {
    let request = Request {
        standard: Standard::Fmi3,
        function: "fmi3InstantiateScheduledExecution",
        out_of_memory: c"fmi3InstantiateScheduledExecution: there is not enough memory for an instance",
        importer: Importer {
            callback: logMessage.map(Callback::Fmi3),
            environment: instanceEnvironment,
        },
        name: instanceName,
        token: instantiationToken,
        location: resourcePath,
        logging_on: loggingOn != fmi3False,
    };
    let refuse = || Err("this FMU offers Model Exchange and Co-Simulation, not Scheduled Execution".to_owned());
    // SAFETY: the importer keeps the standard's contract for the strings and the callback.
    unsafe { instantiate(&request, refuse, |_| Ok(None)) }
}

/// Frees an instance; null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(instance: fmi3Instance) {
    // SAFETY: the importer keeps the standard's contract, and does not use the handle again.
    unsafe { Handle::free(instance) }
}

/// Sets relative tolerance, start time and stop time (s), and begins initialisation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    instance: fmi3Instance,
    toleranceDefined: fmi3Boolean,
    tolerance: fmi3Float64,
    startTime: fmi3Float64,
    stopTimeDefined: fmi3Boolean,
    stopTime: fmi3Float64,
) -> fmi3Status {
    let tolerance = (toleranceDefined != fmi3False).then_some(tolerance);
    let stop = (stopTimeDefined != fmi3False).then_some(stopTime);
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(instance, Call::EnterInitializationMode, |component| {
            component.setup_experiment(tolerance, startTime, stop)?;
            component.enter_initialization_mode();
            Ok(())
        })
    }
}

/// Ends initialisation: validates all parameters together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(instance: fmi3Instance) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(
            instance,
            Call::ExitInitializationMode,
            Component::exit_initialization_mode,
        )
    }
}

/// Enters Event Mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterEventMode(instance: fmi3Instance) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(instance, Call::EnterEventMode, Component::enter_event_mode) }
}

/// Iterates the discrete states to their fixed point in one call. `nextEventTime` is finite and far
/// away if it is not defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3UpdateDiscreteStates(
    instance: fmi3Instance,
    discreteStatesNeedUpdate: *mut fmi3Boolean,
    terminateSimulation: *mut fmi3Boolean,
    nominalsOfContinuousStatesChanged: *mut fmi3Boolean,
    valuesOfContinuousStatesChanged: *mut fmi3Boolean,
    nextEventTimeDefined: *mut fmi3Boolean,
    nextEventTime: *mut fmi3Float64,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the six places.
    unsafe {
        Handle::call(instance, Call::UpdateDiscreteStates, |component| {
            // Importers may pass one place for several results that they ignore.
            let flags = [
                (discreteStatesNeedUpdate, "discreteStatesNeedUpdate"),
                (terminateSimulation, "terminateSimulation"),
                (nominalsOfContinuousStatesChanged, "nominalsOfContinuousStatesChanged"),
                (valuesOfContinuousStatesChanged, "valuesOfContinuousStatesChanged"),
                (nextEventTimeDefined, "nextEventTimeDefined"),
            ];
            for (place, name) in flags {
                single(place, name)?;
            }
            single(nextEventTime, "nextEventTime")?;
            let EventResult {
                states_changed,
                next_event,
            } = component.new_discrete_states()?;
            let [changed, defined] = [states_changed, next_event.is_some()].map(fmi3Boolean::from);
            let values = [fmi3False, fmi3False, fmi3False, changed, defined];
            for ((place, name), value) in flags.into_iter().zip(values) {
                *single(place, name)? = value;
            }
            *single(nextEventTime, "nextEventTime")? = next_event.unwrap_or(EventResult::NO_EVENT);
            Ok(())
        })
    }
}

/// Ends a run; values can still be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(instance: fmi3Instance) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(instance, Call::Terminate, |component| {
            component.terminate();
            Ok(())
        })
    }
}

/// Returns the instance to its state after instantiation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(instance: fmi3Instance) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(instance, Call::Reset, |component| {
            component.reset();
            Ok(())
        })
    }
}
