//! Springs and dampers between two frames.

use super::{Compiler, Cursor, Element, Instant, Invariance, Outputs, Pair, Reads, View, mean_slope};
use crate::algebra::fused::dot;
use crate::algebra::{Mask, Scalar, Vec3, Wrench, norm, zero3};
use crate::dynamics::Applied;
use crate::spec::{FrameField, Report, Spec, Table, at};
use crate::system::{Bound, FrameRef, ParamId, Quantity, System, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Spring and damper on the line between the origins of two frames: a strut, or with
/// `tension_only` a tether. Its force pulls the frames together if it is positive. Outputs:
/// `<spring>.length` (m) and `<spring>.force` (N).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpringDamper {
    /// Frame, body, ANCF beam or `world` at one end.
    pub a: String,
    /// Frame, body, ANCF beam or `world` at the other end.
    pub b: String,
    /// Stiffness, N/m, not negative.
    pub stiffness: f64,
    /// Length without force, m, not negative. Default 0.
    #[serde(default)]
    pub rest_length: f64,
    /// Damping of the change of length, N·s/m, not negative. Default 0.
    #[serde(default)]
    pub damping: f64,
    /// True for a tether: no force below the rest length, and never a push. Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tension_only: bool,
}

impl Table for SpringDamper {
    fn frames(&self) -> Vec<FrameField<'_>> {
        let field = |name, frame| FrameField::new(name, frame).or_world();
        vec![field("a", &self.a), field("b", &self.b)]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        if self.a == self.b {
            report.add("b", format!("`a` and `b` are the same frame, \"{}\"", self.a));
        }
        let Some((rigid, remedy)) = spec.rigid_model() else {
            return;
        };
        for (field, frame) in [("a", &self.a), ("b", &self.b)] {
            if let Some(beam) = spec.on_ancf_beam(frame) {
                let what = format!(
                    "\"{frame}\" is on the ANCF beam \"{beam}\", whose springs {rigid} does not include{remedy}"
                );
                report.add(field, what);
            }
        }
    }
}

/// Spring and damper between the origins of two frames, with the force
///
/// ```text
///     T = k (l − l_r) + c l̇
/// ```
///
/// on a along the line to b, and its reverse on b. A tether has no force for `l ≤ l_r`, and its
/// damper at most cancels its spring, so that it never pushes. Frames that coincide have no line,
/// and no force.
#[derive(Clone, Debug)]
pub(crate) struct Spring {
    name: String,
    /// Names of the two frames.
    names: [String; 2],
    frames: [FrameRef; 2],
    stiffness: ParamId,
    damping: ParamId,
    rest_length: ParamId,
    tension_only: bool,
}

/// Spring at one instant.
struct Line<S: Scalar> {
    /// Unit vector from a to b, world axes; zero if they coincide.
    along: Vec3<S>,
    /// Distance of the origins, m.
    length: S,
    /// Force of the spring, N, positive if it pulls.
    spring: S,
    /// Force of the damper, N.
    damper: S,
}

impl Element for Spring {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut springs = Vec::new();
        for (name, written) in &from.spec.spring {
            let Some(frames) = from.moving_pair("spring", name, [&written.a, &written.b]) else {
                continue;
            };
            let mut parameter = |field: &str, unit, what: &str, value: f64| {
                let quantity = Quantity::new(format!("{name}.{field}"), unit, format!("{what} of spring {name}"));
                let at = at("spring", name, field);
                (from.declare).parameter(quantity.bounded(Bound::NotNegative), value, true, &at)
            };
            springs.push(Self {
                name: name.clone(),
                names: [written.a.clone(), written.b.clone()],
                frames,
                stiffness: parameter("stiffness", Unit::NewtonPerMetre, "stiffness", written.stiffness),
                damping: parameter("damping", Unit::NewtonSecondPerMetre, "damping", written.damping),
                rest_length: parameter("rest_length", Unit::Metre, "rest length", written.rest_length),
                tension_only: written.tension_only,
            });
        }
        springs
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let (name, [a, b]) = (&self.name, &self.names);
        let length = format!("length of spring {name}, from {a} to {b}");
        let force = format!("force of spring {name}; positive if it pulls {a} and {b} together");
        let quantities = [
            Quantity::new(format!("{name}.length"), Unit::Metre, length),
            Quantity::new(format!("{name}.force"), Unit::Newton, force),
        ];
        to.invariant(
            Invariance::Objective.when(system.move_together(self.frames)),
            quantities,
        );
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let line = self.line(&view.now);
        y.number(line.length);
        y.number(line.spring + line.damper);
    }

    fn reads(&self) -> Reads {
        Reads::MOTION
    }

    fn reads_world(&self, system: &System) -> bool {
        !system.move_together(self.frames)
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    /// Adds the force of the damper.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let line = self.line(now);
        self.pull(now, line.along * line.damper, applied);
    }

    /// Adds the force of the spring.
    fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let line = self.line(now);
        self.pull(now, line.along * line.spring, applied);
    }

    /// With the vector `d` from a to b and the spring's energy `V`, `l₁² − l₀² = 2 d̄·(d₁ − d₀)`,
    /// so that the force `(V₁ − V₀)/(l₁ − l₀) · 2 d̄/(l₀ + l₁)` does the work `V₁ − V₀`.
    fn add_of_step<S: Scalar>(&self, now: &Instant<S>, h: f64, _q_0: &[f64], applied: &mut Applied<S>) {
        let d = self.displacement(now);
        let [v_a, v_b] = self.frames.map(|frame| {
            let on = now.kinematics.carrier(now.system.carrier(frame));
            on.V_WB.shift(&now.configuration().arm(frame).p).v
        });
        let half = (v_b - v_a) * S::lift(0.5 * h);
        let ends = [norm(&(d - half)), norm(&(d + half))];
        let rest = S::lift(self.rest_length.of(now.parameters));
        let stretches = ends.map(|length| length - rest);
        let slope = match self.tension_only {
            true => mean_slope(stretches, |x| x * x, |[x_0, x_1]| x_0 + x_1),
            false => stretches[0] + stretches[1],
        };
        let sum = ends[0] + ends[1];
        if sum.value() > 0.0 {
            let force = d * (slope * S::lift(self.stiffness.of(now.parameters)) / sum);
            let line = self.line(now);
            self.pull(now, force - line.along * line.spring, applied);
        }
    }

    fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let stretch = norm(&self.displacement(now)) - S::lift(self.rest_length.of(now.parameters));
        let energy = stretch * stretch * S::lift(self.stiffness.of(now.parameters) * 0.5);
        Some(self.if_taut(stretch, energy))
    }
}

impl Spring {
    /// Returns the pair of the frames at the origin of a.
    fn pair<S: Scalar>(&self, now: &Instant<S>) -> Pair<S> {
        Pair::at_a(now.configuration(), self.frames)
    }

    /// Returns the vector from a to b, m, world axes.
    fn displacement<S: Scalar>(&self, now: &Instant<S>) -> Vec3<S> {
        let [p_a, p_b] = self.frames.map(|frame| now.configuration().pose(frame).p);
        p_b - p_a
    }

    /// Returns `number` if the spring acts at this stretch (m), else zero: a tether acts only if
    /// stretched.
    fn if_taut<S: Scalar>(&self, stretch: S, number: S) -> S {
        match self.tension_only {
            true => S::select(stretch.exceeds(0.0), number, S::zero()),
            false => number,
        }
    }

    fn line<S: Scalar>(&self, now: &Instant<S>) -> Line<S> {
        let d = self.displacement(now);
        let length = norm(&d);
        let is_line = length.exceeds(0.0);
        let along = match is_line.is_needed() {
            true => d.map(|x| S::select(is_line, x / length, S::zero())),
            false => zero3(),
        };
        let stretch = length - S::lift(self.rest_length.of(now.parameters));
        let spring = stretch * S::lift(self.stiffness.of(now.parameters));
        // The velocity of a relative to b, along the line to b, is −l̇.
        let u = self.pair(now).relative(|on| now.kinematics.carrier(on).V_WB).v;
        let damper = -dot(&along, &u) * S::lift(self.damping.of(now.parameters));
        let damper = match self.tension_only {
            true => S::select((spring + damper).exceeds(0.0), damper, -spring),
            false => damper,
        };
        let acting = |force| S::select(is_line, self.if_taut(stretch, force), S::zero());
        Line {
            along,
            length,
            spring: acting(spring),
            damper: acting(damper),
        }
    }

    /// Adds a force on a (N, world axes) and its reverse on b.
    fn pull<S: Scalar>(&self, now: &Instant<S>, force: Vec3<S>, applied: &mut Applied<S>) {
        let F = Wrench::new(zero3(), force);
        self.pair(now).push(now.system, now.kinematics, applied, F);
    }
}
