//! A host's side: the callbacks that its loader hands over, and what its logger has heard.

use crate::driver::DISCARD;
use grapple::fmu::c_abi::as_logger;
use grapple::fmu::fmi2::*;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// One message as the host's logger got it.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub status: fmi2Status,
    pub category: String,
    pub message: String,
}

/// What a logger has heard.
pub struct Log(RefCell<Vec<Heard>>);

impl Log {
    pub const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// What it has heard since the last time.
    pub fn take(&self) -> Vec<Heard> {
        self.0.take()
    }

    /// Asserts that it has heard one message, of this status, which mentions all of these.
    #[track_caller]
    pub fn told(&self, status: fmi2Status, words: &[&str]) {
        assert_one(&self.take(), status, words);
    }

    /// Callbacks to it: a logger with the log itself as its environment, and no allocators.
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

/// What this thread's loggers without an environment have heard since the last time.
pub fn heard() -> Vec<Heard> {
    HEARD.with(Log::take)
}

/// [`Log::told`] for this thread's loggers without an environment.
#[track_caller]
pub fn told(status: fmi2Status, words: &[&str]) {
    assert_one(&heard(), status, words);
}

#[track_caller]
fn assert_one(heard: &[Heard], status: fmi2Status, words: &[&str]) {
    let [one] = heard else {
        panic!("one message expected: {heard:?}");
    };
    let category = if status == DISCARD {
        "logStatusDiscard"
    } else {
        "logStatusError"
    };
    assert_eq!((one.status, one.category.as_str()), (status, category), "{one:?}");
    for word in words {
        assert!(one.message.contains(word), "{word:?} is not in {:?}", one.message);
    }
}

/// How often this thread's allocators were called.
pub fn allocations() -> u32 {
    ALLOCATIONS.get()
}

/// Callbacks with everything but `stepFinished`; the environment is null, as in libcosim and OMSimulator.
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
    let heard = Heard {
        status,
        category,
        message,
    };
    // SAFETY: null, or the `Log` of a test that outlives the instance.
    match unsafe { environment.cast::<Log>().as_ref() } {
        Some(log) => log.0.borrow_mut().push(heard),
        None => HEARD.with(|log| log.0.borrow_mut().push(heard)),
    }
}

unsafe extern "C" fn allocate(_: usize, _: usize) -> *mut c_void {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    null_mut()
}

unsafe extern "C" fn free(_: *mut c_void) {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}
