//! All columns of a tree, side by side, through the recursion; and from them the Jacobian.

use super::layout::Tree;
use super::local::unit;
use super::motion::Moving;
use super::rows::{self, LANES, Six};
use super::{Derivatives, Turned};
use crate::algebra::{ArticulatedInertia, Mat3, Quaternion, Twist, Vec3};
use crate::dynamics::Applied;
use crate::spec::JointType;
use crate::system::joint::quaternion_rate_derivatives;
use crate::system::{Derived, Joint, Kinematics, Modes, System};
use nalgebra::DMatrixViewMut;

impl Derivatives {
    /// Writes into `A`, all zeros before, `∂ẋ/∂x` of the states `(q, q̇)`, and of the work of active loads and drives if there is one state more, after
    /// [`accelerate`](Self::accelerate) and all passes. `active` are the loads without a potential.
    pub fn jacobian(
        &mut self,
        (system, derived): (&System, &Derived),
        kinematics: &Kinematics<f64>,
        active: &Applied<f64>,
        (q, qd): (&[f64], &[f64]),
        mut A: DMatrixViewMut<f64>,
    ) {
        kinematic_rows(system, (q, qd), &mut A);
        for t in 0..self.layout.trees.len() {
            let tree = self.layout.trees[t].clone();
            self.sums(system, derived, kinematics, active, &tree);
            self.columns_inwards(system, active, &tree);
            self.columns_outwards(system, qd, &tree);
            self.write(system, kinematics, &tree, q, &mut A);
        }
    }

    /// What each body adds to the sums beside its `f`.
    fn sums(
        &mut self,
        system: &System,
        derived: &Derived,
        kinematics: &Kinematics<f64>,
        active: &Applied<f64>,
        tree: &Tree,
    ) {
        for i in tree.bodies.clone() {
            let (place, local) = (&mut self.at[i], &self.local);
            if self.bodies {
                self.turned[i] = Turned {
                    G: local.turned[i].map(|G| G.shift(&place.r)),
                    active: active.wrench[i].shift(&place.r),
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
                // By its own angular velocity, and by what (1) makes of the ordinary acceleration of its origin.
                let own = |axis: usize| {
                    let psi = unit(axis);
                    let A = Twist::new(psi.cross(&V.w), psi.cross(&v) * 2.0);
                    (I.times(&A) + local.wrench_spin[modes.index][axis]).shift(&place.r).t
                };
                place.sum.C = Mat3::from_columns(&[own(0), own(1), own(2)]);
                for (L, d) in bent.L.iter().zip(modes.rates()) {
                    self.force_coriolis[d] = local.force_spin[d] + V.w.cross(&L.t) + v.cross(&L.f) * 2.0;
                }
            }
        }
    }

    /// Inwards: every column's bias, and the rows' `k`.
    fn columns_inwards(&mut self, system: &System, active: &Applied<f64>, tree: &Tree) {
        let B = tree.blocks;
        self.psi[..B].fill([[0.0; LANES]; 3]);
        self.turn[..B].fill([[0.0; LANES]; 3]);
        self.drive_power[..B].fill([0.0; LANES]);
        for i in tree.bodies.clone().rev() {
            let body = &system.bodies[i];
            let slot = self.layout.slot[i];
            if body.is_leaf {
                self.carry[slot * B..][..B].fill([[0.0; LANES]; 6]);
                self.stand_on(system, i, tree);
            }
            for k in 0..self.layout.others[i].len() {
                let (to, from) = self.layout.others[i][k];
                add_slot(&mut self.carry, B, to, from);
            }
            if let Some(modes) = &body.modes {
                self.modal_inwards(system, active, tree, (i, modes));
            }
            for g in self.layout.of_body[i].clone().rev() {
                self.group_inwards(&body.joint, active, tree, i, g);
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

    /// Marks `ψ_w` and `ξ_w` of all that carries body `i`, its own joint too.
    fn stand_on(&mut self, system: &System, i: usize, tree: &Tree) {
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

    /// Marks `ψ_w` of the coordinate `d`; its `ξ_w` is the `ψ_w` of the rate.
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

    /// Starts the right-hand side of row `d` with `2 B ψ − G ξ` of all columns that are marked, of which none is beyond it.
    fn begin_row(&mut self, tree: &Tree, d: usize, w: &Vec3<f64>, g: &Vec3<f64>) {
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

    /// Change of the active loads' power with a coordinate that moves all outboard.
    fn power_moved(turned: &Turned, moving: &Moving, v_O: &Vec3<f64>) -> f64 {
        // The tree's point moves on: not carried along is its velocity.
        let mut psi = moving.psi;
        psi.v -= moving.xi.w.cross(v_O);
        turned.active.power(&psi) + turned.power.dot(&moving.xi.w)
    }

    fn group_inwards(&mut self, joint: &Joint, active: &Applied<f64>, tree: &Tree, i: usize, g: usize) {
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
            if joint.prescribed {
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
            if joint.prescribed {
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

    /// The modes of body `i`, with what hangs on its stations.
    fn modal_inwards(&mut self, system: &System, active: &Applied<f64>, tree: &Tree, (i, modes): (usize, &Modes)) {
        let (B, n) = (tree.blocks, modes.n);
        let (own, r, v_O) = (self.layout.slot[i] * B, self.at[i].r, self.v_O[i]);
        let dofs = modes.rates();
        for d in dofs.clone() {
            self.power_q[d] = self.local.power_q[d];
            self.power_v[d] = self.local.power_v[d] + active.tau[d];
        }
        let stations = || modes.stations.clone();
        for s in stations() {
            let Some(slot) = self.layout.station_slot[s] else {
                continue;
            };
            let (sum, I) = (self.at_station[s].sum, self.at_station[s].I_A);
            let (first, slot) = (system.stations[s].first, slot * B);
            for k in 0..n {
                let (by_q, by_v) = (self.local.moved_q[first + k], self.local.moved_v[first + k]);
                let p = &mut self.carry[slot..][..B];
                if let Some(column) = tree.column_q(dofs.start + k) {
                    let F = I.times(&by_q.phi) + sum.coriolis(&by_q.psi.w) + by_q.xi.cross_wrench(&sum.f);
                    rows::add_wrench(p, column, &(F - self.turned_station[s].times(&by_q.xi.w)));
                }
                if let Some(column) = tree.column_v(dofs.start + k) {
                    let F = I.times(&by_v.phi) + sum.coriolis(&by_v.psi.w);
                    rows::add_wrench(p, column, &F);
                }
            }
        }
        for k in 0..n {
            let d = dofs.start + k;
            let mut w = [self.force_coriolis[d], self.local.tau_turned[d]];
            for s in stations() {
                let (sum, T) = (&self.at_station[s].sum, &self.T[system.stations[s].first + k]);
                w[0] += sum.coriolis_on(T);
                w[1] += self.turned_station[s].on(T);
            }
            self.begin_row(tree, d, &w[0], &w[1]);
            for s in stations() {
                let Some(slot) = self.layout.station_slot[s] else {
                    continue;
                };
                let (sum, first) = (self.at_station[s].sum, system.stations[s].first);
                let row = &mut self.rows[d * B..][..B];
                rows::subtract_powers_on(row, &self.T[first + k], &self.carry[slot * B..][..B]);
                for l in 0..n {
                    if let Some(column) = tree.column_q(dofs.start + l) {
                        let change = sum.f.power(&self.local.column_q[s][k * n + l]);
                        row[column / LANES][column % LANES] -= change;
                    }
                }
            }
            let row = &mut self.rows[d * B..][..B];
            for l in 0..n {
                let (by_q, by_v) = (&self.local.force_q[modes.index], &self.local.force_v[modes.index]);
                if let Some(column) = tree.column_q(dofs.start + l) {
                    row[column / LANES][column % LANES] -= by_q[k * n + l];
                }
                if let Some(column) = tree.column_v(dofs.start + l) {
                    row[column / LANES][column % LANES] -= by_v[k * n + l];
                }
            }
        }
        self.solve_modes(tree, modes);
        // What the body and its stations hand on.
        for s in stations() {
            let Some(slot) = self.layout.station_slot[s] else {
                continue;
            };
            let (turned, first) = (self.turned_station[s], system.stations[s].first);
            self.at[i].sum.add(&self.at_station[s].sum);
            self.turned[i].add(&turned);
            if slot * B != own {
                add_slot(&mut self.carry, B, self.layout.slot[i], slot);
            }
            for (k, d) in dofs.clone().enumerate() {
                let moving = self.local.moved_q[first + k];
                self.power_q[d] += Self::power_moved(&turned, &moving, &v_O);
                self.power_v[d] += turned.active.power(&self.T[first + k]);
            }
        }
        let p = &mut self.carry[own..][..B];
        for d in dofs {
            rows::spread_wrench(p, &self.U[d], &self.rows[d * B..][..B]);
            if let Some(column) = tree.column_q(d) {
                rows::add_wrench(p, column, &self.local.wrench_q[d].shift(&r));
            }
            if let Some(column) = tree.column_v(d) {
                rows::add_wrench(p, column, &self.local.wrench_v[d].shift(&r));
            }
        }
    }

    /// `k = M⁻¹ k` in the modes' rows, by the factors of `M`.
    fn solve_modes(&mut self, tree: &Tree, modes: &Modes) {
        let (B, n) = (tree.blocks, modes.n);
        let M = &self.M[modes.index];
        let rows = &mut self.rows[modes.v * B..][..n * B];
        for k in 1..n {
            let (before, row) = rows.split_at_mut(k * B);
            for (l, other) in before.chunks(B).enumerate() {
                rows::add_multiple(&mut row[..B], -M[k * n + l], other);
            }
        }
        for k in (0..n).rev() {
            let (row, after) = rows[k * B..].split_at_mut(B);
            for entry in row.as_flattened_mut() {
                *entry *= M[k * n + k];
            }
            for (l, other) in after.chunks(B).enumerate() {
                rows::add_multiple(row, -M[(k + 1 + l) * n + k], other);
            }
        }
    }

    /// Outwards: from `k` to the changes of the accelerations, row by row.
    fn columns_outwards(&mut self, system: &System, qd: &[f64], tree: &Tree) {
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
                    if body.joint.prescribed {
                        // What is left of the torque, without K.
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
                    // What shares the body's room comes last.
                    for s in modes.stations.clone() {
                        if let Some(slot) = self.layout.station_slot[s].filter(|&slot| others(slot) != shared) {
                            self.carry.copy_within(own..own + B, slot * B);
                            self.station_outwards(tree, modes, slot, system.stations[s].first);
                        }
                    }
                }
            }
            for &(from, to) in &self.layout.others[i] {
                self.carry.copy_within(from * B..(from + 1) * B, to * B);
            }
        }
    }

    /// From the acceleration of a flexible body, in the room of a station, to that of the station.
    fn station_outwards(&mut self, tree: &Tree, modes: &Modes, slot: usize, first: usize) {
        let B = tree.blocks;
        let A = &mut self.carry[slot * B..][..B];
        for (k, d) in modes.rates().enumerate() {
            rows::spread_twist(A, &self.T[first + k], &self.rows[d * B..][..B]);
            if let Some(column) = tree.column_q(d) {
                rows::add_twist(A, column, &self.local.moved_q[first + k].phi);
            }
            if let Some(column) = tree.column_v(d) {
                rows::add_twist(A, column, &self.local.moved_v[first + k].phi);
            }
        }
    }

    /// How the acceleration of a free root's origin, in its joint's axes, changes when the whole craft turns: where that has no column,
    /// it is carried along.
    fn turned_root(&self, joint: &Joint, kinematics: &Kinematics<f64>, tree: &Tree, d: usize) -> Option<[f64; 3]> {
        if joint.kind != JointType::Free || tree.column_q(d).is_some() {
            return None;
        }
        let change = self.moving[d].xi.w.cross(&self.A[tree.bodies.start].v);
        Some(std::array::from_fn(|k| kinematics.H[joint.v + 3 + k].v.dot(&change)))
    }

    /// Writes what the columns of a tree have become.
    fn write(
        &mut self,
        system: &System,
        kinematics: &Kinematics<f64>,
        tree: &Tree,
        q: &[f64],
        A: &mut DMatrixViewMut<f64>,
    ) {
        let (nq, nv) = (system.nq, system.nv);
        let work = (A.nrows() > nq + nv).then_some(nq + nv);
        self.targets[..tree.blocks].fill([None; LANES]);
        for i in tree.bodies.clone() {
            let joint = &system.bodies[i].joint;
            let quaternion = joint.nq > joint.nv;
            for d in joint.v..joint.v + joint.nv {
                let k = self.layout.rate[d] - joint.v;
                if !(quaternion && k < 3) {
                    let coordinate = joint.q + k + usize::from(quaternion);
                    self.aim(tree.column_q(d), self.power_q[d], coordinate, (work, A));
                }
                self.aim(tree.column_v(d), self.power_v[d], nq + joint.v + k, (work, A));
            }
            for (k, d) in system.bodies[i].modes.iter().flat_map(Modes::rates).enumerate() {
                let coordinate = system.bodies[i].modes.as_ref().map_or(0, |modes| modes.q + k);
                self.aim(tree.column_q(d), self.power_q[d], coordinate, (work, A));
                self.aim(tree.column_v(d), self.power_v[d], nq + d, (work, A));
            }
        }
        let B = tree.blocks;
        for (b, targets) in self.targets[..B].iter().enumerate() {
            for (lane, target) in targets.iter().enumerate() {
                let Some(column) = target else { continue };
                let mut to = A.column_mut(*column);
                let to = &mut to.as_mut_slice()[nq..];
                let rows = self.rows[tree.dofs.start * B..].chunks_exact(B);
                for (row, rate) in rows.zip(&self.layout.rate[tree.dofs.clone()]) {
                    to[*rate] = row[b][lane];
                }
            }
            if let Some(work) = work {
                for (target, entry) in targets.iter().zip(self.drive_power[b]) {
                    if let Some(column) = target {
                        A[(work, *column)] += entry;
                    }
                }
            }
        }
        for i in tree.bodies.clone() {
            let joint = &system.bodies[i].joint;
            if joint.nq > joint.nv {
                self.write_attitude(kinematics, tree, joint, (q, nq, work), A);
            }
        }
    }

    /// Says to which column of `A` a column belongs; writes what there is already of it.
    fn aim(
        &mut self,
        column: Option<usize>,
        power: f64,
        to: usize,
        (work, A): (Option<usize>, &mut DMatrixViewMut<f64>),
    ) {
        if let Some(column) = column {
            self.targets[column / LANES][column % LANES] = Some(to);
        }
        if let Some(work) = work {
            A[(work, to)] = power;
        }
    }

    /// Writes the columns of a quaternion, from those of the three turns.
    fn write_attitude(
        &self,
        kinematics: &Kinematics<f64>,
        tree: &Tree,
        joint: &Joint,
        (q, nq, work): (&[f64], usize, Option<usize>),
        A: &mut DMatrixViewMut<f64>,
    ) {
        let B = tree.blocks;
        let attitude = Quaternion::from_slice(&q[joint.q..]);
        for d in joint.v..joint.v + joint.nv {
            let k = self.layout.rate[d] - joint.v;
            if k >= 3 {
                continue;
            }
            let carried = self.turned_root(joint, kinematics, tree, d);
            // θ = 2 (q* ⊗ δq)/|q|², body axes: the rows of ½ q ⊗ (0, e), four over |q|² times.
            let along = attitude.rate(unit(k)).to_array();
            for (part, along) in along.into_iter().enumerate() {
                let factor = 4.0 * along / attitude.norm_squared();
                let mut to = A.column_mut(joint.q + part);
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

/// The rows of the coordinates' derivatives.
fn kinematic_rows(system: &System, (q, qd): (&[f64], &[f64]), A: &mut DMatrixViewMut<f64>) {
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

/// Adds what one room holds to another.
fn add_slot(carry: &mut [Six], B: usize, to: usize, from: usize) {
    let rooms = carry.get_disjoint_mut([to * B..(to + 1) * B, from * B..(from + 1) * B]);
    let [to, from] = rooms.expect("two rooms");
    for (to, from) in to.as_flattened_mut().iter_mut().zip(from.as_flattened()) {
        for l in 0..LANES {
            to[l] += from[l];
        }
    }
}
