//! A run, step by step: the FMU's Co-Simulation without the FMU.

use crate::arrays::{Batch, Out, check_finite};
use crate::errors;
use crate::names::Names;
use crate::package::Package;
use crate::watched::Signals;
use grapple::fmu::component::Component;
use grapple::fmu::description::Interfaces;
use grapple::fmu::fmi2::fmi2False;
use grapple::fmu::guid::Guid;
use grapple::fmu::lifecycle::{Interface, Mode};
use grapple::fmu::log::Category;
use grapple::fmu::registry::{Naming, Slot, ValueType};
use grapple::fmu::saved::SavedState;
use grapple::plant::{self, OutputKind};
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// Start and stop time (s) and relative tolerance of a run.
type Experiment = (f64, Option<f64>, Option<f64>);

/// A run: an instance of the model's FMU in Co-Simulation.
#[pyclass(frozen, subclass, module = "grapple_fmu._native")]
pub struct Simulation {
    inner: Mutex<Inner>,
    constant: Arc<Constant>,
}

/// Data that copies of a run share.
struct Constant {
    model: Arc<plant::Model>,
    states: Names,
    inputs: Names,
    outputs: Names,
    variables: Names,
    /// Value references, in the order of the names.
    of_states: Vec<u32>,
    of_inputs: Vec<u32>,
    of_outputs: Vec<u32>,
    is_flag: Vec<bool>,
}

#[derive(Clone)]
pub struct Inner {
    pub component: Component,
    /// Events since the start, or since they were restored: time (s), text, JSON.
    events: Vec<Event>,
}

/// Time (s), text, and values as JSON.
type Event = (f64, String, String);

/// A copy of the complete state of a run.
#[pyclass(frozen, module = "grapple_fmu._native")]
pub struct Saved {
    state: SavedState,
    events: usize,
}

impl Constant {
    fn new(model: Arc<plant::Model>) -> Result<(Self, Component), grapple::Error> {
        let guid = Guid::new(&model.to_bytes()?, Naming::Structured, Interfaces::Both);
        let (interface, of) = (Interface::CoSimulation, Arc::clone(&model));
        let mut component = Component::new(interface, of, Naming::Structured, guid, false)?;
        // Events are reported as values; the category is known.
        let _ = component.set_debug_logging(true, &[Category::EventValues.name()]);
        let registry = component.registry();
        let references = |slots: &mut dyn Iterator<Item = Slot>| slots.map(|slot| registry.reference(slot)).collect();
        let all = registry.variables().map(|variable| variable.quantity);
        let constant = Self {
            states: Names::new("state", &model.states),
            inputs: Names::new("input", model.inputs.iter().map(|input| &input.quantity)),
            outputs: Names::new("output", model.outputs.iter().map(|output| &output.quantity)),
            variables: Names::new("variable", all),
            of_states: references(&mut (0..model.states.len()).map(Slot::State)),
            of_inputs: references(&mut (0..model.inputs.len()).map(Slot::Input)),
            of_outputs: references(&mut (0..model.outputs.len()).map(Slot::Output)),
            is_flag: model
                .outputs
                .iter()
                .map(|output| output.kind == OutputKind::Flag)
                .collect(),
            model,
        };
        Ok((constant, component))
    }
}

impl Inner {
    /// Takes the events of the last call from its messages.
    pub fn take_events(&mut self) {
        for message in self.component.log.take() {
            if message.category == Category::EventValues
                && let Ok(event) = serde_json::from_str::<grapple::Event>(&message.text)
            {
                self.events.push((event.t, event.to_string(), message.text));
            }
        }
    }

    /// Returns the value of a variable: a real, or 0 or 1 for a Boolean one.
    fn get(&mut self, reference: u32) -> Result<f64, grapple::fmu::component::Fault> {
        let mut value = [0.0];
        let registry = self.component.registry();
        match registry.slot(reference).map(|slot| registry.value_type(slot)) {
            Some(ValueType::Boolean) => {
                let mut flag = [fmi2False];
                self.component.get_boolean(&[reference], &mut flag)?;
                Ok(f64::from(flag[0]))
            }
            _ => self.component.get_real(&[reference], &mut value).map(|()| value[0]),
        }
    }
}

impl Simulation {
    /// Returns an instance at the present state.
    pub fn copied(&self, py: Python<'_>) -> PyResult<Component> {
        Ok(self.lock(py)?.component.clone())
    }

    /// Starts a run with other values of parameters and inputs.
    fn of(py: Python<'_>, model: Arc<plant::Model>, experiment: Experiment, set: &[(String, f64)]) -> PyResult<Self> {
        let made = py.detach(|| Constant::new(model));
        let (constant, component) = made.map_err(|error| errors::of_model(py, error))?;
        let mut inner = Inner {
            component,
            events: Vec::new(),
        };
        let set = set
            .iter()
            .map(|(name, value)| Ok((reference(py, &constant, name)?, *value)));
        let (references, values): (Vec<u32>, Vec<f64>) = set.collect::<PyResult<Vec<_>>>()?.into_iter().unzip();
        let started = py.detach(|| {
            let (start, stop, tolerance) = experiment;
            let component = &mut inner.component;
            component.setup_experiment(tolerance, start, stop)?;
            component.set_real(&references, &values)?;
            component.enter_initialization_mode();
            component.exit_initialization_mode()
        });
        started.map_err(|fault| errors::of_fault(py, fault))?;
        inner.take_events();
        Ok(Self {
            inner: Mutex::new(inner),
            constant: Arc::new(constant),
        })
    }

    /// Returns the run for exclusive use.
    ///
    /// # Errors
    /// `GrappleError` if another thread uses it.
    pub fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::WouldBlock) => Err(errors::error(
                py,
                "another thread uses this simulation: each thread needs its own, from clone()",
            )),
            // After a panic, which is a fault of the library.
            Err(TryLockError::Poisoned(_)) => Err(errors::error(
                py,
                "this simulation is lost after an internal error: make another one",
            )),
        }
    }

    /// Sets all inputs.
    pub fn set_inputs(&self, py: Python<'_>, inner: &mut Inner, values: &[f64]) -> PyResult<()> {
        let set = inner.component.set_real(&self.constant.of_inputs, values);
        set.map_err(|fault| errors::of_fault(py, fault))
    }

    /// Returns the numbers of the variables with these value references.
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        references: &[u32],
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let mut guard = self.lock(py)?;
        let mut out = Out::new(py, out, &[], &[references.len()])?;
        let read = guard.component.get_real(references, out.values()?);
        read.map_err(|fault| errors::of_fault(py, fault))?;
        Ok(out.done())
    }
}

/// Reads a vector with these components.
fn vector<'py>(value: &Bound<'py, PyAny>, name: &'static str, names: &Names) -> PyResult<Batch<'py>> {
    let values = Batch::new(value, name, names)?;
    match values.axes() {
        [] => Ok(values),
        _ => Err(PyValueError::new_err(format!("{name} must be one vector, not a batch"))),
    }
}

/// Returns the value reference of a variable.
fn reference(py: Python<'_>, constant: &Constant, name: &str) -> PyResult<u32> {
    let index = constant.variables.index(py, name)?;
    Ok(u32::try_from(index).unwrap_or(u32::MAX))
}

#[pymethods]
impl Simulation {
    /// Starts a run of a spec or an FMU, or copies a run.
    #[new]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        start_time: f64,
        stop_time: Option<f64>,
        tolerance: Option<f64>,
        set: Vec<(String, f64)>,
    ) -> PyResult<Self> {
        if let Ok(other) = source.cast::<Self>() {
            let other = other.get();
            let inner = other.lock(py)?.clone();
            return Ok(Self {
                inner: Mutex::new(inner),
                constant: Arc::clone(&other.constant),
            });
        }
        let package = source.cast::<Package>()?.get();
        Self::of(py, package.model(py)?, (start_time, stop_time, tolerance), &set)
    }

    /// Name of the model.
    #[getter]
    fn name(&self) -> &str {
        &self.constant.model.spec.name
    }

    /// Time, s.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py)?.component.time())
    }

    /// Names of the states.
    #[getter]
    fn state_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.constant.states.tuple(py)
    }

    /// Names of the inputs.
    #[getter]
    fn input_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.constant.inputs.tuple(py)
    }

    /// Names of the outputs.
    #[getter]
    fn output_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.constant.outputs.tuple(py)
    }

    /// States at the present time.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.numbers(py, &self.constant.of_states, None)
    }

    /// Inputs at the present time.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.numbers(py, &self.constant.of_inputs, None)
    }

    /// Outputs at the present time; 0 or 1 for flags.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let constant = &self.constant;
        if !constant.is_flag.contains(&true) {
            return self.numbers(py, &constant.of_outputs, None);
        }
        let mut guard = self.lock(py)?;
        let mut out = Out::new(py, None, &[], &[constant.of_outputs.len()])?;
        for (to, &reference) in out.values()?.iter_mut().zip(&constant.of_outputs) {
            *to = guard.get(reference).map_err(|fault| errors::of_fault(py, fault))?;
        }
        Ok(out.done())
    }

    /// Integrates over `dt` (s).
    #[pyo3(signature = (dt, inputs = None))]
    fn step(&self, py: Python<'_>, dt: f64, inputs: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let constant = &self.constant;
        let mut guard = self.lock(py)?;
        let inner = &mut *guard;
        if let Some(inputs) = inputs {
            match inputs.cast::<PyDict>() {
                Ok(named) => {
                    let (mut references, mut values) = (Vec::new(), Vec::new());
                    for (name, value) in named {
                        let i = constant.inputs.index(py, &name.extract::<String>()?)?;
                        references.push(constant.of_inputs[i]);
                        values.push(value.extract()?);
                    }
                    let set = inner.component.set_real(&references, &values);
                    set.map_err(|fault| errors::of_fault(py, fault))?;
                }
                Err(_) => {
                    let values = vector(inputs, "inputs", &constant.inputs)?;
                    self.set_inputs(py, inner, values.values()?)?;
                }
            }
        }
        let mut signals = Signals::default();
        let stepped = py.detach(|| {
            let t = inner.component.time();
            inner.component.do_step_while(t, dt, &mut || signals.flow())
        });
        inner.take_events();
        match signals.raised {
            Some(raised) => Err(raised),
            None => stepped.map_err(|fault| errors::of_fault(py, fault)),
        }
    }

    /// Replaces the states: all, or some by name.
    fn set_state(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let constant = &self.constant;
        let mut guard = self.lock(py)?;
        let inner = &mut *guard;
        let set = match x.cast::<PyDict>() {
            Ok(named) => {
                let mut values = vec![0.0; constant.states.len()];
                let read = inner.component.get_real(&constant.of_states, &mut values);
                read.map_err(|fault| errors::of_fault(py, fault))?;
                for (name, value) in named {
                    values[constant.states.index(py, &name.extract::<String>()?)?] = value.extract()?;
                }
                check_finite(&values, "x", &constant.states)?;
                inner.component.set_states(&values)
            }
            Err(_) => inner.component.set_states(vector(x, "x", &constant.states)?.values()?),
        };
        inner.take_events();
        set.map_err(|fault| errors::of_fault(py, fault))
    }

    /// Sets tunable parameters and inputs by name.
    fn set_values(&self, py: Python<'_>, values: Vec<(String, f64)>) -> PyResult<()> {
        let named = values
            .iter()
            .map(|(name, value)| Ok((reference(py, &self.constant, name)?, *value)));
        let (references, values): (Vec<u32>, Vec<f64>) = named.collect::<PyResult<Vec<_>>>()?.into_iter().unzip();
        let mut guard = self.lock(py)?;
        let set = guard.component.set_real(&references, &values);
        guard.take_events();
        set.map_err(|fault| errors::of_fault(py, fault))
    }

    /// Returns the value of a variable.
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        let reference = reference(py, &self.constant, name)?;
        let mut guard = self.lock(py)?;
        guard.get(reference).map_err(|fault| errors::of_fault(py, fault))
    }

    /// Events since the start: the time (s), the text, and the values as a JSON object.
    #[getter]
    fn event_log(&self, py: Python<'_>) -> PyResult<Vec<Event>> {
        Ok(self.lock(py)?.events.clone())
    }

    /// Returns a copy of the complete state.
    fn save(&self, py: Python<'_>) -> PyResult<Saved> {
        let guard = self.lock(py)?;
        Ok(Saved {
            state: guard.component.save(),
            events: guard.events.len(),
        })
    }

    /// Restores a copy.
    fn restore(&self, py: Python<'_>, saved: &Saved) -> PyResult<()> {
        let mut guard = self.lock(py)?;
        let inner = &mut *guard;
        let restored = inner.component.restore(&saved.state);
        restored.map_err(|fault| errors::of_fault(py, fault))?;
        inner.events.truncate(saved.events);
        Ok(())
    }

    /// Returns the copy that `Saved.to_bytes` or the FMU has written.
    fn read_saved(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Saved> {
        let state = self.lock(py)?.component.read_state(bytes);
        let state = state.map_err(|fault| errors::of_fault(py, fault))?;
        Ok(Saved { state, events: 0 })
    }

    fn __repr__(&self) -> String {
        let name = &self.constant.model.spec.name;
        // Without waiting: the thread that has the lock may wait for the interpreter.
        match self.inner.try_lock() {
            Ok(inner) if inner.component.mode() != Mode::Lost => {
                format!("<Simulation {name:?} at t = {} s>", inner.component.time())
            }
            Err(TryLockError::WouldBlock) => format!("<Simulation {name:?}, used by another thread>"),
            _ => format!("<Simulation {name:?}, lost>"),
        }
    }
}

#[pymethods]
impl Saved {
    /// Time of the state, s.
    #[getter]
    fn time(&self) -> f64 {
        self.state.state().t
    }

    /// States at that time.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArray1<f64>> {
        numpy::PyArray1::from_slice(py, &self.state.state().x)
    }

    /// Returns the bytes of the state: those of `fmi2SerializeFMUstate`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.to_bytes())
    }
}
