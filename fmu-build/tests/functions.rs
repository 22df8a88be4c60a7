//! The verbs as functions, without the command line.

use fmu_build::build::{BuildOptions, build};
use fmu_build::campaign::{Shard, StudyFile};
use fmu_build::describe::describe;
use fmu_build::fmu::Fmu;
use fmu_build::library::libraries;
use fmu_build::linearize::{LinearizeOptions, linearize};
use fmu_build::package::Package;
use fmu_build::simulate::{SimulateOptions, simulate};
use fmu_build::split::{SplitOptions, effective_masses, split};
use fmu_build::{CompiledSpec, Control, Error, report};
use grapple::plant::{Model, OperatingPoint, Plant};
use grapple::simulation::Simulation;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.toml"))
}

#[test]
fn spec_in_memory_is_built_and_its_fmu_is_run() {
    let mut spec = CompiledSpec::read(&example("two_link"))
        .expect("valid")
        .model
        .spec
        .clone();
    spec.name = "renamed".to_owned();
    let compiled = CompiledSpec::of(&spec).expect("valid");
    let libraries = libraries([], None).expect("the embedded one");
    let built = build(&compiled, &BuildOptions::default(), &libraries).expect("built");
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("renamed.fmu");
    std::fs::write(&file, &built.bytes).expect("written");

    let description = describe(&Package::of(&file).expect("an FMU")).expect("readable");
    assert_eq!(description.model.model_name, "renamed");
    assert_eq!(description.size, Some(built.bytes.len()));

    let fmu = Fmu::open(&file).expect("it runs here");
    let options = SimulateOptions {
        set: vec![("forearm.mass".to_owned(), 2.0)],
        ..SimulateOptions::default()
    };
    let mut reached = Vec::new();
    let control = Control {
        progress: Some(&mut |t, stop| reached.push((t, stop))),
        cancel: None,
    };
    let run = simulate(&fmu, &options, control).expect("valid options");
    assert!(run.failure.is_none());
    assert_eq!(run.results.parameter("forearm.mass"), Some(2.0));
    assert_eq!(reached.last(), Some(&(run.times.stop, run.times.stop)));
    assert_eq!(reached.len(), run.results.time.len());
    assert!(report::page(&fmu, &run).contains("<title>renamed"));
}

#[test]
fn invalid_options_are_typed_errors() {
    let fmu = Fmu::open(&example("two_link")).expect("it runs here");
    let mut options = SimulateOptions::default();
    options.experiment.step = Some(0.0);
    assert!(matches!(
        simulate(&fmu, &options, Control::default()),
        Err(Error::Invalid(_))
    ));
    let set = vec![("forearm.mass".to_owned(), f64::NAN)];
    let options = SimulateOptions {
        set,
        ..SimulateOptions::default()
    };
    assert!(matches!(
        simulate(&fmu, &options, Control::default()),
        Err(Error::Invalid(_))
    ));
    let options = LinearizeOptions {
        at: -1.0,
        ..LinearizeOptions::default()
    };
    let compiled = CompiledSpec::read(&example("two_link")).expect("valid");
    assert!(matches!(
        linearize(&compiled.model, &options, &Control::default()),
        Err(Error::Invalid(_))
    ));
    let bad = CompiledSpec::parse("\nname = 3", Path::new(""), "bad.toml");
    let Err(Error::Problems(problems)) = bad else {
        panic!("it has errors")
    };
    let positions: Vec<_> = problems.each().map(|(_, position)| position).collect();
    assert_eq!(positions, [None, Some((2, 1))]);
}

#[test]
fn cancelled_run_keeps_its_results() {
    let fmu = Fmu::open(&example("two_link")).expect("it runs here");
    let cancel = AtomicBool::new(false);
    let control = Control {
        progress: Some(&mut |t, _| cancel.store(t > 0.5, Ordering::Relaxed)),
        cancel: Some(&cancel),
    };
    let run = simulate(&fmu, &SimulateOptions::default(), control).expect("valid options");
    assert!(matches!(run.failure, Some(Error::Interrupted(_))));
    let last = *run.results.time.last().expect("some rows");
    assert!(last > 0.5 && last < run.times.stop, "{last}");
}

#[test]
fn cancelled_campaign_is_continued() {
    let folder = TempDir::new().expect("a folder");
    let study = folder.path().join("study.toml");
    let text = format!(
        "model = {:?}\nruns = 3\nexperiment = {{ stop_time = 0.1 }}\n\
         [dispersion.\"forearm.mass\"]\nuniform = [1.0, 2.0]\n[output]\n\"elbow.q\" = [\"final\"]\n",
        example("two_link")
    );
    std::fs::write(&study, text).expect("written");
    let study = StudyFile::read(&study).expect("valid");
    let fmu = Fmu::open(&study.model()).expect("it runs here");
    let campaign = study.campaign(&fmu).expect("valid");
    let results = folder.path().join("results");
    let open = || campaign.open(&results, Shard::default()).expect("a folder");
    let cancel = AtomicBool::new(true);
    let control = Control {
        progress: None,
        cancel: Some(&cancel),
    };
    assert!(matches!(open().run(2, control), Err(Error::Interrupted(_))));
    let work = open();
    assert_eq!(work.left, [0, 1, 2]);
    let outcome = work.run(2, Control::default()).expect("no file fails");
    assert_eq!((outcome.done, outcome.failed.len()), (3, 0));
    assert!(outcome.table.is_some_and(|table| table.exists()));
    assert!(open().left.is_empty());
}

/// The outputs at the start are the effective masses that `split` and `margin` print, by the
/// linearisation about the start.
#[test]
fn effective_masses_are_outputs_of_both_parts() {
    let whole = CompiledSpec::read(&example("coupling/held_payload")).expect("valid");
    let parts = split(&whole, &SplitOptions::at("gripper")).expect("it separates");
    let frame = parts.carried.interface["gripper"].frame.clone();
    let printed = effective_masses(&parts.carrier, &parts.carried, "gripper", &frame).expect("regular");
    let (mut carrier, mut carried) = (parts.carrier, parts.carried);
    carrier.port["gripper"].effective_mass = true;
    carried.interface["gripper"].effective_mass = true;
    let mut most = 0.0_f64;
    for (spec, printed) in [carrier, carried].iter().zip(printed) {
        let model = Arc::new(Model::compile(spec).expect("valid"));
        let mut simulation = Plant::new(Arc::clone(&model))
            .and_then(Simulation::new)
            .expect("it starts");
        let (mut dx, mut y) = (vec![0.0; model.states.len()], vec![0.0; model.outputs.len()]);
        let at = &simulation.state;
        let at = OperatingPoint::new(at.t, &at.x, &at.u, &at.discrete);
        simulation.plant.evaluate(at, &mut dx, &mut y).expect("regular");
        for (of, expected) in [("mass", printed.mass), ("inertia", printed.inertia)] {
            for (i, expected) in expected.into_iter().enumerate() {
                let name = format!("gripper.effective_{of}[{}]", i + 1);
                let output = model.outputs.iter().position(|output| output.quantity.name == name);
                most = most.max((y[output.expect("an output")] / expected - 1.0).abs());
            }
        }
    }
    println!("outputs and printed effective masses: relative difference {most:.1e}");
    // Round-off of two ways to the same numbers, the largest 180 times the least.
    assert!(most < 1e-12, "{most:e}");
}
