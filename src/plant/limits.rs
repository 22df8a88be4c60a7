//! Event indicators, and the discrete states that change without a jump of the states: segments of
//! signals and limit states.

use super::context::OperatingPoint;
use super::{Discrete, Plant};
use crate::event::Event;

impl Plant {
    /// Updates signal segments and the limit states of ranges, deflections, motors and controllers
    /// to time (s), states, inputs and parameters, without commands or impacts; appends an event
    /// for each limit that has just been exceeded. Returns true if a segment or a limit state
    /// changed.
    pub fn update_limits(
        &mut self,
        t: f64,
        x: &[f64],
        u: &[f64],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> bool {
        let of = self.base.constants();
        let elements = &of.model.elements;
        let mut changed = false;
        for signal in &elements.signals {
            changed |= signal.update_segments(t, of.parameters, &mut discrete.segments);
        }
        if elements.indicator_count() == 0 {
            return changed;
        }
        let now = self.evaluation.event_context(of, t, x, u, discrete);
        elements.update(&now, discrete, events) || changed
    }

    /// Writes the event indicators at an operating point; they are positive as long as the discrete
    /// state is valid. The indicator of commands, the last one, is set to 1, its value while no
    /// command waits for an event.
    pub fn indicators(&mut self, at: OperatingPoint, z: &mut [f64]) {
        let of = self.base.constants();
        let elements = &of.model.elements;
        let (z, commands) = z.split_at_mut(elements.indicator_count());
        commands.fill(1.0);
        if z.is_empty() {
            return;
        }
        if let Some(known) = self.evaluation.known_indicators(at) {
            z.copy_from_slice(known);
            return;
        }
        let OperatingPoint { t, x, u, discrete } = at;
        let now = self.evaluation.event_context(of, t, x, u, discrete);
        elements.indicate(&now, discrete, z);
        self.evaluation.set_indicators(at, z);
    }

    /// Returns true if the gap of a contact may have several minima within a step.
    pub fn needs_rate_bounds(&self) -> bool {
        let mut detected = self.base.model.elements.with_detection();
        detected.any(|(_, contact)| contact.needs_rate_bound())
    }

    /// Writes for each event indicator an upper bound of its rate at an operating point if it may
    /// have several minima within a step; zero for the others.
    pub fn bound_rates(&mut self, at: OperatingPoint, rates: &mut [f64]) {
        let of = self.base.constants();
        let elements = &of.model.elements;
        let (rates, commands) = rates.split_at_mut(elements.indicator_count());
        commands.fill(0.0);
        let OperatingPoint { t, x, u, discrete } = at;
        let now = self.evaluation.event_context(of, t, x, u, discrete);
        elements.bound_rates(&now, discrete, rates);
    }
}
