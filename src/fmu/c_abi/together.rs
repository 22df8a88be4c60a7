//! Steps of several instances at once, for programs that make many runs of one model: no functions of
//! FMI. A library for such programs exports them with a number of lanes that suits its processor.

use super::handle::Handle;
use crate::fmu::component::{Component, step_together};
use crate::fmu::fmi2::fmi2Status;
use crate::integrate::Span;
use crate::simulation::LaneRuns;
use std::ffi::c_void;

/// Instances that advance together, which the caller keeps alive.
#[derive(Debug)]
pub struct Group<const N: usize> {
    instances: Vec<*mut c_void>,
    lanes: LaneRuns<N>,
}

impl<const N: usize> Group<N> {
    /// Returns a group of `count` initialised instances of Co-Simulation; null if they are not one to
    /// `N` instances of one model that runs in lanes.
    ///
    /// # Safety
    /// `instances` points to `count` live instances, which are not freed before the group.
    pub unsafe fn into_raw(instances: *const *mut c_void, count: usize) -> *mut c_void {
        if instances.is_null() || !(1..=N).contains(&count) {
            return std::ptr::null_mut();
        }
        // SAFETY: guaranteed by the caller.
        let instances = unsafe { std::slice::from_raw_parts(instances, count) }.to_vec();
        let mut lanes = None;
        let make = |components: &mut [&mut Component]| {
            let components: Vec<&Component> = components.iter().map(|component| &**component).collect();
            let steps = |component: &&Component| component.permit(component.step_rule()).is_ok();
            if components.iter().all(steps) {
                lanes = LaneRuns::of_components(&components).ok();
            }
            components.iter().map(|_| Ok(())).collect()
        };
        // SAFETY: guaranteed by the caller.
        unsafe { Handle::call_together(&instances, make) };
        match lanes {
            Some(lanes) => Box::into_raw(Box::new(Self { instances, lanes })).cast(),
            None => std::ptr::null_mut(),
        }
    }

    /// Makes the step from `t` to `t + h` (s) of each instance, as `fmi2DoStep` or `fmi3DoStep`, and
    /// writes its status.
    ///
    /// # Safety
    /// `group` comes from [`into_raw`](Self::into_raw) and has not been freed; `statuses` points to a
    /// place for each instance.
    pub unsafe fn step(group: *mut c_void, t: f64, h: f64, statuses: *mut fmi2Status) {
        // SAFETY: guaranteed by the caller.
        let Some(Self { instances, lanes }) = (unsafe { group.cast::<Self>().as_mut() }) else {
            return;
        };
        // SAFETY: guaranteed by the caller of `into_raw`.
        let found =
            unsafe { Handle::call_together(instances, |all| step_together(all, lanes, |_, _| Some(Span { t, h }))) };
        for (k, status) in found.into_iter().enumerate() {
            // SAFETY: there is a place for each instance.
            unsafe { *statuses.add(k) = fmi2Status::from(status) };
        }
    }

    /// Frees a group; null is accepted.
    ///
    /// # Safety
    /// `group` is null or comes from [`into_raw`](Self::into_raw), and is not used again.
    pub unsafe fn free(group: *mut c_void) {
        if !group.is_null() {
            // SAFETY: guaranteed by the caller.
            drop(unsafe { Box::from_raw(group.cast::<Self>()) });
        }
    }
}
