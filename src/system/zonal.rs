//! Zonal harmonics of the central body's gravity of degree 3 to 6.

use super::orbit::GravityField;
use crate::algebra::{Mat3, Scalar, Vec3};

/// Degrees of the harmonics beyond `J₂`.
pub(super) const DEGREES: std::ops::RangeInclusive<usize> = 3..=6;

/// Number of Legendre polynomials that the third derivatives of degree 6 need.
const POLYNOMIALS: usize = 10;

/// Third derivatives of the potential of all harmonics at a point, contracted with a second moment
/// of mass in [`force`](Self::force).
#[derive(Clone, Copy, Debug)]
pub(super) struct ZonalCurvature<S: Scalar> {
    /// Factors of `r̂ r̂ r̂`, `r̂ r̂ ẑ`, `r̂ ẑ ẑ`, `ẑ ẑ ẑ`, `1 r̂` and `1 ẑ`.
    factors: [S; 6],
}

/// Returns the first, second and third derivatives of the Legendre polynomials at `s`.
fn derivatives<S: Scalar>(s: S) -> [[S; POLYNOMIALS]; 3] {
    let n = |value: usize| S::lift(value as f64);
    let mut P = [[S::zero(); POLYNOMIALS]; 4];
    P[0][0] = n(1);
    for k in 0..POLYNOMIALS - 1 {
        let before = if k > 0 { P[0][k - 1] * n(k) } else { S::zero() };
        P[0][k + 1] = (P[0][k] * s * n(2 * k + 1) - before) * S::lift(1.0 / (k + 1) as f64);
        // P'ₖ₊₁ = (k + 1) Pₖ + s P'ₖ and its derivatives.
        for order in 1..4 {
            P[order][k + 1] = P[order - 1][k] * n(k + order) + P[order][k] * s;
        }
    }
    let [_, first, second, third] = P;
    [first, second, third]
}

/// Adds gravity and gradient of the harmonics with the factors `c` (`μ Jₙ R_Eⁿ`, one for each of
/// [`DEGREES`]) at the distance `1/per_r` along the unit vector `u`; returns the third derivatives.
///
/// ```text
///     g = Σ c/rⁿ⁺² (P'ₙ₊₁ r̂ − P'ₙ ẑ)
///     G = Σ c/rⁿ⁺³ (−P″ₙ₊₂ r̂r̂ᵀ + P″ₙ₊₁ (r̂ẑᵀ + ẑr̂ᵀ) − P″ₙ ẑẑᵀ + P'ₙ₊₁ 1)
/// ```
pub(super) fn add<S: Scalar>(c: &[f64], u: &Vec3<S>, per_r: S, field: &mut GravityField<S>) -> ZonalCurvature<S> {
    let [first, second, third] = derivatives(u.z);
    let z = Vec3::new(S::zero(), S::zero(), S::lift(1.0));
    let square = per_r * per_r;
    let mut power = square * square * per_r; // r⁻ⁿ⁻²
    let (mut along, mut polar, mut rr, mut rz, mut zz, mut one) =
        (S::zero(), S::zero(), S::zero(), S::zero(), S::zero(), S::zero());
    let mut factors = [S::zero(); 6];
    for (degree, &c) in DEGREES.zip(c) {
        let k = power * S::lift(c);
        along += k * first[degree + 1];
        polar -= k * first[degree];
        let k = k * per_r;
        rr -= k * second[degree + 2];
        rz += k * second[degree + 1];
        zz -= k * second[degree];
        one += k * first[degree + 1];
        let k = k * per_r;
        let terms = [
            third[degree + 3],
            -third[degree + 2],
            third[degree + 1],
            -third[degree],
            -second[degree + 2],
            second[degree + 1],
        ];
        factors.iter_mut().zip(terms).for_each(|(sum, term)| *sum += k * term);
        power *= per_r;
    }
    field.g += u * along + z * polar;
    let cross = u * z.transpose();
    field.G += u * u.transpose() * rr + (cross + cross.transpose()) * rz + z * z.transpose() * zz;
    for i in 0..3 {
        field.G[(i, i)] += one;
    }
    ZonalCurvature { factors }
}

impl<S: Scalar> ZonalCurvature<S> {
    /// Returns `½ P:∇∇g` (N) for the second moment of mass `P` (kg·m²) at a point in the direction
    /// `u` from the centre.
    pub fn force(&self, u: &Vec3<S>, P: &Mat3<S>) -> Vec3<S> {
        let [rrr, rrz, rzz, zzz, r, z] = self.factors;
        let (Pu, Pz, t) = (P * u, P.column(2).into_owned(), P.trace());
        let (q, w, p) = (u.dot(&Pu), Pu.z, P[(2, 2)]);
        let two = S::lift(2.0);
        let mut force = u * (rrr * q + rrz * w * two + rzz * p + r * t) + Pu * (r * two) + Pz * (z * two);
        force.z += rrz * q + rzz * w * two + zzz * p + z * t;
        force * S::lift(0.5)
    }
}
