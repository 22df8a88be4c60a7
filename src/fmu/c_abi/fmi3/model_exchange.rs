//! Model Exchange (FMI 3.0, §3.2).

use super::super::handle::Handle;
use super::super::pointers::{single, slice, slice_mut};
use crate::fmu::component::Component;
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;

/// Leaves Event Mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterContinuousTimeMode(instance: fmi3Instance) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(
            instance,
            Call::EnterContinuousTimeMode,
            Component::enter_continuous_time_mode,
        )
    }
}

/// Has no side effect; see `fmi2CompletedIntegratorStep`. Sets `enterEventMode` while a changed
/// command waits for an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3CompletedIntegratorStep(
    instance: fmi3Instance,
    _noSetFMUStatePriorToCurrentPoint: fmi3Boolean,
    enterEventMode: *mut fmi3Boolean,
    terminateSimulation: *mut fmi3Boolean,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the two places.
    unsafe {
        Handle::call(instance, Call::CompletedIntegratorStep, |component| {
            let commanded = fmi3Boolean::from(component.is_commanded());
            *single(enterEventMode, "enterEventMode")? = commanded;
            *single(terminateSimulation, "terminateSimulation")? = fmi3False;
            Ok(())
        })
    }
}

/// Sets the time, s.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetTime(instance: fmi3Instance, time: fmi3Float64) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(instance, Call::SetTime, |component| component.set_time(time)) }
}

/// Sets the continuous states, each in its unit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetContinuousStates(
    instance: fmi3Instance,
    continuousStates: *const fmi3Float64,
    nContinuousStates: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(instance, Call::SetContinuousStates, |component| {
            component.set_continuous_states(slice(continuousStates, nContinuousStates, "continuousStates")?)
        })
    }
}

/// Returns the derivatives of the states, each in its unit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetContinuousStateDerivatives(
    instance: fmi3Instance,
    derivatives: *mut fmi3Float64,
    nContinuousStates: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(instance, Call::GetContinuousStateDerivatives, |component| {
            component.get_derivatives(slice_mut(derivatives, nContinuousStates, "derivatives")?)
        })
    }
}

/// Returns the event indicators.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetEventIndicators(
    instance: fmi3Instance,
    eventIndicators: *mut fmi3Float64,
    nEventIndicators: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(instance, Call::GetEventIndicators, |component| {
            component.get_event_indicators(slice_mut(eventIndicators, nEventIndicators, "eventIndicators")?)
        })
    }
}

/// Returns the continuous states, each in its unit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetContinuousStates(
    instance: fmi3Instance,
    continuousStates: *mut fmi3Float64,
    nContinuousStates: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(instance, Call::GetContinuousStates, |component| {
            component.get_continuous_states(slice_mut(continuousStates, nContinuousStates, "continuousStates")?)
        })
    }
}

/// Returns the nominal values of the states, each in its unit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNominalsOfContinuousStates(
    instance: fmi3Instance,
    nominals: *mut fmi3Float64,
    nContinuousStates: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(instance, Call::GetNominalsOfContinuousStates, |component| {
            component.get_nominals(slice_mut(nominals, nContinuousStates, "nominals")?)
        })
    }
}

/// Returns the number of event indicators, which is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfEventIndicators(
    instance: fmi3Instance,
    nEventIndicators: *mut usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the result's pointer.
    unsafe {
        Handle::call(instance, Call::GetNumberOfEventIndicators, |component| {
            let place = single(nEventIndicators, "nEventIndicators")?;
            *place = component.registry().model().indicator_count();
            Ok(())
        })
    }
}

/// Returns the number of continuous states, which is constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfContinuousStates(
    instance: fmi3Instance,
    nContinuousStates: *mut usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the result's pointer.
    unsafe {
        Handle::call(instance, Call::GetNumberOfContinuousStates, |component| {
            let place = single(nContinuousStates, "nContinuousStates")?;
            *place = component.registry().model().states.len();
            Ok(())
        })
    }
}
