//! Positions of the Sun and the Moon from the Earth's centre, with low precision, on the mean
//! equator and equinox of date.
//!
//! Sources: J. Meeus, *Astronomical Algorithms*, 2nd ed. 1998, ch. 25 (Sun, 0.01°); O. Montenbruck
//! and E. Gill, *Satellite Orbits*, 2000, §3.3.2 (Moon, a few arc minutes).

use crate::algebra::{Scalar, Vec3};
use std::f64::consts::PI;

/// Astronomical unit, m.
pub const ASTRONOMICAL_UNIT: f64 = 149_597_870_700.0;

/// One arc second, rad.
const ARC_SECOND: f64 = PI / 648_000.0;

/// Terms of a series: coefficient, and the factors of `l`, `l'`, `F` and `D`.
type Terms = [(f64, [f64; 4])];

/// Moon's ecliptic longitude, sine terms, arc seconds.
const LONGITUDE: &Terms = &[
    (22_640.0, [1.0, 0.0, 0.0, 0.0]),
    (769.0, [2.0, 0.0, 0.0, 0.0]),
    (-4586.0, [1.0, 0.0, 0.0, -2.0]),
    (2370.0, [0.0, 0.0, 0.0, 2.0]),
    (-668.0, [0.0, 1.0, 0.0, 0.0]),
    (-412.0, [0.0, 0.0, 2.0, 0.0]),
    (-212.0, [2.0, 0.0, 0.0, -2.0]),
    (-206.0, [1.0, 1.0, 0.0, -2.0]),
    (192.0, [1.0, 0.0, 0.0, 2.0]),
    (-165.0, [0.0, 1.0, 0.0, -2.0]),
    (148.0, [1.0, -1.0, 0.0, 0.0]),
    (-125.0, [0.0, 0.0, 0.0, 1.0]),
    (-110.0, [1.0, 1.0, 0.0, 0.0]),
    (-55.0, [0.0, 0.0, 2.0, -2.0]),
];

/// Moon's ecliptic latitude, sine terms other than the main one, arc seconds.
const LATITUDE: &Terms = &[
    (-526.0, [0.0, 0.0, 1.0, -2.0]),
    (44.0, [1.0, 0.0, 1.0, -2.0]),
    (-31.0, [-1.0, 0.0, 1.0, -2.0]),
    (-25.0, [-2.0, 0.0, 1.0, 0.0]),
    (-23.0, [0.0, 1.0, 1.0, -2.0]),
    (21.0, [-1.0, 0.0, 1.0, 0.0]),
    (11.0, [0.0, -1.0, 1.0, -2.0]),
];

/// Moon's distance, cosine terms, km.
const DISTANCE: &Terms = &[
    (-20_905.0, [1.0, 0.0, 0.0, 0.0]),
    (-3699.0, [-1.0, 0.0, 0.0, 2.0]),
    (-2956.0, [0.0, 0.0, 0.0, 2.0]),
    (-570.0, [2.0, 0.0, 0.0, 0.0]),
    (246.0, [2.0, 0.0, 0.0, -2.0]),
    (-205.0, [0.0, 1.0, 0.0, -2.0]),
    (-171.0, [1.0, 0.0, 0.0, 2.0]),
    (-152.0, [1.0, 1.0, 0.0, -2.0]),
];

/// Returns the polynomial `c₀ + c₁ T + c₂ T²` of degrees as an angle in rad.
fn angle<S: Scalar>(T: S, [c0, c1, c2]: [f64; 3]) -> S {
    (S::lift(c0) + T * (S::lift(c1) + T * S::lift(c2))) * S::lift(PI / 180.0)
}

fn sin<S: Scalar>(angle: S) -> S {
    angle.sin_cos().0
}

/// Returns the position on the mean equator from ecliptic longitude, latitude (rad) and distance.
fn equatorial<S: Scalar>(T: S, longitude: S, latitude: S, distance: S) -> Vec3<S> {
    let ((sl, cl), (sb, cb)) = (longitude.sin_cos(), latitude.sin_cos());
    let (se, ce) = angle(T, [23.439_291, -0.013_004_2, 0.0]).sin_cos();
    let (y, z) = (cb * sl, sb);
    Vec3::new(cb * cl, y * ce - z * se, y * se + z * ce) * distance
}

/// Returns the Sun's position, m, at `T` Julian centuries of TT after J2000.
pub fn sun<S: Scalar>(T: S) -> Vec3<S> {
    let n = S::lift;
    let mean = angle(T, [280.466_46, 36_000.769_83, 0.000_303_2]);
    let M = angle(T, [357.529_11, 35_999.050_29, -0.000_153_7]);
    let centre = angle(T, [1.914_602, -0.004_817, -0.000_014]) * sin(M)
        + angle(T, [0.019_993, -0.000_101, 0.0]) * sin(M + M)
        + n(0.000_289 * PI / 180.0) * sin(M * n(3.0));
    let e = n(0.016_708_634) - T * (n(0.000_042_037) + T * n(0.000_000_126_7));
    let (_, cos) = (M + centre).sin_cos();
    let distance = n(1.000_001_018 * ASTRONOMICAL_UNIT) * (n(1.0) - e * e) / (n(1.0) + e * cos);
    equatorial(T, mean + centre, n(0.0), distance)
}

/// Returns the Moon's position, m, at `T` Julian centuries of TT after J2000.
pub fn moon<S: Scalar>(T: S) -> Vec3<S> {
    let n = S::lift;
    let mean = angle(T, [218.316_17, 481_267.880_88, 0.0]);
    let arguments = [
        angle(T, [134.962_92, 477_198.867_53, 0.0]),
        angle(T, [357.525_43, 35_999.049_44, 0.0]),
        angle(T, [93.272_83, 483_202.018_73, 0.0]),
        angle(T, [297.850_27, 445_267.111_35, 0.0]),
    ];
    let [_, l_prime, F, _] = arguments;
    let of = |factors: &[f64; 4]| {
        let terms = arguments.iter().zip(factors);
        terms.fold(S::zero(), |sum, (&argument, &factor)| sum + argument * n(factor))
    };
    let sines = |terms: &Terms| {
        let sum = terms
            .iter()
            .fold(S::zero(), |sum, (c, factors)| sum + sin(of(factors)) * n(*c));
        sum * n(ARC_SECOND)
    };
    let in_longitude = sines(LONGITUDE);
    let more = (sin(F + F) * n(412.0) + sin(l_prime) * n(541.0)) * n(ARC_SECOND);
    let latitude = sin(F + in_longitude + more) * n(18_520.0 * ARC_SECOND) + sines(LATITUDE);
    let cosines = DISTANCE.iter().map(|(c, factors)| of(factors).sin_cos().1 * n(1e3 * c));
    let distance = cosines.fold(n(385_000e3), |sum, term| sum + term);
    equatorial(T, mean + in_longitude, latitude, distance)
}
