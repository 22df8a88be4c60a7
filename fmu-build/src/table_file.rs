//! Reading of tables of numbers that any program wrote: CSV and Parquet.
//!
//! In CSV the separator is a comma, a semicolon or a tab, as the titles show. With the latter two a
//! decimal comma is accepted. Quotes, blanks around cells and a byte order mark are accepted as well.

use crate::error::{Context, Result, invalid};
use crate::file_kind::FileKind;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Upper limit of the size of a text, bytes.
const SIZE_LIMIT: u64 = 1 << 30;

/// Largest number of values that are kept in memory (2 GB).
const MOST_NUMBERS: usize = 250_000_000;

/// The columns of a file. Columns with something else than numbers are left out.
pub struct TableFile {
    /// The columns of numbers, from left to right.
    pub columns: Vec<FileColumn>,
    /// Number of the first row as a user counts it: its line in a CSV file, 1 in Parquet.
    pub first_row: usize,
    /// Names of the other columns, each with the first cell that is no number.
    pub left_out: Vec<(String, String)>,
}

/// A column of numbers. Missing numbers are NaN.
pub struct FileColumn {
    /// Name, without the unit.
    pub name: String,
    /// Unit, if the title has one in brackets.
    pub unit: Option<String>,
    /// The numbers, from top to bottom.
    pub values: Vec<f64>,
}

impl FileColumn {
    /// Returns a column with the title `name` or `name [unit]`.
    fn titled(title: &str, values: Vec<f64>) -> Self {
        let title = title.trim();
        let parts = title.strip_suffix(']').and_then(|title| title.split_once(" ["));
        let (name, unit) = parts.map_or((title, None), |(name, unit)| (name, Some(unit.to_owned())));
        Self {
            name: name.trim().to_owned(),
            unit,
            values,
        }
    }
}

impl TableFile {
    /// Reads a CSV or Parquet file; its content shows which it is.
    ///
    /// # Errors
    /// A file that cannot be read, of another kind, without rows, or too large.
    pub fn read(path: &Path) -> Result<Self> {
        let read = || {
            let mut begin = Vec::new();
            File::open(path).other()?.take(1024).read_to_end(&mut begin).other()?;
            match FileKind::of(path, &begin) {
                Some(FileKind::Parquet) => Self::read_parquet(File::open(path).other()?),
                None | Some(FileKind::Csv) => Self::read_csv(&grapple::spec::read_text(path, SIZE_LIMIT).other()?),
                Some(other) => Err(invalid!(
                    "tables are CSV or Parquet, and this file is {}",
                    other.description()
                )),
            }
        };
        read().context(|| format!("cannot read {}", path.display()))
    }

    fn read_csv(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(invalid!("it is empty"));
        }
        // The reader counts a line end of two characters with the next record.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let separator = separator(&text);
        let mut csv = csv::ReaderBuilder::new()
            .delimiter(separator)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let titles: Vec<String> = csv.headers().other()?.iter().map(str::to_owned).collect();
        let mut columns: Vec<Values> = vec![Ok(Vec::new()); titles.len()];
        let (mut first_row, mut numbers) = (None, 0);
        let mut signs = [false; 2];
        for record in csv.records() {
            let record = record.other()?;
            let line = record.position().map_or(0, csv::Position::line) as usize;
            first_row.get_or_insert(line);
            numbers += titles.len();
            check_size(numbers)?;
            for (column, cell) in columns.iter_mut().zip(&record) {
                let Ok(values) = column else { continue };
                match number(cell, separator) {
                    Some(value) => {
                        signs = [signs[0] || cell.contains('.'), signs[1] || cell.contains(',')];
                        if signs == [true; 2] {
                            return Err(invalid!(
                                "line {line}: {cell:?} has another decimal sign than the cells before it"
                            ));
                        }
                        values.push(value);
                    }
                    None => *column = Err(format!("line {line}: {cell:?} is not a number")),
                }
            }
        }
        let first_row = first_row.ok_or_else(|| invalid!("it has no rows"))?;
        Ok(Self::of(titles.into_iter().zip(columns), first_row))
    }

    fn read_parquet(file: File) -> Result<Self> {
        let reader = SerializedFileReader::new(file).other()?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let rows = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
        if rows == 0 {
            return Err(invalid!("it has no rows"));
        }
        check_size(rows.saturating_mul(schema.num_columns()))?;
        let none = "it does not contain numbers";
        let mut columns: Vec<Values> = (0..schema.num_columns())
            .map(|i| match schema.column(i).max_rep_level() {
                0 => Ok(Vec::new()),
                _ => Err(none.to_owned()),
            })
            .collect();
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).other()?;
            for (i, column) in columns.iter_mut().enumerate() {
                let Ok(values) = column else { continue };
                let part = match group.get_column_reader(i).other()? {
                    ColumnReader::DoubleColumnReader(of) => numbers(of, |v| v).map(Some),
                    ColumnReader::FloatColumnReader(of) => numbers(of, f64::from).map(Some),
                    ColumnReader::Int32ColumnReader(of) => numbers(of, f64::from).map(Some),
                    ColumnReader::Int64ColumnReader(of) => numbers(of, |v| v as f64).map(Some),
                    ColumnReader::BoolColumnReader(of) => numbers(of, |v| f64::from(u8::from(v))).map(Some),
                    _ => Ok(None),
                };
                match part.context(|| format!("column {:?}", schema.column(i).name()))? {
                    Some(part) => values.extend(part),
                    None => *column = Err(none.to_owned()),
                }
            }
        }
        let is_short = |column: &&Values| column.as_ref().is_ok_and(|values| values.len() != rows);
        if columns.iter().any(|column| is_short(&column)) {
            return Err(invalid!("it is damaged: a column does not have its {rows} rows"));
        }
        let titles = (0..schema.num_columns()).map(|i| schema.column(i).path().string());
        Ok(Self::of(titles.zip(columns), 1))
    }

    fn of(columns: impl Iterator<Item = (String, Values)>, first_row: usize) -> Self {
        let mut file = Self {
            columns: Vec::new(),
            first_row,
            left_out: Vec::new(),
        };
        for (title, values) in columns {
            match values {
                Ok(values) => file.columns.push(FileColumn::titled(&title, values)),
                Err(why) => file.left_out.push((FileColumn::titled(&title, Vec::new()).name, why)),
            }
        }
        file
    }
}

/// Values of a column, or the first cell that is not a number.
type Values = std::result::Result<Vec<f64>, String>;

/// Returns the separator of a CSV file: the most frequent candidate in its titles outside quotes.
fn separator(text: &str) -> u8 {
    let titles = text.lines().next().unwrap_or_default();
    let outside: String = titles.split('"').step_by(2).collect();
    let count = |of: &u8| outside.bytes().filter(|byte| byte == of).count();
    // Of equal counts the last wins.
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

/// Returns the number in a cell; NaN if it is empty; none if it is something else.
fn number(cell: &str, separator: u8) -> Option<f64> {
    match cell {
        "" => Some(f64::NAN),
        _ if cell.eq_ignore_ascii_case("true") => Some(1.0),
        _ if cell.eq_ignore_ascii_case("false") => Some(0.0),
        _ if separator != b',' && cell.contains(',') => cell.replace(',', ".").parse().ok(),
        _ => cell.parse().ok(),
    }
}

/// Reads all values of a column in a row group.
fn numbers<T: DataType>(mut reader: ColumnReaderImpl<T>, number: impl Fn(T::T) -> f64) -> Result<Vec<f64>> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    while reader
        .read_records(1 << 16, Some(&mut levels), None, &mut values)
        .other()?
        .0
        > 0
    {}
    let most = levels.iter().copied().max().unwrap_or(0).max(1);
    let mut values = values.into_iter().map(number);
    // A required column has no levels.
    Ok(match levels.is_empty() {
        true => values.collect(),
        false => levels
            .iter()
            .map(|level| match *level == most {
                true => values.next().unwrap_or(f64::NAN),
                false => f64::NAN,
            })
            .collect(),
    })
}

fn check_size(numbers: usize) -> Result<()> {
    match numbers > MOST_NUMBERS {
        true => Err(invalid!("it has more than 250 million numbers")),
        false => Ok(()),
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        separators_decimal_commas_quotes_and_units_are_read,
        empty_cells_are_missing_numbers,
    ];

    fn csv(text: &str) -> TableFile {
        TableFile::read_csv(text).expect("it is a table")
    }

    fn separators_decimal_commas_quotes_and_units_are_read() {
        for text in [
            "time [s],\"base.r[1] [m]\", flag ,note\n0,1.5,true,a\n0.5,-2e-1,FALSE,b\n",
            "\u{feff}time [s];base.r[1] [m];flag;note\r\n0;1,5;1;a\r\n0,5;-2e-1;0;b\r\n",
            "time [s]\tbase.r[1] [m]\tflag\tnote\n0\t1.5\tTrue\ta\n0.5\t-0.2\tFalse\tb\n",
        ] {
            let table = csv(text);
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            assert_eq!(names, ["time", "base.r[1]", "flag"]);
            assert_eq!(table.columns[1].unit.as_deref(), Some("m"));
            let values: Vec<&[f64]> = table.columns.iter().map(|column| column.values.as_slice()).collect();
            assert_eq!(values, [[0.0, 0.5], [1.5, -0.2], [1.0, 0.0]]);
            let note = ("note".to_owned(), "line 2: \"a\" is not a number".to_owned());
            assert_eq!((table.left_out, table.first_row), (vec![note], 2));
        }
    }

    fn empty_cells_are_missing_numbers() {
        assert!(csv("time,a\n0,\n").columns[1].values[0].is_nan());
    }
}
