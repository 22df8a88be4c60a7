//! `plan`: the references of planned motions.

use crate::desk::{Desk, example};
use crate::messages;

#[test]
fn references_of_a_plan_are_printed_and_saved_over_time() {
    let desk = Desk::new();
    desk.write("approach.toml", &example("assembly/approach"));
    let run = desk.run(&["plan", "approach.toml", "-o", "motions.csv"]);
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let rows: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    let of = |joint: &str| rows.iter().find(|row| row.first() == Some(&joint)).expect("a row");
    // Mirror images: the arms are symmetric.
    for (left, right) in [("B", "G"), ("C", "F"), ("D", "E")] {
        let number = |joint: &str, column: usize| of(joint)[column].parse::<f64>().expect("a number");
        for column in [2, 3] {
            assert!(
                (number(left, column) + number(right, column)).abs() < 1e-5,
                "{}",
                run.out
            );
        }
        assert_eq!(of(left)[4..], of(right)[4..]);
    }
    let table = desk.text("motions.csv");
    let head = table.lines().next().expect("a title");
    let expected = "time [s],B.q_ref [rad],B.qd_ref [rad/s],C.q_ref [rad]";
    assert!(head.starts_with(expected), "{head}");
    let last = table.lines().last().expect("a row").split(',');
    let last: Vec<f64> = last.map(|x| x.parse().expect("a number")).collect();
    let rates = last[2..].iter().step_by(2);
    assert!(
        last[0] == 300.0 && rates.clone().all(|rate| rate.abs() < 1e-12),
        "{last:?}"
    );
    // The FMU of the spec without its plan has these inputs.
    let text = example("assembly/approach");
    let (free, _) = text.split_once("[plan.approach]").expect("a plan");
    desk.write(
        "free.toml",
        &format!("{free}[experiment]\nstop_time = 20.0\nstep = 10.0\n"),
    );
    desk.succeed(&["simulate", "free.toml", "--inputs", "motions.csv"]);
}

#[test]
fn plans_that_a_spec_does_not_have_or_that_do_not_fit_are_reported() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write("arm.toml", &example("two_link"));
    let run = desk.run(&["plan", "arm.toml"]);
    assert!(
        run.code == Some(0) && run.out.contains("no [plan.<name>]"),
        "{}",
        run.out
    );
    let text = example("assembly/approach");
    for (from, to, expected) in [
        (
            "servo = { kp = 1e6, kd = 2e4 }\nstart = { position = 1.6773474973 }",
            "start = { position = 1.6773474973 }",
            "has no servo",
        ),
        (
            "keep = [\"attitude\"]\n\n# The mass",
            "keep = [\"atitude\"]\n\n# The mass",
            "atitude",
        ),
        ("until = 300.0", "until = -3.0", "until"),
        ("frame = \"H\"", "frame = \"K\"", "\"K\""),
        (
            "to = { x = 0.0, y = -6.0 }",
            "to = { x = 0.0, y = -60.0 }",
            "do not reach the goals",
        ),
        (
            "joints = [\"B\", \"C\"",
            "joints = [\"B\", \"B\", \"C\"",
            "listed twice",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        desk.write("approach.toml", &text.replace(from, to));
        let run = desk.run(&["plan", "approach.toml"]);
        assert!(
            run.code == Some(1) && run.errors.contains(expected),
            "{expected}: {}",
            run.errors
        );
        // The goal that is missed most depends on the last steps of the search.
        if expected != "do not reach the goals" {
            run.record();
        }
    }
}
