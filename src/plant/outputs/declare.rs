//! Names, units and descriptions of the outputs, group by group.

use super::{Controller, Group, Output, OutputKind, Outputs};
use crate::elements::{ClosedLoop, Contact, Grasp};
use crate::plant::report::Report;
use crate::spec::JointType;
use crate::system::{FrameRef, Joint, Quantity, System, Unit};

impl Outputs {
    pub(super) fn controller(&mut self, controller: &Controller) {
        let kind = match controller.is_sampled() {
            true => OutputKind::Discrete,
            false => OutputKind::Continuous,
        };
        self.groups.push(Group::Controller);
        let quantities = controller.axes.iter().flat_map(|axis| axis.outputs.clone());
        self.declared
            .extend(quantities.map(|quantity| Output { quantity, kind }));
    }

    pub(super) fn capture(&mut self, contact: &Contact, capture: usize) {
        let (name, [a, b]) = (&contact.name, &contact.names);
        self.groups.push(Group::Captured(capture));
        self.declared.push(Output {
            quantity: Quantity::new(
                format!("{name}.captured"),
                Unit::One,
                format!("1 while {a} and {b} are held together"),
            ),
            kind: OutputKind::Discrete,
        });
        let vector = |field: &str, unit, what: String| Quantity::vector(&format!("{name}.{field}"), unit, &what);
        let drift = [
            Quantity::new(
                format!("{name}.violation"),
                Unit::Metre,
                format!("by how far {a} is off from where it was captured in {b}"),
            ),
            Quantity::new(
                format!("{name}.violation_angle"),
                Unit::Radian,
                format!("by how far {a} has turned in {b} since it was captured, small; of a grasp"),
            ),
        ];
        let force = vector(
            "force",
            Unit::Newton,
            format!("force on {a} that holds it at {b}, inertial axes"),
        );
        let moment = vector(
            "moment",
            Unit::NewtonMetre,
            format!("moment on {a} that holds it at {b}, about its origin, inertial axes"),
        );
        self.push(Group::Capture(capture), drift.into_iter().chain(force).chain(moment));
    }

    pub(super) fn closed_loop(&mut self, closed_loop: &ClosedLoop, closure: usize) {
        let (name, [a, b]) = (&closed_loop.name, &closed_loop.names);
        let violation = [
            Quantity::new(
                format!("{name}.violation"),
                Unit::Metre,
                format!("constraint violation of loop {name}: distance of {a} from where {b} holds it"),
            ),
            Quantity::new(
                format!("{name}.violation_angle"),
                Unit::Radian,
                format!(
                    "constraint violation of loop {name}: angle of {a} off the attitude in which {b} holds it, small"
                ),
            ),
        ];
        let vector = |field: &str, unit, what: String| Quantity::vector(&format!("{name}.{field}"), unit, &what);
        let force = vector(
            "force",
            Unit::Newton,
            format!("reaction force on {a} of loop {name}, inertial axes"),
        );
        let moment = vector(
            "moment",
            Unit::NewtonMetre,
            format!("reaction moment on {a} of loop {name}, about its origin, inertial axes"),
        );
        self.push(
            Group::Capture(closure),
            violation.into_iter().chain(force).chain(moment),
        );
    }

    pub(super) fn contact(&mut self, contact: &Contact, index: usize) {
        let (name, [a, b]) = (&contact.name, &contact.names);
        if contact.touch().is_some() {
            let what = format!("how far {a} is from the surface of {b}; below zero, how deep inside");
            let gap = Quantity::new(format!("{name}.gap"), Unit::Metre, what);
            self.push(Group::Gap(index), [gap]);
        }
        if contact.is_compliant() {
            let what = format!("force of contact {name} on {a}, inertial axes");
            let force = Quantity::vector(&format!("{name}.force"), Unit::Newton, &what);
            return self.push(Group::Pressing(index), force);
        }
        self.groups.push(Group::Report(index));
        let quantities = Report::quantities(contact).into_iter();
        self.declared.extend(quantities.map(|quantity| Output {
            quantity,
            kind: OutputKind::Discrete,
        }));
    }

    pub(super) fn geometrically_exact_beam(&mut self, name: &str, beam: usize) {
        let vector = |field: &str, unit, what: &str| {
            let what = format!("{what} of {name}'s tip from where it is at rest, body axes");
            Quantity::vector(&format!("{name}.{field}"), unit, &what)
        };
        let deflection = vector("tip_deflection", Unit::Metre, "displacement");
        let turn = vector("tip_turn", Unit::Radian, "turn (a rotation vector)");
        let what = format!("strain energy of {name}");
        let energy = Quantity::new(format!("{name}.elastic_energy"), Unit::Joule, what);
        let all = deflection.into_iter().chain(turn).chain([energy]);
        self.push(Group::GeometricallyExactBeam(beam), all);
    }

    /// Declares the outputs of ANCF beams and of the frames on them.
    pub(super) fn ancf_beams(&mut self, system: &System) {
        for (i, beam) in system.nodal.iter().enumerate() {
            let name = &beam.name;
            let what = format!(
                "displacement of the tip of {name} from where the beam's direction at the root points; axes of the root"
            );
            let deflection = Quantity::vector(&format!("{name}.tip_deflection"), Unit::Metre, &what);
            let what = format!("strain energy of {name}");
            let energy = Quantity::new(format!("{name}.elastic_energy"), Unit::Joule, what);
            self.push(Group::AncfBeam(i), deflection.into_iter().chain([energy]));
        }
        // Roots and tips are nodes, whose positions are states.
        let frames = system.points.iter().enumerate();
        for (i, point) in frames.filter(|(_, point)| point.is_frame()) {
            let name = &point.name;
            let vector = |field: &str, unit, what: &str| {
                let what = format!("{what} of frame {name}, inertial axes");
                Quantity::vector(&format!("{name}.{field}"), unit, &what)
            };
            let place = vector("r", Unit::Metre, "position");
            let velocity = vector("v", Unit::MetrePerSecond, "velocity");
            let direction = vector(
                "direction",
                Unit::One,
                "direction of the beam (a unit vector) at the place",
            );
            let rate = vector(
                "w",
                Unit::RadianPerSecond,
                "how fast the beam turns (across its direction) at the place",
            );
            let all = place.into_iter().chain(velocity).chain(direction).chain(rate);
            self.push(Group::Point(i), all);
        }
    }

    pub(super) fn grasp(&mut self, grasp: &Grasp, index: usize) {
        let (name, [a, b]) = (&grasp.name, &grasp.names);
        let gap = Quantity::new(
            format!("{name}.distance"),
            Unit::Metre,
            format!("distance from {a} to {b}"),
        );
        let what = format!("angle between the attitudes of {a} and {b}; of an ANCF beam, between the directions");
        let angle = Quantity::new(format!("{name}.angle"), Unit::Radian, what);
        let vector = |field: &str, unit, what: String| Quantity::vector(&format!("{name}.{field}"), unit, &what);
        let force = vector(
            "force",
            Unit::Newton,
            format!("force of grasp {name} on {a}, inertial axes"),
        );
        let what = format!("moment of grasp {name} on {a}, about its origin, inertial axes");
        let moment = vector("moment", Unit::NewtonMetre, what);
        self.push(Group::Grasp(index), [gap, angle].into_iter().chain(force).chain(moment));
    }

    pub(super) fn frame(&mut self, name: &str, what: &str, frame: FrameRef) {
        let position = Quantity::vector(
            &format!("{name}.r"),
            Unit::Metre,
            &format!("position of {what} {name}, inertial axes"),
        );
        let attitude = Quantity::quaternion(&format!("{name}.q"), &format!("attitude of {what} {name}, quaternion"));
        let velocity = Quantity::vector(
            &format!("{name}.v"),
            Unit::MetrePerSecond,
            &format!("velocity of {what} {name}'s origin, inertial axes"),
        );
        let rate = Quantity::vector(
            &format!("{name}.w"),
            Unit::RadianPerSecond,
            &format!("angular velocity of {what} {name}, its own axes"),
        );
        self.push(
            Group::Frame(frame),
            position.into_iter().chain(attitude).chain(velocity).chain(rate),
        );
    }

    /// Declares attitude and angular velocity of a body.
    pub(super) fn attitude(&mut self, name: &str, body: usize) {
        let attitude = Quantity::quaternion(&format!("{name}.q"), &format!("attitude of {name}, quaternion"));
        let what = format!("angular velocity of {name}, body axes");
        let rate = Quantity::vector(&format!("{name}.w"), Unit::RadianPerSecond, &what);
        self.push(Group::Attitude(body), attitude.into_iter().chain(rate));
    }

    pub(super) fn servo(&mut self, joint: &Joint, servo: usize, is_fed: bool) {
        let name = &joint.name;
        let units = |i| Unit::coordinate(joint.kind.is_angular(i));
        let error = (0..joint.nv).map(|i| {
            let what = format!("by how much joint {name} is off its servo's reference");
            Quantity::new(joint.quantity_name("servo_error", i), units(i).position, what)
        });
        let torque = (0..joint.nv).map(|i| {
            let what = format!("what the servo of joint {name} asks for");
            Quantity::new(joint.quantity_name("servo_torque", i), units(i).force, what)
        });
        let fed = (0..joint.nv).filter(|_| is_fed).map(|i| {
            let what = format!("what of it the servo of joint {name} feeds forward: what the rigid craft would take");
            Quantity::new(joint.quantity_name("feed_forward", i), units(i).force, what)
        });
        self.push(Group::Servo(servo), error.chain(torque).chain(fed));
    }

    pub(super) fn motor(&mut self, joint: &Joint, (motor, axis): (usize, usize)) {
        let name = &joint.name;
        let unit = Unit::coordinate(joint.kind.is_angular(axis)).force;
        let what = format!("what the motor of joint {name} gives, within its limits");
        self.push(
            Group::Motor(motor),
            [Quantity::new(joint.quantity_name("motor_torque", axis), unit, what)],
        );
    }

    pub(super) fn drive(&mut self, joint: &Joint, body: usize) {
        let quantities = (0..joint.nv).map(|i| {
            let unit = Unit::coordinate(joint.kind.is_angular(i)).force;
            let what = format!(
                "what the drive or the brake of joint {} gives beside its loads",
                joint.name
            );
            Quantity::new(joint.quantity_name("drive", i), unit, what)
        });
        self.push(Group::Drive(body), quantities.collect::<Vec<_>>());
    }

    pub(super) fn reaction(&mut self, system: &System, body: usize) {
        let joint = &system.bodies[body].joint.name;
        let wrench = |part: &str, what: &str, axes: &str| {
            let vector = |kind, unit, what: String| Quantity::vector(&format!("{joint}.{part}_{kind}"), unit, &what);
            let force = vector("force", Unit::Newton, format!("force {what}; {axes} axes"));
            let about = format!("moment {what}, about the joint's origin there; {axes} axes");
            force.into_iter().chain(vector("moment", Unit::NewtonMetre, about))
        };
        let gets = format!("that the child gets through joint {joint}");
        let whole = wrench("reaction", &format!("{gets}, what drives the joint included"), "child");
        let held = wrench(
            "constraint",
            &format!("{gets}, the part that holds it and has no power on its motion"),
            "child",
        );
        let parent = system.bodies[body]
            .parent
            .map(|parent| &system.bodies[system.whole(parent)]);
        let base = match parent {
            None => Some(("the world", "inertial")),
            Some(parent) => (parent.joint.kind == JointType::Free).then_some((&*parent.name, &*parent.name)),
        };
        let on_base = base.map(|(base, axes)| {
            let what = format!("that {base}, which carries the arm, gets through joint {joint}");
            wrench("base", &what, axes)
        });
        self.push(Group::Reaction(body), whole.chain(held));
        if let Some(on_base) = on_base {
            self.push(Group::OnBase(body), on_base);
        }
    }

    pub(super) fn orbit(&mut self) {
        let vector = |field: &str, unit, what: &str| Quantity::vector(&format!("orbit.{field}"), unit, what);
        let place = vector(
            "r",
            Unit::Metre,
            "from the central body's centre to the world's origin on the reference orbit, inertial axes",
        );
        let velocity = vector(
            "v",
            Unit::MetrePerSecond,
            "velocity of the world's origin on the reference orbit, inertial axes",
        );
        let attitude = Quantity::quaternion(
            "orbit.q",
            "attitude of the LVLH frame (x upwards, y along track, z normal to the orbit), quaternion",
        );
        let rate = Quantity::new("orbit.rate", Unit::RadianPerSecond, "angular rate of the LVLH frame");
        let all = place.into_iter().chain(velocity).chain(attitude).chain([rate]);
        self.push(Group::Orbit, all);
    }

    pub(super) fn in_orbit(&mut self, name: &str, body: usize) {
        let seen = |what: &str| format!("{what} {name} as one sees it who turns with the LVLH frame");
        let vector = |field: &str, unit, what: String| Quantity::vector(&format!("{name}.{field}_lvlh"), unit, &what);
        let place = vector("r", Unit::Metre, seen("position of"));
        let attitude = Quantity::quaternion(
            &format!("{name}.q_lvlh"),
            &format!("{}, quaternion", seen("attitude of")),
        );
        let velocity = vector("v", Unit::MetrePerSecond, seen("velocity of"));
        let rate = vector(
            "w",
            Unit::RadianPerSecond,
            format!("{}, body axes", seen("angular velocity of")),
        );
        let angles = vector(
            "rpy",
            Unit::Radian,
            format!("roll, pitch and yaw of {name} relative to the LVLH frame (3-2-1)"),
        );
        let all = place
            .into_iter()
            .chain(attitude)
            .chain(velocity)
            .chain(rate)
            .chain(angles);
        self.push(Group::InOrbit(body), all);
    }

    /// Declares the joints' constraint violations; `places` is true if there are violations on
    /// position level.
    pub(super) fn gaps(&mut self, places: bool) {
        let both = |length: (&str, Unit, &str), angle: (&str, Unit, &str)| {
            [length, angle].map(|(name, unit, what)| {
                let what = format!("{what}, root of the sum of squares");
                Quantity::new(format!("system.{name}"), unit, what)
            })
        };
        if places {
            let gaps = both(
                ("violation", Unit::Metre, "distances by which joints' bodies are apart"),
                (
                    "violation_angle",
                    Unit::Radian,
                    "angles by which joints' bodies are turned otherwise than the joints allow",
                ),
            );
            self.push(Group::Gaps, gaps);
        }
        let rates = both(
            (
                "violation_velocity",
                Unit::MetrePerSecond,
                "velocities at which joints' bodies part",
            ),
            (
                "violation_rate",
                Unit::RadianPerSecond,
                "rates at which joints' bodies turn otherwise than the joints allow",
            ),
        );
        self.push(Group::GapRates, rates);
    }

    pub(super) fn distortion(&mut self) {
        let what = "departure of all bodies' axes from unit length and right angles, root of the sum of squares";
        self.push(Group::Distortion, [Quantity::new("system.distortion", Unit::One, what)]);
    }

    /// Declares the outputs of a beam; `carried` is true if its joint transmits a load.
    pub(super) fn beam(&mut self, name: &str, body: usize, carried: bool) {
        let vector = |field: &str, unit: Unit, what: &str| Quantity::vector(&format!("{name}.{field}"), unit, what);
        let energy = Quantity::new(
            format!("{name}.elastic_energy"),
            Unit::Joule,
            format!("strain energy of {name}"),
        );
        let tip = format!("deflection of {name}'s tip, body axes");
        let slope = format!("slopes and twist of {name}'s tip, body axes");
        let force = format!("force that {name} gets through its joint, beam axes: along the beam, shear");
        let moment =
            format!("moment that {name} gets through its joint, about the beam's root, beam axes: torsion, bending");
        let mut vectors = vec![
            vector("tip_deflection", Unit::Metre, &tip),
            vector("tip_slope", Unit::Radian, &slope),
        ];
        if carried {
            vectors.push(vector("root_force", Unit::Newton, &force));
            vectors.push(vector("root_moment", Unit::NewtonMetre, &moment));
        }
        self.push(Group::Beam(body), vectors.into_iter().flatten().chain([energy]));
    }

    pub(super) fn measure(&mut self, name: &str, from: &str, to: &str, group: Group) {
        let seen = format!("of {to} seen from {from}, in its axes");
        let position = Quantity::vector(&format!("{name}.r"), Unit::Metre, &format!("position {seen}"));
        let attitude = Quantity::quaternion(&format!("{name}.q"), &format!("attitude {seen}, quaternion"));
        let velocity = Quantity::vector(&format!("{name}.v"), Unit::MetrePerSecond, &format!("velocity {seen}"));
        let rate = Quantity::vector(
            &format!("{name}.w"),
            Unit::RadianPerSecond,
            &format!("angular velocity {seen}"),
        );
        let distance = Quantity::new(
            format!("{name}.distance"),
            Unit::Metre,
            format!("distance between the origins of {from} and {to}"),
        );
        self.push(
            group,
            position
                .into_iter()
                .chain(attitude)
                .chain(velocity)
                .chain(rate)
                .chain([distance]),
        );
    }

    pub(super) fn diagnostics(&mut self) {
        let momentum = Quantity::vector(
            "system.momentum",
            Unit::KilogramMetrePerSecond,
            "linear momentum of all bodies, inertial axes",
        );
        let angular = Quantity::vector(
            "system.angular_momentum",
            Unit::KilogramMetre2PerSecond,
            "angular momentum of all bodies about their mass centre, inertial axes",
        );
        let centre = Quantity::vector(
            "system.mass_centre",
            Unit::Metre,
            "mass centre of all bodies, inertial axes",
        );
        let scalars = [
            (
                "momentum_scale",
                Unit::KilogramMetrePerSecond,
                "sum of the bodies' momentum magnitudes, the scale of a drift in the total",
            ),
            (
                "angular_momentum_scale",
                Unit::KilogramMetre2PerSecond,
                "sum of the bodies' angular momentum magnitudes, the scale of a drift in the total",
            ),
            ("kinetic_energy", Unit::Joule, "kinetic energy, rotors included"),
            (
                "potential_energy",
                Unit::Joule,
                "energy of springs, stops, pressed surfaces, uniform gravity and bent beams",
            ),
            (
                "energy",
                Unit::Joule,
                "kinetic and potential energy; grows by system.work",
            ),
        ]
        .map(|(name, unit, what)| Quantity::new(format!("system.{name}"), unit, what));
        self.push(
            Group::Diagnostics,
            momentum.into_iter().chain(angular).chain(centre).chain(scalars),
        );
    }
}
