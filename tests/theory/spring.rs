//! Springs and dampers between two frames.

use crate::conserving::{imbalance, steps_of};
use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::Model;
use grapple::spec::Formulation;
use std::f64::consts::PI;
use std::path::Path;

/// Returns two free bodies of 2 kg and 3 kg at rest, 1.5 m apart, with a spring of 30 N/m and a
/// rest length of 1 m: with the reduced mass of 1.2 kg the frequency is 5 rad/s.
fn pair(more: &str) -> String {
    format!(
        "name = \"pair\"\n[body.one]\nmass = 2.0\ninertia = [0.1, 0.2, 0.3]\n\
         [body.two]\nmass = 3.0\ninertia = [0.3, 0.2, 0.1]\nstart = {{ position = [0.9, 1.2, 0.0] }}\n\
         [spring.strut]\na = \"one\"\nb = \"two\"\nstiffness = 30.0\nrest_length = 1.0\n{more}"
    )
}

#[test]
fn two_masses_on_a_spring_vibrate_as_the_closed_form_in_every_formulation() {
    for formulation in Formulation::ALL {
        let mut run = Run::of(crate::plant_in(formulation, &pair(""), Path::new(".")), 1e-10);
        let mut off = 0.0f64;
        for t in [0.1, 0.4, 1.0, 2.0] {
            run.go(t);
            let stretch = 0.5 * (5.0 * t).cos();
            off = off.larger((run.value("strut.length") - 1.0 - stretch).abs());
            off = off.larger((run.value("strut.force") - 30.0 * stretch).abs() / 30.0);
        }
        println!("{formulation:?}: stretch off by {off:.1e} m (1e-8, the integrator's error)");
        assert!(off < 1e-8, "{formulation:?}: {off:e}");
    }
}

#[test]
fn damper_acts_on_the_change_of_length() {
    // The damping of 3.6 N·s/m over twice the reduced mass of 1.2 kg is the decay rate 1.5/s.
    let (decay, frequency) = (1.5, (25.0f64 - 2.25).sqrt());
    let mut run = Run::new(&pair("damping = 3.6\n"), 1e-10);
    for t in [0.2, 0.7, 1.5] {
        run.go(t);
        let (sine, cosine) = (frequency * t).sin_cos();
        let stretch = 0.5 * (-decay * t).exp() * (cosine + decay / frequency * sine);
        let off = run.value("strut.length") - 1.0 - stretch;
        assert!(off.abs() < 1e-8, "{t} s: {off:e} m");
    }
}

/// A body reaches the end of its tether at 0.2 m/s: its velocity is reversed in half a period, then
/// it flies freely.
#[test]
fn tether_pulls_for_half_a_period() {
    let text = |damping: f64| {
        format!(
            "name = \"tethered\"\n[body.bob]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n\
             start = {{ position = [1.0, 0.0, 0.0], velocity = [0.2, 0.0, 0.0] }}\n\
             [spring.tether]\na = \"world\"\nb = \"bob\"\nstiffness = 25.0\nrest_length = 1.0\ndamping = {damping:?}\ntension_only = true\n"
        )
    };
    let mut run = Run::new(&text(0.0), 1e-10);
    run.go(0.3);
    let taut = run.value("tether.length") - 1.0 - 0.04 * 1.5f64.sin();
    run.go(2.0);
    let slack = run.value("tether.length") - 1.0 + 0.2 * (2.0 - PI / 5.0);
    println!("taut off by {taut:.1e} m, slack by {slack:.1e} m (1e-7: the integrator's error, an unsmooth force)");
    assert!(taut.abs() < 1e-7 && slack.abs() < 1e-7, "{taut:e} {slack:e}");
    assert_eq!(run.value("tether.force"), 0.0);

    let mut run = Run::new(&text(4.0), 1e-10);
    let mut least = f64::INFINITY;
    for k in 1..=100 {
        run.go(0.01 * f64::from(k));
        least = least.min(run.value("tether.force"));
    }
    let rebound = -run.value("bob.v[1]");
    assert!(
        least == 0.0 && rebound > 0.0 && rebound < 0.15,
        "{least} N, {rebound} m/s"
    );
}

/// Returns two tumbling bodies, one of them with a jointed arm, connected by a spring off their
/// mass centres.
fn tumbling(spring: &str) -> String {
    format!(
        "name = \"tumbling\"\n[body.hub]\nmass = 2.0\nmass_centre = [0.1, 0.0, 0.05]\ninertia = [0.3, 0.5, 0.7]\n\
         start = {{ angular_velocity = [0.4, 1.1, 2.0] }}\n\
         [body.arm]\nmass = 1.0\nmass_centre = [0.4, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.25]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"hub\"\nchild = \"arm\"\norigin = [0.3, 0.1, 0.0]\naxis = [0.0, 1.0, 0.2]\n\
         start = {{ rate = 0.5 }}\n\
         [body.rock]\nmass = 4.0\nmass_centre = [0.0, 0.1, 0.0]\ninertia = [1.0, 1.2, 1.4]\n\
         start = {{ position = [1.4, 0.3, -0.2], angular_velocity = [-0.7, 0.2, 0.5], velocity = [0.3, 0.0, 0.4] }}\n\
         [frame.tip]\nbody = \"arm\"\norigin = [0.6, 0.1, 0.0]\n[frame.hook]\nbody = \"rock\"\norigin = [-0.3, 0.2, 0.1]\n\
         [spring.line]\na = \"tip\"\nb = \"hook\"\nstiffness = 40.0\nrest_length = 0.5\n{spring}"
    )
}

#[test]
fn energy_less_work_and_momenta_of_tumbling_bodies_are_constant() {
    for spring in ["", "damping = 1.5\n", "damping = 1.5\ntension_only = true\n"] {
        let mut run = Run::new(&tumbling(spring), 1e-10);
        let off = run.drift(5.0);
        let work = run.value("system.work");
        println!(
            "\"{}\": invariants off by {off:.1e} J, N·s, N·m·s (1e-7, the integrator's error); work {work:.2} J",
            spring.trim()
        );
        assert!(off < 1e-7, "{spring}: {off:e}");
        assert_eq!(work < -0.5, !spring.is_empty(), "{spring}: {work} J");
    }
}

#[test]
fn conserving_steps_balance_the_energy_of_springs() {
    for (spring, h) in [("", 0.05), ("damping = 1.5\n", 0.025), ("tension_only = true\n", 0.05)] {
        let mut run = steps_of(h, &tumbling(spring), None);
        let off = imbalance(&mut run, 100, h);
        println!("\"{}\": energy less work off by {off:.1e} (1e-12)", spring.trim());
        assert!(off < 1e-12, "{spring}: {off:e}");
    }
}

#[test]
fn frames_that_coincide_exert_no_force() {
    let text = pair("damping = 1.0\n").replace("position = [0.9, 1.2, 0.0]", "position = [0.0, 0.0, 0.0]");
    let mut run = Run::new(&text, 1e-9);
    run.look();
    assert_eq!(run.values(["strut.length", "strut.force"]), [0.0, 0.0]);
    assert_eq!(run.derivative("one.v[1]"), 0.0);
}

#[test]
fn errors_name_the_field() {
    let at = |text: &str| match Model::read(text, Path::new(".")) {
        Err(grapple::Error::Spec(problems)) => problems[0].at.join("."),
        other => panic!("{text}: {:?}", other.map(|model| model.spec.name)),
    };
    for (from, to, place) in [
        ("b = \"two\"", "b = \"one\"", "spring.strut.b"),
        ("b = \"two\"", "b = \"twp\"", "spring.strut.b"),
        ("stiffness = 30.0", "stiffness = -30.0", "spring.strut.stiffness"),
        ("rest_length = 1.0", "rest_length = -1.0", "spring.strut.rest_length"),
    ] {
        let text = pair("");
        assert!(text.contains(from));
        assert_eq!(at(&text.replace(from, to)), place);
    }
    let on_beam = pair("")
        + "[ancf_beam.boom]\nlength = 3.0\nelements = 2\nmass_per_length = 0.5\nEA = 2e3\nEI = 20.0\n\
           [body.arm]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n\
           [joint.hinge]\ntype = \"revolute\"\nparent = \"one\"\nchild = \"arm\"\nservo = { kp = 1.0, kd = 1.0, feed_forward = \"rigid\" }\n\
           [spring.stay]\na = \"one\"\nb = \"boom\"\nstiffness = 1.0\n";
    assert_eq!(at(&on_beam), "spring.stay.b");
    let welded = pair("").replace("start = { position = [0.9, 1.2, 0.0] }", "")
        + "[joint.weld]\ntype = \"fixed\"\nparent = \"one\"\nchild = \"two\"\n";
    assert_eq!(at(&welded), "spring.strut.b");
}
