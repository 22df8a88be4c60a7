//! Saved states.

use super::fmu;
use crate::driver::*;
use crate::messages;
use crate::recorded::Recorded;
use grapple::fmu::c_abi::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ptr::null_mut;

#[test]
fn serialised_state_continues_in_another_instance_with_identical_bits() {
    let _section = messages::of_this_test();
    let fmu = fmu();
    let [a_log, b_log, me_log] = [(); 3].map(|()| Log::new());
    let a = fmu.instance_with_log(&a_log, CS);
    a.initialise(Some(1e-7));
    ok(a.set("elbow.tau", 0.4));
    ok(a.step(0.0, 0.317));
    let mut state = a.save();
    let first = state;
    // SAFETY: live handles and states of this FMU, null where null is tested, and slices of the
    // given counts.
    unsafe {
        ok(fmi2GetFMUstate(a.c, &mut state));
        assert_eq!(first, state, "the copy is reused");
        let bytes = a.serialize(state);
        let size = bytes.len();
        let mut short = bytes.clone();
        assert_eq!(
            fmi2SerializeFMUstate(a.c, state, short.as_mut_ptr().cast(), size - 1),
            ERROR
        );
        a_log.take();

        let b = fmu.instance_with_log(&b_log, CS);
        for damaged in [&bytes[..size - 1], &bytes[..20], &[]] {
            assert_eq!(b.deserialize(damaged), (ERROR, null_mut()));
            b_log.assert_logged(ERROR, &["fmi2DeSerializeFMUstate"]);
        }
        let mut flipped = bytes.clone();
        flipped[size / 2] ^= 4;
        assert_eq!(b.deserialize(&flipped), (ERROR, null_mut()));
        b_log.assert_logged(ERROR, &["fmi2DeSerializeFMUstate"]);
        let (status, restored) = b.deserialize(&bytes);
        ok(status);
        b.restore(restored);
        assert_eq!(fmi2SetFMUstate(b.c, null_mut()), ERROR);
        b_log.assert_logged(ERROR, &[]);
        for (t, h) in [(0.317, 0.1), (0.317 + 0.1, 0.4)] {
            assert_eq!((a.step(t, h), b.step(t, h)), (OK, OK));
            assert_eq!(a.bits(), b.bits());
        }
        // The first instance makes the same steps from its restored state.
        let end = a.bits();
        a.restore(state);
        assert_eq!((a.step(0.317, 0.1), a.step(0.317 + 0.1, 0.4)), (OK, OK));
        assert_eq!(a.bits(), end);

        let me = fmu.instance_with_log(&me_log, ME);
        assert_eq!(fmi2SetFMUstate(me.c, state), ERROR);
        me_log.assert_logged(ERROR, &["Model Exchange"]);
        ok(fmi2FreeFMUstate(a.c, &mut state));
        assert!(state.is_null());
        ok(fmi2FreeFMUstate(a.c, &mut state));
        ok(fmi2FreeFMUstate(a.c, null_mut()));
        b.free_state(restored);
    }
}

/// In Model Exchange the importer integrates, so the saved state has no memory of the solver.
#[test]
fn state_in_model_exchange_has_no_integrator_memory() {
    let bytes = |method: &str, kind| {
        let fmu = Fmu::of(&format!("{SPACECRAFT}[solver]\nmethod = \"{method}\"\n"));
        let instance = fmu.instance(kind);
        instance.initialise(None);
        instance.bytes().len()
    };
    let [explicit, implicit] = ["dopri5", "radau5"].map(|method| [ME, CS].map(|kind| bytes(method, kind)));
    println!("Model Exchange and Co-Simulation: dopri5 {explicit:?} bytes, radau5 {implicit:?} bytes");
    assert_eq!(explicit[0], implicit[0]);
    // 31 numbers for any method; an implicit method also stores its Jacobian and three vectors
    // of the states' size.
    assert_eq!(explicit[1] - explicit[0], 8 * 31);
    assert_eq!(implicit[1] - implicit[0], 8 * (31 + 18 * 18 + 3 * 18));
}

/// Returns a spec with the default solver and tolerance, whose inputs all come from its signals.
fn on_its_own(text: &str) -> String {
    let mut spec: toml::Table = text.parse().expect("TOML");
    spec.remove("solver");
    if let Some(toml::Value::Table(experiment)) = spec.get_mut("experiment") {
        experiment.remove("tolerance");
    }
    if let Some(toml::Value::Table(signals)) = spec.get_mut("signal") {
        for signal in signals.iter_mut().filter_map(|(_, signal)| signal.as_table_mut()) {
            signal.insert("from_importer".to_owned(), false.into());
        }
    }
    spec.to_string()
}

/// Runs a spec for `steps` steps of `h` (s), once straight and once continued in another instance from
/// the serialised state of about six in ten steps; all saved states are equal. Returns the numbers of
/// continuations and of changes of the method.
fn continued(text: &str, h: f64, steps: u32, random: &mut ChaCha8Rng) -> [usize; 2] {
    let fmu = Fmu::of(text);
    let log = Log::new();
    let straight = fmu.instance_with_log(&log, CS);
    straight.initialise(None);
    let mut others = [(); 2].map(|()| {
        let other = fmu.instance(CS);
        other.initialise(None);
        other
    });
    let mut restored = 0;
    for k in 0..steps {
        let t = f64::from(k) * h;
        ok(straight.step(t, h));
        ok(others[0].step(t, h));
        if random.random_bool(0.6) {
            let (status, state) = others[1].deserialize(&others[0].bytes());
            ok(status);
            others[1].restore(state);
            others[1].free_state(state);
            others.swap(0, 1);
            restored += 1;
        }
        assert_eq!(straight.bytes(), others[0].bytes(), "at {t} s");
    }
    let changes = log.take();
    let changes = changes
        .iter()
        .filter(|logged| logged.message.contains("integration continues"))
        .count();
    [restored, changes]
}

/// The method changes on the flexible arm, on both arms at a payload, and after the impact of the
/// berthing and the capture of the tug.
#[test]
fn runs_with_changes_of_method_continue_identically_from_a_thousand_instants() {
    let arm = on_its_own(include_str!("../../../examples/ssrms_flexible.toml"));
    let dual = on_its_own(include_str!("../../../examples/dual_arm.toml"));
    let berthing = on_its_own(include_str!("../../../examples/berthing.toml"));
    let tug = on_its_own(include_str!("../../../benches/defaults/tug.toml"));
    let mut random = ChaCha8Rng::seed_from_u64(34);
    let mut counts = [0; 2];
    for (text, h, steps) in [
        (arm, 0.05, 900),
        (dual, 0.1, 300),
        (berthing, 0.05, 200),
        (tug, 0.01, 900),
    ] {
        let found = continued(&text, h, steps, &mut random);
        (0..2).for_each(|i| counts[i] += found[i]);
    }
    let [restored, changes] = counts;
    println!("{restored} instants, {changes} changes of method");
    assert!(restored > 1000 && changes >= 4);
}

/// Tanks that slosh, gyros and an imbalanced wheel; a tank that becomes empty; all loads of the
/// environment; a reel, a capture by the tether's end and the tow; debris that strikes a panel; an
/// array of modal data.
#[test]
fn runs_with_liquids_gyros_environment_and_tethers_continue_identically() {
    let mut random = ChaCha8Rng::seed_from_u64(40);
    for (text, h, steps) in [
        (include_str!("../../../examples/tanks/slosh_and_gyros.toml"), 0.1, 60),
        (include_str!("../../../examples/tanks/kick_stage.toml"), 4.0, 60),
        (include_str!("../../../examples/environment/low_orbit.toml"), 20.0, 60),
        (include_str!("../../../examples/tethers/harpoon.toml"), 0.25, 100),
        (include_str!("../../../examples/impacts/debris.toml"), 0.05, 40),
        (include_str!("../../../examples/modal_array.toml"), 1.0, 60),
    ] {
        let [restored, _] = continued(text, h, steps, &mut random);
        assert!(restored > 15, "{restored}");
    }
}
