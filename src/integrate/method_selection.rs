//! Counts by which [`Method::Auto`](super::Method::Auto) selects its method.

use super::numbers::{InvalidMemory, Numbers};

/// Number of steps counted for a change after which the method changes.
const VOTES_TO_CHANGE: u8 = 15;
/// Number of consecutive other steps that reset this count.
const NON_VOTES_TO_RESET: u8 = 6;

/// Number of steps possibly limited by a vibration after which the implicit method is tried;
/// initial and maximum value. A trial costs as much as about ten steps.
const TRIAL_INTERVAL: u16 = 40;
const MAX_TRIAL_INTERVAL: u16 = 5120;

/// Counts of steps with the method in use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MethodSelection {
    /// True if the implicit method is in use.
    pub stiff: bool,
    /// Steps that counted for a change of the method.
    votes: u8,
    /// Consecutive steps up to the last that did not count for a change.
    non_votes: u8,
    /// Spectral radius of the current Jacobian, 1/s; zero if not computed yet.
    pub radius: f64,
    /// Steps that a fast vibration may have limited, less the other steps; at least zero.
    near: u16,
    /// Value of `near` at which the implicit method is tried.
    trial_interval: u16,
}

impl MethodSelection {
    /// Initial state: the explicit method.
    pub const START: MethodSelection = MethodSelection {
        stiff: false,
        votes: 0,
        non_votes: 0,
        radius: 0.0,
        near: 0,
        trial_interval: TRIAL_INTERVAL,
    };

    /// Number of stored values.
    pub const COUNT: usize = 6;

    pub fn numbers(&self) -> [f64; Self::COUNT] {
        [
            f64::from(u8::from(self.stiff)),
            f64::from(self.votes),
            f64::from(self.non_votes),
            self.radius,
            f64::from(self.near),
            f64::from(self.trial_interval),
        ]
    }

    /// Reads the values of [`numbers`](Self::numbers).
    pub fn read(numbers: &mut Numbers) -> Result<MethodSelection, InvalidMemory> {
        Ok(MethodSelection {
            stiff: numbers.flag()?,
            votes: numbers.count(0..=u16::from(VOTES_TO_CHANGE) - 1)? as u8,
            non_votes: numbers.count(0..=u16::from(u8::MAX))? as u8,
            radius: numbers.not_negative()?,
            near: numbers.count(0..=u16::MAX)?,
            trial_interval: numbers.count(TRIAL_INTERVAL..=MAX_TRIAL_INTERVAL)?,
        })
    }

    /// Returns the initial counts, with the other method in use.
    pub fn of_the_other_method(&self) -> MethodSelection {
        MethodSelection {
            stiff: !self.stiff,
            ..MethodSelection::START
        }
    }

    /// Counts a step, for a change of the method if `counts`; returns true if the method is to
    /// change.
    pub fn vote(&mut self, counts: bool) -> bool {
        if counts {
            self.votes = self.votes.saturating_add(1);
            self.non_votes = 0;
        } else {
            self.non_votes = self.non_votes.saturating_add(1);
            if self.non_votes >= NON_VOTES_TO_RESET {
                self.votes = 0;
            }
        }
        self.votes >= VOTES_TO_CHANGE
    }

    /// Counts a step, up if a fast vibration may have limited it (`is_near`) and down otherwise.
    pub fn count_near(&mut self, is_near: bool) {
        self.near = match is_near {
            true => self.near.saturating_add(1),
            false => self.near.saturating_sub(1),
        };
    }

    /// Returns true if a trial of the implicit method is scheduled.
    pub fn is_trial_scheduled(&self) -> bool {
        self.near >= self.trial_interval
    }

    /// Doubles the interval to the next trial, after an unsuccessful one.
    pub fn double_trial_interval(&mut self) {
        self.near = 0;
        self.trial_interval = (2 * self.trial_interval).min(MAX_TRIAL_INTERVAL);
    }
}
