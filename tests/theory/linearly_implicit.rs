//! The linearly implicit midpoint rule of a plant: limit and convergence of its corrections, and
//! runs compared with other methods.

use crate::dc_motor::tumbling;
use crate::duals::{Point, nominals, start};
use crate::every_load::{FAR, every_load};
use crate::numbers::{Larger, distance};
use crate::random_tree::random_tree;
use crate::run::Run;
use grapple::plant::{OperatingPoint, Plant};

/// Corrects `g = 0` several times. Returns the derivative `g` at the midpoint of a step of length
/// `2 θ`.
fn corrected(plant: &mut Plant, point: &Point, theta: f64, times: u32) -> Vec<f64> {
    let (mut g, mut midpoint) = (vec![0.0; point.x.len()], vec![f64::NAN; point.x.len()]);
    for _ in 0..times {
        let at = OperatingPoint::new(point.t, point.x.as_slice(), point.u.as_slice(), &point.discrete);
        plant.correct(at, theta, &mut g, &mut midpoint).expect("regular");
    }
    g
}

/// Returns the largest `|gᵢ − fᵢ| / max(|fᵢ|, nominal)`, where `f` is the derivative at the
/// midpoint `x + θ g`.
fn left(plant: &mut Plant, point: &Point, theta: f64, g: &[f64]) -> f64 {
    let midpoint: Vec<f64> = point.x.iter().zip(g).map(|(x, g)| x + theta * g).collect();
    let mut f = vec![f64::NAN; g.len()];
    plant
        .derivative(
            OperatingPoint::new(point.t, &midpoint, &point.u, &point.discrete),
            &mut f,
        )
        .expect("regular");
    let nominals = nominals(plant.model());
    let off = g
        .iter()
        .zip(&f)
        .zip(&nominals)
        .map(|((g, f), nominal)| (g - f).abs() / f.abs().max(*nominal));
    off.fold(0.0, f64::larger)
}

/// For any implicit stiffness, the fixed point of the correction is the solution of the implicit
/// midpoint rule.
#[test]
fn corrections_converge_to_the_midpoint_derivative() {
    // Deviations are relative to the accelerations. Light bodies are 1e3 times faster than the
    // slowest, so round-off is 1e-13 of the largest.
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
            discrete: model.discrete(),
        };
        let g = corrected(&mut tree.plant, &point, 1e-3, 60);
        let off = left(&mut tree.plant, &point, 1e-3, &g);
        worst = worst.larger(off);
        assert!(off < 1e-9, "seed {seed}: {off:e}");
    }
    for (text, name) in [(every_load(FAR), "everything"), (tumbling(Some(0.02)), "motor")] {
        let mut plant = crate::plant(&text);
        let mut point = start(&mut plant);
        point.u.fill(0.7);
        let g = corrected(&mut plant, &point, 1e-3, 60);
        let off = left(&mut plant, &point, 1e-3, &g);
        println!("random trees {worst:.1e}, {name} {off:.1e}");
        assert!(off < 1e-9, "{name}: {off:e}");
    }
}

/// Two flexible booms between free modules of 20 t, with vibrations from 0.2 to more than 60 Hz; in
/// the first mode they bend by 39 mm.
pub const ARM: &str = include_str!("../../benches/exudyn/arm.toml");

/// Returns the tip position at 10 s, m.
fn tip(solver: &str, more: &str) -> [f64; 3] {
    let mut run = Run::new(&format!("{ARM}{more}[solver]\n{solver}\n"), 1e-11);
    run.go(10.0);
    [1, 2, 3].map(|i| run.value(&format!("tip.r[{i}]")))
}

#[test]
fn long_steps_on_a_flexible_arm_converge_with_order_two() {
    let reference = tip("method = \"dop853\"", "");
    let steps = [12, 24, 48].map(|n| 1.0 / f64::from(n));
    let [implicit, explicit] = ["implicit_midpoint", "linearly_implicit"]
        .map(|method| steps.map(|step| tip(&format!("method = \"{method}\"\nstep = {step}"), "")));
    let errors = explicit.map(|tip| distance(tip, reference));
    let between = [0, 1, 2].map(|k| distance(explicit[k], implicit[k]));
    println!("{errors:?} m from the solution, {between:?} m from the implicit midpoint rule");
    for k in 0..3 {
        // At 62 Hz and a step of 1/12 s ω h is 32, where explicit methods are limited to 3. The
        // error of the rule itself is below a millimetre.
        assert!(errors[k] < 1e-3 * 0.25_f64.powi(k as i32) && between[k] < 0.2 * errors[k]);
    }
    for pair in [[0, 1], [1, 2]] {
        let slope = (errors[pair[0]] / errors[pair[1]]).log2();
        assert!((slope - 2.0).abs() < 0.2, "{slope}");
    }
}

/// Returns the arm with a servo of 1e8 N·m/rad that follows a step, friction with a slip rate of
/// 1e-3 rad/s, and a spring in its joints.
pub fn stiff_arm() -> String {
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
        "[signal.\"yaw.q_ref\"]\ntype = \"step\"\namplitude = 0.3490658503988659\nfrom = 0.0\nfrom_importer = false\n";
    stiff + follow
}

/// Stiff servo, friction and spring do not limit the step.
#[test]
fn stiff_joints_do_not_limit_the_step() {
    let tip = |solver: &str| {
        let mut run = Run::new(&format!("{}[solver]\n{solver}\n", stiff_arm()), 1e-9);
        run.go(5.0);
        [1, 2, 3].map(|i| run.value(&format!("tip.r[{i}]")))
    };
    let reference = tip("method = \"radau5\"");
    let errors = [100, 400, 1600].map(|n| {
        let solver = format!("method = \"linearly_implicit\"\nstep = {}", 1.0 / f64::from(n));
        distance(tip(&solver), reference)
    });
    println!("{errors:?} m");
    // Friction of 20 N·m changes its sign within 1 mrad/s, and hinges with a boom's inertia pass
    // that within a few steps of 10 ms; the servo alone has a time constant of 1 ms.
    assert!(errors[0] < 1e-3 && errors[1] < 1e-4 && errors[2] < 5e-6);
}

/// Energy is not conserved: without loads and damping its error is proportional to the square of
/// the step and grows slowly.
#[test]
fn energy_error_is_proportional_to_the_square_of_the_step() {
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
        all.iter().map(|e| (e / all[0] - 1.0).abs()).fold(0.0, f64::larger)
    });
    println!("in 200 s, by steps of 50 and 25 ms: {off:?} of the energy");
    // In 200 s the fastest vibration makes 12 000 periods, three per step.
    assert!(off[0] < 2e-4 && off[1] < off[0] / 3.5);
}

/// Returns a hinge between the world and a body of 1 kg·m², with further elements.
fn hinge(more: &str) -> String {
    format!(
        "name = \"hinge\"\n[body.arm]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"arm\"\n{more}\n"
    )
}

/// Returns the hinge's angle and rate at the time `t`.
fn turned(more: &str, solver: &str, inputs: &[(&str, f64)], t: f64) -> [f64; 2] {
    let mut run = Run::new(&format!("{}[solver]\n{solver}\n", hinge(more)), 1e-9);
    inputs.iter().for_each(|(name, value)| run.set(name, *value));
    run.go(t);
    ["hinge.q", "hinge.qd"].map(|name| run.value(name))
}

const TEN_MS: &str = "method = \"linearly_implicit\"\nstep = 0.01";

/// Disables the monitor of the energy balance.
const UNMONITORED: &str = "\n[monitor]\nenergy_balance = 1e9\n";

/// In a step of 10 ms this friction could change the rate by two hundred times the slip rate. The
/// motion stops, up to a tenth of the slip rate, which is undamped; under a torque below the
/// friction the joint creeps according to the friction law.
#[test]
fn stiff_friction_stops_sliding() {
    let friction = "friction = { coulomb = 20.0, slip = 1e-3 }\ninput = true";
    // The last step dissipates the small remaining energy, which the monitor would report as an
    // error.
    let solver = format!("{TEN_MS}{UNMONITORED}");
    let [q, qd] = turned(&format!("{friction}\nstart = {{ rate = 1.0 }}"), &solver, &[], 1.0);
    // The joint slides for 1/20 s.
    println!("slid by {q}, {qd} rad/s left");
    assert!((q - 0.025).abs() < 2e-3 && qd.abs() < 1e-4);
    let [_, creeps] = turned(friction, &solver, &[("hinge.tau", 18.0)], 1.0);
    let should = 1e-3 * 0.9_f64.atanh();
    println!("creeps at {creeps} rad/s, should at {should}");
    assert!((creeps / should - 1.0).abs() < 1e-3);
}

/// A stop of 1e6 N·m/rad under 100 N·m is at rest after a second in steps of 10 ms, where explicit
/// methods are limited to 2 ms.
#[test]
fn stiff_stop_reaches_static_equilibrium() {
    let stop = "range = { min = -1.0, max = 0.0, stop = \"compliant\", stiffness = 1e6, damping = 2e3 }\ninput = true";
    // The contact with the stop is shorter than a step, which dissipates its energy.
    let solver = format!("{TEN_MS}{UNMONITORED}");
    let [q, qd] = turned(stop, &solver, &[("hinge.tau", 100.0)], 1.0);
    println!("{q} rad, {qd} rad/s");
    assert!((q - 1e-4).abs() < 1e-9 && qd.abs() < 1e-9);
}

/// Stiff tracking drives do not limit the step, and their work is accounted for according to their
/// law.
#[test]
fn stiff_tracking_drives_account_for_their_work() {
    let follow = "motion = \"prescribed\"\ntracking = { kp = 1e6, kd = 2e3 }\nstart = { position = 0.01 }";
    let [q, qd] = turned(follow, TEN_MS, &[("hinge.q_ref", 0.3)], 1.0);
    println!("{q} rad, {qd} rad/s");
    assert!((q - 0.3).abs() < 1e-6 && qd.abs() < 1e-5);

    // The damper dissipates ten times the kinetic energy.
    let off = [0.1, 0.05, 0.025].map(|step| {
        let damped = hinge("motion = \"prescribed\"\ndamping = 50.0");
        let mut run = Run::new(
            &format!("{damped}[solver]\nmethod = \"linearly_implicit\"\nstep = {step}\n"),
            1e-9,
        );
        run.set("hinge.qdd", 0.5);
        run.go(2.0);
        run.value("system.kinetic_energy") + run.value("system.potential_energy") - run.value("system.work")
    });
    println!("energy without work: {off:?} J");
    assert!(off.iter().all(|off| off.abs() < 1e-9));
}

/// An event ends a step early, so that steps differ in length. Vibrations with three periods in a
/// step of 1/12 s gain no energy by that.
#[test]
fn events_add_no_energy_to_fast_vibrations() {
    let wheel = "[body.wheel]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n\
         [joint.axle]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"wheel\"\nrange = { min = -1.0, max = 1.0 }\nstart = { rate = 0.7 }\n";
    let boom = "name = \"ringing\"\n[body.boom.beam]\nlength = 5.0\nmass_per_length = 1.0\nEI = 2e4\nbending_z = 2\nbending_y = 0\n\
         [joint.root]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"boom\"\n";
    for method in ["linearly_implicit", "implicit_midpoint"] {
        let energy = |wheel: &str| {
            let text = format!("{boom}{wheel}[solver]\nmethod = \"{method}\"\nstep = 0.08333\n");
            let mut run = Run::new(&text, 1e-9);
            run.set_state("boom.eta[2]", 0.01);
            run.go(4.0);
            let of_wheel = if wheel.is_empty() { 0.0 } else { 0.5 * 0.1 * 0.49 };
            (
                run.simulation.statistics().events,
                run.value("system.kinetic_energy") + run.value("system.potential_energy") - of_wheel,
            )
        };
        let [(_, alone), (events, beside)] = [energy(""), energy(wheel)];
        println!("{method}: {alone} J alone, {beside} J beside {events} events");
        assert!(events > 0 && (beside / alone - 1.0).abs() < 1e-4);
    }
}

/// The geometric stiffening of a rotating beam is not part of the corrections. At a quarter of the
/// natural frequency (3.8 rad/s) the energy is bounded, in steps of 2.4 radians of the second mode
/// (24 rad/s); faster rates are printed. (At 6 rad/s it grows until the run ends with an error.)
#[test]
fn slowly_rotating_beam_is_stable() {
    let grows = |rate: f64| {
        let text = format!(
            "name = \"spinning\"\n[body.boom.beam]\nlength = 10.0\nmass_per_length = 1.2\nEI = 1.4e4\nbending_y = 2\nbending_z = 0\n\
             [joint.root]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"boom\"\nstart = {{ rate = {rate} }}\n\
             [solver]\nmethod = \"linearly_implicit\"\nstep = 0.1\n"
        );
        let mut run = Run::new(&text, 1e-9);
        run.set_state("boom.eta[2]", 1e-3);
        let mut largest = [0.0_f64; 2];
        for k in 1..=600 {
            run.go(0.1 * f64::from(k));
            let of = usize::from(k > 300);
            largest[of] = largest[of].larger(run.value("boom.eta[2]").abs());
        }
        largest[1] / largest[0]
    };
    let grown = [1.0, 2.0, 3.0].map(grows);
    println!("the second mode's largest, of the second half minute and the first: {grown:?}");
    assert!(grown[0] < 1.05 && grown[1] < 1.5);
}

/// Two bodies, captured at points that pass each other, in the longest steps that the gains allow:
/// the violation is proportional to the square of the step.
#[test]
fn capture_violation_is_proportional_to_the_square_of_the_step() {
    let gap = |step: f64| {
        let body = |name: &str, w: f64| {
            format!(
                "[body.{name}]\nmass = 3.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [1.0, 2.0, 3.0]\n\
                 start = {{ angular_velocity = [0.0, {w}, {w}] }}\n\
                 [frame.hand_{name}]\nbody = \"{name}\"\norigin = [1.0, 0.3, 0.2]\n"
            )
        };
        let pair = body("left", 0.1) + &body("right", -0.2);
        let text = format!(
            "name = \"pair\"\n{pair}[contact.hold]\na = \"hand_left\"\nb = \"hand_right\"\nlaw = \"capture_pin\"\n\
             [solver]\nmethod = \"linearly_implicit\"\nstep = {step}\n"
        );
        let mut run = Run::new(&text, 1e-9);
        run.set("hold.capture", 1.0);
        run.simulation.execute_commands(&mut Vec::new()).expect("captured");
        (1..=60).fold(0.0_f64, |gap, k| {
            run.go(f64::from(k));
            gap.larger((run.vector("hand_left.r") - run.vector("hand_right.r")).norm())
        })
    };
    let gaps = [1.0 / 15.0, 1.0 / 30.0, 1.0 / 60.0].map(gap);
    println!("{gaps:?} m");
    assert!(gaps[0] < 1e-3 && gaps[1] < gaps[0] / 3.0 && gaps[2] < gaps[1] / 3.0);
}
