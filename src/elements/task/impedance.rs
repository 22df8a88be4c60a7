//! Virtual inertia of a task's frame, and the measured wrench of the environment on it.

use crate::algebra::{Quaternion, Scalar, Twist, Vec3, Wrench, lift3};
use crate::dynamics::Applied;
use crate::elements::{Compiler, Elements, Instant, Pair};
use crate::spec::{self, PerAxis, at, problem};
use crate::system::{Bound, Carrier, Configuration, FrameRef, InputKind, ParamId, Quantity, Unit};

/// Virtual inertia of a frame, and the sensors of the wrench that moves it.
#[derive(Clone, Debug, Default)]
pub(super) struct Impedance {
    /// Virtual mass along each axis of the reference, kg; `None` if forces do not move the frame.
    mass: Option<ParamId>,
    /// Virtual moment of inertia about each axis of the reference, kg·m²; `None` if torques do not
    /// rotate the frame.
    inertia: Option<ParamId>,
    /// Damping ratio of the virtual damper; `None` for that of the gains.
    damping_ratio: Option<ParamId>,
    pub sensors: Vec<ForceSensor>,
}

/// Ideal force and torque sensor: the wrench of the environment on a task's frame, without the
/// inertia and the weight of the bodies beyond it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForceSensor {
    source: Source,
    /// Frame of the task, and the frame on which the reverse of the wrench acts: the world if it is
    /// unknown.
    frames: [FrameRef; 2],
}

/// Source of a measured wrench.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Index of the first of six inputs: force, N, and torque, N·m.
    Inputs(usize),
    /// Index of a compliant contact, and the sign of its force on the task's frame: −1 if that is
    /// on the contact's frame b.
    Contact(usize, f64),
    /// Index of a port.
    Port(usize),
}

impl ForceSensor {
    /// Returns the wrench about the origin of the task's frame, in axes of that frame.
    pub fn wrench<S: Scalar>(&self, now: &Instant<S>, elements: &Elements) -> Wrench<S> {
        let X_WF = now.configuration().pose(self.frames[0]);
        let F = match self.source {
            Source::Inputs(first) => {
                let vector = |first: usize| Vec3::from_column_slice(&now.inputs[first..first + 3]);
                return Wrench::new(vector(first + 3), vector(first));
            }
            Source::Contact(contact, sign) => elements.contacts[contact].wrench_about(now, &X_WF.p) * S::lift(sign),
            Source::Port(port) => elements.ports[port].wrench_about(now, &X_WF.p),
        };
        F.express(&X_WF.R.transpose())
    }

    /// Adds the wrench `F`, as it was [measured](Self::wrench), and its reverse to the loads of the
    /// rigid spacecraft, which has the loads of ports already, but no contacts.
    pub fn push<S: Scalar>(&self, at: Configuration<S>, F: &Wrench<S>, applied: &mut Applied<S>) {
        if !matches!(self.source, Source::Port(_)) {
            let F = F.express(&at.pose(self.frames[0]).R);
            Pair::at_a(at, self.frames).push(at.system, at.kinematics, applied, F);
        }
    }
}

impl Impedance {
    /// Declares virtual inertias, and the inputs of the measured wrench if it is not that of
    /// contacts and ports; reports those of other bodies than that of the task's frame.
    pub fn declare(name: &str, written: &spec::Task, frame: FrameRef, from: &mut Compiler) -> Self {
        let mut along = |field: &str, unit, value: &Option<PerAxis>, what: &str| {
            let what = format!(
                "virtual {what} of the frame of task {name}, axes of {}",
                written.reference_axes()
            );
            let quantities = Quantity::vector(&format!("{name}.{field}"), unit, &what);
            let quantities = quantities.map(|quantity| quantity.bounded(Bound::Positive));
            value.as_ref().map(|value| {
                let values = [0, 1, 2].map(|i| value.get(i));
                from.declare
                    .parameters(quantities, &values, true, &at("task", name, field))
            })
        };
        let mass = along("mass", Unit::Kilogram, &written.mass, "mass");
        let inertia = along("inertia", Unit::KilogramMetre2, &written.inertia, "moment of inertia");
        let damping_ratio = written.damping_ratio.map(|value| {
            let what = format!("damping ratio of the virtual damper of task {name}");
            let quantity = Quantity::new(format!("{name}.damping_ratio"), Unit::One, what).bounded(Bound::Positive);
            from.declare
                .parameter(quantity, value, true, &at("task", name, "damping_ratio"))
        });
        let mut sensors = ForceSensor::of_contacts(name, written, frame, from);
        sensors.extend(ForceSensor::of_ports(name, written, frame, from));
        if !written.measures() && (mass.is_some() || inertia.is_some()) {
            sensors.push(ForceSensor::of_inputs(name, written, frame, from));
        }
        Self {
            mass,
            inertia,
            damping_ratio,
            sensors,
        }
    }

    /// Returns the acceleration of the frame relative to the reference by the `wrench` (axes of the
    /// frame), in axes of the reference, in which the frame has the attitude `q`.
    pub fn acceleration<S: Scalar>(&self, parameters: &[f64], q: Quaternion<S>, wrench: &Wrench<S>) -> Twist<S> {
        let along = |inertia: Option<ParamId>, v: Vec3<S>| match inertia {
            Some(id) => q.rotate(v).component_div(&lift3::<S>(&id.vector(parameters))),
            None => Vec3::zeros(),
        };
        Twist::new(along(self.inertia, wrench.t), along(self.mass, wrench.f))
    }

    /// Returns the acceleration for the error `V` of the velocity, in addition to `kd V` of the rate
    /// law: `kp V`, and `(2ζ √(kp kd) − kd) V` with a damping ratio ζ of the virtual damper.
    pub fn damped<S: Scalar>(&self, parameters: &[f64], [kp, kd]: [f64; 2], V: Twist<S>) -> Twist<S> {
        let gain = |inertia: Option<ParamId>| match self.damping_ratio.filter(|_| inertia.is_some()) {
            Some(ratio) => 2.0 * ratio.of(parameters) * (kp * kd).sqrt() - kd,
            None => kp,
        };
        let [angular, linear] = [self.inertia, self.mass].map(gain).map(S::lift);
        Twist::new(V.w * angular, V.v * linear)
    }

    /// Returns the inputs that it reads.
    pub fn inputs(&self) -> impl Iterator<Item = usize> {
        let first = self.sensors.iter().filter_map(|sensor| match sensor.source {
            Source::Inputs(first) => Some(first..first + 6),
            Source::Contact(..) | Source::Port(_) => None,
        });
        first.flatten()
    }
}

impl ForceSensor {
    fn of_inputs(name: &str, written: &spec::Task, frame: FrameRef, from: &mut Compiler) -> Self {
        let first = from.declare.inputs.len();
        for (field, unit, what) in [("f", Unit::Newton, "force"), ("t", Unit::NewtonMetre, "torque")] {
            let on = &written.frame;
            let what = format!("measured {what} of the environment on {on}, at its origin and in its axes");
            for quantity in Quantity::vector(&format!("{name}.{field}"), unit, &what) {
                from.declare.input(quantity, 0.0, InputKind::Continuous);
            }
        }
        Self {
            source: Source::Inputs(first),
            frames: [frame, FrameRef::World],
        }
    }

    fn of_contacts(name: &str, written: &spec::Task, frame: FrameRef, from: &mut Compiler) -> Vec<Self> {
        let (system, mut sensors) = (from.system, Vec::new());
        let own = system.rigid_carrier(frame);
        for contact in &written.contacts {
            let Some((index, _, of)) = from.spec.contact.get_full(contact) else {
                continue;
            };
            let [Some(a), Some(b)] = [&of.a, &of.b].map(|frame| system.frame(frame)) else {
                continue;
            };
            let is_own = |side| own != Carrier::World && system.rigid_carrier(side) == own;
            let (sign, other) = match (is_own(a), is_own(b)) {
                (true, _) => (1.0, b),
                (false, true) => (-1.0, a),
                (false, false) => {
                    let (frame, [a, b]) = (&written.frame, [&of.a, &of.b]);
                    let what = match own {
                        Carrier::World => format!("\"{frame}\" is fixed to the world: forces do not move it"),
                        _ => format!(
                            "contact \"{contact}\" is between \"{a}\" and \"{b}\", of which neither is on the rigid body \
                             of \"{frame}\""
                        ),
                    };
                    from.problems.push(problem("task", name, "contacts", what));
                    continue;
                }
            };
            sensors.push(Self {
                source: Source::Contact(index, sign),
                frames: [frame, other],
            });
        }
        sensors
    }

    fn of_ports(name: &str, written: &spec::Task, frame: FrameRef, from: &mut Compiler) -> Vec<Self> {
        let (system, mut sensors) = (from.system, Vec::new());
        let own = system.rigid_carrier(frame);
        for port in &written.ports {
            let Some((index, _, of)) = from.spec.port.get_full(port) else {
                continue;
            };
            if system.frame(&of.frame).map(|frame| system.rigid_carrier(frame)) == Some(own) {
                sensors.push(Self {
                    source: Source::Port(index),
                    frames: [frame, FrameRef::World],
                });
            } else {
                let what = format!("port \"{port}\" is not on the rigid body of \"{}\"", written.frame);
                from.problems.push(problem("task", name, "ports", what));
            }
        }
        sensors
    }
}
