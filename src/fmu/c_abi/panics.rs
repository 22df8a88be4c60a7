//! Panics caught, and kept from stderr.
//!
//! By default the standard library prints a panic's message to stderr before it unwinds; a host never
//! asked for that. Only the panic hook can prevent it, and the hook belongs to the whole program. So ours is put
//! in front of the one that is there, once, and acts only on a thread that is inside one of our calls. In a
//! shared library it does not even meet the host's: a `cdylib` has a standard library of its own.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Where a panic came from; plain bytes, so that a thread's end has nothing to clean up.
#[derive(Clone, Copy)]
struct Place {
    file: [u8; 64],
    line: u32,
}

const NOWHERE: Place = Place { file: [0; 64], line: 0 };

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static PLACE: Cell<Place> = const { Cell::new(NOWHERE) };
}

/// Runs `f`; a panic in it becomes its message, with the place in the source.
///
/// What `f` was changing may be half changed then: the caller must not use it again.
pub(super) fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    // A hook cannot be set while this very thread unwinds (a host that frees instances in a destructor).
    if !HOOK.is_completed() && !std::thread::panicking() {
        HOOK.call_once(install);
    }
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|payload| describe(payload.as_ref()))
}

fn install() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if DEPTH.get() == 0 {
            return before(info);
        }
        let mut place = NOWHERE;
        if let Some(location) = info.location() {
            // The end of a path says more than its beginning.
            let path = location.file().as_bytes();
            let tail = &path[path.len().saturating_sub(place.file.len())..];
            place.file[..tail.len()].copy_from_slice(tail);
            place.line = location.line();
        }
        PLACE.set(place);
    }));
}

fn describe(payload: &(dyn Any + Send)) -> String {
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let Place { file, line } = PLACE.replace(NOWHERE);
    let file = String::from_utf8_lossy(&file);
    format!("internal error: {what} ({}:{line})", file.trim_end_matches('\0'))
}
