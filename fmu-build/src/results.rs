//! The results of a run over time.

use crate::table::{Cells, Table};
use grapple::spec::mangled;

/// Returns a function that tests a name from an FMU, with structured or flat names, for equality
/// with a structured name.
pub fn called(structured: &str) -> impl Fn(&str) -> bool {
    let flat = mangled(structured);
    move |name| name == structured || name == flat
}

/// Values of variables over time.
#[derive(Default)]
pub struct Results {
    /// Times, s.
    pub time: Vec<f64>,
    /// One column per variable.
    pub columns: Vec<Column>,
    /// Values read once at the start: the parameters used by the run.
    pub parameters: Vec<(String, f64)>,
}

/// One variable over time.
pub struct Column {
    /// Name in the FMU.
    pub name: String,
    /// Unit in FMI's notation; empty for a pure number.
    pub unit: String,
    /// One value for each time.
    pub values: Vec<f64>,
}

impl Results {
    /// Returns a variable by its structured name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let is = called(name);
        self.columns.iter().find(|column| is(&column.name))
    }

    /// Returns the values of a variable by its structured name.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.column(name).map(|column| column.values.as_slice())
    }

    /// Returns the values of `name[1]` … `name[N]`.
    pub fn get_vector<const N: usize>(&self, name: &str) -> Option<[&[f64]; N]> {
        let mut parts = [&[][..]; N];
        for (i, part) in parts.iter_mut().enumerate() {
            *part = self.get(&format!("{name}[{}]", i + 1))?;
        }
        Some(parts)
    }

    /// Returns the value of a parameter by its structured name.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        let is = called(name);
        let found = self.parameters.iter().find(|(name, _)| is(name));
        found.map(|(_, value)| *value)
    }

    /// Returns the table with the time in its first column.
    pub fn table(&self) -> Table<'_> {
        let mut table = Table::default();
        table.push("time", "s", Cells::Real((&self.time).into()));
        for column in &self.columns {
            table.push(&column.name, &column.unit, Cells::Real((&column.values).into()));
        }
        table
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![variables_are_found_by_their_structured_name];

    fn results() -> Results {
        let column = |name: &str, unit: &str, value: f64| Column {
            name: name.into(),
            unit: unit.into(),
            values: vec![value],
        };
        Results {
            time: vec![0.1],
            columns: vec![
                column("base.r[1]", "m", 1e-300),
                column("base_r_2_", "m", -0.5),
                column("base.q[1]", "", 1.0),
            ],
            parameters: Vec::new(),
        }
    }

    fn variables_are_found_by_their_structured_name() {
        let results = results();
        assert_eq!(results.get("base.r[2]"), Some(&[-0.5][..]));
        assert_eq!(results.get_vector::<2>("base.r").map(|r| r[1][0]), Some(-0.5));
        assert!(results.get_vector::<3>("base.r").is_none());
    }
}
