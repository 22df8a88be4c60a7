//! What the motion conserves: momentum, energy; and the mass centre.

use crate::algebra::{Scalar, Vec3, lift3};
use crate::system::{Derived, Kinematics, System};

/// Momenta and kinetic energy of all bodies together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invariants<S: Scalar> {
    /// Mass, kg.
    pub mass: f64,
    /// Mass centre, m, world axes.
    pub mass_centre: Vec3<S>,
    /// Linear momentum, kg·m/s, world axes.
    pub p: Vec3<S>,
    /// Angular momentum about the mass centre, kg·m²/s, world axes.
    pub h: Vec3<S>,
    /// Kinetic energy with that of the rotors, J.
    pub kinetic_energy: S,
    /// `Σ |mᵢ vᵢ|` over the bodies, kg·m/s: the scale of a drift in `p`, which is often zero.
    pub p_scale: f64,
    /// `Σ |hᵢ|` over the bodies, each about the common mass centre, kg·m²/s: the scale of a drift in `h`.
    pub h_scale: f64,
}

impl<S: Scalar> Invariants<S> {
    /// Of a system in motion; `qd` are the rates (`nv`).
    pub fn new(system: &System, derived: &Derived, kinematics: &Kinematics<S>, qd: &[S]) -> Self {
        let mut mass = 0.0;
        let mut moment = Vec3::zeros();
        let mut p = Vec3::zeros();
        let mut kinetic_energy = S::zero();
        let half = S::lift(0.5);
        let mut p_scale = 0.0;
        // Positions count from the first body, so that a craft far away loses nothing.
        let origin = kinematics.bodies.first().map_or_else(Vec3::zeros, |b| b.p_WB);
        let centre = |i: usize| {
            let (body, at) = (&derived.bodies[i], &kinematics.bodies[i]);
            let c = at.R_WB * lift3::<S>(&body.p_BoBcm);
            let v = at.V_WB.v + at.V_WB.w.cross(&c);
            (at.p_WB - origin + c, v, S::lift(body.m))
        };
        for i in 0..system.bodies.len() {
            let (r, v, m) = centre(i);
            mass += derived.bodies[i].m;
            moment += r * m;
            p += v * m;
            let (w_B, spin) = spin(derived, kinematics, i);
            kinetic_energy += (v.dot(&v) * m + w_B.dot(&spin)) * half;
            p_scale += (v * m).map(Scalar::value).norm();
        }
        let from_origin = moment / S::lift(mass);
        let v_c = p / S::lift(mass);
        let mut h = Vec3::zeros();
        let mut h_scale = 0.0;
        for i in 0..system.bodies.len() {
            let (r, v, m) = centre(i);
            let own =
                kinematics.bodies[i].R_WB * spin(derived, kinematics, i).1 + (r - from_origin).cross(&((v - v_c) * m));
            h += own;
            h_scale += own.map(Scalar::value).norm();
        }
        for (rate, rotor) in qd.iter().zip(&derived.rotor_inertia) {
            kinetic_energy += *rate * *rate * S::lift(rotor * 0.5);
        }
        Self {
            mass,
            mass_centre: origin + from_origin,
            p,
            h,
            kinetic_energy,
            p_scale,
            h_scale,
        }
    }
}

/// A body's angular velocity and its spin momentum, body axes.
fn spin<S: Scalar>(derived: &Derived, kinematics: &Kinematics<S>, i: usize) -> (Vec3<S>, Vec3<S>) {
    let at = &kinematics.bodies[i];
    let w_B = at.R_WB.tr_mul(&at.V_WB.w);
    (w_B, derived.bodies[i].I_Bcm.lift::<S>().times(&w_B))
}
