//! Calls an FMU through one of the crates, for the table of `tests/python/importers.py`.
//!
//! `run CRATE VERSION INTERFACE FMU STEP COUNT REFERENCE...` with the crate `fmi` or `fmi-rs`, the
//! version 2 or 3 and the interface `cs` or `me` prints the values of these references, in
//! Co-Simulation after COUNT steps of STEP seconds. In Model Exchange COUNT is the number of states,
//! and their derivatives at the start precede the values.

use fmi::EventFlags;
use fmi::fmi2::import::Fmi2Import;
use fmi::fmi2::instance::{CoSimulation as _, Common as _};
use fmi::fmi3::import::Fmi3Import;
use fmi::fmi3::{CoSimulation as _, Fmi3Model, GetSet as _};
use fmi::traits::{FmiInstance, FmiModelExchange};
use fmi_rs::fmi2::builder::FMU2Builder;
use fmi_rs::fmi2::types::fmi2Status;
use fmi_rs::fmi3::builder::FMU3Builder;
use fmi_rs::fmi3::types::fmi3Status;
use std::fmt::Debug;

/// Calls of a run, and its length.
struct Call {
    fmu: String,
    h: f64,
    count: usize,
    references: Vec<u32>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("CRATE VERSION INTERFACE FMU STEP COUNT");
    let [library, version, interface, fmu, h, count] = [(); 6].map(|()| next());
    let call = Call {
        fmu,
        h: h.parse().expect("a step"),
        count: count.parse().expect("a number"),
        references: arguments.map(|one| one.parse().expect("a value reference")).collect(),
    };
    let values = match [library.as_str(), version.as_str(), interface.as_str()] {
        ["fmi", "2", "cs"] => fmi_2_cs(&call),
        ["fmi", "2", "me"] => fmi_2_me(&call),
        ["fmi", "3", "cs"] => fmi_3_cs(&call),
        ["fmi", "3", "me"] => fmi_3_me(&call),
        ["fmi-rs", "2", "cs"] => fmi_rs_2_cs(&call),
        ["fmi-rs", "2", "me"] => fmi_rs_2_me(&call),
        ["fmi-rs", "3", "cs"] => fmi_rs_3_cs(&call),
        ["fmi-rs", "3", "me"] => fmi_rs_3_me(&call),
        other => panic!("{other:?}"),
    };
    for value in values {
        println!("{:016x}", value.to_bits());
    }
}

/// Panics unless the call succeeded; the crate `fmi` reports warnings as success.
fn done<T: Debug, E: Debug>(result: Result<T, E>) {
    assert_eq!(format!("{result:?}"), "Ok(OK)");
}

fn initialise(instance: &mut impl FmiInstance<Status: fmi::traits::FmiStatus<Res: Debug>>) {
    done(instance.enter_initialization_mode(None, 0.0, None));
    done(instance.exit_initialization_mode());
}

/// Returns the derivatives at the start, in Continuous-Time Mode.
fn derivatives(
    instance: &mut impl FmiModelExchange<Status: fmi::traits::FmiStatus<Res: Debug>>,
    count: usize,
) -> Vec<f64> {
    initialise(instance);
    done(instance.update_discrete_states(&mut EventFlags::default()));
    done(instance.enter_continuous_time_mode());
    let mut x = vec![f64::NAN; count];
    done(instance.get_continuous_states(&mut x));
    done(instance.set_continuous_states(&x));
    let mut dx = vec![f64::NAN; count];
    done(instance.get_continuous_state_derivatives(&mut dx));
    dx
}

fn fmi_2_cs(call: &Call) -> Vec<f64> {
    let import: Fmi2Import = fmi::import::from_path(&call.fmu).expect("the archive is read");
    let mut instance = import.instantiate_cs("it", false, false).expect("an instance");
    initialise(&mut instance);
    for k in 0..call.count {
        done(instance.do_step(k as f64 * call.h, call.h, true));
    }
    let mut values = vec![f64::NAN; call.references.len()];
    done(instance.get_real(&call.references, &mut values));
    values
}

fn fmi_2_me(call: &Call) -> Vec<f64> {
    let import: Fmi2Import = fmi::import::from_path(&call.fmu).expect("the archive is read");
    let mut instance = import.instantiate_me("it", false, false).expect("an instance");
    let mut dx = derivatives(&mut instance, call.count);
    let mut values = vec![f64::NAN; call.references.len()];
    done(instance.get_real(&call.references, &mut values));
    dx.append(&mut values);
    dx
}

fn fmi_3_cs(call: &Call) -> Vec<f64> {
    let import: Fmi3Import = fmi::import::from_path(&call.fmu).expect("the archive is read");
    let instance = import.instantiate_cs("it", false, false, false, false, &[]);
    let mut instance = instance.expect("an instance");
    initialise(&mut instance);
    for k in 0..call.count {
        let ([mut event, mut ends, mut early], mut t) = ([true; 3], f64::NAN);
        let start = k as f64 * call.h;
        done(instance.do_step(start, call.h, true, &mut event, &mut ends, &mut early, &mut t));
        assert!(!event && !ends && !early && t == start + call.h);
    }
    let mut values = vec![f64::NAN; call.references.len()];
    done(instance.get_float64(&call.references, &mut values));
    values
}

fn fmi_3_me(call: &Call) -> Vec<f64> {
    let import: Fmi3Import = fmi::import::from_path(&call.fmu).expect("the archive is read");
    let mut instance = import.instantiate_me("it", false, false).expect("an instance");
    let mut dx = derivatives(&mut instance, call.count);
    let mut values = vec![f64::NAN; call.references.len()];
    done(instance.get_float64(&call.references, &mut values));
    dx.append(&mut values);
    dx
}

fn fmi_rs_2_cs(call: &Call) -> Vec<f64> {
    let import = FMU2Builder::new(&call.fmu).expect("the archive is read");
    let fmu = import.instantiate_cs("it").expect("an instance");
    assert_eq!(fmu.setupExperiment(None, 0.0, None), fmi2Status::Ok);
    assert_eq!(fmu.enterInitializationMode(), fmi2Status::Ok);
    assert_eq!(fmu.exitInitializationMode(), fmi2Status::Ok);
    for k in 0..call.count {
        assert_eq!(fmu.doStep(k as f64 * call.h, call.h, 1), fmi2Status::Ok);
    }
    let mut values = vec![f64::NAN; call.references.len()];
    assert_eq!(fmu.getReal(&call.references, &mut values), fmi2Status::Ok);
    values
}

fn fmi_rs_2_me(call: &Call) -> Vec<f64> {
    let import = FMU2Builder::new(&call.fmu).expect("the archive is read");
    let fmu = import.instantiate_me("it").expect("an instance");
    assert_eq!(fmu.setupExperiment(None, 0.0, None), fmi2Status::Ok);
    assert_eq!(fmu.enterInitializationMode(), fmi2Status::Ok);
    assert_eq!(fmu.exitInitializationMode(), fmi2Status::Ok);
    let ([mut again, mut ends, mut nominals, mut jumped], mut t) = ([true; 4], None);
    let updated = fmu.newDiscreteStates(&mut again, &mut ends, &mut nominals, &mut jumped, &mut t);
    assert_eq!((updated, again), (fmi2Status::Ok, false));
    assert_eq!(fmu.enterContinuousTimeMode(), fmi2Status::Ok);
    let (mut x, mut dx) = (vec![f64::NAN; call.count], vec![f64::NAN; call.count]);
    assert_eq!(fmu.getContinuousStates(&mut x), fmi2Status::Ok);
    assert_eq!(fmu.setContinuousStates(&x), fmi2Status::Ok);
    assert_eq!(fmu.getDerivatives(&mut dx), fmi2Status::Ok);
    let mut values = vec![f64::NAN; call.references.len()];
    assert_eq!(fmu.getReal(&call.references, &mut values), fmi2Status::Ok);
    dx.append(&mut values);
    dx
}

fn fmi_rs_3_cs(call: &Call) -> Vec<f64> {
    let mut import = FMU3Builder::new(&call.fmu).expect("the archive is read");
    (import.eventModeUsed, import.earlyReturnAllowed) = (false, false);
    let problems = import.model_description.validate();
    assert!(problems.is_empty(), "{}", problems[0].message);
    let fmu = import.instantiate_cs("it").expect("an instance");
    assert_eq!(fmu.enterInitializationMode(None, 0.0, None), fmi3Status::Ok);
    assert_eq!(fmu.exitInitializationMode(), fmi3Status::Ok);
    for k in 0..call.count {
        let ([mut event, mut ends, mut early], mut t) = ([true; 3], f64::NAN);
        let start = k as f64 * call.h;
        let status = fmu.doStep(start, call.h, true, &mut event, &mut ends, &mut early, &mut t);
        assert_eq!((status, event, ends, early), (fmi3Status::Ok, false, false, false));
    }
    let mut values = vec![f64::NAN; call.references.len()];
    assert_eq!(fmu.getFloat64(&call.references, &mut values), fmi3Status::Ok);
    values
}

fn fmi_rs_3_me(call: &Call) -> Vec<f64> {
    let import = FMU3Builder::new(&call.fmu).expect("the archive is read");
    let fmu = import.instantiate_me("it").expect("an instance");
    assert_eq!(fmu.enterInitializationMode(None, 0.0, None), fmi3Status::Ok);
    assert_eq!(fmu.exitInitializationMode(), fmi3Status::Ok);
    let ([mut again, mut ends, mut nominals, mut jumped], mut t) = ([true; 4], None);
    let updated = fmu.updateDiscreteStates(&mut again, &mut ends, &mut nominals, &mut jumped, &mut t);
    assert_eq!((updated, again), (fmi3Status::Ok, false));
    assert_eq!(fmu.enterContinuousTimeMode(), fmi3Status::Ok);
    let (mut x, mut dx) = (vec![f64::NAN; call.count], vec![f64::NAN; call.count]);
    assert_eq!(fmu.getContinuousStates(&mut x), fmi3Status::Ok);
    assert_eq!(fmu.setContinuousStates(&x), fmi3Status::Ok);
    assert_eq!(fmu.getContinuousStateDerivatives(&mut dx), fmi3Status::Ok);
    let mut values = vec![f64::NAN; call.references.len()];
    assert_eq!(fmu.getFloat64(&call.references, &mut values), fmi3Status::Ok);
    dx.append(&mut values);
    dx
}
