mod declare;
mod modal;
mod view;

pub(super) use view::View;

use super::controller::Controller;
use super::deflection_limit::DeflectionLimit;
use super::model::{Output, OutputKind};
use crate::Problem;
use crate::algebra::{Quaternion, Scalar, Vec3, lift3, roll_pitch_yaw};
use crate::elements::{Elements, Range, SignalSource, Stored};
use crate::spec::{Capability, Formulation, JointType, Spec};
use crate::system::{FrameRef, Input, Modes, Quantity, System, Unit};
use view::Cursor;

/// List of outputs, in groups that are computed together.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    pub declared: Vec<Output>,
    groups: Vec<Group>,
    flags: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum Group {
    /// Position, attitude, velocity, angular velocity of a frame.
    Frame(FrameRef),
    /// Attitude and angular velocity of a body whose position and velocity are states.
    Attitude(usize),
    /// Commanded torques and position errors of a controller.
    Controller,
    /// Reference orbit: position and velocity from the centre, the LVLH frame and its rate.
    Orbit,
    /// Position, attitude and motion of a free body relative to the LVLH frame.
    InOrbit(usize),
    /// Acceleration of a free body's origin, body axes.
    Acceleration(usize),
    /// Moment of an attitude servo.
    AttitudeServo(usize),
    /// Position error and commanded torque of a servo.
    Servo(usize),
    /// Torque of a motor.
    Motor(usize),
    /// Angular momentum of a wheel, by the index of its rotor's body.
    Momentum(usize),
    /// Force of a thruster.
    Thruster(usize),
    /// Torque of a joint's drive or brake.
    Drive(usize),
    /// Deflection of a beam's tip, load at its root, strain energy.
    Beam(usize),
    /// Load at the root and strain energy of a body with modal data.
    Modal(usize),
    /// Displacement of a frame by its body's deflection.
    Deflection(usize),
    /// Motion of one frame relative to another.
    Measure(FrameRef, FrameRef),
    /// Input that a signal inside the model sets.
    Slot(usize),
    /// Flag of exceeded limits (a joint's ranges, a beam's linear limit): the first and their
    /// number.
    Limits(usize, usize),
    /// Flag of the linear limits of a beam's segments: the first and their number.
    BeyondLinear(usize, usize),
    /// Momentum, mass centre, energy.
    Diagnostics,
    /// Coordinates of the joint that carries a body.
    Coordinates(usize),
    /// Rates of the joint that carries a body.
    Rates(usize),
    /// Roll, pitch and yaw at the spherical joint that carries a body.
    RollPitchYaw(usize),
    /// Wrench that the joint of a body transmits to it, and its part orthogonal to the joint's
    /// motion.
    Reaction(usize),
    /// Wrench of a joint on its base.
    OnBase(usize),
    /// Constraint violation of joints on position level.
    Gaps,
    /// Constraint violation of joints on velocity level.
    GapRates,
    /// Deviation of the directors from unit length and right angles.
    Distortion,
    /// Condition number of the saddle-point matrix.
    Condition,
    /// Report of the last impact of a contact.
    Report(usize),
    /// Gap between the surfaces of a contact.
    Gap(usize),
    /// Contact force on the first frame of a compliant contact.
    Pressing(usize),
    /// Relative pose of a grasp's frames, and its wrench.
    Grasp(usize),
    /// Displacement and rotation of a geometrically exact beam's tip, strain energy.
    GeometricallyExactBeam(usize),
    /// Position, velocity, direction and angular velocity of a frame on an ANCF beam.
    Point(usize),
    /// Deflection of an ANCF beam's tip, strain energy.
    AncfBeam(usize),
    /// Flag of an active capture.
    Captured(usize),
    /// Constraint violation and reaction of a capture or a loop.
    Capture(usize),
}

/// Compiled parts of a model that have outputs.
#[derive(Clone, Copy)]
pub(super) struct Compiled<'a> {
    pub system: &'a System,
    pub elements: &'a Elements,
    pub limits: &'a [DeflectionLimit],
    pub inputs: &'a [Input],
    pub signals: &'a [SignalSource],
    pub controller: Option<&'a Controller>,
}

impl Outputs {
    pub fn compile(spec: &Spec, of: Compiled, problems: &mut Vec<Problem>) -> Self {
        let Compiled {
            system,
            elements,
            limits,
            inputs,
            signals,
            controller,
        } = of;
        let mut outputs = Self {
            declared: Vec::new(),
            groups: Vec::new(),
            flags: Vec::new(),
        };
        if let Some(controller) = controller {
            outputs.controller(controller);
        }
        if system.orbit.is_some() {
            outputs.orbit();
        }
        for (i, body) in system.bodies.iter().enumerate() {
            // Positions, velocities, coordinates and rates that are not states are outputs.
            let moves = body.joint.nv > 0;
            match spec.formulation {
                Formulation::Quaternion | Formulation::Natural if body.joint.written && moves => {
                    outputs.push(Group::Coordinates(i), system.joint_coordinates(i));
                    outputs.push(Group::Rates(i), system.joint_rates(i));
                }
                Formulation::DualQuaternion if moves => outputs.push(Group::Rates(i), system.joint_rates(i)),
                _ => {}
            }
            let is_rotor = spec.wheel.contains_key(&body.joint.name);
            let is_wanted = spec.output.bodies && !is_rotor;
            match spec.formulation {
                Formulation::Quaternion => {}
                Formulation::Natural if is_wanted || !body.joint.written => outputs.attitude(&body.name, i),
                Formulation::Natural => {}
                _ if body.joint.written && is_wanted => outputs.frame(&body.name, "body", FrameRef::Body(i)),
                _ => {}
            }
            if body.joint.kind == JointType::Spherical {
                let name = &body.joint.name;
                let what = format!(
                    "roll, pitch and yaw at joint {name}: turns about the joint frame's x, y and z, one after the other (3-2-1)"
                );
                let quantities = Quantity::vector(&format!("{name}.rpy"), Unit::Radian, &what);
                outputs.push(Group::RollPitchYaw(i), quantities);
            }
            if body.joint.kind == JointType::Free && body.segment == 0 {
                let what = format!(
                    "acceleration of {}'s origin in the world, by gravity too (in orbit: relative to the world's origin, which falls), body axes",
                    body.name
                );
                let name = format!("{}.a_body", body.name);
                outputs.push(
                    Group::Acceleration(i),
                    Quantity::vector(&name, Unit::MetrePerSecond2, &what),
                );
                if system.orbit.is_some() {
                    outputs.in_orbit(&body.name, i);
                }
            }
        }
        for (i, servo) in elements.attitudes.iter().enumerate() {
            let name = &system.bodies[servo.body].name;
            let what = format!("moment that {name}'s attitude servo asks for, body axes");
            let torque = Quantity::vector(&format!("{name}.servo_torque"), Unit::NewtonMetre, &what);
            outputs.push(Group::AttitudeServo(i), torque);
        }
        for (i, servo) in elements.servos().iter().enumerate() {
            outputs.servo(&system.bodies[servo.body].joint, i, servo.is_fed());
        }
        for (i, motor) in elements.motors.iter().enumerate() {
            let joint = &system.bodies[motor.body].joint;
            let k = i - elements
                .motors
                .iter()
                .position(|other| other.body == motor.body)
                .unwrap_or(i);
            outputs.motor(joint, (i, k));
        }
        for (i, body) in system.bodies.iter().enumerate() {
            if spec.wheel.contains_key(&body.joint.name) {
                let name = &body.joint.name;
                let what =
                    format!("angular momentum of wheel {name} about its axis, relative to the body that carries it");
                let momentum = Quantity::new(format!("{name}.momentum"), Unit::NewtonMetreSecond, what);
                outputs.push(Group::Momentum(i), [momentum]);
            }
        }
        for (i, thruster) in elements.thrusters.iter().enumerate() {
            let what = format!("force of thruster {} on {}", thruster.name, thruster.frame);
            let force = Quantity::new(format!("{}.force", thruster.name), Unit::Newton, what);
            outputs.push(Group::Thruster(i), [force]);
        }
        for (i, body) in system.bodies.iter().enumerate() {
            if body.joint.is_drivable() {
                outputs.drive(&body.joint, i);
            }
            if spec.output.reactions && body.joint.written && body.joint.kind != JointType::Free {
                outputs.reaction(system, i);
            }
        }
        for (i, body) in system.bodies.iter().enumerate() {
            let carried = body.joint.kind != JointType::Free;
            if body.beam.is_some() && body.segment == 0 {
                outputs.beam(&body.name, i, carried);
            }
            if body.modal.is_some() {
                outputs.modal(&body.name, i, carried);
            }
            if let (Some(beam), 0) = (body.director, body.segment) {
                outputs.geometrically_exact_beam(&body.name, beam);
            }
        }
        for (i, limit) in limits.iter().enumerate() {
            let body = &system.bodies[limit.body];
            if body.segment > 0 {
                continue;
            }
            let (name, segments) = (&body.name, system.segments(limit.body));
            let quantity = Quantity::new(
                format!("{name}.beyond_linear"),
                Unit::One,
                format!("whether {name} is bent beyond its linear limit"),
            );
            let group = Group::BeyondLinear(i, segments.len());
            let modes = system.bodies[segments].iter().filter_map(|body| body.modes.as_ref());
            outputs.flag(group, quantity, modes.flat_map(Modes::coordinates));
        }
        for (i, frame) in system.frames.iter().enumerate() {
            outputs.frame(&frame.name, "frame", FrameRef::Frame(i));
            if frame.station.is_some() {
                let body = &system.bodies[system.whole(frame.body)].name;
                let what = format!(
                    "displacement of frame {} by the deflection of {body}, its axes",
                    frame.name
                );
                let name = format!("{}.deflection", frame.name);
                outputs.push(Group::Deflection(i), Quantity::vector(&name, Unit::Metre, &what));
            }
        }
        outputs.ancf_beams(system);
        for (name, measure) in &spec.measure {
            let mut find = |field: &str, frame: &str| system.written_frame(["measure", name, field], frame, problems);
            if let (Some(from), Some(to)) = (find("from", &measure.from), find("to", &measure.to)) {
                outputs.measure(name, &measure.from, &measure.to, Group::Measure(from, to));
            }
        }
        for signal in signals {
            for input in [Some(signal.input), signal.rate_input, signal.acceleration_input]
                .into_iter()
                .flatten()
            {
                outputs.push(Group::Slot(input), [inputs[input].quantity.clone()]);
            }
        }
        let mut first = 0;
        while let Some(range) = elements.ranges.get(first) {
            let count = elements.ranges[first..]
                .iter()
                .take_while(|r| r.joint == range.joint)
                .count();
            let quantity = Quantity::new(
                format!("{}.out_of_range", range.joint),
                Unit::One,
                format!("whether joint {} is outside its range", range.joint),
            );
            let watched = elements.ranges[first..first + count].iter();
            outputs.flag(Group::Limits(first, count), quantity, watched.map(Range::coordinate));
            first += count;
        }
        for (i, contact) in elements.contacts.iter().enumerate() {
            outputs.contact(contact, i);
        }
        for (contact, capture) in elements.captures() {
            outputs.capture(contact, capture.number);
        }
        let captures = elements.captures().count();
        for (k, closed_loop) in elements.closed_loops.iter().enumerate() {
            outputs.closed_loop(closed_loop, captures + k);
        }
        for (i, grasp) in elements.grasps.iter().enumerate() {
            outputs.grasp(grasp, i);
        }
        if spec.has_diagnostics() {
            outputs.diagnostics();
            if spec.formulation.has(Capability::Constraints) {
                outputs.gaps(spec.formulation.has(Capability::Gaps));
            }
            if spec.formulation == Formulation::Natural {
                outputs.distortion();
            }
        }
        if spec.output.condition {
            let what = "condition number of the saddle-point matrix of accelerations and multipliers, about the bodies' mass centres";
            outputs.push(Group::Condition, [Quantity::new("system.condition", Unit::One, what)]);
        }
        outputs
    }

    /// Returns the index of each flag, with a coordinate on which it depends.
    pub fn flags(&self) -> impl Iterator<Item = (usize, usize)> {
        self.flags.iter().copied()
    }

    fn flag(&mut self, group: Group, quantity: Quantity, watched: impl Iterator<Item = usize>) {
        let row = self.declared.len();
        self.flags.extend(watched.map(|coordinate| (row, coordinate)));
        self.groups.push(group);
        self.declared.push(Output {
            quantity,
            kind: OutputKind::Flag,
        });
    }

    fn push(&mut self, group: Group, quantities: impl IntoIterator<Item = Quantity>) {
        self.groups.push(group);
        self.declared.extend(quantities.into_iter().map(|quantity| Output {
            quantity,
            kind: OutputKind::Continuous,
        }));
    }

    /// Writes all outputs into `y`.
    pub fn write<S: Scalar>(&self, view: &View<S>, y: &mut [S]) {
        let mut y = Cursor::new(y);
        for group in &self.groups {
            match *group {
                Group::Frame(frame) => {
                    let F = view.frame(frame);
                    y.vector(&F.p_WF);
                    y.quaternion(F.q_WF);
                    y.vector(&F.V_WF.v);
                    y.vector(&F.R_WF.tr_mul(&F.V_WF.w));
                }
                Group::Attitude(body) => {
                    let F = view.frame(FrameRef::Body(body));
                    y.quaternion(F.q_WF);
                    y.vector(&F.R_WF.tr_mul(&F.V_WF.w));
                }
                Group::Controller => {
                    let (parameters, inputs) = (view.now.parameters, view.now.inputs);
                    view.model
                        .control(parameters, inputs, view.discrete, |value| y.number(value));
                }
                Group::Orbit => view.orbit(&mut y),
                Group::InOrbit(body) => view.in_orbit(body, &mut y),
                Group::Acceleration(body) => {
                    let at = &view.now.kinematics.bodies[body];
                    y.vector(&at.R_WB.tr_mul(&(at.A_bias.v + view.dynamics.A()[body].v)));
                }
                Group::AttitudeServo(servo) => y.vector(&view.model.elements.attitudes[servo].torque(&view.now.sensed())),
                Group::Servo(servo) => view.model.elements.servos()[servo].report(&view.now, |number| y.number(number)),
                Group::Motor(motor) => {
                    let state = &view.now.motors[motor];
                    y.number(view.model.elements.motors[motor].torque(&view.now, state));
                }
                Group::Momentum(body) => {
                    let inertia = view.now.derived.bodies[body].I_Bcm.d[2];
                    y.number(view.now.qd[view.now.system.bodies[body].joint.v] * S::lift(inertia));
                }
                Group::Thruster(thruster) => y.number(view.model.elements.thrusters[thruster].force(&view.now)),
                Group::Drive(body) => {
                    let joint = &view.now.system.bodies[body].joint;
                    (joint.v..joint.v + joint.nv).for_each(|v| y.number(view.dynamics.drive[v]));
                }
                Group::Beam(body) => view.beam(body, &mut y),
                Group::Modal(body) => view.modal(body, &mut y),
                Group::GeometricallyExactBeam(beam) => view.geometrically_exact_beam(beam, &mut y),
                Group::Deflection(frame) => {
                    let placed = lift3::<S>(&view.now.derived.frames[frame].X_BF.p);
                    let station = view.now.system.frames[frame].station;
                    y.vector(&station.map_or_else(Vec3::zeros, |station| view.deflection(station, &placed)));
                }
                Group::Measure(from, to) => view.measure(from, to, &mut y),
                Group::Slot(slot) => y.number(view.now.inputs[slot]),
                Group::BeyondLinear(first, count) => {
                    let is_beyond = view.discrete.deflections[first..first + count].contains(&true);
                    y.number(S::lift(f64::from(is_beyond)));
                }
                Group::Limits(first, count) => {
                    let states = &view.discrete.ranges[first..first + count];
                    let outside = states.iter().any(|state| state.is_reached());
                    y.number(S::lift(f64::from(outside)));
                }
                Group::Diagnostics => view.diagnostics(&mut y),
                Group::Coordinates(body) => {
                    let joint = &view.now.system.bodies[body].joint;
                    let q = &view.now.q[joint.q..joint.q + joint.nq];
                    q.iter().for_each(|&q| y.number(q));
                }
                Group::Rates(body) => {
                    let joint = &view.now.system.bodies[body].joint;
                    let qd = &view.now.qd[joint.v..joint.v + joint.nv];
                    qd.iter().for_each(|&qd| y.number(qd));
                }
                Group::RollPitchYaw(body) => {
                    let q = Quaternion::from_slice(&view.now.q[view.now.system.bodies[body].joint.q..]);
                    y.vector(&roll_pitch_yaw(q));
                }
                Group::Reaction(body) => view.reaction(body, &mut y),
                Group::OnBase(body) => view.on_base(body, &mut y),
                Group::Gaps => view.gaps(|recovered| &recovered.gap, &mut y),
                Group::Distortion => view.distortion(&mut y),
                Group::GapRates => view.gaps(|recovered| &recovered.gap_rate, &mut y),
                Group::Gap(contact) => y.number(view.model.elements.contacts[contact].nearest_now(&view.now).gap),
                Group::Pressing(contact) => y.vector(&view.model.elements.contacts[contact].force(&view.now)),
                Group::Grasp(grasp) => {
                    let grasped = view.model.elements.grasps[grasp].grasped(&view.now);
                    y.number(grasped.gap);
                    y.number(grasped.angle);
                    y.vector(&grasped.on_a.f);
                    y.vector(&grasped.on_a.t);
                }
                Group::Point(point) => {
                    let at = &view.now.kinematics.points[point].at;
                    y.vector(&at.p_WB);
                    y.vector(&at.V_WB.v);
                    y.vector(&at.R_WB.column(0).into_owned());
                    y.vector(&at.V_WB.w);
                }
                Group::AncfBeam(beam) => view.ancf_beam(beam, &mut y),
                Group::Captured(capture) => y.number(S::lift(f64::from(u8::from(view.closed[capture].held)))),
                Group::Capture(capture) => {
                    let closed = &view.closed[capture];
                    let [angle, offset] = closed.violation();
                    y.number(offset);
                    y.number(angle);
                    y.vector(&closed.wrench.f);
                    y.vector(&closed.wrench.t);
                }
                Group::Report(contact) => {
                    view.discrete.reports[contact].write(&mut |number| y.number(S::lift(number)));
                }
                Group::Condition => {
                    let now = &view.now;
                    let at = now.configuration();
                    let condition = view.dynamics.condition(at, view.applied, now.q);
                    y.number(condition.unwrap_or_else(S::zero));
                }
            }
        }
        y.is_full();
    }
}
