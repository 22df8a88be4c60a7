//! States, saved and restored (§2.1.8).

use super::handle::Handle;
use super::pointers::{single, slice, slice_mut};
use crate::fmu::component::Fault;
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::Call;
use crate::fmu::saved::SavedState;

/// Marks a saved state that is one; cleared when it is freed.
const MAGIC: u64 = 0x6772_6170_7374_6131;

/// What a `fmi2FMUstate` points to. The magic number comes first, as in an instance's handle.
#[repr(C)]
struct StateHandle {
    magic: u64,
    saved: SavedState,
}

/// The handle behind a pointer.
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
    // SAFETY: the caller's promise; the magic number is a net under hosts that break it. What is no state may be shorter than one,
    // so the number is read alone.
    if unsafe { handle.cast::<u64>().read() } != MAGIC {
        return Err(foreign());
    }
    Ok(handle)
}

/// The saved state behind a pointer, to be read: instances on several threads may read one at the same time.
///
/// # Safety
/// As [`handle`]; nobody writes the state during `'a`.
unsafe fn saved<'a>(pointer: fmi2FMUstate) -> Result<&'a SavedState, Fault> {
    // SAFETY: the caller's promise.
    Ok(unsafe { &(*handle(pointer)?).saved })
}

/// The same, to be written over.
///
/// # Safety
/// As [`handle`]; nobody else uses the state during `'a`.
unsafe fn saved_mut<'a>(pointer: fmi2FMUstate) -> Result<&'a mut SavedState, Fault> {
    // SAFETY: the caller's promise.
    Ok(unsafe { &mut (*handle(pointer)?).saved })
}

fn hand_out(saved: SavedState) -> fmi2FMUstate {
    Box::into_raw(Box::new(StateHandle { magic: MAGIC, saved })).cast()
}

/// Copies the instance's state; into the copy that is there, if there is one (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: fmi2Component, FMUstate: *mut fmi2FMUstate) -> fmi2Status {
    // SAFETY: the host keeps the standard's contract for the handle, the place and the state in it.
    unsafe {
        Handle::call(c, Call::GetFMUstate, |component| {
            let place = single(FMUstate, "FMUstate")?;
            if place.is_null() {
                *place = hand_out(component.save());
            } else {
                component.save_into(saved_mut(*place)?);
            }
            Ok(())
        })
    }
}

/// Goes back to a copy; it stays (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: fmi2Component, FMUstate: fmi2FMUstate) -> fmi2Status {
    // SAFETY: the host keeps the standard's contract for the handle and the state.
    unsafe { Handle::call(c, Call::SetFMUstate, |component| component.restore(saved(FMUstate)?)) }
}

/// Frees a copy and sets the place to null; null is ignored (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: fmi2Component, FMUstate: *mut fmi2FMUstate) -> fmi2Status {
    // SAFETY: the host keeps the standard's contract for the handle, the place and the state in it.
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

/// How many bytes a copy makes (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    c: fmi2Component,
    FMUstate: fmi2FMUstate,
    size: *mut usize,
) -> fmi2Status {
    // SAFETY: the host keeps the standard's contract for the handle, the state and the place.
    unsafe {
        Handle::call(c, Call::SerializedFMUstateSize, |_| {
            *single(size, "size")? = saved(FMUstate)?.serialized_size();
            Ok(())
        })
    }
}

/// Writes a copy as bytes (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    c: fmi2Component,
    FMUstate: fmi2FMUstate,
    serializedState: *mut fmi2Byte,
    size: usize,
) -> fmi2Status {
    // SAFETY: the host keeps the standard's contract for the handle, the state and the bytes.
    unsafe {
        Handle::call(c, Call::SerializeFMUstate, |_| {
            let bytes = saved(FMUstate)?.to_bytes();
            if size != bytes.len() {
                return Err(Fault::error(format!(
                    "room for {size} bytes; the state has {}",
                    bytes.len()
                )));
            }
            slice_mut(serializedState.cast::<u8>(), size, "serializedState")?.copy_from_slice(&bytes);
            Ok(())
        })
    }
}

/// Makes a copy from bytes (§2.1.8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: fmi2Component,
    serializedState: *const fmi2Byte,
    size: usize,
    FMUstate: *mut fmi2FMUstate,
) -> fmi2Status {
    // SAFETY: the host keeps the standard's contract for the handle, the bytes, the place and the state in it.
    unsafe {
        Handle::call(c, Call::DeSerializeFMUstate, |component| {
            let bytes = slice(serializedState.cast::<u8>(), size, "serializedState")?;
            let place = single(FMUstate, "FMUstate")?;
            let read = component.read_state(bytes)?;
            if place.is_null() {
                *place = hand_out(read);
            } else {
                *saved_mut(*place)? = read;
            }
            Ok(())
        })
    }
}
