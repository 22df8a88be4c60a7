//! Test of the memory for an instance before the instance is built.
//!
//! Rust aborts the process when an allocation fails, and so would end the importer.
//! `fmi2Instantiate` therefore computes an upper bound of the memory of each stage, allocates that
//! much, frees it, and fails if the allocation fails. The bounds are several times what the
//! examples need, and are tested against the actual allocations (`tests/bad_data/reserve.rs`).
//!
//! This covers allocations that are refused: a limit of the address space (`RLIMIT_AS`), a 32-bit
//! process, a system without overcommitment. It does not cover overcommitted memory that is missing
//! at the first write, other threads that allocate between test and use, and calls after the
//! instantiation.

use super::lifecycle::Interface;
use crate::plant::Model;
use crate::simulation::uses_radau5;
use crate::spec::{AncfBeam, Method, Spec};

/// Bytes added to each bound, for messages and for parts that the bound does not count.
pub const BASE: usize = 256 << 10;

/// A stage of the instantiation for which there is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Tests that a number of bytes can be allocated now.
///
/// # Errors
/// [`OutOfMemory`] if they cannot.
pub fn test(bytes: usize) -> Result<(), OutOfMemory> {
    let mut block: Vec<u8> = Vec::new();
    let outcome = block.try_reserve_exact(bytes);
    // The optimizer removes an allocation that is not observed.
    std::hint::black_box(block.as_ptr());
    outcome.map_err(|_| OutOfMemory)
}

/// Returns an upper bound of the bytes needed to read a `model.json` of `length` bytes: the shortest
/// value is `0,`, of two bytes; its 48 bytes in memory (`spec::Node`) and the 8 of its number are
/// allocated three times while a list grows.
pub fn to_read(length: usize) -> usize {
    length.saturating_mul(96).saturating_add(BASE)
}

/// Returns an upper bound of the bytes needed to compile a validated spec, read from a `model.json`
/// of `length` bytes.
pub fn to_compile(spec: &Spec, length: usize) -> usize {
    length
        .saturating_mul(128)
        .saturating_add(beams(spec))
        .saturating_add(BASE)
}

/// Returns an upper bound of the bytes needed to build an instance of a model.
pub fn to_build(model: &Model, interface: Interface) -> usize {
    let Model { spec, states, .. } = model;
    let n = states.len();
    let variables = model.parameters.len() + model.inputs.len() + 2 * n + model.outputs.len();
    let has_matrices =
        uses_radau5(model) || matches!(spec.solver.method, Method::ImplicitMidpoint | Method::Conserving);
    // Up to ten n × n matrices: the Jacobian, the Newton matrices and their factors, and the copy
    // of the integrator's memory before a step.
    let matrices = if interface == Interface::CoSimulation && has_matrices {
        80 * n * n
    } else {
        0
    };
    variables * 1024 + matrices + beams(spec) + BASE
}

/// Returns an upper bound of the bytes for beams, which grow with numbers in the spec, not with its
/// length: modal beams by integrals over products of up to four modes, large beams by elements.
fn beams(spec: &Spec) -> usize {
    let modal = spec.body.values().filter_map(|body| body.beam.as_ref()).map(|beam| {
        let bending = beam.bending_y.unwrap_or(beam.bending) + beam.bending_z.unwrap_or(beam.bending);
        let modes = bending + beam.torsion + beam.axial;
        beam.segments.max(1) * (modes.pow(3) * (8 * modes + 80) + modes * 6_000 + 8_000)
    });
    let director = spec
        .body
        .values()
        .filter_map(|body| body.geometrically_exact_beam.as_ref());
    let nodal = spec.ancf_beam.values().map(AncfBeam::nodes);
    let elements: usize = director.map(|beam| beam.elements).chain(nodal).sum();
    modal.sum::<usize>() + elements * 16_000
}
