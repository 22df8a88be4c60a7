//! Co-Simulation (FMI 3.0, §4.2).

use super::super::handle::Handle;
use super::super::pointers::{single, slice, slice_mut};
use crate::fmu::component::StepEnd;
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;
use crate::simulation::Unobserved;
use std::ops::ControlFlow;

/// Returns to Step Mode from Event Mode.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterStepMode(instance: fmi3Instance) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(instance, Call::EnterStepMode, |component| {
            component.enter_step_mode();
            Ok(())
        })
    }
}

/// Returns time derivatives of outputs at the communication point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    orders: *const fmi3Int32,
    values: *mut fmi3Float64,
    nValues: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(instance, Call::GetOutputDerivatives, |component| {
            let references = slice(valueReferences, nValueReferences, "valueReferences")?;
            let orders = slice(orders, nValueReferences, "orders")?;
            component.with_orders(references, orders, nValues, |component, scalars, orders| {
                component.get_real_output_derivatives(scalars, orders, slice_mut(values, nValues, "values")?)
            })
        })
    }
}

/// Integrates over one communication step, s. If the importer allows early returns, the step ends at
/// the first event that Event Mode must handle; without Event Mode at the first one at which states
/// jump, which has been handled then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    instance: fmi3Instance,
    currentCommunicationPoint: fmi3Float64,
    communicationStepSize: fmi3Float64,
    _noSetFMUStatePriorToCurrentPoint: fmi3Boolean,
    eventHandlingNeeded: *mut fmi3Boolean,
    terminateSimulation: *mut fmi3Boolean,
    earlyReturn: *mut fmi3Boolean,
    lastSuccessfulTime: *mut fmi3Float64,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the four places.
    unsafe {
        Handle::call_with(instance, Call::DoStep, |component, handle| {
            // Importers may pass one place for several results that they ignore.
            let flags = [
                (eventHandlingNeeded, "eventHandlingNeeded"),
                (terminateSimulation, "terminateSimulation"),
                (earlyReturn, "earlyReturn"),
            ];
            for (place, name) in flags {
                single(place, name)?;
            }
            single(lastSuccessfulTime, "lastSuccessfulTime")?;
            let (t, h) = (currentCommunicationPoint, communicationStepSize);
            let StepEnd { event, is_early } = match handle.intermediate() {
                None => component.do_step_with(t, h, &mut Unobserved(&mut || ControlFlow::Continue(())))?,
                Some(intermediate) => {
                    let mut observer = intermediate.observer(component, t + h)?;
                    component.do_step_with(t, h, &mut observer)?
                }
            };
            let [event, is_early] = [event, is_early].map(fmi3Boolean::from);
            for ((place, name), value) in flags.into_iter().zip([event, fmi3False, is_early]) {
                *single(place, name)? = value;
            }
            *single(lastSuccessfulTime, "lastSuccessfulTime")? = component.time();
            Ok(())
        })
    }
}
