//! Directional derivatives, which in FMI 3.0 have parameters and the time as knowns during a run,
//! and adjoint derivatives.

use super::{ERROR, Instance, Log, OK};
use crate::driver::{Fmu, ME, SPACECRAFT, catcher, impact_in_orbit, ok};
use crate::messages;
use grapple::fmu::description::{Interfaces, describe_for};
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::{Slot, ValueType};
use model_description::Unknown;

/// The spacecraft with a sine as torque, so that derivatives depend on the time.
fn rheonomic() -> Fmu {
    let constant = "type = \"constant\"\namplitude = 0.7\nfrom = 0.23\nuntil = 0.61\n";
    assert!(SPACECRAFT.contains(constant));
    Fmu::of(&SPACECRAFT.replace(constant, "type = \"sine\"\namplitude = 0.7\nfrequency = 0.4\n"))
}

#[test]
fn derivatives_along_states_and_inputs_are_those_of_fmi_2() {
    let (fmu, log) = (Fmu::new(), Log::default());
    let three = Instance::model_exchange(&fmu, &log);
    let two = fmu.instance(ME);
    three.begin();
    two.begin();
    let unknowns = fmu.floats(|slot| matches!(slot, Slot::Derivative(_) | Slot::Output(_)));
    let knowns = fmu.floats(|slot| matches!(slot, Slot::State(_) | Slot::Input(_)));
    let seeds: Vec<f64> = (0..knowns.len()).map(|k| (1.0 + k as f64).sin()).collect();
    let (status, values) = three.directional(&unknowns, &knowns, &seeds);
    assert_eq!(status, OK);
    let (status, expected) = two.directional(&unknowns, &knowns, &seeds);
    ok(status);
    assert_eq!(values, expected);
}

#[test]
fn derivatives_along_time_and_parameters_agree_with_differences() {
    let (fmu, log) = (rheonomic(), Log::default());
    let me = Instance::model_exchange(&fmu, &log);
    me.begin();
    let x = me.states();
    let unknowns = fmu.floats(|slot| matches!(slot, Slot::Derivative(_) | Slot::Output(_)));
    let largest = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // Time: central differences of h = 1e-4 s have a truncation error of (2π 0.4)³ h²/6 ≈ 3e-8
    // relative to the torque, times 1/inertia ≈ 2.
    let (h, t) = (1e-4, 0.3);
    let values_at = |t: f64| {
        me.at(t, &x);
        me.get_many(&unknowns)
    };
    let (before, after) = (values_at(t - h), values_at(t + h));
    let quotient: Vec<f64> = before.iter().zip(&after).map(|(a, b)| (b - a) / (2.0 * h)).collect();
    me.at(t, &x);
    let (status, exact) = me.directional(&unknowns, &[me.vr("time")], &[1.0]);
    assert_eq!(status, OK);
    let scale = exact.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
    assert!(scale > 0.1, "{scale}");
    let off = largest(&exact, &quotient);
    println!("time: {off:e} of {scale}");
    assert!(off < 2e-7, "{off:e}");
    // Seeds combine linearly.
    let knowns = [me.vr("time"), me.vr("elbow.qd"), me.vr("shoulder.damping")];
    let (status, together) = me.directional(&unknowns, &knowns, &[2.0, 0.5, -1.0]);
    assert_eq!(status, OK);
    let each = |known: u32| me.directional(&unknowns, &[known], &[1.0]).1;
    let [time, rate, damping] = knowns.map(each);
    let sum: Vec<f64> = (0..unknowns.len())
        .map(|i| 2.0 * time[i] + 0.5 * rate[i] - damping[i])
        .collect();
    assert!(largest(&together, &sum) < 1e-9, "{:e}", largest(&together, &sum));
    // A tunable parameter, against values computed with other values of it (linear in the damping).
    // It can be set at events only.
    let derivatives_with = |value: f64| {
        // SAFETY: a live handle.
        assert_eq!(unsafe { grapple::fmu::c_abi::fmi3EnterEventMode(me.c) }, OK);
        assert_eq!(me.set("shoulder.damping", value), OK);
        me.event();
        me.at(t, &x);
        me.get_many(&unknowns)
    };
    let (low, high) = (derivatives_with(0.05), derivatives_with(0.15));
    let quotient: Vec<f64> = low.iter().zip(&high).map(|(a, b)| (b - a) / 0.1).collect();
    derivatives_with(0.1);
    let off = largest(&damping, &quotient);
    println!("damping: {off:e}");
    assert!(off < 1e-9, "{off:e}");
}

/// Adjoint derivatives are the products of the seeds with the columns of directional derivatives,
/// in both interfaces and in every mode, for all knowns of that mode.
#[test]
fn adjoint_derivatives_are_products_with_directional_derivatives() {
    let (fmu, log) = (rheonomic(), Log::default());
    let check = |of: &Instance, unknowns: &[u32], knowns: &[u32], what: &str| {
        // The first unknown is repeated: its seeds are added.
        let unknowns = [&unknowns[..1], unknowns].concat();
        let seeds: Vec<f64> = (0..unknowns.len()).map(|k| (1.0 + k as f64).cos()).collect();
        // Limit states are brought up to date by the first call that computes a value.
        of.get_many(&unknowns);
        let before = of.bytes();
        let (status, adjoints) = of.adjoint(&unknowns, knowns, &seeds);
        assert_eq!(status, OK, "{what}: {:?}", log.take());
        assert!(of.bytes() == before, "{what}: the instance has changed");
        let mut largest = 0.0_f64;
        for (&known, adjoint) in knowns.iter().zip(adjoints) {
            let (status, column) = of.directional(&unknowns, &[known], &[1.0]);
            assert_eq!(status, OK);
            let terms = || column.iter().zip(&seeds).map(|(column, seed)| column * seed);
            let (sum, scale) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
            let off = (adjoint - sum).abs();
            assert!(
                off <= 1e-12 * scale.max(1e-3),
                "{what}, known {known}: {adjoint}, {sum}"
            );
            largest = largest.max(adjoint.abs());
        }
        assert!(largest > 0.1, "{what}: {largest}");
    };
    let unknowns = fmu.floats(|slot| matches!(slot, Slot::Derivative(_) | Slot::Output(_)));
    let model = fmu.registry.model().clone();
    let parameters = |is_known: &dyn Fn(usize) -> bool| {
        let all = (0..model.parameters.len()).filter(|&i| is_known(i));
        all.map(|i| fmu.registry.reference(Slot::Parameter(i)))
            .collect::<Vec<u32>>()
    };
    let inputs = fmu.floats(|slot| matches!(slot, Slot::Input(_)));
    let states = fmu.references(|slot| matches!(slot, Slot::State(_)));
    let tunable = parameters(&|i| model.parameters[i].tunable);
    let me = Instance::model_exchange(&fmu, &log);
    let cs = Instance::co_simulation(&fmu, &log);
    let of_run = [states.clone(), inputs.clone(), tunable, vec![me.vr("time")]].concat();
    assert_eq!(me.enter_initialization(None, 0.0, None), OK);
    let of_start = [inputs, parameters(&|_| true)].concat();
    check(
        &me,
        &[unknowns.clone(), states.clone()].concat(),
        &of_start,
        "Initialization Mode",
    );
    // SAFETY: a live handle.
    assert_eq!(unsafe { grapple::fmu::c_abi::fmi3ExitInitializationMode(me.c) }, OK);
    check(&me, &unknowns, &of_run, "Event Mode");
    me.event();
    let x = me.states();
    me.at(0.3, &x);
    check(
        &me,
        &[unknowns.clone(), states].concat(),
        &of_run,
        "Continuous-Time Mode",
    );
    cs.initialise(None);
    cs.step(0.0, 0.1);
    check(&cs, &unknowns, &of_run, "Step Mode");
}

#[test]
fn wrong_unknowns_and_sizes_of_adjoint_derivatives_are_refused_by_name() {
    let _section = messages::of_this_test();
    let (fmu, log) = (rheonomic(), Log::default());
    let me = Instance::model_exchange(&fmu, &log);
    me.begin();
    let (tau, energy, q) = (me.vr("elbow.tau"), me.vr("system.energy"), me.vr("elbow.q"));
    assert_eq!(me.adjoint(&[energy], &[tau], &[1.0, 2.0]).0, ERROR);
    log.assert_error(&["nSeed is 2 for 1 variables"]);
    assert_eq!(me.adjoint(&[energy], &[energy], &[1.0]).0, ERROR);
    log.assert_error(&["system.energy", "not a known"]);
    assert_eq!(me.adjoint(&[tau], &[q], &[1.0]).0, ERROR);
    log.assert_error(&["elbow.tau", "not an unknown"]);
    assert_eq!(me.adjoint(&[energy], &[q], &[f64::NAN]).0, ERROR);
    log.assert_error(&["system.energy", "NaN"]);
    assert_eq!(me.adjoint(&[1_000_000], &[q], &[1.0]).0, ERROR);
    log.assert_one(ERROR, "logStatusError", &["1000000"]);
    // Discrete variables have no derivatives.
    assert_eq!(me.adjoint(&[me.vr("elbow.out_of_range")], &[q], &[1.0]).0, ERROR);
    log.assert_error(&["elbow.out_of_range", "Boolean"]);
    assert_eq!(me.adjoint(&[energy], &[me.vr("elbow.servo")], &[1.0]).0, ERROR);
    log.assert_error(&["elbow.servo", "Boolean"]);
}

#[test]
fn wrong_knowns_and_sizes_are_refused_by_name() {
    let _section = messages::of_this_test();
    let (fmu, log) = (rheonomic(), Log::default());
    let me = Instance::model_exchange(&fmu, &log);
    me.begin();
    let (tau, energy, q) = (me.vr("elbow.tau"), me.vr("system.energy"), me.vr("elbow.q"));
    assert_eq!(me.directional(&[energy], &[tau], &[1.0, 2.0]).0, ERROR);
    log.assert_error(&["nSeed is 2 for 1 variables"]);
    assert_eq!(me.directional(&[energy], &[energy], &[1.0]).0, ERROR);
    log.assert_error(&["system.energy", "not a known"]);
    assert_eq!(me.directional(&[tau], &[q], &[1.0]).0, ERROR);
    log.assert_error(&["elbow.tau", "not an unknown"]);
    assert_eq!(me.directional(&[me.vr("time")], &[q], &[1.0]).0, ERROR);
    log.assert_error(&["time", "not an unknown"]);
    assert_eq!(me.directional(&[me.vr("event_indicator[1]")], &[q], &[1.0]).0, ERROR);
    log.assert_error(&["event_indicator[1]"]);
    assert_eq!(me.directional(&[energy], &[q], &[f64::NAN]).0, ERROR);
    log.assert_error(&["NaN"]);
    assert_eq!(me.directional(&[energy], &[1_000_000], &[1.0]).0, ERROR);
    log.assert_one(ERROR, "logStatusError", &["1000000"]);
}

/// The derivative of an unknown with respect to a tunable parameter, or to the time, that its
/// dependencies do not list is zero.
#[test]
fn no_dependency_on_parameters_or_time_is_missing() {
    for fmu in [rheonomic(), Fmu::of(&catcher()), Fmu::of(&impact_in_orbit())] {
        let (log, model) = (Log::default(), fmu.registry.model());
        let me = Instance::model_exchange(&fmu, &log);
        me.begin();
        let x: Vec<f64> = me
            .states()
            .iter()
            .zip(0..)
            .map(|(x, k)| x + 0.01 * f64::from(k).sin())
            .collect();
        me.at(0.3, &x);
        let xml = describe_for(Standard::Fmi3, model, fmu.registry.naming(), Interfaces::Both).expect("it is valid");
        let structure = &xml.model_structure;
        let is_real = |unknown: &&Unknown| {
            let slot = me.registry.slot(unknown.index - 1);
            slot.is_some_and(|slot| me.registry.value_type(slot) == ValueType::Real)
        };
        let unknowns: Vec<&Unknown> = structure
            .outputs
            .iter()
            .chain(&structure.derivatives)
            .filter(is_real)
            .collect();
        let references: Vec<u32> = unknowns.iter().map(|unknown| unknown.index - 1).collect();
        let tunable = |i: &usize| model.parameters[*i].tunable;
        let knowns = (0..model.parameters.len()).filter(tunable).map(Slot::Parameter);
        let (mut listed, mut acting) = (0, 0);
        for known in knowns.chain([Slot::Time]) {
            let reference = me.registry.reference(known);
            let (status, values) = me.directional(&references, &[reference], &[1.0]);
            assert_eq!(status, OK, "{:?}", log.take());
            for (unknown, value) in unknowns.iter().zip(values) {
                let is_listed = unknown
                    .dependencies
                    .as_ref()
                    .is_none_or(|of| of.contains(&(reference + 1)));
                listed += usize::from(is_listed);
                acting += usize::from(value != 0.0);
                let names = [unknown.index - 1, reference].map(|r| me.registry.slot(r).map(|s| me.registry.name(s)));
                assert!(is_listed || value == 0.0, "{names:?}: {value}");
            }
        }
        println!("{}: {acting} of {listed} listed dependencies act here", model.spec.name);
        assert!(acting > 0);
    }
}
