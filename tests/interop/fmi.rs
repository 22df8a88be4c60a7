//! grapple's FMUs in the crate `fmi`, a Rust importer with its own parser, loader and logger.
//!
//! `GRAPPLE=$PWD/target/debug/grapple cargo test --manifest-path tests/interop/Cargo.toml` builds
//! the FMUs and runs them. The crate does not keep the unit of a variable, so only the definitions
//! of units are compared.

mod tool;

use fmi::EventFlags;
use fmi::fmi2::import::Fmi2Import;
use fmi::fmi2::instance::{CoSimulation, Common, InstanceME, ModelExchange};
use fmi::fmi2::schema::{Causality, Fmi2ModelDescription, Real, ScalarVariable, ScalarVariableElement, Variability};
use fmi::fmi2::{Fmi2Error, Fmi2Res, Fmi2Status};
use fmi::fmi3::import::Fmi3Import;
use fmi::fmi3::instance::InstanceCS;
use fmi::fmi3::{self, CoSimulation as _, Fmi3Error, Fmi3Model as _, Fmi3Res, GetSet as _};
use fmi::schema::variable_counts::VariableCounts;
use fmi::traits::FmiImport;
use fmi_rs::fmi3::builder::FMU3Builder;
use std::collections::HashSet;
use std::sync::Mutex;

/// Angles of the two-link spacecraft after 5 s: base, shoulder and elbow, in degrees.
const ANGLES_DEG: [f64; 3] = [-45.92802927, 48.82037995, 104.92707873];
/// Ten times the last decimal of the reference.
const TOLERANCE_DEG: f64 = 1e-7;
const STOP_TIME: f64 = 5.0;

/// Builds an example with the finished tool and imports the FMU.
fn import(example: &str) -> Fmi2Import {
    fmi::import::from_path(tool::build(example, &[])).expect("the archive is one")
}

/// Asserts `fmi2OK`; a warning fails too.
#[track_caller]
fn ok(result: Result<Fmi2Res, Fmi2Error>) {
    assert!(matches!(result, Ok(Fmi2Res::OK)), "{result:?}");
}

fn initialise(instance: &mut impl fmi::traits::FmiInstance<Status = Fmi2Status>, tolerance: Option<f64>) {
    ok(instance.enter_initialization_mode(tolerance, 0.0, Some(STOP_TIME)));
    ok(instance.exit_initialization_mode());
}

fn get<const N: usize>(instance: &mut impl Common, xml: &Fmi2ModelDescription, names: [&str; N]) -> [f64; N] {
    let references = names.map(|name| variable(xml, name).value_reference);
    let mut values = [f64::NAN; N];
    ok(instance.get_real(&references, &mut values));
    values
}

fn variable<'a>(xml: &'a Fmi2ModelDescription, name: &str) -> &'a ScalarVariable {
    xml.model_variable_by_name(name).expect("the name is known")
}

fn real(variable: &ScalarVariable) -> &Real {
    match &variable.elem {
        ScalarVariableElement::Real(real) => real,
        other => panic!("{}: {other:?}", variable.name),
    }
}

fn assert_reference(instance: &mut impl Common, xml: &Fmi2ModelDescription) {
    let [w, z, shoulder, elbow] = get(instance, xml, ["base.q[1]", "base.q[4]", "shoulder.q", "elbow.q"]);
    let found = [2.0 * z.atan2(w), shoulder, elbow].map(f64::to_degrees);
    let off: Vec<f64> = found.iter().zip(ANGLES_DEG).map(|(a, b)| (a - b).abs()).collect();
    println!("{off:?} degrees off");
    assert!(off.iter().all(|&off| off < TOLERANCE_DEG), "{found:?}");
}

#[test]
fn the_crate_fmi_reads_the_description_without_loss() {
    for (example, joints, stop) in [("two_link", 2, 5.0), ("ssrms_type", 7, 60.0)] {
        let import = import(example);
        let xml = import.model_description();
        assert_eq!((xml.fmi_version.as_str(), xml.model_name.as_str()), ("2.0", example));
        assert_eq!(xml.variable_naming_convention.as_deref(), Some("structured"));
        let (me, cs) = (xml.model_exchange.as_ref(), xml.co_simulation.as_ref());
        let (me, cs) = (me.expect("both are offered"), cs.expect("both are offered"));
        assert_eq!([&me.model_identifier, &cs.model_identifier], [example; 2]);
        let flags = [
            me.can_get_and_set_fmu_state,
            me.can_serialize_fmu_state,
            cs.can_get_and_set_fmu_state,
            cs.can_serialize_fmu_state,
            cs.can_handle_variable_communication_step_size,
            cs.can_interpolate_inputs,
        ];
        assert_eq!(flags, [Some(true); 6]);
        let experiment = xml.default_experiment.as_ref().expect("there is one");
        assert_eq!((experiment.stop_time(), experiment.tolerance()), (stop, 1e-10));

        // The base has 7 coordinates and 6 rates, each joint one coordinate and one rate; the work
        // is one more.
        let states = 13 + 2 * joints + 1;
        assert_eq!((xml.num_states(), xml.num_event_indicators()), (states, 0));
        let variables = &xml.model_variables.variables;
        let names: HashSet<&str> = variables.iter().map(|v| v.name.as_str()).collect();
        assert_eq!(names.len(), variables.len());
        let counts = xml.model_variables.model_counts();
        assert_eq!(counts.num_real_vars + counts.num_bool_vars, variables.len());
        assert_eq!(counts.num_parameters + counts.num_outputs, variables.len(), "{counts}");

        let structure = &xml.model_structure;
        for unknown in &structure.derivatives.unknowns {
            let derivative = &variables[unknown.index as usize - 1];
            let state = real(derivative).derivative.expect("it is one");
            let state = &variables[state as usize - 1];
            assert_eq!(derivative.name, format!("der({})", state.name));
        }
        let is_output = |&index: &u32| variables[index as usize - 1].causality == Causality::Output;
        let outputs: Vec<u32> = (1..=variables.len() as u32).filter(is_output).collect();
        for unknowns in [&structure.outputs.unknowns, &structure.initial_unknowns.unknowns] {
            let indices: Vec<u32> = unknowns.iter().map(|unknown| unknown.index).collect();
            assert_eq!(indices, outputs);
        }

        let units = &xml.unit_definitions.as_ref().expect("there are some").units;
        for (name, exponents) in [
            ("rad/s", [0, 0, -1, 1]),
            ("m", [0, 1, 0, 0]),
            ("kg.m2", [1, 2, 0, 0]),
            ("N.m", [1, 2, -2, 0]),
            ("J", [1, 2, -2, 0]),
        ] {
            let unit = units.iter().find(|unit| unit.name == name).expect(name);
            let base = unit.base_unit.as_ref().expect(name);
            let found = [base.kg, base.m, base.s, base.rad].map(Option::unwrap_or_default);
            assert_eq!(found, exponents, "{name}");
        }
    }

    let import = import("two_link");
    let mass = variable(import.model_description(), "forearm.mass");
    assert_eq!(mass.causality, Causality::Parameter);
    assert_eq!(mass.variability, Some(Variability::Fixed));
    assert_eq!(real(mass).start, Some(1.0));
}

#[test]
fn the_crate_fmi_reaches_the_reference_in_co_simulation() {
    let import = import("two_link");
    let mut cs = import.instantiate_cs("arm", false, true).expect("an instance");
    assert_eq!((cs.get_version(), cs.get_types_platform()), ("2.0", "default"));
    initialise(&mut cs, Some(1e-12));
    for step in 0..500 {
        ok(cs.do_step(f64::from(step) * 0.01, 0.01, true));
    }
    assert_reference(&mut cs, import.model_description());
    ok(cs.terminate());
}

/// Integrated by the classical Runge–Kutta method; the spacecraft has no events.
#[test]
fn the_crate_fmi_reaches_the_reference_in_model_exchange() {
    let import = import("two_link");
    let mut me = import.instantiate_me("arm", false, true).expect("an instance");
    initialise(&mut me, None);
    let mut flags = EventFlags::default();
    ok(me.new_discrete_states(&mut flags));
    assert_eq!(flags, EventFlags::default(), "nothing more to do, no time event ahead");
    ok(me.enter_continuous_time_mode());

    let n = import.model_description().num_states();
    let mut x = vec![f64::NAN; n];
    ok(me.get_continuous_states(&mut x));
    let at = |me: &mut InstanceME, t: f64, x: &[f64]| {
        ok(me.set_time(t));
        ok(me.set_continuous_states(x));
    };
    let h = 1e-3;
    for step in 0..5000 {
        let t = f64::from(step) * h;
        let (mut slope, mut sum) = (vec![0.0; n], vec![0.0; n]);
        for (way, weight) in [(0.0, 1.0), (h / 2.0, 2.0), (h / 2.0, 2.0), (h, 1.0)] {
            let trial: Vec<f64> = x.iter().zip(&slope).map(|(x, dx)| x + way * dx).collect();
            at(&mut me, t + way, &trial);
            ok(me.get_derivatives(&mut slope));
            sum.iter_mut().zip(&slope).for_each(|(sum, dx)| *sum += weight * dx);
        }
        x.iter_mut().zip(&sum).for_each(|(x, sum)| *x += h / 6.0 * sum);
        at(&mut me, t + h, &x);
        let (mut event, mut end) = (true, true);
        ok(me.completed_integrator_step(true, &mut event, &mut end));
        assert!(!event && !end);
    }
    assert_reference(&mut me, import.model_description());
    ok(me.terminate());
}

#[test]
fn the_crate_fmi_restores_a_state_by_handle_and_by_bytes() {
    let import = import("two_link");
    let xml = import.model_description();
    let mut cs = import.instantiate_cs("arm", false, true).expect("an instance");
    initialise(&mut cs, None);
    ok(cs.do_step(0.0, 1.0, true));
    let state = cs.get_fmu_state().expect("it can be saved");
    let bytes = cs.serialize_fmu_state(&state).expect("it can be written");
    let read = cs.deserialize_fmu_state(&bytes).expect("it can be read");
    let mut runs = Vec::new();
    for again in [None, Some(state), Some(read)] {
        if let Some(state) = again {
            ok(cs.set_fmu_state(&state).into());
        }
        ok(cs.do_step(1.0, 1.0, true));
        runs.push(get(&mut cs, xml, ["base.q[1]", "shoulder.qd", "elbow.q", "system.work"]).map(f64::to_bits));
    }
    assert!(runs[0] == runs[1] && runs[1] == runs[2], "{runs:?}");
}

/// In FMI 3.0 the crate rejects attributes of variables that are not in its list, and `unit` is one
/// of them. This test fails as soon as a version reads our description.
#[test]
fn the_crate_fmi_refuses_units_in_fmi_3() {
    let fmu = tool::build("two_link", &["--fmi", "3"]);
    let refused = fmi::import::from_path::<Fmi3Import>(fmu).expect_err("the attribute is unknown");
    let expected = r#"Schema(XmlParse(UnknownField { name: "FmiFloat64", field: "unit" }))"#;
    assert_eq!(format!("{refused:?}"), expected);
}

/// Returns a description without an attribute.
fn without(xml: &str, attribute: &str) -> String {
    let opening = format!(" {attribute}=\"");
    let mut parts = xml.split(&opening);
    let first = parts.next().expect("the first part").to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('"').expect("the attribute ends").1
    })
}

/// The probe touches within a step, which returns early; the event is handled at this time. The FMU is
/// unchanged but for the attributes that the crate refuses.
#[test]
fn the_crate_fmi_handles_a_capture_in_the_middle_of_a_step_in_fmi_3() {
    let builder = FMU3Builder::new(&tool::build("docking", &["--fmi", "3"])).expect("the archive is one");
    let names = ["latch.capture", "latch.captured", "latch.time"];
    let reference = |name: &str| {
        builder
            .model_description
            .variable_by_name(name)
            .map(|v| v.valueReference)
    };
    let [capture, captured, time] = names.map(|name| reference(name).expect("the name is known"));
    let folder = builder.unzipdir;
    let xml = std::fs::read_to_string(folder.path().join("modelDescription.xml")).expect("a text");
    let plain = ["unit", "displayUnit", "nominal"]
        .iter()
        .fold(xml, |xml, name| without(&xml, name));
    let import = Fmi3Import::new(folder, &plain).expect("the rest is read");
    let mut cs = import
        .instantiate_cs("docking", false, false, true, true, &[])
        .expect("an instance");
    let done = |result: Result<Fmi3Res, Fmi3Error>| assert!(matches!(result, Ok(Fmi3Res::OK)), "{result:?}");
    let get = |cs: &mut InstanceCS, reference: u32| {
        let mut value = [f64::NAN];
        done(cs.get_float64(&[reference], &mut value));
        value[0]
    };
    let is_true = |cs: &mut InstanceCS, reference: u32| {
        let mut value = [false];
        done(cs.get_boolean(&[reference], &mut value));
        value[0]
    };
    done(cs.set_boolean(&[capture], &[true]));
    done(fmi3::Common::enter_initialization_mode(&mut cs, None, 0.0, None));
    done(fmi3::Common::exit_initialization_mode(&mut cs));
    done(fmi3::Common::update_discrete_states(
        &mut cs,
        &mut EventFlags::default(),
    ));
    done(cs.enter_step_mode());
    let (h, mut t, mut captures) = (0.5, 0.0, Vec::new());
    for k in 1..=120 {
        let until = f64::from(k) * h;
        while t < until {
            let ([mut event, mut ends, mut early], mut reached) = ([false; 3], f64::NAN);
            done(cs.do_step(t, until - t, true, &mut event, &mut ends, &mut early, &mut reached));
            assert_eq!(early, reached < until);
            t = reached;
            if event {
                let (before, mut flags) = (is_true(&mut cs, captured), EventFlags::default());
                done(fmi3::Common::enter_event_mode(&mut cs));
                done(fmi3::Common::update_discrete_states(&mut cs, &mut flags));
                if flags.values_of_continuous_states_changed {
                    captures.push((t, before, is_true(&mut cs, captured), get(&mut cs, time)));
                }
                done(cs.enter_step_mode());
            }
        }
    }
    let [(t, before, after, touch)] = captures[..] else {
        panic!("{captures:?}");
    };
    println!("captured at {touch} s, {:e} s from the event", t - touch);
    assert!(!before && after);
    assert!((t - touch).abs() < 1e-12 && (t / h).fract() != 0.0);
}

/// The crate's logger is a variadic function in C, which a test in Rust alone cannot define.
#[test]
fn the_crate_fmi_receives_the_reason_of_a_refused_call() {
    struct Listener(Mutex<Vec<String>>);
    impl log::Log for Listener {
        fn enabled(&self, _: &log::Metadata) -> bool {
            true
        }
        fn log(&self, record: &log::Record) {
            let line = format!("{} {}: {}", record.level(), record.target(), record.args());
            self.0.lock().expect("nobody panics with it").push(line);
        }
        fn flush(&self) {}
    }
    static LISTENER: Listener = Listener(Mutex::new(Vec::new()));
    log::set_logger(&LISTENER).expect("it is the only one");

    let import = import("two_link");
    let mut cs = import.instantiate_cs("the 100% arm", false, true).expect("an instance");
    let refused = cs.get_real(&[4_000_000_000], &mut [0.0]);
    assert!(matches!(refused, Err(Fmi2Error::Error)), "{refused:?}");
    let heard = LISTENER.0.lock().expect("nobody panics with it");
    let message = "ERROR the 100% arm: fmi2GetReal: unknown value reference 4000000000";
    assert!(heard.iter().any(|line| line.starts_with(message)), "{heard:?}");
}
