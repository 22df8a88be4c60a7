//! Impacts: the impulse at a contact, from how the contact moves and how it answers.
//!
//! The configuration is frozen while an impulse acts. All that the bodies' masses, joints and modes say about the contact is the matrix
//! `W = J M⁻¹ Jᵀ`, summed over both sides: an impulse `p` changes the relative velocity `u` to
//!
//! ```text
//!     u⁺ = u + W p,     ΔT = ½ p·(u + u⁺)
//! ```
//!
//! | contact | function | law |
//! |---|---|---|
//! | one point, with friction | [`Meeting::impulse`] | [`Law`] |
//! | capture, in any number of rows | [`plastic()`] | `u⁺ = 0` |
//! | several points, without friction | [`frictionless`] | Newton's, complementary |
//!
//! Matrices may be singular: a planar mechanism does not answer across its plane, and two contacts between the same bodies may say the
//! same twice.

mod complementarity;
mod law;
mod meeting;
mod plastic;
mod stronge;
#[cfg(test)]
mod tests;

pub use complementarity::frictionless;
pub use law::{Law, Outcome, Refusal};
pub use meeting::Meeting;
pub use plastic::{Plastic, plastic};

/// What counts as no response, as a part of the largest.
///
/// `W` comes from a solve with a mass matrix: its round-off is `1e-16` times the condition number of that. A direction that answers
/// `1e11` times less than another, or a row at less than 3 µrad from the span of others, is taken for round-off.
const NO_RESPONSE: f64 = 1e-11;
