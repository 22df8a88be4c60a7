use super::{Compiler, Cursor, Element, Invariance, Outputs, View};
use crate::algebra::{Scalar, Twist, Vec3, root};
use crate::dynamics::invariants::Invariants;
use crate::spec::{Capability, Formulation, Spec};
use crate::system::{JointState, Quantity, System, Unit};

/// Outputs of the whole system.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Diagnostics {
    /// Momentum, mass centre, energy.
    Invariants,
    /// Constraint violation of joints on position level.
    Violation,
    /// Constraint violation of joints on velocity level.
    ViolationRate,
    /// Deviation of the directors from unit length and right angles.
    Distortion,
    /// Condition number of the saddle-point matrix.
    Condition,
}

impl Element for Diagnostics {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let (spec, formulation) = (from.spec, from.spec.formulation);
        let (has, is_constrained) = (spec.has_diagnostics(), formulation.has(Capability::Constraints));
        let wanted = [
            (Self::Invariants, has),
            (
                Self::Violation,
                has && is_constrained && formulation.has(Capability::Gaps),
            ),
            (Self::ViolationRate, has && is_constrained),
            (Self::Distortion, has && formulation == Formulation::Natural),
            (Self::Condition, spec.output.condition),
        ];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.map(|(diagnostics, _)| diagnostics).collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let number = |name: &str, unit, what: &str| [Quantity::new(format!("system.{name}"), unit, what)];
        match self {
            Self::Invariants => declare_invariants(system, to),
            Self::Violation => {
                let what = "constraint violation of the joints in translation, root of the sum of squares";
                to.continuous(number("violation", Unit::Metre, what));
                let what = "constraint violation of the joints in rotation, root of the sum of squares";
                to.continuous(number("violation_angle", Unit::Radian, what));
            }
            Self::ViolationRate => {
                let what =
                    "velocity-level constraint violation of the joints in translation, root of the sum of squares";
                to.invariant(
                    Invariance::Galilean,
                    number("violation_velocity", Unit::MetrePerSecond, what),
                );
                let what = "velocity-level constraint violation of the joints in rotation, root of the sum of squares";
                to.invariant(
                    Invariance::Galilean,
                    number("violation_rate", Unit::RadianPerSecond, what),
                );
            }
            Self::Distortion => {
                let what = "deviation of all bodies' directors from orthonormal vectors, root of the sum of squares";
                to.continuous(number("distortion", Unit::One, what));
            }
            Self::Condition => {
                let what = "condition number of the saddle-point matrix of accelerations and multipliers, about the bodies' mass centres";
                to.continuous(number("condition", Unit::One, what));
            }
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let recovered = view.recovered;
        match self {
            Self::Invariants => observe_invariants(view, y),
            Self::Violation => observe_violation(recovered.map(|recovered| &recovered.violation[..]), y),
            Self::ViolationRate => observe_violation(recovered.map(|recovered| &recovered.violation_rate[..]), y),
            Self::Distortion => y.number(recovered.map_or(S::zero(), |recovered| root(recovered.distortion))),
            Self::Condition => {
                let condition = view.dynamics.condition(now.configuration(), view.applied, now.q);
                y.number(condition.unwrap_or_else(S::zero));
            }
        }
    }
}

fn declare_invariants(system: &System, to: &mut Outputs) {
    // The mass centre of the system moves with the free bodies if no tree is attached to the world.
    let mut roots = (0..system.bodies.len()).filter(|&body| system.bodies[body].parent.is_none());
    let moves = roots.all(|body| system.is_root(body));
    to.continuous(Quantity::vector(
        "system.momentum",
        Unit::KilogramMetrePerSecond,
        "linear momentum of all bodies, inertial axes",
    ));
    let h = Quantity::vector(
        "system.angular_momentum",
        Unit::KilogramMetre2PerSecond,
        "angular momentum of all bodies about their mass centre, inertial axes",
    );
    to.invariant(Invariance::Shift.when(moves), h);
    to.continuous(Quantity::vector(
        "system.mass_centre",
        Unit::Metre,
        "mass centre of all bodies, inertial axes",
    ));
    let scalars = [
        (
            "momentum_scale",
            Invariance::Pose,
            Unit::KilogramMetrePerSecond,
            "sum of the bodies' momentum magnitudes, the scale of the momentum drift",
        ),
        (
            "angular_momentum_scale",
            Invariance::Galilean.when(moves),
            Unit::KilogramMetre2PerSecond,
            "sum of the bodies' angular momentum magnitudes, the scale of the angular momentum drift",
        ),
        (
            "kinetic_energy",
            Invariance::Pose,
            Unit::Joule,
            "kinetic energy, rotors included",
        ),
        (
            "potential_energy",
            Invariance::None,
            Unit::Joule,
            "potential energy of springs, stops, compliant contacts, uniform gravity and elastic deflections",
        ),
        (
            "energy",
            Invariance::None,
            Unit::Joule,
            "kinetic plus potential energy; its change is that of system.work",
        ),
    ];
    for (name, invariance, unit, what) in scalars {
        to.invariant(invariance, [Quantity::new(format!("system.{name}"), unit, what)]);
    }
}

fn observe_invariants<S: Scalar>(view: &View<S>, y: &mut Cursor<S>) {
    let now = &view.now;
    let directors = view
        .recovered
        .and_then(|recovered| recovered.directors_rates.as_deref());
    let at = now.configuration();
    let sum = match view.invariants {
        Some(given) => *given,
        None => Invariants::new(at, JointState { q: now.q, qd: now.qd }, directors),
    };
    let mut potential = view.elements.potential_energy(now);
    for &energy in view.energies.into_iter().flatten() {
        potential += energy;
    }
    y.vector(&sum.p);
    y.vector(&sum.h);
    y.vector(&sum.mass_centre);
    y.number(sum.p_scale);
    y.number(sum.h_scale);
    y.number(sum.kinetic_energy);
    y.number(potential);
    y.number(sum.kinetic_energy + potential);
}

/// Writes the roots of the sums of squares of the violations' lengths and angles.
fn observe_violation<S: Scalar>(violations: Option<&[Twist<S>]>, y: &mut Cursor<S>) {
    let Some(violations) = violations else { return };
    let together = |of: fn(&Twist<S>) -> &Vec3<S>| {
        let squares = violations.iter().map(|violation| of(violation).dot(of(violation)));
        root(squares.fold(S::zero(), |sum, square| sum + square))
    };
    y.number(together(|violation| &violation.v));
    y.number(together(|violation| &violation.w));
}
