//! The spacecraft at its start, and the shapes of its bodies.

use crate::results::Results;
use grapple::Error;
use grapple::algebra::{Mat3, Vec3};
use grapple::plant::{Model, Plant};
use grapple::system::{BodyConstants, Derived, Kinematics, System};
use std::sync::Arc;

/// Returns a plant with the parameter values of a run.
///
/// # Errors
/// The parameters are invalid.
pub fn prepared(model: &Arc<Model>, results: &Results) -> Result<Plant, Error> {
    let mut plant = Plant::new(Arc::clone(model))?;
    let set = model.parameters.iter().zip(plant.parameters());
    let values: Vec<f64> = set
        .map(|(parameter, value)| results.parameter(&parameter.quantity.name).unwrap_or(*value))
        .collect();
    plant.set_parameters(&values)?;
    Ok(plant)
}

/// A spacecraft at its start.
pub struct Start<'a> {
    /// Bodies, joints and frames.
    pub system: &'a System,
    /// Constants derived from the parameters.
    pub derived: &'a Derived,
    /// Positions and orientations at the start, world axes.
    pub kinematics: Kinematics<f64>,
}

impl<'a> Start<'a> {
    /// Computes the start with the plant's parameters, as written; loops may be open.
    pub fn of(model: &'a Model, plant: &'a Plant) -> Self {
        Self::at(model, plant, &model.start_at(plant.derived(), 0.0, plant.parameters()))
    }

    /// Computes the start of a run.
    ///
    /// # Errors
    /// No start closes the loops, or there is no equilibrium.
    pub fn solved(model: &'a Model, plant: &'a Plant) -> Result<Self, Error> {
        let start = model.solved_start(plant.derived(), 0.0, plant.parameters())?;
        Ok(Self::at(model, plant, &start))
    }

    /// Computes the poses at coordinates and rates.
    fn at(model: &'a Model, plant: &'a Plant, (q, qd): &(Vec<f64>, Vec<f64>)) -> Self {
        let (system, derived) = (model.system(), plant.derived());
        let mut kinematics = Kinematics::new(system);
        kinematics.update(system, derived, q, qd);
        Self {
            system,
            derived,
            kinematics,
        }
    }
}

/// Returns the half axes, body axes, of the ellipsoid of uniform density with a body's mass and
/// inertia: `a²ᵢ = (5/m)(½ tr I − Iᵢ)` on the principal axes.
pub fn half_axes(body: &BodyConstants) -> [Vec3<f64>; 3] {
    let I = body.I_Bcm.full();
    let squares = (Mat3::identity() * (0.5 * I.trace()) - I) * (5.0 / body.m);
    let principal = squares.symmetric_eigen();
    let lengths = principal.eigenvalues.map(|square| square.max(0.0).sqrt());
    // The ellipsoid of a thin plate or rod gets a visible thickness.
    let least = (0.03 * lengths.max()).max(1e-9);
    [0, 1, 2].map(|i| principal.eigenvectors.column(i) * lengths[i].max(least))
}
