//! Specs from dictionaries, URDF files and templates; pages of recorded results.

use crate::errors;
use crate::package::Package;
use crate::watched::watched;
use fmu_build::campaign::{Dispersion, Law, RunIndex};
use fmu_build::import::{ImportOptions, MeshOptions, MountPoint, import};
use fmu_build::recorded::{Recorded, RecordedOptions};
use fmu_build::report;
use fmu_build::shapes::Meshes;
use fmu_build::summaries::unknown;
use fmu_build::templates::{TEMPLATES, Template, TemplateKind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyMapping, PySequence, PyString};
use std::path::PathBuf;
use toml::Value;

/// Returns a dictionary as the text of a TOML file.
#[pyfunction]
pub fn to_toml(data: &Bound<'_, PyDict>) -> PyResult<String> {
    let value = value(data.as_any(), "spec", 0)?;
    toml::to_string(&value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the value of the variable `name` in a run of a campaign without grids: `dispersion` is
/// the variable's table, `nominal` the model's value.
///
/// Raises ValueError for a dispersion that is not one of a campaign.
#[pyfunction]
pub fn dispersed(dispersion: &Bound<'_, PyDict>, nominal: f64, seed: u64, name: &str, run: usize) -> PyResult<f64> {
    let table = value(dispersion.as_any(), name, 0)?;
    let read: Dispersion = table
        .try_into()
        .map_err(|error: toml::de::Error| PyValueError::new_err(error.to_string()))?;
    let law = Law::of(&read, nominal).ok_or_else(|| PyValueError::new_err(format!("{name} has no distribution")))?;
    Ok(law.value(seed, name, RunIndex { run, points: 1 }))
}

/// Deepest nesting of a spec's tables and lists.
const DEEPEST: usize = 64;

/// Converts a value; `at` is its path, for messages.
fn value(data: &Bound<'_, PyAny>, at: &str, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!(
            "{at} is nested deeper than {DEEPEST} levels"
        )));
    }
    if let Ok(flag) = data.cast::<PyBool>() {
        return Ok(Value::Boolean(flag.is_true()));
    }
    if data.is_instance_of::<PyInt>() {
        let wrong = |_| PyValueError::new_err(format!("{at}: the integer has more than 64 bits"));
        return data.extract().map(Value::Integer).map_err(wrong);
    }
    if data.is_instance_of::<PyFloat>() {
        return data.extract().map(Value::Float);
    }
    if data.is_instance_of::<PyString>() {
        return data.extract().map(Value::String);
    }
    if let Ok(table) = data.cast::<PyMapping>() {
        let mut to = toml::Table::new();
        for item in table.items()?.iter() {
            let (key, of_key): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let wrong = |_| PyTypeError::new_err(format!("{at}: the key {key} is no string"));
            let key: String = key.extract().map_err(wrong)?;
            to.insert(key.clone(), value(&of_key, &format!("{at}.{key}"), depth + 1)?);
        }
        return Ok(Value::Table(to));
    }
    // Arrays and numbers of NumPy.
    if let Ok(convert) = data.getattr("tolist") {
        return value(&convert.call0()?, at, depth + 1);
    }
    if data.hasattr("__fspath__")? {
        let path: PathBuf = data.extract()?;
        return Ok(Value::String(path.to_string_lossy().into_owned()));
    }
    if let Ok(list) = data.cast::<PySequence>() {
        let mut to = Vec::new();
        for (i, item) in list.try_iter()?.enumerate() {
            to.push(value(&item?, &format!("{at}[{i}]"), depth + 1)?);
        }
        return Ok(Value::Array(to));
    }
    let kind = data.get_type().name()?;
    let text = format!("{at}: a spec contains numbers, texts, lists and dictionaries, not values of the type {kind}");
    Err(PyTypeError::new_err(text))
}

/// Returns the templates of one spec.
fn specs() -> impl Iterator<Item = Template> {
    let is_spec = |of: &Template| !matches!(of.kind, TemplateKind::Pair | TemplateKind::Study);
    TEMPLATES.into_iter().filter(is_spec)
}

/// Returns name and description of each template.
#[pyfunction]
pub fn templates() -> Vec<(&'static str, &'static str)> {
    specs().map(|template| (template.name, template.description)).collect()
}

/// Returns the text of a template for a model called `name`.
#[pyfunction]
pub fn template(py: Python<'_>, template: &str, name: &str) -> PyResult<String> {
    let found = specs().find(|known| known.name == template);
    let found = found.ok_or_else(|| {
        let known = specs().map(|known| known.name);
        errors::error(py, unknown("template", template, known))
    })?;
    found.spec(name).map_err(|error| errors::of_library(py, &error))
}

/// Converts a URDF file: the text of the spec, the robot's name, the meshes to copy (file, path
/// from the spec), and warnings.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn import_urdf(
    py: Python<'_>,
    urdf: PathBuf,
    floating: bool,
    keep_fixed: bool,
    base: Option<(f64, [f64; 6])>,
    packages: Vec<PathBuf>,
    meshes: String,
) -> PyResult<(String, String, Vec<(PathBuf, PathBuf)>, Vec<String>)> {
    let options = ImportOptions {
        floating,
        keep_fixed,
        base,
    };
    let meshes = MeshOptions {
        urdf_folder: crate::package::folder(&urdf).to_owned(),
        package_dirs: [packages, MeshOptions::of_environment()].concat(),
        folder: meshes,
    };
    let imported = watched(py, None, |_| import(&urdf, options, &meshes))?;
    Ok((imported.text, imported.name, imported.meshes, imported.warnings))
}

/// Returns path and text of a spec that includes the spec `on` and mounts the robot `name`, whose
/// spec is `file`, on its frame.
#[pyfunction]
pub fn mount_urdf(
    py: Python<'_>,
    name: String,
    file: PathBuf,
    on: PathBuf,
    frame: String,
) -> PyResult<(PathBuf, String)> {
    watched(py, None, |_| MountPoint { spec: on, frame }.host(&name, &file))
}

/// Returns the page of recorded results (HTML), and remarks on them.
#[pyfunction]
pub fn page(
    py: Python<'_>,
    results: Vec<PathBuf>,
    model: &Package,
    component: Option<String>,
    set: Vec<(String, f64)>,
) -> PyResult<(String, Vec<String>)> {
    let package = model.package();
    let options = RecordedOptions { component, set };
    watched(py, None, |_| {
        let model = package.model()?;
        let read = |file: &PathBuf| Recorded::read(file, &model, &options);
        let mut recorded = results.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let remarks = recorded
            .iter()
            .flat_map(|run| run.remarks.iter().map(|remark| format!("{}: {remark}", run.name)));
        let remarks = remarks.collect();
        let names: Vec<String> = recorded.iter().map(|run| run.name.clone()).collect();
        for (run, file) in recorded.iter_mut().zip(&results) {
            if names.iter().filter(|name| **name == run.name).count() > 1 {
                run.name = file.display().to_string();
            }
        }
        let no_meshes = Meshes::default();
        let meshes = package.spec().map_or(&no_meshes, |spec| &spec.meshes);
        Ok((report::page_of_results(&model, meshes, recorded), remarks))
    })
}
