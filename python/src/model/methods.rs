//! Functions of a [`Model`] for Python.

use super::{Array, Inner, Model, with};
use crate::arrays::{Batch, Out};
use crate::errors;
use crate::linear::{state_space, write_rows};
use crate::package::Package;
use crate::points::{At, Points};
use crate::run::Run;
use crate::simulation::Simulation;
use grapple::plant::{Adjoint, Jacobians, Linearisation, Mechanics, Seeds, Tangent};
use grapple::simulation;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

#[pymethods]
impl Model {
    /// Compiles the model of a spec or an FMU, or takes that of results with their parameters, or of
    /// a simulation also with its discrete state; `set` gives parameters other values.
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>, set: Vec<(String, f64)>) -> PyResult<Self> {
        if let Ok(run) = source.cast::<Run>() {
            let run = run.get();
            let is_of_model =
                |(name, _): &&(String, f64)| run.model().parameters.iter().any(|p| p.quantity.name == *name);
            let values: Vec<_> = run.values().iter().filter(is_of_model).chain(&set).cloned().collect();
            return Self::of(py, Arc::new(run.model().clone()), &values);
        }
        let Ok(simulation) = source.cast::<Simulation>() else {
            return Self::of(py, source.cast::<Package>()?.get().model(py)?, &set);
        };
        let simulation::Simulation { mut plant, state, .. } = simulation.get().copied(py)?.into_simulation();
        let values = with(py, plant.model(), plant.parameters(), &set)?;
        let changed = plant.set_parameters(&values);
        changed.map_err(|error| errors::of_model(py, error))?;
        Ok(Self::with(plant, state.x, state.u, state.discrete))
    }

    /// Name of the model.
    #[getter]
    fn name(&self) -> &str {
        &self.model.spec.name
    }

    /// Names of the states, in the order of `x`.
    #[getter]
    fn state_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.states.tuple(py)
    }

    /// Units of the states, in FMI's notation; empty for pure numbers.
    #[getter]
    fn state_units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.states.units(py)
    }

    /// Names of the inputs, in the order of `u`.
    #[getter]
    fn input_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.inputs.tuple(py)
    }

    /// Units of the inputs.
    #[getter]
    fn input_units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.inputs.units(py)
    }

    /// Names of the outputs, in the order of `y`.
    #[getter]
    fn output_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.outputs.tuple(py)
    }

    /// Units of the outputs.
    #[getter]
    fn output_units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.outputs.units(py)
    }

    /// Names of the rates of joints and modes: rows and columns of the mass matrix, columns of
    /// Jacobians.
    #[getter]
    fn rate_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.rates.tuple(py)
    }

    /// Units of the rates.
    #[getter]
    fn rate_units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.rates.units(py)
    }

    /// Index of the root body of each rate's tree.
    #[getter]
    fn rate_roots(&self) -> Vec<usize> {
        self.model.system().rate_roots()
    }

    /// Names of bodies and frames.
    #[getter]
    fn frame_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.known_frames())
    }

    /// Values of the parameters by name.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = self.locked(py, |inner| Ok(inner.plant.parameters().to_vec()))?;
        let parameters = PyDict::new(py);
        for (parameter, value) in self.model.parameters.iter().zip(values) {
            parameters.set_item(&parameter.quantity.name, value)?;
        }
        Ok(parameters)
    }

    /// States at the start of the run (of a model of a simulation: its states).
    #[getter]
    fn x0<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.x0)
    }

    /// Inputs at the start, which are also used where `u` is left out.
    #[getter]
    fn u0<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.u0)
    }

    /// Returns the index of a state.
    fn state_index(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.states.index(py, name)
    }

    /// Returns the index of an input.
    fn input_index(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.inputs.index(py, name)
    }

    /// Returns the index of an output.
    fn output_index(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.outputs.index(py, name)
    }

    /// Returns the index of a rate.
    fn rate_index(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.rates.index(py, name)
    }

    /// Returns the derivatives of the states, shape (..., nx), in the units of the states per
    /// second.
    #[pyo3(signature = (t, x, u = None, *, out = None))]
    fn derivatives<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        self.each(py, At { t, x, u }, out, &[self.states.len()], |inner, i, at, to| {
            inner.plant.derivative(at.at(i, &inner.discrete), to)
        })
    }

    /// Returns the outputs, shape (..., ny); flags are 0 or 1.
    #[pyo3(signature = (t, x, u = None, *, out = None))]
    fn outputs<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        self.each(py, At { t, x, u }, out, &[self.outputs.len()], |inner, i, at, to| {
            inner.plant.evaluate(at.at(i, &inner.discrete), &mut inner.dx, to)
        })
    }

    /// Returns the event indicators, shape (..., nz): one that falls to zero is an event.
    #[pyo3(signature = (t, x, u = None, *, out = None))]
    fn event_indicators<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let shape = [self.model.indicator_count()];
        self.each(py, At { t, x, u }, out, &shape, |inner, i, at, to| {
            inner.plant.indicators(at.at(i, &inner.discrete), to);
            Ok(())
        })
    }

    /// Returns A = ∂ẋ/∂x, B = ∂ẋ/∂u, C = ∂y/∂x and D = ∂y/∂u, exact; shapes (..., nx, nx) and so
    /// on.
    #[pyo3(signature = (t, x, u = None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Array<'py>, Array<'py>, Array<'py>, Array<'py>)> {
        let points = Points::new([&self.states, &self.inputs], At { t, x, u })?;
        let slices = points.slices(&self.u0)?;
        let axes = points.x.axes();
        let (nx, nu, ny) = (self.states.len(), self.inputs.len(), self.outputs.len());
        let shapes = [[nx, nx], [nx, nu], [ny, nx], [ny, nu]];
        let mut out = Vec::with_capacity(4);
        for shape in &shapes {
            out.push(Out::new(py, None, axes, shape)?);
        }
        let mut to = Vec::with_capacity(4);
        for out in &mut out {
            to.push(out.values()?);
        }
        let model = &self.model;
        self.locked(py, |inner| {
            let Inner {
                tangent,
                plant,
                discrete,
                ..
            } = inner;
            let (tangent, jacobians) =
                &mut **tangent.get_or_insert_with(|| Box::new((Tangent::new(model), Jacobians::new(model))));
            for i in 0..slices.count {
                tangent.jacobians(plant, slices.at(i, discrete), jacobians)?;
                let Jacobians { A, B, C, D } = jacobians;
                for (matrix, to) in [&*A, B, C, D].into_iter().zip(&mut to) {
                    let length = matrix.len();
                    write_rows(matrix, &mut to[i * length..(i + 1) * length]);
                }
            }
            Ok(())
        })?;
        let mut arrays = out.into_iter().map(Out::done);
        let mut next = || arrays.next().ok_or_else(|| PyValueError::new_err("four matrices"));
        Ok((next()?, next()?, next()?, next()?))
    }

    /// Returns the adjoints x̄ᵀ = v_dxᵀ A + v_yᵀ C of the states and ūᵀ = v_dxᵀ B + v_yᵀ D of the
    /// inputs, exact; shapes (..., nx) and (..., nu).
    #[pyo3(signature = (t, x, u = None, *, dx = None, y = None))]
    fn adjoint_derivatives<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
        dx: Option<&Bound<'py, PyAny>>,
        y: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let points = Points::new([&self.states, &self.inputs], At { t, x, u })?;
        let slices = points.slices(&self.u0)?;
        let axes = points.x.axes();
        let (nx, nu, ny) = (self.states.len(), self.inputs.len(), self.outputs.len());
        let dx = dx.map(|dx| Batch::new(dx, "dx", &self.states)).transpose()?;
        let y = y.map(|y| Batch::new(y, "y", &self.outputs)).transpose()?;
        let none = vec![0.0; nx.max(ny)];
        let seeds = |of: &Option<Batch<'py>>| of.as_ref().map_or(Ok(0), |of| of.step(axes));
        let (dx_step, y_step) = (seeds(&dx)?, seeds(&y)?);
        let dx = dx.as_ref().map_or(Ok(none.as_slice()), Batch::values)?;
        let y = y.as_ref().map_or(Ok(none.as_slice()), Batch::values)?;
        let (mut x_bar, mut u_bar) = (Out::new(py, None, axes, &[nx])?, Out::new(py, None, axes, &[nu])?);
        let (to_x, to_u) = (x_bar.values()?, u_bar.values()?);
        let model = &self.model;
        self.locked(py, |inner| {
            let adjoint = inner.adjoint.get_or_insert_with(|| Box::new(Adjoint::new(model)));
            for i in 0..slices.count {
                let seeds = Seeds {
                    dx: &dx[i * dx_step..i * dx_step + nx],
                    y: &y[i * y_step..i * y_step + ny],
                };
                let (x_bar, u_bar) = (&mut to_x[i * nx..(i + 1) * nx], &mut to_u[i * nu..(i + 1) * nu]);
                adjoint.evaluate(&inner.plant, slices.at(i, &inner.discrete), seeds, x_bar, u_bar)?;
            }
            Ok(())
        })?;
        Ok((x_bar.done(), u_bar.done()))
    }

    /// Returns the linearisation at a point in tangent coordinates: the parts of a `StateSpace`.
    #[pyo3(signature = (t, x, u = None))]
    fn linearisation<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let points = Points::new([&self.states, &self.inputs], At { t, x, u })?;
        if !points.x.axes().is_empty() {
            return Err(PyValueError::new_err("x must be one vector, not a batch"));
        }
        let slices = points.slices(&self.u0)?;
        let linear = self.locked(py, |inner| {
            Linearisation::new(&mut inner.plant, slices.at(0, &inner.discrete))
        })?;
        state_space(py, &linear, points.t[0], slices.u)
    }

    /// Returns the mass matrix M of the rates v, shape (..., nv, nv): the kinetic energy is vᵀ M v
    /// / 2.
    #[pyo3(signature = (x, *, out = None))]
    fn mass_matrix<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let nv = self.rates.len();
        self.each_mechanics(py, x, out, &[nv, nv], Mechanics::mass_matrix)
    }

    /// Returns the centroidal momentum matrix, shape (..., 6, nv), angular rows first, world axes.
    #[pyo3(signature = (x, *, out = None))]
    fn momentum_matrix<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let shape = [6, self.rates.len()];
        self.each_mechanics(py, x, out, &shape, Mechanics::momentum_matrix)
    }

    /// Returns the gyroscopic, Coriolis and centrifugal forces, shape (..., nv), N·m or N.
    #[pyo3(signature = (x, *, out = None))]
    fn gyroscopic_forces<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let shape = [self.rates.len()];
        self.each_mechanics(py, x, out, &shape, Mechanics::gyroscopic_forces)
    }

    /// Returns the generalised forces, beyond all loads, for the derivatives v_dot of the rates,
    /// shape (..., nv), N·m or N; without v_dot the rates are constant.
    #[pyo3(signature = (t, x, u = None, v_dot = None, *, out = None))]
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
        v_dot: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        self.check_mechanics(py)?;
        let nv = self.rates.len();
        let at_rest = vec![0.0; nv];
        let v_dot = v_dot.map(|v_dot| Batch::new(v_dot, "v_dot", &self.rates)).transpose()?;
        let (numbers, step) = match &v_dot {
            Some(v_dot) => (v_dot.values()?, v_dot.step(Batch::new(x, "x", &self.states)?.axes())?),
            None => (&at_rest[..], 0),
        };
        self.each(py, At { t, x, u }, out, &[nv], |inner, i, at, to| {
            let Inner {
                mechanics,
                plant,
                discrete,
                ..
            } = inner;
            let v_dot = &numbers[i * step..i * step + nv];
            match mechanics {
                Some(mechanics) => mechanics.inverse_dynamics(plant, at.at(i, discrete), v_dot, to),
                None => Ok(()),
            }
        })
    }

    /// Returns position (m), shape (..., 3), and rotation matrix, (..., 3, 3), of a frame in the
    /// world.
    fn frame_pose<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        frame: &str,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        self.check_mechanics(py)?;
        let frame = self.frame(py, frame)?;
        let x = Batch::new(x, "x", &self.states)?;
        let count: usize = x.axes().iter().product();
        let (numbers, nx) = (x.values()?, self.states.len());
        let mut p = Out::new(py, None, x.axes(), &[3])?;
        let mut R = Out::new(py, None, x.axes(), &[3, 3])?;
        let (to_p, to_R) = (p.values()?, R.values()?);
        self.locked(py, |inner| {
            for i in 0..count {
                if let Some(mechanics) = &inner.mechanics {
                    let x = &numbers[i * nx..(i + 1) * nx];
                    let X = mechanics.frame(&mut inner.plant, x, frame).X_WF;
                    to_p[3 * i..3 * i + 3].copy_from_slice(X.p.as_slice());
                    to_R[9 * i..9 * i + 9].copy_from_slice(X.R.transpose().as_slice());
                }
            }
            Ok(())
        })?;
        Ok((p.done(), R.done()))
    }

    /// Returns angular velocity and velocity of a frame, shape (..., 6), rad/s and m/s, world axes.
    #[pyo3(signature = (x, frame, *, out = None))]
    fn frame_velocity<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        frame: &str,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let frame = self.frame(py, frame)?;
        self.each_mechanics(py, x, out, &[6], move |mechanics, plant, x, to| {
            to.copy_from_slice(&mechanics.frame(plant, x, frame).V_WF.to_array());
        })
    }

    /// Returns the Jacobian of a frame, shape (..., 6, nv), angular rows first, world axes.
    #[pyo3(signature = (x, frame, *, out = None))]
    fn frame_jacobian<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        frame: &str,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let frame = self.frame(py, frame)?;
        let shape = [6, self.rates.len()];
        self.each_mechanics(py, x, out, &shape, move |mechanics, plant, x, to| {
            mechanics.frame_jacobian(plant, x, frame, to);
        })
    }

    /// Returns the generalised Jacobian of a frame of a free-floating system, shape (..., 6, nv −
    /// 6).
    #[pyo3(signature = (x, frame, *, out = None))]
    fn generalized_jacobian<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        frame: &str,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        self.free_base(py, frame)?;
        let frame = self.frame(py, frame)?;
        let shape = [6, self.rates.len() - 6];
        self.each_mechanics(py, x, out, &shape, move |mechanics, plant, x, to| {
            mechanics.generalised_jacobian(plant, x, frame, to);
        })
    }

    /// Returns the index of the first of the six rates of the free base of a frame's tree.
    fn free_base(&self, py: Python<'_>, frame: &str) -> PyResult<usize> {
        let of = self.frame(py, frame)?;
        let base = self.locked(py, |inner| Ok(inner.plant.free_base(of)))?;
        base.ok_or_else(|| errors::error(py, format!("{frame} is not on a spacecraft that floats freely")))
    }

    /// Returns the angular momentum about the mass centre (kg·m²/s) and the linear momentum
    /// (kg·m/s), shape (..., 6), world axes.
    #[pyo3(signature = (x, *, out = None))]
    fn momentum<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let t = 0.0_f64.into_pyobject(py)?.into_any();
        self.each(py, At { t: &t, x, u: None }, out, &[6], |inner, i, at, to| {
            let sum = inner.plant.invariants(at.at(i, &inner.discrete).x);
            to[..3].copy_from_slice(sum.h.as_slice());
            to[3..].copy_from_slice(sum.p.as_slice());
            Ok(())
        })
    }

    /// Returns the mass centre, shape (..., 3), m.
    #[pyo3(signature = (x, *, out = None))]
    fn mass_centre<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        let t = 0.0_f64.into_pyobject(py)?.into_any();
        self.each(py, At { t: &t, x, u: None }, out, &[3], |inner, i, at, to| {
            let centre = inner.plant.invariants(at.at(i, &inner.discrete).x).mass_centre;
            to.copy_from_slice(centre.as_slice());
            Ok(())
        })
    }

    /// Returns kinetic and potential energy, shape (..., 2), J.
    #[pyo3(signature = (t, x, u = None, *, out = None))]
    fn energy<'py>(
        &self,
        py: Python<'py>,
        t: &Bound<'py, PyAny>,
        x: &Bound<'py, PyAny>,
        u: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Array<'py>> {
        self.each(py, At { t, x, u }, out, &[2], |inner, i, at, to| {
            let at = at.at(i, &inner.discrete);
            to[1] = inner.plant.potential_energy(at);
            to[0] = inner.plant.invariants(at.x).kinetic_energy;
            Ok(())
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "<Model {:?}: {} states, {} inputs, {} outputs, {} rates>",
            self.model.spec.name,
            self.states.len(),
            self.inputs.len(),
            self.outputs.len(),
            self.rates.len()
        )
    }
}
