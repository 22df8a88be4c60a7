//! The FMI 2.0.4 interface of the library. It depends on the plant's states, inputs and outputs,
//! not on its bodies.
//!
//! | module | contents |
//! |---|---|
//! | [`registry`] | the one list of variables |
//! | [`guid`] | the GUID that matches an XML with its model and with this library |
//! | [`description`] | the list of variables as FMI's XML |
//! | [`lifecycle`] | the table of legal calls in each mode |
//! | [`component`] | an instance: the effect of each call |
//! | [`saved`] | an instance's state, as a copy and as bytes |
//! | [`memory`] | test for enough memory, before an instance is built |
//! | [`log`] | messages and their categories |
//! | [`resource`] | location of the model file in `resources/` |
//! | [`fmi2`] | the C types |
//! | [`c_abi`] | the 44 exported functions; the only `unsafe` |
//!
//! Section numbers are those of the standard, version 2.0.4; rules like "O3" are those of
//! `docs/hosts.md`.

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
