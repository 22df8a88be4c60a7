//! Parameters that are set after initialisation, before the first step: the start is computed again
//! (rule O3 of docs/hosts.md).

use super::refusals::braked;
use crate::driver::*;
use grapple::fmu::fmi2::*;

#[test]
fn time_reached_is_the_start_time_before_the_first_step() {
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

/// A tolerance coarser than the integrators support is replaced by a tighter one; in Model Exchange
/// the tolerance has no effect.
#[test]
fn coarse_tolerance_is_accepted() {
    let fmu = Fmu::new();
    let cs = fmu.instance(CS);
    cs.initialise(Some(0.9));
    ok(cs.step(0.0, 0.1));
    fmu.instance(ME).initialise(Some(0.9));
}

#[test]
fn restart_in_event_mode_reports_changed_states() {
    let fmu = Fmu::new();
    let me = fmu.instance(ME);
    let changed = || me.new_discrete_states().valuesOfContinuousStatesChanged;
    me.initialise(None);
    assert_eq!(changed(), fmi2False);
    ok(me.set("elbow.q_start", -0.3));
    // Changed states are reported once, also if a saved state is restored before the report.
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
    // If the importer then sets the states itself, nothing is reported.
    ok(me.set("lower.mass", 3.0));
    let x = me.states();
    me.set_states(&x);
    assert_eq!(changed(), fmi2False);
    // States that were set before the parameter are lost.
    ok(me.set("elbow.q", 0.1));
    ok(me.set("lower.mass", 2.0));
    assert_eq!(changed(), fmi2True);
    assert_eq!(me.get("elbow.q"), -0.3);
    me.free_state(state);
    me.free_state(again);
}

/// Commands that were set in Initialization Mode are applied again when the run is restarted.
#[test]
fn restarted_run_in_co_simulation_applies_commands_again() {
    let fmu = braked();
    let log = Log::new();
    let cs = fmu.instance_with_log(&log, CS);
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
