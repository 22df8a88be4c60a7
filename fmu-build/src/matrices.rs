//! Files of a linearised model: JSON with everything, CSV for each matrix, and NumPy's `.npz`.

use crate::error::{Context, Result};
use crate::files::{self, Target};
use crate::linearize::Linearized;
use grapple::system::Quantity;
use nalgebra::DMatrix;
use npyz::WriterBuilder;
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A matrix with its letter, and the quantities of its rows and of its columns.
type Lettered<'a> = (&'static str, &'a DMatrix<f64>, &'a [Quantity], &'a [Quantity]);

impl Linearized {
    /// Returns the four matrices.
    fn matrices(&self) -> [Lettered<'_>; 4] {
        let linear = &self.linear;
        let (x, u, y) = (&linear.coordinates[..], &linear.inputs[..], &linear.outputs[..]);
        [
            ("A", &linear.A, x, x),
            ("B", &linear.B, x, u),
            ("C", &linear.C, y, x),
            ("D", &linear.D, y, u),
        ]
    }

    /// Returns everything as JSON.
    pub fn json(&self) -> String {
        let named = |quantities: &[Quantity]| -> Vec<Value> {
            let one = |q: &Quantity| json!({"name": q.name, "unit": q.unit.symbol(), "description": q.description});
            quantities.iter().map(one).collect()
        };
        let rows = |matrix: &DMatrix<f64>| -> Vec<Vec<f64>> {
            matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
        };
        let linear = &self.linear;
        let parts = |names: &mut dyn Iterator<Item = &Quantity>, parts: &[f64]| -> Value {
            let named = names.zip(parts).filter(|(_, part)| **part > 1e-6);
            named
                .map(|(q, &part)| (q.name.clone(), json!(part)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let modes = self.modes.modes.iter().map(|mode| {
            json!({
                "eigenvalue": [mode.real, mode.imaginary],
                "frequency": mode.frequency(),
                "damping_ratio": mode.damping(),
                "stability": mode.stability(),
                "round_off": mode.round_off,
                "closes_gaps": mode.closes_gaps,
                "participation": parts(&mut linear.participants(), &mode.participation),
                "inputs": parts(&mut linear.inputs.iter(), &mode.inputs),
            })
        });
        let mut whole = json!({
            "model": self.model.spec.name,
            "time": self.t,
            "coordinates": named(&linear.coordinates),
            "inputs": named(&linear.inputs),
            "outputs": named(&linear.outputs),
            "states": named(&self.model.states),
            "x": linear.x,
            "dx": linear.dx,
            "u": self.u,
            "T": rows(&linear.T),
            "S": rows(&linear.S),
            "zero_eigenvalues": self.modes.zeros,
            "numerical_zero_eigenvalues": self.modes.numerical_zeros,
            "resolution": self.modes.resolution,
            "modes": modes.collect::<Vec<_>>(),
        });
        for (letter, matrix, ..) in self.matrices() {
            whole[letter] = json!(rows(matrix));
        }
        format!("{whole:#}\n")
    }

    /// Returns each matrix as CSV, with names and units of the columns in the first line and of the
    /// rows in the first column.
    pub fn csv(&self) -> [(&'static str, String); 4] {
        let title = |q: &Quantity| match q.unit.symbol() {
            "" => q.name.clone(),
            unit => format!("{} [{unit}]", q.name),
        };
        self.matrices().map(|(letter, matrix, rows, columns)| {
            let mut text = letter.to_owned();
            columns.iter().for_each(|column| text += &format!(",{}", title(column)));
            text += "\n";
            for (row, entries) in rows.iter().zip(matrix.row_iter()) {
                text += &title(row);
                entries.iter().for_each(|entry| text += &format!(",{entry:?}"));
                text += "\n";
            }
            (letter, text)
        })
    }

    /// Returns `A`, `B`, `C`, `D`, `T`, `S`, `x`, `u`, and the names `coordinates`, `inputs`,
    /// `outputs`, `states`, as NumPy's archive.
    ///
    /// # Errors
    /// None for a writer in memory.
    pub fn npz(&self) -> Result<Vec<u8>> {
        let linear = &self.linear;
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, bytes: Vec<u8>| -> Result<()> {
            let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
            archive.start_file(format!("{name}.npy"), options).other()?;
            archive.write_all(&bytes).other()
        };
        let matrices = self.matrices().map(|(letter, matrix, ..)| (letter, matrix));
        for (name, matrix) in matrices.into_iter().chain([("T", &linear.T), ("S", &linear.S)]) {
            let shape = [matrix.nrows() as u64, matrix.ncols() as u64];
            add(name, array(matrix.transpose().as_slice(), &shape)?)?;
        }
        for (name, vector) in [("x", linear.x.as_slice()), ("u", &self.u)] {
            add(name, array(vector, &[vector.len() as u64])?)?;
        }
        for (name, quantities) in [
            ("coordinates", &linear.coordinates),
            ("inputs", &linear.inputs),
            ("outputs", &linear.outputs),
            ("states", &self.model.states),
        ] {
            add(name, names(quantities)?)?;
        }
        Ok(archive.finish().other()?.into_inner())
    }

    /// Writes one file that ends in `.json` or `.npz`, or a folder with all files: `linear.json`,
    /// `linear.npz`, `A.csv` … `D.csv`, `modes.txt`. No file in `reads` is replaced.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, output: &Path, reads: &[PathBuf]) -> Result<()> {
        let write = |path: PathBuf, bytes: &[u8]| Target::new(path, reads)?.write(bytes);
        match output.extension().and_then(|e| e.to_str()) {
            Some("json") => write(output.to_owned(), self.json().as_bytes()),
            Some("npz") => write(output.to_owned(), &self.npz()?),
            _ => {
                files::folder(output)?;
                write(output.join("linear.json"), self.json().as_bytes())?;
                write(output.join("linear.npz"), &self.npz()?)?;
                for (letter, text) in self.csv() {
                    write(output.join(format!("{letter}.csv")), text.as_bytes())?;
                }
                write(output.join("modes.txt"), self.to_string().as_bytes())
            }
        }
    }
}

/// Returns numbers as a `.npy` file in row-major order.
fn array(numbers: &[f64], shape: &[u64]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(shape)
        .writer(&mut bytes)
        .begin_nd()
        .other()?;
    writer.extend(numbers.iter().copied()).other()?;
    writer.finish().other()?;
    Ok(bytes)
}

/// Returns names as a `.npy` file of byte strings.
fn names(quantities: &[Quantity]) -> Result<Vec<u8>> {
    let longest = quantities.iter().map(|q| q.name.len()).max().unwrap_or(0).max(1);
    let kind = format!("|S{longest}").parse().other()?;
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::<[u8]>::new()
        .dtype(npyz::DType::Plain(kind))
        .shape(&[quantities.len() as u64])
        .writer(&mut bytes)
        .begin_nd()
        .other()?;
    for quantity in quantities {
        writer.push(quantity.name.as_bytes()).other()?;
    }
    writer.finish().other()?;
    Ok(bytes)
}
