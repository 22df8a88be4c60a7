//! A system of connected FMUs, loaded, and the order in which they are stepped.

use crate::archive;
use crate::error::{Context, Result, invalid};
use crate::fmu::{Fmu, is_number};
use crate::package::Package;
use crate::run::{Experiment, Times};
use crate::slave::FmuLibrary;
use crate::ssp::{Ssp, Value, named};
use crate::summaries::unknown;
use model_description::{Causality, DefaultExperiment, ModelDescription, ScalarVariable, Variability};
use std::path::Path;

/// FMUs with their connections, loaded.
pub struct CoupledSystem {
    /// Name of the system.
    pub name: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) wires: Vec<Wire>,
    /// Indices of the parts in the order in which they are stepped.
    pub(crate) order: Vec<usize>,
    values: Vec<Value>,
    stop_time: Option<f64>,
}

/// An FMU of a system.
pub(crate) struct Part {
    pub name: String,
    fmu: Loaded,
}

/// An FMU of this or of another tool.
enum Loaded {
    Own(Box<Fmu>),
    Other(Box<(ModelDescription, FmuLibrary)>),
}

/// Connection of an output with an input.
pub(crate) struct Wire {
    pub from: usize,
    pub output: u32,
    pub to: usize,
    pub input: u32,
    /// True if the value jumps, so that it is held within a step.
    pub is_discrete: bool,
}

impl Part {
    fn open(name: String, file: &Path, folder: &Path) -> Result<Self> {
        std::fs::create_dir(folder).other()?;
        let fmu = match archive::is_own(file)? {
            true => Loaded::Own(Box::new(Fmu::unpack(&Package::Fmu(file.to_owned()), folder)?)),
            false => {
                archive::unpack(file, folder, archive::ALL_LIMIT)?;
                let description = archive::description(file)?;
                let library = FmuLibrary::new(folder, &description)?;
                Loaded::Other(Box::new((description, library)))
            }
        };
        Ok(Self { name, fmu })
    }

    pub fn description(&self) -> &ModelDescription {
        match &self.fmu {
            Loaded::Own(fmu) => &fmu.description,
            Loaded::Other(other) => &other.0,
        }
    }

    pub fn library(&self) -> &FmuLibrary {
        match &self.fmu {
            Loaded::Own(fmu) => &fmu.library,
            Loaded::Other(other) => &other.1,
        }
    }

    pub fn variables(&self, wanted: impl Fn(&ScalarVariable) -> bool) -> Vec<&ScalarVariable> {
        self.description()
            .model_variables
            .iter()
            .filter(|v| wanted(v))
            .collect()
    }

    /// Returns a variable that is read and set as a number, by its name.
    fn real(&self, what: &str, name: &str, causes: &[Causality]) -> Result<&ScalarVariable> {
        let known = self.variables(|v| is_number(v, self.description().fmi_version) && causes.contains(&v.causality));
        let found = known.iter().find(|v| v.name == name).copied();
        found.ok_or_else(|| {
            let names = known.iter().map(|v| v.name.as_str());
            invalid!("{}: {}", self.name, unknown(what, name, names))
        })
    }

    /// Returns true if an output depends on an input without delay, as the FMU declares.
    fn passes(&self, input: u32, output: u32) -> bool {
        let variables = &self.description().model_variables;
        let place = |reference: u32, causality: Causality| {
            let version = self.description().fmi_version;
            let is = |v: &ScalarVariable| {
                v.value_reference == reference && v.causality == causality && is_number(v, version)
            };
            variables.iter().position(is).map(|place| place as u32 + 1)
        };
        let (input, output) = (place(input, Causality::Input), place(output, Causality::Output));
        let mut unknowns = self.description().model_structure.outputs.iter();
        let unknown = unknowns.find(|unknown| Some(unknown.index) == output);
        match unknown.and_then(|unknown| unknown.dependencies.as_ref()) {
            Some(dependencies) => input.is_some_and(|input| dependencies.contains(&input)),
            None => true,
        }
    }
}

impl CoupledSystem {
    /// Unpacks an SSP file into an empty folder and loads its FMUs. The caller must keep the folder
    /// until the system is dropped.
    ///
    /// # Errors
    /// A system that cannot be read; an FMU that is missing or does not run here; a connection to an
    /// unknown variable, between different units, or the second one to an input; an algebraic loop.
    pub fn unpack(file: &Path, folder: &Path) -> Result<Self> {
        let ssp = Ssp::unpack(file, folder)?;
        let mut parts = Vec::new();
        for (i, (name, path)) in ssp.components.into_iter().enumerate() {
            let part = Part::open(name.clone(), &path, &folder.join(format!("part {i}")));
            parts.push(part.context(|| format!("{}: the FMU {name:?}", file.display()))?);
        }
        let mut system = Self {
            name: ssp.name,
            wires: Vec::new(),
            order: Vec::new(),
            values: ssp.values,
            stop_time: ssp.stop_time,
            parts,
        };
        for [(from, output), (to, input)] in &ssp.connections {
            system.connect([from, to], [output, input])?;
        }
        system.order = system.sorted()?;
        Ok(system)
    }

    fn place(&self, name: &str) -> Result<usize> {
        let names = || self.parts.iter().map(|part| part.name.as_str());
        let place = names().position(|known| known == name);
        place.ok_or_else(|| invalid!("the system {}: {}", self.name, unknown("FMU", name, names())))
    }

    fn connect(&mut self, [from, to]: [&str; 2], [output, input]: [&str; 2]) -> Result<()> {
        let (from, to) = (self.place(from)?, self.place(to)?);
        let (source, target) = (&self.parts[from], &self.parts[to]);
        let outputs = [Causality::Output, Causality::Local, Causality::Parameter];
        let (sent, taken) = (
            source.real("output", output, &outputs)?,
            target.real("input", input, &[Causality::Input])?,
        );
        let units =
            [(source, sent), (target, taken)].map(|(part, v)| part.description().unit_of(v).unwrap_or_default());
        if units[0] != units[1] {
            let [a, b] = units.map(|unit| if unit.is_empty() { "a pure number" } else { unit });
            return Err(invalid!(
                "{}.{output} is in {a} and {}.{input} in {b}: the two must agree",
                source.name,
                target.name
            ));
        }
        if self
            .wires
            .iter()
            .any(|wire| wire.to == to && wire.input == taken.value_reference)
        {
            return Err(invalid!("{}.{input} has two connections", target.name));
        }
        let is_discrete = [sent, taken].iter().any(|v| v.variability != Variability::Continuous);
        let (output, input) = (sent.value_reference, taken.value_reference);
        self.wires.push(Wire {
            from,
            output,
            to,
            input,
            is_discrete,
        });
        Ok(())
    }

    /// Returns the order of the parts: before the others those whose outputs depend on their inputs
    /// without delay, or that have no states (controllers: their samples are then not a step old), each
    /// after those on which it depends.
    fn sorted(&self) -> Result<Vec<usize>> {
        let of = |i: usize| self.wires.iter().filter(move |wire| wire.from == i);
        // True if the value of a wire reaches an output that is connected, without delay.
        let passes = |wire: &Wire| of(wire.to).any(|out| self.parts[wire.to].passes(wire.input, out.output));
        let leads: Vec<bool> = (0..self.parts.len())
            .map(|i| {
                let has_states = !self.parts[i].description().model_structure.derivatives.is_empty();
                !has_states || self.wires.iter().any(|wire| wire.to == i && passes(wire))
            })
            .collect();
        let mut order: Vec<usize> = Vec::new();
        while order.len() < leads.iter().filter(|&&leads| leads).count() {
            let is_ready = |&i: &usize| {
                let needed = |wire: &&Wire| wire.to == i && leads[wire.from] && passes(wire);
                let mut needs = self.wires.iter().filter(needed);
                leads[i] && !order.contains(&i) && needs.all(|wire| order.contains(&wire.from))
            };
            let Some(next) = (0..self.parts.len()).find(is_ready) else {
                let rest = (0..leads.len()).filter(|i| leads[*i] && !order.contains(i));
                let names: Vec<&str> = rest.map(|i| self.parts[i].name.as_str()).collect();
                return Err(invalid!(
                    "the system {} has an algebraic loop through {}: each has outputs that depend on its inputs \
                     without delay, so no order of steps is right; sample one of them",
                    self.name,
                    names.join(", ")
                ));
            };
            order.push(next);
        }
        order.extend((0..leads.len()).filter(|&i| !leads[i]));
        Ok(order)
    }

    /// Returns the names of the FMUs in the order in which they are stepped.
    pub fn order(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(|&i| self.parts[i].name.as_str())
    }

    /// Returns the inputs that signals of specs would set in a run of their FMU alone, and that keep
    /// their start values here, as `component.input`.
    pub fn without_signals(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            let Loaded::Own(fmu) = &part.fmu else { continue };
            for (input, _) in fmu.model.spec.signal.iter().filter(|(_, signal)| signal.from_importer) {
                let place = fmu.input(input);
                let is_free = |(reference, _)| !self.wires.iter().any(|wire| wire.to == i && wire.input == reference);
                if place.is_some_and(is_free) {
                    found.push(format!("{}.{input}", part.name));
                }
            }
        }
        found
    }

    /// Returns the FMUs that grapple has built, by name.
    pub fn own(&self) -> impl Iterator<Item = (&str, &Fmu)> {
        self.parts.iter().filter_map(|part| match &part.fmu {
            Loaded::Own(fmu) => Some((part.name.as_str(), &**fmu)),
            Loaded::Other(_) => None,
        })
    }

    /// Returns the times of a run: those of `overrides`, else the stop time of the system, the
    /// shortest step and the smallest tolerance that an FMU requests.
    pub(crate) fn times(&self, overrides: &Experiment) -> Result<Times> {
        if let Some((field, what)) = overrides.problems().next() {
            return Err(invalid!("{field}: {what}"));
        }
        let requested = || {
            self.parts
                .iter()
                .filter_map(|part| part.description().default_experiment.as_ref())
        };
        let least = |of: fn(&DefaultExperiment) -> Option<f64>| requested().filter_map(of).reduce(f64::min);
        let stop = overrides
            .stop_time
            .or(self.stop_time)
            .or_else(|| least(|of| of.stop_time));
        let step = overrides.step.or_else(|| least(|of| of.step_size));
        let (Some(stop), Some(step)) = (stop, step) else {
            return Err(invalid!("no FMU requests times: give --stop-time and --step"));
        };
        let tolerance = overrides.tolerance.or_else(|| least(|of| of.tolerance)).unwrap_or(1e-6);
        for (what, value) in [("stop time", stop), ("step", step), ("tolerance", tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(invalid!("the {what} {value} is not positive and finite"));
            }
        }
        if stop / step > 1e8 {
            return Err(invalid!(
                "{stop} s in steps of {step} s are more than 100 million steps"
            ));
        }
        Ok(Times { stop, step, tolerance })
    }

    /// Returns the settings of each part: value references and values.
    pub(crate) fn settings(&self, set: &[(String, f64)]) -> Result<Vec<Vec<(u32, f64)>>> {
        let mut settings = vec![Vec::new(); self.parts.len()];
        let mut values = self.values.clone();
        for (path, value) in set {
            let (component, variable) = named(path, || self.parts.iter().map(|part| part.name.as_str()))?;
            values.push(Value {
                component: component.to_owned(),
                variable: variable.to_owned(),
                value: *value,
                unit: None,
            });
        }
        for Value {
            component,
            variable: name,
            value,
            unit,
        } in &values
        {
            let i = self.place(component)?;
            let part = &self.parts[i];
            let variable = part.real("parameter or input", name, &[Causality::Parameter, Causality::Input])?;
            let own = part.description().unit_of(variable).unwrap_or_default();
            if let Some(unit) = unit.as_ref().filter(|unit| *unit != own) {
                return Err(invalid!("{component}.{name} is in {own:?}, and its value in {unit:?}"));
            }
            let reference = variable.value_reference;
            if self.wires.iter().any(|wire| wire.to == i && wire.input == reference) {
                return Err(invalid!("{component}.{name} is connected: it cannot be set"));
            }
            if !value.is_finite() {
                return Err(invalid!("{component}.{name} = {value} is not a finite number"));
            }
            settings[i].push((reference, *value));
        }
        Ok(settings)
    }
}
