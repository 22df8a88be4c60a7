//! The importer's side: its callbacks, and the messages received by its logger.

use crate::driver::DISCARD;
use grapple::fmu::c_abi::as_logger;
use grapple::fmu::fmi2::*;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// One message received by the importer's logger.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    pub status: fmi2Status,
    pub category: String,
    pub message: String,
}

/// The messages received by a logger.
pub struct Log(RefCell<Vec<Logged>>);

impl Log {
    pub const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Returns and removes the messages received so far.
    pub fn take(&self) -> Vec<Logged> {
        self.0.take()
    }

    /// Asserts that exactly one message was received, with this status and all of these names;
    /// returns it.
    #[track_caller]
    pub fn assert_named(&self, status: fmi2Status, names: &[&str]) -> String {
        assert_one(&self.take(), status, names)
    }

    /// Returns callbacks whose logger appends to this log, which is their environment; no
    /// allocators.
    pub fn callbacks(&self) -> fmi2CallbackFunctions {
        fmi2CallbackFunctions {
            logger: Some(as_logger(listen)),
            allocateMemory: None,
            freeMemory: None,
            stepFinished: None,
            componentEnvironment: std::ptr::from_ref(self).cast_mut().cast(),
        }
    }
}

thread_local! {
    static HEARD: Log = const { Log::new() };
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

/// Returns and removes the messages that this thread's loggers without an environment have
/// received.
pub fn logged() -> Vec<Logged> {
    HEARD.with(Log::take)
}

/// [`Log::assert_named`] for this thread's loggers without an environment.
#[track_caller]
pub fn assert_named(status: fmi2Status, names: &[&str]) -> String {
    assert_one(&logged(), status, names)
}

#[track_caller]
fn assert_one(logged: &[Logged], status: fmi2Status, names: &[&str]) -> String {
    let [one] = logged else {
        panic!("one message expected: {logged:?}");
    };
    let category = if status == DISCARD {
        "logStatusDiscard"
    } else {
        "logStatusError"
    };
    assert_eq!((one.status, one.category.as_str()), (status, category), "{one:?}");
    for name in names {
        assert!(one.message.contains(name), "{name:?} is not in {:?}", one.message);
    }
    one.message.clone()
}

/// Returns the number of calls of this thread's allocators.
pub fn allocations() -> u32 {
    ALLOCATIONS.get()
}

/// Returns callbacks with everything but `stepFinished`; the environment is null, as in libcosim
/// and OMSimulator.
pub fn callbacks() -> fmi2CallbackFunctions {
    fmi2CallbackFunctions {
        logger: Some(as_logger(listen)),
        allocateMemory: Some(allocate),
        freeMemory: Some(free),
        stepFinished: None,
        componentEnvironment: null_mut(),
    }
}

unsafe extern "C" fn listen(
    environment: fmi2ComponentEnvironment,
    instance: fmi2String,
    status: fmi2Status,
    category: fmi2String,
    message: fmi2String,
) {
    // SAFETY: the strings live during the call.
    let [instance, category, message] =
        unsafe { [instance, category, message].map(|s| CStr::from_ptr(s).to_string_lossy().into_owned()) };
    assert_eq!(instance, "arm");
    let logged = Logged {
        status,
        category,
        message,
    };
    // SAFETY: null, or the `Log` of a test that outlives the instance.
    match unsafe { environment.cast::<Log>().as_ref() } {
        Some(log) => log.0.borrow_mut().push(logged),
        None => HEARD.with(|log| log.0.borrow_mut().push(logged)),
    }
}

unsafe extern "C" fn allocate(_: usize, _: usize) -> *mut c_void {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    null_mut()
}

unsafe extern "C" fn free(_: *mut c_void) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}
