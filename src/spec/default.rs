//! Default values of fields.

/// Returns `true`.
pub fn yes() -> bool {
    true
}

/// Returns 1.
pub fn one() -> f64 {
    1.0
}

/// Returns true for 1.
#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde calls
pub fn is_one(value: &f64) -> bool {
    *value == one()
}

/// Returns the unit vector along z.
pub fn z() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}
