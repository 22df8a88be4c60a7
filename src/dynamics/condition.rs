use crate::algebra::Scalar;
use nalgebra::{DMatrix, SymmetricEigen};

/// The condition number of a symmetric matrix: the ratio of its eigenvalues largest and smallest in size.
///
/// That of an empty matrix is one. Its derivatives, too, are exact: those of an eigenvalue `λ` with the eigenvector `v` of length one are `vᵀ dK v`.
pub fn condition<S: Scalar>(K: &DMatrix<S>) -> S {
    if K.is_empty() {
        return S::one();
    }
    // As many sweeps as any matrix of numbers needs, and no more.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_equations_there_is_nothing_to_lose() {
        assert_eq!(condition(&DMatrix::<f64>::zeros(0, 0)), 1.0);
        assert_eq!(
            condition(&DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![-4.0, 2.0]))),
            2.0
        );
    }
}
