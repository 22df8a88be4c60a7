//! Gravity in orbit, and the LVLH frame.

use crate::numbers::{Larger, few};
use crate::quaternion::{align, values_at_random};
use crate::random_tree::{random_craft, random_tree};
use crate::run::Run;
use grapple::algebra::{Dual, Mat3, Quaternion, Scalar, Vec3, lift3};
use grapple::plant::{Model, OperatingPoint, Plant};
use grapple::spec::{self, Capability, Formulation, Gravity};
use grapple::system::{Kinematics, OrbitPoint};
use std::f64::consts::TAU;
use std::path::Path;

/// The low Earth orbit of Yang et al.
const LEO: &str = "[environment.orbit]\nsemi_major_axis = 7136636.0\nmu = 3.986e14\n";
const MU: f64 = 3.986e14;
const RADIUS: f64 = 7_136_636.0;
/// An orbit of radius 100 m about a heavy body: all terms of gravity are comparable with the other
/// loads of the spacecraft.
const NEAR: &str = "mu = 1e6\nsemi_major_axis = 100.0\nradius = 10.0\neccentricity = 0.2\ninclination_deg = 40.0\nascending_node_deg = 70.0\nargument_of_perigee_deg = 25.0\ntrue_anomaly_deg = 130.0\n";
const DOP853: &str = "[solver]\nmethod = \"dop853\"\n";

fn vector(v: Vec3<f64>) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

fn point(plant: &Plant, t: f64) -> OrbitPoint {
    plant.derived().orbit.as_ref().expect("an orbit").at(t)
}

/// The reference orbit satisfies `R̈ = −μ R/R³` with the energy of its semi-major axis, is
/// periodic, and carries the LVLH frame: x upwards, z along the angular momentum, angular velocity
/// `h/r²`. The quaternion is continuous.
#[test]
fn reference_orbit_satisfies_keplers_equation() {
    let body = "name = \"probe\"\n[body.probe]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n";
    let mut worst = 0.0f64;
    for e in [0.0f64, 0.01, 0.4, 0.85, 0.97] {
        let a = 3.0e8;
        let plant = crate::plant(&format!(
            "{body}[environment.orbit]\nsemi_major_axis = {a}\neccentricity = {e}\ninclination_deg = 51.6\nascending_node_deg = 200.0\nargument_of_perigee_deg = 80.0\n\
             true_anomaly_deg = 250.0\n"
        ));
        let mu = 3.986_004_418e14;
        let period = TAU * (a * a * a / mu).sqrt();
        let (first, back) = (point(&plant, 0.0), point(&plant, period));
        worst = worst.larger((first.R - back.R).norm() / first.R.norm());
        let h = first.R.cross(&first.V);
        let mut before = first.q_WO;
        let n = 4000;
        for k in 0..2 * n {
            let t = period * f64::from(k) / f64::from(n);
            let at = point(&plant, t);
            let r = at.R.norm();
            let energy = 0.5 * at.V.norm_squared() - mu / r;
            // Errors are relative to the larger terms, kinetic and potential energy at the perigee.
            worst = worst.larger((energy + 0.5 * mu / a).abs() / (mu / r));
            worst = worst.larger((at.R.cross(&at.V) - h).norm() / h.norm());
            worst = worst.larger((at.R_WO.column(0) - at.R / r).norm());
            worst = worst.larger((at.w_WO - h / (r * r)).norm() * r * r / h.norm());
            let step = (at.q_WO.w - before.w).abs() + (at.q_WO.vector() - before.vector()).norm();
            assert!(step < 0.5, "a jump of the quaternion at e = {e}, t = {t}: {step}");
            before = at.q_WO;
        }
        // Acceleration: fourth-order difference of the velocity at a general time.
        let (t, dt) = (0.37 * period, 1e-4 * period * (1.0 - e).powf(1.5));
        let V = |k: f64| point(&plant, t + k * dt).V;
        let a_W = (V(-2.0) - V(-1.0) * 8.0 + V(1.0) * 8.0 - V(2.0)) / (12.0 * dt);
        let R = point(&plant, t).R;
        let g = -R * (mu / R.norm().powi(3));
        assert!((a_W - g).norm() < 1e-9 * g.norm(), "{}", (a_W - g).norm() / g.norm());
    }
    println!("period, energy, angular momentum, axes: {worst:.1e} (1e-11)");
    assert!(worst < 1e-11, "round-off, times 60 at e = 0.97");
}

/// Differences of gravity have full precision at any distance, compared with `μ/R² …` by `expm1`
/// and `ln_1p`; direct subtraction in geocentric coordinates loses nine digits at one metre.
#[test]
fn differences_of_gravity_have_full_precision() {
    let plant = crate::plant(&format!(
        "name = \"probe\"\n[body.probe]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n{LEO}inclination_deg = 28.0\ntrue_anomaly_deg = 33.0\n"
    ));
    let orbit = point(&plant, 0.0);
    let g = |r: Vec3<f64>| -r * (MU / r.norm().powi(3));
    let (mut worst, mut geocentric) = (0.0f64, 0.0f64);
    for k in 0..600 {
        let x = f64::from(k);
        let size = 10f64.powf(-3.0 + x / 66.0);
        let rho = Vec3::new((1.7 * x).sin(), (2.3 * x + 0.4).cos(), (0.9 * x - 1.0).sin()) * size;
        // (1 + q)^(−3/2) − 1
        let q = rho.dot(&(orbit.R * 2.0 + rho)) / orbit.R.norm_squared();
        let factor = (-1.5 * q.ln_1p()).exp_m1();
        let expected = -(rho * (1.0 + factor) + orbit.R * factor) * (MU / orbit.R.norm().powi(3));
        let off = |found: Vec3<f64>| (found - expected).norm() / expected.norm();
        worst = worst.larger(off(orbit.gravity(&rho).g));
        if size < 1.0 {
            geocentric = geocentric.larger(off(g(orbit.R + rho) - g(orbit.R)));
        }
    }
    println!("relative {worst:.1e} (1e-12), geocentric below a metre {geocentric:.1e}");
    assert!(worst < 1e-12 && geocentric > 1e-9);
}

/// The reaction between two bodies one above the other is compared with the closed form for two
/// particles in common rotation: `μ` times differences of squares. With geocentric positions, whose
/// floating-point spacing is 9e-10 m, its error would be 1e-9 or more.
#[test]
fn reaction_of_an_upright_boom_equals_its_closed_form() {
    let (m, length) = ([700.0, 40.0], 30.0);
    let mut worst = 0.0f64;
    for formulation in Formulation::ALL {
        let text = format!(
            "name = \"boom\"\n{LEO}\
             [body.base]\nmass = {}\ninertia = [1e-9, 1e-9, 1e-9]\nstart = {{ position = [-2.0, 0.0, 0.0], axes = \"lvlh\" }}\n\
             [body.tip]\nmass = {}\ninertia = [1e-9, 1e-9, 1e-9]\n\
             [joint.boom]\ntype = \"fixed\"\nparent = \"base\"\nchild = \"tip\"\norigin = [{length}, 0.0, 0.0]\n[output]\nreactions = true\n",
            m[0], m[1]
        );
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        run.look();
        // a(x) = ω² (R + x) − μ/(R + x)², without cancellation; the boom gives both the same
        // acceleration.
        let a = |x: f64| {
            let omega2 = MU / RADIUS.powi(3);
            omega2 * x + MU * x * (2.0 * RADIUS + x) / (RADIUS * (RADIUS + x)).powi(2)
        };
        let (low, high) = (a(-2.0), a(length - 2.0));
        let expected = -m[0] * m[1] / (m[0] + m[1]) * (high - low);
        let force = run.vector("boom.reaction_force");
        worst = worst.larger((force - Vec3::x() * expected).norm() / expected.abs());
    }
    println!("{worst:.1e} (1e-12)");
    assert!(worst < 1e-12);
}

/// A body on another orbit, far from the reference orbit, returns after its own period to 1e-9 of
/// its radius, with the same energy and angular momentum about the central body.
#[test]
fn body_far_from_the_reference_keeps_its_orbit() {
    for (radius, speed, phase, tilt) in [
        (RADIUS, 1.0, 60.0f64, 0.0f64),
        (7.5e6, 1.0, 20.0, 30.0),
        (7.3e6, 1.08, -40.0, 75.0),
    ] {
        let (s, c) = phase.to_radians().sin_cos();
        let (st, ct) = tilt.to_radians().sin_cos();
        let r = Vec3::new(c, s, 0.0) * radius;
        let v = Vec3::new(-s * ct, c * ct, st) * (speed * (MU / radius).sqrt());
        let (R, V) = (Vec3::x() * RADIUS, Vec3::y() * (MU / RADIUS).sqrt());
        let text = format!(
            "name = \"probe\"\n[body.probe]\nmass = 3.0\ninertia = [1e-6, 1e-6, 1e-6]\nstart = {{ position = {}, velocity = {} }}\n{LEO}{DOP853}",
            vector(r - R),
            vector(v - V)
        );
        let mut run = Run::new(&text, 1e-11);
        run.look();
        let centred = |run: &Run| {
            let (r, v) = (
                run.vector("orbit.r") + run.vector("probe.r"),
                run.vector("orbit.v") + run.vector("probe.v"),
            );
            (r, 0.5 * v.norm_squared() - MU / r.norm(), r.cross(&v))
        };
        let (r_0, energy, h) = centred(&run);
        let axis = -0.5 * MU / energy;
        let period = TAU * (axis.powi(3) / MU).sqrt();
        let (mut energy_off, mut h_off) = (0.0f64, 0.0f64);
        for k in 1..=20 {
            run.go(period * f64::from(k) / 20.0);
            let (_, e, now) = centred(&run);
            energy_off = energy_off.larger((e / energy - 1.0).abs());
            h_off = h_off.larger((now - h).norm() / h.norm());
        }
        let back = (centred(&run).0 - r_0).norm() / r_0.norm();
        println!("back to {back:.1e} (1e-9), energy {energy_off:.1e}, angular momentum {h_off:.1e}");
        assert!(back < 1e-9 && energy_off < 1e-10 && h_off < 1e-10);
    }
}

/// Hill's equations near a circular orbit have the closed form of Clohessy and Wiltshire; `exact`
/// differs by terms of second order.
#[test]
fn second_order_potential_gives_hills_equations() {
    let omega = (MU / RADIUS.powi(3)).sqrt();
    let (r, v) = (Vec3::new(12.0, -30.0, 7.0), Vec3::new(0.02, -0.03, 0.01));
    let mut ends = Vec::new();
    for gravity in ["second_order", "exact"] {
        let text = format!(
            "name = \"probe\"\n[body.probe]\nmass = 3.0\ninertia = [1e-6, 1e-6, 1e-6]\nstart = {{ position = {}, velocity = {}, axes = \"lvlh\" }}\n\
             {LEO}inclination_deg = 63.0\ntrue_anomaly_deg = 12.0\ngravity = \"{gravity}\"\n{DOP853}",
            vector(r),
            vector(v)
        );
        let mut run = Run::new(&text, 1e-13);
        run.look();
        assert!((run.vector("probe.r_lvlh") - r).norm() < 1e-13 && (run.vector("probe.v_lvlh") - v).norm() < 1e-15);
        let t = 4000.0;
        run.go(t);
        let (s, c) = (omega * t).sin_cos();
        let expected = Vec3::new(
            (4.0 - 3.0 * c) * r.x + s / omega * v.x + 2.0 * (1.0 - c) / omega * v.y,
            6.0 * (s - omega * t) * r.x + r.y - 2.0 * (1.0 - c) / omega * v.x + (4.0 * s / omega - 3.0 * t) * v.y,
            c * r.z + s / omega * v.z,
        );
        ends.push((run.vector("probe.r_lvlh") - expected).norm());
    }
    println!("second order {:.1e} m (1e-8), exact {:.1e} m", ends[0], ends[1]);
    // The exact potential differs by terms of the order (260 m)²/R.
    assert!(ends[0] < 1e-8 && (1e-4..1.0).contains(&ends[1]));
}

/// For a rigid body at rest: `J ẇ = 3 μ/R³ R̂ × J R̂`, in any attitude, about its mass centre.
#[test]
fn gravity_gradient_torque_equals_its_closed_form() {
    let J = Mat3::from_diagonal(&Vec3::new(3.0, 7.0, 8.5));
    let mut worst = 0.0f64;
    for k in 0..40 {
        let x = f64::from(k);
        let q = Quaternion::new(0.3, (1.3 * x).sin(), (0.7 * x).cos(), (2.1 * x).sin()).normalised();
        for formulation in Formulation::ALL {
            let text = format!(
                "name = \"hub\"\n[body.hub]\nmass = 5.0\nmass_centre = [0.3, -0.2, 0.5]\ninertia = [3.0, 7.0, 8.5]\nstart = {{ attitude = {:?}, position = {} }}\n{LEO}inclination_deg = 35.0\n",
                q.to_array(),
                vector(q.rotate(Vec3::new(-0.3, 0.2, -0.5)))
            );
            let mut plant = crate::plant_in(formulation, &text, Path::new("."));
            let found = angular_acceleration(&mut plant);
            let up = q.conjugate().rotate(Vec3::x());
            let torque = up.cross(&(J * up)) * (3.0 * MU / RADIUS.powi(3));
            let expected = J.try_inverse().expect("regular") * torque;
            worst = worst.larger((found - expected).norm() / expected.norm());
        }
    }
    println!("{worst:.1e} (1e-11)");
    assert!(worst < 1e-11);
}

/// Returns the angular acceleration of the only body at the start, body axes.
fn angular_acceleration(plant: &mut Plant) -> Vec3<f64> {
    let model = plant.model().clone();
    let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
    plant.start(0.0, &mut x, &mut discrete).expect("closed");
    let mut dx = vec![0.0; x.len()];
    plant
        .derivative(OperatingPoint::new(0.0, &x, &[], &discrete), &mut dx)
        .expect("regular");
    let first = |part: &str| {
        model
            .derivatives
            .iter()
            .position(|quantity| quantity.name.contains(part))
    };
    match first("w[") {
        Some(first) => Vec3::from_column_slice(&dx[first..first + 3]),
        // At rest d̈ = α × d, plus a distortion's part, which has only x in the first and no z in
        // the second.
        None => {
            let axes = model.states.iter().position(|state| state.name.ends_with(".d1[1]"));
            let R = Mat3::from_column_slice(&x[axes.expect("directors")..][..9]);
            let D = Mat3::from_column_slice(&dx[first(".d1_rate[").expect("their rates")..][..9]);
            let D = R.tr_mul(&D);
            Vec3::new(D[(2, 1)], -D[(2, 0)], D[(1, 0)])
        }
    }
}

/// A slender bar in a low orbit librates with the periods 2π/(√3 ω) in the orbital plane and 2π/(2
/// ω) out of it.
#[test]
fn slender_bar_has_its_libration_periods() {
    let omega = (MU / RADIUS.powi(3)).sqrt();
    let swing = 0.1f64.to_radians();
    // The out-of-plane libration excites one in the plane, which shifts the period by a
    // second-order term as large as that of the amplitude.
    for (axis, factor, printed, tolerance) in [(3, 3f64.sqrt(), 3464.10, 1e-8), (2, 2.0, 3000.00, 1e-6)] {
        let mut attitude = [(0.5 * swing).cos(), 0.0, 0.0, 0.0];
        attitude[axis] = (0.5 * swing).sin();
        let text = format!(
            "name = \"bar\"\n[body.bar]\nmass = 100.0\ninertia = [1e-6, 1e4, 1e4]\nstart = {{ attitude = {attitude:?}, axes = \"lvlh\" }}\n{LEO}{DOP853}"
        );
        let mut run = Run::new(&text, 1e-12);
        // The zeros of the angle after a quarter and five quarters of a period.
        let period = TAU / (factor * omega);
        let zeros = [0.25, 1.25].map(|part| {
            run.go(part * period);
            let angle = run.value(&format!("bar.rpy_lvlh[{axis}]"));
            let rate = run.value(&format!("bar.w_lvlh[{axis}]"));
            part * period - angle / rate
        });
        let found = zeros[1] - zeros[0];
        // The first amplitude term is that of a pendulum with twice the angle. The printed periods
        // are for an orbital period of 6000 s, which is 4 ms too short.
        let expected = period * (1.0 + 0.25 * swing * swing);
        println!("{found:.6} s, expected {expected:.6} s, printed {printed:.2} s");
        assert!((found - printed).abs() < 0.01 && (found / expected - 1.0).abs() < tolerance);
    }
}

/// Node and perigee precess according to Kozai, to first order in J₂.
#[test]
fn oblateness_precesses_node_and_perigee() {
    let (a, e, i, J2, radius) = (7.4e6f64, 0.05f64, 50f64.to_radians(), 1.082_626_68e-3, 6_378_137.0);
    let text = format!(
        "name = \"probe\"\n[body.probe]\nmass = 3.0\ninertia = [1e-6, 1e-6, 1e-6]\n\
         [environment.orbit]\nsemi_major_axis = {a}\neccentricity = {e}\ninclination_deg = 50.0\nascending_node_deg = 30.0\nargument_of_perigee_deg = 40.0\nmu = {MU:?}\nJ2 = {J2}\n{DOP853}"
    );
    let mut run = Run::new(&text, 1e-11);
    let period = TAU * (a.powi(3) / MU).sqrt();
    let (orbits, per_orbit) = (20, 100);
    let mut samples = Vec::new();
    for k in 0..orbits * per_orbit {
        let t = period * f64::from(k) / f64::from(per_orbit);
        run.go(t);
        let (r, v) = (
            run.vector("orbit.r") + run.vector("probe.r"),
            run.vector("orbit.v") + run.vector("probe.v"),
        );
        let h = r.cross(&v);
        let node = Vec3::new(-h.y, h.x, 0.0).normalize();
        let perigee = v.cross(&h) / MU - r.normalize();
        let turned = node.cross(&perigee).dot(&h.normalize()).atan2(node.dot(&perigee));
        samples.push((t, node.y.atan2(node.x), turned));
    }
    // Linear regression over whole orbits.
    let slope = |pick: fn(&(f64, f64, f64)) -> f64| {
        let n = samples.len() as f64;
        let (t, y) = (
            samples.iter().map(|s| s.0).sum::<f64>() / n,
            samples.iter().map(pick).sum::<f64>() / n,
        );
        let (top, bottom) = samples.iter().fold((0.0, 0.0), |(top, bottom), s| {
            (top + (s.0 - t) * (pick(s) - y), bottom + (s.0 - t).powi(2))
        });
        top / bottom
    };
    let rate = TAU / period * J2 * (radius / (a * (1.0 - e * e))).powi(2);
    let expected = (-1.5 * rate * i.cos(), 0.75 * rate * (4.0 - 5.0 * i.sin().powi(2)));
    let found = (slope(|s| s.1), slope(|s| s.2));
    let day = 86_400f64.to_degrees();
    println!(
        "node {:.4} (Kozai {:.4}) deg/day, perigee {:.4} ({:.4}) deg/day",
        found.0 * day,
        expected.0 * day,
        found.1 * day,
        expected.1 * day
    );
    // Second-order terms in J₂ are about 1e-3 of these; the perigee's short-period terms are J₂/e.
    assert!((found.0 / expected.0 - 1.0).abs() < 5e-3 && (found.1 / expected.1 - 1.0).abs() < 3e-2);
}

/// At any state of random flexible spacecraft the power of gravity equals the decrease of its
/// potential: force, moment and modal forces are consistent.
#[test]
fn gravity_is_the_gradient_of_its_potential() {
    let mut worst = [0.0f64; 3];
    for seed in 0..24 {
        for (k, gravity) in ["\"exact\"", "\"second_order\"", "\"exact\"\nJ2 = 5.0"]
            .into_iter()
            .enumerate()
        {
            let tree = random_tree(seed, 9, 1.0);
            let mut spec = tree.plant.model().spec.clone();
            let orbit = format!("name = \"orbit\"\nbody = {{}}\n[environment.orbit]\n{NEAR}gravity = {gravity}");
            spec.environment.orbit = spec::from_toml(&orbit).expect("an orbit").environment.orbit;
            // All other loads with a potential or power are removed.
            let model = Model::compile(&spec).expect("sound");
            let work = model
                .derivatives
                .iter()
                .position(|d| d.name == "der(system.work)")
                .expect("diagnostics");
            let mut plant = Plant::new(model.into()).expect("sound");
            let mut x = tree.q.clone();
            x.extend(&tree.qd);
            x.push(0.0);
            let (discrete, mut dx) = (plant.model().discrete(), vec![0.0; x.len()]);
            let u: Vec<f64> = plant.model().inputs.iter().map(|_| 0.0).collect();
            let t = 0.7;
            plant
                .derivative(OperatingPoint::new(t, &x, &u, &discrete), &mut dx)
                .expect("regular");
            let (power, scale) = potential_rate(&plant, t, &tree.q, &tree.qd);
            // Modal dampers have power as well: it is subtracted by an evaluation without gravity.
            let mut silent = tree.plant;
            let mut without = dx.clone();
            silent
                .derivative(OperatingPoint::new(t, &x, &u, &discrete), &mut without)
                .expect("regular");
            let off = (dx[work] - without[work] + power).abs() / scale;
            worst[k] = worst[k].larger(off);
        }
    }
    println!("exact, second order, oblate: {} (1e-12)", few(&worst));
    assert!(worst.iter().all(|&off| off < 1e-12));
}

/// Returns the rate of gravity's potential energy relative to the world's origin, and the magnitude
/// of its terms; W.
fn potential_rate(plant: &Plant, t: f64, q: &[f64], qd: &[f64]) -> (f64, f64) {
    let (system, derived) = (plant.model().system(), plant.derived());
    let mut q_dot = vec![0.0; q.len()];
    system.q_dot(derived, q, qd, &mut q_dot);
    let q: Vec<Dual<1>> = q.iter().zip(&q_dot).map(|(&q, &d)| Dual::new(q, [d])).collect();
    let qd: Vec<Dual<1>> = qd.iter().map(|&v| Dual::lift(v)).collect();
    let mut kinematics = Kinematics::new(system);
    kinematics.update(system, derived, &q, &qd);
    let orbit = point(plant, t);
    let mu = 1e6;
    let number = Dual::<1>::lift;
    let R = lift3::<Dual<1>>(&orbit.R);
    let is_exact = plant.model().spec.environment.orbit.as_ref().map(|orbit| orbit.gravity) == Some(Gravity::Exact);
    let (mut V, mut scale) = (number(0.0), 0.0);
    for (i, constants) in derived.bodies.iter().enumerate() {
        let at = &kinematics.bodies[i];
        let (h, J) = match &system.bodies[i].modes {
            Some(modes) => {
                let bent = &kinematics.deflections[modes.index];
                (bent.h, bent.J)
            }
            None => (
                at.R_WB * lift3::<Dual<1>>(&constants.h),
                constants.J_Bo.lift().express(&at.R_WB),
            ),
        };
        let P = Mat3::identity() * (J.trace() * number(0.5)) - J.full();
        let m = number(constants.m);
        let c = h / m;
        let (r, P) = (if is_exact { R + at.p_WB + c } else { R }, P - h * c.transpose());
        let r3 = r.dot(&r) * r.dot(&r).sqrt();
        let G = (r * r.transpose() * (number(3.0) / r.dot(&r)) - Mat3::identity()) * (number(mu) / r3);
        let R3 = orbit.R.norm().powi(3);
        let rho = at.p_WB + c;
        let own = if is_exact {
            m * (number(mu) / r.dot(&r).sqrt() + R.dot(&rho) * number(mu / R3))
        } else {
            m * rho.dot(&(G * rho)) * number(0.5)
        };
        let mut own = own + (P * G).trace() * number(0.5);
        let J2 = (plant.model().spec.environment.orbit.as_ref()).and_then(|orbit| orbit.J2);
        if let Some(J2) = J2 {
            // ½ μ J₂ R_E² (1/r³ − 3 z²/r⁵), and its second derivatives.
            let [z, r2] = [r.z, r.dot(&r)];
            let power = |n: i32| (0..n).fold(r2.sqrt(), |power, _| power / r2);
            let (r_3, r_5, r_7, r_9) = (power(2), power(3), power(4), power(5));
            let k = number(0.5 * mu * J2 * 100.0);
            let (xx, one) = (r * r.transpose(), Mat3::identity());
            let up = Vec3::<Dual<1>>::z();
            let G = xx * (r_7 * number(15.0))
                - one * (r_5 * number(3.0))
                - (up * up.transpose() * (r_5 * number(2.0))
                    - (r * up.transpose() + up * r.transpose()) * (z * r_7 * number(10.0))
                    + (xx * (r_9 * number(35.0)) - one * (r_7 * number(5.0))) * (z * z))
                    * number(3.0);
            own += k * (m * (r_3 - z * z * r_5 * number(3.0)) + (P * G).trace() * number(0.5));
        }
        scale += own.eps[0].abs();
        V -= own;
    }
    (V.eps[0], scale)
}

/// A large tumbling rigid body in the small orbit of [`NEAR`] conserves its energy and its angular
/// momentum about the centre.
#[test]
fn large_rigid_body_conserves_energy_and_angular_momentum_about_the_centre() {
    let mu = 1e6;
    let text = format!(
        "name = \"hub\"\n[body.hub]\nmass = 5.0\nmass_centre = [0.3, -0.2, 0.5]\ninertia = [300.0, 700.0, 850.0]\n\
         start = {{ attitude = [0.5, 0.5, -0.5, 0.5], angular_velocity = [0.3, 0.2, -0.5], velocity = [0.5, 1.0, 2.0] }}\n[environment.orbit]\n{NEAR}{DOP853}"
    );
    let mut run = Run::new(&text, 1e-12);
    let J = Mat3::from_diagonal(&Vec3::new(300.0, 700.0, 850.0));
    let whole = |run: &Run| {
        let R_WB = run.attitude("hub").normalised().rotation();
        let (c, w) = (Vec3::new(0.3, -0.2, 0.5), run.vector("hub.w"));
        let r = run.vector("orbit.r") + run.vector("hub.r") + R_WB * c;
        let v = run.vector("orbit.v") + run.vector("hub.v") + R_WB * w.cross(&c);
        let u = R_WB.tr_mul(&r);
        let P = Mat3::identity() * (0.5 * J.trace()) - J;
        let G = (u * u.transpose() * (3.0 / u.norm_squared()) - Mat3::identity()) * (mu / u.norm().powi(3));
        let V = -5.0 * mu / u.norm() - 0.5 * (P * G).trace();
        (
            2.5 * v.norm_squared() + 0.5 * w.dot(&(J * w)) + V,
            r.cross(&v) * 5.0 + R_WB * J * w,
        )
    };
    run.look();
    let (energy, h) = whole(&run);
    let (mut energy_off, mut h_off) = (0.0f64, 0.0f64);
    for k in 1..=40 {
        run.go(0.5 * f64::from(k));
        let (e, now) = whole(&run);
        energy_off = energy_off.larger((e / energy - 1.0).abs());
        h_off = h_off.larger((now - h).norm() / h.norm());
    }
    println!("three orbits: energy {energy_off:.1e}, angular momentum {h_off:.1e} (1e-9, the integrator's)");
    assert!(energy_off < 1e-9 && h_off < 1e-9);
}

/// A beam clamped at an angle to the vertical bends under the distributed gravity gradient and
/// centrifugal loads (Yang et al., Eq. 25 at rest; in three dimensions with elevation),
/// `v = ρA/EI (1 − a aᵀ) (11/120 L⁵ G a + L⁴/8 G a o)` with `G = ω² diag(3, 0, −1)`.
#[test]
fn beam_in_orbit_has_its_quasi_static_deflection() {
    let (length, mass, EI, o) = (100.0f64, 30.0, 9.545e7, 40.0);
    for (alpha, beta) in [(45.0f64, 0.0f64), (-70.0, 0.0), (20.0, 35.0)] {
        let q = Quaternion::from_axis_angle(Vec3::z(), alpha.to_radians())
            * Quaternion::from_axis_angle(Vec3::y(), -beta.to_radians());
        let along = q.rotate(Vec3::x());
        for formulation in Formulation::ALL.into_iter().filter(|f| f.has(Capability::Flexible)) {
            let text = format!(
                "name = \"boom\"\n{LEO}[body.base]\nmass = 1e13\ninertia = [1e15, 1e15, 1e15]\nstart = {{ axes = \"lvlh\" }}\n\
                 [body.boom.beam]\nlength = {length}\nmass_per_length = {mass}\nEI = {EI}\nbending = 6\ndamping_ratio = 0.3\npolar_inertia_per_length = 0.01\n\
                 [joint.root]\ntype = \"fixed\"\nparent = \"base\"\nchild = \"boom\"\norigin = {}\norientation = {:?}\n\
                 [solver]\nmethod = \"radau5\"\n",
                vector(along * o),
                q.to_array()
            );
            let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-9);
            run.go(300.0);
            let G = Mat3::from_diagonal(&Vec3::new(3.0, 0.0, -1.0)) * (MU / RADIUS.powi(3));
            let load = G * along;
            let load = load - along * along.dot(&load);
            let expected = load * (mass / EI * (11.0 / 120.0 * length.powi(5) + o / 8.0 * length.powi(4)));
            let found = q.rotate(run.vector("boom.tip_deflection"));
            let off = (found - expected).norm() / expected.norm();
            println!(
                "{:.6} mm, {}: {off:.1e} (1e-4)",
                expected.norm() * 1e3,
                formulation.name()
            );
            // Neglected: the tension, 3e-5 of the buckling load, which stiffens the boom;
            // truncation after six modes, 1e-5.
            assert!(off < 1e-4);
        }
    }
}

/// All formulations agree for random spacecraft in strong gravity, with oblateness and attitude
/// servos in LVLH axes.
#[test]
fn formulations_agree_in_orbit() {
    let mut worst = 0.0f64;
    for seed in 0..16 {
        let text = random_craft(seed, 8, 50.0);
        let text = format!(
            "{text}[body.b0.attitude_servo]\nkp = [1.0, 2.0, 3.0]\nkd = 0.5\naxes = \"lvlh\"\n[environment.orbit]\n{NEAR}J2 = 0.1\n"
        );
        for formulation in &Formulation::ALL[1..] {
            if !formulation.has(Capability::Flexible) && seed % 2 == 1 {
                continue;
            }
            let [expected, mut found] = [Formulation::Recursive, *formulation]
                .map(|f| values_at_random(&mut crate::plant_in(f, &text, Path::new(".")), seed));
            if *formulation == Formulation::Natural {
                align(&mut found, &expected);
            }
            let (mut off, mut size) = (0.0, 0.0);
            for (name, expected) in &expected {
                if let Some(found) = found.get(name).filter(|_| !name.starts_with("system.")) {
                    off += (found - expected).powi(2);
                    size += expected.powi(2);
                }
            }
            worst = worst.larger((off / size).sqrt());
        }
    }
    println!("worst ‖Δ‖/‖·‖ {worst:.1e} (1e-10)");
    assert!(worst < 1e-10);
}

/// A spacecraft aligned with the rotating LVLH frame stays aligned: on a circular orbit without
/// moment, on an eccentric one by a servo with an LVLH reference, whose moment is `J ω̇` minus the
/// gravity-gradient torque.
#[test]
fn servo_with_lvlh_reference_keeps_a_spacecraft_upright() {
    for e in [0.0, 0.05] {
        for formulation in Formulation::ALL {
            let text = format!(
                "name = \"hub\"\n[body.hub]\nmass = 5.0\ninertia = [30.0, 80.0, 100.0]\nstart = {{ axes = \"lvlh\" }}\n\
                 [body.hub.attitude_servo]\nkp = 200.0\nkd = 400.0\naxes = \"lvlh\"\n{LEO}eccentricity = {e}\nradius = 6e6\n{DOP853}"
            );
            let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
            let h = (MU * RADIUS * (1.0 - e * e)).sqrt();
            let mut worst = 0.0f64;
            for k in 1..=10 {
                run.go(600.0 * f64::from(k));
                let (r, v) = (run.vector("orbit.r"), run.vector("orbit.v"));
                // ω̇ = −2 h ṙ/r³ about z; there is no other moment in the upright attitude.
                let moment = 100.0 * -2.0 * h * r.dot(&v) / r.norm().powi(4);
                worst = worst.larger((run.value("hub.rpy_lvlh[3]") + moment / 200.0).abs());
                assert!(run.value("hub.rpy_lvlh[1]").abs() + run.value("hub.rpy_lvlh[2]").abs() < 1e-9);
            }
            println!("e = {e}, {}: {worst:.1e} rad", formulation.name());
            // The servo lags by kd/kp = 2 s, and the gravity gradient acts on the deviation: errors
            // of 1e-3 of 1e-7 rad.
            assert!(worst < if e > 0.0 { 2e-9 } else { 1e-10 });
        }
    }
}
