//! LU factorisation and solution.

use super::super::lu::Lu;
use crate::algebra::integer_power;
use crate::larger::Larger;
use nalgebra::{Complex, ComplexField};

unit_tests![
    a_linear_system_is_solved_to_round_off,
    a_mechanism_s_coordinates_are_eliminated_first,
    singular_matrix_is_rejected_and_the_solver_stays_usable,
];

/// Returns a generator of pseudo-random numbers between −1 and 1.
fn chance(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Solves `(shift − 0.3 J) x = b` with random `J` and `b`; returns the largest residual of a row
/// relative to the sum of its terms' magnitudes, in units of `ε`.
fn residual<S: ComplexField<RealField = f64> + Copy>(shift: S, n: usize, seed: u64) -> f64 {
    let mut next = chance(seed);
    let jacobian: Vec<f64> = (0..n * n).map(|_| next()).collect();
    residual_with(&jacobian, shift, 0, &mut Lu::new(n), &mut next)
}

/// Returns the residual of [`residual`] with this `J` and a random `b`. The first unknowns are
/// rounded relative to the terms of their own equations, which `shift` dominates.
fn residual_with<S: ComplexField<RealField = f64> + Copy>(
    jacobian: &[f64],
    shift: S,
    first: usize,
    lu: &mut Lu<S>,
    next: &mut impl FnMut() -> f64,
) -> f64 {
    let n = jacobian.len().isqrt();
    let b: Vec<S> = (0..n).map(|_| S::from_real(next())).collect();
    let mut x = b.clone();
    lu.factor(shift, -0.3, jacobian).expect("regular");
    lu.solve(&mut x);
    let mut worst: f64 = 0.0;
    for i in 0..n {
        let (mut sum, mut size) = (S::zero() - b[i], b[i].norm1());
        for j in 0..n {
            let diagonal = if i == j { shift } else { S::zero() };
            let entry = diagonal + S::from_real(-0.3 * jacobian[j * n + i]);
            let own = match j < first {
                true => (0..n).fold(b[j].norm1(), |sum, k| {
                    sum + (0.3 * jacobian[k * n + j] * x[k].norm1()).abs()
                }),
                false => 0.0,
            };
            let (term, rounded) = (entry * x[j], entry.norm1() * own / shift.norm1());
            (sum, size) = (sum + term, size + term.norm1() + rounded);
        }
        worst = worst.larger(sum.norm1() / size);
    }
    worst / f64::EPSILON
}

fn a_linear_system_is_solved_to_round_off() {
    for n in [1, 2, 3, 8, 31] {
        for seed in 0..20 {
            // A zero shift makes row exchanges necessary.
            let real = residual(0.0, n, seed).max(residual(2.0, n, seed + 100));
            let complex = residual(Complex::new(0.1, 0.7), n, seed + 200);
            println!("n = {n}: residuals {real:.1} and {complex:.1} units of round-off");
            // In practice the residual of Gaussian elimination is at most n ε (Golub and Van Loan,
            // section 3.4.6).
            assert!(real < 3.0 + n as f64 && complex < 3.0 + n as f64);
        }
    }
}

/// Jacobians of mechanisms: coordinates with the rates as derivatives, or attitudes with four
/// components; stiffness up to 10¹⁰/s². The first rows are eliminated without exchanges.
fn a_mechanism_s_coordinates_are_eliminated_first() {
    for seed in 0..60 {
        let mut next = chance(seed);
        let (attitudes, rates) = (seed as usize % 4, 3 * (seed as usize % 4) + 1 + seed as usize % 17);
        let coordinates = rates + attitudes;
        let n = coordinates + rates;
        let mut jacobian = vec![0.0; n * n];
        let mut entry = |row: usize, column: usize, value: f64| jacobian[column * n + row] = value;
        for attitude in 0..attitudes {
            let (q, w) = (4 * attitude, coordinates + 3 * attitude);
            for row in q..q + 4 {
                (q..q + 4)
                    .filter(|column| *column != row)
                    .for_each(|column| entry(row, column, 0.5 * next()));
                (w..w + 3).for_each(|column| entry(row, column, 0.5 * next()));
            }
        }
        for k in 4 * attitudes..coordinates {
            entry(k, k + rates, 1.0);
        }
        let stiffness = integer_power(10.0, seed as u32 % 11);
        for row in coordinates..n {
            (0..coordinates).for_each(|column| entry(row, column, stiffness * next()));
            (coordinates..n).for_each(|column| entry(row, column, next()));
        }
        let (mut real, mut complex) = (Lu::new(n), Lu::new(n));
        let shift = 30.0;
        let of_real = residual_with(&jacobian, shift, coordinates, &mut real, &mut next);
        let of_complex = residual_with(
            &jacobian,
            Complex::new(shift, 0.8 * shift),
            coordinates,
            &mut complex,
            &mut next,
        );
        println!("{n} states: residuals {of_real:.1} and {of_complex:.1} units of round-off");
        assert!(real.leading_count() >= coordinates && complex.leading_count() >= coordinates);
        assert!(of_real < 3.0 + n as f64 && of_complex < 3.0 + n as f64);
    }
}

fn singular_matrix_is_rejected_and_the_solver_stays_usable() {
    let mut lu = Lu::new(2);
    assert!(lu.factor(0.0, 1.0, &[1.0, 2.0, 2.0, 4.0]).is_err());
    assert!(lu.factor(f64::NAN, 1.0, &[1.0; 4]).is_err());
    assert!(lu.factor(0.0, 1.0, &[0.0, 2.0, 4.0, 0.0]).is_ok());
    let mut b = [8.0, 6.0];
    lu.solve(&mut b);
    assert_eq!(b, [3.0, 2.0]);
}
