//! Invalid calls, one after the other: each is refused, and the instance stays usable.

use super::fmu;
use crate::driver::*;
use crate::messages;
use crate::recorded::Recorded;
use grapple::fmu::c_abi::*;
use grapple::fmu::fmi2::*;
use std::ptr::{null, null_mut};

#[test]
fn misuse_is_refused_and_the_instance_stays_usable() {
    let _section = messages::of_this_test();
    let (fmu, log) = (fmu(), Log::new());
    let cs = fmu.instance_with_log(&log, CS);
    let mut value = [0.0; 2];
    // SAFETY: a live handle, arrays of the given counts, and null where null is tested.
    unsafe {
        // Calls out of order, and calls of Model Exchange on a Co-Simulation instance.
        assert_eq!(cs.step(0.0, 0.1), ERROR);
        log.assert_logged(ERROR, &["fmi2DoStep"]);
        assert_eq!(cs.exit_initialization(), ERROR);
        log.assert_logged(ERROR, &["fmi2ExitInitializationMode"]);
        assert_eq!(fmi2SetTime(cs.c, 0.0), ERROR);
        log.assert_logged(ERROR, &["Model Exchange"]);
        cs.initialise(Some(1e-8));
        assert_eq!(cs.enter_initialization(), ERROR);
        log.assert_logged(ERROR, &["fmi2EnterInitializationMode"]);
        assert_eq!(fmi2CancelStep(cs.c), ERROR);
        log.assert_logged(ERROR, &["fmi2CancelStep"]);

        // Null pointers; a count of zero makes them legal.
        assert_eq!(fmi2GetReal(cs.c, null(), 0, null_mut()), OK);
        assert_eq!(fmi2SetString(cs.c, null(), 0, null()), OK);
        assert_eq!(fmi2GetReal(cs.c, null(), 2, value.as_mut_ptr()), ERROR);
        log.assert_logged(ERROR, &["vr"]);
        assert_eq!(fmi2GetReal(cs.c, &0, 1, null_mut()), ERROR);
        log.assert_logged(ERROR, &["value"]);
        assert_eq!(fmi2GetReal(cs.c, &0, usize::MAX, value.as_mut_ptr()), ERROR);
        let most = usize::MAX.to_string();
        messages::record(log.assert_named(ERROR, &["vr", &most]).replace(&most, "#"));
        assert_eq!(fmi2GetReal(null_mut(), &0, 1, value.as_mut_ptr()), ERROR);

        // Unknown references, wrong types.
        assert_eq!(fmi2GetReal(cs.c, &1_000_000, 1, value.as_mut_ptr()), ERROR);
        log.assert_logged(ERROR, &["1000000"]);
        assert_eq!(
            fmi2GetReal(cs.c, &fmu.vr("elbow.out_of_range"), 1, value.as_mut_ptr()),
            ERROR
        );
        log.assert_logged(ERROR, &["elbow.out_of_range", "Boolean"]);
        assert_eq!(fmi2SetInteger(cs.c, &fmu.vr("elbow.tau"), 1, &3), ERROR);
        log.assert_logged(ERROR, &["elbow.tau", "Real"]);
        assert!(!cs.flag("elbow.out_of_range"));

        // Values that are not finite; no value of the call is set.
        let references = [fmu.vr("elbow.tau"), fmu.vr("push.f[1]")];
        assert_eq!(cs.set_many(&references, &[1.0, f64::NAN]), ERROR);
        log.assert_logged(ERROR, &["push.f[1]", "NaN"]);
        assert_eq!(cs.get("elbow.tau"), 0.0);
        // Computed and fixed variables.
        assert_eq!(cs.set("system.energy", 1.0), ERROR);
        log.assert_logged(ERROR, &["system.energy"]);
        assert_eq!(cs.set("elbow.q", 1.0), ERROR);
        log.assert_logged(ERROR, &["elbow.q", "_start"]);
        ok(cs.step(0.0, 0.1));
        assert_eq!(cs.set("lower.mass", 3.0), ERROR);
        log.assert_logged(ERROR, &["lower.mass"]);

        // Invalid steps.
        for (t, h) in [(0.0, 0.1), (0.1, -0.1), (0.1, f64::NAN), (f64::INFINITY, 0.1)] {
            assert_eq!(cs.step(t, h), ERROR, "{t} {h}");
            log.assert_logged(ERROR, &["fmi2DoStep"]);
        }

        // Status kinds that do not exist.
        assert_eq!(cs.last_time(), 0.1);
        assert_eq!(
            fmi2GetStringStatus(cs.c, fmi2StatusKind::PENDING_STATUS, null_mut()),
            DISCARD
        );
        log.assert_logged(DISCARD, &["fmi2PendingStatus"]);

        // Partial derivatives of variables that are not unknowns, with respect to variables that
        // are not knowns.
        let directional = fmi2GetDirectionalDerivative;
        assert_eq!(directional(cs.c, null(), 0, null(), 0, null(), null_mut()), OK);
        let [q, qd, tau] = ["elbow.q", "elbow.qd", "elbow.tau"].map(|name| fmu.vr(name));
        assert_eq!(directional(cs.c, &q, 1, &qd, 1, null(), value.as_mut_ptr()), ERROR);
        log.assert_logged(ERROR, &["fmi2GetDirectionalDerivative", "dvKnown"]);
        for (unknown, known, seed, name) in [
            (tau, tau, 1.0, "elbow.tau"),
            (1_000_000, tau, 1.0, "1000000"),
            (q, 1_000_000, 1.0, "1000000"),
            (fmu.vr("elbow.out_of_range"), tau, 1.0, "elbow.out_of_range"),
            (q, fmu.vr("der(elbow.qd)"), 1.0, "der(elbow.qd)"),
            (q, fmu.vr("system.energy"), 1.0, "system.energy"),
            (q, fmu.vr("elbow.out_of_range"), 1.0, "elbow.out_of_range"),
            (q, fmu.vr("lower.mass"), 1.0, "lower.mass"),
            (q, tau, f64::NAN, "elbow.tau"),
        ] {
            let (status, _) = cs.directional(&[unknown], &[known], &[seed]);
            assert_eq!(status, ERROR);
            log.assert_logged(ERROR, &[name]);
        }
        let fresh = fmu.instance_with_log(&log, CS);
        assert_eq!(fresh.directional(&[q], &[tau], &[1.0]).0, ERROR);
        log.assert_logged(ERROR, &["fmi2GetDirectionalDerivative"]);
        ok(fresh.enter_initialization());
        assert_eq!(fresh.directional(&[q], &[qd], &[1.0]).0, ERROR);
        log.assert_logged(ERROR, &["elbow.qd", "_start"]);

        // The instance still works.
        ok(cs.step(0.1, 0.1));
        ok(cs.reset());
        cs.initialise(Some(1e-8));
        ok(cs.step(0.0, 0.1));
    }
    assert_eq!(log.take(), []);
}

/// Instances and saved states begin with different magic numbers, so that a mix-up is detected.
#[test]
fn instances_and_states_are_not_confused() {
    let _section = messages::of_this_test();
    let (fmu, log) = (fmu(), Log::new());
    let cs = fmu.instance_with_log(&log, CS);
    let state = cs.save();
    let (mut size, mut place) = (0, cs.c);
    // SAFETY: a live handle and a live state, each in place of the other.
    unsafe {
        assert_eq!(fmi2EnterInitializationMode(state), ERROR);
        assert_eq!(fmi2Reset(state), ERROR);
        fmi2FreeInstance(state);
        assert_eq!(log.take(), []);
        assert_eq!(fmi2SetFMUstate(cs.c, cs.c), ERROR);
        log.assert_logged(ERROR, &["fmi2SetFMUstate"]);
        assert_eq!(fmi2SerializedFMUstateSize(cs.c, cs.c, &mut size), ERROR);
        assert_eq!(fmi2FreeFMUstate(cs.c, &mut place), ERROR);
        assert_eq!(fmi2GetFMUstate(cs.c, &mut place), ERROR);
    }
    assert_eq!((place, log.take().len()), (cs.c, 3));
    cs.restore(state);
    cs.free_state(state);
}

#[test]
fn the_log_can_be_switched_by_category() {
    let _section = messages::of_this_test();
    let (fmu, log) = (fmu(), Log::new());
    let cs = fmu.instance_with_log(&log, CS);
    ok(cs.switch_log(false, &[c"logStatusError"]));
    assert_eq!(cs.step(0.0, 0.1), ERROR);
    assert_eq!(log.take(), []);
    // SAFETY: no names, so null is legal.
    ok(unsafe { fmi2SetDebugLogging(cs.c, fmi2True, 0, null()) });
    assert_eq!(cs.step(0.0, 0.1), ERROR);
    log.assert_logged(ERROR, &["fmi2DoStep"]);
    // The standard's categories that the XML does not list are accepted; no message belongs to
    // them.
    ok(cs.switch_log(
        true,
        &[c"logStatusWarning", c"logStatusPending", c"logNonlinearSystems"],
    ));
    assert_eq!(log.take(), []);
    assert_eq!(cs.switch_log(true, &[c"100% noise"]), ERROR);
    // The logger's message is a format of printf: the per cent sign is doubled.
    log.assert_logged(ERROR, &["100%% noise"]);
}
