//! Dry friction that sticks: which joints stick and which slide.

use super::context::{Constants, OperatingPoint};
use super::evaluation::{Evaluation, joint_coordinates};
use super::events::Changes;
use super::{Discrete, Plant};
use crate::Error;
use crate::elements::{Sliding, StickingFriction};

impl Plant {
    /// Updates which joints stick by dry friction and which slide, to time (s), states and the
    /// importer's inputs `u`. `has_jumped` is true if rates have jumped at this event.
    ///
    /// Joints that have lost their rate stick: an impulse ends the rest of it, of the order of the
    /// hysteresis, and conserves momentum. Then, as long as a joint that sticks is held by more
    /// than the breakaway torque, the one with the largest excess begins to slide.
    ///
    /// # Errors
    /// Those of the dynamics; [`Error::Singular`] if a part without inertia receives an impulse,
    /// [`Error::NotFinite`] if it leads to values that are not finite.
    pub(super) fn update_sticking(
        &mut self,
        t: f64,
        x: &mut [f64],
        u: &[f64],
        discrete: &mut Discrete,
        has_jumped: bool,
    ) -> Result<Changes, Error> {
        let of = self.base.constants();
        let frictions = &of.model.elements.sticking;
        let mut changes = Changes::default();
        if frictions.is_empty() {
            return Ok(changes);
        }
        let qd = self.evaluation.coordinates(of, x).qd;
        let mut stops = false;
        for friction in frictions {
            let state = discrete.sliding[friction.number];
            let (rate, is_free) = (qd[friction.rate], friction.is_free(&discrete.motions));
            let next = match state {
                _ if has_jumped => StickingFriction::at_rate(rate),
                Sliding::Stuck if is_free => state,
                Sliding::Stuck => StickingFriction::at_rate(rate),
                _ if StickingFriction::has_stopped(state, rate) => Sliding::Stuck,
                _ => state,
            };
            let begins = next != state || has_jumped;
            stops |= next == Sliding::Stuck && is_free && begins && rate != 0.0;
            changes.modes |= next != state;
            discrete.sliding[friction.number] = next;
        }
        if stops {
            self.evaluation.determine_rank(of, x, discrete);
            let holds = |body: usize| frictions.iter().any(|of| of.body == body && of.holds(discrete));
            self.evaluation.lock(of, x, discrete, holds)?;
            self.check_finite(t, x, discrete)?;
            changes = Changes {
                modes: true,
                states: true,
            };
        }
        let released = self.release_overloaded(t, x, u, discrete)?;
        changes.modes |= released;
        if changes.modes {
            self.evaluation.determine_rank(self.base.constants(), x, discrete);
        }
        Ok(changes)
    }

    /// Lets all joints slide that friction holds, before an impulse: friction transmits none. Returns
    /// true if there are any; [`update_sticking`](Self::update_sticking) then has to follow.
    pub(super) fn free_for_impulse(&mut self, x: &[f64], discrete: &mut Discrete) -> bool {
        let of = self.base.constants();
        let frictions = &of.model.elements.sticking;
        let is_held = frictions.iter().any(|friction| friction.holds(discrete));
        if is_held {
            for friction in frictions {
                if friction.holds(discrete) {
                    discrete.sliding[friction.number] = Sliding::Forward;
                }
            }
            self.evaluation.determine_rank(of, x, discrete);
        }
        is_held
    }

    /// Lets joints slide, one after the other, until friction can hold all that stick. Returns true
    /// if one slides now.
    fn release_overloaded(&mut self, t: f64, x: &[f64], u: &[f64], discrete: &mut Discrete) -> Result<bool, Error> {
        let of = self.base.constants();
        let frictions = &of.model.elements.sticking;
        let mut released = false;
        while frictions.iter().any(|friction| friction.holds(discrete)) {
            self.evaluation.determine_rank(of, x, discrete);
            let at = OperatingPoint::new(t, x, u, discrete);
            let Some((number, state)) = self.evaluation.most_overloaded(of, at)? else {
                break;
            };
            discrete.sliding[number] = state;
            released = true;
        }
        Ok(released)
    }
}

impl Evaluation<f64> {
    /// Returns the number of the friction with the largest excess of its holding torque, and the state
    /// in which it begins to slide: opposite to the holding torque, so that the friction keeps its
    /// sign. `None` if friction can hold all joints that stick.
    fn most_overloaded(&mut self, of: Constants, at: OperatingPoint) -> Result<Option<(usize, Sliding)>, Error> {
        self.solve(of, at)?;
        let joints = joint_coordinates(self.recovered.as_deref(), &of.model.split(at.x));
        let hold = &self.dynamics.drive;
        let excess =
            |friction: &StickingFriction| friction.excess(of.parameters, joints.q, joints.qd, hold[friction.rate]);
        let stuck = of.model.elements.sticking.iter();
        let stuck = stuck.filter(|friction| friction.holds(at.discrete));
        let most = stuck.max_by(|a, b| excess(a).total_cmp(&excess(b)));
        let overloaded = most.filter(|friction| excess(friction) > 0.0);
        Ok(overloaded.map(|friction| (friction.number, Sliding::along(-hold[friction.rate]))))
    }
}
