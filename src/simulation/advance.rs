//! A call that advances the time to a communication point.

use super::{DueEvent, Monitored, Observer, Simulation, State, Unobserved};
use crate::Error;
use crate::elements::reached;
use crate::event::Event;
use crate::integrate::{Next, Start};
use std::ops::ControlFlow;

/// A call of [`Simulation::advance`] under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Time at its start, s.
    pub t_start: f64,
    /// Time at its end, s.
    t_end: f64,
    /// Number of events without a step in between. They count towards the work limit, so that the call
    /// ends.
    stops: u64,
}

impl Call {
    /// Returns the time that the next step must not pass, with the time of the next time event. One at
    /// the end of the call to round-off is handled there: no step ends just before.
    fn stop_at(&self, event: Option<f64>) -> f64 {
        event.filter(|&event| !reached(self.t_end, event)).unwrap_or(self.t_end)
    }
}

impl Simulation {
    /// Integrates to exactly `t_end` (s) and handles all events in between; appends them to
    /// `events`. After [`set_event_handling`](Self::set_event_handling) it may end before.
    ///
    /// Inputs are extrapolated by their derivatives from the time at which the call begins. After a
    /// successful call they keep the values at `t_end`, and their derivatives are zero.
    ///
    /// # Errors
    /// [`Error::WorkLimit`] and [`Error::Integration`]; [`Error::NotFinite`] if an extrapolated
    /// input overflows; those of the dynamics. The state is then that of the last accepted step,
    /// and a further call continues from there.
    pub fn advance(&mut self, t_end: f64, events: &mut Vec<Event>) -> Result<(), Error> {
        self.advance_while(t_end, events, &mut || ControlFlow::Continue(()))
    }

    /// Integrates as [`advance`](Self::advance); `flow` is called before each step of the
    /// integrator, and may end the call.
    ///
    /// # Errors
    /// Those of [`advance`](Self::advance); [`Error::Interrupted`].
    pub fn advance_while(
        &mut self,
        t_end: f64,
        events: &mut Vec<Event>,
        flow: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.advance_with(t_end, events, &mut Unobserved(flow))
    }

    /// Integrates as [`advance`](Self::advance); the observer is called at each step of the
    /// integrator, and may end the call.
    ///
    /// # Errors
    /// Those of [`advance_while`](Self::advance_while).
    pub fn advance_with(
        &mut self,
        t_end: f64,
        events: &mut Vec<Event>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let mut call = self.begin_call(t_end)?;
        let result = self.advance_through_events(&mut call, events, observer);
        self.end_call(&call, result)
    }

    /// Begins a call that advances to `t_end` (s).
    ///
    /// # Errors
    /// [`Error::NotFinite`] if an extrapolated input overflows; there is then no call to end.
    pub(super) fn begin_call(&mut self, t_end: f64) -> Result<Call, Error> {
        let t_start = self.state.t;
        let model = self.plant.model();
        for interface in &model.elements.interfaces {
            if let Some(at) = model.importer_index(interface.inputs()) {
                interface.extrapolate(at, &self.state.u, &mut self.state.u_derivatives);
            }
        }
        self.check_inputs(t_end)?;
        self.stepper.begin_call();
        Ok(Call {
            t_start,
            t_end,
            stops: 0,
        })
    }

    /// Ends a call with the `result` of its steps.
    pub(super) fn end_call(&mut self, call: &Call, result: Result<(), Error>) -> Result<(), Error> {
        self.statistics.evaluations += self.stepper.evaluations();
        let dt = self.state.t - call.t_start;
        self.state.shift_inputs(dt);
        if result.is_ok() {
            self.state.clear_input_derivatives();
        }
        result
    }

    /// Checks that inputs and their derivatives stay finite when extrapolated to `t_end` (s).
    fn check_inputs(&mut self, t_end: f64) -> Result<(), Error> {
        let (model, state) = (self.plant.model(), &self.state);
        match state.first_overflow(t_end - state.t) {
            None => Ok(()),
            Some(i) => Err(Error::NotFinite {
                variable: model.inputs[i].quantity.name.clone(),
                t: t_end,
            }),
        }
    }

    fn advance_through_events(
        &mut self,
        call: &mut Call,
        events: &mut Vec<Event>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let mut goes_on = self.handle_events_at_start(call, events)?;
        while goes_on {
            goes_on = self.proceed(call, events, observer)?;
        }
        Ok(())
    }

    /// Handles the events at the start of a call. Returns false if the call ends here.
    pub(super) fn handle_events_at_start(&mut self, call: &Call, events: &mut Vec<Event>) -> Result<bool, Error> {
        let t_start = call.t_start;
        let due = std::mem::take(&mut self.state.due);
        if self.ends_at_start(due, t_start) {
            self.state.due = DueEvent::Pending;
            return Ok(false);
        }
        // If the last call failed in the handling of an event, that event is handled now.
        let is_start = self.state.monitored.steps == Monitored::BEFORE;
        self.check_balance(t_start, 0.0)?;
        self.update_indicators(t_start);
        if due == DueEvent::Pending || self.has_state_event() {
            self.handle_event(t_start, events)?;
        }
        if is_start {
            self.execute_commands_since(t_start, events)?;
            let State { t, u, discrete, .. } = &self.state;
            self.plant.check_captured(*t, u, discrete)?;
        }
        self.jumped_at = None;
        Ok(true)
    }

    /// Takes the next step of a call, with the event at its end, or handles an event at the present
    /// time. Returns false if the call has ended.
    pub(super) fn proceed(
        &mut self,
        call: &mut Call,
        events: &mut Vec<Event>,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        let Call { t_start, t_end, .. } = *call;
        let limit = self.stepper.settings().max_evaluations();
        if self.state.t >= t_end || t_end.is_nan() || self.ends_at_jump(t_start) {
            return Ok(false);
        }
        if observer.before_step().is_break() {
            return Err(Error::Interrupted { t: self.state.t });
        }
        if call.stops == limit {
            return Err(Error::WorkLimit { t: self.state.t, limit });
        }
        if self.needs_command_event() && self.handle_or_leave((t_start, t_end), events)? {
            return Ok(false);
        }
        let event = self.plant.next_time_event(&self.state.discrete);
        if event.is_some_and(|event| reached(event, self.state.t)) {
            if self.handle_or_leave((t_start, t_end), events)? {
                return Ok(false);
            }
            self.sample(t_start)?;
            call.stops += 1;
            return Ok(true);
        }
        let stop = call.stop_at(event);
        let is_event = match self.state.x.is_empty() {
            // A system without states has no crossings inside a step: its limit states are
            // updated at every stop.
            true => {
                self.state.t = stop;
                call.stops += 1;
                !self.leaves_event((t_start, t_end))
                    || self.is_at_state_event(t_start)
                    || event.is_some_and(|event| reached(event, stop))
            }
            false => {
                self.step_to_event((t_start, stop), events)? || event.is_some_and(|event| reached(event, self.state.t))
            }
        };
        if let Some(earlier) = observer.after_step(self, t_start) {
            call.t_end = t_end.min(earlier.max(self.state.t));
        }
        if is_event {
            if self.handle_or_leave((t_start, call.t_end), events)? {
                return Ok(false);
            }
            self.sample_sensors(t_start)?;
        }
        Ok(true)
    }

    /// Returns the attempt that [`proceed`](Self::proceed) makes next, if no event comes first.
    pub(super) fn next(&self, call: &Call) -> Option<Next> {
        let State {
            t, x, discrete, memory, ..
        } = &self.state;
        let event = self.plant.next_time_event(discrete);
        let is_due = event.is_some_and(|event| reached(event, *t));
        if x.is_empty() || *t >= call.t_end || is_due {
            return None;
        }
        let varies = || self.plant.signals_vary(*t, discrete) || self.state.inputs_move();
        self.stepper.next(*t, call.stop_at(event), memory, varies)
    }

    /// Returns the start of an [attempt](Self::next).
    pub(super) fn start(&self, next: Next) -> Start<'_> {
        let State { t, x, memory, .. } = &self.state;
        self.stepper.start(next, *t, x, memory)
    }
}
