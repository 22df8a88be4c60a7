use crate::algebra::Scalar;
use nalgebra::{DMatrix, SymmetricEigen};

/// Returns the condition number of a symmetric matrix: the ratio of the largest to the smallest
/// absolute eigenvalue; one for an empty matrix.
///
/// Derivatives are exact: `dλ = vᵀ dK v` for an eigenvalue `λ` with the unit eigenvector `v`.
pub fn condition<S: Scalar>(K: &DMatrix<S>) -> S {
    if K.is_empty() {
        return S::one();
    }
    // Only matrices with entries that are not finite reach the limit of iterations.
    let Some(eigen) = SymmetricEigen::try_new(K.map(S::value), f64::EPSILON, 100 * K.nrows()) else {
        return S::lift(f64::NAN);
    };
    let sizes = eigen.eigenvalues.map(f64::abs);
    let eigenvalue = |i: usize| {
        let v = eigen.eigenvectors.column(i).map(S::lift);
        v.dot(&(K * &v))
    };
    let ratio = eigenvalue(sizes.imax()) / eigenvalue(sizes.imin());
    if ratio.value() < 0.0 { -ratio } else { ratio }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![condition_of_an_empty_and_a_diagonal_matrix];

    fn condition_of_an_empty_and_a_diagonal_matrix() {
        assert_eq!(condition(&DMatrix::<f64>::zeros(0, 0)), 1.0);
        assert_eq!(
            condition(&DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![-4.0, 2.0]))),
            2.0
        );
    }
}
