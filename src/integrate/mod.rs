//! Integrators for ordinary differential equations.
//!
//! ```text
//!     ẋ = f(t, x),   x(t₀) = x₀
//! ```
//!
//! The module takes one accepted step at a time, provides dense output inside that step, and
//! locates sign changes of functions. Loops over communication points, event handling and names of
//! states are the caller's task.
//!
//! Data are separated by what their loss would change:
//!
//! | kind | type | consequence of a loss |
//! |---|---|---|
//! | settings | [`Settings`] | a different problem is solved; constant for a [`Stepper`] |
//! | memory | [`Memory`] | other steps; a run restored with `t`, `x` and memory is bit-identical |
//! | workspace | inside [`Stepper`] | computing time only |
//! | result | [`Step`], [`Dense`] | none |
//!
//! | method | order | dense output | step |
//! |---|---|---|---|
//! | [`Method::Dopri5`] | 5(4) | 4 | adaptive |
//! | [`Method::BogackiShampine`] | 3(2) | 3 | adaptive |
//! | [`Method::Dop853`] | 8(5,3) | 7 | adaptive |
//! | [`Method::Rk4`] | 4 | 3 | fixed |
//! | [`Method::Radau5`] | 5 (3), for stiff equations | 3 | adaptive |
//! | [`Method::Rosenbrock`] | 3 (2), for stiff equations | 2 | adaptive |
//! | [`Method::ImplicitMidpoint`] | 2, symplectic | 2 | fixed |
//! | [`Method::LinearlyImplicit`] | 2, two evaluations a step | 2 | fixed |
//! | [`Method::Conserving`] | 2, step defined by the equations | 2 | fixed |
//! | [`Method::Auto`] | that of Dopri5, BogackiShampine, Rosenbrock or Radau5 | 4, 3, 2 or 3 | adaptive |
//!
//! Main source, cited as HNW: E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary Differential
//! Equations I. Nonstiff Problems*, 2nd revised edition, Springer 1993,
//! doi:10.1007/978-3-540-78862-1. HNW write `y(x)` for `x(t)`, and `Atol`, `Rtol`, `sc` for
//! absolute tolerance, relative tolerance and scale.
//!
//! HW is their second volume, on stiff equations, doi:10.1007/978-3-642-05221-7.
//!
//! Modules: `one_step` defines the interface of a one-step method. `explicit` implements the
//! explicit Runge-Kutta methods (`tableau` defines the form of the coefficients; `dopri5`, `dop853`,
//! `bogacki_shampine` and `rk4` contain them), `radau` the Radau IIA method (coefficients in
//! `radau5`), `rosenbrock` the Rosenbrock-W method, `ends` the common part of `midpoint`,
//! `linearly_implicit` and `conserving`; `auto` selects a method by the counts in
//! `method_selection`. `newton` and `lu` solve the equations of implicit methods, `equations` is the
//! common interface to the [`Ode`], `known` reuses derivatives, `ahead` computes the stages of
//! several runs at once. `adaptive` and `fixed` are the two kinds of step size selection, `control`
//! is the step size controller, `initial` selects the first step, `landing` makes a step end exactly
//! on a limit, `lanes` contains loops over states; `numbers` reads a saved [`Memory`].
//!
//! ```
//! # use grapple::integrate;
//! use integrate::{Memory, Method, Ode, Settings, Stepper};
//!
//! struct Decay;
//! impl Ode for Decay {
//!     type Error = std::convert::Infallible;
//!     fn derivative(&mut self, _t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
//!         dx[0] = -x[0];
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut stepper = Stepper::new(Settings::new(Method::Dopri5, 1e-8, &[1.0])?);
//! let (mut t, mut x, mut memory) = (0.0, [1.0], Memory::new(stepper.settings()));
//! while t < 1.0 {
//!     t = stepper.step(&mut Decay, t, 1.0, &mut x, &mut memory)?.t;
//! }
//! assert_eq!(t, 1.0);
//! assert!((x[0] - (-1.0_f64).exp()).abs() < 1e-8);
//! # Ok(())
//! # }
//! ```

mod adaptive;
mod ahead;
mod auto;
mod bogacki_shampine;
mod conserving;
mod control;
mod dense;
mod dop853;
mod dopri5;
mod ends;
mod equations;
mod error;
mod explicit;
mod fixed;
mod initial;
mod known;
mod landing;
mod lanes;
mod linearly_implicit;
mod lu;
mod memory;
mod method;
mod method_selection;
mod midpoint;
mod newton;
mod numbers;
mod one_step;
mod radau;
mod radau5;
mod rk4;
pub mod root;
mod rosenbrock;
mod settings;
mod step;
mod stepper;
mod tableau;

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests;

pub use ahead::{Ahead, AtEnd, LaneAttempt, LaneOde, LaneStage, Next, Results, Start};
pub use dense::Dense;
pub use error::IntegrateError;
pub use memory::Memory;
pub use method::{Alternatives, Method};
pub use numbers::InvalidMemory;
pub use settings::{Settings, SettingsError};
pub use step::Step;
pub use stepper::Stepper;

/// A system of ordinary differential equations of first order, `ẋ = f(t, x)`.
///
/// Evaluations at equal `(t, x)` must be bit-identical until the caller calls
/// [`Stepper::invalidate`], because the integrator reuses stored derivatives.
pub trait Ode {
    /// Error type: the reason for which the derivative has no value at a point.
    type Error;

    /// Writes `f(t, x)` into all components of `dx`, whose initial contents are arbitrary.
    ///
    /// An error or a value that is not finite means that this trial point is outside the model's
    /// domain: an adaptive method then tries a smaller step.
    ///
    /// # Errors
    ///
    /// If the model has no derivative at `(t, x)`.
    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error>;

    /// [`derivative`](Ode::derivative) at the end of a step, or of an attempt: the caller may need
    /// more results at this point.
    ///
    /// # Errors
    ///
    /// If the model has no derivative at `(t, x)`.
    fn derivative_at_end(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error> {
        self.derivative(t, x, dx)
    }

    /// Writes `∂f/∂x` at `(t, x)` into `jacobian`, column-major: with `n` states, `∂fᵢ/∂xⱼ` is
    /// `jacobian[j * n + i]`. Returns `true` in that case.
    ///
    /// Used by implicit methods only. The default returns `false`, and the integrator uses finite
    /// differences of [`derivative`](Ode::derivative), one evaluation per state. With an inaccurate
    /// Jacobian, Newton's iteration converges more slowly, to the same solution.
    ///
    /// # Errors
    ///
    /// If the model has no derivative at `(t, x)`.
    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut [f64]) -> Result<bool, Self::Error> {
        let _ = (t, x, jacobian);
        Ok(false)
    }

    /// Corrects the midpoint derivative `g` of a step from `x0` once, for
    /// [`Method::LinearlyImplicit`]. The exact `g` satisfies `g = f(t, x₀ + θ g)`, with the
    /// midpoint time `t` and half of the step `θ`:
    ///
    /// ```text
    ///     g ← g + (1 − θ W)⁻¹ (f(t, x₀ + θ g) − g)
    /// ```
    ///
    /// with an approximation `W` of the Jacobian; the default is `W = 0`. `W` must contain the
    /// stiff terms; the order does not depend on it. A model may first make `g` consistent: the `g`
    /// of a coordinate equals the midpoint rate. Unless `W` is the exact Jacobian, this is a
    /// different method: a fast component that is not in `W` is damped by the plain formula, but
    /// grows with a consistent `g`. `midpoint` is workspace of the length of a state.
    ///
    /// # Errors
    ///
    /// If the model has no derivative at the midpoint.
    fn correct(
        &mut self,
        (t, theta): (f64, f64),
        x0: &[f64],
        g: &mut [f64],
        midpoint: &mut [f64],
    ) -> Result<(), Self::Error> {
        for ((midpoint, x0), g) in midpoint.iter_mut().zip(x0).zip(&*g) {
            *midpoint = x0 + theta * g;
        }
        self.derivative(t, midpoint, g)
    }

    /// Computes the derivative `k` of a stage, for [`Method::Rosenbrock`]:
    ///
    /// ```text
    ///     (1 − θ W) k = f(t, x) + W p,   θ = γ h
    /// ```
    ///
    /// with an approximation `W` of the Jacobian; the default is `W = 0`. `W` must contain the
    /// stiff terms; the order does not depend on it. The stages of an attempted step are computed
    /// in order: `W` may be a smooth function of `t` and `x`, and may contain values at the first
    /// stage. The second stage may be one a little after the first, for the change of `f` along the
    /// motion.
    ///
    /// # Errors
    ///
    /// If the model has no derivative at `(t, x)`.
    fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Self::Error> {
        let _ = p;
        self.derivative(stage.t, x, k)
    }

    /// Returns true if `∂f/∂t` is not zero at the time `t`; by default always. Every step of
    /// [`Method::Rosenbrock`] then has one more stage, otherwise only those that no limit shortens.
    fn varies_in_time(&self, t: f64) -> bool {
        let _ = t;
        true
    }

    /// Returns what was computed ahead for the next attempt, together with those of other runs; by default
    /// `None`.
    fn ahead(&self) -> Option<&Ahead> {
        None
    }

    /// Returns the step that the equations define for [`Method::Conserving`]; by default `None`.
    fn own_step(&mut self) -> Option<&mut dyn OwnStep<Error = Self::Error>> {
        None
    }
}

/// A step that the equations themselves define: a residual `R(u) = 0` for the midpoint rates `u`,
/// and the state at the end as a function of `u`.
pub trait OwnStep {
    /// Error type: the reason for which there is no residual.
    type Error;

    /// Begins a step at the state `x`; writes the rates at `x` into `u` as the starting value.
    ///
    /// # Errors
    /// If the model has no step of its own.
    fn begin(&mut self, span: Span, x: &[f64], u: &mut [f64]) -> Result<(), Self::Error>;

    /// Computes `R(u)`.
    ///
    /// # Errors
    /// If the model has no step of its own, or no residual at `u`.
    fn residual(&mut self, span: Span, u: &[f64], residual: &mut [f64]) -> Result<(), Self::Error>;

    /// Computes `∂R/∂u`, column-major.
    ///
    /// # Errors
    /// If the model has no step of its own, or no residual at `u`.
    fn jacobian(&mut self, span: Span, u: &[f64], jacobian: &mut [f64]) -> Result<(), Self::Error>;

    /// Computes the state `x1` at the end from `x0` and `u`. The last call of
    /// [`residual`](Self::residual) has computed the integrands of integrated quantities, such as
    /// the power for the work.
    ///
    /// # Errors
    /// If the model has no step of its own.
    fn end(&mut self, span: Span, x0: &[f64], u: &[f64], x1: &mut [f64]) -> Result<(), Self::Error>;
}

/// A stage of [`Method::Rosenbrock`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Time of the stage.
    pub t: f64,
    /// Coefficient `θ = γ h` of `W`.
    pub theta: f64,
    /// True for the first stage of an attempted step, at its start.
    pub is_first: bool,
}

/// A step: from `t` to `t + h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Time of the start.
    pub t: f64,
    /// Length, in units of `t`.
    pub h: f64,
}
