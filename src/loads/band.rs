/// Where a number is to lie, watched by a mode: 0 inside, +1 above, −1 below.
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

    /// Positive as long as the mode is right, negative once it has to change.
    pub fn indicator(&self, value: f64, mode: i32) -> f64 {
        match mode {
            0 => (self.max - value).min(value - self.min) + self.margin,
            side if side > 0 => value - self.max + self.margin,
            _ => self.min - value + self.margin,
        }
    }

    /// The mode for a number, coming from the mode before.
    ///
    /// A host's root is a little before or after the indicator's zero: half the margin counts as there.
    pub fn next_mode(&self, value: f64, mode: i32) -> i32 {
        if self.indicator(value, mode) > 0.5 * self.margin {
            return mode;
        }
        i32::from(value > self.max + 0.25 * self.margin) - i32::from(value < self.min - 0.25 * self.margin)
    }
}
