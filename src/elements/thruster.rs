use super::{Compiler, Cursor, Element, Instant, Outputs, Reads, Supply, Values, View, report};
use crate::Problem;
use crate::algebra::fused::rotated;
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::spec::{self, Spec, Throttle, at, problem};
use crate::system::{Bound, Carrier, FrameRef, InputKind, ParamId, Quantity, System, Unit};

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
    /// Tank from which it draws.
    pub(super) supply: Option<Supply>,
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
                Throttle::Switch => ("on", "switches thruster {name}: on while above 0.5"),
                Throttle::Level => (
                    "level",
                    "throttle of thruster {name}: fraction of its force, from 0 to 1",
                ),
            };
            let input = Quantity::new(format!("{name}.{field}"), Unit::One, what.replace("{name}", name));
            let supply = supply(from, name, written, at_frame);
            let kind = match written.throttle {
                Throttle::Switch => InputKind::Switch,
                _ => InputKind::Continuous,
            };
            thrusters.push(Thruster {
                name: name.clone(),
                frame: frame.clone(),
                at: at_frame,
                direction,
                thrust,
                throttle: written.throttle,
                input: from.declare.input(input, 0.0, kind),
                supply,
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
        match self.supply {
            Some(_) => Reads::MOTION,
            None => Reads::ATTITUDE,
        }
    }

    fn reads_world(&self, _: &System) -> bool {
        self.supply.is_some()
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (system, kinematics) = (now.system, now.kinematics);
        let X_WF = kinematics.arm(system, now.derived, self.at);
        let along = lift3::<S>(&self.direction.direction(now.parameters).unwrap_or_else(Vec3::zeros));
        let F = Wrench::new(Vec3::zeros(), rotated(&X_WF.R, &along) * self.force(now));
        applied.push(system, kinematics, system.carrier(self.at), F.shift(&X_WF.p));
        if let (Some(supply), Some(flow)) = (&self.supply, self.mass_flow(now)) {
            let F = supply.reaction(now, self.at, flow);
            applied.push(system, kinematics, Carrier::Body(supply.body), F);
        }
    }
}

impl Thruster {
    /// Returns the magnitude of the force, N; zero while its tank is empty.
    pub fn force<S: Scalar>(&self, now: &Instant<S>) -> S {
        if self.supply.is_some_and(|supply| now.empty[supply.number]) {
            return S::zero();
        }
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

    /// Returns the mass flow from the tank, kg/s; `None` without a tank.
    pub(super) fn mass_flow<S: Scalar>(&self, now: &Instant<S>) -> Option<S> {
        let supply = self.supply.as_ref()?;
        Some(supply.flow(self.force(now), S::numbers(now.parameters)))
    }
}

/// Returns the supply of a thruster from its tank and declares its parameter; reports a nozzle that
/// moves relative to the tank.
fn supply(from: &mut Compiler, name: &str, written: &spec::Thruster, nozzle: FrameRef) -> Option<Supply> {
    let system = from.system;
    let (tank, value) = (written.tank.as_ref()?, written.specific_impulse?);
    let (number, body) = system.propellant_of(tank)?;
    if system.rigid_carrier(nozzle) != system.rigid_carrier(FrameRef::Body(body)) {
        let what = format!(
            "the frame \"{}\" moves relative to the tank \"{tank}\" on body \"{}\", and the line between them is rigid: \
             put both on one rigid body, or on rigid bodies with fixed joints",
            written.frame, from.spec.tank[tank].body
        );
        from.problems.push(problem("thruster", name, "tank", what));
    }
    let what = format!("specific impulse of thruster {name}: thrust over mass flow, over 9.80665 m/s2");
    let quantity = Quantity::new(format!("{name}.specific_impulse"), Unit::Second, what).bounded(Bound::Positive);
    let place = at("thruster", name, "specific_impulse");
    Some(Supply {
        number,
        body,
        specific_impulse: from.declare.parameter(quantity, value, true, &place),
    })
}
