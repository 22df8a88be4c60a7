//! The FMU: what FMI 2.0.4 asks of the library inside it. Above the waist, so no bodies here.
//!
//! | room | holds |
//! |---|---|
//! | [`registry`] | the one list of variables |
//! | [`guid`] | what ties an XML to its model and to this library |
//! | [`description`] | that list as FMI's XML |
//! | [`lifecycle`] | which call is legal in which mode: a table |
//! | [`component`] | an instance: what each call does |
//! | [`saved`] | an instance's state, as a copy and as bytes |
//! | [`memory`] | whether there is memory for an instance |
//! | [`log`] | messages and their categories |
//! | [`resource`] | where the compiled model lies |
//! | [`fmi2`] | the C types |
//! | [`c_abi`] | the 44 exported functions; the only `unsafe` |
//!
//! Section numbers are those of the standard, version 2.0.4; rules like "O3" are those of `docs/hosts.md`.

pub mod c_abi;
pub mod component;
pub mod description;
pub mod fmi2;
pub mod guid;
pub mod lifecycle;
pub mod log;
pub mod memory;
pub mod registry;
pub mod resource;
pub mod saved;
#[cfg(test)]
mod testing;
