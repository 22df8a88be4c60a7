//! Panics inside calls are caught, and their messages are not printed to stderr.
//!
//! The standard library prints a panic's message to stderr before it unwinds. Only the panic hook
//! can prevent that, and there is one hook per program. A hook of this library is therefore
//! installed once in front of the existing one; it acts only on a thread that is inside a call of
//! this library. In a shared library the importer's hook is not affected: a `cdylib` has its own
//! standard library.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Source location of a panic as plain bytes, so that no destructor runs when a thread ends.
#[derive(Clone, Copy)]
struct SourceLocation {
    file: [u8; 64],
    line: u32,
}

const NOWHERE: SourceLocation = SourceLocation { file: [0; 64], line: 0 };

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LOCATION: Cell<SourceLocation> = const { Cell::new(NOWHERE) };
}

/// Runs `f`; returns a panic in it as its message with the source location.
///
/// Data that `f` changes may be left half changed: the caller must not use it again.
pub(super) fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    // A hook cannot be set while this thread unwinds, e.g. if a Rust importer panics and its
    // destructors free instances.
    if !HOOK.is_completed() && !std::thread::panicking() {
        HOOK.call_once(install);
    }
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|payload| describe(payload.as_ref()))
}

/// Runs `f`, a function of the importer, with the program's own panic hook.
pub(super) fn outside<T>(f: impl FnOnce() -> T) -> T {
    let depth = DEPTH.replace(0);
    let result = f();
    DEPTH.set(depth);
    result
}

fn install() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if DEPTH.get() == 0 {
            return before(info);
        }
        let mut place = NOWHERE;
        if let Some(location) = info.location() {
            // A long path is cut at its beginning: the end is more specific.
            let path = location.file().as_bytes();
            let tail = &path[path.len().saturating_sub(place.file.len())..];
            place.file[..tail.len()].copy_from_slice(tail);
            place.line = location.line();
        }
        LOCATION.set(place);
    }));
}

fn describe(payload: &(dyn Any + Send)) -> String {
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let SourceLocation { file, line } = LOCATION.replace(NOWHERE);
    let file = String::from_utf8_lossy(&file);
    format!("internal error: {what} ({}:{line})", file.trim_end_matches('\0'))
}
