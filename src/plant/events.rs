//! Event handling: updates of limit states, commands and jumps of states.

use super::rest::{RestsBefore, RestsDue};
use super::{Discrete, Model, Plant, captures, detection, impact};
use crate::Error;
use crate::elements::{Command, Drive, ImpactReport, Stored, Target};
use crate::event::{Event, Occurrence};
use crate::spec::JointMotion;

/// Kinds of variables that an event has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The discrete state has changed.
    pub modes: bool,
    /// Continuous states have changed.
    pub states: bool,
}

/// States, discrete state and messages after an event, kept apart until the update has succeeded.
#[derive(Clone, Debug, Default)]
pub(super) struct After {
    x: Vec<f64>,
    pub discrete: Discrete,
    events: Vec<Event>,
    /// Inputs of the loads, for commands.
    inputs: Vec<f64>,
}

impl After {
    /// Allocates the workspace for a model.
    pub fn new(model: &Model) -> Self {
        Self {
            x: vec![0.0; model.states.len()],
            discrete: model.discrete(),
            events: Vec::new(),
            inputs: vec![0.0; model.inputs_of_loads()],
        }
    }

    /// Resets to the values before the event, without messages.
    fn begin(&mut self, x: &[f64], discrete: &Discrete) {
        self.x.clear();
        self.x.extend_from_slice(x);
        self.discrete.clone_from(discrete);
        self.events.clear();
    }
}

/// Actions that commands and contacts require at one event.
#[derive(Default)]
struct Due {
    /// True if a command has risen or fallen.
    command_changed: bool,
    /// Indices of the ports whose impulse is to be applied.
    ports: Vec<usize>,
    /// Indices of the contacts with an impact.
    impacts: Vec<usize>,
    /// Indices of the contacts that capture.
    captured: Vec<usize>,
    /// Indices of the contacts that are released.
    released: Vec<usize>,
}

impl Plant {
    /// Returns true if a command needs an event at the time `t` (s) and the importer's inputs `u`:
    /// an impulse or capture command has risen or fallen, a joint is commanded to another motion
    /// than its present one, or a command is invalid and has not been reported yet.
    pub fn needs_command_event(&mut self, t: f64, u: &[f64], discrete: &Discrete) -> bool {
        let of = self.base.constants();
        let model = of.model;
        if !model.has_commands() {
            return false;
        }
        // The evaluation keeps its inputs: its results may be shared.
        let inputs = &mut self.after.inputs;
        model.inputs_at(of.parameters, t, u, discrete, inputs);
        let mut commands = model.elements.commands.iter().zip(&discrete.commands);
        let mut drives = model.elements.drives.iter().zip(&discrete.refused);
        commands.any(|(command, &was_on)| command.is_on(inputs) != was_on)
            || drives.any(|(drive, &refused)| match drive.command(inputs) {
                Some(Ok(motion)) => motion != drive.motion_now(&discrete.motions),
                Some(Err(number)) => refused != Some(number),
                None => false,
            })
    }

    /// Updates the discrete state to time, states and commands, applies impulses to the states and
    /// appends the messages to `events`.
    ///
    /// Impacts at this instant act with the joints as they were; brakes close afterwards.
    ///
    /// # Errors
    /// [`Error::Singular`] if a part without inertia receives an impulse, [`Error::Chatter`],
    /// [`Error::NotFinite`] if an impulse leads to values that are not finite. Then states,
    /// discrete state and `events` are unchanged.
    pub fn update(
        &mut self,
        t: f64,
        x: &mut [f64],
        u: &[f64],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> Result<Changes, Error> {
        let mut after = std::mem::take(&mut self.after);
        after.begin(x, discrete);
        let changes = self.go_through(t, u, &mut after);
        if changes.is_ok() {
            x.copy_from_slice(&after.x);
            discrete.clone_from(&after.discrete);
            events.append(&mut after.events);
            self.evaluation.clear();
        }
        self.after = after;
        changes
    }

    fn go_through(&mut self, t: f64, u: &[f64], after: &mut After) -> Result<Changes, Error> {
        let After {
            x, discrete, events, ..
        } = after;
        let points = self.update_points(x, discrete);
        let mut before = RestsBefore::new(self.base.constants(), discrete);
        let limits = self.update_limits(t, x, u, discrete, events);
        let (contacts_changed, touching, rests_touch) = self.update_contact_states(t, x, discrete)?;
        self.separate(discrete);
        let jumps = self.apply_impulses(t, x, u, &touching, discrete, events)?;
        let switched = self.switch_motions(t, x, u, discrete, events)?;
        let jumped = jumps.states || switched.states;
        let stuck = self.update_sticking(t, x, discrete, jumped)?;
        let jumped = jumped || stuck.states;
        let contacts_stuck = self.update_stictions(t, x, discrete, &before.rests, jumped)?;
        let jumped = jumped || contacts_stuck.states;
        before.due = match (jumped, rests_touch || points) {
            (true, _) => RestsDue::Jumped,
            (false, true) => RestsDue::Touched,
            (false, false) => RestsDue::IfInvalid,
        };
        let rested = self.update_rests(t, x, u, discrete, before, events)?;
        let released = self.release(t, x, u, discrete, events)?;
        let states = jumped || rested.states || released.states;
        // Limit states that depend on rates are updated again after a jump.
        let after = states && self.update_limits(t, x, u, discrete, events);
        Ok(Changes {
            modes: points
                || limits
                || contacts_changed
                || jumps.modes
                || switched.modes
                || stuck.modes
                || contacts_stuck.modes
                || rested.modes
                || released.modes
                || after,
            states,
        })
    }

    /// Reads the commands at the importer's inputs `u` and returns the actions required now, by
    /// commands and by the contacts in `touching`, whose surfaces touch now.
    fn due(&mut self, t: f64, u: &[f64], touching: &[usize], discrete: &mut Discrete) -> Due {
        let of = self.base.constants();
        let model = of.model;
        let (contacts, commands) = (&model.elements.contacts, &model.elements.commands);
        let inputs = self.evaluation.inputs(of, t, u, discrete);
        let mut due = Due::default();
        for (k, command) in commands.iter().enumerate() {
            let is_on = command.is_on(inputs);
            if is_on == discrete.commands[k] {
                continue;
            }
            discrete.commands[k] = is_on;
            due.command_changed = true;
            match command.what {
                Target::Port(port) if is_on => due.ports.push(port),
                Target::Port(_) => {}
                Target::Contact(contact) => match (contacts[contact].capture(), is_on) {
                    (None, true) => due.impacts.push(contact),
                    (Some(_), true) if discrete.may_capture(&model.elements, contact) => due.captured.push(contact),
                    (Some(capture), false) if discrete.is_held(capture.number) => {
                        due.released.push(contact);
                    }
                    _ => {}
                },
            }
        }
        for &contact in touching {
            let is_armed = |command: &Command| command.is_on(inputs) && command.what == Target::Contact(contact);
            if contacts[contact].capture().is_none() {
                due.impacts.push(contact);
            } else if commands.iter().any(is_armed) && !due.captured.contains(&contact) {
                due.captured.push(contact);
            }
        }
        due
    }

    /// Applies the impulses whose commands have risen and those of the contacts in `touching`,
    /// whose surfaces touch now; releases captures whose commands have fallen.
    fn apply_impulses(
        &mut self,
        t: f64,
        x: &mut [f64],
        u: &[f64],
        touching: &[usize],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> Result<Changes, Error> {
        let due = self.due(t, u, touching, discrete);
        if !due.command_changed && touching.is_empty() {
            return Ok(Changes::default());
        }
        let has_impulse = !(due.ports.is_empty() && due.impacts.is_empty() && due.captured.is_empty());
        let freed = has_impulse && self.free_for_impulse(x, discrete);
        let freed = has_impulse && self.free_rests(x, discrete) || freed;
        let of = self.base.constants();
        let model = of.model;
        let evaluation = &mut self.evaluation;
        if !due.released.is_empty() {
            for contact in due.released.iter().map(|&contact| &model.elements.contacts[contact]) {
                if let Some(capture) = contact.capture() {
                    discrete.captures[capture.number].holds = false;
                }
                let contact = contact.name.clone();
                let what = Occurrence::Released { contact };
                events.push(Event { t, what });
            }
            evaluation.determine_rank(of, x, discrete);
            evaluation.update_kinematics(of, x);
            for contact in due.released {
                detection::release(of, evaluation, discrete, contact);
            }
        }
        let mut jumped = false;
        for port in due.ports {
            let inputs = evaluation.inputs.clone();
            let impulse = impact::apply_port_impulse(of, evaluation, x, discrete, port, &inputs)?;
            jumped |= impulse.is_some();
            let port = model.elements.ports[port].name.clone();
            let what = Occurrence::ImpulseApplied { port, impulse };
            events.push(Event { t, what });
        }
        let mut reports = Vec::new();
        if !due.impacts.is_empty() {
            reports = impact::solve_and_apply(of, evaluation, t, x, discrete, &due.impacts)?;
        }
        if !due.captured.is_empty() {
            reports.extend(captures::capture(of, evaluation, t, x, discrete, &due.captured)?);
        }
        for (contact, report, what) in reports {
            jumped |= report.status.is_impact();
            if !report.status.is_impact() {
                discrete.suspend_detection(&model.elements, contact);
            }
            discrete.reports[contact] = report;
            events.push(Event { t, what });
        }
        self.check_finite(t, x, discrete)?;
        Ok(Changes {
            modes: true,
            states: jumped || freed,
        })
    }

    /// Validates that states and reports are finite after impulses.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the name of the first variable that is not finite.
    pub(super) fn check_finite(&self, t: f64, x: &[f64], discrete: &Discrete) -> Result<(), Error> {
        let model = &self.base.model;
        let is_none = |number: &f64| !number.is_finite();
        let state = x.iter().position(is_none).map(|i| model.states[i].name.clone());
        let reported = || {
            let mut contacts = model.elements.contacts.iter().zip(&discrete.reports);
            contacts.find_map(|(contact, report)| {
                let mut numbers = Vec::with_capacity(ImpactReport::COUNT);
                report.write(&mut |number| numbers.push(number));
                let i = numbers.iter().position(is_none)?;
                Some(ImpactReport::quantities(contact).swap_remove(i).name)
            })
        };
        match state.or_else(reported) {
            None => Ok(()),
            Some(variable) => Err(Error::NotFinite { variable, t }),
        }
    }

    /// Switches joints to their commanded motions; a joint that is locked loses its rate by an
    /// impulse.
    fn switch_motions(
        &mut self,
        t: f64,
        x: &mut [f64],
        u: &[f64],
        discrete: &mut Discrete,
        events: &mut Vec<Event>,
    ) -> Result<Changes, Error> {
        let of = self.base.constants();
        let model = of.model;
        let drives = &model.elements.drives;
        let inputs = self.evaluation.inputs(of, t, u, discrete);
        let mut switched: Vec<(usize, &Drive, JointMotion)> = Vec::new();
        for (drive, refused) in drives.iter().zip(&mut discrete.refused) {
            match (drive.mode(), drive.command(inputs)) {
                (Some(mode), Some(Ok(motion))) => {
                    *refused = None;
                    if motion != drive.motion_now(&discrete.motions) {
                        switched.push((mode, drive, motion));
                    }
                }
                (_, Some(Err(number))) if *refused != Some(number) => {
                    *refused = Some(number);
                    events.push(drive.refused(number, t));
                }
                _ => {}
            }
        }
        if switched.is_empty() {
            return Ok(Changes::default());
        }
        let of = self.base.constants();
        let qd = self.evaluation.coordinates(of, x).qd;
        events.extend(switched.iter().map(|(_, drive, motion)| drive.switched(*motion, qd, t)));
        for (mode, _, motion) in &switched {
            discrete.motions[*mode] = *motion;
        }
        let locked = switched.iter().filter(|(.., motion)| *motion == JointMotion::Locked);
        let locked: Vec<usize> = locked.map(|(_, drive, _)| drive.body).collect();
        let freed = !locked.is_empty() && self.free_for_impulse(x, discrete);
        let freed = !locked.is_empty() && self.free_rests(x, discrete) || freed;
        let of = self.base.constants();
        self.evaluation.determine_rank(of, x, discrete);
        if !locked.is_empty() {
            self.evaluation.lock(of, x, discrete, |body| locked.contains(&body))?;
            self.check_finite(t, x, discrete)?;
        }
        Ok(Changes {
            modes: true,
            states: !locked.is_empty() || freed,
        })
    }
}
