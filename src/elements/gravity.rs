//! Gravity: uniform, or relative to a reference orbit.

use super::{Instant, nodal};
use crate::algebra::{Scalar, Wrench, lift3};
use crate::dynamics::Applied;
use crate::spec::{Environment, at};
use crate::system::{Declarations, ParamId, Quantity, Unit};

/// Uniform gravity (m/s², inertial axes), a load with a potential.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uniform(ParamId);

impl Uniform {
    pub fn declare(environment: &Environment, declare: &mut Declarations) -> Option<Self> {
        let gravity = environment.gravity?;
        Some(Self(declare.parameters(
            Quantity::vector(
                "environment.gravity",
                Unit::MetrePerSecond2,
                "uniform gravity, inertial axes",
            ),
            &gravity,
            false,
            &at("environment", "", "gravity"),
        )))
    }

    pub fn add<S: Scalar>(self, now: &Instant<S>, applied: &mut Applied<S>) {
        let g = lift3::<S>(&self.0.vector(now.parameters));
        nodal::add_gravity(now, &g, &mut applied.tau);
        for (i, constants) in now.derived.bodies.iter().enumerate() {
            let h = now.first_moment(i);
            applied.wrench[i] = applied.wrench[i] + Wrench::new(h.cross(&g), g * S::lift(constants.m));
            if let Some(modes) = &now.system.bodies[i].modes {
                let bent = &now.kinematics.deflections[modes.index];
                for (tau, L) in applied.tau[modes.rates()].iter_mut().zip(&bent.L) {
                    *tau += L.f.dot(&g);
                }
            }
        }
    }

    /// Returns the potential energy, J, zero at the world's origin.
    pub fn potential_energy<S: Scalar>(self, now: &Instant<S>) -> S {
        let g = lift3::<S>(&self.0.vector(now.parameters));
        let bodies = now.derived.bodies.iter().zip(&now.kinematics.bodies).enumerate();
        let of_beams = nodal::gravity_energy(now, &g);
        bodies.fold(of_beams, |energy, (i, (body, at))| {
            energy - g.dot(&(at.p_WB * S::lift(body.m) + now.first_moment(i)))
        })
    }
}

/// Adds gravity relative to the world's origin, which moves in free fall along the reference orbit.
///
/// Force, moment and modal forces are the gradient of `m U(r) + ½ P:∇∇U`, with the potential `U` at
/// each body's mass centre `r` and the second moment of mass `P` about it, of the deformed body.
pub(super) fn add_of_orbit<S: Scalar>(now: &Instant<S>, applied: &mut Applied<S>) {
    let Some(orbit) = now.orbit else { return };
    nodal::add_of_orbit(now, orbit, &mut applied.tau);
    for (i, constants) in now.derived.bodies.iter().enumerate() {
        let at = &now.kinematics.bodies[i];
        let (modes, h, per_m) = (
            &now.system.bodies[i].modes,
            now.first_moment(i),
            S::lift(1.0 / constants.m),
        );
        let J = match modes {
            Some(modes) => now.kinematics.deflections[modes.index].J,
            None => constants.J_Bo.lift::<S>().express(&at.R_WB),
        };
        let c = h * per_m;
        let P = J.second_moment() - h * c.transpose();
        let field = orbit.gravity(&(at.p_WB + c));
        let g = field.g + field.beyond_gradient(&P) * per_m;
        applied.wrench[i] = applied.wrench[i] + Wrench::new(h.cross(&g) + field.moment(&P), g * S::lift(constants.m));
        if let (Some(modes), Some(elastic)) = (modes, &constants.elastic) {
            let bent = &now.kinematics.deflections[modes.index];
            let at_origin = g - field.G * c;
            bent.add_field(elastic, at, &at_origin, &field.G, &mut applied.tau[modes.rates()]);
        }
    }
}
