//! Names, units and descriptions of the states.

use super::{AncfBeam, Attitude, Body, Joint, Maximal, Quantity, System, Unit};
use crate::spec::{JointType, StatePoint};

impl System {
    /// Returns the quantities of the coordinates of joints, modes and nodes, then of their rates.
    pub fn states(&self) -> Vec<Quantity> {
        let coordinates = self.bodies.iter().flat_map(|body| {
            let modal = modal(body, "eta", "amplitude (m·√kg)");
            coordinates(&body.joint).into_iter().chain(modal)
        });
        let nodes = self.nodal.iter().flat_map(AncfBeam::states);
        let rates = self.bodies.iter().flat_map(|body| {
            let modal = modal(body, "etad", "rate (m·√kg/s)");
            rates(&body.joint).into_iter().chain(modal)
        });
        let node_rates = self.nodal.iter().flat_map(AncfBeam::state_rates);
        coordinates.chain(nodes).chain(rates).chain(node_rates).collect()
    }

    /// Returns the quantities of the states in [maximal](super::Maximal) coordinates.
    pub fn maximal_states(&self, layout: &Maximal) -> Vec<Quantity> {
        let positions = self.bodies.iter().flat_map(|body| {
            let modal = modal(body, "eta", "amplitude (m·√kg)");
            let pose = match layout.attitude {
                Attitude::Quaternion => pose(&body.name, &format!("of {}, inertial axes", body.name), layout.point),
                Attitude::Directors => natural_pose(&body.name),
            };
            pose.into_iter().chain(modal)
        });
        let rates = self.bodies.iter().flat_map(|body| {
            let modal = modal(body, "etad", "rate (m·√kg/s)");
            let motion = match layout.attitude {
                Attitude::Quaternion => motion(&body.name, "inertial axes", layout.point),
                Attitude::Directors => natural_motion(&body.name),
            };
            motion.into_iter().chain(modal)
        });
        let unwrapped = self.bodies.iter().flat_map(|body| {
            let (joint, name) = (&body.joint, &body.joint.name);
            let what = format!("unwrapped angle of joint {name}: integral of its rate, which counts whole turns");
            (0..joint.kind.angles())
                .map(move |i| Quantity::new(joint.quantity_name("unwrapped_angle", i), Unit::Radian, what.clone()))
        });
        let nodes = self.nodal.iter().flat_map(AncfBeam::states);
        let node_rates = self.nodal.iter().flat_map(AncfBeam::state_rates);
        positions
            .chain(nodes)
            .chain(rates)
            .chain(node_rates)
            .chain(unwrapped)
            .collect()
    }

    /// Returns the quantities of joint coordinates and the bodies' dual
    /// [velocities](super::PER_BODY).
    pub fn velocity_states(&self) -> Vec<Quantity> {
        let coordinates = self.bodies.iter().flat_map(|body| coordinates(&body.joint));
        let rates = self.bodies.iter().flat_map(|body| {
            let name = &body.name;
            let vector = |part: &str, unit, what: &str| {
                Quantity::vector(&format!("{name}.{part}"), unit, &format!("{what} {name}, its own axes"))
            };
            let w = vector("dual_w", Unit::RadianPerSecond, "angular velocity of");
            w.into_iter()
                .chain(vector("dual_v", Unit::MetrePerSecond, "velocity of the mass centre of"))
        });
        coordinates.chain(rates).collect()
    }

    /// Returns the quantities of the coordinates of body `i`'s joint, which are outputs in
    /// formulations where they are not states.
    pub fn joint_coordinates(&self, i: usize) -> Vec<Quantity> {
        coordinates(&self.bodies[i].joint)
    }

    /// Returns the quantities of the rates of body `i`'s joint.
    pub fn joint_rates(&self, i: usize) -> Vec<Quantity> {
        rates(&self.bodies[i].joint)
    }
}

/// Returns the quantities of a joint's coordinates, in the state's order.
fn coordinates(joint: &Joint) -> Vec<Quantity> {
    let name = &joint.name;
    let whose = if joint.written {
        format!("at joint {name}, joint frame")
    } else {
        format!("of {name}, inertial axes")
    };
    match joint.kind {
        JointType::Free => pose(name, &whose, StatePoint::Origin),
        JointType::Spherical => {
            Quantity::quaternion(&format!("{name}.q"), &format!("attitude {whose}, quaternion")).to_vec()
        }
        kind => (0..joint.nv)
            .map(|i| {
                let unit = Unit::coordinate(kind.is_angular(i)).position;
                let what = match &joint.drives {
                    Some(driven) => format!("angle of the motor of joint {driven}, divided by the ratio"),
                    None => format!("position of joint {name}"),
                };
                Quantity::new(joint.quantity_name("q", i), unit, what)
            })
            .collect(),
    }
}

/// Returns the quantities of a quaternion and of the position of a point.
fn pose(name: &str, whose: &str, point: StatePoint) -> Vec<Quantity> {
    let attitude = Quantity::quaternion(&format!("{name}.q"), &format!("attitude {whose}, quaternion"));
    let (field, what) = match point {
        StatePoint::Origin => ("r", "position"),
        StatePoint::MassCentre => ("r_cm", "position of the mass centre"),
    };
    let position = Quantity::vector(&format!("{name}.{field}"), Unit::Metre, &format!("{what} {whose}"));
    attitude.into_iter().chain(position).collect()
}

/// Returns the quantities of a body's directors and position.
fn natural_pose(name: &str) -> Vec<Quantity> {
    let axes = (1..=3).flat_map(|k| {
        let what = format!("axis {k} of {name} (a unit vector), inertial axes");
        Quantity::vector(&format!("{name}.d{k}"), Unit::One, &what)
    });
    let what = format!("position of {name}, inertial axes");
    axes.chain(Quantity::vector(&format!("{name}.r"), Unit::Metre, &what))
        .collect()
}

/// Returns the rates of [`natural_pose`].
fn natural_motion(name: &str) -> Vec<Quantity> {
    let axes = (1..=3).flat_map(|k| {
        let what = format!("rate of axis {k} of {name}, inertial axes");
        Quantity::vector(&format!("{name}.d{k}_rate"), Unit::PerSecond, &what)
    });
    let what = format!("velocity of {name}'s origin, inertial axes");
    axes.chain(Quantity::vector(&format!("{name}.v"), Unit::MetrePerSecond, &what))
        .collect()
}

/// Returns the quantities of an angular velocity, and of the velocity of a point in the axes
/// `axes`.
fn motion(name: &str, axes: &str, point: StatePoint) -> Vec<Quantity> {
    let what = format!("angular velocity of {name}, body axes");
    let w = Quantity::vector(&format!("{name}.w"), Unit::RadianPerSecond, &what);
    let (field, what) = match point {
        StatePoint::Origin => ("v", format!("velocity of {name}'s origin, {axes}")),
        StatePoint::MassCentre => ("v_cm", format!("velocity of the mass centre of {name}, {axes}")),
    };
    let v = Quantity::vector(&format!("{name}.{field}"), Unit::MetrePerSecond, &what);
    w.into_iter().chain(v).collect()
}

/// Returns the quantities of a joint's rates, in the state's order.
fn rates(joint: &Joint) -> Vec<Quantity> {
    let name = &joint.name;
    if joint.kind == JointType::Free {
        let axes = if joint.written { "joint frame" } else { "inertial axes" };
        return motion(name, axes, StatePoint::Origin);
    }
    (0..joint.nv)
        .map(|i| {
            let unit = Unit::coordinate(joint.kind.is_angular(i)).rate;
            let what = if joint.kind == JointType::Spherical {
                format!("angular velocity at joint {name}, child axes")
            } else if let Some(driven) = &joint.drives {
                format!("rate of the motor of joint {driven}, divided by the ratio")
            } else {
                format!("rate of joint {name}")
            };
            Quantity::new(joint.quantity_name("qd", i), unit, what)
        })
        .collect()
}

/// Returns the quantities of a body's modal amplitudes, or of their rates.
fn modal(body: &Body, field: &str, what: &str) -> Vec<Quantity> {
    let (name, n) = (&body.name, body.modes.as_ref().map_or(0, |modes| modes.n));
    let quantity = |k: usize| {
        Quantity {
            // At the amplitude η the tip of a beam of mass m is displaced by 2 η/√m: 1e-2 m·√kg is
            // already large.
            nominal: 1e-2,
            ..Quantity::new(
                format!("{name}.{field}[{}]", k + 1),
                Unit::Scaled,
                format!("{what} of mode {} of {name}", k + 1),
            )
        }
    };
    (0..n).map(quantity).collect()
}
