//! The functions of FMI, and those by which instances of one model advance together, with
//! evaluations in lanes.
//!
//! Campaigns load this library in place of an FMU's own. `scripts/libraries` compiles it for
//! processors with wide vectors; results have the same bits.
#![allow(unsafe_code)]
#![allow(clippy::missing_safety_doc)] // see `grapple::fmu::c_abi::together::Group`

use grapple::fmu::c_abi::together::Group;
use grapple::fmu::fmi2::fmi2Status;
use std::ffi::c_void;

/// Number of lanes: twice as many as numbers in a vector, or as many with AVX-512.
const LANES: usize = if cfg!(target_feature = "avx512f") { 8 } else { 4 };

/// Returns the largest number of instances in a group.
#[unsafe(no_mangle)]
pub extern "C" fn grapple_lanes() -> usize {
    LANES
}

/// Returns a group of instances, or null if they do not run in lanes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grapple_group(instances: *const *mut c_void, count: usize) -> *mut c_void {
    // SAFETY: guaranteed by the caller.
    unsafe { Group::<LANES>::into_raw(instances, count) }
}

/// Makes a step of each instance and writes its status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grapple_step_group(group: *mut c_void, t: f64, h: f64, statuses: *mut fmi2Status) {
    // SAFETY: guaranteed by the caller.
    unsafe { Group::<LANES>::step(group, t, h, statuses) }
}

/// Frees a group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grapple_free_group(group: *mut c_void) {
    // SAFETY: guaranteed by the caller.
    unsafe { Group::<LANES>::free(group) }
}
