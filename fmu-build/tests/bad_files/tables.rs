//! Damaged tables of signals, as CSV.

use crate::campaign::run;
use crate::mutate;
use crate::program::Desk;
use rand::RngExt;
use std::fmt::Write;

const SPEC: &str = r#"
name = "table"
[body.link]
mass = 1.0
inertia = [1.0, 1.0, 1.0]
[joint.hinge]
type = "revolute"
parent = "world"
child = "link"
[signal."hinge.tau"]
type = "table"
file = "table.csv"
"#;

#[test]
fn damaged_table_is_refused_or_read() {
    let table = |separator: &str| {
        let mut text = format!("time{separator} tau\n");
        for i in 0..40 {
            let t = 0.25 * f64::from(i);
            let _ = writeln!(text, "{t}{separator} {:e}", (3.0 * t).sin());
        }
        text
    };
    let (good, other) = (table(","), table("\t"));
    let desk = Desk::new();
    desk.write("spec.toml", SPEC).expect("a spec");
    run("tables", 60, |rng, made| {
        let mut text = good.clone();
        if rng.random() {
            *made = text.into_bytes();
            mutate::bytes(rng, made, other.as_bytes());
        } else {
            mutate::text(rng, &mut text, &other);
            *made = text.into_bytes();
        }
        desk.write("table.csv", &made)?;
        desk.run(&["check", "spec.toml"])
    });
}
