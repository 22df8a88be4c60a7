//! NumPy arrays as batches of vectors: the last axis is the vector, the axes before it the batch.

use crate::names::Names;
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns true if the numbers of an array lie in memory one after the other, aligned.
fn is_plain(array: &Bound<'_, PyArrayDyn<f64>>) -> bool {
    array.is_c_contiguous() && array.data().is_aligned()
}

/// Returns an argument as a contiguous array of float64; other arrays and sequences are converted.
pub fn array<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    let contiguous = value.cast::<PyArrayDyn<f64>>().ok().filter(|array| is_plain(array));
    let array = match contiguous {
        Some(array) => array.clone(),
        None => {
            let converted = converted(value).map_err(|error| {
                let text = error.value(value.py()).to_string();
                PyTypeError::new_err(format!("{name} is no array of numbers: {text}"))
            })?;
            converted.cast_into::<PyArrayDyn<f64>>()?
        }
    };
    let shared = |_| PyValueError::new_err(format!("{name} shares its memory with out"));
    array.try_readonly().map_err(shared)
}

/// Converts an argument to a contiguous array of float64. Texts, dates and complex numbers are no
/// numbers, although NumPy converts them.
fn converted<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let array = py.import("numpy")?.call_method1("asarray", (value,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !["b", "i", "u", "f", "O"].contains(&kind.as_str()) {
        let text = format!("its type is {}", array.getattr("dtype")?);
        return Err(PyTypeError::new_err(text));
    }
    let options = PyDict::new(py);
    options.set_item("order", "C")?;
    array.call_method("astype", ("float64",), Some(&options))
}

/// Returns the values of an array.
pub fn values<'a>(array: &'a PyReadonlyArrayDyn<'_, f64>, name: &str) -> PyResult<&'a [f64]> {
    let slice = array.as_slice();
    slice.map_err(|_| PyValueError::new_err(format!("{name} is not contiguous")))
}

/// Formats a shape as Python does.
fn shape_text(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => {
            let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

/// Checks that all numbers of a batch of vectors are finite.
pub fn check_finite(values: &[f64], name: &str, names: &Names) -> PyResult<()> {
    let Some(i) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(());
    };
    let (row, column) = (i / names.len(), i % names.len());
    let of_batch = match values.len() > names.len() {
        true => format!(" in row {row} of the batch"),
        false => String::new(),
    };
    let text = format!("{name}: {} = {} is not finite{of_batch}", names.name(column), values[i]);
    Err(PyValueError::new_err(text))
}

/// A batch of vectors; one vector is a batch without axes.
pub struct Batch<'py> {
    array: PyReadonlyArrayDyn<'py, f64>,
    name: &'static str,
    length: usize,
}

impl<'py> Batch<'py> {
    /// Reads an argument whose last axis has the components `names`.
    ///
    /// # Errors
    /// `TypeError` for no array of numbers, `ValueError` for another shape or numbers that are not
    /// finite.
    pub fn new(value: &Bound<'py, PyAny>, name: &'static str, names: &Names) -> PyResult<Self> {
        let array = array(value, name)?;
        if array.shape().last() != Some(&names.len()) {
            return Err(PyValueError::new_err(format!(
                "{name} has the shape {}, but its last axis must have {} components, one for each {}",
                shape_text(array.shape()),
                names.len(),
                names.what()
            )));
        }
        let batch = Self {
            array,
            name,
            length: names.len(),
        };
        check_finite(batch.values()?, name, names)?;
        Ok(batch)
    }

    /// Returns the axes of the batch.
    pub fn axes(&self) -> &[usize] {
        let shape = self.array.shape();
        &shape[..shape.len() - 1]
    }

    /// Returns all numbers.
    pub fn values(&self) -> PyResult<&[f64]> {
        values(&self.array, self.name)
    }

    /// Returns the step from one vector to the next: zero for one vector that serves a whole batch.
    ///
    /// # Errors
    /// `ValueError` for another batch.
    pub fn step(&self, axes: &[usize]) -> PyResult<usize> {
        if self.axes() == axes {
            return Ok(self.length);
        }
        match self.axes() {
            [] => Ok(0),
            own => Err(PyValueError::new_err(format!(
                "{} is a batch of the shape {}, but x one of {}",
                self.name,
                shape_text(own),
                shape_text(axes)
            ))),
        }
    }
}

/// An array to be filled: that of the caller or a new one.
pub struct Out<'py> {
    array: Bound<'py, PyArrayDyn<f64>>,
    writable: PyReadwriteArrayDyn<'py, f64>,
}

impl<'py> Out<'py> {
    /// Returns `out`, or a new array of the shape.
    ///
    /// # Errors
    /// `TypeError` for no array of float64, `ValueError` for another shape, an array that is not
    /// contiguous or writable, or one that is also an argument.
    pub fn new(py: Python<'py>, out: Option<&Bound<'py, PyAny>>, axes: &[usize], shape: &[usize]) -> PyResult<Self> {
        let shape = [axes, shape].concat();
        let array = match out {
            None => PyArrayDyn::zeros(py, shape, false),
            Some(out) => {
                let array = out.cast::<PyArrayDyn<f64>>();
                let array = array.map_err(|_| PyTypeError::new_err("out must be a NumPy array of float64"))?;
                if array.shape() != shape || !is_plain(array) {
                    return Err(PyValueError::new_err(format!(
                        "out must be a contiguous and aligned array of the shape {}, not {}",
                        shape_text(&shape),
                        shape_text(array.shape())
                    )));
                }
                array.clone()
            }
        };
        let writable = array.try_readwrite();
        let writable =
            writable.map_err(|_| PyValueError::new_err("out is read-only, or shares its memory with x or u"))?;
        Ok(Self { array, writable })
    }

    /// Returns the numbers to fill.
    pub fn values(&mut self) -> PyResult<&mut [f64]> {
        let slice = self.writable.as_slice_mut();
        slice.map_err(|_| PyValueError::new_err("out is not contiguous"))
    }

    /// Returns the array.
    pub fn done(self) -> Bound<'py, PyArrayDyn<f64>> {
        drop(self.writable);
        self.array
    }
}
