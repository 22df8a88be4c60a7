use super::{Quaternion, Scalar, Vec3};

/// Below this squared angle (rad²) series replace the closed forms; the first term left out is
/// then below 1e-20 of the result, in value and in derivative.
const SERIES_BELOW: f64 = 1e-3;

/// The unit quaternion of the rotation vector `theta` (axis times angle, rad).
///
/// `exp(θ) = (cos |θ|/2, ½ sinc(|θ|/2) θ)`, written in `|θ|²` so that value and derivative are
/// exact at zero, where the general formulas divide zero by zero.
pub fn exp<S: Scalar>(theta: Vec3<S>) -> Quaternion<S> {
    let s = theta.dot(&theta) * S::lift(0.25); // (|θ|/2)²
    let (cosine, sinc) = if s.value() < SERIES_BELOW {
        (
            series(
                s,
                &[
                    1.0,
                    -1.0 / 2.0,
                    1.0 / 24.0,
                    -1.0 / 720.0,
                    1.0 / 40320.0,
                    -1.0 / 3628800.0,
                ],
            ),
            series(
                s,
                &[
                    1.0,
                    -1.0 / 6.0,
                    1.0 / 120.0,
                    -1.0 / 5040.0,
                    1.0 / 362880.0,
                    -1.0 / 39916800.0,
                ],
            ),
        )
    } else {
        let half_angle = s.sqrt();
        let (sine, cosine) = half_angle.sin_cos();
        (cosine, sine / half_angle)
    };
    let v = theta * (sinc * S::lift(0.5));
    Quaternion::new(cosine, v.x, v.y, v.z)
}

/// The rotation vector (axis times angle, rad) of a quaternion of any length; the angle is in `[0, π]`.
///
/// `log(q) = 2 atan2(|v|, w)/|v| · v` with the sign of `q` chosen so that `w ≥ 0`; near `v = 0` the
/// factor is the series of `2 atan(x)/x` in `x² = |v|²/w²`. At exactly half a turn the axis's sign is
/// arbitrary.
pub fn log<S: Scalar>(q: Quaternion<S>) -> Vec3<S> {
    let q = if q.w.value() < 0.0 {
        Quaternion::new(-q.w, -q.x, -q.y, -q.z)
    } else {
        q
    };
    let v = q.vector();
    let vv = v.dot(&v);
    let ww = q.w * q.w;
    if vv.value() < SERIES_BELOW * ww.value() {
        // 2 atan(x)/(x w), x = |v|/w
        let factor = series(
            vv / ww,
            &[
                1.0,
                -1.0 / 3.0,
                1.0 / 5.0,
                -1.0 / 7.0,
                1.0 / 9.0,
                -1.0 / 11.0,
                1.0 / 13.0,
            ],
        );
        v * (factor * S::lift(2.0) / q.w)
    } else {
        let n = vv.sqrt();
        v * (n.atan2(q.w) * S::lift(2.0) / n)
    }
}

/// `Σ cₖ xᵏ` by Horner's rule.
fn series<S: Scalar>(x: S, coefficients: &[f64]) -> S {
    coefficients
        .iter()
        .rev()
        .fold(S::zero(), |sum, &c| sum * x + S::lift(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Dual;
    use nalgebra::{RowSVector, SMatrix};

    /// Value and exact 3×3 derivative of a map of 3-vectors.
    fn jacobian(f: impl Fn(Vec3<Dual<3>>) -> Vec3<Dual<3>>, at: Vec3<f64>) -> (Vec3<f64>, SMatrix<f64, 3, 3>) {
        let x = Vec3::from_fn(|i, _| Dual::<3>::variable(at[i], i));
        let y = f(x);
        let mut J = SMatrix::<f64, 3, 3>::zeros();
        for i in 0..3 {
            J.set_row(i, &RowSVector::from(y[i].eps));
        }
        (y.map(|e| e.re), J)
    }

    #[test]
    fn log_inverts_exp_in_value_and_derivative_at_rest_and_everywhere() {
        for at in [
            Vec3::zeros(),
            Vec3::new(1e-9, -2e-9, 3e-9),
            Vec3::new(0.03, 0.04, -0.02), // beside the switch to the series
            Vec3::new(0.02, 0.03, -0.05),
            Vec3::new(0.7, -1.1, 0.4),
            Vec3::new(1.9, -1.7, 1.5),
        ] {
            let (value, J) = jacobian(|v| log(exp(v)), at);
            assert!((value - at).norm() < 4e-15, "value at {at}: {value}");
            let off = (J - SMatrix::identity()).norm();
            assert!(off < 1e-13, "derivative at {at} off by {off:e}");
        }
    }

    #[test]
    fn exp_is_the_axis_angle_quaternion() {
        let axis = Vec3::new(2.0, -1.0, 2.0) / 3.0;
        for angle in [1e-6, 0.06, 0.064, 1.0, 3.0] {
            let p = exp(axis * angle);
            let q = Quaternion::from_axis_angle(axis, angle);
            let off = (p.w - q.w).abs() + (p.vector() - q.vector()).norm();
            assert!(off < 4e-16, "{angle}: {off:e}");
        }
    }
}
