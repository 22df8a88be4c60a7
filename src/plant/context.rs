//! Contexts of an evaluation, passed by value.

use super::{Discrete, Model};
use crate::algebra::Scalar;
use crate::system::{Configuration, Derived, Kinematics, Mechanism};
use std::sync::Arc;

/// A model with values of its parameters and the constants that are derived from them, as numbers of
/// the type `C`.
#[derive(Clone, Copy)]
pub(super) struct Constants<'a, C: Scalar = f64> {
    pub model: &'a Model,
    pub derived: &'a Derived<C>,
    pub parameters: &'a [C],
}

impl<'a, C: Scalar> Constants<'a, C> {
    /// Returns the system with its constants.
    pub fn mechanism(self) -> Mechanism<'a, C> {
        Mechanism {
            system: &self.model.system,
            derived: self.derived,
        }
    }

    /// Returns the mechanism with these kinematics.
    pub fn at<S: Scalar<Constant = C>>(self, kinematics: &'a Kinematics<S>) -> Configuration<'a, S> {
        Configuration {
            system: &self.model.system,
            derived: self.derived,
            kinematics,
        }
    }
}

/// Constants with which numbers of the type `S` are combined.
pub(super) type ConstantsOf<'a, S> = Constants<'a, <S as Scalar>::Constant>;

/// Owner of the [`Constants`].
#[derive(Clone, Debug)]
pub(super) struct Parameterised {
    pub model: Arc<Model>,
    pub derived: Derived,
    pub parameters: Vec<f64>,
}

impl Parameterised {
    #[inline]
    pub fn constants(&self) -> Constants<'_> {
        Constants {
            model: &self.model,
            derived: &self.derived,
            parameters: &self.parameters,
        }
    }
}

/// Time, states, inputs and discrete state at which a plant is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct OperatingPoint<'a, S = f64> {
    /// Time, s.
    pub t: f64,
    /// States, in the model's order.
    pub x: &'a [S],
    /// The importer's inputs.
    pub u: &'a [S],
    /// Discrete state.
    pub discrete: &'a Discrete,
}

impl<'a, S> OperatingPoint<'a, S> {
    /// Returns the point of time `t` (s), states `x`, inputs `u` and a discrete state.
    pub fn new(t: f64, x: &'a [S], u: &'a [S], discrete: &'a Discrete) -> Self {
        Self { t, x, u, discrete }
    }
}
