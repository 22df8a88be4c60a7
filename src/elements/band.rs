use super::stored::Stored;

/// Limit state of a value with a lower and an upper limit.
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
    /// Returns −1, 0 or 1 for below, within or above.
    pub fn sign(self) -> f64 {
        match self {
            Self::Below => -1.0,
            Self::Within => 0.0,
            Self::Above => 1.0,
        }
    }

    /// Returns true at or beyond a limit.
    pub fn is_reached(self) -> bool {
        self != Self::Within
    }

    /// Returns the limit state of a value that is above the upper limit or below the lower one;
    /// `above` takes precedence.
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

/// Limits of a number, with a hysteresis at each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    pub min: f64,
    pub max: f64,
    /// Hysteresis: distance beyond a limit that changes the limit state, and back inside that
    /// resets it, so that a number resting on the limit causes no sequence of events.
    pub margin: f64,
}

/// Relative hysteresis: fraction of a limit, or of the span between two limits.
pub(super) const HYSTERESIS: f64 = 1e-9;

impl Band {
    /// Creates the band from `−limit` to `limit`, with the hysteresis `HYSTERESIS · limit`.
    pub fn within(limit: f64) -> Self {
        Self::new(-limit, limit, HYSTERESIS * limit)
    }

    /// Creates the band from `min` to `max`, with a hysteresis of `margin` on either side of the
    /// limits.
    pub fn new(min: f64, max: f64, margin: f64) -> Self {
        Self { min, max, margin }
    }

    /// Returns the event indicator: positive while the limit state is valid, negative once it has
    /// to change.
    pub fn indicator(&self, value: f64, state: Limit) -> f64 {
        match state {
            Limit::Within => (self.max - value).min(value - self.min) + self.margin,
            Limit::Above => value - self.max + self.margin,
            Limit::Below => self.min - value + self.margin,
        }
    }

    /// Returns the limit state of a number whose last limit state was `state`.
    ///
    /// An importer locates the indicator's zero to its tolerance only, so the state changes at half
    /// the margin already.
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
