//! Contacts that rest: several points, sticking and sliding, rolling.

use crate::numbers::Larger;
use crate::run::Run;
use grapple::Error;
use grapple::plant::{Adjoint, Jacobians, LANES, Model, OperatingPoint, Seeds, Tangent};
use grapple::simulation::Simulation;
use grapple::spec::Formulation;
use std::path::Path;

const GRAVITY: f64 = 9.81;

/// Returns a box of 2 kg, 0.4 m × 0.3 m × 0.2 m, with its start, on a floor with gravity at `angle`
/// (rad) from the normal, towards x.
fn block(start: &str, angle: f64, contact: &str) -> String {
    let (sin, cos) = angle.sin_cos();
    format!(
        "name = \"slab\"\n[environment]\ngravity = [{}, 0.0, {}]\n[body.slab]\nmass = 2.0\n\
         inertia = [{}, {}, {}]\nstart = {{ {start} }}\n[contact.feet]\na = \"slab\"\nb = \"world\"\nshape_a = {{ type = \"box\", size = [0.4, 0.3, 0.2] }}\n\
         shape_b = {{ type = \"plane\" }}\nrest = 0.01\n{contact}\n",
        GRAVITY * sin,
        -GRAVITY * cos,
        2.0 / 12.0 * (0.09 + 0.04),
        2.0 / 12.0 * (0.16 + 0.04),
        2.0 / 12.0 * (0.16 + 0.09),
    )
}

fn balance(run: &Run) -> f64 {
    run.value("system.energy") - run.value("system.work")
}

/// A box that falls flat on the floor bounces, comes to rest and stays there for 100 s; the four
/// corners carry its weight.
#[test]
fn box_dropped_flat_rests_for_100_s_without_drift() {
    for (formulation, mu) in [(Formulation::Recursive, "mu = 0.5"), (Formulation::Recursive, "")]
        .into_iter()
        .chain(Formulation::ALL.map(|formulation| (formulation, "mu = 0.5")))
    {
        let text = block("position = [0.0, 0.0, 0.2]", 0.0, &format!("e = 0.5\n{mu}"));
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-9);
        run.look();
        let before = balance(&run);
        run.go(2.0);
        let (rest, energy) = (run.vector("slab.r"), run.value("system.energy"));
        assert_eq!(run.values(["feet.resting"]), [4.0], "{formulation:?} {mu}");
        run.go(102.0);
        let drift = (run.vector("slab.r") - rest).norm();
        let weight = (run.vector("feet.force") - grapple::algebra::Vec3::z() * 2.0 * GRAVITY).norm();
        let moment = run.vector("feet.moment").norm();
        let gained = run.value("system.energy") - energy;
        let height = (run.value("slab.r[3]") - 0.1).abs();
        println!(
            "{formulation:?} {mu}: drift {drift:.1e} m, height off by {height:.1e} m, weight by {weight:.1e} N, moment \
             {moment:.1e} N·m, energy {gained:.1e} J, balance {:.1e} J, impacts {}, {}",
            balance(&run) - before,
            run.value("feet.count"),
            run.simulation.statistics()
        );
        assert!(drift < 1e-9 && height < 2e-9 && gained.abs() < 1e-9);
        assert!(weight < 1e-6 && moment < 1e-6);
        assert!((balance(&run) - before).abs() < 1e-8);
    }
}

/// Runs from the start for steps of `h` (s), and returns the largest increase of the energy in one, J.
fn growth_of_energy(run: &mut Run, steps: i32, h: f64) -> f64 {
    let (mut energy, mut grown) = (run.value("system.energy"), 0.0_f64);
    for k in 1..=steps {
        run.go(h * f64::from(k));
        let now = run.value("system.energy");
        grown = grown.larger(now - energy);
        energy = now;
    }
    grown
}

/// A box that lands on a corner tumbles, slides and comes to rest on a face; its energy never grows.
#[test]
fn tilted_box_lands_tips_and_rests() {
    let start = "position = [0.0, 0.0, 0.5], rpy_deg = [25.0, 35.0, 10.0], velocity = [0.5, 0.2, 0.0]";
    let mut run = Run::new(&block(start, 0.0, "e = 0.3\nmu = 0.4"), 1e-9);
    run.look();
    let before = balance(&run);
    let grown = growth_of_energy(&mut run, 500, 0.01);
    let [resting, count, height] = run.values(["feet.resting", "feet.count", "slab.r[3]"]);
    let rest = run.vector("slab.r");
    run.go(105.0);
    let drift = (run.vector("slab.r") - rest).norm();
    println!(
        "{count} impacts, {resting} points, height {height}, energy grows by {grown:.1e} J, balance {:.1e} J, drift {drift:.1e} m",
        balance(&run) - before
    );
    assert_eq!(resting, 4.0);
    assert!(
        [0.1, 0.15, 0.2].iter().any(|half| (height - half).abs() < 1e-8),
        "{height}"
    );
    assert!(grown < 1e-8 && drift < 1e-8 && (balance(&run) - before).abs() < 1e-6);
}

/// On an incline the block sticks below the angle atan μ and slides at g (sin − μ cos) above it; a
/// block that is pushed down a gentle incline stops as with constant deceleration.
#[test]
fn block_on_an_incline_sticks_slides_and_stops() {
    let mu: f64 = 0.3;
    let contact = format!("e = 0.0\nmu = {mu}");
    let limit = mu.atan();
    for angle in [0.0, 0.5 * limit, limit - 1e-3] {
        let mut run = Run::new(&block("position = [0.0, 0.0, 0.1]", angle, &contact), 1e-9);
        run.go(100.0);
        let moved = (run.vector("slab.r") - grapple::algebra::Vec3::new(0.0, 0.0, 0.1)).norm();
        let [resting, sliding] = run.values(["feet.resting", "feet.sliding"]);
        println!("{angle:.4} rad: moved {moved:.1e} m in 100 s, {resting} points, {sliding} slide");
        assert!(moved < 1e-9 && resting == 4.0);
    }
    for angle in [limit + 1e-3, 0.5] {
        let mut run = Run::new(&block("position = [0.0, 0.0, 0.1]", angle, &contact), 1e-10);
        run.look();
        let before = balance(&run);
        run.go(2.0);
        let a = GRAVITY * (angle.sin() - mu * angle.cos());
        let off = (run.value("slab.r[1]") - 2.0 * a)
            .abs()
            .larger((run.value("slab.v[1]") - 2.0 * a).abs());
        let lost = balance(&run) - before;
        println!("{angle:.4} rad: slides within {off:.1e} m, balance {lost:.1e} J");
        assert!(off < 1e-8 && lost.abs() < 1e-8 && run.value("feet.sliding") == 4.0);
    }
    let angle = 0.1_f64;
    let start = "position = [0.0, 0.0, 0.1], velocity = [1.0, 0.0, 0.0]";
    let mut run = Run::new(&block(start, angle, &contact), 1e-10);
    let a = GRAVITY * (mu * angle.cos() - angle.sin());
    run.go(1.0 / a + 10.0);
    let off = (run.value("slab.r[1]") - 0.5 / a).abs();
    println!("stops within {off:.1e} m, at {:.1e} m/s", run.value("slab.v[1]"));
    assert!(off < 1e-7 && run.value("slab.v[1]").abs() < 1e-9 && run.value("feet.resting") == 4.0);
    assert_eq!(run.value("feet.sliding"), 0.0);
}

/// A box that lands flat and slides, in short steps: once it has stopped, all its points stick. A point
/// that kept sliding while the others stick would not stop, because they hold it.
#[test]
fn points_of_a_box_that_slides_stick_together_when_it_stops() {
    let contact = "e = 0.0\nmu = 0.5";
    let still_sliding = (0..30).filter(|k| {
        let speed = 0.6 + 0.013 * f64::from(*k);
        let start = format!("position = [0.0, 0.0, 0.1], velocity = [{speed}, 0.0, 0.0]");
        let mut run = Run::new(&block(&start, 0.0, contact), 1e-4);
        (1..=130).for_each(|k| {
            run.go(0.002 * f64::from(k));
        });
        assert_eq!(run.value("feet.resting"), 4.0);
        run.value("feet.sliding") != 0.0
    });
    assert_eq!(still_sliding.count(), 0, "of 30 starts");
}

/// So do the feet of a sled, each with a contact of its own.
#[test]
fn feet_of_a_sled_stick_together_when_it_stops() {
    let mut text = format!("name = \"sled\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n");
    for (k, [x, y]) in [[0.2, 0.1], [0.2, -0.1], [-0.15, 0.02]].into_iter().enumerate() {
        text += &format!(
            "[frame.foot_{k}]\nbody = \"sled\"\norigin = [{x}, {y}, -0.05]\n[contact.feet_{k}]\na = \"foot_{k}\"\nb = \"world\"\n\
             shape_a = {{ type = \"sphere\", radius = 0.05 }}\nshape_b = {{ type = \"plane\" }}\ne = 0.0\nmu = 0.5\nrest = 0.01\n"
        );
    }
    for k in 0..15 {
        let (speed, spin) = (0.6 + 0.013 * f64::from(k), 0.2 * f64::from(k % 3));
        let body = format!(
            "[body.sled]\nmass = 2.0\ninertia = [0.02, 0.03, 0.04]\n\
             start = {{ position = [0.0, 0.0, 0.1], velocity = [{speed}, 0.0, 0.0], angular_velocity = [0.0, 0.0, {spin}] }}\n"
        );
        let mut run = Run::new(&format!("{text}{body}"), 1e-4);
        (1..=130).for_each(|k| {
            run.go(0.002 * f64::from(k));
        });
        assert_eq!(
            run.values(["feet_0.sliding", "feet_1.sliding", "feet_2.sliding"]),
            [0.0; 3]
        );
    }
}

/// An upright box with a push about its lower edge tips over it as a compound pendulum: its energy
/// is conserved, and it lands with the closed form's rate.
#[test]
fn box_tips_over_its_edge_as_a_compound_pendulum() {
    // Half width b = 0.1 m (along x) and half height h = 0.3 m; J is about the centre.
    let (b, h, m) = (0.1_f64, 0.3_f64, 3.0);
    let J = m / 3.0 * ((2.0 * b).powi(2) + (2.0 * h).powi(2)) / 4.0;
    let J_edge = J + m * (b * b + h * h);
    let rate = 2.2_f64;
    let text = format!(
        "name = \"tips\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n[body.crate]\nmass = {m}\n\
         inertia = [1.0, {J}, 1.0]\nstart = {{ position = [0.0, 0.0, {h}], velocity = [{}, 0.0, {}], angular_velocity = [0.0, {rate}, 0.0] }}\n\
         [contact.feet]\na = \"crate\"\nb = \"world\"\nshape_a = {{ type = \"box\", size = [{}, 0.4, {}] }}\n\
         shape_b = {{ type = \"plane\" }}\nrest = 0.01\ne = 0.0\nmu = 2.0\n",
        // The edge at (b, −h) from the centre has no velocity.
        rate * h,
        rate * b,
        2.0 * b,
        2.0 * h
    );
    let mut run = Run::new(&text, 1e-11);
    run.look();
    let before = balance(&run);
    let mut worst = 0.0_f64;
    for k in 1..=8 {
        run.go(0.05 * f64::from(k));
        let [x, z, w] = run.values(["crate.r[1]", "crate.r[3]", "crate.w[2]"]);
        let radius = ((x - b).powi(2) + z * z).sqrt();
        let expected = (rate * rate + 2.0 * m * GRAVITY * (h - z) / J_edge).sqrt();
        worst = worst
            .larger((radius - (b * b + h * h).sqrt()).abs())
            .larger((w - expected).abs());
    }
    println!("pendulum within {worst:.1e}, balance {:.1e} J", balance(&run) - before);
    assert!(worst < 1e-8 && (balance(&run) - before).abs() < 1e-9);
    run.go(3.0);
    assert!((run.value("crate.r[3]") - b).abs() < 1e-8 && run.value("feet.resting") == 4.0);
}

/// A ball that starts sliding rolls at 5/7 of its speed, a hollow capsule with its mass on the radius
/// at 1/2, a solid one at 2/3, from the time `(1 − part) v/(μ g)` on.
#[test]
fn sliding_ball_and_capsules_roll_at_the_closed_form_speed() {
    let shapes = [
        ("surface = \"plane\"\nradius_a = 0.1", 0.4, 5.0 / 7.0),
        (
            "shape_a = { type = \"capsule\", radius = 0.1, length = 0.3 }\nshape_b = { type = \"plane\" }",
            0.5,
            2.0 / 3.0,
        ),
        (
            "shape_a = { type = \"capsule\", radius = 0.1, length = 0.3 }\nshape_b = { type = \"plane\" }",
            1.0,
            0.5,
        ),
    ];
    for (shape, gyration, part) in shapes {
        let J = gyration * 0.01 * 2.0;
        // The axis of the capsule is along y.
        let text = format!(
            "name = \"roll\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n[body.ball]\nmass = 2.0\n\
             inertia = [{J}, {J}, {J}]\nstart = {{ position = [0.0, 0.0, 0.1], velocity = [1.0, 0.0, 0.0] }}\n\
             [frame.axis]\nbody = \"ball\"\nrpy_deg = [90.0, 0.0, 0.0]\n\
             [contact.floor]\na = \"axis\"\nb = \"world\"\n{shape}\nrest = 0.01\ne = 0.0\nmu = 0.3\n"
        );
        let mut run = Run::new(&text, 1e-10);
        run.look();
        let before = balance(&run);
        let (a, t_roll) = (0.3 * GRAVITY, (1.0 - part) / (0.3 * GRAVITY));
        run.go(10.0);
        let expected = t_roll - 0.5 * a * t_roll * t_roll + part * (10.0 - t_roll);
        let off = (run.value("ball.r[1]") - expected).abs();
        let speed = (run.value("ball.v[1]") - part).abs();
        let slip = (run.value("ball.w[2]") * 0.1 - run.value("ball.v[1]")).abs();
        println!(
            "rolls at {part:.3} within {speed:.1e} m/s, at its place within {off:.1e} m, slip {slip:.1e} m/s, balance {:.1e} J",
            balance(&run) - before
        );
        assert!(speed < 1e-8 && off < 1e-7 && slip < 1e-8 && (balance(&run) - before).abs() < 1e-8);
        assert_eq!(run.value("floor.sliding"), 0.0);
    }
}

/// Returns three boxes, one on the other, with these gaps (m) between them and the floor at the start.
fn stack(gap: f64) -> String {
    let mut text = format!("name = \"stack\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n");
    for k in 0..3 {
        let (m, below) = (2.0 - 0.5 * f64::from(k), ["world", "top_0", "top_1"][k as usize]);
        text += &format!(
            "[body.box_{k}]\nmass = {m}\ninertia = [0.02, 0.03, 0.04]\nstart = {{ position = [{}, 0.0, {}] }}\n\
             [frame.top_{k}]\nbody = \"box_{k}\"\norigin = [0.0, 0.0, 0.1]\n\
             [contact.on_{k}]\na = \"box_{k}\"\nb = \"{below}\"\nshape_a = {{ type = \"box\", size = [0.4, 0.3, 0.2] }}\n\
             shape_b = {{ type = \"plane\" }}\nrest = 0.01\ne = 0.2\nmu = 0.5\n",
            0.02 * f64::from(k),
            0.1 + 0.2 * f64::from(k) + gap * f64::from(k + 1)
        );
    }
    text
}

/// Three boxes on each other rest for 100 s; each contact carries the weight above it.
#[test]
fn stack_of_three_boxes_rests_for_100_s_without_drift() {
    let mut run = Run::new(&stack(0.0), 1e-9);
    run.look();
    let before = balance(&run);
    run.go(2.0);
    let at = |run: &Run| [0, 1, 2].map(|k| run.vector(&format!("box_{k}.r")));
    let rest = at(&run);
    run.go(102.0);
    let drift = at(&run)
        .iter()
        .zip(&rest)
        .fold(0.0, |most: f64, (a, b)| most.larger((a - b).norm()));
    let weights = [4.5, 2.5, 1.0].map(|m| m * GRAVITY);
    let off = (0..3).fold(0.0, |most: f64, k| {
        most.larger((run.value(&format!("on_{k}.force[3]")) - weights[k]).abs())
    });
    println!(
        "drift {drift:.1e} m, forces within {off:.1e} N, balance {:.1e} J, {}",
        balance(&run) - before,
        run.simulation.statistics()
    );
    assert!(drift < 1e-9 && off < 1e-6 && (balance(&run) - before).abs() < 1e-7);
}

/// Three boxes that fall on each other, 10 mm apart, collide, come to rest and stay there for 100 s;
/// their energy never grows.
#[test]
fn boxes_that_fall_on_each_other_come_to_rest_as_a_stack() {
    let mut run = Run::new(&stack(0.01), 1e-9);
    run.look();
    let before = balance(&run);
    let grown = growth_of_energy(&mut run, 400, 0.005);
    let at = |run: &Run| [0, 1, 2].map(|k| run.vector(&format!("box_{k}.r")));
    let rest = at(&run);
    run.go(102.0);
    let drift = at(&run)
        .iter()
        .zip(&rest)
        .fold(0.0, |most: f64, (a, b)| most.larger((a - b).norm()));
    let height = (0..3).fold(0.0, |most: f64, k| {
        most.larger((run.value(&format!("box_{k}.r[3]")) - 0.1 - 0.2 * f64::from(k)).abs())
    });
    let [points, sliding] = [0, 1, 2].iter().fold([0.0; 2], |[points, sliding], k| {
        let on = |field: &str| run.value(&format!("on_{k}.{field}"));
        [points + on("resting"), sliding + on("sliding")]
    });
    println!(
        "energy grows by {grown:.1e} J, drift {drift:.1e} m, heights within {height:.1e} m, balance {:.1e} J, \
         {points} points, {sliding} slide, {}",
        balance(&run) - before,
        run.simulation.statistics()
    );
    assert!(grown < 1e-8 && drift < 1e-9 && height < 1e-8 && (balance(&run) - before).abs() < 1e-6);
    assert!(points >= 9.0 && sliding == 0.0);
}

/// A rod that slides with much friction is pressed into the floor by it, whatever the force: the run
/// ends with the names (P. Painlevé 1895).
#[test]
fn painleves_rod_is_reported_with_its_names() {
    let half = 0.5_f64;
    let angle = 1.0_f64;
    let text = format!(
        "name = \"rod\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n[body.rod]\nmass = 1.0\n\
         inertia = [{J}, {J}, 1e-3]\nstart = {{ position = [0.0, 0.0, {z}], velocity = [-1.0, 0.0, 0.0] }}\n\
         [frame.tip]\nbody = \"rod\"\norigin = [{x}, 0.0, -{z}]\n\
         [contact.floor]\na = \"tip\"\nb = \"world\"\nsurface = \"plane\"\nrest = 0.01\ne = 0.0\nmu = 3.0\n",
        J = half * half / 3.0,
        z = half * angle.sin(),
        x = half * angle.cos(),
    );
    let names = |error: &Error| matches!(error, Error::Jammed { contact, frames, .. } if contact == "floor" && frames[0] == "tip");
    let run = |v: &str| {
        let mut simulation = Simulation::new(crate::plant(&text.replace("-1.0, 0.0, 0.0", v)))?;
        simulation.initialise(0.0, Some(1e-9), 1e12)?;
        simulation.advance(0.01, &mut Vec::new()).map(|_| ())
    };
    let results = ["-1.0, 0.0, 0.0", "1.0, 0.0, 0.0"].map(run);
    println!("{results:?}");
    let jammed = results
        .iter()
        .filter(|result| result.as_ref().is_err_and(names))
        .count();
    assert_eq!(jammed, 1, "in one direction of sliding");
}

/// Returns the largest differences of duals from differences of second order, and of adjoints from
/// duals, of derivatives and outputs at the present state, relative to 1 and their size.
pub fn derivative_errors(run: &Run) -> [f64; 2] {
    let state = &run.simulation.state;
    let at = OperatingPoint::new(state.t, &state.x, &state.u, &state.discrete);
    let model = run.model();
    let plant = &run.simulation.plant;
    let mut tangent = Tangent::<LANES>::new(&model);
    let mut jacobians = Jacobians::new(&model);
    tangent.jacobians(plant, at, &mut jacobians).expect("regular");
    // The gap of a face that lies flat is that of its deepest corner; scales of momenta are norms,
    // at rest of zero.
    let kinks = [".gap", "system.momentum_scale", "system.angular_momentum_scale"];
    let is_kink = |name: &str| kinks.iter().any(|kink| name.ends_with(kink));
    // The contact's direction of sliding varies slowly.
    let (nx, ny) = (model.states.len(), model.outputs.len());
    let mut worst = 0.0_f64;
    let mut differing = plant.clone();
    for k in 0..nx {
        let mut ends = [-1.0, 1.0].map(|sign| {
            let mut x = state.x.clone();
            x[k] += sign * 1e-6;
            let mut values = (vec![0.0; nx], vec![0.0; ny]);
            let at = OperatingPoint::new(state.t, &x, &state.u, &state.discrete);
            differing.evaluate(at, &mut values.0, &mut values.1).expect("regular");
            values
        });
        let [(before, y_before), (after, y_after)] = &mut ends;
        for i in 0..nx {
            let slope = (after[i] - before[i]) / 2e-6;
            worst = worst.larger((jacobians.A[(i, k)] - slope).abs() / (1.0 + slope.abs()));
        }
        for i in (0..ny).filter(|&i| !is_kink(&model.outputs[i].quantity.name)) {
            let slope = (y_after[i] - y_before[i]) / 2e-6;
            worst = worst.larger((jacobians.C[(i, k)] - slope).abs() / (1.0 + slope.abs()));
        }
    }
    let mut adjoint = Adjoint::new(&model);
    let seeds: Vec<f64> = (0..nx + ny).map(|i| (1.7 * i as f64).sin()).collect();
    let (mut x_bar, mut u_bar) = (vec![0.0; nx], vec![0.0; model.inputs.len()]);
    let seeded = Seeds {
        dx: &seeds[..nx],
        y: &seeds[nx..],
    };
    adjoint
        .evaluate(plant, at, seeded, &mut x_bar, &mut u_bar)
        .expect("regular");
    let mut off = 0.0_f64;
    for (k, x_bar) in x_bar.iter().enumerate() {
        let sum: f64 = (0..nx).map(|i| seeds[i] * jacobians.A[(i, k)]).sum::<f64>()
            + (0..ny).map(|i| seeds[nx + i] * jacobians.C[(i, k)]).sum::<f64>();
        off = off.larger((sum - x_bar).abs() / (1.0 + sum.abs()));
    }
    [worst, off]
}

/// Dual numbers, differences and adjoints agree while points stick and slide, and a restored state
/// continues with the same bits.
#[test]
fn derivatives_and_restored_states_of_resting_contacts_are_exact() {
    let contact = "e = 0.0\nmu = 0.3";
    let spins = "position = [0.0, 0.0, 0.1], velocity = [1.0, 0.3, 0.0], angular_velocity = [0.0, 0.0, 2.0]";
    for (start, angle, sliding) in [("position = [0.0, 0.0, 0.1]", 0.2, 0.0), (spins, 0.1, 4.0)] {
        let mut run = Run::new(&block(start, angle, contact), 1e-9);
        run.go(0.05);
        assert_eq!(run.value("feet.sliding"), sliding);
        let state = run.simulation.state.clone();
        let [worst, off] = derivative_errors(&run);
        println!("{sliding} slide: duals within {worst:.1e} of differences, adjoints within {off:.1e} of duals");
        assert!(worst < 1e-6 && off < 1e-9);
        let end = run.go(1.5).simulation.state.x.clone();
        run.simulation.state = state;
        run.simulation.invalidate();
        run.go(1.5);
        assert_eq!(run.simulation.state.x, end, "the same bits");
    }
}

/// A ball and a box that forces press on a flexible panel of 500 m in free fall, near its tip and at
/// its middle, rest on it for 100 s while it vibrates; momentum is conserved, as the panel's seats
/// have the reverse of the forces.
#[test]
fn ball_and_box_rest_on_a_vibrating_panel_of_500_m() {
    let mut text = "name = \"panel\"\n[body.hub]\nmass = 5e4\ninertia = [1e4, 1e4, 1e4]\n\
         [body.panel.beam]\nlength = 500.0\nmass_per_length = 2.0\npolar_inertia_per_length = 0.1\nEI = 1.5e8\nbending = 2\n\
         damping_ratio = 0.005\n[joint.root]\ntype = \"fixed\"\nparent = \"hub\"\nchild = \"panel\"\n\
         [frame.tip]\nbody = \"panel\"\norigin = [500.0, 0.0, 0.0]\n[port.at_tip]\nframe = \"tip\"\n[port.at_hub]\nframe = \"hub\"\n"
        .to_owned();
    let shapes = [
        ("ball", 480.0, 0.1, "surface = \"plane\"\nradius_a = 0.1"),
        (
            "box",
            250.0,
            0.05,
            "shape_a = { type = \"box\", size = [0.2, 0.2, 0.1] }\nshape_b = { type = \"plane\" }",
        ),
    ];
    for (name, x, height, shape) in shapes {
        text += &format!(
            "[body.{name}]\nmass = 0.5\ninertia = [0.002, 0.002, 0.002]\nstart = {{ position = [{x}, 0.0, {height}] }}\n\
             [port.push_{name}]\nframe = \"{name}\"\n[frame.seat_{name}]\nbody = \"panel\"\norigin = [{x}, 0.0, 0.0]\n\
             [port.against_{name}]\nframe = \"seat_{name}\"\n\
             [contact.on_{name}]\na = \"{name}\"\nb = \"seat_{name}\"\n{shape}\nrest = 0.01\ne = 0.0\nmu = 0.4\n"
        );
    }
    let mut run = Run::new(&text, 1e-8);
    for name in ["ball", "box"] {
        run.set(&format!("push_{name}.f[3]"), -0.5);
        run.set(&format!("against_{name}.f[3]"), 0.5);
    }
    // Forces without a resultant make the panel vibrate.
    let shake = [("at_tip.f[3]", 0.5), ("at_hub.f[3]", -0.5), ("at_hub.t[2]", 250.0)];
    shake.iter().for_each(|(name, value)| run.set(name, *value));
    run.go(5.0);
    shake.iter().for_each(|(name, _)| run.set(name, 0.0));
    let (mut gap, mut bend) = (0.0_f64, [f64::INFINITY, f64::NEG_INFINITY]);
    for k in 1..=100 {
        run.go(5.0 + f64::from(k));
        for name in ["ball", "box"] {
            gap = gap.larger(run.value(&format!("on_{name}.gap")).abs());
            assert!(run.value(&format!("on_{name}.resting")) >= 1.0, "{name} at {k} s");
        }
        let now = run.value("panel.eta[3]");
        bend = [bend[0].min(now), bend[1].larger(now)];
    }
    let drift = run.vector("system.momentum").norm();
    let [ball, boxes] = run.values(["on_ball.resting", "on_box.resting"]);
    let force = run.value("on_box.force[3]");
    let statistics = run.simulation.statistics();
    println!(
        "gap {gap:.1e} m, momentum {drift:.1e} N·s, {ball} and {boxes} points, force {force} N, bends by {bend:?}, {statistics}"
    );
    assert!(gap < 1e-6 && drift < 1e-8 && ball == 1.0 && boxes >= 3.0);
    assert!(statistics.events < 100);
}

/// Contacts that cannot rest are rejected with their names.
#[test]
fn contacts_that_cannot_rest_are_rejected() {
    let read = |contact: &str| {
        let text = format!(
            "name = \"x\"\n[body.a]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [0.0, 0.0, 1.0] }}\n[contact.c]\na = \"a\"\nb = \"world\"\n{contact}\n"
        );
        match Model::read(&text, Path::new(".")) {
            Err(Error::Spec(problems)) => problems.into_iter().map(|problem| problem.at.join(".")).collect(),
            Err(error) => panic!("{error}"),
            Ok(_) => Vec::new(),
        }
    };
    let plane = "surface = \"plane\"\ne = 0.1\n";
    assert_eq!(read(&format!("{plane}rest = 0.01")), Vec::<String>::new());
    assert_eq!(read(&format!("{plane}rest = 0.0")), ["contact.c.rest"]);
    assert_eq!(read(&format!("{plane}rest = 0.01\ne_t = 0.5")), ["contact.c.e_t"]);
    assert_eq!(
        read(&format!("{plane}rest = 0.01\nlaw = \"stronge\"")),
        ["contact.c.rest"]
    );
    assert_eq!(read("e = 0.1\nrest = 0.01"), ["contact.c.rest"]);
    assert_eq!(
        read("e = 0.1\nrest = 0.01\nsurface = \"disc\"\nradius_b = 1.0"),
        ["contact.c.rest"]
    );
    let shapes = |a: &str, b: &str| {
        format!(
            "e = 0.1\nrest = 0.01\nshape_a = {{ type = \"{a}\", radius = 0.2, length = 0.1 }}\nshape_b = {{ type = {b} }}"
        )
    };
    assert_eq!(read(&shapes("cone", "\"plane\"")), Vec::<String>::new());
    let block = "\"box\", size = [1.0, 1.0, 1.0]";
    assert_eq!(read(&shapes("cylinder", block)), ["contact.c.rest"]);
    let many: Vec<String> = (0..65)
        .map(|k| f64::from(k) * 0.09)
        .map(|angle| format!("[{}, {}, {}]", angle.cos(), angle.sin(), 0.1 * (17.0 * angle).sin()))
        .collect();
    let mesh = format!(
        "e = 0.1\nrest = 0.01\nshape_a = {{ type = \"mesh\", vertices = [{}] }}\nshape_b = {{ type = \"plane\" }}",
        many.join(", ")
    );
    assert_eq!(read(&mesh), ["contact.c.rest"]);
}
