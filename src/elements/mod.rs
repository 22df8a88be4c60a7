//! Elements: everything that a spec has besides the tree of bodies and joints.
//!
//! An element is one file (or folder). It implements the trait `Element`: it declares parameters,
//! inputs and outputs, validates them, adds its loads, writes its outputs and event indicators, and
//! updates its limit states. [`Elements`] has a list for each kind; the order of the lists is the
//! order of summation, of the outputs and of the indicators. A kind that the spec does not contain
//! has an empty list and no cost.

mod allocation;
mod ancf_beam;
mod attitude_servo;
mod band;
mod beam;
mod body;
mod bushing;
mod closed_loop;
mod closure;
mod cmg;
mod command;
mod contact;
mod context;
mod controller;
pub mod coupling;
mod deflection_limit;
mod diagnostics;
mod discrete;
mod effective_mass;
mod element;
mod exposed_surface;
mod frame;
mod geometrically_exact_beam;
mod grasp;
mod gravity;
pub mod interface;
mod joint;
mod kinematics;
mod lanes;
mod line_load;
mod magnetic_dipole;
mod measure;
mod modal;
mod orbit;
mod outputs;
mod pair;
mod port;
mod reaction;
mod recorded;
mod samples;
mod sensor;
mod shaper;
mod signal;
pub mod spring;
mod stored;
mod supply;
mod tank;
mod task;
mod tether;
mod thermal_bending;
mod thruster;
mod wave;
mod wheel;

#[cfg(feature = "inside")]
test_modules![contact, discrete::tests, grasp::tests, shaper::tests, wave::tests];

pub(crate) use ancf_beam::add_beam_adjoint;
pub use attitude_servo::AttitudeServo;
pub use band::Limit;
pub use closed_loop::{ClosedLoop, Constraint};
pub(crate) use closure::Closed;
pub use command::{Command, Target};
pub use contact::{Capture, Contact, Manifold, Nearest, Rest, Solid, Stiction, nearest, rate_bound, wall_width};
pub(crate) use contact::{Captured, ContactState, Detected, ImpactReport, ImpactStatus, MOST_IMPACTS, Transition};
pub(crate) use contact::{FacePair, Outline, Slot, SlotKind, Touching};
pub(crate) use contact::{Hold, NO_SLIP, PointForce, QUARTERS, RestState, RestingFrames, RimState, indicators};
pub(crate) use context::EventContext;
pub use context::{Instant, Sensed};
pub(crate) use controller::{Controller, LimitStates, Measured, Memory, Modes};
pub use coupling::Coupling;
pub use discrete::Discrete;
pub(crate) use effective_mass::EffectiveMass;
pub(crate) use element::{Compiler, Element, Values, Watched};
pub use element::{Reads, Resistance};
pub(crate) use frame::{FrameAdjoint, LoadSeeds, turn};
pub use grasp::{Grasp, Grasped};
pub(crate) use gravity::{GravityAdjoint, GravitySeeds};
pub(crate) use joint::{Circuit, DcMotor, Fed, Gains};
pub use joint::{Drive, JointServo, Motor, MotorState, Range, Sliding, StickingFriction};
pub(crate) use kinematics::{FrameKinematics, OutputsAdjoint, UnitMotion};
pub(crate) use outputs::{Cursor, Invariance, Outputs, View};
pub use outputs::{Output, OutputKind};
pub use pair::Pair;
pub use port::Port;
pub(crate) use samples::Samples;
pub(crate) use sensor::Sensor;
pub use shaper::{Copied, Shaped, copies, update_segments};
pub use signal::SignalSource;
pub use stored::Stored;
pub(crate) use stored::StoredAll;
pub(crate) use supply::Supply;
pub(crate) use tank::Tank;
pub(crate) use task::{ForceSensor, RelativeMotion, Task, TaskState};
pub(crate) use tether::Tether;
pub use thruster::Thruster;
pub use wave::{Wave, reached, round_off};
pub(crate) use wave::{hermite, quintic};

use crate::Problem;
use crate::algebra::{Scalar, Wrench};
use crate::dynamics::Applied;
use crate::event::Event;
use crate::spec::{JointMotion, Spec};
use crate::system::{Body, Declarations, ParamId, Parameter, System};
use gravity::{Attracted, Gravity};
use joint::JointTable;

/// Declares [`Elements`], with methods that call those of the trait `Element` for all lists, in
/// their order.
macro_rules! elements {
    ($($doc:literal $list:ident: $Kind:ty $([$section:ident: $Section:ty])?,)+) => {
        /// All elements of a model.
        #[derive(Clone, Debug, Default)]
        pub struct Elements {
            $(#[doc = $doc] pub(crate) $list: Vec<$Kind>,)+
            /// Commands for impulses and captures.
            pub(crate) commands: Vec<Command>,
            reads: Reads,
            works_on_bodies: bool,
            watched: Watched,
        }

        impl Elements {
            /// Compiles the lists of all kinds and declares their parameters and inputs.
            fn fill(&mut self, from: &mut Compiler) {
                $(self.$list.extend(<$Kind>::compile(from));)+
            }

            /// Validates the values of the parameters and reports problems.
            pub(crate) fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
                $(self.$list.iter().for_each(|element| element.validate(of, problems));)+
            }

            /// Determines the dependencies of all loads and event indicators.
            fn classify(&mut self) {
                (self.reads, self.works_on_bodies, self.watched) = Default::default();
                $(for element in &self.$list {
                    self.reads |= element.reads();
                    self.works_on_bodies |= element.works_on_bodies();
                    self.watched |= element.watches();
                })+
            }

            /// Returns true if a load or constraint depends on a free body's position, attitude or
            /// velocity in the world, other than by the rotation of the load with the body.
            pub(crate) fn read_world(&self, system: &System) -> bool {
                false $(|| self.$list.iter().any(|element| element.reads_world(system)))+
            }

            /// Declares the outputs of all elements.
            pub(crate) fn outputs(&self, spec: &Spec, system: &System) -> Outputs {
                let mut to = Outputs::default();
                $(self.$list.iter().for_each(|element| element.outputs(spec, system, &mut to));)+
                to
            }

            /// Writes the outputs of all elements into `y`.
            pub(crate) fn observe<S: Scalar>(&self, view: &View<S>, y: &mut [S]) {
                let mut y = Cursor::new(y);
                $(self.$list.iter().for_each(|element| element.observe(view, &mut y));)+
                y.assert_full();
            }

            /// Sets the prescribed motions and adds the loads without a potential. Gravity in orbit
            /// is among them, because its potential depends on time.
            #[inline]
            pub fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
                $(self.$list.iter().for_each(|element| element.add_active(now, applied));)+
            }

            /// Adds the loads with a potential: springs of joints, stops and compliant contacts,
            /// elastic forces of modes, ANCF beams and geometrically exact beams, uniform gravity.
            #[inline]
            pub fn add_conservative<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
                $(self.$list.iter().for_each(|element| element.add_conservative(now, applied));)+
            }

            /// Adds the difference between the discrete gradient of the conservative loads'
            /// potential over a step of length `h` (s) from the coordinates `q_0` and their forces
            /// at the midpoint `now`. The work of these loads then equals the difference of the
            /// potential energies. Loads that are linear in the coordinates need no such term.
            ///
            /// The midpoint coordinates are `(q₀ + q₁)/2`; the bodies have the midpoint positions
            /// of the [conserving step](crate::dynamics::conserving).
            pub fn add_of_step<S: Scalar>(&self, now: &Instant<S>, h: f64, q_0: &[f64], applied: &mut Applied<S>) {
                $(self.$list.iter().for_each(|element| element.add_of_step(now, h, q_0, applied));)+
            }

            /// Passes the tangent stiffness and damping of loads on single rates to `on`, with the
            /// index of the rate: `−∂τ/∂q` and `−∂τ/∂q̇` of the loads on a joint's axis or a mode
            /// with respect to its own coordinate and rate; for dry friction the secant `−τ/q̇`. A
            /// rate may occur more than once; its contributions add up.
            pub fn resist<S: Scalar<Constant = S>>(&self, now: &Instant<S>, mut on: impl FnMut(usize, Resistance<S>)) {
                $(self.$list.iter().for_each(|element| element.resist(now, &mut on));)+
            }

            /// Returns the potential energy of springs, stops, modes, ANCF and geometrically exact
            /// beams, compliant contacts and uniform gravity (zero at the world's origin), J.
            pub fn potential_energy<S: Scalar>(&self, now: &Instant<S>) -> S {
                let mut energy = S::zero();
                $(for element in &self.$list {
                    if let Some(part) = element.potential_energy(now) {
                        energy += part;
                    }
                })+
                energy
            }

            /// Returns the number of event indicators of all elements.
            pub(crate) fn indicator_count(&self) -> usize {
                0 $(+ self.$list.iter().map(|element| element.indicator_count()).sum::<usize>())+
            }

            /// Writes the event indicators of all elements into `z`.
            pub(crate) fn indicate(&self, now: &EventContext, discrete: &Discrete, z: &mut [f64]) {
                let mut z = Cursor::new(z);
                $(self.$list.iter().for_each(|element| element.indicate(now, discrete, &mut z));)+
                z.assert_full();
            }

            /// Writes into `rates` the upper bounds of the rates of all event indicators; see
            /// [`Element::bound_rates`].
            pub(crate) fn bound_rates(&self, now: &EventContext, discrete: &Discrete, rates: &mut [f64]) {
                let mut rates = Cursor::new(rates);
                $(self.$list.iter().for_each(|element| element.bound_rates(now, discrete, &mut rates));)+
                rates.assert_full();
            }

            /// Updates the discrete states that change without a jump of the states, and appends the
            /// events of limits that have just been exceeded. Returns true if one changed.
            pub(crate) fn update(&self, now: &EventContext, discrete: &mut Discrete, events: &mut Vec<Event>) -> bool {
                let mut changed = false;
                $(for element in &self.$list {
                    changed |= element.update(now, discrete, events);
                })+
                changed
            }
        }
    };
}

for_each_element!(elements);

impl Elements {
    /// Creates the elements of a spec and declares their parameters and inputs.
    ///
    /// Reports references to undefined frames and bodies, and contacts and loops whose frames
    /// cannot move relative to each other.
    pub fn compile(spec: &Spec, system: &System, declare: &mut Declarations, problems: &mut Vec<Problem>) -> Self {
        let mut elements = Self::default();
        for (body, Body { joint, .. }) in system.bodies.iter().enumerate() {
            if let Some(written) = spec.joint.get(&joint.name).filter(|_| joint.written) {
                let table = JointTable {
                    body,
                    joint,
                    written,
                    in_task: spec.task.values().any(|task| task.joints.contains(&joint.name)),
                };
                joint::declare(table, system, &mut elements, declare);
            }
        }
        let mut from = Compiler {
            spec,
            system,
            declare,
            problems,
            commands: Vec::new(),
        };
        elements.fill(&mut from);
        elements.commands = from.commands;
        let drives = &elements.drives;
        elements.sticking.iter_mut().for_each(|friction| friction.link(drives));
        let frictions = &elements.sticking;
        let trains = elements.drive_trains.iter_mut();
        trains.for_each(|train| train.link(drives, frictions));
        for servo in &elements.attitude_servos {
            servo.link(&mut elements.motors);
        }
        let currents = declare.inputs.len();
        elements.dc_motors.iter_mut().for_each(|motor| motor.link(currents));
        let reels = currents + elements.dc_motors.iter().filter(|motor| motor.has_state()).count();
        elements.tethers.iter_mut().for_each(|tether| tether.link(reels));
        elements.classify();
        elements
    }

    /// Evaluates all loads into `applied` and returns the power of the loads without a potential,
    /// W.
    #[inline]
    pub fn evaluate<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) -> S {
        applied.clear();
        self.add_active(now, applied);
        let mut power = applied.power_on_rates(now.qd);
        if self.works_on_bodies {
            power += applied.power_on_bodies(now.kinematics);
            if !now.kinematics.fills.is_empty() {
                power -= self.drawn_energy(now);
            }
            let tethers = self.tethers.iter().filter_map(|tether| match S::FUSES {
                true => Some(tether.add_at_once(now, applied)),
                false => tether.reel_power(now),
            });
            power = tethers.fold(power, |sum, of| sum + of);
        } else if cfg!(feature = "inside") {
            let is_zero = |F: &Wrench<S>| F.to_array().iter().all(|part| part.value() == 0.0);
            assert!(
                applied.wrench.iter().all(is_zero),
                "an element acts on bodies, but `works_on_bodies` is false"
            );
        }
        self.add_conservative(now, applied);
        power
    }

    /// Returns true if momenta and energy of the whole system are outputs.
    pub(crate) fn observe_invariants(&self) -> bool {
        let mut all = self.diagnostics.iter();
        all.any(|diagnostics| matches!(diagnostics, diagnostics::Diagnostics::Invariants))
    }

    /// Returns the state dependencies of the loads, which determine whether they can be
    /// differentiated separately for each body and each joint.
    ///
    /// Unless [`motions`](Reads::motions) is true, a load on a joint depends on the joint's own
    /// coordinates and rates only, a load on a body on the body's own attitude and modes only.
    pub fn reads(&self) -> Reads {
        self.reads
    }

    /// Returns the data other than coordinates and rates on which event indicators depend.
    pub(crate) fn watches(&self) -> Watched {
        self.watched
    }

    /// Returns a copy without contacts, without commands for impulses and captures, without the
    /// grasps that hold ANCF beams, and without elastic forces and orbital gravity of these beams.
    pub fn without_contacts_and_held_beams(&self) -> Self {
        let mut without = Self {
            contacts: Vec::new(),
            commands: Vec::new(),
            ..self.without_forces_of_beams(Attracted::Bodies)
        };
        without.grasps.retain(|grasp| grasp.held_beam().is_none());
        without.classify();
        without
    }

    /// Returns true if a load depends on the deflection of a flexible body otherwise than by the
    /// motion of its stations.
    pub(crate) fn read_deflections(&self) -> bool {
        self.gravity.iter().any(Gravity::acts) || !self.line_loads.is_empty()
    }

    /// Returns a copy without elastic forces of ANCF beams, with gravity on these bodies.
    fn without_forces_of_beams(&self, attracted: Attracted) -> Self {
        let mut without = Self {
            ancf_beams: Vec::new(),
            gravity: self.gravity.iter().map(|of| of.on(attracted)).collect(),
            ..self.clone()
        };
        without.classify();
        without
    }

    /// Returns a copy whose gravity acts on no body.
    pub(crate) fn without_gravity(&self) -> Self {
        let mut without = Self {
            gravity: self.gravity.iter().map(|of| of.on(Attracted::None)).collect(),
            ..self.clone()
        };
        without.classify();
        without
    }

    /// Returns the contacts with contact detection, in the order of their numbers, with their
    /// indices among all contacts.
    pub fn with_detection(&self) -> impl Iterator<Item = (usize, &Contact)> {
        let contacts = self.contacts.iter().enumerate();
        contacts.filter(|(_, contact)| contact.detection_number().is_some())
    }

    /// Returns the child body and the axis of the joint whose reference position is this input.
    pub fn axis_of(&self, input: usize) -> Option<(usize, usize)> {
        let of_servo = |servo: &JointServo| Some((servo.body, servo.axis_of(input)?));
        let of_drive = |drive: &Drive| Some((drive.body, drive.axis_of(input)?));
        let servos = self.joint_servos.iter().find_map(of_servo);
        servos.or_else(|| self.drives.iter().find_map(of_drive))
    }

    /// Returns the joints whose servos have feed-forward torques.
    pub(crate) fn fed(&self) -> impl Iterator<Item = &Fed> {
        self.joint_servos.iter().filter_map(|servo| servo.fed.as_ref())
    }

    /// Returns the attitude servos that have feed-forward moments.
    pub(crate) fn fed_attitudes(&self) -> impl Iterator<Item = &AttitudeServo> {
        self.attitude_servos.iter().filter(|servo| servo.wd_ref.is_some())
    }

    /// Returns the switch and the reference accelerations of each servo with feed-forward, as
    /// indices of inputs.
    pub(crate) fn fed_inputs(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let joints = self.fed().map(|fed| (fed.switch, fed.qdd_ref..fed.qdd_ref + fed.axes));
        let attitudes = self.attitude_servos.iter();
        joints.chain(attitudes.filter_map(|servo| servo.wd_ref.map(|first| (servo.switch, first..first + 3))))
    }

    /// Returns true if the evaluation solves the dynamics of the spacecraft with undeformed bodies:
    /// for servos with feed-forward, and for tasks.
    pub(crate) fn need_rigid_model(&self) -> bool {
        !self.tasks.is_empty() || self.fed_inputs().next().is_some()
    }

    /// Returns the times between samples of controllers, tasks and sensors, `None` for those that
    /// are not sampled.
    pub(crate) fn sample_times(&self) -> impl Iterator<Item = Option<ParamId>> {
        let of_controllers = self.controllers.iter().map(|controller| controller.sample_time);
        let of_tasks = self.tasks.iter().map(|task| task.sample_time);
        of_controllers
            .chain(of_tasks)
            .chain(self.sensors.iter().map(|sensor| sensor.sample_time))
    }

    /// Returns the index of the samples of the first sensor among those of all elements.
    pub(crate) fn first_sensor(&self) -> usize {
        self.controllers.len() + self.tasks.len()
    }

    /// Returns the force sensors of all tasks.
    pub(crate) fn force_sensors(&self) -> impl Iterator<Item = &ForceSensor> {
        self.tasks.iter().flat_map(Task::sensors)
    }

    /// Returns the circuits of the motors whose currents are states.
    #[inline]
    pub(crate) fn circuits<S: Scalar>(
        &self,
        parameters: &[S::Constant],
        inputs: &[S],
        discrete: &Discrete,
    ) -> impl Iterator<Item = Circuit<S>> {
        let motors = self.dc_motors.iter();
        motors.filter_map(move |motor| motor.circuit(parameters, inputs, &discrete.voltages))
    }

    /// Writes the rates of the unwound lengths of tethers, m/s.
    pub(crate) fn unwind<S: Scalar>(&self, parameters: &[S::Constant], inputs: &[S], rates: &mut [S]) {
        let reels = self
            .tethers
            .iter()
            .filter_map(|tether| tether.unwinding(S::numbers(parameters), inputs));
        rates.iter_mut().zip(reels).for_each(|(to, rate)| *to = rate);
    }

    /// Returns the number of joints whose motion can be switched.
    pub fn switched(&self) -> usize {
        self.drives.iter().filter(|drive| drive.is_switched()).count()
    }

    /// Returns true if the model has inputs that command events: switched motions, impulses,
    /// captures.
    pub fn are_commanded(&self) -> bool {
        self.switched() > 0 || !self.commands.is_empty()
    }

    /// Returns true if impulses can occur: by locking a moving joint, by a command, or by an impact
    /// of surfaces.
    pub fn have_impulses(&self) -> bool {
        let is_locked = |drive: &Drive| drive.is_switched() && drive.motions().contains(&JointMotion::Locked);
        self.drives.iter().any(is_locked)
            || !self.commands.is_empty()
            || self.with_detection().any(|(_, contact)| !contact.is_compliant())
    }

    /// Returns the contacts that capture, in the order of their numbers.
    pub fn captures(&self) -> impl Iterator<Item = (&Contact, Capture)> {
        self.contacts
            .iter()
            .filter_map(|contact| Some((contact, contact.capture()?)))
    }

    /// Returns the number of captures, loops, couplings and [points](Self::rest_points).
    pub fn closures(&self) -> usize {
        self.bilateral_closures() + self.rest_points()
    }

    /// Returns the number of captures, loops and couplings.
    pub fn bilateral_closures(&self) -> usize {
        self.captures().count() + self.closed_loops.len() + self.couplings.len()
    }

    /// Returns the largest total number of scalar constraints of captures, loops, couplings and points.
    pub fn most_rows(&self) -> usize {
        6 * self.captures().count() + self.loop_rows() + self.couplings.len() + self.point_rows()
    }

    /// Returns the total number of scalar constraints of the loops.
    pub fn loop_rows(&self) -> usize {
        self.closed_loops.iter().map(ClosedLoop::count).sum()
    }

    /// Returns the kind and the name of a capture, a loop or a coupling by its number, in this
    /// order.
    pub fn closure_name(&self, number: usize) -> String {
        let captures = self.captures().map(|(contact, _)| ("contact", &contact.name));
        let loops = self.closed_loops.iter().map(|of| ("loop", &of.name));
        let couplings = self.couplings.iter().map(|of| ("coupling", &of.name));
        let rests = self.rests().map(|(contact, ..)| ("contact", &contact.name));
        let stictions = self.stictions().map(|(contact, _)| ("contact", &contact.name));
        let named = (captures.chain(loops).chain(couplings).chain(rests.chain(stictions))).nth(number);
        named.map_or_else(String::new, |(kind, name)| format!("{kind} \"{name}\""))
    }

    /// Reports Baumgarte gains that are unstable with the explicit treatment in `linearly_implicit` at this
    /// step (s).
    ///
    /// With the two corrections of a step, the eigenvalues of one constraint violation are stable
    /// up to steps of 1/α for β = 0 and 0.73/α for β = α; the limit here is 1/√(α² + β²).
    pub fn validate_gains(&self, step: f64, declared: &[Parameter], values: &[f64], problems: &mut Vec<Problem>) {
        let of_captures = self
            .captures()
            .map(|(contact, capture)| ("contact", &contact.name, capture.gain_ids()));
        let of_loops = self.closed_loops.iter().map(|of| ("loop", &of.name, of.gain_ids()));
        let of_couplings = self.couplings.iter().map(|of| ("coupling", &of.name, of.gain_ids()));
        let of_rests = self
            .contacts
            .iter()
            .filter_map(|contact| Some(("contact", &contact.name, contact.rest?.gain_ids())));
        for (kind, name, gains) in of_captures.chain(of_loops).chain(of_couplings).chain(of_rests) {
            let [alpha, beta] = gains.map(|gain| gain.of(values));
            let longest = libm::hypot(alpha, beta).recip();
            if step > longest {
                let what = format!(
                    "the gains of {kind} \"{name}\", alpha = {alpha} and beta = {beta} 1/s, are too large for linearly_implicit with a step of {step} s: reduce them, or use a step of at most {longest:.3e} s"
                );
                report(declared, gains[0], problems, what);
            }
        }
        self.validate_stiction_gains(step, declared, values, problems);
    }

    /// Returns the inputs that command impulses and captures or set impulses.
    pub fn command_inputs(&self) -> impl Iterator<Item = usize> {
        let ports = self.ports.iter().filter_map(Port::impulse_inputs).flatten();
        self.commands.iter().map(Command::input).chain(ports)
    }

    /// Returns true if a drive's prescribed acceleration depends on the state.
    pub fn drives_read_state(&self) -> bool {
        self.drives.iter().any(Drive::reads_state)
    }

    /// Passes the tracking gains of drives to `on`, as tangent stiffness and damping per unit of
    /// inertia: `−∂q̈/∂q` (1/s²) and `−∂q̈/∂q̇` (1/s).
    pub fn resist_as_drives<S: Scalar<Constant = S>>(
        &self,
        now: &Instant<S>,
        mut on: impl FnMut(usize, Resistance<S>),
    ) {
        for drive in &self.drives {
            drive.resist_as_drive(now, &mut on);
        }
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

/// Replaces a value; returns true if the new one differs.
fn replace<T: PartialEq>(value: &mut T, new: T) -> bool {
    let is_new = *value != new;
    *value = new;
    is_new
}
