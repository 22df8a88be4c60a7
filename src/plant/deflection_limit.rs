use crate::event::{Event, Occurrence};
use crate::system::{Derived, Modes, ParamId, System};

/// Limit of linear bending: the deflection of a beam's tip, within the limit or beyond.
#[derive(Clone, Debug)]
pub(super) struct DeflectionLimit {
    /// Index of the body.
    pub body: usize,
    /// Part of the beam's length.
    limit: ParamId,
    modes: Modes,
    /// The beam's tip, a station.
    tip: usize,
}

/// How far below the limit a deflection has to come to count as within it again.
const RETURN: f64 = 0.95;

impl DeflectionLimit {
    /// One for each beam, or each segment of one.
    pub fn of(system: &System) -> Vec<Self> {
        let limit = |(i, body): (usize, &crate::system::Body)| {
            let modes = body.modes.clone()?;
            Some(Self {
                body: i,
                limit: body.beam.as_ref()?.linear_limit(),
                tip: modes.tip?,
                modes,
            })
        };
        system.bodies.iter().enumerate().filter_map(limit).collect()
    }

    /// Deflection of the tip and the limit, m.
    fn measure(&self, parameters: &[f64], derived: &Derived, q: &[f64]) -> (f64, f64) {
        let tip = &derived.stations[self.tip];
        let length = derived.bodies[self.body].elastic.as_ref().map_or(0.0, |e| e.length);
        let deflection = tip.place(&q[self.modes.coordinates()]) - tip.p;
        (deflection.norm(), self.limit.of(parameters) * length)
    }

    /// Positive as long as `exceeded` is right, negative once it has to change.
    pub fn indicator(&self, parameters: &[f64], derived: &Derived, q: &[f64], exceeded: bool) -> f64 {
        let (deflection, limit) = self.measure(parameters, derived, q);
        match exceeded {
            false => limit - deflection,
            true => deflection - RETURN * limit,
        }
    }

    /// Returns whether the deflection exceeds the limit, after the state before.
    pub fn next(&self, parameters: &[f64], derived: &Derived, q: &[f64], exceeded: bool) -> bool {
        // An importer's root is a little before or after the indicator's zero.
        let (_, limit) = self.measure(parameters, derived, q);
        let stays = self.indicator(parameters, derived, q, exceeded) > 1e-9 * limit;
        stays == exceeded
    }

    /// The event of exceeding it at `t` (s).
    pub fn exceeded(&self, system: &System, parameters: &[f64], derived: &Derived, q: &[f64], t: f64) -> Event {
        let (deflection, limit) = self.measure(parameters, derived, q);
        let what = Occurrence::LinearLimitExceeded {
            body: system.bodies[self.body].name.clone(),
            deflection,
            limit,
            part: self.limit.of(parameters),
        };
        Event { t, what }
    }
}
