//! Values that overflow: the call is refused with the variable's name, and the instance stays
//! usable.

use crate::driver::*;
use crate::messages;
use crate::recorded::Recorded;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;

/// Returns a controller of one joint as an FMU, optionally sampled every 10 ms.
fn controller(sampled: bool) -> Fmu {
    let sample_time = if sampled { "sample_time = 0.01\n" } else { "" };
    Fmu::of(&format!(
        "name = \"pilot\"\nkind = \"controller\"\n[controller]\n{sample_time}[controller.joint.shoulder]\nkp = 900.0\nkd = 600.0\n"
    ))
}

/// Asserts that the instance's serialised state can be deserialised again.
fn keeps(instance: &Instance) {
    let (status, state) = instance.deserialize(&instance.bytes());
    ok(status);
    instance.free_state(state);
}

#[test]
fn indicators_and_derivatives_that_are_not_finite_are_refused_by_name() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::of(&impact_in_orbit()), Log::new());
    let me = fmu.instance_with_log(&log, ME);
    me.begin();
    log.take();
    let good = me.states();
    ok(me.set("ball.r[1]", 1e200));
    let mut z = vec![0.0; fmu.indicator_count()];
    // SAFETY: a live handle, and a buffer for all indicators.
    let status = unsafe { fmi2GetEventIndicators(me.c, z.as_mut_ptr(), z.len()) };
    assert_eq!(status, DISCARD, "{z:?}");
    log.assert_logged(DISCARD, &["fmi2GetEventIndicators"]);

    me.set_states(&good);
    me.indicators();
    let [q, qd] = ["elbow.q", "elbow.qd"].map(|name| fmu.vr(name));
    // Contributions of a repeated known are added, which overflows here.
    let (status, _) = me.directional(&[q], &[q, q], &[1e308, 1e308]);
    assert_eq!(status, DISCARD);
    log.assert_logged(DISCARD, &["elbow.q"]);
    let (status, _) = me.directional(&[fmu.vr("der(elbow.q)")], &[qd, qd], &[1e308, 1e308]);
    assert_eq!(status, DISCARD);
    log.assert_logged(DISCARD, &["der("]);
    assert_eq!(me.along(&[q], &[q], &[1.0]), [1.0]);
}

#[test]
fn output_derivatives_that_are_not_finite_are_refused_by_name() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::new(), Log::new());
    let cs = fmu.instance_with_log(&log, CS);
    ok(cs.set("base.v_start[1]", 1e200));
    cs.initialise(None);
    let mut value = 0.0;
    let mut ask = |name: &str| {
        // SAFETY: a live handle, one number each.
        unsafe { fmi2GetRealOutputDerivatives(cs.c, &fmu.vr(name), 1, &1, &mut value) }
    };
    assert_eq!(ask("system.energy"), ERROR);
    log.assert_logged(ERROR, &["system.energy"]);
    ok(ask("base.r[1]"));
    assert_eq!(value, 1e200);
}

#[test]
fn start_values_that_overflow_are_refused_when_initialisation_ends() {
    let _section = messages::of_this_test();
    let spacecraft = format!("formulation = \"natural\"\n{SPACECRAFT}");
    let (fmu, log) = (Fmu::of(&spacecraft), Log::new());
    let cs = fmu.instance_with_log(&log, CS);
    ok(cs.set("base.w_start[3]", 1e200));
    ok(cs.set("shoulder.origin[1]", 1e200));
    ok(cs.enter_initialization());
    assert_eq!(cs.exit_initialization(), ERROR);
    log.assert_logged(ERROR, &["fmi2ExitInitializationMode"]);
    keeps(&cs);
    ok(cs.set("base.w_start[3]", 0.1));
    ok(cs.set("shoulder.origin[1]", 0.5));
    ok(cs.exit_initialization());
}

/// Regression: the work limit of a refused start stayed in the integrator after another state was
/// restored.
#[test]
fn a_state_restored_after_a_refused_start_has_its_own_work_limit() {
    let spacecraft = format!("formulation = \"natural\"\n{SPACECRAFT}");
    let fmu = Fmu::of(&spacecraft);
    let good = fmu.instance(CS);
    good.initialise(None);
    let saved = good.save();

    let refused = fmu.instance(CS);
    ok(refused.set("solver.work_limit", 1.0));
    ok(refused.set("base.w_start[3]", 1e200));
    ok(refused.set("shoulder.origin[1]", 1e200));
    ok(refused.enter_initialization());
    assert_eq!(refused.exit_initialization(), ERROR);
    refused.restore(saved);
    ok(refused.step(0.0, 0.01));
    good.free_state(saved);
}

#[test]
fn input_derivatives_that_overflow_are_refused_with_the_step() {
    let _section = messages::of_this_test();
    for fmu in [controller(false), controller(true)] {
        let log = Log::new();
        let cs = fmu.instance_with_log(&log, CS);
        cs.initialise(None);
        ok(cs.set_input_derivative("shoulder.q", 1, 1e308));
        assert_eq!(cs.step(0.0, 100.0), ERROR);
        log.assert_logged(ERROR, &["shoulder.q"]);
        keeps(&cs);
        ok(cs.set_input_derivative("shoulder.q", 1, 1e3));
        ok(cs.step(0.0, 100.0));
        assert_eq!(cs.get("shoulder.q"), 1e5);
    }
}

#[test]
fn a_sample_that_overflows_is_refused_by_the_name_of_the_output() {
    let _section = messages::of_this_test();
    let (fmu, log) = (controller(true), Log::new());
    let cs = fmu.instance_with_log(&log, CS);
    cs.initialise(None);
    ok(cs.set("shoulder.q_ref", 1e307));
    assert_eq!(cs.step(0.0, 0.1), ERROR);
    log.assert_logged(ERROR, &["shoulder.tau"]);
    keeps(&cs);
    ok(cs.set("shoulder.q_ref", 1.0));
    ok(cs.step(0.0, 0.1));

    let me = fmu.instance_with_log(&log, ME);
    me.initialise(None);
    ok(me.set("shoulder.q_ref", 1e307));
    let mut info = fmi2EventInfo::default();
    // SAFETY: a live handle, a buffer for the result.
    assert_eq!(unsafe { fmi2NewDiscreteStates(me.c, &mut info) }, ERROR);
    log.assert_logged(ERROR, &["shoulder.tau"]);
    keeps(&me);
}

/// Regression: a controller has no states, so its evaluations were not counted as work, and a long
/// step made millions of samples.
#[test]
fn samples_count_as_work() {
    let _section = messages::of_this_test();
    let (fmu, log) = (controller(true), Log::new());
    let cs = fmu.instance_with_log(&log, CS);
    ok(cs.set("solver.work_limit", 1000.0));
    cs.initialise(None);
    assert_eq!(cs.step(0.0, 1e9), DISCARD);
    log.assert_logged(DISCARD, &["1000"]);
    let reached = cs.last_time();
    assert!(reached > 1.0 && reached < 20.0, "{reached}");
    ok(cs.step(reached, 1.0));
    // At late times millions of samples fall on the same floating-point number.
    for late in [1e15, 1e300] {
        ok(cs.reset());
        cs.setup(None, late, None);
        ok(cs.enter_initialization());
        ok(cs.exit_initialization());
        ok(cs.step(late, late * 1e-12));
    }
}

#[test]
fn step_size_can_reach_the_largest_number_and_the_state_can_be_saved() {
    let fmu = Fmu::of("name = \"hub\"\n[body.hub]\nmass = 2.0\ninertia = [1.0, 1.0, 1.0]\n");
    let cs = fmu.instance(CS);
    cs.initialise(None);
    let mut t = 0.0;
    for h in [1.0, 1e100, 1e200, 1e300, 1e308] {
        ok(cs.step(t, h));
        t = cs.last_time();
        keeps(&cs);
    }
}

/// The work limit is a parameter of the state: a step must end at the same time after the state is
/// restored.
#[test]
fn step_ended_by_the_work_limit_is_repeated_from_a_restored_state() {
    for method in ["dopri5", "dop853", "radau5", "rosenbrock", "auto"] {
        let fmu = Fmu::of(&format!("{SPACECRAFT}[solver]\nmethod = \"{method}\"\n"));
        let cs = fmu.instance(CS);
        ok(cs.set("solver.work_limit", 400.0));
        cs.initialise(Some(1e-12));
        ok(cs.step(0.0, 1e-4));
        let state = cs.save();
        let go = || {
            assert_eq!(cs.step(1e-4, 10.0), DISCARD, "{method}");
            (cs.last_time().to_bits(), cs.bits())
        };
        let there = go();
        cs.restore(state);
        assert_eq!(go(), there, "{method}");
        cs.free_state(state);
        logged();
    }
}

/// A refused command is reported once, and its event indicator depends on the refusal: both belong
/// to the state.
#[test]
fn refused_command_is_refused_again_from_a_restored_state() {
    let spacecraft = SPACECRAFT.replace(
        "servo = { kp = 3.0, kd = 1.0, on = false }",
        "motions = [\"loads\", \"locked\"]",
    );
    assert_ne!(spacecraft, SPACECRAFT);
    let (fmu, log) = (Fmu::of(&spacecraft), Log::new());
    let me = fmu.instance_with_log(&log, ME);
    me.begin();
    ok(me.set("elbow.motion", 7.0));
    let state = me.save();
    for _ in 0..2 {
        assert_eq!(me.indicators().last(), Some(&-1.0));
        log.take();
        me.event();
        assert!(log.take().iter().any(|said| said.message.contains("elbow.motion = 7")));
        assert_eq!(me.indicators().last(), Some(&1.0));
        me.restore(state);
    }
    me.free_state(state);
}

#[test]
fn a_parameter_that_differs_by_the_sign_of_zero_is_restored() {
    let fmu = controller(false);
    let [a, b] = [(); 2].map(|()| fmu.instance(CS));
    for (instance, zero) in [(&a, -0.0), (&b, 0.0)] {
        ok(instance.set("shoulder.kp", zero));
        ok(instance.set("shoulder.kd", zero));
        instance.initialise(None);
        ok(instance.set("shoulder.q_ref", 1.0));
        ok(instance.set("shoulder.tau_ff", -0.0));
    }
    let torque = a.get("shoulder.tau").to_bits();
    assert_ne!(b.get("shoulder.tau").to_bits(), torque);
    let (status, state) = b.deserialize(&a.bytes());
    ok(status);
    b.restore(state);
    assert_eq!(b.get("shoulder.tau").to_bits(), torque);
    b.free_state(state);
}
