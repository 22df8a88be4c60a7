use super::Instant;
use crate::algebra::Scalar;

/// Adds the elastic and damping forces on the modes, `−ω² η − 2 ζ ω η̇`, and gives the dampers' power, W.
pub(super) fn evaluate<S: Scalar>(now: &Instant<S>, tau: &mut [S]) -> S {
    let mut power = S::zero();
    each(now, |v, (eta, eta_dot), stiffness, damping| {
        let braking = eta_dot * S::lift(-damping);
        tau[v] += braking - eta * S::lift(stiffness);
        power += braking * eta_dot;
    });
    power
}

/// Strain energy of all flexible bodies, J.
pub(super) fn potential_energy<S: Scalar>(now: &Instant<S>) -> S {
    let mut energy = S::zero();
    each(now, |_, (eta, _), stiffness, _| {
        energy += eta * eta * S::lift(0.5 * stiffness);
    });
    energy
}

/// Calls `act` with every mode's rate's place, amplitude and rate, stiffness (1/s²) and damping (1/s).
#[inline(always)]
fn each<S: Scalar>(now: &Instant<S>, mut act: impl FnMut(usize, (S, S), f64, f64)) {
    for (body, constants) in now.system.bodies.iter().zip(&now.derived.bodies) {
        if let (Some(modes), Some(elastic)) = (&body.modes, &constants.elastic) {
            for (k, mode) in elastic.modes.iter().enumerate() {
                let motion = (now.q[modes.q + k], now.qd[modes.v + k]);
                act(modes.v + k, motion, mode.stiffness, mode.damping);
            }
        }
    }
}
