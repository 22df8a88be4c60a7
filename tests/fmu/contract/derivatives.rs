//! Directional derivatives of every example, with all options, interfaces and modes, compared with
//! differences through FMI itself and with the other interface.

use crate::driver::*;
use crate::long::long;
use grapple::fmu::registry::{Naming, Slot};
use grapple::plant::Model;
use grapple::spec;
use model_description::{DependencyKind, Unknown};
use std::path::{Path, PathBuf};

/// Returns all examples.
fn examples() -> Vec<(String, spec::Spec)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = std::fs::read_dir(&directory).expect("examples");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    assert!(paths.len() >= 5);
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("text");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, spec::read(&text, &directory).expect("a sound example"))
    };
    paths.into_iter().map(read).collect()
}

/// Returns every example twice: with structured names and diagnostics, with flat names and without.
fn flavours() -> impl Iterator<Item = (String, Fmu)> {
    examples().into_iter().flat_map(|(name, spec)| {
        [(Naming::Structured, true), (Naming::Flat, false)].map(|(naming, diagnostics)| {
            let mut spec = spec.clone();
            spec.output.diagnostics = diagnostics;
            let model = Model::compile(&spec).expect("a sound example");
            (format!("{name}, {naming:?}"), Fmu::of_model(model, naming))
        })
    })
}

fn states(fmu: &Fmu) -> Vec<u32> {
    fmu.references(|slot| matches!(slot, Slot::State(_)))
}

/// Returns the column of all unknowns for each known. Also checks a request for several unknowns
/// and knowns at once against these columns.
fn columns(instance: &Instance, knowns: &[u32]) -> Vec<Vec<f64>> {
    let unknowns = instance.fmu.outputs();
    let columns: Vec<Vec<f64>> = knowns
        .iter()
        .map(|&k| instance.along(&unknowns, &[k], &[1.0]))
        .collect();
    // A few unknowns in reverse order, along all knowns at once, with one known repeated.
    let few: Vec<usize> = (0..unknowns.len()).rev().step_by(7).collect();
    let mut all = knowns.to_vec();
    let mut seeds: Vec<f64> = (0..knowns.len()).map(|k| 0.3 - 0.1 * (k % 8) as f64).collect();
    if let Some(&first) = knowns.first() {
        all.push(first);
        seeds.push(0.4);
    }
    let picked: Vec<u32> = few.iter().map(|&row| unknowns[row]).collect();
    let found = instance.along(&picked, &all, &seeds);
    let sum = |&row: &usize| {
        let terms = seeds
            .iter()
            .enumerate()
            .map(|(k, seed)| columns[k % knowns.len()][row] * seed);
        terms.sum::<f64>()
    };
    agree("all at once", &[found], &[few.iter().map(sum).collect()], 1e-11);
    assert!(instance.along(&[], knowns, &vec![1.0; knowns.len()]).is_empty());
    assert_eq!(instance.along(&unknowns, &[], &[]), vec![0.0; unknowns.len()]);
    columns
}

/// Returns the difference of two columns, relative to the norm of `theirs`.
fn distance(ours: &[f64], theirs: &[f64]) -> f64 {
    let norm = theirs.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
    ours.iter()
        .zip(theirs)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
        / norm
}

/// Asserts that columns agree within a relative tolerance.
#[track_caller]
fn agree(what: &str, ours: &[Vec<f64>], theirs: &[Vec<f64>], tolerance: f64) {
    for (k, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let off = distance(ours, theirs);
        assert!(off <= tolerance, "{what}, known {k}: {off:e}");
    }
}

/// Returns the column of a known by central differences `D(h) … D(4h)`, set through `fmi2SetReal`:
/// `(18 D(h) − 24 D(2h) + 14 D(3h) − 3 D(4h))/5` has an error of order h⁶ for smooth functions, and
/// of order h³ where a second derivative jumps, as at the end of a beam that carries a joint.
fn difference(instance: &Instance, known: u32, h: f64) -> Vec<f64> {
    let unknowns = instance.fmu.outputs();
    let now = instance.get_many(&[known])[0];
    let mut column = vec![0.0; unknowns.len()];
    for (steps, weight) in [
        (1.0, 18.0),
        (-1.0, -18.0),
        (2.0, -12.0),
        (-2.0, 12.0),
        (3.0, 14.0 / 3.0),
        (-3.0, -14.0 / 3.0),
        (4.0, -0.75),
        (-4.0, 0.75),
    ] {
        ok(instance.set_many(&[known], &[now + steps * h]));
        for (sum, value) in column.iter_mut().zip(instance.get_many(&unknowns)) {
            *sum += weight / (10.0 * h) * value;
        }
    }
    ok(instance.set_many(&[known], &[now]));
    column
}

/// Steps of differences, relative to the nominal value.
const STEPS: [f64; 7] = [1e-3, 1e-4, 1e-2, 1e-5, 1e-6, 1e-1, 3e-1];

/// Asserts that each column agrees with the differences of one of the steps. None suits all
/// columns: dry friction is steep, forces of a stiff beam are large, and in planar motion
/// magnitudes of momenta have large derivatives where slow bodies come to rest.
#[track_caller]
fn agree_with_differences(
    what: &str,
    instance: &Instance,
    knowns: &[u32],
    columns: &[Vec<f64>],
    (steps, size): (&[f64], impl Fn(u32) -> f64),
) {
    let now = instance.get_many(&instance.fmu.outputs());
    let values = now.iter().map(|y| y * y).sum::<f64>().sqrt();
    for (&known, column) in knowns.iter().zip(columns) {
        // The difference has the values' round-off divided by the step, which matters for small
        // columns.
        let norm = column.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-3);
        let mut tried = Vec::new();
        // So has the column of a parameter, itself extrapolated from differences, with steps down to
        // 1e-7 for an inertia that is zero beside others of 0.1 kg·m².
        let own_step = match instance.fmu.registry.slot(known) {
            Some(Slot::Parameter(_)) => 1e-7,
            _ => f64::INFINITY,
        };
        let agrees = steps.iter().any(|h| {
            let round_off = f64::EPSILON * values * (1.0 / (h * size(known)) + 1.0 / own_step) / norm;
            let off = distance(column, &difference(instance, known, h * size(known))) - round_off.min(1e-6);
            tried.push(off);
            off < 1e-7
        });
        let name = instance
            .fmu
            .registry
            .slot(known)
            .map(|slot| instance.fmu.registry.name(slot));
        assert!(agrees, "{what}, {name:?}: {tried:?}");
    }
}

/// Asserts that variables that the XML does not declare as dependencies have no influence.
#[track_caller]
fn only_what_is_declared(what: &str, fmu: &Fmu, structure: &[Unknown], knowns: &[u32], columns: &[Vec<f64>]) {
    for (row, unknown) in fmu.outputs().into_iter().enumerate() {
        let declared = structure.iter().find(|u| u.index == unknown + 1);
        let dependencies = declared.and_then(|u| u.dependencies.as_ref()).expect("declared");
        for (&known, column) in knowns.iter().zip(columns) {
            if !dependencies.contains(&(known + 1)) {
                let [unknown, known] =
                    [unknown, known].map(|r| fmu.registry.slot(r).map(|slot| fmu.registry.name(slot)));
                // Derivatives with respect to parameters are differences with a step of 1e-4: a
                // length of 10 m then has a round-off of ε 10 m/1e-4 = 2e-11.
                let norm = column.iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!(
                    column[row].abs() <= (1e-9 * norm).max(2e-11),
                    "{what}: {unknown:?} by {known:?}: {:e}",
                    column[row]
                );
            }
        }
    }
}

/// Asserts that factors declared as constant are equal at two instants; returns their number.
#[track_caller]
fn constants_are(what: &str, fmu: &Fmu, knowns: &[u32], (then, now): (&[Vec<f64>], &[Vec<f64>])) -> usize {
    let (mut found, outputs) = (0, fmu.outputs());
    for unknown in &fmu.xml.model_structure.outputs {
        let (Some(dependencies), Some(kinds)) = (&unknown.dependencies, &unknown.dependencies_kind) else {
            continue;
        };
        let row = outputs.iter().position(|r| r + 1 == unknown.index).expect("an output");
        for (known, _) in (dependencies.iter().zip(kinds)).filter(|(_, kind)| **kind == DependencyKind::Constant) {
            let column = knowns
                .iter()
                .position(|k| k + 1 == *known)
                .expect("a state or an input");
            let (then, now) = (then[column][row], now[column][row]);
            assert!(
                (then - now).abs() <= 1e-9 * now.abs() && now != 0.0,
                "{what}: {then} {now}"
            );
            found += 1;
        }
    }
    found
}

#[test]
fn states_and_inputs_in_event_and_continuous_time_mode_and_at_communication_points() {
    for (name, fmu) in flavours() {
        let knowns = [states(&fmu), fmu.inputs()].concat();
        let me = fmu.instance(ME);
        me.initialise(None);
        let size = |known: u32| fmu.nominal(known);
        me.get_many(&fmu.outputs());
        let bytes = me.bytes();
        let event = columns(&me, &knowns);
        assert_eq!(me.bytes(), bytes, "{name}: asking changes no bit");
        agree_with_differences(&name, &me, &knowns, &event, (&STEPS, size));

        me.new_discrete_states();
        me.enter_continuous_time_mode();
        assert_eq!(columns(&me, &knowns), event, "{name}: the same law");
        // Every body moves here: near rest the magnitudes of momenta change too steeply for
        // differences.
        let moved = me.states().into_iter().zip(me.nominals()).enumerate();
        let moved = moved.map(|(i, (x, nominal))| x + nominal * (0.3 + 0.1 * (i % 5) as f64));
        me.set_states(&moved.collect::<Vec<_>>());
        me.set_time(0.1);
        let now = columns(&me, &knowns);
        agree_with_differences(&name, &me, &knowns, &now, (&STEPS, size));
        only_what_is_declared(&name, &fmu, &fmu.xml.model_structure.outputs, &knowns, &now);
        // The constant factors include each state as an output of itself, and each rate as the
        // derivative of its angle.
        assert!(constants_are(&name, &fmu, &knowns, (&event, &now)) > states(&fmu).len());
        ok(me.terminate());
        assert_eq!(columns(&me, &knowns), now, "{name}: after the end");

        let cs = fmu.instance(CS);
        cs.initialise(None);
        agree(&name, &columns(&cs, &knowns), &event, 1e-15);
        ok(cs.step(0.0, 0.02));
        let there = fmu.instance(ME);
        there.begin();
        there.set_time(0.02);
        there.set_states(&cs.get_many(&states(&fmu)));
        there.event();
        assert_eq!(columns(&cs, &knowns), columns(&there, &knowns), "{name}");
        agree_with_differences(&name, &cs, &fmu.inputs(), &columns(&cs, &fmu.inputs()), (&STEPS, size));
        logged();
    }
}

#[test]
fn parameters_and_inputs_in_initialization_mode() {
    for (flavour, (name, fmu)) in flavours().enumerate() {
        let knowns = [fmu.parameters(), fmu.inputs()].concat();
        let instance = fmu.instance(CS);
        instance.setup(None, 0.0, None);
        ok(instance.enter_initialization());
        instance.get_many(&fmu.outputs());
        let bytes = instance.bytes();
        let found = columns(&instance, &knowns);
        assert_eq!(instance.bytes(), bytes, "{name}: asking changes no bit");
        only_what_is_declared(&name, &fmu, &fmu.xml.model_structure.initial_unknowns, &knowns, &found);

        // Compared with differences only if values on both sides are accepted; in the short form each
        // known in one of the two flavours.
        let size = |known: u32| match fmu.xml.model_variables[known as usize].name.ends_with("epoch") {
            true => 0.05,
            false => instance.get_many(&[known])[0].abs().max(0.1),
        };
        for (k, (&known, column)) in knowns.iter().zip(found).enumerate() {
            if !long() && k % 2 != flavour % 2 {
                continue;
            }
            let now = instance.get_many(&[known])[0];
            let both = [-0.04, 0.04].map(|part| {
                ok(instance.set_many(&[known], &[now + part * size(known)]));
                instance.directional(&[], &[], &[]).0 == OK
            });
            ok(instance.set_many(&[known], &[now]));
            if both == [true; 2] {
                agree_with_differences(&name, &instance, &[known], &[column], (&STEPS[..5], size));
            }
        }
        let me = fmu.instance(ME);
        me.setup(None, 0.0, None);
        ok(me.enter_initialization());
        let inputs = fmu.inputs();
        assert_eq!(columns(&me, &inputs), columns(&instance, &inputs), "{name}");
        ok(me.exit_initialization());
        logged();
    }
}
