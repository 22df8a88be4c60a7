//! Co-Simulation (§4.2).

use super::super::handle::Handle;
use super::super::pointers::{single, slice, slice_mut};
use crate::fmu::component::{Component, Fault};
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::{Call, Mode};
use crate::fmu::status::Status;

/// Sets time derivatives of inputs for the step that follows (§4.2.1).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    order: *const fmi2Integer,
    value: *const fmi2Real,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::SetRealInputDerivatives, |component| {
            let references = slice(vr, nvr, "vr")?;
            component.set_real_input_derivatives(references, slice(order, nvr, "order")?, slice(value, nvr, "value")?)
        })
    }
}

/// Returns time derivatives of outputs at the communication point (§4.2.1).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    order: *const fmi2Integer,
    value: *mut fmi2Real,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::GetRealOutputDerivatives, |component| {
            let references = slice(vr, nvr, "vr")?;
            component.get_real_output_derivatives(
                references,
                slice(order, nvr, "order")?,
                slice_mut(value, nvr, "value")?,
            )
        })
    }
}

/// Integrates over one communication step, s (§4.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(
    c: fmi2Component,
    currentCommunicationPoint: fmi2Real,
    communicationStepSize: fmi2Real,
    _noSetFMUStatePriorToCurrentPoint: fmi2Boolean,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe {
        Handle::call(c, Call::DoStep, |component| {
            component.do_step(currentCommunicationPoint, communicationStepSize)
        })
    }
}

/// Returns `fmi2Error`: no step is in progress once `fmi2DoStep` has returned (§4.2.2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CancelStep(c: fmi2Component) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(c, Call::CancelStep, |_| Ok(())) }
}

/// Returns the result of the last step (§4.2.3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStatus(c: fmi2Component, s: fmi2StatusKind, value: *mut fmi2Status) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the result's pointer.
    unsafe {
        Handle::call(c, Call::GetStatus, |component| {
            let place = single(value, "value")?;
            *place = do_step_status(component, s)?;
            Ok(())
        })
    }
}

/// Returns the time that the last step reached, s (§4.2.3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(c: fmi2Component, s: fmi2StatusKind, value: *mut fmi2Real) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the result's pointer.
    unsafe {
        Handle::call(c, Call::GetRealStatus, |component| {
            let place = single(value, "value")?;
            *place = last_successful_time(component, s)?;
            Ok(())
        })
    }
}

/// Returns `fmi2Discard`: the standard defines no status of type integer (§4.2.3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetIntegerStatus(
    c: fmi2Component,
    s: fmi2StatusKind,
    _value: *mut fmi2Integer,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(c, Call::GetIntegerStatus, |_| Err(no_status(s))) }
}

/// Returns false for `fmi2Terminated`: this FMU never ends the simulation (§4.2.3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(
    c: fmi2Component,
    s: fmi2StatusKind,
    value: *mut fmi2Boolean,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the result's pointer.
    unsafe {
        Handle::call(c, Call::GetBooleanStatus, |_| {
            let place = single(value, "value")?;
            *place = fmi2Boolean::from(terminated(s)?);
            Ok(())
        })
    }
}

/// Returns `fmi2Discard`: no step is ever pending, so there is no text to return (§4.2.3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStringStatus(
    c: fmi2Component,
    s: fmi2StatusKind,
    _value: *mut fmi2String,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle.
    unsafe { Handle::call(c, Call::GetStringStatus, |_| Err(no_status(s))) }
}

/// Returns the result of the last step: `fmi2GetStatus`. Steps are never pending.
///
/// # Errors
/// `fmi2Discard` for any kind but `fmi2DoStepStatus`, the only one of this type (§4.2.3).
fn do_step_status(component: &Component, kind: fmi2StatusKind) -> Result<fmi2Status, Fault> {
    match (kind, component.mode()) {
        (fmi2StatusKind::DO_STEP_STATUS, Mode::StepFailed) => Ok(Status::Discard.into()),
        (fmi2StatusKind::DO_STEP_STATUS, _) => Ok(Status::Ok.into()),
        _ => Err(no_status(kind)),
    }
}

/// Returns the time that the last step reached, s: `fmi2GetRealStatus`.
///
/// # Errors
/// `fmi2Discard` for any kind but `fmi2LastSuccessfulTime`.
fn last_successful_time(component: &Component, kind: fmi2StatusKind) -> Result<f64, Fault> {
    match kind {
        fmi2StatusKind::LAST_SUCCESSFUL_TIME => Ok(component.time()),
        _ => Err(no_status(kind)),
    }
}

/// Returns false for `fmi2Terminated`, since this FMU never ends the simulation:
/// `fmi2GetBooleanStatus`.
///
/// # Errors
/// `fmi2Discard` for any kind but `fmi2Terminated`.
fn terminated(kind: fmi2StatusKind) -> Result<bool, Fault> {
    match kind {
        fmi2StatusKind::TERMINATED => Ok(false),
        _ => Err(no_status(kind)),
    }
}

/// Returns the fault for a kind that does not have the requested type (§4.2.3).
fn no_status(kind: fmi2StatusKind) -> Fault {
    let name = match kind {
        fmi2StatusKind::PENDING_STATUS => return Fault::discard("fmi2PendingStatus: no step is pending"),
        fmi2StatusKind::DO_STEP_STATUS => "fmi2DoStepStatus",
        fmi2StatusKind::LAST_SUCCESSFUL_TIME => "fmi2LastSuccessfulTime",
        fmi2StatusKind::TERMINATED => "fmi2Terminated",
        _ => "an unknown fmi2StatusKind",
    };
    Fault::discard(format!("{name} is not a status of this type"))
}
