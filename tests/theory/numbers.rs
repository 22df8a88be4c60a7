//! Evaluation of lists of numbers in tests.

pub use crate::larger::Larger;

/// Formats numbers with two digits.
pub fn few(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:.1e}")).collect();
    numbers.join(", ")
}

/// Returns the orders of convergence of errors; each error belongs to half the step of the one
/// before.
pub fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

/// Returns `‖a − b‖`.
pub fn distance<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Returns `‖a − b‖ / ‖b‖`.
pub fn relative_distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}
