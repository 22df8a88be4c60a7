//! Where a run starts, and starts again: parameters that are set before the first step (rule O3).

use super::refusals::braked;
use crate::driver::*;
use grapple::fmu::fmi2::*;

#[test]
fn the_time_reached_is_that_of_the_start_until_there_is_another() {
    let fmu = Fmu::new();
    let cs = fmu.instance(CS);
    assert_eq!(cs.last_time(), 0.0);
    cs.setup(None, 7.0, None);
    assert_eq!(cs.last_time(), 7.0);
    ok(cs.enter_initialization());
    assert_eq!(cs.last_time(), 7.0);
    ok(cs.exit_initialization());
    ok(cs.step(7.0, 1.0));
    assert_eq!(cs.last_time(), 8.0);
    ok(cs.reset());
    assert_eq!(cs.last_time(), 0.0);
}

/// A tolerance beyond what integrators take is honoured by a tighter one; a host that integrates by itself has no integrator of ours.
#[test]
fn a_coarse_tolerance_is_taken() {
    let fmu = Fmu::new();
    let cs = fmu.instance(CS);
    cs.initialise(Some(0.9));
    ok(cs.step(0.0, 0.1));
    fmu.instance(ME).initialise(Some(0.9));
}

#[test]
fn a_start_made_again_in_event_mode_is_told() {
    let fmu = Fmu::new();
    let me = fmu.instance(ME);
    let changed = || me.new_discrete_states().valuesOfContinuousStatesChanged;
    me.initialise(None);
    assert_eq!(changed(), fmi2False);
    ok(me.set("elbow.q_start", -0.3));
    // Told once, though a saved state comes between.
    let state = me.save();
    me.get("elbow.q");
    let bytes = me.bytes();
    me.restore(state);
    assert_eq!(changed(), fmi2True);
    assert_eq!(me.get("elbow.q"), -0.3);
    assert_eq!(changed(), fmi2False);
    let (status, again) = me.deserialize(&bytes);
    ok(status);
    me.restore(again);
    assert_eq!(changed(), fmi2True);
    // States that the host sets afterwards are its own: there is nothing to tell.
    ok(me.set("lower.mass", 3.0));
    let x = me.states();
    me.set_states(&x);
    assert_eq!(changed(), fmi2False);
    // And those that it has set before are lost.
    ok(me.set("elbow.q", 0.1));
    ok(me.set("lower.mass", 2.0));
    assert_eq!(changed(), fmi2True);
    assert_eq!(me.get("elbow.q"), -0.3);
    me.free_state(state);
    me.free_state(again);
}

/// What was commanded in Initialization Mode is commanded when the run is started again.
#[test]
fn a_run_started_again_in_co_simulation_obeys_again() {
    let fmu = braked();
    let log = Log::new();
    let cs = fmu.instance_that_tells(&log, CS);
    cs.setup(None, 0.0, None);
    ok(cs.enter_initialization());
    ok(cs.set("elbow.motion", 1.0));
    ok(cs.exit_initialization());
    let locks = || log.take().iter().filter(|said| said.message.contains("elbow")).count();
    assert_eq!((cs.get("elbow.qd"), locks()), (0.0, 1));
    ok(cs.set("lower.mass", 2.0));
    assert_eq!((cs.get("elbow.qd"), locks()), (0.0, 1));
    ok(cs.step(0.0, 0.1));
    assert_eq!((cs.get("elbow.qd"), locks()), (0.0, 0));
}
