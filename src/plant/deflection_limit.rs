use crate::event::{Event, Occurrence};
use crate::system::{Derived, Modes, ParamId, System};

/// Limit of linear bending: the deflection of a beam's tip, within the limit or beyond.
#[derive(Clone, Debug)]
pub(super) struct DeflectionLimit {
    /// Index of the body.
    pub body: usize,
    /// Limit as a fraction of the beam's length.
    limit: ParamId,
    modes: Modes,
    /// Station of the beam's tip.
    tip: usize,
}

/// Fraction of the limit below which a deflection is within the limit again.
const RETURN: f64 = 0.95;

impl DeflectionLimit {
    /// Returns one limit for each beam, or each segment of one.
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

    /// Returns the deflection of the tip and the limit, m.
    fn measure(&self, parameters: &[f64], derived: &Derived, q: &[f64]) -> (f64, f64) {
        let tip = &derived.stations[self.tip];
        let length = derived.bodies[self.body].elastic.as_ref().map_or(0.0, |e| e.length);
        let deflection = tip.place(&q[self.modes.coordinates()]) - tip.p;
        (deflection.norm(), self.limit.of(parameters) * length)
    }

    /// Returns the event indicator (m): positive as long as `exceeded` is valid, negative once it
    /// has to change.
    pub fn indicator(&self, parameters: &[f64], derived: &Derived, q: &[f64], exceeded: bool) -> f64 {
        let (deflection, limit) = self.measure(parameters, derived, q);
        match exceeded {
            false => limit - deflection,
            true => deflection - RETURN * limit,
        }
    }

    /// Returns true if the deflection exceeds the limit, for the discrete state `exceeded` before.
    pub fn next(&self, parameters: &[f64], derived: &Derived, q: &[f64], exceeded: bool) -> bool {
        // The importer's root lies slightly before or after the indicator's zero.
        let (_, limit) = self.measure(parameters, derived, q);
        let stays = self.indicator(parameters, derived, q, exceeded) > 1e-9 * limit;
        stays == exceeded
    }

    /// Returns the event of exceeding the limit at `t` (s).
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
