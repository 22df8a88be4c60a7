//! Forward dynamics and the conserved quantities of the motion.
//!
//! [`Applied`] holds loads and prescribed motions, the input of the dynamics besides the
//! kinematics; [`Dynamics`] dispatches to the selected formulation. [`recursive`] (minimal
//! coordinates) is the default; inverse dynamics, mass matrix and Jacobian of a point in that
//! module serve [`Mechanics`](crate::plant::Mechanics) and tests, not the evaluation.
//! [`quaternion`] solves for accelerations and multipliers in maximal coordinates,
//! [`dual_quaternion`] first for the wrenches of all joints.

mod applied;
mod body;
mod condition;
pub mod conserving;
pub mod dual_quaternion;
mod engine;
pub mod impact;
pub mod invariants;
mod least_norm;
pub mod quaternion;
pub mod recursive;
mod rows;

#[cfg(feature = "inside")]
test_modules![condition::tests, impact, least_norm::tests, tests];

pub use applied::Applied;
pub use condition::condition;
pub use engine::Dynamics;
pub(crate) use engine::driven;
pub use least_norm::LeastNorm;
pub use rows::JointRows;

/// Zero inertia along a degree of freedom: the equations of motion are singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// Index of the body.
    pub body: usize,
    /// The degree of freedom with zero inertia.
    pub what: SingularPart,
}

/// A degree of freedom with zero inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingularPart {
    /// The rate with this index of the joint that carries the body.
    Axis(usize),
    /// The mode of the body with this index.
    Mode(usize),
    /// A rotation or translation of the body itself.
    Body,
}

impl SingularPart {
    /// Returns the part to which a linearly dependent row of a joint belongs: the first `held` rows
    /// are constraints (the body), the rows of the rates follow.
    fn of_row(row: usize, held: usize) -> Self {
        row.checked_sub(held).map_or(Self::Body, Self::Axis)
    }
}

#[cfg(feature = "inside")]
mod tests {
    use super::SingularPart;

    unit_tests![constraint_rows_are_mapped_to_the_body];

    fn constraint_rows_are_mapped_to_the_body() {
        assert_eq!(
            [4, 5, 6].map(|row| SingularPart::of_row(row, 5)),
            [SingularPart::Body, SingularPart::Axis(0), SingularPart::Axis(1)]
        );
    }
}
