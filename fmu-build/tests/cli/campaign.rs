//! `grapple campaign`: errors of a study, the identity of a folder, and failed runs. Values and
//! statistics, shards and killed runs are tested in `tests/python/test_campaign.py`.

use crate::desk::Desk;
use crate::messages;

/// Returns a study of the two-link spacecraft with additional lines.
fn study(rest: &str) -> String {
    format!("model = \"two_link.toml\"\nruns = 3\nexperiment = {{ stop_time = 0.1, step = 0.1 }}\n{rest}")
}

const OUTPUT: &str = "[output]\n\"elbow.q\" = [\"final\"]\n";

fn desk(rest: &str) -> Desk {
    let desk = Desk::with_example("two_link");
    desk.write("study.toml", &study(rest));
    desk
}

/// Asserts that a study with the lines `rest` has these problems: line and name. Line 4 is the
/// first of `rest`.
fn expect_problems(rest: &str, problems: &[(usize, &str)]) {
    desk(rest).expect_problems(&["campaign", "study.toml"], "study.toml", problems);
}

#[test]
fn all_errors_of_a_study_are_reported_at_once() {
    let _section = messages::of_this_test();
    expect_problems(
        r#"[set]
"base.mas" = 1.0
"elbow.q_start" = 0.1

[dispersion."upper_arm.mass"]
uniform = [0.5, -0.5]
[dispersion."forearm.mass"]
normal = { mean = 1.0, sigma = 0.0 }
[dispersion."base.mass"]
list = [4.0, -1.0]
[dispersion."elbow.q_start"]
uniform = [0.0, 0.1]
relative = true
[dispersion."tip.origin[1]"]
[dispersion."tip.origin[2]"]
list = [0.0]
grid = [0.0]
[dispersion."tip.origin[3]"]
normal = { sigma = 0.1, bounds = [9.0, 10.0] }
[dispersion."forearm.inertia_xx"]
grid = { from = 0.1, to = inf, count = 2 }

[output]
"elbow.r" = ["final"]
"elbow.q" = []
"elbow.qd" = ["max", "max"]
"#,
        &[
            (5, "\"base.mas\""),
            (6, "\"elbow.q_start\""),
            (9, "dispersion \"upper_arm.mass\", uniform"),
            (9, "-0.5 kg"),
            (11, "dispersion \"forearm.mass\", normal"),
            (13, "dispersion \"base.mass\", list: -1 kg"),
            (16, "dispersion \"elbow.q_start\", relative"),
            (17, "dispersion \"tip.origin[1]\""),
            (18, "dispersion \"tip.origin[2]\""),
            (22, "dispersion \"tip.origin[3]\""),
            (24, "dispersion \"forearm.inertia_xx\""),
            (27, "\"elbow.r\""),
            (28, "\"elbow.q\""),
            (29, "\"max\""),
        ],
    );
}

#[test]
fn unknown_fields_and_values_of_a_study_are_reported_with_their_position() {
    let _section = messages::of_this_test();
    expect_problems(
        &format!("[dispersion.\"base.mass\"]\nunifrom = [1.0, 2.0]\n{OUTPUT}"),
        &[(
            5,
            "dispersion \"base.mass\", unifrom: unknown field `unifrom`; did you mean `uniform`?",
        )],
    );
    expect_problems(
        "[output]\n\"elbow.q\" = [\"maximum\"]\n",
        &[(5, "output \"elbow.q\": unknown word `maximum`; did you mean `max`?")],
    );
    let desk = Desk::with_example("two_link");
    desk.write("study.toml", &study(OUTPUT).replace("runs = 3\n", ""));
    let outcome = desk.run(&["campaign", "study.toml"]);
    assert!(outcome.errors.contains("`runs`"), "{}", outcome.errors);
    outcome.record();
    desk.write("study.toml", &study(OUTPUT).replace("step = 0.1", "step = -0.1"));
    desk.expect_problems(&["campaign", "study.toml"], "study.toml", &[(3, "-0.1")]);
    assert_eq!(desk.run(&["campaign", "study.toml", "--shard", "3/3"]).code, Some(2));
}

/// A field that cannot be read hides no error of another field, and causes none.
#[test]
fn misread_fields_and_wrong_values_of_a_study_are_reported_together() {
    let _section = messages::of_this_test();
    expect_problems(
        r#"sed = 7
[set]
"base.mas" = 1.0
[dispersion."forearm.mass"]
uniform = [2.0, 1.0]
[dispersion."elbow.q_start"]
normal = { sgma = 0.1 }
[output]
"elbow.qdd" = ["average"]
"elbow.rate" = ["max"]
"#,
        &[
            (4, "`seed`"),
            (6, "\"base.mass\""),
            (8, "dispersion \"forearm.mass\", uniform"),
            (10, "`sigma`"),
            (12, "`mean`"),
            (13, "output \"elbow.rate\""),
        ],
    );
    let desk = desk("");
    desk.write("study.toml", "model = \"two_links.toml\"\nrun = 3\n");
    let outcome = desk.run(&["campaign", "study.toml"]);
    for part in ["`output`", "`runs`", "\"two_links.toml\"", "3 problems"] {
        assert!(outcome.errors.contains(part), "{part}: {}", outcome.errors);
    }
    outcome.record();
}

#[test]
fn normal_values_below_the_minimum_are_reported_before_the_runs() {
    let _section = messages::of_this_test();
    let wide = "[dispersion.\"base.mass\"]\nnormal = { sigma = 4.0 }\n";
    let desk = desk(&format!("{wide}{OUTPUT}"));
    desk.write("study.toml", &desk.text("study.toml").replace("runs = 3", "runs = 300"));
    let outcome = desk.run(&["campaign", "study.toml"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.out);
    let messages = outcome.expect_places("study.toml", &[(5, "`bounds`")]);
    messages::record(messages::without_decimals(&messages[0]));
    desk.write(
        "study.toml",
        &desk.text("study.toml").replace("4.0 }", "4.0, bounds = [0.1, 9.0] }"),
    );
    desk.succeed(&["campaign", "study.toml"]);
}

#[test]
fn signal_from_the_importer_has_no_parameters_but_its_input_can_be_set() {
    let _section = messages::of_this_test();
    let desk = desk(&format!(
        "[dispersion.\"signal.elbow.tau.amplitude\"]\nlist = [1.0]\n{OUTPUT}"
    ));
    desk.write(
        "two_link.toml",
        &desk
            .text("two_link.toml")
            .replace("from_importer = false", "from_importer = true"),
    );
    desk.expect_problems(&["campaign", "study.toml"], "study.toml", &[(4, "\"elbow.tau\"")]);
    // This is not the name of a signal, though it begins with that of an input.
    let unknown = "[dispersion.\"signal.elbow.tau_x.amplitude\"]\nlist = [1.0]\n";
    desk.write("study.toml", &study(&format!("{unknown}{OUTPUT}")));
    let name = "\"signal.elbow.tau_x.amplitude\"";
    desk.expect_problems(&["campaign", "study.toml"], "study.toml", &[(4, name)]);
    desk.write(
        "study.toml",
        &study("[dispersion.\"elbow.tau\"]\nlist = [0.25, -0.5]\n[output]\n\"elbow.tau\" = [\"min\", \"max\"]\n"),
    );
    desk.succeed(&["campaign", "study.toml"]);
    assert_eq!(
        desk.text("study/runs.csv"),
        "run,elbow.tau [N.m],min(elbow.tau) [N.m],max(elbow.tau) [N.m],status,message\n\
         0,0.25,0.25,0.25,ok,\n1,-0.5,-0.5,-0.5,ok,\n2,0.25,0.25,0.25,ok,\n"
    );
}

#[test]
fn folder_of_another_study_is_refused_with_the_differences() {
    let _section = messages::of_this_test();
    let dispersed = "[dispersion.\"base.mass\"]\nuniform = [4.0, 5.0]\n";
    let desk = desk(&format!("{dispersed}{OUTPUT}"));
    desk.succeed(&["campaign", "study.toml"]);
    let first = desk.text("study/runs.csv");
    desk.write(
        "study.toml",
        &desk
            .text("study.toml")
            .replace("runs = 3", "runs = 3\nseed = 7")
            .replace("5.0", "6.0"),
    );
    let refused = desk.run(&["campaign", "study.toml"]);
    assert_eq!(refused.code, Some(1));
    for name in ["seed", "dispersion.base.mass.uniform"] {
        assert!(refused.errors.contains(name), "{name}: {}", refused.errors);
    }
    refused.record();
    assert_eq!(desk.text("study/runs.csv"), first);
    desk.succeed(&["campaign", "study.toml", "--output", "other"]);
    // A study with more runs is still the same study: the finished runs are kept.
    desk.write(
        "study.toml",
        &study(&format!("{dispersed}{OUTPUT}")).replace("runs = 3", "runs = 5"),
    );
    desk.succeed(&["campaign", "study.toml"]);
    assert!(desk.text("study/runs.csv").starts_with(&first));
    desk.write(
        "two_link.toml",
        &desk.text("two_link.toml").replace("mass = 4.0", "mass = 4.5"),
    );
    let refused = desk.run(&["campaign", "study.toml"]);
    assert!(refused.errors.contains("GUID"), "{}", refused.errors);
}

#[test]
fn a_run_that_fails_is_a_row_with_its_message() {
    let _section = messages::of_this_test();
    // The moment of inertia about one axis cannot exceed the sum of the other two.
    let desk = desk(&format!(
        "[dispersion.\"base.inertia_zz\"]\nlist = [0.4, 0.9, 0.5]\n{OUTPUT}"
    ));
    let outcome = desk.run(&["campaign", "study.toml"]);
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.errors.contains("study/runs.csv"), "{}", outcome.errors);
    outcome.record();
    let table = desk.text("study/runs.csv");
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert!(rows[0].starts_with("0,0.4,") && rows[0].ends_with(",ok,"), "{table}");
    assert!(
        rows[1].starts_with("1,0.9,,failed,") && rows[1].contains("base"),
        "{table}"
    );
    messages::record(rows[1]);
    assert!(rows[2].starts_with("2,0.5,") && rows[2].ends_with(",ok,"), "{table}");
    // Failed runs are not repeated, but reported again.
    let again = desk.run(&["campaign", "study.toml"]);
    assert_eq!((again.code, desk.text("study/runs.csv")), (Some(3), table));
}

#[test]
fn incomplete_line_is_repeated_and_damaged_one_is_reported() {
    let _section = messages::of_this_test();
    let desk = desk(&format!("[dispersion.\"base.mass\"]\nuniform = [4.0, 5.0]\n{OUTPUT}"));
    desk.succeed(&["campaign", "study.toml", "--jobs", "1"]);
    let (table, journal) = (desk.text("study/runs.csv"), desk.text("study/runs-0-of-1.jsonl"));
    desk.write("study/runs-0-of-1.jsonl", &journal[..journal.len() - 9]);
    std::fs::remove_file(desk.path("study/runs.csv")).expect("it is there");
    desk.succeed(&["campaign", "study.toml"]);
    assert_eq!(
        (desk.text("study/runs.csv"), desk.text("study/runs-0-of-1.jsonl")),
        (table, journal.clone())
    );
    for damaged in [
        journal.replacen('{', "", 1),
        journal.replacen("\"values\":[", "\"values\":[1.0,", 1),
    ] {
        desk.write("study/runs-0-of-1.jsonl", &damaged);
        let outcome = desk.run(&["campaign", "study.toml"]);
        assert!(
            outcome.errors.contains("runs-0-of-1.jsonl, line 1"),
            "{}",
            outcome.errors
        );
        outcome.record();
    }
}

#[test]
fn plan_lists_the_values_of_the_runs_without_running() {
    let desk = desk(&format!(
        "[set]\n\"elbow.q_start\" = 0.5\n[dispersion.\"base.mass\"]\nnormal = {{ sigma = 0.1 }}\n{OUTPUT}"
    ));
    let plan = desk.succeed(&["campaign", "study.toml", "--plan"]);
    assert!(!desk.path("study").exists());
    desk.succeed(&["campaign", "study.toml"]);
    let table = desk.text("study/runs.csv");
    assert_eq!(plan.lines().count(), 4);
    for (planned, done) in plan.lines().zip(table.lines()) {
        assert!(done.starts_with(&format!("{planned},")), "{planned}: {done}");
    }
}

#[test]
fn model_path_is_relative_to_the_study() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/campaign/docking.toml");
    let plan = Desk::new().succeed(&["campaign", example, "--plan"]);
    assert!(
        plan.starts_with("run,latch.capture,servicer.v_start[1] [m/s],target.r_start[2] [m],"),
        "{plan}"
    );
    assert_eq!(plan.lines().count(), 501);
}

#[test]
fn time_series_of_an_output_is_written_to_a_file_of_the_run() {
    let rest = "[dispersion.\"elbow.qd_start\"]\nlist = [0.1, 0.2]\n[output]\n\"elbow.q\" = [\"final\"]\n\"elbow.qd\" = [\"series\"]\n";
    let desk = desk(rest);
    desk.succeed(&["campaign", "study.toml"]);
    let series = desk.text("study/series/000001.csv");
    assert!(
        series.starts_with("time [s],elbow.qd [rad/s]\n0.0,0.2\n0.1,"),
        "{series}"
    );
    assert_eq!(
        (series.lines().count(), desk.path("study/series/000002.csv").exists()),
        (3, true)
    );
}

#[test]
fn what_keeps_runs_from_lanes_is_named() {
    let desk = desk(OUTPUT);
    let outcome = desk.run(&["campaign", "study.toml"]);
    assert_eq!(
        (outcome.code, outcome.errors.contains("in lanes")),
        (Some(0), false),
        "{}",
        outcome.errors
    );
    let spec = desk.text("two_link.toml");
    desk.write("two_link.toml", &format!("formulation = \"quaternion\"\n{spec}"));
    for (options, is_named) in [([].as_slice(), true), (&["--alone"], false)] {
        let arguments = [
            &[
                "campaign",
                "study.toml",
                "--output",
                if is_named { "named" } else { "alone" },
            ],
            options,
        ]
        .concat();
        let outcome = desk.run(&arguments);
        assert_eq!(outcome.code, Some(0), "{}", outcome.errors);
        assert_eq!(
            outcome
                .errors
                .contains("formulation \"quaternion\" is not evaluated in lanes"),
            is_named
        );
    }
}
