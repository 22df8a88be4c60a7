//! Sums over a beam's particles are the integrals over its mass.

use nalgebra::DMatrix;

use super::{UNLOADED, each, general, uniform};
use crate::algebra::{Mat3, Vec3};
use crate::beam::basis::Field;
use crate::beam::{Beam, Boundary, Counts, Kind, Modes, Particle, Section};
use crate::larger::Larger;

unit_tests![
    modes_are_orthonormal_in_mass,
    modes_are_orthogonal_in_stiffness,
    effective_masses_converge_to_the_beam_mass_from_below,
    a_beam_without_modes_is_a_rigid_rod,
    foreshortening_is_the_integral_of_the_slopes_products,
    sums_over_particles_are_integrals,
    rotating_cantilever_has_southwells_stiffening,
];

/// Integrals over a beam's mass, about its root.
pub struct Sums {
    pub m: f64,
    /// `∫x dm`, `∫x² dm`, `∫ρI_p dx`.
    pub x: [f64; 3],
    /// `∫Φ_k dm`.
    pub Phi: Vec<Vec3<f64>>,
    /// `∫x Φ_k dm`.
    pub x_Phi: Vec<Vec3<f64>>,
    /// `∫ρI_p ψ_k dx`.
    pub spin: Vec<f64>,
    /// `∫Φ_k ⊗ Φ_l dm`.
    pub Phi_Phi: DMatrix<Mat3<f64>>,
    /// `∫G_kl dm`.
    pub G: DMatrix<f64>,
    /// `∫x G_kl dm`.
    pub x_G: DMatrix<f64>,
    /// `∫G_kk G_ll dm`.
    pub G_G: DMatrix<f64>,
    /// `∫Φ_k·Φ_l dm + ∫ρI_p ψ_k ψ_l dx`.
    pub M: DMatrix<f64>,
}

impl Sums {
    pub fn of(particles: impl IntoIterator<Item = Particle>) -> Self {
        let mut particles = particles.into_iter().peekable();
        let n = particles.peek().map_or(0, |piece| piece.point.Phi.len());
        let mut sum = Self {
            m: 0.0,
            x: [0.0; 3],
            Phi: vec![Vec3::zeros(); n],
            x_Phi: vec![Vec3::zeros(); n],
            spin: vec![0.0; n],
            Phi_Phi: DMatrix::from_element(n, n, Mat3::zeros()),
            G: DMatrix::zeros(n, n),
            x_G: DMatrix::zeros(n, n),
            G_G: DMatrix::zeros(n, n),
            M: DMatrix::zeros(n, n),
        };
        for Particle {
            x,
            mass,
            polar_inertia,
            point,
            ..
        } in particles
        {
            let (Phi, Psi, G) = (&point.Phi, &point.Psi, &point.G);
            assert!(G.iter().all(|G| G.y == 0.0 && G.z == 0.0));
            sum.m += mass;
            sum.x[0] += x * mass;
            sum.x[1] += x * x * mass;
            sum.x[2] += polar_inertia;
            for k in 0..n {
                sum.Phi[k] += Phi[k] * mass;
                sum.x_Phi[k] += Phi[k] * (x * mass);
                sum.spin[k] += polar_inertia * Psi[k].x;
                for l in 0..n {
                    sum.Phi_Phi[(k, l)] += Phi[k] * Phi[l].transpose() * mass;
                    sum.G[(k, l)] += G[(k, l)].x * mass;
                    sum.x_G[(k, l)] += G[(k, l)].x * x * mass;
                    sum.G_G[(k, l)] += G[(k, k)].x * G[(l, l)].x * mass;
                    sum.M[(k, l)] += Phi[k].dot(&Phi[l]) * mass + polar_inertia * Psi[k].x * Psi[l].x;
                }
            }
        }
        sum
    }
}

/// Calls `add` with the section and the weight (m) of each point of Simpson's rule, with `n` panels
/// between two stations.
fn simpson(beam: &Beam, n: usize, mut add: impl FnMut(&Section, f64)) {
    for pair in beam.stations().windows(2).filter(|pair| pair[1].x > pair[0].x) {
        let h = (pair[1].x - pair[0].x) / (2 * n) as f64;
        for i in 0..=2 * n {
            let weight = if i == 0 || i == 2 * n {
                1.0
            } else {
                (2 * (1 + i % 2)) as f64
            };
            let x = pair[0].x + h * i as f64;
            add(&Section::between(&pair[0], &pair[1], x), weight * h / 3.0);
        }
    }
}

fn modes_are_orthonormal_in_mass() {
    for boundary in UNLOADED {
        let modes = general().modes(&boundary, each(5)).expect("modes");
        let off = (Sums::of(modes.particles()).M - DMatrix::identity(20, 20)).amax();
        println!("{boundary:?}: {off:.1e}");
        // Round-off is relative to the first mode's eigenvalue: for the fifth it is (ω₅/ω₁)² times
        // larger.
        assert!(off < 1e-12, "{off:e}");
    }
}

/// `∫EI φ_k″ φ_l″ dx` and its analogues are `ω_k²` or zero, also with a load at the tip.
fn modes_are_orthogonal_in_stiffness() {
    let loaded = Boundary::ClampedLoaded {
        mass: 4.0,
        inertia: [0.3, 0.8, 0.5],
    };
    for boundary in UNLOADED.into_iter().chain([loaded]) {
        let (beam, n) = (general(), 12);
        let modes = beam.modes(&boundary, each(3)).expect("modes");
        let list = modes.list();
        let mut K = DMatrix::<f64>::zeros(n, n);
        simpson(&beam, 2000, |section, dx| {
            for k in 0..n {
                for l in (0..n).filter(|&l| list[l].kind == list[k].kind) {
                    let kind = list[k].kind;
                    // At a jump a mode returns the curvature on the outer side, but the interval of
                    // Simpson's rule ends on the inner side: the shape is evaluated 1e-9 m before.
                    let strain = |mode: usize| {
                        let inside = if section.x > 1.09 && section == &beam.stations()[1] {
                            1e-9
                        } else {
                            0.0
                        };
                        let values = list[mode].at(section.x - inside);
                        match kind.field() {
                            Field::Rod => values.slope,
                            Field::Bending => values.curvature,
                        }
                    };
                    K[(k, l)] += kind.stiffness(section) * strain(k) * strain(l) * dx;
                }
            }
        });
        let scaled = DMatrix::from_fn(n, n, |k, l| K[(k, l)] / (list[k].omega * list[l].omega));
        let off = (scaled - DMatrix::identity(n, n)).amax();
        println!("{boundary:?}: {off:.1e}");
        assert!(off < 1e-9, "{off:e}"); // Simpson's error: (βh)⁴/180, and 1e-9 for a displaced end
    }
}

fn effective_masses_converge_to_the_beam_mass_from_below() {
    let modes = general().modes(&Boundary::ClampedFree, each(16)).expect("modes");
    let sums = Sums::of(modes.particles());
    for (kind, axis) in [(Kind::BendingY, 1), (Kind::BendingZ, 2), (Kind::Axial, 0)] {
        let mut effective = 0.0;
        let mut last = 0.0;
        for (k, mode) in modes.list().iter().enumerate().filter(|(_, mode)| mode.kind == kind) {
            effective += sums.Phi[k][axis].powi(2);
            assert!(effective > last && effective < sums.m, "{} at {}", kind, mode.omega);
            last = effective;
        }
        println!("{kind}: {:.4} of {:.4} kg in 16 modes", effective, sums.m);
        assert!(effective > 0.95 * sums.m); // the remainder is about 4/(π² n) for a uniform beam, more for a taper
    }
    let [_, J, J_x] = sums.x;
    let turning: f64 = sums.spin.iter().map(|h| h * h).sum();
    assert!(turning < J_x && turning > 0.95 * J_x);
    // A rotation about the root causes the displacement x, which is zero at the clamp like the
    // modes: the sum converges fast.
    let swing: f64 = sums.x_Phi.iter().map(|S| S.y * S.y).sum();
    println!("swing: {swing:.8} of {J:.8} kg·m² in 16 modes");
    assert!(swing < J && swing > (1.0 - 1e-4) * J);
}

fn a_beam_without_modes_is_a_rigid_rod() {
    let modes = uniform()
        .modes(&Boundary::ClampedFree, Counts::default())
        .expect("no modes");
    let sums = Sums::of(modes.particles());
    assert!((sums.m - 3.0).abs() < 1e-14);
    for (found, expected) in sums.x.into_iter().zip([3.0, 4.0, 0.04]) {
        assert!((found - expected).abs() < 1e-14); // mL/2, mL²/3
    }
    assert_eq!(modes.at(1.0).Phi.len(), 0);
    assert!(Kind::ALL.iter().all(|&kind| modes.omitted(kind).is_some()));
}

fn foreshortening_is_the_integral_of_the_slopes_products() {
    let beam = general();
    let modes = beam.modes(&Boundary::ClampedFree, each(2)).expect("modes");
    let mut worst: f64 = 0.0;
    for x in [0.4, 1.1, 1.7, 2.6] {
        // A beam from the root to x, for Simpson's rule; its properties have no effect.
        let mut stations: Vec<Section> = beam.stations().iter().copied().filter(|s| s.x < x).collect();
        stations.push(uniform().stations()[0].at(x));
        let inside = Beam::new(stations).expect("a beam");
        let mut expected = DMatrix::<f64>::zeros(8, 8);
        simpson(&inside, 2000, |section, dx| {
            for k in 0..8 {
                for l in 0..8 {
                    let plane = |kind: Kind| matches!(kind, Kind::BendingY | Kind::BendingZ);
                    let (a, b) = (&modes.list()[k], &modes.list()[l]);
                    if a.kind == b.kind && plane(a.kind) {
                        expected[(k, l)] -= a.at(section.x).slope * b.at(section.x).slope * dx;
                    }
                }
            }
        });
        let G = modes.at(x).G;
        for (found, expected) in G.iter().zip(expected.iter()) {
            worst = worst.larger((found - Vec3::x() * *expected).norm());
        }
    }
    println!("foreshortening: {worst:.1e}");
    assert!(worst < 1e-12); // Simpson's error: (βh)⁴/180 and 4000 round-offs
}

/// Returns the integrals by Simpson's rule, with particles at its points, displaced like the points
/// of the beam.
fn brute_force(beam: &Beam, modes: &Modes) -> Sums {
    let mut particles = Vec::new();
    simpson(beam, 250, |section, dx| {
        particles.push(Particle {
            x: section.x,
            length: dx,
            mass: section.mass_per_length * dx,
            polar_inertia: section.polar_inertia_per_length * dx,
            point: modes.at(section.x),
        });
    });
    Sums::of(particles)
}

fn sums_over_particles_are_integrals() {
    let beam = general();
    for boundary in UNLOADED {
        let modes = beam.modes(&boundary, each(2)).expect("modes");
        let (found, expected) = (Sums::of(modes.particles()), brute_force(&beam, &modes));
        let vectors =
            |a: &[Vec3<f64>], b: &[Vec3<f64>]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::larger);
        let tensors = found.Phi_Phi.iter().zip(&expected.Phi_Phi).map(|(a, b)| (a - b).norm());
        let spin = found.spin.iter().zip(&expected.spin).map(|(a, b)| (a - b).abs());
        let off = [
            ("m", (found.m - expected.m).abs()),
            ("x", (0..3).map(|i| (found.x[i] - expected.x[i]).abs()).sum()),
            ("Φ", vectors(&found.Phi, &expected.Phi)),
            ("x Φ", vectors(&found.x_Phi, &expected.x_Phi)),
            ("ψ", spin.fold(0.0, f64::larger)),
            ("Φ Φ", tensors.fold(0.0, f64::larger)),
            ("G", (&found.G - &expected.G).amax()),
            ("x G", (&found.x_G - &expected.x_G).amax()),
            ("G G", (&found.G_G - &expected.G_G).amax() / expected.G_G.amax()),
        ];
        for (name, off) in off {
            println!("{boundary:?}, {name}: {off:.1e}");
            // Simpson's error with 250 panels, (βh)⁴/180; the values are between 1 and 50.
            assert!(off < 1e-9, "{boundary:?}, {name}: {off:e}");
        }
    }
}

fn rotating_cantilever_has_southwells_stiffening() {
    // A beam that rotates about z with Ω has the tension dm Ω² x. Out-of-plane bending shortens it
    // by ½ G η² against that tension: ω² = ω₀² + s Ω², s = −∫x G dm.
    let modes = uniform().modes(&Boundary::ClampedFree, each(1)).expect("modes");
    let southwell = -Sums::of(modes.particles()).x_G[(0, 0)];
    println!("Southwell number {southwell:.6}");
    assert!((southwell - 1.193).abs() < 1e-3); // Southwell's number of a uniform blade's first flapping mode
}
