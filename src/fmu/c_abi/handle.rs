//! What a `fmi2Component` points to, and the frame around every call on it.

use super::logger::Logger;
use super::{floating_point, panics};
use crate::fmu::component::{Component, Fault};
use crate::fmu::fmi2::{fmi2Component, fmi2Status};
use crate::fmu::lifecycle::Call;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Marks a handle that is one; cleared when it is freed.
const MAGIC: u64 = 0x6772_6170_706c_6531;

/// An instance with its way back to the host. The magic number comes first, as in a saved state's handle: so either is told apart from
/// the other by its first eight bytes.
#[repr(C)]
pub(super) struct Handle {
    magic: AtomicU64,
    busy: AtomicBool,
    component: UnsafeCell<Component>,
    logger: Logger,
}

impl Handle {
    /// Hands an instance out.
    pub(super) fn into_raw(component: Component, logger: Logger) -> fmi2Component {
        let handle = Self {
            magic: AtomicU64::new(MAGIC),
            busy: AtomicBool::new(false),
            component: UnsafeCell::new(component),
            logger,
        };
        Box::into_raw(Box::new(handle)).cast()
    }

    /// The handle behind a pointer, if it looks like one.
    ///
    /// # Safety
    /// `pointer` is null or comes from [`into_raw`](Self::into_raw) and has not been freed. The magic number
    /// is a net under hosts that break this, not a proof.
    unsafe fn from_raw<'a>(pointer: fmi2Component) -> Option<&'a Self> {
        let handle: *const Self = pointer.cast_const().cast();
        if handle.is_null() || !handle.is_aligned() {
            return None;
        }
        // SAFETY: the caller's promise. What is none may be shorter than a handle, so the number is read alone.
        let magic = unsafe { &*handle.cast::<AtomicU64>() };
        if magic.load(Ordering::Relaxed) != MAGIC {
            return None;
        }
        // SAFETY: the caller's promise. The shared reference is sound beside calls of other threads, since
        // the component is reached by the holder of `busy` only.
        Some(unsafe { &*handle })
    }

    /// Takes an instance back and drops it; what is no handle, or is in use, is ignored (§2.1.5).
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw); the pointer is not used again.
    pub(super) unsafe fn free(pointer: fmi2Component) {
        // SAFETY: the caller's promise.
        let Some(handle) = (unsafe { Self::from_raw(pointer) }) else {
            return;
        };
        if handle.busy.swap(true, Ordering::Acquire) {
            return;
        }
        handle.magic.store(0, Ordering::Relaxed);
        // SAFETY: made by `Box::into_raw` in `into_raw`, and this is the only time it is taken back: the magic number is
        // gone and `busy` stays set.
        let handle = unsafe { Box::from_raw(pointer.cast::<Self>()) };
        // A panic in a destructor must not leave; there is nobody to tell.
        let _ = panics::catch(move || drop(handle));
    }

    /// The frame around every call: is it a handle, is it free, is the call legal now; then the call itself;
    /// then the log and the status.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw).
    pub(super) unsafe fn call(
        pointer: fmi2Component,
        call: Call,
        action: impl FnOnce(&mut Component) -> Result<(), Fault>,
    ) -> fmi2Status {
        // SAFETY: the caller's promise.
        let Some(handle) = (unsafe { Self::from_raw(pointer) }) else {
            return fmi2Status::ERROR;
        };
        if handle.busy.swap(true, Ordering::Acquire) {
            return fmi2Status::ERROR;
        }
        // SAFETY: `busy` was clear and is now ours, so nobody else has a reference to the component.
        let component = unsafe { &mut *handle.component.get() };
        let outcome = panics::catch(|| {
            floating_point::in_default(|| {
                component.permit(call)?;
                action(component)
            })
        });
        let fault = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(fault)) => Some(fault),
            Err(what) => {
                // Half-changed, so never used again: that is what makes catching the panic sound.
                component.lose();
                Some(Fault {
                    status: fmi2Status::FATAL,
                    what,
                })
            }
        };
        let status = fault.as_ref().map_or(fmi2Status::OK, |fault| fault.status);
        if let Some(fault) = fault {
            let text = format!("{}: {}", call.name(), fault.what);
            component.log.add(status, fault.category(), text);
        }
        // The messages go out when the component is no longer borrowed; `busy` still keeps a logger from calling back.
        let messages = component.log.take();
        for message in &messages {
            handle.logger.send(message);
        }
        handle.busy.store(false, Ordering::Release);
        status
    }
}
