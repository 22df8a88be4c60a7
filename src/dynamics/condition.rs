use crate::algebra::Scalar;
use nalgebra::{DMatrix, SymmetricEigen};

/// The condition number of a symmetric matrix: the ratio of its eigenvalues largest and smallest in size.
///
/// Its derivatives, too, are exact: those of an eigenvalue `λ` with the eigenvector `v` of length one are `vᵀ dK v`.
pub fn condition<S: Scalar>(K: &DMatrix<S>) -> S {
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
