//! From loads to accelerations, and the quantities that the motion conserves.
//!
//! [`Applied`] is all that the loads hand to a formulation, [`Dynamics`] whichever formulation it is. The [`recursive`] one is the
//! default; its companions (inverse dynamics, mass matrix, Jacobian) serve tests only. In the [`quaternion`] formulation every
//! body stands by itself, and joints are constraints. In the [`dual_quaternion`] one the wrenches of all joints are found first.

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

/// Something that moves no inertia: the equations have no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// Index of the body.
    pub body: usize,
    /// What of it.
    pub what: SingularPart,
}

/// What moves no inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingularPart {
    /// A rate of the joint that carries the body.
    Axis(usize),
    /// A mode of the body.
    Mode(usize),
    /// The body by itself, about some axis of its own.
    Body,
}

impl SingularPart {
    /// Of a joint's row of constraint that depends on others, where so many exclude motions and those of driven rates follow.
    fn of_row(row: usize, held: usize) -> Self {
        row.checked_sub(held).map_or(Self::Body, Self::Axis)
    }
}

#[cfg(test)]
mod tests {
    use super::SingularPart;

    #[test]
    fn a_row_that_excludes_a_motion_is_no_axis() {
        assert_eq!(
            [4, 5, 6].map(|row| SingularPart::of_row(row, 5)),
            [SingularPart::Body, SingularPart::Axis(0), SingularPart::Axis(1)]
        );
    }
}
