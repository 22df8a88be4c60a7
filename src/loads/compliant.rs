use super::{Instant, Nearest, Pair};
use crate::algebra::{Scalar, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::system::{FrameRef, ParamId};

/// Surfaces that are pressed into each other push back: K. H. Hunt and F. R. E. Crossley, *J. Appl. Mech.* 42 (1975), with Coulomb's friction made smooth,
///
/// ```text
///     N = F (δ/δ_F)ᵖ (1 + d δ̇) ≥ 0,     T = −μ N u_t / √(u_t² + u_s²)
/// ```
///
/// of the depth δ, at the point halfway between the surfaces. They never pull.
#[derive(Clone, Copy, Debug)]
pub struct Compliant {
    /// F, N.
    pub(super) force: ParamId,
    /// δ_F, m.
    pub(super) depth: ParamId,
    /// Whether p is 3/2, as of round bodies (Hertz), and not 1.
    pub(super) is_hertz: bool,
    /// d, s/m.
    pub(super) dissipation: ParamId,
    /// μ and u_s, m/s.
    pub(super) friction: Option<(ParamId, ParamId)>,
    /// Whether surfaces push back wherever they are, as if what is between them were a depth: to see what the law depends on.
    pub(super) always: bool,
}

/// Surfaces that are pressed into each other.
struct Pressed<S: Scalar> {
    pair: Pair<S>,
    n: Vec3<S>,
    /// F (δ/δ_F)ᵖ, N.
    spring: S,
}

impl Compliant {
    /// The spring's force at the depth δ (m), N.
    fn spring<S: Scalar>(&self, parameters: &[f64], depth: S) -> S {
        let part = depth * S::lift(1.0 / self.depth.of(parameters));
        let shape = if self.is_hertz { part * part.sqrt() } else { part };
        shape * S::lift(self.force.of(parameters))
    }

    /// Energy of the spring at the depth δ (m), J.
    fn energy<S: Scalar>(&self, parameters: &[f64], depth: S) -> S {
        let exponent = if self.is_hertz { 1.5 } else { 1.0 };
        self.spring(parameters, depth) * depth * S::lift(1.0 / (1.0 + exponent))
    }

    /// δ, m, if they are pressed into each other.
    fn depth<S: Scalar>(&self, nearest: &Nearest<S>) -> Option<S> {
        let gap = nearest.gap;
        match gap.value() < 0.0 {
            true => Some(-gap),
            false => self.always.then_some(gap),
        }
    }

    fn pressed<S: Scalar>(&self, now: &Instant<S>, frames: [FrameRef; 2], nearest: &Nearest<S>) -> Option<Pressed<S>> {
        self.depth(nearest).map(|depth| Pressed {
            pair: Pair::at((now.system, now.derived, now.kinematics), frames, nearest.from_a),
            n: nearest.n,
            spring: self.spring(now.parameters, depth),
        })
    }

    /// Adds what the spring does.
    pub(super) fn add_spring<S: Scalar>(
        &self,
        now: &Instant<S>,
        (frames, nearest): ([FrameRef; 2], &Nearest<S>),
        applied: &mut Applied<S>,
    ) {
        if let Some(Pressed { pair, n, spring }) = self.pressed(now, frames, nearest) {
            let F = Wrench::new(Vec3::zeros(), n * spring);
            pair.push(now.system, now.kinematics, applied, F);
        }
    }

    /// Adds what dissipates: the damper, which takes away at most what the spring gives, and friction.
    pub(super) fn add_dissipation<S: Scalar>(
        &self,
        now: &Instant<S>,
        (frames, nearest): ([FrameRef; 2], &Nearest<S>),
        applied: &mut Applied<S>,
    ) {
        if let Some(pressed) = self.pressed(now, frames, nearest) {
            let F = Wrench::new(Vec3::zeros(), self.dissipation(now, &pressed));
            pressed.pair.push(now.system, now.kinematics, applied, F);
        }
    }

    /// The force on a beside the spring's, N, world axes.
    fn dissipation<S: Scalar>(&self, now: &Instant<S>, Pressed { pair, n, spring }: &Pressed<S>) -> Vec3<S> {
        let value = |id: ParamId| S::lift(id.of(now.parameters));
        let u = pair.relative(|on| now.kinematics.carrier(on).V_WB).v;
        let u_n = n.dot(&u);
        let damper = -*spring * value(self.dissipation) * u_n;
        let damper = if (*spring + damper).value() > 0.0 {
            damper
        } else {
            -*spring
        };
        let mut F = n * damper;
        if let Some((mu, slip)) = self.friction {
            let u_t = u - n * u_n;
            let slip = value(slip);
            F -= u_t * (value(mu) * (*spring + damper) / (u_t.dot(&u_t) + slip * slip).sqrt());
        }
        F
    }

    /// The whole force on a, N, world axes.
    pub(super) fn force<S: Scalar>(&self, now: &Instant<S>, frames: [FrameRef; 2], nearest: &Nearest<S>) -> Vec3<S> {
        self.pressed(now, frames, nearest).map_or_else(Vec3::zeros, |pressed| {
            pressed.n * pressed.spring + self.dissipation(now, &pressed)
        })
    }

    /// Energy of the spring, J.
    pub(super) fn potential_energy<S: Scalar>(&self, now: &Instant<S>, nearest: &Nearest<S>) -> S {
        let depth = self.depth(nearest);
        depth.map_or_else(S::zero, |depth| self.energy(now.parameters, depth))
    }
}
