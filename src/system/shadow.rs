//! Shadow of the central body.

use crate::algebra::{Scalar, Vec3, norm, root};
use std::f64::consts::PI;

/// Radius of the Sun's photosphere, m (IAU 2015, resolution B3).
const SUN_RADIUS: f64 = 695_700e3;

/// Largest ratio of a body's radius to its distance: a point inside the body has no horizon.
const CLOSEST: f64 = 0.999_999;

/// Lower bound of the squared half chord of the overlap, rad², which keeps its derivative finite.
const LEAST: f64 = 1e-24;

/// Returns the visible fraction of the Sun's disc at `r` (m) from the centre of a sphere of this
/// radius (m), with the Sun at `sun` (m) from the same centre: 1 in sunlight, 0 in the umbra,
/// between them in the penumbra, by the overlap of two discs.
///
/// Source: Montenbruck and Gill, *Satellite Orbits*, 2000, §3.4.2, Eqs. 3.85–3.94.
pub fn sunlight<S: Scalar>(r: &Vec3<S>, sun: &Vec3<S>, radius: f64) -> S {
    let (zero, one) = (S::zero(), S::lift(1.0));
    let d = sun - r;
    let [a, b] = [(SUN_RADIUS, norm(&d)), (radius, norm(r))].map(|(radius, distance)| {
        let x = S::lift(radius) / distance;
        let x = S::select(x.exceeds(CLOSEST), S::lift(CLOSEST), x);
        x.atan2((one - x * x).sqrt())
    });
    let c = norm(&r.cross(&d)).atan2(-r.dot(&d));
    let overlap = (a + b - c).exceeds(0.0);
    if !crate::algebra::Mask::is_needed(overlap) {
        return one;
    }
    let difference = a - b;
    let covers = S::select(difference.exceeds(0.0), difference, -difference);
    // One disc lies inside the other: umbra, or the annulus about a body that looks smaller.
    let inner = S::select(difference.exceeds(0.0), one - b * b / (a * a), zero);
    let apart = S::select(c.exceeds(0.0), c, one);
    let x = (apart * apart + (a - b) * (a + b)) / (apart + apart);
    let y2 = a * a - x * x;
    let y = root(S::select(y2.exceeds(LEAST), y2, S::lift(LEAST)));
    let lens = a * a * y.atan2(x) + b * b * y.atan2(apart - x) - apart * y;
    let partial = one - lens / (a * a * S::lift(PI));
    let partial = S::select((covers - c).exceeds(0.0), inner, partial);
    S::select(overlap, partial, one)
}
