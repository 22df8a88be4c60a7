//! Accelerations at the point of linearisation, about one reference point per tree, and the
//! intermediate results that their derivatives need.

use super::motion::{Moving, spatial};
use super::sum::Sum;
use super::{BodyState, Derivatives};
use crate::algebra::{ArticulatedInertia, Sym3, Twist, Vec3, Wrench, cross_matrix, spd};
use crate::dynamics::Applied;
use crate::dynamics::body::flexible_body;
use crate::dynamics::recursive::forward::condense;
use crate::dynamics::{Singular, SingularPart};
use crate::system::{BodyConstants, BodyKinematics, Configuration, Kinematics, Modes, System};

impl Derivatives {
    /// Computes position, velocity and bias (at `q̈ = 0`) of body `i` about the tree's point, and
    /// the columns of its joint and stations.
    pub(super) fn body_state(&mut self, at: Configuration<f64>, applied: &Applied<f64>, i: usize, qd: &[f64]) {
        let Configuration {
            system,
            derived,
            kinematics,
        } = at;
        let (body, at, constants) = (&system.bodies[i], &kinematics.bodies[i], &derived.bodies[i]);
        let v_O = self.v_O[i];
        let relative = |V: &Twist<f64>| Twist::new(V.w, V.v - v_O);
        let carrier = body.carrier().of(&self.at, &self.at_station);
        let (r, v) = match carrier {
            Some(P) => (P.r + at.r_PB_W, P.v),
            None => (Vec3::zeros(), Twist::new(Vec3::zeros(), -v_O)),
        };
        self.joint_columns(kinematics, i, &r, v, qd);
        let body_state = &mut self.at[i];
        let V = relative(&at.V_WB);
        let (velocity, a_bias) = spatial(&V, &at.A_bias, &r);
        body_state.r = r;
        body_state.v = velocity;
        body_state.a = a_bias;
        body_state.sum = Sum::zero();
        let F = applied.wrench[i].shift(&r);
        match &body.modes {
            None => body_state.set_rigid(constants, at, &F),
            Some(modes) => {
                let bent = &kinematics.deflections[modes.index];
                let (I, b) = flexible_body(constants, bent, &at.A_bias);
                body_state.I = I.shift(&r);
                body_state.b = b.shift(&r) - F;
                body_state.sum.momentum = V.v * constants.m + velocity.w.cross(&bent.h) + bent.h_dot;
                for s in modes.stations.clone() {
                    let at = &kinematics.stations[s];
                    let body_state = &mut self.at_station[s];
                    body_state.r = r + at.r_PB_W;
                    (body_state.v, body_state.a) = spatial(&relative(&at.V_WB), &at.A_bias, &body_state.r);
                    body_state.sum = Sum::zero();
                    let first = system.stations[s].first;
                    for k in first..first + modes.n {
                        self.T[k] = kinematics.T[k].shift(&-body_state.r);
                    }
                    (body_state.I_A, body_state.p_A) = (ArticulatedInertia::zero(), Wrench::zero());
                }
            }
        }
        (body_state.I_A, body_state.p_A) = (body_state.I, body_state.b);
    }

    /// Computes the columns of body `i`'s joint and their `ψ`; `r` is the position of its origin,
    /// `v` the velocity of its carrier.
    #[inline(always)]
    fn joint_columns(&mut self, kinematics: &Kinematics<f64>, i: usize, r: &Vec3<f64>, mut v: Twist<f64>, qd: &[f64]) {
        for g in self.layout.of_body[i].clone() {
            let group = self.layout.groups[g].clone();
            let before = v;
            for d in group.clone() {
                let rate = self.layout.rate[d];
                let S = kinematics.H[rate].shift(&-r);
                let psi = before.cross(&S);
                self.carried[d] = before;
                self.moving[d] = Moving { xi: S, psi, phi: psi };
                v = v + S * qd[rate];
            }
            // `φ` of the rates by (3).
            for d in group {
                self.phi_v[d] = self.moving[d].psi + v.cross(&self.moving[d].xi);
            }
        }
    }

    /// Backward pass over one body: condenses its modes and joint, as
    /// [`ForwardDynamics`](super::ForwardDynamics) does.
    pub(super) fn backward_pass(
        &mut self,
        at: Configuration<f64>,
        applied: &Applied<f64>,
        i: usize,
    ) -> Result<(), Singular> {
        let (body, rotors) = (&at.system.bodies[i], &at.derived.rotor_inertia);
        let (mut I, mut p) = (self.at[i].I_A, self.at[i].p_A);
        let singular = |what| Singular { body: i, what };
        if let Some(modes) = &body.modes {
            self.condense_modes(at, applied, i, modes, &mut I, &mut p)
                .map_err(|mode| singular(SingularPart::Mode(mode)))?;
        }
        let joint = &body.joint;
        for g in self.layout.of_body[i].clone().rev() {
            let group = self.layout.groups[g].clone();
            self.left[group.start] = I;
            for d in group.rev() {
                let (rate, S) = (self.layout.rate[d], self.moving[d].xi);
                let U = I.times(&S);
                let D = U.power(&S) + rotors[rate];
                self.U[d] = U;
                let left = applied.tau[rate] - p.power(&S);
                if self.driven[i] {
                    // A driven joint has K = 0 and k = q̈.
                    (self.per_D[d], self.K[d]) = (0.0, Wrench::zero());
                    let qdd = applied.qdd[rate];
                    self.drive[rate] = D * qdd - left;
                    self.k[d] = qdd;
                    p = p + U * qdd;
                } else if D > 0.0 {
                    self.per_D[d] = 1.0 / D;
                    self.K[d] = U * self.per_D[d];
                    self.k[d] = left * self.per_D[d];
                    condense(&mut I, &mut p, &[U], &[self.K[d]], &[self.k[d]]);
                } else {
                    return Err(singular(SingularPart::Axis(rate - joint.v)));
                }
            }
        }
        let carrier = match (body.station, body.parent) {
            (Some(s), _) => &mut self.at_station[s],
            (None, Some(P)) => &mut self.at[P],
            (None, None) => return Ok(()),
        };
        carrier.I_A += &I;
        carrier.p_A = carrier.p_A + p;
        Ok(())
    }

    /// Condenses the modes of body `i`, with the articulated bodies attached to its stations;
    /// replaces `I` and `p` by the condensed ones.
    ///
    /// # Errors
    /// The index of the mode with zero inertia.
    fn condense_modes(
        &mut self,
        at: Configuration<f64>,
        applied: &Applied<f64>,
        i: usize,
        modes: &Modes,
        I: &mut ArticulatedInertia<f64>,
        p: &mut Wrench<f64>,
    ) -> Result<(), usize> {
        let bent = &at.kinematics.deflections[modes.index];
        let (n, first) = (modes.n, modes.v);
        let M = &mut self.M[modes.index];
        M.copy_from_slice(&bent.M);
        for k in 0..n {
            let L = &bent.L[k];
            self.U[first + k] = L.shift(&self.at[i].r);
            let bias = L.power(&at.kinematics.bodies[i].A_bias) + bent.modal_bias[k];
            self.k[first + k] = applied.tau[first + k] - bias;
        }
        for s in modes
            .stations
            .clone()
            .filter(|&s| self.layout.station_slot[s].is_some())
        {
            let (I_s, p_s) = (&self.at_station[s].I_A, &self.at_station[s].p_A);
            let T = &self.T[at.system.stations[s].first..][..n];
            for k in 0..n {
                let U = I_s.times(&T[k]);
                for l in 0..=k {
                    M[k * n + l] += U.power(&T[l]);
                }
                self.U[first + k] = self.U[first + k] + U;
                self.k[first + k] -= p_s.power(&T[k]);
            }
            *I += I_s;
            *p = *p + *p_s;
        }
        spd::factor(M, n)?;
        let K = &mut self.K[modes.rates()];
        K.copy_from_slice(&self.U[modes.rates()]);
        spd::solve(M, K);
        let k = &mut self.k[modes.rates()];
        spd::solve(M, k);
        condense(I, p, &self.U[modes.rates()], K, k);
        Ok(())
    }

    /// Forward pass over one body: computes its acceleration, those of its stations, and `φ` of its
    /// joint's coordinates.
    pub(super) fn forward_pass(&mut self, system: &System, kinematics: &Kinematics<f64>, i: usize, qd: &[f64]) {
        let body = &system.bodies[i];
        let (mut A, mut a) = match body.carrier().of(&self.at, &self.at_station) {
            Some(P) => (P.A, P.a),
            None => (Twist::zero(), Twist::zero()),
        };
        for g in self.layout.of_body[i].clone() {
            let group = self.layout.groups[g].clone();
            let before = a;
            for d in group {
                let (rate, Moving { xi: S, psi, .. }) = (self.layout.rate[d], self.moving[d]);
                if self.driven[i] {
                    self.drive[rate] += self.U[d].power(&A);
                }
                let qdd = self.k[d] - self.K[d].power(&A);
                self.qdd[rate] = qdd;
                A = A + S * qdd;
                a = a + S * qdd + psi * qd[rate];
                // `φ` by (2).
                self.moving[d].phi = before.cross(&S) + self.carried[d].cross(&psi);
            }
        }
        let body_state = &mut self.at[i];
        body_state.A = A;
        body_state.a = body_state.a + A;
        body_state.sum.f = body_state.I.times(&A) + body_state.b;
        let at = &kinematics.bodies[i];
        self.A[i] = at.A_bias + A.shift(&body_state.r);
        if let Some(modes) = &body.modes {
            for v in modes.rates() {
                let qdd = self.k[v] - self.K[v].power(&A);
                self.qdd[v] = qdd;
                let L = kinematics.deflections[modes.index].L[v - modes.v].shift(&body_state.r);
                body_state.sum.f = body_state.sum.f + L * qdd;
            }
            for s in modes.stations.clone() {
                let T = self.T[system.stations[s].first..].iter().zip(&self.qdd[modes.rates()]);
                let station = &mut self.at_station[s];
                station.A = T.fold(A, |A, (T, &rate)| A + *T * rate);
                station.a = station.a + station.A;
            }
        }
    }
}

impl BodyState {
    /// Computes inertia, sums and bias of a rigid body under the load `F`, from `r`, `v` and the
    /// acceleration `a` at `q̈ = 0`.
    #[inline(always)]
    fn set_rigid(&mut self, constants: &BodyConstants, at: &BodyKinematics<f64>, F: &Wrench<f64>) {
        let (r, V, m) = (self.r, self.v, constants.m);
        let h_B = at.R_WB * constants.h;
        let h = h_B + r * m;
        let J = constants.J_Bo.express(&at.R_WB) + about(&r, &(h_B + r * (0.5 * m)));
        let I = ArticulatedInertia::rigid(m, &h, &J);
        let momentum = I.times(&V);
        // `2 B` in (4) of a rigid body, with Z = ∫ ẋ xᵀ dm = v hᵀ + [ω] ∫ x xᵀ dm.
        let Z = V.v * h.transpose() + cross_matrix(&V.w) * J.second_moment();
        let mut C = Z * -2.0;
        let trace = 2.0 * Z.trace();
        for k in 0..3 {
            C[(k, k)] += trace;
        }
        self.sum.C = C;
        self.sum.momentum = momentum.f;
        self.b = I.times(&self.a) + V.cross_wrench(&momentum) - *F;
        self.I = I;
    }
}

/// Returns `2 (r·c) 1 − r cᵀ − c rᵀ`: with `c = h + ½ m r`, the increase of an inertia when its
/// reference point moves from the body's origin to the point from which the origin is at `r`.
fn about(r: &Vec3<f64>, c: &Vec3<f64>) -> Sym3<f64> {
    let twice = 2.0 * r.dot(c);
    Sym3 {
        d: [
            twice - 2.0 * r.x * c.x,
            twice - 2.0 * r.y * c.y,
            twice - 2.0 * r.z * c.z,
        ],
        o: [-r.x * c.y - r.y * c.x, -r.x * c.z - r.z * c.x, -r.y * c.z - r.z * c.y],
    }
}
