use super::{Lift, Mask, Mat3, Scalar, Vec3, outlined};

/// A quaternion `w + x i + y j + z k`.
///
/// 1. Hamilton's product, `i j = k`; the scalar component is first in every array.
/// 2. `q_AB` gives `v_A = q_AB v_B q_AB*`; products compose as matrices do: `q_AC = q_AB ⊗ q_BC`.
/// 3. `q̇_AB = ½ q_AB ⊗ (0, w_AB_B)`, with the angular velocity in axes of B.
/// 4. `q` and `−q` are the same attitude.
///
/// The norm need not be one: that of a quaternion state drifts by the integration error.
/// [`rotation`](Self::rotation) and [`rotate`](Self::rotate) therefore normalise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quaternion<S> {
    /// Scalar part.
    pub w: S,
    /// Component along `i`.
    pub x: S,
    /// Component along `j`.
    pub y: S,
    /// Component along `k`.
    pub z: S,
}

impl<S: Scalar> Quaternion<S> {
    /// Creates a quaternion from the components `(w, x, y, z)`.
    #[inline(always)]
    pub fn new(w: S, x: S, y: S, z: S) -> Self {
        Self { w, x, y, z }
    }

    /// Returns the identity rotation.
    pub fn identity() -> Self {
        Self::new(S::one(), S::zero(), S::zero(), S::zero())
    }

    /// Creates a quaternion from the first four numbers of a slice, `(w, x, y, z)`.
    ///
    /// # Panics
    /// If the slice is shorter than four.
    #[inline(always)]
    pub fn from_slice(q: &[S]) -> Self {
        Self::new(q[0], q[1], q[2], q[3])
    }

    /// Returns the components `(w, x, y, z)`.
    pub fn to_array(self) -> [S; 4] {
        [self.w, self.x, self.y, self.z]
    }

    /// Returns the vector part `(x, y, z)`.
    pub fn vector(self) -> Vec3<S> {
        Vec3::new(self.x, self.y, self.z)
    }

    /// Returns the conjugate: the inverse rotation of a unit quaternion.
    pub fn conjugate(self) -> Self {
        Self::new(self.w, -self.x, -self.y, -self.z)
    }

    /// Returns `w² + x² + y² + z²`.
    #[inline(always)]
    pub fn norm_squared(self) -> S {
        if S::FUSES {
            let squares = self.to_array().map(|part| (part, part, 1.0));
            return S::sum_of_products(squares);
        }
        self.w * self.w + self.x * self.x + self.y * self.y + self.z * self.z
    }

    /// The product by few operations of a record.
    fn fused_product(self, b: Self) -> Self {
        let (p, q) = (self.to_array(), b.to_array());
        // Signs of the products of p with the components of q in the given order.
        let part = |order: [usize; 4], signs: [f64; 4]| {
            S::sum_of_products(std::array::from_fn::<_, 4, _>(|k| (p[k], q[order[k]], signs[k])))
        };
        Self::new(
            part([0, 1, 2, 3], [1.0, -1.0, -1.0, -1.0]),
            part([1, 0, 3, 2], [1.0, 1.0, 1.0, -1.0]),
            part([2, 3, 0, 1], [1.0, -1.0, 1.0, 1.0]),
            part([3, 2, 1, 0], [1.0, 1.0, -1.0, 1.0]),
        )
    }

    /// Returns the unit quaternion of the same rotation; NaN if all components are zero.
    pub fn normalised(self) -> Self {
        let k = S::one() / self.norm_squared().sqrt();
        Self::new(self.w * k, self.x * k, self.y * k, self.z * k)
    }

    /// Returns the unit quaternion of a rotation matrix, from its largest component (Shepperd
    /// 1978), with `w ≥ 0`.
    pub fn from_rotation(R: &Mat3<S>) -> Self {
        let (one, trace) = (S::one(), R.trace());
        // Four times the squares of w, x, y and z. Their sum is four, so the largest is at least
        // one.
        let squares = [
            one + trace,
            one + R[(0, 0)] + R[(0, 0)] - trace,
            one + R[(1, 1)] + R[(1, 1)] - trace,
            one + R[(2, 2)] + R[(2, 2)] - trace,
        ];
        let largest = (0..4).fold(0, |best, i| {
            if squares[i].value() > squares[best].value() {
                i
            } else {
                best
            }
        });
        let less = |i: usize, j: usize| R[(i, j)] - R[(j, i)];
        let sum = |i: usize, j: usize| R[(i, j)] + R[(j, i)];
        // Four times the products of the largest component with w, x, y and z.
        let [w, x, y, z] = match largest {
            0 => [squares[0], less(2, 1), less(0, 2), less(1, 0)],
            1 => [less(2, 1), squares[1], sum(0, 1), sum(0, 2)],
            2 => [less(0, 2), sum(0, 1), squares[2], sum(1, 2)],
            _ => [less(1, 0), sum(0, 2), sum(1, 2), squares[3]],
        };
        Self::new(w, x, y, z).normalised().along(Self::identity())
    }

    /// Returns `self` or `−self` (the same attitude), whichever has a non-negative scalar product
    /// with `other`.
    pub fn along(self, other: Self) -> Self {
        let dot = self.w * other.w + self.x * other.x + self.y * other.y + self.z * other.z;
        let is_opposite = (-dot).exceeds(0.0);
        if !is_opposite.is_needed() {
            return self;
        }
        let [w, x, y, z] = self.to_array().map(|part| S::select(is_opposite, -part, part));
        Self::new(w, x, y, z)
    }

    /// Returns the rotation matrix `R_AB` of `q_AB`, for any norm.
    ///
    /// Its entries are homogeneous of degree two in the quaternion: one division by `|q|²`
    /// normalises.
    #[inline(always)]
    pub fn rotation(self) -> Mat3<S> {
        outlined!(S, {
            let Self { w, x, y, z } = self;
            let s = S::lift(2.0) / self.norm_squared();
            let (xs, ys, zs) = (x * s, y * s, z * s);
            let (wx, wy, wz) = (w * xs, w * ys, w * zs);
            let (xx, xy, xz) = (x * xs, x * ys, x * zs);
            let (yy, yz, zz) = (y * ys, y * zs, z * zs);
            let one = S::one();
            Mat3::new(
                one - yy - zz,
                xy - wz,
                xz + wy,
                xy + wz,
                one - xx - zz,
                yz - wx,
                xz - wy,
                yz + wx,
                one - xx - yy,
            )
        })
    }

    /// Returns `v_A` for the vector `v = v_B`; `self` is `q_AB`, of any norm.
    pub fn rotate(self, v: Vec3<S>) -> Vec3<S> {
        let two = S::lift(2.0);
        let u = self.vector();
        let t = u.cross(&v) * (two / self.norm_squared());
        v + t * self.w + u.cross(&t)
    }

    /// Returns the quaternion's rate `½ q_AB ⊗ (0, w_AB_B)`, 1/s, for the angular velocity `w` in
    /// rad/s, axes of B.
    #[inline(always)]
    pub fn rate(self, w: Vec3<S>) -> Self {
        outlined!(S, {
            let half = S::lift(0.5);
            let (hx, hy, hz) = (w.x * half, w.y * half, w.z * half);
            Self::new(
                -self.x * hx - self.y * hy - self.z * hz,
                self.w * hx + self.y * hz - self.z * hy,
                self.w * hy + self.z * hx - self.x * hz,
                self.w * hz + self.x * hy - self.y * hx,
            )
        })
    }

    /// Returns the angular velocity `w_AB_B` (rad/s, axes of B) of the quaternion's
    /// [`rate`](Self::rate), 1/s; a part of the rate along the quaternion has no effect.
    pub fn angular_velocity(self, rate: Self) -> Vec3<S> {
        let turn = self.conjugate() * rate;
        let k = S::lift(2.0) / self.norm_squared();
        Vec3::new(turn.x * k, turn.y * k, turn.z * k)
    }
}

impl Quaternion<f64> {
    /// Returns the rotation by `angle` (rad) about the unit vector `axis`.
    pub fn from_axis_angle(axis: Vec3<f64>, angle: f64) -> Self {
        let (s, c) = Scalar::sin_cos(0.5 * angle);
        Self::new(c, axis.x * s, axis.y * s, axis.z * s)
    }

    /// Returns the smallest rotation that takes the unit vector `from` to the unit vector `to`; for
    /// opposite vectors half a turn about the coordinate axis that is nearest to normal.
    pub fn between(from: &Vec3<f64>, to: &Vec3<f64>) -> Self {
        let v = from.cross(to);
        let q = Self::new(1.0 + from.dot(to), v.x, v.y, v.z);
        if q.norm_squared() > 1e-12 {
            return q.normalised();
        }
        let nearest = Vec3::ith(from.iamin(), 1.0);
        let axis = (nearest - from * from.dot(&nearest)).normalize();
        Self::new(0.0, axis.x, axis.y, axis.z)
    }
}

impl<C: Scalar> Quaternion<C> {
    /// Returns the quaternion as a constant with components of the scalar type `S`.
    pub fn lift<S: Scalar>(self) -> Quaternion<S>
    where
        C: Lift<S>,
    {
        Quaternion::new(S::lift(self.w), S::lift(self.x), S::lift(self.y), S::lift(self.z))
    }
}

impl<S: Scalar> std::ops::Mul for Quaternion<S> {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        let a = self;
        if S::FUSES {
            return a.fused_product(b);
        }
        Self::new(
            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        )
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::algebra::Dual;
    use crate::larger::Larger;

    unit_tests![
        matrices_compose_as_quaternions_do,
        axis_angle_uses_the_scalars_sine_and_cosine,
        from_rotation_inverts_rotation,
        rotation_is_orthonormal_for_any_length,
        rotate_is_the_sandwich_product_of_the_unit_quaternion,
        rotation_rate_is_that_of_the_body_axes_angular_velocity,
    ];

    const Q: Quaternion<f64> = Quaternion {
        w: 0.6,
        x: -0.3,
        y: 0.5,
        z: 0.2,
    };
    const P: Quaternion<f64> = Quaternion {
        w: -0.1,
        x: 0.7,
        y: 0.4,
        z: -0.9,
    };

    fn matrices_compose_as_quaternions_do() {
        let difference = (Q * P).rotation() - Q.rotation() * P.rotation();
        assert!(difference.norm() < 1e-15, "{difference}");
    }

    /// The result does not depend on the C library, because `libm` computes it; the GNU C library
    /// differs in the last digit for some of these angles.
    fn axis_angle_uses_the_scalars_sine_and_cosine() {
        for k in 0..100_000 {
            let angle = f64::from(k) * 1.3e-4;
            let q = Quaternion::from_axis_angle(Vec3::z(), angle);
            assert_eq!((q.z, q.w), libm::sincos(0.5 * angle), "{angle}");
        }
    }

    /// All four branches, and equal largest components.
    fn from_rotation_inverts_rotation() {
        let mut worst = 0.0_f64;
        for q in [
            [0.9, 0.1, -0.2, 0.3],
            [0.1, -0.9, 0.2, 0.3],
            [0.2, 0.3, 0.9, -0.1],
            [0.1, -0.3, 0.2, -0.9],
            [0.5, -0.5, 0.5, -0.5],
            [0.0, 0.6, 0.0, -0.8],
            [1.0, 0.0, 0.0, 0.0],
            [-0.6, 0.3, -0.5, 0.2],
        ] {
            let q = Quaternion::from_slice(&q).normalised();
            let back = Quaternion::from_rotation(&q.rotation());
            assert!(back.w >= 0.0);
            let (q, back) = (q.along(back).to_array(), back.to_array());
            worst = (0..4).map(|i| (q[i] - back[i]).abs()).fold(worst, f64::larger);
        }
        println!("{worst:.1e}");
        assert!(worst < 4e-16, "{worst:e}"); // a few round-offs
    }

    fn rotation_is_orthonormal_for_any_length() {
        let R = Q.rotation();
        assert!((R * R.transpose() - Mat3::identity()).norm() < 1e-15);
        assert!((R.determinant() - 1.0).abs() < 1e-15);
    }

    fn rotate_is_the_sandwich_product_of_the_unit_quaternion() {
        let v = Vec3::new(0.3, -1.2, 0.8);
        let u = Q.normalised();
        let sandwich = (u * Quaternion::new(0.0, v.x, v.y, v.z) * u.conjugate()).vector();
        assert!((Q.rotate(v) - sandwich).norm() < 1e-15);
        assert!((Q.rotation() * v - sandwich).norm() < 1e-15);
    }

    /// Ṙ_AB = R_AB [w_AB_B]×, by the exact derivative of R along the rate.
    fn rotation_rate_is_that_of_the_body_axes_angular_velocity() {
        let w = Vec3::new(0.4, -0.7, 1.1);
        let rate = Q.rate(w);
        let dual = |v: f64, d: f64| Dual::<1>::new(v, [d]);
        let R = Quaternion::new(
            dual(Q.w, rate.w),
            dual(Q.x, rate.x),
            dual(Q.y, rate.y),
            dual(Q.z, rate.z),
        )
        .rotation();
        let R_dot = R.map(|e| e.eps[0]);
        let expected = Q.rotation() * w.cross_matrix();
        assert!((R_dot - expected).norm() < 1e-15, "{R_dot} {expected}");
    }
}
