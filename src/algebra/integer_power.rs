/// Returns `x` to the power of `n` by repeated squaring. `f64::powi` is not used, since its result
/// depends on the compiler and its runtime library.
#[inline]
pub fn integer_power(x: f64, n: u32) -> f64 {
    let (mut square, mut left) = (x, n);
    let mut product = if n % 2 == 1 { x } else { 1.0 };
    while left > 1 {
        left /= 2;
        square *= square;
        if left % 2 == 1 {
            product *= square;
        }
    }
    product
}

/// Returns the square of `x`.
#[inline]
pub fn square(x: f64) -> f64 {
    x * x
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::integer_power;

    unit_tests![powers_of_whole_numbers_are_exact];

    fn powers_of_whole_numbers_are_exact() {
        for (x, n) in [(3.0, 0), (3.0, 1), (-3.0, 2), (3.0, 3), (-7.0, 9), (2.0, 60), (0.0, 4)] {
            let expected = (0..n).fold(1.0, |product, _| product * x);
            assert_eq!(integer_power(x, n), expected, "{x}^{n}");
        }
    }
}
