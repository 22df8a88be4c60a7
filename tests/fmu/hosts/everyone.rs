//! Rules of `docs/hosts.md` that hold for all importers: one test per row.

use crate::driver::*;
use crate::larger::Larger;
use crate::messages;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use model_description::{Causality, Kind, Variability};
use std::ptr::null;

#[test]
fn parameters_are_tunable_only_if_they_can_take_effect_in_a_run() {
    let fmu = Fmu::new();
    for variable in fmu.registry.variables() {
        let name = variable.name.as_ref();
        let built_in = ["_start", "mass", "inertia", "origin", "axis", "work_limit"];
        if variable.causality == Causality::Parameter && built_in.iter().any(|part| name.contains(part)) {
            assert_eq!(variable.variability, Variability::Fixed, "{name}");
        }
    }
    for name in ["shoulder.damping", "elbow.kp", "elbow.q_max"] {
        let found = fmu.registry.find(name);
        assert!(found.is_some_and(|v| v.variability == Variability::Tunable), "{name}");
    }
}

#[test]
fn a_tunable_parameter_acts_during_the_run() {
    let fmu = Fmu::new();
    for kind in [ME, CS] {
        let instance = fmu.instance(kind);
        if kind == ME {
            instance.begin();
            instance.enter_event_mode();
        } else {
            instance.initialise(None);
            ok(instance.step(0.0, 0.1));
        }
        ok(instance.set("elbow.servo", 1.0));
        let untouched = fmu.instance(kind);
        let state = instance.save();
        untouched.restore(state);
        instance.free_state(state);
        ok(instance.set("elbow.kp", 30.0));
        assert_eq!(instance.get("elbow.kp"), 30.0);
        let at_once = [&instance, &untouched].map(|of| of.get("der(shoulder.qd)"));
        assert_ne!(at_once[0], at_once[1]);
        if kind == CS {
            for of in [&instance, &untouched] {
                ok(of.step(0.1, 0.1));
            }
            assert_ne!(instance.get("shoulder.qd"), untouched.get("shoulder.qd"));
        }
    }
}

#[test]
fn there_are_no_string_variables_whose_starts_could_be_pasted_unescaped() {
    let fmu = Fmu::new();
    for variable in &fmu.xml.model_variables {
        assert!(!matches!(variable.kind, Kind::String(_) | Kind::Integer(_)));
        let texts = [Some(&variable.name), variable.description.as_ref()];
        for text in texts.into_iter().flatten() {
            assert!(!text.contains(['"', '\\', '\n']), "{text}");
        }
    }
}

#[test]
fn state_can_be_saved_restored_and_serialised_in_model_exchange() {
    let fmu = Fmu::new();
    let [a, b] = [fmu.instance(ME), fmu.instance(ME)];
    a.begin();
    ok(a.set("elbow.tau", 0.7));
    let mut x = a.states();
    x[8] += 0.01;
    a.set_time(0.11);
    a.set_states(&x);
    let bytes = a.bytes();
    let (status, state) = b.deserialize(&bytes);
    ok(status);
    b.restore(state);
    b.free_state(state);
    assert_eq!(b.bytes(), bytes);
    assert_eq!(b.derivatives(), a.derivatives());
    // The run continues in the saved mode.
    b.enter_event_mode();
    assert_eq!(logged(), []);
}

#[test]
fn error_decreases_with_the_tolerance() {
    let fmu = Fmu::new();
    let exact = fmu.instance(CS);
    exact.initialise(Some(1e-13));
    ok(exact.step(0.0, 1.5));
    let error = |tolerance: f64| {
        let cs = fmu.instance(CS);
        cs.initialise(Some(tolerance));
        ok(cs.step(0.0, 1.5));
        let errors = WATCHED.map(|name| (cs.get(name) - exact.get(name)).abs());
        errors.into_iter().fold(0.0, f64::larger)
    };
    let [coarse, fine] = [1e-4, 1e-10].map(error);
    assert!(
        coarse < 1e-2 && fine < 1e-8 && fine < coarse / 100.0,
        "{coarse:.1e} {fine:.1e}"
    );
}

#[test]
fn communication_points_with_round_off_are_accepted() {
    let fmu = Fmu::new();
    let [exact, rough] = [fmu.instance(CS), fmu.instance(CS)];
    exact.initialise(Some(1e-10));
    rough.initialise(Some(1e-10));
    let mut sum = 0.0;
    for i in 0..60 {
        ok(exact.step(f64::from(i) * 0.05, 0.05));
        // Times accumulated in single precision, such as 2.95000003.
        ok(rough.step(sum, 0.05));
        sum = f64::from((sum + 0.05) as f32);
    }
    assert_ne!(sum, 3.0);
    // Only the round-off of the times may change the result.
    assert_agree(&exact, &rough, 1e-5);
    assert!((rough.last_time() - 3.0).abs() < 1e-5);
}

#[test]
fn joint_at_rest_on_its_limit_causes_no_repeated_events() {
    let fmu = Fmu::of(&SPACECRAFT.replace("position = 0.3, rate = 0.1", "position_deg = 20.0"));
    let me = fmu.instance(ME);
    me.begin();
    let x = me.states();
    let limit = x[8];
    // The position varies by round-off around the limit.
    let mut changes = 0;
    let mut side = me.indicators()[0] > 0.0;
    for i in 0..100_u32 {
        let mut x = x.clone();
        x[8] = limit * (1.0 + if i % 2 == 0 { 1e-15 } else { -1e-15 });
        me.set_states(&x);
        let now = me.indicators()[0] > 0.0;
        if now != side {
            changes += 1;
            me.event();
        }
        side = me.indicators()[0] > 0.0;
    }
    assert!(changes <= 1, "{changes}");
}

#[test]
fn a_message_is_one_finished_string_with_every_percent_doubled() {
    let fmu = Fmu::new();
    let cs = fmu.instance(CS);
    assert_eq!(cs.switch_log(true, &[c"100% %s %n #r1#"]), ERROR);
    let messages = logged();
    assert_eq!(messages.len(), 1);
    let message = &messages[0].message;
    assert!(message.contains("100%% %%s %%n ##r1##"), "{message}");
    assert!(!message.replace("%%", "").contains('%'));
    assert!(!message.ends_with('\n'));
}

#[test]
fn a_refusal_is_one_message_that_names_the_function() {
    let fmu = Fmu::new();
    let cs = fmu.instance_with(CS, Some(&callbacks()), fmi2False, fmi2False);
    assert_eq!(cs.step(0.0, 0.1), ERROR);
    assert_eq!(cs.set("system.energy", 1.0), ERROR);
    let messages = logged();
    assert_eq!(messages.len(), 2);
    assert!(messages[0].message.contains("fmi2DoStep") && messages[1].message.contains("system.energy"));
    for message in messages {
        assert_eq!((message.status, message.category.as_str()), (ERROR, "logStatusError"));
    }
}

#[test]
fn every_unit_in_use_is_declared_with_si_exponents_and_none_is_called_1() {
    let xml = &Fmu::new().xml;
    let mut used = 0;
    for variable in &xml.model_variables {
        let Kind::Real(real) = &variable.kind else { continue };
        let Some(unit) = &real.unit else {
            assert_eq!(real.display_unit, None);
            continue;
        };
        used += 1;
        let declared = xml.unit_definitions.iter().find(|u| u.name == *unit);
        let declared = declared.unwrap_or_else(|| panic!("{unit} of {} is not declared", variable.name));
        assert!(declared.base_unit.is_some(), "{unit}");
        if let Some(display) = &real.display_unit {
            assert!(declared.display_units.iter().any(|d| d.name == *display), "{display}");
        }
    }
    assert!(used > 50);
    assert!(xml.unit_definitions.iter().all(|u| u.name != "1" && !u.name.is_empty()));
}

#[test]
fn every_spelling_of_the_resource_location_is_accepted() {
    let fmu = Fmu::new();
    for location in fmu.locations() {
        let instance = fmu.instance_at(Some(&location), CS, Some(&callbacks()), fmi2False, fmi2True);
        assert!(instance.is_some(), "{location}: {:?}", logged());
    }
    assert_eq!(logged(), []);
}

/// A `%` in a folder's name, escaped as in RFC 3986 or not: `%zz` is not an escape, and `%41` must
/// not be read as an `A`.
#[test]
fn a_percent_sign_in_the_resource_location_may_be_escaped_or_not() {
    for folder in ["100% done", "50%zz", "%41%42"] {
        let fmu = Fmu::new();
        let inside = std::path::Path::new(fmu.path()).join(folder);
        std::fs::create_dir(&inside).expect("the temporary directory can be written");
        std::fs::rename(fmu.model_file(), inside.join("model.json")).expect("the file is there");
        let path = inside.to_str().expect("the test chose the name");
        let escaped = path.replace('%', "%25").replace(' ', "%20");
        for location in [
            format!("file://{path}"),
            format!("file:{path}"),
            format!("file://{escaped}"),
            path.to_owned(),
        ] {
            let instance = fmu.instance_at(Some(&location), CS, Some(&callbacks()), fmi2False, fmi2True);
            assert!(instance.is_some(), "{location}: {:?}", logged());
        }
    }
    assert_eq!(logged(), []);
}

#[test]
fn invalid_resource_location_is_refused_with_a_clear_message() {
    let _section = messages::of_this_test();
    let fmu = Fmu::new();
    for (location, name, is_recorded) in [
        (None, "fmi2Instantiate", true),
        (Some(""), "fmi2Instantiate", true),
        (Some("http://example.org/x"), "file:", true),
        // With the operating system's reason.
        (Some("file:///nowhere/at/all"), "/nowhere/at/all", false),
        (Some("file:///x%2"), "%2", true),
    ] {
        let instance = fmu.instance_at(location, CS, Some(&callbacks()), fmi2False, fmi2True);
        assert!(instance.is_none(), "{location:?}");
        let message = assert_named(ERROR, &[name]);
        if is_recorded {
            messages::record(message);
        }
    }
}

#[test]
fn null_callbacks_null_loggers_and_null_allocators_are_tolerated() {
    let fmu = Fmu::new();
    let nothing = fmi2CallbackFunctions {
        logger: None,
        allocateMemory: None,
        freeMemory: None,
        ..callbacks()
    };
    for callbacks in [None, Some(&nothing)] {
        for kind in [ME, CS] {
            let instance = fmu.instance_with(kind, callbacks, fmi2True, fmi2True);
            instance.initialise(None);
            // A refused value, whose message has no logger to go to.
            assert_eq!(instance.set("elbow.tau", f64::NAN), ERROR);
            instance.bytes();
            ok(instance.reset());
        }
        assert!(
            fmu.instance_at(None, CS, callbacks, fmi2True, fmi2True).is_none(),
            "a refusal without a logger"
        );
    }
    assert_eq!(logged(), []);
}

#[test]
fn allocators_of_the_importer_are_never_called_as_the_xml_declares() {
    let fmu = Fmu::new();
    for kind in [ME, CS] {
        let instance = fmu.instance(kind);
        instance.initialise(None);
        if kind == CS {
            ok(instance.step(0.0, 0.1));
        }
        instance.get_many(&fmu.outputs());
        instance.bytes();
        assert_eq!(instance.set("elbow.tau", f64::NAN), ERROR);
        ok(instance.reset());
    }
    assert_eq!(allocations(), 0);
    let me = fmu.xml.model_exchange.as_ref().expect("both interfaces");
    let cs = fmu.xml.co_simulation.as_ref().expect("both interfaces");
    assert!(me.can_not_use_memory_management_functions && cs.can_not_use_memory_management_functions);
    logged();
}

#[test]
fn a_null_handle_is_refused() {
    // SAFETY: null is tested.
    unsafe {
        assert_eq!(fmi2Reset(std::ptr::null_mut()), ERROR);
        assert_eq!(fmi2DoStep(std::ptr::null_mut(), 0.0, 0.1, fmi2True), ERROR);
        fmi2FreeInstance(std::ptr::null_mut());
    }
}

#[test]
fn arrays_of_length_zero_may_be_null() {
    let fmu = Fmu::new();
    let me = fmu.instance(ME);
    me.initialise(None);
    // SAFETY: null with a count of zero is tested.
    unsafe {
        ok(fmi2GetReal(me.c, null(), 0, std::ptr::null_mut()));
        ok(fmi2SetReal(me.c, null(), 0, null()));
        ok(fmi2SetInteger(me.c, null(), 0, null()));
        ok(fmi2SetBoolean(me.c, null(), 0, null()));
        ok(fmi2GetString(me.c, null(), 0, std::ptr::null_mut()));
        ok(fmi2SetDebugLogging(me.c, fmi2False, 0, null()));
    }
}

#[test]
fn values_are_read_before_initialisation_and_after_the_end() {
    let fmu = Fmu::new();
    let variables = fmu.reals();
    for kind in [ME, CS] {
        let instance = fmu.instance(kind);
        assert!(instance.get_many(&variables).iter().all(|v| v.is_finite()));
        instance.initialise(None);
        ok(instance.terminate());
        assert!(instance.get_many(&variables).iter().all(|v| v.is_finite()));
    }
}
