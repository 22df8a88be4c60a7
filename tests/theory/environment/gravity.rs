//! Third bodies and zonal harmonics.

use super::{DOP853, EARTH, MU, PROBE, point};
use crate::numbers::{Larger, few};
use crate::run::Run;
use grapple::algebra::{Dual, Mat3, Scalar, Vec3};

/// Attraction of Sun and Moon relative to that of the Earth has full precision, compared with
/// `expm1` and `ln_1p`; direct subtraction loses digits. Its gradient is that of dual numbers.
#[test]
fn third_bodies_have_full_precision() {
    let mu = [1.327_124_4e20, 4.902_800_066e12];
    let (mut worst, mut direct, mut gradient) = (0.0f64, 0.0f64, 0.0f64);
    for (k, axis) in [6.8e6, 4.2e7, 2.5e8].into_iter().enumerate() {
        let plant = |third: &str| {
            crate::plant(&format!(
                "{PROBE}[environment.orbit]\nsemi_major_axis = {axis}\ninclination_deg = 50.0\ntrue_anomaly_deg = {}\n\
                 epoch = \"2026-03-20T12:00:00\"\nthird_bodies = {third}\n",
                100 * k
            ))
        };
        let (with, moonless) = (plant("[\"sun\", \"moon\"]"), plant("[]"));
        for t in [0.0, 1e5, 9e5, 1.7e6] {
            let at = point(&with, t);
            let sky = at.sky.as_ref().expect("an epoch");
            let (mut expected, mut naive) = (Vec3::zeros(), Vec3::zeros());
            for (mu, s) in mu.into_iter().zip([sky.sun, sky.moon]) {
                let d = s - at.R;
                let q = at.R.dot(&(at.R - s * 2.0)) / s.norm_squared();
                let F = (1.5 * q.ln_1p()).exp_m1();
                expected -= (at.R + s * F) * (mu / d.norm().powi(3));
                naive += d * (mu / d.norm().powi(3)) - s * (mu / s.norm().powi(3));
            }
            let found = at.gravity(&Vec3::zeros()).g;
            worst = worst.larger((found - expected).norm() / expected.norm());
            direct = direct.larger((naive - expected).norm() / expected.norm());
            let zero = Vec3::from_fn(|i, _| Dual::<3>::variable(0.0, i));
            let moving = at.lift::<Dual<3>>().gravity(&zero);
            let by_duals = Mat3::from_fn(|i, j| moving.g[i].eps[j]);
            let without = point(&moonless, t).gravity(&Vec3::zeros()).G;
            let G = at.gravity(&Vec3::zeros()).G;
            let (of_both, scale) = (G - without, G.norm());
            assert!(of_both.norm() > 1e-9 * scale, "it has a part in the gradient");
            gradient = gradient.larger((by_duals - G).norm() / scale);
        }
    }
    println!("relative {worst:.1e} (1e-14), by subtraction {direct:.1e}; gradient {gradient:.1e} (1e-14)");
    assert!(worst < 1e-14 && direct > 1e-13 && gradient < 1e-14);
}

/// Zonal gravity, its gradient and the force on a second moment of mass are the derivatives of
/// `−Σ μ Jₙ R_Eⁿ/rⁿ⁺¹ Pₙ(sin φ)` with explicit Legendre polynomials.
#[test]
fn zonal_gravity_is_the_gradient_of_its_potential() {
    let J = [1e-3, -2e-3, 3e-3, 1.5e-3, -2.5e-3];
    let P = Mat3::new(3.0, 0.2, -0.4, 0.2, 5.0, 0.7, -0.4, 0.7, 2.0) * 1e6;
    let mut worst = [0.0f64; 3];
    for k in 0..20 {
        let plant = crate::plant(&format!(
            "{PROBE}[environment.orbit]\nsemi_major_axis = 7e6\ninclination_deg = 80.0\ntrue_anomaly_deg = {}\n\
             J2 = {}\nJ3 = {}\nJ4 = {}\nJ5 = {}\nJ6 = {}\n",
            18 * k,
            J[0],
            J[1],
            J[2],
            J[3],
            J[4]
        ));
        let at = point(&plant, 0.0);
        let found = at.gravity(&Vec3::zeros());
        let r = Vec3::from_fn(|i, _| Dual::<3>::variable(at.R[i], i));
        let n = Dual::<3>::lift;
        let norm = r.dot(&r).sqrt();
        let s = r.z / norm;
        let s2 = s * s;
        let legendre = [
            s2 * n(1.5) - n(0.5),
            s * (s2 * n(2.5) - n(1.5)),
            s2 * (s2 * n(4.375) - n(3.75)) + n(0.375),
            s * (s2 * (s2 * n(7.875) - n(8.75)) + n(1.875)),
            s2 * (s2 * (s2 * n(14.4375) - n(19.6875)) + n(6.5625)) - n(0.3125),
        ];
        let (mut U, mut ratio) = (n(0.0), n(EARTH) / norm);
        ratio = ratio * n(EARTH) / norm;
        for (J, P) in J.into_iter().zip(legendre) {
            U -= n(MU * J) / norm * ratio * P;
            ratio = ratio * n(EARTH) / norm;
        }
        let expected = Vec3::from(U.eps);
        worst[0] = worst[0].larger((found.g - expected).norm() / expected.norm());
        let offset = Vec3::from_fn(|i, _| Dual::<3>::variable(0.0, i));
        let moving = at.lift::<Dual<3>>().gravity(&offset);
        let G = Mat3::from_fn(|i, j| moving.g[i].eps[j]);
        worst[1] = worst[1].larger((found.G - G).norm() / G.norm());
        let expected = Vec3::from_fn(|i, _| {
            let products = (0..3).flat_map(|a| (0..3).map(move |b| (a, b)));
            0.5 * products.map(|(a, b)| P[(a, b)] * moving.G[(a, b)].eps[i]).sum::<f64>()
        });
        let force = found.beyond_gradient(&P);
        worst[2] = worst[2].larger((force - expected).norm() / expected.norm());
    }
    println!("acceleration, gradient, force: {} (1e-13)", few(&worst));
    assert!(worst.iter().all(|&off| off < 1e-13));
}

/// With J₂ to J₆ of the Earth a spacecraft conserves its energy and the polar component of its
/// angular momentum.
#[test]
fn zonal_harmonics_conserve_energy_and_polar_angular_momentum() {
    let J = [
        1.082_626_68e-3,
        -2.532_656_49e-6,
        -1.619_621_59e-6,
        -2.272_960_83e-7,
        5.406_812_39e-7,
    ];
    let text = format!(
        "{}[environment.orbit]\nsemi_major_axis = 7.1e6\neccentricity = 0.02\ninclination_deg = 63.0\nargument_of_perigee_deg = 40.0\n\
         J2 = {}\nJ3 = {}\nJ4 = {}\nJ5 = {}\nJ6 = {}\n{DOP853}",
        PROBE.replace("[1.0, 1.0, 1.0]", "[1e-6, 1e-6, 1e-6]"),
        J[0],
        J[1],
        J[2],
        J[3],
        J[4]
    );
    let mut run = Run::new(&text, 1e-12);
    let legendre = |n: usize, s: f64| {
        let (mut before, mut now) = (1.0, s);
        for k in 1..n {
            let k = k as f64;
            (before, now) = (now, ((2.0 * k + 1.0) * s * now - k * before) / (k + 1.0));
        }
        now
    };
    let whole = |run: &Run| {
        let r = run.vector("orbit.r") + run.vector("probe.r");
        let v = run.vector("orbit.v") + run.vector("probe.v");
        let s = r.z / r.norm();
        let zonal: f64 = (2..=6)
            .map(|n| J[n - 2] * (EARTH / r.norm()).powi(n as i32) * legendre(n, s))
            .sum();
        (0.5 * v.norm_squared() - MU / r.norm() * (1.0 - zonal), r.cross(&v).z)
    };
    run.look();
    let (energy, h) = whole(&run);
    let mut worst = [0.0f64; 2];
    for k in 1..=12 {
        run.go(1500.0 * f64::from(k));
        let (e, now) = whole(&run);
        worst[0] = worst[0].larger((e / energy - 1.0).abs());
        worst[1] = worst[1].larger((now / h - 1.0).abs());
    }
    println!(
        "three orbits: energy {:.1e}, angular momentum {:.1e} (1e-11)",
        worst[0], worst[1]
    );
    assert!(worst[0] < 1e-11 && worst[1] < 1e-11);
}
