use super::Contact;
use crate::algebra::Vec3;
use crate::dynamics::impact::PointImpact;
use crate::elements::Stored;
use crate::elements::outputs::Outputs;
use crate::spec::Tangential;
use crate::system::{Quantity, Unit};

/// Report of the last impact or capture of a contact, also of a refused one; its numbers are
/// outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ImpactReport {
    /// Outcome, or the reason for which it was refused.
    pub status: ImpactStatus,
    /// Number of impacts since the start.
    pub count: f64,
    /// Time of the last impact, also of a refused one, s.
    pub time: f64,
    /// Impulse on a, N·s, inertial axes.
    pub impulse: Vec3<f64>,
    /// Moment impulse of a grasp on a, about the contact point, N·m·s, inertial axes.
    pub moment_impulse: Vec3<f64>,
    /// Velocity of a relative to b at the contact point, before and after, m/s, inertial axes.
    pub velocities: [Vec3<f64>; 2],
    /// Work of the impulse on both bodies, J: the change of kinetic energy without the work of
    /// drives.
    pub energy_change: f64,
    /// Ratio of restitution `−u_n⁺/u_n`; 0 without an impulse.
    pub restitution: f64,
    /// Part of the energy loss of a plastic, sticking impact that only friction can dissipate.
    pub kappa: f64,
    /// Least and largest `r_E` of an impact with this tangential impulse.
    pub band: [f64; 2],
    /// Virtual mass `1/W_nn`, kg.
    pub virtual_mass: f64,
}

/// Outcome of the last impact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ImpactStatus {
    /// There was no impact yet.
    #[default]
    None = 0,
    /// There was an impact.
    Impact = 1,
    /// There was an impact, with `r_E` clamped to the nearest admissible value.
    Clamped = 2,
    /// The surfaces were separating.
    Separating = 3,
    /// The frames were out of reach.
    OutOfReach = 4,
    /// The ratios `r_E` and `r_f` are inconsistent.
    Inconsistent = 5,
    /// The normal impulse would have been adhesive.
    Adhesive = 6,
    /// The contact cannot move along its normal, or the impulse could not be computed.
    Unsolved = 7,
    /// The contact is coupled to simultaneous ones, and one of them has friction.
    Coupled = 8,
}

impl ImpactStatus {
    /// Returns true if there was an impact.
    pub fn is_impact(self) -> bool {
        matches!(self, Self::Impact | Self::Clamped)
    }
}

impl ImpactReport {
    /// Number of values of a report.
    pub const COUNT: usize = 21;

    /// Returns names, units and descriptions of the values.
    pub fn quantities(contact: &Contact) -> Vec<Quantity> {
        let (name, [a, b]) = (&contact.name, &contact.names);
        let number = |field: &str, unit, what: &str| {
            let what = format!("{what}, last impact of contact {name}");
            Quantity::new(format!("{name}.{field}"), unit, what)
        };
        let vector = |field: &str, unit, what: &str| {
            let what = format!("{what}, last impact of contact {name}, inertial axes");
            Quantity::vector(&format!("{name}.{field}"), unit, &what)
        };
        let outcome = "outcome: 0 no impact yet, 1 impact, 2 impact with r_E clamped; refused: 3 separating, 4 out of reach or beams inclined, 5 \
            r_E and r_f inconsistent, 6 adhesive impulse, 7 no response to an impulse or no solution, 8 coupled contacts with \
            friction";
        let mut quantities = vec![
            number("status", Unit::One, outcome),
            Quantity::new(
                format!("{name}.count"),
                Unit::One,
                format!("number of impacts of contact {name} since the start"),
            ),
            Quantity::new(
                format!("{name}.time"),
                Unit::Second,
                format!("time of the last impact of contact {name}, also of a refused one"),
            ),
        ];
        quantities.extend(vector("impulse", Unit::NewtonSecond, &format!("impulse on {a}")));
        let about = format!("moment impulse on {a} about the contact point (capture_grasp only)");
        quantities.extend(vector("moment_impulse", Unit::NewtonMetreSecond, &about));
        let relative = format!("velocity of {a} relative to {b} at the contact point");
        for (field, when) in [("velocity_before", "before"), ("velocity_after", "after")] {
            quantities.extend(vector(
                field,
                Unit::MetrePerSecond,
                &format!("{relative}, {when} the impulse"),
            ));
        }
        quantities.extend([
            number(
                "energy_change",
                Unit::Joule,
                "work of the impulse on both bodies: change of kinetic energy without the work of drives",
            ),
            number(
                "restitution",
                Unit::One,
                "ratio of restitution: normal velocity after the impulse over that before it, negated",
            ),
            number(
                "kappa",
                Unit::One,
                "kappa: part of the energy loss of a plastic, sticking impact that only friction can dissipate",
            ),
            number(
                "r_E_min",
                Unit::One,
                "smallest admissible r_E with this tangential impulse",
            ),
            number(
                "r_E_max",
                Unit::One,
                "largest admissible r_E with this tangential impulse",
            ),
            number(
                "virtual_mass",
                Unit::Kilogram,
                "virtual mass 1/W_nn: effective mass along the normal",
            ),
        ]);
        assert_eq!(quantities.len(), Self::COUNT, "one quantity for each value");
        quantities
    }

    /// Declares the values as outputs.
    pub fn outputs(contact: &Contact, to: &mut Outputs) {
        let mut quantities = Self::quantities(contact).into_iter();
        // The outcome and the number of impacts.
        quantities.by_ref().take(2).for_each(|quantity| to.count(quantity));
        to.discrete(quantities);
    }

    /// Creates a report without an impulse.
    pub fn blank(status: ImpactStatus, count: f64, time: f64) -> Self {
        Self {
            status,
            count,
            time,
            ..Self::default()
        }
    }

    /// Sets the quantities that the response at the contact determines, for the tangential impulse
    /// `r_f` relative to that of a sticking impact.
    pub fn set_response(&mut self, point: &PointImpact, r_f: f64, tangential: Tangential) {
        self.kappa = point.kappa();
        self.band = point.admissible(r_f, tangential);
        self.virtual_mass = point.virtual_mass();
    }
}

impl ImpactStatus {
    const ALL: [Self; 9] = [
        Self::None,
        Self::Impact,
        Self::Clamped,
        Self::Separating,
        Self::OutOfReach,
        Self::Inconsistent,
        Self::Adhesive,
        Self::Unsolved,
        Self::Coupled,
    ];
}

impl Stored for ImpactStatus {
    fn write(&self, to: &mut impl FnMut(f64)) {
        (*self as i32).write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        let number = i32::read(next)?;
        Self::ALL.into_iter().find(|status| *status as i32 == number)
    }
}

/// Values are stored in the order of [`quantities`](ImpactReport::quantities).
impl Stored for ImpactReport {
    fn write(&self, to: &mut impl FnMut(f64)) {
        self.status.write(to);
        self.count.write(to);
        self.time.write(to);
        self.impulse.write(to);
        self.moment_impulse.write(to);
        self.velocities.iter().for_each(|velocity| velocity.write(to));
        self.energy_change.write(to);
        self.restitution.write(to);
        self.kappa.write(to);
        self.band.iter().for_each(|ratio| ratio.write(to));
        self.virtual_mass.write(to);
    }

    fn read(next: &mut impl FnMut() -> f64) -> Option<Self> {
        Some(Self {
            status: ImpactStatus::read(next)?,
            count: f64::read(next)?,
            time: f64::read(next)?,
            impulse: Vec3::read(next)?,
            moment_impulse: Vec3::read(next)?,
            velocities: [Vec3::read(next)?, Vec3::read(next)?],
            energy_change: f64::read(next)?,
            restitution: f64::read(next)?,
            kappa: f64::read(next)?,
            band: [f64::read(next)?, f64::read(next)?],
            virtual_mass: f64::read(next)?,
        })
    }
}
