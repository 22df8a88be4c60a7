//! Beams with nodal coordinates in the inertial frame, for large motions and large bending.
//!
//! **ANCF** (absolute nodal coordinate formulation): coordinates are positions and slopes of nodes.
//! Between two nodes the centre line is the cubic `r(x) = Σ S_k(x) e_k` with
//! `e = [r₁, r₁′, r₂, r₂′]` (the prime is d/dx, `x` in 0 … `l` along the undeformed beam).
//! [`Element`] provides the constant mass and the elastic forces, [`Mass`] the factored mass matrix
//! of a whole beam, [`Site`] a point of the beam.
//!
//! These elements are gradient-deficient: they have no torsion, and their cross-section no
//! orientation about the tangent. A clamp therefore fixes the tangent only, and no moment acts
//! about it (Gerstmayr and Shabana, 10.1007/s11071-006-1856-1; in the plane Yang et al.,
//! 10.1007/s11071-023-08395-w, with their Eqs. 43–51).
//!
//! **Geometrically exact beams** have torsion and shear: their nodes are rigid bodies, each with a
//! triad of directors. [`DirectorElement`] provides strains and forces between two of them;
//! [`CurvedBeam`] the elements and nodes of a beam whose stress-free shape is a [`Curve`].

mod curve;
mod curved;
mod director;
mod element;
mod mass;
mod site;

#[cfg(feature = "inside")]
mod tests;

#[cfg(feature = "inside")]
test_modules![curve::tests, curved::tests, director::tests, tests];

pub use curve::{Curve, Spline};
pub use curved::{CurvedBeam, CurvedElement, MOST_ROTATION, NodeMass, SectionOfBeam};
pub use director::{DirectorElement, Span, Strain};
pub use element::{Curvature, Element, interpolate};
pub use mass::Mass;
pub use site::Site;
