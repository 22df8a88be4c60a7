//! Beams with variable sections, compared with power series and shooting.

use super::oracle::{roots, shooting, worst};
use super::{UNLOADED, each, general};
use crate::beam::{Beam, Boundary, Counts, Kind, Section};
use crate::larger::Larger;

unit_tests![
    pointed_blade_of_constant_thickness_is_exact,
    sampled_wedge_converges_to_kirchhoffs_solution,
    tapers_with_a_jump_agree_with_shooting,
    redundant_stations_have_no_effect,
];

fn section(x: f64, mass: f64, EI: f64) -> Section {
    Section {
        x,
        mass_per_length: mass,
        EI_y: EI,
        EI_z: EI,
        EA: 0.0,
        GJ: 0.0,
        polar_inertia_per_length: 0.0,
    }
}

fn bending(n: usize) -> Counts {
    Counts {
        bending_y: n,
        ..Counts::default()
    }
}

/// Returns `√λ` of a pointed cantilever: `EI = s^p`, `μ = s^{p−q}` at the distance `s` from the
/// point; `s = 1` at the clamp.
///
/// `(s^p w″)″ = λ s^{p−q} w` has two power series `w = Σ a_n sⁿ` with finite curvature at the
/// point, `a_{n+4−q} (n+4−q)(n+3−q)(n+2−q+p)(n+1−q+p) = λ a_n`; one starts at `n = 0`, one at
/// `n = 1`.
fn pointed_roots(p: usize, q: usize, count: usize) -> Vec<f64> {
    let step = 4 - q;
    let series = |lambda: f64, start: usize| {
        let (mut n, mut a, mut value, mut slope) = (start, 1.0, 0.0, 0.0);
        for _ in 0..60 {
            value += a;
            slope += n as f64 * a;
            n += step;
            a *= lambda / ((n * (n - 1) * (n + p - 2) * (n + p - 3)) as f64);
        }
        [value, slope]
    };
    let clamp = |root: f64| {
        let [a, b] = [0, 1].map(|start| series(root * root, start));
        a[0] * b[1] - a[1] * b[0]
    };
    roots(clamp, 0.5, 0.5, count)
}

fn pointed_blade_of_constant_thickness_is_exact() {
    // The width, and with it EI and μ, decreases linearly to zero at the tip: linear sections are
    // exact.
    let expected = pointed_roots(1, 0, 4);
    let beam = Beam::new(vec![section(0.0, 1.0, 1.0), section(1.0, 0.0, 0.0)]).expect("a beam");
    let modes = beam.modes(&Boundary::ClampedFree, bending(4)).expect("modes");
    let off = worst(modes.list().iter().map(|mode| mode.omega), &expected);
    println!("blade: {off:.1e}");
    assert!(off < 1e-11); // the power series' determinant cancels like cosh β: four digits in the fourth mode
}

fn sampled_wedge_converges_to_kirchhoffs_solution() {
    // EI ~ s³ is cubic between stations (μ ~ s is linear): linear interpolation has an error of
    // second order in their distance.
    let exact = pointed_roots(3, 2, 1)[0];
    println!("Kirchhoff's wedge {exact:.5}, published 5.315");
    assert!((exact - 5.315).abs() < 1e-3);
    let error = |n: usize| {
        let station = |i: usize| {
            let s = 1.0 - i as f64 / n as f64;
            section(1.0 - s, s, s.powi(3))
        };
        let beam = Beam::new((0..=n).map(station).collect()).expect("a beam");
        let modes = beam.modes(&Boundary::ClampedFree, bending(1)).expect("modes");
        modes.list()[0].omega / exact - 1.0
    };
    let [coarse, fine] = [12, 24].map(error);
    println!(
        "12 stations {coarse:.2e}, 24 stations {fine:.2e}, extrapolated {:.1e}",
        (4.0 * fine - coarse) / 3.0
    );
    assert!((coarse / fine - 4.0).abs() < 0.2);
    assert!(fine.abs() < 2e-3);
}

fn tapers_with_a_jump_agree_with_shooting() {
    let load = Boundary::ClampedLoaded {
        mass: 4.0,
        inertia: [0.3, 0.8, 0.5],
    };
    for boundary in UNLOADED.iter().chain([&load]) {
        let modes = general().modes(boundary, each(4)).expect("modes");
        for kind in Kind::ALL {
            let found: Vec<f64> = modes
                .list()
                .iter()
                .filter(|m| m.kind == kind)
                .map(|m| m.omega)
                .collect();
            let expected = shooting(&general(), kind, boundary, 1500, found[0] / 7.3, 4);
            let off = worst(found, &expected);
            println!("{boundary:?}, {kind}: {off:.1e}");
            assert!(off < 1e-10, "{boundary:?}, {kind}: {off:e}"); // Runge–Kutta of step h: (βh)⁴/120, 1e-11
        }
    }
}

fn redundant_stations_have_no_effect() {
    let beam = general();
    let stations = beam.stations();
    let mut more = vec![stations[0]];
    for pair in stations.windows(2) {
        if pair[1].x > pair[0].x {
            let (a, b) = (&pair[0], &pair[1]);
            more.extend([0.2, 0.25, 0.7].map(|t| Section::between(a, b, a.x + t * (b.x - a.x))));
        }
        more.push(pair[1]);
    }
    let refined = Beam::new(more).expect("a beam");
    for boundary in UNLOADED {
        let [a, b] = [&beam, &refined].map(|beam| beam.modes(&boundary, each(3)).expect("modes"));
        let frequencies: Vec<f64> = a.list().iter().map(|mode| mode.omega).collect();
        let off = worst(b.list().iter().map(|mode| mode.omega), &frequencies);
        let shape = |x: f64| (0..12).map(move |k| (k, x));
        let places = [0.3, 1.1, 1.9, 2.6].into_iter().flat_map(shape);
        let difference = |(k, x): (usize, f64)| (a.list()[k].at(x).value - b.list()[k].at(x).value).abs();
        let largest = places.map(difference).fold(0.0, f64::larger);
        println!("{boundary:?}: frequencies {off:.1e}, shapes {largest:.1e}");
        assert!(off < 1e-12 && largest < 1e-10, "{off:e} {largest:e}"); // round-off of the shortest element's stiffness, ε (L/h)³
    }
}
