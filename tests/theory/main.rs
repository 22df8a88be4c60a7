//! The theory, proven: identities on random trees, closed forms, invariants.
#![allow(non_snake_case)] // frame letters

mod duals;
mod examples;
mod identities;
mod random_tree;
