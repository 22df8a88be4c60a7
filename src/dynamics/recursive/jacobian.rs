use crate::algebra::{Scalar, Twist, Vec3};
use crate::system::{Kinematics, System};

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
