//! Motions about one point that stands still, and how a coordinate changes all motions outboard of it.

use crate::algebra::{Scalar, Twist, Vec3};

/// A place's motion as spatial velocity and acceleration about the point that is `r` (m) inboard of it and stands still.
///
/// With the place's own velocity `V` and ordinary acceleration `A` of its origin: of the point of it that passes by,
/// `v = v − ω × r`, and the rate of that, at the point that stays, `a − α × r − ω × v`.
#[inline(always)]
pub(super) fn spatial<S: Scalar>(V: &Twist<S>, A: &Twist<S>, r: &Vec3<S>) -> (Twist<S>, Twist<S>) {
    let velocity = V.shift(&-r);
    let mut acceleration = A.shift(&-r);
    acceleration.v += V.v.cross(&V.w);
    (velocity, acceleration)
}

/// How the motion of a place and of all outboard of it changes with one coordinate or rate: with the place's own velocity `v` and
/// acceleration `a`
///
/// ```text
///     δv = ξ × v + ψ,      δa = ξ × a + φ − v × ψ.
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    /// By how much the place is moved: `ξ`, of a coordinate.
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
    /// Of the changes of a place's velocity and acceleration, and what they are.
    pub fn new(xi: Twist<f64>, (dv, da): (Twist<f64>, Twist<f64>), (v, a): (Twist<f64>, Twist<f64>)) -> Self {
        let psi = dv - xi.cross(&v);
        let phi = da - xi.cross(&a) + v.cross(&psi);
        Self { xi, psi, phi }
    }
}
