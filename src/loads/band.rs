use super::stored::Stored;

/// State of a value that is watched against two limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// At or below the lower limit.
    Below,
    /// Between the limits.
    #[default]
    Within,
    /// At or above the upper limit.
    Above,
}

impl Limit {
    /// −1, 0 or 1.
    pub fn sign(self) -> f64 {
        match self {
            Self::Below => -1.0,
            Self::Within => 0.0,
            Self::Above => 1.0,
        }
    }

    /// True at or beyond a limit.
    pub fn is_reached(self) -> bool {
        self != Self::Within
    }

    /// The limit that a value above or below has passed.
    pub fn passed(above: bool, below: bool) -> Self {
        match (above, below) {
            (true, _) => Self::Above,
            (false, true) => Self::Below,
            (false, false) => Self::Within,
        }
    }
}

impl Stored for Limit {
    fn write(&self, to: &mut impl FnMut(f64)) {
        to(self.sign());
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        match i32::read(next)? {
            -1 => Some(Self::Below),
            0 => Some(Self::Within),
            1 => Some(Self::Above),
            _ => None,
        }
    }
}

/// The limits of a number, with a hysteresis at each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    pub min: f64,
    pub max: f64,
    /// How far beyond a limit counts as outside, and inside as back: a number that rests on the limit makes no event after event.
    pub margin: f64,
}

/// Part of a limit, or of what is between two, by which a number has to pass it.
pub(super) const HYSTERESIS: f64 = 1e-9;

impl Band {
    /// Between a limit and its negative, with a little hysteresis.
    pub fn within(limit: f64) -> Self {
        Self::new(-limit, limit, HYSTERESIS * limit)
    }

    /// From `min` to `max`, with a hysteresis of `margin` on either side of the limits.
    pub fn new(min: f64, max: f64, margin: f64) -> Self {
        Self { min, max, margin }
    }

    /// Positive as long as the limit state is right, negative once it has to change.
    pub fn indicator(&self, value: f64, state: Limit) -> f64 {
        match state {
            Limit::Within => (self.max - value).min(value - self.min) + self.margin,
            Limit::Above => value - self.max + self.margin,
            Limit::Below => self.min - value + self.margin,
        }
    }

    /// The limit state of a number after the state before it.
    ///
    /// An importer's root is a little before or after the indicator's zero: half the margin counts as
    /// there.
    pub fn next(&self, value: f64, state: Limit) -> Limit {
        if self.indicator(value, state) > 0.5 * self.margin {
            return state;
        }
        Limit::passed(
            value > self.max + 0.25 * self.margin,
            value < self.min - 0.25 * self.margin,
        )
    }
}
