//! Events: commands take effect, and states change only as declared.

use super::refusals::braked;
use super::runs::Importer;
use crate::driver::integration::integrate;
use crate::driver::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::Slot;
use model_description::Kind;
use std::path::Path;

/// A signal's window is moved during the run. Regression: in Co-Simulation the segment index of the
/// old window was kept.
#[test]
fn rescheduled_signal_agrees_in_both_interfaces() {
    for (change_at, from, until, end) in [
        // The window begins again after its end; is interrupted and postponed; begins at once.
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
        let mut importer = Importer { fmu: me, info };
        let (x, _) = integrate(&mut importer, x, 0.0, change_at, 1e-3);
        importer.fmu.set_time(change_at);
        importer.fmu.set_states(&x);
        importer.fmu.enter_event_mode();
        ok(importer.fmu.set_many(&window.0, &window.1));
        importer.info = importer.fmu.event();
        let (x, _) = integrate(&mut importer, x, change_at, end, 1e-3);
        importer.fmu.set_time(end);
        importer.fmu.set_states(&x);

        let cs = fmu.instance(CS);
        cs.initialise(Some(1e-11));
        ok(cs.step(0.0, change_at));
        ok(cs.set_many(&window.0, &window.1));
        ok(cs.step(change_at, end - change_at));
        // The Runge–Kutta steps of 1e-3 s have an error of 1e-12; the importer's event is 1e-10 s
        // late.
        assert_agree(&importer.fmu, &cs, 1e-8);
        let [me, cs] = [&importer.fmu, &cs].map(|of| of.get("der(shoulder.qd)"));
        println!("from {from} s until {until} s, set at {change_at} s: {me} and {cs} rad/s²");
        assert!((me - cs).abs() < 1e-7, "{me} {cs}");
    }
    logged();
}

/// Returns for each state whether the XML declares that an event may change it (`reinit`).
fn declared(fmu: &Fmu) -> Vec<bool> {
    let states = fmu.registry.variables().zip(&fmu.xml.model_variables);
    let states = states.filter(|(variable, _)| matches!(variable.slot, Slot::State(_)));
    states
        .map(|(_, written)| matches!(&written.kind, Kind::Real(real) if real.reinit))
        .collect()
}

/// Returns for each state whether an event changes it.
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
    logged();
    // Impacts and captures make states jump; switches do not.
    let of = |spacecraft: &str| declared(&Fmu::of(spacecraft)).contains(&true);
    assert!(of(&impact_in_orbit()) && of(&catcher()));
    assert!(!of(SPACECRAFT));
    let servo = "servo = { kp = 3.0, kd = 1.0, on = false }";
    assert!(!of(&SPACECRAFT.replace(servo, "motions = [\"loads\", \"prescribed\"]")));
}

#[test]
fn examples_declare_states_that_jump() {
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
