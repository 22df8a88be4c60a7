//! The shared library of FMUs, linked from what the tests compile: scripts/test has the tool embed
//! it. The shipped library is compiled with whole-program optimisation (`profile.dist`).

use grapple as _;

/// Runs that advance together, as in the libraries for campaigns.
#[path = "../../lanes/src/lib.rs"]
mod lanes;
