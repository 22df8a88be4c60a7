//! Chains of links for this benchmark: read from files (format at the head of
//! `benches/peers/chain.hpp`), or generated here.

use grapple::spec::{Body, Inertia, Joint, JointType, Spec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// A floating-base chain with the states at which it is evaluated.
pub struct Chain {
    pub spec: Spec,
    pub states: Vec<State>,
}

/// Coordinates, rates and joint torques in grapple's order.
pub struct State {
    pub q: Vec<f64>,
    pub qd: Vec<f64>,
    pub tau: Vec<f64>,
}

impl Chain {
    /// Reads a chain description file.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut numbers = text
            .lines()
            .flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace())
            .map(|word| word.parse::<f64>().expect("a number"));
        Self::from_numbers(&mut || numbers.next().expect("the file is complete"))
    }

    /// Returns a chain of `n` revolute joints with general axes, frames and inertias; seeded by
    /// `n`, so every run has the same chain.
    pub fn random(n: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
        let mut numbers = Vec::new();
        let mut unit = || rng.random_range(-1.0..1.0);
        let direction = |k: usize, unit: &mut dyn FnMut() -> f64| -> Vec<f64> {
            let v: Vec<f64> = (0..k).map(|_| unit()).collect();
            let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter().map(|x| x / norm).collect()
        };
        numbers.push(n as f64);
        for _ in 0..=n {
            let mass = 5.5 + 4.5 * unit();
            let [a, b, c] = [unit(), unit(), unit()].map(|x: f64| mass * (0.005 + 0.01 * x * x));
            let com = [0.2 * unit(), 0.2 * unit(), 0.2 * unit()];
            numbers.extend([mass, com[0], com[1], com[2], b + c, a + c, a + b, 1e-4, -1e-4, 2e-4]);
        }
        for i in 0..n {
            numbers.push(i as f64);
            numbers.extend(direction(3, &mut unit).iter().map(|x| 0.4 * x));
            numbers.extend(direction(4, &mut unit));
            numbers.extend(direction(3, &mut unit));
        }
        numbers.push(16.0);
        for _ in 0..16 {
            numbers.extend([unit(), unit(), unit()]);
            numbers.extend(direction(4, &mut unit));
            numbers.extend((0..n).map(|_| 3.0 * unit()));
            numbers.extend((0..6 + n).map(|_| unit()));
            numbers.extend((0..n).map(|_| 5.0 * unit()));
        }
        let mut numbers = numbers.into_iter();
        Self::from_numbers(&mut || numbers.next().expect("written above"))
    }

    fn from_numbers(next: &mut dyn FnMut() -> f64) -> Self {
        let mut spec: Spec = toml::from_str("name = \"chain\"\nbody = {}").expect("the least spec");
        let n = next() as usize;
        for i in 0..=n {
            let mass = next();
            let body = Body {
                mass: Some(mass),
                mass_centre: std::array::from_fn(|_| next()),
                inertia: Some(Inertia::Full(std::array::from_fn(|_| next()))),
                ..Body::default()
            };
            spec.body.insert(format!("b{i}"), body);
        }
        for i in 1..=n {
            let parent = next() as usize;
            let mut joint: Joint =
                toml::from_str("type = \"revolute\"\nparent = \"\"\nchild = \"\"").expect("the least joint");
            debug_assert_eq!(joint.kind, JointType::Revolute);
            joint.parent = format!("b{parent}");
            joint.child = format!("b{i}");
            joint.origin = std::array::from_fn(|_| next());
            joint.orientation = Some(std::array::from_fn(|_| next()));
            joint.axis = Some(std::array::from_fn(|_| next()));
            spec.joint.insert(format!("j{i}"), joint);
        }
        let count = next() as usize;
        let states = (0..count).map(|_| State::read(n, next)).collect();
        Self { spec, states }
    }
}

impl State {
    fn read(n: usize, next: &mut dyn FnMut() -> f64) -> Self {
        let mut take = |k: usize| -> Vec<f64> { (0..k).map(|_| next()).collect() };
        let (position, attitude, joints) = (take(3), take(4), take(n));
        let (velocity, rate, joint_rates, tau) = (take(3), take(3), take(n), take(n));
        Self {
            q: [attitude, position, joints].concat(),
            qd: [rate, velocity, joint_rates].concat(),
            tau,
        }
    }
}
