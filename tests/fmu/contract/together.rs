//! Instances that advance together: functions of the library for campaigns, which are not of FMI.

use crate::driver::*;
use grapple::fmu::c_abi::together::Group;
use grapple::fmu::fmi2::fmi2Status;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A servo whose motor reaches its limit, a joint with a brake, a stop that is touched, and a sine inside
/// the model.
const ARM: &str = r#"
name = "arm"
[body.base]
mass = 30.0
inertia = [4.0, 4.0, 4.0]
[body.upper]
mass = 3.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.4, 0.4]
[body.lower]
mass = 2.0
mass_centre = [0.4, 0.0, 0.0]
inertia = [0.1, 0.3, 0.3]
[body.hand]
mass = 0.5
inertia = [0.02, 0.02, 0.02]
[joint.shoulder]
type = "revolute"
parent = "base"
child = "upper"
servo = { kp = 20.0, kd = 3.0 }
motor = { torque_limit = 4.0 }
[joint.wrist]
type = "revolute"
parent = "lower"
child = "hand"
origin = [0.8, 0.0, 0.0]
motions = ["locked", "loads"]
[joint.elbow]
type = "revolute"
parent = "upper"
child = "lower"
origin = [1.0, 0.0, 0.0]
range = { min_deg = -30.0, max_deg = 30.0, stop = "compliant", stiffness = 200.0, damping = 1.0 }
[signal."shoulder.q_ref"]
type = "sine"
amplitude = 0.8
frequency = 0.3
from_importer = false
[experiment]
stop_time = 3.0
step = 0.05
"#;

/// A group that is freed when it is dropped.
struct Together {
    raw: *mut c_void,
    size: usize,
}

impl Together {
    fn of(instances: &[&Instance]) -> Option<Self> {
        let pointers: Vec<*mut c_void> = instances.iter().map(|of| of.c).collect();
        // SAFETY: the instances live, and longer than the group.
        let raw = unsafe { Group::<4>::into_raw(pointers.as_ptr(), pointers.len()) };
        let size = pointers.len();
        (!raw.is_null()).then_some(Self { raw, size })
    }

    fn step(&self, t: f64, h: f64) -> Vec<fmi2Status> {
        let mut statuses = vec![fmi2Status::PENDING; self.size];
        // SAFETY: a live group, with a place for each status.
        unsafe { Group::<4>::step(self.raw, t, h, statuses.as_mut_ptr()) };
        statuses
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        // SAFETY: the group lives and is not used again.
        unsafe { Group::<4>::free(self.raw) };
    }
}

/// Returns instances with parameters of their own, initialised.
fn instances<'a>(fmu: &'a Fmu, logs: &'a [Log; 3]) -> [Instance<'a>; 3] {
    std::array::from_fn(|k| {
        let instance = fmu.instance_with_log(&logs[k], CS);
        ok(instance.set("lower.mass", 2.0 + 0.3 * k as f64));
        ok(instance.set("elbow.qd_start", 0.9 - 0.7 * k as f64));
        // The motor of the first is at its limit while those of the others are not.
        ok(instance.set("shoulder.kp", if k == 0 { 200.0 } else { 8.0 }));
        instance.initialise(Some(1e-6));
        instance
    })
}

/// Through touches of the stop, limits of motors, a brake that is released, with inputs that vary within
/// steps, changes of a parameter during the run, and steps of length zero: saved states are equal to the
/// byte, by each kind of method.
#[test]
fn steps_of_a_group_equal_steps_of_each_instance() {
    for solver in ["auto", "dopri5", "rosenbrock"] {
        steps_are_equal(&format!("{ARM}[solver]\nmethod = \"{solver}\"\n"));
    }
    for solver in ["rk4", "linearly_implicit"] {
        steps_are_equal(&format!("{ARM}[solver]\nmethod = \"{solver}\"\nstep = 0.01\n"));
    }
}

fn steps_are_equal(text: &str) {
    let fmu = Fmu::of(text);
    let logs: [[Log; 3]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| Log::new()));
    let [alone, grouped] = [&logs[0], &logs[1]].map(|logs| instances(&fmu, logs));
    let group = Together::of(&grouped.each_ref()).expect("one model");
    let mut t = 0.0;
    for k in 0..60 {
        for instances in [&alone, &grouped] {
            ok(instances[1].set("elbow.tau", (0.3 * f64::from(k)).sin()));
            ok(instances[1].set_input_derivative("elbow.tau", 1, 0.2));
            if k == 30 {
                ok(instances[2].set("shoulder.kp", 25.0));
            }
            if k == 20 || k == 40 {
                let motion = if k == 20 { 1.0 } else { 0.0 };
                instances
                    .iter()
                    .for_each(|instance| ok(instance.set("wrist.motion", motion)));
            }
        }
        let h = if k == 10 { 0.0 } else { 0.05 };
        alone.iter().for_each(|instance| ok(instance.step(t, h)));
        assert_eq!(group.step(t, h), [OK; 3]);
        t += h;
        for (a, b) in alone.iter().zip(&grouped) {
            assert!(a.bytes() == b.bytes(), "states differ at {t} s");
        }
    }
}

#[test]
fn an_instance_that_fails_has_its_own_status_and_message() {
    let fmu = Fmu::of(ARM);
    let logs: [Log; 3] = std::array::from_fn(|_| Log::new());
    let grouped = instances(&fmu, &logs);
    let group = Together::of(&grouped.each_ref()).expect("one model");
    assert_eq!(group.step(0.0, 0.1), [OK; 3]);
    ok(grouped[1].step(0.1, 0.1));
    assert_eq!(group.step(0.1, 0.1), [OK, ERROR, OK], "the second is at 0.2 s");
    logs[1].assert_named(ERROR, &["fmi2DoStep", "communication point"]);
    ok(grouped[2].terminate());
    assert_eq!(group.step(0.2, 0.1), [OK, OK, ERROR]);
    logs[2].assert_named(ERROR, &["fmi2DoStep"]);
}

/// One run overflows: the others have the bytes of runs alone.
#[test]
fn a_run_that_overflows_does_not_affect_the_others() {
    for method in ["dopri5", "rosenbrock"] {
        let fmu = Fmu::of(&format!("{ARM}[solver]\nmethod = \"{method}\"\n"));
        let logs: [[Log; 3]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| Log::new()));
        let [alone, grouped] = [&logs[0], &logs[1]].map(|logs| instances(&fmu, logs));
        let group = Together::of(&grouped.each_ref()).expect("one model");
        let mut failed = false;
        for k in 0..10 {
            for instances in [&alone, &grouped] {
                let torque = if k < 3 { 0.1 } else { 1e306 };
                ok(instances[1].set("elbow.tau", torque));
            }
            let t = 0.05 * f64::from(k);
            let statuses = alone.each_ref().map(|instance| instance.step(t, 0.05));
            assert_eq!(group.step(t, 0.05), statuses, "{method}");
            failed |= statuses[1] != OK;
            for (a, b) in alone.iter().zip(&grouped) {
                assert!(a.bytes() == b.bytes(), "{method}: states differ at {t} s");
            }
        }
        assert!(failed, "{method}");
    }
}

#[test]
fn instances_that_do_not_run_in_lanes_make_no_group() {
    let (arm, contact) = (Fmu::of(ARM), Fmu::of(&catcher()));
    let other = Fmu::of(&ARM.replace("mass = 30.0", "mass = 31.0"));
    let [a, b, c, d] = [&arm, &arm, &other, &contact].map(|fmu| fmu.instance(CS));
    assert!(Together::of(&[&a, &b]).is_none(), "not initialised");
    for instance in [&a, &b, &c, &d] {
        instance.initialise(None);
    }
    assert!(Together::of(&[&a, &b]).is_some());
    assert!(Together::of(&[&a, &c]).is_none(), "two models");
    assert!(Together::of(&[&d, &d]).is_none(), "one instance twice");
    assert!(Together::of(&[&a, &a]).is_none(), "one instance twice");
    assert!(Together::of(&[&d]).is_none(), "contacts");
    assert!(Together::of(&[]).is_none());
    assert!(Together::of(&[&a; 5]).is_none(), "more than lanes");
    let foreign = [a.c, null_mut()];
    // SAFETY: an instance, and null.
    let raw = unsafe { Group::<4>::into_raw(foreign.as_ptr(), 2) };
    assert!(raw.is_null());
    // SAFETY: null is accepted.
    unsafe {
        Group::<4>::step(null_mut(), 0.0, 0.1, null_mut());
        Group::<4>::free(null_mut());
    }
}
