//! The symmetric generalized eigenproblem `K v = λ M v`.

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

/// Eigenvalues of `M` against `K` below this part of the largest one are round-off: there is no inertia behind them.
const NOTHING: f64 = 1e-13;

/// An eigenvalue with its vector, `vᵀ M v = 1`.
pub(super) struct Pair {
    pub lambda: f64,
    pub v: DVector<f64>,
}

/// The pairs with the smallest eigenvalues, ascending, `count` of them or as many as there are.
///
/// `K` is factored, not `M`: in `L⁻¹ M L⁻ᵀ y = μ y`, `K = L Lᵀ`, the wanted modes are those with the *largest*
/// eigenvalues `μ = 1/λ`, which QR iterations find to round-off. With `M` factored they would be the smallest, eight
/// decades or more below the largest one, and as many digits would be gone.
///
/// Rigid modes make `K` singular; then `K + σ M` is factored instead (`σ > 0`), which moves every `λ` by `σ` and
/// leaves the vectors. `None` if that has no factors, or is not finite.
pub(super) fn lowest(K: &DMatrix<f64>, M: &DMatrix<f64>, sigma: f64, count: usize) -> Option<Vec<Pair>> {
    let L = Cholesky::new(K + M * sigma)?.unpack();
    let half = L.solve_lower_triangular(M)?;
    let A = L.solve_lower_triangular(&half.transpose())?;
    if A.iter().any(|a| !a.is_finite()) {
        // The QR iterations would not end.
        return None;
    }
    let eigen = SymmetricEigen::new(A);
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));

    let mut pairs: Vec<Pair> = Vec::with_capacity(count);
    let largest = eigen.eigenvalues[order[0]];
    let some = |i: &&usize| eigen.eigenvalues[**i] > NOTHING * largest;
    for &i in order.iter().take_while(some).take(count) {
        let mut v = L.tr_solve_lower_triangular(&eigen.eigenvectors.column(i).clone_owned())?;
        // The QR iterations' round-off is relative to the first mode. Made orthogonal to the lower modes, v gives by
        // Rayleigh's quotient an eigenvalue whose error is of second order.
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
