use super::{Lift, Mat3, Scalar, Vec3, outlined, spd};

/// A symmetric 3×3 matrix, stored as six entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sym3<S> {
    /// Diagonal `xx, yy, zz`.
    pub d: [S; 3],
    /// Off-diagonal `xy, xz, yz`.
    pub o: [S; 3],
}

impl<S: Scalar> Sym3<S> {
    /// Returns zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self {
            d: [S::zero(); 3],
            o: [S::zero(); 3],
        }
    }

    /// Returns `k` times the identity.
    #[inline(always)]
    pub fn isotropic(k: S) -> Self {
        Self {
            d: [k; 3],
            o: [S::zero(); 3],
        }
    }

    /// Returns the trace.
    #[inline(always)]
    pub fn trace(&self) -> S {
        self.d[0] + self.d[1] + self.d[2]
    }

    /// Creates the matrix from the upper triangle of a full one that is symmetric to round-off.
    #[inline(always)]
    pub fn from_upper(m: &Mat3<S>) -> Self {
        Self {
            d: [m.m11, m.m22, m.m33],
            o: [m.m12, m.m13, m.m23],
        }
    }

    /// Returns the full matrix.
    #[inline(always)]
    pub fn full(&self) -> Mat3<S> {
        let [xx, yy, zz] = self.d;
        let [xy, xz, yz] = self.o;
        Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// Returns the columns, equal to the rows.
    #[inline(always)]
    pub fn columns(&self) -> [Vec3<S>; 3] {
        let [xx, yy, zz] = self.d;
        let [xy, xz, yz] = self.o;
        [Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz)]
    }

    /// Returns the rows of the lower triangle; zeros above the diagonal.
    #[inline(always)]
    pub fn lower(&self) -> [[S; 3]; 3] {
        let ([xx, yy, zz], o) = (self.d, S::zero());
        let [xy, xz, yz] = self.o;
        [[xx, o, o], [xy, yy, o], [xz, yz, zz]]
    }

    /// Returns `self * v`.
    #[inline(always)]
    pub fn times(&self, v: &Vec3<S>) -> Vec3<S> {
        outlined!(S, {
            let [xx, yy, zz] = self.d;
            let [xy, xz, yz] = self.o;
            Vec3::new(
                xx * v.x + xy * v.y + xz * v.z,
                xy * v.x + yy * v.y + yz * v.z,
                xz * v.x + yz * v.y + zz * v.z,
            )
        })
    }

    /// Returns `R self Rᵀ`, the tensor in axes rotated by `R`.
    #[inline(always)]
    pub fn express(&self, R: &Mat3<S>) -> Self {
        outlined!(S, {
            let A = R * self.full();
            let row = |i: usize, j: usize| A[(i, 0)] * R[(j, 0)] + A[(i, 1)] * R[(j, 1)] + A[(i, 2)] * R[(j, 2)];
            Self {
                d: [row(0, 0), row(1, 1), row(2, 2)],
                o: [row(0, 1), row(0, 2), row(1, 2)],
            }
        })
    }

    /// Returns `k (|r|² 1 − r rᵀ)`: the inertia of the point mass `k` at `r` about the origin.
    #[inline(always)]
    pub fn point_mass(k: S, r: &Vec3<S>) -> Self {
        outlined!(S, {
            let kr = r * k;
            let (xx, yy, zz) = (kr.x * r.x, kr.y * r.y, kr.z * r.z);
            Self {
                d: [yy + zz, xx + zz, xx + yy],
                o: [-kr.x * r.y, -kr.x * r.z, -kr.y * r.z],
            }
        })
    }

    /// Returns `self − a bᵀ` from the upper triangle, for an outer product that is symmetric to
    /// round-off.
    #[inline(always)]
    pub fn minus_outer(&self, a: &Vec3<S>, b: &Vec3<S>) -> Self {
        outlined!(S, {
            let [xx, yy, zz] = self.d;
            let [xy, xz, yz] = self.o;
            Self {
                d: [xx - a.x * b.x, yy - a.y * b.y, zz - a.z * b.z],
                o: [xy - a.x * b.y, xz - a.x * b.z, yz - a.y * b.z],
            }
        })
    }
}

impl<S: Scalar> Sym3<S> {
    /// Returns `∫x xᵀ dm` from the inertia `∫(x·x) 1 − x xᵀ dm`.
    #[inline]
    pub fn second_moment(&self) -> Mat3<S> {
        let half = self.trace() * S::lift(0.5);
        let mut P = -self.full();
        for i in 0..3 {
            P[(i, i)] += half;
        }
        P
    }
}

impl<C: Scalar> Sym3<C> {
    /// Returns a constant matrix of the model with entries of the scalar type `S`.
    #[inline(always)]
    pub fn lift<S: Scalar>(&self) -> Sym3<S>
    where
        C: Lift<S>,
    {
        let [xx, yy, zz] = self.d;
        let [xy, xz, yz] = self.o;
        Sym3 {
            d: [S::lift(xx), S::lift(yy), S::lift(zz)],
            o: [S::lift(xy), S::lift(xz), S::lift(yz)],
        }
    }
}

impl<S: Scalar> std::ops::Add for Sym3<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self {
            d: [self.d[0] + b.d[0], self.d[1] + b.d[1], self.d[2] + b.d[2]],
            o: [self.o[0] + b.o[0], self.o[1] + b.o[1], self.o[2] + b.o[2]],
        }
    }
}

impl<S: Scalar> std::ops::Sub for Sym3<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self {
            d: [self.d[0] - b.d[0], self.d[1] - b.d[1], self.d[2] - b.d[2]],
            o: [self.o[0] - b.o[0], self.o[1] - b.o[1], self.o[2] - b.o[2]],
        }
    }
}

impl<S: Scalar> std::ops::Mul<S> for Sym3<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, k: S) -> Self {
        Self {
            d: self.d.map(|x| x * k),
            o: self.o.map(|x| x * k),
        }
    }
}

/// Factors `L D Lᵀ` of a small symmetric positive definite matrix (N = 1 … 6), on the stack.
#[derive(Clone, Copy, Debug)]
pub struct SmallSpd<S, const N: usize> {
    /// Strict lower triangle of `L`; on the diagonal `1/D`.
    factors: [[S; N]; N],
}

impl<S: Scalar, const N: usize> SmallSpd<S, N> {
    /// Factors the lower triangle of `m`.
    ///
    /// # Errors
    /// The index of the pivot that vanishes: below `1e-14` of its diagonal entry (45 times the
    /// machine precision), negative, or NaN.
    #[inline(always)]
    pub fn factor(m: &[[S; N]; N]) -> Result<Self, usize> {
        let mut f = *m;
        spd::factor(f.as_flattened_mut(), N)?;
        Ok(Self { factors: f })
    }

    /// Returns the factors of the identity, as an initial value.
    pub fn identity() -> Self {
        let entry = |k, l| if k == l { S::one() } else { S::zero() };
        Self {
            factors: std::array::from_fn(|k| std::array::from_fn(|l| entry(k, l))),
        }
    }

    /// Returns the pivot `D_i`: the diagonal entry after elimination of the preceding rows.
    #[inline(always)]
    pub fn pivot(&self, i: usize) -> S {
        S::one() / self.factors[i][i]
    }

    /// Returns the solution `x` of `m x = b`.
    #[inline(always)]
    pub fn solve(&self, b: &[S; N]) -> [S; N] {
        outlined!(S, {
            let mut x = *b;
            spd::solve(self.factors.as_flattened(), &mut x);
            x
        })
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        products_equal_those_of_the_full_matrix,
        factors_solve_and_a_singular_matrix_names_its_pivot,
        second_moment_equals_the_sum_over_particles,
    ];

    const A: Sym3<f64> = Sym3 {
        d: [3.0, 4.0, 5.0],
        o: [0.5, -0.7, 0.9],
    };

    fn products_equal_those_of_the_full_matrix() {
        let v = Vec3::new(0.3, -0.8, 1.7);
        assert!((A.times(&v) - A.full() * v).norm() < 1e-15);
        let R = crate::algebra::Quaternion::new(0.6, -0.3, 0.5, 0.2).rotation();
        let off = A.express(&R).full() - R * A.full() * R.transpose();
        assert!(off.norm() < 1e-14);
        let point = Sym3::point_mass(2.0, &v).full() + v.cross_matrix() * v.cross_matrix() * 2.0;
        assert!(point.norm() < 1e-14);
    }

    fn factors_solve_and_a_singular_matrix_names_its_pivot() {
        let m = [
            [4.0, 0.0, 0.0, 0.0],
            [1.0, 5.0, 0.0, 0.0],
            [-0.5, 0.3, 3.0, 0.0],
            [0.7, -0.2, 0.4, 2.0],
        ];
        let b = [1.0, -2.0, 0.5, 3.0];
        let x = SmallSpd::factor(&m).expect("positive definite").solve(&b);
        for i in 0..4 {
            let row: f64 = (0..4).map(|j| if j <= i { m[i][j] } else { m[j][i] } * x[j]).sum();
            assert!((row - b[i]).abs() < 1e-14);
        }
        let singular = [[1.0, 0.0], [1.0, 1.0]];
        assert_eq!(SmallSpd::factor(&singular).map(|_| ()), Err(1));
        assert_eq!(SmallSpd::factor(&[[f64::NAN]]).map(|_| ()), Err(0));
    }

    fn second_moment_equals_the_sum_over_particles() {
        let particles = [
            (2.0, Vec3::new(0.3, -1.0, 0.7)),
            (0.5, Vec3::new(1.3, 0.4, -0.2)),
            (1.1, Vec3::new(-0.6, 0.9, 2.0)),
        ];
        let mut J = Sym3::zero();
        let mut P = Mat3::zeros();
        for (m, p) in particles {
            J = J + Sym3::point_mass(m, &p);
            P += p * p.transpose() * m;
        }
        assert!((J.second_moment() - P).norm() < 1e-14 * P.norm());
    }
}
