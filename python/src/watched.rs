//! Long work in a thread of its own, while this thread handles signals and reports the progress; and
//! signals during work in this thread.

use crate::errors;
use fmu_build::{Control, Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which signals are handled and the progress is reported.
const INTERVAL: Duration = Duration::from_millis(50);

/// Stack of the thread, bytes: that of a main thread.
const STACK: usize = 16 << 20;

/// Runs `work` without the interpreter lock. `progress` is called with the part that is done and
/// the whole. Ctrl-C cancels the work; `KeyboardInterrupt` is raised after its end.
///
/// # Errors
/// The exception of a signal handler or of `progress`; those of the work.
pub fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Control) -> Result<T> + Send,
) -> PyResult<T> {
    let (cancel, parts) = (AtomicBool::new(false), [AtomicU64::new(0), AtomicU64::new(0)]);
    let mut stopped = None;
    let notify = || {
        Python::attach(|py| {
            py.check_signals()?;
            let [done, whole] = parts
                .each_ref()
                .map(|part| f64::from_bits(part.load(Ordering::Relaxed)));
            match &progress {
                Some(progress) if whole > 0.0 => progress.call1(py, (done, whole)).map(|_| ()),
                _ => Ok(()),
            }
        })
    };
    let outcome = py.detach(|| {
        let (ended, end) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let (cancel, parts) = (&cancel, &parts);
            let run = move || {
                let _ended = ended;
                let mut report = |done: f64, whole: f64| {
                    parts[0].store(done.to_bits(), Ordering::Relaxed);
                    parts[1].store(whole.to_bits(), Ordering::Relaxed);
                };
                work(Control {
                    progress: Some(&mut report),
                    cancel: Some(cancel),
                })
            };
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
            let thread = thread.map_err(|error| Error::Other(error.into()))?;
            while let Err(mpsc::RecvTimeoutError::Timeout) = end.recv_timeout(INTERVAL) {
                if let Err(error) = notify() {
                    stopped.get_or_insert(error);
                    cancel.store(true, Ordering::Relaxed);
                }
            }
            Ok(thread.join())
        })
    });
    match (stopped, outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(Ok(result)))) => {
            notify()?;
            Ok(result)
        }
        (None, Ok(Ok(Err(error))) | Err(error)) => Err(errors::of_library(py, &error)),
        (None, Ok(Err(_))) => Err(PyRuntimeError::new_err("internal error: the work panicked")),
    }
}

/// Number of calls of [`Signals::flow`] from one reading of the clock to the next, which costs as much
/// as a part of a percent of a small model's step.
const CALLS: u32 = 8;

/// Signals during work in this thread without the interpreter lock, for calls too short for a thread
/// of their own.
#[derive(Default)]
pub struct Signals {
    calls: u32,
    /// Time of the last check for signals.
    last: Option<Instant>,
    /// Exception of a signal handler, which ends the work.
    pub raised: Option<PyErr>,
}

impl Signals {
    /// Handles signals once in an interval. Returns [`ControlFlow::Break`] if a handler raises an
    /// exception.
    pub fn flow(&mut self) -> ControlFlow<()> {
        self.calls += 1;
        if self.calls < CALLS {
            return ControlFlow::Continue(());
        }
        self.calls = 0;
        if self.last.get_or_insert_with(Instant::now).elapsed() >= INTERVAL {
            self.raised = Python::attach(|py| py.check_signals()).err();
            self.last = Some(Instant::now());
        }
        match self.raised {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}
