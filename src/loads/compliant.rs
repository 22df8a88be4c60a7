use super::{Instant, Nearest, Pair, mean_slope};
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed<S: Scalar> {
    law: Compliant,
    pair: Pair<S>,
    /// From b towards a, world axes.
    n: Vec3<S>,
    /// δ, m.
    depth: S,
    /// F (δ/δ_F)ᵖ, N.
    spring: S,
}

impl Compliant {
    /// The two frames of a contact, if they are pressed into each other.
    pub fn press<S: Scalar>(self, now: &Instant<S>, frames: [FrameRef; 2], nearest: &Nearest<S>) -> Option<Pressed<S>> {
        let gap = nearest.gap;
        let depth = match gap.value() < 0.0 {
            true => -gap,
            false if self.always => gap,
            false => return None,
        };
        let part = depth * S::lift(1.0 / self.depth.of(now.parameters));
        let shape = if self.is_hertz { part * part.sqrt() } else { part };
        Some(Pressed {
            law: self,
            pair: Pair::at(now.configuration(), frames, nearest.from_a),
            n: nearest.n,
            depth,
            spring: shape * S::lift(self.force.of(now.parameters)),
        })
    }
}

impl Compliant {
    /// Adds what the spring does in a step on the mean more than in its middle, of the gaps at both ends, and how fast the gap changes for a unit along the normal.
    pub fn add_of_step<S: Scalar>(
        self,
        now: &Instant<S>,
        frames: [FrameRef; 2],
        nearest: &Nearest<S>,
        (gaps, pace): ([S; 2], S),
        applied: &mut Applied<S>,
    ) {
        let [force, depth] = [self.force, self.depth].map(|id| id.of(now.parameters));
        let parts = gaps.map(|gap| gap * S::lift(-1.0 / depth));
        let slope = if self.is_hertz {
            let inside = |parts: [S; 2]| {
                // (a⁵ − b⁵)/(a² − b²)
                let [a, b] = parts.map(S::sqrt);
                let (aa, bb, ab) = (a * a, b * b, a * b);
                (aa * aa + ab * (aa + ab + bb) + bb * bb) / (a + b)
            };
            mean_slope(parts, |part| part * part * part.sqrt(), inside) * S::lift(force / 2.5)
        } else {
            mean_slope(parts, |part| part * part, |[a, b]| a + b) * S::lift(force / 2.0)
        };
        let in_middle = self
            .press(now, frames, nearest)
            .map_or(S::zero(), |pressed| pressed.spring);
        let pair = Pair::at(now.configuration(), frames, nearest.from_a);
        let F = Wrench::new(Vec3::zeros(), nearest.n * (slope * pace - in_middle));
        pair.push(now.system, now.kinematics, applied, F);
    }
}

impl<S: Scalar> Pressed<S> {
    /// What the spring does to a, N, world axes.
    pub fn spring(&self) -> Vec3<S> {
        self.n * self.spring
    }

    /// What dissipates, on a, N, world axes: the damper, which takes away at most what the spring gives, and friction.
    pub fn dissipation(&self, now: &Instant<S>) -> Vec3<S> {
        let (law, spring) = (&self.law, self.spring);
        let value = |id: ParamId| S::lift(id.of(now.parameters));
        let u = self.pair.relative(|on| now.kinematics.carrier(on).V_WB).v;
        let u_n = self.n.dot(&u);
        let damper = -spring * value(law.dissipation) * u_n;
        let pulls = (spring + damper).value() <= 0.0;
        let damper = if pulls { -spring } else { damper };
        let mut F = self.n * damper;
        if let Some((mu, slip)) = law.friction {
            let u_t = u - self.n * u_n;
            let slip = value(slip);
            F -= u_t * (value(mu) * (spring + damper) / (u_t.dot(&u_t) + slip * slip).sqrt());
        }
        F
    }

    /// Energy of the spring, J.
    pub fn energy(&self) -> S {
        let exponent = if self.law.is_hertz { 1.5 } else { 1.0 };
        self.spring * self.depth * S::lift(1.0 / (1.0 + exponent))
    }

    /// Adds a force on a (N, world axes), and its reverse on b.
    pub fn push(&self, now: &Instant<S>, force: Vec3<S>, applied: &mut Applied<S>) {
        let F = Wrench::new(Vec3::zeros(), force);
        self.pair.push(now.system, now.kinematics, applied, F);
    }
}
