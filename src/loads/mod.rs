//! Loads: wrenches, generalised forces and prescribed motions ([`Applied`]) as functions of
//! positions, velocities and inputs.
//!
//! Each kind of load is a list of entries with the indices of their parameters. A load that the
//! spec does not contain has no entry and no cost.

mod attitude;
mod band;
mod closed_loop;
mod compliant;
mod contact;
mod context;
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
pub use context::{Instant, Sensed};
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
use crate::algebra::Scalar;
use crate::dynamics::Applied;
use crate::spec::{JointMotion, Spec};
use crate::system::{Declarations, Derived, ParamId, Parameter, System};
use std::sync::Arc;

/// All loads of a system.
#[derive(Clone, Debug)]
pub struct Loads {
    gravity: Option<gravity::Uniform>,
    is_in_orbit: bool,
    has_director_beams: bool,
    joints: joint::JointLoads,
    /// Attitude servos of free bodies.
    pub attitudes: Vec<Arc<AttitudeServo>>,
    /// Frames on which external wrenches and impulses act.
    pub ports: Vec<Port>,
    /// Thrusters.
    pub thrusters: Vec<Thruster>,
    lines: Vec<line::LineLoad>,
    /// Ranges of joint coordinates and their stops.
    pub ranges: Vec<Range>,
    /// Motors with limited torque and rate, one for each axis of a joint.
    pub motors: Vec<Motor>,
    /// Joints whose motion is locked or prescribed, always or when commanded.
    pub drives: Vec<Drive>,
    /// Contacts between frames.
    pub contacts: Vec<Contact>,
    /// Commands for impulses and captures.
    pub strikes: Vec<Strike>,
    /// Switched spring-dampers between frames.
    pub grasps: Vec<Grasp>,
    /// Joints that close kinematic loops.
    pub closed_loops: Vec<ClosedLoop>,
}

/// Tangent stiffness and damping of a load on one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Resistance {
    /// Stiffness `−∂τ/∂q`, N·m/rad or N/m.
    pub stiffness: f64,
    /// Damping `−∂τ/∂q̇`, N·m·s/rad or N·s/m.
    pub damping: f64,
}

impl Resistance {
    fn of(stiffness: f64, damping: f64) -> Self {
        Self { stiffness, damping }
    }
}

/// State dependencies of a system's loads, apart from those on the modes of flexible bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// True if a load on a joint depends on the joint's coordinates or rates.
    pub joints: bool,
    /// True if a load on a body depends on the body's attitude.
    pub bodies: bool,
    /// True if a load on a body depends on velocities or on the positions of bodies, or if a servo
    /// has a feed-forward torque.
    pub motions: bool,
}

/// Dependencies of the loads without a potential that act on bodies.
struct ActsOnBodies {
    /// True if such a load depends on the body's own attitude and modes.
    by_attitude: bool,
    /// True if such a load depends on velocities or on the positions of bodies.
    by_motion: bool,
}

impl Loads {
    /// Creates the loads of a spec and declares their parameters and inputs.
    ///
    /// Reports references to undefined frames and bodies, and contacts and loops whose frames
    /// cannot move relative to each other.
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

    /// Validates the values of the parameters and reports problems.
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

    /// Evaluates all loads into `applied` and returns the power of the loads without a potential,
    /// W.
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

    /// Returns the state dependencies of the loads, which determine whether they can be
    /// differentiated separately for each body and each joint.
    ///
    /// Unless [`motions`](Reads::motions) is true, a load on a joint depends on the joint's own
    /// coordinates and rates only, a load on a body on the body's own attitude and modes only.
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

    /// Returns the dependencies of the loads on bodies in [`add_active`](Self::add_active). The
    /// exhaustive pattern makes the compiler reject a new kind of load that is not classified here.
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

    /// Returns the contacts with contact detection, in the order of their numbers, with their
    /// indices among all contacts.
    pub fn touching(&self) -> impl Iterator<Item = (usize, &Contact)> {
        let contacts = self.contacts.iter().enumerate();
        contacts.filter(|(_, contact)| contact.touch().is_some())
    }

    /// Returns the servos of the joints.
    pub fn servos(&self) -> &[JointServo] {
        &self.joints.by_joint
    }

    /// Returns the child body and the axis of the joint whose reference position is this input.
    pub fn axis_of(&self, input: usize) -> Option<(usize, usize)> {
        let of_servo = |servo: &JointServo| Some((servo.body, servo.axis_of(input)?));
        let of_drive = |drive: &Drive| Some((drive.body, drive.axis_of(input)?));
        let servos = self.servos().iter().find_map(of_servo);
        servos.or_else(|| self.drives.iter().find_map(of_drive))
    }

    /// Returns the joints whose servos have feed-forward torques.
    pub(crate) fn fed(&self) -> impl Iterator<Item = &Fed> {
        self.servos().iter().filter_map(|servo| servo.fed.as_ref())
    }

    /// Returns a copy without contacts and commands for impulses.
    pub fn without_contacts(&self) -> Self {
        Self {
            contacts: Vec::new(),
            strikes: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the number of joints whose motion can be switched.
    pub fn switched(&self) -> usize {
        self.drives.iter().filter(|drive| drive.is_switched()).count()
    }

    /// Returns true if inputs command events: switched motions, impulses, captures.
    pub fn are_commanded(&self) -> bool {
        self.switched() > 0 || !self.strikes.is_empty()
    }

    /// Returns true if impulses can occur: by locking a moving joint, by a command, or by an impact
    /// of surfaces.
    pub fn have_impulses(&self) -> bool {
        let is_locked = |drive: &Drive| drive.is_switched() && drive.motions().contains(&JointMotion::Locked);
        self.drives.iter().any(is_locked)
            || !self.strikes.is_empty()
            || self.touching().any(|(_, contact)| !contact.is_compliant())
    }

    /// Returns the contacts that capture, in the order of their numbers.
    pub fn captures(&self) -> impl Iterator<Item = (&Contact, Capture)> {
        self.contacts
            .iter()
            .filter_map(|contact| Some((contact, contact.capture()?)))
    }

    /// Returns the number of captures and loops.
    pub fn closures(&self) -> usize {
        self.captures().count() + self.closed_loops.len()
    }

    /// Returns the largest total number of scalar constraints of captures and loops.
    pub fn most_rows(&self) -> usize {
        6 * self.captures().count() + self.loop_rows()
    }

    /// Returns the total number of scalar constraints of the loops.
    pub fn loop_rows(&self) -> usize {
        self.closed_loops.iter().map(ClosedLoop::count).sum()
    }

    /// Returns the kind and the name of a capture or a loop by its number, captures first.
    pub fn closure_name(&self, number: usize) -> String {
        let captures = self.captures().count();
        match number.checked_sub(captures) {
            None => (self.captures().nth(number))
                .map_or_else(String::new, |(contact, _)| format!("contact \"{}\"", contact.name)),
            Some(k) => format!("loop \"{}\"", self.closed_loops[k].name),
        }
    }

    /// Reports gains that are unstable with the explicit treatment in `linearly_implicit` at this
    /// step (s).
    ///
    /// With the two corrections of a step, the eigenvalues of one constraint violation are stable
    /// up to steps of 1/α for β = 0 and 0.73/α for β = α; the limit here is 1/√(α² + β²).
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
                    "the gains of {kind} \"{name}\", alpha = {alpha} and beta = {beta} 1/s, are too large for linearly_implicit with a step of {step} s: reduce them, or use a step of at most {longest:.3e} s"
                );
                report(declared, gains[0], problems, what);
            }
        }
    }

    /// Returns the inputs that command impulses and captures or set impulses.
    pub fn strike_inputs(&self) -> impl Iterator<Item = usize> {
        let ports = self.ports.iter().filter_map(Port::impulse_inputs).flatten();
        self.strikes.iter().map(Strike::input).chain(ports)
    }

    /// Returns true if a drive's prescribed acceleration depends on the state.
    pub fn drives_read_state(&self) -> bool {
        self.drives.iter().any(Drive::reads_state)
    }

    /// Sets the prescribed motions and adds the loads without a potential. Gravity in orbit is
    /// among them, because its potential depends on time.
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

    /// Passes the tangent stiffness and damping of loads on single rates to `on`, with the index of
    /// the rate: `−∂τ/∂q` and `−∂τ/∂q̇` of the loads on a joint's axis or a mode with respect to
    /// its own coordinate and rate; for dry friction the secant `−τ/q̇`. A rate may occur more than
    /// once; its contributions add up.
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

    /// Passes the tracking gains of drives to `on`, as tangent stiffness and damping per unit of
    /// inertia: `−∂q̈/∂q` (1/s²) and `−∂q̈/∂q̇` (1/s).
    pub fn resist_as_drives(&self, now: &Instant<f64>, mut on: impl FnMut(usize, Resistance)) {
        for drive in &self.drives {
            drive.resist(now, &mut on);
        }
    }

    /// Adds the loads with a potential: springs of joints, stops and compliant contacts, elastic
    /// forces of modes, ANCF beams and geometrically exact beams, uniform gravity.
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

    /// Adds the difference between the discrete gradient of the conservative loads' potential over
    /// a step of length `h` (s) from the coordinates `q_0` and their forces at the midpoint `now`.
    /// The work of these loads then equals the difference of the potential energies. Loads that are
    /// linear in the coordinates need no such term.
    ///
    /// The midpoint coordinates are `(q₀ + q₁)/2`; the bodies have the midpoint positions of the
    /// [conserving step](crate::dynamics::conserving).
    pub fn add_of_step<S: Scalar>(&self, now: &Instant<S>, h: f64, q_0: &[f64], applied: &mut Applied<S>) {
        self.joints.add_of_step(now, q_0, &mut applied.tau);
        for range in &self.ranges {
            range.add_of_step(now, q_0, &mut applied.tau);
        }
        for contact in &self.contacts {
            contact.add_of_step(now, h, applied);
        }
    }

    /// Returns the potential energy of springs, stops, modes, ANCF and geometrically exact beams,
    /// compliant contacts and uniform gravity (zero at the world's origin), J.
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

/// Returns the difference quotient `(V(x₁) − V(x₀))/(x₁ − x₀)` of a function `V` that is zero for
/// `x ≤ 0`; `inside` returns the quotient without cancellation if both ends are positive.
fn mean_slope<S: Scalar>(ends: [S; 2], V: impl Fn(S) -> S, inside: impl Fn([S; 2]) -> S) -> S {
    let [x_0, x_1] = ends;
    match ends.map(|x| x.value() > 0.0) {
        [true, true] => inside(ends),
        [false, true] => V(x_1) / (x_1 - x_0),
        [true, false] => V(x_0) / (x_0 - x_1),
        [false, false] => S::zero(),
    }
}

/// Adds a problem at the location of a parameter in the spec.
fn report(declared: &[Parameter], id: ParamId, problems: &mut Vec<Problem>, what: String) {
    problems.push(Problem {
        at: declared[id.0].at.clone(),
        what,
    });
}
