//! Loops over states, four at a time.
//!
//! The sums of four states stay in registers while a whole row of a tableau is added. The summation
//! order of a state is fixed, so that its result does not depend on the number of states.

use super::tableau::Row;

/// Number of states in a block. With 20 states on plain x86-64 (SSE2), blocks of 8 are slower than
/// of 4: more states remain outside the blocks.
const LANES: usize = 4;

/// Computes `out = x0 + h Σ aⱼ kⱼ`; `k` holds the derivatives of the stages consecutively.
pub(super) fn advance(out: &mut [f64], x0: &[f64], h: f64, row: Row, k: &[f64]) {
    let n = out.len();
    let (fours, rest) = out.as_chunks_mut::<LANES>();
    let (x0_fours, x0_rest) = x0.as_chunks::<LANES>();
    let rest_at = LANES * fours.len();
    for (i, (out, x0)) in fours.iter_mut().zip(x0_fours).enumerate() {
        *out = advanced(x0, h, row, k, n, LANES * i);
    }
    for (i, (out, x0)) in rest.iter_mut().zip(x0_rest).enumerate() {
        [*out] = advanced(&[*x0], h, row, k, n, rest_at + i);
    }
}

/// Returns `x₀ + h Σ aⱼ kⱼ` for the `L` states from index `at`; `n` is the number of states.
fn advanced<const L: usize>(x0: &[f64; L], h: f64, row: Row, k: &[f64], n: usize, at: usize) -> [f64; L] {
    let mut sum = [0.0; L];
    for &(j, a) in row {
        let stage = &k[j * n + at..][..L];
        for (sum, k) in sum.iter_mut().zip(stage) {
            *sum += a * k;
        }
    }
    std::array::from_fn(|l| x0[l] + h * sum[l])
}

/// Returns the Euclidean norm of the ratios `vᵢ / scᵢ`.
pub(super) fn euclidean_norm(v: &[f64], scale: &[f64]) -> f64 {
    let squares = v.iter().zip(scale).map(|(v, sc)| (v / sc) * (v / sc));
    squares.sum::<f64>().sqrt()
}

/// Returns the maximum norm, the largest `|vᵢ| / scᵢ`; zero without states, infinite if a ratio is
/// NaN.
///
/// It replaces the root mean square of HNW II.4 (4.11), with which states at rest, such as those of
/// a target before its capture, would loosen the tolerance of the others, such as those of the arm.
/// Formulations with different numbers of states so have equal accuracy.
pub(super) fn max_norm(v: &[f64], scale: &[f64]) -> f64 {
    let (v_fours, v_rest) = v.as_chunks::<LANES>();
    let (sc_fours, sc_rest) = scale.as_chunks::<LANES>();
    let mut largest = [0.0; LANES];
    for (v, sc) in v_fours.iter().zip(sc_fours) {
        for l in 0..LANES {
            largest[l] = larger(largest[l], v[l].abs() / sc[l]);
        }
    }
    let rest = v_rest.iter().zip(sc_rest).map(|(v, sc)| v.abs() / sc);
    rest.chain(largest).fold(0.0, larger)
}

/// Returns the larger of `a` and `b`; infinity if `b` is NaN. `a` must not be NaN.
fn larger(a: f64, b: f64) -> f64 {
    let b = if b.is_nan() { f64::INFINITY } else { b };
    if b > a { b } else { a }
}

/// Returns the index of the largest `|vᵢ| / scᵢ`, the first if several are equal; zero without
/// states.
pub(super) fn worst(v: &[f64], scale: &[f64]) -> usize {
    let ratios = v.iter().zip(scale).map(|(v, sc)| v.abs() / sc);
    let mut worst = (0, 0.0);
    for (i, ratio) in ratios.enumerate() {
        if larger(worst.1, ratio) > worst.1 {
            worst = (i, larger(worst.1, ratio));
        }
    }
    worst.0
}

/// Returns the index of the first component that is not finite.
pub(super) fn first_not_finite(v: &[f64]) -> Option<usize> {
    let (fours, rest) = v.as_chunks::<LANES>();
    // 0 · v is 0 for finite v, otherwise NaN.
    let mut zero = [0.0; LANES];
    for v in fours {
        for l in 0..LANES {
            zero[l] += 0.0 * v[l];
        }
    }
    let sum: f64 = rest.iter().map(|v| 0.0 * v).chain(zero).sum();
    if sum == 0.0 {
        return None;
    }
    v.iter().position(|v| !v.is_finite())
}
