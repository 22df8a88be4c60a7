//! The table of a run, and its CSV form.
//!
//! The header says each column's unit after a blank, and pure numbers have none:
//!
//! ```text
//! time [s],base.r[1] [m],base.q[1],elbow.q [rad]
//! ```
//!
//! so that one line of pandas reads it, and a second, if wanted, drops the units:
//!
//! ```python
//! df = pd.read_csv("two_link.csv", index_col=0)
//! df.columns = df.columns.str.split(" ").str[0]
//! ```
//!
//! Numbers are as short as they can be and read back to the same bits.

use grapple::spec::mangled;
use std::io::{self, Write};

/// Values over time.
#[derive(Default)]
pub struct Results {
    /// Times, s.
    pub time: Vec<f64>,
    /// One column per variable.
    pub columns: Vec<Column>,
    /// The values of the parameters that the run used.
    pub parameters: Vec<(String, f64)>,
}

/// One variable over time.
pub struct Column {
    /// Name in the FMU.
    pub name: String,
    /// Unit, as FMI writes it; empty for a pure number.
    pub unit: String,
    /// One value for each time.
    pub values: Vec<f64>,
}

impl Results {
    /// The values of a variable by its structured name, in FMUs with structured or flat names.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        let flat = mangled(name);
        let column = self
            .columns
            .iter()
            .find(|column| column.name == name || column.name == flat);
        column.map(|column| column.values.as_slice())
    }

    /// The values of `name[1]` … `name[N]`.
    pub fn get_vector<const N: usize>(&self, name: &str) -> Option<[&[f64]; N]> {
        let mut parts = [&[][..]; N];
        for (i, part) in parts.iter_mut().enumerate() {
            *part = self.get(&format!("{name}[{}]", i + 1))?;
        }
        Some(parts)
    }

    /// The value of a parameter by its structured name.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        let flat = mangled(name);
        let found = self.parameters.iter().find(|(n, _)| n == name || *n == flat);
        found.map(|(_, value)| *value)
    }

    /// Writes the table as CSV.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        write!(out, "time [s]")?;
        for Column { name, unit, .. } in &self.columns {
            match unit.as_str() {
                "" => write!(out, ",{name}")?,
                unit => write!(out, ",{name} [{unit}]")?,
            }
        }
        writeln!(out)?;
        for (i, time) in self.time.iter().enumerate() {
            write!(out, "{time:?}")?;
            for column in &self.columns {
                write!(out, ",{:?}", column.values[i])?;
            }
            writeln!(out)?;
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_header_has_units_and_numbers_keep_their_bits() {
        let mut text = Vec::new();
        results().write_csv(&mut text).expect("memory takes every byte");
        let text = String::from_utf8(text).expect("CSV is text");
        assert_eq!(
            text,
            "time [s],base.r[1] [m],base_r_2_ [m],base.q[1]\n0.1,1e-300,-0.5,1.0\n"
        );
    }

    #[test]
    fn variables_are_found_by_their_structured_name() {
        let results = results();
        assert_eq!(results.get("base.r[2]"), Some(&[-0.5][..]));
        assert_eq!(results.get_vector::<2>("base.r").map(|r| r[1][0]), Some(-0.5));
        assert!(results.get_vector::<3>("base.r").is_none());
    }
}
