//! Co-Simulation (FMI 3.0, §4.2).

use super::super::handle::Handle;
use super::super::pointers::{single, slice, slice_mut};
use crate::fmu::component::Fault;
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;

/// Refused in every mode: Co-Simulation has no Event Mode yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterStepMode(instance: fmi3Instance) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(instance, Call::EnterStepMode, |_| {
            Err(Fault::error("there is no Event Mode in Co-Simulation"))
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

/// Integrates over one communication step, s. If the importer allows it, the step ends at the first
/// event at which states jump. The event has been handled then, so that no Event Mode is needed.
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
        Handle::call(instance, Call::DoStep, |component| {
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
            let (start, end) = (component.time(), currentCommunicationPoint + communicationStepSize);
            component.do_step(currentCommunicationPoint, communicationStepSize)?;
            // A step of length zero may begin after its end by round-off.
            let is_early = fmi3Boolean::from(component.time() < end && component.time() > start);
            for ((place, name), value) in flags.into_iter().zip([fmi3False, fmi3False, is_early]) {
                *single(place, name)? = value;
            }
            *single(lastSuccessfulTime, "lastSuccessfulTime")? = component.time();
            Ok(())
        })
    }
}
