//! Frames that may strike each other, or press on each other.

use super::compliant::{Compliant, Pressed};
use super::surface::{Nearest, Surface};
use super::{Instant, Pair, Strike, Struck, report};
use crate::Problem;
use crate::algebra::{Mat3, Pose, Scalar, Vec3, lift3};
use crate::dynamics::Applied;
use crate::dynamics::impact::Law;
use crate::spec::{ImpactLaw, Inconsistent, Spec, at, problem};
use crate::system::{Bound, Configuration, Declarations, FrameRef, ParamId, Parameter, Quantity, System, Unit};

/// Two frames, and what happens when they strike each other.
#[derive(Clone, Debug)]
pub struct Contact {
    /// The user's name.
    pub name: String,
    /// The names of the two frames.
    pub names: [String; 2],
    /// What gets the impulse.
    pub a: FrameRef,
    /// What gets its reaction.
    pub b: FrameRef,
    /// From b towards a, axes of b.
    normal: ParamId,
    /// How they come to meet.
    trigger: Trigger,
    law: ContactLaw,
}

/// How two frames come to meet.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    /// By a command, within this reach.
    Command(ParamId),
    /// By themselves: its place among those that do.
    Touch(usize, Surface),
}

/// A law of impact with the places of its coefficients, a capture, or a force.
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

/// What a contact does that captures.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    /// Its place among the captures.
    pub number: usize,
    /// Whether the frames keep their attitudes too.
    pub turns: bool,
    alpha: ParamId,
    beta: ParamId,
}

/// Lists the contacts, and their commands among the `strikes`.
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
                    always: false,
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
    /// Complains of a normal without a direction.
    pub(super) fn judge(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        if self.normal.direction(values).is_none() {
            let what = format!("the normal of contact \"{}\" has no direction", self.name);
            report(declared, self.normal, problems, what);
        }
    }

    /// What it captures, if it does.
    pub fn capture(&self) -> Option<Capture> {
        match self.law {
            ContactLaw::Capture(capture) => Some(capture),
            _ => None,
        }
    }

    /// The law of impact with its coefficients; none of a capture.
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

    /// Whether it is a force, and nothing ever jumps.
    pub fn is_compliant(&self) -> bool {
        matches!(self.law, ContactLaw::Compliant(_))
    }

    /// Its place among the contacts that meet by themselves, if it does.
    pub fn touch(&self) -> Option<usize> {
        match self.trigger {
            Trigger::Touch(number, _) => Some(number),
            Trigger::Command(_) => None,
        }
    }

    /// Whether they meet from the front only, and may be behind.
    pub fn has_back(&self) -> bool {
        matches!(self.trigger, Trigger::Touch(_, surface) if surface.is_disc())
    }

    /// The two where a captures b: at the origin of a.
    pub fn captured_pair<S: Scalar>(&self, of: Configuration<S>, capture: Capture) -> Pair<S> {
        Pair::at_a(of, [self.a, self.b]).turning(of.kinematics, capture.turns)
    }

    /// Where a is in b, of the poses of the two: the place of its origin, m, and its rotation.
    #[inline]
    pub fn relative_pose<S: Scalar>([A, B]: &[Pose<S>; 2]) -> (Vec3<S>, Mat3<S>) {
        (B.R.tr_mul(&(A.p - B.p)), B.R.tr_mul(&A.R))
    }

    /// How far the two may be apart at most on command, m; none of those that meet by themselves.
    pub fn reach(&self, parameters: &[f64]) -> Option<f64> {
        match self.trigger {
            Trigger::Command(reach) => Some(reach.of(parameters)),
            Trigger::Touch(..) => None,
        }
    }

    /// Where a and b, that stand at `A` and `B`, are nearest to each other. Without surfaces they are points, and the normal is as it is written.
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

    /// The same, at an instant.
    pub fn nearest_now<S: Scalar>(&self, now: &Instant<S>) -> Nearest<S> {
        let [A, B] = [self.a, self.b].map(|frame| now.kinematics.pose(now.system, now.derived, frame));
        self.nearest(now.parameters, [&A, &B])
    }

    /// The two, if they press on each other.
    fn pressed<S: Scalar>(&self, now: &Instant<S>) -> Option<Pressed<S>> {
        match self.law {
            ContactLaw::Compliant(law) => law.press(now, [self.a, self.b], &self.nearest_now(now)),
            _ => None,
        }
    }

    /// Adds what its spring does, if it has one.
    pub(super) fn add_spring<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            pressed.push(now, pressed.spring(), applied);
        }
    }

    /// Adds what its spring does on the mean of a step of length `h` (s) more than in its middle.
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

    /// Adds what its damper and friction do, if it has some.
    pub(super) fn add_dissipation<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        if let Some(pressed) = self.pressed(now) {
            pressed.push(now, pressed.dissipation(now), applied);
        }
    }

    /// Energy of its spring, J.
    pub(super) fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
        self.pressed(now).map_or_else(S::zero, |pressed| pressed.energy())
    }

    /// The force that presses on a, N, world axes.
    pub fn force<S: Scalar>(&self, now: &Instant<S>) -> Vec3<S> {
        let force = |pressed: Pressed<S>| pressed.spring() + pressed.dissipation(now);
        self.pressed(now).map_or_else(Vec3::zeros, force)
    }

    /// Lets surfaces press wherever they are, so that it can be seen what their force depends on.
    pub(super) fn press_always(&mut self) {
        if let ContactLaw::Compliant(compliant) = &mut self.law {
            compliant.always = true;
        }
    }
}

impl Capture {
    /// Where the gains stand among the parameters.
    pub(super) fn gain_ids(&self) -> [ParamId; 2] {
        [self.alpha, self.beta]
    }

    /// The gains α and β, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        [self.alpha.of(parameters), self.beta.of(parameters)]
    }
}
