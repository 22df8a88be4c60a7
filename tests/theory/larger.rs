//! Maximum with NaN propagation, for the tests of the theory, the FMU and the library itself.

/// Maximum with NaN propagation.
pub trait Larger {
    /// Returns the larger of two, or NaN if one is: `f64::max` ignores NaN and would hide an error.
    fn larger(self, other: Self) -> Self;
}

impl Larger for f64 {
    fn larger(self, other: f64) -> f64 {
        if self > other || self.is_nan() { self } else { other }
    }
}

#[test]
fn nan_is_larger_than_any_number() {
    let all = [1.0, f64::NAN, 2.0];
    assert!(all.into_iter().fold(0.0, f64::larger).is_nan());
    assert_eq!([1.0, 3.0, 2.0].into_iter().fold(0.0, f64::larger), 3.0);
}
