//! Saved and restored states (§2.1.8).

use super::super::saved_states;
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::Call;

/// Copies the instance's state: into a new copy if `*FMUstate` is null, else into that copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: fmi2Component, FMUstate: *mut fmi2FMUstate) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the pointer and the state
    // in it.
    unsafe { saved_states::get(c, Call::GetFMUstate, FMUstate, "FMUstate") }
}

/// Restores a copy; the copy stays valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: fmi2Component, FMUstate: fmi2FMUstate) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the state.
    unsafe { saved_states::set(c, Call::SetFMUstate, FMUstate) }
}

/// Frees a copy and sets the pointer to null; null is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: fmi2Component, FMUstate: *mut fmi2FMUstate) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the pointer and the
    // state in it.
    unsafe { saved_states::free(c, Call::FreeFMUstate, FMUstate, "FMUstate") }
}

/// Returns the size of a serialised copy in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    c: fmi2Component,
    FMUstate: fmi2FMUstate,
    size: *mut usize,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the state and the pointer.
    unsafe { saved_states::serialized_size(c, Call::SerializedFMUstateSize, FMUstate, size) }
}

/// Serialises a copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    c: fmi2Component,
    FMUstate: fmi2FMUstate,
    serializedState: *mut fmi2Byte,
    size: usize,
) -> fmi2Status {
    let bytes = (serializedState.cast::<u8>(), size);
    // SAFETY: the importer keeps the standard's contract for the handle, the state and the bytes.
    unsafe { saved_states::serialize(c, Call::SerializeFMUstate, FMUstate, bytes) }
}

/// Makes a copy from serialised bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: fmi2Component,
    serializedState: *const fmi2Byte,
    size: usize,
    FMUstate: *mut fmi2FMUstate,
) -> fmi2Status {
    let bytes = (serializedState.cast::<u8>(), size);
    // SAFETY: the importer keeps the standard's contract for the handle, the bytes, the pointer and
    // the state in it.
    unsafe { saved_states::deserialize(c, Call::DeSerializeFMUstate, bytes, FMUstate, "FMUstate") }
}
