use super::ForwardDynamics;
use super::forward::Articulated;
use crate::algebra::{Scalar, Twist, Wrench, spd};
use crate::dynamics::Applied;
use crate::system::{Configuration, Derived, JointModel, Kinematics, System};

impl<S: Scalar> ForwardDynamics<S> {
    /// Computes the response to wrenches on bodies, torques of joints and forces on modes alone: the
    /// changes of `qdd` and [`A`](Self::A) due to these loads. Reuses the factorisation of the last
    /// [`solve`](Self::solve) at the same instant; of (1) to (3) only the biases are computed
    /// again:
    ///
    /// ```text
    ///     k = −D⁻¹ (Hᵀ p − τ),   p' = p + U k = p − Kᵀ (Hᵀ p − τ)
    /// ```
    pub fn respond(&mut self, at: Configuration<S>, applied: &Applied<S>, qdd: &mut [S]) {
        self.response_passes::<false>(at.system, at.derived, at.kinematics, applied, qdd, 0);
    }

    /// Returns the acceleration of a body that is [alone](crate::system::Body::is_alone) due to a wrench
    /// about its origin, as [`respond`](Self::respond) does.
    pub fn response_alone(&self, body: usize, F: &Wrench<S>) -> Twist<S> {
        self.free[body].solve(F)
    }

    /// Computes the response to the derivative 1 of the `rate` of a driven joint: the changes of
    /// `qdd` and [`A`](Self::A), with all loads and the derivatives of all other driven rates
    /// unchanged. `unloaded` has no loads; the factorisation is reused as in
    /// [`respond`](Self::respond).
    pub fn respond_to_drive(&mut self, at: Configuration<S>, unloaded: &Applied<S>, rate: usize, qdd: &mut [S]) {
        self.response_passes::<true>(at.system, at.derived, at.kinematics, unloaded, qdd, rate);
    }

    /// Both passes of [`respond`](Self::respond), with separate arguments for the reason given at
    /// `passes` (`forward.rs`). With `DRIVES`, the driven `rate` has the derivative 1.
    #[inline(never)]
    fn response_passes<const DRIVES: bool>(
        &mut self,
        system: &System,
        derived: &Derived<S::Constant>,
        kinematics: &Kinematics<S>,
        applied: &Applied<S>,
        qdd: &mut [S],
        rate: usize,
    ) {
        for (Articulated { p, .. }, applied) in self.articulated.iter_mut().zip(&applied.wrench) {
            *p = Wrench::zero() - *applied;
        }
        for modal in &mut self.modal {
            modal.beta.fill(S::zero());
        }
        for (i, body) in system.bodies.iter().enumerate().rev() {
            let mut p = self.articulated[i].p;
            if let Some(modes) = body.modes.as_ref().filter(|_| !self.is_rigid) {
                let (modal, offset) = (&self.modal[modes.index], &mut self.offset[modes.rates()]);
                for ((offset, Q), beta) in offset.iter_mut().zip(&applied.tau[modes.rates()]).zip(&modal.beta) {
                    *offset = *Q - *beta;
                }
                spd::solve(&modal.M, offset);
                for (L, &k) in modal.L.iter().zip(&*offset) {
                    p = p + *L * k;
                }
            }
            let v = body.joint.v;
            if let JointModel::Free(_) = derived.bodies[i].joint {
                let F = Wrench::zero() - p;
                self.A[i] = self.free[i].solve(&F);
                continue;
            }
            let nv = body.joint.nv;
            let mut along = [S::zero(); 3];
            for (j, along) in along[..nv].iter_mut().enumerate() {
                *along = p.power(&kinematics.H[v + j]) - applied.tau[v + j];
            }
            for j in 0..nv {
                let row = self.compliance[v + j].iter().zip(&along);
                self.offset[v + j] = row.fold(S::zero(), |k, (&inverse, &along)| k - inverse * along);
                p = p - self.gain[v + j] * along[j];
            }
            if DRIVES && (v..v + nv).contains(&rate) {
                self.offset[rate] = S::one();
                p = p + self.articulated[i].I.times(&kinematics.H[rate]);
            }
            let Some(parent) = body.parent else { continue };
            let mut p = p.shift(&kinematics.bodies[i].r_PB_W);
            if let (Some(station), Some(modes)) = (body.station, &system.bodies[parent].modes) {
                let first = system.stations[station].first;
                let modal = &mut self.modal[modes.index];
                for (beta, T) in modal.beta.iter_mut().zip(&kinematics.T[first..]) {
                    *beta += p.power(T);
                }
                p = p.shift(&kinematics.stations[station].r_PB_W);
            }
            self.articulated[parent].p = self.articulated[parent].p + p;
        }
        self.forward_pass(system, derived, kinematics, qdd);
    }
}
