//! Results of a run that any program recorded, matched with a model's variables.
//!
//! Positions and attitudes that are not in the table are computed by the model from its states, as
//! far as those on which they depend are there.

use crate::charts;
use crate::error::{Result, invalid};
use crate::point::Point;
use crate::results::{Column, Results};
use crate::run::{Effort, Run, Times};
use crate::summaries::unknown;
use crate::table_file::{FileColumn, TableFile};
use crate::text::count;
use grapple::event::{Occurrence, Pairing};
use grapple::fmu::description::{self, Interfaces};
use grapple::fmu::registry::{Naming, Registry, Slot};
use grapple::plant::Model;
use grapple::spec::mangled;
use grapple::{Error, Event};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Results of one run.
pub struct Recorded {
    /// Name of the run: that of its file.
    pub name: String,
    /// The table with the computed columns, the values of the model's parameters, and the impacts,
    /// captures and releases that the columns show. There is no effort.
    pub run: Run,
    /// Remarks: columns that are not variables of the model, and parts that cannot be drawn.
    pub remarks: Vec<String>,
    /// Inputs of the model that are not in the table.
    pub missing_inputs: Vec<String>,
}

/// Selection and values that the file itself does not have.
#[derive(Default)]
pub struct RecordedOptions {
    /// Prefix of the model's variables in the titles, if several are possible: the name of the FMU
    /// in a system.
    pub component: Option<String>,
    /// Values of parameters, by their names; SI units.
    pub set: Vec<(String, f64)>,
}

impl Recorded {
    /// Reads the results of a run of this model from CSV or Parquet.
    ///
    /// # Errors
    /// A file of another kind, without rows, without a column `time` or with times that decrease; no
    /// column of the model, or those of several components; cells that are no finite numbers; a unit
    /// that is not that of the variable; an unknown parameter.
    pub fn read(file: &Path, model: &Arc<Model>, options: &RecordedOptions) -> Result<Self> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |error: crate::Error| invalid!("{}: {}", file.display(), error.in_line());
        let table = TableFile::read(file)?;
        let recorded = Self::of(table, model, options).map_err(failed)?;
        Ok(Self { name, ..recorded })
    }

    fn of(table: TableFile, model: &Arc<Model>, options: &RecordedOptions) -> Result<Self> {
        let registry = Registry::new(Arc::clone(model), Naming::Structured);
        let TableFile {
            mut columns,
            first_row,
            left_out,
        } = table;
        let time = times(&mut columns, &left_out, first_row)?;
        let titles = columns.iter().map(|column| column.name.as_str());
        let known = Names::of(
            &registry,
            titles.chain(left_out.iter().map(|(name, _)| name.as_str())),
            options,
        )?;
        let mut recorded = Self {
            name: String::new(),
            run: Run {
                times: Times {
                    stop: *time.last().unwrap_or(&0.0),
                    step: f64::NAN,
                    tolerance: model.spec.experiment.tolerance,
                },
                results: Results::default(),
                events: Vec::new(),
                messages: Vec::new(),
                solver: None,
                effort: Effort::default(),
                failure: None,
            },
            remarks: Vec::new(),
            missing_inputs: Vec::new(),
        };
        let results = &mut recorded.run.results;
        if let Some((name, why)) = left_out.iter().find(|(name, _)| known.get(name).is_some()) {
            return Err(invalid!("column {name:?}, {why}"));
        }
        let (mut foreign, mut constants) = (Vec::new(), Vec::new());
        for column in columns {
            let Some(slot) = known.get(&column.name) else {
                foreign.push(column);
                continue;
            };
            let column = checked(
                column,
                registry.name(slot).into_owned(),
                registry.quantity(slot).unit.symbol(),
                first_row,
            )?;
            if results.column(&column.name).is_some() {
                return Err(invalid!("two columns are called {:?}", column.name));
            }
            match slot {
                Slot::Parameter(_) => constants.push(constant(column)?),
                _ => results.columns.push(column),
            }
        }
        results.parameters = parameters(model, constants, &options.set)?;
        results.time = time;
        let inputs = model.inputs.iter().map(|input| &input.quantity.name);
        let missing = inputs.filter(|name| results.column(name).is_none());
        recorded.missing_inputs = missing.cloned().collect();
        recorded.remarks.extend(known.remark(&foreign, &left_out));
        // Without the model's prefix a name could be that of a variable.
        let others = foreign
            .into_iter()
            .filter(|column| !known.slots.contains_key(&column.name));
        results.columns.extend(others.map(|column| Column {
            name: column.name,
            unit: column.unit.unwrap_or_default(),
            values: column.values,
        }));
        recorded.complete(model);
        recorded.find_events(model);
        Ok(recorded)
    }

    /// Computes the positions, attitudes and deflections that are not in the table, at the plotted
    /// rows, and adds remarks on those that cannot be computed.
    fn complete(&mut self, model: &Arc<Model>) {
        let mut missing = BTreeMap::new();
        let computable = self.computable(model, &mut missing);
        if let Err(error) = computable.and_then(|columns| self.compute(model, &columns)) {
            self.remarks.push(format!(
                "Positions that are not in the table cannot be computed: {error}"
            ));
        }
        let mut causes: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for (part, mut lacking) in missing {
            lacking.dedup();
            causes.entry(lacking).or_default().push(part);
        }
        for (lacking, parts) in causes {
            // A state is not computed.
            let own = match lacking[0].starts_with(&format!("{}.", parts[0])) {
                true => String::new(),
                false => format!("{}.r and q, or ", parts[0]),
            };
            let lacking = listed(&lacking);
            self.remarks
                .push(format!("{} not drawn: the table lacks {own}{lacking}.", are(&parts)));
        }
        let states = model.system().states();
        let bent = states.iter().filter(|state| state.name.contains(".eta["));
        let unbent = bent.filter(|state| self.run.results.column(&state.name).is_none());
        let mut bodies: Vec<String> = unbent
            .filter_map(|state| Some(state.name.split_once(".eta[")?.0.to_owned()))
            .collect();
        bodies.dedup();
        let is_given = |name: String| self.run.results.column(&name).is_some();
        bodies.retain(|body| is_given(format!("{body}.r[1]")) && is_given(format!("{body}.q[1]")));
        if !bodies.is_empty() {
            self.remarks.push(format!(
                "{} drawn with the deflection of the start: the table lacks the amplitudes eta.",
                are(&bodies)
            ));
        }
    }

    /// Returns the indices of outputs that are not in the table and can be computed from it;
    /// `missing` gets the variables without which a body or frame has no position.
    fn computable(&self, model: &Arc<Model>, missing: &mut BTreeMap<String, Vec<String>>) -> Result<Vec<usize>, Error> {
        let wanted = |name: &str| is_position(name) && self.run.results.column(name).is_none();
        let places: Vec<usize> = (0..model.outputs.len())
            .filter(|&i| wanted(&model.outputs[i].quantity.name))
            .collect();
        let is_placed = |part: &str| model.spec.body.contains_key(part) || model.spec.frame.contains_key(part);
        let part = |name: &str| Some(name.rsplit_once('.')?.0.to_owned()).filter(|part| is_placed(part));
        let lacking = model.states.iter().map(|state| &state.name).filter(|name| wanted(name));
        for state in lacking {
            if let Some(part) = part(state) {
                missing.entry(part).or_default().push(vector(state));
            }
        }
        if places.is_empty() {
            return Ok(places);
        }
        let all = description::describe(model, Naming::Structured, Interfaces::Both)?;
        let there: HashSet<&str> = self
            .run
            .results
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let name_of = |index: u32| all.model_variables[index as usize - 1].name.as_str();
        let unknowns = all.model_structure.outputs.iter();
        let knowns: HashMap<&str, &[u32]> = unknowns
            .map(|unknown| {
                (
                    name_of(unknown.index),
                    unknown.dependencies.as_deref().unwrap_or_default(),
                )
            })
            .collect();
        let mut columns = Vec::new();
        for place in places {
            let name = model.outputs[place].quantity.name.as_str();
            let knowns = knowns.get(name).copied().unwrap_or_default();
            let lacking = knowns
                .iter()
                .map(|&known| name_of(known))
                .filter(|known| !there.contains(known));
            let mut lacking: Vec<String> = lacking.map(vector).collect();
            lacking.dedup();
            if lacking.is_empty() {
                columns.push(place);
            } else if let Some(part) = part(name).filter(|_| name.ends_with(".r[1]") || name.ends_with(".q[1]")) {
                missing.insert(part, lacking);
            }
        }
        Ok(columns)
    }

    /// Computes these outputs at the plotted rows and adds them to the columns.
    fn compute(&mut self, model: &Arc<Model>, columns: &[usize]) -> Result<(), Error> {
        if columns.is_empty() {
            return Ok(());
        }
        let recorded: Vec<(usize, &[f64])> = model
            .states
            .iter()
            .enumerate()
            .filter_map(|(i, state)| Some((i, self.run.results.get(&state.name)?)))
            .collect();
        let time = &self.run.results.time;
        let mut point = Point::with(crate::start::prepared(model, &self.run.results)?)?;
        let mut values = vec![vec![f64::NAN; time.len()]; columns.len()];
        for row in charts::rows(time.len()) {
            point.t = time[row];
            for (i, state) in &recorded {
                point.x[*i] = state[row];
            }
            let outputs = point.outputs()?;
            for (values, &place) in values.iter_mut().zip(columns) {
                values[row] = outputs[place];
            }
        }
        let computed = columns.iter().zip(values).map(|(&place, values)| {
            let quantity = &model.outputs[place].quantity;
            Column {
                name: quantity.name.clone(),
                unit: quantity.unit.symbol().to_owned(),
                values,
            }
        });
        let computed: Vec<Column> = computed.collect();
        self.run.results.columns.extend(computed);
        Ok(())
    }

    /// Finds impacts, captures and releases in the outputs of contacts.
    fn find_events(&mut self, model: &Model) {
        for (name, contact) in &model.spec.contact {
            let get = |what: &str| self.run.results.get(&format!("{name}.{what}"));
            let pairing = Pairing {
                contact: name.clone(),
                frames: [contact.a.clone(), contact.b.clone()],
                captures: contact.law.captures(),
            };
            let impulse = self.run.results.get_vector::<3>(&format!("{name}.impulse"));
            let mut skipped = 0.0;
            for row in 1..self.run.results.time.len() {
                let rise = |what: &str| get(what).map_or(0.0, |of| of[row] - of[row - 1]);
                let t = self.run.results.time[row];
                if rise("captured") < 0.0 {
                    let what = Occurrence::Released { contact: name.clone() };
                    self.run.events.push(Event { t, what });
                }
                if let (Some(p), Some(work)) = (&impulse, get("energy_change")) {
                    let count = rise("count");
                    if count > 0.0 {
                        skipped += count - 1.0;
                        let what = Occurrence::Impact {
                            pairing: pairing.clone(),
                            impulse: p.map(|part| part[row] * part[row]).iter().sum::<f64>().sqrt(),
                            work: work[row],
                            clamped: None,
                            gain: None,
                        };
                        let t = get("time").map_or(t, |time| time[row]);
                        self.run.events.push(Event { t, what });
                    }
                }
            }
            if skipped > 0.0 {
                self.remarks.push(format!(
                    "{name} has {} that the table does not show: only the last one before each row is listed.",
                    count(skipped as usize, "impact")
                ));
            }
        }
        self.run.events.sort_by(|a, b| a.t.total_cmp(&b.t));
    }
}

/// Returns name and value of a parameter that is a column.
///
/// # Errors
/// It changes during the run.
fn constant(column: Column) -> Result<(String, f64)> {
    let value = column.values[0];
    if column.values.iter().any(|other| *other != value) {
        return Err(invalid!(
            "the parameter {:?} changes during the run, which the page does not show",
            column.name
        ));
    }
    Ok((column.name, value))
}

/// Returns the values of all parameters: those of the model, of columns, of `set`.
fn parameters(model: &Model, columns: Vec<(String, f64)>, set: &[(String, f64)]) -> Result<Vec<(String, f64)>> {
    let starts = model.parameters.iter().map(|of| (of.quantity.name.clone(), of.start));
    let mut values: HashMap<String, f64> = starts.chain(columns).collect();
    for (name, value) in set {
        match values.get_mut(name) {
            Some(to) => *to = *value,
            None => {
                let why = unknown("parameter", name, values.keys().map(String::as_str));
                return Err(crate::Error::Invalid(why));
            }
        }
    }
    Ok(values.into_iter().collect())
}

/// Titles of the table that are variables of the model, with or without a prefix.
struct Names {
    slots: HashMap<String, Slot>,
    prefix: String,
}

impl Names {
    /// Finds the prefix: the only one with all states (an FMU recorded with a controller that reads
    /// some of them), or else with variables of the model.
    ///
    /// # Errors
    /// No variables of the model, or those of several components.
    fn of<'a>(registry: &Registry, titles: impl Iterator<Item = &'a str>, options: &RecordedOptions) -> Result<Self> {
        let mut slots = HashMap::new();
        for variable in registry.variables() {
            slots.insert(mangled(&variable.name), variable.slot);
            slots.insert(variable.name.into_owned(), variable.slot);
        }
        let titles: Vec<&str> = titles.collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for title in &titles {
            let dots = title.match_indices('.').map(|(at, _)| at + 1);
            for begin in std::iter::once(0).chain(dots) {
                if slots.contains_key(&title[begin..]) {
                    *counts.entry(&title[..begin]).or_default() += 1;
                }
            }
        }
        if let Some(component) = &options.component {
            let own = |prefix: &str| prefix == format!("{component}.") || prefix.ends_with(&format!(".{component}."));
            counts.retain(|prefix, _| own(prefix));
        }
        let there: HashSet<&str> = titles.iter().copied().collect();
        let has = |prefix: &str, name: &str| there.contains(format!("{prefix}{name}").as_str());
        let has_states = |prefix: &str| {
            let mut states = registry.model().states.iter();
            states.all(|state| has(prefix, &state.name) || has(prefix, &mangled(&state.name)))
        };
        let complete: Vec<&str> = counts.keys().copied().filter(|prefix| has_states(prefix)).collect();
        // Names of a mount's parts also match with the mount as the prefix.
        let best = counts.iter().max_by_key(|(prefix, n)| (**n, Reverse(prefix.len())));
        let best = best.map(|(prefix, _)| *prefix);
        let others = counts.keys().copied();
        let others = others.filter(|prefix| best.is_some_and(|best| !prefix.starts_with(best)));
        let prefixes = match complete.len() {
            1 => complete,
            _ => best.into_iter().chain(others).collect(),
        };
        match (prefixes.as_slice(), &options.component) {
            ([prefix], _) => Ok(Self {
                slots,
                prefix: (*prefix).to_owned(),
            }),
            ([], Some(component)) => Err(invalid!(
                "no column is a variable of the model with the prefix \"{component}.\""
            )),
            ([], None) => {
                let example = titles.iter().copied().find(|title| !title.is_empty());
                let why = example.map_or("there is no other column than time".to_owned(), |title| {
                    unknown("variable", title, slots.keys().map(String::as_str))
                });
                Err(invalid!("no column is a variable of the model: {why}"))
            }
            (several, _) => {
                let names: Vec<String> = several
                    .iter()
                    .map(|prefix| match prefix.trim_end_matches('.') {
                        "" => "names without prefix".to_owned(),
                        prefix => prefix.to_owned(),
                    })
                    .collect();
                Err(invalid!(
                    "{} have variables of the model; --component chooses one",
                    listed(&names)
                ))
            }
        }
    }

    /// Returns the model's variable with this title.
    fn get(&self, title: &str) -> Option<Slot> {
        self.slots.get(title.strip_prefix(&self.prefix)?).copied()
    }

    /// Returns the remark on columns that are not variables of the model, with the most similar name
    /// of the first; columns of other components of a system are none.
    fn remark(&self, foreign: &[FileColumn], left_out: &[(String, String)]) -> Option<String> {
        let names = foreign
            .iter()
            .map(|column| &column.name)
            .chain(left_out.iter().map(|(name, _)| name));
        let names: Vec<String> = names.filter(|name| name.starts_with(&self.prefix)).cloned().collect();
        let first = names.first()?.strip_prefix(&self.prefix)?;
        let why = unknown("variable", first, self.slots.keys().map(String::as_str));
        let hint = why.split_once("; ").map_or("", |(_, hint)| hint);
        Some(format!(
            "{} not of the model, and only in charts ({first}: {hint}).",
            are(&names)
        ))
    }
}

/// Removes the column of times, s, and returns its values.
pub(crate) fn times(
    columns: &mut Vec<FileColumn>,
    left_out: &[(String, String)],
    first_row: usize,
) -> Result<Vec<f64>> {
    let is_time = |name: &str| name.eq_ignore_ascii_case("time");
    let Some(place) = columns.iter().position(|column| is_time(&column.name)) else {
        return Err(match left_out.iter().find(|(name, _)| is_time(name)) {
            Some((name, why)) => invalid!("column {name:?}, {why}"),
            None => invalid!("there is no column \"time\" (s)"),
        });
    };
    let time = checked(columns.remove(place), "time".to_owned(), "s", first_row)?.values;
    let falls = time.windows(2).position(|pair| pair[1] < pair[0]);
    match falls {
        Some(row) => Err(invalid!(
            "row {}: the time decreases from {} s to {} s",
            first_row + row + 1,
            time[row],
            time[row + 1]
        )),
        None => Ok(time),
    }
}

/// Returns a column of the variable `name` with this unit.
fn checked(column: FileColumn, name: String, unit: &str, first_row: usize) -> Result<Column> {
    if let Some(written) = column.unit.filter(|written| written != unit) {
        let expected = if unit.is_empty() { "a pure number" } else { unit };
        return Err(invalid!(
            "column {name:?} has the unit {written}; the variable is {expected}"
        ));
    }
    if let Some(row) = column.values.iter().position(|value| !value.is_finite()) {
        return Err(invalid!(
            "row {}, column {name:?}: there is no finite number",
            first_row + row
        ));
    }
    Ok(Column {
        name,
        unit: unit.to_owned(),
        values: column.values,
    })
}

/// Returns true for a position, attitude or deflection, which depends on positions alone.
fn is_position(name: &str) -> bool {
    let quantity = name.rsplit_once('.').map_or(name, |(_, quantity)| quantity);
    let quantity = quantity.split('[').next().unwrap_or_default();
    ["r", "q", "slope", "q_lvlh", "tip_deflection", "distance"].contains(&quantity)
}

/// Returns `base.r` for `base.r[1]`.
fn vector(name: &str) -> String {
    name.split('[').next().unwrap_or_default().to_owned()
}

/// Largest number of names in a message.
const MOST_NAMED: usize = 5;

/// Returns "a, b and 3 others".
fn listed(names: &[String]) -> String {
    let (last, others) = match names {
        [] => return String::new(),
        [only] => return only.clone(),
        _ if names.len() > MOST_NAMED => (count(names.len() - MOST_NAMED, "other"), &names[..MOST_NAMED]),
        [others @ .., last] => (last.clone(), others),
    };
    format!("{} and {last}", others.join(", "))
}

/// Returns "a is", "a and b are".
fn are(names: &[String]) -> String {
    format!("{} {}", listed(names), if names.len() == 1 { "is" } else { "are" })
}
