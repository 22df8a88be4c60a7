//! The measured table, matched with the model.

use super::file::{Identification, IdentificationFile};
use crate::error::{Context, Result, invalid};
use crate::fmu::Fmu;
use crate::recorded::times;
use crate::sensitivities::output;
use crate::table_file::{FileColumn, TableFile};
use grapple::Problem;
use grapple::spec::{Interpolation, Signal};
use indexmap::IndexMap;
use model_description::ScalarVariable;

/// The measured table.
pub struct Data<'a> {
    /// Times of the rows, s; they increase.
    pub time: Vec<f64>,
    /// The measured inputs.
    pub inputs: IndexMap<String, Signal>,
    /// The measured outputs and states.
    pub measured: Vec<Measured<'a>>,
    /// Columns that are not used.
    pub unused: Vec<String>,
}

/// A measured output or state.
pub struct Measured<'a> {
    /// The variable of the model.
    pub variable: &'a ScalarVariable,
    /// Its values, one per row; NaN where there is none.
    pub values: Vec<f64>,
    /// Standard deviation of its noise, if it is given.
    pub sigma: Option<f64>,
}

impl<'a> Data<'a> {
    /// Reads the table of an identification.
    ///
    /// # Errors
    /// A table that cannot be read, without times that increase from zero or later, or without
    /// measurements; an input with a missing number; a column with another unit than the variable;
    /// measurements that the model or the table does not have.
    pub fn read(file: &IdentificationFile, fmu: &'a Fmu) -> Result<Self> {
        let path = file.data();
        let mut table = TableFile::read(&path)?;
        let named = || path.display().to_string();
        let time = times(&mut table.columns, &table.left_out, table.first_row).context(named)?;
        if let Some(row) = time.windows(2).position(|pair| pair[1] <= pair[0]) {
            let (row, t) = (table.first_row + row + 1, time[row]);
            return Err(invalid!("row {row}: the time {t} s occurs twice")).context(named);
        }
        if time[0] < 0.0 {
            return Err(invalid!("a run begins at 0 s, the first row is at {} s", time[0])).context(named);
        }
        if time.last().is_none_or(|&last| last <= 0.0) {
            return Err(invalid!("the last row is at 0 s, the start: a run needs later rows")).context(named);
        }
        let names = || table.columns.iter().map(|column| &column.name);
        if let Some((_, name)) = names()
            .enumerate()
            .find(|(i, name)| names().take(*i).any(|other| other == *name))
        {
            return Err(invalid!("two columns are called {name:?}")).context(named);
        }
        let of = &file.identification;
        let mut data = Self {
            time,
            inputs: IndexMap::new(),
            measured: Vec::new(),
            unused: Vec::new(),
        };
        let mut problems = Vec::new();
        for (name, measurement) in &of.measurement {
            let title = measurement.column.as_ref().unwrap_or(name);
            let mut report = |field: &[&str], what: String| {
                let at = ["measurement", name].into_iter().chain(field.iter().copied());
                let at = at.map(str::to_owned).collect();
                problems.push(Problem { at, what });
            };
            let place = table.columns.iter().position(|column| column.name == *title);
            match (output(fmu, name), place) {
                (Ok(_), _) if fmu.input(name).is_some() => {
                    report(
                        &[],
                        "it is an input, which drives the model and is not compared".to_owned(),
                    );
                }
                (Err(error), _) => report(&[], error.to_string()),
                (_, None) => {
                    let left_out = table.left_out.iter().find(|(known, _)| known == title);
                    let why = left_out.map(|(_, why)| format!(": {why}")).unwrap_or_default();
                    report(&[], format!("the table has no column {title:?} of numbers{why}"));
                }
                (Ok(variable), Some(place)) => {
                    let column = table.columns.remove(place);
                    match checked(&column, fmu.unit(variable)) {
                        Ok(()) => data.measured.push(Measured {
                            variable,
                            values: column.values,
                            sigma: measurement.sigma,
                        }),
                        Err(what) => report(&[], what),
                    }
                }
            }
        }
        if !problems.is_empty() {
            return Err(file.error(&problems));
        }
        data.take(table, of, fmu).context(named)?;
        Ok(data)
    }

    /// Takes the other columns: inputs, and measurements unless they are listed in the file.
    fn take(&mut self, table: TableFile, of: &Identification, fmu: &'a Fmu) -> Result<()> {
        for column in table.columns {
            let name = &column.name;
            if let Some((_, is_discrete)) = fmu.input(name) {
                let variable = fmu.settable(name)?;
                checked(&column, fmu.unit(variable)).map_err(crate::Error::Invalid)?;
                if let Some(row) = column.values.iter().position(|value| !value.is_finite()) {
                    return Err(invalid!(
                        "row {}: the input {name:?} has no finite number",
                        table.first_row + row
                    ));
                }
                let interpolation = if is_discrete {
                    Interpolation::Hold
                } else {
                    of.interpolation
                };
                let mut signal = Signal::table(interpolation);
                (signal.times, signal.values) = (Some(self.time.clone()), Some(column.values));
                self.inputs.insert(column.name, signal);
                continue;
            }
            match output(fmu, name) {
                Ok(variable) if of.measurement.is_empty() && column.values.iter().any(|value| value.is_finite()) => {
                    checked(&column, fmu.unit(variable)).map_err(crate::Error::Invalid)?;
                    self.measured.push(Measured {
                        variable,
                        values: column.values,
                        sigma: None,
                    });
                }
                _ => self.unused.push(column.name),
            }
        }
        self.unused.extend(table.left_out.into_iter().map(|(name, _)| name));
        match self.measured.is_empty() {
            true => Err(invalid!(
                "no column is an output or a state of the model, so there is nothing to compare"
            )),
            false => Ok(()),
        }
    }
}

/// Checks unit and numbers of a measured column; missing numbers are allowed.
fn checked(column: &FileColumn, unit: &str) -> Result<(), String> {
    let name = &column.name;
    if let Some(written) = column.unit.as_ref().filter(|written| *written != unit) {
        let expected = if unit.is_empty() { "a pure number" } else { unit };
        return Err(format!(
            "column {name:?} has the unit {written}; the variable is {expected}"
        ));
    }
    if column.values.iter().any(|value| value.is_infinite()) {
        return Err(format!("column {name:?} has an infinite value"));
    }
    match column.values.iter().any(|value| value.is_finite()) {
        true => Ok(()),
        false => Err(format!("column {name:?} is empty")),
    }
}
