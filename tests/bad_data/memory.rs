//! What a thread takes from the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts for each thread by itself, and ends the process before the machine's memory does.
pub struct Counting;

/// Beyond that much at once, bytes, the process ends: whatever asks for it would take the machine with it.
const END: usize = 4 << 30;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// What a thread has taken since [`start`], bytes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The largest single piece.
    pub largest: usize,
    /// The most at one time.
    pub peak: usize,
}

/// Counts this thread's memory from here on.
pub fn start() {
    LIVE.set(0);
    PEAK.set(0);
    LARGEST.set(0);
}

/// What this thread has taken since then.
pub fn taken() -> Taken {
    Taken {
        largest: LARGEST.get(),
        peak: usize::try_from(PEAK.get()).unwrap_or(0),
    }
}

fn grow(bytes: usize) -> bool {
    LARGEST.set(LARGEST.get().max(bytes));
    let live = LIVE.get().saturating_add_unsigned(bytes);
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
    bytes < END && usize::try_from(live).unwrap_or(0) < END
}

fn shrink(bytes: usize) {
    LIVE.set(LIVE.get().saturating_sub_unsigned(bytes));
}

// SAFETY: every call is handed on to the system's allocator unchanged, or answered with null, which says that there is no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !grow(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !grow(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        shrink(layout.size());
        if !grow(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
