//! Runs with access to values by name.

use crate::numbers::Larger;
use grapple::algebra::{Quaternion, Vec3};
use grapple::plant::{Model, OperatingPoint, Plant};
use grapple::simulation::Simulation;
use std::sync::Arc;

/// A run with the values of states and outputs by name.
pub struct Run {
    pub simulation: Simulation,
    dx: Vec<f64>,
    y: Vec<f64>,
}

impl Run {
    pub fn new(text: &str, tolerance: f64) -> Self {
        Self::of(crate::plant(text), tolerance)
    }

    pub fn of(plant: Plant, tolerance: f64) -> Self {
        let mut simulation = Simulation::new(plant).expect("starts");
        simulation.initialise(0.0, Some(tolerance), 1e12).expect("a tolerance");
        let model = simulation.plant.model();
        let (dx, y) = (vec![0.0; model.states.len()], vec![0.0; model.outputs.len()]);
        Self { simulation, dx, y }
    }

    pub fn model(&self) -> Arc<Model> {
        Arc::clone(self.simulation.plant.model())
    }

    pub fn go(&mut self, t: f64) -> &mut Self {
        self.simulation.advance(t, &mut Vec::new()).expect("runs");
        self.look();
        self
    }

    /// Goes on to the time `t` and returns the largest change of the invariants: energy less work (J),
    /// momentum (N·s) and angular momentum (N·m·s).
    pub fn drift(&mut self, t: f64) -> f64 {
        self.look();
        let before = self.invariants();
        let after = self.go(t).invariants();
        (0..7).fold(0.0, |off: f64, i| off.larger((after[i] - before[i]).abs()))
    }

    fn invariants(&self) -> [f64; 7] {
        let balance = self.value("system.energy") - self.value("system.work");
        let [p, h] = ["system.momentum", "system.angular_momentum"].map(|name| self.vector(name));
        [balance, p.x, p.y, p.z, h.x, h.y, h.z]
    }

    /// Evaluates derivatives and outputs at the current state.
    pub fn look(&mut self) {
        let state = &self.simulation.state;
        self.simulation
            .plant
            .evaluate(
                OperatingPoint::new(state.t, &state.x, &state.u, &state.discrete),
                &mut self.dx,
                &mut self.y,
            )
            .expect("finite");
        let outputs = &self.simulation.plant.model().outputs;
        for (output, y) in outputs.iter().zip(&self.y) {
            assert!(y.is_finite(), "{} is {y}", output.quantity.name);
        }
    }

    pub fn value(&self, name: &str) -> f64 {
        let model = self.simulation.plant.model();
        let state = model.states.iter().position(|state| state.name == name);
        let output = || model.outputs.iter().position(|output| output.quantity.name == name);
        match (state, output()) {
            (Some(i), _) => self.simulation.state.x[i],
            (None, Some(i)) => self.y[i],
            _ => panic!("nothing is called {name}"),
        }
    }

    pub fn values<const N: usize>(&self, names: [&str; N]) -> [f64; N] {
        names.map(|name| self.value(name))
    }

    /// Returns the derivative of a state.
    pub fn derivative(&self, name: &str) -> f64 {
        let states = &self.simulation.plant.model().states;
        let place = states.iter().position(|state| state.name == name);
        self.dx[place.unwrap_or_else(|| panic!("no state is called {name}"))]
    }

    /// Sets an input.
    pub fn set(&mut self, name: &str, value: f64) {
        let inputs = &self.simulation.plant.model().inputs;
        let place = inputs.iter().position(|input| input.quantity.name == name);
        self.simulation.state.u[place.unwrap_or_else(|| panic!("no input is called {name}"))] = value;
        self.simulation.invalidate();
    }

    pub fn set_state(&mut self, name: &str, value: f64) {
        let states = &self.simulation.plant.model().states;
        let place = states.iter().position(|state| state.name == name);
        self.simulation.state.x[place.unwrap_or_else(|| panic!("no state is called {name}"))] = value;
        self.simulation.invalidate();
    }

    pub fn vector(&self, name: &str) -> Vec3<f64> {
        Vec3::from_fn(|i, _| self.value(&format!("{name}[{}]", i + 1)))
    }

    /// Returns the attitude of a body or a frame.
    pub fn attitude(&self, name: &str) -> Quaternion<f64> {
        Quaternion::from_slice(&[1, 2, 3, 4].map(|i| self.value(&format!("{name}.q[{i}]"))))
    }
}
