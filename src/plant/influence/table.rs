use super::Knowns;
use crate::plant::Jacobians;
use crate::plant::model::{Model, Source};
use std::ops::Range;

/// A change beyond this part of the greatest that any known causes is no round-off, which stays below 1e-12.
const THRESHOLD: f64 = 1e-10;
/// What is smaller than this part of its nominal value is no size to go by: a component that vanishes leaves round-off alone.
const NOTHING: f64 = 1e-1;
/// A partial derivative below this part of the greatest of its row, each times its state's size, is round-off.
const FLOOR: f64 = 1e-12;
/// Factors closer than this part of their size are the same.
const SAME: f64 = 1e-9;

/// By how much each known changes each computed number.
pub(super) struct Changes<'a> {
    now: &'a [f64],
    largest: Vec<f64>,
    recorded: Vec<(usize, Vec<f64>)>,
}

impl<'a> Changes<'a> {
    /// Of what is now, with its nominal values.
    pub fn new(now: &'a [f64], nominals: impl Iterator<Item = f64>) -> Self {
        let sizes = now.iter().zip(nominals);
        Self {
            now,
            largest: sizes
                .map(|(value, nominal)| value.abs().max(NOTHING * nominal))
                .collect(),
            recorded: Vec::new(),
        }
    }

    /// What a change gave; one that led to where nothing can be evaluated shows nothing.
    pub fn record(&mut self, known: usize, then: Option<Vec<f64>>) {
        let Some(then) = then else { return };
        let by: Vec<f64> = then
            .iter()
            .zip(self.now)
            .map(|(then, now)| (then - now).abs())
            .collect();
        for (largest, by) in self.largest.iter_mut().zip(&by) {
            *largest = largest.max(*by);
        }
        self.recorded.push((known, by));
    }

    pub fn enter(self, table: &mut Table) {
        for (known, by) in self.recorded {
            table.changed[known] = true;
            for (row, (by, largest)) in by.iter().zip(&self.largest).enumerate() {
                if *by > THRESHOLD * largest {
                    table.mark(row, known);
                }
            }
        }
    }
}

/// Computed numbers by rows, knowns by columns.
pub(super) struct Table {
    columns: usize,
    marked: Vec<bool>,
    /// Which knowns have been changed.
    changed: Vec<bool>,
    /// The partial derivative, once one has been seen; NaN if another has been seen since.
    slope: Vec<Option<f64>>,
}

impl Table {
    pub fn new(rows: usize, columns: usize) -> Self {
        Self {
            columns,
            marked: vec![false; rows * columns],
            changed: vec![false; columns],
            slope: vec![None; rows * columns],
        }
    }

    pub fn mark(&mut self, row: usize, known: usize) {
        self.marked[row * self.columns + known] = true;
    }

    /// Lets everything depend on those of these knowns that were never changed.
    pub fn mark_unchanged(&mut self, knowns: Range<usize>) {
        for known in knowns {
            if !self.changed[known] {
                let rows = self.marked[known..].iter_mut().step_by(self.columns);
                rows.for_each(|marked| *marked = true);
            }
        }
    }

    pub fn depends(&self, row: usize, known: usize) -> bool {
        self.marked[row * self.columns + known]
    }

    /// Takes in partial derivatives: what is not zero depends.
    pub fn enter_slopes(&mut self, slopes: &Jacobians, model: &Model) {
        each(slopes, model, |row, known, d| {
            if d != 0.0 {
                self.mark(row, known);
            }
            let seen = self.slope[row * self.columns + known].get_or_insert(d);
            if (*seen - d).abs() > SAME * d.abs() {
                *seen = f64::NAN;
            }
        });
    }

    /// Which knowns these partial derivatives tell something new of.
    pub fn news(&self, slopes: &Jacobians, model: &Model) -> Vec<bool> {
        let mut news = vec![false; self.columns];
        each(slopes, model, |row, known, d| {
            news[known] |= d != 0.0 && !self.depends(row, known);
        });
        news
    }

    /// Whether what depends does so with a factor that is always the same.
    fn is_constant(&self, row: usize, known: usize) -> bool {
        let slope = self.slope[row * self.columns + known];
        slope.is_some_and(|slope| slope.is_finite() && slope != 0.0)
    }

    /// The knowns of a row; its columns are the parameters (at the start) or the states, then the inputs.
    pub fn knowns(&self, row: usize, model: &Model, at_start: bool) -> Knowns {
        let others = self.columns - model.sources.len();
        let first: Vec<usize> = (0..others).filter(|&i| self.depends(row, i)).collect();
        let mut knowns = Knowns::default();
        if at_start {
            knowns.parameters = first;
        } else {
            knowns.constant_states = first.iter().copied().filter(|&i| self.is_constant(row, i)).collect();
            knowns.states = first;
        }
        for (slot, source) in model.sources.iter().enumerate() {
            let column = others + slot;
            if !self.depends(row, column) {
                continue;
            }
            match *source {
                Source::Host(input) => {
                    knowns.inputs.push(input);
                    knowns
                        .constant_inputs
                        .extend(self.is_constant(row, column).then_some(input));
                }
                // What a signal drives depends on the signal's own parameters when the run begins.
                Source::Signal(signal) | Source::Rate(signal) | Source::Acceleration(signal) if at_start => {
                    knowns.parameters.extend(model.elements.signals[signal].parameters());
                }
                Source::Signal(_) | Source::Rate(_) | Source::Acceleration(_) => {}
            }
        }
        knowns.parameters.sort_unstable();
        knowns
    }
}

/// Each row, known, and partial derivative times the known's size; zero if round-off of its row.
fn each(Jacobians { A, B, C, D }: &Jacobians, model: &Model, mut is: impl FnMut(usize, usize, f64)) {
    let nx = A.nrows();
    for row in 0..nx + C.nrows() {
        let (of_x, of_u) = match row.checked_sub(nx) {
            None => (A.row(row), B.row(row)),
            Some(output) => (C.row(output), D.row(output)),
        };
        let sizes = model.states.iter().map(|state| state.nominal);
        let sizes = sizes.chain(std::iter::repeat(1.0));
        let slopes = of_x.iter().chain(&of_u).zip(sizes).map(|(d, size)| d * size);
        let largest = slopes.clone().fold(0.0f64, |largest, d| largest.max(d.abs()));
        for (known, d) in slopes.enumerate() {
            is(row, known, if d.abs() > FLOOR * largest { d } else { 0.0 });
        }
    }
}
