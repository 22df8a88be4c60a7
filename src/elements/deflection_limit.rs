use super::{Compiler, Cursor, Element, Outputs, View};
use crate::algebra::Scalar;
use crate::event::{Event, Occurrence};
use crate::spec::Spec;
use crate::system::{Derived, Modes, ParamId, Quantity, System, Unit};

/// Limit of linear bending of a beam, or of one of its segments: an event reports that the
/// deflection of its tip exceeds the limit.
#[derive(Clone, Debug)]
pub(crate) struct DeflectionLimit {
    /// Index among all limits.
    number: usize,
    /// For the first segment of a beam the number of the beam's limits, which follow each other;
    /// zero for other segments.
    of_beam: usize,
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
    /// Returns the deflection of the tip and its limit, m.
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

    /// Returns the discrete state that follows `exceeded`: true once the deflection exceeds the
    /// limit, false once it is below the fraction [`RETURN`] of the limit.
    pub fn next(&self, parameters: &[f64], derived: &Derived, q: &[f64], exceeded: bool) -> bool {
        // An importer stops slightly before or after the indicator's zero.
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

impl Element for DeflectionLimit {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let system = from.system;
        let mut limits = Vec::new();
        for (i, body) in system.bodies.iter().enumerate() {
            let Some((modes, beam)) = body.modes.as_ref().zip(body.beam.as_ref()) else {
                continue;
            };
            let Some(tip) = modes.tip else { continue };
            limits.push(Self {
                number: limits.len(),
                of_beam: if body.segment == 0 { system.segments(i).len() } else { 0 },
                body: i,
                limit: beam.linear_limit(),
                modes: modes.clone(),
                tip,
            });
        }
        limits
    }

    /// Declares one flag for all segments of a beam.
    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        if self.of_beam > 0 {
            let name = &system.bodies[self.body].name;
            let what = format!("true while the tip deflection of {name} exceeds its linear limit");
            let quantity = Quantity::new(format!("{name}.beyond_linear"), Unit::One, what);
            let segments = &system.bodies[self.body..self.body + self.of_beam];
            let modes = segments.iter().filter_map(|body| body.modes.as_ref());
            to.flag(quantity, modes.flat_map(Modes::coordinates));
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        if self.of_beam > 0 {
            let exceeded = &view.discrete.deflections[self.number..self.number + self.of_beam];
            y.flag(exceeded.contains(&true));
        }
    }
}
