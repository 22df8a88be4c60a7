//! Tethers with mass: closed forms, invariants, reels.

mod harpoon;
mod net;
mod towing;
mod tug;

use crate::adjoint::worst;
use crate::conserving::{imbalance, steps_of};
use crate::duals::Point;
use crate::linearisation::at_start;
use crate::messages;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::{Jacobians, LANES, Model, OperatingPoint, Plant, Tangent};
use grapple::simulation::Simulation;
use grapple::spec::Formulation;
use std::f64::consts::PI;
use std::path::Path;

/// Returns a body that is fixed to the world at the position `x`, m.
fn post(name: &str, x: f64) -> String {
    format!(
        "[body.{name}]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[joint.{name}_mount]\ntype = \"fixed\"\nparent = \"world\"\n\
         child = \"{name}\"\norigin = [{x:?}, 0.0, 0.0]\n"
    )
}

/// A tether of 0.3 kg/m and 200 N, 4 m long, with a bob of 2 kg hangs at rest in the closed form of a
/// bar: at the unstretched distance `s` from its lower end the tension is `(M + ρ s) g`, and the whole
/// elongation is `(M g L + ρ g L²/2)/EA`, for any number of masses.
#[test]
fn hanging_tether_has_the_elongation_and_the_tensions_of_a_bar() {
    let (density, stiffness, length, bob, g) = (0.3, 200.0, 4.0, 2.0, 9.81);
    for n in [1, 2, 7, 40] {
        let text = format!(
            "name = \"hanging\"\n[environment]\ngravity = [0.0, 0.0, -{g}]\n[assembly]\nequilibrium = true\n\
             [body.bob]\nmass = {bob:?}\ninertia = [0.1, 0.1, 0.1]\n\
             [joint.rail]\ntype = \"cartesian\"\nparent = \"world\"\nchild = \"bob\"\nstart = {{ position = [0.0, 0.0, -4.1] }}\n\
             [tether.line]\na = \"world\"\nb = \"bob\"\nlength = {length:?}\nlinear_density = {density:?}\n\
             axial_stiffness = {stiffness:?}\nmasses = {n}\n"
        );
        let mut run = Run::new(&text, 1e-9);
        run.look();
        let whole = (bob * g * length + 0.5 * density * g * length * length) / stiffness;
        let exact = [length + whole, (bob + density * length) * g, bob * g, -length - whole];
        let found = run.values(["line.stretched_length", "line.tension_a", "line.tension_b", "rail.q[3]"]);
        for (found, exact) in found.into_iter().zip(exact) {
            let off = (found / exact - 1.0).abs();
            assert!(off < 1e-12, "{n} masses: {found} for {exact}");
        }
        let least = run.value("line_point1.q[3]");
        let s = 0.5 * length / f64::from(n);
        let exact = found[3] + s + bob * g * s / stiffness;
        assert!((least - exact).abs() < 1e-12, "{n} masses: {least} for {exact}");
    }
}

/// A tether between two points at equal height sags as the elastic catenary: with its weight `w` per
/// unstretched length and the horizontal tension `H`, half the span is `H s/EA + (H/w) asinh(w s/H)`
/// and the sag `w s²/2EA + (H/w)(√(1 + (w s/H)²) − 1)`, `s = L/2`. The error decreases with the square
/// of the number of masses.
#[test]
fn sagging_tether_converges_to_the_elastic_catenary() {
    let (stiffness, length, span, w) = (200.0, 9.9, 10.0, 0.3 * 9.81);
    let s = 0.5 * length;
    let half = |h: f64| h * s / stiffness + h / w * (w * s / h).asinh();
    let (mut low, mut high) = (1.0, 200.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if half(middle) < 0.5 * span {
            low = middle
        } else {
            high = middle
        }
    }
    let tension = (low * low + w * w * s * s).sqrt();
    let sag = w * s * s / (2.0 * stiffness) + low / w * ((1.0 + (w * s / low).powi(2)).sqrt() - 1.0);
    let off = [9, 27].map(|n: usize| {
        let text = format!(
            "name = \"sagging\"\n[environment]\ngravity = [0.0, 0.0, -9.81]\n[assembly]\nequilibrium = true\n{}{}\
             [tether.line]\na = \"left\"\nb = \"right\"\nlength = {length:?}\nlinear_density = 0.3\n\
             axial_stiffness = {stiffness:?}\nmasses = {n}\n",
            post("left", 0.0),
            post("right", span)
        );
        let mut run = Run::new(&text, 1e-9);
        run.look();
        let lowest = -run.value(&format!("line_point{}.q[3]", n / 2 + 1));
        [lowest / sag - 1.0, run.value("line.tension_a") / tension - 1.0]
    });
    println!("sag and tension off by {off:?} with 9 and 27 masses (factor 9)");
    // The middle mass is the lowest point. The tension at the end is that of half a segment.
    let ratio = off[0][0] / off[1][0];
    assert!((ratio - 9.0).abs() < 0.3, "{ratio}");
    assert!(off[1][0].abs() < 1e-3 && off[1][1].abs() < 1e-2, "{off:?}");
}

/// Returns the sorted frequencies (rad/s) of a tether of `n` masses, stretched from 9.5 m to 10 m.
fn frequencies(n: usize, stiffness: f64) -> Vec<f64> {
    let text = format!(
        "name = \"string\"\n{}{}[tether.line]\na = \"left\"\nb = \"right\"\nlength = 9.5\nlinear_density = 0.2\n\
         axial_stiffness = {stiffness:?}\nmasses = {n}\n",
        post("left", 0.0),
        post("right", 10.0)
    );
    let linear = at_start(&mut crate::plant(&text));
    let values = linear.A.complex_eigenvalues();
    let mut found: Vec<f64> = values.iter().map(|value| value.im).filter(|w| *w > 0.0).collect();
    found.sort_by(f64::total_cmp);
    found
}

/// A taut tether has the transverse frequencies `(jπ/l) √(T/ρ')` of a string (two of each) and the
/// longitudinal ones `(jπ/L) √(EA/ρ)` of a bar. Those of `n` masses have `(2n/π) sin(jπ/2n)` in place
/// of `j`, so that the error is `(jπ/n)²/24`.
#[test]
fn frequencies_of_a_taut_tether_converge_to_those_of_string_and_bar() {
    let (stiffness, density, length, span) = (4000.0f64, 0.2f64, 9.5f64, 10.0f64);
    let tension = stiffness * (span / length - 1.0);
    let string = PI / span * (tension / (density * length / span)).sqrt();
    let bar = PI / length * (stiffness / density).sqrt();
    let mut errors = Vec::new();
    for n in [6, 12] {
        let found = frequencies(n, stiffness);
        let of_masses = |j: usize| 2.0 * n as f64 / PI * (j as f64 * PI / (2.0 * n as f64)).sin();
        let mut exact: Vec<f64> = (1..=n)
            .flat_map(|j| [string, string, bar].map(|first| first * of_masses(j)))
            .collect();
        exact.sort_by(f64::total_cmp);
        assert_eq!(found.len(), exact.len());
        let off = found
            .iter()
            .zip(&exact)
            .fold(0.0f64, |off, (a, b)| off.larger((a / b - 1.0).abs()));
        println!("{n} masses: off by {off:.1e} from the closed form of masses (1e-9)");
        assert!(off < 1e-9, "{off:e}");
        errors.push([found[0] / string - 1.0, of_masses(1) - 1.0]);
    }
    let ratio = errors[0][0] / errors[1][0];
    println!(
        "first frequency off by {:.1e} and {:.1e}, ratio {ratio:.3} (4)",
        errors[0][0], errors[1][0]
    );
    assert!((ratio - 4.0).abs() < 0.03, "{ratio}");
    assert!((errors[1][0] / -(PI / 12.0).powi(2) * 24.0 - 1.0).abs() < 0.01);
}

/// Returns two tumbling bodies, one with an arm, connected by a tether off their mass centres.
fn tumbling(more: &str) -> String {
    format!(
        "name = \"tumbling\"\n[body.hub]\nmass = 2.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [0.3, 0.5, 0.7]\n\
         start = {{ angular_velocity = [0.4, 1.1, 2.0] }}\n\
         [body.arm]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.25]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\naxis = [0.0, 1.0, 0.2]\n\
         start = {{ rate = 0.5 }}\n\
         [body.rock]\nmass = 4.0\nmass_centre = [0.0, 0.1, 0.0]\ninertia = [1.0, 1.2, 1.4]\n\
         start = {{ position = [1.8, 0.3, -0.2], angular_velocity = [-0.7, 0.2, 0.5], velocity = [0.3, 0.0, 0.4] }}\n\
         [frame.tip]\nbody = \"arm\"\norigin = [0.6, 0.1, 0.0]\n[frame.hook]\nbody = \"rock\"\norigin = [-0.3, 0.2, 0.1]\n\
         [tether.line]\na = \"tip\"\nb = \"hook\"\nlength = 0.8\nlinear_density = 0.4\naxial_stiffness = 30.0\nmasses = 3\n{more}"
    )
}

/// Adds the reel and the course of its rate.
fn reeled(rate: f64) -> String {
    let text = tumbling(&format!(
        "damping = 0.4\nreel = {{ unwound = 0.37 }}\n[signal.\"line.rate\"]\ntype = \"constant\"\namplitude = {rate:?}\nfrom_importer = false\n"
    ));
    text.replace("length = 0.8", "length = 1.4")
}

#[test]
fn energy_less_work_and_momenta_of_tumbling_bodies_are_constant() {
    for damping in ["", "damping = 1.5\n"] {
        let mut run = Run::new(&tumbling(damping), 1e-10);
        let off = run.drift(5.0);
        let work = run.value("system.work");
        println!(
            "\"{}\": invariants off by {off:.1e} J, N·s, N·m·s (1e-7, the integrator's error); work {work:.2} J",
            damping.trim()
        );
        assert!(off < 1e-7, "{damping}: {off:e}");
        assert_eq!(work < -0.5, !damping.is_empty(), "{damping}: {work} J");
    }
}

/// Masses leave the reel, or are wound onto it: momenta are constant, and the energy changes by the
/// work of dampers and reel.
#[test]
fn reel_conserves_momentum_and_its_work_balances_the_energy() {
    for rate in [0.2, -0.1] {
        let mut run = Run::new(&reeled(rate), 1e-11);
        let off = run.drift(3.0);
        let unwound = run.value("line.unwound");
        println!("{rate} m/s: invariants off by {off:.1e} (2e-7, the integrator's error); {unwound:.3} m unwound");
        assert!(off < 2e-7, "{rate}: {off:e}");
        assert!((unwound - 0.37 - 3.0 * rate).abs() < 1e-9, "{unwound}");
        assert!(run.value("system.work").abs() > 0.05);
    }
}

/// The rate fades over the last tenth of the length between two masses, as an exponential.
#[test]
fn reel_stops_at_both_ends_of_the_tether() {
    for (rate, end) in [(0.4, 1.4), (-0.2, 0.0)] {
        let mut run = Run::new(&reeled(rate), 1e-9);
        run.go(6.0);
        let left: f64 = (run.value("line.unwound") - end).abs();
        assert!(left < 1e-3 * 1.4, "{rate}: {left} m left");
    }
}

/// The distance of the ends is less than the length: there is no force, and the masses stay.
#[test]
fn slack_tether_transmits_no_force() {
    let text = tumbling("damping = 1.0\n").replace("length = 0.8", "length = 3.0");
    let mut run = Run::new(&text, 1e-9);
    run.look();
    assert_eq!(run.values(["line.tension_a", "line.tension_b"]), [0.0, 0.0]);
    for i in 1..=3 {
        assert_eq!(run.derivative(&format!("line_point{i}.qd[1]")), 0.0);
    }
    let alone = tumbling("");
    let (alone, _) = alone.split_once("[tether").expect("the last table");
    let mut free = Run::new(alone, 1e-9);
    free.look();
    assert_eq!(run.derivative("hub.v[1]"), free.derivative("hub.v[1]"));
}

#[test]
fn conserving_steps_balance_the_energy_of_tethers() {
    // The ends are 0.68 m apart: the tether is taut from the start, and stays so for half a second.
    for (damping, h) in [("", 0.02), ("damping = 0.3\n", 0.005)] {
        let mut run = steps_of(h, &tumbling(damping).replace("length = 0.8", "length = 0.6"), None);
        let off = imbalance(&mut run, 100, h);
        let work = run.value("system.work");
        println!(
            "\"{}\": energy less work off by {off:.1e} (1e-12), work {work:.2} J",
            damping.trim()
        );
        assert!(off < 1e-12, "{damping}: {off:e}");
        assert_eq!(work < -0.01, !damping.is_empty(), "{damping}: {work} J");
    }
}

#[test]
fn formulations_agree_on_a_tether_that_is_unwound() {
    let mut first: Option<Vec<f64>> = None;
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &reeled(0.2), Path::new(".")), 1e-11);
        run.go(1.5);
        let mut found = vec![run.value("line.unwound"), run.value("line.tension_a")];
        found.extend(run.vector("system.mass_centre").iter());
        found.push(run.value("line.stretched_length"));
        let exact = first.get_or_insert_with(|| found.clone());
        let off = found
            .iter()
            .zip(exact)
            .fold(0.0f64, |off, (a, b)| off.larger((a - *b).abs()));
        println!(
            "{formulation:?}: {:.2} N, off by {off:.1e} (1e-6, the integrator's error)",
            found[1]
        );
        assert!(off < 1e-6, "{formulation:?}: {off:e}");
    }
}

/// Returns a plant whose reel releases a mass, and a point at which it is partly released.
fn releasing() -> (Plant, Point) {
    let text = reeled(0.2).replace("unwound = 0.37", "unwound = 0.712");
    let mut run = Run::new(&text, 1e-9);
    run.go(0.06);
    let state = &run.simulation.state;
    let point = Point {
        t: state.t,
        x: state.x.clone(),
        u: state.u.clone(),
        discrete: state.discrete.clone(),
    };
    // The second mass is at 0.7 m from b; it is released over 0.0467 m.
    let unwound = run.value("line.unwound");
    assert!(unwound > 0.702 && unwound < 0.745, "{unwound}");
    (run.simulation.plant, point)
}

/// While a mass is released, Jacobians by dual numbers equal differences, and adjoints the products
/// with Jacobians.
#[test]
fn derivatives_of_a_tether_are_exact() {
    let (mut plant, point) = releasing();
    let model = plant.model().clone();
    let (nx, ny) = (model.states.len(), model.outputs.len());
    let mut jacobians = Jacobians::new(&model);
    let at = OperatingPoint::new(point.t, point.x.as_slice(), point.u.as_slice(), &point.discrete);
    Tangent::<LANES>::new(&model)
        .jacobians(&plant, at, &mut jacobians)
        .expect("regular");
    let mut off = 0.0f64;
    let h = 1e-5;
    for k in 0..nx {
        let mut ends = [h, -h, 0.5 * h, -0.5 * h].map(|by| {
            let mut x = point.x.clone();
            x[k] += by;
            let (mut dx, mut y) = (vec![0.0; nx], vec![0.0; ny]);
            let at = OperatingPoint::new(point.t, &x, &point.u, &point.discrete);
            plant.evaluate(at, &mut dx, &mut y).expect("finite");
            [dx, y].concat()
        });
        let [a, b, c, d] = &mut ends;
        for (i, (((a, b), c), d)) in a.iter().zip(&*b).zip(&*c).zip(&*d).enumerate() {
            let difference = (4.0 * (c - d) / h - (a - b) / (2.0 * h)) / 3.0;
            let exact = if i < nx {
                jacobians.A[(i, k)]
            } else {
                jacobians.C[(i - nx, k)]
            };
            off = off.larger((difference - exact).abs() / (1.0 + exact.abs() + a.abs()));
        }
    }
    println!("Jacobians off by {off:.1e} (1e-7, the differences' error)");
    assert!(off < 1e-7, "{off:e}");
    let off = worst(&plant, &point);
    println!("adjoints off by {off:.1e} (1e-12, round-off)");
    assert!(off < 1e-12, "{off:e}");
}

#[test]
fn restored_run_continues_bit_by_bit() {
    let text = reeled(0.2);
    let mut run = Run::new(&text, 1e-9);
    run.go(0.8);
    let mut other = Simulation::new(crate::plant(&text)).expect("starts");
    other.initialise(0.0, Some(1e-9), 1e12).expect("a tolerance");
    other.state.clone_from(&run.simulation.state);
    other.advance(2.0, &mut Vec::new()).expect("runs");
    run.go(2.0);
    assert_eq!(other.state.x, run.simulation.state.x);
}

#[test]
fn errors_name_the_field() {
    let _recording = messages::of_this_test();
    let text = reeled(0.2);
    for (from, to, place) in [
        ("b = \"hook\"", "b = \"tip\"", "tether.line.b"),
        ("b = \"hook\"", "b = \"hock\"", "tether.line.b"),
        ("length = 1.4", "length = 0.0", "tether.line.length"),
        (
            "linear_density = 0.4",
            "linear_density = -0.4",
            "tether.line.linear_density",
        ),
        (
            "axial_stiffness = 30.0",
            "axial_stiffness = 0.0",
            "tether.line.axial_stiffness",
        ),
        ("damping = 0.4", "damping = -0.4", "tether.line.damping"),
        ("masses = 3", "masses = 0", "tether.line.masses"),
        ("masses = 3", "masses = 3000", "tether.line.masses"),
        ("unwound = 0.37", "unwound = 1.5", "tether.line.reel.unwound"),
        ("unwound = 0.37", "unwound = 0.0", "tether.line.reel.unwound"),
        ("a = \"tip\"", "a = \"world\"", "tether.line.a"),
        (
            "[body.rock]",
            "[body.line_mass2]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n[body.rock]",
            "tether.line",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        match Model::read(&text.replace(from, to), Path::new(".")) {
            Err(grapple::Error::Spec(problems)) => {
                assert_eq!(problems[0].at.join("."), place, "{to}");
                messages::record(&problems[0]);
            }
            other => panic!("{to}: {:?}", other.map(|model| model.spec.name)),
        }
    }
}
