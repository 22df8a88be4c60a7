//! The linearly implicit midpoint rule of a plant: what its corrections converge to, how fast, and runs beside those of other methods.

use crate::duals::{Point, nominals, start};
use crate::random_tree::random_tree;
use crate::run::Run;
use crate::state_jacobian::EVERYTHING;
use grapple::plant::{Discrete, Plant};

/// `g = 0`, corrected so often; the middle of a step that is `2 θ` long.
fn corrected(plant: &mut Plant, point: &Point, theta: f64, times: u32) -> Vec<f64> {
    let (mut g, mut middle) = (vec![0.0; point.x.len()], vec![f64::NAN; point.x.len()]);
    for _ in 0..times {
        let at = (point.x.as_slice(), point.u.as_slice(), &point.discrete);
        plant
            .correct((point.t, theta), at, &mut g, &mut middle)
            .expect("regular");
    }
    g
}

/// The largest `|gᵢ − fᵢ| / max(|fᵢ|, nominal)` with `f` the derivative in the middle.
fn left(plant: &mut Plant, point: &Point, theta: f64, g: &[f64]) -> f64 {
    let middle: Vec<f64> = point.x.iter().zip(g).map(|(x, g)| x + theta * g).collect();
    let mut f = vec![f64::NAN; g.len()];
    plant
        .derivative(point.t, &middle, &point.u, &point.discrete, &mut f)
        .expect("regular");
    let nominals = nominals(plant.model());
    let off = g
        .iter()
        .zip(&f)
        .zip(&nominals)
        .map(|((g, f), nominal)| (g - f).abs() / f.abs().max(*nominal));
    off.fold(0.0, f64::max)
}

/// Whatever the stiffness that is taken implicitly, what a correction leaves as it is solves the implicit midpoint rule.
#[test]
fn corrections_end_at_the_derivative_in_the_middle() {
    // Of the accelerations, lightest parts 1e3 times as fast as the slowest: round-off is 1e-13 of the largest.
    let mut worst = 0.0_f64;
    for seed in 0..40 {
        let mut tree = random_tree(seed, 1 + seed as usize % 10, 1.0);
        let mut x = [tree.q.clone(), tree.qd.clone()].concat();
        x.push(0.4);
        let model = tree.plant.model();
        let point = Point {
            t: 0.3,
            x,
            u: vec![0.7; model.inputs.len()],
            discrete: Discrete::new(model),
        };
        let g = corrected(&mut tree.plant, &point, 1e-3, 60);
        let off = left(&mut tree.plant, &point, 1e-3, &g);
        worst = worst.max(off);
        assert!(off < 1e-9, "seed {seed}: {off:e}");
    }
    let mut plant = crate::plant(EVERYTHING);
    let point = start(&mut plant);
    let g = corrected(&mut plant, &point, 1e-3, 60);
    let everything = left(&mut plant, &point, 1e-3, &g);
    println!("random trees {worst:.1e}, everything {everything:.1e}");
    assert!(everything < 1e-9, "{everything:e}");
}

/// Two flexible booms between free modules of 20 t: vibrations from 0.2 to more than 60 Hz, of which the first bend the booms by 39 mm.
const ARM: &str = include_str!("../../benches/exudyn/arm.toml");

/// The tip at 10 s and its way there, m.
fn tip(solver: &str, more: &str) -> [f64; 3] {
    let mut run = Run::new(&format!("{ARM}{more}[solver]\n{solver}\n"), 1e-11);
    run.go(10.0);
    [1, 2, 3].map(|i| run.value(&format!("tip.r[{i}]")))
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn long_steps_follow_a_flexible_arm_with_order_two_as_the_implicit_rule_does() {
    let reference = tip("method = \"dop853\"", "");
    let steps = [12, 24, 48].map(|n| 1.0 / f64::from(n));
    let [implicit, explicit] = ["implicit_midpoint", "linearly_implicit"]
        .map(|method| steps.map(|step| tip(&format!("method = \"{method}\"\nstep = {step}"), "")));
    let errors = explicit.map(|tip| apart(tip, reference));
    let between = [0, 1, 2].map(|k| apart(explicit[k], implicit[k]));
    println!("{errors:?} m from the solution, {between:?} m from the implicit midpoint rule");
    for k in 0..3 {
        // 62 Hz and 1/12 s: ω h is 32 where explicit methods end at 3. The rule's own error is below a millimetre.
        assert!(errors[k] < 1e-3 * 0.25_f64.powi(k as i32) && between[k] < 0.2 * errors[k]);
    }
    for pair in [[0, 1], [1, 2]] {
        let slope = (errors[pair[0]] / errors[pair[1]]).log2();
        assert!((slope - 2.0).abs() < 0.2, "{slope}");
    }
}

/// A servo of 1e8 N·m/rad, friction that a thousandth of a radian a second lets slip, a stop: what is stiff in joints does not shorten the steps.
#[test]
fn stiff_joints_do_not_shorten_the_steps() {
    let stiff = ARM
        .replacen("[joint.yaw]\n", "[joint.yaw]\nservo = { kp = 1e8, kd = 1e5 }\n", 1)
        .replacen(
            "[joint.pitch]\n",
            "[joint.pitch]\nfriction = { coulomb = 20.0, slip = 1e-3 }\ndamping = 1e4\n",
            1,
        )
        .replacen(
            "[joint.elbow]\n",
            "[joint.elbow]\nspring = { stiffness = 1e6, rest = -1.0 }\n",
            1,
        );
    let follow =
        "[signal.\"yaw.q_ref\"]\ntype = \"step\"\namplitude = 0.3490658503988659\nfrom = 0.0\nfrom_host = false\n";
    let tip = |solver: &str| {
        let mut run = Run::new(&format!("{stiff}{follow}[solver]\n{solver}\n"), 1e-9);
        run.go(5.0);
        [1, 2, 3].map(|i| run.value(&format!("tip.r[{i}]")))
    };
    let reference = tip("method = \"radau5\"");
    let errors = [100, 400, 1600].map(|n| {
        let solver = format!("method = \"linearly_implicit\"\nstep = {}", 1.0 / f64::from(n));
        apart(tip(&solver), reference)
    });
    println!("{errors:?} m");
    // Friction of 20 N·m within 1 mrad/s, on hinges whose own inertia is that of a boom, turns over within a few steps of 10 ms; the servo
    // alone has a time constant of 1 ms.
    assert!(errors[0] < 1e-3 && errors[1] < 1e-4 && errors[2] < 5e-6);
}

/// It does not keep energy: without loads and damping it errs with the square of the step, and slowly more and more.
#[test]
fn energy_of_a_free_arm_errs_with_the_square_of_the_step() {
    let free = ARM.split("[signal.").next().expect("a craft").replacen(
        "start = { position_deg = 30.0 }",
        "start = { position_deg = 30.0, rate = 0.05 }",
        1,
    );
    let energies = |step: f64| -> Vec<f64> {
        let solver = format!("[solver]\nmethod = \"linearly_implicit\"\nstep = {step}\n");
        let mut run = Run::new(&format!("{free}{solver}"), 1e-6);
        run.look();
        let energy = |run: &Run| run.value("system.kinetic_energy") + run.value("system.potential_energy");
        let mut all = vec![energy(&run)];
        for k in 1..=200 {
            run.go(f64::from(k));
            all.push(energy(&run));
        }
        all
    };
    let off = [0.05, 0.025].map(|step| {
        let all = energies(step);
        all.iter().map(|e| (e / all[0] - 1.0).abs()).fold(0.0, f64::max)
    });
    println!("in 200 s, by steps of 50 and 25 ms: {off:?} of the energy");
    // The fastest vibration makes 12 000 periods, of three steps in one.
    assert!(off[0] < 2e-4 && off[1] < off[0] / 3.5);
}
