//! The recursive formulation: minimal coordinates, O(n), no constraint to drift.
//!
//! Featherstone's articulated-body recursion (R. Featherstone, *Rigid Body Dynamics Algorithms*,
//! Springer 2008, doi:10.1007/978-1-4899-7560-7, ch. 7) in **world axes about each body's own
//! origin**, with ordinary accelerations: inertias are shifted along the tree, never rotated, and a
//! craft far from the world's origin loses nothing.

mod forward;
mod inverse;
mod jacobian;
mod mass_matrix;

pub use forward::{ForwardDynamics, SingularHinge};
pub use inverse::InverseDynamics;
pub use jacobian::jacobian;
pub use mass_matrix::mass_matrix;

use crate::algebra::{ArticulatedInertia, Scalar, Vec3, Wrench, lift3};
use crate::system::{BodyConstants, BodyKinematics};

/// A body's inertia about its origin and the wrench that its motion alone asks for, world axes.
///
/// With the first moment `h = m c` and the inertia `J` about the origin, Newton and Euler read
///
/// ```text
///     f = m a + α × h + ω × (ω × h)
///     t = J α + h × a + ω × J ω
/// ```
///
/// The inertia holds what is linear in `(α, a)`; the rest is the second value.
#[inline(always)]
fn rigid_body<S: Scalar>(body: &BodyConstants, at: &BodyKinematics<S>) -> (ArticulatedInertia<S>, Wrench<S>) {
    let h: Vec3<S> = at.R_WB * lift3::<S>(&body.h);
    let J = body.J_Bo.lift::<S>().express(&at.R_WB);
    let w = &at.V_WB.w;
    let bias = Wrench::new(w.cross(&J.times(w)), w.cross(&w.cross(&h)));
    (ArticulatedInertia::rigid(S::lift(body.m), &h, &J), bias)
}
