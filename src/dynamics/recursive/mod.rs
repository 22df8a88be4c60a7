//! The recursive formulation: minimal coordinates, O(n), no constraint violation.
//!
//! Featherstone's articulated-body algorithm (R. Featherstone, *Rigid Body Dynamics Algorithms*,
//! Springer 2008, doi:10.1007/978-1-4899-7560-7, ch. 7) in
//! **world axes about each body's own origin**, with ordinary (not spatial) accelerations: inertias
//! are shifted along the tree, never rotated, and the accuracy does not depend on the distance from
//! the world's origin.

mod adjoint;
mod derivatives;
mod forward;
mod inverse;
mod jacobian;
mod mass_matrix;
mod modal;
mod response;

pub use adjoint::{Gradient, HeldAttitude, JointAdjoints, Partials, TreeAdjoint, add_kinematics};
pub use derivatives::{Derivatives, Local};
pub use forward::ForwardDynamics;
pub use inverse::InverseDynamics;
pub use jacobian::{frame_columns, jacobian};
pub use mass_matrix::{CompositeAdjoint, CompositeBodies, mass_matrix};

use super::body::inertia_and_bias;
