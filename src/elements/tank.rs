use super::{Compiler, Cursor, Discrete, Element, EventContext, Invariance, Outputs, Values, View, report};
use crate::Problem;
use crate::algebra::{Scalar, Vec3, Wrench, lift3};
use crate::event::{Amount, Event, Occurrence};
use crate::spec::{Spec, at};
use crate::system::{Bound, ParamId, Quantity, System, Unit};

/// Liquid of a tank: its wrench on the body that carries it and its mass centre, as outputs. Its
/// masses are bodies, and loads of their joints restore and damp those that slosh. Thrusters may draw
/// from the part that moves with the carrier ([`Supply`](super::Supply)), until it is empty.
#[derive(Clone, Debug)]
pub(crate) struct Tank {
    /// Name in the spec.
    name: String,
    /// Index of the body that carries it.
    carrier: usize,
    /// Position of its origin, m, from the carrier's origin in the carrier's axes.
    position: Vec3<f64>,
    /// Indices of the bodies of the liquid.
    bodies: Vec<usize>,
    /// Propellant that thrusters draw.
    propellant: Option<Propellant>,
}

/// Propellant of a tank, whose mass is a state.
#[derive(Clone, Debug)]
struct Propellant {
    /// Index among the tanks from which thrusters draw.
    number: usize,
    /// Index of its body.
    body: usize,
    /// Mass that thrusters cannot draw, kg.
    residual: ParamId,
    /// Names of the thrusters that draw from it.
    thrusters: Vec<String>,
}

/// Mass above the residual, as a part of the mass at the start, at which a tank counts as empty: an
/// importer stops slightly before or after the indicator's zero.
const EMPTY: f64 = 1e-9;

impl Propellant {
    /// Returns the propellant of a tank and declares its parameter; `None` if no thruster draws.
    fn declare(from: &mut Compiler, name: &str, written: &crate::spec::Tank) -> Option<Self> {
        let (number, body) = from.system.propellant_of(name)?;
        let draws = |of: &(&String, &crate::spec::Thruster)| of.1.tank.as_deref() == Some(name);
        let what = format!("propellant of tank {name} that thrusters cannot draw");
        let quantity = Quantity::new(format!("{name}.residual"), Unit::Kilogram, what).bounded(Bound::NotNegative);
        let value = written.residual.unwrap_or(0.0);
        Some(Self {
            number,
            body,
            residual: from
                .declare
                .parameter(quantity, value, false, &at("tank", name, "residual")),
            thrusters: from
                .spec
                .thruster
                .iter()
                .filter(draws)
                .map(|(thruster, _)| thruster.clone())
                .collect(),
        })
    }
}

impl Tank {
    /// Returns true if thrusters draw from it.
    pub fn is_drawn(&self) -> bool {
        self.propellant.is_some()
    }

    /// Returns the quantity of the mass of the propellant, a state.
    pub fn propellant_quantity(&self) -> Quantity {
        let what = format!("mass of the propellant that thrusters draw from tank {}", self.name);
        Quantity::new(format!("{}.propellant", self.name), Unit::Kilogram, what)
    }
}

impl Element for Tank {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let system = from.system;
        let spec = from.spec;
        let tank = |(name, written): (&String, &crate::spec::Tank)| {
            let parts = written.parts(name);
            let is_part = |body: &usize| parts.iter().any(|[part, _]| *part == system.bodies[*body].name);
            Some(Self {
                name: name.clone(),
                carrier: system.bodies.iter().position(|body| body.name == written.body)?,
                position: written.position.into(),
                bodies: (0..system.bodies.len()).filter(is_part).collect(),
                propellant: Propellant::declare(from, name, written),
            })
        };
        spec.tank.iter().filter_map(tank).collect()
    }

    /// Reports a residual that is not below the mass at the start.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let Some(propellant) = &self.propellant else { return };
        let (m, residual) = (of.derived.bodies[propellant.body].m, propellant.residual.of(of.values));
        if residual >= m {
            let what = format!("{residual} kg is not below the mass of the propellant, {m} kg");
            report(of.declared, propellant.residual, problems, what);
        }
    }

    fn outputs(&self, spec: &Spec, _: &System, to: &mut Outputs) {
        let (name, carrier) = (&self.name, &spec.tank[&self.name].body);
        let mut vector = |field: &str, unit, invariance, what: String| {
            let what = format!("{what}, axes of {carrier}");
            to.invariant(invariance, Quantity::vector(&format!("{name}.{field}"), unit, &what));
        };
        let force = format!("force of the liquid of tank {name} on {carrier}");
        vector("force", Unit::Newton, Invariance::Galilean, force);
        let moment = format!("moment of the liquid of tank {name} on {carrier}, about the tank's origin");
        vector("moment", Unit::NewtonMetre, Invariance::Galilean, moment);
        let centre = format!("mass centre of the liquid of tank {name}, from the tank's origin");
        vector("mass_centre", Unit::Metre, Invariance::Objective, centre);
        if self.is_drawn() {
            let what = format!("mass flow from tank {name} to its thrusters");
            let flow = Quantity::new(format!("{name}.mass_flow"), Unit::KilogramPerSecond, &what);
            to.continuous([flow]);
            let what = format!("true once thrusters have drawn all propellant of tank {name} but the residual");
            to.flag(
                Quantity::new(format!("{name}.empty"), Unit::One, what),
                std::iter::empty(),
            );
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let R_WP = now.kinematics.bodies[self.carrier].R_WB;
        // The centre of a single mass does not depend on the mass, which may be zero.
        let is_single = self.bodies.len() == 1;
        let (mut F, mut moment, mut mass) = (Wrench::zero(), Vec3::zeros(), S::zero());
        for &body in &self.bodies {
            let (at, constants) = (&now.kinematics.bodies[body], &now.derived.bodies[body]);
            let r = at.r_PB_W - R_WP * lift3::<S>(&self.position);
            F = F - view.transmitted(body).shift(&r);
            let m = S::lift(constants.m);
            let fill = now.kinematics.fill(now.system, body).filter(|_| !is_single);
            let fill = fill.unwrap_or_else(S::one);
            moment += (r * m + at.R_WB * lift3::<S>(&constants.h)) * fill;
            mass += m * fill;
        }
        y.wrench(&F.express(&R_WP.transpose()));
        y.vector(&(R_WP.tr_mul(&moment) * (S::one() / mass)));
        if let Some(propellant) = &self.propellant {
            let flows = view.elements.flows(now);
            let own = flows.filter(|(supply, _)| supply.number == propellant.number);
            y.number(own.fold(S::zero(), |sum, (_, flow)| sum + flow));
            y.flag(view.discrete.empty[propellant.number]);
        }
    }

    fn indicator_count(&self) -> usize {
        usize::from(self.is_drawn())
    }

    /// Writes the mass that thrusters can still draw, kg.
    fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut Cursor<f64>) {
        if let Some(propellant) = &self.propellant {
            let left = now.masses[propellant.number] - propellant.residual.of(now.sensed.parameters);
            z.number(if discrete.empty[propellant.number] { 1.0 } else { left });
        }
    }

    fn update(&self, now: &EventContext, discrete: &mut Discrete, events: &mut Vec<Event>) -> bool {
        let Some(propellant) = &self.propellant else {
            return false;
        };
        let empty = &mut discrete.empty[propellant.number];
        let (mass, start) = (
            now.masses[propellant.number],
            now.sensed.derived.bodies[propellant.body].m,
        );
        if *empty || mass - propellant.residual.of(now.sensed.parameters) > EMPTY * start {
            return false;
        }
        *empty = true;
        let what = Occurrence::TankEmpty {
            tank: self.name.clone(),
            mass: Amount {
                value: mass,
                unit: Unit::Kilogram,
            },
            thrusters: propellant.thrusters.clone(),
        };
        events.push(Event { t: now.t, what });
        true
    }
}
