//! Responses of the bodies of captures and loops to unit reactions, the scales of their rows.

use super::super::Discrete;
use super::super::context::ConstantsOf;
use super::super::evaluation::Engine;
use super::combined::Combination;
use super::gram_schmidt::WRENCHES;
use super::{Closure, Reaction, Row};
use crate::algebra::{Scalar, Twist, Wrench};
use crate::dynamics::Dynamics;
use crate::system::{Carrier, System};
use std::ops::Range;

/// Response, relative to the largest one, below which it is round-off; the largest then replaces
/// it.
const LEAST_ROW_RESPONSE: f64 = 1e-12;

impl<S: Scalar> Closure<S> {
    /// Fills `W` by unit reactions, after a solution of the dynamics; overwrites `applied` and
    /// `qdd`.
    pub(super) fn respond(&mut self, of: ConstantsOf<S>, engine: &mut Engine<S>, qdd: &mut [S]) {
        self.combine();
        let (system, n) = (&of.model.system, self.combined.len());
        let is_symmetric = self.is_symmetric();
        self.first.clear();
        self.first.extend(0..n);
        let mut k = 0;
        while k < n {
            let group = k..if is_symmetric { k + 1 } else { self.end_of_group(k) };
            if group.len() > WRENCHES {
                k = group.end;
                self.respond_of_group(group, of, engine, qdd);
                continue;
            }
            if is_symmetric && self.respond_alone(k, system, engine.dynamics) {
                k += 1;
                continue;
            }
            let Engine {
                kinematics,
                applied,
                dynamics,
            } = engine;
            let Combination { held, unit, .. } = self.combined.units[k];
            let reaction = if is_symmetric { unit } else { self.rows[k].reaction() };
            applied.clear();
            reaction.push(&self.held[held], system, kinematics, applied, S::one());
            dynamics.respond(of.at(kinematics), applied, qdd);
            // If `W` is symmetric the lower triangle suffices.
            let mut l = if is_symmetric { k } else { 0 };
            while l < n {
                let index = self.combined.units[l].held;
                let A = self.held[index].accelerates(system, kinematics, dynamics.A(), qdd);
                while l < n && self.combined.units[l].held == index {
                    self.W[l * n + k] = self.combined.units[l].unit.accelerates(&A, qdd);
                    self.first[l] = self.first[l].min(k);
                    l += 1;
                }
            }
            k += 1;
        }
    }

    /// Fills the column `k` of the lower triangle of `W` if its reaction acts on bodies that are
    /// [alone](crate::system::Body::is_alone): no other body responds. Returns false otherwise.
    fn respond_alone(&mut self, k: usize, system: &System, dynamics: &Dynamics<S>) -> bool {
        let (Combination { held, unit, .. }, n) = (self.combined.units[k], self.combined.len());
        let (Some(pair), Reaction::Wrench(unit)) = (&self.held[held].pair, unit) else {
            return false;
        };
        let on = pair.carriers();
        let mut A = [Twist::zero(); 2];
        for (side, F) in [unit, Wrench::zero() - unit].into_iter().enumerate() {
            let response = match on[side] {
                Carrier::World => Some(Twist::zero()),
                Carrier::Body(i) if system.bodies[i].is_alone() => {
                    dynamics.response_alone(i, &F.shift(&pair.arms[side]))
                }
                _ => None,
            };
            let Some(response) = response else { return false };
            A[side] = response;
        }
        let moves = |carrier: &Carrier| *carrier != Carrier::World && on.contains(carrier);
        let mut l = k;
        while l < n {
            let index = self.combined.units[l].held;
            let pair = self.held[index].pair.filter(|pair| pair.carriers().iter().any(moves));
            let A = pair.map(|pair| {
                pair.relative(|carrier| match (moves(&carrier), carrier == on[0]) {
                    (true, true) => A[0],
                    (true, false) => A[1],
                    (false, _) => Twist::zero(),
                })
            });
            while l < n && self.combined.units[l].held == index {
                self.W[l * n + k] = match (&A, self.combined.units[l].unit) {
                    (Some(A), Reaction::Wrench(unit)) => {
                        self.first[l] = self.first[l].min(k);
                        unit.power(A)
                    }
                    _ => S::zero(),
                };
                l += 1;
            }
        }
        true
    }

    /// Fills the columns of `W` of a group of rows by the responses to the six unit wrenches between
    /// its two bodies, of which the reactions of its rows are combinations.
    fn respond_of_group(&mut self, group: Range<usize>, of: ConstantsOf<S>, engine: &mut Engine<S>, qdd: &mut [S]) {
        let (system, n) = (&of.model.system, self.rows.len());
        let Engine {
            kinematics,
            applied,
            dynamics,
        } = engine;
        let Some(pair) = self.held[self.rows[group.start].held].pair else {
            return;
        };
        for k in group.clone() {
            let arm = self.held[self.rows[k].held].pair.map_or(pair.arms[0], |of| of.arms[0]);
            self.about[k] = match self.rows[k].reaction() {
                Reaction::Wrench(unit) => unit.shift(&(arm - pair.arms[0])),
                Reaction::Torques { .. } => Wrench::zero(),
            };
            (0..n).for_each(|l| self.W[l * n + k] = S::zero());
        }
        for axis in 0..WRENCHES {
            let mut unit = [S::zero(); WRENCHES];
            unit[axis] = S::one();
            applied.clear();
            pair.push(system, kinematics, applied, Wrench::from_slice(&unit));
            dynamics.respond(of.at(kinematics), applied, qdd);
            let mut l = 0;
            while l < n {
                let index = self.rows[l].held;
                let A = self.held[index].accelerates(system, kinematics, dynamics.A(), qdd);
                while l < n && self.rows[l].held == index {
                    let along = self.rows[l].unit.accelerates(&A, qdd);
                    let entries = &mut self.W[l * n + group.start..l * n + group.end];
                    for (entry, about) in entries.iter_mut().zip(&self.about[group.clone()]) {
                        let part = match axis {
                            0..3 => about.t[axis],
                            _ => about.f[axis - 3],
                        };
                        *entry += part * along;
                    }
                    l += 1;
                }
            }
        }
    }

    /// Fills the [`responses`](Self::responses), for which `W` of the combinations must be filled;
    /// overwrites `applied` and `qdd`.
    pub(super) fn fill_responses(&mut self, of: ConstantsOf<S>, engine: &mut Engine<S>, qdd: &mut [S]) {
        let (system, n) = (&of.model.system, self.rows.len());
        let Engine {
            kinematics,
            applied,
            dynamics,
        } = engine;
        self.combined.own_responses(&self.W, &mut self.responses[..n]);
        // A response that is small relative to the largest is round-off.
        let most = self.responses[..n].iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut first = 0;
        while first < n {
            let held = &self.held[self.rows[first].held];
            let of_held = |row: &&Row<S>| row.held == self.rows[first].held;
            let rows = first..first + self.rows[first..].iter().take_while(of_held).count();
            first = rows.end;
            let Some(pair) = &held.pair else { continue };
            for is_offset in [false, true] {
                let of_kind = |i: &usize| self.rows[*i].is_offset() == is_offset;
                let count = rows.clone().filter(of_kind).count();
                let mut largest = 0.0_f64;
                if count == 3 {
                    // Three rows along three axes already include the largest response.
                    let own = rows.clone().filter(of_kind).map(|i| self.responses[i]);
                    largest = own.fold(0.0, f64::max);
                }
                for axis in 0..if count == 0 || count == 3 { 0 } else { 3 } {
                    let mut unit = [S::zero(); 6];
                    unit[3 * usize::from(is_offset) + axis] = S::one();
                    let unit = Wrench::from_slice(&unit);
                    applied.clear();
                    pair.push(system, kinematics, applied, unit);
                    dynamics.respond(of.at(kinematics), applied, qdd);
                    let A = held.accelerates(system, kinematics, dynamics.A(), qdd);
                    largest = largest.max(unit.power(&A).value());
                }
                let is_significant = largest > LEAST_ROW_RESPONSE * most;
                for i in rows.clone().filter(of_kind) {
                    self.responses[i] = if is_significant { largest } else { most };
                }
            }
        }
    }

    /// Returns, for each row, the largest response of its two bodies to a unit force (or moment)
    /// along one of three axes at the pair's point. [`hold`](Self::hold) fills it only if
    /// combinations of rows are redundant.
    pub fn responses(&self) -> &[f64] {
        &self.responses[..self.rows.len()]
    }

    /// Fills the [`responses`](Self::responses) of the last solution if [`hold`](Self::hold) has
    /// not done so.
    pub fn complete_responses(
        &mut self,
        of: ConstantsOf<S>,
        discrete: &Discrete,
        mut engine: Engine<S>,
        qdd: &mut [S],
    ) {
        if discrete.rank >= self.combined.len() {
            self.fill_responses(of, &mut engine, qdd);
        }
    }
}
