//! Instances of one library that advance together: functions that are not of FMI, which the library of
//! the package `grapple-lanes` exports.

use super::{Calls, Result, Slave, at_time, fmi2, fmi3};
use grapple::fmu::fmi2::fmi2Status;
use grapple::fmu::fmi3::fmi3Status;
use std::ffi::c_void;
use std::marker::PhantomData;

/// The functions by which instances advance together.
pub struct Functions {
    count: unsafe extern "C" fn() -> usize,
    group: unsafe extern "C" fn(*const *mut c_void, usize) -> *mut c_void,
    step: unsafe extern "C" fn(*mut c_void, f64, f64, *mut fmi2Status),
    free: unsafe extern "C" fn(*mut c_void),
}

impl Functions {
    /// Returns the functions of a library that exports them.
    pub fn of(library: &super::Library) -> Option<Self> {
        // SAFETY: the types are those of the package `grapple-lanes`. The pointers are valid while the
        // library is loaded, and `FmuLibrary` keeps it loaded.
        unsafe {
            Some(Self {
                count: *library.get("grapple_lanes").ok()?,
                group: *library.get("grapple_group").ok()?,
                step: *library.get("grapple_step_group").ok()?,
                free: *library.get("grapple_free_group").ok()?,
            })
        }
    }

    /// Returns the largest number of instances in a group.
    pub fn most(&self) -> usize {
        // SAFETY: the function has no arguments.
        unsafe { (self.count)() }
    }

    /// Returns a group of these instances of the same library; `None` if they do not run in lanes.
    pub fn group<'l>(&'l self, slaves: &[&Slave<'l>]) -> Option<Group<'l>> {
        let instances: Option<Vec<*mut c_void>> = slaves.iter().map(|slave| instance(slave)).collect();
        let instances = instances?;
        // SAFETY: the instances live, and `Group::step` is called with the same ones.
        let raw = unsafe { (self.group)(instances.as_ptr(), instances.len()) };
        let is_made = !raw.is_null();
        is_made.then(|| Group {
            functions: self,
            raw,
            instances,
            of: PhantomData,
        })
    }
}

/// A group of instances.
pub struct Group<'l> {
    functions: &'l Functions,
    raw: *mut c_void,
    instances: Vec<*mut c_void>,
    of: PhantomData<Slave<'l>>,
}

impl Group<'_> {
    /// Makes the step from `t` to `t + h` (s) of each instance; returns their outcomes.
    ///
    /// # Panics
    /// If the instances are not those of the group.
    pub fn step(&mut self, slaves: &[&Slave], t: f64, h: f64) -> Vec<Result<()>> {
        let are_own = slaves
            .iter()
            .map(|slave| instance(slave))
            .eq(self.instances.iter().map(|&own| Some(own)));
        assert!(are_own, "a group steps with its own instances");
        let mut statuses = vec![fmi2Status::ERROR; slaves.len()];
        // SAFETY: the instances live, since the caller has them; there is a status for each.
        unsafe { (self.functions.step)(self.raw, t, h, statuses.as_mut_ptr()) };
        let outcomes = slaves.iter().zip(statuses).map(|(slave, status)| {
            // The versions of the standard have the same numbers.
            let outcome = match slave.calls {
                Calls::Fmi3(_) => fmi3::outcome("fmi3DoStep", fmi3Status(status.0)),
                _ => fmi2::outcome("fmi2DoStep", status),
            };
            at_time(slave.expect(outcome), t)
        });
        outcomes.collect()
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        // SAFETY: the group lives and is not used after this.
        unsafe { (self.functions.free)(self.raw) };
    }
}

/// Returns the pointer of an instance of a library.
fn instance(slave: &Slave) -> Option<*mut c_void> {
    match &slave.calls {
        Calls::Fmi2(slave) => Some(slave.component),
        Calls::Fmi3(slave) => Some(slave.instance),
        Calls::InProcess(_) => None,
    }
}
