//! Conversions of C pointers to slices and strings.

use crate::fmu::component::Fault;
use std::borrow::Cow;
use std::ffi::{CStr, c_char};

/// Returns the `count` elements at a pointer, which may be null if the count is zero. `what` is the
/// argument's name in C, for the error message.
///
/// # Safety
/// `pointer` is null, or points to `count` initialised elements that do not change during `'a`.
pub(super) unsafe fn slice<'a, T>(pointer: *const T, count: usize, what: &str) -> Result<&'a [T], Fault> {
    check(pointer, count, what)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, aligned and not too long: checked. The rest is guaranteed by the caller.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Returns the `count` elements at a pointer for writing; see [`slice`].
///
/// # Safety
/// `pointer` is null, or points to `count` elements without other references during `'a`. All bit
/// patterns of `T` are values, so the importer need not have initialised them.
pub(super) unsafe fn slice_mut<'a, T: Plain>(pointer: *mut T, count: usize, what: &str) -> Result<&'a mut [T], Fault> {
    check(pointer, count, what)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: not null, aligned and not too long: checked. The rest is guaranteed by the caller.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

/// Returns the one element at a pointer for writing; see [`slice`].
///
/// # Safety
/// As [`slice_mut`] with a count of one.
pub(super) unsafe fn single<'a, T: Plain>(pointer: *mut T, what: &str) -> Result<&'a mut T, Fault> {
    check(pointer, 1, what)?;
    // SAFETY: not null and aligned: checked. The rest is guaranteed by the caller.
    Ok(unsafe { &mut *pointer })
}

/// Types for which every bit pattern is a valid value, so that uninitialised memory of the importer
/// may be written through a reference.
pub(super) trait Plain: Copy {}
impl Plain for f64 {}
impl Plain for i32 {}
impl Plain for i8 {}
impl Plain for u8 {}
impl Plain for usize {}
impl Plain for *const c_char {}
impl Plain for *mut std::ffi::c_void {}
impl Plain for crate::fmu::fmi2::fmi2Status {}
impl Plain for crate::fmu::fmi2::fmi2EventInfo {}

fn check<T>(pointer: *const T, count: usize, what: &str) -> Result<(), Fault> {
    if count == 0 {
        return Ok(());
    }
    if pointer.is_null() {
        return Err(Fault::error(format!("the argument {what} is null")));
    }
    if !pointer.is_aligned() {
        return Err(Fault::error(format!("the argument {what} is not aligned")));
    }
    let fits = count
        .checked_mul(size_of::<T>())
        .is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if fits {
        Ok(())
    } else {
        Err(Fault::error(format!(
            "the argument {what} cannot have {count} elements"
        )))
    }
}

/// Returns the string at a pointer, `None` for null; bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `pointer` is null or points to a string that ends with a zero and does not change during `'a`.
pub(super) unsafe fn text<'a>(pointer: *const c_char) -> Option<Cow<'a, str>> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null; the rest is guaranteed by the caller.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy())
}
