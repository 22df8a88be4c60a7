//! Adjoint of gravity (`docs/theory/adjoint.md`, *Gravity*).

use super::{Gravity, Law, on_body};
use crate::algebra::{Dual, Mat3, Twist, Vec3, Wrench};
use crate::dynamics::recursive::{Gradient, JointAdjoints};
use crate::elements::{Instant, ancf_beam};
use crate::system::{FieldChange, System};

/// Derivatives of gravity on bodies, weighted by the adjoints of its wrenches and modal forces, of
/// its power, and of its potential energy.
///
/// Wrench and modal forces of a body are the gradient of a potential: the derivatives of their power
/// on a motion are those of wrench and modal forces along this motion, apart from the order of two
/// rotations.
#[derive(Clone, Debug)]
pub(crate) struct GravityAdjoint {
    /// Derivatives with respect to the masses of propellants relative to those at the start.
    fills: Vec<f64>,
    /// Motion of the modes of one body.
    along: Vec<f64>,
    /// Modal forces on one body.
    forces: Vec<f64>,
    /// Workspace for the fields of a flexible body.
    fields: Vec<[f64; 2]>,
}

/// Adjoints of what gravity determines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GravitySeeds<'a, F: Fn(usize) -> Twist<f64>> {
    /// Returns the adjoint of the wrench on a body.
    pub of_wrench: F,
    /// Adjoints of the generalised forces.
    pub lambda: &'a [f64],
    /// Adjoint of the power of gravity in orbit.
    pub of_power: f64,
    /// Adjoint of the potential energy in uniform gravity.
    pub of_energy: f64,
}

/// Gravity on one body: wrench about the origin, and the field `g + G p` at `p` from the origin that
/// acts on the modes.
#[derive(Clone, Copy)]
struct OnBody {
    F: Wrench<f64>,
    g: Vec3<f64>,
    G: Mat3<f64>,
}

/// First moment of mass about the origin of a body, kg·m, second moment about the mass centre, kg·m²,
/// and their changes along a motion; world axes.
struct Moments {
    h: Vec3<f64>,
    h_change: Vec3<f64>,
    P: Mat3<f64>,
    P_change: Mat3<f64>,
}

/// Gravity on one body, and its change along a motion.
#[derive(Clone, Copy)]
struct Changing {
    value: OnBody,
    change: OnBody,
}

/// Adjoints of the power and of the potential energy of gravity; one of them is zero.
#[derive(Clone, Copy)]
struct Weights {
    power: f64,
    energy: f64,
}

impl GravityAdjoint {
    pub fn new(system: &System) -> Self {
        let modes = || system.flexible().map(|modes| modes.n);
        let most = modes().max().unwrap_or(0);
        Self {
            fills: vec![0.0; system.propellant.len()],
            along: vec![0.0; most],
            forces: vec![0.0; most],
            fields: Vec::new(),
        }
    }

    /// Returns the derivative with respect to the mass of propellant `k` relative to that at the
    /// start, after [`add`](Self::add).
    pub fn of_fill(&self, k: usize) -> f64 {
        self.fills[k]
    }

    /// Adds the derivatives with respect to poses and velocities of the bodies to `gradients`, those
    /// with respect to modes and nodes to `bars`.
    pub fn add<F: Fn(usize) -> Twist<f64>>(
        &mut self,
        of: &Gravity,
        now: &Instant<f64>,
        seeds: GravitySeeds<F>,
        gradients: &mut [Gradient],
        bars: &mut JointAdjoints,
    ) {
        self.fills.fill(0.0);
        // Uniform gravity has a potential energy, gravity in orbit a power.
        let weights = match of.law {
            Law::Uniform(_) => Weights {
                power: 0.0,
                energy: seeds.of_energy,
            },
            Law::OfOrbit => Weights {
                power: seeds.of_power,
                energy: 0.0,
            },
        };
        ancf_beam::add_to_coordinates(now, &(of.uniform(now.parameters) * -weights.energy), bars.q);
        for (i, gradient) in gradients[..now.system.bodies.len()].iter_mut().enumerate() {
            let motion = self.motion(now, i, &seeds, weights.power);
            let along = self.along_motion(of, now, i, &motion);
            let Changing { value, change } = along;
            let fill = now.kinematics.fill(now.system, i).unwrap_or(1.0);
            let turned = Wrench::new(value.F.t.cross(&motion.w), Vec3::zeros());
            gradient.pose = gradient.pose + (change.F + turned - value.F * weights.energy) * fill;
            gradient.velocity = gradient.velocity + value.F * (weights.power * fill);
            if let Some(k) = now.system.propellant.iter().position(|&body| body == i) {
                let p = now.kinematics.bodies[i].p_WB;
                let height = value.F.f.dot(&(p + now.first_moment(i) / now.derived.bodies[i].m));
                self.fills[k] = value.F.power(&motion) - weights.energy * height;
            }
            self.add_modes(now, i, &motion, along, weights, bars);
        }
    }

    /// Passes to `add` the derivatives with respect to the inputs that are positions of third bodies,
    /// of gravity in orbit on bodies, with the index of the input.
    ///
    /// The power of gravity on a motion is `m g·ṙ + ½ Ṗ:G`, with the velocity `ṙ` of the mass centre
    /// and the second moment of mass `P` about it.
    pub fn add_positions<F: Fn(usize) -> Twist<f64>>(
        &mut self,
        now: &Instant<f64>,
        seeds: GravitySeeds<F>,
        mut add: impl FnMut(usize, f64),
    ) {
        let Some(orbit) = now.orbit else { return };
        for (i, constants) in now.derived.bodies.iter().enumerate() {
            let motion = self.motion(now, i, &seeds, seeds.of_power);
            let Moments {
                h, h_change, P_change, ..
            } = self.moments_along(now, i, &motion);
            let fill = now.kinematics.fill(now.system, i).unwrap_or(1.0);
            let momentum = (motion.v * constants.m + h_change) * fill;
            let rho = now.kinematics.bodies[i].p_WB + h / constants.m;
            orbit.gravity_along_inputs(&rho, |input, g, G| {
                add(input, momentum.dot(&g) + 0.5 * fill * P_change.dot(&G));
            });
        }
    }

    /// Returns the motion of body `i` along which its wrench is weighted, and stores that of its modes in `along`.
    fn motion<F: Fn(usize) -> Twist<f64>>(
        &mut self,
        now: &Instant<f64>,
        i: usize,
        seeds: &GravitySeeds<F>,
        of_power: f64,
    ) -> Twist<f64> {
        if let Some(modes) = &now.system.bodies[i].modes {
            let rates = modes.rates();
            let along = seeds.lambda[rates.clone()].iter().zip(&now.qd[rates]);
            for (to, (lambda, rate)) in self.along.iter_mut().zip(along) {
                *to = lambda + rate * of_power;
            }
        }
        (seeds.of_wrench)(i) + now.kinematics.bodies[i].V_WB * of_power
    }

    /// Returns the moments of mass of body `i` with the mass at the start, and their changes along a
    /// `motion` of the body and of its modes.
    fn moments_along(&self, now: &Instant<f64>, i: usize, motion: &Twist<f64>) -> Moments {
        let (at, constants) = (&now.kinematics.bodies[i], &now.derived.bodies[i]);
        let h = now.first_moment(i);
        let mut h_change = motion.w.cross(&h);
        let modes = now.system.bodies[i].modes.as_ref();
        let bent = modes.map(|modes| &now.kinematics.deflections[modes.index]);
        let by_modes = bent.zip(constants.elastic.as_ref());
        let by_modes = by_modes.map(|(bent, elastic)| bent.moments_along(elastic, &at.R_WB, &self.along));
        if let Some((change, _)) = &by_modes {
            h_change += change;
        }
        let per_m = 1.0 / constants.m;
        let J = bent.map_or_else(|| constants.J_Bo.express(&at.R_WB), |bent| bent.J);
        let P = J.second_moment() - h * h.transpose() * per_m;
        // The second moment turns with the body.
        let turned = Mat3::from_fn(|i, k| motion.w.cross(&P.column(k))[i]);
        let mut P_change = turned + turned.transpose();
        if let Some((change, second)) = by_modes {
            let product = change * h.transpose() * per_m;
            P_change += second - product - product.transpose();
        }
        Moments {
            h,
            h_change,
            P,
            P_change,
        }
    }

    /// Returns gravity on body `i` with the mass at the start, and its change along a `motion` of the
    /// body and of its modes.
    fn along_motion(&self, of: &Gravity, now: &Instant<f64>, i: usize, motion: &Twist<f64>) -> Changing {
        let (at, constants) = (&now.kinematics.bodies[i], &now.derived.bodies[i]);
        let Moments {
            h,
            h_change,
            P,
            P_change,
        } = self.moments_along(now, i, motion);
        let of_field = |g: Vec3<f64>, h: Vec3<f64>, force: Vec3<f64>| OnBody {
            F: Wrench::new(h.cross(&g), force),
            g,
            G: Mat3::zeros(),
        };
        let orbit = match (of.law, now.orbit) {
            (Law::OfOrbit, Some(orbit)) => orbit.lift::<Dual<1>>(),
            (Law::Uniform(g), _) => {
                let g = g.vector(now.parameters);
                let change = OnBody {
                    F: Wrench::new(h_change.cross(&g), Vec3::zeros()),
                    ..of_field(Vec3::zeros(), h, Vec3::zeros())
                };
                return Changing {
                    value: of_field(g, h, g * constants.m),
                    change,
                };
            }
            (Law::OfOrbit, None) => {
                let none = of_field(Vec3::zeros(), h, Vec3::zeros());
                return Changing {
                    value: none,
                    change: none,
                };
            }
        };
        let dual = |value: f64, change: f64| Dual::<1>::new(value, [change]);
        let h = h.zip_map(&h_change, dual);
        let (F, g, G) = on_body(
            &orbit,
            constants.m,
            at.p_WB.zip_map(&motion.v, dual),
            h,
            P.zip_map(&P_change, dual),
        );
        let at_origin = g - G * (h * Dual::<1>::new(1.0 / constants.m, [0.0]));
        let part = |of: fn(&Dual<1>) -> f64| OnBody {
            F: Wrench::new(F.t.map(|x| of(&x)), F.f.map(|x| of(&x))),
            g: at_origin.map(|x| of(&x)),
            G: G.map(|x| of(&x)),
        };
        Changing {
            value: part(|x| x.re),
            change: part(|x| x.eps[0]),
        }
    }

    /// Adds the derivatives with respect to amplitudes and rates of the modes of body `i`.
    fn add_modes(
        &mut self,
        now: &Instant<f64>,
        i: usize,
        motion: &Twist<f64>,
        Changing { value, change }: Changing,
        weights: Weights,
        bars: &mut JointAdjoints,
    ) {
        let (at, constants) = (&now.kinematics.bodies[i], &now.derived.bodies[i]);
        let (Some(modes), Some(elastic)) = (&now.system.bodies[i].modes, &constants.elastic) else {
            return;
        };
        let bent = &now.kinematics.deflections[modes.index];
        let R = at.R_WB * elastic.axes;
        // The change as seen from the body, which turns.
        let turned = Mat3::from_fn(|i, k| motion.w.cross(&value.G.column(k))[i]);
        let seen = OnBody {
            g: change.g - motion.w.cross(&value.g),
            G: change.G - (turned + turned.transpose()),
            ..change
        };
        let in_axes = |of: &OnBody| (R.tr_mul(&of.g), R.tr_mul(&(of.G * R)));
        let field = FieldChange {
            value: in_axes(&value),
            change: in_axes(&seen),
        };
        let eta = &now.q[modes.coordinates()];
        bent.add_field_change(
            elastic,
            &field,
            eta,
            &self.along,
            &mut self.fields,
            &mut bars.q[modes.coordinates()],
        );
        let forces = &mut self.forces[..modes.n];
        forces.fill(0.0);
        bent.add_field(elastic, at, &value.g, &value.G, forces);
        for ((q, v), force) in modes.coordinates().zip(modes.rates()).zip(forces) {
            bars.q[q] -= weights.energy * *force;
            bars.qd[v] += weights.power * *force;
        }
    }
}
