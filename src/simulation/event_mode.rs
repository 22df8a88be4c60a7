//! Events that a caller handles: [`Simulation::advance`] ends where they occur, and
//! [`Simulation::handle_due_events`] handles them (Event Mode in Co-Simulation, FMI 3.0 §4.2).

use super::{DueEvent, Simulation, State};
use crate::Error;
use crate::elements::reached;
use crate::event::Event;
use std::ops::ControlFlow;

/// Handling of events by [`Simulation::advance`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventHandling {
    /// All events are handled inside the call.
    #[default]
    Inside,
    /// As [`Inside`](Self::Inside); the call ends after an event at which states jump (an impact, a
    /// capture, a brake that engages), at the time of the event.
    UpToJumps,
    /// Events before the end of the call are handled inside; one at its end is left to the caller.
    AtEnd,
    /// The call ends at the first event and leaves it to the caller.
    AtEvents,
}

/// Observer of the integrator's steps.
pub trait Observer {
    /// Is called before each step; may end the call without an effect.
    fn before_step(&mut self) -> ControlFlow<()>;

    /// Is called after each accepted step, before an event at its end is handled. The inputs of
    /// `simulation` are those at `t_start` (s), with their derivatives. May return a time (s) at
    /// which the call is to end.
    fn after_step(&mut self, simulation: &Simulation, t_start: f64) -> Option<f64>;
}

/// Observer that only decides whether the call continues.
pub struct Unobserved<'a>(pub &'a mut dyn FnMut() -> ControlFlow<()>);

impl Observer for Unobserved<'_> {
    fn before_step(&mut self) -> ControlFlow<()> {
        (self.0)()
    }

    fn after_step(&mut self, _: &Simulation, _: f64) -> Option<f64> {
        None
    }
}

impl Simulation {
    /// Sets the handling of events by [`advance`](Self::advance).
    pub fn set_event_handling(&mut self, handling: EventHandling) {
        self.event_handling = handling;
    }

    /// Returns the handling of events by [`advance`](Self::advance).
    pub fn event_handling(&self) -> EventHandling {
        self.event_handling
    }

    /// Handles all events at the present time, up to the fixed point: state events, commands, ends
    /// of signals' segments, samples. Without an event nothing changes. Returns true if states have
    /// jumped; appends the events to `events`.
    ///
    /// # Errors
    /// Those of the events; [`Error::WorkLimit`] if they do not end. The state is then undefined.
    pub fn handle_due_events(&mut self, events: &mut Vec<Event>) -> Result<bool, Error> {
        let (t, limit) = (self.state.t, self.stepper.settings().max_evaluations());
        self.jumped_at = None;
        let due = std::mem::take(&mut self.state.due);
        self.update_indicators(t);
        let mut is_due = due == DueEvent::Pending || self.has_state_event();
        for _ in 0..=limit {
            if !(is_due || self.needs_command_event() || self.has_time_event()) {
                self.state.due = DueEvent::Handled;
                return Ok(self.jumped_at.is_some());
            }
            self.handle_event(t, events)?;
            self.sample(t)?;
            is_due = false;
        }
        Err(Error::WorkLimit { t, limit })
    }

    /// Returns true if an event indicator in `z_before` is not positive.
    pub(super) fn has_state_event(&self) -> bool {
        self.workspace.z_before.iter().any(|&z| z <= 0.0)
    }

    /// Returns true if an event indicator at the present state is not positive; inputs are
    /// extrapolated from `t_start` (s).
    pub(super) fn is_at_state_event(&mut self, t_start: f64) -> bool {
        self.update_indicators(t_start);
        self.has_state_event()
    }

    /// Returns true if the end of a signal's segment or a sample is scheduled at the present time.
    fn has_time_event(&self) -> bool {
        let State { t, discrete, .. } = &self.state;
        let next = self.plant.next_time_event(discrete);
        next.is_some_and(|event| reached(event, *t))
    }

    /// Returns true if the call that begins at `t_start` (s) ends at once, since an event at this
    /// time is left to the caller.
    pub(super) fn ends_at_start(&mut self, due: DueEvent, t_start: f64) -> bool {
        if self.event_handling != EventHandling::AtEvents {
            return false;
        }
        match due {
            DueEvent::Pending => true,
            DueEvent::Handled => false,
            DueEvent::Unknown => self.is_at_state_event(t_start) || self.needs_command_event() || self.has_time_event(),
        }
    }

    /// Returns true if an event at the present time is left to the caller of the call from
    /// `t_start` to `t_end` (s). One at its start is not: [`ends_at_start`](Self::ends_at_start)
    /// has found none that the caller has not handled.
    pub(super) fn leaves_event(&self, (t_start, t_end): (f64, f64)) -> bool {
        match self.event_handling {
            EventHandling::Inside | EventHandling::UpToJumps => false,
            EventHandling::AtEnd => self.state.t >= t_end,
            EventHandling::AtEvents => self.state.t > t_start,
        }
    }

    /// Handles an event at the present time, or leaves it to the caller. Returns true if the call
    /// ends here.
    pub(super) fn handle_or_leave(&mut self, times: (f64, f64), events: &mut Vec<Event>) -> Result<bool, Error> {
        if self.leaves_event(times) {
            self.state.due = DueEvent::Pending;
            return Ok(true);
        }
        self.handle_event(times.0, events)?;
        Ok(false)
    }

    /// Returns true if the call that began at `t_start` (s) ends after a jump at the present time.
    pub(super) fn ends_at_jump(&self, t_start: f64) -> bool {
        let t = self.state.t;
        self.event_handling == EventHandling::UpToJumps && self.jumped_at == Some(t) && t > t_start
    }
}
