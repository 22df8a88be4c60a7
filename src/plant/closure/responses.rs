//! Responses of the bodies of captures and loops to unit reactions, the scales of their rows.

use super::super::Discrete;
use super::super::context::Constants;
use super::super::evaluation::Engine;
use super::{Closure, Reaction};
use crate::algebra::{Scalar, Wrench};
use crate::system::Carrier;
use std::ops::Range;

/// Response, relative to the largest one, below which it is round-off; the largest then replaces
/// it.
const LEAST_ROW_RESPONSE: f64 = 1e-12;

/// Number of independent wrenches between two bodies.
pub(super) const WRENCHES: usize = 6;

impl<S: Scalar> Closure<S> {
    /// Returns the end of the rows from `first` on that are of contact points between the same two
    /// bodies.
    pub(super) fn end_of_group(&self, first: usize) -> usize {
        let carriers = |k: usize| {
            let row = &self.rows[k];
            let pair = self.held[row.held].pair.as_ref().filter(|_| row.rest.is_some())?;
            let carriers = pair.carriers();
            // A point of an ANCF beam takes no moment.
            (!carriers.iter().any(|on| matches!(on, Carrier::Point(_)))).then_some(carriers)
        };
        let of_first = carriers(first);
        let mut end = first + 1;
        while of_first.is_some() && end < self.rows.len() && carriers(end) == of_first {
            end += 1;
        }
        end
    }

    /// Fills the columns of `W` of a group of rows by the responses to the six unit wrenches between
    /// its two bodies, of which the reactions of its rows are combinations.
    pub(super) fn respond_of_group(
        &mut self,
        group: Range<usize>,
        is_symmetric: bool,
        of: Constants,
        engine: &mut Engine<S>,
        qdd: &mut [S],
    ) {
        let (system, n) = (&of.model.system, self.rows.len());
        let Engine {
            kinematics,
            applied,
            dynamics,
        } = engine;
        let Some(pair) = self.held[self.rows[group.start].held].pair else {
            return;
        };
        let first = if is_symmetric { group.start } else { 0 };
        for k in group.clone() {
            let arm = self.held[self.rows[k].held].pair.map_or(pair.arms[0], |of| of.arms[0]);
            self.about[k] = match self.rows[k].reaction() {
                Reaction::Wrench(unit) => unit.shift(&(arm - pair.arms[0])),
                Reaction::Torques { .. } => Wrench::zero(),
            };
            (first..n).for_each(|l| self.W[l * n + k] = S::zero());
        }
        for axis in 0..WRENCHES {
            let mut unit = [S::zero(); WRENCHES];
            unit[axis] = S::one();
            applied.clear();
            pair.push(system, kinematics, applied, Wrench::from_slice(&unit));
            dynamics.respond(of.at(kinematics), applied, qdd);
            let mut l = first;
            while l < n {
                let index = self.rows[l].held;
                let A = self.held[index].accelerates(system, kinematics, dynamics.A(), qdd);
                while l < n && self.rows[l].held == index {
                    let along = self.rows[l].unit.accelerates(&A, qdd);
                    let end = if is_symmetric { group.end.min(l + 1) } else { group.end };
                    let entries = &mut self.W[l * n + group.start..l * n + end];
                    for (entry, about) in entries.iter_mut().zip(&self.about[group.start..end]) {
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

    /// Fills the [`responses`](Self::responses), for which `W` must be filled; overwrites `applied`
    /// and `qdd`.
    pub(super) fn fill_responses(&mut self, of: Constants, engine: &mut Engine<S>, qdd: &mut [S]) {
        let (system, n) = (&of.model.system, self.rows.len());
        let Engine {
            kinematics,
            applied,
            dynamics,
        } = engine;
        // A response that is small relative to the largest is round-off.
        let own = |i: usize| self.W[i * n + i].value();
        let most = (0..n).map(own).fold(f64::MIN_POSITIVE, f64::max);
        for i in 0..n {
            self.responses[i] = own(i);
        }
        for (index, held) in self.held.iter().enumerate() {
            let Some(pair) = &held.pair else { continue };
            let rows = || (0..n).filter(|&i| self.rows[i].held == index);
            let mut largest = [0.0_f64; 2];
            for kind in 0..2 {
                let of_kind = || rows().filter(|&i| self.rows[i].is_offset() == (kind == 1));
                if of_kind().count() == 3 {
                    // Three rows along three axes already include the largest response.
                    largest[kind] = of_kind().map(own).fold(0.0, f64::max);
                    continue;
                }
                for axis in 0..if of_kind().next().is_some() { 3 } else { 0 } {
                    let mut unit = [S::zero(); 6];
                    unit[3 * kind + axis] = S::one();
                    let unit = Wrench::from_slice(&unit);
                    applied.clear();
                    pair.push(system, kinematics, applied, unit);
                    dynamics.respond(of.at(kinematics), applied, qdd);
                    let A = held.accelerates(system, kinematics, dynamics.A(), qdd);
                    largest[kind] = largest[kind].max(unit.power(&A).value());
                }
            }
            for i in 0..n {
                if self.rows[i].held == index {
                    let of_kind = largest[usize::from(self.rows[i].is_offset())];
                    self.responses[i] = if of_kind > LEAST_ROW_RESPONSE * most {
                        of_kind
                    } else {
                        most
                    };
                }
            }
        }
    }

    /// Returns, for each row, the largest response of its two bodies to a unit force (or moment)
    /// along one of three axes at the pair's point. [`hold`](Self::hold) fills it only if rows are
    /// redundant.
    pub fn responses(&self) -> &[f64] {
        &self.responses[..self.rows.len()]
    }

    /// Fills the [`responses`](Self::responses) of the last solution if [`hold`](Self::hold) has
    /// not done so.
    pub fn complete_responses(&mut self, of: Constants, discrete: &Discrete, mut engine: Engine<S>, qdd: &mut [S]) {
        if discrete.rank >= self.rows.len() {
            self.fill_responses(of, &mut engine, qdd);
        }
    }
}
