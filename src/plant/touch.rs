//! Contact detection between surfaces, with a discrete state for each pair.

use super::context::Constants;
use super::evaluation::Evaluation;
use super::{Discrete, Model, Plant};
use crate::Error;
use crate::elements::{Contact, Pair, Stored};

/// Contact state of two surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Surfaces {
    /// The surfaces are separated.
    #[default]
    Apart,
    /// The surfaces overlap without contact: a is behind a disc, or deeper than a capture detects
    /// it.
    Behind,
    /// The surfaces are in contact after `impacts` impacts; the next one is detected at the gap
    /// `floor` (m).
    Touching { impacts: i32, floor: f64 },
}

impl Surfaces {
    /// In contact, without further detection of impacts.
    const SINKING: Self = Self::Touching {
        impacts: 1,
        floor: BOTTOMLESS,
    };
}

impl Stored for Surfaces {
    fn write(&self, to: &mut impl FnMut(f64)) {
        let (state, floor) = match *self {
            Self::Apart => (0, BOTTOMLESS),
            Self::Behind => (-1, BOTTOMLESS),
            Self::Touching { impacts, floor } => (impacts, floor),
        };
        state.write(to);
        floor.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let (state, floor) = (i32::read(next)?, f64::read(next)?);
        match state {
            0 => Some(Self::Apart),
            -1 => Some(Self::Behind),
            1..=MOST_IMPACTS => Some(Self::Touching { impacts: state, floor }),
            _ => None,
        }
    }
}

/// Largest number of impacts of two surfaces between separations.
const MOST_IMPACTS: i32 = 100;
/// Separation at which a contact ends, m: a constant, and a factor of the frames' distances from
/// the world's origin, for round-off.
const MARGIN: [f64; 2] = [1e-9, 16.0 * f64::EPSILON];
/// Value of the indicator of captured surfaces, m.
const HELD: f64 = 1.0;
/// Floor (m) of contacts without further detection.
const BOTTOMLESS: f64 = f64::MIN;

/// Geometry and velocity of two surfaces at one instant.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// Gap, m.
    gap: f64,
    /// Separation speed at the contact point along the normal, m/s.
    speed: f64,
    /// Upper bound of the gap's rate at the present velocities, m/s.
    fastest: f64,
    /// Separation at which a contact ends, m.
    margin: f64,
    /// True if a is outside the disc's radius.
    is_beside: bool,
}

/// Transition of a contact state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Stays,
    Parts,
    Passes,
    Meets,
}

impl Touch {
    /// Computes gap and velocities of a contact at the present kinematics.
    fn of(of: Constants, evaluation: &Evaluation<f64>, contact: &Contact) -> Self {
        let kinematics = &evaluation.kinematics;
        let at = of.at(kinematics);
        let [A, B] = contact.poses(at);
        let nearest = contact.nearest(of.parameters, [&A, &B]);
        let frames = [contact.a, contact.b];
        let pair = Pair::at(at, frames, nearest.from_a);
        let u = pair.relative(|on| kinematics.carrier(on).V_WB);
        let w_B = kinematics.carrier(pair.carriers()[1]).V_WB.w;
        let origins = Pair::at_a(at, frames).relative(|on| kinematics.carrier(on).V_WB);
        Self {
            gap: nearest.gap,
            speed: nearest.n.dot(&u.v),
            fastest: origins.v.norm() + w_B.norm() * (A.p - B.p).norm(),
            margin: MARGIN[0] + MARGIN[1] * (A.p.norm() + B.p.norm()),
            is_beside: nearest.is_beside,
        }
    }

    /// Returns the event indicator (m) of a contact state. It is positive as long as the state is
    /// valid. Contact ends at a gap of `margin`; the next impact is detected at `floor`.
    fn indicator(&self, state: Surfaces) -> f64 {
        match state {
            Surfaces::Apart => self.gap,
            Surfaces::Behind => self.margin - self.gap,
            Surfaces::Touching { floor, .. } => (self.margin - self.gap).min(self.gap - floor),
        }
    }

    /// Returns the gap (m) at which the next impact is detected after one at the present gap.
    fn floor(&self) -> f64 {
        (self.gap - self.margin).max(BOTTOMLESS)
    }

    /// Returns the contact state after a first impact at the present gap.
    fn touching(&self) -> Surfaces {
        Surfaces::Touching {
            impacts: 1,
            floor: self.floor(),
        }
    }

    /// Returns the transition from a contact state. The importer's root lies slightly before or
    /// after the indicator's zero, so a quarter of the margin is tolerated.
    fn next(&self, state: Surfaces) -> Next {
        let there = 0.25 * self.margin;
        if state != Surfaces::Apart && self.gap >= self.margin - there {
            return Next::Parts;
        }
        let meets = match state {
            Surfaces::Apart => self.gap <= there,
            Surfaces::Behind => false,
            Surfaces::Touching { floor, .. } => self.gap <= floor + there,
        };
        match (meets, state == Surfaces::Apart && self.is_beside) {
            (true, true) => Next::Passes,
            (true, false) => Next::Meets,
            (false, _) => Next::Stays,
        }
    }
}

impl Discrete {
    /// Returns true if the surfaces of a contact touch; always true for contacts without surfaces,
    /// which act on command.
    pub(super) fn is_touching(&self, model: &Model, contact: usize) -> bool {
        let touch = model.elements.contacts[contact].touch();
        touch.is_none_or(|touch| matches!(self.surfaces[touch], Surfaces::Touching { .. }))
    }

    /// Detects no further impact of surfaces whose impact is refused until they separate.
    pub(super) fn let_pass(&mut self, model: &Model, contact: usize) {
        if let Some(touch) = model.elements.contacts[contact].touch()
            && let Surfaces::Touching { floor, .. } = &mut self.surfaces[touch]
        {
            *floor = BOTTOMLESS;
        }
    }

    /// Returns true if the frames of a contact are captured: their surfaces then count as touching,
    /// whatever the integration error of the gap.
    fn holds(&self, contact: &Contact) -> bool {
        let capture = contact.capture();
        capture.is_some_and(|capture| self.is_held(capture.number))
    }
}

impl Plant {
    /// Writes the event indicators (m) of surfaces at the present kinematics.
    pub(super) fn touch_indicators(&self, discrete: &Discrete, z: &mut [f64]) {
        let of = self.base.constants();
        let model = of.model;
        for ((&state, (_, contact)), z) in discrete.surfaces.iter().zip(model.elements.touching()).zip(z) {
            *z = match discrete.holds(contact) {
                true => HELD,
                false => Touch::of(of, &self.evaluation, contact).indicator(state),
            };
        }
    }

    /// Returns true if separated surfaces may touch and separate again within `h` (s), at the
    /// velocities of the states `x`.
    pub fn may_touch(&mut self, x: &[f64], discrete: &Discrete, h: f64) -> bool {
        let of = self.base.constants();
        let model = of.model;
        if model.elements.touching().next().is_none() {
            return false;
        }
        self.evaluation.update_kinematics(of, x);
        let evaluation = &self.evaluation;
        let mut surfaces = model.elements.touching().zip(&discrete.surfaces);
        surfaces.any(|((_, contact), state)| {
            let seen = Touch::of(of, evaluation, contact);
            *state == Surfaces::Apart && seen.gap <= 2.0 * h * seen.fastest
        })
    }

    /// Initialises the contact states at the states `x`. Rigid surfaces that overlap at the start
    /// have an impact once they penetrate deeper.
    pub(super) fn start_touches(&mut self, x: &[f64], discrete: &mut Discrete) {
        let of = self.base.constants();
        let model = of.model;
        if model.elements.touching().next().is_none() {
            return;
        }
        self.evaluation.update_kinematics(of, x);
        for (state, (_, contact)) in discrete.surfaces.iter_mut().zip(model.elements.touching()) {
            let seen = Touch::of(of, &self.evaluation, contact);
            *state = match seen.next(Surfaces::Apart) {
                Next::Passes | Next::Meets if contact.has_back() && seen.gap < -seen.margin => Surfaces::Behind,
                Next::Meets if contact.is_compliant() => Surfaces::SINKING,
                Next::Meets if contact.capture().is_some() && seen.gap < -seen.margin => Surfaces::Behind,
                Next::Meets => seen.touching(),
                Next::Stays | Next::Parts | Next::Passes => Surfaces::Apart,
            };
        }
    }

    /// Updates the contact states to the states `x` at the time `t` (s). Returns true if one
    /// changed, and the contacts that meet now.
    ///
    /// # Errors
    /// [`Error::Chatter`] after more than [`MOST_IMPACTS`] impacts of two surfaces without
    /// separation.
    pub(super) fn update_touches(
        &mut self,
        t: f64,
        x: &[f64],
        discrete: &mut Discrete,
    ) -> Result<(bool, Vec<usize>), Error> {
        let of = self.base.constants();
        let model = of.model;
        let mut meeting = Vec::new();
        if model.elements.touching().next().is_none() {
            return Ok((false, meeting));
        }
        self.evaluation.update_kinematics(of, x);
        let mut changed = false;
        for (touch, (index, contact)) in model.elements.touching().enumerate() {
            if discrete.holds(contact) {
                continue;
            }
            let seen = Touch::of(of, &self.evaluation, contact);
            let state = discrete.surfaces[touch];
            let next = match seen.next(state) {
                Next::Stays => continue,
                Next::Parts => Surfaces::Apart,
                Next::Passes => Surfaces::Behind,
                Next::Meets if contact.is_compliant() => Surfaces::SINKING,
                Next::Meets => {
                    let captures = contact.capture().is_some();
                    let acts = captures || seen.speed < 0.0;
                    if acts {
                        meeting.push(index);
                    }
                    match (state, captures) {
                        // It was not captured at first contact and penetrates deeper.
                        (Surfaces::Touching { .. }, true) => Surfaces::Behind,
                        (Surfaces::Touching { impacts, .. }, false) => Surfaces::Touching {
                            impacts: impacts + i32::from(acts),
                            floor: seen.floor(),
                        },
                        _ => seen.touching(),
                    }
                }
            };
            if matches!(next, Surfaces::Touching { impacts, .. } if impacts > MOST_IMPACTS) {
                return Err(Error::Chatter {
                    contact: contact.name.clone(),
                    frames: contact.names.clone(),
                    strikes: MOST_IMPACTS,
                    t,
                });
            }
            changed |= next != state;
            discrete.surfaces[touch] = next;
        }
        Ok((changed, meeting))
    }
}

/// Sets the contact state of released surfaces to touching at the present gap, from which they
/// separate or penetrate.
pub(super) fn let_go(of: Constants, evaluation: &Evaluation<f64>, discrete: &mut Discrete, contact: usize) {
    let contact = &of.model.elements.contacts[contact];
    if let Some(touch) = contact.touch() {
        let seen = Touch::of(of, evaluation, contact);
        discrete.surfaces[touch] = seen.touching();
    }
}

/// Returns the penetration (m) of a contact with an impact law and no disc, at the present
/// kinematics; `None` if the surfaces do not overlap.
pub(super) fn inside(of: Constants, evaluation: &Evaluation<f64>, contact: &Contact) -> Option<f64> {
    let seen = Touch::of(of, evaluation, contact);
    let strikes = contact.law(of.parameters).is_some() && !contact.has_back();
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
