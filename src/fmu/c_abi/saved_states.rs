//! Saved and restored states (§2.1.8; FMI 3.0, §2.2.6.4), common to the versions of the standard.

use super::handle::Handle;
use super::pointers::{single, slice, slice_mut};
use crate::fmu::component::Fault;
use crate::fmu::lifecycle::Rule;
use crate::fmu::saved::SavedState;
use crate::fmu::status::Status;
use std::ffi::c_void;

/// Magic number of a live saved state; cleared when the state is freed.
const MAGIC: u64 = 0x6772_6170_7374_6131;

/// A pointer to a saved state, as the importer receives it.
type FmuState = *mut c_void;

/// Target of a [`FmuState`]. The magic number comes first, as in an instance's handle.
#[repr(C)]
struct StateHandle {
    magic: u64,
    saved: SavedState,
}

/// Returns the handle behind a pointer.
///
/// # Safety
/// `pointer` is null or comes from this library and has not been freed.
unsafe fn handle(pointer: FmuState) -> Result<*mut StateHandle, Fault> {
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
unsafe fn saved<'a>(pointer: FmuState) -> Result<&'a SavedState, Fault> {
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { &(*handle(pointer)?).saved })
}

/// Returns the saved state behind a pointer for writing.
///
/// # Safety
/// As [`handle`]; there is no other reference to the state during `'a`.
unsafe fn saved_mut<'a>(pointer: FmuState) -> Result<&'a mut SavedState, Fault> {
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { &mut (*handle(pointer)?).saved })
}

fn into_handle(saved: SavedState) -> FmuState {
    Box::into_raw(Box::new(StateHandle { magic: MAGIC, saved })).cast()
}

/// Copies the instance's state: into a new copy if `*state` is null, else into that copy. `name` is the
/// argument's name in C, as in the following functions.
///
/// # Safety
/// The importer keeps the standard's contract for the handle, the pointer and the state in it.
pub(super) unsafe fn get<S: From<Status>>(
    c: *mut c_void,
    rule: impl Into<&'static Rule>,
    state: *mut FmuState,
    name: &str,
) -> S {
    // SAFETY: guaranteed by the caller.
    unsafe {
        Handle::call(c, rule, |component| {
            let place = single(state, name)?;
            if place.is_null() {
                *place = into_handle(component.save());
            } else {
                component.save_into(saved_mut(*place)?);
            }
            Ok(())
        })
    }
}

/// Restores a copy; the copy stays valid.
///
/// # Safety
/// The importer keeps the standard's contract for the handle and the state.
pub(super) unsafe fn set<S: From<Status>>(c: *mut c_void, rule: impl Into<&'static Rule>, state: FmuState) -> S {
    // SAFETY: guaranteed by the caller.
    unsafe { Handle::call(c, rule, |component| component.restore(saved(state)?)) }
}

/// Frees a copy and sets the pointer to null; null is ignored.
///
/// # Safety
/// The importer keeps the standard's contract for the handle, the pointer and the state in it.
pub(super) unsafe fn free<S: From<Status>>(
    c: *mut c_void,
    rule: impl Into<&'static Rule>,
    state: *mut FmuState,
    name: &str,
) -> S {
    // SAFETY: guaranteed by the caller.
    unsafe {
        Handle::call(c, rule, |_| {
            if state.is_null() {
                return Ok(());
            }
            let place = single(state, name)?;
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

/// Returns the size of a serialised copy in bytes.
///
/// # Safety
/// The importer keeps the standard's contract for the handle, the state and the pointer.
pub(super) unsafe fn serialized_size<S: From<Status>>(
    c: *mut c_void,
    rule: impl Into<&'static Rule>,
    state: FmuState,
    size: *mut usize,
) -> S {
    // SAFETY: guaranteed by the caller.
    unsafe {
        Handle::call(c, rule, |_| {
            *single(size, "size")? = saved(state)?.serialized_size();
            Ok(())
        })
    }
}

/// Serialises a copy.
///
/// # Safety
/// The importer keeps the standard's contract for the handle, the state and the bytes.
pub(super) unsafe fn serialize<S: From<Status>>(
    c: *mut c_void,
    rule: impl Into<&'static Rule>,
    state: FmuState,
    (serialized, size): (*mut u8, usize),
) -> S {
    // SAFETY: guaranteed by the caller.
    unsafe {
        Handle::call(c, rule, |_| {
            let bytes = saved(state)?.to_bytes();
            if size != bytes.len() {
                return Err(Fault::error(format!(
                    "the buffer has {size} bytes; the state needs {}",
                    bytes.len()
                )));
            }
            slice_mut(serialized, size, "serializedState")?.copy_from_slice(&bytes);
            Ok(())
        })
    }
}

/// Makes a copy from serialised bytes.
///
/// # Safety
/// The importer keeps the standard's contract for the handle, the bytes, the pointer and the state
/// in it.
pub(super) unsafe fn deserialize<S: From<Status>>(
    c: *mut c_void,
    rule: impl Into<&'static Rule>,
    (serialized, size): (*const u8, usize),
    state: *mut FmuState,
    name: &str,
) -> S {
    // SAFETY: guaranteed by the caller.
    unsafe {
        Handle::call(c, rule, |component| {
            let bytes = slice(serialized, size, "serializedState")?;
            let place = single(state, name)?;
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
