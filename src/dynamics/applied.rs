use crate::algebra::{Scalar, Wrench};
use crate::system::System;

/// All loads at one instant.
#[derive(Clone, Debug)]
pub struct Applied<S: Scalar> {
    /// On each body, about its origin, world axes.
    pub wrench: Vec<Wrench<S>>,
    /// On each rate: torque, N·m, or force, N.
    pub tau: Vec<S>,
    /// Derivative of each rate whose joint is driven, rad/s² or m/s².
    pub qdd: Vec<S>,
}

impl<S: Scalar> Applied<S> {
    /// No loads, for a system.
    pub fn none(system: &System) -> Self {
        Self {
            wrench: vec![Wrench::zero(); system.bodies.len()],
            tau: vec![S::zero(); system.nv],
            qdd: vec![S::zero(); system.nv],
        }
    }

    /// Removes all loads; prescribed motions stay until they are set anew.
    pub fn clear(&mut self) {
        self.wrench.fill(Wrench::zero());
        self.tau.fill(S::zero());
    }
}
