//! Compilation of contacts.

use super::capture::Capture;
use super::compliant::{Compliant, CompliantFriction};
use super::shape::Shapes;
use super::surface::Surface;
use super::{Contact, ContactLaw, Manifold, Rest, Stiction, Trigger};
use crate::elements::{Command, Compiler, Target};
use crate::spec::{self, ImpactLaw, at};
use crate::system::{Bound, Declarations, ParamId, Quantity, Unit};

/// Descriptions of Baumgarte's gains.
const VELOCITY_GAIN: &str = "Baumgarte gain alpha (velocity-level constraint violation)";
const POSITION_GAIN: &str = "Baumgarte gain beta (position-level constraint violation)";

/// Creates the contacts of a spec and declares their parameters and commands.
pub(super) fn contacts(from: &mut Compiler) -> Vec<Contact> {
    let mut contacts: Vec<Contact> = Vec::new();
    for (name, written) in &from.spec.contact {
        let Some([a, b]) = from.moving_pair("contact", name, [&written.a, &written.b]) else {
            continue;
        };
        let what = format!(
            "normal of contact {name}, from {} to {}, axes of {}",
            written.b, written.a, written.b
        );
        let normal = Quantity::vector(&format!("{name}.normal"), Unit::One, &what);
        let place = at("contact", name, "normal");
        let normal = match written.shape_b {
            Some(_) => None,
            None => Some(from.declare.parameters(normal, &written.normal, true, &place)),
        };
        let mut numbers = Numbers {
            name,
            declare: from.declare,
        };
        let captures = contacts.iter().filter_map(Contact::capture).count();
        let law = numbers.law(written, captures);
        let detected = contacts.iter().map(Contact::point_count).sum();
        let trigger = numbers.trigger(written, detected);
        let rests = contacts.iter().filter_map(|contact| contact.rest).collect::<Vec<_>>();
        let rest = numbers.rest(written, &rests);
        if let Some((verb, what)) = command(&law, &trigger) {
            let what = what.replace("{a}", &written.a).replace("{b}", &written.b);
            let target = Target::Contact(contacts.len());
            let command = Command::declare(&format!("{name}.{verb}"), what, target, from.declare);
            from.commands.push(command);
        }
        contacts.push(Contact {
            number: contacts.len(),
            name: name.clone(),
            names: [written.a.clone(), written.b.clone()],
            a,
            b,
            normal,
            trigger,
            law,
            rest,
            rubs: written.mu.is_some(),
        });
    }
    number_stictions(&mut contacts);
    contacts
}

/// Numbers the contacts with stiction, after all points that may rest.
fn number_stictions(contacts: &mut [Contact]) {
    let mut next: usize = (contacts.iter().filter_map(|contact| contact.rest))
        .map(|rest| rest.count)
        .sum();
    for contact in contacts {
        if let ContactLaw::Compliant(law) = &mut contact.law
            && let Some(CompliantFriction::Coulomb(stiction)) = &mut law.friction
        {
            stiction.number = next;
            next += 1;
        }
    }
}

/// Returns name and description of a contact's command, `None` if it needs none.
fn command(law: &ContactLaw, trigger: &Trigger) -> Option<(&'static str, &'static str)> {
    match (law, trigger) {
        (ContactLaw::Capture(_), Trigger::Command(_)) => Some((
            "capture",
            "command: {a} captures {b} when it rises above 0.5, and releases it when it falls to 0.5",
        )),
        (ContactLaw::Capture(_), Trigger::Touch(..) | Trigger::Shapes(..)) => Some((
            "capture",
            "command: {a} captures {b} at contact detection while above 0.5, and releases it when it falls to 0.5",
        )),
        (_, Trigger::Command(_)) => Some((
            "impact",
            "command: one impact of {a} on {b} each time it rises above 0.5",
        )),
        (_, Trigger::Touch(..) | Trigger::Shapes(..)) => None,
    }
}

/// Declaration of a contact's parameters.
struct Numbers<'a> {
    name: &'a str,
    declare: &'a mut Declarations,
}

impl Numbers<'_> {
    fn number(&mut self, field: &str, unit: Unit, bound: Bound, value: f64, what: &str) -> ParamId {
        let name = self.name;
        let what = format!("{what} of contact {name}");
        let quantity = Quantity::new(format!("{name}.{field}"), unit, what).bounded(bound);
        self.declare
            .parameter(quantity, value, true, &at("contact", name, field))
    }

    /// Declares a ratio; 0 if it is not written, which validation allows for optional ratios only.
    fn ratio(&mut self, field: &str, bound: Bound, value: Option<f64>, what: &str) -> ParamId {
        self.number(field, Unit::One, bound, value.unwrap_or(0.0), what)
    }

    fn friction(&mut self, mu: Option<f64>) -> ParamId {
        self.ratio("mu", Bound::NotNegative, mu, "coefficient of friction")
    }

    /// Declares the coefficients of the law; `captures` is the number of capturing contacts
    /// declared before.
    fn law(&mut self, written: &spec::Contact, captures: usize) -> ContactLaw {
        match written.law {
            ImpactLaw::Restitution => ContactLaw::Restitution {
                e: self.ratio("e", Bound::Between(0, 1), written.e, "restitution"),
                e_t: self.ratio("e_t", Bound::Between(-1, 1), written.e_t, "tangential restitution"),
                mu: self.friction(written.mu),
            },
            ImpactLaw::EnergyFriction => ContactLaw::EnergyFriction {
                r_E: self.ratio("r_E", Bound::Between(0, 1), written.r_E, "energy loss ratio r_E"),
                r_f: self.ratio("r_f", Bound::Between(0, 2), written.r_f, "tangential impulse ratio r_f"),
                tangential: written.tangential.unwrap_or_default(),
                on_inconsistent: written.on_inconsistent.unwrap_or_default(),
            },
            ImpactLaw::Stronge => ContactLaw::Stronge {
                e: self.ratio("e", Bound::Between(0, 1), written.e, "restitution"),
                mu: self.friction(written.mu),
            },
            ImpactLaw::CapturePin | ImpactLaw::CaptureGrasp => {
                let mut gain = |field: &str, value: Option<f64>, what: &str| {
                    let value = value.unwrap_or(10.0);
                    self.number(field, Unit::PerSecond, Bound::NotNegative, value, what)
                };
                ContactLaw::Capture(Capture {
                    number: captures,
                    turns: written.law == ImpactLaw::CaptureGrasp,
                    alpha: gain("alpha", written.alpha, VELOCITY_GAIN),
                    beta: gain("beta", written.beta, POSITION_GAIN),
                })
            }
            ImpactLaw::Compliant => ContactLaw::Compliant(self.compliant(written)),
        }
    }

    /// Declares the numbers of a contact that may rest; `before` are those declared before.
    fn rest(&mut self, written: &spec::Contact, before: &[Rest]) -> Option<Rest> {
        let speed = written.rest?;
        let manifolds = || before.iter().filter(|rest| rest.manifold.is_some());
        let what = "speed of approach up to which an impact is plastic,";
        let speed = self.number("rest", Unit::MetrePerSecond, Bound::Positive, speed, what);
        let mut gain = |field: &str, value: Option<f64>, what: &str| {
            let value = value.unwrap_or(10.0);
            self.number(field, Unit::PerSecond, Bound::NotNegative, value, what)
        };
        Some(Rest {
            first: before.iter().map(|rest| rest.count).sum(),
            count: Rest::count_of(written),
            rims: Rest::has_rims(written).then(|| before.iter().filter(|rest| rest.rims.is_some()).count()),
            manifold: written.has_polyhedra().then(|| Manifold {
                number: manifolds().count(),
                first: manifolds().map(|rest| rest.count).sum(),
            }),
            speed,
            alpha: gain("alpha", written.alpha, VELOCITY_GAIN),
            beta: gain("beta", written.beta, POSITION_GAIN),
        })
    }

    fn compliant(&mut self, written: &spec::Contact) -> Compliant {
        let mut number = |field: &str, unit, bound, value: Option<f64>, what: &str| {
            self.number(field, unit, bound, value.unwrap_or(0.0), what)
        };
        let force = number(
            "force",
            Unit::Newton,
            Bound::NotNegative,
            written.force,
            "reference force, at the reference penetration,",
        );
        let depth = number(
            "depth",
            Unit::Metre,
            Bound::Positive,
            written.depth,
            "reference penetration, at the reference force,",
        );
        let what = "dissipation factor (relative increase of the force per penetration rate)";
        let dissipation = number(
            "dissipation",
            Unit::SecondPerMetre,
            Bound::NotNegative,
            written.dissipation,
            what,
        );
        let friction = written.mu.map(|mu| {
            let mu = self.friction(Some(mu));
            if written.sticks() {
                let alpha = written.alpha.unwrap_or(10.0);
                return CompliantFriction::Coulomb(Stiction {
                    number: 0,
                    mu,
                    force,
                    alpha: self.number("alpha", Unit::PerSecond, Bound::NotNegative, alpha, VELOCITY_GAIN),
                });
            }
            let slip = written.slip.unwrap_or(1e-3);
            let what = "sliding speed at which the friction is 71 % of its Coulomb value,";
            let slip = self.number("slip", Unit::MetrePerSecond, Bound::Positive, slip, what);
            CompliantFriction::Smoothed { mu, slip }
        });
        Compliant {
            force,
            depth,
            is_hertz: written.exponent.unwrap_or(1.5) > 1.0,
            dissipation,
            friction,
        }
    }

    /// Declares the lengths of the trigger; `detected` is the number of contacts with contact
    /// detection declared before.
    fn trigger(&mut self, written: &spec::Contact, detected: usize) -> Trigger {
        if let Some(of_b) = &written.shape_b {
            let (of_a, frames) = (written.shape_a.as_ref(), [&*written.a, &*written.b]);
            return Trigger::Shapes(detected, Shapes::declare(self.name, of_a, of_b, frames, self.declare));
        }
        let mut length = |field: &str, bound, value, what: &str| self.number(field, Unit::Metre, bound, value, what);
        let Some(of_b) = written.surface else {
            let reach = written.reach.unwrap_or(0.01);
            let what = "largest distance of the frames at an impact or capture";
            return Trigger::Command(length("reach", Bound::NotNegative, reach, what));
        };
        let radius_a = written.radius_a.map(|radius| {
            let what = "radius of the sphere about frame a";
            length("radius_a", Bound::NotNegative, radius, what)
        });
        let radius_b = written.radius_b.map(|radius| {
            let what = "radius of the surface of frame b";
            length("radius_b", Bound::Positive, radius, what)
        });
        Trigger::Touch(
            detected,
            Surface {
                of_b,
                radius_a,
                radius_b,
            },
        )
    }
}
