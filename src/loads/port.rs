use super::Instant;
use crate::Error;
use crate::algebra::{Mat3, Scalar, Vec3, Wrench, lift3, lift33};
use crate::dynamics::Applied;
use crate::spec::{PortAxes, Spec, problem};
use crate::system::{Declarations, FrameRef, Quantity, System, Unit};

/// A wrench from outside on a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    body: usize,
    /// Index of a named frame; the body's own if none.
    frame: Option<usize>,
    axes: PortAxes,
    /// First of six inputs: force, torque.
    input: usize,
}

pub(super) fn declare(spec: &Spec, system: &System, declare: &mut Declarations) -> Result<Vec<Port>, Error> {
    let mut ports = Vec::new();
    for (name, port) in &spec.port {
        let (body, frame) = match system.frame(&port.frame) {
            Some(FrameRef::Body(body)) => (body, None),
            Some(FrameRef::Frame(frame)) => (system.frames[frame].body, Some(frame)),
            Some(FrameRef::World) | None => {
                let what = format!("there is no frame or body \"{}\"", port.frame);
                return Err(Error::Spec(vec![problem("port", name, "frame", what)]));
            }
        };
        let axes = match port.axes {
            PortAxes::World => "inertial axes",
            PortAxes::Frame => "frame axes",
        };
        let input = declare.inputs.len();
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
            declare.input(quantity, 0.0, false);
        }
        ports.push(Port {
            body,
            frame,
            axes: port.axes,
            input,
        });
    }
    Ok(ports)
}

impl Port {
    /// Adds the wrench.
    pub fn add<S: Scalar>(&self, now: &Instant<S>, applied: &mut Applied<S>) {
        let station = self.frame.and_then(|frame| now.system.frames[frame].station);
        let at = match station {
            Some(station) => &now.kinematics.stations[station],
            None => &now.kinematics.bodies[self.body],
        };
        let (R_BF, p_BF) = match self.frame {
            Some(frame) => {
                let X_BF = &now.derived.frames[frame].X_BF;
                (lift33::<S>(&X_BF.R), lift3::<S>(&X_BF.p))
            }
            None => (Mat3::identity(), Vec3::zeros()),
        };
        let u = &now.inputs[self.input..];
        let mut F = Wrench::new(Vec3::new(u[3], u[4], u[5]), Vec3::new(u[0], u[1], u[2]));
        if self.axes == PortAxes::Frame {
            let R_WF = at.R_WB * R_BF;
            F = Wrench::new(R_WF * F.t, R_WF * F.f);
        }
        let mut F = F.shift(&(at.R_WB * p_BF));
        if let (Some(station), Some(modes)) = (station, &now.system.bodies[self.body].modes) {
            let T = &now.kinematics.T[now.system.stations[station].first..];
            for (v, T) in modes.rates().zip(T) {
                applied.tau[v] += F.power(T);
            }
            F = F.shift(&at.r_PB_W);
        }
        applied.wrench[self.body] = applied.wrench[self.body] + F;
    }
}
