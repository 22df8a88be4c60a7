//! Tasks of a controller: their law at the measured states of the spacecraft.

use super::Discrete;
use super::context::{Constants, ConstantsOf};
use super::coordinates::Coordinates;
use super::evaluation::{Evaluation, control, instant};
use super::model::{Model, Monitor, Source, boxed};
use crate::algebra::Scalar;
use crate::elements::{Elements, Task};
use crate::spec::{Spec, problem};
use crate::system::{Declarations, Derived, InputKind, JointState, OrbitConstants, OrbitPoint, Quantity, System};
use crate::{Error, Problem};

/// Spacecraft of a controller with tasks. Its parameters and inputs are among those of the
/// controller, and so are the measured states.
#[derive(Clone, Debug)]
pub(super) struct Guided {
    pub spacecraft: Model,
    /// Input with the measured value of each state; `None` for states of modes, which are zero.
    measured: Vec<Option<usize>>,
    /// First coordinate of each measured quaternion, with the name of its owner.
    quaternions: Vec<(usize, String)>,
    /// Inputs of the joints of tasks that the importer does not set.
    hidden: Vec<usize>,
    /// Those of them that switch servos, which are on.
    switches: Vec<usize>,
    commands: Vec<Command>,
    /// Quantities of the outputs: results of all tasks, then the commands.
    pub outputs: Vec<Quantity>,
}

/// Command of a joint.
#[derive(Clone, Copy, Debug)]
enum Command {
    /// Input of the loads that a task sets.
    Input(usize),
    /// Feed-forward torque on the axis with this rate.
    Torque(usize),
}

impl Guided {
    /// Compiles the spacecraft of a controller with tasks, and declares its parameters, the
    /// measured states and the other inputs; `None` for other specs.
    ///
    /// # Errors
    /// Those of [`System::compile`].
    pub fn compile(
        spec: &Spec,
        declare: &mut Declarations,
        problems: &mut Vec<Problem>,
    ) -> Result<Option<Box<Self>>, Error> {
        let Some(written) = spec.law_model() else {
            return Ok(None);
        };
        let with_added = written.with_added();
        let of_law = with_added.as_deref().unwrap_or(&written);
        let system = System::compile(of_law, declare)?;
        let measured = declare_states(&system, declare);
        let elements = Elements::compile(of_law, &system, declare, problems);
        let quaternions = Coordinates::Minimal.quaternions(&system).into_iter();
        let mut guided = Self {
            quaternions: quaternions.map(|(at, owner)| (at, owner.to_owned())).collect(),
            spacecraft: Model::of_controller(boxed(&written), system, elements),
            measured,
            hidden: Vec::new(),
            switches: Vec::new(),
            commands: Vec::new(),
            outputs: Vec::new(),
        };
        guided.add_commands(spec, declare);
        guided.report_signals(spec, declare, problems);
        Ok(Some(Box::new(guided)))
    }

    fn add_commands(&mut self, spec: &Spec, declare: &Declarations) {
        let Model { system, elements, .. } = &self.spacecraft;
        self.outputs = elements.tasks.iter().flat_map(Task::results).collect();
        for task in &elements.tasks {
            for axis in &task.axes {
                let joint = &system.bodies[axis.body].joint.name;
                let fed = elements.fed().find(|fed| fed.body == axis.body);
                let torque = fed.and_then(|fed| Some(fed.tau? + axis.rate - fed.rate));
                self.hidden.extend(axis.set().chain(torque));
                if let Some(fed) = fed {
                    self.hidden.push(fed.switch);
                    self.switches.push(fed.switch);
                }
                let mut add = |slot: usize, command| {
                    self.outputs.push(declare.inputs[slot].quantity.clone());
                    self.commands.push(command);
                };
                match torque.filter(|_| spec.commands_torque(joint)) {
                    Some(slot) => add(slot, Command::Torque(axis.rate)),
                    None => axis.set().for_each(|slot| add(slot, Command::Input(slot))),
                }
            }
        }
    }

    /// Reports signals on torques and switches of joints that are commanded; [`Task`] reports those
    /// on the inputs that it sets.
    fn report_signals(&self, spec: &Spec, declare: &Declarations, problems: &mut Vec<Problem>) {
        let tasks = &self.spacecraft.elements.tasks;
        for &slot in self
            .hidden
            .iter()
            .filter(|slot| !tasks.iter().any(|task| task.sets(**slot)))
        {
            let name = &declare.inputs[slot].quantity.name;
            let [signal, value] = [spec.signal.contains_key(name), spec.input.contains_key(name)];
            for (section, _) in [("signal", signal), ("input", value)]
                .into_iter()
                .filter(|(_, is_written)| *is_written)
            {
                let what = format!("the controller commands this joint: leave {name} out");
                problems.push(problem(section, name, "", what));
            }
        }
    }

    /// Passes its signals and the quantities of its outputs to the elements of the controller,
    /// which has this number of `inputs` of the loads.
    pub fn join(&mut self, controller: &mut Elements, inputs: usize) {
        controller.signals = std::mem::take(&mut self.spacecraft.elements.signals);
        self.spacecraft.sources = vec![Source::Task; inputs];
        if let Some(controller) = controller.controllers.first_mut() {
            controller.of_tasks.clone_from(&self.outputs);
        }
    }

    /// Returns true for an input of the loads that the importer does not set.
    pub fn hides(&self, input: usize) -> bool {
        self.hidden.contains(&input)
    }

    /// Validates that measured quaternions are rotations.
    ///
    /// # Errors
    /// [`Error::Spec`] with the name of the first one of zero norm.
    fn check_attitudes<S: Scalar>(&self, x: &[S]) -> Result<(), Error> {
        let is_zero = |at: usize| x[at..at + 4].iter().all(|part| part.value() == 0.0);
        match self.quaternions.iter().find(|(at, _)| is_zero(*at)) {
            Some((_, owner)) => {
                let what = format!("{owner}: the measured quaternion is zero: set {owner}.q before the first step");
                Err(Error::Spec(vec![Problem { at: Vec::new(), what }]))
            }
            None => Ok(()),
        }
    }

    /// Returns the inputs of measured states, each with the initial state at time zero.
    pub fn starts(&self, derived: &Derived, parameters: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        let (q, qd) = self.spacecraft.start_at(derived, 0.0, parameters);
        let states = q.into_iter().chain(qd);
        self.measured
            .iter()
            .zip(states)
            .filter_map(|(slot, start)| Some(((*slot)?, start)))
    }
}

/// Declares an input for each state of the system but those of modes. Returns their indices.
fn declare_states(system: &System, declare: &mut Declarations) -> Vec<Option<usize>> {
    let is_modal = |i: usize| {
        let mut modes = system.flexible();
        modes.any(|of| of.coordinates().contains(&i) || i >= system.nq && of.rates().contains(&(i - system.nq)))
    };
    let states = system.states().into_iter().enumerate();
    states
        .map(|(i, state)| {
            let description = format!("measured {}", state.description);
            let quantity = Quantity { description, ..state };
            (!is_modal(i)).then(|| declare.input(quantity, 0.0, InputKind::Continuous))
        })
        .collect()
}

impl<'a, C: Scalar> Constants<'a, C> {
    /// Returns the spacecraft of a controller with tasks, and its constants; `None` of other models.
    pub(super) fn guided(self) -> Option<(&'a Guided, Self)> {
        let guided = self.model.guided.as_deref()?;
        let of = Constants {
            model: &guided.spacecraft,
            derived: self.derived.spacecraft.as_deref()?,
            parameters: self.parameters,
        };
        Some((guided, of))
    }
}

impl Model {
    /// Sets the start values of measured states that the spec does not set to the initial states.
    pub(super) fn set_measured_starts(&mut self, derived: &Derived, values: &[f64]) {
        let Self {
            guided, spec, inputs, ..
        } = self;
        let starts = guided.iter().zip(&derived.spacecraft);
        for (slot, start) in starts.flat_map(|(guided, derived)| guided.starts(derived, values)) {
            if let Source::Importer(place) = self.sources[slot]
                && !spec.input.contains_key(&inputs[place].quantity.name)
            {
                inputs[place].start = start;
            }
        }
    }

    /// Returns the elements with the servos: of the spacecraft in a controller with tasks, else its
    /// own.
    pub(super) fn servos(&self) -> &Elements {
        let guided = self.guided.as_deref();
        guided.map_or(&self.elements, |guided| &guided.spacecraft.elements)
    }

    /// Returns the spacecraft of a controller, whose parameters and inputs are those of the
    /// controller.
    fn of_controller(spec: Box<Spec>, system: System, elements: Elements) -> Self {
        let states = system.states();
        Self {
            spec,
            parameters: Vec::new(),
            inputs: Vec::new(),
            derivatives: Vec::new(),
            scales: Vec::new(),
            modal_scale: 0.0,
            outputs: Vec::new(),
            currents: states.len()..states.len(),
            unwound: states.len()..states.len(),
            states,
            system,
            coordinates: Coordinates::Minimal,
            elements,
            flags: Vec::new(),
            sources: Vec::new(),
            monitor: Monitor::NONE,
            guided: None,
        }
    }
}

/// Workspace of the law of a controller's tasks.
#[derive(Clone, Debug)]
pub(super) struct Guidance<S: Scalar> {
    pub evaluation: Box<Evaluation<S>>,
    /// Measured states.
    pub x: Vec<S>,
    /// Discrete state without events: no limit of a motor is reached.
    pub discrete: Discrete,
    /// Outputs: results of all tasks, then the commands.
    pub outputs: Vec<S>,
}

impl<S: Scalar> Guidance<S> {
    /// Allocates the workspace; `None` without such tasks.
    #[inline(never)] // importers call from threads with small stacks
    pub fn new(model: &Model) -> Option<Box<Self>> {
        let guided = model.guided.as_deref()?;
        Some(Box::new(Self::with(Evaluation::new(&guided.spacecraft), guided)))
    }

    /// Creates it with an evaluation of the spacecraft.
    pub fn with(evaluation: Evaluation<S>, guided: &Guided) -> Self {
        Self {
            evaluation: Box::new(evaluation),
            x: vec![S::zero(); guided.spacecraft.states.len()],
            discrete: guided.spacecraft.discrete(),
            outputs: vec![S::zero(); guided.outputs.len()],
        }
    }

    /// Sets the state of the reference orbit to that `at` the present time.
    pub fn set_orbit(&mut self, derived: &Derived<S::Constant>, at: impl FnOnce(&OrbitConstants) -> OrbitPoint<S>) {
        let orbit = derived.spacecraft.as_ref().and_then(|of| of.orbit.as_ref());
        self.evaluation.orbit = orbit.map(at);
    }

    /// Computes the outputs from the `inputs` of the loads, measured states included.
    ///
    /// # Errors
    /// [`Error::Spec`] for a measured quaternion of zero norm; those of the rigid model and of the
    /// laws.
    pub fn update(&mut self, of: ConstantsOf<S>, inputs: &[S]) -> Result<(), Error> {
        let Some((guided, of)) = of.guided() else {
            return Ok(());
        };
        self.begin(guided, inputs)?;
        let Evaluation {
            kinematics,
            orbit,
            feed_forward,
            tasks,
            inputs: own,
            ..
        } = &mut *self.evaluation;
        let (q, qd) = self.x.split_at(guided.spacecraft.system.nq);
        kinematics.update(&guided.spacecraft.system, of.derived, q, qd);
        let (Some(rigid), Some(tasks)) = (feed_forward.as_deref_mut(), tasks.as_deref_mut()) else {
            return Ok(());
        };
        let now = instant(
            of,
            orbit.as_ref(),
            kinematics,
            JointState { q, qd },
            &[],
            &self.discrete,
        );
        control(of, (now, &self.discrete), Some(tasks), rigid, own)?;
        self.finish(guided);
        Ok(())
    }

    /// Reads the measured states and the inputs of the spacecraft from the `inputs` of the loads.
    ///
    /// # Errors
    /// [`Error::Spec`] for a measured quaternion of zero norm.
    pub fn begin(&mut self, guided: &Guided, inputs: &[S]) -> Result<(), Error> {
        for (x, slot) in self.x.iter_mut().zip(&guided.measured) {
            *x = slot.map_or_else(S::zero, |slot| inputs[slot]);
        }
        guided.check_attitudes(&self.x)?;
        OrbitPoint::read_positions(self.evaluation.orbit.as_mut(), inputs);
        let own = &mut self.evaluation.inputs;
        own.copy_from_slice(inputs);
        guided.switches.iter().for_each(|&switch| own[switch] = S::one());
        Ok(())
    }

    /// Writes the outputs, after the references of the tasks and the torques of the feed-forward.
    pub fn finish(&mut self, guided: &Guided) {
        let Evaluation {
            feed_forward: Some(rigid),
            tasks: Some(tasks),
            inputs: own,
            ..
        } = &*self.evaluation
        else {
            return;
        };
        let commands = guided.commands.iter().map(|command| match *command {
            Command::Input(slot) => own[slot],
            Command::Torque(rate) => rigid.torques[rate],
        });
        let of_tasks = guided.spacecraft.elements.tasks.iter().zip(&tasks.states);
        let results = of_tasks.flat_map(|(task, state)| task.values(state));
        let outputs = self.outputs.iter_mut().zip(results.chain(commands));
        outputs.for_each(|(to, value)| *to = value);
    }
}
