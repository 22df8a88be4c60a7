//! Times, states and inputs of a batch of evaluations.

use crate::arrays::{self, Batch};
use crate::names::Names;
use grapple::plant::{Discrete, OperatingPoint};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Times, states and inputs as the caller gives them.
#[derive(Clone, Copy)]
pub struct At<'a, 'py> {
    /// One time, s, or one for each point.
    pub t: &'a Bound<'py, PyAny>,
    pub x: &'a Bound<'py, PyAny>,
    /// By default the inputs at the start.
    pub u: Option<&'a Bound<'py, PyAny>>,
}

/// Times, states and inputs of a batch of evaluations.
pub struct Points<'py> {
    pub t: Vec<f64>,
    pub x: Batch<'py>,
    u: Option<Batch<'py>>,
    nx: usize,
}

/// Slices of [`Points`], which another thread may read.
pub struct Slices<'a> {
    t: &'a [f64],
    x: &'a [f64],
    pub u: &'a [f64],
    u_step: usize,
    nx: usize,
    nu: usize,
    /// Number of points.
    pub count: usize,
}

impl<'a> Slices<'a> {
    /// Returns the operating point `i` with a discrete state.
    pub fn at(&self, i: usize, discrete: &'a Discrete) -> OperatingPoint<'a> {
        let x = &self.x[i * self.nx..(i + 1) * self.nx];
        let u = &self.u[i * self.u_step..i * self.u_step + self.nu];
        OperatingPoint::new(if self.t.len() == 1 { self.t[0] } else { self.t[i] }, x, u, discrete)
    }
}

impl<'py> Points<'py> {
    /// Reads times, states and inputs.
    ///
    /// # Errors
    /// `TypeError` for no numbers, `ValueError` for other shapes and numbers that are not finite.
    pub fn new([states, inputs]: [&Names; 2], At { t, x, u }: At<'_, 'py>) -> PyResult<Self> {
        let x = Batch::new(x, "x", states)?;
        let u = u.map(|u| Batch::new(u, "u", inputs)).transpose()?;
        let t = match t.extract::<f64>() {
            Ok(t) => vec![t],
            Err(_) => {
                let array = arrays::array(t, "t")?;
                let count: usize = x.axes().iter().product();
                let t = arrays::values(&array, "t")?.to_vec();
                if t.len() != count {
                    let what = format!("t has {} components, but x is a batch of {count}", t.len());
                    return Err(PyValueError::new_err(what));
                }
                t
            }
        };
        match t.iter().find(|t| !t.is_finite()) {
            Some(t) => Err(PyValueError::new_err(format!("t = {t} is not finite"))),
            None => Ok(Self {
                t,
                x,
                u,
                nx: states.len(),
            }),
        }
    }

    /// Returns the numbers; `u0` are the default inputs.
    pub fn slices<'a>(&'a self, u0: &'a [f64]) -> PyResult<Slices<'a>> {
        let (u, u_step) = match &self.u {
            Some(u) => (u.values()?, u.step(self.x.axes())?),
            None => (u0, 0),
        };
        Ok(Slices {
            t: &self.t,
            x: self.x.values()?,
            u,
            u_step,
            nx: self.nx,
            nu: u0.len(),
            count: self.x.axes().iter().product(),
        })
    }
}
