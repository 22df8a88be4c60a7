//! Sun and Moon, time, shadow, magnetic field.

use super::{DEGREE, EARTH, LIT, PROBE, point};
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::{Dual, Scalar, Vec3};
use grapple::spec::Epoch;
use grapple::system::{ASTRONOMICAL_UNIT, moon, sun, sunlight};
use std::f64::consts::{PI, TAU};

/// Returns Julian centuries of TT after J2000 at a modified Julian date.
fn centuries(mjd: f64) -> f64 {
    (mjd - Epoch::J2000) / 36_525.0
}

/// Returns ecliptic longitude and latitude (degrees) and distance of an equatorial position.
fn ecliptic(r: Vec3<f64>, T: f64) -> [f64; 3] {
    let (s, c) = ((23.439_291 - 0.013_004_2 * T) * DEGREE).sin_cos();
    let (y, z) = (c * r.y + s * r.z, c * r.z - s * r.y);
    [y.atan2(r.x) / DEGREE, (z / r.norm()).asin() / DEGREE, r.norm()]
}

/// Positions of Sun and Moon: worked examples of Meeus (25.a, 47.a) and Vallado (5-1, 5-3), and the
/// routines `epv00` and `moon98` of SOFA (by pyERFA 2.0.1.5) on the mean equator of date.
#[test]
fn sun_and_moon_agree_with_worked_examples_and_with_sofa() {
    // Meeus: 1992 October 13, 0h TD, true longitude 199.90988°, distance 0.99766 AU.
    let T = centuries(48_908.0);
    let [longitude, latitude, distance] = ecliptic(sun(T), T);
    assert!(
        (longitude + 360.0 - 199.909_88).abs() < 1.1e-5,
        "printed digits: {longitude}"
    );
    assert!(latitude.abs() < 1e-10 && (distance / ASTRONOMICAL_UNIT - 0.997_66).abs() < 5e-6);
    // Meeus: 1992 April 12, 0h TD: 133.162655°, −3.229126°, 368409.7 km.
    let T = centuries(48_724.0);
    let [longitude, latitude, distance] = ecliptic(moon(T), T);
    println!("Moon, Meeus: {longitude:.4}°, {latitude:.4}°, {:.1} km", distance / 1e3);
    assert!((longitude - 133.162_655).abs() < 0.1 && (latitude + 3.229_126).abs() < 0.1);
    assert!((distance - 368_409.7e3).abs() < 600e3);
    // Vallado, 2006 April 2 and 1994 April 28, with formulas of 0.01° and 0.3°.
    let off = sun(centuries(53_827.0)) / ASTRONOMICAL_UNIT - Vec3::new(0.977_194_5, 0.192_442_4, 0.083_430_8);
    assert!(off.norm() < 0.02 * DEGREE, "{off:?}");
    let expected = Vec3::new(-134_240.626e3, -311_571.590e3, -126_693.785e3);
    let off = (moon(centuries(49_470.0)) - expected).norm() / expected.norm();
    assert!(off < 0.4 * DEGREE, "{off}");

    let sofa = [
        (41_317.0, [0.165056, -0.889271, -0.385611], [-75.482, 331.325, 158.686]),
        (46_261.0, [-0.388436, 0.861816, 0.373678], [88.906, 347.337, 170.297]),
        (51_401.0, [-0.752296, 0.623311, 0.270241], [-247.945, 254.321, 109.523]),
        (53_808.0, [0.987228, -0.10687, -0.046331], [-387.16, 105.829, 61.007]),
        (61_119.0, [0.995691, -0.009703, -0.004205], [362.093, 61.587, 46.716]),
        (69_958.0, [0.334516, 0.878153, 0.380605], [-377.489, -101.972, -65.952]),
        (
            79_220.0,
            [-0.956145, -0.26553, -0.115063],
            [-362.676, -114.595, -13.766],
        ),
        (88_068.0, [0.163816, -0.88971, -0.385494], [-299.46, 198.076, 101.826]),
    ];
    let mut worst = [0.0f64; 4];
    for (mjd, of_sun, of_moon) in sofa {
        let T = centuries(mjd);
        let pairs = [
            (sun(T) / ASTRONOMICAL_UNIT, Vec3::from(of_sun)),
            (moon(T) / 1e6, Vec3::from(of_moon)),
        ];
        for (i, (found, expected)) in pairs.into_iter().enumerate() {
            let angle = found.cross(&expected).norm().atan2(found.dot(&expected));
            worst[2 * i] = worst[2 * i].larger(angle / DEGREE * 60.0);
            worst[2 * i + 1] = worst[2 * i + 1].larger((found.norm() - expected.norm()).abs());
        }
    }
    println!(
        "SOFA: Sun {:.2}′, {:.1e} AU (1′, 1e-4); Moon {:.2}′, {:.0} km (6′, 600 km)",
        worst[0],
        worst[1],
        worst[2],
        1e3 * worst[3]
    );
    assert!(worst[0] < 1.0 && worst[1] < 1e-4 && worst[2] < 6.0 && worst[3] < 0.6);
}

/// The epoch is read in UTC and in TT; leap seconds count. The sidereal time is that of Meeus'
/// example 12.a: 13h 10m 46.3668s on 1987 April 10, 0h UT.
#[test]
fn epoch_and_sidereal_time() {
    let epoch = |text: &str| Epoch::read(text).map(|epoch| epoch.0);
    for (text, expected) in [
        ("2026-03-20", 61_119.0 + 69.184 / 86_400.0),
        ("2026-03-20T06:00", 61_119.25 + 69.184 / 86_400.0),
        ("2026-03-20T12:00:00.5Z", 61_119.5 + 69.684 / 86_400.0),
        ("2026-03-20 12:00:00 TT", 61_119.5),
        ("2000-01-01T12:00:00 TT", Epoch::J2000),
        ("1972-01-01", 41_317.0 + 42.184 / 86_400.0),
        ("2016-02-29", 57_447.0 + 68.184 / 86_400.0),
    ] {
        let found = epoch(text).expect(text);
        assert!((found - expected).abs() < 1e-11, "{text}: {found}");
    }
    for text in [
        "",
        "2026",
        "2026-13-01",
        "2026-02-29",
        "26-03-20",
        "2026-03-20T25:00",
        "1850-01-01",
        "2026-03-20T1",
    ] {
        assert!(epoch(text).is_err(), "{text}");
    }
    let plant = crate::plant(&format!(
        "{PROBE}[environment.orbit]\nsemi_major_axis = 7e6\ninclination_deg = 40.0\ntrue_anomaly_deg = 70.0\nepoch = \"1987-04-10\"\n\
         magnetic_field = {{ g10 = 0.0, g11 = 1.0, h11 = 0.0 }}\n"
    ));
    for (t, expected) in [(0.0, 197.693_195), (69_660.0, 128.737_873_4)] {
        // The dipole from its field, B ∝ 3 (d·u) u − d; the second time is Meeus' example 12.b.
        let at = point(&plant, t);
        let (B, u) = (
            at.sky.as_ref().expect("an epoch").magnetic_field(&at.R),
            at.R.normalize(),
        );
        let d = u * (1.5 * B.dot(&u)) - B;
        let found = d.y.atan2(d.x) / DEGREE;
        let off = (found - expected + 540.0).rem_euclid(360.0) - 180.0;
        println!("sidereal time {found:.6}°, off by {off:.1e}°");
        assert!(off.abs() < 1e-4, "terms of T², 0.1″: {off}");
    }
}

/// The visible fraction of the Sun's disc agrees with the area of its strips outside the disc of the
/// Earth, is 1 outside the penumbra and 0 in the umbra, and has the exact derivative. Behind the tip
/// of the umbra an annulus remains.
#[test]
fn sunlight_is_the_uncovered_area_of_the_sun() {
    let sun = Vec3::new(ASTRONOMICAL_UNIT, 0.0, 0.0);
    let solar = 695_700e3;
    let (mut worst, mut slope, mut partial) = (0.0f64, 0.0f64, 0);
    for axis in [6.78e6, 4.2e7, 1.2e9, 1.5e9] {
        let b = (EARTH / f64::min(axis, 1.6e9)).asin();
        for k in -12..=12 {
            // Angle between the Sun's and the Earth's centre, about the edge of the penumbra.
            let c = (b + 4.65e-3 * f64::from(k) / 10.0).max(1e-5);
            let r = Vec3::new(-c.cos(), c.sin(), 0.0) * axis;
            let d = sun - r;
            let (a, c) = ((solar / d.norm()).asin(), (r.cross(&d).norm()).atan2(-r.dot(&d)));
            // Strips across the line of the centres, with x = a sin φ.
            let strips = 40_000;
            let covered: f64 = (0..strips)
                .map(|i| {
                    let phi = PI * ((f64::from(i) + 0.5) / f64::from(strips) - 0.5);
                    let (x, half) = (a * phi.sin(), a * phi.cos());
                    let other = (b * b - (c - x).powi(2)).max(0.0).sqrt();
                    2.0 * half.min(other) * a * phi.cos() * PI / f64::from(strips)
                })
                .sum();
            let expected = 1.0 - covered / (PI * a * a);
            let found = sunlight(&r, &sun, EARTH);
            worst = worst.larger((found - expected).abs());
            partial += usize::from(found > 1e-3 && found < 0.999);
            let lifted = Vec3::from_fn(|i, _| Dual::<1>::new(r[i], [if i == 1 { 1.0 } else { 0.0 }]));
            let exact = sunlight(&lifted, &sun.map(Dual::lift), EARTH).eps[0];
            if found > 0.02 && found < 0.98 && (exact * a * axis).abs() > 0.01 {
                let h = 1e-4 * axis * 4.65e-3;
                let value = |s: f64| sunlight(&(r + Vec3::y() * (s * h)), &sun, EARTH);
                let difference = (value(-2.0) - value(2.0) + 8.0 * (value(1.0) - value(-1.0))) / (12.0 * h);
                slope = slope.larger((exact / difference - 1.0).abs());
            }
        }
    }
    println!("area {worst:.1e} (1e-5, the strips'), slope {slope:.1e} (1e-7, the differences'), {partial} partial");
    assert!(worst < 1e-5 && slope < 1e-7 && partial > 20);
    // On the axis behind the umbra's tip: 1 − (b/a)².
    let r = Vec3::new(-1.6e9, 0.0, 0.0);
    let (a, b) = ((solar / (sun - r).norm()).asin(), (EARTH / 1.6e9).asin());
    assert!((sunlight(&r, &sun, EARTH) - (1.0 - (b / a).powi(2))).abs() < 1e-12);
    // The longest eclipse of a circular orbit: the chord of the shadow, 2 asin(R_E/r), to the second
    // order in the Sun's radius.
    let (radius, n) = (6_778_137.0, 40_000);
    let dark: f64 = (0..n)
        .map(|k| {
            let (s, c) = (TAU * f64::from(k) / f64::from(n)).sin_cos();
            1.0 - sunlight(&(Vec3::new(c, s, 0.0) * radius), &sun, EARTH)
        })
        .sum();
    let (found, expected) = (dark / f64::from(n), (EARTH / radius).asin() / PI);
    println!("eclipsed part of an orbit: {found:.6}, of a cylinder {expected:.6}");
    assert!((found - expected).abs() < 2e-5);
}

/// The dipole's field is radial above its pole, at 80.8° N 72.8° W in IGRF-14 for 2025 (WDC Kyoto), twice as
/// strong as at its equator, and turns a spacecraft by `m × B`.
#[test]
fn magnetic_dipole_has_its_field_and_torque() {
    let text = format!(
        "{PROBE}start = {{ attitude = [0.5, 0.5, -0.5, 0.5] }}\n{LIT}magnetic_field = {{}}\n[frame.rods]\nbody = \"probe\"\nrpy_deg = [10.0, 20.0, 30.0]\n\
         [magnetic_dipole.rod]\nframe = \"rods\"\n"
    );
    let mut run = Run::new(&text, 1e-8);
    let at = point(&run.simulation.plant, 0.0);
    let sky = at.sky.as_ref().expect("an epoch");
    let (north, east) = ((80.8 * DEGREE).sin_cos(), (-72.8 * DEGREE).sin_cos());
    let pole = Vec3::new(north.1 * east.1, north.1 * east.0, north.0);
    // The sidereal angle from the field of the rotated pole: the field at a general point.
    let B0 = (29_350.0f64.powi(2) + 1410.3f64.powi(2) + 4545.5f64.powi(2)).sqrt() * 1e-9;
    let (B, u) = (sky.magnetic_field(&at.R), at.R.normalize());
    let scale = (6_371_200.0 / at.R.norm()).powi(3);
    let d = (u * (1.5 * B.dot(&u)) - B) / scale;
    assert!((d.norm() / B0 - 1.0).abs() < 1e-12);
    // The moment points from north to south: the pole's polar angle is that of −d.
    let latitude = (-d.z / d.norm()).asin();
    assert!(
        (latitude - pole.z.asin()).abs() < 0.05 * DEGREE,
        "{}",
        latitude / DEGREE
    );
    // From the field of a dipole along the meridian of Greenwich at this instant.
    let along_meridian = text.replace(
        "magnetic_field = {}",
        "magnetic_field = { g10 = 0.0, g11 = 1.0, h11 = 0.0 }",
    );
    let there = point(&crate::plant(&along_meridian), 0.0);
    let B_g = there.sky.as_ref().expect("an epoch").magnetic_field(&at.R);
    let x = u * (1.5 * B_g.dot(&u)) - B_g;
    let longitude = (d.x * x.y - d.y * x.x).atan2(-(d.x * x.x + d.y * x.y));
    assert!(
        (longitude - pole.y.atan2(pole.x)).abs() < 0.05 * DEGREE,
        "{}",
        longitude / DEGREE
    );
    for (r, strength) in [(d.normalize(), 2.0), (d.cross(&Vec3::x()).normalize(), 1.0)] {
        let B = sky.magnetic_field(&(r * 6_371_200.0));
        assert!((B.norm() / (strength * B0) - 1.0).abs() < 1e-12);
    }
    let m = Vec3::new(30.0, -20.0, 10.0);
    (0..3).for_each(|i| run.set(&format!("rod.m[{}]", i + 1), m[i]));
    run.look();
    let q = run.attitude("rods");
    let field = q.conjugate().rotate(B);
    assert!((run.vector("rod.B") - field).norm() < 1e-12 * B.norm());
    // The inertia is 1 kg·m² about all axes, without gravity gradient.
    let torque = run.attitude("probe").conjugate().rotate(q.rotate(m).cross(&B));
    let found = Vec3::from_fn(|i, _| run.derivative(&format!("probe.w[{}]", i + 1)));
    println!("torque {:.3e} N·m, off {:.1e}", torque.norm(), (found - torque).norm());
    assert!((found - torque).norm() < 1e-12 * torque.norm());
}
