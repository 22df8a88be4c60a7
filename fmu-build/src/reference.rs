//! Reference results inside an FMU, after the layered standard FMI-LS-REF 1.0.0-beta.1, with its
//! experiment in the Modelica Association's Experiments Format (`ma-hs-experiments`, June 2026).
//!
//! | file in `extra/org.fmi-standard.fmi-ls-ref/` | role | contents |
//! |---|---|---|
//! | `fmi-ls-manifest.xml` | | list of the files below |
//! | `<name>.toml` | `model` | the spec, with what it includes |
//! | `experiments.exp` | `experiment/smoke-test` | the default experiment: times, tolerance, files |
//! | `stimuli.csv` | | inputs at the communication points; only if there are inputs |
//! | `reference.csv` | `result` | outputs at the communication points |
//!
//! Titles of the tables are names of variables; numbers read back to identical bits.

use crate::archive::Content;
use crate::compiled_spec::CompiledSpec;
use crate::control::Control;
use crate::error::{Context, Error, Result, invalid};
use crate::fmu::Fmu;
use crate::package::Package;
use crate::results::Column;
use crate::run::{Experiment, Run, Times};
use crate::simulate::{SimulateOptions, simulate};
use crate::system_structure::xml;
use crate::table::{Cells, Table};
use crate::table_file::{FileColumn, TableFile};
use crate::text::number;
use model_description::{Causality, ModelDescription, ScalarVariable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Folder of the layered standard in an FMU.
const FOLDER: &str = "extra/org.fmi-standard.fmi-ls-ref";
const EXPERIMENTS: &str = "experiments.exp";
const STIMULI: &str = "stimuli.csv";
const RESULTS: &str = "reference.csv";

/// Largest deviation from a reference result, relative to the largest magnitude of its variable or, if
/// that is larger, to the variable's nominal value. Libraries of this program give equal bits on all
/// platforms but macOS, where functions of the C library may differ in their last bits.
pub const LIMIT: f64 = 1e-9;

#[derive(Serialize)]
#[serde(rename = "fmiReferences")]
struct Manifest<'a> {
    #[serde(rename = "@xmlns:fmi-ls")]
    namespace: &'a str,
    #[serde(rename = "@fmi-ls:fmi-ls-name")]
    name: &'a str,
    /// The text of version 1.0.0-beta.1 prescribes this value.
    #[serde(rename = "@fmi-ls:fmi-ls-version")]
    version: &'a str,
    #[serde(rename = "@fmi-ls:fmi-ls-description")]
    description: &'a str,
    #[serde(rename = "Related")]
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Related<'a> {
    #[serde(rename = "@type")]
    kind: &'a str,
    #[serde(rename = "@source")]
    source: &'a str,
    #[serde(rename = "@role")]
    role: &'a str,
    #[serde(rename = "@description")]
    description: &'a str,
}

#[derive(Serialize, Deserialize)]
struct Experiments {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@description", default)]
    description: String,
    #[serde(rename = "Experiment")]
    experiments: Vec<ReferenceExperiment>,
}

/// An experiment of the file. The schema of July 2026 has the times in an element of their own.
#[derive(Serialize, Deserialize)]
struct ReferenceExperiment {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@description", default)]
    description: String,
    #[serde(rename = "@startTime", skip_serializing_if = "Option::is_none")]
    start: Option<f64>,
    #[serde(rename = "@stopTime", skip_serializing_if = "Option::is_none")]
    stop: Option<f64>,
    #[serde(rename = "@tolerance", skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(rename = "@stepSize", skip_serializing_if = "Option::is_none")]
    step: Option<f64>,
    #[serde(rename = "TransientSimulation", skip_serializing)]
    transient: Option<Transient>,
    #[serde(rename = "Stimuli", skip_serializing_if = "Option::is_none")]
    stimuli: Option<Source>,
    #[serde(rename = "References", skip_serializing_if = "Option::is_none")]
    references: Option<Source>,
}

#[derive(Deserialize)]
struct Transient {
    #[serde(rename = "@startTime")]
    start: Option<f64>,
    #[serde(rename = "@stopTime")]
    stop: Option<f64>,
    #[serde(rename = "@stepSize")]
    step: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct Source {
    #[serde(rename = "@source")]
    source: String,
}

/// Runs an FMU without references, and returns the files that make them.
///
/// # Errors
/// An FMU without Co-Simulation or with arrays; a run that ends early, with its reason.
pub(crate) fn files(compiled: &CompiledSpec, fmu: &[u8]) -> Result<Vec<Content<'static>>> {
    let folder = TempDir::with_prefix("grapple-").context(|| "cannot make a temporary folder")?;
    let file = folder.path().join("built.fmu");
    std::fs::write(&file, fmu).other()?;
    let fmu = Fmu::unpack(&Package::Fmu(file), folder.path()).context(|| "reference results need a run")?;
    let run = simulate(&fmu, &SimulateOptions::default(), Control::default())?;
    if let Some(failure) = run.failure {
        return Err(failure).context(|| "the run for the reference results fails");
    }
    let of = |causality: Causality| columns(&fmu.description, &run, causality);
    let (inputs, outputs) = (of(Causality::Input), of(Causality::Output));
    let name = &fmu.model.spec.name;
    let mut files = vec![
        file_of("fmi-ls-manifest.xml", manifest(name, compiled)?),
        file_of(EXPERIMENTS, experiments(name, run.times, !inputs.is_empty())?),
        file_of(RESULTS, csv(&run.results.time, &outputs)?),
        Content::new("documentation/fmi-ls-ref.txt", documentation(&run).into_bytes()),
    ];
    if !inputs.is_empty() {
        files.push(file_of(STIMULI, csv(&run.results.time, &inputs)?));
    }
    if !compiled.composed.is_empty() {
        files.push(file_of(&format!("{name}.toml"), compiled.composed.clone().into_bytes()));
    }
    Ok(files)
}

fn file_of(name: &str, bytes: Vec<u8>) -> Content<'static> {
    Content::new(format!("{FOLDER}/{name}"), bytes)
}

/// Returns the columns of a run that are inputs or outputs.
fn columns<'r>(description: &ModelDescription, run: &'r Run, causality: Causality) -> Vec<&'r Column> {
    let variables = description.model_variables.iter();
    let causes: BTreeMap<&str, Causality> = variables.map(|v| (v.name.as_str(), v.causality)).collect();
    let is = |column: &&Column| causes.get(column.name.as_str()) == Some(&causality);
    run.results.columns.iter().filter(is).collect()
}

/// Returns a table whose titles are bare names, as programs of FMI read them.
fn csv(time: &[f64], columns: &[&Column]) -> Result<Vec<u8>> {
    let mut table = Table::default();
    table.push("time", "", Cells::Real(time.into()));
    for column in columns {
        table.push(&column.name, "", Cells::Real((&column.values).into()));
    }
    let mut bytes = Vec::new();
    table.write_csv(&mut bytes).other()?;
    Ok(bytes)
}

fn manifest(name: &str, compiled: &CompiledSpec) -> Result<Vec<u8>> {
    let spec = format!("{name}.toml");
    let mut related = vec![
        Related {
            kind: "application/x-ma-hs-experiments",
            source: EXPERIMENTS,
            role: "experiment/smoke-test",
            description: "Default experiment of the model, in Co-Simulation",
        },
        Related {
            kind: "text/csv",
            source: RESULTS,
            role: "result",
            description: "Results of the default experiment at its communication points",
        },
    ];
    if !compiled.composed.is_empty() {
        related.push(Related {
            kind: "application/toml",
            source: &spec,
            role: "model",
            description: "Spec from which grapple built the FMU",
        });
    }
    let manifest = Manifest {
        namespace: "http://fmi-standard.org/fmi-ls-manifest",
        name: "org.fmi-standard.fmi-ls-ref",
        version: "1.0.0-alpha.1",
        description: "Layered Standard providing information on related files included in an FMU.",
        related,
    };
    Ok(xml(&manifest)?.into_bytes())
}

fn experiments(name: &str, times: Times, has_inputs: bool) -> Result<Vec<u8>> {
    let source = |file: &str| Source {
        source: file.to_owned(),
    };
    let experiments = Experiments {
        name: format!("{name}: reference results"),
        description: "Results of the exporting tool".to_owned(),
        experiments: vec![ReferenceExperiment {
            name: name.to_owned(),
            description: "Default experiment in Co-Simulation".to_owned(),
            start: Some(0.0),
            stop: Some(times.stop),
            tolerance: Some(times.tolerance),
            step: Some(times.step),
            transient: None,
            stimuli: has_inputs.then(|| source(STIMULI)),
            references: Some(source(RESULTS)),
        }],
    };
    Ok(xml(&experiments)?.into_bytes())
}

/// Returns the file that the layered standard recommends for readers.
fn documentation(run: &Run) -> String {
    let Times { stop, step, tolerance } = run.times;
    format!(
        "Reference results (FMI-LS-REF 1.0.0-beta.1) are in {FOLDER}.\n\n\
         Run the FMU in Co-Simulation from 0 s to {} s with communication steps of {} s and the relative\n\
         tolerance {}. {RESULTS} has the outputs at the start and after each step, {STIMULI} (if there are\n\
         inputs) the inputs. `grapple check` repeats the run and compares all outputs: deviations above {LIMIT:e}\n\
         of a variable's largest magnitude or nominal value are errors. An importer that holds the inputs\n\
         within a step, or integrates in Model Exchange, has its own deviations.\n",
        number(stop, 9),
        number(step, 9),
        number(tolerance, 3),
    )
}

/// Comparison of an FMU with its reference results.
pub struct Comparison {
    /// Name of the experiment.
    pub name: String,
    /// Number of times and of variables.
    pub size: (usize, usize),
    /// Largest deviation of each variable that is not equal to its reference in all bits, the largest
    /// relative one first.
    pub deviations: Vec<Deviation>,
    /// Variables of the reference that the FMU does not have.
    pub missing: Vec<String>,
}

/// Largest deviation of a variable.
pub struct Deviation {
    /// Name of the variable.
    pub name: String,
    /// Its unit; empty for a pure number.
    pub unit: String,
    /// Time of the deviation, s.
    pub time: f64,
    /// Value of the FMU, and of the reference.
    pub values: [f64; 2],
    /// Deviation relative to the largest magnitude or nominal value of the variable.
    pub relative: f64,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [value, reference] = self.values;
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", self.unit)
        };
        let difference = number((value - reference).abs(), 3);
        let (value, reference) = (number(value, 9), number(reference, 9));
        let (name, time) = (&self.name, number(self.time, 9));
        write!(
            f,
            "{difference}{unit} of {name} at t = {time} s ({value} in place of {reference})"
        )
    }
}

impl Comparison {
    /// Returns the deviations above [`LIMIT`].
    pub fn failures(&self) -> impl Iterator<Item = &Deviation> {
        self.deviations.iter().filter(|deviation| deviation.relative > LIMIT)
    }
}

/// Runs the reference experiments of an unpacked FMU, in its folder, and compares the results.
///
/// # Errors
/// Files that cannot be read; a run that fails; times that are not those of the experiment.
pub(crate) fn compare(fmu: &Fmu, folder: &Path) -> Result<Vec<Comparison>> {
    let file = folder.join(FOLDER).join(EXPERIMENTS);
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let at = || format!("{FOLDER}/{EXPERIMENTS}");
    let text = std::fs::read_to_string(&file).context(at)?;
    let experiments: Experiments = quick_xml::de::from_str(&text).context(at)?;
    experiments
        .experiments
        .iter()
        .map(|of| of.compare(fmu, folder))
        .collect()
}

impl ReferenceExperiment {
    fn compare(&self, fmu: &Fmu, folder: &Path) -> Result<Comparison> {
        let named = || format!("reference experiment {:?}", self.name);
        let Some(Source { source }) = &self.references else {
            return Err(invalid!("{} has no results", named()));
        };
        if source.contains("..") || Path::new(source).is_absolute() {
            return Err(invalid!("{}: {source:?} is not a file beside {EXPERIMENTS}", named()));
        }
        let transient = self.transient.as_ref();
        if self
            .start
            .or(transient.and_then(|t| t.start))
            .is_some_and(|start| start != 0.0)
        {
            return Err(invalid!("{} does not start at 0 s, which is not supported", named()));
        }
        let options = SimulateOptions {
            experiment: Experiment {
                stop_time: self.stop.or(transient.and_then(|t| t.stop)),
                step: self.step.or(transient.and_then(|t| t.step)),
                tolerance: self.tolerance,
            },
            ..SimulateOptions::default()
        };
        let path: PathBuf = folder.join(FOLDER).join(source);
        let table = TableFile::read(&path).map_err(|error| invalid!("{FOLDER}/{source}: {}", innermost(&error)))?;
        if let Some((name, cell)) = table.left_out.first() {
            return Err(invalid!("{FOLDER}/{source}, column {name:?}, {cell}"));
        }
        let run = simulate(fmu, &options, Control::default()).context(named)?;
        if let Some(failure) = run.failure {
            return Err(failure).context(named);
        }
        let time = table.columns.iter().find(|column| column.name == "time");
        let time = time.ok_or_else(|| invalid!("{FOLDER}/{source} has no column \"time\""))?;
        same_times(&time.values, &run.results.time).map_err(|what| invalid!("{FOLDER}/{source}: {what}"))?;
        let mut comparison = Comparison {
            name: self.name.clone(),
            size: (time.values.len(), table.columns.len() - 1),
            deviations: Vec::new(),
            missing: Vec::new(),
        };
        for reference in table.columns.iter().filter(|column| column.name != "time") {
            let variables = fmu.description.model_variables.iter();
            let known = variables.clone().find(|v| v.name == reference.name);
            let column = run.results.columns.iter().find(|column| column.name == reference.name);
            match (known, column) {
                (Some(variable), Some(column)) => {
                    let largest = deviation(variable, column, reference, &run.results.time);
                    comparison.deviations.extend(largest);
                }
                _ => comparison.missing.push(reference.name.clone()),
            }
        }
        comparison.deviations.sort_by(|a, b| b.relative.total_cmp(&a.relative));
        Ok(comparison)
    }
}

/// Returns the last cause of an error, without the path of a temporary file.
fn innermost(error: &Error) -> String {
    error.chain().last().map_or_else(String::new, ToString::to_string)
}

/// Checks that the times of a reference are those of the run.
fn same_times(reference: &[f64], run: &[f64]) -> Result<(), String> {
    if reference.len() != run.len() {
        return Err(format!(
            "{} rows, and the experiment has {}",
            reference.len(),
            run.len()
        ));
    }
    let off = reference
        .iter()
        .zip(run)
        .find(|(a, b)| (*a - *b).abs() > LIMIT * b.abs().max(1.0));
    match off {
        Some((a, b)) => Err(format!("t = {a} s in place of {b} s")),
        None => Ok(()),
    }
}

/// Returns the largest deviation of a variable; none if all bits are equal.
fn deviation(variable: &ScalarVariable, column: &Column, reference: &FileColumn, time: &[f64]) -> Option<Deviation> {
    let nominal = match &variable.kind {
        model_description::Kind::Real(real) => real.nominal.unwrap_or(1.0),
        _ => 1.0,
    };
    let largest = reference.values.iter().filter(|value| value.is_finite());
    let scale = largest.fold(nominal, |scale, value| scale.max(value.abs()));
    let rows = column.values.iter().zip(&reference.values).zip(time);
    let off = rows.filter(|((value, reference), _)| value.to_bits() != reference.to_bits() && value != reference);
    let size = |a: f64, b: f64| if (a - b).is_nan() { f64::INFINITY } else { (a - b).abs() };
    let ((&value, &of), &time) =
        off.max_by(|((a, ra), _), ((b, rb), _)| size(**a, **ra).total_cmp(&size(**b, **rb)))?;
    Some(Deviation {
        name: column.name.clone(),
        unit: column.unit.clone(),
        time,
        values: [value, of],
        relative: size(value, of) / scale,
    })
}
