//! A refused call changes nothing: the serialised state is identical before and after. Once the
//! cause of the refusal is removed, the call succeeds.

use crate::driver::*;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;

/// Returns the spacecraft with a brake in its elbow, and an impulse port on its base.
pub fn braked() -> Fmu {
    let servo = "servo = { kp = 3.0, kd = 1.0, on = false }";
    assert!(SPACECRAFT.contains(servo));
    let spacecraft = SPACECRAFT.replace(servo, "motions = [\"loads\", \"locked\"]");
    Fmu::of(&format!("{spacecraft}[port.hit]\nframe = \"base\"\nimpulse = true\n"))
}

/// Asserts that the call in `act` is refused and leaves the state unchanged.
#[track_caller]
fn refused(instance: &Instance, act: impl FnOnce() -> fmi2Status) {
    // Reading a variable applies buffered parameters, which would change the bytes.
    instance.get("elbow.q");
    let before = instance.bytes();
    assert_eq!(act(), ERROR);
    assert!(instance.bytes() == before, "it has changed something: {:?}", logged());
    logged();
}

fn event(instance: &Instance) -> fmi2Status {
    let mut info = fmi2EventInfo::default();
    // SAFETY: a live handle, a buffer for the result.
    unsafe { fmi2NewDiscreteStates(instance.c, &mut info) }
}

#[test]
fn refused_value_leaves_all_others_unchanged() {
    let fmu = Fmu::new();
    let [tau, q, mass, damping] = ["elbow.tau", "elbow.q", "lower.mass", "shoulder.damping"].map(|name| fmu.vr(name));
    let cs = fmu.instance(CS);
    cs.initialise(None);
    ok(cs.step(0.0, 0.1));
    refused(&cs, || cs.set_many(&[tau, damping], &[3.0, -1.0]));
    refused(&cs, || cs.set_many(&[damping, tau, damping], &[2.0, 3.0, -1.0]));

    let me = fmu.instance(ME);
    me.initialise(None);
    for _ in 0..2 {
        refused(&me, || me.set_many(&[q, tau, damping], &[1.0, 3.0, -1.0]));
        refused(&me, || me.set_many(&[damping, mass, q], &[2.0, -1.0, 1.0]));
        ok(me.set("elbow.q", 0.2));
    }
    // A valid buffered parameter is kept.
    ok(me.set("lower.mass", 3.0));
    assert_eq!(me.set_many(&[q, damping], &[1.0, -1.0]), ERROR);
    logged();
    assert_eq!([me.get("lower.mass"), me.get("elbow.q")], [3.0, 0.3]);
    me.new_discrete_states();
    me.enter_continuous_time_mode();
    me.enter_event_mode();
    refused(&me, || me.set_many(&[q, tau, damping], &[1.0, 3.0, -1.0]));
    ok(me.set_many(&[q, tau, damping], &[0.1, 3.0, 1.0]));
    assert_eq!(me.get_many(&[q, tau, damping]), [0.1, 3.0, 1.0]);
}

#[test]
fn refused_start_leaves_the_states_unchanged() {
    let fmu = Fmu::of(&format!("formulation = \"natural\"\n{SPACECRAFT}"));
    let me = fmu.instance(ME);
    me.initialise(None);
    let references = ["elbow.tau", "lower.r[1]", "base.w_start[3]", "shoulder.origin[1]"].map(|name| fmu.vr(name));
    let (derivatives, place) = (me.derivatives(), me.get_many(&references[1..2]));
    refused(&me, || me.set_many(&references, &[1.0, place[0], 1e200, 1e200]));
    assert_eq!(me.derivatives(), derivatives);
}

#[test]
fn step_that_fails_at_its_start_leaves_the_state_unchanged() {
    let fmu = braked();
    let cs = fmu.instance(CS);
    cs.initialise(None);
    ok(cs.step(0.0, 0.1));
    let rate = cs.get("elbow.qd");
    ok(cs.set("elbow.motion", 1.0));
    ok(cs.set("push.f[1]", 1e308));
    refused(&cs, || cs.step(0.1, 0.1));
    assert_eq!(cs.get("elbow.qd"), rate);
    ok(cs.set("push.f[1]", 0.0));
    ok(cs.step(0.1, 0.1));
    assert_eq!(cs.get("elbow.qd"), 0.0);
}

/// The impulse would succeed, but the brake would then dissipate more energy than a floating-point
/// number can hold: the event as a whole is refused.
#[test]
fn failed_event_leaves_the_instance_unchanged() {
    let fmu = braked();
    let me = fmu.instance(ME);
    me.initialise(None);
    ok(me.set("elbow.qd", 1e200));
    for (name, value) in [("hit.impulse[1]", 0.5), ("hit.impact", 1.0), ("elbow.motion", 1.0)] {
        ok(me.set(name, value));
    }
    refused(&me, || event(&me));
    ok(me.set("elbow.motion", 0.0));
    let v = me.get("base.v[1]");
    assert_eq!(event(&me), OK);
    assert_ne!(me.get("base.v[1]"), v);

    let cs = fmu.instance(CS);
    ok(cs.set("elbow.qd_start", 1e200));
    cs.setup(None, 0.0, None);
    ok(cs.enter_initialization());
    for (name, value) in [("hit.impulse[1]", 0.5), ("hit.impact", 1.0), ("elbow.motion", 1.0)] {
        ok(cs.set(name, value));
    }
    for _ in 0..2 {
        refused(&cs, || cs.exit_initialization());
    }
    ok(cs.set("elbow.motion", 0.0));
    let v = cs.get("base.v[1]");
    ok(cs.exit_initialization());
    assert_ne!(cs.get("base.v[1]"), v);
}

/// A co-simulation algorithm that halves discarded steps would never end if no step succeeded.
#[test]
fn step_without_progress_within_the_work_limit_is_an_error() {
    let fmu = Fmu::new();
    let cs = fmu.instance(CS);
    ok(cs.set("solver.work_limit", 1.0));
    cs.initialise(None);
    for h in [0.1, 1e-9] {
        refused(&cs, || cs.step(0.0, h));
    }
    ok(cs.set("solver.work_limit", 1000.0));
    ok(cs.step(0.0, 0.1));
}

#[test]
fn step_of_length_zero_is_not_a_first_step() {
    let fmu = Fmu::new();
    let cs = fmu.instance(CS);
    cs.initialise(None);
    ok(cs.step(0.0, 0.0));
    ok(cs.set("lower.mass", 3.0));
    ok(cs.set_input_derivative("elbow.tau", 1, 1e308));
    refused(&cs, || cs.step(0.0, 100.0));
    ok(cs.set("lower.mass", 2.0));
    ok(cs.set_input_derivative("elbow.tau", 1, 0.0));
    ok(cs.step(0.0, 0.1));
    assert_eq!(cs.set("lower.mass", 3.0), ERROR);
    logged();
}
