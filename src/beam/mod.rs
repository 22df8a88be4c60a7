//! Straight elastic beams: from section data to natural modes, and to the particles of a flexible
//! body.
//!
//! Euler–Bernoulli bending in two planes, St.-Venant torsion, stretch; no shear deformation, no
//! rotary inertia of bending. The four motions are uncoupled:
//!
//! ```text
//!     bending   (EI φ″)″ = ω² μ φ
//!     torsion   −(GJ ψ′)′ = ω² ρI_p ψ
//!     stretch   −(EA a′)′ = ω² μ a
//! ```
//!
//! **Axes.** x is along the beam from its root at `x = 0` to its tip at `x = L`; y and z are the
//! section's principal axes. `EI_z` is the stiffness of deflection along y, `EI_y` along z.
//!
//! **Kinematics.** With modal amplitudes `η_k` the position of a particle on the axis at `x` is
//!
//! ```text
//!     p(x, η) = x e_x + Σ_k Φ_k η_k + ½ Σ_kl G_kl η_k η_l
//!
//!                 Φ_k            Ψ_k (rotation)     G_kl
//!     bending y   φ_k e_y        φ_k′ e_z           −e_x ∫₀ˣ φ_k′ φ_l′ ds
//!     bending z   φ_k e_z       −φ_k′ e_y           −e_x ∫₀ˣ φ_k′ φ_l′ ds
//!     torsion     0              ψ_k e_x            0
//!     stretch     a_k e_x        0                  0
//! ```
//!
//! `G_kl` (foreshortening) is zero between different planes. It keeps the axis inextensible to
//! second order: without it a rotating beam would soften where it has to stiffen.
//!
//! Modules: `section` defines a beam, `boundary` the boundary conditions; `basis`, `mesh`, `ritz`,
//! `eigen` and `solve` compute a `mode`, `modes` lists them, `point` is a frame on the beam,
//! `particles` the mass distribution for the dynamics.
//!
//! ```
//! use grapple::beam::{Beam, Boundary, Counts, Profile};
//!
//! let rod = Profile { E: 70e9, rho: 2700.0, A: 1e-4, I_y: 1e-9, I_z: 1e-9, GJ: 52.0 };
//! let beam = Beam::uniform(1.0, rod.section(0.0))?;
//! let modes = beam.modes(&Boundary::ClampedFree, Counts { bending_y: 2, ..Counts::default() })?;
//!
//! let omega = 3.516_015 * (70.0_f64 / 0.27).sqrt(); // (βL)² √(EI/μL⁴)
//! assert!((modes.list()[0].omega / omega - 1.0).abs() < 1e-6);
//! let tip = modes.at(1.0).Phi[0].y * 0.27_f64.sqrt(); // tip of the mass-normalised shape: 2/√m
//! assert!((tip - 2.0).abs() < 1e-12);
//! # Ok::<(), grapple::beam::BeamError>(())
//! ```

mod basis;
mod boundary;
mod eigen;
mod error;
mod mesh;
mod mode;
mod modes;
mod particles;
mod point;
mod ritz;
mod section;
mod solve;

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
mod tests;

#[cfg(feature = "inside")]
test_modules![basis::tests, mesh::tests, tests];

pub use boundary::Boundary;
pub use error::BeamError;
pub use mode::{Kind, Mode, Values};
pub use modes::{Counts, Modes};
pub use particles::Particle;
pub use point::Point;
pub use section::{Beam, Profile, Section, cantilever_EI};
