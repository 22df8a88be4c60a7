//! When the method is to change: what [`Method::Auto`](super::Method::Auto) remembers of the steps.

use super::numbers::{InvalidMemory, Numbers};

/// Steps that change the method, and steps in a row that make it forget them.
const SIGNS: u8 = 15;
const LULLS: u8 = 6;

/// Steps near a vibration before the implicit method is tried, at first and at last: a trial costs as much as about ten.
const PATIENCE: u16 = 40;
const MOST_PATIENCE: u16 = 5120;

/// What is remembered of the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Watch {
    /// The implicit method is at work.
    pub stiff: bool,
    /// Steps that have spoken for a change of the method.
    signs: u8,
    /// Steps in a row, the last one included, that have not.
    lulls: u8,
    /// Spectral radius of the Jacobian, 1/s; zero: not computed yet.
    pub radius: f64,
    /// Steps that a fast vibration may have limited.
    near: u16,
    /// How many of them are waited for before the implicit method is tried.
    patience: u16,
}

impl Watch {
    /// A run starts explicit.
    pub const START: Watch = Watch {
        stiff: false,
        signs: 0,
        lulls: 0,
        radius: 0.0,
        near: 0,
        patience: PATIENCE,
    };

    /// How many numbers it has.
    pub const COUNT: usize = 6;

    pub fn numbers(&self) -> [f64; Self::COUNT] {
        [
            f64::from(u8::from(self.stiff)),
            f64::from(self.signs),
            f64::from(self.lulls),
            self.radius,
            f64::from(self.near),
            f64::from(self.patience),
        ]
    }

    /// Reads what [`numbers`](Self::numbers) gives.
    pub fn read(numbers: &mut Numbers) -> Result<Watch, InvalidMemory> {
        Ok(Watch {
            stiff: numbers.flag()?,
            signs: numbers.count(0..=u16::from(SIGNS) - 1)? as u8,
            lulls: numbers.count(0..=u16::from(u8::MAX))? as u8,
            radius: numbers.not_negative()?,
            near: numbers.count(0..=u16::MAX)?,
            patience: numbers.count(PATIENCE..=MOST_PATIENCE)?,
        })
    }

    /// Where the other method is put to work.
    pub fn of_the_other_method(&self) -> Watch {
        Watch {
            stiff: !self.stiff,
            ..Watch::START
        }
    }

    /// Counts a step; whether the method changes now.
    pub fn vote(&mut self, speaks: bool) -> bool {
        if speaks {
            self.signs = self.signs.saturating_add(1);
            self.lulls = 0;
        } else {
            self.lulls = self.lulls.saturating_add(1);
            if self.lulls >= LULLS {
                self.signs = 0;
            }
        }
        self.signs >= SIGNS
    }

    /// Counts a step that a fast vibration may have limited, or not.
    pub fn count_near(&mut self, is_near: bool) {
        self.near = match is_near {
            true => self.near.saturating_add(1),
            false => self.near.saturating_sub(1),
        };
    }

    /// Whether the implicit method is worth a trial.
    pub fn has_waited(&self) -> bool {
        self.near >= self.patience
    }

    /// A trial was in vain: the next one waits twice as long.
    pub fn wait_longer(&mut self) {
        self.near = 0;
        self.patience = (2 * self.patience).min(MOST_PATIENCE);
    }
}
