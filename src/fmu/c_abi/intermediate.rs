//! Intermediate updates (FMI 3.0, §4.2.2): during a step the importer's callback reads the values
//! after each step of the integrator, and may end the step.
//!
//! The instance itself is in use then. The callback's calls read a copy that has its time, states,
//! inputs and discrete state, and its mode "Intermediate Update Mode", in which the table of calls
//! allows getters only.

use super::{floating_point, panics};
use crate::fmu::component::{Component, Fault};
use crate::fmu::fmi3::{fmi3Boolean, fmi3False, fmi3InstanceEnvironment, fmi3IntermediateUpdateCallback, fmi3True};
use crate::fmu::lifecycle::Mode;
use crate::fmu::memory::OutOfMemory;
use crate::simulation::{Observer, Simulation};
use std::cell::UnsafeCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The importer's callback and its environment.
pub(super) type Updates = (fmi3IntermediateUpdateCallback, fmi3InstanceEnvironment);

/// Callback of an instance, with the copy that the callback reads.
pub(super) struct Intermediate {
    updates: Updates,
    copy: UnsafeCell<Box<Component>>,
    /// True while the callback runs and no call from it is using the copy.
    is_open: AtomicBool,
}

impl Intermediate {
    /// Makes the copy of a new instance.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(super) fn new(updates: Updates, of: &Component) -> Result<Self, OutOfMemory> {
        Ok(Self {
            updates,
            copy: UnsafeCell::new(Box::new(of.copy_for_updates()?)),
            is_open: AtomicBool::new(false),
        })
    }

    /// Returns the copy with the flag to set at the end of the access; `None` unless the callback
    /// runs and no other call from it is using the copy.
    pub(super) fn enter(&self) -> Option<(*mut Component, &AtomicBool)> {
        let is_free = self.is_open.swap(false, Ordering::Acquire);
        // SAFETY: the flag was set, and is now cleared by this call, so that there is no other
        // reference to the copy.
        is_free.then(|| (unsafe { &raw mut **self.copy.get() }, &self.is_open))
    }

    /// Prepares the copy for a step of the instance, and returns the observer of this step.
    ///
    /// # Errors
    /// Those of validating buffered parameters.
    ///
    /// # Safety
    /// The caller has the exclusive access to the instance, and no callback runs.
    pub(super) unsafe fn observer(&self, component: &mut Component, end: f64) -> Result<Updater<'_>, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { &mut *self.copy.get() }.prepare_updates(component)?;
        Ok(Updater {
            of: self,
            can_return_early: component.may_return_early(),
            end,
        })
    }
}

/// Observer of one step, which calls the importer's callback.
pub(super) struct Updater<'a> {
    of: &'a Intermediate,
    can_return_early: bool,
    /// End of the step, s.
    end: f64,
}

impl Observer for Updater<'_> {
    fn before_step(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn after_step(&mut self, simulation: &Simulation, t_start: f64) -> Option<f64> {
        let (t, is_open) = (simulation.state.t, &self.of.is_open);
        // SAFETY: the callback does not run, and only a call from it may use the copy.
        let copy = unsafe { &mut **self.of.copy.get() };
        if copy.mode() == Mode::Lost {
            return None;
        }
        copy.show(simulation, t_start);
        is_open.store(true, Ordering::Release);
        let (mut is_requested, mut earlier) = (fmi3False, t);
        let can_return_early = fmi3Boolean::from(self.can_return_early);
        let (callback, environment) = self.of.updates;
        let call = || {
            // SAFETY: the importer's function has the standard's type; both places live until it
            // returns.
            unsafe {
                // No input may be set; values can be read, and are those of an accepted step.
                callback(
                    environment,
                    t,
                    fmi3False,
                    fmi3True,
                    fmi3True,
                    can_return_early,
                    &mut is_requested,
                    &mut earlier,
                );
            }
        };
        panics::outside(|| floating_point::in_importers(call));
        // A call that another thread has begun during the callback ends first.
        while !is_open.swap(false, Ordering::Acquire) {
            std::thread::yield_now();
        }
        let is_requested = is_requested != fmi3False && self.can_return_early;
        // A time that is not a number, or is past, means now.
        is_requested.then(|| if earlier > t { earlier.min(self.end) } else { t })
    }
}
