//! Symmetric generalised eigenproblem `K v = λ M v`.

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

/// Fraction of the largest `μ = 1/λ` below which a `μ` is round-off: such a mode has no inertia and
/// is omitted.
const NO_INERTIA: f64 = 1e-13;

/// An eigenvalue and its eigenvector, `vᵀ M v = 1`.
pub(super) struct Pair {
    pub lambda: f64,
    pub v: DVector<f64>,
}

/// Returns the `count` smallest eigenvalues with their eigenvectors, ascending, or all if there are
/// fewer.
///
/// `K` is factored, not `M`: in `L⁻¹ M L⁻ᵀ y = μ y`, `K = L Lᵀ`, the required modes have the
/// *largest* eigenvalues `μ = 1/λ`, which QR iterations compute to round-off. With `M` factored,
/// the required eigenvalues would be the smallest, eight decades or more below the largest, with a
/// corresponding loss of accuracy.
///
/// Rigid-body modes make `K` singular; then `K + σ M` is factored (`σ > 0`), which shifts every `λ`
/// by `σ` and keeps the eigenvectors. Returns `None` if the factored matrix is not positive
/// definite or the result not finite.
pub(super) fn lowest(K: &DMatrix<f64>, M: &DMatrix<f64>, sigma: f64, count: usize) -> Option<Vec<Pair>> {
    let L = Cholesky::new(K + M * sigma)?.unpack();
    let half = L.solve_lower_triangular(M)?;
    let A = L.solve_lower_triangular(&half.transpose())?;
    if A.iter().any(|a| !a.is_finite()) {
        // The QR iterations would not terminate.
        return None;
    }
    let eigen = SymmetricEigen::new(A);
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));

    let mut pairs: Vec<Pair> = Vec::with_capacity(count);
    let largest = eigen.eigenvalues[order[0]];
    let some = |i: &&usize| eigen.eigenvalues[**i] > NO_INERTIA * largest;
    for &i in order.iter().take_while(some).take(count) {
        let mut v = L.tr_solve_lower_triangular(&eigen.eigenvectors.column(i).clone_owned())?;
        // The round-off of the QR iterations is relative to the first mode. After orthogonalisation
        // against the lower modes, the Rayleigh quotient has an error of second order.
        for lower in &pairs {
            let part = lower.v.dot(&(M * &v));
            v.axpy(-part, &lower.v, 1.0);
        }
        let norm = v.dot(&(M * &v)).sqrt();
        v /= norm;
        let lambda = v.dot(&(K * &v));
        pairs.push(Pair { lambda, v });
    }
    Some(pairs)
}
