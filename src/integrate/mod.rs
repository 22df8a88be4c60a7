//! Integrators: this room knows only "an ODE".
//!
//! ```text
//!     ẋ = f(t, x),   x(t₀) = x₀
//! ```
//!
//! It takes one accepted step at a time, gives the solution anywhere inside that step (dense output),
//! and locates a sign change in it. Loops over communication points, event iteration and names of
//! states belong to the caller.
//!
//! Four kinds of things are kept apart, by the question *what if it were lost?*
//!
//! | kind | type | if lost |
//! |---|---|---|
//! | settings | [`Settings`] | another problem is solved; constant while a [`Stepper`] lives |
//! | memory | [`Memory`] | the steps change: save it with `t` and `x`, and the run continues with identical bits |
//! | workspace | inside [`Stepper`] | only time is lost |
//! | result | [`Step`], [`Dense`] | nothing |
//!
//! | method | order | dense output | step |
//! |---|---|---|---|
//! | [`Method::Dopri5`] | 5(4) | 4 | adaptive |
//! | [`Method::Dop853`] | 8(5,3) | 7 | adaptive |
//! | [`Method::Rk4`] | 4 | 3 | fixed |
//! | [`Method::Radau5`] | 5 (3), for stiff equations | 3 | adaptive |
//! | [`Method::ImplicitMidpoint`] | 2, symplectic | 2 | fixed |
//! | [`Method::LinearlyImplicit`] | 2, two evaluations a step | 2 | fixed |
//! | [`Method::Conserving`] | 2, the equations' own | 2 | fixed |
//! | [`Method::Auto`] | Dopri5 or Radau5 | 4 or 3 | adaptive |
//!
//! Source throughout, called HNW below: E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary
//! Differential Equations I. Nonstiff Problems*, 2nd revised edition, Springer 1993,
//! doi:10.1007/978-3-540-78862-1. HNW write `y(x)` for our `x(t)`, and `Atol`, `Rtol`, `sc` for our
//! absolute tolerance, relative tolerance and scale.
//!
//! HW, on stiff equations, is their second volume, doi:10.1007/978-3-642-05221-7.
//!
//! Where things are: `one_step` says what a one-step method is: `explicit` (the family of explicit Runge-Kutta
//! methods; `tableau` holds the coefficients' form, `dopri5`, `dop853` and `rk4` the coefficients), `radau` (with its coefficients in
//! `radau5`), and in `ends` what `midpoint`, `linearly_implicit` and `conserving` have in common; `auto` puts one or another to work by what `watch` has seen. `newton` and `lu` serve the implicit
//! ones, `equations` is how all of them see the [`Ode`], `known` what they need not ask it again. `adaptive` and `fixed` are the two ways to choose steps, `control` the controller, `initial` the
//! first step, `landing` the exact hit of a limit, `lanes` the loops over states; `numbers` are what a [`Memory`] is made of.
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
mod auto;
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
mod midpoint;
mod newton;
mod numbers;
mod one_step;
mod radau;
mod radau5;
mod rk4;
pub mod root;
mod settings;
mod step;
mod stepper;
mod tableau;
mod watch;

#[cfg(test)]
mod tests;

pub use dense::Dense;
pub use error::IntegrateError;
pub use memory::Memory;
pub use method::Method;
pub use numbers::InvalidMemory;
pub use settings::{Settings, SettingsError};
pub use step::Step;
pub use stepper::Stepper;

/// A system of ordinary differential equations of first order, `ẋ = f(t, x)`.
///
/// The same `(t, x)` must give the same bits for as long as the caller has not told the stepper
/// otherwise ([`Stepper::invalidate`]): a derivative already known is not evaluated again.
pub trait Ode {
    /// Why the derivative has no value at a point.
    type Error;

    /// Writes `f(t, x)` into `dx`, every component of it; `dx` comes in with arbitrary contents.
    ///
    /// An error, like a value that is not finite, is taken as "this trial point is outside the
    /// model's domain": an adaptive method tries a smaller step.
    ///
    /// # Errors
    ///
    /// Where the model has no derivative at `(t, x)`.
    fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Self::Error>;

    /// Writes `∂f/∂x` at `(t, x)` into `jacobian`, all of it, column by column: with `n` states, `∂fᵢ/∂xⱼ` is
    /// `jacobian[j * n + i]`. Then it returns `true`.
    ///
    /// Only the implicit methods ask. Unless a model says more, it returns `false`: it does not know its Jacobian, and the
    /// integrator takes differences of [`derivative`](Ode::derivative), one for each state. What is wrong in a Jacobian slows the
    /// iterations, it does not change what they converge to.
    ///
    /// # Errors
    ///
    /// Where the model has no derivative at `(t, x)`.
    fn jacobian(&mut self, t: f64, x: &[f64], jacobian: &mut [f64]) -> Result<bool, Self::Error> {
        let _ = (t, x, jacobian);
        Ok(false)
    }

    /// Improves `g`, which stands for the derivative in the middle of a step from `x0`, `g = f(t, x₀ + θ g)`, for
    /// [`Method::LinearlyImplicit`]: one correction
    ///
    /// ```text
    ///     g ← g + (1 − θ W)⁻¹ (f(t, x₀ + θ g) − g)
    /// ```
    ///
    /// with an approximation `W` of the Jacobian. Unless a model says more, `W = 0`. What is stiff has to be in `W`; the order does not depend on
    /// it. A model may first make `g` consistent where it can: of coordinates, `g` is the rates in the middle. That is another method where `W` is not the Jacobian: what is fast and not in `W`
    /// is damped by the formula as it stands, and grows so. `middle` is room for a state.
    ///
    /// # Errors
    ///
    /// Where the model has no derivative in the middle.
    fn correct(
        &mut self,
        (t, theta): (f64, f64),
        x0: &[f64],
        g: &mut [f64],
        middle: &mut [f64],
    ) -> Result<(), Self::Error> {
        for ((middle, x0), g) in middle.iter_mut().zip(x0).zip(&*g) {
            *middle = x0 + theta * g;
        }
        self.derivative(t, middle, g)
    }

    /// The equations of a step of their own, for [`Method::Conserving`]; unless a model says more, it has none.
    fn own_step(&mut self) -> Option<&mut dyn OwnStep<Error = Self::Error>> {
        None
    }
}

/// Equations that know a step of their own: `R(u) = 0` for mean rates `u`, and the state at the step's end.
pub trait OwnStep {
    /// Why there is no residual.
    type Error;

    /// Begins a step at the state `x`; writes into `u` where to look for the solution.
    ///
    /// # Errors
    /// Where the model has no such step.
    fn begin(&mut self, span: Span, x: &[f64], u: &mut [f64]) -> Result<(), Self::Error>;

    /// Writes `R(u)`.
    ///
    /// # Errors
    /// Where the model has no such step.
    fn residual(&mut self, span: Span, u: &[f64], residual: &mut [f64]) -> Result<(), Self::Error>;

    /// Writes `∂R/∂u`, column by column.
    ///
    /// # Errors
    /// Where the model has no such step.
    fn jacobian(&mut self, span: Span, u: &[f64], jacobian: &mut [f64]) -> Result<(), Self::Error>;

    /// Writes the state at the end. After [`residual`](Self::residual), of which it takes what is only summed up, as work is.
    ///
    /// # Errors
    /// Where the model has no such step.
    fn end(&mut self, span: Span, x0: &[f64], u: &[f64], x1: &mut [f64]) -> Result<(), Self::Error>;
}

/// A step: from `t` to `t + h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its start.
    pub t: f64,
    /// Its length.
    pub h: f64,
}
