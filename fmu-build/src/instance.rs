//! Instances of an FMU in Co-Simulation: loaded from its library, or in this process.

use crate::error::{Context, Error, Result};
use crate::text::number;
use grapple::fmu::component::{Component, Fault};

/// The calls of a run in Co-Simulation.
pub trait Instance {
    /// Sets start time, stop time and tolerance of the run.
    ///
    /// # Errors
    /// The FMU's message, as for all of these functions.
    fn set_up(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()>;

    /// Enters the initialisation.
    fn enter_initialization(&mut self) -> Result<()>;

    /// Leaves the initialisation; the FMU validates the parameters.
    fn exit_initialization(&mut self) -> Result<()>;

    /// Sets Reals; in FMI 3.0, where references are unique, variables of all types.
    fn set_reals(&mut self, references: &[u32], values: &[f64]) -> Result<()>;

    /// Returns true if derivatives of inputs can be set; FMI 3.0 has no function for them.
    fn has_input_derivatives(&self) -> bool {
        true
    }

    /// Sets the derivatives of one order of Real inputs.
    fn set_derivatives(&mut self, references: &[u32], order: i32, values: &[f64]) -> Result<()>;

    /// Steps from `t` to `t + h`.
    fn step(&mut self, t: f64, h: f64) -> Result<()>;

    /// Gets Reals; in FMI 3.0 variables of all types, as numbers.
    fn reals(&mut self, references: &[u32]) -> Result<Vec<f64>>;
}

/// Adds the time of a step that failed to its error.
pub(crate) fn at_time(outcome: Result<()>, t: f64) -> Result<()> {
    outcome.context(|| format!("the step from t = {} s failed", number(t, 9)))
}

impl Instance for Component {
    fn set_up(&mut self, start: f64, stop: f64, tolerance: f64) -> Result<()> {
        self.setup_experiment(Some(tolerance), start, Some(stop))
            .map_err(message)
    }

    fn enter_initialization(&mut self) -> Result<()> {
        self.enter_initialization_mode();
        Ok(())
    }

    fn exit_initialization(&mut self) -> Result<()> {
        self.exit_initialization_mode().map_err(message)
    }

    fn set_reals(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        self.set_real(references, values).map_err(message)
    }

    fn set_derivatives(&mut self, references: &[u32], order: i32, values: &[f64]) -> Result<()> {
        let orders = vec![order; references.len()];
        self.set_real_input_derivatives(references, &orders, values)
            .map_err(message)
    }

    fn step(&mut self, t: f64, h: f64) -> Result<()> {
        at_time(self.do_step(t, h).map_err(message), t)
    }

    fn reals(&mut self, references: &[u32]) -> Result<Vec<f64>> {
        let mut values = vec![0.0; references.len()];
        self.get_real(references, &mut values).map_err(message)?;
        Ok(values)
    }
}

/// Returns the error of a call that failed.
pub(crate) fn message(fault: Fault) -> Error {
    Error::Fmu(fault.what)
}
