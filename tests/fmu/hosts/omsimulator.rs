//! OMSimulator: OpenModelica's co-simulation engine, rules S1 to S6.
//!
//! Read from OpenModelica/OMSimulator: `src/OMSimulatorLib/ComponentFMUCS.cpp` and
//! `ComponentFMUME.cpp` (`instantiate`, `initialize`, `doEventIteration`, `stepUntil`, `reset`,
//! `getReal`), `SystemSC.cpp` (`cvode_rhs`, `cvode_roots`, `doStepEuler`, nominals).
//!
//! Facts used: instances are created with `visible` and `loggingOn` true and a null environment.
//! Values are set and read one at a time. `fmi2SetupExperiment(true, tolerance, start, false, 1.0)`
//! passes a stop time but declares it undefined. Any status but `fmi2OK` is an error; in
//! `fmi2DoStep` a discard ends the run. NaN and infinity are errors, as is a nominal that is not
//! positive. `doStepEuler` sets the states before the time.

use crate::driver::integration::{Calls, integrate};
use crate::driver::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::Slot;

fn component(fmu: &Fmu, kind: fmi2Type) -> Instance<'_> {
    fmu.instance_with(kind, Some(&callbacks()), fmi2True, fmi2True)
}

/// Calls `setupExperiment` with a stop time of 1.0 that must be ignored, then enters Initialization
/// Mode.
fn set_up(instance: &Instance, tolerance: f64) {
    instance.setup_with_undefined_stop(tolerance, 1.0);
    ok(instance.enter_initialization());
}

fn one_at_a_time(instance: &Instance) -> Vec<f64> {
    let references = instance.fmu.outputs();
    references.iter().map(|&r| instance.get_many(&[r])[0]).collect()
}

/// A Model Exchange component of a strongly coupled system.
struct Component<'a> {
    fmu: Instance<'a>,
    info: fmi2EventInfo,
}

impl<'a> Component<'a> {
    fn new(fmu: &'a Fmu) -> Self {
        Self {
            fmu: component(fmu, ME),
            info: fmi2EventInfo::default(),
        }
    }

    fn event_iteration(&mut self) {
        self.info.newDiscreteStatesNeeded = fmi2True;
        while self.info.newDiscreteStatesNeeded == fmi2True && self.info.terminateSimulation == fmi2False {
            self.info = self.fmu.new_discrete_states();
        }
    }

    fn initialise(&mut self) -> Vec<f64> {
        set_up(&self.fmu, 1e-8);
        // Initialisation of the whole system: inputs are set and outputs read, one at a time.
        ok(self.fmu.set("elbow.tau", 0.4));
        one_at_a_time(&self.fmu);
        ok(self.fmu.exit_initialization());
        self.event_iteration();
        self.fmu.enter_continuous_time_mode();
        self.fmu.states()
    }
}

impl Calls for Component<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        ok(self.fmu.set("elbow.tau", 0.4));
        self.fmu.derivatives()
    }

    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        self.fmu.indicators()
    }

    fn accepted(&mut self, t: f64, x: &[f64]) {
        // As in `doStepEuler`, the states are set before the time.
        self.fmu.set_states(x);
        self.fmu.set_time(t);
        assert!(!self.fmu.completed_integrator_step());
        assert!(one_at_a_time(&self.fmu).iter().all(|y| y.is_finite()));
    }

    fn event(&mut self, _: f64, _: &[f64]) -> Vec<f64> {
        assert!(!self.fmu.completed_integrator_step());
        self.fmu.enter_event_mode();
        self.event_iteration();
        self.fmu.enter_continuous_time_mode();
        self.fmu.derivatives();
        self.fmu.indicators();
        self.fmu.states()
    }

    fn next_event(&self) -> f64 {
        next_event(&self.info)
    }
}

#[test]
fn s1_every_call_of_a_run_returns_ok_in_both_interfaces() {
    let fmu = Fmu::new();
    let mut me = Component::new(&fmu);
    let x = me.initialise();
    integrate(&mut me, x, 0.0, 1.5, 5e-4);

    let cs = component(&fmu, CS);
    // Start values before the experiment is set up.
    ok(cs.set("elbow.q_start", 0.3));
    set_up(&cs, 1e-13);
    ok(cs.set("elbow.tau", 0.4));
    one_at_a_time(&cs);
    ok(cs.exit_initialization());
    // The run continues beyond 1.0 s, the stop time that was passed but declared undefined.
    for i in 0..150 {
        ok(cs.set("elbow.tau", 0.4));
        ok(cs.step(f64::from(i) * 0.01, 0.01));
        one_at_a_time(&cs);
    }
    // The Runge–Kutta steps of half a millisecond determine the tolerance.
    assert_agree(&me.fmu, &cs, 1e-9);
    ok(me.fmu.terminate());
    ok(cs.terminate());
}

#[test]
fn s1_a_command_between_steps_acts_at_once_in_both_interfaces() {
    let fmu = Fmu::of(&catcher());
    let cs = capturing_reference(&fmu);
    let mut me = Component::new(&fmu);
    let mut x = me.initialise();
    for (t, end, capture) in [(0.0, 0.3, 0.0), (0.3, 0.7, 1.0), (0.7, 1.0, 0.0)] {
        // `stepUntil` sets inputs in Event Mode at the beginning of a step of the whole system.
        me.fmu.enter_event_mode();
        ok(me.fmu.set("grip.capture", capture));
        me.event_iteration();
        me.fmu.enter_continuous_time_mode();
        if me.info.valuesOfContinuousStatesChanged == fmi2True {
            x = me.fmu.states();
        }
        assert_eq!(me.fmu.get("grip.captured"), capture);
        (x, _) = integrate(&mut me, x, t, end, 5e-4);
    }
    assert_agree(&me.fmu, &cs, 1e-9);
    ok(me.fmu.terminate());
}

#[test]
fn s1_impact_in_orbit_agrees_in_both_interfaces() {
    let fmu = Fmu::of(&impact_in_orbit());
    let mut me = Component::new(&fmu);
    let x = me.initialise();
    integrate(&mut me, x, 0.0, 1.0, 5e-4);
    let cs = component(&fmu, CS);
    set_up(&cs, 1e-13);
    ok(cs.exit_initialization());
    for i in 0..100 {
        ok(cs.set("elbow.tau", 0.4));
        ok(cs.step(f64::from(i) * 0.01, 0.01));
        assert!(one_at_a_time(&cs).iter().all(|y| y.is_finite()));
    }
    assert_same_impact(&me.fmu, &cs, 1e-8);
    ok(me.fmu.terminate());
}

#[test]
fn s1_run_can_be_reset_and_repeated() {
    let fmu = Fmu::new();
    let cs = component(&fmu, CS);
    let mut runs = Vec::new();
    for _ in 0..3 {
        set_up(&cs, 1e-8);
        ok(cs.exit_initialization());
        ok(cs.set("elbow.tau", 0.4));
        for i in 0..30 {
            ok(cs.step(f64::from(i) * 0.05, 0.05));
        }
        runs.push(cs.bits());
        ok(cs.reset());
    }
    assert!(runs[0] == runs[1] && runs[1] == runs[2]);
}

#[test]
fn s1_a_step_is_discarded_only_where_a_smaller_one_succeeds() {
    let fmu = Fmu::new();
    let cs = component(&fmu, CS);
    ok(cs.set("solver.work_limit", 100.0));
    set_up(&cs, 1e-10);
    ok(cs.exit_initialization());
    assert_eq!(cs.step(0.0, 5.0), DISCARD);
    let messages = logged();
    let failures: Vec<_> = messages.iter().filter(|m| m.status != OK).collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(
        (failures[0].status, failures[0].category.as_str()),
        (DISCARD, "logStatusDiscard")
    );
    let reached = cs.last_time();
    assert!(reached > 0.0 && reached < 5.0);
    let half = reached / 4.0;
    ok(cs.step(reached, half));
    assert_eq!(cs.last_time(), reached + half);
    // A fault that no smaller step removes is an error, not a discard.
    assert_eq!(cs.step(reached + half, -0.1), ERROR);
    assert_eq!(cs.step(reached + half, f64::NAN), ERROR);
}

#[test]
fn s2_outputs_are_finite_and_nominals_positive() {
    let fmu = Fmu::new();
    let me = component(&fmu, ME);
    let positive = |me: &Instance| assert!(me.nominals().iter().all(|n| n.is_finite() && *n > 0.0));
    positive(&me);
    // Start values can be read before any other call.
    assert!(one_at_a_time(&me).iter().all(|y| y.is_finite()));
    set_up(&me, 1e-8);
    assert!(one_at_a_time(&me).iter().all(|y| y.is_finite()));
    ok(me.exit_initialization());
    positive(&me);
    for variable in fmu.registry.variables() {
        assert!(variable.quantity.nominal > 0.0, "{}", variable.name);
    }
}

#[test]
fn s2_values_that_are_not_finite_are_refused_when_they_are_set() {
    let fmu = Fmu::new();
    let cs = component(&fmu, CS);
    set_up(&cs, 1e-8);
    ok(cs.exit_initialization());
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(cs.set("elbow.tau", value), ERROR);
    }
    ok(cs.step(0.0, 0.1));
    assert!(one_at_a_time(&cs).iter().all(|y| y.is_finite()));
    assert_eq!(logged().len(), 3);
}

#[test]
fn s3_no_output_is_printed_with_visible_and_logging_on() {
    let fmu = Fmu::new();
    for kind in [ME, CS] {
        let instance = component(&fmu, kind);
        set_up(&instance, 1e-8);
        ok(instance.exit_initialization());
        if kind == CS {
            // The run crosses the first edge of the signal and reaches the stop.
            for i in 0..25 {
                ok(instance.step(f64::from(i) * 0.01, 0.01));
            }
        }
        ok(instance.terminate());
    }
    assert_eq!(logged(), []);
}

#[test]
fn s3_each_event_is_logged_once_in_its_category_with_its_name() {
    let fmu = Fmu::new();
    let cs = component(&fmu, CS);
    set_up(&cs, 1e-8);
    ok(cs.exit_initialization());
    ok(cs.set("elbow.tau", 0.4));
    while !cs.flag("elbow.out_of_range") {
        ok(cs.step(cs.last_time(), 0.01));
        assert!(cs.last_time() < 2.0);
    }
    let messages = logged();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!((messages[0].status, messages[0].category.as_str()), (OK, "logEvents"));
    assert!(messages[0].message.contains("elbow"));
    // With logging off, nothing is logged.
    ok(cs.switch_log(false, &[c"logEvents"]));
    while cs.flag("elbow.out_of_range") {
        ok(cs.step(cs.last_time(), 0.01));
        assert!(cs.last_time() < 5.0);
    }
    assert_eq!(logged(), []);
}

#[test]
fn s4_initial_unknowns_are_those_required_by_the_standard() {
    let xml = &Fmu::new().xml;
    let given: Vec<u32> = xml.model_structure.initial_unknowns.iter().map(|u| u.index).collect();
    assert_eq!(given, xml.expected_initial_unknowns());
}

#[test]
fn s4_every_dependency_is_a_variable_of_its_own() {
    let xml = &Fmu::new().xml;
    let structure = &xml.model_structure;
    let count = xml.model_variables.len() as u32;
    let all = [&structure.outputs, &structure.derivatives, &structure.initial_unknowns];
    for unknown in all.into_iter().flatten() {
        assert!((1..=count).contains(&unknown.index));
        let dependencies = unknown.dependencies.clone().unwrap_or_default();
        assert!(dependencies.iter().all(|d| (1..=count).contains(d)), "{unknown:?}");
        let mut once = dependencies.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), dependencies.len(), "{unknown:?}");
    }
}

#[test]
fn s4_what_is_not_declared_as_a_dependency_has_no_influence() {
    let motor = |spacecraft: String, limits: &str| {
        let servo = "servo = { kp = 3.0, kd = 1.0, on = false }";
        assert!(spacecraft.contains(servo));
        spacecraft.replace(servo, &format!("{servo}\nmotor = {{ {limits} }}"))
    };
    let brake = |spacecraft: String| {
        let shoulder = "damping = 0.1\n";
        assert!(spacecraft.contains(shoulder));
        spacecraft.replace(shoulder, &format!("{shoulder}motions = [\"loads\", \"locked\"]\n"))
    };
    let free = [("elbow.servo", 1.0)];
    nothing_else_acts(SPACECRAFT, &[]);
    for limits in ["torque_limit = 5.0", "torque_limit = 5.0, rate_limit = 0.5"] {
        let spacecraft = motor(catcher(), limits);
        for commands in [&free[..], &[free[0], ("grip.capture", 1.0)]] {
            nothing_else_acts(&spacecraft, commands);
        }
        let spacecraft = motor(brake(SPACECRAFT.to_owned()), limits);
        for commands in [&free[..], &[free[0], ("shoulder.motion", 1.0)]] {
            nothing_else_acts(&spacecraft, commands);
        }
    }
    // In the last hundredth below its rate limit a motor's torque depends on its own rate.
    let spacecraft = motor(catcher(), "torque_limit = 0.05, rate_limit = 0.1005");
    nothing_else_acts(&spacecraft, &[free[0], ("elbow.q_ref", 3.0), ("grip.capture", 1.0)]);
}

/// Applies these commands, then changes states and inputs one by one: an output may change only if
/// the XML declares the dependency.
#[track_caller]
fn nothing_else_acts(spacecraft: &str, commands: &[(&str, f64)]) {
    let fmu = Fmu::of(spacecraft);
    let me = component(&fmu, ME);
    set_up(&me, 1e-8);
    ok(me.exit_initialization());
    for (input, value) in commands {
        ok(me.set(input, *value));
    }
    me.new_discrete_states();
    me.enter_continuous_time_mode();
    logged();
    let xml = &fmu.xml;
    let structure = &xml.model_structure;
    let declared: Vec<_> = structure.outputs.iter().chain(&structure.derivatives).collect();
    let unknowns: Vec<u32> = fmu.outputs();
    let causes = fmu.references(|slot| matches!(slot, Slot::State(_) | Slot::Input(_)));
    let x = me.states();
    let before = me.get_many(&unknowns);
    let mut influences = 0;
    for &cause in &causes {
        let value = me.get_many(&[cause])[0];
        ok(me.set_many(&[cause], &[value + 0.01]));
        let after = me.get_many(&unknowns);
        // The spacecraft's numbers are of order one: changes below 1e-12 are round-off.
        let moved = |i: usize| (after[i] - before[i]).abs() > 1e-12;
        for (i, unknown) in unknowns.iter().enumerate().filter(|&(i, _)| moved(i)) {
            influences += 1;
            for entry in declared.iter().filter(|u| u.index == unknown + 1) {
                let listed = entry.dependencies.as_ref().is_none_or(|d| d.contains(&(cause + 1)));
                let name = |index: u32| xml.variable(index + 1).map_or("", |variable| variable.name.as_str());
                assert!(
                    listed,
                    "{i}: {} acts on {}, which does not say so",
                    name(cause),
                    name(*unknown)
                );
            }
        }
        ok(me.set_many(&[cause], &[value]));
    }
    assert_eq!(me.states(), x);
    println!("{influences} influences after {commands:?}");
    assert!(influences > causes.len());
}

#[test]
fn s5_outputs_read_one_at_a_time_are_those_read_at_once() {
    let fmu = Fmu::new();
    let cs = component(&fmu, CS);
    set_up(&cs, 1e-8);
    ok(cs.exit_initialization());
    ok(cs.set("elbow.tau", 0.4));
    for i in 0..20 {
        ok(cs.step(f64::from(i) * 0.05, 0.05));
        let single = one_at_a_time(&cs);
        assert_eq!(single, cs.get_many(&fmu.outputs()));
        // Another importer may read in another order: here in reverse.
        let mut references = fmu.outputs();
        references.reverse();
        let backwards: Vec<f64> = references.iter().map(|&r| cs.get_many(&[r])[0]).collect();
        assert!(backwards.iter().rev().eq(&single));
    }
}

#[test]
fn s5_reading_values_does_not_change_the_run() {
    let fmu = Fmu::new();
    let run = |read: bool| {
        let cs = component(&fmu, CS);
        set_up(&cs, 1e-8);
        ok(cs.exit_initialization());
        ok(cs.set("elbow.tau", 0.4));
        for i in 0..20 {
            ok(cs.step(f64::from(i) * 0.05, 0.05));
            if read {
                one_at_a_time(&cs);
                cs.flag("elbow.out_of_range");
            }
        }
        cs.bytes()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn s6_missing_capabilities_are_declared_false() {
    let fmu = Fmu::new();
    let me = fmu.xml.model_exchange.as_ref().expect("both interfaces");
    let cs = fmu.xml.co_simulation.as_ref().expect("both interfaces");
    for declared in [
        cs.can_run_asynchronuously,
        me.can_be_instantiated_only_once_per_process,
        cs.can_be_instantiated_only_once_per_process,
        me.needs_execution_tool,
        cs.needs_execution_tool,
    ] {
        assert!(!declared);
    }
}

/// One call for each pair of unknown and known, as in an algebraic loop. The dynamics are linear in
/// a torque, so a difference is exact.
#[test]
fn s6_directional_derivatives_with_respect_to_inputs_are_exact_and_have_no_side_effect() {
    let fmu = Fmu::new();
    let me = fmu.xml.model_exchange.as_ref().expect("both interfaces");
    let cs = fmu.xml.co_simulation.as_ref().expect("both interfaces");
    assert!(me.provides_directional_derivative && cs.provides_directional_derivative);
    for kind in [ME, CS] {
        let instance = component(&fmu, kind);
        instance.initialise(None);
        let before = instance.bytes();
        for (unknown, known) in [
            ("der(elbow.qd)", "elbow.tau"),
            ("base.a_body[1]", "elbow.tau"),
            ("der(base.v[2])", "push.f[2]"),
            ("lower.v[1]", "elbow.tau"),
        ] {
            let slope = instance.along(&[fmu.vr(unknown)], &[fmu.vr(known)], &[1.0])[0];
            assert_eq!(instance.bytes(), before);
            let at = instance.get(unknown);
            ok(instance.set(known, 1.0));
            let difference = instance.get(unknown) - at;
            ok(instance.set(known, 0.0));
            assert!(
                (slope - difference).abs() < 1e-13,
                "{unknown} {known}: {slope} {difference}"
            );
        }
    }
    logged();
}
