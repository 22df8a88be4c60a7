//! Gravity: uniform, or relative to a reference orbit.

use super::{Compiler, Element, Instant, Reads, ancf_beam};
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::spec::at;
use crate::system::{OrbitPoint, ParamId, Quantity, Unit};

/// Gravity on all bodies and ANCF beams.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gravity {
    /// Uniform gravity (m/s², inertial axes): a load with a potential.
    Uniform(ParamId),
    /// Gravity relative to the free fall of the world's origin: a load without a potential, since
    /// it depends on time.
    OfOrbit {
        /// True if it acts on ANCF beams too.
        on_beams: bool,
    },
}

impl Gravity {
    /// Returns the acceleration of uniform gravity, m/s², world axes; zero in orbit.
    pub fn uniform(&self, parameters: &[f64]) -> Vec3<f64> {
        match self {
            Self::Uniform(g) => g.vector(parameters),
            Self::OfOrbit { .. } => Vec3::zeros(),
        }
    }

    /// Returns the same gravity on bodies alone if it is that of an orbit.
    pub fn on_bodies(self) -> Self {
        match self {
            Self::Uniform(g) => Self::Uniform(g),
            Self::OfOrbit { .. } => Self::OfOrbit { on_beams: false },
        }
    }

    /// Returns the acceleration of a free particle at the position `p` (m, world axes) relative to the
    /// world's origin, m/s², world axes.
    pub fn at<S: Scalar>(&self, now: &Instant<S>, p: &Vec3<S>) -> Vec3<S> {
        match self {
            Self::Uniform(g) => lift3(&g.vector(now.parameters)),
            Self::OfOrbit { .. } => now.orbit.map_or_else(Vec3::zeros, |orbit| orbit.gravity(p).g),
        }
    }
}

impl Element for Gravity {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let uniform = from.spec.environment.gravity.map(|gravity| {
            let what = "uniform gravity, inertial axes";
            let quantities = Quantity::vector("environment.gravity", Unit::MetrePerSecond2, what);
            let at = at("environment", "", "gravity");
            Self::Uniform(from.declare.parameters(quantities, &gravity, false, &at))
        });
        let of_orbit = from.system.orbit.as_ref().map(|_| Self::OfOrbit { on_beams: true });
        uniform.into_iter().chain(of_orbit).collect()
    }

    fn reads(&self) -> Reads {
        match self {
            Self::Uniform(_) => Reads::ATTITUDE,
            Self::OfOrbit { .. } => Reads::MOTION,
        }
    }

    fn works_on_bodies(&self) -> bool {
        matches!(self, Self::OfOrbit { .. })
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let (Self::OfOrbit { on_beams }, Some(orbit)) = (self, now.orbit) {
            if *on_beams {
                ancf_beam::add_of_orbit(now, orbit, &mut applied.tau);
            }
            add_of_orbit(now, orbit, applied);
        }
    }

    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let Self::Uniform(g) = self else { return };
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
        let Self::Uniform(g) = self else { return None };
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
        let mut F = Wrench::new(h.cross(&g) + field.moment(&P), g * S::lift(constants.m));
        if let Some(fill) = now.kinematics.fill(now.system, i) {
            F = F * fill;
        }
        applied.wrench[i] = applied.wrench[i] + F;
        if let (Some(modes), Some(elastic)) = (modes, &constants.elastic) {
            let bent = &now.kinematics.deflections[modes.index];
            let at_origin = g - field.G * c;
            bent.add_field(elastic, at, &at_origin, &field.G, &mut applied.tau[modes.rates()]);
        }
    }
}
