//! What happens at events: sides change, commands are obeyed, states jump.

use super::discrete::{Bearing, NONE_REFUSED};
use super::report::Report;
use super::{Discrete, Plant, impact, touch};
use crate::Error;
use crate::loads::{Drive, Strike, Struck};
use crate::spec::JointMotion;
use std::sync::Arc;

/// What an event has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// A mode.
    pub modes: bool,
    /// A state.
    pub states: bool,
}

impl Plant {
    /// Whether a command waits for an event at the time `t` (s) and the host's inputs `u`: a strike has risen or fallen, or another motion of a joint is asked
    /// for than it has, or none of its motions, which has not been told yet.
    pub fn is_commanded(&mut self, t: f64, u: &[f64], discrete: &Discrete) -> bool {
        let model = &self.model;
        if !model.is_commanded() {
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
    /// [`Error::Singular`] if something moves no inertia where an impulse acts, [`Error::Chatter`].
    pub fn update(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        discrete: &mut Discrete,
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
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

    /// Lets the impulses act whose commands have risen, and those between surfaces that are `meeting`.
    fn strike(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        meeting: &[usize],
        discrete: &mut Discrete,
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
        let model = Arc::clone(&self.model);
        let strikes = &model.loads.strikes;
        if strikes.is_empty() && meeting.is_empty() {
            return Ok(Changes::default());
        }
        let first = model.layout.commands;
        let inputs = self
            .evaluation
            .inputs(&model, &self.parameters, t, (u, &discrete.modes))
            .to_vec();
        let is_on: Vec<bool> = strikes.iter().map(|strike| strike.is_on(&inputs)).collect();
        let was_on = |k: usize| discrete.modes[first + k] != 0;
        if meeting.is_empty() && (0..strikes.len()).all(|k| is_on[k] == was_on(k)) {
            return Ok(Changes::default());
        }
        // What is on or off now has been heard, whatever comes of it.
        let changed: Vec<usize> = (0..strikes.len()).filter(|&k| is_on[k] != was_on(k)).collect();
        for (mode, &is_on) in discrete.modes[first..].iter_mut().zip(&is_on) {
            *mode = i32::from(is_on);
        }
        let mut next = discrete.clone();
        let mut after = x.to_vec();
        let mut told = Vec::new();
        let (mut ports, mut struck, mut captured, mut released) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for k in changed {
            let contact = match strikes[k].what {
                Struck::Port(port) if is_on[k] => {
                    ports.push(port);
                    continue;
                }
                Struck::Port(_) => continue,
                Struck::Contact(contact) => contact,
            };
            match (model.loads.contacts[contact].capture(), is_on[k]) {
                (None, true) => struck.push(contact),
                (Some(_), true) if next.is_touching(&model, contact) => captured.push(contact),
                (Some(capture), false) if next.bearing(&model, capture.number).held => {
                    next.set_bearing(&model, capture.number, Bearing::default());
                    let name = &model.loads.contacts[contact].name;
                    told.push(format!("t = {t} s: contact \"{name}\" lets go"));
                    released.push(contact);
                }
                _ => {}
            }
        }
        for &contact in meeting {
            let Some(capture) = model.loads.contacts[contact].capture() else {
                struck.push(contact);
                continue;
            };
            let is_armed = |(strike, &is_on): (&Strike, &bool)| is_on && strike.what == Struck::Contact(contact);
            let is_held = next.bearing(&model, capture.number).held;
            if strikes.iter().zip(&is_on).any(is_armed) && !is_held && !captured.contains(&contact) {
                captured.push(contact);
            }
        }
        let mut jumped = false;
        let of = (&*model, &self.derived, self.parameters.as_slice());
        let evaluation = &mut self.evaluation;
        if !released.is_empty() {
            impact::bear(of, evaluation, &after, &mut next)?;
            evaluation.stand(&model, (of.1, of.2), &after);
            for contact in released {
                touch::let_go(&model, (of.1, of.2), evaluation, &mut next, contact);
            }
        }
        for port in ports {
            let (acted, message) = impact::strike_port(of, evaluation, (t, &mut after, &next), (port, &inputs))?;
            jumped |= acted;
            told.push(message);
        }
        let mut reports = Vec::new();
        if !struck.is_empty() {
            reports = impact::strike(of, evaluation, (t, &mut after, &next), &struck)?;
        }
        if !captured.is_empty() {
            let here = (t, after.as_mut_slice(), &mut next);
            reports.extend(impact::capture(of, evaluation, here, &captured)?);
        }
        for (contact, report, message) in reports {
            jumped |= report.status.is_struck();
            if !report.status.is_struck() {
                next.let_pass(&model, contact);
            }
            report.write(&mut next.numbers[Report::place(contact)]);
            told.push(message);
        }
        if !after.iter().chain(&next.numbers).all(|number| number.is_finite()) {
            messages.push(format!(
                "t = {t} s: the impulses are beyond all numbers; none of them acts"
            ));
            return Ok(Changes {
                modes: true,
                states: false,
            });
        }
        messages.append(&mut told);
        x.copy_from_slice(&after);
        *discrete = next;
        Ok(Changes {
            modes: true,
            states: jumped,
        })
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
        let told = switched.iter().map(|(_, drive, motion)| drive.message(*motion, qd, t));
        let told: Vec<String> = told.collect();
        let mut after = discrete.clone();
        let first = model.layout.motions;
        for (mode, _, motion) in &switched {
            after.modes[first + mode] = motion.number();
        }
        let locked = switched.iter().filter(|(.., motion)| *motion == JointMotion::Locked);
        let locked: Vec<usize> = locked.map(|(_, drive, _)| drive.body).collect();
        impact::bear(
            (model, &self.derived, &self.parameters),
            &mut self.evaluation,
            x,
            &mut after,
        )?;
        if !locked.is_empty() {
            let locks = |drive: &Drive| locked.contains(&drive.body);
            let mut stopped = x.to_vec();
            self.evaluation.lock(model, numbers, &mut stopped, &after, locks)?;
            if let Some(i) = stopped.iter().position(|x| !x.is_finite()) {
                let variable = model.states[i].name.clone();
                return Err(Error::NotFinite { variable, t });
            }
            x.copy_from_slice(&stopped);
        }
        *discrete = after;
        messages.extend(told);
        Ok(Changes {
            modes: true,
            states: !locked.is_empty(),
        })
    }

    /// Brings pieces of signals and sides of ranges, limits and motors to where time, states, inputs and parameters are: no command is obeyed, and nothing strikes. True if one
    /// changed.
    pub fn update_sides(
        &mut self,
        t: f64,
        (x, u): (&[f64], &[f64]),
        modes: &mut [i32],
        messages: &mut Vec<String>,
    ) -> bool {
        let mut changed = false;
        for (signal, piece) in self.model.signals.iter().zip(&mut *modes) {
            let now = signal.wave(&self.parameters).piece(t);
            changed |= now != *piece;
            *piece = now;
        }
        // What is sampled chooses when it is.
        if !self.model.is_sampled() {
            changed |= self.choose_controlled_sides(t, u, modes);
        }
        let model = &self.model;
        if model.indicator_count() == 0 {
            return changed;
        }
        let numbers = (&self.derived, self.parameters.as_slice());
        if !model.loads.motors.is_empty() {
            let sensed = self.evaluation.sensed(model, numbers, t, (x, u, modes));
            for (motor, sides) in model.loads.motors() {
                let sides = &mut modes[model.layout.motors..][sides];
                let now = motor.next_sides(&sensed, sides);
                if sides[1] == 0 && now[1] != 0 {
                    messages.extend(motor.message(&self.parameters, t));
                }
                changed |= now != *sides;
                sides.copy_from_slice(&now);
            }
        }
        let (q, _) = self.evaluation.coordinates(model, numbers, x);
        let (ranges, limits) = (&model.loads.ranges, &model.limits);
        let (sides, beyond) = modes[model.signals.len()..].split_at_mut(ranges.len());
        for (limit, mode) in limits.iter().zip(beyond) {
            let now = limit.next_mode(&self.parameters, &self.derived, q, *mode);
            if now != *mode {
                changed = true;
                *mode = now;
                if now != 0 {
                    messages.push(limit.message(&model.system, &self.parameters, &self.derived, q, t));
                }
            }
        }
        for (range, side) in ranges.iter().zip(sides) {
            let now = range.next_mode(&self.parameters, q, *side);
            if now != *side {
                changed = true;
                *side = now;
                if now != 0 {
                    messages.push(range.message(&self.parameters, q, now, t));
                }
            }
        }
        changed
    }
}
