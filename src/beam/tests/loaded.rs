//! Beams with a load at the tip.

use super::oracle::{loaded_roots, roots, worst};
use super::particles::Sums;
use super::{each, general, uniform};
use crate::beam::{Beam, BeamError, Boundary, Counts, Kind, Section};
use crate::larger::Larger;
use crate::messages;

unit_tests![
    bending_with_a_load_solves_the_frequency_equation,
    torsion_and_stretch_with_a_load_solve_the_frequency_equation,
    loaded_modes_are_orthonormal_with_their_load,
    massless_beam_has_only_the_modes_of_its_load,
];

fn bending_with_a_load_solves_the_frequency_equation() {
    // Masses relative to that of the beam, inertias relative to its m L². The last load is that of
    // an arm that moves a space station.
    for (mass, inertia) in [(0.5, 0.0), (0.0, 0.2), (2.0, 0.03), (1.0, 1.0), (1e3, 2e2)] {
        let boundary = Boundary::ClampedLoaded {
            mass: mass * 3.0,
            inertia: [1.0, inertia * 12.0, inertia * 12.0],
        };
        let modes = uniform().modes(&boundary, each(4)).expect("modes");
        for (kind, EI) in [(Kind::BendingY, 400.0_f64), (Kind::BendingZ, 700.0)] {
            let unit = (EI / (1.5 * 16.0)).sqrt();
            let expected: Vec<f64> = loaded_roots(mass, inertia, 4).iter().map(|b| b * b * unit).collect();
            let of_kind = modes.list().iter().filter(|mode| mode.kind == kind);
            let off = worst(of_kind.map(|mode| mode.omega), &expected);
            println!("mass {mass}, inertia {inertia}, {kind}: {off:.1e}");
            assert!(off < 1e-11, "{off:e}"); // round-off times the heavy load's spread of frequencies
        }
    }
}

fn torsion_and_stretch_with_a_load_solve_the_frequency_equation() {
    // β tan β = (inertia of the beam) / (inertia of the load)
    let (Jxx, mass) = (0.07, 11.0);
    let boundary = Boundary::ClampedLoaded {
        mass,
        inertia: [Jxx, 0.0, 0.0],
    };
    let modes = uniform().modes(&boundary, each(5)).expect("modes");
    for (kind, ratio, speed) in [
        (Kind::Torsion, 0.02 * 2.0 / Jxx, (300.0_f64 / 0.02).sqrt()),
        (Kind::Axial, 3.0 / mass, (2e6_f64 / 1.5).sqrt()),
    ] {
        let equation = |b: f64| b * b.sin() - ratio * b.cos();
        let expected: Vec<f64> = roots(equation, 0.01, 0.05, 5).iter().map(|b| b / 2.0 * speed).collect();
        let of_kind = modes.list().iter().filter(|mode| mode.kind == kind);
        let off = worst(of_kind.map(|mode| mode.omega), &expected);
        println!("{kind}: {off:.1e}");
        assert!(off < 1e-12, "{kind}: {off:e}"); // round-off
    }
}

fn loaded_modes_are_orthonormal_with_their_load() {
    for (mass, inertia) in [(4.0, [0.3, 0.8, 0.5]), (4e3, [3e2, 8e2, 5e2])] {
        let modes = general()
            .modes(&Boundary::ClampedLoaded { mass, inertia }, each(3))
            .expect("modes");
        let sums = Sums::of(modes.particles());
        let tip = modes.at(general().length());
        let J = nalgebra::Matrix3::from_diagonal(&inertia.into());
        let mut off: f64 = 0.0;
        for k in 0..modes.list().len() {
            for l in 0..modes.list().len() {
                let one = if k == l { 1.0 } else { 0.0 };
                let load = mass * tip.Phi[k].dot(&tip.Phi[l]) + tip.Psi[k].dot(&(J * tip.Psi[l]));
                off = off.larger((sums.M[(k, l)] + load - one).abs());
            }
        }
        println!("load of {mass} kg: {off:.1e}");
        assert!(off < 1e-12, "{off:e}"); // round-off times the spread of the frequencies
    }
}

fn massless_beam_has_only_the_modes_of_its_load() {
    let _section = messages::of_this_test();
    let section = Section {
        x: 0.0,
        mass_per_length: 0.0,
        EI_y: 50.0,
        EI_z: 50.0,
        EA: 1e5,
        GJ: 20.0,
        polar_inertia_per_length: 0.0,
    };
    let beam = Beam::uniform(2.0, section).expect("a beam");
    let boundary = Boundary::ClampedLoaded {
        mass: 3.0,
        inertia: [0.4, 0.0, 0.0],
    };
    let modes = beam.modes(&boundary, each(1)).expect("modes");
    let expected = [
        (3.0 * 50.0 / (3.0 * 8.0_f64)).sqrt(), // 3EI/L³
        (3.0 * 50.0 / (3.0 * 8.0_f64)).sqrt(),
        (20.0 / 2.0 / 0.4_f64).sqrt(),
        (1e5 / 2.0 / 3.0_f64).sqrt(),
    ];
    let off = worst(modes.list().iter().map(|mode| mode.omega), &expected);
    println!("massless: {off:.1e}");
    assert!(off < 1e-14); // static shapes, in the elements' space
    assert_eq!(modes.omitted(Kind::BendingY), None);
    let counts = Counts {
        bending_z: 2,
        ..Counts::default()
    };
    let error = BeamError::TooFewModes {
        kind: Kind::BendingZ,
        found: 1,
        requested: 2,
    };
    assert_eq!(beam.modes(&boundary, counts).unwrap_err(), error);
    let unloaded = beam.modes(&Boundary::ClampedFree, counts).unwrap_err();
    messages::record(&unloaded);
    let error = BeamError::TooFewModes {
        kind: Kind::BendingZ,
        found: 0,
        requested: 2,
    };
    assert_eq!(unloaded, error);
}
