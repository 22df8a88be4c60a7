//! Complete runs without errors.

use super::fmu;
use crate::driver::integration::{Calls, integrate};
use crate::driver::*;
use grapple::fmu::fmi2::*;

/// An importer in Model Exchange that makes only the calls that the standard requires.
pub struct Importer<'a> {
    pub fmu: Instance<'a>,
    pub info: fmi2EventInfo,
}

impl Calls for Importer<'_> {
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

    fn accepted(&mut self, _: f64, x: &[f64]) {
        self.fmu.set_states(x);
        assert!(!self.fmu.completed_integrator_step());
    }

    fn event(&mut self, t: f64, _: &[f64]) -> Vec<f64> {
        // The event is handled late, as by some importers (O6 of docs/hosts.md).
        self.fmu.set_time(t + 1e-10);
        self.fmu.enter_event_mode();
        self.info = self.fmu.event();
        self.fmu.states()
    }

    fn next_event(&self) -> f64 {
        next_event(&self.info)
    }
}

#[test]
fn model_exchange_and_co_simulation_agree_through_time_events() {
    let (fmu, log) = (fmu(), Log::new());
    let me = fmu.instance_with_log(&log, ME);
    me.initialise(Some(1e-10));
    ok(me.set("elbow.tau", 0.4));
    let info = me.new_discrete_states();
    me.enter_continuous_time_mode();
    let x = me.states();
    let mut importer = Importer { fmu: me, info };
    let (_, events) = integrate(&mut importer, x, 0.0, 1.0, 1e-3);
    assert_eq!(events, [0.23, 0.61]);
    let me = importer.fmu;
    let cs = fmu.instance_with_log(&log, CS);
    cs.initialise(Some(1e-10));
    ok(cs.set("elbow.tau", 0.4));
    for i in 0..100 {
        // Times are multiples of the step with round-off, as importers compute them.
        ok(cs.step(f64::from(i) * 0.01, 0.01));
    }
    // Runge–Kutta at 1 ms has an error of about 1e-12; the tolerance in Co-Simulation was 1e-10.
    assert_agree(&me, &cs, 1e-8);
    assert!(cs.get("shoulder.q").abs() > 1e-3);
    // A run without errors logs nothing.
    assert_eq!(log.take(), []);
    for instance in [&me, &cs] {
        ok(instance.terminate());
        instance.get("elbow.q");
    }
}

#[test]
fn time_events_are_announced_and_handled_in_order() {
    let fmu = fmu();
    let me = fmu.instance(ME);
    me.initialise(Some(1e-8));
    let mut times = Vec::new();
    let mut info = me.new_discrete_states();
    while info.nextEventTimeDefined == fmi2True {
        times.push(info.nextEventTime);
        me.set_time(info.nextEventTime);
        info = me.new_discrete_states();
        assert!(times.len() < 5, "{times:?}");
    }
    assert_eq!(times, [0.23, 0.61]);
}

/// O3 and O4 of docs/hosts.md: OpenModelica's wrapper stays in Event Mode after initialisation,
/// sets parameters there, and evaluates everything before the first `fmi2NewDiscreteStates`.
#[test]
fn o3_o4_the_call_sequence_of_openmodelica() {
    let (fmu, log) = (fmu(), Log::new());
    let me = fmu.instance_with_log(&log, ME);
    me.initialise(None);
    ok(me.set("elbow.q_start", 0.8));
    ok(me.set("lower.mass", 2.0));
    me.set_time(0.0);
    let x = me.states();
    assert_eq!(me.get("elbow.q"), 0.8);
    me.set_states(&x);
    ok(me.set("elbow.tau", 0.4));
    let (dx, z) = (me.derivatives(), me.indicators());
    assert!(dx.iter().chain(&z).all(|v| v.is_finite()));
    me.event();
    // O10: `fmi2Terminate` is accepted in any mode, repeatedly.
    ok(me.terminate());
    ok(me.terminate());
    assert_eq!(log.take(), []);
}
