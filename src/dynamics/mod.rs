//! From loads to accelerations, and the quantities that the motion conserves.
//!
//! [`Applied`] is all that the loads hand to a formulation, [`Dynamics`] whichever formulation it is. The [`recursive`] one is the
//! default; its companions (inverse dynamics, mass matrix, Jacobian) serve tests and outputs. In the [`quaternion`] formulation every
//! body stands by itself, and joints are constraints. In the [`dual_quaternion`] one the wrenches of all joints are found first.

mod applied;
mod body;
mod condition;
pub mod conserving;
pub mod dual_quaternion;
mod engine;
pub mod impact;
pub mod invariants;
pub mod quaternion;
pub mod recursive;
mod rows;

pub use applied::Applied;
pub use condition::condition;
pub use engine::Dynamics;
pub(crate) use engine::driven;
pub use rows::JointRows;

/// Something that moves no inertia: the equations have no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// Index of the body.
    pub body: usize,
    /// What of it.
    pub what: What,
}

/// What moves no inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A rate of the joint that carries the body.
    Axis(usize),
    /// A mode of the body.
    Mode(usize),
    /// The body by itself, about some axis of its own.
    Body,
}
