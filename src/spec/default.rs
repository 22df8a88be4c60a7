//! What fields are that are not written.

/// So it is.
pub fn yes() -> bool {
    true
}

/// Along z.
pub fn z() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}
