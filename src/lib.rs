//! The dynamics of space manipulators: the library inside the FMU.
//!
//! Each module imports only from modules above it in this table; `DESIGN.md` gives the reasons.
//!
//! | module | contents |
//! |---|---|
//! | [`algebra`] | quaternions, poses, twists, wrenches, inertias, dual numbers |
//! | [`spec`] | the spec as plain data; validation of its structure |
//! | [`integrate`] | integrators of an ODE, dense output, root location |
//! | [`beam`], [`nodal`] | natural modes of beams; elements of ANCF and geometrically exact beams |
//! | [`system`] | the compiled spec: tree, layout of the state, joints, parameters, kinematics |
//! | [`random`] | random numbers as functions of seed, name and index |
//! | [`event`] | events as values, with their text |
//! | [`dynamics`] | loads → accelerations, in four formulations; impact laws; invariants |
//! | [`elements`] | parts of a spec besides bodies and joints: loads, constraints, signals |
//! | [`plant`] | a model with parameter values: evaluation at any time, state and input; events |
//! | [`simulation`] | plant, integrator and events: advances the time |
//! | [`fmu`] | FMI 2.0: variables, lifecycle, component, C ABI |
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
//!     [experiment]
//!     tolerance = 1e-8
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
// Results do not depend on the platform (clippy.toml). Expected values of tests may.
#![warn(clippy::disallowed_methods)]

#[macro_use]
mod element_list;
#[cfg(feature = "inside")]
#[macro_use]
#[doc(hidden)]
pub mod inside;

pub mod algebra;
pub mod beam;
pub mod dynamics;
pub mod elements;
mod error;
pub mod event;
pub mod fmu;
pub mod integrate;
#[cfg(feature = "inside")]
#[path = "../tests/theory/larger.rs"]
mod larger;
#[cfg(feature = "inside")]
#[path = "../tests/messages/mod.rs"]
mod messages;
pub mod nodal;
pub mod plant;
pub mod random;
pub mod simulation;
pub mod spec;
pub mod system;

#[cfg(feature = "inside")]
test_modules![
    algebra,
    beam,
    dynamics,
    elements,
    event::tests,
    fmu,
    integrate::tests,
    messages,
    nodal,
    plant,
    simulation,
    spec,
    system,
];

/// The unit tests; `tests/inside` runs them.
#[cfg(feature = "inside")]
#[doc(hidden)]
pub const UNIT_TESTS: inside::Tests = TESTS;

pub use error::{Error, Problem};
pub use event::Event;
