//! Contacts of surfaces: detection, resting and compliant contact.

use crate::impact::Balance;
use crate::messages;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::Error;
use grapple::algebra::Vec3;
use grapple::event::{Event, Occurrence, Refused};
use grapple::plant::Model;
use grapple::spec::Formulation;
use std::path::Path;

const GRAVITY: f64 = 9.81;

/// Returns a ball of 2 kg and radius 0.1 m, released with its lowest point at `height` (m) above
/// the floor.
fn dropped(height: f64, contact: &str) -> String {
    format!(
        "name = \"drop\"\n[environment]\ngravity = [0.0, 0.0, -{GRAVITY}]\n\
         [body.ball]\nmass = 2.0\ninertia = [0.008, 0.008, 0.008]\nstart = {{ position = [0.0, 0.0, {}] }}\n\
         [contact.floor]\na = \"ball\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.1\n{contact}\n",
        height + 0.1
    )
}

/// Returns two balls of 2 kg and 3 kg, with radii of 0.1 m and 0.2 m, 1 m apart along x; the first
/// moves at `v` (m/s).
fn balls(v: [f64; 3], contact: &str) -> String {
    format!(
        "name = \"balls\"\n[body.cue]\nmass = 2.0\ninertia = [0.008, 0.008, 0.008]\nstart = {{ velocity = {v:?} }}\n\
         [body.target]\nmass = 3.0\ninertia = [0.048, 0.048, 0.048]\nstart = {{ position = [1.0, 0.0, 0.0] }}\n\
         [contact.shot]\na = \"cue\"\nb = \"target\"\nsurface = \"sphere\"\nradius_a = 0.1\nradius_b = 0.2\n{contact}\n"
    )
}

/// Advances to a time; returns the events.
fn go(run: &mut Run, t: f64) -> Vec<Event> {
    let mut messages = Vec::new();
    run.simulation.advance(t, &mut messages).expect("runs");
    run.look();
    messages
}

/// A ball that falls 1 m with a restitution of 0.8 hits the floor at
/// `t₀ + 2 v₀/g (e + e² + … + eᵏ)`, in every formulation.
#[test]
fn bouncing_ball_has_its_closed_form_times() {
    for formulation in Formulation::ALL {
        let text = dropped(1.0, "e = 0.8");
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-10);
        let (fall, mut e_k, mut t) = ((2.0 / GRAVITY).sqrt(), 1.0, (2.0 / GRAVITY).sqrt());
        let mut worst = 0.0f64;
        for bounce in 1..=20 {
            e_k *= 0.8;
            // The ball is at its highest point, halfway to the next impact.
            go(&mut run, t + fall * e_k);
            worst = worst.larger((run.value("floor.time") - t).abs());
            let top = 0.1 + e_k * e_k;
            worst = worst.larger((run.value("ball.r[3]") - top).abs());
            assert_eq!(run.value("floor.count"), f64::from(bounce));
            assert!((run.value("floor.gap") - (run.value("ball.r[3]") - 0.1)).abs() < 1e-15);
            t += 2.0 * fall * e_k;
        }
        println!("{}: 20 bounces within {worst:.1e} s, m", formulation.name());
        // A parabola is integrated exactly; each root is located to round-off of the time, and
        // errors accumulate.
        assert!(worst < 1e-11, "{worst}");
    }
}

/// Returns true for the error of the ball that chatters on the floor.
fn chatters(error: &Error) -> bool {
    let Error::Chatter {
        contact,
        frames,
        impacts: 100,
        ..
    } = error
    else {
        return false;
    };
    contact == "floor" && *frames == ["ball", "world"] && error.to_string().contains("use rest = 0.01 (m/s)")
}

/// The ball comes to rest after 4.06 s, where impacts accumulate: the run ends with an error that
/// names the contact, at that time, and nothing penetrates the floor before.
#[test]
fn repeated_impacts_without_separation_are_reported() {
    let _section = messages::of_this_test();
    let mut run = Run::new(&dropped(1.0, "e = 0.8"), 1e-10);
    let rest = (2.0 / GRAVITY).sqrt() * (1.0 + 2.0 * 0.8 / 0.2);
    for _ in 0..2 {
        let error = run.simulation.advance(5.0, &mut Vec::new()).expect_err("chatters");
        let t = run.simulation.state.t;
        println!("{error}, {:.1e} s after", t - rest);
        messages::record(messages::without_decimals(&error));
        assert!(chatters(&error), "{error:?}");
        // The time is off by up to a hundred fall times from 1e-9 m, and a few from slightly larger
        // heights.
        assert!((t - rest).abs() < 6e-3);
    }
    run.look();
    assert!(run.value("floor.gap") > -2e-7, "{}", run.value("floor.gap"));
}

/// A failed event changes nothing, although a signal that steps at the same event would succeed.
#[test]
fn failed_event_changes_nothing() {
    let wind =
        "[port.wind]\nframe = \"ball\"\n[signal.\"wind.f[1]\"]\ntype = \"step\"\nfrom = 4.5\nfrom_importer = false\n";
    let mut run = Run::new(&format!("{}{wind}", dropped(1.0, "e = 0.8")), 1e-10);
    run.simulation.advance(5.0, &mut Vec::new()).expect_err("chatters");
    let (state, plant) = (run.simulation.state.clone(), &mut run.simulation.plant);
    let (mut x, mut discrete, mut messages) = (state.x.clone(), state.discrete.clone(), Vec::new());
    let failed = plant.update(4.6, &mut x, &state.u, &mut discrete, &mut messages);
    let failed = failed.expect_err("chatters");
    assert!(chatters(&failed), "{failed:?}");
    assert!(x == state.x && discrete == state.discrete && messages.is_empty());
}

/// Two balls collide at a known time, for any tolerance, and continue with the velocities of an
/// elastic central impact.
#[test]
fn collision_time_of_two_balls_is_exact() {
    let v = [0.7, 0.1, 0.05];
    let text = balls(v, "e = 1.0");
    // |(1, 0, 0) − v t| = 0.3
    let square = v.iter().map(|v| v * v).sum::<f64>();
    let t = (v[0] - (v[0] * v[0] - square * (1.0 - 0.09)).sqrt()) / square;
    for formulation in Formulation::ALL {
        for tolerance in [1e-4, 1e-10] {
            let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), tolerance);
            run.look();
            let before = Balance::of(&run);
            go(&mut run, 100.0);
            let off = (run.value("shot.time") - t).abs();
            println!("{}, {tolerance:.0e}: {off:.1e} s", formulation.name());
            // Straight lines are integrated exactly.
            assert!(off < 1e-12);
            let after = Balance::of(&run);
            assert!(before.off(&after) < 1e-13 && (before.energy - after.energy).abs() < 1e-13);
            let v = Vec3::from(v);
            let n = (v * t - Vec3::x()) / 0.3;
            let p = n * (-2.0 * n.dot(&v) * 1.2);
            assert!((run.vector("cue.v") - (v + p / 2.0)).norm() < 1e-12);
            assert!((run.vector("target.v") + p / 3.0).norm() < 1e-12);
        }
    }
}

/// Free bodies are integrated in steps of any length. Collisions of balls inside one step are
/// detected, and no contact is found where they miss each other by 1e-6 m. The closest approach is
/// at 0.2 s: inside a long step, or next to the end of one.
#[test]
fn contact_inside_one_step_is_detected() {
    for (offset, impacts) in [(0.0, 1.0), (0.29, 1.0), (0.299_999, 1.0), (0.300_001, 0.0), (0.4, 0.0)] {
        for stop in [50.0, 0.1998, 0.2, 0.2002, 0.21] {
            let text = balls([5.0, 0.0, 0.0], "e = 1.0").replace("[1.0, 0.0, 0.0]", &format!("[1.0, {offset}, 0.0]"));
            let mut run = Run::new(&text, 1e-6);
            go(&mut run, stop);
            go(&mut run, 60.0);
            assert_eq!(run.value("shot.count"), impacts, "{offset}, {stop}");
            assert!(
                run.simulation.statistics().steps < 30,
                "{}",
                run.simulation.statistics()
            );
        }
    }
}

/// Collisions at any time between communication points, which are 1 s apart and end the
/// integrator's steps, are detected.
#[test]
fn contact_is_detected_at_any_phase_of_the_steps() {
    for (speed, offset) in [(10.0, 0.0), (20.0, 0.0), (10.0, 0.2999)] {
        let (phases, mut found) = (200, 0);
        for phase in 0..phases {
            let place = speed * (20.0 + f64::from(phase) / f64::from(phases));
            let text =
                balls([speed, 0.0, 0.0], "e = 1.0").replace("[1.0, 0.0, 0.0]", &format!("[{place:?}, {offset}, 0.0]"));
            let mut run = Run::new(&text, 1e-6);
            for second in 1..=22 {
                go(&mut run, f64::from(second));
            }
            found += i32::from(run.value("shot.count") == 1.0);
        }
        println!("{speed} m/s, offset {offset} m: {found} of {phases} found");
        assert_eq!(found, phases);
    }
}

/// Newton's cradle: in a row of equal balls in contact, the last takes the whole momentum.
#[test]
fn newtons_cradle_transfers_momentum_to_the_last_ball() {
    use std::fmt::Write as _;
    let mut text = "name = \"row\"\n".to_owned();
    for i in 0..4 {
        let (x, v) = if i == 0 { (-1.0, 1.0) } else { (0.2 * f64::from(i), 0.0) };
        write!(
            text,
            "[body.b{i}]\nmass = 1.0\ninertia = [0.004, 0.004, 0.004]\nstart = {{ position = [{x}, 0.0, 0.0], velocity = [{v}, 0.0, 0.0] }}\n"
        )
        .expect("text");
    }
    for i in 0..3 {
        write!(
            text,
            "[contact.c{i}]\na = \"b{i}\"\nb = \"b{}\"\nsurface = \"sphere\"\nradius_a = 0.1\nradius_b = 0.1\ne = 1.0\n",
            i + 1
        )
        .expect("text");
    }
    let mut run = Run::new(&text, 1e-9);
    go(&mut run, 3.0);
    let v: Vec<f64> = (0..4).map(|i| run.value(&format!("b{i}.v[1]"))).collect();
    println!("{v:?}");
    assert!(v[..3].iter().all(|v| v.abs() < 1e-12) && (v[3] - 1.0).abs() < 1e-12);
}

/// A point makes contact with a disc only from the side of the normal, and within the radius.
#[test]
fn point_contacts_a_disc_from_the_front_only() {
    let text = |z: f64, x: f64, v: f64| {
        format!(
            "name = \"dock\"\n[body.probe]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\nstart = {{ position = [{x}, 0.0, {z}], velocity = [0.0, 0.0, {v}] }}\n\
             [contact.port]\na = \"probe\"\nb = \"world\"\nsurface = \"disc\"\nradius_b = 0.5\ne = 0.5\n"
        )
    };
    for (z, x, v, count, after) in [
        (1.0, 0.0, -1.0, 1.0, 0.5),
        (1.0, 0.49, -1.0, 1.0, 0.5),
        (1.0, 0.51, -1.0, 0.0, -1.0),
        (-1.0, 0.0, 1.0, 0.0, 1.0),
    ] {
        let mut run = Run::new(&text(z, x, v), 1e-8);
        go(&mut run, 5.0);
        assert_eq!(run.value("port.count"), count);
        assert!((run.value("probe.v[3]") - after).abs() < 1e-13);
    }
}

/// A capture with a surface acts at the contact: without its command the bodies pass through each
/// other; with it they are captured when they touch, until released.
#[test]
fn armed_capture_acts_at_the_contact() {
    let text = balls([0.5, 0.02, 0.0], "law = \"capture_grasp\"");
    let mut free = Run::new(&text, 1e-9);
    go(&mut free, 1.5);
    assert!(
        free.value("shot.gap") < -0.01 && free.value("shot.count") == 0.0,
        "not armed, it goes on"
    );
    // A command during penetration takes effect at the next contact.
    free.set("shot.capture", 1.0);
    go(&mut free, 1.7);
    assert_eq!((free.value("shot.captured"), free.value("shot.count")), (0.0, 0.0));
    let mut run = Run::new(&text, 1e-9);
    run.set("shot.capture", 1.0);
    go(&mut run, 1.0);
    assert_eq!(run.value("shot.captured"), 0.0, "not yet there");
    let messages = go(&mut run, 2.0);
    assert!(
        messages
            .iter()
            .any(|event| event.is_impact() && event.contact() == Some("shot")),
        "{messages:?}"
    );
    let t = run.value("shot.time");
    assert!((run.value("shot.captured"), run.value("shot.count")) == (1.0, 1.0) && t > 1.3 && t < 1.5);
    go(&mut run, 10.0);
    assert!(run.value("shot.gap").abs() < 1e-9 && run.value("shot.violation") < 1e-9);
    run.set("shot.capture", 0.0);
    let messages = go(&mut run, 11.0);
    assert!(
        messages
            .iter()
            .any(|event| matches!(event.what, Occurrence::Released { .. }))
            && run.value("shot.captured") == 0.0
    );
    // The bodies rotate about each other and separate when released: the command takes effect at
    // the next contact.
    run.set("shot.capture", 1.0);
    go(&mut run, 12.0);
    assert!(run.value("shot.gap") > 0.01 && (run.value("shot.captured"), run.value("shot.count")) == (0.0, 1.0));
    // After a central impact the bodies do not separate when released, and are captured again at
    // once.
    let mut run = Run::new(&balls([0.5, 0.0, 0.0], "law = \"capture_grasp\""), 1e-9);
    for (armed, t, count) in [(1.0, 3.0, 1.0), (0.0, 4.0, 1.0), (1.0, 5.0, 2.0)] {
        run.set("shot.capture", armed);
        go(&mut run, t);
        assert_eq!((run.value("shot.captured"), run.value("shot.count")), (armed, count));
    }
}

/// A captured pair counts as in contact: drift of the constraint causes no events. After the
/// release contacts are detected again.
#[test]
fn captured_contact_causes_no_events() {
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let mut run = Run::new(&balls([0.5, 0.02, 0.0], "law = \"capture_grasp\""), tolerance);
        run.set("shot.capture", 1.0);
        go(&mut run, 20.0);
        let statistics = run.simulation.statistics();
        println!(
            "{tolerance:.0e}: {statistics}, drift {:.1e} m",
            run.value("shot.violation")
        );
        // Two events: the command, and the capture.
        assert!(
            statistics.events <= 2 && run.value("shot.captured") == 1.0,
            "{statistics}"
        );
        run.set("shot.capture", 0.0);
        let messages = go(&mut run, 25.0);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(run.value("shot.gap") > 0.01 && run.value("shot.captured") == 0.0);
    }
}

/// If an impact law has no solution the surfaces pass through each other, which is reported once.
#[test]
fn rejected_impact_is_reported_once() {
    let _section = messages::of_this_test();
    let text = balls([1.0, 0.15, 0.0], "law = \"energy_friction\"\nr_E = 1.0\nr_f = 0.0");
    let mut run = Run::new(&text, 1e-9);
    let events = go(&mut run, 5.0);
    let inconsistent = |event: &&Event| {
        matches!(&event.what, Occurrence::ImpactRefused { pairing, reason: Refused::Inconsistent { r_E: 1.0, r_f: 0.0, .. } }
            if pairing.contact == "shot")
    };
    let refused: Vec<&Event> = events.iter().filter(inconsistent).collect();
    assert_eq!(refused.len(), 1, "{events:?}");
    messages::record(messages::without_decimals(refused[0]).replace(" 0 and ", " # and "));
    assert_eq!((run.value("shot.status"), run.value("shot.count")), (5.0, 0.0));
    assert_eq!(run.value("cue.v[1]"), 1.0);
    assert!(run.value("shot.gap") > 1.0);
}

/// A compliant impact of two balls: with `G(v) = v/d − ln(1 + d v)/d²` the separation speed w
/// satisfies `G(−w) = G(v)`, and the maximum penetration is `((p + 1) m G(v)/k)^(1/(p + 1))`, for
/// any exponent p. Momentum is conserved, and the energy changes by the accounted work.
#[test]
fn compliant_impact_satisfies_its_closed_form() {
    let (v, d): (f64, f64) = (0.8, 0.6);
    let G = |v: f64| v / d - (d * v).ln_1p() / (d * d);
    let mut w = v * (1.0 - 2.0 / 3.0 * d * v);
    for _ in 0..50 {
        // G'(v) = v/(1 + d v)
        w -= (G(-w) - G(v)) / (w / (1.0 - d * w));
    }
    let mass = 2.0 * 3.0 / 5.0;
    for formulation in Formulation::ALL {
        for exponent in [1.0, 1.5] {
            let law =
                format!("law = \"compliant\"\nforce = 50.0\ndepth = 0.002\nexponent = {exponent}\ndissipation = {d}");
            let mut run = Run::of(
                crate::plant_in(formulation, &balls([v, 0.0, 0.0], &law), Path::new(".")),
                1e-11,
            );
            run.look();
            let before = Balance::of(&run);
            let (mut deepest, mut t) = (0.0f64, 0.7 / v);
            while run.value("shot.gap") <= 0.0 || run.value("cue.r[1]") < 0.65 {
                t += 2e-4;
                go(&mut run, t);
                deepest = deepest.min(run.value("shot.gap"));
                let balance = (run.value("system.energy") - run.value("system.work") - before.energy).abs();
                assert!(balance < 1e-9, "{balance}");
            }
            let after = Balance::of(&run);
            let parts = run.value("target.v[1]") - run.value("cue.v[1]");
            let k = 50.0 / 0.002f64.powf(exponent);
            let depth = ((exponent + 1.0) * mass * G(v) / k).powf(1.0 / (exponent + 1.0));
            println!(
                "{}, {exponent}: parts at {:.1e} of {w:.4} m/s, depth {:.1e} of {depth:.3e} m, momentum {:.1e}",
                formulation.name(),
                (parts - w).abs(),
                (deepest + depth).abs(),
                before.off(&after)
            );
            assert!(
                (parts - w).abs() < 1e-8,
                "ten times the tolerance of 1e-11 in each of a hundred steps"
            );
            // The deepest sample is up to 1e-4 s from the deepest point: an error of ½ a t² with a
            // = 600 m/s².
            assert!((deepest + depth).abs() < 4e-6);
            assert!(before.off(&after) < 1e-12);
            assert_eq!(run.vector("shot.force"), Vec3::zeros());
        }
    }
}

/// A ball that slides at first finally rolls, at 5/7 of its speed, for any friction; while it
/// slides its deceleration is μ g, and the contact carries its weight.
#[test]
fn sliding_ball_finally_rolls() {
    let law = "law = \"compliant\"\nforce = 20.0\ndepth = 1e-6\ndissipation = 100.0\nmu = 0.3\nslip = 1e-4";
    let text =
        dropped(-1e-6, law).replace("] }", "], velocity = [1.0, 0.0, 0.0] }") + "[solver]\nmethod = \"radau5\"\n";
    let mut run = Run::new(&text, 1e-8);
    go(&mut run, 0.05);
    let slowed = (run.value("ball.v[1]") - (1.0 - 0.3 * GRAVITY * 0.05)).abs();
    let weight = (run.value("floor.force[3]") / (2.0 * GRAVITY) - 1.0).abs();
    go(&mut run, 0.5);
    let rolls = run.value("ball.v[1]");
    println!(
        "slowed to {slowed:.1e} m/s, weight {weight:.1e}, rolls at 5/7 + {:.1e}",
        rolls - 5.0 / 7.0
    );
    // The ball starts 2 % off its equilibrium depth, and has settled; the tolerance is a hundred
    // times the observed error.
    assert!(slowed < 2e-7 && weight < 2e-8);
    assert!(
        (rolls - 5.0 / 7.0).abs() < 1e-4,
        "{rolls}: the surfaces' slip of 1e-4 m/s"
    );
    assert!((run.value("ball.w[2]") * 0.1 - rolls).abs() < 1e-4);
}

/// A penetration at the start is an error when the spec is read.
#[test]
fn initial_penetration_is_reported() {
    let _section = messages::of_this_test();
    let read = |text: &str| Model::read(text, Path::new(".")).map(|_| ());
    let refused = read(&dropped(-0.02, "e = 0.5")).expect_err("inside");
    messages::record(messages::without_decimals(&refused));
    let Error::Spec(problems) = refused else {
        panic!("{refused}");
    };
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].at, ["contact", "floor", "surface"]);
    for (start, doubtful) in [(-0.09, 0), (-0.11, 1)] {
        let text = dropped(start, "law = \"compliant\"\nforce = 1.0\ndepth = 0.01");
        read(&text).expect("a force may press from the start");
        let found = crate::plant(&text).doubtful_contacts();
        assert_eq!(found.len(), doubtful, "{found:?}");
    }
}

/// The example of debris that strikes a flexible panel: the impact conserves momenta, its work is the
/// change of energy, and the virtual mass is less than that of the fragment, by the compliance of the
/// panel's modes. Afterwards momenta, and energy less the work of damping, are constant.
#[test]
fn debris_that_strikes_a_panel_conserves_momenta() {
    let text = include_str!("../../examples/impacts/debris.toml");
    let mut run = Run::new(text, 1e-10);
    go(&mut run, 2.0);
    let t = run.value("strike.time");
    let mut run = Run::new(text, 1e-10);
    go(&mut run, t - 1e-9);
    let before = Balance::of(&run);
    go(&mut run, t + 1e-9);
    let after = Balance::of(&run);
    let [change, mass] = run.values(["strike.energy_change", "strike.virtual_mass"]);
    let jump = (after.energy - before.energy - change).abs();
    let drift = run.drift(20.0);
    println!(
        "strike after {t:.4} s: momenta {:.1e} (1e-12), energy {change:.4} J, off by {jump:.1e} J (1e-9), virtual mass \
         {mass:.5} kg; 20 s: invariants off by {drift:.1e} (1e-7, the integrator's error)",
        before.off(&after)
    );
    assert!(before.off(&after) < 1e-12 && jump < 1e-9 && drift < 1e-7);
    assert!(change < -0.1 && mass > 0.03 && mass < 0.05);
}
