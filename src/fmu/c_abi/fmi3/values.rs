//! Variables and partial derivatives (FMI 3.0, §2.2.6 and §2.2.11). All variables are scalars, of the
//! types `Float64` and `Boolean`.

use super::super::handle::Handle;
use super::super::pointers::{slice, slice_mut};
use crate::fmu::component::Fault;
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;

/// Checks the number of values.
pub(super) fn scalars(what: &str, values: usize, variables: usize) -> Result<(), Fault> {
    if values == variables {
        return Ok(());
    }
    Err(Fault::error(format!(
        "{what} is {values} for {variables} variables; all variables are scalars"
    )))
}

/// Returns values of `Float64` variables, each in its unit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFloat64(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    values: *mut fmi3Float64,
    nValues: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(instance, Call::GetFloat64, |component| {
            scalars("nValues", nValues, nValueReferences)?;
            let references = slice(valueReferences, nValueReferences, "valueReferences")?;
            component.get_real(references, slice_mut(values, nValues, "values")?)
        })
    }
}

/// Sets `Float64` variables, each in its unit, all of them or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFloat64(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    values: *const fmi3Float64,
    nValues: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(instance, Call::SetFloat64, |component| {
            scalars("nValues", nValues, nValueReferences)?;
            let references = slice(valueReferences, nValueReferences, "valueReferences")?;
            component.set_real(references, slice(values, nValues, "values")?)
        })
    }
}

/// Returns values of Boolean variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBoolean(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    values: *mut fmi3Boolean,
    nValues: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(instance, Call::GetBoolean, |component| {
            scalars("nValues", nValues, nValueReferences)?;
            let references = slice(valueReferences, nValueReferences, "valueReferences")?;
            component.get_boolean(references, slice_mut(values, nValues, "values")?)
        })
    }
}

/// Refuses every reference: all Boolean variables are computed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetBoolean(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    _values: *const fmi3Boolean,
    _nValues: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe {
        Handle::call(instance, Call::SetBoolean, |component| {
            component.set_boolean(slice(valueReferences, nValueReferences, "valueReferences")?)
        })
    }
}

/// Computes directional derivatives: `sensitivity = ∂(unknowns)/∂(knowns) seed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetDirectionalDerivative(
    instance: fmi3Instance,
    unknowns: *const fmi3ValueReference,
    nUnknowns: usize,
    knowns: *const fmi3ValueReference,
    nKnowns: usize,
    seed: *const fmi3Float64,
    nSeed: usize,
    sensitivity: *mut fmi3Float64,
    nSensitivity: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(instance, Call::GetDirectionalDerivative, |component| {
            scalars("nSeed", nSeed, nKnowns)?;
            scalars("nSensitivity", nSensitivity, nUnknowns)?;
            component.get_directional_derivative(
                slice(unknowns, nUnknowns, "unknowns")?,
                slice(knowns, nKnowns, "knowns")?,
                slice(seed, nSeed, "seed")?,
                slice_mut(sensitivity, nSensitivity, "sensitivity")?,
            )
        })
    }
}

/// Computes adjoint derivatives: `sensitivityᵀ = seedᵀ ∂(unknowns)/∂(knowns)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetAdjointDerivative(
    instance: fmi3Instance,
    unknowns: *const fmi3ValueReference,
    nUnknowns: usize,
    knowns: *const fmi3ValueReference,
    nKnowns: usize,
    seed: *const fmi3Float64,
    nSeed: usize,
    sensitivity: *mut fmi3Float64,
    nSensitivity: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
    unsafe {
        Handle::call(instance, Call::GetAdjointDerivative, |component| {
            scalars("nSeed", nSeed, nUnknowns)?;
            scalars("nSensitivity", nSensitivity, nKnowns)?;
            component.get_adjoint_derivative(
                slice(unknowns, nUnknowns, "unknowns")?,
                slice(knowns, nKnowns, "knowns")?,
                slice(seed, nSeed, "seed")?,
                slice_mut(sensitivity, nSensitivity, "sensitivity")?,
            )
        })
    }
}
