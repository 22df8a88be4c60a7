//! Conserved quantities (momentum, energy) and the mass centre.

mod adjoint;

pub use adjoint::InvariantsAdjoint;

use crate::algebra::{Mat3, Scalar, Vec3, lift3, lift33, norm};
use crate::nodal::interpolate;
use crate::system::{AncfBeam, Configuration, Derived, JointState, Kinematics, Mechanism, NodalConstants, System};

/// Momenta and kinetic energy of the whole system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invariants<S: Scalar> {
    /// Mass, kg.
    pub mass: S,
    /// Mass centre, m, world axes.
    pub mass_centre: Vec3<S>,
    /// Linear momentum, kg·m/s, world axes.
    pub p: Vec3<S>,
    /// Angular momentum about the mass centre, kg·m²/s, world axes.
    pub h: Vec3<S>,
    /// Kinetic energy including the rotors, J.
    pub kinetic_energy: S,
    /// `Σ |mᵢ vᵢ|` over the bodies, kg·m/s: the scale of errors in `p`, which is often zero.
    pub p_scale: S,
    /// `Σ |hᵢ|` over the bodies, each about the system's mass centre, kg·m²/s: the scale of errors
    /// in `h`.
    pub h_scale: S,
}

impl<S: Scalar> Invariants<S> {
    /// Returns those of no body.
    pub fn zero() -> Self {
        Self {
            mass: S::zero(),
            mass_centre: Vec3::zeros(),
            p: Vec3::zeros(),
            h: Vec3::zeros(),
            kinetic_energy: S::zero(),
            p_scale: S::zero(),
            h_scale: S::zero(),
        }
    }

    /// Computes the invariants. If directors are states (formulation `natural`), `directors_rates`
    /// holds their rates for each body (columns, 1/s), including the constraint-violating part.
    pub fn new(at: Configuration<S>, joints: JointState<S>, directors_rates: Option<&[Mat3<S>]>) -> Self {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        let JointState { q, qd } = joints;
        let motion = |i: usize| {
            let rates = directors_rates
                .map(|rates| &rates[i])
                .filter(|_| system.bodies[i].modes.is_none());
            match rates {
                Some(rates) => BodyMotion::of_directors(derived, kinematics, rates, i),
                None => BodyMotion::new(system, derived, kinematics, qd, i),
            }
        };
        let mechanism = Mechanism { system, derived };
        let mut mass = S::zero();
        let mut moment = Vec3::zeros();
        let mut p = Vec3::zeros();
        let mut kinetic_energy = S::zero();
        let mut p_scale = S::zero();
        // Positions relative to the first body avoid cancellation far from the world's origin.
        let first_node = || {
            system
                .nodal
                .first()
                .map(|beam| Vec3::from_column_slice(&q[beam.q..beam.q + 3]))
        };
        let first = kinematics.bodies.first().map(|body| body.p_WB);
        let origin = first.or_else(first_node).unwrap_or_else(Vec3::zeros);
        for i in 0..system.bodies.len() {
            let body = motion(i);
            let m = kinematics.mass(mechanism, i);
            mass += m;
            moment += (kinematics.bodies[i].p_WB - origin + body.c) * m;
            p += body.v * m;
            kinetic_energy += body.kinetic_energy;
            p_scale += norm(&(body.v * m));
        }
        let beams = || system.nodal.iter().zip(&derived.nodal);
        for (beam, constants) in beams() {
            let m = S::lift(constants.m);
            let whole = BeamMotion::new(beam, constants, joints, &origin);
            mass += m;
            moment += whole.c * m;
            p += whole.v * m;
            kinetic_energy += whole.kinetic_energy;
            p_scale += norm(&(whole.v * m));
        }
        let from_origin = moment / mass;
        let v_c = p / mass;
        let mut h = Vec3::zeros();
        let mut h_scale = S::zero();
        for i in 0..system.bodies.len() {
            let body = motion(i);
            let r = kinematics.bodies[i].p_WB - origin + body.c - from_origin;
            let own = body.spin + r.cross(&((body.v - v_c) * kinematics.mass(mechanism, i)));
            h += own;
            h_scale += norm(&own);
        }
        for (beam, constants) in beams() {
            let whole = BeamMotion::new(beam, constants, joints, &origin);
            let own = whole.spin + (whole.c - from_origin).cross(&((whole.v - v_c) * S::lift(constants.m)));
            h += own;
            h_scale += norm(&own);
        }
        for (rate, rotor) in qd.iter().zip(&derived.rotor_inertia) {
            kinetic_energy += *rate * *rate * S::lift(*rotor * 0.5);
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

/// Motion of one body: that of its mass centre, and its angular momentum about it; world axes.
#[derive(Clone, Copy, Debug)]
pub struct BodyMotion<S: Scalar> {
    /// Mass centre from the body's origin, m.
    pub c: Vec3<S>,
    /// Velocity of the mass centre, m/s.
    pub v: Vec3<S>,
    /// Angular momentum about the mass centre, kg·m²/s.
    pub spin: Vec3<S>,
    /// Kinetic energy, J.
    pub kinetic_energy: S,
}

impl<S: Scalar> BodyMotion<S> {
    /// Returns the motion of a body at rest, with its mass centre at its origin.
    pub fn zero() -> Self {
        Self {
            c: Vec3::zeros(),
            v: Vec3::zeros(),
            spin: Vec3::zeros(),
            kinetic_energy: S::zero(),
        }
    }

    /// Computes the motion of a rigid body in natural coordinates, with `E = ∫x xᵀ dm` about the
    /// mass centre: `Σ E_kl d_k × ḋ_l` and `½ tr(Ḋ E Ḋᵀ)`.
    fn of_directors(derived: &Derived<S::Constant>, kinematics: &Kinematics<S>, rates: &Mat3<S>, i: usize) -> Self {
        let (constants, at) = (&derived.bodies[i], &kinematics.bodies[i]);
        let (m, half) = (S::lift(constants.m), S::lift(0.5));
        let c_B = lift3::<S>(&constants.p_BoBcm);
        let v = at.V_WB.v + rates * c_B;
        let momenta = rates * lift33::<S>(&constants.I_Bcm.second_moment());
        Self {
            c: at.R_WB * c_B,
            v,
            spin: (0..3).fold(Vec3::zeros(), |spin, k| {
                spin + at.R_WB.column(k).cross(&momenta.column(k))
            }),
            kinetic_energy: (v.dot(&v) * m + momenta.dot(rates)) * half,
        }
    }

    /// Computes the motion of body `i`.
    pub fn new(
        system: &System,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        qd: &[S],
        i: usize,
    ) -> Self {
        let (constants, at) = (&derived.bodies[i], &kinematics.bodies[i]);
        let (m, half) = (S::lift(constants.m), S::lift(0.5));
        let (w, v) = (&at.V_WB.w, &at.V_WB.v);
        let (c, c_dot) = kinematics.mass_centre(Mechanism { system, derived }, i);
        let v_c = v + c_dot;
        let Some(modes) = &system.bodies[i].modes else {
            let w_B = at.R_WB.tr_mul(w);
            let spin_B = constants.I_Bcm.lift::<S>().times(&w_B);
            let (spin, kinetic_energy) = (at.R_WB * spin_B, (v_c.dot(&v_c) * m + w_B.dot(&spin_B)) * half);
            let fill = kinematics.fill(system, i);
            return Self {
                c,
                v: v_c,
                spin: fill.map_or(spin, |fill| spin * fill),
                kinetic_energy: fill.map_or(kinetic_energy, |fill| kinetic_energy * fill),
            };
        };
        let bent = &kinematics.deflections[modes.index];
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

/// Motion of one ANCF beam: that of its mass centre, and its angular momentum about it; world axes.
struct BeamMotion<S: Scalar> {
    /// Mass centre from the point `origin` of [`new`](Self::new), m.
    c: Vec3<S>,
    /// Velocity of the mass centre, m/s.
    v: Vec3<S>,
    /// Angular momentum about the mass centre, kg·m²/s.
    spin: Vec3<S>,
    /// Kinetic energy, J.
    kinetic_energy: S,
}

impl<S: Scalar> BeamMotion<S> {
    fn new(beam: &AncfBeam, constants: &NodalConstants, joints: JointState<S>, origin: &Vec3<S>) -> Self {
        let JointState { q, qd } = joints;
        let elements = || {
            constants.elements.iter().enumerate().map(|(i, element)| {
                let mut e = AncfBeam::of_element(q, beam.q, i);
                e[0] -= origin;
                e[2] -= origin;
                (element, e, AncfBeam::of_element(qd, beam.v, i))
            })
        };
        let per_m = S::lift(1.0 / constants.m);
        let (mut c, mut v) = (Vec3::zeros(), Vec3::zeros());
        for (element, e, e_dot) in elements() {
            let m = S::lift(element.mass());
            c += interpolate(element.centre(), &e) * m;
            v += interpolate(element.centre(), &e_dot) * m;
        }
        let (c, v) = (c * per_m, v * per_m);
        let (mut spin, mut kinetic_energy) = (Vec3::zeros(), S::zero());
        for (element, mut e, mut e_dot) in elements() {
            for k in [0, 2] {
                e[k] -= c;
                e_dot[k] -= v;
            }
            for (row, (e, rate)) in element.mass_matrix().iter().zip(e.iter().zip(&e_dot)) {
                let momentum = interpolate(*row, &e_dot);
                spin += e.cross(&momentum);
                kinetic_energy += rate.dot(&momentum) * S::lift(0.5);
            }
        }
        kinetic_energy += v.dot(&v) * S::lift(0.5 * constants.m);
        Self {
            c,
            v,
            spin,
            kinetic_energy,
        }
    }
}
