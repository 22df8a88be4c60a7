//! Right-hand sides of the ODE ([`Plant::derivative`]) timed beside each other, in the same rounds.

use grapple::plant::{Discrete, Model, Plant};
use grapple::spec::{self, Spec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// How long craft are measured together, s.
const SECONDS: f64 = 3.0;
/// States at which a craft is evaluated.
const STATES: usize = 16;

pub fn read(text: &str) -> Spec {
    spec::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
}

/// µs per evaluation.
#[derive(Clone, Copy)]
pub struct Time {
    pub median: f64,
    pub minimum: f64,
}

/// Times craft in turn.
pub fn measure<const N: usize>(craft: &mut [Craft; N]) -> [Time; N] {
    let mut times = [const { Vec::new() }; N];
    let (start, mut seconds) = (Instant::now(), 0.0);
    for round in 0.. {
        for place in 0..N {
            let which = (place + round) % N;
            let time = craft[which].batch();
            // The first tenth warms up.
            if seconds > 0.1 * SECONDS {
                times[which].push(time);
            }
        }
        seconds = start.elapsed().as_secs_f64();
        if seconds > SECONDS && times[0].len() > 30 {
            break;
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        Time {
            median: times[times.len() / 2],
            minimum: times[0],
        }
    })
}

/// A craft at states around its start.
pub struct Craft {
    plant: Plant,
    states: Vec<Vec<f64>>,
    u: Vec<f64>,
    discrete: Discrete,
    dx: Vec<f64>,
}

impl Craft {
    /// As a spec has it.
    pub fn new(spec: &Spec) -> Self {
        let model = Model::compile(spec).unwrap_or_else(|e| panic!("{e}"));
        let (mut start, mut discrete) = (vec![0.0; model.states.len()], Discrete::new(&model));
        let mut plant = Plant::new(model.into()).unwrap_or_else(|e| panic!("{e}"));
        plant.start(0.0, &mut start, &mut discrete);
        let u: Vec<f64> = plant.model().inputs.iter().map(|input| input.start).collect();
        // What is commanded at the start is so.
        plant
            .update(0.0, (&mut start, &u), &mut discrete, &mut Vec::new())
            .unwrap_or_else(|e| panic!("{e}"));
        // Around the start by a tenth of each state's nominal.
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let nominals = plant.model().states.iter().map(|state| state.nominal);
        let mut around = || {
            let moved = start.iter().zip(nominals.clone());
            moved
                .map(|(x, nominal)| x + 0.1 * nominal * rng.random_range(-1.0..1.0))
                .collect()
        };
        Self {
            states: (0..STATES).map(|_| around()).collect(),
            u,
            discrete,
            dx: vec![0.0; start.len()],
            plant,
        }
    }

    /// How many states it has.
    pub fn state_count(&self) -> usize {
        self.dx.len()
    }

    /// µs per evaluation.
    fn batch(&mut self) -> f64 {
        const SWEEPS: usize = 20;
        let start = Instant::now();
        for _ in 0..SWEEPS {
            for x in &self.states {
                self.plant
                    .derivative(0.0, black_box(x), &self.u, &self.discrete, &mut self.dx)
                    .expect("regular");
                black_box(&self.dx);
            }
        }
        1e6 * start.elapsed().as_secs_f64() / (SWEEPS * STATES) as f64
    }
}
