//! Damaged files of studies.

use crate::campaign::{Outcome, run};
use crate::mutate;
use crate::program::{Desk, file};
use rand::RngExt;

/// A study with every field.
const STUDY: &str = r#"
description = "everything"
model = "two_link.fmu"
runs = 5
seed = 7
format = "csv"
experiment = { stop_time = 0.1, step = 0.05, tolerance = 1e-6 }
[set]
"elbow.q_start" = 0.1
[dispersion."base.mass"]
uniform = [3.0, 5.0]
[dispersion."upper_arm.mass"]
normal = { mean = 1.0, sigma = 0.2, bounds = [0.5, 1.5] }
[dispersion."forearm.mass"]
normal = { sigma = 0.05 }
relative = true
[dispersion."shoulder.q_start"]
grid = { from = -0.5, to = 0.5, count = 3 }
[dispersion."elbow.qd_start"]
grid = [0.0, 0.1]
[dispersion."shoulder.qd_start"]
list = [0.0, 0.1, 0.2]
draw = true
[output]
"elbow.q" = ["final", "min", "max"]
"base.q[1]" = ["peak", "mean", "rms", "series"]
"#;

#[test]
fn damaged_study_is_refused_or_planned() {
    let other = file("examples/campaign/docking.toml");
    let desk = Desk::new();
    desk.write("two_link.toml", file("examples/two_link.toml"))
        .expect("a spec");
    assert_eq!(desk.run(&["build", "two_link.toml"]), Ok(Outcome::Works));
    run("studies", 60, |rng, made| {
        let mut text = STUDY.to_owned();
        if rng.random_range(0..4) == 0 {
            *made = text.into_bytes();
            mutate::bytes(rng, made, other.as_bytes());
        } else {
            mutate::text(rng, &mut text, &other);
            *made = text.into_bytes();
        }
        desk.write("study.toml", &made)?;
        desk.run(&["campaign", "study.toml", "--plan"])
    });
}
