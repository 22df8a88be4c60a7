//! The integrals against their definitions.

use nalgebra::DMatrix;

use super::{UNLOADED, each, general, uniform};
use crate::algebra::{Mat3, Pose, Quaternion, Sym3, Vec3};
use crate::beam::{Beam, Boundary, Counts, Integrals, Kind, Modes, Section};

/// Simpson's rule with `n` panels on each interval between stations.
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

#[test]
fn modes_are_orthonormal_in_mass_and_orthogonal_in_stiffness() {
    for boundary in UNLOADED {
        let modes = general().modes(&boundary, each(5)).expect("modes");
        let sums = modes.integrals();
        let off_mass = (&sums.M_kl - DMatrix::identity(20, 20)).amax();
        let omega = |k: usize| modes.list()[k].omega;
        let scaled = DMatrix::from_fn(20, 20, |k, l| sums.K_kl[(k, l)] / (omega(k) * omega(l)));
        let off_stiffness = (scaled - DMatrix::identity(20, 20)).amax();
        println!("{boundary:?}: mass {off_mass:.1e}, stiffness {off_stiffness:.1e}");
        // Round-off, relative to the first mode's eigenvalue: times (ω₅/ω₁)² for the highest.
        assert!(
            off_mass < 1e-12 && off_stiffness < 1e-11,
            "{off_mass:e} {off_stiffness:e}"
        );
    }
}

#[test]
fn effective_masses_sum_up_to_the_beams_mass_from_below() {
    let modes = general().modes(&Boundary::ClampedFree, each(16)).expect("modes");
    let sums = modes.integrals();
    for (kind, axis) in [(Kind::BendingY, 1), (Kind::BendingZ, 2), (Kind::Axial, 0)] {
        let mut effective = 0.0;
        let mut last = 0.0;
        for (k, mode) in modes.list().iter().enumerate().filter(|(_, mode)| mode.kind == kind) {
            effective += sums.C_k[k][axis].powi(2);
            assert!(effective > last && effective < sums.m, "{} at {}", kind, mode.omega);
            last = effective;
        }
        println!("{kind}: {:.4} of {:.4} kg in 16 modes", effective, sums.m);
        assert!(effective > 0.95 * sums.m); // the rest is about 4/(π² n) of a uniform beam, more of a taper
    }
    let turning: f64 = sums.h_k.iter().map(|h| h.x * h.x).sum();
    assert!(turning < sums.J0.d[0] && turning > 0.95 * sums.J0.d[0]);
    // A rotation about the root displaces by x, which is zero at the clamp as the modes are: the sum converges fast.
    let swing: f64 = sums.S_k.iter().map(|S| S.m12 * S.m12).sum();
    println!("swing: {swing:.8} of {:.8} kg·m² in 16 modes", sums.J0.d[2]);
    assert!(swing < sums.J0.d[2] && swing > (1.0 - 1e-4) * sums.J0.d[2]);
}

#[test]
fn a_beam_without_modes_is_a_rigid_rod() {
    let modes = uniform()
        .modes(&Boundary::ClampedFree, Counts::default())
        .expect("no modes");
    let sums = modes.integrals();
    assert!((sums.m - 3.0).abs() < 1e-14);
    assert!((sums.c0 - Vec3::x() * 3.0).norm() < 1e-14);
    let J = Mat3::from_diagonal(&Vec3::new(0.04, 4.0, 4.0)); // m L²/3
    assert!((sums.J0.full() - J).norm() < 1e-14);
    assert_eq!(modes.at(1.0).Phi.len(), 0);
    assert!(Kind::ALL.iter().all(|&kind| modes.left_out(kind).is_some()));
}

#[test]
fn foreshortening_is_the_integral_of_the_slopes_products() {
    let beam = general();
    let modes = beam.modes(&Boundary::ClampedFree, each(2)).expect("modes");
    let mut worst: f64 = 0.0;
    for x in [0.4, 1.1, 1.7, 2.6] {
        // The part of the beam inside of x is a beam.
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
            worst = worst.max((found - Vec3::x() * *expected).norm());
        }
    }
    println!("foreshortening: {worst:.1e}");
    assert!(worst < 1e-12); // Simpson's error: (βh)⁴/180 and 4000 round-offs
}

/// The definitions, summed particle by particle about the body's origin and in its axes; modal mass and stiffness, which
/// have none, are taken over.
fn brute_force(beam: &Beam, modes: &Modes, X: &Pose<f64>) -> Integrals {
    let mut sum = modes.integrals().placed(X);
    let n = modes.list().len();
    sum.m = 0.0;
    sum.c0 = Vec3::zeros();
    sum.J0 = Sym3::zero();
    (sum.C_k, sum.h_k) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
    sum.S_k = vec![Mat3::zeros(); n];
    sum.S_kl.fill(Mat3::zeros());
    sum.c_kl.fill(Vec3::zeros());
    sum.D_kl.fill(Mat3::zeros());
    let mut J0 = Mat3::zeros();
    simpson(beam, 250, |section, dx| {
        let dm = section.mass_per_length * dx;
        let axis = X.R.column(0).into_owned();
        let r = X.p + axis * section.x;
        let point = modes.at(section.x).express(&X.R);
        sum.m += dm;
        sum.c0 += r * dm;
        J0 += (Mat3::identity() * r.norm_squared() - r * r.transpose()) * dm;
        J0 += axis * axis.transpose() * (section.polar_inertia_per_length * dx);
        for k in 0..n {
            sum.C_k[k] += point.Phi[k] * dm;
            sum.S_k[k] += r * point.Phi[k].transpose() * dm;
            if modes.list()[k].kind == Kind::Torsion {
                sum.h_k[k] += axis * (axis.dot(&point.Psi[k]) * section.polar_inertia_per_length * dx);
            }
            for l in 0..n {
                sum.S_kl[(k, l)] += point.Phi[k] * point.Phi[l].transpose() * dm;
                sum.c_kl[(k, l)] += point.G[(k, l)] * dm;
                sum.D_kl[(k, l)] += r * point.G[(k, l)].transpose() * dm;
            }
        }
    });
    sum.J0 = Sym3::from_upper(&J0);
    sum
}

#[test]
fn integrals_of_a_placed_beam_are_their_definitions() {
    let beam = general();
    let X = Pose::from_parts(Quaternion::new(0.6, -0.3, 0.5, 0.2), Vec3::new(0.4, -1.1, 0.7));
    for boundary in UNLOADED {
        let modes = beam.modes(&boundary, each(2)).expect("modes");
        let found = modes.integrals().placed(&X);
        let expected = brute_force(&beam, &modes, &X);
        let vectors =
            |a: &[Vec3<f64>], b: &[Vec3<f64>]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let tensors =
            |a: &[Mat3<f64>], b: &[Mat3<f64>]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let off = [
            ("m", (found.m - expected.m).abs()),
            ("c0", (found.c0 - expected.c0).norm()),
            ("J0", (found.J0.full() - expected.J0.full()).norm()),
            ("C_k", vectors(&found.C_k, &expected.C_k)),
            ("h_k", vectors(&found.h_k, &expected.h_k)),
            ("S_k", tensors(&found.S_k, &expected.S_k)),
            ("S_kl", tensors(found.S_kl.as_slice(), expected.S_kl.as_slice())),
            ("c_kl", vectors(found.c_kl.as_slice(), expected.c_kl.as_slice())),
            ("D_kl", tensors(found.D_kl.as_slice(), expected.D_kl.as_slice())),
        ];
        for (name, off) in off {
            println!("{boundary:?}, {name}: {off:.1e}");
            // Simpson's error with 250 panels, (βh)⁴/180; numbers are of size 1 to 50.
            assert!(off < 1e-9, "{boundary:?}, {name}: {off:e}");
        }
    }
}

#[test]
fn a_spinning_cantilever_stiffens_as_it_must() {
    // A beam that spins about z with Ω is pulled by dm Ω² x. Bending out of the plane shortens it by ½ G η², against
    // that pull: ω² = ω₀² + s Ω², s = −∫x G dm.
    let modes = uniform().modes(&Boundary::ClampedFree, each(1)).expect("modes");
    let sums = modes.integrals();
    let southwell = -sums.D_kl[(0, 0)].m11;
    println!("Southwell number {southwell:.6}");
    assert!((southwell - 1.193).abs() < 1e-3); // Southwell's number of a uniform blade's first flapping mode
}
