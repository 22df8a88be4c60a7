use super::element::{FrameField, Report, Table};
use super::{Blocker, JointType, PerAxis, Spec, unknown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest delay in samples: more is assumed to be an error, and is memory of each saved state.
const LONGEST_DELAY: u32 = 1000;

/// Sensor: measured values as outputs, with bias, noise, scale factor, misalignment, quantisation,
/// saturation, delay and sample time. `docs/sensors.md` describes it.
///
/// A sensor with `sample_time` has discrete outputs, which change at its samples only. Noise is a
/// function of seed, name and number of the sample: a run is reproducible, and a saved state needs
/// no generator. Without `sample_time` outputs are continuous, and only `bias`, `scale_factor` and
/// `misalignment` are possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sensor {
    /// Type: the measured quantities, and the outputs.
    #[serde(rename = "type")]
    pub kind: SensorType,
    /// Frame or body to which the sensor is fixed, in whose axes it measures. Not on an ANCF beam.
    /// Required for `imu`, `gyro`, `accelerometer`, `star_tracker`, `camera` and `range`, and only
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Frame, body or `world` that is measured. Required for `camera` (not on an ANCF beam) and
    /// `range`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Joint that is measured. Required for `encoder`, `resolver` and `force_torque`, and only
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// Periods of a resolver's outputs in one turn of the joint, at least 1. Only for `resolver`.
    /// Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pole_pairs: Option<u32>,
    /// Angle of the cone of view about the z axis of `frame`, from edge to edge, degrees, positive,
    /// at most 180. Required for `camera`, optional for `range`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_of_view_deg: Option<f64>,
    /// Largest distance at which the target is seen, m, positive. Only for `camera` and `range`.
    /// Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_distance: Option<f64>,
    /// Solids that block the line of sight: to the target, or for a `star_tracker` the ray along the z
    /// axis of `frame`. Only for `camera`, `range` and `star_tracker`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<Blocker>,
    /// Time from one sample to the next, s, positive; the first sample is taken at the start time.
    /// Required for `camera`, for `range` with a field of view, a largest distance or solids that block
    /// it, and for `star_tracker` with such solids.
    /// Default: none, the outputs are continuous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_time: Option<f64>,
    /// Delay of the outputs, as a whole number of samples, at most 1000. Only with `sample_time`.
    /// Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<u32>,
    /// Seed of the noise, a whole number from 0 to 2147483647. Only with `sample_time`. A parameter
    /// of the FMU, for campaigns. Sensors of different names have independent noise for one seed.
    /// Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    /// Errors of a gyro (rad/s), accelerometer (m/s²), star tracker (rotation vector in axes of
    /// `frame`, rad), encoder (rad or m), resolver (of sine and cosine) or range (m). Default:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SensorErrors>,
    /// Errors of an IMU's specific force, m/s². Only for `imu`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerometer: Option<SensorErrors>,
    /// Errors of an IMU's angular velocity, rad/s. Only for `imu`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gyro: Option<SensorErrors>,
    /// Errors of a force–torque sensor's force, N. Only for `force_torque`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<SensorErrors>,
    /// Errors of a force–torque sensor's moment, N·m. Only for `force_torque`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<SensorErrors>,
    /// Errors of a camera's position, m, axes of `frame`. Only for `camera`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<SensorErrors>,
    /// Errors of a camera's attitude: rotation vector in axes of `target`, rad. Only for `camera`.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attitude: Option<SensorErrors>,
}

/// Type of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SensorType {
    /// Specific force `<sensor>.f[1..3]` (acceleration less gravity, m/s²) and angular velocity
    /// `<sensor>.w[1..3]` (rad/s) of a frame in the inertial system, in its axes.
    Imu,
    /// Angular velocity `<sensor>.w[1..3]` of a frame, rad/s, its axes.
    Gyro,
    /// Specific force `<sensor>.f[1..3]` at the origin of a frame, m/s², its axes.
    Accelerometer,
    /// Attitude `<sensor>.q[1..4]` of a frame, quaternion (w, x, y, z); with `blocked_by` also the flag
    /// `<sensor>.visible`, as for a camera.
    StarTracker,
    /// Coordinates of a joint, `<sensor>.q` or, for a joint with several, `<sensor>.q[1..]`, rad or
    /// m.
    Encoder,
    /// Sine and cosine `<sensor>.sin`, `<sensor>.cos` of a joint's angle times `pole_pairs`.
    Resolver,
    /// Force `<sensor>.f[1..3]` (N) and moment `<sensor>.t[1..3]` (N·m, about the joint's origin)
    /// that a joint transmits to its child, child axes.
    ForceTorque,
    /// Position `<sensor>.r[1..3]` (m) and attitude `<sensor>.q[1..4]` of a target in axes of a
    /// frame, and the flag `<sensor>.visible`. While the target is not seen, position and attitude
    /// are those seen last; zero and the identity before.
    Camera,
    /// Distance `<sensor>.distance` of the origins of a frame and a target, m; with a field of
    /// view, a largest distance or solids that block it also the flag `<sensor>.visible`, as for a camera.
    Range,
}

/// Errors of a measured quantity: a number for all axes, or one for each.
///
/// ```text
///     y = Q(clip(R(ε)ᵀ x (1 + scale_factor) + bias + b + noise))
/// ```
///
/// with the true value `x`, the rotation `R(ε)` of `misalignment`, the random walk `b`, the limits
/// of `saturation` and the rounding `Q` of `quantisation`. Errors of an attitude are a rotation
/// vector by which the true attitude is turned, in its own axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorErrors {
    /// Constant bias, unit of the quantity. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<PerAxis>,
    /// Relative error of the scale. Not for attitudes. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_factor: Option<PerAxis>,
    /// Rotation vector from the axes of the frame to those of the sensor, rad. Only for vectors
    /// along three axes. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misalignment: Option<[f64; 3]>,
    /// Standard deviation of the white noise of a sample, unit of the quantity, not negative.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<PerAxis>,
    /// Density of white noise, unit of the quantity per √Hz, not negative: the standard deviation
    /// of a sample is that divided by `√sample_time`. For a gyro it is the angle random walk,
    /// rad/√s. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_density: Option<PerAxis>,
    /// Random walk of the bias, unit of the quantity per √s, not negative: from zero at the first
    /// sample its standard deviation grows as `√t`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias_walk: Option<PerAxis>,
    /// Largest magnitude that is measured, unit of the quantity, positive. Not for attitudes.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation: Option<PerAxis>,
    /// Step to whose nearest multiple a value is rounded, unit of the quantity, positive. Not for
    /// attitudes. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantisation: Option<PerAxis>,
}

/// Quantity of a group of a sensor's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measurand {
    /// Numbers with errors of their own.
    Numbers,
    /// Vector along the three axes of a frame.
    Vector,
    /// Attitude, with a rotation vector as error.
    Attitude,
}

impl SensorType {
    /// Returns the word of the spec.
    pub fn name(self) -> &'static str {
        match self {
            Self::Imu => "imu",
            Self::Gyro => "gyro",
            Self::Accelerometer => "accelerometer",
            Self::StarTracker => "star_tracker",
            Self::Encoder => "encoder",
            Self::Resolver => "resolver",
            Self::ForceTorque => "force_torque",
            Self::Camera => "camera",
            Self::Range => "range",
        }
    }

    /// Returns the fields of its tables of errors, with their quantities, in the order of the
    /// outputs.
    pub(crate) fn groups(self) -> &'static [(&'static str, Measurand)] {
        use Measurand::{Attitude, Numbers, Vector};
        match self {
            Self::Imu => &[("accelerometer", Vector), ("gyro", Vector)],
            Self::Gyro | Self::Accelerometer => &[("error", Vector)],
            Self::StarTracker => &[("error", Attitude)],
            Self::Encoder | Self::Resolver | Self::Range => &[("error", Numbers)],
            Self::ForceTorque => &[("force", Vector), ("moment", Vector)],
            Self::Camera => &[("position", Vector), ("attitude", Attitude)],
        }
    }

    fn is_of_joint(self) -> bool {
        matches!(self, Self::Encoder | Self::Resolver | Self::ForceTorque)
    }

    fn has_target(self) -> bool {
        matches!(self, Self::Camera | Self::Range)
    }

    /// Returns true if solids may block its sight.
    fn may_be_blocked(self) -> bool {
        self.has_target() || self == Self::StarTracker
    }
}

impl SensorErrors {
    /// Returns the fields with one number, or one for each axis.
    fn numbers(&self) -> [(&'static str, &Option<PerAxis>); 7] {
        [
            ("bias", &self.bias),
            ("scale_factor", &self.scale_factor),
            ("noise", &self.noise),
            ("noise_density", &self.noise_density),
            ("bias_walk", &self.bias_walk),
            ("saturation", &self.saturation),
            ("quantisation", &self.quantisation),
        ]
    }

    /// Reports fields of the table `group` that do not fit the quantity, its number of axes `n`, or
    /// a sensor that is not sampled.
    fn check(&self, group: &'static str, of: Measurand, n: Option<usize>, is_sampled: bool, report: &mut Report) {
        for (field, value) in self.numbers() {
            let Some(value) = value else { continue };
            if let (PerAxis::Each(values), Some(n)) = (value, n)
                && values.len() != n
            {
                let axes = if n == 1 { "axis" } else { "axes" };
                report.add(group, format!("`{field}` has {} numbers for {n} {axes}", values.len()));
            }
            if of == Measurand::Attitude && ["scale_factor", "saturation", "quantisation"].contains(&field) {
                report.add(group, format!("`{field}` is not for attitudes"));
            }
            let why = match field {
                "noise" | "noise_density" | "bias_walk" => "its values are those of samples",
                "saturation" | "quantisation" => "a continuous output would have kinks or jumps without events",
                _ => continue,
            };
            if !is_sampled {
                report.add(group, format!("`{field}` needs a `sample_time`: {why}"));
            }
        }
        if self.misalignment.is_some() && of != Measurand::Vector {
            report.add(group, "`misalignment` is for vectors along three axes");
        }
    }
}

impl Sensor {
    /// Returns all tables of errors, with their fields.
    fn tables(&self) -> [(&'static str, &Option<SensorErrors>); 7] {
        [
            ("error", &self.error),
            ("accelerometer", &self.accelerometer),
            ("gyro", &self.gyro),
            ("force", &self.force),
            ("moment", &self.moment),
            ("position", &self.position),
            ("attitude", &self.attitude),
        ]
    }

    /// Returns the table of errors of a field.
    pub(crate) fn errors(&self, field: &str) -> Option<&SensorErrors> {
        let mut tables = self.tables().into_iter();
        tables.find(|(known, _)| *known == field)?.1.as_ref()
    }

    /// Returns true if the target may be out of sight.
    pub(crate) fn has_sight(&self) -> bool {
        self.field_of_view_deg.is_some() || self.max_distance.is_some() || !self.blocked_by.is_empty()
    }

    /// Returns true if it reads the reaction of the joint.
    pub(crate) fn reads_reaction(&self, joint: &str) -> bool {
        self.kind == SensorType::ForceTorque && self.joint.as_deref() == Some(joint)
    }

    /// Returns the number of axes with errors of a group; `None` if the joint does not exist.
    fn axes(&self, spec: &Spec) -> Option<usize> {
        match self.kind {
            SensorType::Encoder => Some(spec.joint.get(self.joint.as_ref()?)?.kind.rates()),
            SensorType::Resolver => Some(2),
            SensorType::Range => Some(1),
            _ => Some(3),
        }
    }

    /// Reports fields that are missing, and fields that the type does not have.
    fn check_fields(&self, report: &mut Report) {
        let kind = self.kind.name();
        let (of_joint, has_target) = (self.kind.is_of_joint(), self.kind.has_target());
        let fields = [
            ("frame", self.frame.is_some(), !of_joint, !of_joint),
            ("joint", self.joint.is_some(), of_joint, of_joint),
            ("target", self.target.is_some(), has_target, has_target),
            (
                "field_of_view_deg",
                self.field_of_view_deg.is_some(),
                has_target,
                self.kind == SensorType::Camera,
            ),
            ("max_distance", self.max_distance.is_some(), has_target, false),
            (
                "blocked_by",
                !self.blocked_by.is_empty(),
                self.kind.may_be_blocked(),
                false,
            ),
            (
                "pole_pairs",
                self.pole_pairs.is_some(),
                self.kind == SensorType::Resolver,
                false,
            ),
        ];
        for (field, is_written, is_possible, is_required) in fields {
            match is_written {
                true if !is_possible => report.add(field, format!("a sensor of type \"{kind}\" has no `{field}`")),
                false if is_required => report.add("", format!("a sensor of type \"{kind}\" needs a `{field}`")),
                _ => {}
            }
        }
        if self.pole_pairs == Some(0) {
            report.add("pole_pairs", "a resolver has at least one pair of poles");
        }
        if self.frame.is_some() && self.frame == self.target {
            report.add("target", "a sensor does not measure its own frame");
        }
    }

    /// Reports a joint that does not exist or that the type cannot measure.
    fn check_joint(&self, spec: &Spec, report: &mut Report) {
        let Some(name) = self.joint.as_ref().filter(|_| self.kind.is_of_joint()) else {
            return;
        };
        let Some(joint) = spec.joint.get(name) else {
            report.add("joint", unknown("joint", name, spec.joint.keys()));
            return;
        };
        let kind = joint.kind;
        let objection = match self.kind {
            SensorType::Encoder if !kind.has_plain_positions() => {
                "has no coordinates that are angles or lengths: measure its attitude"
            }
            SensorType::Resolver if kind.rates() != 1 || !kind.is_angular(0) => "does not turn about one axis",
            SensorType::ForceTorque if kind == JointType::Free => "is free: it transmits no forces",
            _ => return,
        };
        report.add("joint", format!("joint \"{name}\" {objection}"));
    }

    /// Reports fields that need samples.
    fn check_samples(&self, report: &mut Report) {
        if self.delay.is_some_and(|delay| delay > LONGEST_DELAY) {
            report.add("delay", format!("the delay exceeds {LONGEST_DELAY} samples"));
        }
        if self.sample_time.is_some() {
            return;
        }
        if self.delay.is_some() {
            report.add("delay", "a delay is a number of samples: it needs a `sample_time`");
        }
        if self.seed.is_some() {
            report.add("seed", "a seed is that of samples: it needs a `sample_time`");
        }
        if self.kind.may_be_blocked() && (self.has_sight() || self.kind == SensorType::Camera) {
            let what = "a sensor that may lose sight of its target needs a `sample_time`: it is seen or not at samples";
            report.add("", what);
        }
    }
}

impl Table for Sensor {
    fn frames(&self) -> Vec<FrameField<'_>> {
        let own = self
            .frame
            .iter()
            .map(|frame| FrameField::new("frame", frame).with_axes());
        let target = self.target.iter().map(|target| {
            let field = FrameField::new("target", target).or_world();
            match self.kind {
                SensorType::Camera => field.with_axes(),
                _ => field,
            }
        });
        let blockers = self
            .blocked_by
            .iter()
            .map(|of| FrameField::new("blocked_by", &of.frame));
        own.chain(target).chain(blockers).collect()
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        self.check_fields(report);
        self.check_joint(spec, report);
        self.check_samples(report);
        let ends = [&self.frame, &self.target].map(|name| name.as_deref());
        self.blocked_by.iter().for_each(|of| of.check(spec, ends, report));
        let groups = self.kind.groups();
        for (table, errors) in self.tables() {
            let Some(errors) = errors else { continue };
            match groups.iter().find(|(group, _)| *group == table) {
                Some(&(_, of)) => errors.check(table, of, self.axes(spec), self.sample_time.is_some(), report),
                None => {
                    let known: Vec<String> = groups.iter().map(|(group, _)| format!("`{group}`")).collect();
                    let what = format!(
                        "a sensor of type \"{}\" has no `{table}`: its errors are in {}",
                        self.kind.name(),
                        known.join(" and ")
                    );
                    report.add(table, what);
                }
            }
        }
    }
}
