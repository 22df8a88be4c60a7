//! Contacts between two frames: impacts, captures and compliant contact forces.

use super::compliant::{Compliant, Pressed};
use super::surface::{Nearest, Surface};
use super::{Instant, Pair, Strike, Struck, report};
use crate::Problem;
use crate::algebra::{Mat3, Pose, Scalar, Vec3, lift3};
use crate::dynamics::Applied;
use crate::dynamics::impact::Law;
use crate::spec::{ImpactLaw, Inconsistent, Spec, at, problem};
use crate::system::{Bound, Configuration, Declarations, FrameRef, ParamId, Parameter, Quantity, System, Unit};

/// Two frames and the law of their contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Name in the spec.
    pub name: String,
    /// Names of the two frames.
    pub names: [String; 2],
    /// Frame on which the impulse or force acts.
    pub a: FrameRef,
    /// Frame on which its reverse acts.
    pub b: FrameRef,
    /// Normal from b towards a, axes of b.
    normal: ParamId,
    /// Condition under which the contact acts.
    trigger: Trigger,
    law: ContactLaw,
}

/// Condition under which a contact acts.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    /// Command, with the largest distance of the frames (m) at which it acts.
    Command(ParamId),
    /// Contact detection between surfaces, with the index among the contacts that have it.
    Touch(usize, Surface),
}

/// Impact law with the parameter indices of its coefficients, a capture, or a compliant force.
#[derive(Clone, Copy, Debug)]
enum ContactLaw {
    Restitution {
        e: ParamId,
        e_t: ParamId,
        mu: ParamId,
    },
    EnergyFriction {
        r_E: ParamId,
        r_f: ParamId,
        on_inconsistent: Inconsistent,
    },
    Stronge {
        e: ParamId,
        mu: ParamId,
    },
    Capture(Capture),
    Compliant(Compliant),
}

/// Capture law of a contact.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    /// Index among the captures.
    pub number: usize,
    /// True if the relative attitude is constrained too (`capture_grasp`).
    pub turns: bool,
    alpha: ParamId,
    beta: ParamId,
}

/// Declares the contacts and returns them; adds their commands to `strikes`.
pub(super) fn declare(
    spec: &Spec,
    system: &System,
    declare: &mut Declarations,
    strikes: &mut Vec<Strike>,
    problems: &mut Vec<Problem>,
) -> Vec<Contact> {
    let mut contacts = Vec::new();
    for (name, contact) in &spec.contact {
        let mut find = |field: &str, frame: &str| system.written_frame(["contact", name, field], frame, problems);
        let (Some(a), Some(b)) = (find("a", &contact.a), find("b", &contact.b)) else {
            continue;
        };
        if system.rigid_carrier(a) == system.rigid_carrier(b) {
            let what = format!(
                "\"{}\" and \"{}\" belong to one rigid body, or to several on fixed joints",
                contact.a, contact.b
            );
            problems.push(problem("contact", name, "b", what));
        }
        let normal = Quantity::vector(
            &format!("{name}.normal"),
            Unit::One,
            &format!(
                "normal of contact {name}, from {} to {}, axes of {}",
                contact.b, contact.a, contact.b
            ),
        );
        let normal = declare.parameters(normal, &contact.normal, true, &at("contact", name, "normal"));
        let mut number = |field: &str, unit: Unit, bound: Bound, value: Option<f64>, what: &str| {
            let what = format!("{what} of contact {name}");
            let quantity = Quantity::new(format!("{name}.{field}"), unit, what).bounded(bound);
            declare.parameter(quantity, value.unwrap_or(0.0), true, &at("contact", name, field))
        };
        let mut ratio = |field: &str, bound: Bound, value, what: &str| number(field, Unit::One, bound, value, what);
        let law = match contact.law {
            ImpactLaw::Restitution => ContactLaw::Restitution {
                e: ratio("e", Bound::Between(0, 1), contact.e, "restitution"),
                e_t: ratio("e_t", Bound::Between(-1, 1), contact.e_t, "tangential restitution"),
                mu: ratio("mu", Bound::NotNegative, contact.mu, "coefficient of friction"),
            },
            ImpactLaw::EnergyFriction => ContactLaw::EnergyFriction {
                r_E: ratio("r_E", Bound::Between(0, 1), contact.r_E, "ratio of lost energy"),
                r_f: ratio("r_f", Bound::Between(0, 2), contact.r_f, "ratio of tangential impulse"),
                on_inconsistent: contact.on_inconsistent.unwrap_or_default(),
            },
            ImpactLaw::Stronge => ContactLaw::Stronge {
                e: ratio("e", Bound::Between(0, 1), contact.e, "restitution"),
                mu: ratio("mu", Bound::NotNegative, contact.mu, "coefficient of friction"),
            },
            ImpactLaw::CapturePin | ImpactLaw::CaptureGrasp => {
                let mut gain = |field: &str, value: Option<f64>, what: &str| {
                    number(
                        field,
                        Unit::PerSecond,
                        Bound::NotNegative,
                        Some(value.unwrap_or(10.0)),
                        what,
                    )
                };
                ContactLaw::Capture(Capture {
                    number: contacts.iter().filter_map(Contact::capture).count(),
                    turns: contact.law == ImpactLaw::CaptureGrasp,
                    alpha: gain(
                        "alpha",
                        contact.alpha,
                        "Baumgarte's alpha: how a gap's rate is damped, while captured,",
                    ),
                    beta: gain(
                        "beta",
                        contact.beta,
                        "Baumgarte's beta: how a gap is closed, while captured,",
                    ),
                })
            }
            ImpactLaw::Compliant => {
                let force = number(
                    "force",
                    Unit::Newton,
                    Bound::NotNegative,
                    contact.force,
                    "force at the depth",
                );
                let depth = number(
                    "depth",
                    Unit::Metre,
                    Bound::Positive,
                    contact.depth,
                    "depth at the force",
                );
                let what = "what the speed of approach adds to the force, as a part of it,";
                let dissipation = number(
                    "dissipation",
                    Unit::SecondPerMetre,
                    Bound::NotNegative,
                    contact.dissipation,
                    what,
                );
                let friction = contact
                    .mu
                    .map(|mu| number("mu", Unit::One, Bound::NotNegative, Some(mu), "coefficient of friction"));
                let slip = Some(contact.slip.unwrap_or(1e-3));
                let what = "speed of slip at which 71 % of the friction acts,";
                ContactLaw::Compliant(Compliant {
                    force,
                    depth,
                    is_hertz: contact.exponent.unwrap_or(1.5) > 1.0,
                    dissipation,
                    friction: friction
                        .map(|mu| (mu, number("slip", Unit::MetrePerSecond, Bound::Positive, slip, what))),
                })
            }
        };
        let mut length = |field: &str, bound: Bound, value, what: &str| number(field, Unit::Metre, bound, value, what);
        let trigger = match contact.surface {
            None => Trigger::Command(length(
                "reach",
                Bound::NotNegative,
                Some(contact.reach.unwrap_or(0.01)),
                "largest distance at a strike",
            )),
            Some(of_b) => Trigger::Touch(
                contacts.iter().filter_map(Contact::touch).count(),
                Surface {
                    of_b,
                    radius_a: contact.radius_a.map(|radius| {
                        length(
                            "radius_a",
                            Bound::NotNegative,
                            Some(radius),
                            "radius of the sphere about a,",
                        )
                    }),
                    radius_b: contact
                        .radius_b
                        .map(|radius| length("radius_b", Bound::Positive, Some(radius), "radius of the surface of b,")),
                },
            ),
        };
        let command = match (law, trigger) {
            (ContactLaw::Capture(_), Trigger::Command(_)) => Some((
                "capture",
                "captures {b} with {a} when it rises above 0.5, and releases it when it falls",
            )),
            (ContactLaw::Capture(_), Trigger::Touch(..)) => Some((
                "capture",
                "lets {a} capture {b} where they touch, while it is above 0.5, and releases it when it falls",
            )),
            (_, Trigger::Command(_)) => Some((
                "impact",
                "lets {a} and {b} strike each other, once, when it rises above 0.5",
            )),
            (_, Trigger::Touch(..)) => None,
        };
        if let Some((verb, what)) = command {
            let what = what.replace("{a}", &contact.a).replace("{b}", &contact.b);
            let struck = Struck::Contact(contacts.len());
            strikes.push(Strike::declare(&format!("{name}.{verb}"), what, struck, declare));
        }
        contacts.push(Contact {
            name: name.clone(),
            names: [contact.a.clone(), contact.b.clone()],
            a,
            b,
            normal,
            trigger,
            law,
        });
    }
    contacts
}

impl Contact {
    /// Reports a normal without a direction.
    pub(super) fn judge(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        if self.normal.direction(values).is_none() {
            let what = format!("the normal of contact \"{}\" has no direction", self.name);
            report(declared, self.normal, problems, what);
        }
    }

    /// Returns the capture law, `None` if the contact does not capture.
    pub fn capture(&self) -> Option<Capture> {
        match self.law {
            ContactLaw::Capture(capture) => Some(capture),
            _ => None,
        }
    }

    /// Returns the impact law with its coefficients; `None` for a capture or a compliant contact.
    pub fn law(&self, parameters: &[f64]) -> Option<Law> {
        match self.law {
            ContactLaw::Restitution { e, e_t, mu } => Some(Law::Restitution {
                e: e.of(parameters),
                e_t: e_t.of(parameters),
                mu: mu.of(parameters),
            }),
            ContactLaw::EnergyFriction {
                r_E,
                r_f,
                on_inconsistent,
            } => Some(Law::EnergyFriction {
                r_E: r_E.of(parameters),
                r_f: r_f.of(parameters),
                on_inconsistent,
            }),
            ContactLaw::Stronge { e, mu } => Some(Law::Stronge {
                e: e.of(parameters),
                mu: mu.of(parameters),
            }),
            ContactLaw::Capture(_) | ContactLaw::Compliant(_) => None,
        }
    }

    /// Returns true if the contact is a force, without impulses.
    pub fn is_compliant(&self) -> bool {
        matches!(self.law, ContactLaw::Compliant(_))
    }

    /// Returns the index among the contacts with contact detection, `None` for a commanded contact.
    pub fn touch(&self) -> Option<usize> {
        match self.trigger {
            Trigger::Touch(number, _) => Some(number),
            Trigger::Command(_) => None,
        }
    }

    /// Returns true if the surface of b is one-sided (a disc): a point that comes from behind makes
    /// no contact.
    pub fn has_back(&self) -> bool {
        matches!(self.trigger, Trigger::Touch(_, surface) if surface.is_disc())
    }

    /// Returns the pair that a capture constrains, at the origin of a.
    pub fn captured_pair<S: Scalar>(&self, of: Configuration<S>, capture: Capture) -> Pair<S> {
        Pair::at_a(of, [self.a, self.b]).turning(of.kinematics, capture.turns)
    }

    /// Returns the poses of a and b in the world.
    pub fn poses<S: Scalar>(&self, of: Configuration<S>) -> [Pose<S>; 2] {
        [self.a, self.b].map(|frame| of.pose(frame))
    }

    /// Returns the pose of a relative to b from the poses of both: the position of its origin (m,
    /// axes of b) and its rotation matrix.
    #[inline]
    pub fn relative_pose<S: Scalar>([A, B]: &[Pose<S>; 2]) -> (Vec3<S>, Mat3<S>) {
        (B.R.tr_mul(&(A.p - B.p)), B.R.tr_mul(&A.R))
    }

    /// Returns the largest distance at which a command acts, m; `None` for contact detection.
    pub fn reach(&self, parameters: &[f64]) -> Option<f64> {
        match self.trigger {
            Trigger::Command(reach) => Some(reach.of(parameters)),
            Trigger::Touch(..) => None,
        }
    }

    /// Returns the nearest points of the surfaces for frames at the poses `A` and `B`. Frames
    /// without surfaces are points, with the normal of the spec.
    pub fn nearest<S: Scalar>(&self, parameters: &[f64], [A, B]: [&Pose<S>; 2]) -> Nearest<S> {
        let normal = B.R * lift3::<S>(&self.normal.direction(parameters).unwrap_or_else(Vec3::zeros));
        match self.trigger {
            Trigger::Touch(_, surface) => surface.nearest(parameters, [A, B], normal),
            Trigger::Command(_) => Nearest {
                gap: normal.dot(&(A.p - B.p)),
                n: normal,
                from_a: (B.p - A.p) * S::lift(0.5),
                is_beside: false,
            },
        }
    }

    /// Returns [`nearest`](Self::nearest) for the poses at an instant.
    pub fn nearest_now<S: Scalar>(&self, now: &Instant<S>) -> Nearest<S> {
        let [A, B] = [self.a, self.b].map(|frame| now.kinematics.pose(now.system, now.derived, frame));
        self.nearest(now.parameters, [&A, &B])
    }

    /// Returns the compliant contact at an instant, `None` if the surfaces do not penetrate.
    fn pressed<S: Scalar>(&self, now: &Instant<S>) -> Option<Pressed<S>> {
        match self.law {
            ContactLaw::Compliant(law) => law.press(now, [self.a, self.b], &self.nearest_now(now)),
            _ => None,
        }
    }

    /// Adds the spring force of a compliant contact.
    pub(super) fn add_spring<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            pressed.push(now, pressed.spring(), applied);
        }
    }

    /// Adds the difference between the discrete gradient of the spring's energy over a step of
    /// length `h` (s) and the spring force at the midpoint `now`.
    pub(super) fn add_of_step<S: Scalar>(&self, now: &Instant<S>, h: f64, applied: &mut Applied<S>) {
        if let (ContactLaw::Compliant(law), Trigger::Touch(_, surface)) = (self.law, self.trigger) {
            let frames = [self.a, self.b];
            let nearest = self.nearest_now(now);
            let half = S::lift(0.5 * h);
            let at = |frame: FrameRef| {
                let (on, arm) = (
                    now.system.carrier(frame),
                    now.kinematics.arm(now.system, now.derived, frame).p,
                );
                let V = now.kinematics.carrier(on).V_WB;
                (
                    now.kinematics.pose(now.system, now.derived, frame).p,
                    V.shift(&arm).v,
                    V.w,
                )
            };
            let ((p_a, v_a, _), (p_b, v_b, w_b)) = (at(self.a), at(self.b));
            let motion = [p_a - p_b, (v_a - v_b) * half, w_b * half];
            let (gaps, pace) = surface.ends_of_step(now.parameters, nearest.n, motion);
            law.add_of_step(now, frames, &nearest, (gaps, pace), applied);
        }
    }

    /// Adds the damper force and the friction of a compliant contact.
    pub(super) fn add_dissipation<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            pressed.push(now, pressed.dissipation(now), applied);
        }
    }

    /// Returns the spring energy of a compliant contact, J.
    pub(super) fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
        self.pressed(now).map_or_else(S::zero, |pressed| pressed.energy())
    }

    /// Returns the compliant contact force on a, N, world axes.
    pub fn force<S: Scalar>(&self, now: &Instant<S>) -> Vec3<S> {
        let force = |pressed: Pressed<S>| pressed.spring() + pressed.dissipation(now);
        self.pressed(now).map_or_else(Vec3::zeros, force)
    }
}

impl Capture {
    /// Returns the parameter indices of the gains α and β.
    pub(super) fn gain_ids(&self) -> [ParamId; 2] {
        [self.alpha, self.beta]
    }

    /// Returns Baumgarte's gains α and β, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        [self.alpha.of(parameters), self.beta.of(parameters)]
    }
}
