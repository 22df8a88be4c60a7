//! Propellant that thrusters draw from tanks: closed forms, conservation with the expelled mass,
//! derivatives, methods, tanks that run empty.

mod empty;

use crate::duals::Point;
use crate::messages;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::algebra::Vec3;
use grapple::plant::{Adjoint, Jacobians, LANES, Model, OperatingPoint, Plant, Seeds, Tangent};
use grapple::simulation::Simulation;
use nalgebra::DMatrix;
use std::path::Path;

/// Exhaust velocity of the specific impulse 300 s, m/s.
const EXHAUST: f64 = 300.0 * 9.80665;

/// A hub of 40 kg with 60 kg of propellant, 5 kg of which remain, and nozzles below it at `at`.
fn stage(start: &str, nozzles: &[[f64; 3]], thrust: f64) -> String {
    let mut text = format!(
        "name = \"stage\"\n[body.hub]\nmass = 40.0\ninertia = [6.0, 6.0, 5.0]\n{start}\
         [tank.main]\nbody = \"hub\"\nrigid = {{ mass = 60.0, inertia = [7.0, 9.0] }}\nresidual = 5.0\n"
    );
    for (i, at) in nozzles.iter().enumerate() {
        text += &format!(
            "[frame.nozzle{i}]\nbody = \"hub\"\norigin = {at:?}\n\
             [thruster.jet{i}]\nframe = \"nozzle{i}\"\ndirection = [0.0, 0.0, 2.0]\nthrust = {thrust:?}\n\
             throttle = \"level\"\ntank = \"main\"\nspecific_impulse = 300.0\n"
        );
    }
    text
}

fn fire(text: &str, tolerance: f64, nozzles: usize) -> Run {
    let mut run = Run::new(text, tolerance);
    (0..nozzles).for_each(|i| run.set(&format!("jet{i}.level"), 1.0));
    run
}

/// `Δv = I_sp g₀ ln(m₀/m)` at any time, and the time at which the tank is empty.
#[test]
fn velocity_follows_the_rocket_equation_until_the_tank_is_empty() {
    let thrust = 500.0;
    let mut run = fire(&stage("", &[[0.0, 0.0, -1.0]], thrust), 1e-12, 1);
    let flow = thrust / EXHAUST;
    let end = 55.0 / flow;
    let mut off = 0.0f64;
    for t in [0.3 * end, 0.9 * end, end - 1e-3] {
        run.go(t);
        let mass = 100.0 - flow * t;
        off = off.larger((run.value("main.propellant") / (mass - 40.0) - 1.0).abs());
        off = off.larger((run.value("hub.v[3]") / (EXHAUST * (100.0 / mass).ln()) - 1.0).abs());
        off = off.larger((run.value("main.mass_flow") / flow - 1.0).abs());
        assert_eq!(run.value("main.empty"), 0.0);
    }
    let mut events = Vec::new();
    run.simulation.advance(2.0 * end, &mut events).expect("runs");
    run.look();
    assert_eq!(events.len(), 1);
    let text = events[0].to_string();
    println!("{text}; off by {off:.1e} (1e-11, the integrator's error)");
    assert!(text.contains("tank \"main\" is empty (5 kg of propellant remain): no thrust of \"jet0\""));
    off = off.larger((events[0].t / end - 1.0).abs());
    off = off.larger((run.value("main.propellant") / 5.0 - 1.0).abs());
    off = off.larger((run.value("hub.v[3]") / (EXHAUST * (100.0f64 / 45.0).ln()) - 1.0).abs());
    assert_eq!(
        run.values(["main.empty", "main.mass_flow", "jet0.force"]),
        [1.0, 0.0, 0.0]
    );
    assert!(off < 1e-11, "{off:e}");
}

/// `ω/ω₀ = (C/C₀)^(ρ²/k² − 1)` with the distance ρ of the nozzles from the axis, the propellant's
/// radius of gyration k about it, and the inertia C of hub and propellant: spin about the axis
/// halfway between two nozzles, and jet damping of a rotation across it.
#[test]
fn rates_of_a_burning_stage_follow_the_power_of_its_inertia() {
    let (radius, depth) = (0.8, 1.3);
    let mut off = 0.0f64;
    for (start, name, arm, k, c) in [
        ("0.0, 0.0, 2.0", "hub.w[3]", radius * radius, 9.0 / 60.0, 5.0 + 9.0),
        ("0.3, 0.0, 0.0", "hub.w[1]", depth * depth, 7.0 / 60.0, 6.0 + 7.0),
    ] {
        // About x the nozzles are on this axis, so that only their depth counts.
        let nozzles = [[radius, 0.0, -depth], [-radius, 0.0, -depth]];
        let text = stage(
            &format!("start = {{ angular_velocity = [{start}] }}\n"),
            &nozzles,
            100.0,
        );
        let mut run = fire(&text, 1e-12, 2);
        let first = run.value(name);
        for t in [30.0, 200.0] {
            run.go(t);
            let burnt = 200.0 / EXHAUST * t;
            let ratio: f64 = (c - k * burnt) / c;
            off = off.larger((run.value(name) / (first * ratio.powf(arm / k - 1.0)) - 1.0).abs());
        }
    }
    println!("rates off by {off:.1e} (1e-12, the integrator's error)");
    assert!(off < 1e-12, "{off:e}");
}

/// A tumbling hub with an offset tank and two oblique nozzles, an arm on a spring, and a flexible
/// boom; `more` is appended.
fn spacecraft(velocity: [f64; 3], more: &str) -> String {
    format!(
        r#"name = "tug"
[body.hub]
mass = 40.0
mass_centre = [0.1, -0.05, 0.2]
inertia = [6.0, 5.0, 4.0]
start = {{ angular_velocity = [0.3, -0.4, 0.5], velocity = {velocity:?} }}
[tank.main]
body = "hub"
position = [0.3, 0.2, -0.4]
axis = [0.2, -0.3, 1.0]
rigid = {{ mass = 30.0, height = 0.3, inertia = [3.0, 2.0] }}
residual = 2.0
[frame.centre]
body = "hub"
origin = [0.35644325210301586, 0.11533512184547624, -0.11778373948492082]
[body.pod]
mass = 2.0
inertia = [0.1, 0.1, 0.1]
[joint.on_hub]
type = "fixed"
parent = "hub"
child = "pod"
origin = [-0.5, 0.1, -0.6]
rpy_deg = [20.0, 10.0, -30.0]
[frame.nozzle_a]
body = "pod"
origin = [0.1, 0.0, -0.2]
[frame.nozzle_b]
body = "hub"
origin = [0.6, -0.7, -0.5]
[thruster.a]
frame = "nozzle_a"
direction = [0.1, 0.2, 1.0]
thrust = 60.0
throttle = "level"
tank = "main"
specific_impulse = 30.0
[thruster.b]
frame = "nozzle_b"
direction = [-0.4, 0.3, 0.6]
thrust = 25.0
throttle = "level"
tank = "main"
specific_impulse = 20.0
[body.arm]
mass = 5.0
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.5, 0.5]
[joint.shoulder]
type = "revolute"
parent = "hub"
child = "arm"
origin = [0.0, 0.6, 0.3]
axis = [0.0, 1.0, 0.4]
start = {{ position = 0.5, rate = -0.6 }}
spring = {{ stiffness = 20.0 }}
[body.boom.beam]
length = 3.0
mass_per_length = 0.6
first_frequency = 1.0
GJ = 50.0
polar_inertia_per_length = 0.02
bending = 2
torsion = 1
[joint.root]
type = "fixed"
parent = "hub"
child = "boom"
origin = [0.5, 0.0, 0.4]
{more}"#
    )
}

fn burn(text: &str) -> Run {
    let mut run = Run::new(text, 1e-12);
    run.set("a.level", 1.0);
    run.set("b.level", 0.8);
    run.look();
    run
}

/// Mass flow and exhaust velocity of the thrusters of [`spacecraft`], kg/s and m/s.
const JETS: [(&str, f64, f64); 2] = [
    ("a", 60.0 / (30.0 * 9.80665), 30.0 * 9.80665),
    ("b", 0.8 * 25.0 / (20.0 * 9.80665), 20.0 * 9.80665),
];

/// Rates at which the jets carry momentum and angular momentum about the world's origin away.
fn carried_away(run: &Run) -> [Vec3<f64>; 2] {
    let directions = [Vec3::new(0.1, 0.2, 1.0), Vec3::new(-0.4, 0.3, 0.6)];
    let mut sum = [Vec3::zeros(); 2];
    for ((name, flow, exhaust), direction) in JETS.into_iter().zip(directions) {
        let frame = format!("nozzle_{name}");
        let [r, v] = ["r", "v"].map(|of| run.vector(&format!("{frame}.{of}")));
        let jet = run.attitude(&frame).rotate(-direction.normalize() * exhaust);
        let p = (v + jet) * flow;
        sum[0] += p;
        sum[1] += r.cross(&p);
    }
    sum
}

/// Momentum and angular momentum about the world's origin of the spacecraft and of the flow in it,
/// from the tank's centre to the nozzles.
fn contained(run: &Run) -> [Vec3<f64>; 2] {
    let [p, h, c] = ["momentum", "angular_momentum", "mass_centre"].map(|of| run.vector(&format!("system.{of}")));
    let centre = run.vector("centre.r");
    let flow = |(name, flow, _): (&str, f64, f64)| (run.vector(&format!("nozzle_{name}.r")) - centre) * flow;
    let inner = JETS.into_iter().map(flow).sum::<Vec3<f64>>();
    [p + inner, h + c.cross(&p) + centre.cross(&inner)]
}

/// Momentum and angular momentum of the spacecraft, the flow in it, and the particles expelled, each
/// with the velocity of its nozzle and its exhaust velocity, are constant. The flux of the particles
/// is integrated by Gauss's rule of five points.
#[test]
fn spacecraft_and_expelled_particles_conserve_momentum() {
    let root = |under: f64| (5.0 + 2.0 * under * (10.0f64 / 7.0).sqrt()).sqrt() / 3.0;
    let (inner, outer) = (root(-1.0), root(1.0));
    let weight = |sign: f64| (322.0 + sign * 13.0 * 70.0f64.sqrt()) / 900.0;
    let rule = [
        (-outer, weight(-1.0)),
        (-inner, weight(1.0)),
        (0.0, 128.0 / 225.0),
        (inner, weight(1.0)),
        (outer, weight(-1.0)),
    ];
    for velocity in [[0.0, 0.0, 0.0], [30.0, -20.0, 50.0]] {
        let mut run = burn(&spacecraft(velocity, ""));
        let before = contained(&run);
        let (mut away, mut off) = ([Vec3::zeros(); 2], 0.0f64);
        let h = 0.02;
        for step in 0..200 {
            for (x, weight) in rule {
                run.go((f64::from(step) + 0.5 * (1.0 + x)) * h);
                let rates = carried_away(&run);
                (0..2).for_each(|i| away[i] += rates[i] * (0.5 * h * weight));
            }
            run.go(f64::from(step + 1) * h);
            let after = contained(&run);
            for (after, (away, before)) in after.iter().zip(away.iter().zip(&before)) {
                off = off.larger((after + away - before).norm());
            }
        }
        let burnt = 30.0 - run.value("main.propellant");
        println!(
            "momenta off by {off:.1e} N·s, N·m·s of {:.0} N·s, {:.0} N·m·s carried away by {burnt:.2} kg (1e-8, the integrator's error)",
            away[0].norm(),
            away[1].norm()
        );
        assert!(off < 1e-8, "{off:e}");
        assert!(burnt > 1.0, "{burnt}");
    }
}

/// Energy less work is constant: the work has the energy of the propellant that leaves.
#[test]
fn work_includes_the_energy_of_the_propellant_that_leaves() {
    for (more, what) in [
        ("[environment]\ngravity = [0.3, -0.2, -9.0]\n", "uniform gravity"),
        ("[environment.orbit]\nsemi_major_axis = 7e6\n", "orbit"),
    ] {
        let mut run = burn(&spacecraft([0.1, 0.2, 0.3], more));
        let balance = |run: &Run| run.value("system.energy") - run.value("system.work");
        let before = balance(&run);
        run.go(4.0);
        let off = (balance(&run) - before).abs();
        println!(
            "{what}: energy less work off by {off:.1e} J of {:.0} J (1e-7, the integrator's error)",
            run.value("system.work").abs()
        );
        assert!(off < 1e-7, "{what}: {off:e}");
    }
}

/// Without rotation the propellant's first moment, mass and inertia are those of a body of this mass:
/// accelerations at the same state equal those of a spacecraft with constant masses, less the terms of
/// the flow, which are zero without thrust.
#[test]
fn accelerations_are_those_of_a_spacecraft_with_the_present_mass() {
    let text = spacecraft([0.1, 0.2, 0.3], "[environment]\ngravity = [0.3, -0.2, -9.0]\n");
    let mut run = burn(&text);
    run.go(2.0);
    let mass = run.value("main.propellant");
    let part = mass / 30.0;
    let lighter = text.replace(
        "mass = 30.0, height = 0.3, inertia = [3.0, 2.0]",
        &format!(
            "mass = {mass:?}, height = 0.3, inertia = [{:?}, {:?}]",
            3.0 * part,
            2.0 * part
        ),
    );
    let mut other = Run::new(&lighter, 1e-9);
    run.set("a.level", 0.0);
    run.set("b.level", 0.0);
    let states: Vec<String> = run.model().states.iter().map(|state| state.name.clone()).collect();
    for name in &states {
        other.set_state(name, run.value(name));
    }
    run.look();
    other.look();
    let names = [
        "system.kinetic_energy",
        "system.potential_energy",
        "system.mass_centre[2]",
        "system.angular_momentum[1]",
        "main.force[1]",
        "main.moment[2]",
        "main.mass_centre[3]",
    ];
    let outputs = names.map(|name| (run.value(name), other.value(name)));
    let derivatives = states.iter().map(|name| (run.derivative(name), other.derivative(name)));
    let off = derivatives
        .chain(outputs)
        .fold(0.0f64, |off, (a, b)| off.larger((a - b).abs() / (1.0 + a.abs())));
    println!("off by {off:.1e} (1e-12, round-off)");
    assert!(off < 1e-12, "{off:e}");
}

/// Returns the plant of [`spacecraft`] in gravity, and a point during the burn.
fn during_the_burn() -> (Plant, Point) {
    let mut run = burn(&spacecraft(
        [0.1, 0.2, 0.3],
        "[environment]\ngravity = [0.3, -0.2, -9.0]\n",
    ));
    run.go(1.0);
    let state = &run.simulation.state;
    let point = Point {
        t: state.t,
        x: state.x.clone(),
        u: vec![0.7; state.u.len()],
        discrete: state.discrete.clone(),
    };
    (run.simulation.plant, point)
}

/// Jacobians by dual numbers compared with central differences of the equations of motion, and the
/// adjoints with products of the Jacobians.
#[test]
fn derivatives_with_respect_to_the_mass_are_exact() {
    let (mut plant, point) = during_the_burn();
    let model = plant.model().clone();
    let (nx, nu, ny) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let mut jacobians = Jacobians::new(&model);
    let at = OperatingPoint::new(point.t, point.x.as_slice(), point.u.as_slice(), &point.discrete);
    Tangent::<LANES>::new(&model)
        .jacobians(&plant, at, &mut jacobians)
        .expect("regular");
    let mut evaluate = |x: &[f64], u: &[f64]| {
        let (mut dx, mut y) = (vec![0.0; nx], vec![0.0; ny]);
        let at = OperatingPoint::new(point.t, x, u, &point.discrete);
        plant.evaluate(at, &mut dx, &mut y).expect("finite");
        [dx, y].concat()
    };
    let mut off = 0.0f64;
    for k in 0..nx + nu {
        let moved = |by: f64| {
            let (mut x, mut u) = (point.x.clone(), point.u.clone());
            match k < nx {
                true => x[k] += by,
                false => u[k - nx] += by,
            }
            (x, u)
        };
        let h = 1e-4;
        let mut ends = [h, -h, 0.5 * h, -0.5 * h]
            .map(moved)
            .into_iter()
            .map(|(x, u)| evaluate(&x, &u));
        let mut next = || ends.next().expect("four");
        let [a, b, c, d] = [next(), next(), next(), next()];
        for (i, (((a, b), c), d)) in a.iter().zip(&b).zip(&c).zip(&d).enumerate() {
            // Richardson's extrapolation.
            let difference = (4.0 * (c - d) / h - (a - b) / (2.0 * h)) / 3.0;
            let exact = match (i < nx, k < nx) {
                (true, true) => jacobians.A[(i, k)],
                (true, false) => jacobians.B[(i, k - nx)],
                (false, true) => jacobians.C[(i - nx, k)],
                (false, false) => jacobians.D[(i - nx, k - nx)],
            };
            let one_of = |off: f64| off / (1.0 + exact.abs().max(a.abs()));
            off = off.larger(one_of((difference - exact).abs()));
        }
    }
    println!("Jacobians off by {off:.1e} (1e-7, the differences' error)");
    assert!(off < 1e-7, "{off:e}");
    let at = OperatingPoint::new(point.t, point.x.as_slice(), point.u.as_slice(), &point.discrete);
    let seed = |i: usize| ((i * 7 + 3) % 11) as f64 / 11.0 - 0.4;
    let (dx, y): (Vec<f64>, Vec<f64>) = ((0..nx).map(seed).collect(), (0..ny).map(seed).collect());
    let (mut x_bar, mut u_bar) = (vec![0.0; nx], vec![0.0; nu]);
    let seeds = Seeds { dx: &dx, y: &y };
    Adjoint::new(&model)
        .evaluate(&plant, at, seeds, &mut x_bar, &mut u_bar)
        .expect("regular");
    let row = |v: &[f64]| DMatrix::from_row_slice(1, v.len(), v);
    let expected = row(&dx) * &jacobians.A + row(&y) * &jacobians.C;
    let inputs = row(&dx) * &jacobians.B + row(&y) * &jacobians.D;
    let largest = expected.amax().larger(inputs.amax());
    let pairs = x_bar.iter().zip(expected.iter()).chain(u_bar.iter().zip(inputs.iter()));
    let off = pairs.fold(0.0f64, |off, (a, b)| off.larger((a - b).abs())) / largest;
    println!("adjoints off by {off:.1e} (1e-12, round-off)");
    assert!(off < 1e-12, "{off:e}");
}

/// A burn as above, through the end of the propellant, with the methods of Co-Simulation.
#[test]
fn methods_agree_on_a_burn_that_empties_the_tank() {
    let end = |solver: &str| {
        let text =
            spacecraft([0.1, 0.2, 0.3], &format!("[solver]\n{solver}\n")).replace("residual = 2.0", "residual = 29.0");
        let mut run = burn(&text);
        run.go(8.0);
        assert_eq!(run.value("main.empty"), 1.0);
        let mut end: Vec<f64> = ["hub.r", "hub.v", "hub.w"]
            .iter()
            .flat_map(|name| run.vector(name).as_slice().to_vec())
            .collect();
        end.extend([run.value("main.propellant"), run.value("shoulder.q")]);
        end
    };
    let exact = end("method = \"dopri5\"");
    for (solver, limit) in [
        ("method = \"dop853\"", 1e-9),
        ("method = \"radau5\"", 1e-7),
        ("method = \"rk4\"\nstep = 0.001", 1e-7),
        ("method = \"linearly_implicit\"\nstep = 0.001", 1e-4),
        ("method = \"implicit_midpoint\"\nstep = 0.001", 1e-4),
        ("method = \"rosenbrock\"", 1e-5),
        ("method = \"auto\"", 1e-5),
    ] {
        let found = end(solver);
        let off = found
            .iter()
            .zip(&exact)
            .fold(0.0f64, |off, (a, b)| off.larger((a - b).abs()));
        println!("{solver:?}: off by {off:.1e} ({limit:e}, the method's error)");
        assert!(off < limit, "{solver}: {off:e}");
    }
}

/// A run that is restored from a copy of its state continues with the same bits, before and after the
/// tank is empty.
#[test]
fn restored_run_continues_bit_by_bit() {
    let text = spacecraft([0.1, 0.2, 0.3], "").replace("residual = 2.0", "residual = 29.0");
    let mut run = burn(&text);
    for t in [1.0, 3.0, 5.0] {
        run.go(t);
        let mut other = Simulation::new(crate::plant(&text)).expect("starts");
        other.initialise(0.0, Some(1e-12), 1e12).expect("a tolerance");
        other.state.clone_from(&run.simulation.state);
        other.advance(t + 2.0, &mut Vec::new()).expect("runs");
        run.go(t + 2.0);
        assert_eq!(other.state.x, run.simulation.state.x);
        assert_eq!(other.state.discrete, run.simulation.state.discrete);
    }
    assert_eq!(run.value("main.empty"), 1.0);
}

/// The example burns until its tank is empty: its velocity is that of the rocket equation, less what
/// the small cone of its axis takes.
#[test]
fn kick_stage_burns_all_its_propellant() {
    let mut run = Run::new(include_str!("../../examples/tanks/kick_stage.toml"), 1e-8);
    run.look();
    let balance = |run: &Run| run.value("system.energy") - run.value("system.work");
    let (before, mut events) = (balance(&run), Vec::new());
    run.simulation.advance(240.0, &mut events).expect("runs");
    run.look();
    let texts: Vec<String> = events.iter().map(ToString::to_string).collect();
    assert!(
        texts.iter().any(|text| text.contains("\"main\" is empty (10 kg")),
        "{texts:?}"
    );
    let ideal = 285.0 * 9.80665 * (1079.0f64 / 439.0).ln();
    let part = run.vector("stage.v").norm() / ideal;
    let [work, off] = [run.value("system.work"), balance(&run) - before].map(f64::abs);
    println!("{part:.4} of the ideal velocity (0.99 … 1); energy off by {off:.1e} J of {work:.1e} J (1e-6 of it)");
    assert!((0.99..1.0).contains(&part), "{part}");
    assert!(off < 1e-6 * work, "{off:e}");
}

#[test]
fn errors_of_propellant_name_the_field() {
    let _recording = messages::of_this_test();
    let good = spacecraft([0.0, 0.0, 0.0], "");
    for (from, to, place) in [
        ("residual = 2.0", "residual = -2.0", "tank.main.residual"),
        ("residual = 2.0", "residual = 30.0", "tank.main.residual"),
        ("mass = 30.0, height", "mass = -30.0, height", "tank.main.rigid.mass"),
        (
            "specific_impulse = 30.0",
            "specific_impulse = 0.0",
            "thruster.a.specific_impulse",
        ),
        ("specific_impulse = 30.0", "", "thruster.a.specific_impulse"),
        (
            "tank = \"main\"\nspecific_impulse = 30.0",
            "specific_impulse = 30.0",
            "thruster.a.specific_impulse",
        ),
        (
            "tank = \"main\"\nspecific_impulse = 30.0",
            "tank = \"mian\"\nspecific_impulse = 30.0",
            "thruster.a.tank",
        ),
        ("frame = \"nozzle_a\"", "frame = \"arm\"", "thruster.a.tank"),
        (
            "[thruster.a]\nframe = \"nozzle_a\"",
            "[frame.tip]\nbody = \"boom\"\norigin = [3.0, 0.0, 0.0]\n[thruster.a]\nframe = \"tip\"",
            "thruster.a.tank",
        ),
        (
            "rigid = { mass",
            "model = \"pendulum\"\nrigid = { mass",
            "tank.main.model",
        ),
        (
            "rigid = { mass = 30.0, height = 0.3, inertia = [3.0, 2.0] }",
            "model = \"spring_mass\"\nmode.side = { mass = 3.0, frequency = 0.3 }",
            "thruster.a.tank",
        ),
        (
            "rigid = { mass = 30.0, height = 0.3, inertia = [3.0, 2.0] }",
            "mode.side = { mass = 3.0, frequency = 0.3 }\nrigid = { mass = 30.0, inertia = [3.0, 2.0] }",
            "tank.main.model",
        ),
        (
            "[tank.main]",
            "[tank.other]\nbody = \"hub\"\nresidual = 1.0\nrigid = { mass = 3.0, inertia = [0.1, 0.1] }\n[tank.main]",
            "tank.other.residual",
        ),
        (
            "name = \"tug\"",
            "name = \"tug\"\nformulation = \"quaternion\"",
            "thruster.a.tank",
        ),
        (
            "name = \"tug\"",
            "name = \"tug\"\nformulation = \"natural\"",
            "thruster.a.tank",
        ),
        (
            "name = \"tug\"",
            "name = \"tug\"\nassembly = { equilibrium = true }",
            "thruster.a.tank",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let problems = match Model::read(&text, Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => problems,
            other => panic!("{from} → {to}: accepted is {}", other.is_ok()),
        };
        for problem in &problems {
            messages::record(problem.to_string());
        }
        let found: Vec<String> = problems.iter().map(|problem| problem.at.join(".")).collect();
        assert!(found.iter().any(|at| at == place), "{from} → {to}: {found:?}");
    }
}
