use super::forward::{Articulated, condense};
use crate::algebra::{ArticulatedInertia, Scalar, Twist, Wrench, spd};
use crate::system::{Deflection, Kinematics, System};

/// Equations of motion of a flexible body and the bodies attached to its stations. With the
/// acceleration `A` of its origin beyond `A_bias`, the modal amplitudes `η`, the reaction wrench
/// `F` of its joint and the modal forces `Q`,
///
/// ```text
///     F   = I A + Σ L_k η̈_k + p
///     Q_k = L_k·A + Σ M_kl η̈_l + β_k
/// ```
#[derive(Clone, Debug)]
pub(super) struct Modal<S: Scalar> {
    /// `M`, row-major; after elimination its factors.
    pub M: Vec<S>,
    /// `L`, one for each mode, about the body's origin.
    pub L: Vec<Wrench<S>>,
    /// `β`.
    pub beta: Vec<S>,
}

impl<S: Scalar> Modal<S> {
    /// Allocates for `n` modes.
    fn new(n: usize) -> Self {
        Self {
            M: vec![S::zero(); n * n],
            L: vec![Wrench::zero(); n],
            beta: vec![S::zero(); n],
        }
    }

    /// Allocates for all flexible bodies of a system.
    pub fn of(system: &System) -> Vec<Self> {
        system.flexible().map(|modes| Self::new(modes.n)).collect()
    }

    /// Sets the equations of the body alone, without attached bodies.
    pub fn begin(&mut self, bent: &Deflection<S>, A_bias: &Twist<S>) {
        self.M.copy_from_slice(&bent.M);
        self.L.copy_from_slice(&bent.L);
        for ((beta, L), bias) in self.beta.iter_mut().zip(&self.L).zip(&bent.modal_bias) {
            *beta = *bias + L.power(A_bias);
        }
    }

    /// Adds the articulated inertia `I` and the bias `p` attached to the station `s`, both about
    /// its origin, to the modal equations; returns both about the body's origin.
    #[inline(never)]
    pub fn attach(
        &mut self,
        system: &System,
        kinematics: &Kinematics<S>,
        s: usize,
        I: &ArticulatedInertia<S>,
        p: &Wrench<S>,
    ) -> (ArticulatedInertia<S>, Wrench<S>) {
        let n = self.beta.len();
        let first = system.stations[s].first;
        let T = &kinematics.T[first..first + n];
        let r = &kinematics.stations[s].r_PB_W;
        for k in 0..n {
            let U = I.times(&T[k]);
            for l in 0..=k {
                self.M[k * n + l] += U.power(&T[l]);
            }
            self.L[k] = self.L[k] + U.shift(r);
            self.beta[k] += p.power(&T[k]);
        }
        (I.shift(r), p.shift(r))
    }

    /// Condenses the modes, with the added `inertia` and the modal forces `Q`: `η̈ = k − K A`, with
    /// the rows of `K` in `gain` and `k` in `offset`. Replaces `I` and `p` of `body` by the
    /// condensed ones.
    ///
    /// # Errors
    /// The index of the mode with zero inertia.
    #[inline(never)]
    pub fn eliminate(
        &mut self,
        body: &mut Articulated<S>,
        inertia: &[S::Constant],
        Q: &[S],
        gain: &mut [Wrench<S>],
        offset: &mut [S],
    ) -> Result<(), usize> {
        let n = self.beta.len();
        for (k, &inertia) in inertia.iter().enumerate() {
            self.M[k * n + k] += S::lift(inertia);
        }
        spd::factor(&mut self.M, n)?;
        gain.copy_from_slice(&self.L);
        spd::solve(&self.M, gain);
        for ((offset, Q), beta) in offset.iter_mut().zip(Q).zip(&self.beta) {
            *offset = *Q - *beta;
        }
        spd::solve(&self.M, offset);
        condense(&mut body.I, &mut body.p, &self.L, gain, offset);
        Ok(())
    }
}
