//! What happens at events: sides change, commands are obeyed, states jump.

use super::discrete::NONE_REFUSED;
use super::numbers::Numbers;
use super::report::Report;
use super::{Discrete, Model, Plant, captures, impact, touch};
use crate::Error;
use crate::loads::{Drive, Strike, Struck};
use crate::spec::JointMotion;

/// What an event has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// A mode.
    pub modes: bool,
    /// A state.
    pub states: bool,
}

/// What an event makes of states and modes, and what is to be said of it, as long as it may still fail.
#[derive(Clone, Debug, Default)]
pub(super) struct After {
    x: Vec<f64>,
    discrete: Discrete,
    messages: Vec<String>,
}

impl After {
    /// Room for a model's.
    pub fn new(model: &Model) -> Self {
        Self {
            x: vec![0.0; model.states.len()],
            discrete: Discrete::new(model),
            messages: Vec::new(),
        }
    }

    /// Nothing has happened yet.
    fn begin(&mut self, x: &[f64], discrete: &Discrete) {
        self.x.clear();
        self.x.extend_from_slice(x);
        self.discrete.clone_from(discrete);
        self.messages.clear();
    }
}

/// What is due at an instant.
#[derive(Default)]
struct Due {
    /// Whether a command has risen or fallen.
    hears: bool,
    /// Ports that are struck.
    ports: Vec<usize>,
    /// Contacts that strike.
    struck: Vec<usize>,
    /// Contacts that capture.
    captured: Vec<usize>,
    /// Contacts that let go.
    released: Vec<usize>,
}

impl Plant {
    /// Whether a command waits for an event at the time `t` (s) and the host's inputs `u`: a strike has risen or fallen, or another motion of a joint is asked
    /// for than it has, or none of its motions, which has not been told yet.
    pub fn command_waits(&mut self, t: f64, u: &[f64], discrete: &Discrete) -> bool {
        let model = &self.model;
        if !model.has_commands() {
            return false;
        }
        let modes = &discrete.modes;
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, modes));
        let mut strikes = model.loads.strikes.iter().zip(&modes[model.layout.commands..]);
        let mut drives = model.loads.drives.iter().zip(&discrete.numbers[model.layout.refused..]);
        strikes.any(|(strike, &was_on)| strike.is_on(inputs) != (was_on != 0))
            || drives.any(|(drive, &refused)| match drive.command(inputs) {
                Some(Ok(motion)) => motion != drive.motion_now(model.motions(modes)),
                Some(Err(number)) => refused != number,
                None => false,
            })
    }

    /// Brings the modes to where time, state and commands are, and states to where impulses put them; says what the user should know.
    ///
    /// What strikes at this instant does so with the joints as they were; brakes close afterwards.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia where an impulse acts, [`Error::Chatter`], [`Error::NotFinite`] if an impulse leads beyond all
    /// numbers. Then nothing has changed, and nothing is said.
    pub fn update(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        discrete: &mut Discrete,
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
        let mut after = std::mem::take(&mut self.after);
        after.begin(x, discrete);
        let changes = self.go_through(t, u, &mut after);
        if changes.is_ok() {
            x.copy_from_slice(&after.x);
            discrete.clone_from(&after.discrete);
            messages.append(&mut after.messages);
        }
        self.after = after;
        changes
    }

    fn go_through(&mut self, t: f64, u: &[f64], after: &mut After) -> Result<Changes, Error> {
        let After { x, discrete, messages } = after;
        let sides = self.update_sides(t, (x, u), &mut discrete.modes, messages);
        let (touches, meeting) = self.update_touches(t, x, discrete)?;
        let struck = self.strike(t, (x, u), &meeting, discrete, messages)?;
        let switched = self.switch_motions(t, (x, u), discrete, messages)?;
        let states = struck.states || switched.states;
        // What rates decide is decided anew where they have jumped.
        let after = states && self.update_sides(t, (x, u), &mut discrete.modes, messages);
        Ok(Changes {
            modes: sides || touches || struck.modes || switched.modes || after,
            states,
        })
    }

    /// Hears the commands at the host's inputs `u`; what of them and of the contacts that are `meeting` is due now.
    fn due(&mut self, t: f64, u: &[f64], meeting: &[usize], discrete: &mut Discrete) -> Due {
        let model = &*self.model;
        let (contacts, strikes) = (&model.loads.contacts, &model.loads.strikes);
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, &discrete.modes));
        let mut due = Due::default();
        for (k, strike) in strikes.iter().enumerate() {
            let mode = model.layout.commands + k;
            let (is_on, was_on) = (strike.is_on(inputs), discrete.modes[mode] != 0);
            if is_on == was_on {
                continue;
            }
            // It has been heard, whatever comes of it.
            discrete.modes[mode] = i32::from(is_on);
            due.hears = true;
            match strike.what {
                Struck::Port(port) if is_on => due.ports.push(port),
                Struck::Port(_) => {}
                Struck::Contact(contact) => match (contacts[contact].capture(), is_on) {
                    (None, true) => due.struck.push(contact),
                    (Some(_), true) if discrete.is_touching(model, contact) => due.captured.push(contact),
                    (Some(capture), false) if discrete.is_held(model, capture.number) => {
                        due.released.push(contact);
                    }
                    _ => {}
                },
            }
        }
        for &contact in meeting {
            let is_armed = |strike: &Strike| strike.is_on(inputs) && strike.what == Struck::Contact(contact);
            if contacts[contact].capture().is_none() {
                due.struck.push(contact);
            } else if strikes.iter().any(is_armed) && !due.captured.contains(&contact) {
                due.captured.push(contact);
            }
        }
        due
    }

    /// Lets the impulses act whose commands have risen, and those between surfaces that are `meeting`.
    fn strike(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        meeting: &[usize],
        discrete: &mut Discrete,
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
        let due = self.due(t, u, meeting, discrete);
        if !due.hears && meeting.is_empty() {
            return Ok(Changes::default());
        }
        let model = &*self.model;
        let of = (model, &self.derived, self.parameters.as_slice());
        let evaluation = &mut self.evaluation;
        if !due.released.is_empty() {
            for contact in due.released.iter().map(|&contact| &model.loads.contacts[contact]) {
                if let Some(capture) = contact.capture() {
                    discrete.set_held(model, capture.number, false);
                }
                messages.push(format!("t = {t} s: contact \"{}\" lets go", contact.name));
            }
            let (derived, parameters) = (of.1, of.2);
            evaluation.determine_rank(model, Numbers { derived, parameters }, x, discrete);
            evaluation.update_kinematics(model, (of.1, of.2), x);
            for contact in due.released {
                touch::let_go(model, (of.1, of.2), evaluation, discrete, contact);
            }
        }
        let mut jumped = false;
        for port in due.ports {
            let inputs = evaluation.inputs.clone();
            let (acted, message) = impact::strike_port(of, evaluation, (t, x, discrete), (port, &inputs))?;
            jumped |= acted;
            messages.push(message);
        }
        let mut reports = Vec::new();
        if !due.struck.is_empty() {
            reports = impact::strike(of, evaluation, (t, x, discrete), &due.struck)?;
        }
        if !due.captured.is_empty() {
            reports.extend(captures::capture(of, evaluation, (t, x, discrete), &due.captured)?);
        }
        for (contact, report, message) in reports {
            jumped |= report.status.is_struck();
            if !report.status.is_struck() {
                discrete.let_pass(model, contact);
            }
            report.write(&mut discrete.numbers[Report::place(contact)]);
            messages.push(message);
        }
        self.check_finite(t, x, discrete)?;
        Ok(Changes {
            modes: true,
            states: jumped,
        })
    }

    /// Whether impulses have led to numbers.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the name of the first that is none.
    fn check_finite(&self, t: f64, x: &[f64], discrete: &Discrete) -> Result<(), Error> {
        let model = &self.model;
        let is_none = |number: &f64| !number.is_finite();
        let state = x.iter().position(is_none).map(|i| model.states[i].name.clone());
        let reported = || {
            let i = discrete.numbers[..model.layout.poses].iter().position(is_none)?;
            let contact = &model.loads.contacts[i / Report::COUNT];
            Some(Report::quantities(contact).swap_remove(i % Report::COUNT).name)
        };
        match state.or_else(reported) {
            None => Ok(()),
            Some(variable) => Err(Error::NotFinite { variable, t }),
        }
    }

    /// Switches the motions of joints.
    fn switch_motions(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        discrete: &mut Discrete,
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
        let model = &self.model;
        let drives = &model.loads.drives;
        let Discrete { modes, numbers } = &mut *discrete;
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, modes));
        let mut switched: Vec<(usize, &Drive, JointMotion)> = Vec::new();
        for (drive, refused) in drives.iter().zip(&mut numbers[model.layout.refused..]) {
            match (drive.mode(), drive.command(inputs)) {
                (Some(mode), Some(Ok(motion))) => {
                    *refused = NONE_REFUSED;
                    if motion != drive.motion_now(model.motions(modes)) {
                        switched.push((mode, drive, motion));
                    }
                }
                (_, Some(Err(number))) if *refused != number => {
                    *refused = number;
                    messages.push(drive.objection(number, t));
                }
                _ => {}
            }
        }
        if switched.is_empty() {
            return Ok(Changes::default());
        }
        let numbers = (&self.derived, self.parameters.as_slice());
        let (_, qd) = self.evaluation.coordinates(model, numbers, x);
        messages.extend(switched.iter().map(|(_, drive, motion)| drive.message(*motion, qd, t)));
        let first = model.layout.motions;
        for (mode, _, motion) in &switched {
            discrete.modes[first + mode] = motion.number();
        }
        let locked = switched.iter().filter(|(.., motion)| *motion == JointMotion::Locked);
        let locked: Vec<usize> = locked.map(|(_, drive, _)| drive.body).collect();
        let (derived, parameters) = (&self.derived, self.parameters.as_slice());
        let of = Numbers { derived, parameters };
        self.evaluation.determine_rank(model, of, x, discrete);
        if !locked.is_empty() {
            let locks = |drive: &Drive| locked.contains(&drive.body);
            self.evaluation.lock(model, numbers, x, discrete, locks)?;
            self.check_finite(t, x, discrete)?;
        }
        Ok(Changes {
            modes: true,
            states: !locked.is_empty(),
        })
    }
}
