//! Tanks: liquids that slosh, as bodies on joints.

mod cylinder;

pub use cylinder::Cylinder;

use super::joint::from_z;
use super::{
    Body, FrameField, Inertia, Joint, JointStart, JointType, PerAxis, Range, Report, Spec, Spring, Stop, Table, names,
    unknown,
};
use crate::algebra::{Vec3, direction};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_4, TAU};

/// Radius of gyration of a point mass: formulations in maximal coordinates need an inertia. A
/// pendulum's is relative to its length; it changes the frequency by 5e-9.
const GYRATION: f64 = 1e-3;
const GYRATION_OF_PENDULUM: f64 = 1e-4;

/// Inertia of the liquid in a cylinder about its axis, relative to `m r²`: an ideal liquid does not
/// turn with the tank.
const ROLL: f64 = 1e-6;

/// Liquid in a tank: a part that moves with the body, from which thrusters may draw, and a point mass
/// for each mode of sloshing, on a pendulum or on springs (an equivalent mechanical model).
///
/// It is shorthand for a body `<tank>_liquid` on a fixed joint `<tank>_rigid`, and for each mode a
/// body `<tank>_<mode>_mass` on a joint `<tank>_<mode>`: universal for a pendulum, rectangular,
/// prismatic or cartesian for a mass on springs. Outputs: `<tank>.force[1..3]` (N) and
/// `<tank>.moment[1..3]` (N·m), exerted by the liquid on the body, and `<tank>.mass_centre[1..3]`
/// (m).
///
/// The modes are those of a `cylinder`, or the tables `[tank.<name>.mode.<mode>]`; a tank without
/// modes has the part `rigid` only.
///
/// If thrusters draw from the tank (their `tank`), the mass of the part that moves with the body is a
/// state, `<tank>.propellant` (kg); its mass centre and radii of gyration, and the masses that slosh,
/// are constant. Further outputs are then `<tank>.mass_flow` (kg/s) and the flag `<tank>.empty`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tank {
    /// Rigid body that carries the tank. Its mass and inertia do not include the liquid.
    pub body: String,
    /// Origin of the tank, m, from the body's origin in body axes: heights are measured from it.
    /// Default `[0, 0, 0]`.
    #[serde(default)]
    pub position: [f64; 3],
    /// Axis of the tank, body axes: the direction of the acceleration by thrust, opposite to
    /// gravity. Heights are measured along it. Any length but zero. Default `[0, 0, 1]`.
    #[serde(default = "super::default::z")]
    pub axis: [f64; 3],
    /// Type of the equivalent model. Required with modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SloshModel>,
    /// Acceleration along `axis`, m/s², positive: that by thrust, or gravity. It determines the
    /// stiffness of the springs of a `cylinder`, and the damping constant of a pendulum. Required
    /// there, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceleration: Option<f64>,
    /// Cylinder from whose geometry all modes and the part that moves with the body are computed.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cylinder: Option<Cylinder>,
    /// Part of the liquid that moves with the body; not with a `cylinder`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rigid: Option<RigidLiquid>,
    /// Mass of the part that moves with the body that thrusters cannot draw, kg, not negative, below
    /// its mass. Only if a thruster draws from the tank. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// Modes, by any name; not with a `cylinder`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub mode: IndexMap<String, SloshMode>,
    /// Initial displacements of modes, by their names. Default: at rest.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub start: IndexMap<String, SloshStart>,
}

/// Initial displacement and rate of a mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SloshStart {
    /// Displacement: a pendulum's two angles, rad, or the distances in the directions of a mass on
    /// springs, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<PerAxis>,
    /// Its rate, rad/s or m/s. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PerAxis>,
}

/// Equivalent model of a sloshing liquid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SloshModel {
    /// Point masses on pendulums. The frequency follows the acceleration; without acceleration
    /// nothing restores the liquid. When an angle leaves ±45° this is reported, as for the range of
    /// a joint: the theory is linear.
    Pendulum,
    /// Point masses on springs. The frequency is constant, also in weightlessness, where surface
    /// tension or a diaphragm restores the liquid.
    SpringMass,
}

/// Part of a liquid that moves with the body of its tank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RigidLiquid {
    /// Mass, kg, positive.
    pub mass: f64,
    /// Height of its mass centre, m. Default 0.
    #[serde(default)]
    pub height: f64,
    /// Inertia about its mass centre, kg·m², positive: across the tank's axis, and about it. The
    /// second is at most twice the first.
    pub inertia: [f64; 2],
}

/// Mode of a sloshing liquid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SloshMode {
    /// Mass, kg, positive.
    pub mass: f64,
    /// Height of the mass at rest, m. A pendulum's hinge is above it by `length`. Default 0.
    #[serde(default)]
    pub height: f64,
    /// Length of a pendulum, m, positive. Required for it, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Frequency of a mass on springs without damping, with the body held, Hz, positive. Required
    /// for it, or `stiffness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<f64>,
    /// Stiffness of the springs in each direction in place of `frequency`, N/m, positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Directions in which a mass on springs moves. Default `lateral`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directions: Option<SloshDirections>,
    /// Damping ratio with the body held, not negative, below 1. Default 0.
    #[serde(default)]
    pub damping_ratio: f64,
}

/// Directions in which a sloshing mass on springs moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SloshDirections {
    /// The two directions across the tank's axis.
    Lateral,
    /// Along the tank's axis.
    Axial,
    /// All three directions, with the same stiffness.
    All,
}

impl SloshDirections {
    /// Returns the number of directions.
    fn number(self) -> usize {
        match self {
            Self::Axial => 1,
            Self::Lateral => 2,
            Self::All => 3,
        }
    }
}

/// Point mass of a mode.
struct Slosher {
    mode: String,
    mass: f64,
    height: f64,
    on: Suspension,
    /// Damping constant, N·m·s/rad or N·s/m; `None` without damping.
    damping: Option<f64>,
    /// Largest displacement, m, of a mass on springs.
    limit: Option<f64>,
}

/// Suspension of a point mass.
enum Suspension {
    /// Pendulum of a length, m.
    Pendulum(f64),
    /// Springs of a stiffness, N/m.
    Springs(f64, SloshDirections),
}

impl Tank {
    /// Returns the name of the body of the liquid that moves with the tank, and of its joint.
    fn rigid_names(tank: &str) -> [String; 2] {
        [format!("{tank}_liquid"), format!("{tank}_rigid")]
    }

    /// Returns the name of the body of the liquid that moves with the tank.
    pub(crate) fn liquid(tank: &str) -> String {
        let [body, _] = Self::rigid_names(tank);
        body
    }

    /// Returns true if a part of the liquid moves with the tank.
    pub(crate) fn has_propellant(&self) -> bool {
        self.rigid.is_some() || self.cylinder.is_some()
    }

    /// Returns the names of a mode's body and joint.
    fn mode_names(tank: &str, mode: &str) -> [String; 2] {
        [format!("{tank}_{mode}_mass"), format!("{tank}_{mode}")]
    }

    /// Returns the names of all modes.
    fn modes(&self) -> impl Iterator<Item = String> {
        // Their number may be invalid here.
        let of_cylinder = self
            .cylinder
            .as_ref()
            .map_or(0, |cylinder| cylinder.modes.min(cylinder::MODES));
        (1..=of_cylinder)
            .map(|n| format!("mode{n}"))
            .chain(self.mode.keys().cloned())
    }

    /// Returns the names of all bodies with those of their joints.
    pub(crate) fn parts(&self, tank: &str) -> Vec<[String; 2]> {
        let rigid = self.has_propellant().then(|| Self::rigid_names(tank));
        let modes = self.modes().map(|mode| Self::mode_names(tank, &mode));
        rigid.into_iter().chain(modes).collect()
    }

    /// Returns the part that moves with the body.
    fn rest(&self) -> Option<RigidLiquid> {
        let of_cylinder = |cylinder: &Cylinder| {
            let rest = cylinder.rest();
            RigidLiquid {
                mass: rest.mass,
                height: rest.height,
                inertia: [rest.across, ROLL * cylinder.mass * cylinder.radius * cylinder.radius],
            }
        };
        self.cylinder.as_ref().map(of_cylinder).or_else(|| self.rigid.clone())
    }

    /// Returns the point masses.
    fn sloshers(&self) -> Vec<Slosher> {
        let g = self.acceleration.unwrap_or(0.0);
        let Some(cylinder) = &self.cylinder else {
            return self.mode.iter().map(|(name, mode)| mode.slosher(name, g)).collect();
        };
        let mode = |(n, mode): (usize, cylinder::Lateral)| {
            let given = SloshMode {
                mass: mode.mass,
                height: mode.height,
                length: (self.model == Some(SloshModel::Pendulum)).then_some(mode.length),
                frequency: None,
                stiffness: (self.model == Some(SloshModel::SpringMass)).then_some(mode.mass * g / mode.length),
                directions: None,
                damping_ratio: cylinder.damping_ratio,
            };
            let mut slosher = given.slosher(&format!("mode{}", n + 1), g);
            slosher.limit = (self.model == Some(SloshModel::SpringMass)).then_some(cylinder.radius);
            slosher
        };
        cylinder.lateral().into_iter().enumerate().map(mode).collect()
    }

    /// Reports a residual outside its range, or without a thruster that draws.
    fn check_residual(&self, spec: &Spec, report: &mut Report) {
        let Some(residual) = self.residual else { return };
        // A table does not have its own name.
        let is_drawn = spec.drawn_tanks().any(|name| std::ptr::eq(&spec.tank[name], self));
        let mass = self.rest().map(|rest| rest.mass);
        if !is_drawn {
            report.add(
                "residual",
                "no thruster draws from this tank: write `tank` in a [thruster.<name>], or leave it out",
            );
        } else if residual < 0.0 {
            report.add("residual", format!("{residual} is negative"));
        } else if mass.is_some_and(|mass| residual >= mass) {
            let what = format!(
                "{residual} kg is not below the mass of the propellant, {} kg",
                mass.unwrap_or(0.0)
            );
            report.add("residual", what);
        }
    }

    /// Returns true if the constants depend on `acceleration`.
    fn needs_acceleration(&self) -> bool {
        let modes = self.mode.values().map(|mode| mode.damping_ratio);
        let mut ratios = modes.chain(self.cylinder.iter().map(|cylinder| cylinder.damping_ratio));
        match self.model {
            Some(SloshModel::Pendulum) => ratios.any(|ratio| ratio != 0.0),
            Some(SloshModel::SpringMass) => self.cylinder.is_some(),
            None => false,
        }
    }
}

impl SloshStart {
    fn of_joint(&self) -> JointStart {
        JointStart {
            position: self.position.clone(),
            rate: self.rate.clone(),
            ..JointStart::default()
        }
    }

    /// Reports lists of another number of values than the `directions` of the mode.
    fn check(&self, name: &str, directions: usize, report: &mut Report) {
        for (field, value) in [("position", &self.position), ("rate", &self.rate)] {
            match value {
                Some(PerAxis::Each(list)) if list.len() != directions => {
                    let what = format!("{} numbers, but the mode moves in {directions} directions", list.len());
                    report.add(format!("start.{name}.{field}"), what);
                }
                _ => {}
            }
        }
    }
}

impl SloshMode {
    /// Returns the point mass; `g` is the acceleration, m/s².
    fn slosher(&self, name: &str, g: f64) -> Slosher {
        let m = self.mass;
        let (on, critical) = match self.length {
            Some(length) => (
                Suspension::Pendulum(length),
                2.0 * m * length * length * (g / length).sqrt(),
            ),
            None => {
                let frequency = TAU * self.frequency.unwrap_or(0.0);
                let stiffness = self.stiffness.unwrap_or(m * frequency * frequency);
                let directions = self.directions.unwrap_or(SloshDirections::Lateral);
                (Suspension::Springs(stiffness, directions), 2.0 * (m * stiffness).sqrt())
            }
        };
        Slosher {
            mode: name.to_owned(),
            mass: m,
            height: self.height,
            on,
            damping: (self.damping_ratio > 0.0).then_some(self.damping_ratio * critical),
            limit: None,
        }
    }

    /// Reports values outside their ranges and fields that the model does not have.
    fn check(&self, name: &str, model: Option<SloshModel>, report: &mut Report) {
        let field = |field: &str| format!("mode.{name}.{field}");
        if let Some(what) = names::objection(name) {
            report.add(format!("mode.{name}"), what);
        }
        let numbers = [
            ("mass", Some(self.mass)),
            ("length", self.length),
            ("frequency", self.frequency),
            ("stiffness", self.stiffness),
        ];
        for (of, value) in numbers {
            if let Some(value) = value.filter(|value| *value <= 0.0) {
                report.add(field(of), format!("{value} is not positive"));
            }
        }
        damping(self.damping_ratio, &field("damping_ratio"), report);
        match model {
            None => {}
            Some(SloshModel::Pendulum) => {
                if self.length.is_none() {
                    report.add(field("length"), "a pendulum needs its length (m)");
                }
                let of_springs = [
                    ("frequency", self.frequency.is_some()),
                    ("stiffness", self.stiffness.is_some()),
                    ("directions", self.directions.is_some()),
                ];
                for (of, _) in of_springs.into_iter().filter(|(_, written)| *written) {
                    report.add(
                        field(of),
                        "it is of springs: write model = \"spring_mass\", or leave it out",
                    );
                }
            }
            Some(SloshModel::SpringMass) => {
                if self.length.is_some() {
                    report.add(
                        field("length"),
                        "it is of a pendulum: write model = \"pendulum\", or leave it out",
                    );
                }
                if self.frequency.is_some() == self.stiffness.is_some() {
                    report.add(
                        format!("mode.{name}"),
                        "write either `frequency` (Hz) or `stiffness` (N/m)",
                    );
                }
            }
        }
    }
}

/// Reports a damping ratio outside its range.
fn damping(ratio: f64, field: &str, report: &mut Report) {
    if !(0.0..1.0).contains(&ratio) {
        let hint = match (1.0..100.0).contains(&ratio) {
            true => format!(": it is a fraction, {ratio} % is {}", ratio / 100.0),
            false => String::new(),
        };
        report.add(field.to_owned(), format!("{ratio} is not from 0 to below 1{hint}"));
    }
}

impl Table for Tank {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("body", &self.body)]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        super::on_rigid_body(spec, "a tank", &self.body, report);
        if direction(&self.axis.into()).is_none() {
            report.add("axis", "the axis has zero length");
        }
        match self.acceleration {
            Some(g) if g <= 0.0 => report.add("acceleration", format!("{g} is not positive")),
            Some(_) if !self.needs_acceleration() => {
                report.add("acceleration", "nothing depends on it here: leave it out");
            }
            None if self.needs_acceleration() => {
                let what = match self.model {
                    Some(SloshModel::Pendulum) => {
                        "the damping of a pendulum needs the acceleration by thrust or gravity (m/s²)"
                    }
                    _ => {
                        "the springs need the acceleration by thrust or gravity (m/s²); in weightlessness write modes \
                         with their `frequency`"
                    }
                };
                report.add("acceleration", what);
            }
            _ => {}
        }
        match &self.cylinder {
            Some(cylinder) => {
                cylinder.check(report);
                if self.rigid.is_some() || !self.mode.is_empty() {
                    let field = if self.rigid.is_some() { "rigid" } else { "mode" };
                    report.add(field, "the cylinder determines it: leave it or `cylinder` out");
                }
            }
            None if self.mode.is_empty() && self.rigid.is_none() => {
                report.add(
                    "mode",
                    "a tank has a `cylinder`, modes [tank.<name>.mode.<mode>], or a part `rigid`",
                );
            }
            None => {}
        }
        self.check_residual(spec, report);
        if let Some(rigid) = &self.rigid {
            let [across, along] = rigid.inertia;
            if rigid.mass <= 0.0 {
                report.add("rigid.mass", format!("{} is not positive", rigid.mass));
            }
            if across <= 0.0 || along <= 0.0 || along > 2.0 * across * (1.0 + 1e-9) {
                let what =
                    "no body has this inertia: both numbers are positive, and the second is at most twice the first";
                report.add("rigid.inertia", what);
            }
        }
        let has_modes = self.cylinder.is_some() || !self.mode.is_empty();
        match self.model {
            None if has_modes => report.add("model", "the modes need it: \"pendulum\" or \"spring_mass\""),
            Some(_) if !has_modes && self.rigid.is_some() => {
                report.add("model", "it is of modes, and the tank has none: leave it out");
            }
            _ => {}
        }
        for (name, mode) in &self.mode {
            mode.check(name, self.model, report);
        }
        let names: Vec<String> = self.modes().collect();
        for (name, start) in &self.start {
            if names.contains(name) {
                let directions = self.mode.get(name).and_then(|mode| mode.directions);
                start.check(name, directions.unwrap_or(SloshDirections::Lateral).number(), report);
            } else {
                report.add(format!("start.{name}"), unknown("mode", name, names.iter()));
            }
        }
    }
}

impl Spec {
    /// Returns the names of the tanks from which thrusters draw, in the order of the tables.
    pub(crate) fn drawn_tanks(&self) -> impl Iterator<Item = &String> {
        let is_drawn = |tank: &&String| self.thruster.values().any(|of| of.tank.as_ref() == Some(*tank));
        self.tank.keys().filter(is_drawn)
    }

    /// Adds the bodies and joints of all tanks.
    pub(super) fn add_tanks(&mut self) {
        for (name, tank) in std::mem::take(&mut self.tank) {
            let up = Vec3::from(tank.axis).normalize();
            let joint = |kind, child: &str, height: f64| Joint {
                origin: (Vec3::from(tank.position) + up * height).into(),
                orientation: Some(from_z(tank.axis)),
                ..Joint::between(kind, &tank.body, child)
            };
            let mut add = |[body, joint]: [String; 2], of: Body, by: Joint| {
                self.body.insert(body, of);
                self.joint.insert(joint, by);
            };
            if let Some(rest) = tank.rest() {
                let names = Tank::rigid_names(&name);
                let [across, along] = rest.inertia;
                let by = joint(JointType::Fixed, &names[0], 0.0);
                add(names, point(rest.mass, rest.height, [across, across, along]), by);
            }
            for slosher in tank.sloshers() {
                let names = Tank::mode_names(&name, &slosher.mode);
                let (body, mut by) = slosher.expand(|kind, height| joint(kind, &names[0], height));
                by.start = tank.start.get(&slosher.mode).map(|start| Box::new(start.of_joint()));
                add(names, body, by);
            }
            self.tank.insert(name, tank);
        }
    }
}

/// Returns a body with its mass centre on the axis z, m, and its moments of inertia, kg·m².
fn point(mass: f64, height: f64, inertia: [f64; 3]) -> Body {
    Body {
        mass: Some(mass),
        mass_centre: [0.0, 0.0, height],
        inertia: Some(Inertia::Diagonal(inertia)),
        ..Body::default()
    }
}

impl Slosher {
    /// Returns the point mass as a body and its joint, from a function that returns a joint of a type
    /// at a height, m.
    fn expand(&self, joint: impl FnOnce(JointType, f64) -> Joint) -> (Body, Joint) {
        let m = self.mass;
        let damping = self.damping.map(PerAxis::All);
        let within = |limit: f64| {
            Some(Box::new(Range {
                min: Some(PerAxis::All(-limit)),
                min_deg: None,
                max: Some(PerAxis::All(limit)),
                max_deg: None,
                stop: Stop::None,
                stiffness: None,
                damping: None,
            }))
        };
        match self.on {
            Suspension::Pendulum(length) => {
                let gyration = GYRATION_OF_PENDULUM * length;
                let by = Joint {
                    axis: Some([1.0, 0.0, 0.0]),
                    axis2: Some([0.0, 1.0, 0.0]),
                    damping,
                    range: within(FRAC_PI_4),
                    ..joint(JointType::Universal, self.height + length)
                };
                (point(m, -length, [m * gyration * gyration; 3]), by)
            }
            Suspension::Springs(stiffness, directions) => {
                let kind = match directions {
                    SloshDirections::Lateral => JointType::Rectangular,
                    SloshDirections::Axial => JointType::Prismatic,
                    SloshDirections::All => JointType::Cartesian,
                };
                let by = Joint {
                    damping,
                    range: self.limit.and_then(within),
                    spring: Some(Spring {
                        stiffness: PerAxis::All(stiffness),
                        rest: None,
                    }),
                    ..joint(kind, self.height)
                };
                (point(m, 0.0, [m * GYRATION * GYRATION; 3]), by)
            }
        }
    }
}
