use super::{Lift, Mat3, Pose, Quaternion, Scalar, SmallSpd, Sym3, Twist, Vec3, Wrench, lift33};
use nalgebra::{SMatrix, SVector};

/// A dual quaternion `r + ε d`, `ε² = 0`.
///
/// A pose `q_XY` (of Y in X): `q + ½ ε p q`, with the attitude `q` that maps coordinates of Y to X,
/// and the position `p` (m) of Y's origin in axes of X. Poses compose as rotations,
/// `q_XZ = q_XY ⊗ q_YZ`, and `q̇_XY = ½ q_XY ⊗ V` with the twist `V` of Y in X, axes of Y.
///
/// A [twist](Self::from_twist) is `ω + ε v`, a [wrench](Self::from_wrench) `f + ε t`: in both, the
/// real part is the one that does not depend on the reference point, so both transform by the same
/// [adjoint](Self::adjoint).
///
/// Source of the conventions, and of the equations and lemmas cited below: A. Valverde and P.
/// Tsiotras, "Dual Quaternion Framework for Modeling of Spacecraft-Mounted Multibody Robotic
/// Systems", *Front. Robot. AI* 5 (2018) 128, doi:10.3389/frobt.2018.00128.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualQuaternion<S> {
    /// The real part.
    pub r: Quaternion<S>,
    /// The dual part.
    pub d: Quaternion<S>,
}

/// Eight components: the real part, scalar first, then the dual part.
pub type Vec8<S> = SVector<S, 8>;
/// A linear map of [`Vec8`].
pub type Mat8<S> = SMatrix<S, 8, 8>;

impl<S: Scalar> DualQuaternion<S> {
    /// Creates a dual quaternion from its two parts.
    pub fn new(r: Quaternion<S>, d: Quaternion<S>) -> Self {
        Self { r, d }
    }

    /// Returns the identity: the pose of a frame in itself.
    pub fn identity() -> Self {
        Self::new(Quaternion::identity(), pure(Vec3::zeros()))
    }

    /// Returns zero.
    pub fn zero() -> Self {
        Self::new(pure(Vec3::zeros()), pure(Vec3::zeros()))
    }

    /// Returns the pose `q_XY` from the attitude `q_XY` (of unit norm) and the position `p_XY` (m,
    /// axes of X) of Y in X.
    pub fn from_pose(attitude: Quaternion<S>, p: &Vec3<S>) -> Self {
        Self::new(attitude, pure(p * S::lift(0.5)) * attitude)
    }

    /// Returns the position `p_XY` (m, axes of X) of a pose: `2 d r*`.
    pub fn position(&self) -> Vec3<S> {
        (self.d * self.r.conjugate()).vector() * S::lift(2.0)
    }

    /// Returns attitude and position as a rotation matrix and a vector.
    pub fn pose(&self) -> Pose<S> {
        Pose {
            R: self.r.rotation(),
            p: self.position(),
        }
    }

    /// Returns the dual quaternion `ω + ε v`.
    pub fn from_twist(V: &Twist<S>) -> Self {
        Self::new(pure(V.w), pure(V.v))
    }

    /// Returns the dual quaternion `f + ε t`.
    pub fn from_wrench(F: &Wrench<S>) -> Self {
        Self::new(pure(F.f), pure(F.t))
    }

    /// Returns the twist whose angular part is the vector part of `r`, its linear part that of `d`.
    pub fn twist(&self) -> Twist<S> {
        Twist::new(self.r.vector(), self.d.vector())
    }

    /// Returns the wrench whose force is the vector part of `r`, its torque that of `d`.
    pub fn wrench(&self) -> Wrench<S> {
        Wrench::new(self.d.vector(), self.r.vector())
    }

    /// Returns the eight components, the real part first.
    pub fn to_vector(self) -> Vec8<S> {
        let (r, d) = (self.r.to_array(), self.d.to_array());
        Vec8::from_fn(|i, _| if i < 4 { r[i] } else { d[i - 4] })
    }

    /// Creates a dual quaternion from eight components.
    pub fn from_vector(v: &Vec8<S>) -> Self {
        let v = v.as_slice();
        Self::new(Quaternion::from_slice(&v[..4]), Quaternion::from_slice(&v[4..]))
    }

    /// Returns `r* + ε d*`, the inverse of a pose; `(a b)* = b* a*`.
    pub fn conjugate(self) -> Self {
        Self::new(self.r.conjugate(), self.d.conjugate())
    }

    /// Returns `d + ε r`, which maps the component order of a twist to that of a wrench.
    pub fn swap(self) -> Self {
        Self::new(self.d, self.r)
    }

    /// Returns the cross product `½ (a b − b* a*)`; for twists,
    /// `ω_a × ω_b + ε (ω_a × v_b + v_a × ω_b)`.
    pub fn cross(self, b: Self) -> Self {
        (self * b - b.conjugate() * self.conjugate()) * S::lift(0.5)
    }

    /// Returns the circle product `a_r·b_r + a_d·b_d`. The power of a wrench `F` on a twist `V` is
    /// `F ∘ Vˢ`, with `Vˢ` from [`swap`](Self::swap).
    pub fn circle(self, b: Self) -> S {
        self.to_vector().dot(&b.to_vector())
    }

    /// Returns `q a q*` for a pose `q_XY`: transforms a twist or a wrench from Y's origin and axes
    /// to X's.
    pub fn adjoint(self, a: Self) -> Self {
        self * a * self.conjugate()
    }

    /// Returns `⟦a⟧_L`, with `a b = ⟦a⟧_L b`.
    pub fn left(self) -> Mat8<S> {
        columns(|b| self * b)
    }

    /// Returns `⟦a⟧_R`, with `b a = ⟦a⟧_R b`.
    pub fn right(self) -> Mat8<S> {
        columns(|b| b * self)
    }
}

impl<S: Scalar> std::ops::Mul for DualQuaternion<S> {
    type Output = Self;

    fn mul(self, b: Self) -> Self {
        let (x, y) = ((self.r * b.d).to_array(), (self.d * b.r).to_array());
        let [w, i, j, k] = std::array::from_fn(|n| x[n] + y[n]);
        Self::new(self.r * b.r, Quaternion::new(w, i, j, k))
    }
}

impl<S: Scalar> std::ops::Add for DualQuaternion<S> {
    type Output = Self;

    fn add(self, b: Self) -> Self {
        Self::from_vector(&(self.to_vector() + b.to_vector()))
    }
}

impl<S: Scalar> std::ops::Sub for DualQuaternion<S> {
    type Output = Self;

    fn sub(self, b: Self) -> Self {
        Self::from_vector(&(self.to_vector() - b.to_vector()))
    }
}

impl<S: Scalar> std::ops::Mul<S> for DualQuaternion<S> {
    type Output = Self;

    fn mul(self, k: S) -> Self {
        Self::from_vector(&(self.to_vector() * k))
    }
}

/// Returns the matrix of a linear map, in the component order of [`Vec8`].
fn columns<S: Scalar>(map: impl Fn(DualQuaternion<S>) -> DualQuaternion<S>) -> Mat8<S> {
    let unit = |k: usize| Vec8::from_fn(|i, _| if i == k { S::one() } else { S::zero() });
    let columns = std::array::from_fn::<_, 8, _>(|k| map(DualQuaternion::from_vector(&unit(k))).to_vector());
    Mat8::from_columns(&columns)
}

/// Returns the pure quaternion (scalar part zero) of a vector.
fn pure<S: Scalar>(v: Vec3<S>) -> Quaternion<S> {
    Quaternion::new(S::zero(), v.x, v.y, v.z)
}

/// A rigid body's dual inertia about its mass centre, body axes: Valverde and Tsiotras's (22),
/// `M = diag(1, m 1₃, 1, J)`.
///
/// The two ones only make the matrix invertible: the scalar parts of twists and wrenches are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualInertia<S: Scalar> {
    m: S,
    J: Mat3<S>,
    J_inverse: Mat3<S>,
}

impl<C: Scalar> DualInertia<C> {
    /// Creates the inertia from the mass (kg) and the inertia about the mass centre (kg·m²); `None`
    /// if one of them is singular to round-off.
    pub fn new(m: C, J: &Sym3<C>) -> Option<Self> {
        let unit = |k: usize| std::array::from_fn(|i| if i == k { C::one() } else { C::zero() });
        let J = J.full();
        let factors = SmallSpd::factor(&J.data.0).ok().filter(|_| m.value() > 0.0)?;
        let J_inverse = Mat3::from([0, 1, 2].map(|k| factors.solve(&unit(k))));
        Some(Self { m, J, J_inverse })
    }

    /// Returns the inertia as a constant with entries of the scalar type `S`.
    pub fn lift<S: Scalar>(&self) -> DualInertia<S>
    where
        C: Lift<S>,
    {
        DualInertia {
            m: S::lift(self.m),
            J: lift33(&self.J),
            J_inverse: lift33(&self.J_inverse),
        }
    }
}

impl<S: Scalar> DualInertia<S> {
    /// Returns the inertia with unit mass and unit moments of inertia.
    pub fn unit() -> Self {
        let (m, one) = (S::one(), Mat3::identity());
        Self {
            m,
            J: one,
            J_inverse: one,
        }
    }

    /// Returns the dual momentum `M ∗ Vˢ = H(M) V`, `m v + ε J ω` (23); it transforms as a wrench.
    pub fn momentum(&self, V: DualQuaternion<S>) -> DualQuaternion<S> {
        let V = V.twist();
        DualQuaternion::from_wrench(&Wrench::new(self.J * V.w, V.v * self.m))
    }

    /// Returns `H(M)⁻¹ F`: the twist of a momentum, or the acceleration due to a wrench.
    pub fn motion(&self, F: DualQuaternion<S>) -> DualQuaternion<S> {
        let F = F.wrench();
        DualQuaternion::from_twist(&Twist::new(self.J_inverse * F.t, F.f / self.m))
    }

    /// Returns `H(M) = M SW` (25)–(28), which maps a twist to its momentum, and the twist's
    /// derivative to a wrench. `SW` is the matrix of [`swap`](DualQuaternion::swap).
    pub fn H(&self) -> Mat8<S> {
        let m = Mat3::from_diagonal_element(self.m);
        Self::blocks(&m, &self.J)
    }

    /// Returns `H(M)⁻¹ = SW M⁻¹` (29).
    pub fn H_inverse(&self) -> Mat8<S> {
        let per_m = Mat3::from_diagonal_element(S::one() / self.m);
        Self::blocks(&self.J_inverse, &per_m)
    }

    /// Returns the matrix whose block `real` maps the dual part of a vector to the real part of the
    /// result, and whose block `dual` maps the real part to the dual part.
    fn blocks(real: &Mat3<S>, dual: &Mat3<S>) -> Mat8<S> {
        let mut H = Mat8::zeros();
        (H[(0, 4)], H[(4, 0)]) = (S::one(), S::one());
        for i in 0..3 {
            for j in 0..3 {
                (H[(1 + i, 5 + j)], H[(5 + i, 1 + j)]) = (real[(i, j)], dual[(i, j)]);
            }
        }
        H
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;

    unit_tests![
        poses_compose_and_invert,
        conjugates_of_products_are_products_of_conjugates,
        pose_rate_is_half_its_product_with_the_twist,
        adjoint_shifts_and_rotates_twists_and_wrenches,
        cross_product_commutes_with_the_adjoint,
        products_are_matrices_and_the_adjoint_is_invertible,
        power_is_the_circle_product_with_the_swapped_twist,
        dual_inertia_gives_momentum_energy_and_its_inverse,
    ];

    fn attitude() -> Quaternion<f64> {
        Quaternion::new(0.6, -0.3, 0.5, 0.2).normalised()
    }

    fn poses() -> [DualQuaternion<f64>; 2] {
        let other = Quaternion::new(-0.1, 0.7, 0.3, -0.4).normalised();
        [
            DualQuaternion::from_pose(attitude(), &Vec3::new(0.4, -1.1, 0.7)),
            DualQuaternion::from_pose(other, &Vec3::new(-2.0, 0.3, 0.9)),
        ]
    }

    fn any(seed: f64) -> DualQuaternion<f64> {
        DualQuaternion::from_vector(&Vec8::from_fn(|i, _| (seed * (i as f64 + 1.3)).sin()))
    }

    fn twist(seed: f64) -> Twist<f64> {
        let v = |k: f64| Vec3::new((seed * k).sin(), (seed + k).cos(), (2.0 * seed - k).sin());
        Twist::new(v(1.0), v(2.3))
    }

    fn apart(a: DualQuaternion<f64>, b: DualQuaternion<f64>) -> f64 {
        (a.to_vector() - b.to_vector()).norm()
    }

    fn poses_compose_and_invert() {
        let [a, b] = poses();
        let (X_ab, X_a, X_b) = ((a * b).pose(), a.pose(), b.pose());
        let expected = X_a.compose(&X_b);
        assert!((X_ab.R - expected.R).norm() + (X_ab.p - expected.p).norm() < 1e-15);
        assert!(apart(a * a.conjugate(), DualQuaternion::identity()) < 1e-15);
        assert!((a.position() - Vec3::new(0.4, -1.1, 0.7)).norm() < 1e-15);
    }

    fn conjugates_of_products_are_products_of_conjugates() {
        let (a, b) = (any(0.7), any(-1.9));
        assert!(apart((a * b).conjugate(), b.conjugate() * a.conjugate()) < 1e-15);
    }

    /// `q̇ = ½ q V`, against central differences (of second order) of poses with a constant twist.
    fn pose_rate_is_half_its_product_with_the_twist() {
        let [q, _] = poses();
        let V = twist(0.8); // axes of Y
        let step = 1e-4;
        let moved = |t: f64| {
            let turned = q.r * crate::algebra::exp(V.w * t);
            DualQuaternion::from_pose(turned, &(q.position() + q.r.rotate(V.v) * t))
        };
        let slope = (moved(step).to_vector() - moved(-step).to_vector()) / (2.0 * step);
        let expected = (q * DualQuaternion::from_twist(&V)).to_vector() * 0.5;
        assert!((slope - expected).norm() < 1e-8); // step²
    }

    /// The adjoint equals shift and rotation, for twists and wrenches.
    fn adjoint_shifts_and_rotates_twists_and_wrenches() {
        let [q, _] = poses();
        let (X, V) = (q.pose(), twist(1.1));
        let there = q.adjoint(DualQuaternion::from_twist(&V)).twist();
        let expected = V.express(&X.R).shift(&-X.p);
        assert!((there - expected).w.norm() + (there - expected).v.norm() < 1e-15);
        let F = Wrench::new(V.v, V.w);
        let there = q.adjoint(DualQuaternion::from_wrench(&F)).wrench();
        let expected = Wrench::new(X.R * F.t, X.R * F.f).shift(&X.p);
        assert!((there - expected).t.norm() + (there - expected).f.norm() < 1e-15);
    }

    /// Lemma 1: `(q a q*) × (q b q*) = q (a × b) q*`.
    fn cross_product_commutes_with_the_adjoint() {
        let [q, _] = poses();
        let (a, b) = (
            DualQuaternion::from_twist(&twist(0.3)),
            DualQuaternion::from_twist(&twist(-2.0)),
        );
        assert!(apart(q.adjoint(a).cross(q.adjoint(b)), q.adjoint(a.cross(b))) < 1e-14);
        let (A, B) = (twist(0.3), twist(-2.0));
        let expected = Twist::new(A.w.cross(&B.w), A.w.cross(&B.v) + A.v.cross(&B.w));
        assert!(apart(a.cross(b), DualQuaternion::from_twist(&expected)) < 1e-15);
    }

    /// Products as matrices, and Lemma 2: `⟦q⟧_L ⟦q*⟧_R` is the adjoint, and `⟦q*⟧_L ⟦q⟧_R` its
    /// inverse.
    fn products_are_matrices_and_the_adjoint_is_invertible() {
        let (a, b) = (any(0.7), any(-1.9));
        assert!((a.left() * b.to_vector() - (a * b).to_vector()).norm() < 1e-15);
        assert!((b.right() * a.to_vector() - (a * b).to_vector()).norm() < 1e-15);
        assert!((a.left() * b.right() - b.right() * a.left()).norm() < 1e-14);
        let [q, _] = poses();
        let (Ad, AdI) = (q.left() * q.conjugate().right(), q.conjugate().left() * q.right());
        assert!((Ad * AdI - Mat8::identity()).norm() < 1e-14);
        assert!((Ad * a.to_vector() - q.adjoint(a).to_vector()).norm() < 1e-14);
    }

    fn power_is_the_circle_product_with_the_swapped_twist() {
        let (V, F) = (twist(0.4), Wrench::new(twist(1.7).w, twist(1.7).v));
        let (w, W) = (DualQuaternion::from_twist(&V), DualQuaternion::from_wrench(&F));
        assert!((W.circle(w.swap()) - F.power(&V)).abs() < 1e-15);
        let [q, _] = poses();
        let elsewhere = q.adjoint(W).circle(q.adjoint(w).swap());
        assert!((elsewhere - F.power(&V)).abs() < 1e-14);
    }

    /// Equations (23) and (24), and Lemma 3: `H(M)` has the inverse `SW M⁻¹`.
    fn dual_inertia_gives_momentum_energy_and_its_inverse() {
        let J = Sym3 {
            d: [3.0, 4.0, 5.0],
            o: [0.5, -0.7, 0.9],
        };
        let (M, V) = (DualInertia::new(2.5, &J).expect("regular"), twist(0.9));
        let w = DualQuaternion::from_twist(&V);
        let p = M.momentum(w).wrench();
        assert!((p.f - V.v * 2.5).norm() + (p.t - J.full() * V.w).norm() < 1e-15);
        assert!((M.H() * w.to_vector() - M.momentum(w).to_vector()).norm() < 1e-15);
        assert!(apart(M.motion(M.momentum(w)), w) < 1e-15);
        let energy = 0.5 * w.swap().circle(M.momentum(w));
        assert!((energy - 0.5 * (2.5 * V.v.dot(&V.v) + V.w.dot(&(J.full() * V.w)))).abs() < 1e-14);
        assert!((M.H() * M.H_inverse() - Mat8::identity()).norm() < 1e-14);
        let flat = Sym3 {
            d: [1.0, 1.0, 0.0],
            o: [0.0; 3],
        };
        assert_eq!(DualInertia::new(1.0, &flat), None);
        assert_eq!(DualInertia::new(0.0, &J), None);
    }
}
