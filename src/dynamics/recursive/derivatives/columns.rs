//! The recursion over all columns of a tree at once, and the assembly of the Jacobian.

use super::Derivatives;
use super::layout::Tree;
use super::local::unit;
use super::motion::Moving;
use super::rows::{self, LANES, Six};
use super::sum::Turned;
use super::write::kinematic_rows;
use crate::algebra::{ArticulatedInertia, Mat3, Twist, Vec3};
use crate::dynamics::Applied;
use crate::spec::JointType;
use crate::system::{Configuration, Joint, JointState, Modes, System};
use nalgebra::DMatrixViewMut;

impl Derivatives {
    /// Writes `∂ẋ/∂x` of the states `(q, q̇)` into `A`, whose entries must be zero; if `A` has one
    /// further row (the work), also the derivatives of the power of active loads and drives.
    /// `active` are the loads without a potential. Requires [`accelerate`](Self::accelerate) and
    /// all [`passes`](Self::passes).
    pub fn jacobian(
        &mut self,
        at: Configuration<f64>,
        active: &Applied<f64>,
        joints: JointState<f64>,
        mut A: DMatrixViewMut<f64>,
    ) {
        let (system, kinematics) = (at.system, at.kinematics);
        kinematic_rows(system, joints, &mut A);
        for t in 0..self.layout.trees.len() {
            let tree = self.layout.trees[t].clone();
            self.sums(at, active, &tree);
            self.columns_backward(system, active, &tree);
            self.columns_forward(system, joints.qd, &tree);
            self.write(system, kinematics, &tree, joints.q, &mut A);
        }
    }

    /// Computes each body's contribution to the sums over outboard parts, except `f` (and, of a
    /// rigid body, `2 B`), which [`accelerate`](Self::accelerate) has computed.
    fn sums(&mut self, at: Configuration<f64>, active: &Applied<f64>, tree: &Tree) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        for i in tree.bodies.clone() {
            let (body_state, local) = (&mut self.at[i], &self.local);
            if self.bodies {
                self.turned[i] = Turned {
                    G: local.turned[i].map(|G| G.shift(&body_state.r)),
                    active: active.wrench[i].shift(&body_state.r),
                    power: local.power_turned[i],
                };
                if let Some(modes) = &system.bodies[i].modes {
                    self.turned_station[modes.stations.clone()].fill(Turned::zero());
                }
            }
            if let Some(modes) = &system.bodies[i].modes {
                let bent = &kinematics.deflections[modes.index];
                let I = ArticulatedInertia::rigid(derived.bodies[i].m, &bent.h, &bent.J);
                let V = &kinematics.bodies[i].V_WB;
                let v = V.v - self.v_O[i];
                // Moment of `2 B ψ` for a unit `ψ_w`: the derivative of the bias wrench with
                // respect to the angular velocity, and the inertial wrench of the change of the
                // origin's ordinary acceleration.
                let own = |axis: usize| {
                    let psi = unit(axis);
                    let A = Twist::new(psi.cross(&V.w), psi.cross(&v) * 2.0);
                    (I.times(&A) + local.wrench_spin[modes.index][axis])
                        .shift(&body_state.r)
                        .t
                };
                body_state.sum.C = Mat3::from_columns(&[own(0), own(1), own(2)]);
                for (L, d) in bent.L.iter().zip(modes.rates()) {
                    self.force_coriolis[d] = local.force_spin[d] + V.w.cross(&L.t) + v.cross(&L.f) * 2.0;
                }
            }
        }
    }

    /// Backward pass: computes the bias of every column, and `k` in the rows.
    fn columns_backward(&mut self, system: &System, active: &Applied<f64>, tree: &Tree) {
        let B = tree.blocks;
        self.psi[..B].fill([[0.0; LANES]; 3]);
        self.turn[..B].fill([[0.0; LANES]; 3]);
        self.drive_power[..B].fill([0.0; LANES]);
        for i in tree.bodies.clone().rev() {
            let body = &system.bodies[i];
            let slot = self.layout.slot[i];
            if body.is_leaf {
                self.carry[slot * B..][..B].fill([[0.0; LANES]; 6]);
                self.mark_inboard(system, i, tree);
            }
            for k in 0..self.layout.others[i].len() {
                let (to, from) = self.layout.others[i][k];
                add_slot(&mut self.carry, B, to, from);
            }
            if let Some(modes) = &body.modes {
                self.modal_backward(system, active, tree, i, modes);
            }
            for g in self.layout.of_body[i].clone().rev() {
                self.group_backward(&body.joint, active, tree, i, g);
            }
            self.set[i] = false;
            let (sum, turned) = (self.at[i].sum, self.turned[i]);
            let (carrier, its_turned) = match (body.station, body.parent) {
                (Some(s), Some(P)) => {
                    let modes = system.bodies[P].modes.as_ref();
                    for d in modes.iter().flat_map(|modes| modes.rates()) {
                        self.mark(tree, d, &Vec3::zeros(), &Vec3::zeros());
                    }
                    (&mut self.at_station[s], &mut self.turned_station[s])
                }
                (_, Some(P)) => (&mut self.at[P], &mut self.turned[P]),
                _ => continue,
            };
            carrier.sum.add(&sum);
            if self.bodies {
                its_turned.add(&turned);
            }
        }
    }

    /// Writes `ψ_w` and `ξ_w` into the columns of all coordinates inboard of body `i`, including
    /// those of its own joint, unless they are marked already.
    fn mark_inboard(&mut self, system: &System, i: usize, tree: &Tree) {
        let mut next = Some(i);
        while let Some(i) = next.filter(|&i| !self.set[i]) {
            let body = &system.bodies[i];
            self.set[i] = true;
            for d in body.joint.v..body.joint.v + body.joint.nv {
                let Moving { xi, psi, .. } = self.moving[d];
                self.mark(tree, d, &psi.w, &xi.w);
            }
            if let (Some(s), Some(P)) = (body.station, body.parent) {
                let first = system.stations[s].first;
                for (k, d) in system.bodies[P].modes.iter().flat_map(Modes::rates).enumerate() {
                    let (psi, xi) = (self.local.moved_q[first + k].psi.w, self.T[first + k].w);
                    self.mark(tree, d, &psi, &xi);
                }
            }
            next = body.parent;
        }
    }

    /// Writes `ψ_w` and `ξ_w` into the column of the coordinate `d`, and `ξ_w` as the `ψ_w` of its
    /// rate's column, by (3). Zeros remove the mark.
    fn mark(&mut self, tree: &Tree, d: usize, psi: &Vec3<f64>, xi: &Vec3<f64>) {
        if let Some(column) = tree.column_q(d) {
            rows::set(&mut self.psi, column, psi);
            if self.bodies {
                rows::set(&mut self.turn, column, xi);
            }
        }
        if let Some(column) = tree.column_v(d) {
            rows::set(&mut self.psi, column, xi);
        }
    }

    /// Initialises the right-hand side of row `d` with `−S·(2 B ψ − G ξ)` for all marked columns,
    /// the degrees of freedom of which precede `d`: `w = (2 B)ᵀ S` and `g = Gᵀ S` for the row's
    /// column `S`.
    pub(super) fn begin_row(&mut self, tree: &Tree, d: usize, w: &Vec3<f64>, g: &Vec3<f64>) {
        let B = tree.blocks;
        let row = &mut self.rows[d * B..][..B];
        row.fill([0.0; LANES]);
        let end_q = (d - tree.dofs.start).saturating_sub(tree.skip_q).div_ceil(LANES);
        let end_v = (d - tree.dofs.start).saturating_sub(tree.skip_v).div_ceil(LANES) + tree.blocks_q;
        let rates = tree.blocks_q..end_v;
        rows::add_dots(&mut row[..end_q], &-w, &self.psi[..end_q]);
        rows::add_dots(&mut row[rates.clone()], &-w, &self.psi[rates]);
        if self.bodies {
            rows::add_dots(&mut row[..end_q], g, &self.turn[..end_q]);
        }
    }

    /// Returns the derivative of the power of the active loads outboard of a joint or station with
    /// respect to a coordinate that moves this whole part.
    pub(super) fn power_moved(turned: &Turned, moving: &Moving, v_O: &Vec3<f64>) -> f64 {
        // The velocity of the tree's reference point does not rotate with the coordinate.
        let mut psi = moving.psi;
        psi.v -= moving.xi.w.cross(v_O);
        turned.active.power(&psi) + turned.power.dot(&moving.xi.w)
    }

    /// Backward pass over the group `g` of body `i`'s joint.
    fn group_backward(&mut self, joint: &Joint, active: &Applied<f64>, tree: &Tree, i: usize, g: usize) {
        let B = tree.blocks;
        let group = self.layout.groups[g].clone();
        let (sum, left) = (self.at[i].sum, self.left[group.start]);
        let turned = self.bodies.then(|| self.turned[i]);
        let slot = self.layout.slot[i] * B;
        for d in group.clone() {
            let (moving, rate) = (self.moving[d], self.layout.rate[d]);
            let (S, psi) = (moving.xi, moving.psi);
            self.mark(tree, d, &Vec3::zeros(), &Vec3::zeros());
            let p = &mut self.carry[slot..][..B];
            if let Some(column) = tree.column_q(d) {
                let mut F = left.times(&moving.phi) + sum.coriolis(&psi.w);
                if let Some(turned) = &turned {
                    F = F - turned.times(&S.w);
                }
                rows::add_wrench(p, column, &F);
            }
            if let Some(column) = tree.column_v(d) {
                let F = left.times(&self.phi_v[d]) + sum.coriolis(&S.w);
                rows::add_wrench(p, column, &F);
            }
            self.power_q[d] = self.local.power_q[rate];
            self.power_v[d] = active.tau[rate] + self.local.power_v[rate];
            if let Some(turned) = &turned {
                self.power_q[d] += Self::power_moved(turned, &moving, &self.v_O[i]);
                self.power_v[d] += turned.active.power(&S);
            }
            if self.driven[i] {
                self.power_v[d] += self.drive[rate];
            }
        }
        for d in group.clone().rev() {
            let (S, rate) = (self.moving[d].xi, self.layout.rate[d]);
            let g = turned.as_ref().map_or_else(Vec3::zeros, |turned| turned.on(&S));
            self.begin_row(tree, d, &sum.coriolis_on(&S), &g);
            let row = &mut self.rows[d * B..][..B];
            if joint.kind != JointType::Free {
                for other in joint.v..joint.v + joint.nv {
                    let k = self.layout.rate[other] - joint.v;
                    if let Some(column) = tree.column_q(other) {
                        row[column / LANES][column % LANES] += self.local.tau_q[rate][k];
                    }
                    if let Some(column) = tree.column_v(other) {
                        row[column / LANES][column % LANES] += self.local.tau_v[rate][k];
                    }
                }
            }
            let p = &mut self.carry[slot..][..B];
            if self.driven[i] {
                rows::subtract_powers_on(row, &S, p);
            } else {
                rows::eliminate(row, p, &S, self.per_D[d], &self.U[d]);
            }
        }
        for d in group {
            if let Some(column) = tree.column_q(d) {
                let F = self.moving[d].xi.cross_wrench(&sum.f);
                rows::add_wrench(&mut self.carry[slot..][..B], column, &F);
            }
        }
    }

    /// Forward pass: computes the derivatives of `q̈` from `k`, row by row.
    fn columns_forward(&mut self, system: &System, qd: &[f64], tree: &Tree) {
        let B = tree.blocks;
        let root = self.layout.slot[tree.bodies.start];
        self.carry[root * B..][..B].fill([[0.0; LANES]; 6]);
        for i in tree.bodies.clone() {
            let body = &system.bodies[i];
            let own = self.layout.slot[i] * B;
            for g in self.layout.of_body[i].clone() {
                let group = self.layout.groups[g].clone();
                for d in group.clone() {
                    let A = &mut self.carry[own..][..B];
                    let row = &mut self.rows[d * B..][..B];
                    if self.driven[i] {
                        // With K = 0, the row is the negative derivative of the drive force.
                        rows::subtract_powers_of(row, &self.U[d], A);
                        rows::add_multiple(&mut self.drive_power[..B], -qd[self.layout.rate[d]], row);
                        row.fill([0.0; LANES]);
                    } else {
                        rows::accelerate(row, A, &self.K[d], &self.moving[d].xi);
                    }
                }
                for d in group {
                    let A = &mut self.carry[own..][..B];
                    if let Some(column) = tree.column_q(d) {
                        rows::add_twist(A, column, &self.moving[d].phi);
                    }
                    if let Some(column) = tree.column_v(d) {
                        rows::add_twist(A, column, &self.phi_v[d]);
                    }
                }
            }
            if let Some(modes) = &body.modes {
                for d in modes.rates() {
                    let row = &mut self.rows[d * B..][..B];
                    rows::subtract_powers_of(row, &self.K[d], &self.carry[own..][..B]);
                }
                let others = |slot: usize| slot * B != own;
                for shared in [false, true] {
                    // The stations that share the body's slot come last, because they overwrite it.
                    for s in modes.stations.clone() {
                        if let Some(slot) = self.layout.station_slot[s].filter(|&slot| others(slot) != shared) {
                            self.carry.copy_within(own..own + B, slot * B);
                            self.station_forward(tree, modes, slot, system.stations[s].first);
                        }
                    }
                }
            }
            for &(from, to) in &self.layout.others[i] {
                self.carry.copy_within(from * B..(from + 1) * B, to * B);
            }
        }
    }
}

/// Adds the contents of the slot `from` to the slot `to`; `B` is the number of blocks in a slot.
pub(super) fn add_slot(carry: &mut [Six], B: usize, to: usize, from: usize) {
    let pair = carry.get_disjoint_mut([to * B..(to + 1) * B, from * B..(from + 1) * B]);
    let [to, from] = pair.expect("two slots");
    for (to, from) in to.as_flattened_mut().iter_mut().zip(from.as_flattened()) {
        for l in 0..LANES {
            to[l] += from[l];
        }
    }
}
