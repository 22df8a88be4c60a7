//! The recursion over all columns of a tree through the modes of a flexible body.

use super::Derivatives;
use super::columns::add_slot;
use super::layout::Tree;
use super::rows::{self, LANES};
use crate::dynamics::Applied;
use crate::system::{Modes, System};

impl Derivatives {
    /// Backward pass over the modes of body `i`, with the bodies attached to its stations.
    pub(super) fn modal_backward(
        &mut self,
        system: &System,
        active: &Applied<f64>,
        tree: &Tree,
        i: usize,
        modes: &Modes,
    ) {
        for d in modes.rates() {
            self.power_q[d] = self.local.power_q[d];
            self.power_v[d] = self.local.power_v[d] + active.tau[d];
        }
        self.add_station_biases(system, tree, modes);
        for k in 0..modes.n {
            self.modal_row(system, tree, modes, k);
        }
        self.solve_modes(tree, modes);
        self.propagate_from_stations(system, tree, i, modes);
        let (B, r) = (tree.blocks, self.at[i].r);
        let p = &mut self.carry[self.layout.slot[i] * B..][..B];
        for d in modes.rates() {
            rows::spread_wrench(p, &self.U[d], &self.rows[d * B..][..B]);
            if let Some(column) = tree.column_q(d) {
                rows::add_wrench(p, column, &self.local.wrench_q[d].shift(&r));
            }
            if let Some(column) = tree.column_v(d) {
                rows::add_wrench(p, column, &self.local.wrench_v[d].shift(&r));
            }
        }
    }

    /// Adds the biases that the motion of the stations causes in the modes' own columns to the
    /// biases in the slots of the stations.
    fn add_station_biases(&mut self, system: &System, tree: &Tree, modes: &Modes) {
        let (B, n, dofs) = (tree.blocks, modes.n, modes.rates());
        for s in modes.stations.clone() {
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
    }

    /// Computes the right-hand side of the row of mode `k` for all columns.
    fn modal_row(&mut self, system: &System, tree: &Tree, modes: &Modes, k: usize) {
        let (B, n, dofs) = (tree.blocks, modes.n, modes.rates());
        let d = dofs.start + k;
        let mut w = [self.force_coriolis[d], self.local.tau_turned[d]];
        for s in modes.stations.clone() {
            let (sum, T) = (&self.at_station[s].sum, &self.T[system.stations[s].first + k]);
            w[0] += sum.coriolis_on(T);
            w[1] += self.turned_station[s].on(T);
        }
        self.begin_row(tree, d, &w[0], &w[1]);
        for s in modes.stations.clone() {
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

    /// Adds the sums and biases of the stations, and the power of the loads there, to those of body
    /// `i`.
    fn propagate_from_stations(&mut self, system: &System, tree: &Tree, i: usize, modes: &Modes) {
        let (B, v_O) = (tree.blocks, self.v_O[i]);
        let own = self.layout.slot[i] * B;
        for s in modes.stations.clone() {
            let Some(slot) = self.layout.station_slot[s] else {
                continue;
            };
            let (turned, first) = (self.turned_station[s], system.stations[s].first);
            self.at[i].sum.add(&self.at_station[s].sum);
            self.turned[i].add(&turned);
            if slot * B != own {
                add_slot(&mut self.carry, B, self.layout.slot[i], slot);
            }
            for (k, d) in modes.rates().enumerate() {
                let moving = self.local.moved_q[first + k];
                self.power_q[d] += Self::power_moved(&turned, &moving, &v_O);
                self.power_v[d] += turned.active.power(&self.T[first + k]);
            }
        }
    }

    /// Replaces the right-hand sides `k` in the rows of the modes by `M⁻¹ k`, with the factors of
    /// `M`.
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

    /// Converts the accelerations of a flexible body in all columns, stored in a station's slot, to
    /// those of the station, whose columns begin at index `first`.
    pub(super) fn station_forward(&mut self, tree: &Tree, modes: &Modes, slot: usize, first: usize) {
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
}
