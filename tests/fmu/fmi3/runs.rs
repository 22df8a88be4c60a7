//! Complete runs, whose results equal those of FMI 2.0 bit for bit.

use super::instance::bits;
use super::{Instance, Log, OK};
use crate::driver::integration::{Calls, integrate};
use crate::driver::{CS, Fmu, Log as Log2, ME, SPACECRAFT, catcher, impact_in_orbit, ok};
use grapple::fmu::c_abi::*;

#[test]
fn co_simulation_gives_the_bits_of_fmi_2() {
    for (text, command) in [
        (SPACECRAFT.to_owned(), None),
        (catcher(), Some("grip.capture")),
        (impact_in_orbit(), None),
    ] {
        let (fmu, log, log2) = (Fmu::of(&text), Log::default(), Log2::new());
        let three = Instance::co_simulation(&fmu, &log);
        let two = fmu.instance_with_log(&log2, CS);
        three.initialise(Some(1e-9));
        two.initialise(Some(1e-9));
        let outputs = fmu.outputs();
        assert_eq!(bits(&three.get_many(&outputs)), bits(&two.get_many(&outputs)));
        for k in 0..10 {
            let (t, torque) = (0.1 * f64::from(k), 0.1 * f64::from(k));
            assert_eq!(three.set("elbow.tau", torque), OK);
            ok(two.set("elbow.tau", torque));
            if let Some(command) = command {
                let on = f64::from((3..7).contains(&k));
                assert_eq!(three.set(command, on), OK);
                ok(two.set(command, on));
            }
            three.step(t, 0.1);
            ok(two.step(t, 0.1));
            assert_eq!(bits(&three.get_many(&outputs)), bits(&two.get_many(&outputs)), "{t}");
            assert_eq!(three.flag("elbow.out_of_range"), two.flag("elbow.out_of_range"));
        }
        assert_eq!(three.get("time"), two.last_time());
        // Both interfaces log the same events.
        let events: Vec<String> = log.take().into_iter().map(|(_, _, text)| text).collect();
        let expected: Vec<String> = log2.take().into_iter().map(|logged| logged.message).collect();
        assert_eq!(events, expected);
    }
}

struct Importer<'a> {
    fmu: Instance<'a>,
    next: Option<f64>,
}

impl Calls for Importer<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.at(t, x);
        self.fmu.derivatives()
    }

    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.at(t, x);
        self.fmu.indicators()
    }

    fn accepted(&mut self, t: f64, x: &[f64]) {
        self.fmu.at(t, x);
        let (mut enter, mut terminate) = (77, 77);
        // SAFETY: a live handle and two places.
        let status = unsafe { fmi3CompletedIntegratorStep(self.fmu.c, 1, &mut enter, &mut terminate) };
        assert_eq!((status, enter, terminate), (OK, 0, 0));
    }

    fn event(&mut self, _: f64, _: &[f64]) -> Vec<f64> {
        self.next = self.fmu.event().next_event;
        self.fmu.states()
    }

    fn next_event(&self) -> f64 {
        self.next.unwrap_or(f64::INFINITY)
    }
}

/// An importer that makes these calls with the functions of FMI 2.0.
struct Importer2<'a> {
    fmu: crate::driver::Instance<'a>,
    next: f64,
}

impl Calls for Importer2<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        self.fmu.derivatives()
    }

    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        self.fmu.indicators()
    }

    fn accepted(&mut self, t: f64, x: &[f64]) {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        assert!(!self.fmu.completed_integrator_step());
    }

    fn event(&mut self, _: f64, _: &[f64]) -> Vec<f64> {
        self.next = crate::driver::next_event(&self.fmu.event());
        self.fmu.states()
    }

    fn next_event(&self) -> f64 {
        self.next
    }
}

#[test]
fn model_exchange_gives_the_bits_of_fmi_2() {
    let (fmu, log, log2) = (Fmu::new(), Log::default(), Log2::new());
    let three = Instance::model_exchange(&fmu, &log);
    three.initialise(None);
    assert_eq!(three.set("elbow.tau", 0.4), OK);
    let next = three.update().next_event;
    // SAFETY: a live handle.
    assert_eq!(unsafe { fmi3EnterContinuousTimeMode(three.c) }, OK);
    let two = fmu.instance_with_log(&log2, ME);
    two.initialise(None);
    ok(two.set("elbow.tau", 0.4));
    let info = two.new_discrete_states();
    two.enter_continuous_time_mode();
    let x = three.states();
    assert_eq!(bits(&x), bits(&two.states()));
    let mut three = Importer { fmu: three, next };
    let mut two = Importer2 {
        fmu: two,
        next: crate::driver::next_event(&info),
    };
    let (x_end, events) = integrate(&mut three, x.clone(), 0.0, 1.0, 1e-3);
    let (expected, expected_events) = integrate(&mut two, x, 0.0, 1.0, 1e-3);
    // Two time events of the signal, and at least one contact with the stop.
    assert!(events.len() > 2, "{events:?}");
    assert_eq!((bits(&x_end), bits(&events)), (bits(&expected), bits(&expected_events)));
    let outputs = fmu.outputs();
    let (three, two) = (three.fmu, two.fmu);
    assert_eq!(bits(&three.get_many(&outputs)), bits(&two.get_many(&outputs)));
    // The time and the indicators are variables too.
    assert_eq!(three.get("time"), 1.0);
    let z = three.indicators();
    for (i, z) in z.iter().enumerate() {
        assert_eq!(three.get(&format!("event_indicator[{}]", i + 1)).to_bits(), z.to_bits());
    }
    assert_eq!(log.take().len(), log2.take().len());
}

#[test]
fn reset_instance_repeats_the_run() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let cs = Instance::co_simulation(&fmu, &log);
    let run = || {
        cs.initialise(None);
        cs.step(0.0, 0.5);
        bits(&cs.get_many(&fmu.outputs()))
    };
    let first = run();
    // SAFETY: a live handle.
    assert_eq!(unsafe { fmi3Terminate(cs.c) }, OK);
    assert_eq!(bits(&cs.get_many(&fmu.outputs())), first);
    assert_eq!(unsafe { fmi3Reset(cs.c) }, OK);
    assert_eq!(run(), first);
}
