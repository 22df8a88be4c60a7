//! Products of vectors and matrices as few operations of a record
//! ([`Scalar::sum_of_products`]). For other scalars they are those of nalgebra. The values are the
//! same to the last bit, so that differences which are zero are zero in a record too.

use super::{Mat3, Scalar, Vec3};

/// Returns `a·b`.
#[inline(always)]
pub(crate) fn dot<S: Scalar>(a: &Vec3<S>, b: &Vec3<S>) -> S {
    if !S::FUSES {
        return a.dot(b);
    }
    fused_dot([a.x, a.y, a.z], b)
}

/// Returns `sum + k a b` for `k` = 1 or −1.
#[inline(always)]
pub(crate) fn plus_product<S: Scalar>(sum: S, a: S, b: S, k: f64) -> S {
    if !S::FUSES {
        return if k > 0.0 { sum + a * b } else { sum - a * b };
    }
    S::sum_of_products([(sum, S::one(), 1.0), (a, b, k)])
}

/// Returns `a × b`.
#[inline(always)]
pub(crate) fn cross<S: Scalar>(a: &Vec3<S>, b: &Vec3<S>) -> Vec3<S> {
    if !S::FUSES {
        return a.cross(b);
    }
    fused_cross(a, b)
}

/// Returns `p + a × b`.
#[inline(always)]
pub(crate) fn plus_cross<S: Scalar>(p: &Vec3<S>, a: &Vec3<S>, b: &Vec3<S>) -> Vec3<S> {
    if !S::FUSES {
        return p + a.cross(b);
    }
    fused_plus_cross(p, a, b)
}

/// Returns `A v`.
#[inline(always)]
pub(crate) fn rotated<S: Scalar>(A: &Mat3<S>, v: &Vec3<S>) -> Vec3<S> {
    if !S::FUSES {
        return A * v;
    }
    fused_product::<S, false>(A, v)
}

/// Returns `Aᵀ v`.
#[inline(always)]
pub(crate) fn rotated_back<S: Scalar>(A: &Mat3<S>, v: &Vec3<S>) -> Vec3<S> {
    if !S::FUSES {
        return A.tr_mul(v);
    }
    fused_product::<S, true>(A, v)
}

/// Returns `A B`.
#[inline(always)]
pub(crate) fn product<S: Scalar>(A: &Mat3<S>, B: &Mat3<S>) -> Mat3<S> {
    if !S::FUSES {
        return A * B;
    }
    Mat3::from_columns(&[0, 1, 2].map(|k| fused_product::<S, false>(A, &B.column(k).into_owned())))
}

/// Returns `Aᵀ B`.
#[inline(always)]
pub(crate) fn product_back<S: Scalar>(A: &Mat3<S>, B: &Mat3<S>) -> Mat3<S> {
    if !S::FUSES {
        return A.tr_mul(B);
    }
    Mat3::from_columns(&[0, 1, 2].map(|k| fused_product::<S, true>(A, &B.column(k).into_owned())))
}

/// Returns true for the constant zero.
#[inline(always)]
fn is_zero<S: Scalar>(v: &Vec3<S>) -> bool {
    v.x.is_zero() & v.y.is_zero() & v.z.is_zero()
}

#[inline(never)]
fn fused_dot<S: Scalar>(a: [S; 3], b: &Vec3<S>) -> S {
    sum(a, b)
}

#[inline(always)]
fn sum<S: Scalar>(a: [S; 3], b: &Vec3<S>) -> S {
    S::sum_of_products([(a[0], b.x, 1.0), (a[1], b.y, 1.0), (a[2], b.z, 1.0)])
}

#[inline(never)]
fn fused_product<S: Scalar, const IS_TRANSPOSED: bool>(A: &Mat3<S>, v: &Vec3<S>) -> Vec3<S> {
    if is_zero(v) {
        return *v;
    }
    let row = |i: usize| [0, 1, 2].map(|k| if IS_TRANSPOSED { A[(k, i)] } else { A[(i, k)] });
    Vec3::new(sum(row(0), v), sum(row(1), v), sum(row(2), v))
}

#[inline(never)]
fn fused_cross<S: Scalar>(a: &Vec3<S>, b: &Vec3<S>) -> Vec3<S> {
    let part = |i: usize, k: usize| S::sum_of_products([(a[i], b[k], 1.0), (a[k], b[i], -1.0)]);
    Vec3::new(part(1, 2), part(2, 0), part(0, 1))
}

#[inline(never)]
fn fused_plus_cross<S: Scalar>(p: &Vec3<S>, a: &Vec3<S>, b: &Vec3<S>) -> Vec3<S> {
    if is_zero(a) || is_zero(b) {
        return *p;
    }
    let one = S::one();
    let part =
        |j: usize, i: usize, k: usize| S::sum_of_products([(a[i], b[k], 1.0), (a[k], b[i], -1.0), (p[j], one, 1.0)]);
    Vec3::new(part(0, 1, 2), part(1, 2, 0), part(2, 0, 1))
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::algebra::{Dual, Quaternion, Recorded, Tape};

    unit_tests![fused_products_have_the_derivatives_of_the_operations];

    /// Numbers `p`, `A` and `B`: 3 + 9 + 9.
    const NUMBERS: usize = 21;

    /// All products of vectors, matrices and quaternions that are made of the numbers; some of the
    /// factors are constants.
    fn products<S: Scalar>(x: &[S]) -> Vec<S> {
        let (p, a, b) = (vector(&x[0..3]), vector(&x[3..6]), vector(&x[12..15]));
        let (A, B) = (Mat3::from_column_slice(&x[3..12]), Mat3::from_column_slice(&x[12..21]));
        let constant = Vec3::new(S::zero(), S::one(), S::lift(-0.7));
        let (q, r) = (Quaternion::from_slice(&x[3..7]), Quaternion::from_slice(&x[12..16]));
        let mut all = vec![
            plus_product(p.x, a.x, b.y, 1.0),
            plus_product(p.x, a.x, b.y, -1.0),
            dot(&a, &b),
            dot(&a, &a),
            dot(&a, &constant),
            q.norm_squared(),
        ];
        all.extend((q * r).to_array());
        for v in [
            cross(&a, &b),
            cross(&constant, &b),
            plus_cross(&p, &a, &b),
            plus_cross(&constant, &a, &constant),
            rotated(&A, &b),
            rotated(&A, &constant),
            rotated_back(&A, &b),
        ] {
            all.extend(v.iter());
        }
        all.extend(product(&A, &B).iter());
        all.extend(product_back(&A, &B).iter());
        all
    }

    fn vector<S: Scalar>(x: &[S]) -> Vec3<S> {
        Vec3::from_column_slice(x)
    }

    /// The fused operations of a record have the derivatives of dual numbers, which do not fuse.
    fn fused_products_have_the_derivatives_of_the_operations() {
        let values: [f64; NUMBERS] = std::array::from_fn(|k| (k as f64 * 1.7 + 0.3).sin());
        let dual = products(&std::array::from_fn::<_, NUMBERS, _>(|k| {
            let mut eps = [0.0; NUMBERS];
            eps[k] = 1.0;
            Dual::<NUMBERS>::new(values[k], eps)
        }));
        let variables: [Recorded; NUMBERS] = std::array::from_fn(|k| Recorded::variable(values[k], k));
        let mut tape = Tape::default();
        for (i, dual) in dual.iter().enumerate() {
            let recorded = tape.record(NUMBERS, || products(&variables));
            assert_eq!(recorded[i].value(), dual.re, "product {i}");
            tape.seed(recorded[i], 1.0);
            tape.sweep(0);
            for k in 0..NUMBERS {
                let error = (tape.adjoint(k) - dual.eps[k]).abs();
                assert!(error < 1e-15, "product {i}, number {k}: {error:e}");
            }
        }
    }
}
