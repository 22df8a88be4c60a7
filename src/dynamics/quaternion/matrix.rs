use super::SaddlePoint;
use super::saddle_point::{of, unit};
use crate::algebra::{Scalar, Twist, Wrench, lift3};
use crate::dynamics::Applied;
use crate::system::{Derived, Kinematics, System};
use nalgebra::DMatrix;

impl<S: Scalar> SaddlePoint<S> {
    /// Returns the full matrix `[M Bᵀ; B 0]` of Kłak and Jarzębowska's (2) and (17): accelerations
    /// of each body (angular, then of its mass centre in the undeformed shape) and of its modes,
    /// then the rows of all joints, then those of momentum. For diagnostics only; not used by the
    /// solution.
    pub fn matrix(
        &self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
    ) -> DMatrix<S> {
        let mut parts = self.clone();
        let mut none = Applied::none(system);
        none.driven.copy_from_slice(&applied.driven);
        parts.set_up(system, derived, kinematics, &none);
        let mut momentum = parts.momentum.take();
        if let Some(momentum) = &mut momentum {
            parts.set_up_rows(system, derived, kinematics, &none, momentum);
        }
        let nodes = &parts.nodes;

        // Offsets of the bodies' accelerations and of the rows.
        let mut first = vec![0];
        for node in nodes {
            first.push(first[first.len() - 1] + node.f.len());
        }
        let accelerations = first[nodes.len()];
        let joint_rows: usize = nodes.iter().map(|node| node.h.len()).sum();
        let momentum_rows = momentum.as_ref().map_or(0, |momentum| 6 * momentum.rows.len());
        let size = accelerations + joint_rows + momentum_rows;
        let mut K = DMatrix::zeros(size, size);

        // The motion of a body's origin for each acceleration of its mass centre.
        let motion = |i: usize, k: usize| {
            let c = kinematics.bodies[i].R_WB * lift3::<S>(&derived.bodies[i].p_BoBcm);
            unit::<S>(k).shift(&-c)
        };
        let mut next_row = accelerations;
        for (i, node) in nodes.iter().enumerate() {
            let (d, at) = (node.f.len(), first[i]);
            let inertia = |k: usize| {
                let U = motion(i, k);
                let U = U.to_array();
                let rows = node.M.chunks(d);
                rows.map(|row| row.iter().zip(U).fold(S::zero(), |sum, (&M, U)| sum + M * U))
                    .collect::<Vec<S>>()
            };
            for k in 0..6 {
                let column = inertia(k);
                for l in 0..6 {
                    K[(at + l, at + k)] = Wrench::from_slice(&column).power(&motion(i, l));
                }
                for l in 6..d {
                    (K[(at + l, at + k)], K[(at + k, at + l)]) = (column[l], column[l]);
                }
            }
            for k in 6..d {
                for l in 6..d {
                    K[(at + l, at + k)] = node.M[l * d + k];
                }
            }
            if let Some(spacecraft) = momentum.as_ref().and_then(|momentum| momentum.spacecraft[i]) {
                let row = accelerations + joint_rows + 6 * spacecraft;
                for (r, R) in node.R.iter().enumerate() {
                    for k in 0..d {
                        let entry = if k < 6 {
                            Wrench::from_slice(R).power(&motion(i, k))
                        } else {
                            R[k]
                        };
                        (K[(row + r, at + k)], K[(at + k, row + r)]) = (entry, entry);
                    }
                }
            }
            let joint = &system.bodies[i].joint;
            if joint.nv == 6 {
                continue;
            }
            // The body's acceleration relative to its carrier, for each acceleration that it
            // depends on.
            let mut relative: Vec<(usize, Twist<S>)> = (0..6).map(|k| (at + k, motion(i, k))).collect();
            if let Some(parent) = system.bodies[i].parent {
                for k in 0..node.X.len() {
                    let carried = match k {
                        0..6 => {
                            let U = motion(parent, k);
                            let U = U.to_array();
                            node.X.iter().zip(U).fold(Twist::zero(), |sum, (X, U)| sum + *X * U)
                        }
                        _ => node.X[k],
                    };
                    relative.push((first[parent] + k, Twist::zero() - carried));
                }
            }
            for W in node.joint.constraints() {
                for (k, motion) in &relative {
                    let entry = W.power(motion);
                    (K[(next_row, *k)], K[(*k, next_row)]) = (entry, entry);
                }
                next_row += 1;
            }
            let rho = of(joint, &derived.rotor_inertia);
            for (j, V) in node.joint.loaded() {
                for (k, a) in &relative {
                    for (l, b) in &relative {
                        K[(*k, *l)] += V.power(a) * V.power(b) * S::lift(rho[j]);
                    }
                }
            }
        }
        K
    }
}
