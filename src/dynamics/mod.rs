//! Forward dynamics and the conserved quantities of the motion.
//!
//! [`Applied`] holds the loads, the only input of a formulation; [`Dynamics`] dispatches to the
//! selected one. [`recursive`] (minimal coordinates) is the default; inverse dynamics, mass matrix
//! and Jacobian next to it serve tests only. [`quaternion`] uses maximal coordinates with
//! constraints, [`dual_quaternion`] solves for the wrenches of all joints first.

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
    /// A rate of the joint that carries the body.
    Axis(usize),
    /// A mode of the body.
    Mode(usize),
    /// The body itself, about one of its axes.
    Body,
}

impl SingularPart {
    /// Maps a dependent row of a joint to its part: the first `held` rows are constraints, the rows
    /// of driven rates follow.
    fn of_row(row: usize, held: usize) -> Self {
        row.checked_sub(held).map_or(Self::Body, Self::Axis)
    }
}

#[cfg(test)]
mod tests {
    use super::SingularPart;

    #[test]
    fn constraint_rows_are_mapped_to_the_body() {
        assert_eq!(
            [4, 5, 6].map(|row| SingularPart::of_row(row, 5)),
            [SingularPart::Body, SingularPart::Axis(0), SingularPart::Axis(1)]
        );
    }
}
