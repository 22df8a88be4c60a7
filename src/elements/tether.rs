//! Tethers with mass: tension-only segments between point masses, and reels (`docs/theory/tethers.md`).

use super::{Compiler, Cursor, Element, Instant, Outputs, Reads, Values, View, mean_slope, report};
use crate::Problem;
use crate::algebra::fused::dot;
use crate::algebra::{Mask, Scalar, Vec3, Wrench, norm};
use crate::dynamics::Applied;
use crate::spec::{self, Spec, at};
use crate::system::{Bound, Carrier, Configuration, FrameRef, InputKind, ParamId, Quantity, System, Unit};

/// Part of the length between two masses over which a mass that leaves the reel is released.
const RELEASE: f64 = 0.1;

/// Least length of a segment, as a part of its whole length, of which its stiffness is computed.
const LEAST: f64 = 0.1;

/// Damping ratio of a mass on the reel.
const HELD_DAMPING: f64 = 1.0;

/// Tether between the frames b (node 0) and a (node n + 1), with n point masses, which are bodies, as
/// the nodes between them. Segment k connects the nodes k − 1 and k.
#[derive(Clone, Debug)]
pub(crate) struct Tether {
    /// Name in the spec.
    name: String,
    /// Names of the frames a and b.
    names: [String; 2],
    a: FrameRef,
    b: FrameRef,
    /// Indices of the bodies of its masses, from b to a.
    masses: Vec<usize>,
    length: ParamId,
    axial_stiffness: ParamId,
    damping: ParamId,
    reel: Option<Reel>,
}

/// Reel at the frame a of a tether.
#[derive(Clone, Copy, Debug)]
struct Reel {
    /// Unwound length at the start.
    start: ParamId,
    /// Index of the rate among the inputs.
    rate: usize,
    /// Index of the unwound length among the inputs of the loads.
    unwound: usize,
}

/// Node of a tether.
#[derive(Clone, Copy)]
struct Node<S: Scalar> {
    on: Carrier,
    /// Position from the origin of the carrier, m, world axes.
    arm: Vec3<S>,
    /// Position and velocity, world axes.
    p: Vec3<S>,
    v: Vec3<S>,
    /// Length without force from it to the outlet, m; not positive on the reel.
    out: S,
    /// Part of its load that the reel carries in place of the next segment: equation (6).
    held: S,
    /// Derivative of `held` with respect to the unwound length, 1/m.
    held_rate: S,
}

/// Mass that the reel holds, and the outlet.
struct Held<S: Scalar> {
    mass: Node<S>,
    /// Vector from the mass to the outlet, m, and velocity of the outlet's body at the position of the
    /// mass relative to it, m/s, world axes.
    to_outlet: Vec3<S>,
    relative: Vec3<S>,
    /// Distance of the mass from the outlet beyond its unwound length, m, not negative, and the part of
    /// `to_outlet` along which it is: 1 on the reel.
    stretch: S,
    stretched: S,
    /// Derivative of `stretch` with respect to the unwound length where it is positive.
    slope: S,
    /// Part with which the damper acts.
    damped: S,
    /// Carrier of the outlet, and position of the mass from its origin, m, world axes.
    on: Carrier,
    arm: Vec3<S>,
    /// Stiffness, N/m, and damping, N·s/m, with which it is held.
    stiffness: f64,
    damping: f64,
}

/// Segment of a tether at one instant.
struct Segment<S: Scalar> {
    /// Part with which it acts: equation (6).
    weight: S,
    /// Unit vector from the first to the second node, world axes; zero if they coincide.
    along: Vec3<S>,
    /// Distance of the nodes, m.
    length: S,
    /// Length without force, m.
    rest: S,
    /// Stretch, m; zero if it is slack.
    stretch: S,
    /// Derivative of the length without force with respect to the unwound length.
    slope: S,
    /// Stiffness, N/m, and its derivative with respect to the unwound length, N/m².
    stiffness: S,
    stiffness_slope: S,
    /// Rate of the distance of the nodes, m/s.
    rate: S,
    /// Forces of spring and damper, N, positive if they pull.
    spring: S,
    damper: S,
}

/// Returns the nearest number in 0 … 1.
fn clamped<S: Scalar>(x: S) -> S {
    let x = S::select((-x).exceeds(0.0), S::zero(), x);
    S::select(x.exceeds(1.0), S::one(), x)
}

/// Returns `x² (3 − 2x)`, which rises from 0 to 1 with zero derivatives at both ends of 0 … 1.
fn smooth<S: Scalar>(x: S) -> S {
    x * x * (S::lift(3.0) - S::lift(2.0) * x)
}

impl Element for Tether {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut tethers: Vec<Self> = Vec::new();
        for (name, written) in &from.spec.tether {
            let Some([a, b]) = from.pair("tether", name, [&written.a, &written.b]) else {
                continue;
            };
            let mut parameter = |field: &str, unit, what: &str, value: f64, bound, tunable| {
                let last = field.rsplit('.').next().unwrap_or(field);
                let quantity = Quantity::new(format!("{name}.{last}"), unit, format!("{what} of tether {name}"));
                let place = at("tether", name, field);
                (from.declare).parameter(quantity.bounded(bound), value, tunable, &place)
            };
            let (length, stiffness) = (written.length, written.axial_stiffness);
            let length = parameter(
                "length",
                Unit::Metre,
                "length without force",
                length,
                Bound::Positive,
                false,
            );
            let what = "axial stiffness EA";
            let axial_stiffness = parameter("axial_stiffness", Unit::Newton, what, stiffness, Bound::Positive, true);
            let (what, unit) = ("axial damping, force over rate of strain", Unit::NewtonSecond);
            let damping = parameter("damping", unit, what, written.damping, Bound::NotNegative, true);
            let parts = written.parts(name);
            let body = |[part, _]: &[String; 2]| from.system.bodies.iter().position(|body| body.name == *part);
            let reel = written.reel.as_ref();
            let earlier = tethers.iter().filter(|tether| tether.has_reel()).count();
            let reel = reel.map(|reel| Reel::declare(name, reel, earlier, from));
            tethers.push(Self {
                name: name.clone(),
                names: [written.a.clone(), written.b.clone()],
                a,
                b,
                masses: parts.iter().filter_map(body).collect(),
                length,
                axial_stiffness,
                damping,
                reel,
            });
        }
        tethers
    }

    /// Reports an unwound length that exceeds that of the whole tether.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let Some(reel) = &self.reel else { return };
        let (unwound, length) = (reel.start.of(of.values), self.length.of(of.values));
        if unwound > length {
            let what = format!("{unwound} m unwound exceed the tether's length, {length} m");
            report(of.declared, reel.start, problems, what);
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let (name, [a, b]) = (&self.name, &self.names);
        let of = |field: &str, unit, what: String| Quantity::new(format!("{name}.{field}"), unit, what);
        to.continuous([
            of("tension_a", Unit::Newton, format!("tension of tether {name} at {a}")),
            of("tension_b", Unit::Newton, format!("tension of tether {name} at {b}")),
            of(
                "stretched_length",
                Unit::Metre,
                format!("stretched length of tether {name} from {b} to {a}, along its segments"),
            ),
        ]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let (mut at_a, mut at_b, mut length) = (S::zero(), None, S::zero());
        self.each_segment(&view.now, |[_, to], segment| {
            let force = segment.spring + segment.damper;
            at_b.get_or_insert(force);
            at_a += force * to.held;
            length += segment.length * segment.weight;
        });
        y.number(at_a);
        y.number(at_b.unwrap_or_else(S::zero));
        y.number(length);
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    /// Adds the forces of the dampers.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if S::FUSES {
            return; // A record has all forces at once.
        }
        self.each_segment(now, |ends, segment| {
            pull(now, ends, segment.along * segment.damper, applied)
        });
        self.each_held(now, |held| {
            held.push(now, held.relative * (held.damped * S::lift(held.damping)), applied)
        });
    }

    /// Adds the forces of the springs.
    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if S::FUSES {
            return;
        }
        self.each_segment(now, |ends, segment| {
            pull(now, ends, segment.along * segment.spring, applied)
        });
        self.each_held(now, |held| {
            let stiffness = held.mass.held * held.stretched * S::lift(held.stiffness);
            held.push(now, held.to_outlet * stiffness, applied)
        });
    }

    /// As that of a spring, for each segment; there is no reel.
    fn add_of_step<S: Scalar>(&self, now: &Instant<S>, h: f64, _q_0: &[f64], applied: &mut Applied<S>) {
        self.each_segment(now, |[from, to], segment| {
            let d = to.p - from.p;
            let half = (to.v - from.v) * S::lift(0.5 * h);
            let ends = [norm(&(d - half)), norm(&(d + half))];
            let slope = mean_slope(
                ends.map(|length| length - segment.rest),
                |x| x * x,
                |[x_0, x_1]| x_0 + x_1,
            );
            let sum = ends[0] + ends[1];
            if sum.value() > 0.0 {
                let force = d * (slope * segment.stiffness / sum);
                pull(now, [from, to], force - segment.along * segment.spring, applied);
            }
        });
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let mut energy = S::zero();
        self.each_segment(now, |_, segment| energy += segment.energy() * segment.weight);
        self.each_held(now, |held| energy += held.energy() * held.mass.held);
        Some(energy)
    }
}

impl Reel {
    /// Declares the reel of a tether after `earlier` others. The index of the unwound length is set by
    /// [`Tether::link`].
    fn declare(name: &str, written: &spec::Reel, earlier: usize, from: &mut Compiler) -> Self {
        let what = format!("length of tether {name} that is unwound at the start");
        let quantity = Quantity::new(format!("{name}.unwound_start"), Unit::Metre, what).bounded(Bound::Positive);
        let place = at("tether", name, "reel.unwound");
        let start = from.declare.parameter(quantity, written.unwound, false, &place);
        let what = format!("rate at which tether {name} is unwound");
        let quantity = Quantity::new(format!("{name}.rate"), Unit::MetrePerSecond, what);
        Self {
            start,
            rate: from.declare.input(quantity, 0.0, InputKind::Continuous),
            unwound: earlier,
        }
    }
}

impl Tether {
    /// Returns true if it has a reel, and thus a state.
    pub fn has_reel(&self) -> bool {
        self.reel.is_some()
    }

    /// Sets the index of the unwound length among the inputs of the loads; those of all reels begin at
    /// `first`.
    pub(super) fn link(&mut self, first: usize) {
        if let Some(reel) = &mut self.reel {
            reel.unwound += first;
        }
    }

    /// Returns the quantity of the unwound length, a state.
    pub fn unwound_quantity(&self) -> Quantity {
        let what = format!("length of tether {} that is unwound, without force", self.name);
        Quantity::new(format!("{}.unwound", self.name), Unit::Metre, what)
    }

    /// Returns the index of the unwound length among the inputs of the loads, and of the parameter of
    /// its start; `None` without a reel.
    pub fn unwound_start(&self) -> Option<(usize, ParamId)> {
        self.reel.map(|reel| (reel.unwound, reel.start))
    }

    /// Returns the rate of the unwound length, m/s: that of the input, which fades near both ends of
    /// the tether, equation (7); `None` without a reel.
    pub fn unwinding<S: Scalar>(&self, parameters: &[f64], inputs: &[S]) -> Option<S> {
        let reel = self.reel.as_ref()?;
        let (rate, unwound) = (inputs[reel.rate], inputs[reel.unwound]);
        let length = self.length.of(parameters);
        let per_fade = S::lift(self.masses.len() as f64 / (RELEASE * length));
        let more = clamped((S::lift(length) - unwound) * per_fade);
        let less = clamped(unwound * per_fade);
        Some(rate * S::select(rate.exceeds(0.0), more, less))
    }

    /// Returns the power of the reel on the tether's potential energy, W: equation (8); `None` without
    /// a reel.
    pub fn reel_power<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let rate = self.unwinding(S::numbers(now.parameters), now.inputs)?;
        let mut slope = S::zero();
        self.each_segment(now, |[from, _], segment| {
            slope += segment.energy_rate() * segment.weight - segment.energy() * from.held_rate;
        });
        self.each_held(now, |held| {
            slope += held.energy() * held.mass.held_rate + held.energy_rate() * held.mass.held;
        });
        Some(slope * rate)
    }

    /// Adds all forces and returns the power of the dampers and of the reel, W: in place of
    /// [`add_active`](Element::add_active), [`add_conservative`](Element::add_conservative) and
    /// [`reel_power`](Self::reel_power), with a third of their operations.
    pub fn add_at_once<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) -> S {
        let unwinding = self.unwinding(S::numbers(now.parameters), now.inputs);
        let (mut power, mut slope) = (S::zero(), S::zero());
        self.each_segment(now, |ends, segment| {
            pull(now, ends, segment.along * (segment.spring + segment.damper), applied);
            power -= segment.damper * segment.rate;
            if unwinding.is_some() {
                slope += segment.energy_rate() * segment.weight - segment.energy() * ends[0].held_rate;
            }
        });
        self.each_held(now, |held| {
            let damping = held.damped * S::lift(held.damping);
            let stiffness = held.mass.held * held.stretched * S::lift(held.stiffness);
            held.push(now, held.relative * damping + held.to_outlet * stiffness, applied);
            power -= damping * dot(&held.relative, &held.relative);
            slope += held.energy() * held.mass.held_rate + held.energy_rate() * held.mass.held;
        });
        unwinding.map_or(power, |rate| power + slope * rate)
    }

    /// Writes the positions and velocities of its masses at the start, from those of its ends.
    pub fn start<S: Scalar>(&self, of: Configuration<S>, values: &[S], q: &mut [S], qd: &mut [S]) {
        let [a, b] = [self.a, self.b].map(|frame| {
            let arm = of.arm(frame).p;
            let at = of.kinematics.carrier(of.system.carrier(frame));
            (at.p_WB + arm, at.V_WB.shift(&arm).v)
        });
        let length = values[self.length.0];
        let unwound = self.reel.map_or(length, |reel| values[reel.start.0]);
        let n = self.masses.len() as f64;
        for (i, &body) in self.masses.iter().enumerate() {
            let part = clamped(length * S::lift((i as f64 + 0.5) / n) / unwound);
            let joint = &of.system.bodies[body].joint;
            for k in 0..3 {
                q[joint.q + k] = b.0[k] + (a.0[k] - b.0[k]) * part;
                qd[joint.v + k] = b.1[k] + (a.1[k] - b.1[k]) * part;
            }
        }
    }

    /// Returns the node at a frame, without its length.
    fn end<S: Scalar>(now: &Instant<S>, frame: FrameRef) -> Node<S> {
        let on = now.system.carrier(frame);
        let at = now.kinematics.carrier(on);
        let arm = now.configuration().arm(frame).p;
        Node {
            on,
            arm,
            p: at.p_WB + arm,
            v: at.V_WB.shift(&arm).v,
            out: S::zero(),
            held: S::zero(),
            held_rate: S::zero(),
        }
    }

    /// Passes the nodes in their order to `to`, each with the length of the segment that ends there,
    /// m; zero for the first.
    fn each_node<S: Scalar>(&self, now: &Instant<S>, mut to: impl FnMut(Node<S>, f64)) {
        let (length, n) = (self.length.of(S::numbers(now.parameters)), self.masses.len() as f64);
        let unwound = self
            .reel
            .map_or_else(|| S::lift(length), |reel| now.inputs[reel.unwound]);
        let part = length / n;
        let b = Self::end(now, self.b);
        to(Node { out: unwound, ..b }, 0.0);
        for (i, &body) in self.masses.iter().enumerate() {
            let at = &now.kinematics.bodies[body];
            let node = Node {
                on: Carrier::Body(body),
                arm: Vec3::zeros(),
                p: at.p_WB,
                v: at.V_WB.v,
                ..b
            };
            let before = if i == 0 { 0.5 * part } else { part };
            to(
                self.on_reel(node, unwound - S::lift((i as f64 + 0.5) * part), part),
                before,
            );
        }
        let a = Node {
            held: S::one(),
            ..Self::end(now, self.a)
        };
        to(a, 0.5 * part);
    }

    /// Returns a node with its length `out` to the outlet (m), and the part with which the reel holds
    /// it; `part` is the length between two masses, m.
    fn on_reel<S: Scalar>(&self, node: Node<S>, out: S, part: f64) -> Node<S> {
        if self.reel.is_none() {
            return Node { out, ..node };
        }
        let release = RELEASE * part;
        let x = clamped(out * S::lift(1.0 / release));
        Node {
            out,
            held: S::one() - smooth(x),
            held_rate: x * (x - S::one()) * S::lift(6.0 / release),
            ..node
        }
    }

    /// Passes the segments in their order to `to`, each with its two nodes.
    fn each_segment<S: Scalar>(&self, now: &Instant<S>, mut to: impl FnMut([&Node<S>; 2], Segment<S>)) {
        let mut before: Option<Node<S>> = None;
        self.each_node(now, |node, length| {
            if let Some(from) = before {
                to([&from, &node], self.segment(now, [&from, &node], length));
            }
            before = Some(node);
        });
    }

    /// Returns the segment between two nodes, whose length is `whole` (m) when it is unwound.
    fn segment<S: Scalar>(&self, now: &Instant<S>, [from, to]: [&Node<S>; 2], whole: f64) -> Segment<S> {
        let d = to.p - from.p;
        let length = norm(&d);
        let is_line = length.exceeds(0.0);
        let along = match is_line.is_needed() {
            true => d.map(|x| S::select(is_line, x / length, S::zero())),
            false => Vec3::zeros(),
        };
        let (zero, one) = (S::zero(), S::one());
        let (rest, rest_rate, slope) = match &self.reel {
            None => (S::lift(whole), zero, zero),
            Some(_) => {
                let rest = clamped(from.out * S::lift(1.0 / whole)) * S::lift(whole);
                let is_out = S::select(from.out.exceeds(whole), zero, one);
                let slope = S::select(from.out.exceeds(0.0), is_out, zero);
                let rate = self.unwinding(S::numbers(now.parameters), now.inputs).unwrap_or(zero);
                (rest, slope * rate, slope)
            }
        };
        let least = LEAST * whole;
        let is_long = rest.exceeds(least);
        let per_length = one / S::select(is_long, rest, S::lift(least));
        let stiffness = per_length * S::lift(self.axial_stiffness.of(now.parameters));
        let weight = one - from.held;
        let stretch = length - rest;
        let is_taut = stretch.exceeds(0.0);
        let spring = S::select(is_taut, stretch * stiffness, zero);
        let rate = dot(&along, &(to.v - from.v));
        let change = rate - rest_rate;
        let damper = change * per_length * S::lift(self.damping.of(now.parameters));
        let damper = S::select((spring + damper).exceeds(0.0), damper, -spring);
        Segment {
            weight,
            along,
            length,
            stretch: S::select(is_taut, stretch, zero),
            rest,
            slope,
            stiffness,
            rate,
            stiffness_slope: S::select(is_long, -(stiffness * per_length * slope), zero),
            spring: spring * weight,
            damper: S::select(is_taut, damper * weight, zero),
        }
    }

    /// Passes the masses that the reel holds to `to`.
    fn each_held<S: Scalar>(&self, now: &Instant<S>, mut to: impl FnMut(Held<S>)) {
        if self.reel.is_none() {
            return;
        }
        let outlet = Self::end(now, self.a);
        let on = now.kinematics.carrier(outlet.on).V_WB;
        let n = self.masses.len() as f64;
        let parameters = S::numbers(now.parameters);
        let part = self.length.of(parameters) / n;
        let release = RELEASE * part;
        let stiffness = self.axial_stiffness.of(parameters) / (LEAST * part);
        let mut masses = self.masses.iter();
        self.each_node(now, |mass, _| {
            let Carrier::Body(body) = mass.on else { return };
            if masses.as_slice().first() != Some(&body) {
                return;
            }
            masses.next();
            if !mass.held.exceeds(0.0).is_needed() {
                return;
            }
            let to_outlet = outlet.p - mass.p;
            let arm = outlet.arm - to_outlet;
            let critical = 2.0 * libm::sqrt(stiffness * S::numbers(&[now.derived.bodies[body].m])[0]);
            let (zero, one) = (S::zero(), S::one());
            let is_out = mass.out.exceeds(0.0);
            let distance = norm(&to_outlet);
            let beyond = distance - S::select(is_out, mass.out, zero);
            let is_taut = beyond.exceeds(0.0);
            let part = match is_taut.is_needed() {
                true => S::select(is_taut, beyond / distance, zero),
                false => zero,
            };
            to(Held {
                mass,
                to_outlet,
                stretch: S::select(is_taut, beyond, zero),
                stretched: S::select(is_out, part, one),
                slope: S::select(is_out, -one, zero),
                damped: one - smooth(clamped(mass.out * S::lift(1.0 / release) + one)),
                relative: on.shift(&arm).v - mass.v,
                on: outlet.on,
                arm,
                stiffness,
                damping: HELD_DAMPING * critical,
            });
        });
    }
}

impl<S: Scalar> Segment<S> {
    /// Returns the energy of its spring, J, if it acts fully.
    fn energy(&self) -> S {
        self.stretch * self.stretch * self.stiffness * S::lift(0.5)
    }

    /// Returns the derivative of [`energy`](Self::energy) with respect to the unwound length, N.
    fn energy_rate(&self) -> S {
        let of_stiffness = self.stretch * self.stretch * self.stiffness_slope * S::lift(0.5);
        of_stiffness - self.stretch * self.stiffness * self.slope
    }
}

impl<S: Scalar> Held<S> {
    /// Returns the energy of the spring that holds it, J, if it is held fully.
    fn energy(&self) -> S {
        self.stretch * self.stretch * S::lift(0.5 * self.stiffness)
    }

    /// Returns the derivative of [`energy`](Self::energy) with respect to the unwound length, N.
    fn energy_rate(&self) -> S {
        self.stretch * self.slope * S::lift(self.stiffness)
    }

    /// Adds a force on the mass (N, world axes) and its reverse at the same position on the body of the
    /// outlet.
    fn push(&self, now: &Instant<S>, force: Vec3<S>, applied: &mut Applied<S>) {
        push(now, self.mass.on, &self.mass.arm, force, applied);
        push(now, self.on, &self.arm, -force, applied);
    }
}

/// Adds a force on the first node (N, world axes) and its reverse on the second.
fn pull<S: Scalar>(now: &Instant<S>, [from, to]: [&Node<S>; 2], force: Vec3<S>, applied: &mut Applied<S>) {
    push(now, from.on, &from.arm, force, applied);
    push(now, to.on, &to.arm, -force, applied);
}

/// Adds a force (N, world axes) at a point, whose position from the carrier's origin is `arm` (m).
fn push<S: Scalar>(now: &Instant<S>, on: Carrier, arm: &Vec3<S>, force: Vec3<S>, applied: &mut Applied<S>) {
    let F = Wrench::new(Vec3::zeros(), force).shift(arm);
    applied.push(now.system, now.kinematics, on, F);
}
