//! Runs of one model that advance together.

use crate::errors;
use crate::simulation::{Inner, Simulation};
use grapple::fmu::component::{Component, step_together};
use grapple::integrate::Span;
use grapple::simulation::LaneRuns;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// Number of runs in the lanes of one scalar. The library is compiled for vectors of two numbers (SSE2),
/// with which eight runs take longer than four.
const LANES: usize = 4;

/// Runs of one model whose steps are computed in the lanes of vectors.
#[pyclass(frozen, module = "grapple_fmu._native")]
pub struct Together {
    runs: Vec<Py<Simulation>>,
    /// One for each [`LANES`] runs.
    lanes: Mutex<Vec<LaneRuns<LANES>>>,
}

#[pymethods]
impl Together {
    /// Combines runs; raises `GrappleError` if they are not runs of one model that runs in lanes.
    #[new]
    fn new(py: Python<'_>, runs: Vec<Py<Simulation>>) -> PyResult<Self> {
        let mut lanes = Vec::new();
        for part in runs.chunks(LANES) {
            let guards = lock(py, part)?;
            let components: Vec<&Component> = guards.iter().map(|run| &run.component).collect();
            let made = LaneRuns::of_components(&components);
            lanes.push(made.map_err(|reason| errors::error(py, reason.to_string()))?);
        }
        Ok(Self {
            runs,
            lanes: Mutex::new(lanes),
        })
    }

    /// Integrates each run over `dt` (s) with its inputs; one without inputs stays where it is. Returns
    /// the error of each, or None.
    fn step(
        &self,
        py: Python<'_>,
        dt: f64,
        inputs: Vec<Option<PyReadonlyArray1<'_, f64>>>,
    ) -> PyResult<Vec<Option<PyErr>>> {
        if inputs.len() != self.runs.len() {
            let (found, runs) = (inputs.len(), self.runs.len());
            return Err(PyValueError::new_err(format!(
                "there are {found} inputs for {runs} runs"
            )));
        }
        let Ok(mut lanes) = self.lanes.try_lock() else {
            return Err(errors::error(py, "another thread uses these simulations"));
        };
        let mut all = Vec::with_capacity(self.runs.len());
        for ((part, inputs), lanes) in self.runs.chunks(LANES).zip(inputs.chunks(LANES)).zip(&mut *lanes) {
            let mut guards = lock(py, part)?;
            for ((run, inner), inputs) in part.iter().zip(&mut guards).zip(inputs) {
                if let Some(inputs) = inputs {
                    run.get().set_inputs(py, inner, inputs.as_slice()?)?;
                }
            }
            let moves: Vec<bool> = inputs.iter().map(Option::is_some).collect();
            let mut components: Vec<&mut Component> = guards.iter_mut().map(|run| &mut run.component).collect();
            let span = |k: usize, of: &Component| moves[k].then(|| Span { t: of.time(), h: dt });
            let done = py.detach(|| step_together(&mut components, lanes, span));
            guards.iter_mut().for_each(|run| run.take_events());
            all.extend(
                done.into_iter()
                    .map(|done| done.err().map(|fault| errors::of_fault(py, fault))),
            );
        }
        Ok(all)
    }
}

fn lock<'a>(py: Python<'_>, runs: &'a [Py<Simulation>]) -> PyResult<Vec<MutexGuard<'a, Inner>>> {
    runs.iter().map(|run| run.get().lock(py)).collect()
}
