//! Mistakes of importers, files and users: the call returns the right status and logs one clear
//! message, and the importer's process continues.

use crate::driver::*;
use crate::messages;
use crate::recorded::assert_logged;
use grapple::fmu::description::Interfaces;
use grapple::fmu::fmi2::*;
use grapple::fmu::guid::Guid;
use grapple::fmu::registry::Naming;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ffi::CString;

/// Creates an instance as most importers do; `None` if it is refused.
fn load(fmu: &Fmu) -> Option<Instance<'_>> {
    fmu.instance_at(Some(&fmu.uri()), CS, Some(&callbacks()), fmi2False, fmi2True)
}

/// Writes a model file into the resources and gives the FMU the GUID of its bytes.
fn change(fmu: &mut Fmu, bytes: &[u8]) {
    fmu.write_model(bytes);
    fmu.guid =
        CString::new(Guid::new(bytes, Naming::Structured, Interfaces::Both).to_string()).expect("no zero inside");
}

fn model(fmu: &Fmu) -> Vec<u8> {
    std::fs::read(fmu.model_file()).expect("the test has written it")
}

#[test]
fn a_missing_truncated_or_foreign_model_is_refused_with_the_reason() {
    let mut fmu = Fmu::new();
    let bytes = model(&fmu);
    let other = Fmu::of(&SPACECRAFT.replace("mass = 4.0", "mass = 5.0"));
    let guid = fmu.guid.clone();

    // The model of another spacecraft under this XML.
    fmu.write_model(&model(&other));
    assert!(load(&fmu).is_none());
    assert_named(ERROR, &["GUID", guid.to_str().expect("it is a text")]);
    // Truncated or foreign data with a matching GUID.
    for (bytes, word) in [
        (&bytes[..bytes.len() / 2], "fmi2Instantiate"),
        (&bytes[..0], "fmi2Instantiate"),
        (b"not a model".as_slice(), "fmi2Instantiate"),
        (b"{\"format\": 99}".as_slice(), "fmi2Instantiate"),
    ] {
        change(&mut fmu, bytes);
        assert!(load(&fmu).is_none());
        assert_named(ERROR, &[word]);
    }
    std::fs::remove_file(fmu.model_file()).expect("it was there");
    assert!(load(&fmu).is_none());
    assert_named(ERROR, &["model.json", fmu.path()]);
    // A directory in place of the file.
    std::fs::create_dir(fmu.model_file()).expect("the directory can be made");
    assert!(load(&fmu).is_none());
    assert_named(ERROR, &["model.json"]);
    // The correct file again.
    std::fs::remove_dir(fmu.model_file()).expect("it was made");
    change(&mut fmu, &bytes);
    assert!(load(&fmu).is_some());
    assert_eq!(logged(), []);
}

#[test]
fn damaged_model_never_crashes_the_library() {
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
                // A mutated model that is accepted runs, or is refused with a reason.
                instance.setup(None, 0.0, None);
                ok(instance.enter_initialization());
                if instance.exit_initialization() == OK {
                    assert_ne!(instance.step(0.0, 0.01), FATAL, "{:?}", logged());
                }
            }
        }
        for message in logged() {
            assert_ne!(message.status, FATAL, "{message:?}");
            assert!(!message.message.contains("internal error"), "{message:?}");
        }
    }
    assert!(refused > 100 && taken > 10, "{refused} {taken}");
}

#[test]
fn invalid_parameter_is_named_and_can_be_corrected() {
    let _section = messages::of_this_test();
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
        assert_logged(ERROR, &[word, "fmi2ExitInitializationMode"]);
        ok(cs.set(name, good));
        ok(cs.exit_initialization());
        ok(cs.step(0.0, 0.1));
        assert_eq!(logged(), []);
    }
}
