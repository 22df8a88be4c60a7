use crate::spec::JointType;
use crate::system::System;
use nalgebra::DMatrix;

/// Which joint is between which bodies: the incidence matrix `C` (34), row by row, and the vector of branch ends (35).
///
/// Free joints hold nothing and have no row: they and the world's own joints stand at the roots.
#[derive(Clone, Debug)]
pub struct Incidence {
    /// Of the joint that carries each body, its proximal body, where `C` is −1; at the body itself it is +1. The world has no column.
    proximal: Vec<Option<usize>>,
    /// Whether the joint holds its body at all.
    holds: Vec<bool>,
}

impl Incidence {
    /// Of a system.
    pub fn new(system: &System) -> Self {
        Self {
            proximal: system.bodies.iter().map(|body| body.parent).collect(),
            holds: system
                .bodies
                .iter()
                .map(|body| body.joint.kind != JointType::Free)
                .collect(),
        }
    }

    /// `C`, joints × bodies.
    pub fn matrix(&self) -> DMatrix<i8> {
        let joints: Vec<usize> = (0..self.holds.len()).filter(|&i| self.holds[i]).collect();
        DMatrix::from_fn(joints.len(), self.holds.len(), |row, body| match joints[row] {
            joint if joint == body => 1,
            joint if self.proximal[joint] == Some(body) => -1,
            _ => 0,
        })
    }

    /// `T`: whether each body ends a branch.
    pub fn branch_ends(&self) -> Vec<bool> {
        let carries = |body| (0..self.holds.len()).any(|i| self.holds[i] && self.proximal[i] == Some(body));
        (0..self.holds.len()).map(|body| !carries(body)).collect()
    }

    /// The joints before the joint of body `i` that have a body in common with it, where `C Cᵀ` is not zero: on its proximal body, the last first,
    /// then the one that carries that body.
    pub(super) fn coupled(&self, i: usize) -> Vec<usize> {
        let Some(carrier) = self.proximal[i].filter(|_| self.holds[i]) else {
            return Vec::new();
        };
        let beside = (0..i).rev().filter(|&j| self.proximal[j] == Some(carrier));
        beside.chain([carrier]).filter(|&j| self.holds[j]).collect()
    }
}
