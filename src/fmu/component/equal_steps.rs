use super::Component;
use crate::simulation::Steps;
use std::sync::Arc;

/// Runs with equal steps, for their differences.
impl Component {
    /// Records the steps from here on.
    pub fn record_steps(&mut self) {
        self.simulation.record_steps();
    }

    /// Returns the steps recorded since the last call.
    pub fn take_steps(&mut self) -> Steps {
        self.simulation.take_steps()
    }

    /// Returns the number of changes of the discrete state since the start.
    pub fn events(&self) -> u64 {
        self.simulation.statistics().events
    }

    /// Returns the number of steps that were not those to be followed.
    pub fn departures(&self) -> u64 {
        self.simulation.departures()
    }

    /// Takes these steps of another instance of the same model from the present time on.
    pub fn follow_steps(&mut self, steps: Arc<Steps>) {
        self.simulation.follow_steps(steps);
    }
}
