use super::{Compiler, Cursor, Element, Instant, Outputs, Reads, Values, View, report};
use crate::Problem;
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::spec::{Spec, Throttle, at};
use crate::system::{Bound, FrameRef, ParamId, Quantity, System, Unit};

/// Thruster: a force along a direction fixed in a frame, switched or throttled.
#[derive(Clone, Debug)]
pub struct Thruster {
    /// Name in the spec.
    pub name: String,
    /// Name of the frame on which the force acts.
    pub frame: String,
    at: FrameRef,
    direction: ParamId,
    thrust: ParamId,
    throttle: Throttle,
    input: usize,
}

impl Element for Thruster {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut thrusters = Vec::new();
        for (name, written) in &from.spec.thruster {
            let frame = &written.frame;
            let Some(at_frame) = from.frame(["thruster", name, "frame"], frame) else {
                continue;
            };
            let direction = Quantity::vector(
                &format!("{name}.direction"),
                Unit::One,
                &format!("direction of thruster {name}'s force on {frame}, its axes"),
            );
            let direction =
                from.declare
                    .parameters(direction, &written.direction, false, &at("thruster", name, "direction"));
            let thrust = Quantity::new(
                format!("{name}.thrust"),
                Unit::Newton,
                format!("force of thruster {name}"),
            );
            let thrust = from.declare.parameter(
                thrust.bounded(Bound::NotNegative),
                written.thrust,
                true,
                &at("thruster", name, "thrust"),
            );
            let (field, what) = match written.throttle {
                Throttle::Switch => ("on", "switches thruster {name}: on above 0.5"),
                Throttle::Level => (
                    "level",
                    "throttle of thruster {name}: fraction of its force, from 0 to 1",
                ),
            };
            let input = Quantity::new(format!("{name}.{field}"), Unit::One, what.replace("{name}", name));
            thrusters.push(Thruster {
                name: name.clone(),
                frame: frame.clone(),
                at: at_frame,
                direction,
                thrust,
                throttle: written.throttle,
                input: from.declare.input(input, 0.0, written.throttle == Throttle::Switch),
            });
        }
        thrusters
    }

    /// Reports a direction that is the zero vector.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        if self.direction.direction(of.values).is_none() {
            report(
                of.declared,
                self.direction,
                problems,
                "the direction has zero length".to_owned(),
            );
        }
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        let what = format!("force of thruster {} on {}", self.name, self.frame);
        to.continuous([Quantity::new(format!("{}.force", self.name), Unit::Newton, what)]);
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        y.number(self.force(&view.now));
    }

    fn reads(&self) -> Reads {
        Reads::ATTITUDE
    }

    fn reads_world(&self, _: &System) -> bool {
        false
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (system, kinematics) = (now.system, now.kinematics);
        let X_WF = kinematics.arm(system, now.derived, self.at);
        let along = lift3::<S>(&self.direction.direction(now.parameters).unwrap_or_else(Vec3::zeros));
        let F = Wrench::new(Vec3::zeros(), X_WF.R * along * self.force(now));
        applied.push(system, kinematics, system.carrier(self.at), F.shift(&X_WF.p));
    }
}

impl Thruster {
    /// Returns the magnitude of the force, N.
    pub fn force<S: Scalar>(&self, now: &Instant<S>) -> S {
        let input = now.inputs[self.input];
        let part = match self.throttle {
            Throttle::Switch => S::select(input.exceeds(0.5), S::one(), S::zero()),
            Throttle::Level => {
                let part = S::select(input.exceeds(1.0), S::one(), input);
                S::select((-input).exceeds(0.0), S::zero(), part)
            }
        };
        part * S::lift(self.thrust.of(now.parameters))
    }
}
