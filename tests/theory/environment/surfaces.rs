//! Radiation pressure and drag.

use super::{DEGREE, DOP853, EARTH, LIT, MU, PROBE, point};
use crate::numbers::{Larger, few};
use crate::run::Run;
use grapple::algebra::{Quaternion, Vec3};
use grapple::system::ASTRONOMICAL_UNIT;
use std::f64::consts::TAU;

/// Returns the force of radiation pressure on a plate, N, by its formula.
fn on_plate(area: f64, [rho, delta]: [f64; 2], normal: Vec3<f64>, sun: Vec3<f64>, two_sided: bool) -> Vec3<f64> {
    let pressure = 1361.0 / 299_792_458.0;
    let n = if two_sided && normal.dot(&sun) < 0.0 {
        -normal
    } else {
        normal
    };
    let cos = n.dot(&sun).max(0.0);
    -(sun * (1.0 - rho) + n * (2.0 * (rho * cos + delta / 3.0))) * (pressure * area * cos)
}

/// Radiation pressure on plates of any attitude equals its closed form, is perpendicular to a mirror
/// and along the light on a black plate; plates around a sphere give its coefficient, `1 + 4/9 δ`.
#[test]
fn radiation_pressure_equals_its_closed_forms() {
    let surfaces = |of: &str| {
        format!(
            "[exposed_surface.plate]\nframe = \"probe\"\narea = 3.0\nnormal = [0.0, 0.0, 2.0]\nradiation = {{ specular = 0.3, diffuse = 0.2 }}\n\
             [exposed_surface.leaf]\nframe = \"probe\"\narea = 2.0\nnormal = [0.0, 1.0, 0.0]\ntwo_sided = true\nradiation = {{ specular = 0.1, diffuse = 0.6 }}\n\
             [exposed_surface.ball]\nframe = \"probe\"\nshape = \"sphere\"\narea = 1.5\nradiation = {{ coefficient = 1.3 }}\n{of}"
        )
    };
    let (mut worst, mut lit) = (0.0f64, [0, 0]);
    for k in 0..30 {
        let x = f64::from(k);
        let q = Quaternion::new(0.3, (1.3 * x).sin(), (0.7 * x).cos(), (2.1 * x).sin()).normalised();
        let text = PROBE.to_owned() + &format!("start = {{ attitude = {:?} }}\n", q.to_array()) + LIT;
        let mut run = Run::new(&(text + &surfaces("")), 1e-8);
        run.look();
        let sun = run.vector("orbit.sun");
        assert!((sun.norm() - 1.0).abs() < 1e-15 && run.value("orbit.sunlight") == 1.0);
        // The pressure follows from the distance of the Sun, in astronomical units.
        let at = point(&run.simulation.plant, 0.0);
        let far = (at.sky.as_ref().expect("an epoch").sun - at.R).norm() / ASTRONOMICAL_UNIT;
        let along = |v: Vec3<f64>| q.rotate(v);
        let plate = on_plate(3.0, [0.3, 0.2], along(Vec3::z()), sun, false) / (far * far);
        let leaf = on_plate(2.0, [0.1, 0.6], along(Vec3::y()), sun, true) / (far * far);
        let ball = -sun * (1361.0 / 299_792_458.0 * 1.5 * 1.3 / (far * far));
        for (name, expected) in [("plate", plate), ("leaf", leaf), ("ball", ball)] {
            let found = run.vector(&format!("{name}.radiation_force"));
            worst = worst.larger((found - expected).norm() / ball.norm());
        }
        lit[0] += usize::from(plate.norm() > 0.0);
        lit[1] += usize::from(along(Vec3::y()).dot(&sun) < 0.0);
    }
    println!("plates and sphere: {worst:.1e} (1e-13), lit {lit:?} of 30");
    assert!(worst < 1e-13 && lit.iter().all(|&lit| lit > 5 && lit < 25));
    // Plates around a sphere, by Gauss's rule over cos θ: for each ring only the part along the
    // light remains. 2 π R² ∫ … dcos θ over π R².
    let (s, mut sum) = (Vec3::z(), [0.0; 2]);
    let rings = 2000;
    for k in 0..rings {
        let cos = (f64::from(k) + 0.5) / f64::from(rings);
        let n = Vec3::new((1.0 - cos * cos).sqrt(), 0.0, cos);
        for (sum, fractions) in sum.iter_mut().zip([[0.7, 0.0], [0.1, 0.6]]) {
            *sum -= 2.0 * on_plate(1.0, fractions, n, s, false).z / f64::from(rings);
        }
    }
    let coefficients = sum.map(|sum| sum * 299_792_458.0 / 1361.0);
    println!("sphere of plates: {coefficients:?}");
    assert!((coefficients[0] - 1.0).abs() < 1e-6 && (coefficients[1] - (1.0 + 4.0 / 9.0 * 0.6)).abs() < 1e-6);
}

/// A plate at the end of a bent boom has the boom's bent attitude and position, for radiation and
/// for drag; the forces do the work of `system.work`, and their moment about the base is that of
/// forces at the frame.
#[test]
fn plate_on_a_boom_follows_its_bending() {
    let text = |factor: f64| {
        format!(
            "name = \"boom\"\n{LIT}irradiance = {:?}\n[environment.orbit.atmosphere]\nfactor = {:?}\n\
             [body.base]\nmass = 30.0\ninertia = [4.0, 5.0, 6.0]\nstart = {{ angular_velocity = [0.2, -0.3, 0.1], attitude = [0.8, 0.6, 0.0, 0.0] }}\n\
             [body.boom.beam]\nlength = 4.0\nmass_per_length = 0.5\nEI = 6.0\nGJ = 2.0\npolar_inertia_per_length = 0.1\nbending = 2\ntorsion = 1\n\
             [joint.root]\ntype = \"fixed\"\nparent = \"base\"\nchild = \"boom\"\norigin = [0.5, 0.0, 0.0]\n\
             [frame.far_end]\nbody = \"boom\"\norigin = [4.0, 0.3, 0.1]\nrpy_deg = [20.0, 30.0, 40.0]\n\
             [exposed_surface.sail]\nframe = \"far_end\"\narea = 2.0\nnormal = [1.0, 0.5, 0.2]\ntwo_sided = true\n\
             radiation = {{ specular = 0.3, diffuse = 0.2 }}\ndrag = {{ coefficient = 2.0 }}\n{DOP853}",
            1361.0 * factor,
            1e3 * factor
        )
    };
    let mut run = Run::new(&text(1e3), 1e-10);
    run.go(2.0);
    let bent = run.vector("far_end.deflection").norm();
    let n = run.attitude("far_end").rotate(Vec3::new(1.0, 0.5, 0.2).normalize());
    let rigid =
        run.attitude("boom")
            .rotate(Quaternion::from_axis_angle(Vec3::z(), 40.0 * DEGREE).rotate(
                Quaternion::from_axis_angle(Vec3::y(), 30.0 * DEGREE).rotate(
                    Quaternion::from_axis_angle(Vec3::x(), 20.0 * DEGREE).rotate(Vec3::new(1.0, 0.5, 0.2).normalize()),
                ),
            ));
    let at = point(&run.simulation.plant, 2.0);
    let r = at.R + run.vector("far_end.r");
    let toward = at.sky.as_ref().expect("an epoch").sun - r;
    let far = toward.norm() / ASTRONOMICAL_UNIT;
    let pressed = on_plate(2.0, [0.3, 0.2], n, toward.normalize(), true) * (1e3 / (far * far));
    let v = at.V + run.vector("far_end.v") - Vec3::new(0.0, 0.0, 7.292_115e-5).cross(&r);
    let dragged = -v * (0.5 * run.value("sail.density") * 2.0 * 2.0 * n.dot(&v).abs());
    let off = [("radiation", pressed), ("drag", dragged)]
        .map(|(name, expected)| (run.vector(&format!("sail.{name}_force")) - expected).norm() / expected.norm());
    println!(
        "bent by {bent:.3} m, normal {:.3} rad: {} (1e-12)",
        (n - rigid).norm(),
        few(&off)
    );
    assert!(off.iter().all(|&off| off < 1e-12) && (n - rigid).norm() > 0.02);
    // The power of the same state without the forces differs by F·v.
    let mut silent = Run::new(&text(0.0), 1e-10);
    silent.simulation.state = run.simulation.state.clone();
    silent.look();
    let power = run.derivative("system.work") - silent.derivative("system.work");
    let expected = (pressed + dragged).dot(&run.vector("far_end.v"));
    println!("power {power:.6} W, F·v {expected:.6} W");
    assert!((power - expected).abs() < 1e-11 * (pressed + dragged).norm());
}

/// The exponential atmosphere has the density of Vallado's example 8-4, 2.1219854e-4 kg/km³ at
/// 747.2119 km, its own densities at the altitudes of the table, and the last scale height beyond
/// it. A table of the user is interpolated in the same way.
#[test]
fn density_of_the_atmosphere() {
    let density = |altitude: f64, more: &str| {
        let surface = "[exposed_surface.ball]\nframe = \"probe\"\nshape = \"sphere\"\narea = 1.0\ndrag = {}\n";
        let text = format!(
            "{PROBE}[environment.orbit]\nsemi_major_axis = {:?}\n[environment.orbit.atmosphere]\nflattening = 0.0\n{more}\n{surface}",
            EARTH + altitude
        );
        let mut run = Run::new(&text, 1e-8);
        run.look();
        run.value("ball.density")
    };
    for (km, expected, tolerance) in [
        (747.2119, 2.121_985_4e-14, 2e-5),
        (400.0, 3.725e-12, 1e-9),
        (1000.0, 3.019e-15, 1e-9),
        (1402.0, 3.019e-15 * (-1.5f64).exp(), 1e-5),
        (500.0, 6.967e-13, 1e-9),
    ] {
        let found = density(km * 1e3, "");
        println!("{km} km: {found:.7e} kg/m³");
        assert!((found / expected - 1.0).abs() < tolerance, "{found}");
    }
    let table = "altitude = [300e3, 400e3, 600e3]\ndensity = [4e-11, 1e-11, 1e-13]\nfactor = 2.0";
    for (km, expected) in [(300.0, 8e-11), (350.0, 4e-11), (500.0, 2e-12)] {
        let found = density(km * 1e3, table);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}");
    }
    // A body may leave the altitudes of a table: above them the last scale height applies, below them
    // the first density.
    for (km, expected) in [(150.0, 2e-14), (-270.0, 8e-11)] {
        let text = format!(
            "{PROBE}start = {{ axes = \"lvlh\", position = [{:?}, 0.0, 0.0] }}\n[environment.orbit]\nsemi_major_axis = {:?}\n\
             [environment.orbit.atmosphere]\nflattening = 0.0\n{table}\n\
             [exposed_surface.ball]\nframe = \"probe\"\nshape = \"sphere\"\narea = 1.0\ndrag = {{}}\n",
            km * 1e3,
            EARTH + 550e3
        );
        let mut run = Run::new(&text, 1e-8);
        run.look();
        let found = run.value("ball.density");
        assert!((found / expected - 1.0).abs() < 1e-9, "{km} km from the orbit: {found}");
    }
    // Above the poles the altitude is greater by the flattening of the spheroid, 21.4 km.
    let text = format!(
        "{PROBE}[environment.orbit]\nsemi_major_axis = {:?}\ninclination_deg = 90.0\ntrue_anomaly_deg = 90.0\natmosphere = {{}}\n\
         [exposed_surface.ball]\nframe = \"probe\"\nshape = \"sphere\"\narea = 1.0\ndrag = {{}}\n",
        EARTH + 400e3
    );
    let mut run = Run::new(&text, 1e-8);
    run.look();
    let expected = density(400e3 + EARTH / 298.257, "");
    assert!((run.value("ball.density") / expected - 1.0).abs() < 1e-9);
}

/// A sphere on a circular orbit in air of constant density that does not rotate descends as
/// `√a = √a₀ − ½ √μ ρ C_D A/m t` (King-Hele, 1987), and the drag does the work that the orbit loses.
#[test]
fn circular_orbit_decays_by_drag() {
    let (radius, density, drag) = (EARTH + 400e3, 1e-13, 2.0 * 3.0 / 4.0);
    let text = format!(
        "{}[environment.orbit]\nsemi_major_axis = {radius:?}\ninclination_deg = 30.0\n[environment.orbit.atmosphere]\n\
         altitude = [100e3, 900e3]\ndensity = [{density}, {density}]\nrotation_rate = 0.0\n\
         [exposed_surface.ball]\nframe = \"probe\"\nshape = \"sphere\"\narea = 3.0\ndrag = {{ coefficient = 2.0 }}\n{DOP853}",
        PROBE.replace("[1.0, 1.0, 1.0]", "[1e-6, 1e-6, 1e-6]")
    );
    let mut run = Run::new(&text, 1e-12);
    let energy = |run: &Run| {
        let r = run.vector("orbit.r") + run.vector("probe.r");
        let v = run.vector("orbit.v") + run.vector("probe.v");
        (0.5 * v.norm_squared() - MU / r.norm(), r.norm(), v)
    };
    run.look();
    let (first, ..) = energy(&run);
    let period = TAU * (radius.powi(3) / MU).sqrt();
    let (t, mut work, steps) = (10.0 * period, 0.0, 2000);
    // Work of the drag per mass by Simpson's rule.
    for k in 0..=steps {
        run.go(t * f64::from(k) / f64::from(steps));
        let weight = if k == 0 || k == steps {
            1.0
        } else {
            f64::from(2 + 2 * (k % 2))
        };
        work += weight * run.vector("ball.drag_force").dot(&energy(&run).2) / 4.0 * t / f64::from(3 * steps);
    }
    let (last, ..) = energy(&run);
    let axis = -0.5 * MU / last;
    let expected = (radius.sqrt() - 0.5 * MU.sqrt() * density * drag * t).powi(2);
    let (descent, predicted) = (radius - axis, radius - expected);
    println!(
        "descent {descent:.3} m, closed form {predicted:.3} m; energy {last:.6}, work {:.6}",
        last - first - work
    );
    // The orbit stays circular to the order of the descent per radian over the radius, 1e-6.
    assert!((descent / predicted - 1.0).abs() < 1e-5);
    assert!((last - first - work).abs() < 1e-8 * (last - first).abs());
}
