//! Specs that include others.

use crate::desk::{Desk, example};
use crate::messages;

/// A spec divided into files in two folders, with a table of a signal, gives the model of the
/// undivided spec.
#[test]
fn divided_spec_gives_the_model_of_the_whole_one() {
    let desk = Desk::new();
    let whole = r#"name = "craft"
[body.base]
mass = 8.0
inertia = [0.4, 0.4, 0.4]
start = { position = [1.0, 0.0, 0.0], velocity = [0.1, 0.0, 0.0] }
[body.arm]
mass = 0.1
inertia = [0.1, 0.2, 0.2]
[joint.elbow]
type = "revolute"
parent = "base"
child = "arm"
servo = { kp = 3.0, kd = 2.0 }
[signal."elbow.tau"]
type = "table"
file = "parts/torque.csv"
[experiment]
stop_time = 2.0
"#;
    std::fs::create_dir(desk.path("parts")).expect("a folder");
    desk.write("parts/torque.csv", "0.0, 1.0\n2.0, -1.0\n");
    desk.write("whole.toml", whole);
    desk.write(
        "parts/arm.toml",
        "include = [\"base.toml\"]\n[body.arm]\nmass = 0.1\ninertia = [0.1, 0.2, 0.2]\n[joint.elbow]\ntype = \"revolute\"\nparent = \"base\"\n\
         child = \"arm\"\nservo = { kp = 1.0, kd = 2.0 }\n[signal.\"elbow.tau\"]\ntype = \"table\"\nfile = \"torque.csv\"\n",
    );
    desk.write(
        "parts/base.toml",
        "name = \"base\"\n[body.base]\nmass = 4.0\ninertia = [0.4, 0.4, 0.4]\nstart = { position = [1.0, 0.0, 0.0] }\n",
    );
    desk.write(
        "craft.toml",
        "include = [\"parts/arm.toml\"]\nname = \"craft\"\n[body.base]\nmass = 8.0\nstart = { velocity = [0.1, 0.0, 0.0] }\n[joint.elbow]\n\
         servo = { kp = 3.0 }\n[experiment]\nstop_time = 2.0\n",
    );
    for file in ["whole", "craft"] {
        desk.succeed(&["build", &format!("{file}.toml"), "-o", &format!("{file}.fmu")]);
    }
    let [divided, whole] = ["craft.fmu", "whole.fmu"].map(|fmu| desk.content(fmu, "resources/model.json"));
    assert_eq!(divided, whole);
    let [divided, whole] = ["craft.fmu", "whole.fmu"].map(|fmu| desk.content(fmu, "modelDescription.xml"));
    let without_date = |xml: &str| {
        xml.lines()
            .filter(|line| !line.contains("generationDate"))
            .collect::<String>()
    };
    assert_eq!(without_date(&divided), without_date(&whole));
}

/// A problem is shown in the file that contains its field.
#[test]
fn problems_are_located_in_the_file_that_contains_them() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write("base.toml", &example("two_link").replace("mass = ", "mass = -"));
    desk.write(
        "craft.toml",
        "include = [\"base.toml\"]\nname = \"craft\"\n[joint.nowhere]\ntype = \"revolute\"\n",
    );
    let outcome = desk.run(&["check", "craft.toml"]);
    assert_eq!(outcome.code, Some(1));
    outcome.record();
    let line = |file: &str, text: &str| {
        1 + desk
            .text(file)
            .lines()
            .position(|line| line.starts_with(text))
            .expect(text)
    };
    let parent = format!("[craft.toml:{}:", line("craft.toml", "[joint.nowhere]"));
    let mass = format!("[base.toml:{}:", line("base.toml", "mass = "));
    assert!(outcome.errors.contains(&parent), "{parent}\n{}", outcome.errors);
    // A missing field is reported first: the numbers are judged when the spec can be read.
    desk.write("craft.toml", "include = [\"base.toml\"]\nname = \"craft\"\n");
    let outcome = desk.run(&["check", "craft.toml"]);
    outcome.record();
    assert!(outcome.errors.contains(&mass), "{mass}\n{}", outcome.errors);
    // Of the files that contain the field, the one that is read last; and a field with a wrong name.
    desk.write("base.toml", &example("two_link"));
    desk.write("heavy.toml", "include = [\"base.toml\"]\n[body.base]\nmass = -7.0\n");
    desk.write("craft.toml", "include = [\"heavy.toml\"]\nname = \"craft\"\n");
    let outcome = desk.run(&["check", "craft.toml"]);
    assert!(outcome.errors.contains("[heavy.toml:3:"), "{}", outcome.errors);
    desk.write("heavy.toml", "include = [\"base.toml\"]\n\n[body.base]\nmas = 7.0\n");
    let outcome = desk.run(&["check", "craft.toml"]);
    assert!(outcome.errors.contains("[heavy.toml:4:"), "{}", outcome.errors);
    // Nothing included: the file alone.
    desk.write("craft.toml", "include = []\nname = \"craft\"\n[body.base]\nmas = 7.0\n");
    let outcome = desk.run(&["check", "craft.toml"]);
    assert!(outcome.errors.contains("[craft.toml:4:"), "{}", outcome.errors);
}

/// Files that are missing, are no TOML, include themselves, are too many, or are no files' names.
#[test]
fn files_that_cannot_be_included_are_named() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write("broken.toml", "name = \"a\"\n[body\n");
    desk.write("round.toml", "include = [\"./round.toml\"]\n");
    let many = (0..9).map(|k| format!("\"level_{k}.toml\"")).collect::<Vec<_>>();
    for (k, next) in many.iter().enumerate().skip(1) {
        desk.write(
            &format!("level_{}.toml", k - 1),
            &format!("include = [{next}, {next}]\n"),
        );
    }
    desk.write("level_8.toml", "");
    for (include, named) in [
        ("[\"nowhere.toml\"]", "cannot read nowhere.toml"),
        ("[\"broken.toml\"]", "broken.toml, line 2"),
        ("[\"round.toml\"]", "round.toml includes itself"),
        ("[\"level_0.toml\"]", "256"),
        ("\"round.toml\"", "list"),
        ("[3]", "strings"),
        ("[\".\"]", "cannot read ."),
    ] {
        desk.write("craft.toml", &format!("name = \"craft\"\ninclude = {include}\n"));
        let outcome = desk.run(&["check", "craft.toml"]);
        assert_eq!(outcome.code, Some(1), "{include}");
        outcome.record();
        assert!(outcome.errors.contains(named), "{named}\n{}", outcome.errors);
        assert!(outcome.errors.contains("[craft.toml:2:"), "{}", outcome.errors);
    }
}

/// A problem in a mounted file is shown there, one in the changes or the joint of a mount at the
/// mount, also if mounts are nested; and the same FMU results from the mounts of the example.
#[test]
fn problems_of_mounts_are_located_in_the_file_that_contains_them() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    let arm = example("mounts/arm");
    desk.write("claw.toml", "[body.palm]\nmass = 1.0\ninertia = [0.1, 0.1, -0.1]\n");
    desk.write(
        "arm.toml",
        &format!("{arm}\n[mount.claw]\nspec = \"claw.toml\"\non = \"tip\"\n"),
    );
    desk.write(
        "craft.toml",
        "name = \"craft\"\n[body.bus]\nmass = 4.0\ninertia = [1.0, 1.0, 1.0]\n\n[mount.left]\nspec = \"arm.toml\"\non = \"bus\"\n\
         joint = { type = \"revolute\", axis = [0.0, 0.0, 0.0] }\nset.joint.elbow.damping = -1.0\n",
    );
    let outcome = desk.run(&["check", "craft.toml"]);
    assert_eq!(outcome.code, Some(1));
    outcome.record();
    for place in ["[craft.toml:9:", "[craft.toml:10:", "[claw.toml:3:"] {
        assert!(outcome.errors.contains(place), "{place}\n{}", outcome.errors);
    }
    // An unknown field of a mounted file, and a wrong name in its own mount.
    desk.write("arm.toml", &arm.replace("damping = 0.5  ", "dampin = 0.5  "));
    let outcome = desk.run(&["check", "craft.toml"]);
    outcome.record();
    let line = 1 + desk
        .text("arm.toml")
        .lines()
        .position(|line| line.starts_with("dampin"))
        .expect("it is there");
    assert!(
        outcome.errors.contains(&format!("[arm.toml:{line}:")),
        "{}",
        outcome.errors
    );
    desk.write(
        "arm.toml",
        &format!("{arm}\n[mount.claw]\nspec = \"claw.toml\"\non = \"tp\"\n"),
    );
    let outcome = desk.run(&["check", "craft.toml"]);
    outcome.record();
    assert!(
        outcome.errors.contains("[arm.toml:") && outcome.errors.contains("\"tip\""),
        "{}",
        outcome.errors
    );
}

/// The example: names of mounted parts in the FMU, the tree with positions, and settings of mounted
/// files that do not apply.
#[test]
fn tree_of_a_servicer_with_mounts_has_masses_and_positions() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    for file in ["arm", "client", "servicer"] {
        desk.write(&format!("{file}.toml"), &example(&format!("mounts/{file}")));
    }
    let out = desk.succeed(&["check", "servicer.toml"]);
    messages::record(messages::without_speed(&out));
    assert!(out.contains("floats: bus, client.hull"), "{out}");
    let row = |name: &str| {
        let line = out
            .lines()
            .find(|line| line.trim().starts_with(name))
            .unwrap_or_else(|| panic!("{name}\n{out}"));
        line.trim().to_owned()
    };
    // 0.1 m along the port, 30 deg to the left of x: (0.5 + 0.0866, 0.5 + 0.05).
    assert!(row("left.upper ").contains("(0.586603, 0.55, 0)") && row("left.upper ").ends_with("30° about z"));
    assert!(
        row("right.forearm ").contains("6 kg") && row("client.pin ").contains("(2.4, 0, 0)"),
        "{out}"
    );
    desk.write(
        "heavy.toml",
        &(desk.text("arm.toml") + "[environment]\ngravity = [0.0, 0.0, -9.81]\n"),
    );
    desk.write(
        "servicer.toml",
        &desk.text("servicer.toml").replace("\"arm.toml\"", "\"heavy.toml\""),
    );
    let out = desk.succeed(&["check", "servicer.toml"]);
    assert!(
        out.contains("mount \"left\": environment of heavy.toml does not apply"),
        "{out}"
    );
    // A large model shows its tree on request.
    let mut many = "name = \"many\"\n".to_owned();
    for i in 0..50 {
        many += &format!("[body.b{i}]\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n");
    }
    desk.write("many.toml", &many);
    let out = desk.succeed(&["check", "many.toml"]);
    assert!(
        out.contains("50 parts float") && out.contains("--frames") && !out.contains("b49"),
        "{out}"
    );
    assert!(desk.succeed(&["check", "--frames", "many.toml"]).contains("b49"));
}
