use super::{Component, Fault, hand_over};
use crate::fmu::lifecycle::Interface;
use crate::fmu::saved::{SavedState, fits};

/// The state of an instance (§2.1.8).
impl Component {
    /// A copy of all that makes the answers.
    pub fn save(&self) -> SavedState {
        SavedState {
            guid: self.guid,
            interface: self.interface,
            mode: self.mode,
            started: self.started,
            parameters_pending: self.parameters_pending,
            restarted: self.restarted,
            experiment: self.experiment,
            parameters: self.parameters.clone(),
            state: self.simulation.state.clone(),
        }
    }

    /// The same into a copy that exists; no memory is taken if it is of this FMU.
    pub fn save_into(&self, saved: &mut SavedState) {
        let SavedState {
            guid,
            interface,
            mode,
            started,
            parameters_pending,
            restarted,
            experiment,
            parameters,
            state,
        } = saved;
        (*guid, *interface, *mode) = (self.guid, self.interface, self.mode);
        (*started, *parameters_pending) = (self.started, self.parameters_pending);
        (*restarted, *experiment) = (self.restarted, self.experiment);
        parameters.clone_from(&self.parameters);
        state.clone_from(&self.simulation.state);
    }

    /// A copy from its bytes.
    ///
    /// # Errors
    /// `fmi2Error` with the reason why the bytes are no state of this FMU and interface.
    pub fn read_state(&self, bytes: &[u8]) -> Result<SavedState, Fault> {
        SavedState::from_bytes(bytes, self.save(), self.model()).map_err(Fault::error)
    }

    /// Goes back to a copy, which may be that of another instance of the same FMU.
    ///
    /// # Errors
    /// `fmi2Error` for the state of another FMU, or of the other interface.
    pub fn restore(&mut self, saved: &SavedState) -> Result<(), Fault> {
        let SavedState {
            guid,
            interface,
            mode,
            started,
            parameters_pending,
            restarted,
            experiment,
            parameters,
            state,
        } = saved;
        fits((*guid, *interface), (self.guid, self.interface)).map_err(Fault::error)?;
        // Parameters that wait are judged when they are needed.
        if !parameters_pending {
            let work_limit = self.registry.work_limit(parameters)?;
            hand_over(parameters, &mut self.simulation.plant)?;
            if self.interface == Interface::CoSimulation {
                // Which takes every tolerance that an experiment may have.
                self.simulation.set_solver(experiment.tolerance, work_limit)?;
            }
            self.accepted.copy_from_slice(parameters);
        }
        self.parameters.copy_from_slice(parameters);
        self.simulation.state.clone_from(state);
        (self.mode, self.started, self.experiment) = (*mode, *started, *experiment);
        (self.parameters_pending, self.restarted) = (*parameters_pending, *restarted);
        self.invalidate();
        Ok(())
    }
}
