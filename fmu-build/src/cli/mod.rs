//! One module for each verb, and modules that serve several verbs.

pub mod assemble;
pub mod build;
pub mod campaign;
pub mod check;
pub mod completions;
pub mod couple;
pub mod demo;
pub mod describe;
pub mod equilibrium;
pub mod identify;
pub mod import;
pub mod interrupt;
mod libraries;
pub mod linearize;
mod main;
pub mod margin;
pub mod modelica;
pub mod new;
pub mod output;
pub mod page;
pub mod plan;
mod progress;
pub mod schema;
pub mod simulate;
pub mod split;

pub use main::main;
