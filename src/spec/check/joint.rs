use super::Check;
use crate::spec::{
    DcMotor, DriveTrain, FeedForward, Friction, Joint, JointMotion, JointStart, JointType, Method, PerAxis, Range, Stop,
};

impl Check<'_> {
    /// Validates a joint.
    pub(super) fn joint(&mut self, name: &str, joint: &Joint) {
        self.joint_fields(name, joint);
        self.joint_motions(name, joint);
        if let Some(motor) = &joint.dc_motor {
            self.dc_motor(name, joint, motor);
        }
        if joint.kind == JointType::Spherical {
            self.spherical_joint(name, joint);
        }
        if let Some(friction) = &joint.friction {
            self.friction("joint", name, joint.kind, friction, "friction");
        }
        if let Some(train) = &joint.drive_train {
            self.drive_train(name, joint, train);
        }
        self.joint_lengths(name, joint);
        self.degrees(name, joint);
        if let Some(range) = &joint.range {
            self.range(name, range);
        }
        if let Some(start) = &joint.start {
            self.joint_start(name, joint.kind, start);
        }
    }

    /// Reports fields that a joint of this type and with these motions does not have.
    fn joint_fields(&mut self, name: &str, joint: &Joint) {
        use JointType::{Free, Screw, Universal};
        let kind = joint.kind;
        let mut forbid = |field: &str, written: bool, why: &str| {
            if written {
                let what = format!("a {} joint has no `{field}`{why}", kind.name());
                self.report("joint", name, field, what);
            }
        };
        let moves_freely = matches!(kind, JointType::Fixed | Free);
        let may = |motion| may_have(joint, motion);
        let written = if joint.motions.is_empty() { "motion" } else { "motions" };
        let drives = may(JointMotion::Prescribed) || may(JointMotion::Locked);
        forbid(written, drives && moves_freely, ": nothing drives or holds it");
        forbid(
            "servo",
            joint.servo.is_some() && !may(JointMotion::Loads),
            " without the motion \"loads\"",
        );
        forbid(
            "tracking",
            joint.tracking.is_some() && !may(JointMotion::Prescribed),
            " without the motion \"prescribed\"",
        );
        forbid("axis", joint.axis.is_some() && !kind.has_axis(), "");
        forbid("axis2", joint.axis2.is_some() && kind != Universal, "");
        forbid("pitch", joint.pitch.is_some() && kind != Screw, "");
        forbid("damping", joint.damping.is_some() && moves_freely, "");
        forbid("friction", joint.friction.is_some() && moves_freely, "");
        forbid("servo", joint.servo.is_some() && moves_freely, "");
        forbid("spring", joint.spring.is_some() && moves_freely, "");
        let plain = kind.has_plain_positions();
        forbid("motor", joint.motor.is_some() && !plain, "");
        let is_asked = (joint.input || joint.servo.is_some()) && may(JointMotion::Loads);
        forbid(
            "motor",
            joint.motor.is_some() && plain && !is_asked,
            " without a torque input or a servo",
        );
        forbid("range", joint.range.is_some() && !plain, "");
        forbid(
            "rotor_inertia",
            joint.rotor_inertia.is_some() && !plain,
            ": a spinning rotor is a body on a revolute joint",
        );
        forbid("start", joint.start.is_some() && kind == JointType::Fixed, "");
        if kind == Screw && joint.pitch.is_none() {
            self.report("joint", name, "pitch", "a screw joint needs its travel per turn (m)");
        }
    }

    /// Validates the motion modes of a joint.
    fn joint_motions(&mut self, name: &str, joint: &Joint) {
        if may_have(joint, JointMotion::Prescribed) && !joint.input {
            let what = format!("a prescribed joint needs its input {name}.qdd: leave `input` out");
            self.report("joint", name, "input", what);
        }
        if !joint.motions.is_empty() && !joint.motions.contains(&joint.motion) {
            let what = format!(
                "the joint starts with \"{}\", which is not among them",
                joint.motion.name()
            );
            self.report("joint", name, "motions", what);
        }
    }

    /// Reports fields that a joint with a DC motor does not have.
    fn dc_motor(&mut self, name: &str, joint: &Joint, motor: &DcMotor) {
        let spec = self.spec;
        let mut forbid = |field: &str, written: bool, what: &str| {
            if written {
                self.report("joint", name, field, what);
            }
        };
        let turns = matches!(joint.kind, JointType::Revolute | JointType::Screw);
        forbid("dc_motor", !turns, "a DC motor belongs to a revolute or a screw joint");
        forbid(
            "dc_motor",
            !may_have(joint, JointMotion::Loads),
            "a DC motor moves nothing without the motion \"loads\"",
        );
        forbid(
            "dc_motor",
            may_have(joint, JointMotion::Prescribed),
            "a prescribed joint has no DC motor: leave `dc_motor` or the motion \"prescribed\" out",
        );
        forbid(
            "servo",
            joint.servo.is_some(),
            "a servo commands a torque, a joint with `dc_motor` is driven by a voltage: leave one of the two out",
        );
        forbid(
            "motor",
            joint.motor.is_some(),
            "`motor` limits a commanded torque: write `dc_motor.voltage_limit` in its place",
        );
        let what = format!("a DC motor needs its input {name}.voltage: leave `input` out");
        forbid("input", !joint.input, &what);
        let has_state = motor.inductance.is_some();
        forbid(
            "dc_motor.inductance",
            has_state && spec.solver.method == Method::Conserving,
            "the method conserving does not support currents that are states; did you mean method = \"auto\"?",
        );
        let is_balanced = spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium);
        forbid(
            "dc_motor.inductance",
            has_state && is_balanced,
            "a start in equilibrium has no current that starts at zero: leave `inductance` out",
        );
    }

    /// Validates spring and servo of a spherical joint.
    fn spherical_joint(&mut self, name: &str, joint: &Joint) {
        if let Some(spring) = &joint.spring {
            if spring.rest.is_some() {
                self.report(
                    "joint",
                    name,
                    "spring.rest",
                    "a spherical joint's spring rests at attitude zero",
                );
            }
            if matches!(spring.stiffness, PerAxis::Each(_)) {
                self.report(
                    "joint",
                    name,
                    "spring.stiffness",
                    "a spherical joint's spring has one stiffness for all directions",
                );
            }
        }
        if let Some(servo) = &joint.servo
            && servo.feed_forward != FeedForward::None
        {
            let what = "a spherical joint's servo has no feed-forward: its reference has no accelerations";
            self.report("joint", name, "servo.feed_forward", what);
        }
    }

    /// Validates the fields of dry friction of a joint of type `kind`, written at `place`.
    pub(super) fn friction(&mut self, section: &str, name: &str, kind: JointType, friction: &Friction, place: &str) {
        let mut refuse = |field: &str, what: String| self.report(section, name, &format!("{place}{field}"), what);
        if friction.slip.is_some() {
            for (field, value) in [("breakaway", &friction.breakaway), ("stribeck", &friction.stribeck)] {
                if value.is_some() {
                    refuse(
                        &format!(".{field}"),
                        format!("friction with `slip` never sticks and has no `{field}`"),
                    );
                }
            }
            return;
        }
        if friction.breakaway.is_some() != friction.stribeck.is_some() {
            let what = "`breakaway` and `stribeck` belong together: write both or neither".to_owned();
            refuse("", what);
        }
        if kind.rates() != 1 {
            let kind = kind.name();
            let what = format!("friction sticks in joints with one axis only, not in a {kind} joint: write `slip`");
            refuse("", what);
        }
        if self.spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium) {
            let what = "a start in equilibrium is not unique with friction that sticks: write `slip`";
            self.report(section, name, place, what);
        }
        if let Some((rigid, _)) = self.spec.rigid_model() {
            let what = format!("{rigid} does not include friction that sticks: write `slip`");
            self.report(section, name, place, what);
        }
    }

    /// Validates which fields a joint with a drive train has.
    fn drive_train(&mut self, name: &str, joint: &Joint, train: &DriveTrain) {
        if let Some(friction) = &train.friction {
            self.friction("joint", name, joint.kind, friction, "drive_train.friction");
        }
        let spec = self.spec;
        let mut forbid = |field: &str, written: bool, what: &str| {
            if written {
                self.report("joint", name, field, what);
            }
        };
        let is_revolute = joint.kind == JointType::Revolute;
        forbid("drive_train", !is_revolute, "a drive train belongs to a revolute joint");
        forbid(
            "rotor_inertia",
            joint.rotor_inertia.is_some(),
            "the drive train has the rotor: write its inertia in `drive_train.rotor_inertia`",
        );
        forbid(
            "servo.feed_forward",
            joint.feeds_forward(),
            "a joint with a drive train has no feed-forward: its inverse dynamics are those of a rigid gear",
        );
        forbid("drive_train.ratio", train.ratio == 0.0, "a ratio of zero turns nothing");
        forbid(
            "drive_train.rotor_mass",
            train.rotor_mass <= 0.0,
            "the mass is not positive",
        );
        forbid(
            "drive_train.rotor_inertia",
            train.rotor_inertia <= 0.0,
            "the inertia is not positive",
        );
        let has_loops = !spec.closed_loop.is_empty();
        forbid(
            "drive_train",
            has_loops,
            "a model with loops has no drive trains: its start would wind up the gears",
        );
        let is_balanced = spec.assembly.as_ref().is_some_and(|assembly| assembly.equilibrium);
        forbid(
            "drive_train",
            is_balanced,
            "a model with drive trains cannot start in equilibrium: the twist at the start is zero",
        );
        let conserves = spec.solver.method == Method::Conserving;
        forbid(
            "drive_train",
            conserves,
            "the method conserving does not support drive trains; did you mean method = \"auto\"?",
        );
        forbid(
            "drive_train.efficiency",
            train.efficiency.is_some() && train.friction.is_none(),
            "the efficiency requires `drive_train.friction`, with whose law it acts",
        );
    }

    /// Reports lists whose length is not the number of the joint's rates.
    fn joint_lengths(&mut self, name: &str, joint: &Joint) {
        let (kind, rates) = (joint.kind, joint.kind.rates());
        let mut counted = vec![
            ("damping", joint.damping.as_ref(), rates),
            ("rotor_inertia", joint.rotor_inertia.as_ref(), rates),
        ];
        if let Some(f) = &joint.friction {
            counted.extend([
                ("friction.coulomb", Some(&f.coulomb), rates),
                ("friction.slip", f.slip.as_ref(), rates),
                ("friction.breakaway", f.breakaway.as_ref(), rates),
                ("friction.stribeck", f.stribeck.as_ref(), rates),
            ]);
        }
        if let Some(f) = joint.drive_train.as_ref().and_then(|train| train.friction.as_ref()) {
            counted.extend([
                ("drive_train.friction.coulomb", Some(&f.coulomb), rates),
                ("drive_train.friction.slip", f.slip.as_ref(), rates),
                ("drive_train.friction.breakaway", f.breakaway.as_ref(), rates),
                ("drive_train.friction.stribeck", f.stribeck.as_ref(), rates),
            ]);
        }
        if let Some(s) = &joint.spring {
            counted.extend([
                ("spring.stiffness", Some(&s.stiffness), rates),
                ("spring.rest", s.rest.as_ref(), rates),
            ]);
        }
        if let Some(s) = &joint.servo {
            counted.extend([("servo.kp", Some(&s.kp), rates), ("servo.kd", Some(&s.kd), rates)]);
        }
        if let Some(m) = &joint.motor {
            counted.extend([
                ("motor.torque_limit", Some(&m.torque_limit), rates),
                ("motor.rate_limit", m.rate_limit.as_ref(), rates),
            ]);
        }
        if let Some(f) = &joint.tracking {
            counted.extend([("tracking.kp", Some(&f.kp), rates), ("tracking.kd", Some(&f.kd), rates)]);
        }
        if let Some(r) = &joint.range {
            counted.extend([
                ("range.min", r.min.as_ref(), rates),
                ("range.min_deg", r.min_deg.as_ref(), rates),
                ("range.max", r.max.as_ref(), rates),
                ("range.max_deg", r.max_deg.as_ref(), rates),
                ("range.stiffness", r.stiffness.as_ref(), rates),
                ("range.damping", r.damping.as_ref(), rates),
            ]);
        }
        if let Some(s) = &joint.start {
            let positions = if kind == JointType::Free { 3 } else { rates };
            counted.extend([
                ("start.position", s.position.as_ref(), positions),
                ("start.position_deg", s.position_deg.as_ref(), rates),
                ("start.rate", s.rate.as_ref(), rates),
                ("start.rate_deg", s.rate_deg.as_ref(), rates),
            ]);
        }
        for (field, value, count) in counted {
            if let Some(PerAxis::Each(list)) = value
                && list.len() != count
            {
                let (what, kind) = (list.len(), kind.name());
                self.report(
                    "joint",
                    name,
                    field,
                    format!("{what} numbers, but a {kind} joint has {count} of them"),
                );
            }
        }
    }

    /// Reports fields that the start of a joint of this type does not have.
    fn joint_start(&mut self, name: &str, kind: JointType, start: &JointStart) {
        use JointType::{Free, Spherical};
        let quaternion = matches!(kind, Spherical | Free);
        let mut forbid = |field: &str, written: bool| {
            if written {
                let what = format!("the start of a {} joint has no `{field}`", kind.name());
                self.report("joint", name, &format!("start.{field}"), what);
            }
        };
        forbid("attitude", start.attitude.is_some() && !quaternion);
        forbid("rpy_deg", start.rpy_deg.is_some() && !quaternion);
        forbid("velocity", start.velocity.is_some() && kind != Free);
        forbid("angular_velocity", start.angular_velocity.is_some() && kind != Free);
        forbid("position", start.position.is_some() && kind == Spherical);
        forbid("position_deg", start.position_deg.is_some() && quaternion);
        forbid("rate", start.rate.is_some() && kind == Free);
        forbid("rate_deg", start.rate_deg.is_some() && kind == Free);
    }

    /// Reports degrees that are written in addition to radians, or for coordinates that are not all
    /// angles.
    pub(super) fn degrees(&mut self, name: &str, joint: &Joint) {
        let kind = joint.kind;
        let all_angles = (0..kind.rates()).all(|i| kind.is_angular(i));
        let mut pairs = Vec::new();
        if let Some(s) = &joint.start {
            pairs.push(("start.position", s.position.is_some(), s.position_deg.is_some()));
            pairs.push(("start.rate", s.rate.is_some(), s.rate_deg.is_some()));
        }
        if let Some(r) = &joint.range {
            pairs.push(("range.min", r.min.is_some(), r.min_deg.is_some()));
            pairs.push(("range.max", r.max.is_some(), r.max_deg.is_some()));
        }
        for (field, radians, degrees) in pairs {
            if radians && degrees {
                self.report(
                    "joint",
                    name,
                    field,
                    format!("write either `{field}` or `{field}_deg`, not both"),
                );
            }
            if degrees && !all_angles {
                let what = format!(
                    "a {} joint's coordinates are not all angles: write `{field}`",
                    kind.name()
                );
                self.report("joint", name, &format!("{field}_deg"), what);
            }
        }
    }

    /// Validates the range of a joint.
    pub(super) fn range(&mut self, name: &str, range: &Range) {
        if range.min.is_none() && range.min_deg.is_none() || range.max.is_none() && range.max_deg.is_none() {
            self.report(
                "joint",
                name,
                "range",
                "a range has a `min` and a `max` (or `min_deg` and `max_deg`)",
            );
        }
        let given = [("range.stiffness", &range.stiffness), ("range.damping", &range.damping)];
        for (field, value) in given {
            match range.stop {
                Stop::Compliant if value.is_none() => {
                    self.report("joint", name, "range.stop", format!("a compliant stop needs `{field}`"));
                }
                Stop::None if value.is_some() => {
                    self.report("joint", name, field, "it requires stop = \"compliant\"");
                }
                _ => {}
            }
        }
    }
}

/// Returns true if a joint has this motion mode, initially or by command.
fn may_have(joint: &Joint, motion: JointMotion) -> bool {
    joint.motion == motion || joint.motions.contains(&motion)
}
