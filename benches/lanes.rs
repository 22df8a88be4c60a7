//! Cost of the states' derivatives of several runs in the lanes of one scalar: microseconds per
//! evaluation of one run, compared with runs one by one.
//!
//! `cargo bench --bench lanes` compiles for plain x86-64 (SSE2, two numbers per vector). `cargo rustc
//! --profile bench --bench lanes -- -C target-feature=+avx2` leaves a program for AVX2 in
//! `target/release/deps`, with single runs in AVX2 too. `-- WORD` times the models whose names contain
//! it.

mod chain;
mod side_by_side;

use chain::{flexible_chain, moving_chain};
use grapple::algebra::Lanes;
use grapple::plant::{Discrete, LaneDiscrete, LaneEvaluation, LanePoint, Model, OperatingPoint, Plant};
use grapple::spec;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use side_by_side::{Time, batch, rounds};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

/// Number of evaluations of a batch, in each lane.
const CALLS: u32 = 300;

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    println!(
        "{:20} {:>6} {:>9} {:>9} {:>6} {:>9} {:>6}",
        "minimum, µs", "states", "one", "4 lanes", "ratio", "8 lanes", "ratio"
    );
    let example = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.toml"));
        (name.to_owned(), std::fs::read_to_string(path).expect("an example"))
    };
    let examples = ["two_link", "ssrms_type", "ssrms_flexible", "servoed_arm", "geared_arm"].map(example);
    let chains = [
        ("chain of 7".to_owned(), moving_chain(7)),
        ("chain of 20".to_owned(), moving_chain(20)),
        ("flexible chain of 4".to_owned(), flexible_chain(4)),
    ];
    for (name, text) in examples.into_iter().chain(chains) {
        if words.iter().all(|word| name.contains(word.as_str())) {
            line(&name, &text);
        }
    }
}

/// A model at one state and input of each of `N` runs.
struct Runs<const N: usize> {
    plants: Vec<Plant>,
    x: Vec<Vec<f64>>,
    u: Vec<f64>,
    discrete: Discrete,
}

impl<const N: usize> Runs<N> {
    /// Draws states within a tenth of each state's nominal value around the start.
    fn new(model: &Arc<Model>) -> Self {
        let (mut start, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
        let mut plant = Plant::new(model.clone()).unwrap_or_else(|e| panic!("{e}"));
        plant
            .start(0.0, &mut start, &mut discrete)
            .unwrap_or_else(|e| panic!("{e}"));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut around = || {
            let moved = start.iter().zip(&model.states);
            moved
                .map(|(x, state)| x + 0.1 * state.nominal * rng.random_range(-1.0..1.0))
                .collect()
        };
        Self {
            x: (0..N).map(|_| around()).collect(),
            u: model.inputs.iter().map(|input| input.start).collect(),
            discrete,
            plants: vec![plant; N],
        }
    }

    /// Returns the time of an evaluation of one run, µs.
    fn alone(&mut self, dx: &mut [f64]) -> f64 {
        let time = batch(CALLS, |_| {
            for (plant, x) in self.plants.iter_mut().zip(&self.x) {
                let at = OperatingPoint::new(0.0, black_box(x.as_slice()), &self.u, &self.discrete);
                plant.derivative(at, black_box(&mut *dx)).expect("regular");
            }
        });
        time / N as f64
    }

    /// Returns an evaluation in lanes that is timed, in µs per run.
    fn in_lanes(&self) -> impl FnMut() -> f64 + use<N> {
        let mut evaluation =
            LaneEvaluation::new(std::array::from_fn::<_, N, _>(|k| &self.plants[k])).unwrap_or_else(|e| panic!("{e}"));
        let n = self.x[0].len();
        let x: Vec<Lanes<N>> = (0..n).map(|i| Lanes(std::array::from_fn(|k| self.x[k][i]))).collect();
        let u: Vec<Lanes<N>> = self.u.iter().map(|&u| Lanes([u; N])).collect();
        let (discrete, mut dx) = (self.discrete.clone(), vec![Lanes([0.0; N]); n]);
        move || {
            let time = batch(CALLS, |_| {
                let (t, x, u) = ([0.0; N], black_box(x.as_slice()), u.as_slice());
                let discrete = LaneDiscrete::new([&discrete; N]).expect("one discrete state");
                evaluation
                    .derivative(LanePoint { t, x, u, discrete }, black_box(&mut dx))
                    .expect("regular");
            });
            time / N as f64
        }
    }
}

/// Times a model and prints its row.
fn line(name: &str, text: &str) {
    let spec = spec::read(text, Path::new("examples")).unwrap_or_else(|e| panic!("{e}"));
    let model = Arc::new(Model::compile(&spec).unwrap_or_else(|e| panic!("{e}")));
    let (mut runs, mut dx) = (Runs::<8>::new(&model), vec![0.0; model.states.len()]);
    let (mut four, mut eight) = (Runs::<4>::new(&model).in_lanes(), runs.in_lanes());
    let mut alone = || runs.alone(&mut dx);
    let alternatives: [&mut dyn FnMut() -> f64; 3] = [&mut alone, &mut four, &mut eight];
    let [one, four, eight] = rounds(alternatives).map(|times| Time::of(times).minimum);
    println!(
        "{name:20} {:6} {one:9.3} {four:9.3} {:6.2} {eight:9.3} {:6.2}",
        model.states.len(),
        one / four,
        one / eight
    );
}
