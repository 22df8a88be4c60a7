use super::{Compiler, Element, Instant, Reads};
use crate::algebra::{Scalar, Vec3};
use crate::dynamics::Applied;
use crate::spec::{PortAxes, problem};
use crate::system::{InputKind, Quantity, System, Unit};

/// Force distributed uniformly along a beam, N/m.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineLoad {
    /// Index of the first segment of the body named in the spec.
    body: usize,
    axes: PortAxes,
    /// Index of the first of three inputs.
    input: usize,
}

impl Element for LineLoad {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut loads = Vec::new();
        for (name, load) in &from.spec.line_load {
            let beam = |body: &crate::system::Body| body.name == load.body && body.beam.is_some();
            let Some(body) = from.system.bodies.iter().position(beam) else {
                let what = format!("there is no body \"{}\" with a beam", load.body);
                from.problems.push(problem("line_load", name, "body", what));
                continue;
            };
            let axes = match load.axes {
                PortAxes::World => "inertial axes",
                PortAxes::Frame => "body axes",
            };
            let input = from.declare.inputs.len();
            let what = format!("force per length on {}, {axes}", load.body);
            for quantity in Quantity::vector(&format!("{name}.f"), Unit::NewtonPerMetreOfLength, &what) {
                from.declare.input(quantity, 0.0, InputKind::Continuous);
            }
            loads.push(LineLoad {
                body,
                axes: load.axes,
                input,
            });
        }
        loads
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

    /// Adds the force on each segment of the body and on its modes.
    fn add_active<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let u = &now.inputs[self.input..];
        let f = Vec3::new(u[0], u[1], u[2]);
        for i in now.system.segments(self.body) {
            let (Some(modes), Some(elastic)) = (&now.system.bodies[i].modes, &now.derived.bodies[i].elastic) else {
                continue;
            };
            let at = &now.kinematics.bodies[i];
            let f = match self.axes {
                PortAxes::World => f,
                PortAxes::Frame => at.R_WB * f,
            };
            let tau = &mut applied.tau[modes.rates()];
            let F = now.kinematics.deflections[modes.index].spread(elastic, at, &f, tau);
            applied.wrench[i] = applied.wrench[i] + F;
        }
    }
}
