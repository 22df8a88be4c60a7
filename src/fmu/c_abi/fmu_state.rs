//! Saved and restored states (§2.1.8).

use super::handle::Handle;
use super::pointers::{single, slice, slice_mut};
use crate::fmu::component::Fault;
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::Call;
use crate::fmu::saved::SavedState;

/// Magic number of a live saved state; cleared when the state is freed.
const MAGIC: u64 = 0x6772_6170_7374_6131;

/// Target of a `fmi2FMUstate`. The magic number comes first, as in an instance's handle.
#[repr(C)]
struct StateHandle {
    magic: u64,
    saved: SavedState,
}

/// Returns the handle behind a pointer.
///
/// # Safety
/// `pointer` is null or comes from this library and has not been freed.
unsafe fn handle(pointer: fmi2FMUstate) -> Result<*mut StateHandle, Fault> {
    let handle: *mut StateHandle = pointer.cast();
    if handle.is_null() {
        return Err(Fault::error("the FMU state is null"));
    }
    let foreign = || Fault::error("the FMU state does not come from this library, or has been freed");
    if !handle.is_aligned() {
        return Err(foreign());
    }
    // SAFETY: guaranteed by the caller; the magic number detects most violations. A foreign object
    // may be smaller than a saved state, so only its first eight bytes are read.
    if unsafe { handle.cast::<u64>().read() } != MAGIC {
        return Err(foreign());
    }
    Ok(handle)
}

/// Returns the saved state behind a pointer for reading; instances on several threads may read one
/// at the same time.
///
/// # Safety
/// As [`handle`]; the state is not written during `'a`.
unsafe fn saved<'a>(pointer: fmi2FMUstate) -> Result<&'a SavedState, Fault> {
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { &(*handle(pointer)?).saved })
}

/// Returns the saved state behind a pointer for writing.
///
/// # Safety
/// As [`handle`]; there is no other reference to the state during `'a`.
unsafe fn saved_mut<'a>(pointer: fmi2FMUstate) -> Result<&'a mut SavedState, Fault> {
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { &mut (*handle(pointer)?).saved })
}

fn into_handle(saved: SavedState) -> fmi2FMUstate {
    Box::into_raw(Box::new(StateHandle { magic: MAGIC, saved })).cast()
}

/// Copies the instance's state: into a new copy if `*FMUstate` is null, else into that copy
/// (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: fmi2Component, FMUstate: *mut fmi2FMUstate) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the place and the state in
    // it.
    unsafe {
        Handle::call(c, Call::GetFMUstate, |component| {
            let place = single(FMUstate, "FMUstate")?;
            if place.is_null() {
                *place = into_handle(component.save());
            } else {
                component.save_into(saved_mut(*place)?);
            }
            Ok(())
        })
    }
}

/// Restores a copy; the copy stays valid (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: fmi2Component, FMUstate: fmi2FMUstate) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle and the state.
    unsafe { Handle::call(c, Call::SetFMUstate, |component| component.restore(saved(FMUstate)?)) }
}

/// Frees a copy and sets the pointer to null; null is ignored (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: fmi2Component, FMUstate: *mut fmi2FMUstate) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the place and the state in
    // it.
    unsafe {
        Handle::call(c, Call::FreeFMUstate, |_| {
            if FMUstate.is_null() {
                return Ok(());
            }
            let place = single(FMUstate, "FMUstate")?;
            if place.is_null() {
                return Ok(());
            }
            let mut freed = Box::from_raw(handle(*place)?);
            freed.magic = 0;
            *place = std::ptr::null_mut();
            Ok(())
        })
    }
}

/// Returns the size of a serialised copy in bytes (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    c: fmi2Component,
    FMUstate: fmi2FMUstate,
    size: *mut usize,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the state and the place.
    unsafe {
        Handle::call(c, Call::SerializedFMUstateSize, |_| {
            *single(size, "size")? = saved(FMUstate)?.serialized_size();
            Ok(())
        })
    }
}

/// Serialises a copy (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    c: fmi2Component,
    FMUstate: fmi2FMUstate,
    serializedState: *mut fmi2Byte,
    size: usize,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the state and the bytes.
    unsafe {
        Handle::call(c, Call::SerializeFMUstate, |_| {
            let bytes = saved(FMUstate)?.to_bytes();
            if size != bytes.len() {
                return Err(Fault::error(format!(
                    "the buffer has {size} bytes; the state needs {}",
                    bytes.len()
                )));
            }
            slice_mut(serializedState.cast::<u8>(), size, "serializedState")?.copy_from_slice(&bytes);
            Ok(())
        })
    }
}

/// Makes a copy from serialised bytes (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: fmi2Component,
    serializedState: *const fmi2Byte,
    size: usize,
    FMUstate: *mut fmi2FMUstate,
) -> fmi2Status {
    // SAFETY: the importer keeps the standard's contract for the handle, the bytes, the place and
    // the state in it.
    unsafe {
        Handle::call(c, Call::DeSerializeFMUstate, |component| {
            let bytes = slice(serializedState.cast::<u8>(), size, "serializedState")?;
            let place = single(FMUstate, "FMUstate")?;
            let read = component.read_state(bytes)?;
            if place.is_null() {
                *place = into_handle(read);
            } else {
                *saved_mut(*place)? = read;
            }
            Ok(())
        })
    }
}
