//! Memory that a thread allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// An allocator that counts for each thread, and ends the process before the machine's memory is
/// exhausted.
pub struct Counting;

/// Size of an allocation, bytes, above which the process is aborted to protect the machine.
const END: usize = 4 << 30;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// Allocations of a thread since [`start`], bytes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Largest single allocation.
    pub largest: usize,
    /// Peak.
    pub peak: usize,
}

/// Starts to count this thread's allocations.
pub fn start() {
    LIVE.set(0);
    PEAK.set(0);
    LARGEST.set(0);
}

/// Returns this thread's allocations since [`start`].
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

// SAFETY: every call is passed to the system's allocator unchanged, or answered with null, which
// means out of memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !grow(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: guaranteed by the caller.
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
