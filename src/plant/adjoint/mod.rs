//! Adjoint derivatives, by reverse accumulation.

mod carriers;
mod closed;
mod control;
mod effective;
mod guidance;
mod jacobians;
mod loads;
mod recording;
mod rigid;
mod tasks;
mod tree;
mod variables;

use super::context::Constants;
use super::coordinates::Coordinates;
use super::{Model, OperatingPoint, Plant};
use crate::Error;
use crate::system::{Carrier, Orbit, System};
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
/// captures, loops, couplings and contacts that rest, and other outputs are recorded on a
/// [`Tape`](crate::algebra::Tape). The whole evaluation is recorded in the other formulations, with
/// third bodies at positions that are inputs, and for effective masses of spacecraft with captures
/// or loops.
///
/// The tape is allocated in the first evaluation; later ones do not allocate unless the discrete
/// state lets them take more operations.
#[derive(Clone, Debug)]
pub struct Adjoint(Way);

#[derive(Clone, Debug)]
enum Way {
    ByTree(Box<ByTree>, Option<Box<Constrained>>),
    Recorded(Box<Recording>),
}

/// Record of the whole evaluation for effective masses of constrained frames.
#[derive(Clone, Debug)]
struct Constrained {
    recording: Recording,
    /// Seeds of the states' derivatives: zero.
    dx: Vec<f64>,
    /// Seeds of the effective masses; those of the other outputs are zero.
    y: Vec<f64>,
    x_bar: Vec<f64>,
    u_bar: Vec<f64>,
}

impl Constrained {
    /// Allocates for a model; `None` without effective masses of frames that can be constrained.
    fn new(model: &Model) -> Option<Box<Self>> {
        let elements = &model.elements;
        let on_beam = |frame| matches!(model.system.carrier(frame), Carrier::Point(_));
        let mut frames = elements.effective_masses.iter().map(|mass| mass.frame);
        let is_constrained = frames.len() > 0 && (elements.most_rows() > 0 || frames.any(on_beam));
        let zeros = |n: usize| vec![0.0; n];
        is_constrained.then(|| {
            Box::new(Self {
                recording: Recording::new(model),
                dx: zeros(model.states.len()),
                y: zeros(model.outputs.len()),
                x_bar: zeros(model.states.len()),
                u_bar: zeros(model.inputs.len()),
            })
        })
    }

    /// Adds the adjoints of the effective masses alone.
    ///
    /// # Errors
    /// Those of the evaluation, and values that are not finite.
    fn add(
        &mut self,
        of: Constants,
        at: OperatingPoint,
        y: &[f64],
        x_bar: &mut [f64],
        u_bar: &mut [f64],
    ) -> Result<(), Error> {
        let first = of.model.first_effective_mass();
        if y[first..].iter().all(|&seed| seed == 0.0) {
            return Ok(());
        }
        self.y[first..].copy_from_slice(&y[first..]);
        let Self {
            recording,
            dx,
            y,
            x_bar: x,
            u_bar: u,
        } = self;
        recording.evaluate(of, at, Seeds { dx, y }, x, u)?;
        let bars = x_bar.iter_mut().chain(u_bar).zip(x.iter().chain(&*u));
        bars.for_each(|(to, bar)| *to += bar);
        Ok(())
    }
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
        Self(match model.coordinates {
            Coordinates::Minimal if !has_recorded_positions(model) => {
                Way::ByTree(Box::new(ByTree::new(model)), Constrained::new(model))
            }
            _ => Way::Recorded(Box::new(Recording::new(model))),
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
            Way::ByTree(tree, constrained) => {
                // The evaluation determines which rows are active.
                let observes = tree.evaluate(of, at, seeds, x_bar, u_bar)?;
                if let (false, Some(constrained)) = (observes, constrained) {
                    constrained.add(of, at, seeds.y, x_bar, u_bar)?;
                }
            }
            Way::Recorded(recording) => recording.evaluate(of, at, seeds, x_bar, u_bar)?,
        }
        let model = of.model;
        let with_respect_to = |name: &str| format!("a partial derivative with respect to {name}");
        check(x_bar, at.t, |i| with_respect_to(&model.states[i].name))?;
        check(u_bar, at.t, |i| with_respect_to(&model.inputs[i].quantity.name))
    }
}

/// Returns true if gravity depends on inputs with respect to which its adjoint has no derivatives: on
/// ANCF beams, and in the rigid model of feed-forward and tasks.
fn has_recorded_positions(model: &Model) -> bool {
    let by_inputs = |system: &System| system.orbit.as_ref().is_some_and(Orbit::attracts_by_inputs);
    let mut guided = model.guided.iter().map(|guided| &guided.spacecraft.system);
    guided.any(by_inputs)
        || by_inputs(&model.system) && (!model.system.nodal.is_empty() || model.elements.need_rigid_model())
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
