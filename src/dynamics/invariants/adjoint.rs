//! Adjoint of the invariants of trees of bodies (`docs/theory/adjoint.md`, *Invariants*).

use super::{BeamMotion, BodyMotion, Invariants};
use crate::algebra::{Vec3, Wrench};
use crate::dynamics::recursive::{Gradient, JointAdjoints};
use crate::nodal::interpolate;
use crate::system::{
    AncfBeam, Configuration, JointState, Mechanism, ModalAdjoints, Modes, MomentumWeights, NodalConstants, PER_NODE,
    System,
};

/// Adjoints of [`Invariants`]: derivatives of a weighted sum of the invariants.
#[derive(Clone, Debug)]
pub struct InvariantsAdjoint {
    motions: Vec<BodyMotion<f64>>,
    /// Derivatives with respect to the motion of each body, that of `c` with respect to the position
    /// of the mass centre.
    bars: Vec<BodyMotion<f64>>,
    kinetic_energy: f64,
    /// Derivatives with respect to the motion of each ANCF beam, that of `c` as above.
    beams: Vec<BodyMotion<f64>>,
    /// Derivatives with respect to the masses of propellants, relative to those at the start.
    fills: Vec<f64>,
    /// Workspace for the fields of a flexible body.
    fields: Vec<[f64; 4]>,
}

impl InvariantsAdjoint {
    /// Allocates for `system`.
    pub fn new(system: &System) -> Self {
        let n = system.bodies.len();
        Self {
            motions: vec![BodyMotion::zero(); n],
            bars: vec![BodyMotion::zero(); n],
            kinetic_energy: 0.0,
            beams: vec![BodyMotion::zero(); system.nodal.len()],
            fills: vec![0.0; system.propellant.len()],
            fields: Vec::with_capacity(system.flexible().map(Modes::most_fields).max().unwrap_or(0)),
        }
    }

    /// Computes the derivatives with respect to the motions of the bodies of the sum of the
    /// invariants `of` with the weights `bar`.
    pub fn weigh(
        &mut self,
        at: Configuration<f64>,
        joints: JointState<f64>,
        of: &Invariants<f64>,
        bar: &Invariants<f64>,
    ) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        let along = |v: &Vec3<f64>| v.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        let v_c = of.p / of.mass;
        let (mut r_c_bar, mut v_c_bar) = (bar.mass_centre, Vec3::zeros());
        self.kinetic_energy = bar.kinetic_energy;
        for i in 0..system.bodies.len() {
            let body = BodyMotion::new(system, derived, kinematics, joints.qd, i);
            let m = kinematics.mass(Mechanism { system, derived }, i);
            let d = kinematics.bodies[i].p_WB + body.c - of.mass_centre;
            let u = (body.v - v_c) * m;
            let spin = bar.h + along(&(body.spin + d.cross(&u))) * bar.h_scale;
            let (d_bar, v_bar) = (u.cross(&spin), spin.cross(&d) * m);
            r_c_bar -= d_bar;
            v_c_bar -= v_bar;
            self.bars[i] = BodyMotion {
                c: d_bar,
                v: v_bar + bar.p * m + along(&body.v) * (m * bar.p_scale),
                spin,
                kinetic_energy: bar.kinetic_energy,
            };
            self.motions[i] = body;
        }
        for ((to, beam), constants) in self.beams.iter_mut().zip(&system.nodal).zip(&derived.nodal) {
            let whole = BeamMotion::new(beam, constants, joints, &of.mass_centre);
            let (m, d) = (constants.m, whole.c);
            let u = (whole.v - v_c) * m;
            let spin = bar.h + along(&(whole.spin + d.cross(&u))) * bar.h_scale;
            let (d_bar, v_bar) = (u.cross(&spin), spin.cross(&d) * m);
            r_c_bar -= d_bar;
            v_c_bar -= v_bar;
            *to = BodyMotion {
                c: d_bar,
                v: v_bar + bar.p * m + along(&whole.v) * (m * bar.p_scale),
                spin,
                kinetic_energy: bar.kinetic_energy,
            };
        }
        for (bar, constants) in self.beams.iter_mut().zip(&derived.nodal) {
            bar.c += r_c_bar * (constants.m / of.mass);
            bar.v += v_c_bar * (constants.m / of.mass);
        }
        for (fill, &i) in self.fills.iter_mut().zip(&system.propellant) {
            let (body, spin_bar) = (&self.motions[i], &self.bars[i].spin);
            let d = kinematics.bodies[i].p_WB + body.c - of.mass_centre;
            let u = body.v - v_c;
            let of_mass = (r_c_bar.dot(&d) + v_c_bar.dot(&u)) / of.mass
                + bar.p.dot(&body.v)
                // The norm of an empty tank's momentum, zero, has the derivative zero.
                + bar.p_scale * along(&(body.v * kinematics.mass(Mechanism { system, derived }, i))).dot(&body.v)
                + spin_bar.dot(&d.cross(&u));
            let (constants, here) = (&derived.bodies[i], &kinematics.bodies[i]);
            let w = &here.V_WB.w;
            let spin = constants.I_Bcm.express(&here.R_WB).times(w);
            let energy = (constants.m * body.v.dot(&body.v) + w.dot(&spin)) * 0.5;
            *fill = constants.m * of_mass + spin_bar.dot(&spin) + bar.kinetic_energy * energy;
        }
        for (i, bar) in self.bars.iter_mut().enumerate() {
            let share = kinematics.mass(Mechanism { system, derived }, i) / of.mass;
            bar.c += r_c_bar * share;
            bar.v += v_c_bar * share;
        }
    }

    /// Returns the derivative with respect to the mass of propellant `k`, relative to that at the
    /// start, after [`weigh`](Self::weigh).
    pub fn of_fill(&self, k: usize) -> f64 {
        self.fills[k]
    }

    /// Adds the derivatives with respect to positions and velocities of the bodies to `gradients`, and
    /// those with respect to amplitudes and to the rates of modes and rotors to `bars`.
    pub fn add(
        &mut self,
        at: Configuration<f64>,
        joints: JointState<f64>,
        gradients: &mut [Gradient],
        bars: &mut JointAdjoints,
    ) {
        for (i, (body, gradient)) in at.system.bodies.iter().zip(gradients).enumerate() {
            let (constants, here, bar) = (&at.derived.bodies[i], &at.kinematics.bodies[i], self.bars[i]);
            let BodyMotion { c, v: v_c, spin, .. } = self.motions[i];
            let (energy, w, v) = (bar.kinetic_energy, &here.V_WB.w, &here.V_WB.v);
            let fill = at.kinematics.fill(at.system, i).unwrap_or(1.0);
            let m = constants.m * fill;
            // Weights of a velocity field: of its value at the origin, without the part `v̄/m`, and
            // of its rotation.
            let weights = [v * energy - bar.spin.cross(&c), bar.spin + w * energy];
            let (J, mut of_w) = match body.modes.as_ref().map(|modes| &at.kinematics.deflections[modes.index]) {
                None => (constants.J_Bo.express(&here.R_WB) * fill, Vec3::zeros()),
                Some(bent) => (bent.J, bent.b_dot * energy),
            };
            of_w += c.cross(&(bar.v + weights[0] * m)) + J.times(&weights[1]);
            let of_v = bar.v + v_c * (m * energy);
            // Nothing changes if all vectors rotate together.
            let turned = (v - v_c).cross(&bar.v)
                + v.cross(&(v_c - v)) * (m * energy)
                + w.cross(&of_w)
                + bar.c.cross(&c)
                + bar.spin.cross(&spin);
            gradient.pose = gradient.pose + Wrench::new(-turned, bar.c);
            gradient.velocity = gradient.velocity + Wrench::new(of_w, of_v);
            if let (Some(modes), Some(elastic)) = (&body.modes, &constants.elastic) {
                let momenta = MomentumWeights {
                    field: [weights[0] + bar.v / m, weights[1]],
                    position: bar.c / m,
                    v: v - v_c,
                    w: *w,
                    spin: bar.spin,
                    energy,
                };
                let motion = [&joints.q[modes.coordinates()], &joints.qd[modes.rates()]];
                let mut bars = ModalAdjoints {
                    eta: &mut bars.q[modes.coordinates()],
                    rate: &mut bars.qd[modes.rates()],
                };
                let bent = &at.kinematics.deflections[modes.index];
                bent.momenta(elastic, &here.R_WB, &momenta, motion, &mut self.fields, &mut bars);
            }
        }
        for ((bar, beam), constants) in self.beams.iter().zip(&at.system.nodal).zip(&at.derived.nodal) {
            add_beam(bar, beam, constants, joints, bars);
        }
        for ((to, rate), rotor) in bars.qd.iter_mut().zip(joints.qd).zip(&at.derived.rotor_inertia) {
            *to += self.kinetic_energy * rotor * rate;
        }
    }
}

/// Adds the derivatives with respect to the coordinates and rates of an ANCF beam, from those with
/// respect to its motion.
fn add_beam(
    bar: &BodyMotion<f64>,
    beam: &AncfBeam,
    constants: &NodalConstants,
    joints: JointState<f64>,
    bars: &mut JointAdjoints,
) {
    let origin = Vec3::from_column_slice(&joints.q[beam.q..beam.q + 3]);
    let whole = BeamMotion::new(beam, constants, joints, &origin);
    let energy = bar.kinetic_energy;
    let (mut c_bar, mut v_bar) = (bar.c, bar.v + whole.v * (constants.m * energy));
    let mut add = |i: usize, to_e: [Vec3<f64>; 4], to_rate: [Vec3<f64>; 4]| {
        let (q, v) = (beam.q + PER_NODE * i, beam.v + PER_NODE * i);
        let numbers = |of: [Vec3<f64>; 4]| (0..12).map(move |k| of[k / 3][k % 3]);
        bars.q[q..].iter_mut().zip(numbers(to_e)).for_each(|(to, x)| *to += x);
        bars.qd[v..]
            .iter_mut()
            .zip(numbers(to_rate))
            .for_each(|(to, x)| *to += x);
    };
    for (i, element) in constants.elements.iter().enumerate() {
        let mut e = AncfBeam::of_element(joints.q, beam.q, i);
        let mut rate = AncfBeam::of_element(joints.qd, beam.v, i);
        for k in [0, 2] {
            e[k] = e[k] - origin - whole.c;
            rate[k] -= whole.v;
        }
        let M = element.mass_matrix();
        let to_e = M.map(|row| interpolate(row, &rate).cross(&bar.spin));
        let turned = e.map(|e| bar.spin.cross(&e));
        let to_rate = M.map(|row| interpolate(row, &turned) + interpolate(row, &rate) * energy);
        c_bar -= to_e[0] + to_e[2];
        v_bar -= to_rate[0] + to_rate[2];
        add(i, to_e, to_rate);
    }
    for (i, element) in constants.elements.iter().enumerate() {
        let share = element.centre().map(|part| part * element.mass() / constants.m);
        add(i, share.map(|part| c_bar * part), share.map(|part| v_bar * part));
    }
}
