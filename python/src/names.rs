//! Vectors with names and units.

use crate::errors;
use fmu_build::summaries::unknown;
use grapple::system::Quantity;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;

/// Names and units of the components of a vector.
pub struct Names {
    what: &'static str,
    names: Vec<String>,
    units: Vec<String>,
    index: HashMap<String, usize>,
}

impl Names {
    /// Lists quantities; `what` is their kind, for messages.
    pub fn new<'a>(what: &'static str, quantities: impl IntoIterator<Item = &'a Quantity>) -> Self {
        let (names, units): (Vec<_>, Vec<_>) = quantities
            .into_iter()
            .map(|quantity| (quantity.name.clone(), quantity.unit.symbol().to_owned()))
            .unzip();
        let index = names.iter().cloned().enumerate().map(|(i, name)| (name, i)).collect();
        Self {
            what,
            names,
            units,
            index,
        }
    }

    /// Returns the number of components.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns the kind of the quantities.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// Returns the name of a component.
    pub fn name(&self, i: usize) -> &str {
        &self.names[i]
    }

    /// Returns the names as a tuple.
    pub fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.names)
    }

    /// Returns the units as a tuple.
    pub fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.units)
    }

    /// Returns the index of a name.
    ///
    /// # Errors
    /// `GrappleError` with the most similar name.
    pub fn index(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.index
            .get(name)
            .copied()
            .ok_or_else(|| errors::error(py, unknown(self.what, name, self.names.iter().map(String::as_str))))
    }
}
