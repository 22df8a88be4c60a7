//! Two bodies on a tether: towing, and equilibrium in orbit.

use crate::numbers::Larger;
use crate::run::Run;
use std::f64::consts::PI;

/// Mass of the whole tether, kg, where it stands for one without mass.
const LIGHT: f64 = 1e-4;

/// Returns a tug of 500 kg and a debris of 3000 kg on a tether of one mass, 30 m long, with a stiffness
/// of 1000 N over its length and an offset (m) of the hook from the debris' mass centre.
fn towed(hook: [f64; 2], stretch: f64, more: &str) -> String {
    let distance = 30.0 + stretch + hook[0] + 0.8;
    format!(
        "name = \"towed\"\n[body.tug]\nmass = 500.0\ninertia = [90.0, 80.0, 100.0]\n\
         start = {{ position = [{distance:?}, {:?}, 0.0] }}\n\
         [body.debris]\nmass = 3000.0\ninertia = [3e3, 9e3, 9e3]\n\
         [frame.winch]\nbody = \"tug\"\norigin = [-0.8, 0.0, 0.0]\n\
         [frame.hook]\nbody = \"debris\"\norigin = [{:?}, {:?}, 0.0]\n\
         [tether.line]\na = \"winch\"\nb = \"hook\"\nlength = 30.0\nlinear_density = {:?}\naxial_stiffness = 3e4\nmasses = 1\n{more}",
        hook[1],
        hook[0],
        hook[1],
        LIGHT / 30.0
    )
}

/// A stretched tether between two bodies at rest: the stretch is that of the reduced mass on the
/// stiffness `EA/L`, until the tether is slack.
#[test]
fn relative_motion_has_the_frequency_of_the_reduced_mass() {
    let frequency = (1000.0f64 * (1.0 / 500.0 + 1.0 / 3000.0)).sqrt();
    let mut run = Run::new(&towed([2.0, 0.0], 0.5, ""), 1e-9);
    let mut off = 0.0f64;
    for phase in [0.4, 0.9, 1.5] {
        run.go(phase / frequency);
        let stretch = run.value("line.stretched_length") - 30.0;
        off = off.larger((stretch - 0.5 * phase.cos()).abs() / 0.5);
    }
    println!("stretch off by {off:.1e} (1e-6, the tether's mass over that of the tug)");
    assert!(off < 1e-6, "{off:e}");
}

/// Returns the second derivatives of the planar motion of tug and debris: positions of the mass centres
/// and angles, under the thrust (N) and the force of a massless tether.
fn planar(s: &[f64; 12], hook: [f64; 2], thrust: f64) -> [f64; 12] {
    let turned = |angle: f64, [x, y]: [f64; 2]| [angle.cos() * x - angle.sin() * y, angle.sin() * x + angle.cos() * y];
    let (at_tug, at_debris) = (turned(s[2], [-0.8, 0.0]), turned(s[5], hook));
    let d = [
        s[0] + at_tug[0] - s[3] - at_debris[0],
        s[1] + at_tug[1] - s[4] - at_debris[1],
    ];
    let length = d[0].hypot(d[1]);
    let force = if length > 30.0 { 1000.0 * (length - 30.0) } else { 0.0 };
    let f = d.map(|d| force * d / length);
    let along = turned(s[2], [thrust, 0.0]);
    [
        s[6],
        s[7],
        s[8],
        s[9],
        s[10],
        s[11],
        (along[0] - f[0]) / 500.0,
        (along[1] - f[1]) / 500.0,
        (at_tug[1] * f[0] - at_tug[0] * f[1]) / 100.0,
        f[0] / 3000.0,
        f[1] / 3000.0,
        (at_debris[0] * f[1] - at_debris[1] * f[0]) / 9e3,
    ]
}

/// The tug pulls with a constant thrust: the debris turns towards the tether and oscillates, as by the
/// planar equations, integrated here by the method of Runge and Kutta.
#[test]
fn towed_debris_turns_as_by_the_planar_equations() {
    let (hook, thrust, end, n) = ([2.0, 0.9], 40.0, 30.0, 30_000);
    let motor = "[thruster.motor]\nframe = \"tug\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 40.0\n";
    let mut run = Run::new(&towed(hook, 0.05, motor), 1e-8);
    run.set("motor.on", 1.0);
    run.go(end);
    let mut s = [0.0; 12];
    (s[0], s[1]) = (30.0 + 0.05 + hook[0] + 0.8, hook[1]);
    let h = end / f64::from(n);
    for _ in 0..n {
        let moved = |k: &[f64; 12], by: f64| -> [f64; 12] { std::array::from_fn(|i| s[i] + by * k[i]) };
        let a = planar(&s, hook, thrust);
        let b = planar(&moved(&a, 0.5 * h), hook, thrust);
        let c = planar(&moved(&b, 0.5 * h), hook, thrust);
        let d = planar(&moved(&c, h), hook, thrust);
        s = std::array::from_fn(|i| s[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    let angle = |name: &str| {
        2.0 * run
            .value(&format!("{name}.q[4]"))
            .atan2(run.value(&format!("{name}.q[1]")))
    };
    let off = [
        angle("debris") - s[5],
        angle("tug") - s[2],
        (run.value("debris.r[1]") - s[3]) / 10.0,
        (run.value("tug.r[2]") - s[1]) / 10.0,
    ];
    println!("debris at {:.4} rad, off by {off:?} (1e-5: the tether's mass)", s[5]);
    assert!(s[5].abs() > 0.02, "{}", s[5]);
    assert!(off.iter().all(|off| off.abs() < 1e-5), "{off:?}");
}

/// Two bodies of mass m on a vertical tether in a circular orbit, at the distance `l` from the mass
/// centre each: the tension is `3 m n² l`, with that of half the tether's mass in addition at its
/// middle, `3 n² (ρ L/2) (l/2)`. It is constant, as the tether keeps its direction.
#[test]
fn vertical_dumbbell_in_orbit_has_the_tension_of_the_gravity_gradient() {
    let (m, length, radius) = (100.0, 1000.0, 7.0e6f64);
    let n = (3.986004418e14 / radius.powi(3)).sqrt();
    let stiffness = 1e4;
    for density in [1e-4, 1e-2] {
        // The strain at the distance x from the middle is that by the tension there.
        let half = 0.5 * length;
        let end = 3.0 * m * n * n * half;
        let own = 3.0 * n * n * density * half * half / 2.0;
        let stretched = half * (1.0 + (end + own * 2.0 / 3.0) / stiffness);
        let text = format!(
            "name = \"dumbbell\"\n[environment.orbit]\nsemi_major_axis = {radius:?}\n\
             [body.upper]\nmass = {m:?}\ninertia = [1.0, 1.0, 1.0]\nstart = {{ axes = \"lvlh\", position = [{stretched:?}, 0.0, 0.0] }}\n\
             [body.lower]\nmass = {m:?}\ninertia = [1.0, 1.0, 1.0]\nstart = {{ axes = \"lvlh\", position = [{:?}, 0.0, 0.0] }}\n\
             [tether.line]\na = \"upper\"\nb = \"lower\"\nlength = {length:?}\nlinear_density = {density:?}\n\
             axial_stiffness = {stiffness:?}\ndamping = 3e4\nmasses = 4\n[solver]\nmethod = \"radau5\"\n",
            -stretched
        );
        let mut run = Run::new(&text, 1e-7);
        let mut off = 0.0f64;
        for part in [0.02, 0.05, 0.1] {
            run.go(part * 2.0 * PI / n);
            for tension in run.values(["line.tension_a", "line.tension_b"]) {
                // No mass is beyond the outer segments: the tether adds nothing at its ends.
                off = off.larger((tension / end - 1.0).abs());
            }
        }
        println!("{density} kg/m: tension {end:.4} N off by {off:.1e} (1e-3: terms of higher order in l/R, vibration)");
        assert!(off < 1e-3, "{off:e}");
    }
}

/// The example: the reel has unwound the integral of its rate, the ends are never farther apart than the
/// stretched tether, the engine pulls the debris, and the energy is balanced.
#[test]
fn example_unwinds_its_tether_and_tows() {
    let mut run = Run::new(include_str!("../../../examples/tethers/tug.toml"), 1e-6);
    run.look();
    let balance = |run: &Run| run.value("system.energy") - run.value("system.work");
    let (before, mut most) = (balance(&run), 0.0f64);
    for k in 1..=35 {
        run.go(20.0 * f64::from(k));
        let apart = (run.vector("winch.r") - run.vector("hook.r")).norm();
        let [length, unwound] = run.values(["line.stretched_length", "line.unwound"]);
        assert!(apart < 1.05 * unwound, "{k}: {apart} m, {length} m, {unwound} m");
        if k > 28 {
            most = most.larger(run.value("line.tension_b"));
        }
    }
    let unwound = run.value("line.unwound");
    let work = run.value("system.work");
    let off = balance(&run) - before;
    println!("{unwound} m unwound, at most {most:.1} N, energy off by {off:.1e} J of {work:.0} J");
    assert!((unwound - 30.5 - 0.24 * 400.0).abs() < 1e-6, "{unwound}");
    assert!(off.abs() < 1e-3 * work.abs(), "{off} J");
    assert!(most > 5.0, "{most} N");
}
