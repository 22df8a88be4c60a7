//! FMPy: `simulate_fmu` in Model Exchange (CVode) and Co-Simulation.
//!
//! Read from CATIA-Systems/FMPy: `src/fmpy/simulation.py` (`simulateME`, `simulateCS`, `Input`).
//!
//! Facts used: the experiment is set up without tolerance in Model Exchange, with one in
//! Co-Simulation; start values are set before and within Initialization Mode, inputs within it;
//! event iteration repeats while the FMU requests it. After each solver step FMPy calls
//! `fmi2SetTime`, sets continuous inputs, and calls `fmi2CompletedIntegratorStep` only if the FMU
//! needs it; at input events it sets inputs again in Event Mode. In Co-Simulation it sets inputs
//! and, if requested, their derivatives before each step; after a discard it reads
//! `fmi2Terminated`, and `fmi2LastSuccessfulTime` if that is true. Communication points are
//! multiples of the interval.

use crate::driver::integration::{Calls, integrate};
use crate::driver::*;
use crate::messages;
use crate::recorded::assert_logged;
use grapple::fmu::fmi2::*;

/// Returns the value of the input that the importer sets, a ramp over time.
fn ramp(t: f64) -> f64 {
    0.2 + 0.3 * t
}

struct Model<'a> {
    fmu: Instance<'a>,
    next_event: f64,
}

impl<'a> Model<'a> {
    fn new(fmu: &'a Fmu, stop: f64) -> Self {
        let model = Self {
            fmu: fmu.instance_with(ME, Some(&callbacks()), fmi2False, fmi2False),
            next_event: f64::INFINITY,
        };
        model.fmu.setup(None, 0.0, Some(stop));
        ok(model.fmu.set("lower.mass", 1.6));
        ok(model.fmu.enter_initialization());
        ok(model.fmu.set("elbow.q_start", 0.2));
        ok(model.fmu.set("elbow.tau", ramp(0.0)));
        ok(model.fmu.exit_initialization());
        model
    }

    fn discrete(&mut self) {
        loop {
            let info = self.fmu.new_discrete_states();
            assert_eq!(info.terminateSimulation, fmi2False);
            self.next_event = next_event(&info);
            if info.newDiscreteStatesNeeded == fmi2False {
                break;
            }
        }
        self.fmu.enter_continuous_time_mode();
    }
}

impl Calls for Model<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        ok(self.fmu.set("elbow.tau", ramp(t)));
        self.fmu.derivatives()
    }

    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        ok(self.fmu.set("elbow.tau", ramp(t)));
        self.fmu.indicators()
    }

    fn accepted(&mut self, t: f64, x: &[f64]) {
        self.fmu.set_states(x);
        self.fmu.set_time(t);
        ok(self.fmu.set("elbow.tau", ramp(t)));
    }

    fn event(&mut self, t: f64, _: &[f64]) -> Vec<f64> {
        self.fmu.enter_event_mode();
        ok(self.fmu.set("elbow.tau", ramp(t)));
        self.discrete();
        // FMPy builds the solver anew from the states and the nominals.
        assert!(self.fmu.nominals().iter().all(|n| *n > 0.0));
        self.fmu.states()
    }

    fn next_event(&self) -> f64 {
        self.next_event
    }
}

fn slave(fmu: &Fmu, stop: f64, tolerance: Option<f64>) -> Instance<'_> {
    let cs = fmu.instance_with(CS, Some(&callbacks()), fmi2False, fmi2False);
    cs.setup(tolerance, 0.0, Some(stop));
    ok(cs.set("lower.mass", 1.6));
    ok(cs.enter_initialization());
    ok(cs.set("elbow.q_start", 0.2));
    ok(cs.set("elbow.tau", ramp(0.0)));
    ok(cs.exit_initialization());
    cs
}

#[test]
fn model_exchange_and_co_simulation_with_input_derivatives_agree() {
    let fmu = Fmu::new();
    let mut me = Model::new(&fmu, 1.5);
    me.discrete();
    let x = me.fmu.states();
    integrate(&mut me, x, 0.0, 1.5, 5e-4);

    let cs = slave(&fmu, 1.5, Some(1e-13));
    for i in 0..150 {
        // The communication point is a multiple of the interval, the step a difference of two: both
        // are rounded.
        let (t, next) = (f64::from(i) * 0.01, f64::from(i + 1) * 0.01);
        ok(cs.set("elbow.tau", ramp(t)));
        ok(cs.set_input_derivative("elbow.tau", 1, 0.3));
        ok(cs.step(t, next - t));
        assert!(cs.get_many(&fmu.outputs()).iter().all(|y| y.is_finite()));
    }
    // The Runge–Kutta steps of half a millisecond determine the tolerance.
    assert_agree(&me.fmu, &cs, 1e-9);
    ok(me.fmu.terminate());
    ok(cs.terminate());
    // Logging is off, and there was no error.
    assert_eq!(logged(), []);
}

#[test]
fn impact_in_orbit_agrees_in_both_interfaces_with_input_derivatives() {
    let fmu = Fmu::of(&impact_in_orbit());
    let mut me = Model::new(&fmu, 1.0);
    me.discrete();
    let x = me.fmu.states();
    integrate(&mut me, x, 0.0, 1.0, 5e-4);
    let cs = slave(&fmu, 1.0, Some(1e-13));
    for i in 0..10 {
        let t = f64::from(i) * 0.1;
        ok(cs.set("elbow.tau", ramp(t)));
        ok(cs.set_input_derivative("elbow.tau", 1, 0.3));
        ok(cs.step(t, f64::from(i + 1) * 0.1 - t));
    }
    assert_same_impact(&me.fmu, &cs, 1e-8);
}

#[test]
fn stop_time_can_be_reached_and_not_exceeded() {
    let _section = messages::of_this_test();
    let fmu = Fmu::new();
    let cs = slave(&fmu, 0.3, None);
    for i in 0..3 {
        ok(cs.step(f64::from(i) * 0.1, 0.1));
    }
    assert_eq!(cs.step(3.0 * 0.1, 0.1), ERROR);
    assert_logged(ERROR, &["fmi2DoStep"]);
}

#[test]
fn status_after_a_discarded_step_is_returned_and_the_run_continues() {
    let fmu = Fmu::new();
    let cs = fmu.instance_with(CS, Some(&callbacks()), fmi2False, fmi2False);
    ok(cs.set("solver.work_limit", 100.0));
    cs.initialise(Some(1e-10));
    assert_eq!(cs.step(0.0, 5.0), DISCARD);
    assert!(!cs.wants_to_end());
    let reached = cs.last_time();
    let whole = fmu.instance(CS);
    whole.initialise(Some(1e-10));
    ok(whole.step(0.0, reached));
    assert_agree(&cs, &whole, 1e-8);
    logged();
}

#[test]
fn restored_state_continues_with_identical_bits() {
    let fmu = Fmu::new();
    let cs = slave(&fmu, 2.0, Some(1e-8));
    ok(cs.step(0.0, 0.5));
    let state = cs.save();
    let mut ends = Vec::new();
    for _ in 0..3 {
        cs.restore(state);
        for i in 0..10 {
            ok(cs.set("elbow.tau", 0.1 * f64::from(i)));
            ok(cs.step(0.5 + f64::from(i) * 0.1, 0.1));
        }
        ends.push(cs.bits());
    }
    cs.free_state(state);
    assert!(ends[0] == ends[1] && ends[1] == ends[2]);
    logged();
}
