//! Model Exchange (§3.2).

use super::super::handle::Handle;
use super::super::pointers::{single, slice, slice_mut};
use crate::fmu::component::{Component, EventResult};
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::Call;

/// Enters Event Mode (§3.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterEventMode(c: fmi2Component) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(c, Call::EnterEventMode, Component::enter_event_mode) }
}

/// Iterates the discrete states to their fixed point in one call (§3.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2NewDiscreteStates(c: fmi2Component, eventInfo: *mut fmi2EventInfo) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the structure.
    unsafe {
        Handle::call(c, Call::NewDiscreteStates, |component| {
            let place = single(eventInfo, "eventInfo")?;
            let EventResult {
                states_changed,
                next_event,
            } = component.new_discrete_states()?;
            *place = fmi2EventInfo {
                newDiscreteStatesNeeded: fmi2False,
                terminateSimulation: fmi2False,
                nominalsOfContinuousStatesChanged: fmi2False,
                valuesOfContinuousStatesChanged: fmi2Boolean::from(states_changed),
                nextEventTimeDefined: fmi2Boolean::from(next_event.is_some()),
                nextEventTime: next_event.unwrap_or(EventResult::NO_EVENT),
            };
            Ok(())
        })
    }
}

/// Leaves Event Mode (§3.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterContinuousTimeMode(c: fmi2Component) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(c, Call::EnterContinuousTimeMode, Component::enter_continuous_time_mode) }
}

/// Has no side effect, since some importers call it at trial points (§3.2.2, rule O7). Sets
/// `enterEventMode` while a changed command waits for an event, since some importers change
/// discrete inputs without an event (rule O8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CompletedIntegratorStep(
    c: fmi2Component,
    _noSetFMUStatePriorToCurrentPoint: fmi2Boolean,
    enterEventMode: *mut fmi2Boolean,
    terminateSimulation: *mut fmi2Boolean,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the two places.
    unsafe {
        Handle::call(c, Call::CompletedIntegratorStep, |component| {
            let commanded = if component.is_commanded() { fmi2True } else { fmi2False };
            *single(enterEventMode, "enterEventMode")? = commanded;
            *single(terminateSimulation, "terminateSimulation")? = fmi2False;
            Ok(())
        })
    }
}

/// Sets the time, s (§3.2.1).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetTime(c: fmi2Component, time: fmi2Real) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(c, Call::SetTime, |component| component.set_time(time)) }
}

/// Sets the continuous states, each in its unit (§3.2.1).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetContinuousStates(c: fmi2Component, x: *const fmi2Real, nx: usize) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(c, Call::SetContinuousStates, |component| {
            component.set_continuous_states(slice(x, nx, "x")?)
        })
    }
}

/// Returns the derivatives of the states, each in its unit (§3.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDerivatives(c: fmi2Component, derivatives: *mut fmi2Real, nx: usize) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(c, Call::GetDerivatives, |component| {
            component.get_derivatives(slice_mut(derivatives, nx, "derivatives")?)
        })
    }
}

/// Returns the event indicators (§3.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetEventIndicators(
    c: fmi2Component,
    eventIndicators: *mut fmi2Real,
    ni: usize,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(c, Call::GetEventIndicators, |component| {
            component.get_event_indicators(slice_mut(eventIndicators, ni, "eventIndicators")?)
        })
    }
}

/// Returns the continuous states, each in its unit (§3.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetContinuousStates(c: fmi2Component, x: *mut fmi2Real, nx: usize) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(c, Call::GetContinuousStates, |component| {
            component.get_continuous_states(slice_mut(x, nx, "x")?)
        })
    }
}

/// Returns the nominal values of the states, each in its unit (§3.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetNominalsOfContinuousStates(
    c: fmi2Component,
    x_nominal: *mut fmi2Real,
    nx: usize,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(c, Call::GetNominalsOfContinuousStates, |component| {
            component.get_nominals(slice_mut(x_nominal, nx, "x_nominal")?)
        })
    }
}
