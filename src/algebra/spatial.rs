use super::fused::{dot, plus_cross, product, rotated};
use super::{Mat3, Quaternion, Scalar, SmallSpd, Sym3, Vec3, cross_matrix, one33, outlined, zero3, zero33};

/// The pose of frame B in frame A: the rotation `R_AB` and the position `p_AB` (m, axes of A) of
/// B's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<S: Scalar> {
    /// Rotation that maps coordinates of B to A.
    pub R: Mat3<S>,
    /// From A's origin to B's origin, m, in axes of A.
    pub p: Vec3<S>,
}

impl<S: Scalar> Pose<S> {
    /// Returns the identity, the pose of a frame in itself.
    pub fn identity() -> Self {
        Self { R: one33(), p: zero3() }
    }

    /// Returns `X_AC = X_AB * X_BC`.
    #[inline(always)]
    pub fn compose(&self, bc: &Self) -> Self {
        outlined!(
            S,
            Self {
                R: product(&self.R, &bc.R),
                p: self.p + rotated(&self.R, &bc.p),
            }
        )
    }

    /// Returns `X_BA` for `X_AB`.
    pub fn inverse(&self) -> Self {
        outlined!(S, {
            let R = self.R.transpose();
            Self { R, p: -(R * self.p) }
        })
    }
}

impl Pose<f64> {
    /// Creates the pose with the attitude `q_AB` (of any norm but zero) and the position `p_AB`
    /// (m).
    pub fn from_parts(q: Quaternion<f64>, p: Vec3<f64>) -> Self {
        Self { R: q.rotation(), p }
    }
}

/// Velocity (rad/s, m/s) or acceleration (rad/s², m/s²) of a body; the linear part is that of a
/// body-fixed point, the origin, which the context states.
///
/// As an acceleration, `v` is the **ordinary** one: the second derivative of the origin's position,
/// not Featherstone's spatial acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twist<S> {
    /// Angular part.
    pub w: Vec3<S>,
    /// Linear part, at the stated origin.
    pub v: Vec3<S>,
}

impl<S: Scalar> Twist<S> {
    /// Creates a twist from its angular and linear part.
    #[inline(always)]
    pub fn new(w: Vec3<S>, v: Vec3<S>) -> Self {
        Self { w, v }
    }

    /// Returns zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(zero3(), zero3())
    }

    /// Creates a twist from the first six numbers of a slice, angular part first.
    ///
    /// # Panics
    /// If the slice is shorter than six.
    #[inline(always)]
    pub fn from_slice(a: &[S]) -> Self {
        Self::new(Vec3::new(a[0], a[1], a[2]), Vec3::new(a[3], a[4], a[5]))
    }

    /// Returns the six components, angular part first.
    #[inline(always)]
    pub fn to_array(&self) -> [S; 6] {
        [self.w.x, self.w.y, self.w.z, self.v.x, self.v.y, self.v.z]
    }

    /// Returns the twist of the body-fixed point at `r` (m) from the origin: `v + w × r`. For an
    /// acceleration the centripetal part `ω × (ω × r)` has to be added.
    #[inline(always)]
    pub fn shift(&self, r: &Vec3<S>) -> Self {
        outlined!(S, Self::new(self.w, plus_cross(&self.v, &self.w, r)))
    }

    /// Returns the twist in axes rotated by `R`.
    #[inline(always)]
    pub fn express(&self, R: &Mat3<S>) -> Self {
        outlined!(S, Self::new(rotated(R, &self.w), rotated(R, &self.v)))
    }

    /// Returns the rate of change of a motion vector `carried` that is fixed to a body with this
    /// twist, both about the same fixed point: Featherstone's `v × m` (2008, eq. 2.31).
    #[inline(always)]
    pub fn cross(&self, carried: &Self) -> Self {
        outlined!(S, {
            Self::new(
                self.w.cross(&carried.w),
                self.w.cross(&carried.v) + self.v.cross(&carried.w),
            )
        })
    }

    /// Returns the rate of change of a wrench `carried` that is fixed to a body with this twist,
    /// both about the same fixed point: Featherstone's `v ×* f` (2008, eq. 2.32).
    #[inline(always)]
    pub fn cross_wrench(&self, carried: &Wrench<S>) -> Wrench<S> {
        outlined!(S, {
            Wrench::new(
                self.w.cross(&carried.t) + self.v.cross(&carried.f),
                self.w.cross(&carried.f),
            )
        })
    }
}

impl<S: Scalar> std::ops::Add for Twist<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::new(self.w + b.w, self.v + b.v)
    }
}

impl<S: Scalar> std::ops::Sub for Twist<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::new(self.w - b.w, self.v - b.v)
    }
}

impl<S: Scalar> std::ops::Mul<S> for Twist<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, k: S) -> Self {
        Self::new(self.w * k, self.v * k)
    }
}

/// A torque (N·m) about an origin, which the context states, and a force (N).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench<S> {
    /// Torque about the origin.
    pub t: Vec3<S>,
    /// Force.
    pub f: Vec3<S>,
}

impl<S: Scalar> Wrench<S> {
    /// Creates a wrench from its torque and force.
    #[inline(always)]
    pub fn new(t: Vec3<S>, f: Vec3<S>) -> Self {
        Self { t, f }
    }

    /// Returns zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::new(zero3(), zero3())
    }

    /// Creates a wrench from the first six numbers of a slice, torque first.
    ///
    /// # Panics
    /// If the slice is shorter than six.
    #[inline(always)]
    pub fn from_slice(a: &[S]) -> Self {
        Self::new(Vec3::new(a[0], a[1], a[2]), Vec3::new(a[3], a[4], a[5]))
    }

    /// Returns the six components, torque first.
    #[inline(always)]
    pub fn to_array(&self) -> [S; 6] {
        [self.t.x, self.t.y, self.t.z, self.f.x, self.f.y, self.f.z]
    }

    /// Returns the wrench about another origin; `r` (m) points from the new origin to the old one:
    /// `t + r × f`.
    #[inline(always)]
    pub fn shift(&self, r: &Vec3<S>) -> Self {
        outlined!(S, Self::new(plus_cross(&self.t, r, &self.f), self.f))
    }

    /// Returns the wrench in axes rotated by `R`.
    #[inline(always)]
    pub fn express(&self, R: &Mat3<S>) -> Self {
        outlined!(S, Self::new(rotated(R, &self.t), rotated(R, &self.f)))
    }

    /// Returns the power of the wrench on a body with the twist `V` about the same origin, W.
    #[inline(always)]
    pub fn power(&self, V: &Twist<S>) -> S {
        outlined!(S, dot(&self.t, &V.w) + dot(&self.f, &V.v))
    }
}

impl<S: Scalar> std::ops::Add for Wrench<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::new(self.t + b.t, self.f + b.f)
    }
}

impl<S: Scalar> std::ops::Sub for Wrench<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::new(self.t - b.t, self.f - b.f)
    }
}

impl<S: Scalar> std::ops::Mul<S> for Wrench<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, k: S) -> Self {
        Self::new(self.t * k, self.f * k)
    }
}

/// Inertia: the symmetric 6×6 matrix that maps an acceleration to a wrench, both about the same
/// origin:
///
/// ```text
///     t = J α + B a
///     f = Bᵀ α + M a
/// ```
///
/// A rigid body has `M = m 1` and `B = m [c]×`; an articulated body (Featherstone) has full blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<S: Scalar> {
    /// Torque per angular acceleration, kg·m².
    pub J: Sym3<S>,
    /// Torque per linear acceleration, kg·m.
    pub B: Mat3<S>,
    /// Force per linear acceleration, kg.
    pub M: Sym3<S>,
}

impl<S: Scalar> ArticulatedInertia<S> {
    /// Returns zero.
    pub fn zero() -> Self {
        Self {
            J: Sym3::zero(),
            B: zero33(),
            M: Sym3::zero(),
        }
    }

    /// Returns the inertia of a rigid body of mass `m` (kg) with the first moment `h = m c` (kg·m)
    /// and the inertia `J_Bo` (kg·m²) about its origin, all in the same axes.
    #[inline(always)]
    pub fn rigid(m: S, h: &Vec3<S>, J_Bo: &Sym3<S>) -> Self {
        Self {
            J: *J_Bo,
            B: cross_matrix(h),
            M: Sym3::isotropic(m),
        }
    }

    /// Returns the wrench that causes the acceleration `A`.
    #[inline(always)]
    pub fn times(&self, A: &Twist<S>) -> Wrench<S> {
        outlined!(S, {
            Wrench::new(
                self.J.times(&A.w) + self.B * A.v,
                self.B.tr_mul(&A.w) + self.M.times(&A.v),
            )
        })
    }

    /// Returns the inertia about another origin; `r` (m) points from the new origin to the old one.
    ///
    /// With `a_old = a + α × r`, `t = t_old + r × f`:
    ///
    /// ```text
    ///     B' = B + [r]M
    ///     J' = J + [r]Bᵀ + ([r]Bᵀ)ᵀ + [r]M[r]ᵀ = J + ½ (Z + Zᵀ),   Z = [r](B + B')ᵀ
    /// ```
    #[inline(always)]
    pub fn shift(&self, r: &Vec3<S>) -> Self {
        outlined!(S, {
            let [m_x, m_y, m_z] = self.M.columns();
            let rM = Mat3::from_columns(&[r.cross(&m_x), r.cross(&m_y), r.cross(&m_z)]);
            let B = self.B + rM;
            let C = self.B + B;
            // Column i of Z is r × (row i of C).
            let z = |i: usize| r.cross(&Vec3::new(C[(i, 0)], C[(i, 1)], C[(i, 2)]));
            let (z_x, z_y, z_z) = (z(0), z(1), z(2));
            let half = S::lift(0.5);
            let J = &self.J;
            Self {
                J: Sym3 {
                    d: [J.d[0] + z_x.x, J.d[1] + z_y.y, J.d[2] + z_z.z],
                    o: [
                        J.o[0] + (z_x.y + z_y.x) * half,
                        J.o[1] + (z_x.z + z_z.x) * half,
                        J.o[2] + (z_y.z + z_z.y) * half,
                    ],
                },
                B,
                M: self.M,
            }
        })
    }
}

impl<S: Scalar> ArticulatedInertia<S> {
    /// Factors the inertia, to compute accelerations from wrenches:
    ///
    /// ```text
    ///     Y = M⁻¹ Bᵀ,   J − B Y: the inertia about the mass centre of a rigid body
    /// ```
    ///
    /// # Errors
    /// The index of the pivot that vanishes to round-off: rotation (0 … 2) or translation (3 … 5).
    /// The direction without inertia need not be the axis of the pivot.
    #[inline(always)]
    pub fn factor(&self) -> Result<InertiaFactors<S>, usize> {
        outlined!(S, {
            let B = &self.B;
            let M = SmallSpd::factor(&self.M.lower()).map_err(|axis| 3 + axis)?;
            let y = |i: usize| Vec3::from(M.solve(&[B[(i, 0)], B[(i, 1)], B[(i, 2)]]));
            let Y = Mat3::from_columns(&[y(0), y(1), y(2)]);
            let BY = Sym3::from_upper(&(B * Y));
            let J = SmallSpd::factor(&(self.J - BY).lower())?;
            // If the origin is far from the mass centre, J − B Y is a small difference of large
            // numbers: a pivot below 1e-14 of J's entry is round-off.
            let is_regular =
                |axis: usize| S::holds(J.pivot(axis), self.J.d[axis], |pivot, entry| pivot > 1e-14 * entry);
            match (0..3).find(|&axis| !is_regular(axis)) {
                Some(axis) => Err(axis),
                None => Ok(InertiaFactors { M, Y, J }),
            }
        })
    }
}

/// Factors of an [`ArticulatedInertia`].
#[derive(Clone, Copy, Debug)]
pub struct InertiaFactors<S: Scalar> {
    M: SmallSpd<S, 3>,
    Y: Mat3<S>,
    J: SmallSpd<S, 3>,
}

impl<S: Scalar> InertiaFactors<S> {
    /// Returns the factors of the identity, as an initial value.
    pub fn identity() -> Self {
        Self {
            M: SmallSpd::identity(),
            Y: zero33(),
            J: SmallSpd::identity(),
        }
    }

    /// Returns the acceleration due to the wrench `F`.
    #[inline(always)]
    pub fn solve(&self, F: &Wrench<S>) -> Twist<S> {
        outlined!(S, {
            let alpha = Vec3::from(self.J.solve(&(F.t - self.Y.tr_mul(&F.f)).into()));
            let a = Vec3::from(self.M.solve(&F.f.into()));
            Twist::new(alpha, a - self.Y * alpha)
        })
    }
}

impl<S: Scalar> std::ops::AddAssign<&Self> for ArticulatedInertia<S> {
    #[inline(always)]
    fn add_assign(&mut self, b: &Self) {
        self.J = self.J + b.J;
        self.B += b.B;
        self.M = self.M + b.M;
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        shifted_inertia_gives_the_shifted_wrench_of_the_shifted_acceleration,
        factors_invert_the_inertia,
        rotation_without_inertia_has_no_factors,
        rigid_inertia_satisfies_newton_euler_about_the_mass_centre,
        power_does_not_depend_on_the_point,
        power_of_carried_wrench_on_carried_motion_is_constant,
        pose_composed_with_its_inverse_is_the_identity,
    ];

    fn inertia() -> ArticulatedInertia<f64> {
        ArticulatedInertia {
            J: Sym3 {
                d: [3.0, 4.0, 5.0],
                o: [0.5, -0.7, 0.9],
            },
            B: Mat3::new(0.1, -0.4, 0.3, 0.6, 0.2, -0.5, 0.7, -0.8, 0.05),
            M: Sym3 {
                d: [2.0, 2.5, 3.0],
                o: [0.2, -0.1, 0.3],
            },
        }
    }

    fn shifted_inertia_gives_the_shifted_wrench_of_the_shifted_acceleration() {
        let r = Vec3::new(0.4, -1.1, 0.7);
        let A = Twist::new(Vec3::new(0.3, 0.9, -0.2), Vec3::new(1.5, -0.6, 0.8));
        let there = inertia().times(&A.shift(&r)).shift(&r);
        let here = inertia().shift(&r).times(&A);
        assert!((there.t - here.t).norm() + (there.f - here.f).norm() < 1e-14);
    }

    fn factors_invert_the_inertia() {
        let A = Twist::new(Vec3::new(0.3, 0.9, -0.2), Vec3::new(1.5, -0.6, 0.8));
        let back = inertia()
            .factor()
            .expect("positive definite")
            .solve(&inertia().times(&A));
        assert!((back.w - A.w).norm() + (back.v - A.v).norm() < 1e-14);
    }

    /// A point mass far from the origin, and a rod in a general direction: the inertia about one
    /// axis is zero; that axis need not be the one whose index `factor` returns.
    fn rotation_without_inertia_has_no_factors() {
        let (m, c) = (3.0, Vec3::new(0.2, 50.0, -0.3));
        let point = ArticulatedInertia::rigid(m, &(c * m), &Sym3::point_mass(m, &c));
        assert!(point.factor().is_err_and(|axis| axis < 3));
        let along = Vec3::new(0.48, -0.6, 0.64);
        for c in [Vec3::zeros(), c] {
            let rod = Sym3::point_mass(2.0, &along) + Sym3::point_mass(m, &c);
            let rod = ArticulatedInertia::rigid(m, &(c * m), &rod);
            assert_eq!(rod.factor().map(|_| ()), Err(2));
        }
        assert_eq!(ArticulatedInertia::<f64>::zero().factor().map(|_| ()), Err(3));
    }

    fn rigid_inertia_satisfies_newton_euler_about_the_mass_centre() {
        let (m, c) = (3.0, Vec3::new(0.2, 0.5, -0.3));
        let I = Sym3 {
            d: [3.0, 4.0, 5.0],
            o: [0.5, -0.7, 0.9],
        };
        let A = Twist::new(Vec3::new(0.3, 0.9, -0.2), Vec3::new(1.5, -0.6, 0.8));
        let J_Bo = I + Sym3::point_mass(m, &c);
        let F = ArticulatedInertia::rigid(m, &(c * m), &J_Bo).times(&A);
        let f = (A.v + A.w.cross(&c)) * m;
        let t = I.times(&A.w) + c.cross(&f);
        assert!((F.f - f).norm() + (F.t - t).norm() < 1e-14);
    }

    fn power_does_not_depend_on_the_point() {
        let F = Wrench::new(Vec3::new(0.3, 0.9, -0.2), Vec3::new(1.5, -0.6, 0.8));
        let V = Twist::new(Vec3::new(-0.5, 0.4, 1.2), Vec3::new(0.1, 0.7, -0.9));
        let r = Vec3::new(0.4, -1.1, 0.7);
        // F refers to the far point: either F is shifted to the origin or V to the far point.
        let out = F.power(&V.shift(&r));
        let home = F.shift(&r).power(&V);
        assert!((out - home).abs() < 1e-15);
    }

    /// `(v × m)·f + m·(v ×* f) = 0`: the power of a wrench on a twist is constant if both are fixed
    /// to the same moving body.
    fn power_of_carried_wrench_on_carried_motion_is_constant() {
        let twist = |a: f64| Twist::new(Vec3::new(0.3, a, -0.2), Vec3::new(a * a, -0.6, 0.8));
        let F = Wrench::new(Vec3::new(0.3, 0.9, -0.2), Vec3::new(1.5, -0.6, 0.8));
        let (V, m) = (twist(0.7), twist(-1.3));
        let change = F.power(&V.cross(&m)) + V.cross_wrench(&F).power(&m);
        assert!(change.abs() < 1e-15, "{change:e}");
    }

    fn pose_composed_with_its_inverse_is_the_identity() {
        let X = Pose::from_parts(Quaternion::new(0.6, -0.3, 0.5, 0.2), Vec3::new(0.4, -1.1, 0.7));
        let I = X.compose(&X.inverse());
        assert!((I.R - Mat3::identity()).norm() + I.p.norm() < 1e-15);
    }
}
