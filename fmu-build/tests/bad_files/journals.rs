//! Damaged journals and identities of a campaign that is continued.

use crate::campaign::{Outcome, run};
use crate::mutate;
use crate::program::{Desk, file};
use rand::RngExt;

const STUDY: &str = r#"
model = "two_link.fmu"
runs = 4
experiment = { stop_time = 0.01, step = 0.01 }
[dispersion."base.mass"]
uniform = [3.0, 5.0]
[output]
"elbow.q" = ["final"]
"base.q[1]" = ["peak", "rms"]
"#;

#[test]
fn damaged_journal_is_refused_or_completed() {
    let desk = Desk::new();
    desk.write("two_link.toml", file("examples/two_link.toml"))
        .expect("a spec");
    desk.write("study.toml", STUDY).expect("a study");
    assert_eq!(desk.run(&["build", "two_link.toml"]), Ok(Outcome::Works));
    let arguments = ["campaign", "study.toml", "--jobs", "1"];
    assert_eq!(desk.run(&arguments), Ok(Outcome::Works));
    let (identity, journal, table) = ("study/study.json", "study/runs-0-of-1.jsonl", "study/runs.csv");
    let [good, runs] = [identity, journal].map(|path| std::fs::read(desk.path(path)).expect("it was written"));
    run("journals", 40, |rng, made| {
        let mut files = [good.clone(), runs.clone()];
        let which = usize::from(rng.random_range(0..4) > 0);
        let other = if rng.random() { good.clone() } else { runs.clone() };
        let bad = &mut files[which];
        if rng.random() {
            mutate::bytes(rng, bad, &other);
        } else {
            let mut text = String::from_utf8_lossy(bad).into_owned();
            mutate::text(rng, &mut text, &String::from_utf8_lossy(&other));
            *bad = text.into_bytes();
        }
        made.extend_from_slice(bad);
        desk.write(identity, &files[0])?;
        desk.write(journal, &files[1])?;
        let _ = std::fs::remove_file(desk.path(table));
        let outcome = desk.run(&arguments)?;
        let rows = std::fs::read_to_string(desk.path(table)).map_or(0, |text| text.lines().count());
        match outcome {
            Outcome::Works if rows != 5 => Err(format!("the table of four runs has {rows} lines")),
            outcome => Ok(outcome),
        }
    });
}
