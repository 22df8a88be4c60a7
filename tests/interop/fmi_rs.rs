//! grapple's FMUs of FMI 3.0 in the crate `fmi-rs`, an importer by the authors of FMPy in Rust.
//!
//! `GRAPPLE=$PWD/target/debug/grapple cargo test --manifest-path tests/interop/Cargo.toml` builds
//! the FMUs and runs them.

mod tool;

use fmi::fmi2::import::Fmi2Import;
use fmi::fmi2::instance::{CoSimulation, Common};
use fmi::fmi2::{Fmi2Error, Fmi2Res, Fmi2Status};
use fmi::traits::FmiInstance;
use fmi_rs::fmi3::FMU3;
use fmi_rs::fmi3::builder::FMU3Builder;
use fmi_rs::fmi3::types::fmi3Status;
use fmi_rs::model_description::fmi3::{Dimension, ModelDescription, VariableType};
use std::path::Path;

/// Builds an example and reads the FMU.
fn import(example: &str, options: &[&str]) -> FMU3Builder {
    let fmu = tool::build(example, &[&["--fmi", "3"], options].concat());
    FMU3Builder::new(&fmu).unwrap_or_else(|e| panic!("{example}: {e}"))
}

#[track_caller]
fn ok(status: fmi3Status) {
    assert_eq!(status, fmi3Status::Ok);
}

/// Returns the value references of variables.
fn references<const N: usize>(xml: &ModelDescription, names: [&str; N]) -> [u32; N] {
    names.map(|name| xml.variable_by_name(name).expect("the name is known").valueReference)
}

fn get<const N: usize>(fmu: &FMU3, references: [u32; N]) -> [f64; N] {
    let mut values = [f64::NAN; N];
    ok(fmu.getFloat64(&references, &mut values));
    values
}

fn is_true(fmu: &FMU3, reference: u32) -> bool {
    let mut values = [false];
    ok(fmu.getBoolean(&[reference], &mut values));
    values[0]
}

/// Initialises an instance, with the event at the start handled if it uses Event Mode.
fn initialise(fmu: &FMU3, tolerance: Option<f64>, has_events: bool) {
    ok(fmu.enterInitializationMode(tolerance, 0.0, None));
    ok(fmu.exitInitializationMode());
    if has_events {
        update(fmu);
    }
}

/// Updates the discrete states; returns true if continuous states have jumped.
fn update(fmu: &FMU3) -> bool {
    let [mut again, mut ends, mut nominals, mut jumped] = [true, true, true, false];
    let mut next = None;
    ok(fmu.updateDiscreteStates(&mut again, &mut ends, &mut nominals, &mut jumped, &mut next));
    assert!(!again && !ends && !nominals);
    jumped
}

/// Result of a step.
struct StepEnd {
    event: bool,
    early: bool,
    t: f64,
}

fn step(fmu: &FMU3, t: f64, h: f64) -> StepEnd {
    let ([mut event, mut ends, mut early], mut reached) = ([false; 3], f64::NAN);
    ok(fmu.doStep(t, h, true, &mut event, &mut ends, &mut early, &mut reached));
    assert!(!ends);
    StepEnd {
        event,
        early,
        t: reached,
    }
}

/// Returns the names of all examples.
fn examples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let paths = folder
        .read_dir()
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let specs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let names: Vec<String> = specs
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert!(names.len() > 10);
    names
}

/// The crate repeats the standard's rules for names, causalities, starts and the model's structure.
#[test]
fn fmi_rs_finds_no_mistake_in_the_description_of_any_example() {
    for name in examples() {
        for options in [&[][..], &["--arrays"]] {
            let problems = import(&name, options).model_description.validate();
            let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
            assert!(messages.is_empty(), "{name} {options:?}: {messages:#?}");
        }
    }
}

/// Results of fifty steps: value references of the real outputs' elements with the bits of the values.
type Run = Vec<(u32, u64)>;

/// Runs an example in Co-Simulation without events; returns the outputs and the step size, s.
fn run(example: &str, options: &[&str]) -> (Run, f64) {
    let mut import = import(example, options);
    (import.eventModeUsed, import.earlyReturnAllowed) = (false, false);
    let xml = &import.model_description;
    let fmu = import.instantiate_cs("it").expect("an instance");
    initialise(&fmu, None, false);
    let experiment = xml.defaultExperiment.as_ref().expect("there is one");
    let h: f64 = experiment.stepSize.as_ref().expect("a step").parse().expect("a number");
    for k in 0..50 {
        step(&fmu, f64::from(k) * h, h);
    }
    let mut outputs = Vec::new();
    for output in &xml.outputs {
        let variable = xml.variable_by_value_reference(output.valueReference).expect("one");
        if !matches!(variable.variableType, VariableType::Float64 { .. }) {
            continue;
        }
        let sizes = variable.dimensions.iter().map(|dimension| match dimension {
            Dimension::Fixed { start } => *start,
            Dimension::Variable { .. } => panic!("{}", variable.name),
        });
        let mut values = vec![f64::NAN; sizes.product()];
        ok(fmu.getFloat64(&[output.valueReference], &mut values));
        outputs.extend((output.valueReference..).zip(values.into_iter().map(f64::to_bits)));
    }
    outputs.sort_unstable();
    assert!(!outputs.is_empty(), "{example}");
    (outputs, h)
}

/// Runs the FMU of FMI 2.0 in the crate `fmi`, and returns the same outputs.
fn run_of_fmi_2(example: &str, outputs: &Run, h: f64) -> Run {
    fn is_ok(result: Result<Fmi2Res, Fmi2Error>) {
        assert!(matches!(result, Ok(Fmi2Res::OK)), "{result:?}");
    }
    fn initialise(instance: &mut impl FmiInstance<Status = Fmi2Status>) {
        is_ok(instance.enter_initialization_mode(None, 0.0, None));
        is_ok(instance.exit_initialization_mode());
    }
    let import: Fmi2Import = fmi::import::from_path(tool::build(example, &[])).expect("the archive is one");
    let mut two = import.instantiate_cs("it", false, false).expect("an instance");
    initialise(&mut two);
    for k in 0..50 {
        is_ok(two.do_step(f64::from(k) * h, h, true));
    }
    let references: Vec<u32> = outputs.iter().map(|(reference, _)| *reference).collect();
    let mut values = vec![f64::NAN; references.len()];
    is_ok(two.get_real(&references, &mut values));
    references
        .into_iter()
        .zip(values.into_iter().map(f64::to_bits))
        .collect()
}

/// So has the FMU with arrays.
#[test]
fn fmi_rs_gets_the_bits_of_fmi_2_in_every_example() {
    for name in examples() {
        let (outputs, h) = run(&name, &[]);
        assert!(outputs == run_of_fmi_2(&name, &outputs, h), "{name}");
        assert!(outputs == run(&name, &["--arrays"]).0, "{name}");
    }
}

/// Angles of the two-link spacecraft after 5 s: base, shoulder and elbow, in degrees.
const ANGLES_DEG: [f64; 3] = [-45.92802927, 48.82037995, 104.92707873];
/// Ten times the last decimal of the reference.
const TOLERANCE_DEG: f64 = 1e-7;

#[test]
fn fmi_rs_reaches_the_reference_in_co_simulation() {
    let mut import = import("two_link", &[]);
    (import.eventModeUsed, import.earlyReturnAllowed) = (false, false);
    let fmu = import.instantiate_cs("arm").expect("an instance");
    initialise(&fmu, Some(1e-12), false);
    for k in 0..500 {
        let end = step(&fmu, f64::from(k) * 0.01, 0.01);
        assert!(!end.event && !end.early);
    }
    let names = ["base.q[1]", "base.q[4]", "shoulder.q", "elbow.q"];
    let [w, z, shoulder, elbow] = get(&fmu, references(&import.model_description, names));
    let found = [2.0 * z.atan2(w), shoulder, elbow].map(f64::to_degrees);
    let off = found
        .iter()
        .zip(ANGLES_DEG)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    println!("{off:e} degrees off");
    assert!(off < TOLERANCE_DEG, "{found:?}");
    ok(fmu.terminate());
}

/// The probe touches within a step, which returns early; the event is handled at this time.
#[test]
fn fmi_rs_handles_a_capture_in_the_middle_of_a_step() {
    let import = import("docking", &[]);
    let [capture, captured, time] = references(
        &import.model_description,
        ["latch.capture", "latch.captured", "latch.time"],
    );
    let fmu = import.instantiate_cs("docking").expect("an instance");
    ok(fmu.setBoolean(&[capture], &[true]));
    initialise(&fmu, None, true);
    ok(fmu.enterStepMode());
    let (h, mut t, mut captures) = (0.5, 0.0, Vec::new());
    for k in 1..=120 {
        let until = f64::from(k) * h;
        while t < until {
            let end = step(&fmu, t, until - t);
            assert_eq!(end.early, end.t < until);
            t = end.t;
            if end.event {
                let before = is_true(&fmu, captured);
                ok(fmu.enterEventMode());
                if update(&fmu) {
                    captures.push((t, before, is_true(&fmu, captured), get(&fmu, [time])));
                }
                ok(fmu.enterStepMode());
            }
        }
    }
    let [(t, before, after, [touch])] = captures[..] else {
        panic!("{captures:?}");
    };
    println!("captured at {touch} s, {:e} s from the event", t - touch);
    assert!(!before && after);
    assert!((t - touch).abs() < 1e-12 && (t / h).fract() != 0.0);
}

/// `seedᵀ J d` by an adjoint derivative and by a directional one, in Model Exchange.
#[test]
fn fmi_rs_gets_equal_adjoint_and_directional_derivatives() {
    let import = import("ssrms_flexible", &[]);
    let xml = &import.model_description;
    let fmu = import.instantiate_me("arm").expect("an instance");
    initialise(&fmu, None, true);
    ok(fmu.enterContinuousTimeMode());
    let unknowns: Vec<u32> = xml.derivatives.iter().map(|unknown| unknown.valueReference).collect();
    let state = |vr: &u32| {
        xml.variable_by_value_reference(*vr)
            .expect("one")
            .variableType
            .derivative()
    };
    let knowns: Vec<u32> = unknowns.iter().map(|vr| state(vr).expect("of a state")).collect();
    let n = unknowns.len();
    let seed: Vec<f64> = (0..n).map(|i| (1.7 * i as f64).sin()).collect();
    let along: Vec<f64> = (0..n).map(|i| (0.9 * i as f64).cos()).collect();
    let (mut adjoint, mut directional) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    ok(fmu.getAdjointDerivative(&unknowns, &knowns, &seed, &mut adjoint));
    ok(fmu.getDirectionalDerivative(&unknowns, &knowns, &along, &mut directional));
    let terms = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).collect::<Vec<f64>>();
    let (by_adjoint, by_direction) = (terms(&adjoint, &along), terms(&directional, &seed));
    let sum = |terms: &[f64]| terms.iter().sum::<f64>();
    let scale: f64 = by_adjoint.iter().chain(&by_direction).map(|term| term.abs()).sum();
    let off = (sum(&by_adjoint) - sum(&by_direction)).abs() / scale;
    println!("{off:e} relative");
    assert!(off < 1e-13, "{off:e}");
}
