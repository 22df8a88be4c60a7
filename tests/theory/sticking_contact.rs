//! Compliant contacts whose surfaces stick: friction without regularisation.

use crate::numbers::Larger;
use crate::rest::derivative_errors;
use crate::run::Run;
use grapple::Error;
use grapple::algebra::Vec3;
use grapple::plant::Model;
use grapple::spec::Formulation;
use std::path::Path;

const GRAVITY: f64 = 9.81;
const MU: f64 = 0.3;
/// Mass of the slider, kg, and the force that presses it on the floor, N.
const MASS: f64 = 2.0;
const PRESSED: f64 = 20.0;

/// Returns a slider that prismatic joints let move along x and z, without gravity. A port presses it on
/// the floor, at the depth at which it is in equilibrium.
fn slider(speed: f64, slip: f64, more: &str) -> String {
    format!(
        "name = \"slider\"\n[body.carriage]\nmass = 0.5\ninertia = [1.0, 1.0, 1.0]\n\
         [joint.x]\ntype = \"prismatic\"\naxis = [1.0, 0.0, 0.0]\nparent = \"world\"\nchild = \"carriage\"\nstart = {{ rate = {speed:?} }}\n\
         [body.slider]\nmass = {}\ninertia = [1.0, 1.0, 1.0]\n\
         [joint.z]\ntype = \"prismatic\"\naxis = [0.0, 0.0, 1.0]\nparent = \"carriage\"\nchild = \"slider\"\nstart = {{ position = {:?} }}\n\
         [port.push]\nframe = \"slider\"\nimpulse = true\n\
         [signal.\"push.f[3]\"]\ntype = \"constant\"\namplitude = -{PRESSED}\nfrom_importer = false\n\
         [contact.floor]\na = \"slider\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.1\nlaw = \"compliant\"\n\
         force = 100.0\ndepth = 0.001\ndissipation = 0.5\nmu = {MU}\nslip = {slip:?}\n{more}",
        MASS - 0.5,
        0.1 - depth(PRESSED),
    )
}

/// Returns the penetration of the contacts of this file at a normal force (N), m.
fn depth(force: f64) -> f64 {
    1e-3 * (force / 100.0).powf(2.0 / 3.0)
}

fn balance(run: &Run) -> f64 {
    run.value("system.energy") - run.value("system.work")
}

/// A load of half the friction limit for 100 s does not move the slider; with a slip speed it creeps
/// at `u_s/√3`.
#[test]
fn load_below_the_limit_moves_nothing_in_100_s() {
    let load = 0.5 * MU * PRESSED;
    for formulation in Formulation::ALL {
        let mut run = Run::of(
            crate::plant_in(formulation, &slider(0.0, 0.0, ""), Path::new(".")),
            1e-9,
        );
        run.set("push.f[1]", load);
        run.go(100.0);
        let [moved, sticks, friction] = run.values(["x.q", "floor.sticks", "floor.force[1]"]);
        println!(
            "{formulation:?}: moved by {moved:.1e} m, friction off by {:.1e} N, {}",
            friction + load,
            run.simulation.statistics()
        );
        // Zero, but for round-off of the constraint.
        assert!(moved.abs() < 1e-14 && sticks == 1.0 && (friction + load).abs() < 1e-12);
    }
    let mut run = Run::new(&slider(0.0, 1e-4, ""), 1e-9);
    run.set("push.f[1]", load);
    run.go(100.0);
    let creep = run.value("x.q") / 100.0 * 3.0_f64.sqrt() / 1e-4 - 1.0;
    println!("with a slip of 1e-4 m/s it creeps at u_s/√3 ({creep:.1e})");
    // It accelerates for m u_s/(μ N), 1e-6 of the time.
    assert!(creep.abs() < 1e-5);
}

/// A load that grows at 1 N/s moves the slider as soon as it exceeds μ N, at once with the law of
/// sliding, `m x = r (t − t₀)³/6`; while the load decreases again, the slider stops and sticks.
#[test]
fn growing_load_moves_the_slider_at_the_closed_form_instant() {
    let ramp = "[signal.\"push.f[1]\"]\ntype = \"table\"\ntimes = [0.0, 10.0, 20.0]\nvalues = [0.0, 10.0, 0.0]\n\
                interpolation = \"linear\"\nfrom_importer = false\n";
    let t_0 = MU * PRESSED;
    for formulation in Formulation::ALL {
        let text = slider(0.0, 0.0, ramp);
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        run.look();
        let before = balance(&run);
        // The limit of 6 N is exceeded by 1e-9 of the force of 100 N.
        run.go(t_0);
        assert_eq!(run.value("floor.sticks"), 1.0);
        run.go(t_0 + 2e-7);
        assert_eq!(run.value("floor.sticks"), 0.0);
        run.go(10.0);
        let slid = 10.0 - t_0;
        let (x, v) = (slid.powi(3) / (6.0 * MASS), slid * slid / (2.0 * MASS));
        let mut off = [run.value("x.q") - x, run.value("x.qd") - v].map(f64::abs);
        // v + (4 τ − τ²/2)/m = 0.
        let stops = slid + (slid * slid + 2.0 * MASS * v).sqrt();
        run.go(10.0 + stops - 1e-6);
        assert_eq!(run.value("floor.sticks"), 0.0);
        run.go(19.9);
        let end = x + v * stops + (0.5 * slid * stops * stops - stops.powi(3) / 6.0) / MASS;
        off[0] = off[0].larger((run.value("x.q") - end).abs());
        off[1] = off[1].larger(run.value("x.qd").abs());
        let lost = (balance(&run) - before).abs();
        println!(
            "{formulation:?}: off by {:.1e} m, {:.1e} m/s, balance {lost:.1e} J, {}",
            off[0],
            off[1],
            run.simulation.statistics()
        );
        assert!(off[0] < 1e-6 && off[1] < 1e-7 && lost < 1e-6);
        assert_eq!(run.value("floor.sticks"), 1.0);
    }
}

/// A slider with an initial speed, and one that receives an impulse while it sticks, stop after
/// `m v²/(2 μ N)`, and stay there.
#[test]
fn moving_slider_stops_at_the_closed_form_distance() {
    let a = MU * PRESSED / MASS;
    for (formulation, by_impulse) in Formulation::ALL.into_iter().flat_map(|of| [(of, false), (of, true)]) {
        let v = 1.5;
        let text = slider(if by_impulse { 0.0 } else { v }, 0.0, "");
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        if by_impulse {
            run.go(1.0);
            assert_eq!(run.value("floor.sticks"), 1.0);
            run.set("push.impulse[1]", MASS * v);
            run.set("push.impact", 1.0);
            run.go(1.0 + 1e-9);
            // Friction is finite, and transmits no impulse.
            assert!((run.value("x.qd") - v).abs() < 1e-8);
        }
        let began = run.simulation.state.t;
        run.go(began + 0.5 * v / a);
        let half = (run.value("x.qd") - 0.5 * v).abs();
        assert_eq!(run.value("floor.sticks"), 0.0);
        run.go(began + v / a + 10.0);
        let off = (run.value("x.q") - v * v / (2.0 * a)).abs();
        let speed = run.value("x.qd").abs();
        println!(
            "{formulation:?} {by_impulse}: half speed within {half:.1e} m/s, stops within {off:.1e} m, at {speed:.1e} m/s"
        );
        assert!(half < 1e-8 && off < 1e-8 && speed < 1e-15);
        assert_eq!(run.value("floor.sticks"), 1.0);
    }
}

/// A ball that starts sliding at v rolls at `v J/(J + m l²)` from the time `v/(μ g (1 + m l²/J))` on,
/// with the distance l of the plane from its centre; 5/7 v for l = r. It rolls without friction.
#[test]
fn sliding_ball_rolls_from_the_closed_form_instant_on() {
    let (m, r, v) = (2.0, 0.1, 1.0);
    let J = 0.4 * m * r * r;
    let l = r - depth(m * GRAVITY);
    let text = format!(
        "name = \"roll\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n[body.ball]\nmass = {m}\n\
         inertia = [{J}, {J}, {J}]\nstart = {{ position = [0.0, 0.0, {l:?}], velocity = [0.6, 0.8, 0.0] }}\n\
         [contact.floor]\na = \"ball\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = {r}\nlaw = \"compliant\"\n\
         force = 100.0\ndepth = 0.001\ndissipation = 10.0\nmu = {MU}\nslip = 0.0\n"
    );
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        run.look();
        let before = balance(&run);
        let a = MU * GRAVITY;
        let t_roll = v / (a * (1.0 + m * l * l / J));
        run.go(t_roll - 1e-6);
        assert_eq!(run.value("floor.sticks"), 0.0);
        run.go(t_roll + 1e-6);
        assert_eq!(run.value("floor.sticks"), 1.0);
        let part = v - a * t_roll;
        assert!((part - 5.0 / 7.0).abs() < 5e-3 && (t_roll - 2.0 * v / (7.0 * a)).abs() < 5e-3);
        run.go(3.0);
        let expected = v * t_roll - 0.5 * a * t_roll * t_roll + part * (3.0 - t_roll);
        let place = (run.vector("ball.r") - Vec3::new(0.6, 0.8, 0.0) * expected - Vec3::z() * l).norm();
        let speed = (run.vector("ball.v").norm() - part).abs();
        let slip = (run.value("ball.w[2]") * l - run.value("ball.v[1]")).abs();
        let friction = run.value("floor.force[1]").hypot(run.value("floor.force[2]"));
        let lost = (balance(&run) - before).abs();
        println!(
            "{formulation:?}: speed within {speed:.1e} m/s, place {place:.1e} m, slip {slip:.1e} m/s, friction {friction:.1e} N, \
             balance {lost:.1e} J, {}",
            run.simulation.statistics()
        );
        assert!(speed < 1e-8 && place < 1e-8 && slip < 1e-9 && friction < 1e-8 && lost < 1e-8);
    }
}

/// A ball that falls with spin and bounces slides and sticks; its energy never grows, and its loss is
/// the work of friction and damper.
#[test]
fn energy_of_a_bouncing_ball_with_spin_never_grows() {
    let text = format!(
        "name = \"bounce\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n[body.ball]\nmass = 2.0\n\
         inertia = [0.008, 0.008, 0.008]\n\
         start = {{ position = [0.0, 0.0, 0.3], velocity = [0.4, -0.2, 0.0], angular_velocity = [3.0, 9.0, 2.0] }}\n\
         [contact.floor]\na = \"ball\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.1\nlaw = \"compliant\"\n\
         force = 100.0\ndepth = 0.0001\ndissipation = 0.3\nmu = {MU}\nslip = 0.0\n"
    );
    let mut run = Run::new(&text, 1e-12);
    run.look();
    let before = balance(&run);
    let mut energy = run.value("system.energy");
    let (mut grown, mut stuck, mut slid, mut flew) = (0.0_f64, 0, 0, 0);
    for k in 1..=20_000 {
        run.go(1e-4 * f64::from(k));
        let now = run.value("system.energy");
        grown = grown.larger(now - energy);
        energy = now;
        match (run.value("floor.sticks") == 1.0, run.value("floor.gap") < 0.0) {
            (true, _) => stuck += 1,
            (false, true) => slid += 1,
            (false, false) => flew += 1,
        }
    }
    let lost = (balance(&run) - before).abs();
    println!(
        "energy grows by {grown:.1e} J, balance {lost:.1e} J; sticks {stuck}, slides {slid}, flies {flew} of 20,000"
    );
    assert!(grown < 1e-9 && lost < 1e-7 && stuck > 10 && slid > 10 && flew > 100);
}

/// Returns a crate of 2 kg on four feet, round at their ends, pressed on a free deck of 3 kg by a
/// spring; the crate has the velocity `slides` (m/s) along the deck in excess. Both bodies turn at `w`
/// (rad/s) about the origin.
fn crate_on_deck(slides: f64, w: [f64; 3]) -> String {
    // The spring pulls with 40 N.
    let height = 0.15 - 1e-4;
    let (r, w) = (Vec3::new(0.02, 0.01, height), Vec3::from(w));
    let v = w.cross(&r) + Vec3::x() * slides;
    let start = |r: Vec3<f64>, v: Vec3<f64>| {
        let numbers = |v: Vec3<f64>| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
        format!(
            "start = {{ position = {}, velocity = {}, angular_velocity = {} }}",
            numbers(r),
            numbers(v),
            numbers(w)
        )
    };
    let mut text = format!(
        "name = \"deck\"\n[body.crate]\nmass = 2.0\ninertia = [0.03, 0.04, 0.05]\n{}\n[body.deck]\nmass = 3.0\n\
         inertia = [0.06, 0.07, 0.1]\n{}\n[spring.clamp]\na = \"crate\"\nb = \"deck\"\nrest_length = 0.05\nstiffness = 400.0\n",
        start(r, v),
        start(Vec3::zeros(), Vec3::zeros())
    );
    for (k, [x, y]) in [[0.2, 0.1], [0.2, -0.1], [-0.15, 0.1], [-0.2, -0.12]]
        .into_iter()
        .enumerate()
    {
        text += &format!(
            "[frame.foot_{k}]\nbody = \"crate\"\norigin = [{x}, {y}, -0.1]\n[contact.feet_{k}]\na = \"foot_{k}\"\nb = \"deck\"\n\
             shape_a = {{ type = \"sphere\", radius = 0.05 }}\nshape_b = {{ type = \"plane\" }}\nlaw = \"compliant\"\n\
             force = 100.0\ndepth = 0.001\nexponent = 1.0\ndissipation = 5.0\nmu = {MU}\nslip = 0.0\n"
        );
    }
    text
}

fn sticking_feet(run: &Run) -> usize {
    (0..4).filter(|k| run.value(&format!("feet_{k}.sticks")) == 1.0).count()
}

/// The crate and the deck, free and turning, stick together while the feet are pressed unequally and
/// the crate rocks; momentum is conserved, as is the balance of energy and work.
#[test]
fn crate_with_four_feet_sticks_on_a_free_turning_deck() {
    for (slides, w) in [(0.0, [0.3, 0.2, 0.5]), (0.3, [0.3, 0.2, 0.5]), (0.3, [0.0; 3])] {
        let mut run = Run::new(&crate_on_deck(slides, w), 1e-10);
        run.look();
        let drift = run.drift(1.0);
        let place = |run: &Run| {
            run.attitude("deck")
                .rotation()
                .tr_mul(&(run.vector("crate.r") - run.vector("deck.r")))
        };
        let (stick, before) = (sticking_feet(&run), place(&run));
        run.go(2.0);
        let moved = place(&run) - before;
        println!(
            "{slides} m/s, {w:?} rad/s: {stick} feet stick, at {before:?}, then moved by {:.1e} m, drift {drift:.1e}, {}",
            moved.norm(),
            run.simulation.statistics()
        );
        // One foot whose friction is at its limit may remain sliding; the others hold it.
        assert!(drift < 1e-8 && stick >= 3 && moved.norm() < 1e-6);
    }
}

/// Dual numbers, differences and adjoints agree while contacts stick and slide, and a restored state
/// continues with the same bits.
#[test]
fn derivatives_and_restored_states_of_sticking_contacts_are_exact() {
    let cases = [
        (crate_on_deck(0.0, [0.3, 0.2, 0.5]), 0.5, 4),
        (crate_on_deck(2.0, [0.3, 0.2, 0.5]), 0.02, 0),
    ];
    for (text, t, stick) in cases {
        let mut run = Run::new(&text, 1e-9);
        run.go(t);
        assert_eq!(sticking_feet(&run), stick);
        let state = run.simulation.state.clone();
        let [worst, off] = derivative_errors(&run);
        println!("{stick} stick: duals within {worst:.1e} of differences, adjoints within {off:.1e} of duals");
        assert!(worst < 1e-6 && off < 1e-9);
        let end = run.go(t + 1.0).simulation.state.x.clone();
        run.simulation.state = state;
        run.simulation.invalidate();
        run.go(t + 1.0);
        assert_eq!(run.simulation.state.x, end, "the same bits");
    }
}

/// Text of the lander of the example with its drill at this place (m), and its method.
fn lander(drill: [f64; 3], method: &str) -> String {
    let lander = include_str!("../../examples/contacts/lander.toml");
    let lander = lander.replace("origin = [0.0, 0.0, -0.3]", &format!("origin = {drill:?}"));
    format!("{lander}\n[solver]\nmethod = \"{method}\"\n")
}

/// Returns the number of feet of the lander that stick.
fn feet_that_stick(run: &Run) -> usize {
    let sticks = |k: &i32| run.value(&format!("feet.pad_{k}.ground.sticks")) == 1.0;
    (1..=4).filter(sticks).count()
}

/// The lander of the example, pushed through its mass centre and beside it, so that it turns, slides and
/// sticks again with the same result at other tolerances and with another method. As long as the slip is
/// below the tolerance of velocities, the directions of the friction are not accurate: the speed is off by
/// tens of tolerances, for four seconds.
#[test]
fn lander_slides_as_far_at_every_tolerance() {
    for (beside, expected) in [
        (0.0, 0.177_501_236),
        (0.1, 0.189_125_855),
        (0.5, 0.494_717_090),
        (1.5, 3.184_695_200),
    ] {
        for (method, tolerance) in [
            ("auto", 1e-8),
            ("auto", 1e-7),
            ("auto", 1e-6),
            ("radau5", 1e-8),
            ("radau5", 1e-7),
            ("radau5", 1e-6),
        ] {
            let mut run = Run::new(&lander([0.0, beside, -0.3], method), tolerance);
            for k in 1..=240 {
                run.go(0.05 * f64::from(k));
            }
            let off = run.value("lander.r[1]") - expected;
            println!(
                "{beside} m, {method} at {tolerance:e}: off by {off:.1e} m, {}",
                run.simulation.statistics()
            );
            // In straight motion the direction of the friction is exact.
            let allowed = match (method, beside == 0.0) {
                ("radau5", true) => 2e-9,
                ("auto", true) if tolerance < 1e-6 => 2e-6,
                _ => f64::min(300.0 * tolerance, 3e-5),
            };
            assert!(off.abs() < allowed && run.simulation.statistics().events < 100);
        }
    }
}

/// Another lander on the same slope, which is not pushed, does not affect the first, and its feet keep their
/// forces at the events of the first.
#[test]
fn lander_slides_beside_another_as_alone() {
    let alone = lander([0.0, 0.5, -0.3], "radau5");
    let bodies = &alone[alone.find("[body.lander]").expect("a lander")..alone.find("[port.drill]").expect("a drill")];
    let other = bodies
        .replace("lander", "other")
        .replace("pad_", "leg_")
        .replace("drill_head", "mast");
    let other = other.replace("position = [0.0, 0.0,", "position = [0.0, 9.0,");
    let both = alone.replace(r#"a = ["lander"]"#, r#"a = ["lander", "other"]"#);
    let both = format!("{both}\n{other}");
    let (mut alone, mut both) = (Run::new(&alone, 1e-9), Run::new(&both, 1e-9));
    let legs = |run: &Run| [1, 2, 3, 4].map(|k| run.vector(&format!("feet.leg_{k}.ground.force")));
    both.go(4.5);
    let before = legs(&both);
    let mut turned = 0.0_f64;
    for (now, before) in legs(both.go(6.0)).iter().zip(before) {
        turned = turned.larger((now - before).norm());
    }
    let off = (both.go(12.0).value("lander.r[1]") - alone.go(12.0).value("lander.r[1]")).abs();
    println!("forces change by {turned:.1e} N, the first lander is off by {off:.1e} m");
    // The forces of the other lander settle to its equilibrium.
    assert!(turned < 1e-3 && off < 1e-6);
}

/// A lander on level ground, pushed at the height of its feet, begins to slide at the load at which a
/// motion about some centre absorbs no more power than friction does (kinematic theorem of limit analysis), in
/// the directions of this motion. All feet stick until then, though the reactions of least norm would
/// exceed their limits before.
#[test]
fn pushed_lander_begins_to_slide_at_the_load_of_the_kinematic_theorem() {
    let weight = 300.0 * 1.62;
    for beside in [0.0, 0.1, 0.5, 0.8, 1.5, 10.0] {
        // The load grows by 40 N/s from 4 s on, when the lander has settled.
        let level = lander([0.0, beside, -0.798], "radau5")
            .replace("[0.28131, 0.0, -1.59539]", "[0.0, 0.0, -1.62]")
            .replace("times = [0.0, 6.0, 8.0, 9.0]", "times = [4.0, 10.0, 12.0, 13.0]")
            .replace("values = [0.0, 120.0", "values = [0.0, 240.0");
        // The centre is on the axis of the feet; in straight motion it is infinitely far away.
        let ratio = |centre: f64| {
            let absorbed = [0.8, -0.8].map(|foot: f64| 2.0 * 0.8_f64.hypot(foot - centre));
            0.1 * weight * (absorbed[0] + absorbed[1]) / (beside - centre).abs()
        };
        let centres = (1..200_000).map(|k| -0.5e-4 * f64::from(k));
        let centre = match beside > 0.0 {
            true => centres.min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).expect("some"),
            false => -1e9,
        };
        let begins = 4.0 + ratio(centre) / 40.0;
        let mut run = Run::new(&level, 1e-9);
        run.go(begins - 1e-5);
        let before = feet_that_stick(&run);
        run.go(begins + 1e-5);
        let after = feet_that_stick(&run);
        run.go(begins + 1e-3);
        let mut turned = 0.0_f64;
        for (k, [x, y]) in [[0.8, 0.8], [-0.8, 0.8], [-0.8, -0.8], [0.8, -0.8]].iter().enumerate() {
            let force = run.vector(&format!("feet.pad_{}.ground.force", k + 1));
            let motion = Vec3::new(y - centre, -x, 0.0).normalize();
            turned = turned.larger((force.xy() / (0.4 * force.z) + motion.xy()).norm());
        }
        println!(
            "{beside} m: {:.4} N about {centre:.4} m; {before} feet stick, then {after}; directions within {turned:.1e} rad, {}",
            ratio(centre),
            run.simulation.statistics()
        );
        assert!(before == 4 && after == 0 && turned < 1e-3);
    }
}

/// A slider whose joint has dry friction too: joint and contact hold together as much as both can,
/// and slide together beyond it.
#[test]
fn joint_and_contact_hold_together_what_both_can() {
    let dry = 4.0;
    let text = slider(0.0, 0.0, "").replace(
        "rate = 0.0 }",
        &format!("rate = 0.0 }}\nfriction = {{ coulomb = {dry} }}"),
    );
    let limit = dry + MU * PRESSED;
    for load in [
        0.5 * dry,
        1.5 * dry,
        limit - 1e-5,
        -limit + 1e-5,
        limit + 0.1,
        -limit - 0.1,
    ] {
        let mut run = Run::new(&text, 1e-10);
        run.set("push.f[1]", load);
        run.go(2.0);
        let a = (load.abs() - limit).max(0.0).copysign(load) / MASS;
        let off = (run.value("x.q") - 2.0 * a)
            .abs()
            .larger((run.value("x.qd") - 2.0 * a).abs());
        let held = run.value("floor.force[1]") + run.value("x.friction_torque") + load - MASS * a;
        println!(
            "{load} N: off by {off:.1e} m, m/s, forces by {held:.1e} N, {}",
            run.simulation.statistics()
        );
        // The contact slides 1e-9 of its reference force beyond the limit.
        assert!(off < 1e-8 && held.abs() < 1e-6);
    }
}

/// A crate at rest on a sled with compliant feet, pushed at its bottom: it slides on the sled beyond
/// `μ_c m_c g`, or both slide on the floor beyond `μ_s (m_c + m_s) g`, whichever is less.
#[test]
fn crate_at_rest_on_a_sled_slides_where_the_limit_is_lower() {
    let (crate_mass, sled_mass) = (2.0_f64, 3.0);
    for (mu_crate, mu_sled) in [(0.2, 0.5), (0.6, 0.2)] {
        let mut text = format!(
            "name = \"sled\"\n[environment]\ngravity = [0.0, 0.0, -10.0]\n[body.sled]\nmass = {sled_mass}\n\
             inertia = [0.03, 0.04, 0.05]\nstart = {{ position = [0.0, 0.0, 0.05] }}\n[body.crate]\nmass = {crate_mass}\n\
             inertia = [0.03, 0.04, 0.05]\nstart = {{ position = [0.0, 0.0, 0.15] }}\n\
             [frame.bottom]\nbody = \"crate\"\norigin = [0.0, 0.0, -0.1]\n[port.push]\nframe = \"bottom\"\n\
             [frame.top]\nbody = \"sled\"\n[contact.load]\na = \"crate\"\nb = \"top\"\n\
             shape_a = {{ type = \"box\", size = [0.3, 0.3, 0.2] }}\nshape_b = {{ type = \"plane\" }}\nrest = 0.01\ne = 0.0\nmu = {mu_crate}\n"
        );
        let depth = 1e-3 * 12.5 / 100.0;
        for (k, [x, y]) in [[0.4, 0.4], [0.4, -0.4], [-0.4, 0.4], [-0.4, -0.4]]
            .into_iter()
            .enumerate()
        {
            text += &format!(
                "[frame.foot_{k}]\nbody = \"sled\"\norigin = [{x}, {y}, {:?}]\n[contact.feet_{k}]\na = \"foot_{k}\"\nb = \"world\"\n\
                 surface = \"plane\"\nradius_a = 0.05\nlaw = \"compliant\"\nforce = 100.0\ndepth = 0.001\nexponent = 1.0\n\
                 dissipation = 10.0\nmu = {mu_sled}\nslip = 0.0\n",
                -depth
            );
        }
        let (of_crate, of_sled) = (mu_crate * crate_mass * 10.0, mu_sled * (crate_mass + sled_mass) * 10.0);
        let limit = of_crate.min(of_sled);
        for load in [0.9 * limit, 1.1 * limit] {
            let mut run = Run::new(&text, 1e-8);
            run.set("push.f[1]", load);
            run.go(0.3);
            let excess = (load - limit).max(0.0);
            let [of_crate_v, of_sled_v] = match of_crate < of_sled {
                true => [0.3 * excess / crate_mass, 0.0],
                false => [0.3 * excess / (crate_mass + sled_mass); 2],
            };
            let off = [run.value("crate.v[1]") - of_crate_v, run.value("sled.v[1]") - of_sled_v].map(f64::abs);
            let slides = [run.value("load.sliding") > 0.0, sticking_feet(&run) == 0];
            println!(
                "{mu_crate} {mu_sled}, {load} N: speeds within {off:?} m/s, crate and feet slide: {slides:?}, {}",
                run.simulation.statistics()
            );
            let beyond = load > limit;
            assert_eq!(slides, [beyond && of_crate < of_sled, beyond && of_crate > of_sled]);
            // The sled vibrates on its feet: it tilts, by the moment of the push, and its weight varies.
            assert!(off[0].larger(off[1]) < 5e-4);
        }
    }
}

/// Contacts whose friction needs a slip speed are rejected with their names, and the slip that is zero
/// is no parameter.
#[test]
fn contacts_without_a_slip_speed_are_rejected_where_they_cannot_stick() {
    let read = |contact: &str| {
        let text = format!(
            "name = \"x\"\n[body.a]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [0.0, 0.0, 1.0] }}\n[contact.c]\na = \"a\"\nb = \"world\"\nlaw = \"compliant\"\n\
             force = 1.0\ndepth = 0.001\n{contact}\n"
        );
        match Model::read(&text, Path::new(".")) {
            Err(Error::Spec(problems)) => problems
                .into_iter()
                .map(|problem| format!("{}: {}", problem.at.join("."), problem.what))
                .collect(),
            Err(error) => panic!("{error}"),
            Ok(model) => model
                .parameters
                .iter()
                .map(|parameter| parameter.quantity.name.clone())
                .collect::<Vec<_>>(),
        }
    };
    let parameters = read("surface = \"plane\"\nmu = 0.3\nslip = 0.0");
    assert!(parameters.contains(&"c.alpha".to_owned()) && !parameters.contains(&"c.slip".to_owned()));
    let parameters = read("surface = \"plane\"\nmu = 0.3");
    assert!(!parameters.contains(&"c.alpha".to_owned()) && parameters.contains(&"c.slip".to_owned()));
    let what = "contact.c.slip: friction with slip = 0 is for a sphere or a point on a plane or a sphere: write a positive slip";
    let sphere = "shape_a = { type = \"sphere\", radius = 0.1 }\nmu = 0.3\nslip = 0.0\n";
    for of_b in [
        "{ type = \"box\", size = [1.0, 1.0, 1.0] }",
        "{ type = \"cylinder\", radius = 1.0, length = 1.0 }",
    ] {
        assert_eq!(read(&format!("{sphere}shape_b = {of_b}")), [what]);
    }
    let reversed =
        "shape_a = { type = \"plane\" }\nshape_b = { type = \"sphere\", radius = 0.1 }\nmu = 0.3\nslip = 0.0";
    assert_eq!(read(reversed), [what]);
    assert_eq!(
        read("surface = \"plane\"\nslip = 0.0"),
        ["contact.c.slip: there is no friction: write `mu` too"]
    );
    assert_eq!(
        read("surface = \"plane\"\nmu = 0.3\nalpha = 1.0"),
        ["contact.c.alpha: the law \"compliant\" has no `alpha`"]
    );
    let negative = read("surface = \"plane\"\nmu = 0.3\nslip = -0.1");
    assert!(
        negative.len() == 1 && negative[0].starts_with("contact.c.slip: "),
        "{negative:?}"
    );
    let conserving = "surface = \"plane\"\nmu = 0.3\nslip = 0.0\n[solver]\nmethod = \"conserving\"\nstep = 0.01";
    let problems = read(conserving);
    assert!(
        problems
            .iter()
            .any(|what| what.contains("conserving does not support friction with slip = 0")),
        "{problems:?}"
    );
}
