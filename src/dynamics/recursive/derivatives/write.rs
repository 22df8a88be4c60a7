//! Assembly of the Jacobian of the states from the columns of the degrees of freedom.

use super::Derivatives;
use super::layout::Tree;
use super::local::unit;
use super::rows::LANES;
use crate::algebra::{Quaternion, Vec3};
use crate::spec::JointType;
use crate::system::joint::quaternion_rate_derivatives;
use crate::system::{Joint, JointState, Kinematics, Modes, System};
use nalgebra::DMatrixViewMut;

/// The Jacobian of the states, with the layout of its rows.
pub(super) struct JacobianView<'a, 'b> {
    /// The matrix.
    pub A: &'a mut DMatrixViewMut<'b, f64>,
    /// Number of coordinates: the first row of the rates.
    pub nq: usize,
    /// The row of the work, if there is one.
    pub work: Option<usize>,
}

impl Derivatives {
    /// Returns the derivative of a free root's linear acceleration, in its joint's axes, with
    /// respect to the rotation `d` of the whole spacecraft, if this rotation has no column: the
    /// acceleration then rotates with the spacecraft. `None` otherwise.
    fn turned_root(&self, joint: &Joint, kinematics: &Kinematics<f64>, tree: &Tree, d: usize) -> Option<[f64; 3]> {
        if joint.kind != JointType::Free || tree.column_q(d).is_some() {
            return None;
        }
        let change = self.moving[d].xi.w.cross(&self.A[tree.bodies.start].v);
        Some(std::array::from_fn(|k| kinematics.H[joint.v + 3 + k].v.dot(&change)))
    }

    /// Writes the columns of a tree into the Jacobian.
    pub(super) fn write(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        tree: &Tree,
        q: &[f64],
        A: &mut DMatrixViewMut<f64>,
    ) {
        let (nq, nv) = (system.nq, system.nv);
        let work = (A.nrows() > nq + nv).then_some(nq + nv);
        let jacobian = &mut JacobianView { A, nq, work };
        self.targets[..tree.blocks].fill([None; LANES]);
        for i in tree.bodies.clone() {
            let joint = &system.bodies[i].joint;
            let quaternion = joint.nq > joint.nv;
            for d in joint.v..joint.v + joint.nv {
                let k = self.layout.rate[d] - joint.v;
                if !(quaternion && k < 3) {
                    let coordinate = joint.q + k + usize::from(quaternion);
                    self.map_column(tree.column_q(d), self.power_q[d], coordinate, jacobian);
                }
                self.map_column(tree.column_v(d), self.power_v[d], nq + joint.v + k, jacobian);
            }
            for (k, d) in system.bodies[i].modes.iter().flat_map(Modes::rates).enumerate() {
                let coordinate = system.bodies[i].modes.as_ref().map_or(0, |modes| modes.q + k);
                self.map_column(tree.column_q(d), self.power_q[d], coordinate, jacobian);
                self.map_column(tree.column_v(d), self.power_v[d], nq + d, jacobian);
            }
        }
        let B = tree.blocks;
        for (b, targets) in self.targets[..B].iter().enumerate() {
            for (lane, target) in targets.iter().enumerate() {
                let Some(column) = target else { continue };
                let mut to = jacobian.A.column_mut(*column);
                let to = &mut to.as_mut_slice()[nq..];
                let rows = self.rows[tree.dofs.start * B..].chunks_exact(B);
                for (row, rate) in rows.zip(&self.layout.rate[tree.dofs.clone()]) {
                    to[*rate] = row[b][lane];
                }
            }
            if let Some(work) = work {
                for (target, entry) in targets.iter().zip(self.drive_power[b]) {
                    if let Some(column) = target {
                        jacobian.A[(work, *column)] += entry;
                    }
                }
            }
        }
        for i in tree.bodies.clone() {
            let joint = &system.bodies[i].joint;
            if joint.nq > joint.nv {
                self.write_attitude(kinematics, tree, joint, q, jacobian);
            }
        }
    }

    /// Assigns a column of the tree to the column `to` of the Jacobian, and writes the entry of the
    /// power.
    fn map_column(&mut self, column: Option<usize>, power: f64, to: usize, jacobian: &mut JacobianView) {
        if let Some(column) = column {
            self.targets[column / LANES][column % LANES] = Some(to);
        }
        if let Some(work) = jacobian.work {
            jacobian.A[(work, to)] = power;
        }
    }

    /// Writes the columns of a joint's quaternion, combined from those of the three rotations.
    fn write_attitude(
        &self,
        kinematics: &Kinematics<f64>,
        tree: &Tree,
        joint: &Joint,
        q: &[f64],
        jacobian: &mut JacobianView,
    ) {
        let (nq, work) = (jacobian.nq, jacobian.work);
        let B = tree.blocks;
        let attitude = Quaternion::from_slice(&q[joint.q..]);
        for d in joint.v..joint.v + joint.nv {
            let k = self.layout.rate[d] - joint.v;
            if k >= 3 {
                continue;
            }
            let carried = self.turned_root(joint, kinematics, tree, d);
            // A change δq is the rotation θ = 2 (q* ⊗ δq)/|q|² (body axes): its component along e
            // is δq·(½ q ⊗ (0, e)) times 4/|q|².
            let along = attitude.rate(unit(k)).to_array();
            for (part, along) in along.into_iter().enumerate() {
                let factor = 4.0 * along / attitude.norm_squared();
                let mut to = jacobian.A.column_mut(joint.q + part);
                let mut power = self.power_q[d];
                if let Some((b, lane)) = tree.column_q(d).map(|column| (column / LANES, column % LANES)) {
                    for (row, dof) in self.rows[tree.dofs.start * B..].chunks_exact(B).zip(tree.dofs.clone()) {
                        to[nq + self.layout.rate[dof]] += factor * row[b][lane];
                    }
                    power += self.drive_power[b][lane];
                }
                for (row, change) in carried.iter().flatten().enumerate() {
                    to[nq + joint.v + 3 + row] += factor * change;
                }
                if let Some(work) = work {
                    to[work] += factor * power;
                }
            }
        }
    }
}

/// Writes the rows of `q̇`.
pub(super) fn kinematic_rows(system: &System, joints: JointState<f64>, A: &mut DMatrixViewMut<f64>) {
    let JointState { q, qd } = joints;
    let nq = system.nq;
    for body in &system.bodies {
        let joint = &body.joint;
        let mut plain = 0;
        if joint.nq > joint.nv {
            let w = Vec3::from_column_slice(&qd[joint.v..joint.v + 3]);
            let (by_q, by_w) = quaternion_rate_derivatives(Quaternion::from_slice(&q[joint.q..]), w);
            for (k, column) in by_q.iter().enumerate() {
                for (row, entry) in column.iter().enumerate() {
                    A[(joint.q + row, joint.q + k)] = *entry;
                }
            }
            for (k, column) in by_w.iter().enumerate() {
                for (row, entry) in column.iter().enumerate() {
                    A[(joint.q + row, nq + joint.v + k)] = *entry;
                }
            }
            plain = 3;
        }
        for k in plain..joint.nv {
            A[(joint.q + k + joint.nq - joint.nv, nq + joint.v + k)] = 1.0;
        }
        for (coordinate, rate) in body
            .modes
            .iter()
            .flat_map(|modes| modes.coordinates().zip(modes.rates()))
        {
            A[(coordinate, nq + rate)] = 1.0;
        }
    }
}
