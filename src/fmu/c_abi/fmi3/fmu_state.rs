//! Saved and restored states (FMI 3.0, §2.2.6.4).

use super::super::saved_states;
use crate::fmu::fmi3::*;
use crate::fmu::lifecycle::fmi3::Call;

/// Copies the instance's state: into a new copy if `*FMUState` is null, else into that copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(instance: fmi3Instance, FMUState: *mut fmi3FMUState) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the pointer and the
    // state in it.
    unsafe { saved_states::get(instance, Call::GetFMUState, FMUState, "FMUState") }
}

/// Restores a copy; the copy stays valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(instance: fmi3Instance, FMUState: fmi3FMUState) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the state.
    unsafe { saved_states::set(instance, Call::SetFMUState, FMUState) }
}

/// Frees a copy and sets the pointer to null; null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(instance: fmi3Instance, FMUState: *mut fmi3FMUState) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the pointer and the
    // state in it.
    unsafe { saved_states::free(instance, Call::FreeFMUState, FMUState, "FMUState") }
}

/// Returns the size of a serialised copy in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(
    instance: fmi3Instance,
    FMUState: fmi3FMUState,
    size: *mut usize,
) -> fmi3Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the state and the pointer.
    unsafe { saved_states::serialized_size(instance, Call::SerializedFMUStateSize, FMUState, size) }
}

/// Serialises a copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(
    instance: fmi3Instance,
    FMUState: fmi3FMUState,
    serializedState: *mut fmi3Byte,
    size: usize,
) -> fmi3Status {
    let bytes = (serializedState, size);
    // SAFETY: the importer keeps the standard's contract for the handle, the state and the bytes.
    unsafe { saved_states::serialize(instance, Call::SerializeFMUState, FMUState, bytes) }
}

/// Makes a copy from serialised bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(
    instance: fmi3Instance,
    serializedState: *const fmi3Byte,
    size: usize,
    FMUState: *mut fmi3FMUState,
) -> fmi3Status {
    let bytes = (serializedState, size);
    // SAFETY: the importer keeps the standard's contract for the handle, the bytes, the pointer and
    // the state in it.
    unsafe { saved_states::deserialize(instance, Call::DeserializeFMUState, bytes, FMUState, "FMUState") }
}
