//! Real numbers as attributes.

use serde::Serializer;

/// Returns the shortest decimal text that reads back to the same number. Magnitudes below 10⁻⁴ and
/// from 10⁹ on have an exponent, since most of their plain digits would be zeros.
pub(crate) fn text(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e9).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// Writes a number, or returns an error if it is not finite. `to_xml` checks this before and names
/// the attribute.
pub(crate) fn plain<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_str(&text(*value))
    } else {
        Err(serde::ser::Error::custom(format_args!(
            "{value} is not a finite number"
        )))
    }
}

/// Writes an optional number. The fields' serde attributes skip `None` before this call.
pub(crate) fn optional<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => plain(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// Returns the schema's default of a factor.
pub(crate) fn one() -> f64 {
    1.0
}

/// Returns true if a factor is the schema's default, which serde then does not write.
pub(crate) fn is_one(value: &f64) -> bool {
    *value == one()
}

/// Returns true if an offset is the schema's default, which serde then does not write.
pub(crate) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn numbers_are_shortest_and_have_an_exponent_only_when_far_from_one() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e-4, "0.0001"),
            (9.999e-5, "9.999e-5"),
            (999_999_999.0, "999999999"),
            (1e9, "1e9"),
            (2.1e11, "2.1e11"),
            (3.986_004_418e14, "3.986004418e14"),
            (6.6743e-11, "6.6743e-11"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    #[test]
    fn text_round_trip_is_bit_identical() {
        // Numbers of all magnitudes from a linear congruential generator (Knuth's MMIX constants).
        let mut bits: u64 = 20_240_601;
        for _ in 0..10_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(bits);
            if value.is_finite() {
                assert_eq!(text(value).parse::<f64>().map(f64::to_bits), Ok(bits));
            }
        }
    }
}
