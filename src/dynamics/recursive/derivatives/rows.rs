//! Many right-hand sides at once, side by side: loops that compilers turn into vector instructions.

use crate::algebra::{Twist, Vec3, Wrench};

/// How many columns stand side by side.
pub(super) const LANES: usize = 4;

/// A number for each of so many columns.
pub(super) type Lane = [f64; LANES];

/// A wrench or a motion for each of so many columns, about the tree's point.
pub(super) type Six = [Lane; 6];

/// A vector for each of so many columns.
pub(super) type Three = [Lane; 3];

/// The six numbers of a wrench, `t` before `f`.
#[inline(always)]
fn of_wrench(F: &Wrench<f64>) -> [f64; 6] {
    [F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z]
}

/// The six numbers of a motion, `w` before `v`.
#[inline(always)]
fn of_twist(A: &Twist<f64>) -> [f64; 6] {
    [A.w.x, A.w.y, A.w.z, A.v.x, A.v.y, A.v.z]
}

/// Adds a wrench in one column.
#[inline(always)]
pub(super) fn add_wrench(rows: &mut [Six], column: usize, F: &Wrench<f64>) {
    add(rows, column, of_wrench(F));
}

/// Adds a motion in one column.
#[inline(always)]
pub(super) fn add_twist(rows: &mut [Six], column: usize, A: &Twist<f64>) {
    add(rows, column, of_twist(A));
}

#[inline(always)]
fn add(rows: &mut [Six], column: usize, numbers: [f64; 6]) {
    let block = &mut rows[column / LANES];
    for (row, number) in block.iter_mut().zip(numbers) {
        row[column % LANES] += number;
    }
}

/// Writes a vector in one column.
#[inline(always)]
pub(super) fn set(rows: &mut [Three], column: usize, v: &Vec3<f64>) {
    let block = &mut rows[column / LANES];
    for (row, number) in block.iter_mut().zip(v.iter()) {
        row[column % LANES] = *number;
    }
}

/// `k += w·v`.
#[inline(always)]
pub(super) fn add_dots(k: &mut [Lane], w: &Vec3<f64>, v: &[Three]) {
    let [x, y, z] = [w.x, w.y, w.z];
    for (k, v) in k.iter_mut().zip(v) {
        for l in 0..LANES {
            k[l] += x * v[0][l] + y * v[1][l] + z * v[2][l];
        }
    }
}

/// `k −= m·rows` for the motion `m` of wrenches, or the wrench `m` of motions.
#[inline(always)]
fn subtract_powers(k: &mut [Lane], m: [f64; 6], rows: &[Six]) {
    for (k, row) in k.iter_mut().zip(rows) {
        for l in 0..LANES {
            let first = m[0] * row[0][l] + m[1] * row[1][l] + m[2] * row[2][l];
            k[l] -= first + (m[3] * row[3][l] + m[4] * row[4][l] + m[5] * row[5][l]);
        }
    }
}

/// `rows += m k`.
#[inline(always)]
fn spread(rows: &mut [Six], m: [f64; 6], k: &[Lane]) {
    for (row, k) in rows.iter_mut().zip(k) {
        for (row, m) in row.iter_mut().zip(m) {
            for l in 0..LANES {
                row[l] += m * k[l];
            }
        }
    }
}

/// `k −= T·p`.
pub(super) fn subtract_powers_on(k: &mut [Lane], T: &Twist<f64>, p: &[Six]) {
    subtract_powers(k, of_twist(T), p);
}

/// `k −= K·A`.
pub(super) fn subtract_powers_of(k: &mut [Lane], K: &Wrench<f64>, A: &[Six]) {
    subtract_powers(k, of_wrench(K), A);
}

/// `p += U k`.
pub(super) fn spread_wrench(p: &mut [Six], U: &Wrench<f64>, k: &[Lane]) {
    spread(p, of_wrench(U), k);
}

/// `A += T q̈`.
pub(super) fn spread_twist(A: &mut [Six], T: &Twist<f64>, qdd: &[Lane]) {
    spread(A, of_twist(T), qdd);
}

/// Inwards over one degree of freedom: `k = (k − S·p)/D`, `p += U k`.
pub(super) fn eliminate(k: &mut [Lane], p: &mut [Six], S: &Twist<f64>, per_D: f64, U: &Wrench<f64>) {
    let (S, U) = (of_twist(S), of_wrench(U));
    for (k, p) in k.iter_mut().zip(p) {
        for l in 0..LANES {
            let first = S[0] * p[0][l] + S[1] * p[1][l] + S[2] * p[2][l];
            k[l] = (k[l] - (first + (S[3] * p[3][l] + S[4] * p[4][l] + S[5] * p[5][l]))) * per_D;
        }
        for (p, U) in p.iter_mut().zip(U) {
            for l in 0..LANES {
                p[l] += U * k[l];
            }
        }
    }
}

/// Outwards over one degree of freedom: `q̈ = k − K·A`, `A += S q̈`.
pub(super) fn accelerate(k: &mut [Lane], A: &mut [Six], K: &Wrench<f64>, S: &Twist<f64>) {
    let (K, S) = (of_wrench(K), of_twist(S));
    for (k, A) in k.iter_mut().zip(A) {
        for l in 0..LANES {
            let first = K[0] * A[0][l] + K[1] * A[1][l] + K[2] * A[2][l];
            k[l] -= first + (K[3] * A[3][l] + K[4] * A[4][l] + K[5] * A[5][l]);
        }
        for (A, S) in A.iter_mut().zip(S) {
            for l in 0..LANES {
                A[l] += S * k[l];
            }
        }
    }
}

/// `to += a from`.
#[inline(always)]
pub(super) fn add_multiple(to: &mut [Lane], a: f64, from: &[Lane]) {
    for (to, from) in to.iter_mut().zip(from) {
        for l in 0..LANES {
            to[l] += a * from[l];
        }
    }
}
