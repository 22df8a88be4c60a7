use super::Instant;
use crate::algebra::Scalar;
use crate::system::{Elastic, Modes};

/// Adds the elastic and damping forces on the modes, `−ω² η − 2 ζ ω η̇`, and gives the dampers' power, W.
pub(super) fn evaluate<S: Scalar>(now: &Instant<S>, tau: &mut [S]) -> S {
    let mut power = S::zero();
    for (modes, elastic) in flexible(now) {
        for (k, mode) in elastic.modes.iter().enumerate() {
            let (eta, eta_dot) = (now.q[modes.q + k], now.qd[modes.v + k]);
            let braking = eta_dot * S::lift(-mode.damping);
            tau[modes.v + k] += braking - eta * S::lift(mode.stiffness);
            power += braking * eta_dot;
        }
    }
    power
}

/// Strain energy of all flexible bodies, J.
pub(super) fn potential_energy<S: Scalar>(now: &Instant<S>) -> S {
    flexible(now).fold(S::zero(), |energy, (modes, elastic)| {
        energy + elastic.strain_energy(&now.q[modes.coordinates()])
    })
}

/// The flexible bodies' modes and constants.
fn flexible<'a, S: Scalar>(now: &Instant<'a, S>) -> impl Iterator<Item = (&'a Modes, &'a Elastic)> {
    let bodies = now.system.bodies.iter().zip(&now.derived.bodies);
    bodies.filter_map(|(body, constants)| Some((body.modes.as_ref()?, constants.elastic.as_deref()?)))
}
