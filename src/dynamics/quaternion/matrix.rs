use super::SaddlePoint;
use super::saddle_point::{BodyBlock, rates_of, unit};
use crate::algebra::{Scalar, Twist, Wrench, lift3};
use crate::dynamics::Applied;
use crate::system::Configuration;
use nalgebra::DMatrix;

impl<S: Scalar> SaddlePoint<S> {
    /// Returns the full matrix `[M Bᵀ; B 0]` of Kłak and Jarzębowska's (2) and (17): accelerations
    /// of each body (angular, then of its mass centre in the undeformed shape) and of its modes,
    /// then the rows of all joints, then those of momentum. For diagnostics only; not used by the
    /// solution.
    pub fn matrix(&self, at: Configuration<S>, applied: &Applied<S>) -> DMatrix<S> {
        let mut parts = self.clone();
        let mut none = Applied::none(at.system);
        none.driven.copy_from_slice(&applied.driven);
        parts.set_up(at, &none);
        let mut momentum = parts.momentum.take();
        if let Some(momentum) = &mut momentum {
            parts.set_up_rows(at, &none, momentum);
        }
        let momentum_rows = momentum.as_ref().map_or(0, |momentum| 6 * momentum.rows.len());
        let mut full = FullMatrix::new(at, &parts.nodes, momentum_rows);
        let mut row = full.accelerations();
        let first_of_momentum = row + parts.nodes.iter().map(|node| node.h.len()).sum::<usize>();
        for i in 0..parts.nodes.len() {
            full.write_inertia(i);
            if let Some(spacecraft) = momentum.as_ref().and_then(|momentum| momentum.spacecraft[i]) {
                full.write_momentum_rows(i, first_of_momentum + 6 * spacecraft);
            }
            // A free joint has neither rows nor rotors.
            if at.system.bodies[i].joint.nv < 6 {
                full.write_joint(i, row);
                row += parts.nodes[i].h.len();
            }
        }
        full.K
    }
}

/// The full matrix during its assembly.
struct FullMatrix<'a, S: Scalar> {
    at: Configuration<'a, S>,
    nodes: &'a [BodyBlock<S>],
    /// Index of the first acceleration of each body; the last entry is the number of accelerations.
    first: Vec<usize>,
    /// The matrix.
    K: DMatrix<S>,
}

impl<'a, S: Scalar> FullMatrix<'a, S> {
    fn new(at: Configuration<'a, S>, nodes: &'a [BodyBlock<S>], momentum_rows: usize) -> Self {
        let mut first = vec![0];
        for node in nodes {
            first.push(first[first.len() - 1] + node.f.len());
        }
        let joint_rows: usize = nodes.iter().map(|node| node.h.len()).sum();
        let size = first[nodes.len()] + joint_rows + momentum_rows;
        Self {
            at,
            nodes,
            first,
            K: DMatrix::zeros(size, size),
        }
    }

    /// Returns the number of accelerations.
    fn accelerations(&self) -> usize {
        self.first[self.nodes.len()]
    }

    /// Returns the acceleration of the origin of body `i` for the unit acceleration `k` of its mass
    /// centre.
    fn motion(&self, i: usize, k: usize) -> Twist<S> {
        let Configuration {
            derived, kinematics, ..
        } = self.at;
        let c = kinematics.bodies[i].R_WB * lift3::<S>(&derived.bodies[i].p_BoBcm);
        unit::<S>(k).shift(&-c)
    }

    /// Writes the block `M` of body `i`.
    fn write_inertia(&mut self, i: usize) {
        let (node, at) = (&self.nodes[i], self.first[i]);
        let d = node.f.len();
        for k in 0..6 {
            let U = self.motion(i, k).to_array();
            let rows = node.M.chunks(d);
            let column: Vec<S> = rows
                .map(|row| row.iter().zip(U).fold(S::zero(), |sum, (&M, U)| sum + M * U))
                .collect();
            for l in 0..6 {
                self.K[(at + l, at + k)] = Wrench::from_slice(&column).power(&self.motion(i, l));
            }
            for l in 6..d {
                (self.K[(at + l, at + k)], self.K[(at + k, at + l)]) = (column[l], column[l]);
            }
        }
        for k in 6..d {
            for l in 6..d {
                self.K[(at + l, at + k)] = node.M[l * d + k];
            }
        }
    }

    /// Writes the entries of body `i` in the momentum rows that begin at `row`.
    fn write_momentum_rows(&mut self, i: usize, row: usize) {
        let (node, at) = (&self.nodes[i], self.first[i]);
        for (r, R) in node.R.iter().enumerate() {
            for k in 0..node.f.len() {
                let entry = if k < 6 {
                    Wrench::from_slice(R).power(&self.motion(i, k))
                } else {
                    R[k]
                };
                (self.K[(row + r, at + k)], self.K[(at + k, row + r)]) = (entry, entry);
            }
        }
    }

    /// Writes the constraint rows of body `i`'s joint, which begin at `row`, and the inertia of its
    /// rotors.
    fn write_joint(&mut self, i: usize, row: usize) {
        let node = &self.nodes[i];
        let relative = self.relative_motion(i);
        for (r, W) in node.joint.constraints().enumerate() {
            for (k, motion) in &relative {
                let entry = W.power(motion);
                (self.K[(row + r, *k)], self.K[(*k, row + r)]) = (entry, entry);
            }
        }
        let rho = rates_of(&self.at.system.bodies[i].joint, &self.at.derived.rotor_inertia);
        for (j, V) in node.joint.loaded() {
            for (k, a) in &relative {
                for (l, b) in &relative {
                    self.K[(*k, *l)] += V.power(a) * V.power(b) * S::lift(rho[j]);
                }
            }
        }
    }

    /// Returns the acceleration of body `i` relative to its carrier for each unit acceleration that
    /// affects it, with the index of that acceleration.
    fn relative_motion(&self, i: usize) -> Vec<(usize, Twist<S>)> {
        let (node, at) = (&self.nodes[i], self.first[i]);
        let mut relative: Vec<(usize, Twist<S>)> = (0..6).map(|k| (at + k, self.motion(i, k))).collect();
        if let Some(parent) = self.at.system.bodies[i].parent {
            for k in 0..node.X.len() {
                let carried = match k {
                    0..6 => {
                        let U = self.motion(parent, k).to_array();
                        node.X.iter().zip(U).fold(Twist::zero(), |sum, (X, U)| sum + *X * U)
                    }
                    _ => node.X[k],
                };
                relative.push((self.first[parent] + k, Twist::zero() - carried));
            }
        }
        relative
    }
}
