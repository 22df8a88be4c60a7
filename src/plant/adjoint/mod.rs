//! Adjoint derivatives, by reverse accumulation.

mod closed;
mod recording;
mod tree;

use super::{Model, OperatingPoint, Plant};
use crate::Error;
use recording::Recording;
use tree::ByTree;

/// Exact adjoint derivatives: the products of a row vector with the Jacobians of the states'
/// derivatives and the outputs,
///
/// ```text
///     x̄ᵀ = v_dxᵀ A + v_yᵀ C,     ūᵀ = v_dxᵀ B + v_yᵀ D
/// ```
///
/// with the matrices of [`Tangent`](super::Tangent), at a cost that does not depend on the number
/// of states and inputs (`docs/theory/adjoint.md`, `docs/benchmarks.md`). The discrete state is
/// constant, and norms at zero have the derivative zero, as there.
///
/// With the recursive formulation the adjoint of the equations of motion is a recursion over the
/// tree, momenta and energy are differentiated by sums over the bodies, and loads, the rows of
/// captures, loops and couplings, and other outputs are recorded on a
/// [`Tape`](crate::algebra::Tape). The whole evaluation is recorded in the other formulations, with
/// feed-forward, tasks, and effective masses among the outputs.
///
/// The tape is allocated in the first evaluation; later ones do not allocate unless the discrete
/// state lets them take more operations.
#[derive(Clone, Debug)]
pub struct Adjoint(Way);

#[derive(Clone, Debug)]
enum Way {
    ByTree(Box<ByTree>),
    Recorded(Box<Recording>),
}

/// Row vector of the unknowns, which multiplies the Jacobians from the left.
#[derive(Clone, Copy, Debug)]
pub struct Seeds<'a> {
    /// Components of the states' derivatives.
    pub dx: &'a [f64],
    /// Components of the outputs.
    pub y: &'a [f64],
}

impl Seeds<'_> {
    /// Returns true if outputs are among the seeded unknowns.
    fn has_outputs(&self) -> bool {
        self.y.iter().any(|&seed| seed != 0.0)
    }
}

impl Adjoint {
    /// Allocates the workspace for a model, except the tape.
    pub fn new(model: &Model) -> Self {
        Self(match ByTree::supports(model) {
            true => Way::ByTree(Box::new(ByTree::new(model))),
            false => Way::Recorded(Box::new(Recording::new(model))),
        })
    }

    /// Allocates the workspace, and records the whole evaluation of any model.
    pub fn recorded(model: &Model) -> Self {
        Self(Way::Recorded(Box::new(Recording::new(model))))
    }

    /// Computes the adjoints `x_bar` of the states and `u_bar` of the inputs, for the seeds of the
    /// unknowns at an operating point; each in the units of the seeded sum over those of the known.
    ///
    /// # Errors
    /// Those of [`Plant::derivative`], of values and of partial derivatives.
    pub fn evaluate(
        &mut self,
        plant: &Plant,
        at: OperatingPoint,
        seeds: Seeds,
        x_bar: &mut [f64],
        u_bar: &mut [f64],
    ) -> Result<(), Error> {
        let of = plant.constants();
        match &mut self.0 {
            Way::ByTree(tree) => tree.evaluate(of, at, seeds, x_bar, u_bar)?,
            Way::Recorded(recording) => recording.evaluate(of, at, seeds, x_bar, u_bar)?,
        }
        let model = of.model;
        let with_respect_to = |name: &str| format!("a partial derivative with respect to {name}");
        check(x_bar, at.t, |i| with_respect_to(&model.states[i].name))?;
        check(u_bar, at.t, |i| with_respect_to(&model.inputs[i].quantity.name))
    }
}

/// Validates that values are finite.
///
/// # Errors
/// [`Error::NotFinite`] with the name of the first value that is not.
fn check(values: &[f64], t: f64, name: impl Fn(usize) -> String) -> Result<(), Error> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => Err(Error::NotFinite { variable: name(i), t }),
        None => Ok(()),
    }
}
