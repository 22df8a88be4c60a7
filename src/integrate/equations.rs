//! Interface between the methods and the equations, which counts evaluations and checks that values
//! are finite.

use super::error::IntegrateError;
use super::lanes::first_not_finite;
use super::{Ode, OwnStep, Settings, Stage};

/// The reason for which an evaluation or an attempted step has failed.
pub(super) enum Failure<E> {
    /// The model reports an error.
    Derivative(E),
    /// The component with this index is not finite.
    NotFinite(usize),
    /// Newton's iteration did not solve the implicit equations of the attempt.
    NoConvergence,
}

/// State and derivative at one time.
#[derive(Clone, Copy)]
pub(super) struct StateAndDerivative<'a> {
    pub x: &'a [f64],
    pub dx: &'a [f64],
}

impl<'a> StateAndDerivative<'a> {
    pub fn new(x: &'a [f64], dx: &'a [f64]) -> Self {
        Self { x, dx }
    }
}

/// An [`Ode`] with its count of evaluations.
pub(super) struct Equations<'a, O: ?Sized> {
    pub ode: &'a mut O,
    /// Total number of evaluations.
    pub evaluations: &'a mut u64,
    /// Value of `evaluations` at the beginning of the call.
    pub call_start: u64,
    /// Maximum number of evaluations in the call.
    pub limit: u64,
}

impl<O: Ode + ?Sized> Equations<'_, O> {
    /// Computes the derivative at `(t, x)`, if it was not computed ahead.
    pub fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Failure<O::Error>> {
        *self.evaluations += 1;
        if let Some(known) = self.ode.ahead().and_then(|ahead| ahead.derivative(t, x)) {
            dx.copy_from_slice(known);
            return Ok(());
        }
        evaluate(self.ode, t, x, dx)
    }

    /// Computes the derivative at the end `(t, x)` of a step.
    pub fn derivative_at_end(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Failure<O::Error>> {
        *self.evaluations += 1;
        self.ode.derivative_at_end(t, x, dx).map_err(Failure::Derivative)?;
        check_finite(dx)
    }

    /// Counts one evaluation for a reused derivative if it was evaluated in an earlier call, at the
    /// count `since`. A restored run has to evaluate it again, and the work limit must stop both
    /// runs at the same step. Returns the count at which the derivative now counts as evaluated.
    pub fn reuse(&mut self, since: u64) -> u64 {
        if since <= self.call_start {
            *self.evaluations += 1;
            return *self.evaluations;
        }
        since
    }

    /// Corrects the midpoint derivative `g` by [`Ode::correct`]; counts as one evaluation.
    pub fn correct(
        &mut self,
        at: (f64, f64),
        x0: &[f64],
        g: &mut [f64],
        midpoint: &mut [f64],
    ) -> Result<(), Failure<O::Error>> {
        *self.evaluations += 1;
        self.ode.correct(at, x0, g, midpoint).map_err(Failure::Derivative)?;
        check_finite(g)
    }

    /// Computes a stage by [`Ode::stage`]; counts as one evaluation.
    pub fn stage(&mut self, stage: Stage, x: &[f64], p: &[f64], k: &mut [f64]) -> Result<(), Failure<O::Error>> {
        *self.evaluations += 1;
        self.ode.stage(stage, x, p, k).map_err(Failure::Derivative)?;
        check_finite(k)
    }

    /// Computes `∂f/∂x` at time `t`, column by column: exact if the model provides it, otherwise by
    /// finite differences.
    ///
    /// Counts as one evaluation per state in either case. `shifted` is workspace.
    pub fn jacobian(
        &mut self,
        t: f64,
        at: StateAndDerivative,
        settings: &Settings,
        shifted: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), Failure<O::Error>> {
        let x = at.x;
        *self.evaluations += x.len() as u64;
        if !self.ode.jacobian(t, x, jacobian).map_err(Failure::Derivative)? {
            differences(self.ode, t, at, settings, shifted, jacobian)?;
        }
        match first_not_finite(jacobian) {
            Some(entry) => Err(Failure::NotFinite(entry % x.len())),
            None => Ok(()),
        }
    }

    /// Returns the equations' own step and counts `evaluations` for its use.
    ///
    /// # Errors
    /// [`Failure::NoConvergence`] if the equations have none.
    pub fn own_step(&mut self, evaluations: u64) -> Result<&mut dyn OwnStep<Error = O::Error>, Failure<O::Error>> {
        *self.evaluations += evaluations;
        self.ode.own_step().ok_or(Failure::NoConvergence)
    }

    /// Checks that the call may make `more` evaluations.
    ///
    /// # Errors
    /// [`IntegrateError::WorkLimit`] if they would exceed the limit.
    pub fn afford(&self, t: f64, more: u64) -> Result<(), IntegrateError<O::Error>> {
        let evaluations = *self.evaluations - self.call_start;
        if evaluations.saturating_add(more) <= self.limit {
            Ok(())
        } else {
            Err(IntegrateError::WorkLimit {
                t_reached: t,
                evaluations,
            })
        }
    }
}

/// Computes the Jacobian at time `t` by one-sided finite differences.
///
/// The increment of a state is `√ε` of its magnitude, or of its nominal value if that is larger,
/// which balances round-off and truncation. Its sign is that of the state's derivative: the state
/// then more likely stays within the model's domain. If the model fails, the other sign is used.
fn differences<O: Ode + ?Sized>(
    ode: &mut O,
    t: f64,
    at: StateAndDerivative,
    settings: &Settings,
    shifted: &mut [f64],
    jacobian: &mut [f64],
) -> Result<(), Failure<O::Error>> {
    let StateAndDerivative { x, dx } = at;
    shifted.copy_from_slice(x);
    for (j, column) in jacobian.chunks_exact_mut(x.len().max(1)).enumerate() {
        let away = (f64::EPSILON.sqrt() * x[j].abs().max(settings.nominal(j))).copysign(dx[j]);
        shifted[j] = x[j] + away;
        if evaluate(ode, t, shifted, column).is_err() {
            shifted[j] = x[j] - away;
            evaluate(ode, t, shifted, column)?;
        }
        // The increment as rounded in `shifted`.
        let increment = shifted[j] - x[j];
        for (entry, dx) in column.iter_mut().zip(dx) {
            *entry = (*entry - dx) / increment;
        }
        shifted[j] = x[j];
    }
    Ok(())
}

/// Computes the derivative at `(t, x)` and checks that it is finite.
fn evaluate<O: Ode + ?Sized>(ode: &mut O, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Failure<O::Error>> {
    ode.derivative(t, x, dx).map_err(Failure::Derivative)?;
    check_finite(dx)
}

/// Returns a failure at the first component that is not finite.
pub(super) fn check_finite<E>(v: &[f64]) -> Result<(), Failure<E>> {
    first_not_finite(v).map_or(Ok(()), |i| Err(Failure::NotFinite(i)))
}

/// Returns true if two points are bit-identical; equality would identify −0 and 0.
pub(super) fn same_point(t: f64, x: &[f64], t_other: f64, x_other: &[f64]) -> bool {
    t.to_bits() == t_other.to_bits() && same_bits(x, x_other)
}

/// Returns true if two vectors are bit-identical.
pub(super) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    let differ = |a: &f64, b: &f64| a.to_bits() ^ b.to_bits();
    a.iter().zip(b).fold(0, |all, (a, b)| all | differ(a, b)) == 0
}

impl<E> Failure<E> {
    /// Returns the error for a failure in a step of length `h` from `t`.
    pub fn at(self, t: f64, h: f64) -> IntegrateError<E> {
        match self {
            Failure::Derivative(source) => IntegrateError::Derivative { t, h, source },
            Failure::NotFinite(component) => IntegrateError::NotFinite { t, h, component },
            Failure::NoConvergence => IntegrateError::NoConvergence { t, h },
        }
    }
}
