use super::fused::dot;
use super::{Mat3, Quaternion, Scalar, Vec3, cross_matrix, norm};

/// Squared angle (rad²) below which series replace the closed forms; the first omitted term is then
/// below 1e-17 of the result, in value and in derivative.
const SERIES_BELOW: f64 = 1e-3;

/// Coefficients of `sin x / x` in powers of `x²`.
const SINC: [f64; 6] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362880.0,
    -1.0 / 39916800.0,
];

/// Coefficients of `cos x` in powers of `x²`.
const COSINE: [f64; 6] = [
    1.0,
    -1.0 / 2.0,
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40320.0,
    -1.0 / 3628800.0,
];

/// Returns `sin x / x` of an angle in rad; value and derivative are exact at zero.
pub fn sinc<S: Scalar>(x: S) -> S {
    let square = x * x;
    let series = || [series(square, &SINC)];
    let [sinc] = S::branch(square, square, |s, _| s < SERIES_BELOW, series, || [x.sin_cos().0 / x]);
    sinc
}

/// Returns the unit quaternion of the rotation vector `theta` (axis times angle, rad).
///
/// `exp(θ) = (cos |θ|/2, ½ sinc(|θ|/2) θ)`, evaluated in `|θ|²` so that value and derivative are
/// exact at zero, where the closed form is 0/0.
pub fn exp<S: Scalar>(theta: Vec3<S>) -> Quaternion<S> {
    let s = dot(&theta, &theta) * S::lift(0.25); // (|θ|/2)²
    let near = || [series(s, &COSINE), series(s, &SINC)];
    let far = || {
        let half_angle = s.sqrt();
        let (sine, cosine) = half_angle.sin_cos();
        [cosine, sine / half_angle]
    };
    let [cosine, sinc] = S::branch(s, s, |s, _| s < SERIES_BELOW, near, far);
    let v = theta * (sinc * S::lift(0.5));
    Quaternion::new(cosine, v.x, v.y, v.z)
}

/// Returns roll, pitch and yaw (rad) of a quaternion of any norm: `R = Rz(yaw) Ry(pitch) Rx(roll)`,
/// the 3-2-1 Euler angles.
///
/// At a pitch of ±90° only one combination of yaw and roll is determined; yaw is then zero.
pub fn roll_pitch_yaw<S: Scalar>(q: Quaternion<S>) -> Vec3<S> {
    let R = q.rotation();
    let cosine = norm(&Vec3::new(R[(0, 0)], R[(1, 0)], S::zero()));
    let pitch = (-R[(2, 0)]).atan2(cosine);
    let upright = || [(-R[(1, 2)]).atan2(R[(1, 1)]), S::zero()];
    let inclined = || [R[(2, 1)].atan2(R[(2, 2)]), R[(1, 0)].atan2(R[(0, 0)])];
    let [roll, yaw] = S::branch(cosine, cosine, |cosine, _| cosine < 1e-12, upright, inclined);
    Vec3::new(roll, pitch, yaw)
}

/// Returns `atan2(s, c)/s` for `square = s²` and `c`, which are not both zero. Near `s = 0` with
/// `c > 0` the series of `atan(x)/x` in `x² = s²/c²` makes value and derivative exact.
pub fn angle_per_sine<S: Scalar>(square: S, c: S) -> S {
    let near = || {
        let atan = [
            1.0,
            -1.0 / 3.0,
            1.0 / 5.0,
            -1.0 / 7.0,
            1.0 / 9.0,
            -1.0 / 11.0,
            1.0 / 13.0,
        ];
        [series(square / (c * c), &atan) / c]
    };
    let far = || {
        let s = square.sqrt();
        [s.atan2(c) / s]
    };
    let is_near = |square, c| c > 0.0 && square < SERIES_BELOW * (c * c);
    let [quotient] = S::branch(square, c, is_near, near, far);
    quotient
}

/// Returns the rotation vector (axis times angle, rad) of a quaternion of any norm; the angle is in
/// `[0, π]`.
///
/// `log(q) = 2 atan2(|v|, w)/|v| · v`, with the sign of `q` selected so that `w ≥ 0`. At the angle
/// π the sign of the axis is arbitrary.
pub fn log<S: Scalar>(q: Quaternion<S>) -> Vec3<S> {
    let q = q.along(Quaternion::identity());
    let v = q.vector();
    v * (angle_per_sine(dot(&v, &v), q.w) * S::lift(2.0))
}

/// Returns the derivative of `bar·θ` of the rotation vector `theta` (rad) of a frame with respect
/// to rotations of the frame, both in the fixed axes in which `θ` is expressed:
///
/// ```text
///     bar + ½ θ × bar + c θ × (θ × bar),      c = (1 − ½ |θ| cot ½|θ|)/|θ|²
/// ```
///
/// the transpose of the inverse of `∂R/∂θ` (Shuster, as for [`TurnedFrame`]).
pub fn turn_of_log(theta: &Vec3<f64>, bar: &Vec3<f64>) -> Vec3<f64> {
    let s = dot(theta, theta);
    let c = if s < 0.25 {
        // The first omitted term is below 1e-16 of the sum.
        let coefficients = [
            1.0 / 12.0,
            1.0 / 720.0,
            1.0 / 30240.0,
            1.0 / 1209600.0,
            1.0 / 47900160.0,
            691.0 / 1307674368000.0,
            1.0 / 74724249600.0,
        ];
        series(s, &coefficients)
    } else {
        let half = 0.5 * s.sqrt();
        let (sine, cosine) = Scalar::sin_cos(half);
        (1.0 - half * cosine / sine) / s
    };
    let across = theta.cross(bar);
    bar + across * 0.5 + theta.cross(&across) * c
}

/// Kinematics of a frame rotated by the rotation vector `θ` (rad).
///
/// With `s = |θ|²`, `a = (1 − cos |θ|)/s` and `b = (|θ| − sin |θ|)/|θ|³`
///
/// ```text
///     R = 1 + (1 − s b) [θ] + a [θ]²,      ω = θ̇ + a θ × θ̇ + b θ × (θ × θ̇)
/// ```
///
/// with `ω` in the axes in which `θ` is expressed (the fixed frame). Source: M. D. Shuster, A
/// survey of attitude representations, J. Astronautical Sciences 41 (1993) 439–517, eqs. (118) and
/// (278).
#[derive(Clone, Copy, Debug)]
pub struct TurnedFrame<S: Scalar> {
    theta: Vec3<S>,
    a: S,
    b: S,
    /// `∂a/∂s`, `∂b/∂s`.
    a_s: S,
    b_s: S,
}

impl<S: Scalar> TurnedFrame<S> {
    /// Creates the frame rotated by `theta`.
    pub fn new(theta: Vec3<S>) -> Self {
        let s = dot(&theta, &theta);
        let (one, two) = (S::one(), S::lift(2.0));
        // The first omitted terms are below 1/20! = 4e-19.
        let near = || [0, 1, 2, 3].map(|k| series(s, &ALTERNATING[k]));
        let far = || {
            let angle = s.sqrt();
            let (sine, cosine) = angle.sin_cos();
            let sinc = sine / angle;
            let (a, b) = ((one - cosine) / s, (one - sinc) / s);
            [a, b, (sinc - a * two) / (s * two), (a - b * S::lift(3.0)) / (s * two)]
        };
        let [a, b, a_s, b_s] = S::branch(s, s, |s, _| s < 1.0, near, far);
        Self { theta, a, b, a_s, b_s }
    }

    /// Returns the matrix `R` that maps coordinates of the rotated frame to the fixed frame.
    pub fn rotation(&self) -> Mat3<S> {
        let s = dot(&self.theta, &self.theta);
        self.about_theta([S::one() - s * self.a, S::one() - s * self.b, self.a])
    }

    /// Returns the matrix that maps `θ̇` to the angular velocity `ω`, rad/s, in the fixed frame.
    pub fn velocity(&self) -> Mat3<S> {
        let s = dot(&self.theta, &self.theta);
        self.about_theta([S::one() - s * self.b, self.a, self.b])
    }

    /// Returns `k 1 + l [θ] + m θ θᵀ`.
    fn about_theta(&self, [k, l, m]: [S; 3]) -> Mat3<S> {
        let (side, along) = (self.theta * l, self.theta * m);
        let mut matrix = cross_matrix(&side) + along * self.theta.transpose();
        for i in 0..3 {
            matrix[(i, i)] += k;
        }
        matrix
    }

    /// Returns the angular acceleration for `θ̈ = 0`, rad/s², in the fixed frame:
    /// `ω̇ = velocity() θ̈ + angular_bias(θ̇)`.
    pub fn angular_bias(&self, theta_dot: &Vec3<S>) -> Vec3<S> {
        let side = self.theta.cross(theta_dot);
        let s_dot = self.theta.dot(theta_dot) * S::lift(2.0);
        (side * self.a_s + self.theta.cross(&side) * self.b_s) * s_dot + theta_dot.cross(&side) * self.b
    }

    /// Returns `V̇ᵀ g` for the matrix `V` of [`velocity`](Self::velocity) and its derivative along
    /// `theta_dot`.
    pub fn velocity_change(&self, theta_dot: &Vec3<S>, g: &Vec3<S>) -> Vec3<S> {
        let theta = &self.theta;
        let (s, s_dot) = (theta.dot(theta), theta.dot(theta_dot) * S::lift(2.0));
        let along = theta.dot(g);
        let stretch = -(self.b + s * self.b_s) * s_dot;
        g * stretch
            + g.cross(theta) * (self.a_s * s_dot)
            + g.cross(theta_dot) * self.a
            + theta * (self.b_s * s_dot * along + self.b * theta_dot.dot(g))
            + theta_dot * (self.b * along)
    }
}

/// Coefficients of `s^k` in `a = Σ (−s)ᵏ/(2k+2)!` and `b = Σ (−s)ᵏ/(2k+3)!`, and in their
/// derivatives.
const ALTERNATING: [[f64; 9]; 4] = {
    let mut terms = [[0.0; 9]; 4];
    let (mut factorial, mut sign, mut k) = (2.0, 1.0, 0);
    while k < 9 {
        let n = 2.0 * k as f64;
        let a = sign / factorial;
        let b = a / (n + 3.0);
        let next = -b / (n + 4.0);
        let order = k as f64 + 1.0;
        (terms[0][k], terms[1][k]) = (a, b);
        (terms[2][k], terms[3][k]) = (order * next, order * next / (n + 5.0));
        factorial *= (n + 3.0) * (n + 4.0);
        sign = -sign;
        k += 1;
    }
    terms
};

/// Returns `Σ cₖ xᵏ` by Horner's scheme.
fn series<S: Scalar>(x: S, coefficients: &[f64]) -> S {
    coefficients
        .iter()
        .rev()
        .fold(S::zero(), |sum, &c| sum * x + S::lift(c))
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::algebra::Dual;
    use crate::larger::Larger;
    use nalgebra::{RowSVector, SMatrix};
    use std::f64::consts::FRAC_PI_2;

    unit_tests![
        roll_pitch_yaw_are_rotations_about_x_then_y_then_z,
        log_inverts_exp_in_value_and_derivative_also_at_zero,
        log_of_either_quaternion_is_at_most_pi,
        turned_frame_equals_exp_and_its_derivatives,
        exp_is_the_axis_angle_quaternion,
    ];

    /// Returns value and exact 3×3 derivative of a map of 3-vectors.
    fn jacobian(f: impl Fn(Vec3<Dual<3>>) -> Vec3<Dual<3>>, at: Vec3<f64>) -> (Vec3<f64>, SMatrix<f64, 3, 3>) {
        let x = Vec3::from_fn(|i, _| Dual::<3>::variable(at[i], i));
        let y = f(x);
        let mut J = SMatrix::<f64, 3, 3>::zeros();
        for i in 0..3 {
            J.set_row(i, &RowSVector::from(y[i].eps));
        }
        (y.map(|e| e.re), J)
    }

    fn roll_pitch_yaw_are_rotations_about_x_then_y_then_z() {
        let about = |axis: [f64; 3], angle| Quaternion::from_axis_angle(axis.into(), angle);
        for [roll, pitch, yaw] in [
            [0.3, -0.8, 1.7],
            [-2.9, 1.5, 3.1],
            [0.4, FRAC_PI_2, 0.0],
            [-0.7, -FRAC_PI_2, 0.0],
            [0.0, 0.0, 0.0],
        ] {
            let q = about([0.0, 0.0, 1.0], yaw) * about([0.0, 1.0, 0.0], pitch) * about([1.0, 0.0, 0.0], roll);
            let off = roll_pitch_yaw(q) - Vec3::new(roll, pitch, yaw);
            // Round-off, divided by the cosine of the pitch.
            assert!(off.norm() < 1e-13, "{off:?}");
        }
    }

    fn log_inverts_exp_in_value_and_derivative_also_at_zero() {
        for at in [
            Vec3::zeros(),
            Vec3::new(1e-9, -2e-9, 3e-9),
            Vec3::new(0.03, 0.04, -0.02), // next to the limit SERIES_BELOW
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

    /// `q` and `−q` are one attitude; the rotation vector has an angle of at most π.
    fn log_of_either_quaternion_is_at_most_pi() {
        let mut worst = 0.0_f64;
        for at in [
            Vec3::new(0.01, -0.02, 0.03),
            Vec3::new(0.7, -1.1, 0.4),
            Vec3::new(1.9, -1.7, 1.5),
        ] {
            let (angle, q) = (at.norm(), exp(at));
            let opposite = log(Quaternion::new(-q.w, -q.x, -q.y, -q.z));
            worst = worst.larger((opposite - at).norm());
            // A rotation by more than π, with w < 0: the result is the shorter rotation.
            let beyond = log(exp(at * (1.0 + std::f64::consts::PI / angle)));
            worst = worst.larger((beyond - at * (1.0 - std::f64::consts::PI / angle)).norm());
        }
        println!("{worst:.1e}");
        assert!(worst < 5e-15, "{worst:e}"); // round-off of a few radians
    }

    fn turned_frame_equals_exp_and_its_derivatives() {
        let mut worst = [0.0_f64; 3];
        for theta in [
            Vec3::zeros(),
            Vec3::new(1e-6, -2e-6, 3e-6),
            Vec3::new(0.3, 0.4, -0.2),
            Vec3::new(0.57735, 0.57735, -0.57735), // just below s = 1, the limit of the series
            Vec3::new(0.5774, 0.5774, -0.5774),
            Vec3::new(1.9, -1.7, 1.5),
        ] {
            let rate = Vec3::new(0.7, -1.1, 0.4);
            let at = TurnedFrame::new(theta);
            worst[0] = worst[0].max((at.rotation() - exp(theta).rotation()).norm());
            // [ω] = Ṙ Rᵀ by dual numbers with the derivative along the rate; and ω̇ for θ̈ = 0.
            let along = |d: &Dual<1>| d.eps[0];
            let moving = Vec3::from_fn(|i, _| Dual::<1>::new(theta[i], [rate[i]]));
            let R_dot = TurnedFrame::new(moving).rotation().map(|e| along(&e));
            let W = R_dot * at.rotation().transpose();
            let w = at.velocity() * rate;
            worst[1] = worst[1].max((W - w.cross_matrix()).norm());
            let w_dot = TurnedFrame::new(moving).velocity() * rate.map(|rate| Dual::<1>::new(rate, [0.0]));
            worst[2] = worst[2].max((w_dot.map(|e| along(&e)) - at.angular_bias(&rate)).norm());
        }
        println!("rotation, velocity, acceleration: {worst:?}");
        assert!(worst.iter().all(|off| *off < 5e-15), "{worst:?}"); // round-off
    }

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
