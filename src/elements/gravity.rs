//! Gravity: uniform, or relative to a reference orbit.

use super::{Compiler, Element, Instant, Reads, ancf_beam};
use crate::algebra::{Dual, Mat3, Scalar, Twist, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::spec::at;
use crate::system::{OrbitPoint, ParamId, Quantity, System, Unit};

/// Gravity on all bodies and ANCF beams.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gravity {
    /// Uniform gravity (m/s², inertial axes): a load with a potential.
    Uniform(ParamId),
    /// Gravity relative to the free fall of the world's origin: a load without a potential, since
    /// it depends on time.
    OfOrbit(Attracted),
}

/// Bodies on which gravity in orbit acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Attracted {
    /// All bodies and ANCF beams.
    All,
    /// All bodies, but no ANCF beams.
    Bodies,
    /// Flexible bodies and those with propellant: adjoint derivatives of the others are computed by
    /// [`add_gravity_adjoint`].
    Changing,
}

impl Gravity {
    /// Returns the acceleration of uniform gravity, m/s², world axes; zero in orbit.
    pub fn uniform(&self, parameters: &[f64]) -> Vec3<f64> {
        match self {
            Self::Uniform(g) => g.vector(parameters),
            Self::OfOrbit(_) => Vec3::zeros(),
        }
    }

    /// Returns the same gravity on these bodies alone if it is that of an orbit.
    pub fn on(self, attracted: Attracted) -> Self {
        match self {
            Self::Uniform(g) => Self::Uniform(g),
            Self::OfOrbit(_) => Self::OfOrbit(attracted),
        }
    }

    /// Returns the acceleration of a free particle at the position `p` (m, world axes) relative to the
    /// world's origin, m/s², world axes.
    pub fn at<S: Scalar>(&self, now: &Instant<S>, p: &Vec3<S>) -> Vec3<S> {
        match self {
            Self::Uniform(g) => lift3(&g.vector(now.parameters)),
            Self::OfOrbit(_) => now.orbit.map_or_else(Vec3::zeros, |orbit| orbit.gravity(p).g),
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
        let of_orbit = from.system.orbit.as_ref().map(|_| Self::OfOrbit(Attracted::All));
        uniform.into_iter().chain(of_orbit).collect()
    }

    fn reads(&self) -> Reads {
        match self {
            Self::Uniform(_) => Reads::ATTITUDE,
            Self::OfOrbit(_) => Reads::MOTION,
        }
    }

    fn works_on_bodies(&self) -> bool {
        matches!(self, Self::OfOrbit(_))
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let (Self::OfOrbit(attracted), Some(orbit)) = (self, now.orbit) {
            if *attracted == Attracted::All {
                ancf_beam::add_of_orbit(now, orbit, &mut applied.tau);
            }
            add_of_orbit(now, orbit, *attracted, applied);
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
fn add_of_orbit<S: Scalar>(now: &Instant<S>, orbit: &OrbitPoint<S>, attracted: Attracted, applied: &mut Applied<S>) {
    for (i, constants) in now.derived.bodies.iter().enumerate() {
        if attracted == Attracted::Changing && is_constant(now.system, i) {
            continue;
        }
        let at = &now.kinematics.bodies[i];
        let (modes, h) = (&now.system.bodies[i].modes, now.first_moment(i));
        let J = match modes {
            Some(modes) => now.kinematics.deflections[modes.index].J,
            None => constants.J_Bo.lift::<S>().express(&at.R_WB),
        };
        let c = h * S::lift(1.0 / constants.m);
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
    m: f64,
    p: Vec3<S>,
    h: Vec3<S>,
    P: Mat3<S>,
) -> (Wrench<S>, Vec3<S>, Mat3<S>) {
    let per_m = S::lift(1.0 / m);
    let field = orbit.gravity(&(p + h * per_m));
    let g = field.g + field.beyond_gradient(&P) * per_m;
    let F = Wrench::new(h.cross(&g) + field.moment(&P), g * S::lift(m));
    (F, g, field.G)
}

/// Returns true if the mass distribution of a body is constant in its axes.
fn is_constant(system: &System, body: usize) -> bool {
    system.bodies[body].modes.is_none() && !system.propellant.contains(&body)
}

/// Adds the derivatives of the wrenches of gravity in orbit on bodies of constant mass
/// distribution, weighted by their adjoints, and of the power of gravity with the weight `of_power`,
/// to the derivatives `add(body, of_pose, of_velocity)` with respect to pose and velocity of the
/// body.
///
/// A wrench is the gradient of a potential: the derivatives of its power on a motion are those of
/// the wrench along this motion, apart from the order of two rotations (`docs/theory/adjoint.md`,
/// *Gravity in orbit*).
pub(crate) fn add_gravity_adjoint(
    now: &Instant<f64>,
    adjoint: impl Fn(usize) -> Twist<f64>,
    of_power: f64,
    mut add: impl FnMut(usize, Wrench<f64>, Wrench<f64>),
) {
    let Some(orbit) = now.orbit.map(|orbit| orbit.lift::<Dual<1>>()) else {
        return;
    };
    for (i, constants) in now.derived.bodies.iter().enumerate() {
        if !is_constant(now.system, i) {
            continue;
        }
        let at = &now.kinematics.bodies[i];
        let along = adjoint(i) + at.V_WB * of_power;
        let h = at.R_WB * constants.h;
        let P = constants.J_Bo.express(&at.R_WB).second_moment() - h * h.transpose() * (1.0 / constants.m);
        // The second moment turns with the body.
        let turned = Mat3::from_fn(|i, k| along.w.cross(&P.column(k))[i]);
        let dual = |value: f64, change: f64| Dual::<1>::new(value, [change]);
        let F = on_body(
            &orbit,
            constants.m,
            at.p_WB.zip_map(&along.v, dual),
            h.zip_map(&along.w.cross(&h), dual),
            P.zip_map(&(turned + turned.transpose()), dual),
        );
        let [t, f] = [F.0.t, F.0.f];
        let [t_0, f_0] = [t, f].map(|part| part.map(|x| x.re));
        let [t_1, f_1] = [t, f].map(|part| part.map(|x| x.eps[0]));
        let of_pose = Wrench::new(t_1 + t_0.cross(&along.w), f_1);
        add(i, of_pose, Wrench::new(t_0, f_0) * of_power);
    }
}
