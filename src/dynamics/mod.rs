//! From loads to accelerations, and the quantities that the motion conserves.
//!
//! [`Applied`] is all that the loads hand to a formulation, [`Dynamics`] whichever formulation it is. The [`recursive`] one is the
//! default; its companions (inverse dynamics, mass matrix, Jacobian) serve tests and outputs. In the [`quaternion`] formulation every
//! body stands by itself, and joints are constraints.

mod applied;
mod body;
mod engine;
pub mod invariants;
pub mod quaternion;
pub mod recursive;

pub use applied::Applied;
pub use engine::Dynamics;

/// A joint that moves no inertia: the equations have no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularHinge {
    /// Index of the body that the joint carries.
    pub body: usize,
    /// The joint's rate whose inertia vanishes; beyond them, the body's mode.
    pub axis: usize,
}
