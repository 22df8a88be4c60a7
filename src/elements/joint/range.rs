//! Ranges of joint coordinates and their stops.

use super::{Field, JointTable};
use crate::Problem;
use crate::algebra::{Mask, Scalar};
use crate::dynamics::Applied;
use crate::elements::band::{Band, HYSTERESIS, Limit};
use crate::elements::{
    Cursor, Discrete, Element, Elements, EventContext, Instant, Outputs, Reads, Resistance, Values, View, mean_slope,
    replace, report,
};
use crate::event::{Amount, Event, Occurrence};
use crate::spec::{self, PerAxis, Spec, Stop};
use crate::system::{Bound, Declarations, ParamId, Parameter, Quantity, System, Unit};

/// Range of one joint coordinate.
///
/// Its event indicator has a hysteresis of `1e-9` of the span on either side, so that a coordinate
/// that rests on the limit causes no sequence of events.
#[derive(Clone, Debug)]
pub struct Range {
    /// Index among all ranges.
    number: usize,
    /// For the first range of a joint the number of the joint's ranges, which follow each other;
    /// zero for the others.
    of_joint: usize,
    /// Name of the joint.
    pub joint: String,
    /// Name of the coordinate.
    pub coordinate_name: String,
    /// Unit of the coordinate.
    pub unit: Unit,
    coordinate: usize,
    rate: usize,
    start: Option<ParamId>,
    min: ParamId,
    max: ParamId,
    stop: Option<CompliantStop>,
}

/// Spring-damper stop that is never tensile: `τ = −max(0, k δ + c δ̇)` while `δ > 0`, with the
/// excess `δ` beyond the limit.
#[derive(Clone, Copy, Debug)]
struct CompliantStop {
    stiffness: ParamId,
    damping: ParamId,
}

/// Creates the ranges of a joint's coordinates.
pub(super) fn declare(of: JointTable, to: &mut Elements, declare: &mut Declarations) {
    let (joint, Some(range)) = (of.joint, &of.written.range) else {
        return;
    };
    let min = Field {
        name: "q_min",
        place: "range",
        unit: |units| units.position,
        bound: Bound::None,
        what: "lowest position",
    };
    let max = Field {
        name: "q_max",
        what: "highest position",
        ..min
    };
    let limit = |plain: &Option<PerAxis>, degrees: &Option<PerAxis>, i: usize| {
        let degrees = degrees.as_ref().map(|d| d.get(i).to_radians());
        degrees.or(plain.as_ref().map(|p| p.get(i))).unwrap_or(0.0)
    };
    for i in 0..joint.nv {
        let min = of.parameter(min, i, limit(&range.min, &range.min_deg, i), declare);
        let max = of.parameter(max, i, limit(&range.max, &range.max_deg, i), declare);
        let stop = CompliantStop::declare(of, range, i, declare);
        to.ranges.push(Range {
            number: to.ranges.len(),
            of_joint: if i == 0 { joint.nv } else { 0 },
            joint: joint.name.clone(),
            coordinate_name: joint.quantity_name("q", i),
            unit: Unit::coordinate(joint.kind.is_angular(i)).position,
            coordinate: joint.q + i,
            rate: joint.v + i,
            start: joint.q_start.map(|first| first.nth(i)),
            min,
            max,
            stop,
        });
    }
}

impl CompliantStop {
    /// Declares the stop of axis `i`, `None` if the range has no compliant stops.
    fn declare(of: JointTable, range: &spec::Range, i: usize, declare: &mut Declarations) -> Option<Self> {
        let (Stop::Compliant, Some(k), Some(c)) = (range.stop, &range.stiffness, &range.damping) else {
            return None;
        };
        let stiffness = Field {
            name: "stop_stiffness",
            place: "range.stiffness",
            unit: |units| units.stiffness,
            bound: Bound::NotNegative,
            what: "stiffness of the stops",
        };
        let damping = Field {
            name: "stop_damping",
            place: "range.damping",
            unit: |units| units.damping,
            bound: Bound::NotNegative,
            what: "damping of the stops",
        };
        Some(Self {
            stiffness: of.parameter(stiffness, i, k.get(i), declare),
            damping: of.parameter(damping, i, c.get(i), declare),
        })
    }
}

/// Compliant stop that is active.
struct Pressed<S: Scalar> {
    stop: CompliantStop,
    /// Magnitude of the spring torque, N·m or N.
    spring: S,
    /// Side of the limit: 1 or −1.
    side: S,
    is_beyond: S::Mask,
}

impl<S: Scalar> Pressed<S> {
    /// Returns the torque of this magnitude along the coordinate, towards the limit.
    fn along(&self, magnitude: S) -> S {
        S::select(self.is_beyond, magnitude * self.side, S::zero())
    }
}

impl Range {
    /// Returns the coordinate and the limits of the range as text if the coordinates `q` are
    /// outside.
    pub fn outside(&self, values: &[f64], q: &[f64]) -> Option<[String; 3]> {
        let (min, max) = (self.min.of(values), self.max.of(values));
        let is_outside = min < max && !(min..=max).contains(&q[self.coordinate]);
        is_outside.then(|| [q[self.coordinate], min, max].map(|value| self.unit.of(value)))
    }

    /// Reports an initial coordinate outside the range.
    pub fn validate_start(&self, declared: &[Parameter], values: &[f64], q: &[f64], problems: &mut Vec<Problem>) {
        if let Some([start, min, max]) = self.outside(values, q) {
            let what = format!(
                "{} starts at {start}, outside its range {min} to {max}",
                self.coordinate_name
            );
            report(declared, self.start.unwrap_or(self.min), problems, what);
        }
    }

    /// Returns the excess of the coordinate beyond the nearer limit (rad or m; not positive inside)
    /// and the side of that limit, 1 or −1.
    fn excess<S: Scalar>(&self, parameters: &[S::Constant], q: &[S]) -> [S; 2] {
        let q = q[self.coordinate];
        let above = q - S::lift(self.max.of(parameters));
        let below = S::lift(self.min.of(parameters)) - q;
        let is_above = |above, below| above >= below;
        let [one, minus] = [1.0, -1.0].map(S::number);
        S::branch(above, below, is_above, || [above, one], || [below, minus])
    }

    /// Returns the index of the coordinate.
    pub fn coordinate(&self) -> usize {
        self.coordinate
    }

    /// Returns the stop with its spring torque; `None` if it is not active.
    fn pressed<S: Scalar>(&self, now: &Instant<S>) -> Option<Pressed<S>> {
        let stop = self.stop?;
        let [depth, side] = self.excess(now.parameters, now.q);
        let is_beyond = depth.exceeds(0.0);
        is_beyond.is_needed().then(|| Pressed {
            stop,
            spring: depth * S::lift(stop.stiffness.of(now.parameters)),
            side,
            is_beyond,
        })
    }

    fn band(&self, parameters: &[f64]) -> Band {
        let (min, max) = (self.min.of(parameters), self.max.of(parameters));
        Band::new(min, max, HYSTERESIS * (max - min))
    }

    /// Returns the event of leaving the range with the limit state `state`.
    fn left(&self, now: &EventContext, state: Limit) -> Event {
        let is_above = state == Limit::Above;
        let limit = if is_above { self.max } else { self.min };
        let amount = |value| Amount { value, unit: self.unit };
        let what = Occurrence::RangeLeft {
            joint: self.joint.clone(),
            coordinate: self.coordinate_name.clone(),
            value: amount(now.sensed.q[self.coordinate]),
            limit: amount(limit.of(now.sensed.parameters)),
            is_above,
        };
        Event { t: now.t, what }
    }
}

impl Element for Range {
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let (min, max) = (self.min.of(of.values), self.max.of(of.values));
        if min >= max {
            let (min, max) = (self.unit.of(min), self.unit.of(max));
            let what = format!("the range of {} is empty: {min} to {max}", self.coordinate_name);
            report(of.declared, self.min, problems, what);
        }
    }

    /// Declares one flag for all coordinates of a joint.
    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        if self.of_joint > 0 {
            let what = format!("true while joint {} is outside its range", self.joint);
            let quantity = Quantity::new(format!("{}.out_of_range", self.joint), Unit::One, what);
            to.flag(quantity, self.coordinate..self.coordinate + self.of_joint);
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        if self.of_joint > 0 {
            let states = &view.discrete.ranges[self.number..self.number + self.of_joint];
            y.flag(states.iter().any(|state| state.is_reached()));
        }
    }

    fn reads(&self) -> Reads {
        Reads::JOINT.when(self.stop.is_some())
    }

    /// Adds the torque of the stop's damper, limited so that spring and damper together are never
    /// tensile.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            let Pressed { stop, spring, side, .. } = pressed;
            let damper = now.qd[self.rate] * side * S::lift(stop.damping.of(now.parameters));
            let pushes = (spring + damper).exceeds(0.0);
            applied.tau[self.rate] -= pressed.along(S::select(pushes, damper, -spring));
        }
    }

    /// Adds the torque of the stop's spring.
    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            applied.tau[self.rate] -= pressed.along(pressed.spring);
        }
    }

    fn add_of_step<S: Scalar>(&self, now: &Instant<S>, _h: f64, q_0: &[f64], applied: &mut Applied<S>) {
        let Some(stop) = self.stop else { return };
        let q_0 = S::lift(q_0[self.coordinate]);
        let ends = [q_0, now.q[self.coordinate] * S::lift(2.0) - q_0];
        let [min, max] = [self.min, self.max].map(|id| S::lift(id.of(now.parameters)));
        let above = mean_slope(ends.map(|q| q - max), |depth| depth * depth, |[a, b]| a + b);
        let below = mean_slope(ends.map(|q| min - q), |depth| depth * depth, |[a, b]| a + b);
        applied.tau[self.rate] -= (above - below) * S::lift(stop.stiffness.of(now.parameters) * 0.5);
        if let Some(pressed) = self.pressed(now) {
            applied.tau[self.rate] += pressed.along(pressed.spring);
        }
    }

    fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, on: &mut impl FnMut(usize, Resistance<S>)) {
        if let Some(pressed) = self.pressed(now) {
            let Pressed {
                stop,
                spring,
                side,
                is_beyond,
            } = pressed;
            let [stiffness, damping] = [stop.stiffness, stop.damping].map(|id| id.of(now.parameters));
            let pushes = (spring + now.qd[self.rate] * side * damping).exceeds(0.0);
            let pressed = Resistance::of(stiffness, damping).only_where(pushes);
            on(self.rate, pressed.only_where(is_beyond));
        }
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let (stop, [depth, _]) = (self.stop?, self.excess(now.parameters, now.q));
        let is_beyond = depth.exceeds(0.0);
        is_beyond.is_needed().then(|| {
            let energy = depth * depth * S::lift(stop.stiffness.of(now.parameters) * 0.5);
            S::select(is_beyond, energy, S::zero())
        })
    }
    fn indicator_count(&self) -> usize {
        1
    }

    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        let EventContext { sensed, .. } = now;
        let state = discrete.ranges[self.number];
        z.number(self.band(sensed.parameters).indicator(sensed.q[self.coordinate], state));
    }

    fn update(&self, now: &EventContext, discrete: &mut Discrete, events: &mut Vec<Event>) -> bool {
        let EventContext { sensed, .. } = now;
        let state = &mut discrete.ranges[self.number];
        let next = self.band(sensed.parameters).next(sensed.q[self.coordinate], *state);
        let changed = replace(state, next);
        if changed && next.is_reached() {
            events.push(self.left(now, next));
        }
        changed
    }
}
