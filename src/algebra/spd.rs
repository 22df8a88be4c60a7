//! `L D Lᵀ` factorisation of symmetric positive definite matrices, in place.

use super::Scalar;
use super::fused::plus_product;
use std::ops::{Mul, Sub};

/// Factors the symmetric positive definite matrix `m` (`n × n`, row-major; its lower triangle is
/// read) as `L D Lᵀ`, in place: below the diagonal are the entries of `L`, on it `1/D`.
///
/// # Errors
/// The index of the pivot that vanishes: below `1e-14` of its diagonal entry (45 times the machine
/// precision), negative, or NaN, in any lane.
#[inline(always)]
pub fn factor<S: Scalar>(m: &mut [S], n: usize) -> Result<(), usize> {
    for j in 0..n {
        let diagonal = m[j * n + j];
        let mut pivot = diagonal;
        for k in 0..j {
            // m[j][k] holds L_jk D_k until row j is scaled below.
            let l = m[j * n + k] * m[k * n + k];
            pivot = plus_product(pivot, l, m[j * n + k], -1.0);
            m[j * n + k] = l;
        }
        let regular = S::holds(pivot, diagonal, |pivot, diagonal| pivot > 1e-14 * diagonal);
        if !regular {
            return Err(j);
        }
        m[j * n + j] = S::one() / pivot;
        for i in j + 1..n {
            let mut sum = m[i * n + j];
            for k in 0..j {
                sum = plus_product(sum, m[i * n + k], m[j * n + k], -1.0);
            }
            m[i * n + j] = sum;
        }
    }
    Ok(())
}

/// Solves `L D Lᵀ x = b` in place, with the factors of [`factor`]. An element of `b` is a number,
/// or a row of several right-hand sides.
#[inline(always)]
pub fn solve<S: Scalar, Row: Copy + Sub<Output = Row> + Mul<S, Output = Row>>(m: &[S], b: &mut [Row]) {
    let n = b.len();
    for i in 1..n {
        for k in 0..i {
            b[i] = b[i] - b[k] * m[i * n + k];
        }
    }
    for i in (0..n).rev() {
        b[i] = b[i] * m[i * n + i];
        for k in i + 1..n {
            b[i] = b[i] - b[k] * m[k * n + i];
        }
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::larger::Larger;

    unit_tests![factors_invert_the_matrix, a_singular_matrix_names_its_pivot,];

    fn factors_invert_the_matrix() {
        let n = 4;
        let m: Vec<f64> = (0..16).map(|i| 1.0 / (1.0 + (i / n + i % n) as f64)).collect();
        let x = [0.3, -0.8, 1.7, 0.4];
        let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| m[i * n + j] * x[j]).sum()).collect();
        let mut factors = m;
        factor(&mut factors, n).expect("Hilbert's matrix is positive definite");
        solve(&factors, &mut b);
        let off = b.iter().zip(x).map(|(b, x)| (b - x).abs()).fold(0.0, f64::larger);
        assert!(off < 1e-11, "{off:e}"); // condition number 1.6e4
    }

    fn a_singular_matrix_names_its_pivot() {
        let mut m = [1.0, 2.0, 2.0, 4.0];
        assert_eq!(factor(&mut m, 2), Err(1));
    }
}
