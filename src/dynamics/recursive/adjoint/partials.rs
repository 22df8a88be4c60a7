use crate::algebra::{Quaternion, Twist, Vec3, Wrench};
use crate::system::joint::quaternion_rate_derivatives;
use crate::system::{Body, JointState, System};

/// Derivatives of a function with respect to position and motion of a body, in world axes.
#[derive(Clone, Copy, Debug)]
pub struct Gradient {
    /// With respect to a rotation of the body and a displacement of its origin.
    pub pose: Wrench<f64>,
    /// With respect to angular velocity and velocity of the origin.
    pub velocity: Wrench<f64>,
    /// With respect to angular acceleration and (ordinary) acceleration of the origin.
    pub acceleration: Wrench<f64>,
    /// With respect to the reaction wrench of the body's joint about the origin.
    pub reaction: Twist<f64>,
}

impl Gradient {
    /// Returns the gradient of a constant.
    pub fn zero() -> Self {
        Self {
            pose: Wrench::zero(),
            velocity: Wrench::zero(),
            acceleration: Wrench::zero(),
            reaction: Twist::zero(),
        }
    }
}

/// Derivatives of a function with respect to bodies and joints.
#[derive(Clone, Copy, Debug)]
pub struct Partials<'a> {
    /// With respect to position, motion and reaction of each body, then of each station.
    pub bodies: &'a [Gradient],
    /// With respect to the joints' columns, torque part with respect to the angular part.
    pub columns: &'a [Wrench<f64>],
}

/// Adjoints of the coordinates and rates of all joints, to which derivatives are added.
#[derive(Debug)]
pub struct JointAdjoints<'a> {
    /// Adjoints of the coordinates.
    pub q: &'a mut [f64],
    /// Adjoints of the rates.
    pub qd: &'a mut [f64],
}

/// Adds the derivatives with respect to coordinates and rates of a sum of the coordinates' time
/// derivatives, with the weights `q_dot_bar`.
pub fn add_kinematics(system: &System, joints: JointState<f64>, q_dot_bar: &[f64], bars: &mut JointAdjoints) {
    for Body { joint, modes, .. } in &system.bodies {
        for (v, q) in modes.iter().flat_map(|modes| modes.rates().zip(modes.coordinates())) {
            bars.qd[v] += q_dot_bar[q];
        }
        let mut plain = 0;
        if joint.nq > joint.nv {
            let attitude = Quaternion::from_slice(&joints.q[joint.q..]);
            let w = Vec3::from_column_slice(&joints.qd[joint.v..joint.v + 3]);
            let (by_q, by_w) = quaternion_rate_derivatives(attitude, w);
            let bar = &q_dot_bar[joint.q..joint.q + 4];
            let product = |column: &[f64; 4]| column.iter().zip(bar).map(|(entry, bar)| entry * bar).sum::<f64>();
            for (to, column) in bars.q[joint.q..].iter_mut().zip(&by_q) {
                *to += product(column);
            }
            for (to, column) in bars.qd[joint.v..].iter_mut().zip(&by_w) {
                *to += product(column);
            }
            plain = 3;
        }
        for k in plain..joint.nv {
            bars.qd[joint.v + k] += q_dot_bar[joint.q + k + joint.nq - joint.nv];
        }
    }
    for beam in &system.nodal {
        for (v, q) in beam.rates().zip(beam.coordinates()) {
            bars.qd[v] += q_dot_bar[q];
        }
    }
}
