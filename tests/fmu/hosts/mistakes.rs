//! Hosts, files and users that make mistakes: the right status, one clear message, the host alive.

use crate::driver::*;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::{Guid, Naming};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ffi::CString;
use std::ptr::{null, null_mut};

/// An instance as most loaders make it, unless it is refused.
fn load(fmu: &Fmu) -> Option<Instance<'_>> {
    fmu.instance_at(Some(&fmu.uri()), CS, Some(&callbacks()), fmi2False, fmi2True)
}

/// Puts a model into the resources, with the GUID that fits its bytes.
fn change(fmu: &mut Fmu, bytes: &[u8]) {
    fmu.write_model(bytes);
    fmu.guid = CString::new(Guid::new(bytes, Naming::Structured).to_string()).expect("no zero inside");
}

fn model(fmu: &Fmu) -> Vec<u8> {
    std::fs::read(fmu.model_file()).expect("the test has written it")
}

#[test]
fn a_missing_truncated_or_foreign_model_is_refused_with_the_reason() {
    let mut fmu = Fmu::new();
    let bytes = model(&fmu);
    let other = Fmu::of(&CRAFT.replace("mass = 4.0", "mass = 5.0"));
    let guid = fmu.guid.clone();

    // Another craft's model, or another build's, under this XML.
    fmu.write_model(&model(&other));
    assert!(load(&fmu).is_none());
    told(ERROR, &["GUID", guid.to_str().expect("it is a text")]);
    // Cut, or something else altogether, with a GUID that fits.
    for (bytes, word) in [
        (&bytes[..bytes.len() / 2], "fmi2Instantiate"),
        (&bytes[..0], "fmi2Instantiate"),
        (b"not a model".as_slice(), "fmi2Instantiate"),
        (b"{\"format\": 99}".as_slice(), "fmi2Instantiate"),
    ] {
        change(&mut fmu, bytes);
        assert!(load(&fmu).is_none());
        told(ERROR, &[word]);
    }
    std::fs::remove_file(fmu.model_file()).expect("it was there");
    assert!(load(&fmu).is_none());
    told(ERROR, &["model.json", fmu.path()]);
    // A directory where the file should be.
    std::fs::create_dir(fmu.model_file()).expect("the directory can be made");
    assert!(load(&fmu).is_none());
    told(ERROR, &["model.json"]);
    // And the right one again.
    std::fs::remove_dir(fmu.model_file()).expect("it was made");
    change(&mut fmu, &bytes);
    assert!(load(&fmu).is_some());
    assert_eq!(heard(), []);
}

#[test]
fn a_damaged_model_never_brings_the_library_down() {
    let mut fmu = Fmu::new();
    let bytes = model(&fmu);
    let mut random = ChaCha8Rng::seed_from_u64(71);
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..1500 {
        let mut damaged = bytes.clone();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..damaged.len());
            match random.random_range(0..4) {
                0 => damaged[at] ^= 1 << random.random_range(0..8),
                1 => drop(damaged.remove(at)),
                2 => damaged.insert(at, damaged[at]),
                _ => damaged[at] = b"0123456789-.eE[]{},\""[random.random_range(0..20)],
            }
        }
        change(&mut fmu, &damaged);
        match load(&fmu) {
            None => refused += 1,
            Some(instance) => {
                taken += 1;
                // What still is a model is one: it runs, or says why not.
                instance.setup(None, 0.0, None);
                ok(instance.enter_initialization());
                if instance.exit_initialization() == OK {
                    assert_ne!(instance.step(0.0, 0.01), FATAL, "{:?}", heard());
                }
            }
        }
        for message in heard() {
            assert_ne!(message.status, FATAL, "{message:?}");
            assert!(!message.message.contains("internal error"), "{message:?}");
        }
    }
    assert!(refused > 100 && taken > 10, "{refused} {taken}");
}

#[test]
fn a_parameter_that_makes_no_sense_is_named_and_can_be_mended() {
    let fmu = Fmu::new();
    for (name, bad, word) in [
        ("lower.mass", -1.0, "lower"),
        ("lower.inertia_xx", -0.1, "lower"),
        ("elbow.q_min", 1.0, "elbow"),
        ("elbow.q_start", 2.0, "elbow"),
        ("elbow.kp", -1.0, "elbow"),
        ("solver.work_limit", 0.0, "solver.work_limit"),
    ] {
        let cs = fmu.instance(CS);
        let good = cs.get(name);
        cs.setup(None, 0.0, None);
        ok(cs.set(name, bad));
        ok(cs.enter_initialization());
        assert_eq!(cs.exit_initialization(), ERROR, "{name}");
        told(ERROR, &[word, "fmi2ExitInitializationMode"]);
        ok(cs.set(name, good));
        ok(cs.exit_initialization());
        ok(cs.step(0.0, 0.1));
        assert_eq!(heard(), []);
    }
}

/// One call, chosen and filled at random, legal or not.
fn any_call(instance: &Instance, random: &mut ChaCha8Rng, states: &mut Vec<fmi2FMUstate>) -> fmi2Status {
    let c = instance.c;
    let count = instance.fmu.registry.len() as u32;
    let odd = [
        0.0,
        -0.0,
        0.1,
        1.0,
        -3.0,
        1e9,
        1e300,
        -1e300,
        f64::NAN,
        f64::INFINITY,
        5e-324,
    ];
    let mut value = || odd[random.random_range(0..odd.len())];
    let (a, b) = (value(), value());
    let references: Vec<u32> = (0..random.random_range(0..4))
        .map(|_| random.random_range(0..count + 2))
        .collect();
    let n = references.len();
    let reals: Vec<f64> = references
        .iter()
        .map(|_| odd[random.random_range(0..odd.len())])
        .collect();
    let mut out = vec![0.0; n];
    let orders = vec![random.random_range(-1..5); n];
    let mut many = vec![a; random.random_range(0..40)];
    let mut info = fmi2EventInfo::default();
    let (mut enter, mut end) = (0, 0);
    let on = fmi2Boolean::from(random.random::<bool>());
    // SAFETY: a live handle; every pointer comes from a slice of the count beside it; states are this FMU's own.
    unsafe {
        match random.random_range(0..32) {
            0 => fmi2SetupExperiment(c, on, a, b, 1 - on, 2.0 * b),
            1 | 2 => fmi2SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2False, 0.0),
            3 | 4 => fmi2EnterInitializationMode(c),
            5 | 6 => fmi2ExitInitializationMode(c),
            7 => fmi2Terminate(c),
            8 => fmi2Reset(c),
            9 | 10 => fmi2GetReal(c, references.as_ptr(), n, out.as_mut_ptr()),
            11 | 12 => fmi2SetReal(c, references.as_ptr(), n, reals.as_ptr()),
            13 => fmi2SetInteger(c, references.as_ptr(), n, orders.as_ptr()),
            14 => fmi2SetBoolean(c, references.as_ptr(), n, orders.as_ptr()),
            15 => fmi2EnterEventMode(c),
            16 => fmi2NewDiscreteStates(c, &mut info),
            17 => fmi2EnterContinuousTimeMode(c),
            18 => fmi2CompletedIntegratorStep(c, on, &mut enter, &mut end),
            19 => fmi2SetTime(c, a),
            20 => fmi2SetContinuousStates(c, many.as_ptr(), many.len()),
            21 => fmi2GetDerivatives(c, many.as_mut_ptr(), many.len()),
            22 => fmi2GetEventIndicators(c, many.as_mut_ptr(), many.len()),
            23 => fmi2SetRealInputDerivatives(c, references.as_ptr(), n, orders.as_ptr(), reals.as_ptr()),
            24 => fmi2GetRealOutputDerivatives(c, references.as_ptr(), n, orders.as_ptr(), out.as_mut_ptr()),
            25 => fmi2DoStep(c, a, 0.1, on),
            26 => {
                let mut t = 0.0;
                fmi2GetRealStatus(c, fmi2StatusKind::LAST_SUCCESSFUL_TIME, &mut t);
                fmi2DoStep(c, t, random.random_range(0.0..0.1), on)
            }
            27 => {
                let mut state = null_mut();
                let status = fmi2GetFMUstate(c, &mut state);
                states.extend((!state.is_null()).then_some(state));
                status
            }
            28 => match states.as_slice() {
                [] => OK,
                some => fmi2SetFMUstate(c, some[random.random_range(0..some.len())]),
            },
            29 => states.pop().map_or(OK, |mut state| fmi2FreeFMUstate(c, &mut state)),
            30 => fmi2SetDebugLogging(c, on, 0, null()),
            _ => fmi2DeSerializeFMUstate(c, many.as_ptr().cast(), 8 * many.len(), &mut null_mut()),
        }
    }
}

#[test]
fn no_sequence_of_calls_loses_the_instance_or_the_host() {
    let fmu = Fmu::new();
    let run = |instance: &Instance| {
        instance.initialise(Some(1e-6));
        ok(instance.set("elbow.tau", 0.3));
        ok(instance.step(0.0, 0.2));
        instance.bits()
    };
    let expected = run(&fmu.instance(CS));
    let mut random = ChaCha8Rng::seed_from_u64(19);
    let mut count = [0_u32; 4];
    for round in 0..60 {
        let instance = fmu.instance(if round % 2 == 0 { CS } else { ME });
        // Whatever is asked for, a call comes to an end: a parameter that stays unless it is set at random.
        ok(instance.set("solver.work_limit", 1000.0));
        let mut states = Vec::new();
        for _ in 0..400 {
            let status = any_call(&instance, &mut random, &mut states);
            assert!([OK, DISCARD, ERROR].contains(&status), "{status:?} {:?}", heard());
            count[status.0 as usize] += 1;
            heard();
        }
        for state in states {
            instance.free_state(state);
        }
        ok(instance.reset());
        if round % 2 == 0 {
            assert_eq!(run(&instance), expected, "a reset instance is a new one");
        }
        heard();
    }
    // Enough of each kind to mean something.
    assert!(count[0] > 5000 && count[3] > 5000, "{count:?}");
}
