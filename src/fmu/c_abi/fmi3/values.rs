//! Variables and partial derivatives (FMI 3.0, §2.2.6 and §2.2.11): scalars and, in an FMU with arrays,
//! vectors, of the types `Float64`, `Int32` and `Boolean`.

use super::super::handle::Handle;
use super::super::pointers::{slice, slice_mut};
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;

/// Getter and setter of a type.
macro_rules! typed {
    ($Type:ident: $get:ident $Get:ident $get_values:ident, $set:ident $Set:ident $set_values:ident;) => {
        /// Returns values of variables of this type, each in its unit.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            instance: fmi3Instance,
            valueReferences: *const fmi3ValueReference,
            nValueReferences: usize,
            values: *mut $Type,
            nValues: usize,
        ) -> fmi3Status {
            // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
            unsafe {
                Handle::call(instance, Call::$Get, |component| {
                    let references = slice(valueReferences, nValueReferences, "valueReferences")?;
                    component.with_scalars(references, ("nValues", nValues), |component, scalars| {
                        component.$get_values(scalars, slice_mut(values, nValues, "values")?)
                    })
                })
            }
        }

        /// Sets variables of this type, each in its unit, all of them or none.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(
            instance: fmi3Instance,
            valueReferences: *const fmi3ValueReference,
            nValueReferences: usize,
            values: *const $Type,
            nValues: usize,
        ) -> fmi3Status {
            // SAFETY: the importer keeps the standard's contract for the handle and the arrays.
            unsafe {
                Handle::call(instance, Call::$Set, |component| {
                    let references = slice(valueReferences, nValueReferences, "valueReferences")?;
                    component.with_scalars(references, ("nValues", nValues), |component, scalars| {
                        component.$set_values(scalars, slice(values, nValues, "values")?)
                    })
                })
            }
        }
    };
}

typed! { fmi3Float64: fmi3GetFloat64 GetFloat64 get_real, fmi3SetFloat64 SetFloat64 set_real; }
typed! { fmi3Int32: fmi3GetInt32 GetInt32 get_integer, fmi3SetInt32 SetInt32 set_integer; }
typed! { fmi3Boolean: fmi3GetBoolean GetBoolean get_boolean, fmi3SetBoolean SetBoolean set_boolean; }

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
