//! Tables of input values: a column for time and one for each input, as `grapple describe
//! --inputs-template` writes them.

use crate::error::{Context, Error, Result, invalid};
use crate::fmu::{Fmu, names};
use crate::summaries::unknown;
use grapple::spec::{Interpolation, Signal, read_text};
use indexmap::IndexMap;
use model_description::Causality;
use std::path::Path;

/// Upper limit of the file's size, bytes.
const SIZE_LIMIT: u64 = 256 << 20;

/// Returns the columns of a file as signals, each under the name of its input.
///
/// # Errors
/// A file that cannot be read; titles that are not inputs, cells that are not numbers, times that
/// decrease.
pub fn read(file: &Path, fmu: &Fmu) -> Result<IndexMap<String, Signal>> {
    let text = read_text(file, SIZE_LIMIT).context(|| format!("cannot read {}", file.display()))?;
    parse(&text, fmu).context(|| file.display().to_string())
}

fn parse(text: &str, fmu: &Fmu) -> Result<IndexMap<String, Signal>> {
    let mut table = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let titles = table.headers().other()?.clone();
    // Titles like "elbow.tau [N.m]", as in tables of results, are accepted.
    let mut columns = titles.iter().map(|title| title.split(" [").next().unwrap_or_default());
    if columns.next() != Some("time") {
        let hint = match titles.iter().any(|title| title.contains([';', '\t'])) {
            true => ", and commas separate the columns (decimals have a point)",
            false => ", in s",
        };
        return Err(invalid!("the first column must be \"time\"{hint}"));
    }
    let variables = fmu.variables(|v| v.causality == Causality::Input);
    let mut signals = IndexMap::new();
    for name in columns {
        let Some((_, is_discrete)) = fmu.input(name) else {
            return Err(Error::Invalid(unknown("input", name, names(&variables))));
        };
        if signals.insert(name.to_owned(), signal(is_discrete)).is_some() {
            return Err(invalid!("two columns are called {name:?}"));
        }
    }
    let mut times = Vec::new();
    let mut values = vec![Vec::new(); signals.len()];
    for record in table.records() {
        let record = record.other()?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |cell: &str| match cell.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(invalid!("line {line}: {cell:?} is not a finite number")),
        };
        let mut cells = record.iter();
        let time = number(cells.next().unwrap_or_default())?;
        if times.last().is_some_and(|&before| time < before) {
            return Err(invalid!("line {line}: the time decreases to {time} s"));
        }
        times.push(time);
        for (column, cell) in values.iter_mut().zip(cells) {
            column.push(number(cell)?);
        }
    }
    if times.is_empty() {
        return Err(invalid!("there are no rows"));
    }
    for (signal, values) in signals.values_mut().zip(values) {
        (signal.times, signal.values) = (Some(times.clone()), Some(values));
    }
    Ok(signals)
}

/// Returns a signal with an empty table: with steps for a discrete input, else interpolated
/// linearly.
fn signal(is_discrete: bool) -> Signal {
    Signal::table(match is_discrete {
        true => Interpolation::Hold,
        false => Interpolation::Linear,
    })
}
