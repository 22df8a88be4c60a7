//! Uniform beams, compared with closed forms.

use std::f64::consts::PI;

use super::oracle::{bending_roots, worst};
use super::particles::Sums;
use super::{UNLOADED, each, uniform};
use crate::beam::{Beam, Boundary, Counts, Kind, Section, cantilever_EI};

unit_tests![
    bending_frequencies_solve_the_frequency_equations,
    torsion_and_stretch_frequencies_are_those_of_half_waves,
    participation_of_a_cantilever_equals_the_closed_form,
    shapes_of_a_cantilever_equal_the_closed_form,
    sign_of_a_shape_is_positive_at_the_tip_or_the_first_extremum,
    first_omitted_mode_is_the_next_one,
    dimensionless_frequencies_are_independent_of_the_scale,
];

/// Bound of the relative error: by `solve::TAIL` the modes have converged, and round-off is
/// multiplied by the ratio of the highest `ω²` to the lowest.
const TOLERANCE: f64 = 1e-12;

fn omegas(beam: &Beam, boundary: &Boundary, counts: Counts, kind: Kind) -> Vec<f64> {
    let modes = beam.modes(boundary, counts).expect("modes");
    let of_kind = modes.list().iter().filter(|mode| mode.kind == kind);
    of_kind.map(|mode| mode.omega).collect()
}

fn bending_frequencies_solve_the_frequency_equations() {
    for boundary in UNLOADED {
        for n in [1, 2, 8, 15] {
            let roots = bending_roots(&boundary, n);
            for (kind, EI) in [(Kind::BendingY, 400.0_f64), (Kind::BendingZ, 700.0)] {
                let unit = (EI / (1.5 * 16.0)).sqrt(); // √(EI/μL⁴)
                let expected: Vec<f64> = roots.iter().map(|b| b * b * unit).collect();
                let off = worst(omegas(&uniform(), &boundary, each(n), kind), &expected);
                println!("{boundary:?}, {kind}, {n} modes: {off:.1e}");
                assert!(off < TOLERANCE, "{boundary:?}, {kind}, {n} modes: {off:e}");
            }
        }
    }
}

fn torsion_and_stretch_frequencies_are_those_of_half_waves() {
    for boundary in UNLOADED {
        let offset = match boundary {
            Boundary::ClampedFree | Boundary::PinnedFree => 0.5,
            _ => 0.0,
        };
        for (kind, speed) in [
            (Kind::Torsion, (300.0_f64 / 0.02).sqrt()),
            (Kind::Axial, (2e6_f64 / 1.5).sqrt()),
        ] {
            let expected: Vec<f64> = (1..=8).map(|k| (k as f64 - offset) * PI / 2.0 * speed).collect();
            let off = worst(omegas(&uniform(), &boundary, each(8), kind), &expected);
            println!("{boundary:?}, {kind}: {off:.1e}");
            assert!(off < TOLERANCE, "{boundary:?}, {kind}: {off:e}");
        }
    }
}

fn participation_of_a_cantilever_equals_the_closed_form() {
    // ∫φ dm and ∫xφ dm about the clamp for m = 1 kg, L = 1 m: 2σ/β and 2/β².
    let table: [(f64, f64, f64); 3] = [
        (1.8751040687119611, 0.7829917560396258, 0.5688257437099108),
        (4.694091132974175, 0.4339358951107193, 0.09076678688638697),
        (7.854757438237613, 0.2544252968661057, 0.032416374369744434),
    ];
    let EI = cantilever_EI(5.0, 1.0, 1.0);
    let section = Section {
        x: 0.0,
        mass_per_length: 1.0,
        EI_y: EI,
        EI_z: EI,
        EA: 1.0,
        GJ: 1.0,
        polar_inertia_per_length: 1.0,
    };
    let beam = Beam::uniform(1.0, section).expect("a beam");
    let counts = Counts {
        bending_y: 3,
        bending_z: 3,
        ..Counts::default()
    };
    let modes = beam.modes(&Boundary::ClampedFree, counts).expect("modes");
    let sums = Sums::of(modes.particles());
    let tau = std::f64::consts::TAU;
    assert!((modes.list()[0].omega / (tau * 5.0) - 1.0).abs() < 1e-14);
    let mut largest: f64 = 0.0;
    for (k, (beta, Lt, Lr)) in table.into_iter().enumerate() {
        let up = if k % 2 == 0 { 1.0 } else { -1.0 }; // the table's shapes end at 2 (−1)ᵏ⁺¹; ours point up
        let along_y = [sums.Phi[k].y - up * Lt, sums.x_Phi[k].y - up * Lr];
        let along_z = [sums.Phi[k + 3].z - up * Lt, sums.x_Phi[k + 3].z - up * Lr];
        largest = along_y.iter().chain(&along_z).fold(largest, |w, off| w.max(off.abs()));
        let sigma = (beta.sinh() - beta.sin()) / (beta.cosh() + beta.cos());
        assert!((2.0 * sigma / beta - Lt).abs() + (2.0 / (beta * beta) - Lr).abs() < 1e-14);
    }
    println!("participation: {largest:.1e}");
    assert!(largest < 1e-12); // limited by solve::TAIL
}

fn shapes_of_a_cantilever_equal_the_closed_form() {
    let beam = uniform();
    let modes = beam.modes(&Boundary::ClampedFree, each(3)).expect("modes");
    let mut off: [f64; 3] = [0.0; 3];
    for (k, beta) in bending_roots(&Boundary::ClampedFree, 3).into_iter().enumerate() {
        let sigma = (beta.sinh() - beta.sin()) / (beta.cosh() + beta.cos());
        let up = if k % 2 == 0 { 1.0 } else { -1.0 } / 3.0_f64.sqrt();
        let k_x = beta / 2.0;
        for i in 0..=20 {
            let x = 0.1 * i as f64;
            let b = k_x * x;
            let value = up * (b.cosh() - b.cos() - sigma * (b.sinh() - b.sin()));
            let slope = up * k_x * (b.sinh() + b.sin() - sigma * (b.cosh() - b.cos()));
            let curvature = up * k_x * k_x * (b.cosh() + b.cos() - sigma * (b.sinh() + b.sin()));
            let found = modes.list()[k].at(x);
            off[0] = off[0].max((found.value - value).abs());
            off[1] = off[1].max((found.slope - slope).abs() / k_x);
            off[2] = off[2].max((found.curvature - curvature).abs() / (k_x * k_x));
        }
    }
    println!("shape {:.1e}, slope {:.1e}, curvature {:.1e}", off[0], off[1], off[2]);
    // In the closed form cosh − σ sinh cancels, with an error of 1e3 round-offs; the accuracy of
    // the curvature is limited by solve::TAIL.
    assert!(off[0] < 1e-11 && off[1] < 1e-11 && off[2] < 1e-10, "{off:?}");
}

fn sign_of_a_shape_is_positive_at_the_tip_or_the_first_extremum() {
    for boundary in UNLOADED {
        let modes = uniform().modes(&boundary, each(6)).expect("modes");
        for mode in modes.list() {
            let shown = match boundary {
                Boundary::ClampedClamped => mode.at(0.05).value,
                _ => mode.at(2.0).value,
            };
            assert!(shown > 0.0, "{boundary:?}, {}", mode.kind);
        }
    }
}

fn first_omitted_mode_is_the_next_one() {
    for boundary in UNLOADED {
        let (few, more) = (each(2), each(3));
        let modes = uniform().modes(&boundary, few).expect("modes");
        for kind in Kind::ALL {
            let next = omegas(&uniform(), &boundary, more, kind)[2];
            let off = (modes.omitted(kind).expect("a next mode") / next - 1.0).abs();
            // The frequency is only reported, so that it need not have converged.
            assert!(off < 1e-6, "{boundary:?}, {kind}: {off:e}");
        }
    }
}

fn dimensionless_frequencies_are_independent_of_the_scale() {
    let section = |stiffness: f64, mass: f64| Section {
        x: 0.0,
        mass_per_length: mass,
        EI_y: stiffness,
        EI_z: stiffness,
        EA: stiffness,
        GJ: stiffness,
        polar_inertia_per_length: mass,
    };
    for (length, stiffness, mass) in [(1e-6, 1e-20, 1e-9), (1e4, 1e16, 1e5)] {
        let beam = Beam::uniform(length, section(stiffness, mass)).expect("a beam");
        let unit = (stiffness / mass).sqrt() / (length * length);
        let expected: Vec<f64> = bending_roots(&Boundary::FreeFree, 3)
            .iter()
            .map(|b| b * b * unit)
            .collect();
        let off = worst(omegas(&beam, &Boundary::FreeFree, each(3), Kind::BendingZ), &expected);
        println!("{length:e} m: {off:.1e}");
        assert!(off < TOLERANCE, "{off:e}");
    }
}
