//! A model with its mathematics: derivatives, outputs, Jacobians and the mechanics.

mod methods;

use crate::arrays::Out;
use crate::errors;
use crate::names::Names;
use crate::points::{At, Points, Slices};
use fmu_build::summaries::unknown;
use grapple::plant::{self, Adjoint, Discrete, Jacobians, LANES, Mechanics, Plant, Tangent};
use grapple::system::FrameRef;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::sync::{Arc, Mutex, PoisonError};

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// A model with values of its parameters: derivatives, outputs, Jacobians and the mechanics.
#[pyclass(frozen, subclass, module = "grapple_fmu._native")]
pub struct Model {
    inner: Mutex<Inner>,
    model: Arc<plant::Model>,
    states: Names,
    inputs: Names,
    outputs: Names,
    rates: Names,
    x0: Vec<f64>,
    u0: Vec<f64>,
}

struct Inner {
    plant: Plant,
    discrete: Discrete,
    mechanics: Option<Mechanics>,
    tangent: Option<Box<(Tangent<LANES>, Jacobians)>>,
    adjoint: Option<Box<Adjoint>>,
    dx: Vec<f64>,
}

impl Model {
    /// Returns a model at the start of its run, with other values of parameters.
    fn of(py: Python<'_>, model: Arc<plant::Model>, set: &[(String, f64)]) -> PyResult<Self> {
        let values = with(py, &model, &model.parameter_starts(), set)?;
        let started = py.detach(|| {
            let mut plant = Plant::new(Arc::clone(&model))?;
            plant.set_parameters_of_start(0.0, &values)?;
            let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
            plant.start(0.0, &mut x, &mut discrete)?;
            Ok((plant, x, discrete))
        });
        let (plant, x, discrete) = started.map_err(|error| errors::of_model(py, error))?;
        let u = model.inputs.iter().map(|input| input.start).collect();
        Ok(Self::with(plant, x, u, discrete))
    }

    fn with(plant: Plant, x0: Vec<f64>, u0: Vec<f64>, discrete: Discrete) -> Self {
        let model = Arc::clone(plant.model());
        let rates = model.joint_rates();
        Self {
            states: Names::new("state", &model.states),
            inputs: Names::new("input", model.inputs.iter().map(|input| &input.quantity)),
            outputs: Names::new("output", model.outputs.iter().map(|output| &output.quantity)),
            rates: Names::new("rate", &rates),
            inner: Mutex::new(Inner {
                mechanics: Mechanics::new(&model),
                tangent: None,
                adjoint: None,
                dx: vec![0.0; model.states.len()],
                plant,
                discrete,
            }),
            model,
            x0,
            u0,
        }
    }

    /// Calls `work` without the interpreter lock, after other threads that use this model.
    fn locked<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Inner) -> Result<T, grapple::Error> + Send,
    ) -> PyResult<T> {
        // Nothing that a panic could leave is used before it is written.
        let mut guard = self.inner.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let inner = &mut *guard;
        py.detach(|| work(inner)).map_err(|error| errors::of_model(py, error))
    }

    /// Fills an array with a result of the length `shape` for each point of a batch.
    #[allow(clippy::too_many_arguments)]
    fn each<'py>(
        &self,
        py: Python<'py>,
        at: At<'_, 'py>,
        out: Option<&Bound<'py, PyAny>>,
        shape: &[usize],
        evaluate: impl Fn(&mut Inner, usize, &Slices, &mut [f64]) -> Result<(), grapple::Error> + Sync,
    ) -> PyResult<Array<'py>> {
        let points = Points::new([&self.states, &self.inputs], at)?;
        let slices = points.slices(&self.u0)?;
        let mut out = Out::new(py, out, points.x.axes(), shape)?;
        let length: usize = shape.iter().product();
        let to = out.values()?;
        self.locked(py, |inner| {
            for i in 0..slices.count {
                evaluate(inner, i, &slices, &mut to[i * length..(i + 1) * length])?;
            }
            Ok(())
        })?;
        Ok(out.done())
    }

    /// Fills an array with a mechanical quantity at each of the states of a batch.
    fn each_mechanics<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        shape: &[usize],
        evaluate: impl Fn(&mut Mechanics, &mut Plant, &[f64], &mut [f64]) + Sync,
    ) -> PyResult<Array<'py>> {
        self.check_mechanics(py)?;
        let t = 0.0_f64.into_pyobject(py)?.into_any();
        self.each(py, At { t: &t, x, u: None }, out, shape, |inner, i, at, to| {
            let x = at.at(i, &inner.discrete).x;
            if let Some(mechanics) = &mut inner.mechanics {
                evaluate(mechanics, &mut inner.plant, x, to);
            }
            Ok(())
        })
    }

    fn check_mechanics(&self, py: Python<'_>) -> PyResult<()> {
        match self.model.system().nodal.is_empty() {
            true => Ok(()),
            false => Err(errors::error(
                py,
                "the model has ANCF beams ([ancf_beam]), for which matrices of the mechanics are not available: a \
                 geometrically exact beam has them",
            )),
        }
    }

    /// Returns a body or frame by its name.
    fn frame(&self, py: Python<'_>, name: &str) -> PyResult<FrameRef> {
        let system = self.model.system();
        let known = || self.known_frames();
        let found = system.frame(name);
        found.ok_or_else(|| errors::error(py, unknown("frame or body", name, known().iter().map(String::as_str))))
    }

    fn known_frames(&self) -> Vec<String> {
        let system = self.model.system();
        let bodies = system.bodies.iter().map(|body| body.name.clone());
        let frames = system.frames.iter().map(|frame| frame.name.clone());
        let points = system.points.iter().map(|point| point.name.clone());
        bodies.chain(frames).chain(points).collect()
    }
}

/// Returns values of parameters with other values of the named ones.
fn with(py: Python<'_>, model: &plant::Model, values: &[f64], set: &[(String, f64)]) -> PyResult<Vec<f64>> {
    let parameters = Names::new("parameter", model.parameters.iter().map(|p| &p.quantity));
    let mut values = values.to_vec();
    for (name, value) in set {
        values[parameters.index(py, name)?] = *value;
    }
    Ok(values)
}
