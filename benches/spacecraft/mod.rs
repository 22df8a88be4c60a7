//! Spacecraft whose right-hand side ([`Plant::derivative`]) is evaluated repeatedly.

use grapple::plant::{Discrete, Model, OperatingPoint, Plant};
use grapple::spec::{self, Spec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use std::path::Path;

/// Number of states at which a spacecraft is evaluated.
pub const STATES: usize = 16;

pub fn read(text: &str) -> Spec {
    spec::read(text, Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
}

/// A spacecraft at states around its start.
pub struct Spacecraft {
    plant: Plant,
    /// State vectors of equal length.
    pub states: Vec<Vec<f64>>,
    u: Vec<f64>,
    discrete: Discrete,
    dx: Vec<f64>,
}

impl Spacecraft {
    /// Creates the spacecraft of a spec.
    pub fn new(spec: &Spec) -> Self {
        let model = Model::compile(spec).unwrap_or_else(|e| panic!("{e}"));
        let (mut start, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
        let mut plant = Plant::new(model.into()).unwrap_or_else(|e| panic!("{e}"));
        plant.start(0.0, &mut start, &mut discrete).expect("closed");
        let u: Vec<f64> = plant.model().inputs.iter().map(|input| input.start).collect();
        // Updates the discrete state by the commands at the start.
        plant
            .update(0.0, &mut start, &u, &mut discrete, &mut Vec::new())
            .unwrap_or_else(|e| panic!("{e}"));
        // States within a tenth of each state's nominal value around the start.
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

    /// Evaluates the right-hand side once at each of its states.
    pub fn sweep(&mut self) {
        for x in &self.states {
            self.plant
                .derivative(
                    OperatingPoint::new(0.0, black_box(x), &self.u, &self.discrete),
                    &mut self.dx,
                )
                .expect("regular");
            black_box(&self.dx);
        }
    }
}
