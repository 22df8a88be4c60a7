use super::{Constants, Discrete, Evaluation, Model, OperatingPoint, Plant};
use crate::Error;
use crate::algebra::{Dual, Scalar};
use crate::system::OrbitPoint;
use nalgebra::{DMatrix, DMatrixViewMut};

/// Exact derivatives of the states' derivatives and the outputs with respect to states and inputs,
/// in `N` directions at once.
///
/// For `ẋ = f(t, x, u)` and `y = g(t, x, u)` it computes the linear map
///
/// ```text
///     δẋ = A δx + B δu,   A = ∂f/∂x,  B = ∂f/∂u
///     δy = C δx + D δu,   C = ∂g/∂x,  D = ∂g/∂u
/// ```
///
/// by dual numbers through the evaluation itself, exact to round-off. The discrete state is
/// constant: the right side is smooth between events, and that right side is differentiated. A norm
/// (a distance, a magnitude of momentum) has no derivative at zero; zero is returned there. The
/// derivative of a switch is zero.
///
/// The workspace is allocated once, here; an evaluation does not allocate. `N = 1` is cheapest for
/// one direction, [`LANES`] for a whole Jacobian (`docs/benchmarks.md`).
#[derive(Clone, Debug)]
pub struct Tangent<const N: usize> {
    evaluation: Evaluation<Dual<N>>,
    x: Vec<Dual<N>>,
    u: Vec<Dual<N>>,
    dx: Vec<Dual<N>>,
    y: Vec<Dual<N>>,
}

/// Number of directions per evaluation that makes a whole Jacobian cheapest.
pub const LANES: usize = 4;

/// Jacobians of a plant at one instant; rows and columns in the model's order, in the units of rows
/// over columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Jacobians {
    /// `∂ẋ/∂x`, states × states.
    pub A: DMatrix<f64>,
    /// `∂ẋ/∂u`, states × inputs.
    pub B: DMatrix<f64>,
    /// `∂y/∂x`, outputs × states. Rows of flags are zero.
    pub C: DMatrix<f64>,
    /// `∂y/∂u`, outputs × inputs. Rows of flags are zero.
    pub D: DMatrix<f64>,
}

impl Jacobians {
    /// Allocates the matrices for a model.
    pub fn new(model: &Model) -> Self {
        Self::with_inputs(model, model.inputs.len())
    }

    /// Allocates the matrices for a model with `nu` inputs.
    pub(super) fn with_inputs(model: &Model, nu: usize) -> Self {
        let (nx, ny) = (model.states.len(), model.outputs.len());
        Self {
            A: DMatrix::zeros(nx, nx),
            B: DMatrix::zeros(nx, nu),
            C: DMatrix::zeros(ny, nx),
            D: DMatrix::zeros(ny, nu),
        }
    }
}

/// Evaluation in dual numbers.
trait Directions: Scalar {
    fn workspace(model: &Model) -> Evaluation<Self>;
    fn derivative(
        by: &mut Evaluation<Self>,
        of: Constants,
        at: OperatingPoint<Self>,
        dx: &mut [Self],
    ) -> Result<(), Error>;
    fn outputs(by: &mut Evaluation<Self>, of: Constants, x: &[Self], discrete: &Discrete, y: &mut [Self]);
}

/// Implements [`Directions`]. Functions that are not inlined are compiled in this crate, instead of in
/// each crate that calls them: the numbers of directions that the library uses.
macro_rules! directions {
    ($($(#[$inline:meta])? $N:literal)*) => {
        $(impl Directions for Dual<$N> {
            $(#[$inline])?
            fn workspace(model: &Model) -> Evaluation<Self> {
                Evaluation::new(model)
            }

            $(#[$inline])?
            fn derivative(
                by: &mut Evaluation<Self>,
                of: Constants,
                at: OperatingPoint<Self>,
                dx: &mut [Self],
            ) -> Result<(), Error> {
                by.derivative(of, at, dx)
            }

            $(#[$inline])?
            fn outputs(by: &mut Evaluation<Self>, of: Constants, x: &[Self], discrete: &Discrete, y: &mut [Self]) {
                by.outputs(of, x, discrete, y);
            }
        })*
    };
}

directions!(1 4 #[inline] 2 #[inline] 8);

#[allow(private_bounds)] // implemented for 1, 2, 4 and 8 directions
impl<const N: usize> Tangent<N>
where
    Dual<N>: Directions,
{
    /// Allocates the workspace for a model.
    pub fn new(model: &Model) -> Self {
        Self::with_inputs(model, model.inputs.len())
    }

    /// Allocates the workspace for a model with `nu` inputs.
    pub(super) fn with_inputs(model: &Model, nu: usize) -> Self {
        let buffer = |n: usize| vec![Dual::lift(0.0); n];
        Self {
            evaluation: Dual::workspace(model),
            x: buffer(model.states.len()),
            u: buffer(nu),
            dx: buffer(model.states.len()),
            y: buffer(model.outputs.len()),
        }
    }

    /// Computes all four Jacobians at an operating point.
    ///
    /// # Errors
    /// Those of [`Plant::derivative`], of values and of partial derivatives.
    pub fn jacobians(&mut self, plant: &Plant, at: OperatingPoint, jacobians: &mut Jacobians) -> Result<(), Error> {
        self.jacobians_of(plant.constants(), at, jacobians, |_| true)
    }

    /// Computes the Jacobians' columns for whose index `is_needed` returns true; states come first,
    /// then inputs. Columns are computed in groups of `N`, so that neighbouring ones may be filled
    /// too.
    pub(super) fn jacobians_of(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        jacobians: &mut Jacobians,
        is_needed: impl Fn(usize) -> bool,
    ) -> Result<(), Error> {
        let (nx, nu) = (self.x.len(), self.u.len());
        let Jacobians { A, B, C, D } = jacobians;
        for first in (0..nx + nu).step_by(N) {
            if !(first..nx + nu).take(N).any(&is_needed) {
                continue;
            }
            self.seed_columns(at, first);
            self.evaluate(of, at.t, at.discrete, true)?;
            for (k, column) in (first..nx + nu).take(N).enumerate() {
                let (of_dx, of_y) = if column < nx {
                    (A.column_mut(column), C.column_mut(column))
                } else {
                    (B.column_mut(column - nx), D.column_mut(column - nx))
                };
                copy_lane(&self.dx, k, of_dx);
                copy_lane(&self.y, k, of_y);
            }
        }
        Ok(())
    }

    /// Computes `A = ∂ẋ/∂x` alone, column by column. [`StateJacobian`](super::StateJacobian)
    /// computes the same faster, by an algorithm of its own.
    ///
    /// # Errors
    /// Those of [`Plant::derivative`], of values and of partial derivatives.
    pub fn state_jacobian(&mut self, plant: &Plant, at: OperatingPoint, A: &mut [f64]) -> Result<(), Error> {
        let nx = self.x.len();
        let mut A = DMatrixViewMut::from_slice(A, nx, nx);
        for first in (0..nx).step_by(N) {
            self.seed_columns(at, first);
            self.evaluate(plant.constants(), at.t, at.discrete, false)?;
            for (k, column) in (first..nx).take(N).enumerate() {
                copy_lane(&self.dx, k, A.column_mut(column));
            }
        }
        Ok(())
    }

    /// Seeds the states and inputs from number `first` on as the independent variables.
    fn seed_columns(&mut self, at: OperatingPoint, first: usize) {
        let values = at.x.iter().chain(at.u);
        for (i, (dual, &value)) in self.x.iter_mut().chain(&mut self.u).zip(values).enumerate() {
            *dual = match i.checked_sub(first) {
                Some(k) if k < N => Dual::variable(value, k),
                _ => Dual::lift(value),
            };
        }
    }

    /// Evaluates the derivatives, and with `outputs` the outputs, at the seeded states and inputs.
    fn evaluate(&mut self, of: Constants, t: f64, discrete: &Discrete, outputs: bool) -> Result<(), Error> {
        let at = OperatingPoint {
            t,
            x: &self.x,
            u: &self.u,
            discrete,
        };
        Dual::derivative(&mut self.evaluation, of, at, &mut self.dx)?;
        check(&self.dx, t, |i| &of.model.derivatives[i].name)?;
        if outputs {
            Dual::outputs(&mut self.evaluation, of, &self.x, discrete, &mut self.y);
            check(&self.y, t, |i| &of.model.outputs[i].quantity.name)?;
        }
        Ok(())
    }
}

/// Direction of a derivative.
#[derive(Clone, Copy, Debug)]
pub struct Direction<'a> {
    /// Changes of the states, or of the parameters at the start of a run.
    pub x: &'a [f64],
    /// Changes of the inputs.
    pub u: &'a [f64],
}

impl Tangent<1> {
    /// Computes `δẋ` for `δx` and `δu` at an operating point.
    ///
    /// # Errors
    /// Those of [`Plant::derivative`], of values and of partial derivatives.
    pub fn derivative_along(
        &mut self,
        plant: &Plant,
        at: OperatingPoint,
        along: Direction,
        delta_dx: &mut [f64],
    ) -> Result<(), Error> {
        self.seed(at, along);
        self.evaluate(plant.constants(), at.t, at.discrete, false)?;
        copy_direction(&self.dx, delta_dx);
        Ok(())
    }

    /// Computes `δẋ` and `δy` for `δx` and `δu` at an operating point.
    ///
    /// # Errors
    /// As [`derivative_along`](Self::derivative_along).
    pub fn evaluate_along(
        &mut self,
        plant: &Plant,
        at: OperatingPoint,
        along: Direction,
        delta_dx: &mut [f64],
        delta_y: &mut [f64],
    ) -> Result<(), Error> {
        self.seed(at, along);
        self.evaluate(plant.constants(), at.t, at.discrete, true)?;
        copy_direction(&self.dx, delta_dx);
        copy_direction(&self.y, delta_y);
        Ok(())
    }

    /// Computes `ẍ` and `ẏ` along the motion itself, where the states' derivatives are `dx`. Time,
    /// signals and the orbit advance; the importer's inputs are constant. The derivative of a value
    /// that is not finite is NaN.
    ///
    /// # Errors
    /// Those of the evaluation, such as [`Error::Singular`] for a part without inertia.
    pub fn evaluate_along_motion(
        &mut self,
        plant: &Plant,
        at: OperatingPoint,
        dx: &[f64],
        ddx: &mut [f64],
        dy: &mut [f64],
    ) -> Result<(), Error> {
        let of = plant.constants();
        let OperatingPoint { t, x, u, discrete } = at;
        for (dual, (&x, &dx)) in self.x.iter_mut().zip(x.iter().zip(dx)) {
            *dual = Dual::new(x, [dx]);
        }
        for (dual, &u) in self.u.iter_mut().zip(u) {
            *dual = Dual::lift(u);
        }
        self.evaluation.read_inputs(of, t, &self.u, &self.x, discrete);
        for (input, source) in self.evaluation.inputs.iter_mut().zip(&of.model.sources) {
            input.eps[0] = of.model.rate_of(source, of.parameters, t, discrete);
        }
        let orbit = of.derived.orbit.as_ref();
        self.evaluation.orbit = orbit.map(|orbit| orbit.at(t).moving());
        OrbitPoint::read_positions(self.evaluation.orbit.as_mut(), &self.evaluation.inputs);
        if let Some(guidance) = &mut self.evaluation.guidance {
            guidance.set_orbit(of.derived, |orbit| orbit.at(t).moving());
        }
        self.evaluation
            .derivative_with_inputs(of, &self.x, discrete, &mut self.dx)?;
        self.evaluation.outputs(of, &self.x, discrete, &mut self.y);
        let values = self.dx.iter().zip(ddx).chain(self.y.iter().zip(dy));
        for (dual, to) in values {
            *to = if dual.re.is_finite() { dual.eps[0] } else { f64::NAN };
        }
        Ok(())
    }

    fn seed(&mut self, at: OperatingPoint, along: Direction) {
        let duals = self.x.iter_mut().chain(&mut self.u);
        let values = at.x.iter().chain(at.u).zip(along.x.iter().chain(along.u));
        for (dual, (&value, &delta)) in duals.zip(values) {
            *dual = Dual::new(value, [delta]);
        }
    }
}

fn copy_direction(from: &[Dual<1>], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.eps[0];
    }
}

fn copy_lane<const N: usize>(from: &[Dual<N>], lane: usize, mut to: nalgebra::DVectorViewMut<f64>) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.eps[lane];
    }
}

/// Validates that values and derivatives are finite.
///
/// # Errors
/// [`Error::NotFinite`] with the variable's name.
fn check<'a, const N: usize>(values: &[Dual<N>], t: f64, name: impl Fn(usize) -> &'a String) -> Result<(), Error> {
    for (i, value) in values.iter().enumerate() {
        let variable = if !value.re.is_finite() {
            name(i).clone()
        } else if value.eps.iter().any(|eps| !eps.is_finite()) {
            format!("a partial derivative of {}", name(i))
        } else {
            continue;
        };
        return Err(Error::NotFinite { variable, t });
    }
    Ok(())
}
