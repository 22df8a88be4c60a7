//! Tables of named columns with units, and their files.
//!
//! In CSV each column's title ends with its unit after a blank; pure numbers have none:
//!
//! ```text
//! time [s],base.r[1] [m],base.q[1],elbow.q [rad]
//! ```
//!
//! One line of pandas reads it, and a second one removes the units:
//!
//! ```python
//! df = pd.read_csv("two_link.csv", index_col=0)
//! df.columns = df.columns.str.split(" ").str[0]
//! ```
//!
//! Numbers are as short as possible and read back to identical bits.
//!
//! Parquet has the bare names as columns, and the units in the file's metadata: in pandas as
//! `df.attrs["units"]`, otherwise under the key `units` as JSON.

use crate::error::{Context, Result, invalid};
use crate::file_kind::FileKind;
use crate::files::Target;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Columns of the same length.
#[derive(Default)]
pub struct Table<'a> {
    /// The columns, from left to right.
    pub columns: Vec<Column<'a>>,
}

/// A named column.
pub struct Column<'a> {
    /// Title.
    pub name: Cow<'a, str>,
    /// Unit in FMI's notation; empty for a pure number and for text.
    pub unit: Cow<'a, str>,
    /// The cells, from top to bottom.
    pub cells: Cells<'a>,
}

/// The cells of a column.
pub enum Cells<'a> {
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers.
    Real(Cow<'a, [f64]>),
    /// Numbers, some of which are missing.
    Sparse(Vec<Option<f64>>),
    /// Text.
    Words(Vec<&'a str>),
}

impl Cells<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Whole(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Sparse(cells) => cells.len(),
            Self::Words(cells) => cells.len(),
        }
    }
}

impl<'a> Table<'a> {
    /// Adds a column on the right.
    pub fn push(&mut self, name: impl Into<Cow<'a, str>>, unit: impl Into<Cow<'a, str>>, cells: Cells<'a>) {
        self.columns.push(Column {
            name: name.into(),
            unit: unit.into(),
            cells,
        });
    }

    /// Checks that the name of a file is not that of another kind than a table's.
    ///
    /// # Errors
    /// The name ends in `.xlsx`, `.fmu`, …
    pub fn check_name(path: &Path) -> Result<()> {
        match FileKind::of(path, b"") {
            None | Some(FileKind::Csv | FileKind::Parquet) => Ok(()),
            Some(_) => Err(invalid!(
                "{}: a table is written as CSV (.csv) or Parquet (.parquet), which spreadsheets and pandas read",
                path.display()
            )),
        }
    }

    /// Writes a file, as Parquet if its name ends in `.parquet`, else as CSV.
    ///
    /// # Errors
    /// The file cannot be written, or its name is that of another kind of file.
    pub fn save(&self, to: &Target) -> Result<()> {
        let extension = to.path().extension();
        Self::check_name(to.path())?;
        match extension.is_some_and(|e| e.eq_ignore_ascii_case("parquet")) {
            true => to.save(|file| self.write_parquet(file).other()),
            false => to.save(|file| self.write_csv(file).other()),
        }
    }

    /// Writes the table as CSV.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_csv(&self, out: impl Write) -> csv::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(self.columns.iter().map(|column| match &*column.unit {
            "" => column.name.to_string(),
            unit => format!("{} [{unit}]", column.name),
        }))?;
        self.write_rows(&mut csv)
    }

    /// Writes the rows below the titles as CSV.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write_rows(&self, csv: &mut csv::Writer<impl Write>) -> csv::Result<()> {
        let rows = self.columns.first().map_or(0, |column| column.cells.len());
        let mut text = String::new();
        for row in 0..rows {
            for column in &self.columns {
                use std::fmt::Write;
                text.clear();
                let written = match &column.cells {
                    Cells::Whole(cells) => write!(text, "{}", cells[row]),
                    Cells::Real(cells) => write!(text, "{:?}", cells[row]),
                    Cells::Sparse(cells) => cells[row].map_or(Ok(()), |cell| write!(text, "{cell:?}")),
                    Cells::Words(cells) => text.write_str(cells[row]),
                };
                written.expect("a string takes every word");
                csv.write_field(&text)?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        csv.flush()?;
        Ok(())
    }

    /// Writes the table as Parquet, compressed by Snappy, in one row group.
    ///
    /// # Errors
    /// Those of `out`.
    fn write_parquet(&self, out: impl Write + Send) -> Result<(), ParquetError> {
        let fields = self.columns.iter().map(Column::parquet_type);
        let schema = Type::group_type_builder("schema").with_fields(fields.collect::<Result<_, _>>()?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(self.metadata()));
        let mut file = SerializedFileWriter::new(out, Arc::new(schema.build()?), Arc::new(properties.build()))?;
        let mut group = file.next_row_group()?;
        for column in &self.columns {
            let mut writer = group.next_column()?.expect("the schema has a field for each column");
            match &column.cells {
                Cells::Whole(cells) => writer.typed::<Int64Type>().write_batch(cells, None, None)?,
                Cells::Real(cells) => writer.typed::<DoubleType>().write_batch(cells, None, None)?,
                Cells::Sparse(cells) => {
                    let there: Vec<f64> = cells.iter().copied().flatten().collect();
                    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
                    writer.typed::<DoubleType>().write_batch(&there, Some(&levels), None)?
                }
                Cells::Words(cells) => {
                    let words: Vec<ByteArray> = cells.iter().map(|word| (*word).into()).collect();
                    writer.typed::<ByteArrayType>().write_batch(&words, None, None)?
                }
            };
            writer.close()?;
        }
        group.close()?;
        file.close()?;
        Ok(())
    }

    /// Returns the file's metadata with the units: in that of pandas, and under the key `units`.
    fn metadata(&self) -> Vec<KeyValue> {
        let units = self.columns.iter().filter(|column| !column.unit.is_empty());
        let units: serde_json::Map<_, _> = units
            .map(|column| (column.name.to_string(), column.unit.to_string().into()))
            .collect();
        let attributes = serde_json::json!({ "units": units });
        vec![
            KeyValue::new("PANDAS_ATTRS".to_owned(), attributes.to_string()),
            KeyValue::new("units".to_owned(), attributes["units"].to_string()),
        ]
    }
}

impl Column<'_> {
    fn parquet_type(&self) -> Result<Arc<Type>, ParquetError> {
        let (physical, logical, repetition) = match self.cells {
            Cells::Whole(_) => (PhysicalType::INT64, None, Repetition::REQUIRED),
            Cells::Real(_) => (PhysicalType::DOUBLE, None, Repetition::REQUIRED),
            Cells::Sparse(_) => (PhysicalType::DOUBLE, None, Repetition::OPTIONAL),
            Cells::Words(_) => (
                PhysicalType::BYTE_ARRAY,
                Some(LogicalType::String),
                Repetition::REQUIRED,
            ),
        };
        let field = Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition);
        Ok(Arc::new(field.build()?))
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![csv_has_units_exact_numbers_and_quoted_text];

    fn csv_has_units_exact_numbers_and_quoted_text() {
        let mut table = Table::default();
        table.push("run", "", Cells::Whole(vec![3, 4]));
        table.push("base.r[1]", "m", Cells::Real(vec![1e-300, 0.1].into()));
        table.push("base.q[1]", "", Cells::Sparse(vec![None, Some(1.0)]));
        table.push("message", "", Cells::Words(vec!["a, b", ""]));
        let mut text = Vec::new();
        table.write_csv(&mut text).expect("memory takes every byte");
        assert_eq!(
            String::from_utf8(text).expect("CSV is text"),
            "run,base.r[1] [m],base.q[1],message\n3,1e-300,,\"a, b\"\n4,0.1,1.0,\n"
        );
    }
}
