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
//!
//! Source throughout, called HNW below: E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary
//! Differential Equations I. Nonstiff Problems*, 2nd revised edition, Springer 1993,
//! doi:10.1007/978-3-540-78862-1. HNW write `y(x)` for our `x(t)`, and `Atol`, `Rtol`, `sc` for our
//! absolute tolerance, relative tolerance and scale.
//!
//! Where things are: `tableau` holds the coefficients' form, `dopri5`, `dop853` and `rk4` the
//! coefficients, `explicit` the family of explicit Runge-Kutta methods (one attempt of one step),
//! `adaptive` and `fixed` the two ways to choose steps, `control` the controller, `landing` the exact
//! hit of a limit, `lanes` the loops over states. Each of these is right for any one-step method except `tableau` and `explicit`: an
//! implicit family is one more file beside `explicit`.
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
//! let (mut t, mut x, mut memory) = (0.0, [1.0], Memory::default());
//! while t < 1.0 {
//!     t = stepper.step(&mut Decay, t, 1.0, &mut x, &mut memory)?.t;
//! }
//! assert_eq!(t, 1.0);
//! assert!((x[0] - (-1.0_f64).exp()).abs() < 1e-8);
//! # Ok(())
//! # }
//! ```

mod adaptive;
mod control;
mod dense;
mod dop853;
mod dopri5;
mod error;
mod explicit;
mod fixed;
mod landing;
mod lanes;
mod memory;
mod method;
mod rk4;
pub mod root;
mod settings;
mod stepper;
mod tableau;

#[cfg(test)]
mod tests;

pub use dense::Dense;
pub use error::IntegrateError;
pub use memory::{InvalidMemory, Memory};
pub use method::Method;
pub use settings::{Settings, SettingsError};
pub use stepper::{Step, Stepper};

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
}
