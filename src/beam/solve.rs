//! Modes of one type: selection of the polynomial degree.

use std::f64::consts::PI;
use std::sync::Arc;

use super::eigen::Pair;
use super::mesh::Element;
use super::ritz::Ritz;
use super::{BeamError, Boundary, Kind, Mode};

/// A mode has converged if the last two bubbles of each element contain at most this fraction of
/// its strain energy.
///
/// The next two bubbles, which are omitted, contain about `1e-3` of that fraction: the error of
/// `ω²` is then below round-off, that of the curvature about `1e-11`, that of the shape less.
const TAIL: f64 = 1e-18;

/// Tail (fraction of the strain energy in the last two bubbles) below which it is round-off if it
/// no longer decreases as the degree is raised.
const TAIL_OF_ROUND_OFF: f64 = 1e-12;

/// Largest degree: a higher one does not improve the accuracy.
const LARGEST_DEGREE: usize = 32;

/// Returns the lowest modes of a type, and the natural frequency of the next one (rad/s), if any.
///
/// The degree of the elements is raised until the modes have converged.
pub(super) fn modes(
    elements: &Arc<[Element]>,
    kind: Kind,
    boundary: &Boundary,
    count: usize,
) -> Result<(Vec<Mode>, Option<f64>), BeamError> {
    let mut degree = first_degree(elements, kind, boundary, count);
    let mut last_tail = f64::INFINITY;
    let (ritz, pairs) = loop {
        let ritz = Ritz::new(elements, kind, boundary, degree);
        let pairs = match ritz.has_inertia() {
            true => ritz.pairs(count + 1)?,
            false => Vec::new(),
        };
        let tail = pairs
            .iter()
            .take(count)
            .map(|pair| ritz.tail(&pair.v))
            .fold(0.0, f64::max);
        let exhausted = tail < TAIL_OF_ROUND_OFF && tail > 0.1 * last_tail;
        if tail < TAIL || exhausted || degree >= LARGEST_DEGREE {
            break (ritz, pairs);
        }
        (degree, last_tail) = (degree + 2, tail);
    };
    let omega = |pair: &Pair| ritz.omega(pair);
    if pairs.len() < count {
        return Err(BeamError::TooFewModes {
            kind,
            found: pairs.len(),
            requested: count,
        });
    }
    let mode = |pair: &Pair| Mode {
        kind,
        omega: omega(pair),
        shape: ritz.shape(&pair.v),
    };
    Ok((
        pairs.iter().take(count).map(mode).collect(),
        pairs.get(count).map(omega),
    ))
}

/// Returns a degree that suffices for the modes of most beams; [`modes`] raises it if it is too
/// low.
///
/// The k-th elastic mode of a cantilever has about `k − ½` half waves. Each end condition that a
/// beam has in addition adds half a wave, as does each rigid-body mode, which is not counted. On an
/// element the shape behaves as `exp(±i a s)`, with the phase `2a` across it: consecutive Legendre
/// coefficients decrease by the factor `a / (2n−1)`. For a stiffness `k ~ 1 + t s` the strain has a
/// pole at `−1/t`, and its coefficients decrease by the factor `t / (1 + √(1−t²))` at best.
fn first_degree(elements: &[Element], kind: Kind, boundary: &Boundary, count: usize) -> usize {
    let length = elements[elements.len() - 1].b.x;
    let longest = elements.iter().map(Element::length).fold(0.0, f64::max);
    let order = kind.field().order();
    let [root, tip] = boundary.held(kind);
    // A quarter of a half wave is added for the evanescent parts of the shape.
    let half_waves = count.max(1) as f64 - 0.25 + 0.5 * (root + tip).abs_diff(order) as f64;
    let a = 0.5 * PI * half_waves * (longest / length);

    let taper = |e: &Element| {
        let (k_a, k_b) = (kind.stiffness(&e.a), kind.stiffness(&e.b));
        (k_b - k_a).abs() / (k_b + k_a)
    };
    let t = elements.iter().map(taper).fold(0.0, f64::max);
    // Near a pointed end the moment vanishes with the stiffness: the pole is weak, and the factor
    // is limited.
    let fall = (t / (1.0 + (1.0 - t * t).sqrt())).min(0.25);

    let (mut n, mut coefficient) = (1, a);
    while coefficient * coefficient > TAIL {
        n += 1;
        coefficient *= fall.max(a / (2 * n - 1) as f64);
    }
    (order + n).max(2 * order + 1) // at least two bubbles, for the convergence test
}
