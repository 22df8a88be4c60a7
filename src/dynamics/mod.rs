//! From loads to accelerations, and the quantities that the motion conserves.
//!
//! [`Applied`] is all that the loads hand to a formulation. The [`recursive`] formulation is the
//! default engine; its companions (inverse dynamics, mass matrix, Jacobian) serve tests and outputs.

mod applied;
pub mod invariants;
pub mod recursive;

pub use applied::Applied;
