use crate::algebra::{Scalar, Twist, Vec3};
use crate::system::{Carrier, Configuration, FrameRef, Kinematics, System};

/// Computes the Jacobian of a point fixed to body `body`, at `p` (m, world axes) from the body's
/// origin: column `k` is the twist of the point for the unit rate `k`, world axes, so that
/// `V_WP = Σ J_k q̇_k`.
///
/// `columns` has length `nv`; the columns of rates that do not move the body are zero.
pub fn jacobian<S: Scalar>(
    system: &System,
    kinematics: &Kinematics<S>,
    body: usize,
    p: &Vec3<S>,
    columns: &mut [Twist<S>],
) {
    columns.fill(Twist::zero());
    let mut r = *p;
    let mut next = Some(body);
    while let Some(i) = next {
        let joint = &system.bodies[i].joint;
        for v in joint.v..joint.v + joint.nv {
            columns[v] = kinematics.H[v].shift(&r);
        }
        r += kinematics.bodies[i].r_PB_W;
        if let (Some(s), Some(modes)) = (
            system.bodies[i].station,
            system.bodies[i].parent.and_then(|P| system.bodies[P].modes.as_ref()),
        ) {
            for (v, T) in modes.rates().zip(&kinematics.T[system.stations[s].first..]) {
                columns[v] = T.shift(&r);
            }
            r += kinematics.stations[s].r_PB_W;
        }
        next = system.bodies[i].parent;
    }
}

/// Computes the motion of the origin of a frame for each unit rate, as [`jacobian`] does for a
/// point of a body; zero for the world and for frames on ANCF beams.
pub fn frame_columns<S: Scalar>(at: Configuration<S>, frame: FrameRef, columns: &mut [Twist<S>]) {
    let Configuration { system, kinematics, .. } = at;
    let arm = at.arm(frame).p;
    match system.carrier(frame) {
        Carrier::World | Carrier::Point(_) => columns.fill(Twist::zero()),
        Carrier::Body(body) => jacobian(system, kinematics, body, &arm, columns),
        Carrier::Station(s) => {
            let station = &system.stations[s];
            let r = kinematics.stations[s].r_PB_W + arm;
            jacobian(system, kinematics, station.body, &r, columns);
            if let Some(modes) = &system.bodies[station.body].modes {
                for (v, T) in modes.rates().zip(&kinematics.T[station.first..]) {
                    columns[v] = T.shift(&arm);
                }
            }
        }
    }
}
