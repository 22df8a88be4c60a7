//! A spec, read and compiled, or an FMU.

use crate::arrays::{array, values};
use crate::errors::{self, Problem};
use crate::run::Run;
use crate::watched::watched;
use fmu_build::build::{BuildOptions, build};
use fmu_build::campaign::{Outcome, Shard, StudyFile};
use fmu_build::files::Target;
use fmu_build::fmu::{Fmu, names};
use fmu_build::library::libraries;
use fmu_build::linearize::{LinearizeOptions, linearize};
use fmu_build::platform::Platform;
use fmu_build::run::Experiment;
use fmu_build::simulate::{SimulateOptions, simulate};
use fmu_build::summaries::unknown;
use fmu_build::{CompiledSpec, Control, Error, input_table, package};
use grapple::fmu::description::Interfaces;
use grapple::fmu::lifecycle::Standard;
use grapple::fmu::registry::Naming;
use grapple::plant::Model;
use grapple::spec::{Interpolation, Signal};
use indexmap::IndexMap;
use model_description::Causality;
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A spec, read and compiled, or the file of an FMU.
#[pyclass(frozen, module = "grapple_fmu._native")]
pub struct Package {
    package: package::Package,
}

/// Result of a campaign: its table, the number of runs, and numbers and reasons of failed ones.
type Runs = (Option<PathBuf>, usize, Vec<(usize, String)>);

/// Values of an input over time.
type Table = (Vec<f64>, Vec<f64>);

/// Name, times and values of an input, as arrays of Python.
pub type Columns<'py> = (String, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// An unpacked and loaded FMU, with the folder in which it is.
pub struct Loaded {
    pub fmu: Fmu,
    _folder: TempDir,
}

impl Loaded {
    pub fn new(package: &package::Package) -> fmu_build::Result<Self> {
        let folder = TempDir::with_prefix("grapple-").map_err(|error| Error::Other(error.into()))?;
        let fmu = Fmu::unpack(package, folder.path())?;
        Ok(Self { fmu, _folder: folder })
    }
}

impl Package {
    /// Returns the package.
    pub fn package(&self) -> &package::Package {
        &self.package
    }

    /// Returns the compiled model.
    pub fn model(&self, py: Python<'_>) -> PyResult<Arc<Model>> {
        let model = py.detach(|| self.package.model());
        model.map_err(|error| errors::of_library(py, &error))
    }

    /// Returns the spec.
    fn spec(&self, py: Python<'_>) -> PyResult<&CompiledSpec> {
        let what = "this is an FMU: only a spec has this function";
        self.package.spec().ok_or_else(|| errors::error(py, what))
    }
}

#[pymethods]
impl Package {
    /// Opens a file: a name with .fmu is an FMU, any other a spec.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let package = watched(py, None, |_| package::Package::of(&path))?;
        Ok(Self { package })
    }

    /// Compiles the text of a spec; paths in it are relative to `folder`, `file` is its name in
    /// messages.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, folder: PathBuf, file: &str) -> PyResult<Self> {
        let package = watched(py, None, |_| {
            CompiledSpec::parse(text, &folder, file).map(package::Package::Spec)
        })?;
        Ok(Self { package })
    }

    /// Returns the errors of a spec's text, without raising them.
    #[staticmethod]
    fn problems(py: Python<'_>, text: &str, folder: PathBuf, file: &str) -> PyResult<Vec<Problem>> {
        watched(py, None, |_| {
            let outcome = CompiledSpec::parse(text, &folder, file);
            Ok(outcome.err().map_or_else(Vec::new, |error| errors::problems(&error)))
        })
    }

    /// Name of the model.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.model(py)?.spec.name.clone())
    }

    /// Returns the warnings about a valid spec, advice on its integration, and its tree of bodies.
    fn check(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>, String)> {
        let spec = self.spec(py)?;
        watched(py, None, |_| {
            let check = fmu_build::check::check(spec)?;
            let tree = check.tree.map(|tree| tree.lines()).unwrap_or_default();
            let notes = [check.remarks.flexible, spec.unused.clone(), check.advice].concat();
            Ok((check.remarks.warnings, notes, tree))
        })
    }

    /// Builds the FMU and writes it to `output`.
    #[pyo3(signature = (output, platforms, fmi, arrays, reference, fmi_type, names, diagnostics))]
    #[allow(clippy::too_many_arguments)]
    fn build(
        &self,
        py: Python<'_>,
        output: PathBuf,
        platforms: Option<Vec<String>>,
        fmi: &Bound<'_, PyAny>,
        arrays: bool,
        reference: bool,
        fmi_type: &str,
        names: &str,
        diagnostics: bool,
    ) -> PyResult<()> {
        let spec = self.spec(py)?;
        let one_of = |what: &str, given: &str, all: &[&str]| {
            let known = all.iter().copied();
            errors::error(
                py,
                unknown(what, given, known) + &format!(" (one of {})", all.join(", ")),
            )
        };
        let options = BuildOptions {
            standard: match fmi.extract::<u32>() {
                Ok(2) => Standard::Fmi2,
                Ok(3) => Standard::Fmi3,
                _ => return Err(errors::error(py, format!("fmi is {fmi}, not 2 or 3"))),
            },
            interfaces: match fmi_type {
                "me" => Interfaces::ModelExchange,
                "cs" => Interfaces::CoSimulation,
                "both" => Interfaces::Both,
                other => return Err(one_of("fmi_type", other, &["me", "cs", "both"])),
            },
            naming: match names {
                "structured" => Naming::Structured,
                "flat" => Naming::Flat,
                other => return Err(one_of("naming", other, &["structured", "flat"])),
            },
            arrays,
            reference,
            diagnostics,
        };
        let platforms = platforms.map(|names| {
            let parsed = names.iter().map(|name| name.parse::<Platform>());
            parsed.collect::<Result<Vec<_>, _>>()
        });
        let platforms = platforms
            .transpose()
            .map_err(|what| errors::error(py, what.to_string()))?;
        watched(py, None, |_| {
            let output = Target::new(&output, &spec.reads)?;
            let libraries = libraries([], platforms.as_deref())?;
            output.write(build(spec, &options, &libraries)?.bytes)
        })
    }

    /// Runs the FMU in Co-Simulation.
    #[pyo3(signature = (stop_time, step, tolerance, set, inputs, table, progress))]
    #[allow(clippy::too_many_arguments)]
    fn simulate(
        &self,
        py: Python<'_>,
        stop_time: Option<f64>,
        step: Option<f64>,
        tolerance: Option<f64>,
        set: Vec<(String, f64)>,
        inputs: Vec<Columns<'_>>,
        table: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Run> {
        let inputs = inputs_of(py, inputs)?;
        let package = &self.package;
        let (loaded, run) = watched(py, progress, |control| {
            let loaded = Loaded::new(package)?;
            let signals = signals(&loaded.fmu, inputs, table)?;
            let experiment = Experiment {
                stop_time,
                step,
                tolerance,
            };
            let options = SimulateOptions {
                experiment,
                inputs: signals,
                set,
            };
            let run = simulate(&loaded.fmu, &options, control)?;
            Ok((loaded, run))
        })?;
        Ok(Run::new(loaded, run))
    }

    /// Linearises the model about a point of the spec's own run: the parts of a `StateSpace`.
    #[pyo3(signature = (at, inputs, outputs))]
    fn linearize<'py>(
        &self,
        py: Python<'py>,
        at: f64,
        inputs: Vec<String>,
        outputs: Vec<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let model = self.model(py)?;
        let options = LinearizeOptions { at, inputs, outputs };
        let of = watched(py, None, |control| linearize(&model, &options, &control))?;
        let parts = crate::linear::state_space(py, &of.linear, of.t, &of.u)?;
        let modes = of.modes.modes.iter().map(|mode| (mode.real, mode.imaginary));
        parts.set_item("modes", modes.collect::<Vec<_>>())?;
        parts.set_item("text", of.to_string())?;
        Ok(parts)
    }

    /// Makes the runs of a campaign whose study is this file, or `only` some of them, in the folder
    /// `output`; returns the table, the number of runs, and the numbers and reasons of failed ones.
    #[staticmethod]
    fn campaign(
        py: Python<'_>,
        study: PathBuf,
        output: PathBuf,
        jobs: usize,
        only: Option<Vec<usize>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Runs> {
        watched(py, progress, |control: Control| {
            let (file, loaded) = study_and_model(&study)?;
            let campaign = file.campaign(&loaded.fmu)?;
            let mut work = campaign.open(&output, Shard::default())?;
            if let Some(mut only) = only {
                only.sort_unstable();
                work.left.retain(|run| only.binary_search(run).is_ok());
            }
            work.run(jobs, control).map(runs)
        })
    }

    /// Makes the runs of a campaign elsewhere: `make` is called with the numbers of the runs that are
    /// to be made, and returns an iterator over folders in which `campaign` has made some of them.
    #[staticmethod]
    fn distributed_campaign(
        py: Python<'_>,
        study: PathBuf,
        output: PathBuf,
        make: &Bound<'_, PyAny>,
    ) -> PyResult<Runs> {
        let raised = |error: Error| errors::of_library(py, &error);
        let (file, loaded) = watched(py, None, |_| study_and_model(&study))?;
        let campaign = file.campaign(&loaded.fmu).map_err(raised)?;
        let mut work = campaign.open(&output, Shard::default()).map_err(raised)?;
        for folder in make.call1((work.left.clone(),))?.try_iter()? {
            work.add(&folder?.extract::<PathBuf>()?).map_err(raised)?;
        }
        work.finish().map(runs).map_err(raised)
    }
}

/// Reads a study, and opens its model.
fn study_and_model(study: &Path) -> fmu_build::Result<(StudyFile, Loaded)> {
    let file = StudyFile::read(study)?;
    let loaded = Loaded::new(&package::Package::of(&file.model())?)?;
    Ok((file, loaded))
}

/// Returns the parts of a campaign's outcome.
fn runs(outcome: Outcome) -> Runs {
    let failed = outcome.failed.into_iter();
    let failed = failed.map(|record| (record.run, record.failure.unwrap_or_default()));
    (outcome.table, outcome.done, failed.collect())
}

/// Reads names, times and values of inputs.
///
/// # Errors
/// Values that are no vectors of numbers.
pub fn inputs_of(py: Python<'_>, inputs: Vec<Columns<'_>>) -> PyResult<Vec<(String, Table)>> {
    let read = |(name, times, numbers): Columns<'_>| {
        let [times, numbers] = [(times, "times"), (numbers, "values")].map(|(value, part)| {
            let what = format!("inputs: {part} of {name}");
            let array = array(&value, &what)?;
            match array.ndim() {
                1 => Ok(values(&array, &what)?.to_vec()),
                _ => Err(errors::error(
                    py,
                    format!("{what} have {} axes instead of one", array.ndim()),
                )),
            }
        });
        PyResult::Ok((name, (times?, numbers?)))
    };
    inputs.into_iter().map(read).collect()
}

/// Returns the signals of inputs: those of a file, and of tables.
///
/// # Errors
/// An unknown input; a file or a table that is not valid.
pub fn signals(
    fmu: &Fmu,
    tables: Vec<(String, Table)>,
    file: Option<PathBuf>,
) -> fmu_build::Result<IndexMap<String, Signal>> {
    let mut signals = match file {
        Some(file) => input_table::read(&file, fmu)?,
        None => IndexMap::new(),
    };
    for (name, table) in tables {
        let signal = signal(fmu, &name, table)?;
        signals.insert(name, signal);
    }
    Ok(signals)
}

/// Returns the table of an input as a signal: steps for an input that changes at events, else
/// linear interpolation.
fn signal(fmu: &Fmu, name: &str, (times, values): Table) -> fmu_build::Result<Signal> {
    let Some((_, is_discrete)) = fmu.input(name) else {
        let inputs = fmu.variables(|v| v.causality == Causality::Input);
        return Err(Error::Invalid(unknown("input", name, names(&inputs))));
    };
    let wrong = |what: String| Err(Error::Invalid(format!("inputs: {name}: {what}")));
    if times.len() != values.len() || times.is_empty() {
        return wrong(format!("{} times for {} values", times.len(), values.len()));
    }
    if let Some(number) = times.iter().chain(&values).find(|number| !number.is_finite()) {
        return wrong(format!("{number} is not a finite number"));
    }
    if let Some(pair) = times.windows(2).find(|pair| pair[1] < pair[0]) {
        return wrong(format!("the time decreases from {} s to {} s", pair[0], pair[1]));
    }
    let mut signal = Signal::table(match is_discrete {
        true => Interpolation::Hold,
        false => Interpolation::Linear,
    });
    (signal.times, signal.values) = (Some(times), Some(values));
    Ok(signal)
}

/// Returns the folder of a path, for files that are relative to it.
pub fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
