//! Beams in absolute nodal coordinates (ANCF, the absolute nodal coordinate formulation): places and slopes of nodes in the world are what is integrated, so that large motions and large bending need no body axes.
//!
//! Between two nodes the centre line is the cubic `r(x) = Σ S_k(x) e_k` of their places and slopes `e = [r₁, r₁′, r₂, r₂′]` (the prime is d/dx, `x` in 0 … `l` along the beam at
//! rest). The [`Element`] has their constant mass and what bends and stretches them, [`Mass`] is the matrix of a whole beam with its factors. A [`Site`] is a point of the beam.
//!
//! In these there is no torsion and no section: what holds such a beam holds its direction, and nothing can turn it about its own axis (gradient-deficient elements: Gerstmayr and Shabana,
//! 10.1007/s11071-006-1856-1; in the plane Yang et al., 10.1007/s11071-023-08395-w, with their Eqs. 43–51).
//!
//! A [`DirectorElement`] has both: its nodes are rigid bodies, each with a triad of directors, and it is what strains between two of them.

mod director;
mod element;
mod mass;
mod site;

#[cfg(test)]
mod tests;

pub use director::{DirectorElement, Span, Strain};
pub use element::{Curvature, Element, interpolate};
pub use mass::Mass;
pub use site::Site;
