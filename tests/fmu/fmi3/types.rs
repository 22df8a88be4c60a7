//! Types of discrete variables: commands and switches are Boolean, modes and counts integers. In FMI
//! 2.0 all of them are real numbers.

use super::instance::bits;
use super::{ERROR, Instance, Log, OK};
use crate::driver::{CS, Fmu, Log as Log2, catcher, ok};
use crate::messages;
use grapple::fmu::c_abi::*;
use grapple::fmu::description::{Interfaces, describe_for};
use grapple::fmu::fmi3::fmi3Boolean;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::Naming;
use model_description::{Kind, ScalarVariable};
use std::ptr::null;

/// A spacecraft with a brake, an attitude servo that can be switched and a payload to be captured.
fn commanded() -> Fmu {
    let with_brake = catcher().replace("damping = 0.1\n", "damping = 0.1\nmotions = [\"loads\", \"locked\"]\n");
    Fmu::of(&with_brake)
}

#[test]
fn description_has_the_types() {
    let fmu = commanded();
    let of = |standard| {
        let described = describe_for(standard, fmu.registry.model(), Naming::Structured, Interfaces::Both);
        described.expect("a description").model_variables
    };
    let (two, three) = (of(Standard::Fmi2), of(Standard::Fmi3));
    for (name, is_integer, start, text) in [
        ("grip.capture", false, Some(0), "when it becomes true"),
        ("elbow.servo", false, Some(0), "on while true"),
        ("shoulder.motion", true, Some(0), "0 loads, 1 locked"),
        ("grip.captured", false, None, "true while payload is captured by lower"),
        ("grip.status", true, None, "0 no impact yet"),
        ("grip.count", true, None, "number of impacts"),
    ] {
        let find = |variables: &[ScalarVariable]| {
            let found = variables.iter().find(|v| v.name == name);
            found.unwrap_or_else(|| panic!("{name}")).clone()
        };
        assert!(matches!(find(&two).kind, Kind::Real(_)), "{name}");
        let described = find(&three).description.expect("a description");
        assert!(described.contains(text), "{name}: {described}");
        match find(&three).kind {
            Kind::Integer(integer) if is_integer => assert_eq!(integer.start, start, "{name}"),
            Kind::Boolean(boolean) if !is_integer => assert_eq!(boolean.start.map(i32::from), start, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// Commands of both standards have the same effect, bit for bit.
#[test]
fn commands_act_as_in_fmi_2() {
    let (fmu, log, log2) = (commanded(), Log::default(), Log2::new());
    let three = Instance::co_simulation(&fmu, &log);
    let two = fmu.instance_with_log(&log2, CS);
    three.initialise(Some(1e-9));
    two.initialise(Some(1e-9));
    let outputs = fmu.outputs();
    let discrete = [
        "grip.captured",
        "grip.status",
        "grip.count",
        "shoulder.motion",
        "grip.capture",
    ];
    let mut seen = Vec::new();
    for k in 0..8 {
        for (name, on) in [
            ("shoulder.motion", k >= 5),
            ("grip.capture", k >= 2),
            ("elbow.servo", k == 3),
        ] {
            assert_eq!(three.set(name, f64::from(on)), OK);
            ok(two.set(name, f64::from(on)));
        }
        three.step(0.1 * f64::from(k), 0.1);
        ok(two.step(0.1 * f64::from(k), 0.1));
        assert_eq!(bits(&three.get_many(&outputs)), bits(&two.get_many(&outputs)), "{k}");
        let values = discrete.map(|name| three.get(name));
        assert_eq!(values, discrete.map(|name| two.get(name)), "{k}");
        seen.push(values);
    }
    assert_eq!(seen[0], [0.0; 5]);
    assert_eq!(seen[7], [1.0, 1.0, 1.0, 1.0, 1.0]);
    assert!(three.get("shoulder.qd").abs() < 1e-12, "the brake holds");
}

#[test]
fn variables_of_another_type_are_refused() {
    let _section = messages::of_this_test();
    let (fmu, log) = (commanded(), Log::default());
    let me = Instance::model_exchange(&fmu, &log);
    let [command, motion, status] = ["grip.capture", "shoulder.motion", "grip.status"].map(|name| me.vr(name));
    let (mut number, mut flag, mut count) = ([0.0], [0 as fmi3Boolean], [0_i32]);
    // SAFETY: live handles, and buffers of the passed lengths.
    unsafe {
        assert_eq!(fmi3SetFloat64(me.c, &command, 1, &1.0, 1), ERROR);
        log.assert_error(&["grip.capture", "Boolean", "Float64"]);
        assert_eq!(fmi3GetFloat64(me.c, &motion, 1, number.as_mut_ptr(), 1), ERROR);
        log.assert_error(&["shoulder.motion", "Int32", "Float64"]);
        assert_eq!(fmi3SetInt32(me.c, &command, 1, &1, 1), ERROR);
        log.assert_error(&["grip.capture", "Boolean", "Int32"]);
        assert_eq!(fmi3GetBoolean(me.c, &status, 1, flag.as_mut_ptr(), 1), ERROR);
        log.assert_error(&["grip.status", "Int32", "Boolean"]);
        assert_eq!(fmi3SetInt32(me.c, &status, 1, &1, 1), ERROR);
        log.assert_error(&["grip.status", "computed"]);
        assert_eq!(fmi3SetBoolean(me.c, &command, 1, null(), 1), ERROR);
        log.assert_error(&["values", "null"]);
        assert_eq!(fmi3GetInt32(me.c, &motion, 1, count.as_mut_ptr(), 2), ERROR);
        log.assert_error(&["nValues is 2 for 1 variables"]);
        // Several values are set together or not at all.
        assert_eq!(
            fmi3SetInt32(me.c, [motion, status].as_ptr(), 2, [1, 1].as_ptr(), 2),
            ERROR
        );
        log.assert_error(&["grip.status"]);
        assert_eq!(me.get("shoulder.motion"), 0.0);
        // A value other than 0 is true.
        assert_eq!(fmi3SetBoolean(me.c, &command, 1, &7, 1), OK);
        assert_eq!(me.get("grip.capture"), 1.0);
        assert_eq!(fmi3SetBoolean(me.c, &command, 1, &0, 1), OK);
        me.begin();
        assert_eq!(fmi3EnterEventMode(me.c), OK);
        assert_eq!(fmi3SetBoolean(me.c, &command, 1, &1, 1), OK);
        assert_eq!(fmi3SetInt32(me.c, &motion, 1, &5, 1), OK);
    }
    me.event();
    assert_eq!((me.get("grip.captured"), me.get("shoulder.motion")), (1.0, 5.0));
    let warnings = log.take();
    assert!(
        warnings.iter().any(|(_, _, text)| text.contains("shoulder.motion")),
        "{warnings:?}"
    );
}
