use super::{Contact, ContactLaw, Nearest, Stiction};
use crate::algebra::fused::dot;
use crate::algebra::{Mask, Scalar, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::elements::{Instant, Pair, mean_slope};
use crate::system::{Configuration, FrameRef, ParamId, Unit};

/// Compliant contact force of K. H. Hunt and F. R. E. Crossley, *J. Appl. Mech.* 42 (1975), with
/// smoothed Coulomb friction:
///
/// ```text
///     N = F (δ/δ_F)ᵖ (1 + d δ̇) ≥ 0,     T = −μ N u_t / √(u_t² + u_s²)
/// ```
///
/// with the penetration δ, the tangential velocity u_t and the slip speed u_s, acting at the point
/// halfway between the surfaces. The normal force `N` is never tensile. Without a slip speed the
/// friction is that of [`Stiction`].
#[derive(Clone, Copy, Debug)]
pub struct Compliant {
    /// Force F at the penetration δ_F, N.
    pub(super) force: ParamId,
    /// Reference penetration δ_F, m.
    pub(super) depth: ParamId,
    /// Exponent p: true for 3/2 (Hertz, curved surfaces), false for 1.
    pub(super) is_hertz: bool,
    /// Dissipation coefficient d, s/m.
    pub(super) dissipation: ParamId,
    /// Friction; `None` without.
    pub(super) friction: Option<CompliantFriction>,
}

/// Friction of a compliant contact.
#[derive(Clone, Copy, Debug)]
pub(super) enum CompliantFriction {
    /// Smoothed Coulomb friction with the coefficient μ and the slip speed u_s (m/s).
    Smoothed { mu: ParamId, slip: ParamId },
    /// Coulomb friction with surfaces that stick.
    Coulomb(Stiction),
}

/// Compliant contact whose surfaces penetrate each other, at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed<S: Scalar> {
    law: Compliant,
    pair: Pair<S>,
    /// Unit normal from b towards a, world axes.
    n: Vec3<S>,
    /// Penetration δ, m.
    depth: S,
    /// Magnitude of the spring force F (δ/δ_F)ᵖ, N.
    spring: S,
}

impl Compliant {
    /// Returns the compliant contact of two frames, `None` if their surfaces do not penetrate.
    pub fn press<S: Scalar>(self, now: &Instant<S>, frames: [FrameRef; 2], nearest: &Nearest<S>) -> Option<Pressed<S>> {
        let is_pressed = (-nearest.gap).exceeds(0.0);
        if !is_pressed.is_needed() {
            return None;
        }
        let depth = S::select(is_pressed, -nearest.gap, S::zero());
        Some(Pressed {
            law: self,
            pair: Pair::at(now.configuration(), frames, nearest.from_a),
            n: nearest.n,
            depth,
            spring: self.spring(now.parameters, depth),
        })
    }

    /// Returns the spring force F (δ/δ_F)ᵖ, N, at a penetration (m).
    fn spring<S: Scalar>(self, parameters: &[S::Constant], depth: S) -> S {
        let part = depth * S::lift(S::Constant::number(1.0) / self.depth.of(parameters));
        let shape = if self.is_hertz { part * part.sqrt() } else { part };
        shape * S::lift(self.force.of(parameters))
    }

    /// Returns the normal force, N, at a gap (m) and its rate (m/s); zero if the surfaces do not
    /// penetrate.
    pub fn normal_force<S: Scalar>(self, parameters: &[S::Constant], gap: S, rate: S) -> S {
        let is_pressed = (-gap).exceeds(0.0);
        if !is_pressed.is_needed() {
            return S::zero();
        }
        let spring = self.spring(parameters, S::select(is_pressed, -gap, S::zero()));
        spring + damper(spring, S::lift(self.dissipation.of(parameters)), rate)
    }

    /// Returns the Coulomb friction with surfaces that stick; `None` without.
    pub fn stiction(&self) -> Option<Stiction> {
        match self.friction {
            Some(CompliantFriction::Coulomb(stiction)) => Some(stiction),
            Some(CompliantFriction::Smoothed { .. }) | None => None,
        }
    }
}

impl Compliant {
    /// Adds the difference between the discrete gradient of the spring's energy over a step and the
    /// spring force at the midpoint.
    ///
    /// `gaps` are the gaps at both ends of the step, m; `pace` is the ratio of the gap's change to
    /// the midpoint displacement along the normal over the step.
    pub fn add_of_step<S: Scalar>(
        self,
        now: &Instant<S>,
        frames: [FrameRef; 2],
        nearest: &Nearest<S>,
        (gaps, pace): ([S; 2], S),
        applied: &mut Applied<S>,
    ) {
        let [force, depth] = [self.force, self.depth].map(|id| id.of(now.parameters));
        let parts = gaps.map(|gap| gap * S::lift(S::Constant::number(-1.0) / depth));
        let slope = if self.is_hertz {
            let inside = |parts: [S; 2]| {
                // (a⁵ − b⁵)/(a² − b²)
                let [a, b] = parts.map(S::sqrt);
                let (aa, bb, ab) = (a * a, b * b, a * b);
                (aa * aa + ab * (aa + ab + bb) + bb * bb) / (a + b)
            };
            mean_slope(parts, |part| part * part * part.sqrt(), inside) * S::lift(force / S::Constant::number(2.5))
        } else {
            mean_slope(parts, |part| part * part, |[a, b]| a + b) * S::lift(force / S::Constant::number(2.0))
        };
        let at_midpoint = self
            .press(now, frames, nearest)
            .map_or(S::zero(), |pressed| pressed.spring);
        let pair = Pair::at(now.configuration(), frames, nearest.from_a);
        let F = Wrench::new(Vec3::zeros(), nearest.n * (slope * pace - at_midpoint));
        pair.push(now.system, now.kinematics, applied, F);
    }
}

/// Returns the damper force along the normal, N, of a spring force (N) with the dissipation (s/m) at
/// the rate of the gap (m/s), limited so that the normal force is never tensile.
fn damper<S: Scalar>(spring: S, dissipation: S, rate: S) -> S {
    let damper = -spring * dissipation * rate;
    let pushes = (spring + damper).exceeds(0.0);
    S::select(pushes, damper, -spring)
}

/// Ratio of the penetration at the start to that of the law above which a start is doubtful: the force is
/// more than thirty times that of the law.
const DEEP: f64 = 10.0;

impl Contact {
    /// Returns the description of a compliant contact that starts deep inside; `None` of others.
    pub fn starts_deep(&self, parameters: &[f64], of: Configuration<f64>) -> Option<String> {
        let ContactLaw::Compliant(law) = self.law else {
            return None;
        };
        let [A, B] = &self.poses(of);
        let (depth, reference) = (-self.nearest(parameters, [A, B]).gap, law.depth.of(parameters));
        let force = law.normal_force(parameters, -depth, 0.0);
        let [a, b] = &self.names;
        (depth > DEEP * reference && force > 0.0).then(|| {
            let [depth, reference] = [depth, reference].map(|length| Unit::Metre.about(length));
            let force = Unit::Newton.about(force);
            format!(
                "\"{a}\" starts {depth} inside \"{b}\", which it leaves with a force of {force}: the law is written for about \
                 {reference}; start farther away"
            )
        })
    }
}

impl<S: Scalar> Pressed<S> {
    /// Returns the spring force on a, N, world axes.
    pub fn spring(&self) -> Vec3<S> {
        self.n * self.spring
    }

    /// Returns the damper force and the smoothed friction on a, N, world axes. The damper force is
    /// limited so that the normal force is never tensile.
    pub fn dissipation(&self, now: &Instant<S>) -> Vec3<S> {
        let (law, spring) = (&self.law, self.spring);
        let value = |id: ParamId| S::lift(id.of(now.parameters));
        let u = self.pair.relative(|on| now.kinematics.carrier(on).V_WB).v;
        let u_n = dot(&self.n, &u);
        let damper = damper(spring, value(law.dissipation), u_n);
        let mut F = self.n * damper;
        if let Some(CompliantFriction::Smoothed { mu, slip }) = law.friction {
            let u_t = u - self.n * u_n;
            let slip = value(slip);
            F -= u_t * (value(mu) * (spring + damper) / (dot(&u_t, &u_t) + slip * slip).sqrt());
        }
        F
    }

    /// Returns the normal force, N.
    pub fn normal(&self, now: &Instant<S>) -> S {
        let u = self.pair.relative(|on| now.kinematics.carrier(on).V_WB).v;
        let dissipation = S::lift(self.law.dissipation.of(now.parameters));
        self.spring + damper(self.spring, dissipation, dot(&self.n, &u))
    }

    /// Returns the energy of the spring, J.
    pub fn energy(&self) -> S {
        let exponent = if self.law.is_hertz { 1.5 } else { 1.0 };
        self.spring * self.depth * S::lift(1.0 / (1.0 + exponent))
    }

    /// Adds a force on a (N, world axes) and its reverse on b.
    pub fn push(&self, now: &Instant<S>, force: Vec3<S>, applied: &mut Applied<S>) {
        let F = Wrench::new(Vec3::zeros(), force);
        self.pair.push(now.system, now.kinematics, applied, F);
    }
}
