//! The dynamics of space manipulators: the library inside the FMU.
//!
//! | floor | room | knows |
//! |---|---|---|
//! | 1 | [`algebra`] | geometry of numbers |
//! | 1 | [`spec`] | what the user writes |
//! | 1 | [`integrate`] | "an ODE" |
//! | 1 | [`beam`] | a beam: its sections, modes and their integrals |
//! | 1 | [`nodal`] | a beam in absolute nodal coordinates: its elements |
//! | 2 | [`system`] | the spec compiled: tree, layout, joints, constants, kinematics |
//! | 3 | [`loads`] | positions, motions, inputs → loads |
//! | 3 | [`dynamics`] | loads → accelerations; what the motion conserves |
//! | 4 | [`plant`] | the waist: a model with parameter values, evaluated anywhere |
//! | 5 | [`simulation`] | plant, integrator and events: advances the time |
//! | 6 | [`fmu`] | FMI 2.0: variables, lifecycle, component, C ABI |
//!
//! Imports go down only; `DESIGN.md` says why things are as they are.
//!
//! ```
//! use grapple::plant::{Model, Plant};
//! use grapple::simulation::Simulation;
//!
//! let text = r#"
//!     name = "hub"
//!     [body.hub]
//!     mass = 2.0
//!     inertia = [1.0, 1.0, 1.0]
//!     start = { angular_velocity = [0.0, 0.0, 0.5] }
//! "#;
//! let spec = grapple::spec::read(text, std::path::Path::new("."))?;
//! let plant = Plant::new(Model::compile(&spec)?.into())?;
//! let mut simulation = Simulation::new(plant)?;
//! simulation.advance(1.0, &mut Vec::new())?;
//! let half_angle = simulation.state.x[3].atan2(simulation.state.x[0]); // hub.q[4], hub.q[1]
//! assert!((half_angle - 0.25).abs() < 1e-9); // 0.5 rad/s for 1 s
//! # Ok::<(), grapple::Error>(())
//! ```
#![deny(unsafe_code)]

pub mod algebra;
pub mod beam;
pub mod dynamics;
mod error;
pub mod event;
pub mod fmu;
pub mod integrate;
#[cfg(test)]
#[path = "../tests/theory/larger.rs"]
mod larger;
pub mod loads;
pub mod nodal;
pub mod plant;
pub mod simulation;
pub mod spec;
pub mod system;

pub use error::{Error, Problem};
pub use event::Event;
