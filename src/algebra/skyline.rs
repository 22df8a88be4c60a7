//! `L D Lᵀ` factorisation of symmetric positive definite matrices whose rows begin with zeros, in place.
//!
//! The factors of a row begin with the same zeros (A. George and J. W. Liu, *Computer Solution of Large
//! Sparse Positive Definite Systems* (1981), chapter 4).

use super::Scalar;
use super::fused::plus_product;

/// Factors the symmetric positive definite matrix `m` (row-major; its lower triangle is read) as
/// [`spd::factor`](super::spd::factor) does; `first` is, for each row, the column of the first entry
/// that may not be zero.
///
/// # Errors
/// The index of the pivot that vanishes, by the rule of `spd::factor`.
pub fn factor<S: Scalar>(m: &mut [S], first: &[usize]) -> Result<(), usize> {
    let n = first.len();
    for j in 0..n {
        let (before, rest) = m.split_at_mut(j * n);
        let (row, below) = rest.split_at_mut(n);
        let (row, pivot) = row.split_at_mut(j);
        let diagonal = pivot[0];
        let mut left = diagonal;
        for (k, entry) in row.iter_mut().enumerate().skip(first[j]) {
            // It holds L_jk D_k until it is scaled here.
            let l = *entry * before[k * n + k];
            left = plus_product(left, l, *entry, -1.0);
            *entry = l;
        }
        let regular = left.value() > 1e-14 * diagonal.value();
        if !regular {
            return Err(j);
        }
        pivot[0] = S::one() / left;
        for (other, &first_of_other) in below.chunks_exact_mut(n).zip(&first[j + 1..]) {
            let from = first[j].max(first_of_other);
            if first_of_other > j || from == j {
                continue;
            }
            let (known, sum) = other.split_at_mut(j);
            let mut entry = sum[0];
            for (&known, &l) in known[from..].iter().zip(&row[from..]) {
                entry = plus_product(entry, known, l, -1.0);
            }
            sum[0] = entry;
        }
    }
    Ok(())
}

/// Solves `L D Lᵀ x = b` in place, with the factors of [`factor`].
pub fn solve<S: Scalar>(m: &[S], first: &[usize], b: &mut [S]) {
    let n = first.len();
    for i in 1..n {
        let (known, left) = b.split_at_mut(i);
        let row = &m[i * n..i * n + i];
        let known = known[first[i]..].iter().zip(&row[first[i]..]);
        left[0] = known.fold(left[0], |left, (&known, &l)| plus_product(left, known, l, -1.0));
    }
    for (i, b) in b.iter_mut().enumerate().take(n) {
        *b *= m[i * n + i];
    }
    for k in (1..n).rev() {
        let (left, known) = b.split_at_mut(k);
        let row = &m[k * n..k * n + k];
        for (left, &l) in left[first[k]..].iter_mut().zip(&row[first[k]..]) {
            *left = plus_product(*left, known[0], l, -1.0);
        }
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::super::spd;
    use super::*;
    use crate::larger::Larger;

    unit_tests![factors_and_solution_are_those_of_the_full_matrix];

    /// The factors of a block tridiagonal matrix have the bits of those without regard to its zeros, and
    /// the solution differs by round-off: its condition number is below 10.
    fn factors_and_solution_are_those_of_the_full_matrix() {
        let (n, block) = (15_usize, 3);
        let first: Vec<usize> = (0..n).map(|i| (i / block).saturating_sub(1) * block).collect();
        let entry = |i: usize, j: usize| match (i == j, first[i].max(first[j]) <= i.min(j)) {
            (true, _) => 4.0 + (i as f64).sin(),
            (false, true) => 0.4 * ((3 * i.max(j) + 7 * i.min(j)) as f64).cos(),
            (false, false) => 0.0,
        };
        let m: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n)).collect();
        let (mut full, mut own) = (m.clone(), m.clone());
        spd::factor(&mut full, n).expect("diagonally dominant");
        factor(&mut own, &first).expect("diagonally dominant");
        for i in 0..n {
            assert_eq!(full[i * n..=i * n + i], own[i * n..=i * n + i]);
        }
        let mut b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let mut expected = b.clone();
        spd::solve(&full, &mut expected);
        solve(&own, &first, &mut b);
        let off = b
            .iter()
            .zip(expected)
            .map(|(b, x)| (b - x).abs())
            .fold(0.0, f64::larger);
        assert!(off < 1e-15, "{off:e}");
        assert_eq!(factor(&mut [1.0, 2.0, 2.0, 4.0], &[0, 0]), Err(1));
    }
}
