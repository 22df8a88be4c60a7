use super::frame::{FrameAdjoint, LoadSeeds};
use super::{Command, Compiler, Element, Instant, Reads, Target};
use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::spec::PortAxes;
use crate::system::{Carrier, FrameRef, InputKind, Quantity, System, Unit};

/// External wrench and external impulse on a frame.
#[derive(Clone, Debug)]
pub struct Port {
    /// Name in the spec.
    pub name: String,
    /// Frame at whose origin they act.
    pub frame: FrameRef,
    axes: PortAxes,
    /// Index of the first of six inputs: force, N, and torque, N·m.
    input: usize,
    /// Index of the first of three inputs: impulse, N·s.
    impulse: Option<usize>,
}

impl Element for Port {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut ports = Vec::new();
        for (name, port) in &from.spec.port {
            let Some(frame) = from.frame(["port", name, "frame"], &port.frame) else {
                continue;
            };
            let axes = match port.axes {
                PortAxes::World => "inertial axes",
                PortAxes::Frame => "frame axes",
            };
            let input = from.declare.inputs.len();
            let force = Quantity::vector(
                &format!("{name}.f"),
                Unit::Newton,
                &format!("force at {}, {axes}", port.frame),
            );
            let torque = Quantity::vector(
                &format!("{name}.t"),
                Unit::NewtonMetre,
                &format!("torque at {}, {axes}", port.frame),
            );
            for quantity in force.into_iter().chain(torque) {
                from.declare.input(quantity, 0.0, InputKind::Continuous);
            }
            let impulse = port.impulse.then(|| {
                let first = from.declare.inputs.len();
                let what = format!("impulse at {}, {axes}, that acts when {name}.impact rises", port.frame);
                for quantity in Quantity::vector(&format!("{name}.impulse"), Unit::NewtonSecond, &what) {
                    from.declare.input(quantity, 0.0, InputKind::Held);
                }
                let what = format!("command: {name}.impulse acts once each time it rises above 0.5");
                from.commands.push(Command::declare(
                    &format!("{name}.impact"),
                    what,
                    Target::Port(ports.len()),
                    from.declare,
                ));
                first
            });
            ports.push(Port {
                name: name.clone(),
                frame,
                axes: port.axes,
                input,
                impulse,
            });
        }
        ports
    }

    fn reads(&self) -> Reads {
        Reads::ATTITUDE
    }

    fn reads_world(&self, _: &System) -> bool {
        self.axes == PortAxes::World
    }

    fn works_on_bodies(&self) -> bool {
        true
    }

    /// Adds the wrench on the frame's carrier.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let (system, kinematics) = (now.system, now.kinematics);
        let X_WF = kinematics.arm(system, now.derived, self.frame);
        let F = self.wrench(now, &X_WF.R);
        applied.push(system, kinematics, system.carrier(self.frame), F.shift(&X_WF.p));
    }
}

impl Port {
    /// Returns true if the frame is on an ANCF beam.
    pub fn is_on_beam(&self, system: &System) -> bool {
        matches!(system.carrier(self.frame), Carrier::Point(_))
    }

    /// Adds the derivatives of the load and of its power to those with respect to bodies, and
    /// passes those with respect to the inputs, by their indices, to `of_input`
    /// (`docs/theory/adjoint.md`, *Ports and interfaces*). Requires a frame on a body.
    pub(crate) fn weigh(
        &self,
        now: &Instant<f64>,
        seeds: &mut LoadSeeds,
        to: &mut FrameAdjoint,
        mut of_input: impl FnMut(usize, f64),
    ) {
        let X_WF = now.configuration().arm(self.frame);
        let (on, F) = (now.system.carrier(self.frame), self.wrench(now, &X_WF.R));
        let along = seeds.of_load(on, &now.kinematics.carrier(on).V_WB);
        let Twist { w, v } = along.shift(&X_WF.p);
        let moved = X_WF.p.cross(&F.f.cross(&along.w));
        let (turn, [of_f, of_t]) = match self.axes {
            PortAxes::World => (moved, [v, w]),
            PortAxes::Frame => (
                moved + F.f.cross(&v) + F.t.cross(&w),
                [v, w].map(|part| X_WF.R.tr_mul(&part)),
            ),
        };
        let load = F.shift(&X_WF.p);
        seeds.place(now, on, load);
        to.add_load(on, turn, &(load * seeds.of_power));
        let bars = of_f.iter().chain(of_t.iter()).enumerate();
        bars.for_each(|(k, bar)| of_input(self.input + k, *bar));
    }

    /// Returns the wrench about the frame's origin, world axes; `R_WF` is the rotation matrix of
    /// the frame.
    fn wrench<S: Scalar>(&self, now: &Instant<S>, R_WF: &Mat3<S>) -> Wrench<S> {
        let u = &now.inputs[self.input..];
        let F = Wrench::new(Vec3::new(u[3], u[4], u[5]), Vec3::new(u[0], u[1], u[2]));
        match self.axes {
            PortAxes::World => F,
            PortAxes::Frame => F.express(R_WF),
        }
    }

    /// Returns the wrench about the point `p` (m), world axes.
    pub fn wrench_about<S: Scalar>(&self, now: &Instant<S>, p: &Vec3<S>) -> Wrench<S> {
        let X_WF = now.configuration().pose(self.frame);
        self.wrench(now, &X_WF.R).shift(&(X_WF.p - p))
    }

    /// Returns the indices of the impulse's inputs, `None` without an impulse.
    pub(super) fn impulse_inputs(&self) -> Option<std::ops::Range<usize>> {
        self.impulse.map(|first| first..first + 3)
    }

    /// Returns the impulse, N·s, world axes; `R_WF` is the rotation matrix of the frame.
    pub fn impulse(&self, inputs: &[f64], R_WF: &Mat3<f64>) -> Vec3<f64> {
        let p = self
            .impulse
            .map_or_else(Vec3::zeros, |first| Vec3::from_column_slice(&inputs[first..first + 3]));
        match self.axes {
            PortAxes::World => p,
            PortAxes::Frame => R_WF * p,
        }
    }
}
