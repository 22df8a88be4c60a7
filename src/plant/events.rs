//! What happens at events: sides change, commands are obeyed, states jump.

use super::discrete::Bearing;
use super::impulse::Pair;
use super::report::Report;
use super::{Discrete, Plant, impact};
use crate::Error;
use crate::algebra::Vec3;
use crate::loads::{Drive, Struck};
use crate::spec::JointMotion;
use crate::system::Carrier;
use nalgebra::DVector;
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
        let mut strikes = model.loads.strikes.iter().zip(&modes[model.first_command()..]);
        let mut drives = model.loads.drives.iter().zip(&self.refused);
        strikes.any(|(strike, &was_on)| strike.is_on(inputs) != (was_on != 0))
            || drives.any(|(drive, refused)| match drive.command(inputs) {
                Some(Ok(motion)) => motion != drive.motion_now(model.motions(modes)),
                Some(Err(number)) => *refused != Some(number),
                None => false,
            })
    }

    /// Brings the modes to where time, state and commands are, and states to where impulses put them; says what the user should know.
    ///
    /// What strikes at this instant does so with the joints as they were; brakes close afterwards.
    ///
    /// # Errors
    /// [`Error::Singular`] if something moves no inertia where an impulse acts.
    pub fn update(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        discrete: &mut Discrete,
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
        let sides = self.update_sides(t, x, &mut discrete.modes, messages);
        let struck = self.obey_strikes(t, (x, u), discrete, messages)?;
        let switched = self.switch_motions(t, (x, u), discrete, messages)?;
        Ok(Changes {
            modes: sides || struck.modes || switched.modes,
            states: struck.states || switched.states,
        })
    }

    /// Lets the impulses act whose commands have risen.
    fn obey_strikes(
        &mut self,
        t: f64,
        (x, u): (&mut [f64], &[f64]),
        discrete: &mut Discrete,
        messages: &mut Vec<String>,
    ) -> Result<Changes, Error> {
        let model = Arc::clone(&self.model);
        let strikes = &model.loads.strikes;
        if strikes.is_empty() {
            return Ok(Changes::default());
        }
        let first = model.first_command();
        let inputs = self
            .evaluation
            .inputs(&model, &self.parameters, t, (u, &discrete.modes))
            .to_vec();
        let is_on: Vec<bool> = strikes.iter().map(|strike| strike.is_on(&inputs)).collect();
        let was_on = |k: usize| discrete.modes[first + k] != 0;
        if (0..strikes.len()).all(|k| is_on[k] == was_on(k)) {
            return Ok(Changes::default());
        }
        let mut next = discrete.clone();
        let mut after = x.to_vec();
        let (mut ports, mut strikes_now, mut captures) = (Vec::new(), Vec::new(), Vec::new());
        let (mut told, mut released) = (Vec::new(), false);
        for (k, strike) in strikes.iter().enumerate().filter(|&(k, _)| is_on[k] != was_on(k)) {
            match (strike.what, is_on[k]) {
                (Struck::Port(port), true) => ports.push(port),
                (Struck::Contact(contact), true) if model.loads.contacts[contact].turns().is_some() => {
                    captures.push(contact)
                }
                (Struck::Contact(contact), true) => strikes_now.push(contact),
                (Struck::Contact(contact), false) => {
                    let place = model.loads.captures().position(|(index, _)| index == contact);
                    if let Some(capture) = place.filter(|&capture| next.bearing(&model, capture).held) {
                        next.set_bearing(&model, capture, Bearing::default());
                        told.push(format!(
                            "t = {t} s: contact \"{}\" lets go",
                            model.loads.contacts[contact].name
                        ));
                        released = true;
                    }
                }
                (Struck::Port(_), false) => {}
            }
        }
        let of = (&*model, &self.derived, self.parameters.as_slice());
        if released {
            impact::bear(of, &mut self.evaluation, &after, &mut next)?;
        }
        let mut jumped = self.strike_ports(t, (&mut after, &inputs), &next, &ports, &mut told)?;
        let of = (&*model, &self.derived, self.parameters.as_slice());
        let mut reports = Vec::new();
        if !strikes_now.is_empty() {
            reports = impact::strike(of, &mut self.evaluation, (t, &mut after, &next), &strikes_now)?;
        }
        if !captures.is_empty() {
            reports.extend(impact::capture(
                of,
                &mut self.evaluation,
                (t, &mut after, &mut next),
                &captures,
            )?);
        }
        for (contact, report, message) in reports {
            jumped |= report.status.is_struck();
            report.write(Report::of(&mut next.numbers, contact));
            told.push(message);
        }
        for (modes, is_on) in [&mut next.modes, &mut discrete.modes]
            .into_iter()
            .zip([is_on.clone(), is_on])
        {
            for (mode, is_on) in modes[first..].iter_mut().zip(is_on) {
                *mode = i32::from(is_on);
            }
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

    /// Lets the host's impulses act on some ports; whether one did.
    fn strike_ports(
        &mut self,
        t: f64,
        (x, inputs): (&mut [f64], &[f64]),
        discrete: &Discrete,
        ports: &[usize],
        messages: &mut Vec<String>,
    ) -> Result<bool, Error> {
        let (model, numbers) = (&self.model, (&self.derived, self.parameters.as_slice()));
        let mut acted = false;
        for &port in ports {
            let port = &model.loads.ports[port];
            let system = model.system();
            self.evaluation.stand(model, numbers, x);
            let X_WF = self.evaluation.kinematics.arm(system, numbers.0, port.frame);
            let pair = Pair {
                a: system.carrier(port.frame),
                b: Carrier::World,
                arms: [X_WF.p, Vec3::zeros()],
                turns: false,
            };
            let p = port.impulse(inputs, &X_WF.R);
            let p = DVector::from_column_slice(p.as_slice());
            if p.iter().any(|p| !p.is_finite()) {
                messages.push(format!(
                    "t = {t} s: port \"{}\" is not struck: its impulse is not finite",
                    port.name
                ));
                continue;
            }
            acted = true;
            let u = self.evaluation.velocities(&[pair]);
            let operator = self.evaluation.operator(model, (numbers.0, x), discrete, &[pair])?;
            let work = p.dot(&(&u + &operator.W * &p * 0.5));
            self.evaluation
                .strike(model, numbers, (x, discrete), &operator, (&p, work));
            messages.push(format!(
                "t = {t} s: port \"{}\" is struck by {} N·s",
                port.name,
                p.norm()
            ));
        }
        Ok(acted)
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
        let modes = &discrete.modes;
        let inputs = self.evaluation.inputs(model, &self.parameters, t, (u, modes));
        let mut switched: Vec<(usize, &Drive, JointMotion)> = Vec::new();
        for (drive, refused) in drives.iter().zip(&mut self.refused) {
            match (drive.mode(), drive.command(inputs)) {
                (Some(mode), Some(Ok(motion))) => {
                    *refused = None;
                    if motion != drive.motion_now(model.motions(modes)) {
                        switched.push((mode, drive, motion));
                    }
                }
                (_, Some(Err(number))) if *refused != Some(number) => {
                    *refused = Some(number);
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
        let first = model.first_motion();
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
            self.evaluation.lock(model, numbers, x, &after, locks)?;
        }
        *discrete = after;
        messages.extend(told);
        Ok(Changes {
            modes: true,
            states: !locked.is_empty(),
        })
    }

    /// Brings the modes to where time and state are. True if one changed.
    pub(super) fn update_sides(&mut self, t: f64, x: &[f64], modes: &mut [i32], messages: &mut Vec<String>) -> bool {
        let model = &self.model;
        let mut changed = false;
        for (signal, piece) in model.signals.iter().zip(&mut *modes) {
            let now = signal.wave(&self.parameters).piece(t);
            changed |= now != *piece;
            *piece = now;
        }
        if model.indicator_count() == 0 {
            return changed;
        }
        let numbers = (&self.derived, self.parameters.as_slice());
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
