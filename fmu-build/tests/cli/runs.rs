//! `grapple simulate`: failed and interrupted runs, input tables, and protection of input files.

use crate::desk::{Desk, example};
use crate::messages;
use crate::table::{last, table};

/// Returns the two-link spacecraft with other signals.
fn with_signals(signals: &str) -> String {
    let spec = example("two_link");
    let start = spec.find("[signal.").expect("it has signals");
    let end = start + spec[start..].find("[experiment]").expect("it has one");
    format!("{}{signals}{}", &spec[..start], &spec[end..])
}

#[test]
fn input_files_are_not_overwritten() {
    let _section = messages::of_this_test();
    let desk = Desk::with_example("two_link");
    let fed = "[signal.\"elbow.tau\"]\ntype = \"table\"\nfile = \"w.csv\"\n";
    let spec = with_signals(fed).replace("name = \"two_link\"", "name = \"w\"");
    desk.write("w.toml", &spec);
    let tau = "time,tau\n0.0,0.0\n1.0,0.1\n";
    desk.write("w.csv", tau);
    desk.succeed(&["build", "two_link.toml"]);
    let fmu = desk.bytes("two_link.fmu");
    for arguments in [
        &["simulate", "w.toml"][..],
        &["simulate", "w.toml", "-o", "./w.toml"],
        &["simulate", "w.toml", "-o", "x.csv", "--page", "w.csv"],
        &["simulate", "w.toml", "-o", "x", "--page", "x"],
        &["simulate", "two_link.fmu", "-o", "two_link.fmu"],
        &["build", "w.toml", "-o", "w.toml"],
        &["build", "w.toml", "-o", "w.csv"],
        &["describe", "w.toml", "--inputs-template", "w.csv"],
    ] {
        let outcome = desk.run(arguments);
        assert_eq!(outcome.code, Some(1), "{arguments:?}: {}", outcome.out);
        outcome.record();
    }
    assert_eq!((desk.text("w.toml"), desk.text("w.csv")), (spec, tau.to_owned()));
    assert!(desk.bytes("two_link.fmu") == fmu);
}

/// A ball that comes to rest by infinitely many impacts, at which the run stops with an error.
const RESTLESS: &str = r#"
name = "restless"
[environment]
gravity = [0.0, 0.0, -9.81]
[body.ball]
mass = 1.0
inertia = [0.004, 0.004, 0.004]
start = { position = [0.0, 0.0, 1.0] }
[contact.floor]
a = "ball"
b = "world"
surface = "plane"
radius_a = 0.1
e = 0.5
[experiment]
stop_time = 5.0
step = 0.05
"#;

#[test]
fn failed_run_reports_the_reason_and_keeps_its_results() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write("restless.toml", RESTLESS);
    let outcome = desk.run(&["simulate", "restless.toml"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.errors.contains("contact \"floor\""), "{}", outcome.errors);
    messages::record(messages::without_decimals(&outcome.errors));
    assert!(
        !outcome.errors.contains("N.s, work"),
        "the reason alone: {}",
        outcome.errors
    );
    assert!(
        outcome.out.contains("contact \"floor\"") && outcome.out.contains("N.s, work"),
        "{}",
        outcome.out
    );
    let csv = desk.text("restless.csv");
    let time = last(&table(&csv), "time [s]");
    assert!((1.0..2.0).contains(&time), "{time}");
    assert!(desk.text("restless.html").contains("The run did not reach its end"));
}

#[test]
fn too_many_values_are_refused_before_the_run() {
    let _section = messages::of_this_test();
    let desk = Desk::with_example("two_link");
    let outcome = desk.run(&["simulate", "two_link.toml", "--step", "1e-7"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.errors.contains("50000001"), "{}", outcome.errors);
    outcome.record();
    let study = "model = \"two_link.toml\"\nruns = 1\nexperiment = { step = 5.1e-8 }\n[output]\n\
                 \"elbow.q\" = [\"final\"]\n\"elbow.qd\" = [\"final\"]\n\"shoulder.q\" = [\"final\"]\n";
    desk.write("study.toml", study);
    desk.expect_problems(&["campaign", "study.toml"], "study.toml", &[(3, "98039217")]);
}

#[test]
fn input_table_agrees_with_the_same_signals() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    let tables = "[signal.\"shoulder.tau\"]\ntype = \"table\"\ntimes = [0.0, 1.0, 1.503, 3.0]\nvalues = [0.0, 0.3, -0.2, 0.1]\n\
                  [signal.\"elbow.tau\"]\ntype = \"table\"\ntimes = [0.0, 1.0, 1.503, 3.0]\nvalues = [0.1, 0.1, 0.0, 0.0]\n";
    desk.write("signals.toml", &with_signals(tables));
    desk.succeed(&["simulate", "signals.toml", "-o", "signals.csv", "--no-page"]);
    assert!(!desk.path("two_link.html").exists());
    // The input table replaces the sines of the spec; some titles have units, as in results.
    desk.write(
        "two_link.toml",
        &example("two_link").replace("from_importer = false", "from_importer = true"),
    );
    desk.write(
        "tau.csv",
        "time [s],elbow.tau [N.m],shoulder.tau\n0,0.1,0\n1,0.1,0.3\n1.503,0,-0.2\n3,0,0.1\n",
    );
    desk.succeed(&[
        "simulate",
        "two_link.toml",
        "--inputs",
        "tau.csv",
        "-o",
        "inputs.csv",
        "--no-page",
    ]);
    assert_eq!(desk.text("inputs.csv"), desk.text("signals.csv"));
    // The template of `describe` can be read.
    desk.succeed(&["describe", "two_link.toml", "--inputs-template", "template.csv"]);
    desk.succeed(&[
        "simulate",
        "two_link.toml",
        "--inputs",
        "template.csv",
        "--stop-time",
        "0.1",
    ]);
    assert_eq!(last(&table(&desk.text("two_link.csv")), "elbow.qd [rad/s]"), 0.0);
    for (text, name) in [
        ("time,elbow.tua\n0,1\n", "\"elbow.tua\""),
        ("t,elbow.tau\n0,1\n", "\"time\""),
        ("time,elbow.tau,elbow.tau\n0,1,1\n", "\"elbow.tau\""),
        ("time,elbow.tau\n0,1\n1,nan\n", "line 3: \"nan\""),
        ("time,elbow.tau\n1,1\n0,1\n", "line 3: "),
        ("time,elbow.tau\n0,1,2\n", "line: 2"),
        ("time,elbow.tau\n", ""),
    ] {
        desk.write("bad.csv", text);
        let outcome = desk.run(&["simulate", "two_link.toml", "--inputs", "bad.csv"]);
        assert_eq!(outcome.code, Some(1), "{text}");
        assert!(
            outcome.errors.contains(name) && outcome.errors.contains("bad.csv"),
            "{text}: {}",
            outcome.errors
        );
        outcome.record();
    }
}

#[test]
fn commands_in_a_table_of_inputs_are_steps() {
    let spec = r#"
name = "pulse"
[body.base]
mass = 2.0
inertia = [1.0, 1.0, 1.0]
[thruster.jet]
frame = "base"
direction = [1.0, 0.0, 0.0]
thrust = 4.0
[experiment]
stop_time = 2.0
step = 0.5
"#;
    let desk = Desk::new();
    desk.write("pulse.toml", spec);
    desk.write("on.csv", "time,jet.on\n0,0\n0.7,1\n1.2,0\n");
    desk.succeed(&["simulate", "pulse.toml", "--inputs", "on.csv", "--no-page"]);
    let csv = desk.text("pulse.csv");
    // The jet is on for half a second, with 2 m/s².
    let off = last(&table(&csv), "base.v[1] [m/s]") - 1.0;
    assert!(off.abs() < 1e-12, "{off:e}");
}

#[cfg(unix)]
mod interrupted {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    /// Starts the program with the desk as the directory in which it creates its temporary folder.
    fn begun(desk: &Desk, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_grapple"));
        command
            .args(arguments)
            .current_dir(desk.path(""))
            .env("TMPDIR", desk.path(""));
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        child.expect("the program runs")
    }

    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < Duration::from_secs(120), "{what}");
            sleep(Duration::from_millis(20));
        }
    }

    fn temporary_folders(desk: &Desk) -> usize {
        let entries = std::fs::read_dir(desk.path("")).expect("a folder").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("grapple-")).count()
    }

    fn signal(child: &Child, signal: &str) {
        let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(status.expect("kill runs").success());
    }

    fn ended(child: Child) -> (Option<i32>, String) {
        let output = child.wait_with_output().expect("it ends");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    #[test]
    fn interrupted_run_keeps_its_results_and_removes_the_temporary_folder() {
        for ends in ["-INT", "-TERM"] {
            let desk = Desk::with_example("two_link");
            let child = begun(
                &desk,
                &["simulate", "two_link.toml", "--stop-time", "1e6", "--step", "10"],
            );
            wait_until("it begins", || temporary_folders(&desk) == 1);
            signal(&child, ends);
            let (code, errors) = ended(child);
            assert_eq!(code, Some(130), "{errors}");
            assert!(errors.contains("interrupted at t = "), "{errors}");
            assert!(desk.text("two_link.csv").lines().count() >= 2);
            assert!(desk.path("two_link.html").exists());
            assert_eq!(temporary_folders(&desk), 0);
        }
    }

    #[test]
    fn second_interrupt_ends_the_process_at_once() {
        let desk = Desk::new();
        desk.write(
            "two_link.toml",
            &(example("two_link") + "\n[solver]\nwork_limit = 1e15\n[monitor]\nenergy_balance = 1e15\n"),
        );
        // The first run ends soon, the second never; together they would end at the same time.
        let study = "model = \"two_link.toml\"\nruns = 2\nexperiment = { stop_time = 0.1, step = 0.1 }\n\
                     [dispersion.\"signal.elbow.tau.frequency\"]\nlist = [1.0, 1e12]\n[output]\n\"elbow.q\" = [\"final\"]\n";
        desk.write("study.toml", study);
        let journal = desk.path("study/runs-0-of-1.jsonl");
        let mut child = begun(&desk, &["campaign", "study.toml", "--jobs", "1", "--alone"]);
        wait_until("a run ends", || {
            std::fs::read(&journal).is_ok_and(|lines| !lines.is_empty())
        });
        sleep(Duration::from_secs(2));
        signal(&child, "-INT");
        sleep(Duration::from_millis(500));
        assert!(
            child.try_wait().expect("it is known").is_none(),
            "it waits for the end of the step"
        );
        signal(&child, "-INT");
        assert_eq!(ended(child).0, Some(130));
        assert_eq!(temporary_folders(&desk), 0);
    }

    #[test]
    fn interrupted_campaign_keeps_its_runs() {
        let desk = Desk::with_example("two_link");
        let study = "model = \"two_link.toml\"\nruns = 100000\n[dispersion.\"base.mass\"]\nuniform = [4.0, 5.0]\n[output]\n\"elbow.q\" = [\"final\"]\n";
        desk.write("study.toml", study);
        let journal = desk.path("study/runs-0-of-1.jsonl");
        let lines = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        let child = begun(&desk, &["campaign", "study.toml", "--jobs", "1"]);
        wait_until("a run ends", || lines() > 0);
        signal(&child, "-TERM");
        let (code, errors) = ended(child);
        assert_eq!(code, Some(130), "{errors}");
        let expected = format!(
            "interrupted with {} of 100000 runs done; run the same command to continue",
            lines()
        );
        let errors = errors
            .split(|c: char| c.is_whitespace() || c == '│')
            .filter(|word| !word.is_empty());
        let errors = errors.collect::<Vec<_>>().join(" ");
        assert!(errors.contains(&expected), "{expected}: {errors}");
        assert_eq!(temporary_folders(&desk), 0);
    }
}
