//! Operations on all columns (right-hand sides) at once, in loops that compilers vectorise.

use crate::algebra::{Twist, Vec3, Wrench};

/// Number of columns in a block.
pub(super) const LANES: usize = 4;

/// One number for each column of a block.
pub(super) type Lane = [f64; LANES];

/// A wrench or a motion for each column of a block, about the tree's point.
pub(super) type Six = [Lane; 6];

/// A vector for each column of a block.
pub(super) type Three = [Lane; 3];

/// Returns the six components of a wrench, `t` before `f`.
#[inline(always)]
fn of_wrench(F: &Wrench<f64>) -> [f64; 6] {
    [F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z]
}

/// Returns the six components of a motion, `w` before `v`.
#[inline(always)]
fn of_twist(A: &Twist<f64>) -> [f64; 6] {
    [A.w.x, A.w.y, A.w.z, A.v.x, A.v.y, A.v.z]
}

/// Adds a wrench to one column.
#[inline(always)]
pub(super) fn add_wrench(rows: &mut [Six], column: usize, F: &Wrench<f64>) {
    add(rows, column, of_wrench(F));
}

/// Adds a motion to one column.
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

/// Writes a vector to one column.
#[inline(always)]
pub(super) fn set(rows: &mut [Three], column: usize, v: &Vec3<f64>) {
    let block = &mut rows[column / LANES];
    for (row, number) in block.iter_mut().zip(v.iter()) {
        row[column % LANES] = *number;
    }
}

/// Computes `k += w·v`.
#[inline(never)]
pub(super) fn add_dots(k: &mut [Lane], w: &Vec3<f64>, v: &[Three]) {
    let w = [w.x, w.y, w.z];
    for (k, v) in k.iter_mut().zip(v) {
        let mut sum = *k;
        for (w, v) in w.iter().zip(v) {
            for l in 0..LANES {
                sum[l] += w * v[l];
            }
        }
        *k = sum;
    }
}

/// Returns `m·row` for each column of a block.
#[inline(always)]
fn power(m: &[f64; 6], row: &Six) -> Lane {
    let mut sum = [0.0; LANES];
    for (m, row) in m.iter().zip(row) {
        for l in 0..LANES {
            sum[l] += m * row[l];
        }
    }
    sum
}

/// Computes `row += m k`.
#[inline(always)]
fn spread(row: &mut Six, m: &[f64; 6], k: &Lane) {
    for (row, m) in row.iter_mut().zip(m) {
        for l in 0..LANES {
            row[l] += m * k[l];
        }
    }
}

/// Computes `k −= m·rows`, for a motion `m` and wrenches, or a wrench `m` and motions.
#[inline(always)]
fn subtract_powers(k: &mut [Lane], m: [f64; 6], rows: &[Six]) {
    for (k, row) in k.iter_mut().zip(rows) {
        let power = power(&m, row);
        for l in 0..LANES {
            k[l] -= power[l];
        }
    }
}

/// Computes `k −= T·p`.
pub(super) fn subtract_powers_on(k: &mut [Lane], T: &Twist<f64>, p: &[Six]) {
    subtract_powers(k, of_twist(T), p);
}

/// Computes `k −= K·A`.
pub(super) fn subtract_powers_of(k: &mut [Lane], K: &Wrench<f64>, A: &[Six]) {
    subtract_powers(k, of_wrench(K), A);
}

/// Computes `p += U k`.
pub(super) fn spread_wrench(p: &mut [Six], U: &Wrench<f64>, k: &[Lane]) {
    let U = of_wrench(U);
    p.iter_mut().zip(k).for_each(|(p, k)| spread(p, &U, k));
}

/// Computes `A += T q̈`.
pub(super) fn spread_twist(A: &mut [Six], T: &Twist<f64>, qdd: &[Lane]) {
    let T = of_twist(T);
    A.iter_mut().zip(qdd).for_each(|(A, qdd)| spread(A, &T, qdd));
}

/// Computes the backward pass over one degree of freedom: `k = (k − S·p)/D`, `p += U k`.
#[inline(never)]
pub(super) fn eliminate(k: &mut [Lane], p: &mut [Six], S: &Twist<f64>, per_D: f64, U: &Wrench<f64>) {
    let (S, U) = (of_twist(S), of_wrench(U));
    for (k, p) in k.iter_mut().zip(p) {
        let power = power(&S, p);
        let mut x = *k;
        for l in 0..LANES {
            x[l] = (x[l] - power[l]) * per_D;
        }
        *k = x;
        spread(p, &U, &x);
    }
}

/// Computes the forward pass over one degree of freedom: `q̈ = k − K·A`, which replaces `k`, and
/// `A += S q̈`.
#[inline(never)]
pub(super) fn accelerate(k: &mut [Lane], A: &mut [Six], K: &Wrench<f64>, S: &Twist<f64>) {
    let (K, S) = (of_wrench(K), of_twist(S));
    for (k, A) in k.iter_mut().zip(A) {
        let power = power(&K, A);
        let mut x = *k;
        for l in 0..LANES {
            x[l] -= power[l];
        }
        *k = x;
        spread(A, &S, &x);
    }
}

/// Computes `to += a from`.
#[inline(always)]
pub(super) fn add_multiple(to: &mut [Lane], a: f64, from: &[Lane]) {
    for (to, from) in to.iter_mut().zip(from) {
        for l in 0..LANES {
            to[l] += a * from[l];
        }
    }
}
