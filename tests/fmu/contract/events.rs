//! Events: what they take, and what they change.

use super::refusals::braked;
use super::runs::Host;
use crate::driver::integration::integrate;
use crate::driver::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::Slot;
use model_description::Kind;
use std::path::Path;

/// A signal whose window is moved while the model runs: in Co-Simulation the piece was that of the old window, for ever.
#[test]
fn a_signal_that_is_timed_anew_runs_alike_in_both_interfaces() {
    for (change_at, from, until, end) in [
        // Begun again after its end, stopped in its midst and put off, begun at once.
        (1.0, 0.23, 2.0, 1.2),
        (0.4, 5.0, 6.0, 1.2),
        (0.4, 0.9, 1.0, 1.2),
        (0.1, 0.05, 0.61, 0.8),
    ] {
        let fmu = Fmu::new();
        let [from_vr, until_vr] = ["signal.shoulder.tau.from", "signal.shoulder.tau.until"].map(|name| fmu.vr(name));
        let window = ([from_vr, until_vr], [from, until]);
        let me = fmu.instance(ME);
        me.initialise(None);
        let info = me.new_discrete_states();
        me.enter_continuous_time_mode();
        let x = me.states();
        let mut host = Host { fmu: me, info };
        let (x, _) = integrate(&mut host, x, 0.0, change_at, 1e-3);
        host.fmu.set_time(change_at);
        host.fmu.set_states(&x);
        host.fmu.enter_event_mode();
        ok(host.fmu.set_many(&window.0, &window.1));
        host.info = host.fmu.event();
        let (x, _) = integrate(&mut host, x, change_at, end, 1e-3);
        host.fmu.set_time(end);
        host.fmu.set_states(&x);

        let cs = fmu.instance(CS);
        cs.initialise(Some(1e-11));
        ok(cs.step(0.0, change_at));
        ok(cs.set_many(&window.0, &window.1));
        ok(cs.step(change_at, end - change_at));
        // 1e-3 s by Runge and Kutta's method leaves 1e-12; the event comes 1e-10 s late.
        assert_agree(&host.fmu, &cs, 1e-8);
        let [me, cs] = [&host.fmu, &cs].map(|of| of.get("der(shoulder.qd)"));
        println!("from {from} s until {until} s, set at {change_at} s: {me} and {cs} rad/s²");
        assert!((me - cs).abs() < 1e-7, "{me} {cs}");
    }
    heard();
}

/// What the XML says of the states that may jump.
fn declared(fmu: &Fmu) -> Vec<bool> {
    let states = fmu.registry.variables().zip(&fmu.xml.model_variables);
    let states = states.filter(|(variable, _)| matches!(variable.slot, Slot::State(_)));
    states
        .map(|(_, written)| matches!(&written.kind, Kind::Real(real) if real.reinit))
        .collect()
}

/// Which states an event changes.
fn jumps(me: &Instance) -> Vec<bool> {
    let before = me.states();
    let info = me.new_discrete_states();
    let after = me.states();
    let jumps: Vec<bool> = before
        .iter()
        .zip(&after)
        .map(|(a, b)| a.to_bits() != b.to_bits())
        .collect();
    assert_eq!(info.valuesOfContinuousStatesChanged == fmi2True, jumps.contains(&true));
    jumps
}

#[test]
fn a_state_that_jumps_at_an_event_is_declared_as_one_that_may() {
    // Brakes and impulses.
    let fmu = braked();
    let me = fmu.instance(ME);
    me.initialise(None);
    let declared_states = declared(&fmu);
    let mut jumped = vec![false; declared_states.len()];
    for (name, value) in [("hit.impact", 1.0), ("elbow.motion", 1.0)] {
        ok(me.set("hit.impulse[1]", 0.4));
        ok(me.set("hit.impulse[2]", 0.3));
        ok(me.set("hit.impulse[3]", 0.2));
        ok(me.set(name, value));
        for (jumped, now) in jumped.iter_mut().zip(jumps(&me)) {
            *jumped |= now;
        }
    }
    assert_eq!(jumped, declared_states, "every rate and the work, and no position");
    heard();
    // Surfaces that strike by themselves; captures; what only switches does not jump.
    let of = |craft: &str| declared(&Fmu::of(craft)).contains(&true);
    assert!(of(&striker()) && of(&catcher()));
    assert!(!of(CRAFT));
    let servo = "servo = { kp = 3.0, kd = 1.0, on = false }";
    assert!(!of(&CRAFT.replace(servo, "motions = [\"loads\", \"prescribed\"]")));
}

#[test]
fn the_examples_declare_what_jumps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for (name, may_jump) in [
        ("two_link", false),
        ("dual_arm", true),
        ("berthing", true),
        ("docking", true),
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("an example");
        let fmu = Fmu::of(&text);
        assert_eq!(declared(&fmu).contains(&true), may_jump, "{name}");
    }
}
