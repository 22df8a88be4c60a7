use super::{Instant, Resistance};
use crate::algebra::Scalar;
use crate::system::{Elastic, Modes};

/// Adds the damping forces on the modes, `−2 ζ ω η̇`.
pub(super) fn add_dampers<S: Scalar>(now: &Instant<S>, tau: &mut [S]) {
    for (modes, elastic) in flexible(now) {
        for (k, mode) in elastic.modes.iter().enumerate() {
            tau[modes.v + k] += now.qd[modes.v + k] * S::lift(-mode.damping);
        }
    }
}

/// Adds the elastic forces on the modes, `−ω² η`.
pub(super) fn add_springs<S: Scalar>(now: &Instant<S>, tau: &mut [S]) {
    for (modes, elastic) in flexible(now) {
        for (k, mode) in elastic.modes.iter().enumerate() {
            tau[modes.v + k] -= now.q[modes.q + k] * S::lift(mode.stiffness);
        }
    }
}

/// Passes the [tangent stiffness and damping](super::Elements::resist) of the modes to `on`.
pub(super) fn resist(now: &Instant<f64>, on: &mut impl FnMut(usize, Resistance)) {
    for (modes, elastic) in flexible(now) {
        for (k, mode) in elastic.modes.iter().enumerate() {
            on(modes.v + k, Resistance::of(mode.stiffness, mode.damping));
        }
    }
}

/// Returns the strain energy of all flexible bodies with modes, J.
pub(super) fn potential_energy<S: Scalar>(now: &Instant<S>) -> S {
    flexible(now).fold(S::zero(), |energy, (modes, elastic)| {
        energy + elastic.strain_energy(&now.q[modes.coordinates()])
    })
}

/// Returns the modes and elastic constants of the flexible bodies.
fn flexible<'a, S: Scalar>(now: &Instant<'a, S>) -> impl Iterator<Item = (&'a Modes, &'a Elastic)> {
    let bodies = now.system.bodies.iter().zip(&now.derived.bodies);
    bodies.filter_map(|(body, constants)| Some((body.modes.as_ref()?, constants.elastic.as_deref()?)))
}
