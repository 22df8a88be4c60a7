use super::frame::adjoint::{FrameAdjoint, FrameBar, add_resolved, are_zero, turn, turn_of_angles, vector};
use super::{Compiler, Cursor, Element, Outputs, View};
use crate::algebra::{Scalar, Wrench, norm, roll_pitch_yaw};
use crate::spec::Spec;
use crate::system::{FrameRef, Quantity, System, Unit};

/// Reference orbit: position and velocity relative to the central body, LVLH frame and its rate, as
/// outputs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orbit {
    /// True if the Sun's and the Moon's positions are outputs.
    has_sun_and_moon: [bool; 2],
}

impl Element for Orbit {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let orbits = from.system.orbit.iter();
        let of = |orbit: &crate::system::Orbit| Self {
            has_sun_and_moon: orbit.has_sun_and_moon(),
        };
        orbits.map(of).collect()
    }

    fn outputs(&self, _: &Spec, _: &System, to: &mut Outputs) {
        to.continuous(Quantity::vector(
            "orbit.r",
            Unit::Metre,
            "position of the world's origin on the reference orbit, from the central body's centre, inertial axes",
        ));
        to.continuous(Quantity::vector(
            "orbit.v",
            Unit::MetrePerSecond,
            "velocity of the world's origin on the reference orbit, inertial axes",
        ));
        to.continuous(Quantity::quaternion(
            "orbit.q",
            "attitude of the LVLH frame (x radial, y along track, z along the orbit normal), quaternion",
        ));
        let what = "angular rate of the LVLH frame";
        to.continuous([Quantity::new("orbit.rate", Unit::RadianPerSecond, what)]);
        let [has_sun, has_moon] = self.has_sun_and_moon;
        if has_sun {
            let what = "direction from the world's origin to the Sun (unit vector), inertial axes";
            to.continuous(Quantity::vector("orbit.sun", Unit::One, what));
            let what = "visible fraction of the Sun's disc at the world's origin: 0 in the umbra, 1 in sunlight";
            to.continuous([Quantity::new("orbit.sunlight", Unit::One, what)]);
        }
        if has_moon {
            let what = "direction from the world's origin to the Moon (unit vector), inertial axes";
            to.continuous(Quantity::vector("orbit.moon", Unit::One, what));
        }
    }

    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        if let Some(orbit) = view.now.orbit {
            y.vector(&orbit.R);
            y.vector(&orbit.V);
            y.quaternion(orbit.q_WO);
            y.number(norm(&orbit.w_WO));
            if let Some(sky) = &orbit.sky {
                y.vector(&sky.radiation(&orbit.R).0);
                y.number(sky.sunlight(&orbit.R));
                if self.has_sun_and_moon[1] {
                    let d = sky.moon - orbit.R;
                    y.vector(&(d * (S::lift(1.0) / norm(&d))));
                }
            }
        }
    }
}

/// Number of the outputs of a motion relative to the LVLH frame.
const IN_ORBIT: usize = 3 + 4 + 3 + 3 + 3;

/// Declares position, attitude and motion of a free body relative to the LVLH frame.
pub(super) fn outputs_in_orbit(name: &str, to: &mut Outputs) {
    let relative = |what: &str| format!("{what} {name} relative to the LVLH frame");
    let vector = |field: &str, unit, what: String| Quantity::vector(&format!("{name}.{field}_lvlh"), unit, &what);
    to.continuous(vector("r", Unit::Metre, relative("position of") + ", LVLH axes"));
    to.continuous(Quantity::quaternion(
        &format!("{name}.q_lvlh"),
        &format!("{}, quaternion", relative("attitude of")),
    ));
    to.continuous(vector(
        "v",
        Unit::MetrePerSecond,
        relative("velocity of") + ", LVLH axes",
    ));
    let what = format!("{}, body axes", relative("angular velocity of"));
    to.continuous(vector("w", Unit::RadianPerSecond, what));
    let what = format!("roll, pitch and yaw of {name} relative to the LVLH frame (3-2-1)");
    to.continuous(vector("rpy", Unit::Radian, what));
}

/// Writes position, attitude and motion of a free body relative to the LVLH frame.
pub(super) fn observe_in_orbit<S: Scalar>(view: &View<S>, body: usize, y: &mut Cursor<S>) {
    let Some(orbit) = view.now.orbit else { return };
    if view.omits_frames {
        return y.skip(IN_ORBIT);
    }
    let at = &view.now.kinematics.bodies[body];
    let (R_WO, w_WO) = (orbit.R_WO, orbit.w_WO);
    let q_OB = orbit.q_WO.conjugate() * view.q_WB[body];
    y.vector(&R_WO.tr_mul(&at.p_WB));
    y.quaternion(q_OB);
    y.vector(&R_WO.tr_mul(&(at.V_WB.v - w_WO.cross(&at.p_WB))));
    let w = view.state_spin(body).unwrap_or_else(|| at.R_WB.tr_mul(&at.V_WB.w));
    y.vector(&(w - at.R_WB.tr_mul(&w_WO)));
    y.vector(&roll_pitch_yaw(q_OB));
}

/// Adds the derivatives of the outputs of [`observe_in_orbit`], weighted by `seeds`, (31).
pub(super) fn weigh_in_orbit(view: &View<f64>, body: usize, seeds: &[f64], to: &mut FrameAdjoint) {
    let Some(orbit) = view.now.orbit.filter(|_| !are_zero(&seeds[..IN_ORBIT])) else {
        return;
    };
    let frame = FrameRef::Body(body);
    let F = view.frame(frame);
    let (R_WO, w_WO) = (orbit.R_WO, orbit.w_WO);
    let q_OB = orbit.q_WO.conjugate() * F.q_WF;
    let turned = turn(q_OB, &seeds[3..]) + turn_of_angles(q_OB, &vector(seeds, 13));
    let of_v = R_WO * vector(seeds, 7);
    let mut bar = FrameBar::zero();
    bar.pose = Wrench::new(R_WO * turned, R_WO * vector(seeds, 0) - of_v.cross(&w_WO));
    bar.velocity.f = of_v;
    let w = F.V_WF.w - w_WO;
    add_resolved(&F.R_WF, &w, &vector(seeds, 10), &mut bar.velocity.t, &mut bar.pose.t);
    to.add(view, frame, &F, &bar);
}
