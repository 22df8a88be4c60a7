use super::{Component, Fault, pass_parameters};
use crate::Error;
use crate::fmu::description::Interfaces;
use crate::fmu::guid::Guid;
use crate::fmu::lifecycle::{Interface, Mode, Standard};
use crate::fmu::registry::Naming;
use crate::fmu::saved::{SavedState, fits};
use crate::plant::Model;
use crate::simulation::Simulation;
use std::sync::Arc;

/// Saving and restoring an instance (§2.1.8).
impl Component {
    /// Returns a copy of the complete state.
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

    /// Copies the complete state into an existing copy, without allocation if this copy belongs to
    /// the same FMU and interface.
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

    /// Returns a copy read from its bytes.
    ///
    /// # Errors
    /// `fmi2Error` with the reason if the bytes are not a state of this FMU and interface.
    pub fn read_state(&self, bytes: &[u8]) -> Result<SavedState, Fault> {
        SavedState::from_bytes(bytes, self.save(), self.model()).map_err(Fault::error)
    }

    /// Creates an instance of a compiled model from the bytes of a saved state, whatever names and
    /// interfaces its FMU has.
    ///
    /// # Errors
    /// The reason why the bytes are not a state of an FMU of this model.
    pub fn of_saved(model: &Arc<Model>, bytes: &[u8]) -> Result<Self, String> {
        let text = |error: Error| error.to_string();
        let (guid, interface) = SavedState::owner(bytes).ok_or("these bytes are not a saved state of an FMU")?;
        let file = model.to_bytes().map_err(text)?;
        let mut builds = [Naming::Structured, Naming::Flat]
            .into_iter()
            .flat_map(|naming| Interfaces::ALL.map(|interfaces| (naming, Guid::new(&file, naming, interfaces))));
        let build = builds.find(|(_, own)| *own == guid);
        let (naming, _) = build.ok_or("the saved state belongs to the FMU of another spec, or of another version")?;
        let mut own = Self::new(interface, Arc::clone(model), naming, guid, false).map_err(text)?;
        let restored = own.read_state(bytes).and_then(|saved| own.restore(&saved));
        restored.map_err(|fault| fault.what)?;
        Ok(own)
    }

    /// Returns the simulation.
    pub fn into_simulation(self) -> Simulation {
        *self.simulation
    }

    /// Restores a copy, which may come from another instance of the same FMU.
    ///
    /// Parameters that a saved run of FMI 2.0 has buffered before its first step restart that run;
    /// in FMI 3.0, where nothing restarts a run, they do so here. An instance terminated in
    /// Initialization Mode keeps its parameters and starts no run.
    ///
    /// # Errors
    /// `fmi2Error` for the state of another FMU, or of the other interface; in FMI 3.0 for buffered
    /// parameters that are invalid.
    pub fn restore(&mut self, saved: &SavedState) -> Result<(), Fault> {
        fits((saved.guid, saved.interface), (self.guid, self.interface)).map_err(Fault::error)?;
        let runs = !matches!(saved.mode, Mode::Instantiated | Mode::Initialization | Mode::Terminated);
        let is_buffered = saved.parameters_pending && !saved.started && runs;
        if !(is_buffered && self.standard == Standard::Fmi3) {
            return self.copy_from(saved);
        }
        let own = self.save();
        self.copy_from(saved)?;
        self.start_buffered().or_else(|error| {
            self.copy_from(&own)?;
            Err(error.into())
        })
    }

    /// Starts the run with the buffered parameters.
    fn start_buffered(&mut self) -> Result<(), Error> {
        let work_limit = self.registry.work_limit(&self.parameters)?;
        self.start(work_limit)?;
        self.accepted.copy_from_slice(&self.parameters);
        self.parameters_pending = false;
        self.invalidate();
        Ok(())
    }

    /// Copies a saved state of this FMU and interface into the instance.
    fn copy_from(&mut self, saved: &SavedState) -> Result<(), Fault> {
        let SavedState {
            guid: _,
            interface: _,
            mode,
            started,
            parameters_pending,
            restarted,
            experiment,
            parameters,
            state,
        } = saved;
        // Buffered parameters are validated when they are applied.
        if !parameters_pending {
            let work_limit = self.registry.work_limit(parameters)?;
            pass_parameters(parameters, &mut self.simulation.plant)?;
            if self.interface == Interface::CoSimulation {
                // Never refuses a tolerance: it is limited to the integrator's range.
                self.simulation.set_solver(experiment.tolerance, work_limit)?;
            }
            self.accepted.copy_from_slice(parameters);
        }
        self.parameters.copy_from_slice(parameters);
        self.simulation.state.clone_from(state);
        (self.started, self.experiment) = (*started, *experiment);
        self.mode = match (*mode, self.interface) {
            // A step that FMI 2.0 has discarded: FMI 3.0 continues from the time that it has reached.
            (Mode::StepFailed, _) if self.standard == Standard::Fmi3 => Mode::StepComplete,
            // Without Event Mode the next step handles the event.
            (Mode::Event, Interface::CoSimulation) if !self.has_event_mode() => Mode::StepComplete,
            (mode, _) => mode,
        };
        (self.parameters_pending, self.restarted) = (*parameters_pending, *restarted);
        self.invalidate();
        Ok(())
    }
}
