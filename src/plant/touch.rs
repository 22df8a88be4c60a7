//! Surfaces that touch by themselves, watched by a mode.

use super::evaluation::Evaluation;
use super::{Discrete, Model, Plant};
use crate::Error;
use crate::loads::{Contact, Pair};
use crate::system::Derived;

/// They are apart.
const APART: i32 = 0;
/// They are in each other and do nothing: a is behind a disc, or deeper than a capture finds it.
const BEHIND: i32 = -1;
/// So often may two surfaces strike each other before they come apart again.
const MOST_STRIKES: i32 = 100;
/// How far surfaces come apart before that counts, m; beside it, how far a place is from the world's origin, times this.
const MARGIN: [f64; 2] = [1e-9, 16.0 * f64::EPSILON];
/// The indicator of surfaces that are held together, m.
const HELD: f64 = 1.0;
/// The floor under what may sink as it will.
const BOTTOMLESS: f64 = f64::MIN;

/// Two surfaces at one instant.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// How far they are apart, m.
    gap: f64,
    /// How fast they come apart where they meet, m/s.
    speed: f64,
    /// How fast the gap can change at most, as they move now, m/s.
    fastest: f64,
    /// What counts as nothing, m.
    margin: f64,
    /// Whether a is beside a disc.
    is_beside: bool,
}

/// What a touch comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Stays,
    Parts,
    Passes,
    Meets,
}

impl Touch {
    /// Of a contact, where the bodies stand.
    fn of(
        model: &Model,
        (derived, parameters): (&Derived, &[f64]),
        evaluation: &Evaluation<f64>,
        contact: &Contact,
    ) -> Self {
        let (system, kinematics) = (&model.system, &evaluation.kinematics);
        let frames = [contact.a, contact.b];
        let [A, B] = frames.map(|frame| kinematics.pose(system, derived, frame));
        let nearest = contact.nearest(parameters, [&A, &B]);
        let of = (system, derived, kinematics);
        let pair = Pair::at(of, frames, nearest.from_a);
        let u = pair.relative(|on| kinematics.carrier(on).V_WB);
        let w_B = kinematics.carrier(pair.carriers()[1]).V_WB.w;
        let origins = Pair::at_a(of, frames).relative(|on| kinematics.carrier(on).V_WB);
        Self {
            gap: nearest.gap,
            speed: nearest.n.dot(&u.v),
            fastest: origins.v.norm() + w_B.norm() * (A.p - B.p).norm(),
            margin: MARGIN[0] + MARGIN[1] * (A.p.norm() + B.p.norm()),
            is_beside: nearest.is_beside,
        }
    }

    /// Positive as long as the mode is right, negative once it has to change. A touch ends where they have come apart by the margin, or where they have sunk to
    /// the floor, which is as much below where they met.
    fn indicator(&self, mode: i32, floor: f64) -> f64 {
        match mode {
            APART => self.gap,
            BEHIND => self.margin - self.gap,
            _ => (self.margin - self.gap).min(self.gap - floor),
        }
    }

    /// The floor under a touch that has met here.
    fn floor(&self) -> f64 {
        (self.gap - self.margin).max(BOTTOMLESS)
    }

    /// What comes next. A host's root is a little before or after the indicator's zero: a quarter of the margin counts as there.
    fn next(&self, mode: i32, floor: f64) -> Next {
        let there = 0.25 * self.margin;
        if mode != APART && self.gap >= self.margin - there {
            return Next::Parts;
        }
        let meets = match mode {
            APART => self.gap <= there,
            BEHIND => false,
            _ => self.gap <= floor + there,
        };
        match (meets, mode == APART && self.is_beside) {
            (true, true) => Next::Passes,
            (true, false) => Next::Meets,
            (false, _) => Next::Stays,
        }
    }
}

impl Discrete {
    /// The mode and the floor of a touch.
    fn touch(&self, model: &Model, touch: usize) -> (i32, f64) {
        (
            self.modes[model.layout.touches + touch],
            self.numbers[model.layout.floors + touch],
        )
    }

    fn set_touch(&mut self, model: &Model, touch: usize, (mode, floor): (i32, f64)) {
        self.modes[model.layout.touches + touch] = mode;
        self.numbers[model.layout.floors + touch] = floor;
    }

    /// Whether the surfaces of a contact touch; without surfaces they are where a command finds them.
    pub(super) fn is_touching(&self, model: &Model, contact: usize) -> bool {
        let touch = model.loads.contacts[contact].touch();
        touch.is_none_or(|touch| self.touch(model, touch).0 > APART)
    }

    /// Lets surfaces whose strike is refused go on through each other, until they come apart again.
    pub(super) fn let_pass(&mut self, model: &Model, contact: usize) {
        if let Some(touch) = model.loads.contacts[contact].touch() {
            let (mode, _) = self.touch(model, touch);
            self.set_touch(model, touch, (mode, BOTTOMLESS));
        }
    }

    /// Whether the frames of a contact are held together: then their surfaces touch, wherever the integration's error lets them drift.
    fn holds(&self, model: &Model, contact: &Contact) -> bool {
        let capture = contact.capture();
        capture.is_some_and(|capture| self.is_held(model, capture.number))
    }
}

impl Plant {
    /// The indicators of surfaces, where the bodies stand.
    pub(super) fn touch_indicators(&self, discrete: &Discrete, z: &mut [f64]) {
        let (model, numbers) = (&self.model, (&self.derived, self.parameters.as_slice()));
        for (touch, ((_, contact), z)) in model.loads.touching().zip(z).enumerate() {
            let (mode, floor) = discrete.touch(model, touch);
            *z = match discrete.holds(model, contact) {
                true => HELD,
                false => Touch::of(model, numbers, &self.evaluation, contact).indicator(mode, floor),
            };
        }
    }

    /// Whether some surfaces that are apart may touch and come apart again within `h` (s), as they move in the states `x`.
    pub fn may_touch(&mut self, x: &[f64], discrete: &Discrete, h: f64) -> bool {
        let (model, numbers) = (&self.model, (&self.derived, self.parameters.as_slice()));
        if model.loads.touching().next().is_none() {
            return false;
        }
        self.evaluation.update_kinematics(model, numbers, x);
        let evaluation = &self.evaluation;
        model.loads.touching().enumerate().any(|(touch, (_, contact))| {
            let seen = Touch::of(model, numbers, evaluation, contact);
            discrete.touch(model, touch).0 == APART && seen.gap <= 2.0 * h * seen.fastest
        })
    }

    /// How surfaces stand to each other at the start. What starts inside strikes where it sinks deeper.
    pub(super) fn start_touches(&mut self, x: &[f64], discrete: &mut Discrete) {
        let (model, numbers) = (&self.model, (&self.derived, self.parameters.as_slice()));
        if model.loads.touching().next().is_none() {
            return;
        }
        self.evaluation.update_kinematics(model, numbers, x);
        for (touch, (_, contact)) in model.loads.touching().enumerate() {
            let seen = Touch::of(model, numbers, &self.evaluation, contact);
            let start = match seen.next(APART, BOTTOMLESS) {
                Next::Passes | Next::Meets if contact.has_back() && seen.gap < -seen.margin => (BEHIND, BOTTOMLESS),
                Next::Meets if contact.is_compliant() => (1, BOTTOMLESS),
                Next::Meets if contact.capture().is_some() && seen.gap < -seen.margin => (BEHIND, BOTTOMLESS),
                Next::Meets => (1, seen.floor()),
                Next::Stays | Next::Parts | Next::Passes => (APART, BOTTOMLESS),
            };
            discrete.set_touch(model, touch, start);
        }
    }

    /// Brings the modes of surfaces to where the states are. Whether one changed, and the contacts that meet now.
    ///
    /// # Errors
    /// [`Error::Chatter`] if two strike each other again and again.
    pub(super) fn update_touches(
        &mut self,
        t: f64,
        x: &[f64],
        discrete: &mut Discrete,
    ) -> Result<(bool, Vec<usize>), Error> {
        let (model, numbers) = (&self.model, (&self.derived, self.parameters.as_slice()));
        let mut meeting = Vec::new();
        if model.loads.touching().next().is_none() {
            return Ok((false, meeting));
        }
        self.evaluation.update_kinematics(model, numbers, x);
        let mut changed = false;
        for (touch, (index, contact)) in model.loads.touching().enumerate() {
            if discrete.holds(model, contact) {
                continue;
            }
            let seen = Touch::of(model, numbers, &self.evaluation, contact);
            let (mode, floor) = discrete.touch(model, touch);
            let next = match seen.next(mode, floor) {
                Next::Stays => continue,
                Next::Parts => (APART, BOTTOMLESS),
                Next::Passes => (BEHIND, BOTTOMLESS),
                Next::Meets if contact.is_compliant() => (1, BOTTOMLESS),
                Next::Meets => {
                    let floor = seen.floor();
                    let captures = contact.capture().is_some();
                    let acts = captures || seen.speed < 0.0;
                    if acts {
                        meeting.push(index);
                    }
                    match captures {
                        // What was not captured where it touched, and goes deeper, passes.
                        true if mode > APART => (BEHIND, BOTTOMLESS),
                        true => (1, floor),
                        false => (mode.max(0) + i32::from(acts || mode <= 0), floor),
                    }
                }
            };
            if next.0 > MOST_STRIKES {
                return Err(Error::Chatter {
                    contact: contact.name.clone(),
                    frames: contact.names.clone(),
                    strikes: MOST_STRIKES,
                    t,
                });
            }
            changed |= next != (mode, floor);
            discrete.set_touch(model, touch, next);
        }
        Ok((changed, meeting))
    }
}

/// Lets surfaces that were held together touch where they are let go, as the bodies stand: they part, or sink, from there.
pub(super) fn let_go(
    model: &Model,
    numbers: (&Derived, &[f64]),
    evaluation: &Evaluation<f64>,
    discrete: &mut Discrete,
    contact: usize,
) {
    let contact = &model.loads.contacts[contact];
    if let Some(touch) = contact.touch() {
        let seen = Touch::of(model, numbers, evaluation, contact);
        discrete.set_touch(model, touch, (1, seen.floor()));
    }
}

/// By how much surfaces with laws of impact are in each other, m, as the bodies stand; none where they are not.
pub(super) fn inside(
    model: &Model,
    numbers: (&Derived, &[f64]),
    evaluation: &Evaluation<f64>,
    contact: &Contact,
) -> Option<f64> {
    let seen = Touch::of(model, numbers, evaluation, contact);
    let strikes = contact.law(numbers.1).is_some() && !contact.has_back();
    (strikes && seen.gap < -seen.margin).then_some(-seen.gap)
}

#[cfg(test)]
mod tests {
    use super::{BOTTOMLESS, Touch};

    #[test]
    fn a_floor_is_a_number_however_deep_it_lies() {
        let touch = |gap, margin| Touch {
            gap,
            speed: 0.0,
            fastest: 0.0,
            margin,
            is_beside: false,
        };
        assert_eq!(touch(-1e308, 1e308).floor(), BOTTOMLESS);
        assert_eq!(touch(f64::NEG_INFINITY, 1.0).floor(), BOTTOMLESS);
        assert_eq!(touch(-3.0, 1.0).floor(), -4.0);
    }
}
