//! The tables of `grapple simulate`.

use std::collections::HashMap;

/// The columns of a CSV file: a list of values for each title.
pub type Table<'a> = HashMap<&'a str, Vec<f64>>;

/// Parses a CSV file.
pub fn table(text: &str) -> Table<'_> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let mut columns: Table = names.iter().map(|name| (*name, Vec::new())).collect();
    for line in lines {
        for (name, value) in names.iter().zip(line.split(',')) {
            let column = columns.get_mut(name).expect("a column for each name");
            column.push(value.parse().expect("a number"));
        }
    }
    columns
}

pub fn last(table: &Table, name: &str) -> f64 {
    *table
        .get(name)
        .and_then(|values| values.last())
        .unwrap_or_else(|| panic!("no column {name:?}"))
}
