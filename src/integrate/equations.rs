//! The equations as a method sees them: every evaluation is counted, every value is finite.

use super::error::IntegrateError;
use super::lanes::first_not_finite;
use super::{Ode, OwnStep, Settings};

/// Why a derivative or an attempt has no value.
pub(super) enum Failure<E> {
    /// The model says so.
    Derivative(E),
    /// This component is not finite.
    NotFinite(usize),
    /// The implicit equations of the attempt were not solved.
    NoConvergence,
}

/// An [`Ode`] with the account of its evaluations.
pub(super) struct Equations<'a, O: ?Sized> {
    pub ode: &'a mut O,
    /// Evaluations so far.
    pub evaluations: &'a mut u64,
    /// How many there were when the call began.
    pub call_start: u64,
    /// How many the call may have.
    pub limit: u64,
}

impl<O: Ode + ?Sized> Equations<'_, O> {
    /// The derivative at `(t, x)`.
    pub fn derivative(&mut self, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Failure<O::Error>> {
        *self.evaluations += 1;
        evaluate(self.ode, t, x, dx)
    }

    /// Charges one evaluation for a derivative taken over from an earlier call, when there were `since` evaluations, though none is made: a restored run has to make it, and a
    /// work limit must strike both at the same place. Gives the count since which it is known.
    pub fn reuse(&mut self, since: u64) -> u64 {
        if since <= self.call_start {
            *self.evaluations += 1;
            return *self.evaluations;
        }
        since
    }

    /// One [correction](Ode::correct) of the derivative in the middle of a step: one evaluation.
    pub fn correct(
        &mut self,
        at: (f64, f64),
        x0: &[f64],
        g: &mut [f64],
        middle: &mut [f64],
    ) -> Result<(), Failure<O::Error>> {
        *self.evaluations += 1;
        self.ode.correct(at, x0, g, middle).map_err(Failure::Derivative)?;
        check_finite(g)
    }

    /// `∂f/∂x` at `(t, x)`, column by column: exact if the model knows it, otherwise by differences.
    ///
    /// Counts as one evaluation for each state, whichever way it comes. `dx` is the derivative at
    /// `(t, x)`, `shifted` room for a state.
    pub fn jacobian(
        &mut self,
        t: f64,
        (x, dx): (&[f64], &[f64]),
        settings: &Settings,
        shifted: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), Failure<O::Error>> {
        *self.evaluations += x.len() as u64;
        if !self.ode.jacobian(t, x, jacobian).map_err(Failure::Derivative)? {
            differences(self.ode, t, (x, dx), settings, shifted, jacobian)?;
        }
        match first_not_finite(jacobian) {
            Some(entry) => Err(Failure::NotFinite(entry % x.len())),
            None => Ok(()),
        }
    }

    /// The equations' own step, counted as they are asked.
    pub fn own_step(&mut self, evaluations: u64) -> Result<&mut dyn OwnStep<Error = O::Error>, Failure<O::Error>> {
        *self.evaluations += evaluations;
        self.ode.own_step().ok_or(Failure::NoConvergence)
    }

    /// Refuses what would be more evaluations than the call may have.
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

/// The Jacobian by one-sided differences.
///
/// The increment of a state is `√ε` of its magnitude, or of its nominal value if that is larger: half of the digits
/// are lost to round-off and half to curvature. It goes the way on which the state moves, which is more likely to stay
/// within the model's domain; if the model fails there, the other way.
fn differences<O: Ode + ?Sized>(
    ode: &mut O,
    t: f64,
    (x, dx): (&[f64], &[f64]),
    settings: &Settings,
    shifted: &mut [f64],
    jacobian: &mut [f64],
) -> Result<(), Failure<O::Error>> {
    shifted.copy_from_slice(x);
    for (j, column) in jacobian.chunks_exact_mut(x.len().max(1)).enumerate() {
        let away = (f64::EPSILON.sqrt() * x[j].abs().max(settings.nominal(j))).copysign(dx[j]);
        shifted[j] = x[j] + away;
        if evaluate(ode, t, shifted, column).is_err() {
            shifted[j] = x[j] - away;
            evaluate(ode, t, shifted, column)?;
        }
        // The difference as stored, not as intended.
        let increment = shifted[j] - x[j];
        for (entry, dx) in column.iter_mut().zip(dx) {
            *entry = (*entry - dx) / increment;
        }
        shifted[j] = x[j];
    }
    Ok(())
}

/// The derivative at `(t, x)`, finite or a failure.
fn evaluate<O: Ode + ?Sized>(ode: &mut O, t: f64, x: &[f64], dx: &mut [f64]) -> Result<(), Failure<O::Error>> {
    ode.derivative(t, x, dx).map_err(Failure::Derivative)?;
    check_finite(dx)
}

/// A failure at the first component that is not finite.
pub(super) fn check_finite<E>(v: &[f64]) -> Result<(), Failure<E>> {
    first_not_finite(v).map_or(Ok(()), |i| Err(Failure::NotFinite(i)))
}

/// Whether two points are the same bit by bit; equality would take −0 for 0.
pub(super) fn same_point(t: f64, x: &[f64], t_other: f64, x_other: &[f64]) -> bool {
    t.to_bits() == t_other.to_bits() && same_bits(x, x_other)
}

/// Whether two vectors are the same bit by bit.
pub(super) fn same_bits(a: &[f64], b: &[f64]) -> bool {
    let differ = |a: &f64, b: &f64| a.to_bits() ^ b.to_bits();
    a.iter().zip(b).fold(0, |all, (a, b)| all | differ(a, b)) == 0
}

impl<E> Failure<E> {
    /// The error for a failure in a step of length `h` from `t`.
    pub fn at(self, t: f64, h: f64) -> IntegrateError<E> {
        match self {
            Failure::Derivative(source) => IntegrateError::Derivative { t, h, source },
            Failure::NotFinite(component) => IntegrateError::NotFinite { t, h, component },
            Failure::NoConvergence => IntegrateError::NoConvergence { t, h },
        }
    }
}
