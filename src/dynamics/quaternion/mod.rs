//! The formulation in maximal coordinates: joints are constraints with Lagrange multipliers.
//!
//! M. Kłak and E. Jarzębowska, "Quaternion-Based Constrained Dynamics Modeling of a Space
//! Manipulator with Flexible Arms for Servicing Tasks", J. Vib. Eng. Technol. (2020): thirteen
//! states for each body, joint constraints with Baumgarte's stabilisation, and the saddle-point
//! system of accelerations and multipliers, their equations (2), (10) and (17).
//!
//! The formulation in natural coordinates solves the same system for its accelerations. With the
//! [recursive](super::recursive) formulation, only the equations of a single body and the joint
//! kinematics are shared.

mod matrix;
mod momentum;
mod saddle_point;

pub use momentum::Rows;
pub use saddle_point::SaddlePoint;
