//! Variables and partial derivatives (FMI 3.0, §2.2.6 and §2.2.11): scalars and, in an FMU with arrays,
//! vectors, of the types `Float64` and `Boolean`.

use super::super::handle::Handle;
use super::super::pointers::{slice, slice_mut};
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;

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
            let references = slice(valueReferences, nValueReferences, "valueReferences")?;
            component.with_scalars(references, ("nValues", nValues), |component, scalars| {
                component.get_real(scalars, slice_mut(values, nValues, "values")?)
            })
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
            let references = slice(valueReferences, nValueReferences, "valueReferences")?;
            component.with_scalars(references, ("nValues", nValues), |component, scalars| {
                component.set_real(scalars, slice(values, nValues, "values")?)
            })
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
            let references = slice(valueReferences, nValueReferences, "valueReferences")?;
            component.with_scalars(references, ("nValues", nValues), |component, scalars| {
                component.get_boolean(scalars, slice_mut(values, nValues, "values")?)
            })
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
            let unknowns = slice(unknowns, nUnknowns, "unknowns")?;
            let knowns = slice(knowns, nKnowns, "knowns")?;
            component.with_scalars(knowns, ("nSeed", nSeed), |component, knowns| {
                component.with_scalars(unknowns, ("nSensitivity", nSensitivity), |component, unknowns| {
                    component.get_directional_derivative(
                        unknowns,
                        knowns,
                        slice(seed, nSeed, "seed")?,
                        slice_mut(sensitivity, nSensitivity, "sensitivity")?,
                    )
                })
            })
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
            let unknowns = slice(unknowns, nUnknowns, "unknowns")?;
            let knowns = slice(knowns, nKnowns, "knowns")?;
            component.with_scalars(unknowns, ("nSeed", nSeed), |component, unknowns| {
                component.with_scalars(knowns, ("nSensitivity", nSensitivity), |component, knowns| {
                    component.get_adjoint_derivative(
                        unknowns,
                        knowns,
                        slice(seed, nSeed, "seed")?,
                        slice_mut(sensitivity, nSensitivity, "sensitivity")?,
                    )
                })
            })
        })
    }
}
