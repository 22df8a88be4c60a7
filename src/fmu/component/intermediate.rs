use super::{Cached, Component, Fault, Mode, pass_parameters};
use crate::fmu::lifecycle::Interface;
use crate::fmu::memory::{self, OutOfMemory};
use crate::simulation::Simulation;

/// Copies of an instance that show its values during a step (FMI 3.0, §4.2.2): the instance itself is
/// in use then.
impl Component {
    /// Checks the variables that the importer reads in intermediate updates:
    /// `requiredIntermediateVariables`.
    ///
    /// # Errors
    /// `fmi3Error` with the name of a variable that has no `intermediateUpdate` in the XML.
    pub fn check_intermediate(&self, references: &[u32]) -> Result<(), Fault> {
        for &reference in references {
            let slot = self.slot(reference)?;
            if !self.registry.is_intermediate(slot) {
                return Err(Fault::error(format!(
                    "{} cannot be required in intermediate updates: only continuous outputs, states and their \
                     derivatives can be read there, and nothing can be set",
                    self.registry.name(slot)
                )));
            }
        }
        Ok(())
    }

    /// Returns a copy for intermediate updates.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn copy_for_updates(&self) -> Result<Self, OutOfMemory> {
        memory::test(memory::to_build(self.model(), Interface::CoSimulation))?;
        let mut copy = self.clone();
        copy.log.take();
        Ok(copy)
    }

    /// Takes over parameters and log categories of the instance `of`, before its step. A copy that
    /// is lost after an internal error stays lost.
    ///
    /// # Errors
    /// Those of validating buffered parameters.
    pub fn prepare_updates(&mut self, of: &mut Self) -> Result<(), Fault> {
        of.catch_up()?;
        self.log.clone_from(&of.log);
        self.log.take();
        pass_parameters(&of.parameters, &mut self.simulation.plant)?;
        self.parameters.copy_from_slice(&of.parameters);
        self.accepted.copy_from_slice(&of.accepted);
        (self.parameters_pending, self.started) = (false, true);
        self.experiment = of.experiment;
        if self.mode != Mode::Lost {
            self.mode = Mode::IntermediateUpdate;
        }
        Ok(())
    }

    /// Takes over time, states, inputs and discrete state of a simulation inside a step that began
    /// at `t_start` (s).
    pub fn show(&mut self, simulation: &Simulation, t_start: f64) {
        simulation.state.copy_point(t_start, &mut self.simulation.state);
        self.cached = Cached::Nothing;
        self.limit_states_stale = true;
    }
}
