//! What the motion conserves: momentum, energy; and the mass centre.

use crate::algebra::{Scalar, Vec3, lift3, norm};
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
    pub p_scale: S,
    /// `Σ |hᵢ|` over the bodies, each about the common mass centre, kg·m²/s: the scale of a drift in `h`.
    pub h_scale: S,
}

impl<S: Scalar> Invariants<S> {
    /// Of a system in motion; `qd` are the rates (`nv`).
    pub fn new(system: &System, derived: &Derived, kinematics: &Kinematics<S>, qd: &[S]) -> Self {
        let mut mass = 0.0;
        let mut moment = Vec3::zeros();
        let mut p = Vec3::zeros();
        let mut kinetic_energy = S::zero();
        let mut p_scale = S::zero();
        // Positions count from the first body, so that a craft far away loses nothing.
        let origin = kinematics.bodies.first().map_or_else(Vec3::zeros, |b| b.p_WB);
        for i in 0..system.bodies.len() {
            let body = BodyMotion::new(system, derived, kinematics, qd, i);
            let m = S::lift(derived.bodies[i].m);
            mass += derived.bodies[i].m;
            moment += (kinematics.bodies[i].p_WB - origin + body.c) * m;
            p += body.v * m;
            kinetic_energy += body.kinetic_energy;
            p_scale += norm(&(body.v * m));
        }
        let from_origin = moment / S::lift(mass);
        let v_c = p / S::lift(mass);
        let mut h = Vec3::zeros();
        let mut h_scale = S::zero();
        for i in 0..system.bodies.len() {
            let body = BodyMotion::new(system, derived, kinematics, qd, i);
            let r = kinematics.bodies[i].p_WB - origin + body.c - from_origin;
            let own = body.spin + r.cross(&((body.v - v_c) * S::lift(derived.bodies[i].m)));
            h += own;
            h_scale += norm(&own);
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

/// One body's motion about its own mass centre, world axes.
struct BodyMotion<S: Scalar> {
    /// Mass centre from the body's origin, m.
    c: Vec3<S>,
    /// Velocity of the mass centre, m/s.
    v: Vec3<S>,
    /// Angular momentum about the mass centre, kg·m²/s.
    spin: Vec3<S>,
    /// Kinetic energy, J.
    kinetic_energy: S,
}

impl<S: Scalar> BodyMotion<S> {
    fn new(system: &System, derived: &Derived, kinematics: &Kinematics<S>, qd: &[S], i: usize) -> Self {
        let (constants, at) = (&derived.bodies[i], &kinematics.bodies[i]);
        let (m, half) = (S::lift(constants.m), S::lift(0.5));
        let (w, v) = (&at.V_WB.w, &at.V_WB.v);
        let Some(modes) = &system.bodies[i].modes else {
            let c = at.R_WB * lift3::<S>(&constants.p_BoBcm);
            let v = v + w.cross(&c);
            let w_B = at.R_WB.tr_mul(w);
            let spin_B = constants.I_Bcm.lift::<S>().times(&w_B);
            return Self {
                c,
                v,
                spin: at.R_WB * spin_B,
                kinetic_energy: (v.dot(&v) * m + w_B.dot(&spin_B)) * half,
            };
        };
        let bent = &kinematics.deflections[modes.index];
        let c = bent.h / m;
        let v_c = v + w.cross(&c) + bent.h_dot / m;
        let Jw = bent.J.times(w);
        let about_origin = bent.h.cross(v) + Jw + bent.b_dot;
        let eta_dot = &qd[modes.rates()];
        let mut modal = S::zero();
        for (row, &rate) in bent.M.chunks(modes.n).zip(eta_dot) {
            for (&M, &other) in row.iter().zip(eta_dot) {
                modal += rate * other * M;
            }
        }
        let rigid = v.dot(v) * m + w.dot(&Jw) + modal;
        Self {
            c,
            v: v_c,
            spin: about_origin - bent.h.cross(&v_c),
            kinetic_energy: rigid * half + v.dot(&(w.cross(&bent.h) + bent.h_dot)) + w.dot(&bent.b_dot),
        }
    }
}
