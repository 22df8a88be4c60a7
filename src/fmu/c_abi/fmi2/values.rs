//! Variables (§2.1.7) and partial derivatives (§2.1.9).

use super::super::handle::Handle;
use super::super::pointers::{slice, slice_mut};
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::Call;

/// Returns values of real variables, each in its unit (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetReal(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    value: *mut fmi2Real,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::GetReal, |component| {
            component.get_real(slice(vr, nvr, "vr")?, slice_mut(value, nvr, "value")?)
        })
    }
}

/// Refuses every reference: there are no integer variables (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetInteger(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    value: *mut fmi2Integer,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::GetInteger, |component| {
            component.get_integer(slice(vr, nvr, "vr")?, slice_mut(value, nvr, "value")?)
        })
    }
}

/// Returns values of Boolean variables (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBoolean(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    value: *mut fmi2Boolean,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::GetBoolean, |component| {
            component.get_boolean(slice(vr, nvr, "vr")?, slice_mut(value, nvr, "value")?)
        })
    }
}

/// Refuses every reference: there are no string variables (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetString(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    _value: *mut fmi2String,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(c, Call::GetString, |component| {
            component.no_such_type(slice(vr, nvr, "vr")?, "String")
        })
    }
}

/// Sets real variables, each in its unit, all of them or none (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetReal(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    value: *const fmi2Real,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::SetReal, |component| {
            component.set_real(slice(vr, nvr, "vr")?, slice(value, nvr, "value")?)
        })
    }
}

/// Refuses every reference: there are no integer variables (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetInteger(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    value: *const fmi2Integer,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::SetInteger, |component| {
            component.set_integer(slice(vr, nvr, "vr")?, slice(value, nvr, "value")?)
        })
    }
}

/// Refuses every reference: all Boolean variables are computed (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetBoolean(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    value: *const fmi2Boolean,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::SetBoolean, |component| {
            component.set_boolean(slice(vr, nvr, "vr")?, slice(value, nvr, "value")?)
        })
    }
}

/// Refuses every reference: there are no string variables (§2.1.7).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetString(
    c: fmi2Component,
    vr: *const fmi2ValueReference,
    nvr: usize,
    _value: *const fmi2String,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(c, Call::SetString, |component| {
            component.no_such_type(slice(vr, nvr, "vr")?, "String")
        })
    }
}

/// Computes directional derivatives: `dvUnknown = ∂(unknowns)/∂(knowns) dvKnown` (§2.1.9).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: fmi2Component,
    vUnknown_ref: *const fmi2ValueReference,
    nUnknown: usize,
    vKnown_ref: *const fmi2ValueReference,
    nKnown: usize,
    dvKnown: *const fmi2Real,
    dvUnknown: *mut fmi2Real,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(c, Call::GetDirectionalDerivative, |component| {
            component.get_directional_derivative(
                slice(vUnknown_ref, nUnknown, "vUnknown_ref")?,
                slice(vKnown_ref, nKnown, "vKnown_ref")?,
                slice(dvKnown, nKnown, "dvKnown")?,
                slice_mut(dvUnknown, nUnknown, "dvUnknown")?,
            )
        })
    }
}
