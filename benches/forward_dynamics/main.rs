//! Forward dynamics of floating-base chains of revolute joints: microseconds per evaluation.
//!
//! `cargo bench --bench forward_dynamics` times generated chains. `benches/peers/run.sh` calls it
//! in the same rounds as Pinocchio and MuJoCo, on the same chain files (`-- --dir DIR 2 6 12 …`).
//!
//! With `--derivatives` the states' Jacobian `∂ẋ/∂x` is timed instead ([`StateJacobian`]).
//! Pinocchio's counterpart is `computeABADerivatives`, which also computes `∂q̈/∂τ`. The checksum
//! is then the norm, at the first state, of the derivatives of the joints' accelerations with
//! respect to their angles and rates.
//!
//! The measured time covers the bodies' poses, velocities and inertias from coordinates and rates
//! (with a dispatch on the type of every joint and the base's attitude as a quaternion), then the
//! recursion to the accelerations.
#![allow(non_snake_case)] // frame letters

mod chain;

use chain::{Chain, State};
use grapple::dynamics::Applied;
use grapple::dynamics::recursive::ForwardDynamics;
use grapple::plant::{Discrete, Model, OperatingPoint, Plant, StateJacobian};
use grapple::system::{Configuration, Kinematics};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [usize; 8] = [2, 6, 12, 25, 50, 100, 200, 400];

struct Arguments {
    directory: Option<PathBuf>,
    seconds: f64,
    check: bool,
    derivatives: bool,
    sizes: Vec<usize>,
}

fn arguments() -> Arguments {
    let mut found = Arguments {
        directory: None,
        seconds: 0.5,
        check: false,
        derivatives: false,
        sizes: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--dir" => found.directory = words.next().map(PathBuf::from),
            "--seconds" => found.seconds = words.next().and_then(|s| s.parse().ok()).unwrap_or(0.5),
            "--check" => found.check = true,
            "--derivatives" => found.derivatives = true,
            _ => found.sizes.extend(word.parse::<usize>()), // ignores `--bench`, which cargo adds
        }
    }
    if found.sizes.is_empty() {
        found.sizes = SIZES.to_vec();
    }
    found
}

fn main() {
    let arguments = arguments();
    let own = arguments.directory.is_none();
    if own {
        println!("floating base and n revolute joints, µs per evaluation");
        println!("{:>4} {:>9} {:>9} {:>11}", "n", "median", "minimum", "per joint");
    }
    for &n in &arguments.sizes {
        let chain = match &arguments.directory {
            Some(directory) => Chain::read(&directory.join(format!("chain_{n}.txt"))),
            None => Chain::random(n),
        };
        let mut bench = Bench::new(&chain);
        if arguments.check {
            for (k, state) in chain.states.iter().enumerate() {
                bench.evaluate(state);
                let numbers: Vec<String> = bench.qdd.iter().map(|a| format!("{a:.17e}")).collect();
                println!("{n} {k} {}", numbers.join(" "));
            }
            continue;
        }
        let first = &chain.states[0];
        let ((median, minimum), checksum) = if arguments.derivatives {
            let mut jacobian = Jacobian::new(&bench.plant);
            let times = time(&chain.states, arguments.seconds, |state| {
                jacobian.evaluate(&bench.plant, state);
            });
            jacobian.evaluate(&bench.plant, first);
            (times, norm(jacobian.of_joints(n)))
        } else {
            let times = time(&chain.states, arguments.seconds, |state| bench.evaluate(state));
            bench.evaluate(first);
            (times, norm(bench.qdd.iter().copied()))
        };
        if own {
            println!("{n:4} {median:9.3} {minimum:9.3} {:11.4}", median / n as f64);
        } else {
            println!("{n} {median:.4} {minimum:.4} {checksum:.15}");
        }
    }
}

struct Bench {
    plant: Plant,
    kinematics: Kinematics<f64>,
    dynamics: ForwardDynamics<f64>,
    applied: Applied<f64>,
    /// Base: angular (body axes), linear (world axes); then the joints.
    qdd: Vec<f64>,
}

impl Bench {
    fn new(chain: &Chain) -> Self {
        let model = Arc::new(Model::compile(&chain.spec).unwrap_or_else(|e| panic!("{e}")));
        let system = model.system();
        Self {
            kinematics: Kinematics::new(system),
            dynamics: ForwardDynamics::new(system),
            applied: Applied::none(system),
            qdd: vec![0.0; system.nv],
            plant: Plant::new(Arc::clone(&model)).unwrap_or_else(|e| panic!("{e}")),
        }
    }

    fn evaluate(&mut self, state: &State) {
        let system = self.plant.model().system();
        let derived = self.plant.derived();
        self.applied.tau[6..].copy_from_slice(&state.tau);
        self.kinematics.update(system, derived, &state.q, &state.qd);
        let at = Configuration {
            system,
            derived,
            kinematics: &self.kinematics,
        };
        self.dynamics
            .solve(at, &self.applied, &mut self.qdd)
            .expect("regular inertias");
        black_box(&self.qdd);
    }
}

fn norm(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum::<f64>().sqrt()
}

struct Jacobian {
    jacobian: StateJacobian,
    x: Vec<f64>,
    discrete: Discrete,
    A: Vec<f64>,
}

impl Jacobian {
    fn new(plant: &Plant) -> Self {
        let model = plant.model();
        let n = model.states.len();
        Self {
            jacobian: StateJacobian::new(model),
            x: vec![0.0; n],
            discrete: model.discrete(),
            A: vec![0.0; n * n],
        }
    }

    fn evaluate(&mut self, plant: &Plant, state: &State) {
        let (q, rest) = self.x.split_at_mut(state.q.len());
        q.copy_from_slice(&state.q);
        rest[..state.qd.len()].copy_from_slice(&state.qd);
        let at = OperatingPoint::new(0.0, self.x.as_slice(), state.tau.as_slice(), &self.discrete);
        self.jacobian
            .evaluate(plant, at, &mut self.A)
            .expect("regular inertias");
        black_box(&self.A);
    }

    /// Returns the derivatives of `n` joints' accelerations with respect to their angles and rates,
    /// which do not depend on the coordinates of the base.
    fn of_joints(&self, n: usize) -> impl Iterator<Item = f64> {
        // Columns of the Jacobian: the base's attitude and position (7), the angles (n), the base's
        // rates (6), the angles' rates (n).
        let (angles, rates) = (7..7 + n, n + 13..2 * n + 13);
        let columns = angles.chain(rates.clone());
        columns.flat_map(move |column| rates.clone().map(move |row| self.A[column * self.x.len() + row]))
    }
}

/// Returns median and minimum over batches, µs per evaluation. A batch is a number of whole sweeps
/// through all states, as in `benches/peers/chain.hpp`.
fn time(states: &[State], seconds: f64, mut evaluate: impl FnMut(&State)) -> (f64, f64) {
    let mut batch = |sweeps: usize| {
        let start = Instant::now();
        for _ in 0..sweeps {
            for state in states {
                evaluate(black_box(state));
            }
        }
        start.elapsed().as_secs_f64() / (sweeps * states.len()) as f64
    };
    let warm_up = Instant::now();
    let mut per_evaluation = batch(1);
    while warm_up.elapsed().as_secs_f64() < (0.2 * seconds).max(0.2) {
        per_evaluation = batch(1);
    }
    let sweeps = (1e-3 / (per_evaluation * states.len() as f64)).round().max(1.0) as usize;
    let mut times = Vec::new();
    let measured = Instant::now();
    while times.len() < 31 || measured.elapsed().as_secs_f64() < seconds {
        times.push(1e6 * batch(sweeps));
    }
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[0])
}
