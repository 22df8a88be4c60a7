//! Memory for an instance is tested before it is built.
//!
//! Rust ends the process where an allocation fails, and an importer must not end with it. So `fmi2Instantiate` computes an upper
//! bound of what each of its stages takes, tries to allocate as much, frees it, and is refused where that fails. The bounds
//! are several times what the examples take, and are tested against what is allocated (`tests/bad_data/reserve.rs`).
//!
//! This covers what the allocator refuses: a limit of the address space (`RLIMIT_AS`), a 32-bit process, a system without
//! overcommitment. It does not cover memory that is promised and not there when it is first written to, other threads that take
//! it between the test and the use, and calls after the instantiation.

use super::lifecycle::Interface;
use crate::plant::Model;
use crate::spec::{AncfBeam, Method, Spec};

/// Margin for the parts that are not counted and for messages, bytes.
pub const BASE: usize = 256 << 10;

/// A stage of the instantiation for which there is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Tests whether so many bytes can be allocated now.
///
/// # Errors
/// They cannot.
pub fn test(bytes: usize) -> Result<(), OutOfMemory> {
    let mut block: Vec<u8> = Vec::new();
    let outcome = block.try_reserve_exact(bytes);
    // An allocation that nobody looks at need not be made.
    std::hint::black_box(block.as_ptr());
    outcome.map_err(|_| OutOfMemory)
}

/// Returns a bound of the bytes that it takes to read a compiled model of `length` bytes.
pub fn to_read(length: usize) -> usize {
    length.saturating_mul(64).saturating_add(BASE)
}

/// Returns a bound of the bytes that it takes to compile a spec that was checked, of a compiled model of `length` bytes.
pub fn to_compile(spec: &Spec, length: usize) -> usize {
    length
        .saturating_mul(128)
        .saturating_add(beams(spec))
        .saturating_add(BASE)
}

/// Returns a bound of the bytes that it takes to build an instance of a model.
pub fn to_build(model: &Model, interface: Interface) -> usize {
    let Model { spec, states, .. } = model;
    let n = states.len();
    let variables = model.parameters.len() + model.inputs.len() + 2 * n + model.outputs.len();
    let has_matrices = spec.solver.method.is_dense() || spec.solver.method == Method::Conserving;
    // The Jacobian, the Newton matrices and their factors, the copy before a step.
    let matrices = if interface == Interface::CoSimulation && has_matrices {
        80 * n * n
    } else {
        0
    };
    variables * 1024 + matrices + beams(spec) + BASE
}

/// Returns a bound for beams, which a few numbers of the spec make large: integrals over four modes at once, and elements.
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
