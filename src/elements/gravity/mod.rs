//! Gravity: uniform, or relative to a reference orbit.

mod adjoint;

pub(crate) use adjoint::{GravityAdjoint, GravitySeeds};

use super::{Compiler, Element, Instant, Reads, ancf_beam};
use crate::algebra::{Mat3, Scalar, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::spec::at;
use crate::system::{OrbitPoint, ParamId, Quantity, Unit};

/// Gravity on all bodies and ANCF beams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gravity {
    law: Law,
    acts_on: Attracted,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    /// Uniform gravity (m/s², inertial axes): a load with a potential.
    Uniform(ParamId),
    /// Gravity relative to the free fall of the world's origin: a load without a potential, since
    /// it depends on time.
    OfOrbit,
}

/// Bodies and beams on which gravity acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Attracted {
    /// All bodies and ANCF beams.
    All,
    /// All bodies; ANCF beams in uniform gravity only.
    Bodies,
    /// None: adjoint derivatives are computed by [`GravityAdjoint`].
    None,
}

impl Gravity {
    /// Returns the acceleration of uniform gravity, m/s², world axes; zero in orbit.
    pub fn uniform(&self, parameters: &[f64]) -> Vec3<f64> {
        match self.law {
            Law::Uniform(g) => g.vector(parameters),
            Law::OfOrbit => Vec3::zeros(),
        }
    }

    /// Returns the same gravity, which acts on these alone.
    pub fn on(self, acts_on: Attracted) -> Self {
        Self { acts_on, ..self }
    }

    /// Returns true if it acts on bodies.
    pub fn acts(&self) -> bool {
        self.acts_on != Attracted::None
    }

    /// Returns the acceleration of a free particle at the position `p` (m, world axes) relative to the
    /// world's origin, m/s², world axes.
    pub fn at<S: Scalar>(&self, now: &Instant<S>, p: &Vec3<S>) -> Vec3<S> {
        match self.law {
            Law::Uniform(g) => lift3(&g.vector(now.parameters)),
            Law::OfOrbit => now.orbit.map_or_else(Vec3::zeros, |orbit| orbit.gravity(p).g),
        }
    }
}

impl Element for Gravity {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let uniform = from.spec.environment.gravity.map(|gravity| {
            let what = "uniform gravity, inertial axes";
            let quantities = Quantity::vector("environment.gravity", Unit::MetrePerSecond2, what);
            let at = at("environment", "", "gravity");
            Law::Uniform(from.declare.parameters(quantities, &gravity, false, &at))
        });
        let of_orbit = from.system.orbit.as_ref().map(|_| Law::OfOrbit);
        let laws = uniform.into_iter().chain(of_orbit);
        laws.map(|law| Self {
            law,
            acts_on: Attracted::All,
        })
        .collect()
    }

    fn reads(&self) -> Reads {
        let reads = match self.law {
            Law::Uniform(_) => Reads::ATTITUDE,
            Law::OfOrbit => Reads::MOTION,
        };
        reads.when(self.acts())
    }

    fn works_on_bodies(&self) -> bool {
        matches!(self.law, Law::OfOrbit) && self.acts()
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let (Law::OfOrbit, true, Some(orbit)) = (self.law, self.acts(), now.orbit) {
            if self.acts_on == Attracted::All {
                ancf_beam::add_of_orbit(now, orbit, &mut applied.tau);
            }
            add_of_orbit(now, orbit, applied);
        }
    }

    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (Law::Uniform(g), true) = (self.law, self.acts()) else {
            return;
        };
        let g = lift3::<S>(&g.vector(now.parameters));
        ancf_beam::add_gravity(now, &g, &mut applied.tau);
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
        for (&i, &fill) in now.system.propellant.iter().zip(&now.kinematics.fills) {
            let (h, m) = (now.first_moment(i), S::lift(now.derived.bodies[i].m));
            applied.wrench[i] = applied.wrench[i] + Wrench::new(h.cross(&g), g * m) * (fill - S::one());
        }
    }

    /// Returns the potential energy in uniform gravity, J, zero at the world's origin.
    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let (Law::Uniform(g), true) = (self.law, self.acts()) else {
            return None;
        };
        let g = lift3::<S>(&g.vector(now.parameters));
        let bodies = now.derived.bodies.iter().zip(&now.kinematics.bodies).enumerate();
        let of_beams = ancf_beam::gravity_energy(now, &g);
        let of_bodies = bodies.fold(of_beams, |energy, (i, (body, at))| {
            energy - g.dot(&(at.p_WB * S::lift(body.m) + now.first_moment(i)))
        });
        let changing = now.system.propellant.iter().zip(&now.kinematics.fills);
        Some(changing.fold(of_bodies, |energy, (&i, &fill)| {
            let (p, m) = (now.kinematics.bodies[i].p_WB, S::lift(now.derived.bodies[i].m));
            energy - g.dot(&(p * m + now.first_moment(i))) * (fill - S::one())
        }))
    }
}

/// Adds gravity on bodies relative to the world's origin, which moves in free fall along the
/// reference orbit.
///
/// Force, moment and modal forces are the gradient of `m U(r) + ½ P:∇∇U`, with the potential `U` at
/// each body's mass centre `r` and the second moment of mass `P` about it, of the deformed body.
fn add_of_orbit<S: Scalar>(now: &Instant<S>, orbit: &OrbitPoint<S>, applied: &mut Applied<S>) {
    for (i, constants) in now.derived.bodies.iter().enumerate() {
        let at = &now.kinematics.bodies[i];
        let (modes, h) = (&now.system.bodies[i].modes, now.first_moment(i));
        let J = match modes {
            Some(modes) => now.kinematics.deflections[modes.index].J,
            None => constants.J_Bo.lift::<S>().express(&at.R_WB),
        };
        let c = h * S::lift(S::Constant::number(1.0) / constants.m);
        let P = J.second_moment() - h * c.transpose();
        let (mut F, g, G) = on_body(orbit, constants.m, at.p_WB, h, P);
        if let Some(fill) = now.kinematics.fill(now.system, i) {
            F = F * fill;
        }
        applied.wrench[i] = applied.wrench[i] + F;
        if let (Some(modes), Some(elastic)) = (modes, &constants.elastic) {
            let bent = &now.kinematics.deflections[modes.index];
            let at_origin = g - G * c;
            bent.add_field(elastic, at, &at_origin, &G, &mut applied.tau[modes.rates()]);
        }
    }
}

/// Returns the wrench of gravity in orbit on a body of mass `m` about its origin at `p`, the mean
/// gravity, and the gradient; `h` is the first moment of mass about the origin, `P` the second about
/// the mass centre, in world axes.
#[inline]
fn on_body<S: Scalar>(
    orbit: &OrbitPoint<S>,
    m: S::Constant,
    p: Vec3<S>,
    h: Vec3<S>,
    P: Mat3<S>,
) -> (Wrench<S>, Vec3<S>, Mat3<S>) {
    let per_m = S::lift(S::Constant::number(1.0) / m);
    let field = orbit.gravity(&(p + h * per_m));
    let g = field.g + field.beyond_gradient(&P) * per_m;
    let F = Wrench::new(h.cross(&g) + field.moment(&P), g * S::lift(m));
    (F, g, field.G)
}
