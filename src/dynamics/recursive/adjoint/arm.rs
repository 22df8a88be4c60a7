use super::BodyAdjoint;
use crate::algebra::{Vec3, Wrench};

/// Frame in which a column of a joint is fixed: angular velocity, angular acceleration, and angular
/// part of `Λ`.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub w: Vec3<f64>,
    pub alpha: Vec3<f64>,
    pub virtual_w: Vec3<f64>,
}

/// Position of a body from its carrier, its time derivatives, and its rate by the virtual motion.
pub(super) struct Arm {
    r: Vec3<f64>,
    r_dot: Vec3<f64>,
    r_ddot: Vec3<f64>,
    virtual_r: Vec3<f64>,
}

impl Arm {
    /// Creates the arm `r` on a carrier, with the velocity `u`, the acceleration `u_dot` and the
    /// virtual velocity `virtual_u` as seen from the carrier.
    pub fn new(r: Vec3<f64>, carrier: Frame, u: Vec3<f64>, u_dot: Vec3<f64>, virtual_u: Vec3<f64>) -> Self {
        let w = carrier.w;
        let r_dot = w.cross(&r) + u;
        let rests = Self::at_rest(r, carrier, u_dot, virtual_u);
        Self {
            r_dot,
            r_ddot: rests.r_ddot + w.cross(&(r_dot + u)),
            ..rests
        }
    }

    /// [`new`](Self::new) at zero velocities.
    pub fn at_rest(r: Vec3<f64>, carrier: Frame, u_dot: Vec3<f64>, virtual_u: Vec3<f64>) -> Self {
        Self {
            r,
            r_dot: Vec3::zeros(),
            r_ddot: carrier.alpha.cross(&r) + u_dot,
            virtual_r: carrier.virtual_w.cross(&r) + virtual_u,
        }
    }

    /// Adds `G` and `f` at its end to those of the carrier, (8); if it `RESTS`, without velocities.
    pub fn carry<const RESTS: bool>(&self, G: &[Wrench<f64>; 3], f: &Wrench<f64>, to: &mut BodyAdjoint) {
        let mut carried = G[0].shift(&self.r);
        carried.t += self.r_ddot.cross(&G[2].f) + self.virtual_r.cross(&f.f);
        if !RESTS {
            carried.t += self.r_dot.cross(&G[1].f);
            let mut carried = G[1].shift(&self.r);
            carried.t += self.r_dot.cross(&G[2].f) * 2.0;
            to.G[1] = to.G[1] + carried;
        }
        to.G[0] = to.G[0] + carried;
        to.f = to.f + f.shift(&self.r);
    }
}
