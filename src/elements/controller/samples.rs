//! Samples of a sampled controller.

use super::Controller;
use crate::elements::{Stored, StoredAll};

/// Samples of a controller.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Samples {
    /// Time of the first sample, s.
    pub first: f64,
    /// Number of the next sample, counted from zero.
    pub next: f64,
    /// Outputs at the last sample.
    pub held: Vec<f64>,
}

impl Samples {
    pub fn new(controller: &Controller) -> Self {
        let outputs = match controller.is_sampled() {
            true => controller.quantities().count(),
            false => 0,
        };
        Self {
            held: vec![0.0; outputs],
            ..Self::default()
        }
    }
}

impl StoredAll for Samples {
    fn write_all(&self, to: &mut impl FnMut(f64)) {
        let Self { first, next, held } = self;
        first.write(to);
        next.write(to);
        held.iter().for_each(|number| number.write(to));
    }

    fn read_all(&mut self, from: &mut impl FnMut() -> f64) -> Option<()> {
        let Self { first, next, held } = self;
        for number in [first, next].into_iter().chain(held) {
            *number = f64::read(from)?;
        }
        Some(())
    }
}

impl Clone for Samples {
    fn clone(&self) -> Self {
        let Self { first, next, held } = self;
        Self {
            first: *first,
            next: *next,
            held: held.clone(),
        }
    }

    /// Copies without allocation between samples of one controller.
    fn clone_from(&mut self, source: &Self) {
        let Self { first, next, held } = self;
        (*first, *next) = (source.first, source.next);
        held.clone_from(&source.held);
    }
}
