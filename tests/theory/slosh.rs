//! Sloshing liquids: point masses on pendulums and springs, and their parameters for a cylinder.

use crate::messages;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::Model;
use grapple::spec::Formulation;
use std::f64::consts::PI;
use std::path::Path;

/// First zeros of the derivative of the Bessel function J₁.
const ROOTS: [f64; 3] = [1.841183781340659, 5.331442773525033, 8.536316366346286];

fn fixed(gravity: f64, tank: &str) -> String {
    format!(
        "name = \"held\"\n[environment]\ngravity = [0.0, 0.0, {gravity:?}]\n\
         [body.hub]\nmass = 10.0\ninertia = [1.0, 1.0, 1.0]\n\
         [joint.mount]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"hub\"\n[tank.main]\nbody = \"hub\"\n{tank}"
    )
}

fn cylinder(depth: f64, modes: usize) -> String {
    format!(
        "model = \"pendulum\"\ncylinder = {{ radius = 0.5, height = {:?}, fill = 0.5, mass = 200.0, modes = {modes} }}\n",
        2.0 * depth
    )
}

fn parameter(model: &Model, name: &str) -> f64 {
    let found = model
        .parameters
        .iter()
        .find(|parameter| parameter.quantity.name == name);
    found.unwrap_or_else(|| panic!("no parameter {name}")).start
}

/// Returns the integral of `f` over an interval, by Gauss's rule with three points in 400 parts.
fn integral(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let h = (to - from) / 400.0;
    let at = 0.6f64.sqrt() * 0.5 * h;
    let part = |i: u32| {
        let x = from + (f64::from(i) + 0.5) * h;
        (5.0 * (f(x - at) + f(x + at)) + 8.0 * f(x)) / 18.0 * h
    };
    (0..400).map(part).sum()
}

/// Integrals over the wetted surface and the free surface, for the potential
/// `φ = p(r, z) cos θ`: of `φ n_x`, and of `φ (z n_x − x n_z)`.
fn surface(r: f64, [low, high]: [f64; 2], p: &impl Fn(f64, f64) -> f64) -> [f64; 2] {
    let wall = |weight: &dyn Fn(f64) -> f64| PI * r * integral(low, high, |z| p(r, z) * weight(z));
    let disc = |z: f64| PI * integral(0.0, r, |x| p(x, z) * x * x);
    [wall(&|_| 1.0), wall(&|z| z) - disc(high) + disc(low)]
}

/// The potential of mode n is `J₁(k r) cos θ cosh k(z + h)`. Its modal mass is the square of its
/// momentum over twice its kinetic energy, its height the ratio of its angular momentum to its
/// momentum, its pendulum has the frequency `ω² = g k tanh k h`.
#[test]
fn modes_of_a_cylinder_have_the_momentum_and_energy_of_their_potential() {
    let r = 0.5;
    let mut off = 0.0f64;
    for depth in [0.1, 0.5, 1.3] {
        let model = crate::plant(&fixed(-2.0, &cylinder(depth, 3))).model().clone();
        let density = 200.0 / (PI * r * r * depth);
        for (n, root) in ROOTS.into_iter().enumerate() {
            let k = root / r;
            let p = |x: f64, z: f64| libm::j1(k * x) * (k * z).cosh() / (k * depth).sinh();
            let [momentum, angular] = surface(r, [0.0, depth], &p);
            let twice_energy = PI * k * integral(0.0, r, |x| libm::j1(k * x) * p(x, depth) * x);
            let name = format!("main_mode{}", n + 1);
            let mass = density * momentum * momentum / twice_energy;
            off = off.larger((parameter(&model, &format!("{name}_mass.mass")) / mass - 1.0).abs());
            let length = 1.0 / (k * (k * depth).tanh());
            off = off.larger((parameter(&model, &format!("{name}_mass.mass_centre[3]")) / -length - 1.0).abs());
            let hinge = angular / momentum + length;
            off = off.larger((parameter(&model, &format!("{name}.origin[3]")) - hinge).abs());
        }
    }
    println!("masses, lengths and heights off by {off:.1e} (1e-12, the quadrature)");
    assert!(off < 1e-12, "{off:e}");
}

/// Under a lid the liquid has the potential `x z − 2 Σ bₙ J₁(kₙ r) sinh(kₙ z)/(kₙ cosh(kₙ h/2))`
/// about its centre. Mass, mass centre and inertia of all parts at rest are those of the liquid.
#[test]
fn parts_of_a_cylinder_at_rest_have_the_inertia_of_the_liquid_under_a_lid() {
    let r = 0.5;
    let mut off = 0.0f64;
    for depth in [0.1, 0.5, 1.3] {
        let model = crate::plant(&fixed(-2.0, &cylinder(depth, 3))).model().clone();
        let density = 200.0 / (PI * r * r * depth);
        let zero = |n: usize| {
            // Newton's method for J₁' = J₀ − J₁/x from McMahon's first term.
            let slope = |x: f64| libm::j0(x) - libm::j1(x) / x;
            let mut x = if n == 1 { 1.84 } else { (n as f64 - 0.25) * PI };
            for _ in 0..9 {
                let second = -libm::j1(x) - slope(x) / x + libm::j1(x) / (x * x);
                x -= slope(x) / second;
            }
            x
        };
        let terms: Vec<[f64; 2]> = (1..=100)
            .map(|n| {
                let root = zero(n);
                [root / r, 2.0 * r / ((root * root - 1.0) * libm::j1(root))]
            })
            .collect();
        let p = |x: f64, z: f64| {
            let term = |&[k, b]: &[f64; 2]| b * libm::j1(k * x) * (k * z).sinh() / (k * (0.5 * k * depth).cosh());
            x * z - 2.0 * terms.iter().map(term).sum::<f64>()
        };
        let [_, inertia] = surface(r, [-0.5 * depth, 0.5 * depth], &p);
        let of = |name: &str| parameter(&model, name);
        let mut parts = vec![[
            of("main_liquid.mass"),
            of("main_liquid.mass_centre[3]"),
            of("main_liquid.inertia_xx"),
        ]];
        for n in 1..=3 {
            let height = of(&format!("main_mode{n}.origin[3]")) + of(&format!("main_mode{n}_mass.mass_centre[3]"));
            parts.push([of(&format!("main_mode{n}_mass.mass")), height, 0.0]);
        }
        let sum = |f: &dyn Fn(&[f64; 3]) -> f64| parts.iter().map(f).sum::<f64>();
        off = off.larger((sum(&|part| part[0]) / 200.0 - 1.0).abs());
        off = off.larger((sum(&|part| part[0] * part[1]) / (100.0 * depth) - 1.0).abs());
        let about_centre = sum(&|part| part[0] * (part[1] - 0.5 * depth).powi(2) + part[2]);
        let ratio = about_centre / (density * inertia) - 1.0;
        println!("depth {depth} m: inertia {about_centre:.4} kg·m², off by {ratio:.1e}");
        off = off.larger(ratio.abs());
    }
    println!("off by {off:.1e} (1e-6: 100 terms of a series)");
    assert!(off < 1e-6, "{off:e}");
}

/// The first mode by the formulas of ACI 350.3 for the convective liquid in a cylindrical tank, which
/// have three digits and for the mass Housner's approximation: with the diameter d and `x = 3.68 h/d`,
/// `m₁ = 0.230 m (d/h) tanh x`, `L₁ = d/(3.68 tanh x)`, and the height of the force on wall and bottom,
/// which is that of the hinge, `h (1 − (cosh x − 2.01)/(x sinh x))`.
#[test]
fn first_mode_of_a_cylinder_is_that_of_the_published_formulas() {
    let d = 1.0;
    for depth in [0.2, 0.5, 1.0, 1.5] {
        let model = crate::plant(&fixed(-2.0, &cylinder(depth, 1))).model().clone();
        let x = 3.68 * depth / d;
        let mass = parameter(&model, "main_mode1_mass.mass") / (200.0 * 0.230 * d / depth * x.tanh()) - 1.0;
        let length = -parameter(&model, "main_mode1_mass.mass_centre[3]") / (d / (3.68 * x.tanh())) - 1.0;
        let height = 1.0 - (x.cosh() - 2.01) / (x * x.sinh());
        let height = parameter(&model, "main_mode1.origin[3]") / depth - height;
        println!(
            "depth {depth} m: mass off by {mass:.1e} (1.3e-2, Housner's approximation), length by {length:.1e} (2e-3), \
             hinge by {height:.1e} of the depth (2e-2, the formulas' digits)"
        );
        assert!(mass.abs() < 1.3e-2 && length.abs() < 2e-3 && height.abs() < 2e-2);
    }
}

#[test]
fn liquid_in_a_held_cylinder_sloshes_at_the_frequency_of_its_pendulum_and_of_its_springs() {
    let (g, depth) = (2.0, 0.6);
    let k = ROOTS[0] / 0.5;
    let frequency = (g * k * (k * depth).tanh()).sqrt();
    let damping = "damping_ratio = 0.02, modes = 1";
    let text = |model: &str| {
        let tank = cylinder(depth, 1).replace("modes = 1", damping) + &format!("acceleration = {g:?}\n");
        let gravity = if model == "pendulum" { -g } else { 0.0 };
        fixed(gravity, &tank.replace("pendulum", model))
    };
    let damped = frequency * (1.0 - 0.02f64.powi(2)).sqrt();
    // The pendulum's equation has cubic terms: the angles are of 1e-3 rad.
    for (model, most) in [("pendulum", 1e-6), ("spring_mass", 1e-8)] {
        let start = "start.mode1 = { rate = [1e-3, -2e-3] }\n";
        let mut run = Run::new(&(text(model) + start), 1e-11);
        let mut off = 0.0f64;
        for t in [0.3, 1.1, 2.0] {
            run.go(t);
            let expected = (-0.02 * frequency * t).exp() * (damped * t).sin() / damped;
            off = off.larger((run.value("main_mode1.q[1]") / 1e-3 - expected).abs());
            off = off.larger((run.value("main_mode1.q[2]") / -2e-3 - expected).abs());
        }
        println!("{model}: off by {off:.1e} of the amplitude ({most:.0e})");
        assert!(off < most, "{model}: {off:e}");
    }
}

/// A mass on springs in a free hub of 20 kg, under a force on the hub: with the reduced mass the
/// frequency is `ω √(1 + m/M)`, the displacement `−F/(M ω'²) (1 − cos ω' t)`.
#[test]
fn liquid_in_a_free_hub_responds_to_a_thruster_with_the_reduced_mass() {
    let (hub, m, hertz, thrust) = (20.0f64, 5.0f64, 0.3, 2.0);
    let text = format!(
        "name = \"free\"\n[body.hub]\nmass = {hub:?}\ninertia = [1.0, 1.0, 1.0]\n\
         [thruster.jet]\nframe = \"hub\"\ndirection = [1.0, 0.0, 0.0]\nthrust = {thrust:?}\n[input]\n\"jet.on\" = 1.0\n\
         [tank.main]\nbody = \"hub\"\nmodel = \"spring_mass\"\n[tank.main.mode.first]\nmass = {m:?}\nfrequency = {hertz:?}\n"
    );
    let held = 2.0 * PI * hertz;
    let frequency = held * (1.0 + m / hub).sqrt();
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-11);
        let (mut off, scale) = (0.0f64, thrust / hub / (frequency * frequency));
        for t in [0.4, 1.0, 2.5, 6.0] {
            run.go(t);
            let x = -scale * (1.0 - (frequency * t).cos());
            off = off.larger((run.value("main_first.q[1]") - x).abs() / scale);
            off = off.larger((run.value("main.mass_centre[1]") - x).abs() / scale);
            off = off.larger((run.value("main.force[1]") - m * held * held * x).abs() / thrust);
            off = off.larger(run.value("main_first.q[2]").abs() / scale);
        }
        println!(
            "{formulation:?}: displacement and force off by {off:.1e} of the largest (1e-8, the integrator's error)"
        );
        assert!(off < 1e-8, "{formulation:?}: {off:e}");
    }
}

/// A tumbling spacecraft with an arm, and tanks of all kinds.
fn tumbling() -> String {
    "name = \"tumbling\"\n[body.hub]\nmass = 30.0\ninertia = [4.0, 4.0, 4.0]\n\
     start = { angular_velocity = [0.3, -0.2, 0.4], velocity = [0.1, 0.2, 0.0] }\n\
     [body.arm]\nmass = 2.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.2, 0.5, 0.6]\n\
     [joint.shoulder]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\naxis = [0.0, 1.0, 0.2]\n\
     start = { rate = 0.5 }\n\
     [tank.main]\nbody = \"hub\"\nposition = [0.1, 0.0, -0.6]\naxis = [0.1, 0.2, 1.0]\nmodel = \"pendulum\"\nacceleration = 0.5\n\
     cylinder = { radius = 0.3, height = 1.0, fill = 0.6, mass = 40.0, modes = 2, damping_ratio = 0.01 }\n\
     [tank.bladder]\nbody = \"hub\"\nposition = [0.0, 0.5, 0.1]\naxis = [0.0, 1.0, 0.0]\nmodel = \"spring_mass\"\n\
     rigid = { mass = 3.0, height = 0.1, inertia = [0.05, 0.04] }\n\
     [tank.bladder.mode.side]\nmass = 2.0\nfrequency = 0.4\ndamping_ratio = 0.03\nheight = 0.2\n\
     [tank.bladder.mode.bob]\nmass = 1.0\nfrequency = 0.6\ndirections = \"axial\"\n\
     [tank.bladder.mode.any]\nmass = 0.5\nstiffness = 8.0\ndirections = \"all\"\nheight = 0.3\n"
        .to_owned()
}

#[test]
fn momenta_and_energy_less_work_with_tanks_are_constant_in_all_formulations() {
    let mut ends: Vec<[f64; 3]> = Vec::new();
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &tumbling(), Path::new(".")), 1e-11);
        let off = run.drift(2.0);
        println!("{formulation:?}: invariants off by {off:.1e} J, N·s, N·m·s (1e-10, the integrator's error)");
        assert!(off < 1e-10, "{formulation:?}: {off:e}");
        ends.push(run.values(["main_mode1.q[1]", "bladder_side.q[2]", "shoulder.q"]));
    }
    let first = ends[0];
    let apart = ends.iter().flat_map(|end| (0..3).map(|i| (end[i] - first[i]).abs()));
    let apart = apart.fold(0.0f64, Larger::larger);
    println!("formulations differ by {apart:.1e} m, rad (1e-10, the integrator's error)");
    assert!(apart < 1e-10, "{apart:e}");
}

/// The hub has nothing but its tanks: its equations are those of a rigid body under their outputs.
#[test]
fn force_and_moment_of_tanks_accelerate_the_hub() {
    let arm = tumbling();
    let (before, after) = (
        arm.find("[body.arm]").expect("an arm"),
        arm.find("[tank.main]").expect("a tank"),
    );
    let text = arm[..before].to_owned() + &arm[after..];
    let mut run = Run::new(&text, 1e-10);
    run.go(1.0);
    let force = run.vector("main.force") + run.vector("bladder.force");
    let at = |tank: &str, position: [f64; 3]| {
        run.vector(&format!("{tank}.moment"))
            + grapple::algebra::Vec3::from(position).cross(&run.vector(&format!("{tank}.force")))
    };
    let moment = at("main", [0.1, 0.0, -0.6]) + at("bladder", [0.0, 0.5, 0.1]);
    let a = run.vector("hub.a_body") * 30.0 - force;
    let w_dot = grapple::algebra::Vec3::from_fn(|i, _| run.derivative(&format!("hub.w[{}]", i + 1))) * 4.0 - moment;
    let off = a.norm().larger(w_dot.norm());
    println!(
        "Newton's and Euler's equations off by {off:.1e} N, N·m of {:.2} N (1e-14, round-off)",
        force.norm()
    );
    assert!(off < 1e-14 && force.norm() > 1.0, "{off:e}");
}

#[test]
fn pendulum_beyond_45_degrees_is_reported() {
    let mut run = Run::new(&fixed(-2.0, &cylinder(0.6, 1)), 1e-9);
    run.set_state("main_mode1.qd[2]", 2.5);
    run.go(0.1);
    let inside = run.value("main_mode1.out_of_range");
    run.go(0.6);
    assert_eq!([inside, run.value("main_mode1.out_of_range")], [0.0, 1.0]);
}

#[test]
fn errors_of_tanks_name_the_field() {
    let _recording = messages::of_this_test();
    let pendulum = "model = \"pendulum\"\nmode.first = { mass = 5.0, length = 0.4 }\n";
    let springs = "model = \"spring_mass\"\nmode.first = { mass = 5.0, frequency = 0.2 }\n";
    let round = cylinder(0.5, 1);
    for (tank, from, to, place) in [
        (pendulum, "mass = 5.0", "mass = -5.0", "mode.first.mass"),
        (pendulum, "length = 0.4", "length = 0.0", "mode.first.length"),
        (pendulum, ", length = 0.4", "", "mode.first.length"),
        (
            pendulum,
            "length = 0.4",
            "length = 0.4, frequency = 1.0",
            "mode.first.frequency",
        ),
        (
            springs,
            "frequency = 0.2",
            "frequency = 0.2, damping_ratio = 2.0",
            "mode.first.damping_ratio",
        ),
        (
            pendulum,
            "length = 0.4",
            "length = 0.4, damping_ratio = 0.02",
            "acceleration",
        ),
        (pendulum, "model", "acceleration = 9.81\nmodel", "acceleration"),
        (pendulum, "model", "axis = [0.0, 0.0, 0.0]\nmodel", "axis"),
        (pendulum, "mode.first = { mass = 5.0, length = 0.4 }\n", "", "mode"),
        (pendulum, "mode.first", "mode.model", "mode.model"),
        (springs, "frequency = 0.2", "length = 0.2", "mode.first.length"),
        (springs, ", frequency = 0.2", "", "mode.first"),
        (
            springs,
            "model",
            "rigid = { mass = 1.0, inertia = [0.1, 0.3] }\nmodel",
            "rigid.inertia",
        ),
        (
            springs,
            "model",
            "rigid = { mass = 0.0, inertia = [0.1, 0.1] }\nmodel",
            "rigid.mass",
        ),
        (&*round, "fill = 0.5", "fill = 60.0", "cylinder.fill"),
        (&*round, "fill = 0.5", "fill = 1.0", "cylinder.fill"),
        (&*round, "radius = 0.5", "radius = -0.5", "cylinder.radius"),
        (&*round, "modes = 1", "modes = 9000000000000", "cylinder.modes"),
        (&*round, "pendulum", "spring_mass", "acceleration"),
        (
            &*round,
            "model",
            "mode.first = { mass = 5.0, length = 0.4 }\nmodel",
            "mode",
        ),
        (&*round, "model", "start.mode2 = { rate = 0.1 }\nmodel", "start.mode2"),
        (
            &*round,
            "model",
            "start.mode1 = { position = [0.1, 0.2, 0.3] }\nmodel",
            "start.mode1.position",
        ),
    ] {
        assert!(tank.contains(from), "{from}");
        let text = fixed(-2.0, &tank.replacen(from, to, 1));
        match Model::read(&text, Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => {
                let at = problems[0].at.join(".");
                assert!(at.ends_with(&format!("tank.main.{place}")), "{at} for {place}");
                messages::record(&problems[0]);
            }
            other => panic!("{to}: {:?}", other.map(|model| model.spec.name)),
        }
    }
    let collision = fixed(-2.0, pendulum) + "[body.main_first_mass]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n";
    let lost = fixed(-2.0, pendulum).replace("body = \"hub\"", "body = \"hup\"");
    for text in [collision, lost] {
        messages::record(Model::read(&text, Path::new(".")).expect_err("a mistake"));
    }
}
