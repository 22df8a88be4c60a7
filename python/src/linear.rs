//! Matrices and linear models as arrays.

use crate::arrays::Out;
use crate::names::Names;
use grapple::plant::Linearisation;
use grapple::system::Quantity;
use nalgebra::DMatrix;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Copies a matrix to its rows.
pub fn write_rows(matrix: &DMatrix<f64>, to: &mut [f64]) {
    let columns = matrix.ncols();
    for (j, column) in matrix.column_iter().enumerate() {
        for (i, value) in column.iter().enumerate() {
            to[i * columns + j] = *value;
        }
    }
}

/// Returns the matrices, names and units of a linearisation, at the time `t` (s) and the inputs
/// `u`.
pub fn state_space<'py>(py: Python<'py>, linear: &Linearisation, t: f64, u: &[f64]) -> PyResult<Bound<'py, PyDict>> {
    let parts = PyDict::new(py);
    let quantities = [
        ("coordinates", &linear.coordinates),
        ("inputs", &linear.inputs),
        ("outputs", &linear.outputs),
    ];
    for (name, quantities) in quantities {
        let names = Names::new("coordinate", quantities.iter().collect::<Vec<&Quantity>>());
        parts.set_item(name, names.tuple(py)?)?;
        parts.set_item(format!("{}_units", &name[..name.len() - 1]), names.units(py)?)?;
    }
    let Linearisation { A, B, C, D, T, S, .. } = linear;
    for (name, matrix) in [("A", A), ("B", B), ("C", C), ("D", D), ("T", T), ("S", S)] {
        let mut out = Out::new(py, None, &[], &[matrix.nrows(), matrix.ncols()])?;
        write_rows(matrix, out.values()?);
        parts.set_item(name, out.done())?;
    }
    parts.set_item("pairs", linear.pairs)?;
    parts.set_item("t", t)?;
    parts.set_item("x", PyArray1::from_slice(py, &linear.x))?;
    parts.set_item("dx", PyArray1::from_slice(py, &linear.dx))?;
    parts.set_item("u", PyArray1::from_slice(py, u))?;
    Ok(parts)
}
