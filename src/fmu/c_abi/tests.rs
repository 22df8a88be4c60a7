//! Cases that a test outside the crate cannot provoke: a panic inside a call, and calls from the
//! logger.

use super::handle::Handle;
use super::logger::{Importer as Callbacks, Logger};
use super::*;
use crate::fmu::component::Fault;
use crate::fmu::fmi2::*;
use crate::fmu::lifecycle::{Call, Interface};
use crate::fmu::testing;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

unit_tests![
    panic_in_a_call_loses_the_instance_and_not_the_process,
    a_call_from_inside_the_logger_is_refused,
    two_threads_read_one_saved_state_at_the_same_time,
    invalid_handles_are_refused,
];

/// Messages received by the importer's logger, and the instance that it calls back.
#[derive(Default)]
struct Importer {
    messages: RefCell<Vec<(i32, String, String)>>,
    instance: Cell<fmi2Component>,
    answer: Cell<Option<fmi2Status>>,
}

unsafe extern "C" fn logger(
    environment: fmi2ComponentEnvironment,
    _instance: fmi2String,
    status: fmi2Status,
    category: fmi2String,
    message: fmi2String,
) {
    // SAFETY: the tests pass an `Importer` that outlives the instance; the strings live during the
    // call.
    unsafe {
        let importer = &*environment.cast_const().cast::<Importer>();
        let text = |s: fmi2String| CStr::from_ptr(s).to_string_lossy().into_owned();
        importer
            .messages
            .borrow_mut()
            .push((status.0, text(category), text(message)));
        if !importer.instance.get().is_null() {
            importer.answer.set(Some(fmi2Terminate(importer.instance.get())));
        }
    }
}

fn callbacks(importer: &Importer) -> fmi2CallbackFunctions {
    fmi2CallbackFunctions {
        logger: Some(as_logger(logger)),
        allocateMemory: None,
        freeMemory: None,
        stepFinished: None,
        componentEnvironment: std::ptr::from_ref(importer).cast_mut().cast::<c_void>(),
    }
}

fn instance(importer: &Importer) -> Result<fmi2Component, crate::Error> {
    let component = testing::instance(Interface::CoSimulation)?;
    let logger = Logger::new(Callbacks::of_fmi2(Some(&callbacks(importer))), c"arm".to_owned());
    Ok(Handle::into_raw(component, logger, None))
}

fn panic_in_a_call_loses_the_instance_and_not_the_process() -> testing::Outcome {
    let importer = Importer::default();
    let c = instance(&importer)?;
    let nothing: [f64; 0] = [];
    // SAFETY: a live handle.
    unsafe {
        let status: fmi2Status = Handle::call(c, Call::GetReal, |_| {
            let beyond = nothing[std::hint::black_box(3)];
            Err(Fault::error(beyond.to_string()))
        });
        assert_eq!(status, fmi2Status::FATAL);
        let messages = importer.messages.take();
        assert_eq!(messages.len(), 1, "{messages:?}");
        let (status, category, message) = &messages[0];
        assert_eq!((*status, category.as_str()), (fmi2Status::FATAL.0, "logStatusFatal"));
        assert!(
            message.contains("index out of bounds") && message.contains("tests.rs:"),
            "{message}"
        );

        assert_eq!(fmi2Reset(c), fmi2Status::ERROR);
        assert_eq!(fmi2DoStep(c, 0.0, 0.1, fmi2True), fmi2Status::ERROR);
        assert!(
            importer
                .messages
                .take()
                .iter()
                .all(|(.., message)| message.contains("lost"))
        );
        fmi2FreeInstance(c);
        // Another instance is not affected.
        let c = instance(&importer)?;
        assert_eq!(fmi2EnterInitializationMode(c), fmi2Status::OK);
        assert_eq!(fmi2ExitInitializationMode(c), fmi2Status::OK);
        fmi2FreeInstance(c);
    }
    Ok(())
}

fn a_call_from_inside_the_logger_is_refused() -> testing::Outcome {
    let importer = Importer::default();
    let c = instance(&importer)?;
    importer.instance.set(c);
    // SAFETY: a live handle; null arrays of length zero and one.
    unsafe {
        assert_eq!(fmi2GetReal(c, null(), 0, null_mut()), fmi2Status::OK);
        assert_eq!(fmi2GetReal(c, null(), 1, null_mut()), fmi2Status::ERROR);
        assert_eq!(importer.answer.get(), Some(fmi2Status::ERROR));
        importer.instance.set(null_mut());
        assert_eq!(fmi2EnterInitializationMode(c), fmi2Status::OK);
        fmi2FreeInstance(c);
    }
    Ok(())
}

/// A saved state that an importer passes to instances on two threads at the same time.
struct Shared(fmi2FMUstate);
// SAFETY: the state is only read.
unsafe impl Sync for Shared {}

fn two_threads_read_one_saved_state_at_the_same_time() -> testing::Outcome {
    let make = || -> Result<fmi2Component, crate::Error> {
        let component = testing::instance(Interface::CoSimulation)?;
        let logger = Logger::new(Callbacks::of_fmi2(None), c"arm".to_owned());
        Ok(Handle::into_raw(component, logger, None))
    };
    let owner = make()?;
    let mut state = null_mut();
    // SAFETY: live handles and a live state; the buffers have the lengths that are passed.
    unsafe {
        assert_eq!(fmi2EnterInitializationMode(owner), fmi2Status::OK);
        assert_eq!(fmi2ExitInitializationMode(owner), fmi2Status::OK);
        assert_eq!(fmi2GetFMUstate(owner, &mut state), fmi2Status::OK);
        let shared = Shared(state);
        let read = || {
            let shared = &shared;
            let c = make().expect("a valid spec");
            assert_eq!(fmi2SetFMUstate(c, shared.0), fmi2Status::OK);
            let mut size = 0;
            assert_eq!(fmi2SerializedFMUstateSize(c, shared.0, &mut size), fmi2Status::OK);
            let mut bytes = vec![0_u8; size];
            let written = fmi2SerializeFMUstate(c, shared.0, bytes.as_mut_ptr().cast(), size);
            assert_eq!(written, fmi2Status::OK);
            fmi2FreeInstance(c);
            bytes
        };
        let [a, b] = std::thread::scope(|scope| {
            [scope.spawn(read), scope.spawn(read)].map(|thread| thread.join().expect("no thread fails"))
        });
        assert_eq!(a, b);
        assert_eq!(fmi2FreeFMUstate(owner, &mut state), fmi2Status::OK);
        fmi2FreeInstance(owner);
    }
    Ok(())
}

fn invalid_handles_are_refused() {
    let mut junk = [0_u64; 64];
    // SAFETY: the memory is readable and as large as a handle's head; its magic number is wrong.
    unsafe {
        assert_eq!(fmi2Reset(null_mut()), fmi2Status::ERROR);
        assert_eq!(fmi2Reset(junk.as_mut_ptr().cast()), fmi2Status::ERROR);
        fmi2FreeInstance(null_mut());
        fmi2FreeInstance(junk.as_mut_ptr().cast());
        fmi2FreeInstance(junk.as_mut_ptr().cast::<u8>().add(1).cast());
    }
}
