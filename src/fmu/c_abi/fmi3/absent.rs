//! Functions for parts of FMI 3.0 that this FMU does not have: other types than `Float64`, `Int32` and
//! `Boolean`, clocks, Configuration Mode, Scheduled Execution, dependencies of elements of arrays,
//! evaluation of discrete states. They are refused with a message, except getters and setters of no
//! variables.

use super::super::handle::Handle;
use super::super::pointers::slice;
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;

/// Getter and setter of a type that no variable has.
macro_rules! types {
    ($($Type:ident: $get:ident $Get:ident, $set:ident $Set:ident;)*) => {
        $(
            /// Refuses every reference: no variable has this type.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $get(
                instance: fmi3Instance,
                valueReferences: *const fmi3ValueReference,
                nValueReferences: usize,
                _values: *mut $Type,
                _nValues: usize,
            ) -> fmi3Status {
                // SAFETY: the importer keeps the standard's contract for the handle and the array.
                unsafe { no_variable(instance, Call::$Get, valueReferences, nValueReferences) }
            }

            /// Refuses every reference: no variable has this type.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $set(
                instance: fmi3Instance,
                valueReferences: *const fmi3ValueReference,
                nValueReferences: usize,
                _values: *const $Type,
                _nValues: usize,
            ) -> fmi3Status {
                // SAFETY: the importer keeps the standard's contract for the handle and the array.
                unsafe { no_variable(instance, Call::$Set, valueReferences, nValueReferences) }
            }
        )*
    };
}

types! {
    fmi3Float32: fmi3GetFloat32 GetFloat32, fmi3SetFloat32 SetFloat32;
    fmi3Int8: fmi3GetInt8 GetInt8, fmi3SetInt8 SetInt8;
    fmi3UInt8: fmi3GetUInt8 GetUInt8, fmi3SetUInt8 SetUInt8;
    fmi3Int16: fmi3GetInt16 GetInt16, fmi3SetInt16 SetInt16;
    fmi3UInt16: fmi3GetUInt16 GetUInt16, fmi3SetUInt16 SetUInt16;
    fmi3UInt32: fmi3GetUInt32 GetUInt32, fmi3SetUInt32 SetUInt32;
    fmi3Int64: fmi3GetInt64 GetInt64, fmi3SetInt64 SetInt64;
    fmi3UInt64: fmi3GetUInt64 GetUInt64, fmi3SetUInt64 SetUInt64;
    fmi3String: fmi3GetString GetString, fmi3SetString SetString;
}

/// Refuses every reference. The type is the name of the function without `fmi3Get` or `fmi3Set`.
///
/// # Safety
/// The importer keeps the standard's contract for the handle and the array.
unsafe fn no_variable(
    instance: fmi3Instance,
    call: Call,
    references: *const fmi3ValueReference,
    count: usize,
) -> fmi3Status {
    let name = call.name();
    let requested = &name["fmi3Get".len()..];
    // SAFETY: guaranteed by the caller.
    unsafe {
        Handle::call(instance, call, |component| {
            component.no_such_type(slice(references, count, "valueReferences")?, requested)
        })
    }
}

/// Refuses every reference: no variable has this type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBinary(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    _valueSizes: *mut usize,
    _values: *mut fmi3Binary,
    _nValues: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe { no_variable(instance, Call::GetBinary, valueReferences, nValueReferences) }
}

/// Refuses every reference: no variable has this type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetBinary(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    _valueSizes: *const usize,
    _values: *const fmi3Binary,
    _nValues: usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe { no_variable(instance, Call::SetBinary, valueReferences, nValueReferences) }
}

/// Refuses every reference: there are no clocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetClock(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    _values: *mut fmi3Clock,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe { no_variable(instance, Call::GetClock, valueReferences, nValueReferences) }
}

/// Refuses every reference: there are no clocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetClock(
    instance: fmi3Instance,
    valueReferences: *const fmi3ValueReference,
    nValueReferences: usize,
    _values: *const fmi3Clock,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the array.
    unsafe { no_variable(instance, Call::SetClock, valueReferences, nValueReferences) }
}

/// A function that is refused in every mode; the table of calls has the reason. Arguments after the
/// instance are not read.
macro_rules! refused {
    ($($function:ident $Call:ident ($($argument:ident: $Type:ty),*);)*) => {
        $(
            /// Refused with the reason in the log.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $function(instance: fmi3Instance, $($argument: $Type),*) -> fmi3Status {
                // SAFETY: the importer keeps the standard's contract for the handle.
                unsafe { Handle::call(instance, Call::$Call, |_| Ok(())) }
            }
        )*
    };
}

refused! {
    fmi3GetNumberOfVariableDependencies GetNumberOfVariableDependencies (
        _valueReference: fmi3ValueReference, _nDependencies: *mut usize);
    fmi3GetVariableDependencies GetVariableDependencies (
        _dependent: fmi3ValueReference, _elementIndicesOfDependent: *mut usize, _independents: *mut fmi3ValueReference,
        _elementIndicesOfIndependents: *mut usize, _dependencyKinds: *mut fmi3DependencyKind, _nDependencies: usize);
    fmi3EnterConfigurationMode EnterConfigurationMode ();
    fmi3ExitConfigurationMode ExitConfigurationMode ();
    fmi3GetIntervalDecimal GetIntervalDecimal (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _intervals: *mut fmi3Float64,
        _qualifiers: *mut fmi3IntervalQualifier);
    fmi3GetIntervalFraction GetIntervalFraction (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _counters: *mut fmi3UInt64,
        _resolutions: *mut fmi3UInt64, _qualifiers: *mut fmi3IntervalQualifier);
    fmi3GetShiftDecimal GetShiftDecimal (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _shifts: *mut fmi3Float64);
    fmi3GetShiftFraction GetShiftFraction (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _counters: *mut fmi3UInt64,
        _resolutions: *mut fmi3UInt64);
    fmi3SetIntervalDecimal SetIntervalDecimal (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _intervals: *const fmi3Float64);
    fmi3SetIntervalFraction SetIntervalFraction (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _counters: *const fmi3UInt64,
        _resolutions: *const fmi3UInt64);
    fmi3SetShiftDecimal SetShiftDecimal (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _shifts: *const fmi3Float64);
    fmi3SetShiftFraction SetShiftFraction (
        _valueReferences: *const fmi3ValueReference, _nValueReferences: usize, _counters: *const fmi3UInt64,
        _resolutions: *const fmi3UInt64);
    fmi3EvaluateDiscreteStates EvaluateDiscreteStates ();
    fmi3ActivateModelPartition ActivateModelPartition (
        _clockReference: fmi3ValueReference, _activationTime: fmi3Float64);
}
