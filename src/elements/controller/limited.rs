use super::{LimitStates, Measured};
use crate::algebra::Scalar;
use crate::elements::band::Band;
use crate::elements::{Cursor, Limit};
use crate::system::ParamId;

/// Limit of the magnitude of a commanded torque (force), if it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limited(pub Option<ParamId>);

impl Limited {
    fn band(self, parameters: &[f64]) -> Option<Band> {
        Some(Band::within(self.0?.of(parameters)))
    }

    /// Returns the limit state of a commanded torque whose last limit state was `state`.
    pub fn next(self, parameters: &[f64], commanded: f64, state: Limit) -> Limit {
        let band = self.band(parameters);
        band.map_or(state, |band| band.next(commanded, state))
    }

    /// Returns the commanded torque within its limit.
    pub fn torque<S: Scalar>(self, now: Measured<S>, commanded: S, state: Limit, states: LimitStates) -> S {
        let state = match states {
            LimitStates::Present => state,
            LimitStates::Next => self.next(now.parameters, commanded.value(), state),
        };
        match self.0 {
            Some(limit) if state.is_reached() => S::lift(limit.of(now.parameters) * state.sign()),
            _ => commanded,
        }
    }

    /// Writes the event indicator of the limit, if there is one.
    pub fn indicate(self, parameters: &[f64], commanded: f64, state: Limit, z: &mut Cursor<f64>) {
        if let Some(band) = self.band(parameters) {
            z.number(band.indicator(commanded, state));
        }
    }
}
