//! OpenModelica: the Modelica model that `omc` generates around an imported Model Exchange FMU,
//! rules O1 to O11. Its sources are named in `wrapper`.

mod wrapper;

use crate::driver::integration::{Calls, integrate};
use crate::driver::*;
use crate::messages;
use crate::recorded::assert_logged;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::{Naming, Registry, Slot};
use model_description::{Causality, Kind};
use std::collections::HashSet;
use std::sync::Arc;
use wrapper::{LATE, Wrapper};

/// Makes a complete run of the wrapper, with its additional event at `terminal()`.
fn run(fmu: &Fmu, late_parameters: bool, end: f64) -> (Instance<'_>, Vec<f64>) {
    let mut wrapper = Wrapper::new(fmu, late_parameters).connect("elbow.tau", 0.4);
    let x = wrapper.initialise(&[("lower.mass", 1.6), ("elbow.q_start", 0.2)]);
    let (x, events) = integrate(&mut wrapper, x, 0.0, end, 5e-4);
    wrapper.event(end, &x);
    ok(wrapper.fmu.terminate());
    (wrapper.fmu, events)
}

#[test]
fn every_openmodelica_release_agrees_with_co_simulation() {
    let fmu = Fmu::new();
    let cs = reference(&fmu, 1.5, |cs| {
        for (name, value) in [("lower.mass", 1.6), ("elbow.q_start", 0.2)] {
            // Set after initialisation, rule O3.
            ok(cs.set(name, value));
        }
        ok(cs.set("elbow.tau", 0.4));
    });
    for late_parameters in [true, false] {
        let (me, events) = run(&fmu, late_parameters, 1.5);
        // Time events that are 1e-10 s late change the elbow's rate by 7e-10 rad/s at 7 rad/s², and
        // the stop amplifies this.
        assert_agree(&me, &cs, 1e-8);
        // Events: the start, the two edges of the signal, the stop reached and left.
        assert!((4..12).contains(&events.len()), "{events:?}");
        for edge in [0.23, 0.61] {
            assert!(events.iter().any(|t| (t - edge).abs() <= 2.0 * LATE), "{events:?}");
        }
        assert!(logged().iter().all(|m| m.category == "logEvents"));
    }
}

#[test]
fn o8_a_command_in_continuous_time_acts_by_its_event_indicator() {
    let fmu = Fmu::of(&catcher());
    let cs = capturing_reference(&fmu);
    let mut wrapper = Wrapper::new(&fmu, false)
        .connect("elbow.tau", 0.4)
        .during("grip.capture", 0.3, 0.7);
    let x = wrapper.initialise(&[]);
    let (x, events) = integrate(&mut wrapper, x, 0.0, 0.5, 5e-4);
    assert_eq!(wrapper.fmu.get("grip.captured"), 1.0);
    let (_, more) = integrate(&mut wrapper, x, 0.5, 1.0, 5e-4);
    assert_eq!(wrapper.fmu.get("grip.captured"), 0.0);
    for edge in [0.3, 0.7] {
        let off = |t: &f64| (t - edge).abs() < 1e-9;
        assert!(events.iter().chain(&more).any(off), "{events:?}, {more:?}");
    }
    assert_agree(&wrapper.fmu, &cs, 1e-8);
    assert_eq!(wrapper.fmu.get("grip.count"), 1.0);
    ok(wrapper.fmu.terminate());
}

#[test]
fn impact_in_orbit_in_openmodelica_agrees_with_co_simulation() {
    let fmu = Fmu::of(&impact_in_orbit());
    let cs = reference(&fmu, 1.0, |cs| {
        for (name, value) in [("lower.mass", 1.6), ("elbow.q_start", 0.2)] {
            ok(cs.set(name, value));
        }
        ok(cs.set("elbow.tau", 0.4));
    });
    let (me, _) = run(&fmu, true, 1.0);
    // The importer's time events are 1e-10 s late, which changes the impact.
    assert_same_impact(&me, &cs, 1e-7);
}

/// Returns the identifier that omc derives from a variable's name.
fn mangled(name: &str) -> String {
    name.replace(['.', '[', ']', ',', '(', ')', ' '], "_")
}

#[test]
fn o1_names_stay_unique_and_legal_after_mangling() {
    let fmu = Fmu::new();
    let mut seen = HashSet::new();
    for variable in &fmu.xml.model_variables {
        let name = &variable.name;
        assert!(!name.contains(['-', '/', ':', '\'', '"', '\\']), "{name}");
        let identifier = mangled(name);
        assert!(identifier.starts_with(|c: char| c.is_ascii_alphabetic()), "{name}");
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
        assert!(identifier.chars().all(legal), "{name}");
        for part in name.split(['.', '[', ']', ',', '(', ')']).filter(|p| !p.is_empty()) {
            let index = part.chars().all(|c| c.is_ascii_digit());
            assert!(index || part.starts_with(|c: char| c.is_ascii_alphabetic()), "{name}");
        }
        assert!(seen.insert(identifier), "{name}");
    }
    assert!(seen.contains("der_elbow_qd_") && seen.contains("base_r_1_"));
}

#[test]
fn o1_flat_names_are_the_mangled_ones() {
    let fmu = Fmu::new();
    let flat = Registry::new(Arc::clone(fmu.registry.model()), Naming::Flat);
    for (structured, flat) in fmu.registry.variables().zip(flat.variables()) {
        assert_eq!(mangled(&structured.name), flat.name);
    }
}

#[test]
fn o2_no_variable_has_a_name_reserved_by_the_wrapper() {
    let fmu = Fmu::new();
    let owned = [
        "time",
        "fmi_x",
        "fmi_z",
        "fmi2me",
        "flowTime",
        "nextEventTime",
        "logLevel",
        "debugLogging",
        "fmuWorkingDir",
    ];
    for variable in &fmu.xml.model_variables {
        assert_ne!(variable.causality, Causality::Independent);
        assert!(!owned.contains(&mangled(&variable.name).as_str()), "{}", variable.name);
    }
    for name in owned {
        let text = format!("name = \"craft\"\n[body.{name}]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n");
        let refused = grapple::spec::read(&text, std::path::Path::new(".")).map(|_| ());
        assert!(refused.is_err_and(|e| e.to_string().contains(name)), "{name}");
    }
}

#[test]
fn o3_parameters_set_after_initialisation_in_event_mode_take_effect() {
    let fmu = Fmu::new();
    let (before, after) = (Wrapper::new(&fmu, false), Wrapper::new(&fmu, true));
    let changed = [
        ("elbow.q_start", 0.1),
        ("lower.mass", 2.0),
        ("shoulder.damping", 0.3),
        ("base.w_start[3]", 0.2),
    ];
    let [before, after] = [before, after].map(|mut wrapper| {
        let x = wrapper.initialise(&changed);
        (x, wrapper.fmu.derivatives(), wrapper.fmu.bits())
    });
    assert_eq!(before, after);
    // The initial states contain the changed start value and depend on the changed inertia.
    assert!(before.0.contains(&0.1) && before.0.contains(&0.2));
    let plain = Wrapper::new(&fmu, true).initialise(&[]);
    assert_ne!(before.0, plain);
}

#[test]
fn o3_a_fixed_parameter_is_refused_by_name_once_the_first_step_is_taken() {
    let _section = messages::of_this_test();
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true);
    let x = wrapper.initialise(&[]);
    wrapper.event(LATE, &x);
    wrapper.fmu.enter_event_mode();
    assert_eq!(wrapper.fmu.set("lower.mass", 2.0), ERROR);
    assert_logged(ERROR, &["lower.mass"]);
    ok(wrapper.fmu.set("shoulder.damping", 0.2));
}

#[test]
fn o4_states_are_set_and_everything_is_evaluated_in_event_mode_before_the_first_update() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true).connect("push.f[2]", 1.5);
    let mut x = wrapper.initialise(&[]);
    x[7] += 0.25;
    let (derivatives, _) = wrapper.evaluate(0.0, &x);
    assert_eq!(wrapper.fmu.states(), x);
    // The derivatives are equal to those in Continuous-Time Mode, which the standard provides for
    // this.
    let event = wrapper.fmu.get_many(&fmu.outputs());
    wrapper.event(0.0, &x);
    assert_eq!(wrapper.evaluate(0.0, &x).0, derivatives);
    assert_eq!(wrapper.fmu.get_many(&fmu.outputs()), event);
    assert_eq!(logged(), []);
}

#[test]
fn o4_event_mode_is_entered_while_already_in_it() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true);
    wrapper.initialise(&[]);
    let before = wrapper.fmu.bytes();
    wrapper.fmu.enter_event_mode();
    wrapper.fmu.enter_event_mode();
    assert_eq!(wrapper.fmu.bytes(), before);
    assert_eq!(logged(), []);
}

#[test]
fn o5_one_call_reaches_the_fixed_point_though_several_events_fall_together() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true);
    let mut x = wrapper.initialise(&[]);
    wrapper.event(LATE, &x);
    // At this time both edges of the signal have passed and the elbow is out of its range.
    let elbow = x.iter().position(|&q| q == 0.3).expect("where the elbow starts");
    x[elbow] = 0.5;
    assert!(wrapper.evaluate(0.7, &x).1[0] < 0.0);
    let info = wrapper.fmu.event();
    assert_eq!(info.newDiscreteStatesNeeded, fmi2False);
    assert_eq!(info.nextEventTimeDefined, fmi2False);
    assert!(wrapper.evaluate(0.7, &x).1[0] > 0.0);
    assert!(wrapper.fmu.flag("elbow.out_of_range"));
    assert_eq!(wrapper.fmu.get("shoulder.tau"), 0.0);
}

#[test]
fn o5_event_without_changes_leaves_all_values_unchanged() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true).connect("elbow.tau", 0.4);
    let x = wrapper.initialise(&[]);
    let (x, _) = integrate(&mut wrapper, x, 0.0, 0.1, 1e-2);
    let (before, values) = (wrapper.fmu.bytes(), wrapper.fmu.get_many(&fmu.outputs()));
    for _ in 0..3 {
        let info = wrapper.fmu.event();
        assert_eq!(info.valuesOfContinuousStatesChanged, fmi2False);
        assert_eq!(info.nominalsOfContinuousStatesChanged, fmi2False);
    }
    assert_eq!(wrapper.fmu.bytes(), before);
    assert_eq!(wrapper.fmu.get_many(&fmu.outputs()), values);
    assert_eq!(wrapper.fmu.states(), x);
}

#[test]
fn o6_all_six_fields_are_filled_and_the_next_event_time_is_finite_when_undefined() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true);
    wrapper.initialise(&[]);
    let mut times = Vec::new();
    loop {
        // The driver passes arbitrary contents in every field.
        let info = wrapper.fmu.new_discrete_states();
        for field in [
            info.newDiscreteStatesNeeded,
            info.terminateSimulation,
            info.nominalsOfContinuousStatesChanged,
            info.valuesOfContinuousStatesChanged,
        ] {
            assert_eq!(field, fmi2False);
        }
        assert!(info.nextEventTime.is_finite());
        if info.nextEventTimeDefined == fmi2False {
            assert!(info.nextEventTime > 1e20);
            break;
        }
        assert_eq!(info.nextEventTimeDefined, fmi2True);
        times.push(info.nextEventTime);
        wrapper.fmu.set_time(info.nextEventTime);
    }
    assert_eq!(times, [0.23, 0.61]);
}

#[test]
fn o6_late_time_event_is_still_handled() {
    let fmu = Fmu::new();
    for late in [0.0, LATE, 1e-6] {
        let mut wrapper = Wrapper::new(&fmu, true);
        let x = wrapper.initialise(&[]);
        wrapper.event(LATE, &x);
        // The signal changes only at the event: an evaluation after its start time still gives the
        // old value.
        wrapper.evaluate(0.23 + late, &x);
        assert_eq!(wrapper.fmu.get("shoulder.tau"), 0.0);
        wrapper.event(0.23 + late, &x);
        assert_eq!(wrapper.fmu.get("shoulder.tau"), 0.7, "{late}");
        assert_eq!(wrapper.next_event_time, 0.61);
    }
}

#[test]
fn o7_completed_integrator_step_has_no_side_effect() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true).connect("elbow.tau", 0.4);
    let mut x = wrapper.initialise(&[]);
    wrapper.event(LATE, &x);
    // A trial point with a quaternion that is not normalised and an elbow far outside its range.
    x[0] = 1.01;
    x[8] = 2.0;
    wrapper.fmu.set_states(&x);
    let (before, values) = (wrapper.fmu.bytes(), wrapper.fmu.get_many(&fmu.outputs()));
    for _ in 0..5 {
        assert!(!wrapper.fmu.completed_integrator_step());
    }
    assert_eq!(wrapper.fmu.bytes(), before);
    assert_eq!(wrapper.fmu.states(), x);
    assert_eq!(wrapper.fmu.get_many(&fmu.outputs()), values);
    assert_eq!(logged(), []);
}

#[test]
fn o8_every_input_is_real_and_accepted_in_every_mode() {
    let fmu = Fmu::new();
    for variable in &fmu.xml.model_variables {
        if variable.causality == Causality::Input {
            assert!(matches!(variable.kind, Kind::Real(_)), "{}", variable.name);
        }
    }
    let inputs = fmu.inputs();
    let values: Vec<f64> = (0..inputs.len()).map(|i| 0.1 + i as f64).collect();
    let me = fmu.instance(ME);
    let set = || {
        ok(me.set_many(&inputs, &values));
        assert_eq!(me.get_many(&inputs), values);
    };
    set();
    me.setup(None, 0.0, None);
    ok(me.enter_initialization());
    set();
    ok(me.exit_initialization());
    set();
    me.new_discrete_states();
    me.enter_continuous_time_mode();
    set();
    me.enter_event_mode();
    set();
    assert_eq!(logged(), []);
}

#[test]
fn o8_no_initial_state_depends_on_an_input() {
    let fmu = Fmu::new();
    let inputs = fmu.inputs();
    let mut plain = Wrapper::new(&fmu, true);
    let x = plain.initialise(&[]);
    let me = fmu.instance(ME);
    ok(me.set_many(&inputs, &vec![3.7; inputs.len()]));
    me.initialise(None);
    assert_eq!(me.states(), x);
    // The first values of inputs are set after initialisation, and apply from the start.
    ok(me.set_many(&inputs, &vec![0.0; inputs.len()]));
    assert_eq!(me.derivatives(), plain.fmu.derivatives());
}

#[test]
fn o8_a_switch_is_on_above_one_half() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true).connect("elbow.q_ref", 0.2);
    let x = wrapper.initialise(&[]);
    wrapper.event(LATE, &x);
    let off = wrapper.evaluate(LATE, &x).0;
    for (value, on) in [(0.0, false), (0.5, false), (0.6, true), (1.0, true)] {
        ok(wrapper.fmu.set("elbow.servo", value));
        wrapper.fmu.event();
        assert_eq!(wrapper.fmu.derivatives() != off, on, "{value}");
    }
}

#[test]
fn o9_values_read_at_one_evaluation_are_finite_and_consistent() {
    let fmu = Fmu::new();
    let mut wrapper = Wrapper::new(&fmu, true);
    let x = wrapper.initialise(&[]);
    // The wrapper also reads calculated parameters and locals, which this FMU does not have.
    for variable in &fmu.xml.model_variables {
        assert!(!matches!(
            variable.causality,
            Causality::CalculatedParameter | Causality::Local
        ));
    }
    let (dx, z) = wrapper.evaluate(0.0, &x);
    // Derivatives read by `fmi2GetReal` at last equal those of `fmi2GetDerivatives` before.
    let derivatives = fmu.references(|slot| matches!(slot, Slot::Derivative(_)));
    assert_eq!(wrapper.fmu.get_many(&derivatives), dx);
    assert_eq!(wrapper.fmu.indicators(), z);
}

#[test]
fn o10_defaults_are_valid_without_any_setting() {
    let fmu = Fmu::of(&format!("{SPACECRAFT}[experiment]\ntolerance = 1e-8\n"));
    let plain = fmu.instance(CS);
    plain.initialise(None);
    ok(plain.step(0.0, 1.5));
    // The run at the spec's tolerance of 1e-8 over 1.5 s determines the tolerance here.
    assert_agree(&plain, &reference(&fmu, 1.5, |_| ()), 1e-6);
}

#[test]
fn o10_terminate_is_legal_from_any_mode() {
    let fmu = Fmu::new();
    for kind in [ME, CS] {
        for depth in 0..5 {
            let instance = fmu.instance(kind);
            if depth > 0 {
                instance.setup(None, 0.0, None);
                ok(instance.enter_initialization());
            }
            if depth > 1 {
                ok(instance.exit_initialization());
            }
            if depth > 2 && kind == ME {
                instance.new_discrete_states();
                instance.enter_continuous_time_mode();
            } else if depth > 2 {
                ok(instance.step(0.0, 0.1));
            }
            if depth > 3 && kind == ME {
                instance.enter_event_mode();
            }
            ok(instance.terminate());
            // The destructor calls `fmi2Terminate` again.
            ok(instance.terminate());
        }
    }
    assert_eq!(logged(), []);
}

#[test]
fn o10_value_references_survive_conversion_to_double_and_int() {
    let fmu = Fmu::new();
    for variable in &fmu.xml.model_variables {
        let through = f64::from(variable.value_reference) as i32;
        assert!(through >= 0);
        assert_eq!(through as u32, variable.value_reference);
    }
}

#[test]
fn o11_there_are_no_enumerations() {
    let fmu = Fmu::new();
    for variable in &fmu.xml.model_variables {
        assert!(
            matches!(variable.kind, Kind::Real(_) | Kind::Boolean(_)),
            "{}",
            variable.name
        );
    }
}
