//! Calls with pointers that are the same in both versions of the standard.

use super::handle::Handle;
use super::pointers::{slice, text};
use crate::fmu::lifecycle::Rule;
use crate::fmu::status::Status;
use std::ffi::{c_char, c_void};

/// Switches log categories on or off; null names are ignored.
///
/// # Safety
/// The importer keeps the standard's contract for the handle, the array and its strings.
pub(super) unsafe fn set_debug_logging<S: From<Status>>(
    c: *mut c_void,
    rule: impl Into<&'static Rule>,
    on: bool,
    (categories, count): (*const *const c_char, usize),
) -> S {
    // SAFETY: guaranteed by the caller.
    unsafe {
        Handle::call(c, rule, |component| {
            let names: Vec<_> = slice(categories, count, "categories")?
                .iter()
                .filter_map(|&name| text(name))
                .collect();
            let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            if count > 0 && names.is_empty() {
                return Ok(());
            }
            component.set_debug_logging(on, &names)
        })
    }
}
