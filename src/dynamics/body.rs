use crate::algebra::{ArticulatedInertia, Scalar, Sym3, Twist, Vec3, Wrench, lift3};
use crate::system::{BodyConstants, BodyKinematics, Deflection, Derived, Kinematics, System};

/// Returns a body's inertia about its origin and its bias wrench (the wrench that `q̈ = 0`
/// requires), world axes.
#[inline(always)]
pub(super) fn inertia_and_bias<S: Scalar>(
    system: &System,
    derived: &Derived<S::Constant>,
    kinematics: &Kinematics<S>,
    i: usize,
) -> (ArticulatedInertia<S>, Wrench<S>) {
    if let Some(fill) = kinematics.fill(system, i) {
        return changing_body(&derived.bodies[i], &kinematics.bodies[i], fill);
    }
    match &system.bodies[i].modes {
        None => rigid_body(&derived.bodies[i], &kinematics.bodies[i]),
        Some(modes) => flexible_body(
            &derived.bodies[i],
            &kinematics.deflections[modes.index],
            &kinematics.bodies[i].A_bias,
        ),
    }
}

/// [`inertia_and_bias`] of a flexible body; a separate function keeps the code of rigid bodies
/// small.
#[inline(never)]
pub(super) fn flexible_body<S: Scalar>(
    body: &BodyConstants<S::Constant>,
    bent: &Deflection<S>,
    A_bias: &Twist<S>,
) -> (ArticulatedInertia<S>, Wrench<S>) {
    let I = ArticulatedInertia::rigid(S::lift(body.m), &bent.h, &bent.J);
    (I, I.times(A_bias) + bent.bias)
}

/// [`inertia_and_bias`] of a rigid body.
///
/// With the first moment `h = m c` and the inertia `J` about the origin, the Newton–Euler equations
/// are
///
/// ```text
///     f = m a + α × h + ω × (ω × h)
///     t = J α + h × a + ω × J ω
/// ```
///
/// The acceleration `(α, a)` is [`A_bias`](BodyKinematics::A_bias) plus the acceleration that the
/// inertia multiplies.
#[inline(always)]
pub(super) fn rigid_body<S: Scalar>(
    body: &BodyConstants<S::Constant>,
    at: &BodyKinematics<S>,
) -> (ArticulatedInertia<S>, Wrench<S>) {
    let h = at.R_WB * lift3::<S>(&body.h);
    let J = body.J_Bo.lift::<S>().express(&at.R_WB);
    newton_euler(S::lift(body.m), h, J, at)
}

/// [`inertia_and_bias`] of a body whose mass, first moment and inertia are `fill` times its
/// constants.
pub(super) fn changing_body<S: Scalar>(
    body: &BodyConstants<S::Constant>,
    at: &BodyKinematics<S>,
    fill: S,
) -> (ArticulatedInertia<S>, Wrench<S>) {
    let h = at.R_WB * lift3::<S>(&body.h);
    let J = body.J_Bo.lift::<S>().express(&at.R_WB);
    newton_euler(S::lift(body.m) * fill, h * fill, J * fill, at)
}

/// Returns inertia and bias for the mass `m`, the first moment `h` and the inertia `J` about the
/// origin, world axes.
#[inline(always)]
fn newton_euler<S: Scalar>(m: S, h: Vec3<S>, J: Sym3<S>, at: &BodyKinematics<S>) -> (ArticulatedInertia<S>, Wrench<S>) {
    let w = &at.V_WB.w;
    let (alpha, a) = (&at.A_bias.w, &at.A_bias.v);
    let t = J.times(alpha) + h.cross(a) + w.cross(&J.times(w));
    let f = a * m + alpha.cross(&h) + w.cross(&w.cross(&h));
    (ArticulatedInertia::rigid(m, &h, &J), Wrench::new(t, f))
}
