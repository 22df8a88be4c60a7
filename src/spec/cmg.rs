//! Control moment gyros, as bodies on joints.

use super::{
    Body, FrameField, Inertia, Joint, JointMotion, JointStart, JointType, Motor, PerAxis, Report, Spec, Table, Tracking,
};
use crate::algebra::{Mat3, Quaternion, Vec3, direction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Control moment gyro: a spinning rotor in a gimbal that turns about an axis fixed in a body.
///
/// It is shorthand for a body `<cmg>_frame` on a revolute joint `<cmg>_gimbal`, and on it a body
/// `<cmg>_rotor` on a revolute joint `<cmg>_spin`. Inputs: `<cmg>_gimbal.qd_ref` (rad/s) with
/// `gimbal.rate_gain`, and its feed-forward `<cmg>_gimbal.qdd` (rad/s²), else `<cmg>_gimbal.tau`
/// (N·m); `<cmg>_spin.qdd` (rad/s², 0 keeps the rate), or with `rotor.torque_limit`
/// `<cmg>_spin.tau` (N·m). Outputs: `<cmg>.momentum[1..3]` (N·m·s) and `<cmg>.moment[1..3]` (N·m,
/// on the body). The mass and inertia of the body include neither gimbal nor rotor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cmg {
    /// Rigid body that carries the gyro.
    pub body: String,
    /// Centre of the rotor, m, from the body's origin in body axes. Default `[0, 0, 0]`.
    #[serde(default)]
    pub position: [f64; 3],
    /// Axis of the gimbal, body axes. Any length but zero.
    pub gimbal_axis: [f64; 3],
    /// Axis of the rotor at gimbal angle zero, body axes, perpendicular to `gimbal_axis`. Any length
    /// but zero.
    pub spin_axis: [f64; 3],
    /// Gimbal.
    pub gimbal: Gimbal,
    /// Rotor.
    pub rotor: GyroRotor,
}

/// Gimbal of a control moment gyro.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gimbal {
    /// Mass without the rotor, kg, positive.
    pub mass: f64,
    /// Inertia without the rotor, kg·m², positive, about every axis through the rotor's centre.
    pub inertia: f64,
    /// Initial angle, rad. Default 0.
    #[serde(default)]
    pub angle: f64,
    /// Gain of a drive that prescribes the gimbal's motion, 1/s, positive: `q̈ = rate_gain (q̇_ref −
    /// q̇)`. Default: no drive; a torque turns the gimbal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_gain: Option<f64>,
    /// Viscous friction, N·m·s/rad, not negative. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
}

/// Rotor of a control moment gyro.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GyroRotor {
    /// Mass, kg, positive.
    pub mass: f64,
    /// Inertia about its axis, kg·m², positive.
    pub inertia: f64,
    /// Inertia perpendicular to its axis, kg·m², positive, at least half of `inertia`. Default: half
    /// of `inertia`, as of a thin disc or ring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transverse_inertia: Option<f64>,
    /// Initial rate relative to the gimbal, rad/s; without `torque_limit` for the whole run, unless
    /// the input `<cmg>_spin.qdd` changes it.
    pub rate: f64,
    /// Largest magnitude of the torque of the rotor's motor, N·m, positive: the rate is variable.
    /// Default: a drive keeps the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torque_limit: Option<f64>,
    /// Largest rate, rad/s, positive. Only with `torque_limit`. Default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<f64>,
}

impl Cmg {
    /// Returns the names of gimbal and rotor, each with that of its joint.
    pub(crate) fn parts(name: &str) -> [[String; 2]; 2] {
        [["frame", "gimbal"], ["rotor", "spin"]].map(|names| names.map(|part| format!("{name}_{part}")))
    }

    /// Returns the gimbal as a body and its joint: the gimbal's axis is z, the rotor's x.
    fn gimbal(&self, body: &str) -> (Body, Joint) {
        let of = &self.gimbal;
        let [g, s] = [self.gimbal_axis, self.spin_axis].map(|axis| Vec3::from(axis).normalize());
        // Exactly orthogonal axes: the written ones are so to round-off only.
        let s = (s - g * g.dot(&s)).normalize();
        let attitude = Quaternion::from_rotation(&Mat3::from_columns(&[s, g.cross(&s), g]));
        let joint = Joint {
            origin: self.position,
            orientation: Some(attitude.to_array()),
            damping: of.damping.map(PerAxis::All),
            input: true,
            motion: of.rate_gain.map_or(JointMotion::Loads, |_| JointMotion::Prescribed),
            tracking: of.rate_gain.map(|gain| Tracking {
                kp: PerAxis::All(0.0),
                kd: PerAxis::All(gain),
            }),
            start: Some(Box::new(JointStart {
                position: Some(PerAxis::All(of.angle)),
                ..JointStart::default()
            })),
            ..Joint::between(JointType::Revolute, &self.body, body)
        };
        (solid(of.mass, [of.inertia; 3]), joint)
    }

    /// Returns the rotor as a body, its axis z, and its joint on the gimbal.
    fn rotor(&self, gimbal: &str, body: &str) -> (Body, Joint) {
        let of = &self.rotor;
        let across = of.transverse_inertia.unwrap_or(0.5 * of.inertia);
        let joint = Joint {
            orientation: Some(super::joint::from_z([1.0, 0.0, 0.0])),
            input: true,
            motion: of.torque_limit.map_or(JointMotion::Prescribed, |_| JointMotion::Loads),
            motor: of.torque_limit.map(|limit| Motor {
                torque_limit: PerAxis::All(limit),
                rate_limit: of.rate_limit.map(PerAxis::All),
            }),
            start: Some(Box::new(JointStart {
                rate: Some(PerAxis::All(of.rate)),
                ..JointStart::default()
            })),
            ..Joint::between(JointType::Revolute, gimbal, body)
        };
        (solid(of.mass, [across, across, of.inertia]), joint)
    }
}

/// Returns a body with its moments of inertia, kg·m².
fn solid(mass: f64, inertia: [f64; 3]) -> Body {
    Body {
        mass: Some(mass),
        inertia: Some(Inertia::Diagonal(inertia)),
        ..Body::default()
    }
}

impl Table for Cmg {
    fn frames(&self) -> Vec<FrameField<'_>> {
        vec![FrameField::new("body", &self.body)]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        super::on_rigid_body(spec, "a control moment gyro", &self.body, report);
        let axes = [("gimbal_axis", self.gimbal_axis), ("spin_axis", self.spin_axis)];
        let [gimbal, spin] = axes.map(|(field, axis)| {
            let found = direction(&axis.into());
            if found.is_none() {
                report.add(field, "the axis has zero length");
            }
            found
        });
        if let (Some(gimbal), Some(spin)) = (gimbal, spin)
            && gimbal.dot(&spin).abs() > 1e-6
        {
            report.add("spin_axis", "it is not perpendicular to `gimbal_axis`");
        }
        let (gimbal, rotor) = (&self.gimbal, &self.rotor);
        let positive = [
            ("gimbal.mass", Some(gimbal.mass)),
            ("gimbal.inertia", Some(gimbal.inertia)),
            ("gimbal.rate_gain", gimbal.rate_gain),
            ("rotor.mass", Some(rotor.mass)),
            ("rotor.inertia", Some(rotor.inertia)),
            ("rotor.transverse_inertia", rotor.transverse_inertia),
            ("rotor.torque_limit", rotor.torque_limit),
            ("rotor.rate_limit", rotor.rate_limit),
        ];
        for (field, value) in positive {
            if let Some(value) = value.filter(|value| *value <= 0.0) {
                report.add(field, format!("{value} is not positive"));
            }
        }
        if let Some(damping) = gimbal.damping.filter(|damping| *damping < 0.0) {
            report.add("gimbal.damping", format!("{damping} is negative"));
        }
        let least = 0.5 * rotor.inertia;
        if let Some(across) = rotor.transverse_inertia.filter(|across| *across < least * (1.0 - 1e-9)) {
            let what =
                format!("no rotor has {across} kg·m² across its axis: it is at least half of `inertia`, {least}");
            report.add("rotor.transverse_inertia", what);
        }
        let limited = rotor.torque_limit.is_some();
        match rotor.rate_limit {
            Some(_) if !limited => report.add(
                "rotor.rate_limit",
                "it requires `rotor.torque_limit`: a drive keeps the rate",
            ),
            Some(limit) if limit > 0.0 && rotor.rate.abs() > limit => {
                let what = format!("it starts at {} rad/s, beyond its limit of {limit} rad/s", rotor.rate);
                report.add("rotor.rate", what);
            }
            _ => {}
        }
    }
}

impl Spec {
    /// Adds the bodies and joints of all control moment gyros.
    pub(super) fn add_cmgs(&mut self) {
        for (name, cmg) in &self.cmg {
            let [[frame, gimbal], [rotor, spin]] = Cmg::parts(name);
            let (body, joint) = cmg.gimbal(&frame);
            let (spinning, axle) = cmg.rotor(&frame, &rotor);
            self.body.insert(frame, body);
            self.joint.insert(gimbal, joint);
            self.body.insert(rotor, spinning);
            self.joint.insert(spin, axle);
        }
    }
}
