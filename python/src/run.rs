//! The results of a run.

use crate::package::Loaded;
use crate::watched::watched;
use fmu_build::diagnostics::{Diagnostics, Momentum, Verdict};
use fmu_build::files::Target;
use fmu_build::{report, run};
use grapple::plant::Model;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// The results of a run.
#[pyclass(frozen, module = "grapple_fmu._native")]
pub struct Run {
    loaded: Loaded,
    run: run::Run,
}

impl Run {
    pub fn new(loaded: Loaded, run: run::Run) -> Self {
        Self { loaded, run }
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.loaded.fmu.model
    }

    /// Returns names and values of the parameters that the run used.
    pub fn values(&self) -> &[(String, f64)] {
        &self.run.results.parameters
    }
}

#[pymethods]
impl Run {
    /// Name of the model.
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.fmu.model.spec.name
    }

    /// Times, s.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.run.results.time)
    }

    /// Names and units of the columns.
    #[getter]
    fn columns(&self) -> Vec<(&str, &str)> {
        let columns = self.run.results.columns.iter();
        columns
            .map(|column| (column.name.as_str(), column.unit.as_str()))
            .collect()
    }

    /// Returns the values of column `i`.
    fn column<'py>(&self, py: Python<'py>, i: usize) -> Option<Bound<'py, PyArray1<f64>>> {
        let column = self.run.results.columns.get(i)?;
        Some(PyArray1::from_slice(py, &column.values))
    }

    /// Values of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<(&str, f64)> {
        let parameters = self.run.results.parameters.iter();
        parameters.map(|(name, value)| (name.as_str(), *value)).collect()
    }

    /// Events: the time (s), the text, and the values as a JSON object.
    #[getter]
    fn events(&self) -> Vec<(f64, String, String)> {
        let events = self.run.events.iter();
        let values = |event| serde_json::to_string(event).unwrap_or_default();
        events
            .map(|event| (event.t, event.to_string(), values(event)))
            .collect()
    }

    /// Messages of the FMU that are not events.
    #[getter]
    fn messages(&self) -> Vec<String> {
        self.run.messages.clone()
    }

    /// Reason why the run ended early.
    #[getter]
    fn failure(&self) -> Option<String> {
        self.run.failure.as_ref().map(fmu_build::Error::in_line)
    }

    /// Diagnostics of the run.
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let of = Diagnostics::of(&self.loaded.fmu.model.spec, &self.run);
        let health = PyDict::new(py);
        let mut rated = Vec::new();
        let (mut linear, mut angular, mut unrated) = (None, None, None);
        match &of.momentum {
            Some(Momentum::Conserved { linear: p, angular: h }) => {
                (linear, angular) = (Some(p.value()), Some(h.value()));
                rated.extend([of.verdict(p), of.verdict(h)]);
            }
            Some(Momentum::Not(why)) => unrated = Some(why.clone()),
            None => {}
        }
        rated.extend(of.energy.as_ref().map(|energy| of.verdict(energy)));
        health.set_item("momentum", linear)?;
        health.set_item("angular_momentum", angular)?;
        health.set_item("momentum_note", unrated)?;
        health.set_item("energy", of.energy.as_ref().map(|energy| energy.value()))?;
        health.set_item("good", rated.iter().all(|verdict| *verdict == Verdict::Good))?;
        health.set_item("steps", of.steps)?;
        health.set_item("solver", &of.solver)?;
        health.set_item("real_time_factor", of.real_time_factor())?;
        health.set_item("text", of.line())?;
        Ok(health)
    }

    /// Returns the page of the run, HTML.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        watched(py, None, |_| Ok(report::page(&self.loaded.fmu, &self.run)))
    }

    /// Writes the table: Parquet if the name ends in .parquet, else CSV.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        watched(py, None, |_| {
            let target = Target::new(&path, &self.loaded.fmu.reads)?;
            self.run.results.table().save(&target)
        })
    }
}
