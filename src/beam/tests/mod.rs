//! Tests of beams, one file for each subject.

mod failures;
mod loaded;
mod oracle;
mod particles;
mod tapered;
mod uniform;

test_modules![failures, loaded, particles, tapered, uniform];

use super::{Beam, Boundary, Counts, Section};

/// Returns a beam with variable sections: two linear tapers with a jump between them.
fn general() -> Beam {
    let station = |x, k: f64| Section {
        x,
        mass_per_length: 3.0 * k,
        EI_y: 5e3 * k * k,
        EI_z: 8e3 * k,
        EA: 4e6 * k,
        GJ: 2e3 * k * k,
        polar_inertia_per_length: 0.05 * k,
    };
    Beam::new(vec![
        station(0.0, 1.3),
        station(1.1, 1.0),
        station(1.1, 0.6),
        station(2.6, 0.4),
    ])
    .expect("a beam")
}

/// Returns a uniform beam, 2 m long, of 3 kg.
fn uniform() -> Beam {
    let section = Section {
        x: 0.0,
        mass_per_length: 1.5,
        EI_y: 700.0,
        EI_z: 400.0,
        EA: 2e6,
        GJ: 300.0,
        polar_inertia_per_length: 0.02,
    };
    Beam::uniform(2.0, section).expect("a beam")
}

/// All boundaries without a load.
const UNLOADED: [Boundary; 4] = [
    Boundary::ClampedFree,
    Boundary::ClampedClamped,
    Boundary::PinnedFree,
    Boundary::FreeFree,
];

/// Returns `n` modes of every type.
fn each(n: usize) -> Counts {
    Counts {
        bending_y: n,
        bending_z: n,
        torsion: n,
        axial: n,
    }
}
