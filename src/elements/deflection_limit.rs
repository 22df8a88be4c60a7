use super::{Compiler, Cursor, Discrete, Element, EventContext, Outputs, Sensed, View};
use crate::algebra::Scalar;
use crate::event::{Event, Occurrence};
use crate::spec::Spec;
use crate::system::{Modes, ParamId, Quantity, System, Unit};

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
    fn measure(&self, now: &Sensed<f64>) -> (f64, f64) {
        let tip = &now.derived.stations[self.tip];
        let length = now.derived.bodies[self.body].elastic.as_ref().map_or(0.0, |e| e.length);
        let deflection = tip.place(&now.q[self.modes.coordinates()]) - tip.p;
        (deflection.norm(), self.limit.of(now.parameters) * length)
    }

    /// Returns the event of exceeding the limit.
    fn exceeded(&self, now: &EventContext) -> Event {
        let (deflection, limit) = self.measure(&now.sensed);
        let what = Occurrence::LinearLimitExceeded {
            body: now.system.bodies[self.body].name.clone(),
            deflection,
            limit,
            part: self.limit.of(now.sensed.parameters),
        };
        Event { t: now.t, what }
    }
}

/// Returns the event indicator (m) of a deflection: positive as long as `exceeded` is valid,
/// negative once it has to change.
fn indicator((deflection, limit): (f64, f64), exceeded: bool) -> f64 {
    match exceeded {
        false => limit - deflection,
        true => deflection - RETURN * limit,
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
    fn indicator_count(&self) -> usize {
        1
    }

    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        z.number(indicator(self.measure(&now.sensed), discrete.deflections[self.number]));
    }

    /// The limit is exceeded once the deflection is beyond it, and until the deflection is below
    /// the fraction [`RETURN`] of it.
    fn update(&self, now: &EventContext, discrete: &mut Discrete, events: &mut Vec<Event>) -> bool {
        let exceeded = &mut discrete.deflections[self.number];
        let (deflection, limit) = self.measure(&now.sensed);
        let z = indicator((deflection, limit), *exceeded);
        // An importer stops slightly before or after the indicator's zero. A deflection that is not
        // a number decides nothing, and none exceeds a limit that overflows.
        if z.is_nan() || z > 1e-9 * limit.min(f64::MAX) {
            return false;
        }
        *exceeded = !*exceeded;
        if *exceeded {
            events.push(self.exceeded(now));
        }
        true
    }
}
