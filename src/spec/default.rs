//! Default values of fields.

/// Returns `true`.
pub fn yes() -> bool {
    true
}

/// Returns the unit vector along z.
pub fn z() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}
