use crate::system::{Derived, Modes, ParamId, System};

/// Where linear bending ends: the deflection of a beam's tip, watched by a mode: 0 within the limit, 1 beyond.
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

    /// Positive as long as the mode is right, negative once it has to change.
    pub fn indicator(&self, parameters: &[f64], derived: &Derived, q: &[f64], mode: i32) -> f64 {
        let (deflection, limit) = self.measure(parameters, derived, q);
        match mode {
            0 => limit - deflection,
            _ => deflection - RETURN * limit,
        }
    }

    /// The mode for a deflection, coming from the mode before.
    pub fn next_mode(&self, parameters: &[f64], derived: &Derived, q: &[f64], mode: i32) -> i32 {
        // A host's root is a little before or after the indicator's zero.
        let (_, limit) = self.measure(parameters, derived, q);
        match self.indicator(parameters, derived, q, mode) > 1e-9 * limit {
            true => mode,
            false => 1 - mode,
        }
    }

    /// What to tell the user on going beyond.
    pub fn message(&self, system: &System, parameters: &[f64], derived: &Derived, q: &[f64], t: f64) -> String {
        let (deflection, limit) = self.measure(parameters, derived, q);
        format!(
            "body \"{}\" bends beyond its linear limit at t = {t} s: its tip is deflected by {deflection} m, more than {limit} m \
             ({} of its length); what follows is a rough guess",
            system.bodies[self.body].name,
            self.limit.of(parameters)
        )
    }
}
