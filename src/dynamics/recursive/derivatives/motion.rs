//! Spatial motions about one fixed point, and their derivatives with respect to an inboard
//! coordinate.

use crate::algebra::{Scalar, Twist, Vec3};

/// Returns the spatial velocity and acceleration of a body about a fixed point, from which the
/// body's origin is at `r` (m).
///
/// `V = (ω, v)` is the velocity of the origin, `A = (α, a)` its ordinary acceleration. The point of
/// the body at the fixed point has the velocity `v − ω × r`, and the rate of this velocity at the
/// fixed point is `a − α × r − ω × v`.
#[inline(always)]
pub(super) fn spatial<S: Scalar>(V: &Twist<S>, A: &Twist<S>, r: &Vec3<S>) -> (Twist<S>, Twist<S>) {
    let velocity = V.shift(&-r);
    let mut acceleration = A.shift(&-r);
    acceleration.v += V.v.cross(&V.w);
    (velocity, acceleration)
}

/// Derivative of the motion of a body and its outboard part with respect to one coordinate or rate:
/// with the velocity `v` and the acceleration `a` of any of these bodies,
///
/// ```text
///     δv = ξ × v + ψ,      δa = ξ × a + φ − v × ψ.
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    /// Displacement `ξ` for a unit change of the coordinate; zero for a rate.
    pub xi: Twist<f64>,
    /// `ψ`: the rate of `ξ`.
    pub psi: Twist<f64>,
    /// `φ`: the rate of `ψ`.
    pub phi: Twist<f64>,
}

impl Default for Moving {
    fn default() -> Self {
        Self {
            xi: Twist::zero(),
            psi: Twist::zero(),
            phi: Twist::zero(),
        }
    }
}

impl Moving {
    /// Computes `ψ` and `φ` from the derivatives `dv`, `da` and the values `v`, `a` of velocity and
    /// acceleration.
    pub fn new(xi: Twist<f64>, (dv, da): (Twist<f64>, Twist<f64>), (v, a): (Twist<f64>, Twist<f64>)) -> Self {
        let psi = dv - xi.cross(&v);
        let phi = da - xi.cross(&a) + v.cross(&psi);
        Self { xi, psi, phi }
    }
}
