//! The target of a `fmi2Component` or `fmi3Instance`, and the checks around every call on it.

use super::intermediate::Intermediate;
use super::logger::Logger;
use super::{floating_point, panics};
use crate::fmu::component::{Component, Fault};
use crate::fmu::lifecycle::Rule;
use crate::fmu::status::Status;
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Magic number of a live handle; cleared when the handle is freed.
const MAGIC: u64 = 0x6772_6170_706c_6531;

/// An instance with its logger. The magic number comes first, as in a saved state's handle, so that
/// the first eight bytes distinguish the two.
#[repr(C)]
pub(super) struct Handle {
    magic: AtomicU64,
    busy: AtomicBool,
    component: UnsafeCell<Component>,
    logger: Logger,
    /// Present if the importer wants intermediate updates.
    intermediate: Option<Intermediate>,
}

/// Exclusive access to a component until it is dropped.
struct Access<'a> {
    component: *mut Component,
    /// Flag to write at the end, and its value.
    release: (&'a AtomicBool, bool),
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        let (flag, value) = self.release;
        flag.store(value, Ordering::Release);
    }
}

impl Handle {
    /// Returns an instance as a raw handle that the importer owns.
    pub(super) fn into_raw(component: Component, logger: Logger, intermediate: Option<Intermediate>) -> *mut c_void {
        let handle = Self {
            magic: AtomicU64::new(MAGIC),
            busy: AtomicBool::new(false),
            component: UnsafeCell::new(component),
            logger,
            intermediate,
        };
        Box::into_raw(Box::new(handle)).cast()
    }

    /// Returns the handle behind a pointer if its magic number matches.
    ///
    /// # Safety
    /// `pointer` is null or comes from [`into_raw`](Self::into_raw) and has not been freed. The
    /// magic number detects most violations of this, not all.
    unsafe fn from_raw<'a>(pointer: *mut c_void) -> Option<&'a Self> {
        let handle: *const Self = pointer.cast_const().cast();
        if handle.is_null() || !handle.is_aligned() {
            return None;
        }
        // SAFETY: guaranteed by the caller. A foreign object may be smaller than a handle, so only
        // its first eight bytes are read.
        let magic = unsafe { &*handle.cast::<AtomicU64>() };
        if magic.load(Ordering::Relaxed) != MAGIC {
            return None;
        }
        // SAFETY: guaranteed by the caller. Calls on other threads may hold a reference too: all
        // fields may be shared, and only the call that has set `busy` accesses the component.
        Some(unsafe { &*handle })
    }

    /// Frees an instance (§2.1.5). Does nothing if the pointer is not a handle, or if another call
    /// is using the instance.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw); the pointer is not used again.
    pub(super) unsafe fn free(pointer: *mut c_void) {
        // SAFETY: guaranteed by the caller.
        let Some(handle) = (unsafe { Self::from_raw(pointer) }) else {
            return;
        };
        if handle.busy.swap(true, Ordering::Acquire) {
            return;
        }
        handle.magic.store(0, Ordering::Relaxed);
        // SAFETY: made by `Box::into_raw` in `into_raw` and taken back only here: the magic number
        // is cleared and `busy` stays set.
        let handle = unsafe { Box::from_raw(pointer.cast::<Self>()) };
        // A panic in a destructor must not cross the ABI; no logger is left to report it.
        let _ = panics::catch(move || drop(handle));
    }

    /// Returns the exclusive access to the instance; during an intermediate update that to its copy.
    /// Returns `None` while another call has it.
    fn access(&self) -> Option<Access<'_>> {
        if !self.busy.swap(true, Ordering::Acquire) {
            let (component, release) = (self.component.get(), (&self.busy, false));
            return Some(Access { component, release });
        }
        let (component, is_open) = self.intermediate.as_ref()?.enter()?;
        let release = (is_open, true);
        Some(Access { component, release })
    }

    /// Returns what intermediate updates need, if the importer wants them.
    pub(super) fn intermediate(&self) -> Option<&Intermediate> {
        self.intermediate.as_ref()
    }

    /// Runs a call as [`call_with`](Self::call_with), on the component alone.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw).
    pub(super) unsafe fn call<S: From<Status>>(
        pointer: *mut c_void,
        rule: impl Into<&'static Rule>,
        action: impl FnOnce(&mut Component) -> Result<(), Fault>,
    ) -> S {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::call_with(pointer, rule, |component, _| action(component)) }
    }

    /// Runs a call: checks that the pointer is a handle, that no other call is using the instance
    /// and that the call is legal in its mode; runs `action`, sends the log messages and returns
    /// the status.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw).
    pub(super) unsafe fn call_with<S: From<Status>>(
        pointer: *mut c_void,
        rule: impl Into<&'static Rule>,
        action: impl FnOnce(&mut Component, &Self) -> Result<(), Fault>,
    ) -> S {
        let rule = rule.into();
        // SAFETY: guaranteed by the caller.
        let Some(handle) = (unsafe { Self::from_raw(pointer) }) else {
            return S::from(Status::Error);
        };
        let Some(access) = handle.access() else {
            return S::from(Status::Error);
        };
        // SAFETY: this call has the exclusive access until its end.
        let component = unsafe { &mut *access.component };
        let outcome = panics::catch(|| {
            floating_point::in_default(|| {
                component.permit(rule)?;
                action(component, handle)
            })
        });
        let fault = match outcome {
            Ok(Ok(())) => None,
            Ok(Err(fault)) => Some(fault),
            Err(what) => {
                // The component may be half changed. It is never used again, which makes catching
                // the panic sound.
                component.lose();
                Some(Fault {
                    status: Status::Fatal,
                    what,
                })
            }
        };
        S::from(handle.end_call(component, rule, fault))
    }

    /// Ends a call with its outcome: sends the log messages and returns the status.
    fn end_call(&self, component: &mut Component, rule: &Rule, fault: Option<Fault>) -> Status {
        let status = fault.as_ref().map_or(Status::Ok, |fault| fault.status);
        if let Some(fault) = fault {
            let text = format!("{}: {}", rule.name, fault.what);
            component.log.add(status, fault.category(), text);
        }
        // Messages are sent when the component is no longer used; `busy` still refuses calls from inside
        // the logger.
        let messages = component.log.take();
        for message in &messages {
            self.logger.send(message);
        }
        status
    }

    /// Runs a call on several instances, as [`call`](Self::call) on one: `action` returns an outcome for
    /// each. Returns the status of each instance; an error for all if one of them is not a live handle,
    /// is used by another call, or occurs twice.
    ///
    /// # Safety
    /// As [`from_raw`](Self::from_raw), for each pointer.
    pub(super) unsafe fn call_together(
        pointers: &[*mut c_void],
        action: impl FnOnce(&mut [&mut Component]) -> Vec<Result<(), Fault>>,
    ) -> Vec<Status> {
        // SAFETY: guaranteed by the caller.
        let handles = pointers.iter().map(|&pointer| unsafe { Self::from_raw(pointer) });
        let with_access = |handle: Option<&'static Self>| Some((handle?, handle?.access()?));
        let accessed: Option<Vec<_>> = handles.map(with_access).collect();
        let Some(accessed) = accessed else {
            return vec![Status::Error; pointers.len()];
        };
        // SAFETY: this call has the exclusive access to each until its end.
        let components = accessed.iter().map(|(_, access)| unsafe { &mut *access.component });
        let mut components: Vec<&mut Component> = components.collect();
        let outcome = panics::catch(|| floating_point::in_default(|| action(&mut components)));
        let outcomes = outcome.unwrap_or_else(|what| {
            // As in `call_with`, for all.
            let lost = components.iter_mut().map(|component| {
                component.lose();
                let (status, what) = (Status::Fatal, what.clone());
                Err(Fault { status, what })
            });
            lost.collect()
        });
        let ended = accessed.iter().zip(components).zip(outcomes);
        let statuses = ended.map(|(((handle, _), component), outcome)| {
            let rule = component.step_rule();
            handle.end_call(component, rule, outcome.err())
        });
        statuses.collect()
    }
}
