use super::frame::adjoint::{FrameAdjoint, vector};
use super::{Compiler, Cursor, Element, Invariance, Outputs, View, frame, orbit};
use crate::algebra::{Quaternion, Scalar, roll_pitch_yaw};
use crate::spec::{Formulation, JointType, Spec, StatePoint};
use crate::system::{FrameRef, Quantity, System, Unit};

/// Outputs of a body and of the joint that carries it: positions, velocities, joint coordinates and
/// rates that are not states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    body: usize,
    /// True if the joint's coordinates are outputs.
    coordinates: bool,
    /// True if the joint's rates are outputs.
    rates: bool,
    pose: Pose,
    /// True if roll, pitch and yaw at a spherical joint are outputs.
    rpy: bool,
    /// True if the acceleration of a free body's origin is an output.
    acceleration: bool,
    /// True if the motion of a free body relative to the LVLH frame is an output.
    in_orbit: bool,
}

/// Selection of the outputs of a body's pose and velocity.
#[derive(Clone, Copy, Debug)]
enum Pose {
    None,
    /// Attitude and angular velocity; position and velocity are states.
    Attitude,
    /// Position and velocity; attitude and angular velocity are states.
    Position,
    /// Position, attitude, velocity, angular velocity.
    Frame,
}

impl Element for Body {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let spec = from.spec;
        let has_origin = spec.state_point() == StatePoint::Origin;
        let added = spec.added();
        let is_added = |body: &String| added.iter().any(|of| of.parts.iter().any(|[part, _]| part == body));
        let bodies = from.system.bodies.iter().enumerate();
        let observed = bodies.map(|(i, body)| {
            let (is_written, moves) = (body.joint.written, body.joint.nv > 0);
            let is_maximal = matches!(spec.formulation, Formulation::Quaternion | Formulation::Natural);
            let is_dual = spec.formulation == Formulation::DualQuaternion;
            let is_rotor = body.joint.drives.is_some() || is_added(&body.name);
            let is_wanted = spec.output.bodies && !is_rotor;
            let is_free = body.joint.kind == JointType::Free && body.segment == 0;
            Self {
                body: i,
                coordinates: is_maximal && is_written && moves,
                rates: (is_maximal && is_written || is_dual) && moves,
                pose: match spec.formulation {
                    Formulation::Quaternion if has_origin => Pose::None,
                    Formulation::Quaternion => Pose::Position,
                    Formulation::Natural if is_wanted || !is_written => Pose::Attitude,
                    Formulation::Natural => Pose::None,
                    _ if is_written && is_wanted => Pose::Frame,
                    _ => Pose::None,
                },
                rpy: body.joint.kind == JointType::Spherical,
                acceleration: is_free,
                in_orbit: is_free && from.system.orbit.is_some(),
            }
        });
        observed.collect()
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let (name, joint) = (&system.bodies[self.body].name, &system.bodies[self.body].joint.name);
        if self.coordinates {
            to.continuous(system.joint_coordinates(self.body));
        }
        if self.rates {
            let is_relative = system.bodies[self.body].joint.kind != JointType::Free;
            to.invariant(Invariance::Galilean.when(is_relative), system.joint_rates(self.body));
        }
        match self.pose {
            Pose::None => {}
            Pose::Attitude => {
                let what = format!("attitude of {name}, quaternion");
                to.continuous(Quantity::quaternion(&format!("{name}.q"), &what));
                let what = format!("angular velocity of {name}, body axes");
                to.continuous(Quantity::vector(&format!("{name}.w"), Unit::RadianPerSecond, &what));
            }
            Pose::Position => {
                let what = format!("position of {name}, inertial axes");
                to.continuous(Quantity::vector(&format!("{name}.r"), Unit::Metre, &what));
                let what = format!("velocity of {name}'s origin, inertial axes");
                to.continuous(Quantity::vector(&format!("{name}.v"), Unit::MetrePerSecond, &what));
            }
            Pose::Frame => frame::outputs("body", name, to),
        }
        if self.rpy {
            let what = format!(
                "roll, pitch and yaw at joint {joint}: angles of the rotation sequence 3-2-1 in the joint frame"
            );
            to.continuous(Quantity::vector(&format!("{joint}.rpy"), Unit::Radian, &what));
        }
        if self.acceleration {
            let what = format!(
                "acceleration of {name}'s origin relative to the world's origin (in free fall in orbit), gravity included, \
                 body axes"
            );
            let name = format!("{name}.a_body");
            let a = Quantity::vector(&name, Unit::MetrePerSecond2, &what);
            to.invariant(Invariance::Galilean, a);
        }
        if self.in_orbit {
            orbit::outputs_in_orbit(name, to);
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let now = &view.now;
        let (body, joint) = (self.body, &now.system.bodies[self.body].joint);
        if self.coordinates {
            let q = &now.q[joint.q..joint.q + joint.nq];
            q.iter().for_each(|&q| y.number(q));
        }
        if self.rates {
            let qd = &now.qd[joint.v..joint.v + joint.nv];
            let w = view.state_spin(body).filter(|_| now.system.is_root(body));
            w.iter().for_each(|w| y.vector(w));
            qd[3 * usize::from(w.is_some())..].iter().for_each(|&qd| y.number(qd));
        }
        match self.pose {
            Pose::None => {}
            Pose::Attitude => {
                let F = view.frame(FrameRef::Body(body));
                y.quaternion(F.q_WF);
                y.vector(&F.R_WF.tr_mul(&F.V_WF.w));
            }
            Pose::Position => {
                let F = view.frame(FrameRef::Body(body));
                y.vector(&F.p_WF);
                y.vector(&F.V_WF.v);
            }
            Pose::Frame => frame::observe(view, FrameRef::Body(body), y),
        }
        if self.rpy {
            y.vector(&roll_pitch_yaw(Quaternion::from_slice(&now.q[joint.q..])));
        }
        if self.acceleration && view.omits_frames {
            y.skip(3);
        } else if self.acceleration {
            let at = &now.kinematics.bodies[body];
            y.vector(&at.R_WB.tr_mul(&(at.A_bias.v + view.dynamics.A()[body].v)));
        }
        if self.in_orbit {
            orbit::observe_in_orbit(view, body, y);
        }
    }
}

impl Body {
    /// Adds the derivatives of the outputs of motions, weighted by `seeds`, in minimal coordinates.
    pub fn weigh(&self, view: &View<f64>, mut seeds: &[f64], to: &mut FrameAdjoint) {
        if let Pose::Frame = self.pose {
            to.add_motion(view, FrameRef::Body(self.body), seeds);
            seeds = &seeds[frame::POSE..];
        }
        if self.rpy {
            seeds = &seeds[3..];
        }
        if self.acceleration {
            to.add_acceleration(view, self.body, &vector(seeds, 0));
            seeds = &seeds[3..];
        }
        if self.in_orbit {
            orbit::weigh_in_orbit(view, self.body, seeds, to);
        }
    }
}
