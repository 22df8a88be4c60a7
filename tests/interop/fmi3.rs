//! grapple's FMUs of FMI 3.0 in the crate `fmi`, as in `fmi.rs`.

use fmi::EventFlags;
use fmi::fmi3::import::Fmi3Import;
use fmi::fmi3::schema::Fmi3ModelDescription;
use fmi::fmi3::{CoSimulation, Common, Fmi3Error, Fmi3Model, Fmi3Res, GetSet, ModelExchange};
use fmi::traits::FmiImport;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Angles of the two-link spacecraft after 5 s: base, shoulder and elbow, in degrees.
const ANGLES_DEG: [f64; 3] = [-45.92802927, 48.82037995, 104.92707873];
/// Ten times the last decimal of the reference.
const TOLERANCE_DEG: f64 = 1e-7;
const STOP_TIME: f64 = 5.0;

/// Builds an example for FMI 3.0 with the finished tool and imports the FMU.
fn import(example: &str, options: &[&str]) -> Fmi3Import {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let grapple = std::env::var_os("GRAPPLE").expect("the environment variable GRAPPLE is the path of the tool");
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{example}.toml"));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let fmu = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{example}_fmi3_{count}.fmu"));
    let mut build = Command::new(grapple);
    build.arg("build").arg(spec).args(["--fmi", "3"]).args(options);
    let built = build.arg("--output").arg(&fmu).output().expect("the tool runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    fmi::import::from_path(&fmu).expect("the archive is one")
}

/// Asserts `fmi3OK`; a warning fails too.
#[track_caller]
fn ok(result: Result<Fmi3Res, Fmi3Error>) {
    assert!(matches!(result, Ok(Fmi3Res::OK)), "{result:?}");
}

fn reference(xml: &Fmi3ModelDescription, name: &str) -> u32 {
    xml.model_variables.find_by_name(name).expect(name).value_reference()
}

fn get<const N: usize>(instance: &mut impl GetSet, xml: &Fmi3ModelDescription, names: [&str; N]) -> [f64; N] {
    let mut values = [f64::NAN; N];
    ok(instance.get_float64(&names.map(|name| reference(xml, name)), &mut values));
    values
}

fn assert_reference([w, z, shoulder, elbow]: [f64; 4]) {
    let found = [2.0 * z.atan2(w), shoulder, elbow].map(f64::to_degrees);
    let off: Vec<f64> = found.iter().zip(ANGLES_DEG).map(|(a, b)| (a - b).abs()).collect();
    println!("{off:?} degrees off");
    assert!(off.iter().all(|&off| off < TOLERANCE_DEG), "{found:?}");
}

const STATES: [&str; 4] = ["base.q[1]", "base.q[4]", "shoulder.q", "elbow.q"];

/// Makes one step to `end`; returns the time that it has reached.
fn step(cs: &mut impl CoSimulation, t: f64, end: f64) -> (bool, f64) {
    let [mut event, mut terminate, mut early] = [true; 3];
    let mut reached = f64::NAN;
    ok(cs.do_step(t, end - t, true, &mut event, &mut terminate, &mut early, &mut reached));
    assert!(!event && !terminate);
    (early, reached)
}

#[test]
fn the_crate_fmi_reads_the_description_of_fmi_3() {
    for (example, joints) in [("two_link", 2), ("ssrms_type", 7)] {
        let import = import(example, &[]);
        let xml = import.model_description();
        assert_eq!((xml.fmi_version.as_str(), xml.model_name.as_str()), ("3.0", example));
        assert_eq!(xml.variable_naming_convention.as_deref(), Some("structured"));
        let states = 13 + 2 * joints + 1;
        assert_eq!(xml.continuous_state_derivatives().count(), states);
        assert_eq!(xml.event_indicators().count(), 0);
        assert!(xml.model_exchange.is_some() && xml.co_simulation.is_some());
    }
}

#[test]
fn the_crate_fmi_reaches_the_reference_in_co_simulation_of_fmi_3() {
    let import = import("two_link", &[]);
    let mut cs = import
        .instantiate_cs("arm", false, true, false, false, &[])
        .expect("an instance");
    assert_eq!(cs.get_version(), "3.0");
    ok(cs.enter_initialization_mode(Some(1e-12), 0.0, Some(STOP_TIME)));
    ok(cs.exit_initialization_mode());
    for k in 0..500 {
        let (early, _) = step(&mut cs, f64::from(k) * 0.01, f64::from(k + 1) * 0.01);
        assert!(!early);
    }
    assert_reference(get(&mut cs, import.model_description(), STATES));
    ok(cs.terminate());
}

/// Integrated by the classical Runge–Kutta method; the spacecraft has no events.
#[test]
fn the_crate_fmi_reaches_the_reference_in_model_exchange_of_fmi_3() {
    let import = import("two_link", &[]);
    let mut me = import.instantiate_me("arm", false, true).expect("an instance");
    ok(me.enter_initialization_mode(None, 0.0, Some(STOP_TIME)));
    ok(me.exit_initialization_mode());
    let mut flags = EventFlags::default();
    ok(me.update_discrete_states(&mut flags));
    ok(me.enter_continuous_time_mode());
    let n = me.get_number_of_continuous_states().expect("a number");
    let mut x = vec![f64::NAN; n];
    ok(me.get_continuous_states(&mut x));
    let h = 1e-3;
    for k in 0..5000 {
        let t = f64::from(k) * h;
        let (mut slope, mut sum) = (vec![0.0; n], vec![0.0; n]);
        for (way, weight) in [(0.0, 1.0), (h / 2.0, 2.0), (h / 2.0, 2.0), (h, 1.0)] {
            let trial: Vec<f64> = x.iter().zip(&slope).map(|(x, dx)| x + way * dx).collect();
            ok(me.set_time(t + way));
            ok(me.set_continuous_states(&trial));
            ok(me.get_continuous_state_derivatives(&mut slope));
            sum.iter_mut().zip(&slope).for_each(|(sum, dx)| *sum += weight * dx);
        }
        x.iter_mut().zip(&sum).for_each(|(x, sum)| *x += h / 6.0 * sum);
        ok(me.set_time(t + h));
        ok(me.set_continuous_states(&x));
        let (mut event, mut end) = (true, true);
        ok(me.completed_integrator_step(true, &mut event, &mut end));
        assert!(!event && !end);
    }
    assert_reference(get(&mut me, import.model_description(), STATES));
    ok(me.terminate());
}

/// The probe touches the target within a step; a run that returns early there has the bits of one that
/// does not.
#[test]
fn the_crate_fmi_gets_control_back_at_the_capture() {
    let import = import("docking", &[]);
    let xml = import.model_description();
    let stop = 60.0;
    let mut run = |early_return: bool| {
        let cs = import.instantiate_cs("docking", false, true, false, early_return, &[]);
        let mut cs = cs.expect("an instance");
        ok(cs.set_float64(&[reference(xml, "latch.capture")], &[1.0]));
        ok(cs.enter_initialization_mode(None, 0.0, Some(stop)));
        ok(cs.exit_initialization_mode());
        let (mut t, mut returns) = (0.0, Vec::new());
        for k in 1..=120 {
            let end = f64::from(k) * 0.5;
            while t < end {
                let (early, reached) = step(&mut cs, t, end);
                t = if early { reached } else { end };
                returns.extend(early.then_some(reached));
            }
        }
        let values = get(
            &mut cs,
            xml,
            ["latch.time", "latch.captured", "system.energy", "system.work"],
        );
        (values, returns)
    };
    let ((plain, none), (early, returns)) = (run(false), run(true));
    assert!(none.is_empty());
    assert_eq!((returns.len(), plain[1]), (1, 1.0));
    assert!((returns[0] - plain[0]).abs() < 1e-12, "{} {}", returns[0], plain[0]);
    assert_eq!(plain.map(f64::to_bits), early.map(f64::to_bits));
}

#[test]
fn the_crate_fmi_gets_and_sets_arrays() {
    let import = import("two_link", &["--arrays"]);
    let q = reference(import.model_description(), "base.q");
    let mut cs = import
        .instantiate_cs("arm", false, true, false, false, &[])
        .expect("an instance");
    let start = reference(import.model_description(), "base.q_start");
    let turned = [0.6, 0.0, 0.0, 0.8];
    ok(cs.set_float64(&[start], &turned));
    ok(cs.enter_initialization_mode(None, 0.0, None));
    ok(cs.exit_initialization_mode());
    let mut values = [f64::NAN; 4];
    ok(cs.get_float64(&[q], &mut values));
    assert_eq!(values, turned);
}
