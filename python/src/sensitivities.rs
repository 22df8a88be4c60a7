//! Derivatives of a run, and identification.

use crate::arrays::Out;
use crate::linear::write_rows;
use crate::package::{Columns, Loaded, Package, inputs_of, signals};
use crate::watched::watched;
use fmu_build::identify::{IdentificationFile, Identified, identify as of_file};
use fmu_build::package;
use fmu_build::results::Results;
use fmu_build::run::Experiment;
use fmu_build::sensitivities::sensitivities as of_run;
use fmu_build::simulate::SimulateOptions;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Returns a run and its derivatives: the parts of a `Sensitivities`.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn sensitivities<'py>(
    py: Python<'py>,
    package: &Package,
    experiment: (Option<f64>, Option<f64>, Option<f64>),
    set: Vec<(String, f64)>,
    inputs: Vec<Columns<'_>>,
    table: Option<PathBuf>,
    with_respect_to: Vec<String>,
    outputs: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let inputs = inputs_of(py, inputs)?;
    let (stop_time, step, tolerance) = experiment;
    let of = watched(py, progress, |control| {
        let loaded = Loaded::new(package.package())?;
        let options = SimulateOptions {
            experiment: Experiment {
                stop_time,
                step,
                tolerance,
            },
            inputs: signals(&loaded.fmu, inputs, table)?,
            set,
        };
        of_run(&loaded.fmu, &options, &with_respect_to, &outputs, control)
    })?;
    let parts = results(py, &of.results)?;
    parts.set_item("parameters", of.parameters)?;
    let (rows, columns, parameters) = (of.results.time.len(), of.results.columns.len(), of.derivatives.len());
    let mut out = Out::new(py, None, &[], &[rows, columns, parameters])?;
    let values = out.values()?;
    for (i, derivatives) in of.derivatives.iter().enumerate() {
        for (j, column) in derivatives.iter().enumerate() {
            for (k, value) in column.iter().enumerate() {
                values[(k * columns + j) * parameters + i] = *value;
            }
        }
    }
    parts.set_item("derivatives", out.done())?;
    parts.set_item("errors", of.errors)?;
    parts.set_item("differing", of.differing)?;
    parts.set_item("switching", of.switching)?;
    Ok(parts)
}

/// Identifies the parameters in a file (TOML): the parts of an `Identified`.
#[pyfunction]
pub fn identify(py: Python<'_>, file: PathBuf, progress: Option<Py<PyAny>>) -> PyResult<Bound<'_, PyDict>> {
    let of = watched(py, progress, |control| {
        let file = IdentificationFile::read(&file)?;
        let loaded = Loaded::new(&package::Package::of(&file.model())?)?;
        of_file(&file, &loaded.fmu, control)
    })?;
    let parts = results(py, &of.fit)?;
    let (text, warnings) = (of.to_string(), of.warnings());
    let Identified {
        parameters,
        correlation,
        undetermined,
        residuals,
        iterations,
        ..
    } = of;
    let estimates = parameters.into_iter();
    let estimates = estimates.map(|of| (of.name, of.unit, of.guess, of.value, of.sigma, of.half_interval));
    parts.set_item("parameters", estimates.collect::<Vec<_>>())?;
    let mut out = Out::new(py, None, &[], &[correlation.nrows(), correlation.ncols()])?;
    write_rows(&correlation, out.values()?);
    parts.set_item("correlation", out.done())?;
    parts.set_item("undetermined", undetermined)?;
    let residuals = residuals.into_iter();
    let residuals = residuals.map(|of| (of.name, of.unit, of.count, of.sigma, of.rms, of.correlation));
    parts.set_item("residuals", residuals.collect::<Vec<_>>())?;
    parts.set_item("iterations", iterations)?;
    parts.set_item("warnings", warnings)?;
    parts.set_item("text", text)?;
    Ok(parts)
}

/// Returns times, and names, units and values of the columns.
fn results<'py>(py: Python<'py>, of: &Results) -> PyResult<Bound<'py, PyDict>> {
    let parts = PyDict::new(py);
    parts.set_item("time", PyArray1::from_slice(py, &of.time))?;
    let columns = of.columns.iter();
    let columns = columns.map(|of| (&*of.name, &*of.unit, PyArray1::from_slice(py, &of.values)));
    parts.set_item("columns", columns.collect::<Vec<_>>())?;
    Ok(parts)
}
