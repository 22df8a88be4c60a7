//! Frames that may strike each other.

use super::{Strike, Struck, report};
use crate::algebra::{Mat3, Vec3};
use crate::dynamics::impact::{self, Law};
use crate::spec::{ImpactLaw, JointType, Spec, problem};
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
    law: Coefficients,
}

/// A law with the places of its coefficients.
#[derive(Clone, Copy, Debug)]
enum Coefficients {
    Restitution {
        e: ParamId,
        e_t: ParamId,
        mu: ParamId,
    },
    EnergyFriction {
        r_E: ParamId,
        r_f: ParamId,
        clamp: bool,
    },
    Stronge {
        e: ParamId,
        mu: ParamId,
    },
    /// `turns`: whether the frames keep their attitudes too.
    Capture {
        alpha: ParamId,
        beta: ParamId,
        turns: bool,
    },
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
        let normal = declare.parameters(
            normal,
            &contact.normal,
            true,
            &crate::spec::at("contact", name, "normal"),
        );
        let mut number = |field: &str, unit: Unit, bound: Bound, value: Option<f64>, what: &str| {
            let what = format!("{what} of contact {name}");
            let quantity = Quantity::new(format!("{name}.{field}"), unit, what).bounded(bound);
            let at = crate::spec::at("contact", name, field);
            declare.parameter(quantity, value.unwrap_or(0.0), true, &at)
        };
        let mut ratio = |field: &str, bound: Bound, value, what: &str| number(field, Unit::One, bound, value, what);
        let law = match contact.law {
            ImpactLaw::Restitution => Coefficients::Restitution {
                e: ratio("e", Bound::NotNegative, contact.e, "restitution"),
                e_t: ratio("e_t", Bound::None, contact.e_t, "tangential restitution"),
                mu: ratio("mu", Bound::NotNegative, contact.mu, "coefficient of friction"),
            },
            ImpactLaw::EnergyFriction => Coefficients::EnergyFriction {
                r_E: ratio("r_E", Bound::NotNegative, contact.r_E, "ratio of lost energy"),
                r_f: ratio("r_f", Bound::NotNegative, contact.r_f, "ratio of tangential impulse"),
                clamp: contact.on_inconsistent == Some(crate::spec::Inconsistent::Clamp),
            },
            ImpactLaw::Stronge => Coefficients::Stronge {
                e: ratio("e", Bound::NotNegative, contact.e, "restitution"),
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
                Coefficients::Capture {
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
                    turns: contact.law == ImpactLaw::CaptureGrasp,
                }
            }
        };
        let reach = number(
            "reach",
            Unit::Metre,
            Bound::NotNegative,
            Some(contact.reach),
            "largest distance at a strike",
        );
        let (verb, what) = match law {
            Coefficients::Capture { .. } => (
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
            law,
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
    /// Complains of coefficients out of their range, and of a normal without a direction.
    pub(super) fn judge(&self, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        if self.normal.vector(values).norm() == 0.0 {
            let what = format!("the normal of contact \"{}\" has no direction", self.name);
            report(declared, self.normal, problems, what);
        }
        let ranges = match self.law {
            Coefficients::Restitution { e, e_t, .. } => vec![(e, [0.0, 1.0]), (e_t, [-1.0, 1.0])],
            Coefficients::EnergyFriction { r_E, r_f, .. } => vec![(r_E, [0.0, 1.0]), (r_f, [0.0, 2.0])],
            Coefficients::Stronge { e, .. } => vec![(e, [0.0, 1.0])],
            Coefficients::Capture { .. } => Vec::new(),
        };
        for (id, [low, high]) in ranges {
            let value = id.of(values);
            // What breaks a bound is told elsewhere.
            if value.is_finite() && !(low..=high).contains(&value) && (value > high || low < 0.0) {
                let name = &declared[id.0].quantity.name;
                report(
                    declared,
                    id,
                    problems,
                    format!("{name} = {value} is not between {low} and {high}"),
                );
            }
        }
    }

    /// Of a capture: whether it holds attitudes too.
    pub fn turns(&self) -> Option<bool> {
        match self.law {
            Coefficients::Capture { turns, .. } => Some(turns),
            _ => None,
        }
    }

    /// The gains α and β of a capture, 1/s.
    pub fn gains(&self, parameters: &[f64]) -> [f64; 2] {
        match self.law {
            Coefficients::Capture { alpha, beta, .. } => [alpha.of(parameters), beta.of(parameters)],
            _ => [0.0; 2],
        }
    }

    /// The law with its coefficients. A capture by itself is plastic, and sticks.
    pub fn law(&self, parameters: &[f64]) -> Law {
        match self.law {
            Coefficients::Capture { .. } => Law::EnergyFriction {
                r_E: 1.0,
                r_f: 1.0,
                on_inconsistent: impact::Inconsistent::Clamp,
            },
            Coefficients::Restitution { e, e_t, mu } => Law::Restitution {
                e: e.of(parameters),
                e_t: e_t.of(parameters),
                mu: mu.of(parameters),
            },
            Coefficients::EnergyFriction { r_E, r_f, clamp } => Law::EnergyFriction {
                r_E: r_E.of(parameters),
                r_f: r_f.of(parameters),
                on_inconsistent: if clamp {
                    impact::Inconsistent::Clamp
                } else {
                    impact::Inconsistent::Reject
                },
            },
            Coefficients::Stronge { e, mu } => Law::Stronge {
                e: e.of(parameters),
                mu: mu.of(parameters),
            },
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
