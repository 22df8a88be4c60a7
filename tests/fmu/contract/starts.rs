//! Where a run starts: what is refused, and what is told.

use crate::driver::*;

/// A beam on a hinge, whose motor is limited in rate.
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

/// A spec that starts like this is refused by the same words.
#[test]
fn a_host_s_start_is_judged_as_the_spec_s() {
    let (fmu, log) = (Fmu::of(&striker()), Log::new());
    for kind in [ME, CS] {
        for (parameter, value, good, words) in [
            (
                "ball.r_start[2]",
                0.2,
                0.9,
                ["contact \"hit\"", "inside the surface of \"target\""],
            ),
            (
                "boom.q_start[4]",
                0.0,
                1.0,
                ["grasp \"grip\"", "starts turned by 180.0 deg"],
            ),
        ] {
            let instance = fmu.instance_that_tells(&log, kind);
            ok(instance.set(parameter, value));
            // An attitude is four numbers.
            if value == 0.0 {
                ok(instance.set("boom.q_start[1]", 1.0));
            }
            ok(instance.enter_initialization());
            assert_eq!(instance.exit_initialization(), ERROR, "{parameter}");
            log.told(ERROR, &words);
            ok(instance.set(parameter, good));
            if value == 0.0 {
                ok(instance.set("boom.q_start[1]", 0.0));
            }
            ok(instance.exit_initialization());
            assert_eq!(log.take(), []);
        }
    }
}

/// A limit that is passed where the run starts is told then, once, whatever the host reads before; one that is not is not.
#[test]
fn what_is_beyond_its_limit_at_the_start_is_told() {
    let (fmu, log) = (Fmu::of(BOOM), Log::new());
    for kind in [ME, CS] {
        let instance = fmu.instance_that_tells(&log, kind);
        instance.initialise(None);
        assert_eq!(log.take(), []);
        ok(instance.reset());
        ok(instance.set("boom.eta_start[1]", 1.0));
        assert!(instance.flag("boom.beyond_linear"));
        ok(instance.set("hinge.qd_start", 0.499));
        ok(instance.enter_initialization());
        assert!(instance.flag("boom.beyond_linear"));
        ok(instance.exit_initialization());
        let mut told = log.take();
        told.sort_by(|a, b| a.message.cmp(&b.message));
        let [bent, fast] = told.as_slice() else {
            panic!("two messages expected: {told:?}")
        };
        assert!(
            bent.message
                .contains("body \"boom\" bends beyond its linear limit at t = 0 s")
                && fast
                    .message
                    .contains("hinge.qd comes to its motor's limit of 0.5 rad/s"),
            "{told:?}"
        );
        assert!(
            told.iter()
                .all(|told| (told.status, told.category.as_str()) == (OK, "logEvents"))
        );
        match kind {
            ME => _ = instance.new_discrete_states(),
            _ => ok(instance.step(0.0, 1e-6)),
        }
        assert_eq!(log.take(), []);
    }
}
