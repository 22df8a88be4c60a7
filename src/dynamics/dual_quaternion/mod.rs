//! The dual-quaternion formulation: Newton–Euler equations of each rigid body, with the wrenches of
//! all joints as unknowns.
//!
//! A. Valverde and P. Tsiotras, "Dual Quaternion Framework for Modeling of Spacecraft-Mounted
//! Multibody Robotic Systems", *Front. Robot. AI* 5 (2018) 128, doi:10.3389/frobt.2018.00128.
//! Equation numbers refer to this paper.

mod newton_euler;
mod reactions;
mod tree;

pub use newton_euler::NewtonEuler;
pub use tree::Incidence;
