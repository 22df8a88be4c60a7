use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Progress and cancellation of long work; by default it is neither reported nor cancelled.
#[derive(Default)]
pub struct Control<'a> {
    /// Called with the amount done, from zero, and the total: times (s) or numbers of runs.
    pub progress: Option<&'a mut dyn FnMut(f64, f64)>,
    /// Set by another thread to end the work at its next communication point. Results so far are
    /// kept.
    pub cancel: Option<&'a AtomicBool>,
}

impl Control<'_> {
    /// Reports the part that is done.
    pub(crate) fn report(&mut self, done: f64, whole: f64) {
        if let Some(progress) = &mut self.progress {
            progress(done, whole);
        }
    }

    /// Returns [`ControlFlow::Break`] if the work is cancelled.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        match self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
