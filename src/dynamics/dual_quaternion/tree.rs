use crate::spec::JointType;
use crate::system::System;
use nalgebra::DMatrix;

/// Topology of the tree: the incidence matrix `C` (34) of joints and bodies, and the vector `T` of
/// branch ends (35).
///
/// A free joint has no constraints and so no row of `C`: its body is a root of the topology, as is
/// a body connected to the world.
#[derive(Clone, Debug)]
pub struct Incidence {
    /// Proximal body of the joint that carries each body: there the entry of `C` is −1, at the body
    /// itself +1. The world has no column.
    proximal: Vec<Option<usize>>,
    /// True if the joint has constraints.
    constrained: Vec<bool>,
}

impl Incidence {
    /// Creates the topology of `system`.
    pub fn new(system: &System) -> Self {
        Self {
            proximal: system.bodies.iter().map(|body| body.parent).collect(),
            constrained: system
                .bodies
                .iter()
                .map(|body| body.joint.kind != JointType::Free)
                .collect(),
        }
    }

    /// Returns `C`, joints × bodies.
    pub fn matrix(&self) -> DMatrix<i8> {
        let joints: Vec<usize> = (0..self.constrained.len()).filter(|&i| self.constrained[i]).collect();
        DMatrix::from_fn(joints.len(), self.constrained.len(), |row, body| match joints[row] {
            joint if joint == body => 1,
            joint if self.proximal[joint] == Some(body) => -1,
            _ => 0,
        })
    }

    /// Returns the vector `T`: true for each body at the end of a branch.
    pub fn branch_ends(&self) -> Vec<bool> {
        let carries = |body| (0..self.constrained.len()).any(|i| self.constrained[i] && self.proximal[i] == Some(body));
        (0..self.constrained.len()).map(|body| !carries(body)).collect()
    }

    /// Returns the joints before the joint of body `i` that share a body with it (nonzeros of
    /// `C Cᵀ`): those on its proximal body in descending order, then the joint that carries that
    /// body.
    pub(super) fn coupled(&self, i: usize) -> Vec<usize> {
        let Some(carrier) = self.proximal[i].filter(|_| self.constrained[i]) else {
            return Vec::new();
        };
        let siblings = (0..i).rev().filter(|&j| self.proximal[j] == Some(carrier));
        siblings.chain([carrier]).filter(|&j| self.constrained[j]).collect()
    }
}
