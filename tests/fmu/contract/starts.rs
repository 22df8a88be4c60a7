//! Values at the start of a run: refusals and messages.

use crate::driver::*;
use crate::messages;
use crate::recorded::Recorded;

/// A beam on a hinge whose motor has a rate limit.
const BOOM: &str = r#"
name = "boom"
[body.boom.beam]
length = 2.0
mass_per_length = 1.0
EI = 50.0
bending = 1
damping_ratio = 0.01
[joint.hinge]
type = "revolute"
parent = "world"
child = "boom"
motor = { torque_limit = 1.0, rate_limit = 0.5 }
"#;

/// An importer's start values are validated like those of a spec, with the same message.
#[test]
fn importers_start_is_validated_like_the_specs() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::of(&impact_in_orbit()), Log::new());
    for kind in [ME, CS] {
        for (parameter, value, good, parts) in [
            ("ball.r_start[2]", 0.2, 0.9, ["contact \"hit\"", "\"target\""]),
            ("boom.q_start[4]", 0.0, 1.0, ["grasp \"grip\"", "boom"]),
        ] {
            let instance = fmu.instance_with_log(&log, kind);
            ok(instance.set(parameter, value));
            // The identity attitude: the quaternion's scalar part is set as well.
            if value == 0.0 {
                ok(instance.set("boom.q_start[1]", 1.0));
            }
            ok(instance.enter_initialization());
            assert_eq!(instance.exit_initialization(), ERROR, "{parameter}");
            log.assert_logged(ERROR, &parts);
            ok(instance.set(parameter, good));
            if value == 0.0 {
                ok(instance.set("boom.q_start[1]", 0.0));
            }
            ok(instance.exit_initialization());
            assert_eq!(log.take(), []);
        }
    }
}

/// Limits that are exceeded at the start are reported at the end of initialisation, once, whatever
/// the importer reads before; other limits are not reported.
#[test]
fn exceeded_limits_are_reported_at_the_start() {
    let _section = messages::of_this_test();
    let (fmu, log) = (Fmu::of(BOOM), Log::new());
    for kind in [ME, CS] {
        let instance = fmu.instance_with_log(&log, kind);
        instance.initialise(None);
        assert_eq!(log.take(), []);
        ok(instance.reset());
        ok(instance.set("boom.eta_start[1]", 1.0));
        assert!(instance.flag("boom.beyond_linear"));
        ok(instance.set("hinge.qd_start", 0.499));
        ok(instance.enter_initialization());
        assert!(instance.flag("boom.beyond_linear"));
        ok(instance.exit_initialization());
        let mut logged = log.take();
        logged.sort_by(|a, b| a.message.cmp(&b.message));
        let [bent, fast] = logged.as_slice() else {
            panic!("two messages expected: {logged:?}")
        };
        assert!(
            bent.message.contains("body \"boom\"") && fast.message.contains("hinge.qd"),
            "{logged:?}"
        );
        for logged in [bent, fast] {
            messages::record(messages::without_decimals(&logged.message));
        }
        assert!(
            logged
                .iter()
                .all(|logged| (logged.status, logged.category.as_str()) == (OK, "logEvents"))
        );
        match kind {
            ME => _ = instance.new_discrete_states(),
            _ => ok(instance.step(0.0, 1e-6)),
        }
        assert_eq!(log.take(), []);
    }
}
