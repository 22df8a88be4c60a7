//! `assemble` and `equilibrium`, and the summary of loops by `check`.

use crate::desk::{Desk, example};
use crate::messages;

/// A planar four-bar linkage with an approximate start.
const LINKAGE: &str = r#"
name = "linkage"
[body.crank]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[body.coupler]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[body.rocker]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joint.first]
type = "revolute"
parent = "world"
child = "crank"
origin = [-1.2, 0.0, 0.0]
start = { position = 1.7, rate = 1.0 }
[joint.second]
type = "revolute"
parent = "crank"
child = "coupler"
origin = [1.0, 0.0, 0.0]
start = { position = -1.5 }
[joint.third]
type = "revolute"
parent = "coupler"
child = "rocker"
origin = [1.0, 0.0, 0.0]
start = { position = -1.5 }
[frame.tip]
body = "rocker"
origin = [1.0, 0.0, 0.0]
[loop.last]
type = "revolute"
a = "tip"
b = "world"
[assembly]
fixed = ["first"]
"#;

/// Returns the last number in the first row of a table that begins with `word`.
fn last_number(table: &str, word: &str) -> f64 {
    let mut rows = table.lines().map(str::split_whitespace);
    let row = rows.find_map(|row| {
        let row: Vec<&str> = row.collect();
        (row.first() == Some(&word)).then(|| row[row.len() - 1].parse().ok())?
    });
    row.unwrap_or_else(|| panic!("no {word} in\n{table}"))
}

#[test]
fn assembled_start_is_printed_and_written_as_a_closed_spec() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write("linkage.toml", LINKAGE);
    let checked = desk.succeed(&["check", "linkage.toml"]);
    assert!(checked.starts_with("linkage.toml: "), "{checked}");
    messages::record(messages::without_decimals(messages::without_speed(&checked)));
    let printed = desk.succeed(&["assemble", "linkage.toml", "-o", "closed.toml"]);
    messages::record(printed.lines().next().expect("a summary"));
    assert!(
        !printed.contains("first.q ") && last_number(&printed, "second.q") != -1.5,
        "{printed}"
    );
    let again = desk.succeed(&["assemble", "closed.toml"]);
    messages::record(again.lines().last().expect("what is changed"));
    // Both specs give the same motion.
    let [a, b] = ["linkage", "closed"].map(|name| {
        desk.succeed(&[
            "simulate",
            &format!("{name}.toml"),
            "--stop-time",
            "0.2",
            "-o",
            &format!("{name}.csv"),
        ]);
        let text = desk.text(&format!("{name}.csv"));
        let row = text
            .lines()
            .last()
            .expect("a row")
            .split(',')
            .map(|x| x.parse().expect("a number"));
        row.collect::<Vec<f64>>()
    });
    let off = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a - b).abs() / a.abs().max(1.0))
        .fold(0.0, f64::max);
    // The starts differ by round-off, the runs by its effect on steps at a tolerance of 1e-8.
    assert!(a.len() == b.len() && off < 1e-7, "{off}");
}

#[test]
fn loops_that_cannot_be_closed_are_reported_with_their_violation() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    let far = LINKAGE.replace("origin = [-1.2, 0.0, 0.0]", "origin = [-4.0, 0.0, 0.0]");
    desk.write("far.toml", &far);
    for verb in ["check", "assemble", "build", "simulate"] {
        let outcome = desk.run(&[verb, "far.toml"]);
        let message = outcome.errors;
        assert!(
            outcome.code == Some(1) && message.contains("loop \"") && message.contains("[far.toml:"),
            "{verb}: {message}"
        );
        messages::record(messages::without_decimals(&message).replace(" 0 rad", " # rad"));
    }
}

#[test]
fn equilibrium_is_printed_and_written() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write(
        "hanging.toml",
        "name = \"hanging\"\n[environment]\ngravity = [0.0, -9.81, 0.0]\n[body.rod]\nmass = 2.0\nmass_centre = [0.8, 0.0, 0.0]\ninertia = [0.1, 0.2, 0.3]\n\
         [joint.hinge]\ntype = \"revolute\"\nparent = \"world\"\nchild = \"rod\"\nspring = { stiffness = 9.0 }\n",
    );
    let printed = desk.succeed(&["equilibrium", "hanging.toml", "-o", "resting.toml"]);
    let q = last_number(&printed, "hinge.q");
    // k θ + m g l cos θ = 0; nine digits are printed.
    assert!((9.0 * q + 2.0 * 9.81 * 0.8 * q.cos()).abs() < 1e-7, "{printed}");
    let again = desk.succeed(&["equilibrium", "resting.toml"]);
    messages::record(again.split(" after ").next().expect("the result"));
    desk.write(
        "falling.toml",
        &example("two_link").replace(
            "[experiment]",
            "[environment]\ngravity = [0.0, 0.0, -9.81]\n[experiment]",
        ),
    );
    assert_eq!(desk.run(&["equilibrium", "falling.toml"]).code, Some(1));
}
