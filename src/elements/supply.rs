//! Supply of thrusters from tanks, with the momentum of a body whose mass changes.

use super::{Elements, Instant};
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::spec::JointType;
use crate::system::{Carrier, FrameRef, Kinematics, ParamId, System};

/// Standard acceleration of gravity, m/s²: thrust over mass flow is the specific impulse times it.
const STANDARD_GRAVITY: f64 = 9.80665;

/// Supply of a thruster from the propellant of a tank (`docs/theory/propellant.md`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Supply {
    /// Index among the tanks from which thrusters draw.
    pub number: usize,
    /// Index of the propellant's body.
    pub body: usize,
    /// Specific impulse, s.
    pub specific_impulse: ParamId,
}

impl Supply {
    /// Returns the mass flow of a thrust (N), kg/s: equation (1).
    pub fn flow<S: Scalar>(&self, thrust: S, parameters: &[f64]) -> S {
        thrust / S::lift(self.specific_impulse.of(parameters) * STANDARD_GRAVITY)
    }

    /// Returns the wrench on the propellant's body that the flow (kg/s) to the nozzle adds to the
    /// thrust, about the body's origin, world axes: equations (6) and (7).
    pub fn reaction<S: Scalar>(&self, now: &Instant<S>, nozzle: FrameRef, flow: S) -> Wrench<S> {
        let (system, kinematics) = (now.system, now.kinematics);
        let (at, constants) = (&kinematics.bodies[self.body], &now.derived.bodies[self.body]);
        let c = at.R_WB * lift3::<S>(&constants.p_BoBcm);
        let carrier = match system.carrier(nozzle) {
            Carrier::Body(body) => from_rigid_root(system, kinematics, body),
            _ => Vec3::zeros(),
        };
        let n = carrier + kinematics.arm(system, now.derived, nozzle).p;
        let d = n - from_rigid_root(system, kinematics, self.body) - c;
        let w = &at.V_WB.w;
        let w_x_d = w.cross(&d);
        let inertia = constants.I_Bcm.lift::<S>().express(&at.R_WB);
        let per_m = S::lift(S::Constant::number(1.0) / constants.m);
        let t = (inertia.times(w) * per_m - d.cross(&w_x_d)) * flow;
        let f = w_x_d * (flow * S::lift(-2.0));
        Wrench::new(t, f).shift(&c)
    }

    /// Returns the kinetic energy of the propellant and its potential energy in uniform gravity `g`
    /// (m/s², world axes), per unit of mass, J/kg.
    pub fn specific_energy<S: Scalar>(&self, now: &Instant<S>, g: &Vec3<f64>) -> S {
        let (at, constants) = (&now.kinematics.bodies[self.body], &now.derived.bodies[self.body]);
        let c = at.R_WB * lift3::<S>(&constants.p_BoBcm);
        let w = &at.V_WB.w;
        let v = at.V_WB.v + w.cross(&c);
        let spin = constants.I_Bcm.lift::<S>().express(&at.R_WB).times(w);
        let kinetic = v.dot(&v) + w.dot(&spin) * S::lift(S::Constant::number(1.0) / constants.m);
        kinetic * S::lift(0.5) - lift3::<S>(g).dot(&(at.p_WB + c))
    }
}

impl Elements {
    /// Computes the derivatives of the masses of propellants, kg/s.
    pub(crate) fn draw<S: Scalar>(&self, now: &Instant<S>, rates: &mut [S]) {
        rates.fill(S::zero());
        for (supply, flow) in self.flows(now) {
            rates[supply.number] -= flow;
        }
    }

    /// Returns the kinetic energy and the potential energy in uniform gravity of the propellant that
    /// leaves, W.
    pub(super) fn drawn_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
        let g = self
            .gravity
            .first()
            .map_or_else(Vec3::zeros, |gravity| gravity.uniform(S::numbers(now.parameters)));
        let mut power = S::zero();
        for (supply, flow) in self.flows(now) {
            power += supply.specific_energy(now, &g) * flow;
        }
        power
    }

    /// Returns the supply and the mass flow, kg/s, of each thruster that draws from a tank.
    pub(crate) fn flows<S: Scalar>(&self, now: &Instant<S>) -> impl Iterator<Item = (&Supply, S)> {
        let thrusters = self.thrusters.iter();
        thrusters.filter_map(|thruster| Some((thruster.supply.as_ref()?, thruster.mass_flow(now)?)))
    }
}

/// Returns the position of a body's origin from the carrier of the innermost fixed joint that carries
/// it, m, world axes: without cancellation far from the world's origin.
fn from_rigid_root<S: Scalar>(system: &System, kinematics: &Kinematics<S>, mut body: usize) -> Vec3<S> {
    let mut r = Vec3::zeros();
    while system.bodies[body].joint.kind == JointType::Fixed {
        r += kinematics.bodies[body].r_PB_W;
        match system.bodies[body].carrier() {
            Carrier::Body(parent) => body = parent,
            _ => break,
        }
    }
    r
}
