//! Runs whose values are asked for by name.

use grapple::algebra::Vec3;
use grapple::plant::Plant;
use grapple::simulation::Simulation;

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

    pub fn go(&mut self, t: f64) {
        self.simulation.advance(t, &mut Vec::new()).expect("runs");
        self.look();
    }

    /// Computes the values where it is.
    pub fn look(&mut self) {
        let state = &self.simulation.state;
        self.simulation
            .plant
            .evaluate(
                state.t,
                (&state.x, &state.u, &state.discrete),
                &mut self.dx,
                &mut self.y,
            )
            .expect("finite");
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

    /// The derivative of a state.
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
    }

    pub fn set_state(&mut self, name: &str, value: f64) {
        let states = &self.simulation.plant.model().states;
        let place = states.iter().position(|state| state.name == name);
        self.simulation.state.x[place.unwrap_or_else(|| panic!("no state is called {name}"))] = value;
    }

    pub fn vector(&self, name: &str) -> Vec3<f64> {
        Vec3::from_fn(|i, _| self.value(&format!("{name}[{}]", i + 1)))
    }
}

/// Numbers for a reader.
pub fn few(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:.1e}")).collect();
    numbers.join(", ")
}
