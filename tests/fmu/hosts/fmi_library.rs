//! FMI Library and the importers based on it: PyFMI in Model Exchange and Co-Simulation, libcosim.
//!
//! Read from modelon-community/fmi-library: `src/Import/src/FMI2/fmi2_import_capi.c`
//! (`fmi2_import_instantiate`), `src/Util/src/JM/jm_portability.c` (`jm_create_URL_from_abs_path`);
//! modelon-community/PyFMI: `src/pyfmi/fmi2.pyx`, `src/pyfmi/fmi_algorithm_drivers.py`
//! (`AssimuloFMIAlg`, `FMICSAlg`), `src/pyfmi/simulation/assimulo_interface_fmi2.pyx`;
//! open-simulation-platform/libcosim: `src/cosim/fmi/v2/fmu.cpp`.
//!
//! Facts used: the location is `file://` and the absolute path, every byte escaped that is not a
//! letter, a digit or one of `/-_.~`. Logging is on unless the library's own log level is
//! "nothing". PyFMI sets inputs before the experiment, defines a tolerance, passes a stop time
//! without defining it, calls `fmi2NewDiscreteStates` once or more, then reads the nominals;
//! without directional derivatives, or with `force_finite_differences`, it perturbs the states for
//! its Jacobian; it makes another run after `fmi2Reset`. Its Co-Simulation grid is a `linspace`.
//! libcosim sets the experiment up and enters Initialization Mode right after instantiation, reads
//! and sets values there, and ends with `fmi2Terminate` before `fmi2FreeInstance`.

use crate::driver::integration::{Calls, integrate};
use crate::driver::*;
use grapple::fmu::fmi2::*;
use grapple::fmu::registry::Slot;

/// Returns the location as `jm_create_URL_from_abs_path` writes it.
fn url(path: &str) -> String {
    let escape = |byte: u8| match byte {
        b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:2X}"),
    };
    format!("file://{}", path.bytes().map(escape).collect::<String>())
}

fn load(fmu: &Fmu, kind: fmi2Type) -> Instance<'_> {
    fmu.instance_at(Some(&url(fmu.path())), kind, Some(&callbacks()), fmi2False, fmi2True)
        .unwrap_or_else(|| panic!("{:?}", logged()))
}

struct Pyfmi<'a> {
    fmu: Instance<'a>,
    info: fmi2EventInfo,
}

impl<'a> Pyfmi<'a> {
    fn initialise(fmu: Instance<'a>) -> Self {
        ok(fmu.set("elbow.tau", 0.4));
        fmu.setup_with_undefined_stop(1e-4, 1.5);
        ok(fmu.enter_initialization());
        ok(fmu.exit_initialization());
        let info = fmi2EventInfo::default();
        let mut model = Self { fmu, info };
        model.event_update();
        model.fmu.enter_continuous_time_mode();
        assert!(model.fmu.nominals().iter().all(|n| *n > 0.0));
        model
    }

    fn event_update(&mut self) {
        loop {
            self.info = self.fmu.new_discrete_states();
            if self.info.newDiscreteStatesNeeded == fmi2False {
                break;
            }
        }
    }

    /// Returns the Jacobian by differences; states are set one after the other by their value
    /// references.
    fn jacobian(&self) -> Vec<Vec<f64>> {
        let states = self.fmu.fmu.references(|slot| matches!(slot, Slot::State(_)));
        let derivatives = self.fmu.fmu.references(|slot| matches!(slot, Slot::Derivative(_)));
        let before = self.fmu.get_many(&derivatives);
        let column = |&state: &u32| {
            let x = self.fmu.get_many(&[state])[0];
            let h = 1e-7 * x.abs().max(1.0);
            ok(self.fmu.set_many(&[state], &[x + h]));
            let after = self.fmu.get_many(&derivatives);
            ok(self.fmu.set_many(&[state], &[x]));
            before.iter().zip(after).map(|(a, b)| (b - a) / h).collect()
        };
        states.iter().map(column).collect()
    }
}

impl Calls for Pyfmi<'_> {
    fn derivatives(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.fmu.set_time(t);
        self.fmu.set_states(x);
        ok(self.fmu.set("elbow.tau", 0.4));
        self.fmu.derivatives()
    }

    fn indicators(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.derivatives(t, x);
        self.fmu.indicators()
    }

    fn accepted(&mut self, t: f64, x: &[f64]) {
        self.derivatives(t, x);
        assert!(!self.fmu.completed_integrator_step());
    }

    fn event(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.derivatives(t, x);
        self.fmu.enter_event_mode();
        self.event_update();
        let x = if self.info.valuesOfContinuousStatesChanged == fmi2False {
            x.to_vec()
        } else {
            self.fmu.states()
        };
        self.fmu.nominals();
        self.fmu.enter_continuous_time_mode();
        x
    }

    fn next_event(&self) -> f64 {
        next_event(&self.info)
    }
}

#[test]
fn pyfmi_runs_model_exchange_twice_with_a_reset_between() {
    let fmu = Fmu::new();
    let cs = reference(&fmu, 1.5, |cs| ok(cs.set("elbow.tau", 0.4)));
    let mut instance = load(&fmu, ME);
    let mut ends = Vec::new();
    for _ in 0..2 {
        let mut model = Pyfmi::initialise(instance);
        let x = model.fmu.states();
        let (x, events) = integrate(&mut model, x, 0.0, 1.5, 5e-4);
        // The Runge–Kutta steps of half a millisecond determine the tolerance.
        assert_agree(&model.fmu, &cs, 1e-9);
        ends.push((x, events));
        ok(model.fmu.reset());
        instance = model.fmu;
    }
    assert_eq!(ends[0], ends[1]);
    assert!(logged().iter().all(|m| m.category == "logEvents"));
}

#[test]
fn impact_in_orbit_in_pyfmi_agrees_with_co_simulation() {
    let fmu = Fmu::of(&impact_in_orbit());
    let cs = reference(&fmu, 1.0, |cs| ok(cs.set("elbow.tau", 0.4)));
    let mut model = Pyfmi::initialise(load(&fmu, ME));
    let x = model.fmu.states();
    integrate(&mut model, x, 0.0, 1.0, 5e-4);
    assert_same_impact(&model.fmu, &cs, 1e-8);
    logged();
}

#[test]
fn perturbed_states_can_be_restored_to_identical_bits() {
    let fmu = Fmu::new();
    let model = Pyfmi::initialise(load(&fmu, ME));
    let (before, bytes) = (model.fmu.derivatives(), model.fmu.bytes());
    let jacobian = model.jacobian();
    assert_eq!(model.fmu.derivatives(), before);
    assert_eq!(model.fmu.bytes(), bytes);
    assert!(jacobian.iter().flatten().all(|entry| entry.is_finite()));
    // The derivative of the elbow's angle with respect to its rate is 1.
    let elbow = fmu.registry.model().states.iter().position(|s| s.name == "elbow.q");
    let rate = fmu.registry.model().states.iter().position(|s| s.name == "elbow.qd");
    let (elbow, rate) = (elbow.expect("a state"), rate.expect("a state"));
    assert!((jacobian[rate][elbow] - 1.0).abs() < 1e-6);
}

#[test]
fn pyfmi_steps_co_simulation_over_a_linspace() {
    let fmu = Fmu::new();
    let cs = load(&fmu, CS);
    ok(cs.set("elbow.tau", 0.4));
    cs.setup_with_undefined_stop(1e-13, 0.2);
    ok(cs.enter_initialization());
    ok(cs.exit_initialization());
    let (n, end) = (7, 1.5);
    let h = end / f64::from(n);
    for i in 0..n {
        ok(cs.step(end * f64::from(i) / f64::from(n), h));
        ok(cs.set("elbow.tau", 0.4));
    }
    assert_agree(&cs, &reference(&fmu, end, |cs| ok(cs.set("elbow.tau", 0.4))), 1e-9);
    // `fmi2Reset` is accepted after `fmi2Terminate`.
    ok(cs.terminate());
    ok(cs.reset());
}

#[test]
fn libcosim_reads_and_sets_in_initialization_mode_and_saves_and_restores() {
    let fmu = Fmu::new();
    let cs = load(&fmu, CS);
    cs.setup(None, 0.0, None);
    ok(cs.enter_initialization());
    let variables: Vec<u32> = fmu.reals();
    let starts = cs.get_many(&variables);
    assert!(starts.iter().all(|v| v.is_finite()));
    cs.flag("elbow.out_of_range");
    let settable: Vec<u32> = [fmu.parameters(), fmu.inputs()].concat();
    // All parameters with their present values; then, in the second run, with another start.
    ok(cs.set_many(&settable, &cs.get_many(&settable)));
    assert_eq!(cs.get_many(&variables), starts);
    let (first, before) = (cs.save(), cs.get("elbow.q"));
    ok(cs.set("elbow.q_start", 0.1));
    assert_eq!(cs.get("elbow.q"), 0.1);
    cs.restore(first);
    assert_eq!(cs.get("elbow.q"), before);
    ok(cs.exit_initialization());
    ok(cs.step(0.0, 0.01));
    // A state saved before the end of the initialisation is valid afterwards, too.
    cs.restore(first);
    ok(cs.exit_initialization());
    ok(cs.step(0.0, 0.01));
    cs.free_state(first);
    ok(cs.terminate());
    assert_eq!(logged(), []);
}
