//! Tethers with mass, and springs, over time.

use crate::html::Floats;
use crate::results::Results;
use grapple::spec::{Spec, Tether, WORLD};
use serde::Serialize;

/// Line of a tether through its ends and masses, or of a spring from end to end.
#[derive(Serialize)]
pub struct TetherTrack {
    name: String,
    /// Positions of its nodes, from the end `b` to the end `a`.
    nodes: Vec<Floats>,
}

/// Returns the lines of all tethers and springs, their positions relative to `origin`; none where
/// positions are not among the results.
pub fn tracks(spec: &Spec, results: &Results, rows: &[usize], origin: &[f64; 3]) -> Vec<TetherTrack> {
    let zeros = vec![0.0; rows.iter().map(|row| row + 1).max().unwrap_or(0)];
    let at = |name: &str| {
        let r = results.get_vector::<3>(name)?;
        Some(Floats::seen_from(origin, &r, rows))
    };
    let end = |name: &String| match name.as_str() {
        WORLD => Some(Floats::seen_from(origin, &[zeros.as_slice(); 3], rows)),
        frame => at(&format!("{frame}.r")),
    };
    let track = |name: &String, tether: &Tether| {
        let masses: Option<Vec<Floats>> = tether
            .parts(name)
            .iter()
            .map(|[body, joint]| at(&format!("{body}.r")).or_else(|| at(&format!("{joint}.q"))))
            .collect();
        Some(TetherTrack {
            name: name.clone(),
            nodes: end(&tether.b)
                .into_iter()
                .chain(masses?)
                .chain(end(&tether.a))
                .collect(),
        })
    };
    let tethers = spec.tether.iter().filter_map(|(name, tether)| track(name, tether));
    let springs = spec.spring.iter().filter_map(|(name, spring)| {
        Some(TetherTrack {
            name: name.clone(),
            nodes: vec![end(&spring.b)?, end(&spring.a)?],
        })
    });
    tethers.chain(springs).collect()
}
