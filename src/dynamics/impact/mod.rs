//! Impacts: impulses at contacts, from relative velocities and responses.
//!
//! The configuration is constant during an impulse. Masses, joints and modes on both sides of a
//! contact enter only through the response matrix `W = J M⁻¹ Jᵀ`, summed over both sides: an
//! impulse `p` changes the relative velocity `u` to `u⁺`, and the kinetic energy by `ΔT`,
//!
//! ```text
//!     u⁺ = u + W p,     ΔT = ½ p·(u + u⁺)
//! ```
//!
//! | contact | function | law |
//! |---|---|---|
//! | one point, with friction | [`PointImpact::impulse`] | [`Law`] |
//! | capture, in any number of rows | [`plastic()`] | `u⁺ = 0` |
//! | several points, without friction | [`frictionless`] | Newton's, complementary |
//! | several points, with friction | [`with_friction`] | Moreau's |
//! | several contacts of known normal forces | [`with_limits`], [`with_largest_reserve`] | (forces) |
//!
//! `W` may be singular: a planar mechanism has no response normal to its plane, and several
//! contacts between the same bodies may be redundant.

mod complementarity;
mod friction;
mod law;
mod limit_analysis;
mod plastic;
mod point_impact;
mod polyhedral;
mod stronge;
#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
mod tests;

#[cfg(feature = "inside")]
test_modules![friction::tests, limit_analysis::tests, tests];

pub use complementarity::frictionless;
pub use friction::{Friction, NoContactForce, with_friction, with_limits};
pub use law::{Law, Outcome, Refusal};
pub use limit_analysis::{Reserve, truncated_solution, with_largest_reserve};
pub use plastic::{Plastic, plastic};
pub use point_impact::PointImpact;

/// Response, relative to the largest, below which it counts as zero.
///
/// `W` is computed by solution with a mass matrix: its relative round-off is `1e-16` times the
/// condition number of the mass matrix. A response `1e11` times smaller than another, or a row at
/// less than 3 µrad from the span of the others, counts as round-off.
const NO_RESPONSE: f64 = 1e-11;
