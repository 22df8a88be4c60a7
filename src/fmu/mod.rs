//! The FMI of the library, versions 2.0.4 and 3.0.2. It depends on the plant's states, inputs and
//! outputs, not on its bodies. Both versions have one [`component`] and one list of variables; the
//! modules `fmi2` and `fmi3` of [`c_abi`] are thin layers over it.
//!
//! | module | contents |
//! |---|---|
//! | [`registry`] | the one list of variables |
//! | [`arrays`] | scalars of the list that are one array in FMI 3.0 |
//! | [`guid`] | the GUID that matches an XML with its model and with this library |
//! | [`description`] | the list of variables as FMI's XML |
//! | [`lifecycle`] | the tables of legal calls in each mode |
//! | [`status`] | the outcome of a call |
//! | [`component`] | an instance: the effect of each call |
//! | [`saved`] | an instance's state, as a copy and as bytes |
//! | [`memory`] | test for enough memory, before an instance is built |
//! | [`log`] | messages and their categories |
//! | [`resource`] | location of the model file in `resources/` |
//! | [`fmi2`], [`fmi3`] | the C types |
//! | [`c_abi`] | the 44 exported functions of FMI 2.0 and the 75 of FMI 3.0; the only `unsafe` |
//!
//! Section numbers are those of the standard, version 2.0.4 unless 3.0 is written with them. Functions
//! of the component are explained by those of FMI 2.0. Rules like "O3" are those of `docs/hosts.md`.

mod array_description;
pub mod arrays;
pub mod c_abi;
pub mod component;
pub mod description;
pub mod fmi2;
pub mod fmi3;
pub mod guid;
pub mod lifecycle;
pub mod log;
pub mod memory;
pub mod registry;
pub mod resource;
pub mod saved;
pub mod status;
#[cfg(feature = "inside")]
mod testing;

#[cfg(feature = "inside")]
test_modules![
    c_abi::tests,
    component::tests,
    description::tests,
    guid::tests,
    lifecycle::tests,
    log::tests,
    registry::tests,
    resource::tests
];
