//! Frames that may strike each other.

use super::{Strike, Struck, report};
use crate::algebra::{Mat3, Vec3};
use crate::dynamics::impact::Law;
use crate::spec::{ImpactLaw, Inconsistent, JointType, Spec, at, problem};
use crate::system::{Bound, Carrier, Declarations, FrameRef, ParamId, Parameter, Quantity, System, Unit};
use crate::{Error, Problem};

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
    reach: ParamId,
    way: Way,
}

/// A law of impact with the places of its coefficients, or a capture.
#[derive(Clone, Copy, Debug)]
enum Way {
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
) -> Result<Vec<Contact>, Error> {
    let mut contacts = Vec::new();
    for (name, contact) in &spec.contact {
        let wrong = |field: &str, what: String| Error::Spec(vec![problem("contact", name, field, what)]);
        let find = |field: &str, frame: &str| {
            let found = system.frame(frame);
            found.ok_or_else(|| wrong(field, format!("there is no frame or body \"{frame}\"")))
        };
        let (a, b) = (find("a", &contact.a)?, find("b", &contact.b)?);
        if rigid(system, a) == rigid(system, b) {
            let what = format!(
                "\"{}\" and \"{}\" belong to one rigid body, or to several on fixed joints",
                contact.a, contact.b
            );
            return Err(wrong("b", what));
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
        let way = match contact.law {
            ImpactLaw::Restitution => Way::Restitution {
                e: ratio("e", Bound::Between(0, 1), contact.e, "restitution"),
                e_t: ratio("e_t", Bound::Between(-1, 1), contact.e_t, "tangential restitution"),
                mu: ratio("mu", Bound::NotNegative, contact.mu, "coefficient of friction"),
            },
            ImpactLaw::EnergyFriction => Way::EnergyFriction {
                r_E: ratio("r_E", Bound::Between(0, 1), contact.r_E, "ratio of lost energy"),
                r_f: ratio("r_f", Bound::Between(0, 2), contact.r_f, "ratio of tangential impulse"),
                on_inconsistent: contact.on_inconsistent.unwrap_or_default(),
            },
            ImpactLaw::Stronge => Way::Stronge {
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
                Way::Capture(Capture {
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
        };
        let reach = number(
            "reach",
            Unit::Metre,
            Bound::NotNegative,
            Some(contact.reach),
            "largest distance at a strike",
        );
        let (verb, what) = match way {
            Way::Capture(_) => (
                "capture",
                "captures {b} with {a} when it rises above 0.5, and releases it when it falls",
            ),
            _ => (
                "strike",
                "lets {a} and {b} strike each other, once, when it rises above 0.5",
            ),
        };
        let what = what.replace("{a}", &contact.a).replace("{b}", &contact.b);
        strikes.push(Strike::declare(
            &format!("{name}.{verb}"),
            what,
            Struck::Contact(contacts.len()),
            declare,
        ));
        contacts.push(Contact {
            name: name.clone(),
            names: [contact.a.clone(), contact.b.clone()],
            a,
            b,
            normal,
            reach,
            way,
        });
    }
    Ok(contacts)
}

/// What carries a frame, fixed joints passed over.
fn rigid(system: &System, frame: FrameRef) -> Carrier {
    let mut on = system.carrier(frame);
    while let Carrier::Body(body) = on {
        let body = &system.bodies[body];
        if body.joint.kind != JointType::Fixed {
            break;
        }
        on = body.carrier();
    }
    on
}

impl Contact {
    /// Complains of a normal without a direction.
    pub(super) fn judge(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        if self.normal.vector(values).norm() == 0.0 {
            let what = format!("the normal of contact \"{}\" has no direction", self.name);
            report(declared, self.normal, problems, what);
        }
    }

    /// What it captures, if it does.
    pub fn capture(&self) -> Option<Capture> {
        match self.way {
            Way::Capture(capture) => Some(capture),
            _ => None,
        }
    }

    /// The law of impact with its coefficients; none of a capture.
    pub fn law(&self, parameters: &[f64]) -> Option<Law> {
        match self.way {
            Way::Restitution { e, e_t, mu } => Some(Law::Restitution {
                e: e.of(parameters),
                e_t: e_t.of(parameters),
                mu: mu.of(parameters),
            }),
            Way::EnergyFriction {
                r_E,
                r_f,
                on_inconsistent,
            } => Some(Law::EnergyFriction {
                r_E: r_E.of(parameters),
                r_f: r_f.of(parameters),
                on_inconsistent,
            }),
            Way::Stronge { e, mu } => Some(Law::Stronge {
                e: e.of(parameters),
                mu: mu.of(parameters),
            }),
            Way::Capture(_) => None,
        }
    }

    /// The unit normal in inertial axes; `R_WF` takes the axes of b there.
    pub fn normal(&self, parameters: &[f64], R_WF: &Mat3<f64>) -> Vec3<f64> {
        R_WF * self.normal.vector(parameters).normalize()
    }

    /// How far the two may be apart at a strike, m.
    pub fn reach(&self, parameters: &[f64]) -> f64 {
        self.reach.of(parameters)
    }
}

impl Capture {
    /// The gains α and β, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        [self.alpha.of(parameters), self.beta.of(parameters)]
    }
}
