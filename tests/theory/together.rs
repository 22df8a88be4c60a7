//! Runs that advance together, with evaluations in lanes: the bits of each run alone.

use crate::example_files::all_example_files;
use crate::lanes::varied;
use grapple::Event;
use grapple::plant::{Model, Plant};
use grapple::simulation::{LaneRuns, Run, Simulation, Statistics};
use grapple::spec::{self, Method, Spec};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Results of one run.
#[derive(Debug, PartialEq)]
struct Record {
    /// Bits of time, states, derivatives and outputs at each communication point.
    bits: Vec<u64>,
    events: Vec<Event>,
    statistics: Statistics,
    error: Option<String>,
}

/// Runs with their results so far.
struct Runs {
    simulations: Vec<Simulation>,
    records: Vec<Record>,
}

impl Runs {
    fn new(plants: &[Plant]) -> Self {
        let simulations = plants
            .iter()
            .map(|plant| Simulation::new(plant.clone()).expect("starts"));
        let record = || Record {
            bits: Vec::new(),
            events: Vec::new(),
            statistics: Statistics::default(),
            error: None,
        };
        Self {
            simulations: simulations.collect(),
            records: plants.iter().map(|_| record()).collect(),
        }
    }

    /// Advances each run by `h` (s) with `advance`, which gets all simulations and their events.
    fn step(&mut self, advance: impl FnOnce(&mut [Simulation], &mut [Vec<Event>]) -> Vec<Result<(), grapple::Error>>) {
        let mut events: Vec<Vec<Event>> = self.records.iter_mut().map(|r| std::mem::take(&mut r.events)).collect();
        let outcomes = advance(&mut self.simulations, &mut events);
        let results = self
            .records
            .iter_mut()
            .zip(&mut self.simulations)
            .zip(events)
            .zip(outcomes);
        for (((record, simulation), events), outcome) in results {
            record.events = events;
            record.statistics = simulation.statistics();
            record.error = record.error.take().or(outcome.err().map(|error| error.to_string()));
            let Simulation { plant, state, .. } = simulation;
            let mut dx = vec![0.0; state.x.len()];
            let mut y = vec![0.0; plant.model().outputs.len()];
            // An error is one of the next step, too.
            let _ = plant.evaluate(state.point(), &mut dx, &mut y);
            let numbers = std::iter::once(&state.t).chain(&state.x).chain(&dx).chain(&y);
            record.bits.extend(numbers.map(|number| number.to_bits()));
        }
    }

    /// Returns the number of evaluations of single runs.
    fn evaluations(&self) -> u64 {
        self.simulations
            .iter()
            .map(|simulation| simulation.plant.evaluations())
            .sum()
    }
}

/// Makes `plants.len()` runs of `steps` steps, alone and together in `N` lanes, and compares all bits.
/// Returns the number of evaluations of runs alone, and those that are left to the runs when they
/// advance together.
fn compare<const N: usize>(name: &str, plants: &[Plant], h: f64, steps: u32) -> [u64; 2] {
    let (mut alone, mut together) = (Runs::new(plants), Runs::new(plants));
    let all: Vec<&Plant> = plants.iter().collect();
    let mut lanes = LaneRuns::<N>::new(&all).unwrap_or_else(|e| panic!("{name}: {e}"));
    let before = [alone.evaluations(), together.evaluations()];
    // Each run has communication points of its own.
    let end = |run: usize, step: u32| h * (1.0 + 0.1 * run as f64) * f64::from(step);
    for step in 1..=steps {
        alone.step(|simulations, events| {
            let runs = simulations.iter_mut().zip(events).enumerate();
            runs.map(|(k, (simulation, events))| simulation.advance(end(k, step), events))
                .collect()
        });
        together.step(|simulations, events| {
            let runs = simulations.iter_mut().zip(events).enumerate();
            let mut runs: Vec<Run> = runs
                .map(|(k, (of, events))| Run::new(of, Some(end(k, step)), events))
                .collect();
            lanes.advance(&mut runs);
            runs.into_iter().map(|run| run.outcome).collect()
        });
        for (k, (together, alone)) in together.records.iter().zip(&alone.records).enumerate() {
            assert!(
                together == alone,
                "{name}: run {k} differs at step {step}: {:?} {:?}",
                together.statistics,
                alone.statistics
            );
        }
    }
    [alone.evaluations() - before[0], together.evaluations() - before[1]]
}

fn model(mut spec: Spec, method: Option<Method>) -> Arc<Model> {
    if let Some(method) = method {
        spec.solver.method = method;
        spec.solver.step =
            matches!(method, Method::LinearlyImplicit | Method::Rk4).then_some(0.3 * spec.experiment.step);
    }
    Model::compile(&spec).unwrap_or_else(|e| panic!("{e}")).into()
}

fn runs(model: &Arc<Model>, count: usize) -> Vec<Plant> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    (0..count).map(|_| varied(model, &mut rng)).collect()
}

/// Five runs in eight lanes and four in four, with parameters of their own: states, events, counts of
/// steps and evaluations. Most evaluations are made in lanes.
#[test]
fn runs_of_examples_have_the_bits_of_each_run_alone() {
    let mut all = [0, 0];
    for path in all_example_files() {
        let text = std::fs::read_to_string(&path).expect("an example");
        let Ok(spec) = spec::read(&text, path.parent().expect("a folder")) else {
            continue;
        };
        let runs_in_lanes = Model::compile(&spec).is_ok_and(|model| model.runs_in_lanes().is_ok());
        if !runs_in_lanes {
            continue;
        }
        let h = spec.experiment.step;
        for method in [
            None,
            Some(Method::LinearlyImplicit),
            Some(Method::Rosenbrock),
            Some(Method::Rk4),
        ] {
            let model = model(spec.clone(), method);
            let plants = runs(&model, 5);
            let name = format!("{}, {method:?}", spec.name);
            let counts = [
                compare::<8>(&name, &plants, h, 4),
                compare::<4>(&name, &plants[..4], h, 4),
            ];
            println!("{name}: {counts:?} evaluations alone and left");
            for [alone, left] in counts {
                all = [all[0] + alone, all[1] + left];
            }
        }
    }
    println!("{all:?} evaluations alone and left");
    assert!(4 * all[1] < all[0], "{all:?}");
}
