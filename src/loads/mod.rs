//! What acts on the bodies: from positions, motions and inputs to [`Applied`].
//!
//! Every load is a short list of entries with their parameters' places; one that the spec does not
//! write has no entry and costs nothing.

mod attitude;
mod band;
mod closed_loop;
mod compliant;
mod contact;
mod director;
mod drive;
mod grasp;
mod gravity;
mod joint;
mod line;
mod modal;
mod motor;
mod nodal;
mod pair;
mod port;
mod range;
mod servo;
mod signal;
mod stored;
mod strike;
mod surface;
mod thruster;
mod wave;

pub use attitude::AttitudeServo;
pub(crate) use band::Band;
pub use band::Limit;
pub use closed_loop::{ClosedLoop, Constraint};
pub use contact::{Capture, Contact};
pub use director::strain_energy;
pub use drive::Drive;
pub use grasp::{Grasp, Grasped};
pub use motor::{Motor, MotorState};
pub use pair::Pair;
pub use port::Port;
pub use range::Range;
pub use servo::JointServo;
pub(crate) use servo::{Fed, Gains};
pub use signal::SignalSource;
pub use stored::Stored;
pub use strike::{Strike, Struck};
pub use surface::Nearest;
pub use thruster::Thruster;
pub use wave::{Wave, reached, round_off};

use crate::Problem;
use crate::algebra::{Scalar, Vec3, lift3};
use crate::dynamics::Applied;
use crate::spec::{JointMotion, Spec};
use crate::system::{Configuration, Declarations, Derived, Kinematics, OrbitPoint, ParamId, Parameter, System};
use std::sync::Arc;

/// All loads of a system.
#[derive(Clone, Debug)]
pub struct Loads {
    gravity: Option<gravity::Uniform>,
    is_in_orbit: bool,
    has_director_beams: bool,
    joints: joint::JointLoads,
    /// Free bodies whose attitude is held from outside.
    pub attitudes: Vec<Arc<AttitudeServo>>,
    /// Frames on which something from outside acts.
    pub ports: Vec<Port>,
    /// Thrusters.
    pub thrusters: Vec<Thruster>,
    lines: Vec<line::LineLoad>,
    /// Ranges of joint coordinates, with their stops.
    pub ranges: Vec<Range>,
    /// Motors that cannot give all that they are asked for, one for each axis of a joint.
    pub motors: Vec<Motor>,
    /// Joints that are held or driven.
    pub drives: Vec<Drive>,
    /// Frames that may strike each other.
    pub contacts: Vec<Contact>,
    /// The commands for impulses.
    pub strikes: Vec<Strike>,
    /// Frames that springs and dampers hold together.
    pub grasps: Vec<Grasp>,
    /// Joints that close loops.
    pub closed_loops: Vec<ClosedLoop>,
}

/// What the loads need to know of one instant.
#[derive(Clone, Copy)]
pub struct Instant<'a, S: Scalar> {
    /// The bodies.
    pub system: &'a System,
    /// Their constants.
    pub derived: &'a Derived,
    /// The parameters' values.
    pub parameters: &'a [f64],
    /// Where the reference orbit has led the world.
    pub orbit: Option<&'a OrbitPoint<S>>,
    /// Positions and motions.
    pub kinematics: &'a Kinematics<S>,
    /// Coordinates.
    pub q: &'a [S],
    /// Rates.
    pub qd: &'a [S],
    /// The inputs' values, whoever drives them.
    pub inputs: &'a [S],
    /// Motions of the joints whose motion can be switched.
    pub motions: &'a [JointMotion],
    /// Limit states of the motors.
    pub motors: &'a [MotorState],
    /// What servos feed forward, one for each rate, N·m or N; empty if none does.
    pub feed_forward: &'a [S],
}

/// How a load on a rate resists displacement and motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resistance {
    /// N·m/rad or N/m.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m.
    pub damping: f64,
}

impl Resistance {
    fn of(stiffness: f64, damping: f64) -> Self {
        Self { stiffness, damping }
    }
}

/// What servos see of one instant.
#[derive(Clone, Copy)]
pub struct Sensed<'a, S: Scalar> {
    /// The bodies' constants.
    pub derived: &'a Derived,
    /// The parameters' values.
    pub parameters: &'a [f64],
    /// Where the reference orbit has led the world.
    pub orbit: Option<&'a OrbitPoint<S>>,
    /// The inputs' values, whoever drives them.
    pub inputs: &'a [S],
    /// Coordinates.
    pub q: &'a [S],
    /// Rates.
    pub qd: &'a [S],
    /// What servos feed forward, one for each rate, N·m or N; empty if none does.
    pub feed_forward: &'a [S],
}

/// What the loads of a system read of its state, beside the modes of flexible bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Some load on a joint reads its coordinates or rates.
    pub joints: bool,
    /// Some load on a body reads its attitude.
    pub bodies: bool,
    /// Some load reads how a body moves, or of several bodies where they are.
    pub motions: bool,
}

/// Whether loads without a potential act on bodies.
struct ActsOnBodies {
    /// By a body's own attitude and modes.
    by_attitude: bool,
    /// By how bodies move, or by where several are.
    by_motion: bool,
}

impl<'a, S: Scalar> Instant<'a, S> {
    /// What servos see of it.
    #[inline]
    pub fn sensed(&self) -> Sensed<'a, S> {
        Sensed {
            derived: self.derived,
            parameters: self.parameters,
            orbit: self.orbit,
            inputs: self.inputs,
            q: self.q,
            qd: self.qd,
            feed_forward: self.feed_forward,
        }
    }

    /// Returns the mechanism with its kinematics.
    #[inline]
    pub fn configuration(&self) -> Configuration<'a, S> {
        Configuration {
            system: self.system,
            derived: self.derived,
            kinematics: self.kinematics,
        }
    }

    /// `∫p dm` of body `i` about its origin, kg·m, world axes.
    fn first_moment(&self, i: usize) -> Vec3<S> {
        match &self.system.bodies[i].modes {
            Some(modes) => self.kinematics.deflections[modes.index].h,
            None => self.kinematics.bodies[i].R_WB * lift3::<S>(&self.derived.bodies[i].h),
        }
    }
}

impl Loads {
    /// Lists the loads of a spec and declares their parameters and inputs; complains of what stands on nothing, and of contacts of what cannot move.
    pub fn compile(spec: &Spec, system: &System, declare: &mut Declarations, problems: &mut Vec<Problem>) -> Self {
        let gravity = gravity::Uniform::declare(&spec.environment, declare);
        let mut joints = joint::JointLoads::default();
        let (mut ranges, mut drives): (_, Vec<Drive>) = (Vec::new(), Vec::new());
        let (mut attitudes, mut motors) = (Vec::new(), Vec::new());
        for (i, body) in system.bodies.iter().enumerate() {
            if let Some(written) = spec.joint.get(&body.joint.name).filter(|_| body.joint.written) {
                let references = joints.declare(i, &body.joint, written, &mut motors, drives.len(), declare);
                let mode = drives.iter().filter(|drive| drive.is_switched()).count();
                drives.extend(Drive::declare(i, &body.joint, written, mode, references, declare));
                range::declare(&body.joint, written, declare, &mut ranges);
            }
            let servo = spec
                .body
                .get(&body.name)
                .and_then(|written| written.attitude_servo.as_ref());
            attitudes.extend(servo.map(|servo| Arc::new(AttitudeServo::declare(i, system, servo, declare))));
        }
        for servo in &attitudes {
            AttitudeServo::link(servo, &mut motors);
        }
        let mut strikes = Vec::new();
        let ports = port::declare(spec, system, declare, &mut strikes, problems);
        let thrusters = thruster::declare(spec, system, declare, problems);
        let lines = line::declare(spec, system, declare, problems);
        let contacts = contact::declare(spec, system, declare, &mut strikes, problems);
        let grasps = grasp::declare(spec, system, declare, problems);
        let closed_loops = closed_loop::declare(spec, system, declare, problems);
        Self {
            gravity,
            is_in_orbit: system.orbit.is_some(),
            has_director_beams: !system.directors.is_empty(),
            joints,
            attitudes,
            ports,
            thrusters,
            lines,
            ranges,
            motors,
            drives,
            contacts,
            strikes,
            grasps,
            closed_loops,
        }
    }

    /// Judges the parameters' values.
    pub fn judge(&self, declared: &[Parameter], derived: &Derived, values: &[f64], problems: &mut Vec<Problem>) {
        for range in &self.ranges {
            range.judge(declared, values, problems);
        }
        for drive in &self.drives {
            drive.judge(declared, values, problems);
        }
        for servo in &self.attitudes {
            servo.judge(derived, problems);
        }
        for contact in &self.contacts {
            contact.judge(declared, values, problems);
        }
        for thruster in &self.thrusters {
            thruster.judge(declared, values, problems);
        }
        for grasp in &self.grasps {
            grasp.judge(declared, values, problems);
        }
        for closed_loop in &self.closed_loops {
            closed_loop.judge(declared, values, problems);
        }
    }

    /// Fills `applied` and gives the power of the loads that have no potential energy, W.
    #[inline]
    pub fn evaluate<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) -> S {
        applied.clear();
        self.add_active(now, applied);
        let mut power = applied.power_on_rates(now.qd);
        let ActsOnBodies { by_attitude, by_motion } = self.acts_on_bodies();
        if by_attitude || by_motion {
            power += applied.power_on_bodies(now.kinematics);
        }
        self.add_conservative(now, applied);
        power
    }

    /// What the loads read of the state, by which they can be differentiated body by body and joint by joint.
    ///
    /// A load acts on one joint by that joint's own coordinates and rates, or on one body by its attitude and its modes, unless it reads motions.
    pub fn reads(&self) -> Reads {
        let ActsOnBodies { by_attitude, by_motion } = self.acts_on_bodies();
        Reads {
            joints: self.joints.read_state()
                || self.motors.iter().any(Motor::reads_state)
                || self.ranges.iter().any(Range::has_stop),
            bodies: self.gravity.is_some() || by_attitude,
            motions: by_motion || self.fed().next().is_some(),
        }
    }

    /// Which of what [`add_active`](Self::add_active) adds acts on bodies. Each load is named: a new one has to be, too.
    #[inline]
    fn acts_on_bodies(&self) -> ActsOnBodies {
        let Self {
            gravity: _,
            is_in_orbit,
            has_director_beams,
            joints: _,
            attitudes,
            ports,
            thrusters,
            lines,
            ranges: _,
            motors: _,
            drives: _,
            contacts,
            strikes: _,
            grasps,
            closed_loops: _,
        } = self;
        ActsOnBodies {
            by_attitude: !(ports.is_empty() && thrusters.is_empty() && lines.is_empty()),
            by_motion: *is_in_orbit
                || *has_director_beams
                || !(attitudes.is_empty() && grasps.is_empty())
                || contacts.iter().any(Contact::is_compliant),
        }
    }

    /// Lets surfaces press wherever they are, so that it can be seen what their forces depend on.
    pub fn press_always(&mut self) {
        self.contacts.iter_mut().for_each(Contact::press_always);
    }

    /// The contacts that meet by themselves, in the order of their numbers, with their places among all.
    pub fn touching(&self) -> impl Iterator<Item = (usize, &Contact)> {
        let contacts = self.contacts.iter().enumerate();
        contacts.filter(|(_, contact)| contact.touch().is_some())
    }

    /// The servos of joints.
    pub fn servos(&self) -> &[JointServo] {
        &self.joints.by_joint
    }

    /// The body that a joint carries, and the joint's axis that has this input for its reference position.
    pub fn axis_of(&self, input: usize) -> Option<(usize, usize)> {
        let of_servo = |servo: &JointServo| Some((servo.body, servo.axis_of(input)?));
        let of_drive = |drive: &Drive| Some((drive.body, drive.axis_of(input)?));
        let servos = self.servos().iter().find_map(of_servo);
        servos.or_else(|| self.drives.iter().find_map(of_drive))
    }

    /// The joints whose servos feed forward.
    pub(crate) fn fed(&self) -> impl Iterator<Item = &Fed> {
        self.servos().iter().filter_map(|servo| servo.fed.as_ref())
    }

    /// The same, with nothing that touches.
    pub fn without_contacts(&self) -> Self {
        Self {
            contacts: Vec::new(),
            strikes: Vec::new(),
            ..self.clone()
        }
    }

    /// How many joints' motions are switched.
    pub fn switched(&self) -> usize {
        self.drives.iter().filter(|drive| drive.is_switched()).count()
    }

    /// Whether there are commands, of which a host that knows no events has to be told.
    pub fn are_commanded(&self) -> bool {
        self.switched() > 0 || !self.strikes.is_empty()
    }

    /// Whether there are impulses: of joints that are locked while they move, of commands, of surfaces that meet.
    pub fn have_impulses(&self) -> bool {
        let is_locked = |drive: &Drive| drive.is_switched() && drive.motions().contains(&JointMotion::Locked);
        self.drives.iter().any(is_locked)
            || !self.strikes.is_empty()
            || self.touching().any(|(_, contact)| !contact.is_compliant())
    }

    /// The contacts that capture, in the order of their numbers.
    pub fn captures(&self) -> impl Iterator<Item = (&Contact, Capture)> {
        self.contacts
            .iter()
            .filter_map(|contact| Some((contact, contact.capture()?)))
    }

    /// How many captures and loops there are.
    pub fn closures(&self) -> usize {
        self.captures().count() + self.closed_loops.len()
    }

    /// The most scalar constraints that captures and loops can have together.
    pub fn most_rows(&self) -> usize {
        6 * self.captures().count() + self.loop_rows()
    }

    /// How many scalar constraints the loops have together.
    pub fn loop_rows(&self) -> usize {
        self.closed_loops.iter().map(ClosedLoop::count).sum()
    }

    /// The kind and the name of a capture or a loop, by its number: captures first.
    pub fn closure_name(&self, number: usize) -> String {
        let captures = self.captures().count();
        match number.checked_sub(captures) {
            None => (self.captures().nth(number))
                .map_or_else(String::new, |(contact, _)| format!("contact \"{}\"", contact.name)),
            Some(k) => format!("loop \"{}\"", self.closed_loops[k].name),
        }
    }

    /// Reports gains that are unstable with the explicit treatment in `linearly_implicit` at this step (s): two corrections of one
    /// constraint violation are stable, by their eigenvalues, up to steps of 1/α without β and 0.73/α with β = α.
    pub fn judge_gains(&self, step: f64, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        let of_captures = self
            .captures()
            .map(|(contact, capture)| ("contact", &contact.name, capture.gain_ids()));
        let of_loops = self.closed_loops.iter().map(|of| ("loop", &of.name, of.gain_ids()));
        for (kind, name, gains) in of_captures.chain(of_loops) {
            let [alpha, beta] = gains.map(|gain| gain.of(values));
            let longest = alpha.hypot(beta).recip();
            if step > longest {
                let what = format!(
                    "the gains of {kind} \"{name}\", alpha = {alpha} and beta = {beta} 1/s, close gaps faster than linearly_implicit with a step of {step} s: it needs a step of at most {longest:.3e} s"
                );
                report(declared, gains[0], problems, what);
            }
        }
    }

    /// The inputs that make impulses.
    pub fn strike_inputs(&self) -> impl Iterator<Item = usize> {
        let ports = self.ports.iter().filter_map(Port::impulse_inputs).flatten();
        self.strikes.iter().map(Strike::input).chain(ports)
    }

    /// Whether what a drive prescribes depends on the state.
    pub fn drives_read_state(&self) -> bool {
        self.drives.iter().any(Drive::reads_state)
    }

    /// Sets the motions of driven joints, and adds the loads that have no potential energy: gravity in orbit among them, whose potential moves along with the orbit.
    #[inline]
    pub fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        for drive in &self.drives {
            drive.set(now, applied);
        }
        self.joints.add_active(now, applied);
        for (motor, state) in self.motors.iter().zip(now.motors) {
            motor.add(now, state, &mut applied.tau);
        }
        for range in &self.ranges {
            range.add_damper(now, &mut applied.tau);
        }
        modal::add_dampers(now, &mut applied.tau);
        for servo in &self.attitudes {
            servo.add(now, applied);
        }
        for port in &self.ports {
            port.add(now, applied);
        }
        for thruster in &self.thrusters {
            thruster.add(now, applied);
        }
        for line in &self.lines {
            line.add(now, applied);
        }
        for contact in &self.contacts {
            contact.add_dissipation(now, applied);
        }
        for grasp in &self.grasps {
            grasp.add(now, applied);
        }
        director::add_dampers(now, applied);
        gravity::add_of_orbit(now, applied);
    }

    /// Says how loads on single rates resist displacement and motion: `−∂τ/∂q` and `−∂τ/∂q̇` of what acts on a joint's axis or a mode by its own coordinate and rate; of dry friction the secant `−τ/q̇`. A
    /// rate may be told of more than once.
    pub fn resist(&self, now: &Instant<f64>, mut on: impl FnMut(usize, Resistance)) {
        self.joints.resist(now, &mut on);
        for (motor, state) in self.motors.iter().zip(now.motors) {
            motor.resist(now, state, &mut on);
        }
        for range in &self.ranges {
            range.resist(now, &mut on);
        }
        modal::resist(now, &mut on);
    }

    /// Says how the gains of drives resist, where a unit of inertia stands for the joint's: `−∂q̈/∂q` (1/s²) and `−∂q̈/∂q̇` (1/s).
    pub fn resist_as_drives(&self, now: &Instant<f64>, mut on: impl FnMut(usize, Resistance)) {
        for drive in &self.drives {
            drive.resist(now, &mut on);
        }
    }

    /// Adds what has a potential: springs, stops' springs, what strains modes, nodal and geometrically exact beams, pressed contacts, uniform gravity.
    #[inline]
    pub fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        self.joints.add_conservative(now, &mut applied.tau);
        for range in &self.ranges {
            range.add_spring(now, &mut applied.tau);
        }
        modal::add_springs(now, &mut applied.tau);
        nodal::add_springs(now, &mut applied.tau);
        director::add_springs(now, applied);
        for contact in &self.contacts {
            contact.add_spring(now, applied);
        }
        if let Some(gravity) = self.gravity {
            gravity.add(now, applied);
        }
    }

    /// Adds what conservative loads do on the mean of a step of length `h` (s) more than in its middle `now`, for the coordinates at its start `q_0`: their work is then the difference of the potential
    /// energies. What is linear in coordinates has nothing more.
    ///
    /// The coordinates in the middle are means of both ends', `(q₀ + q₁)/2`, and bodies are where the [conserving step](crate::dynamics::conserving) has them.
    pub fn add_of_step<S: Scalar>(&self, now: &Instant<S>, h: f64, q_0: &[f64], applied: &mut Applied<S>) {
        self.joints.add_of_step(now, q_0, &mut applied.tau);
        for range in &self.ranges {
            range.add_of_step(now, q_0, &mut applied.tau);
        }
        for contact in &self.contacts {
            contact.add_of_step(now, h, applied);
        }
    }

    /// Energy of springs, stops, bent modes, nodal and geometrically exact beams, pressed contacts and uniform gravity (zero at the world's origin), J.
    pub fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
        let mut energy =
            self.joints.potential_energy(now) + modal::potential_energy(now) + nodal::potential_energy(now);
        energy += director::potential_energy(now);
        for range in &self.ranges {
            energy += range.potential_energy(now);
        }
        for contact in &self.contacts {
            energy += contact.potential_energy(now);
        }
        if let Some(gravity) = self.gravity {
            energy += gravity.potential_energy(now);
        }
        energy
    }
}

/// `(V(x₁) − V(x₀))/(x₁ − x₀)` of `V` that is zero where `x` is not positive, with the same of both positive ends.
fn mean_slope<S: Scalar>(ends: [S; 2], V: impl Fn(S) -> S, inside: impl Fn([S; 2]) -> S) -> S {
    let [x_0, x_1] = ends;
    match ends.map(|x| x.value() > 0.0) {
        [true, true] => inside(ends),
        [false, true] => V(x_1) / (x_1 - x_0),
        [true, false] => V(x_0) / (x_0 - x_1),
        [false, false] => S::zero(),
    }
}

/// The place in the spec of a parameter, with what is wrong.
fn report(declared: &[Parameter], id: ParamId, problems: &mut Vec<Problem>, what: String) {
    problems.push(Problem {
        at: declared[id.0].at.clone(),
        what,
    });
}
