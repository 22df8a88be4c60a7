//! The coefficients of RADAU5 satisfy the simplifying conditions, HW IV.5.

use super::super::radau5::{ALPHA, BETA, C, ERROR, GAMMA, T, T_INVERSE};
use crate::larger::Larger;
use nalgebra::Matrix3;

unit_tests![
    transformation_and_inverse_are_consistent,
    the_stages_are_collocation_of_order_three_and_the_step_of_order_five,
    error_estimate_has_exactly_order_three,
];

fn matrix(rows: [[f64; 3]; 3]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| rows[i][j])
}

/// Returns the method's matrix `A`, computed from the coefficients in the code.
fn method() -> Matrix3<f64> {
    let blocks = matrix([[GAMMA, 0.0, 0.0], [0.0, ALPHA, -BETA], [0.0, BETA, ALPHA]]);
    let inverse = matrix(T) * blocks * matrix(T_INVERSE);
    inverse.try_inverse().expect("regular")
}

/// Round-off of sums of a few numbers near one.
const ROUND_OFF: f64 = 10.0 * f64::EPSILON;

fn transformation_and_inverse_are_consistent() {
    let error = (matrix(T) * matrix(T_INVERSE) - Matrix3::identity()).abs().max();
    println!("‖T T⁻¹ − 1‖ = {error:.1e}");
    assert!(error < 10.0 * f64::EPSILON);
}

fn the_stages_are_collocation_of_order_three_and_the_step_of_order_five() {
    let a = method();
    let power = |c: f64, k: i32| c.powi(k);
    let mut worst: f64 = 0.0;
    for k in 1..=5 {
        // B(5): Σ bⱼ cⱼᵏ⁻¹ = 1/k, with b the last row of A (stiffly accurate).
        let sum: f64 = (0..3).map(|j| a[(2, j)] * power(C[j], k - 1)).sum();
        worst = worst.larger((sum - 1.0 / f64::from(k)).abs());
    }
    for k in 1..=3 {
        for i in 0..3 {
            // C(3): Σ aᵢⱼ cⱼᵏ⁻¹ = cᵢᵏ/k.
            let sum: f64 = (0..3).map(|j| a[(i, j)] * power(C[j], k - 1)).sum();
            worst = worst.larger((sum - power(C[i], k) / f64::from(k)).abs());
        }
    }
    for k in 1..=2 {
        for j in 0..3 {
            // D(2): Σ bᵢ cᵢᵏ⁻¹ aᵢⱼ = bⱼ (1 − cⱼᵏ)/k.
            let sum: f64 = (0..3).map(|i| a[(2, i)] * power(C[i], k - 1) * a[(i, j)]).sum();
            worst = worst.larger((sum - a[(2, j)] * (1.0 - power(C[j], k)) / f64::from(k)).abs());
        }
    }
    println!("B(5), C(3), D(2): largest error {worst:.1e}");
    assert!(worst < ROUND_OFF);
    let sixth: f64 = (0..3).map(|j| a[(2, j)] * power(C[j], 5)).sum();
    assert!((sixth - 1.0 / 6.0).abs() > 1e-4, "order 5 and no more");
}

fn error_estimate_has_exactly_order_three() {
    // For x = tᵏ the stages are zᵢ = cᵢᵏ and the derivative at the start is 1 or 0.
    let estimate = |k: i32| f64::from(k == 1) + (0..3).map(|i| ERROR[i] * C[i].powi(k)).sum::<f64>();
    let values = [1, 2, 3, 4].map(estimate);
    println!("estimates of t, t², t³, t⁴: {values:?}");
    assert!(values[..3].iter().all(|value| value.abs() < ROUND_OFF) && values[3].abs() > 0.01);
}
