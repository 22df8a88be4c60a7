//! `grapple import`: conversion of links and joints, warnings, and refusals with their positions.

use crate::desk::Desk;
use crate::messages;

/// Returns a link with mass and a valid inertia.
fn link(name: &str) -> String {
    format!(
        "<link name=\"{name}\"><inertial><origin xyz=\"0.1 0 0\"/><mass value=\"2\"/>\
         <inertia ixx=\"0.1\" ixy=\"0\" ixz=\"0\" iyy=\"0.1\" iyz=\"0\" izz=\"0.1\"/></inertial></link>\n"
    )
}

fn joint(name: &str, kind: &str, parent: &str, child: &str, more: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{more}</joint>\n"
    )
}

fn robot(parts: &[String]) -> String {
    format!("<robot name=\"arm\">\n{}</robot>\n", parts.concat())
}

/// Returns the spec of a robot, and the messages of the import.
fn imported(urdf: &str, options: &[&str]) -> (toml::Table, String) {
    let desk = Desk::new();
    desk.write("arm.urdf", urdf);
    let outcome = desk.run(&[&["import", "arm.urdf"], options].concat());
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.errors);
    desk.succeed(&["check", "arm.toml"]);
    let spec = desk.text("arm.toml").parse().expect("TOML");
    (spec, outcome.errors)
}

/// Returns a field of a spec, e.g. `joint.elbow.range.max`.
fn at<'a>(spec: &'a toml::Table, path: &str) -> Option<&'a toml::Value> {
    let (first, rest) = path.split_once('.')?;
    rest.split('.').try_fold(spec.get(first)?, |value, key| value.get(key))
}

fn assert_field(spec: &toml::Table, path: &str, expected: &str) {
    let value = at(spec, path).map(ToString::to_string);
    assert_eq!(value.as_deref(), Some(expected), "{path}");
}

/// Asserts that a list of numbers in a spec matches to round-off.
fn assert_close(spec: &toml::Table, path: &str, expected: &[f64]) {
    let list = at(spec, path).and_then(toml::Value::as_array).expect(path);
    assert_eq!(list.len(), expected.len(), "{path}: {list:?}");
    for (value, expected) in list.iter().zip(expected) {
        let off = (value.as_float().expect("a number") - expected).abs();
        assert!(off < 1e-15, "{path}: {list:?}");
    }
}

/// Asserts that a robot is refused: the line of each problem, and a name in its message.
fn expect_problems(urdf: &str, options: &[&str], problems: &[(usize, &str)]) {
    let desk = Desk::new();
    desk.write("arm.urdf", urdf);
    let outcome = desk.run(&[&["import", "arm.urdf"], options].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.out);
    outcome
        .expect_places("arm.urdf", problems)
        .iter()
        .for_each(messages::record);
    assert!(!desk.path("arm.toml").exists(), "nothing is written");
}

#[test]
fn all_joint_types_are_converted_with_limits_and_friction() {
    let limit =
        "<limit lower=\"-1.5\" upper=\"2\" effort=\"40\" velocity=\"3\"/><dynamics damping=\"0.5\" friction=\"0.2\"/>";
    let urdf = robot(&[
        link("base"),
        link("a"),
        link("b"),
        link("c"),
        link("d"),
        joint(
            "turn",
            "revolute",
            "base",
            "a",
            &format!("<origin xyz=\"1 2 3\" rpy=\"0 0 0.5\"/><axis xyz=\"0 0 -1\"/>{limit}"),
        ),
        joint("spin", "continuous", "a", "b", limit),
        joint(
            "slide",
            "prismatic",
            "b",
            "c",
            &format!("<origin quat_xyzw=\"0 0 0 2\"/><axis xyz=\"0 3 4\"/>{limit}"),
        ),
        joint("loose", "floating", "c", "d", ""),
    ]);
    let (spec, printed) = imported(&urdf, &[]);
    for (path, expected) in [
        ("joint.base_mount.type", "\"fixed\""),
        ("joint.base_mount.parent", "\"world\""),
        ("joint.turn.type", "\"revolute\""),
        ("joint.turn.parent", "\"base\""),
        ("joint.turn.child", "\"a\""),
        ("joint.turn.origin", "[1.0, 2.0, 3.0]"),
        ("joint.turn.rpy_deg", "[0.0, 0.0, 28.64788975654116]"),
        ("joint.turn.axis", "[0.0, 0.0, -1.0]"),
        ("joint.turn.range", "{ min = -1.5, max = 2.0 }"),
        ("joint.turn.motor", "{ torque_limit = 40.0, rate_limit = 3.0 }"),
        ("joint.turn.damping", "0.5"),
        ("joint.turn.friction", "{ coulomb = 0.2, slip = 0.01 }"),
        ("joint.spin.type", "\"revolute\""),
        ("joint.spin.axis", "[1.0, 0.0, 0.0]"),
        ("joint.slide.type", "\"prismatic\""),
        ("joint.slide.axis", "[0.0, 3.0, 4.0]"),
        ("joint.slide.range", "{ min = -1.5, max = 2.0 }"),
        ("joint.loose.type", "\"free\""),
    ] {
        assert_field(&spec, path, expected);
    }
    for absent in [
        "joint.spin.range",
        "joint.spin.origin",
        "joint.slide.orientation",
        "joint.loose.axis",
    ] {
        assert_eq!(at(&spec, absent), None, "{absent}");
    }
    assert!(!printed.contains("warning"), "{printed}");
}

#[test]
fn links_on_fixed_joints_are_merged_and_become_frames() {
    let urdf = robot(&[
        link("base"),
        link("arm_link"),
        "<link name=\"flange\"/>".to_owned(),
        link("camera"),
        joint("shoulder", "continuous", "base", "arm_link", ""),
        joint(
            "to_flange",
            "fixed",
            "arm_link",
            "flange",
            "<origin xyz=\"1 0 0\" rpy=\"0 0 1.5707963267948966\"/>",
        ),
        joint("to_camera", "fixed", "flange", "camera", "<origin xyz=\"0.2 0 0\"/>"),
    ]);
    let (lumped, _) = imported(&urdf, &[]);
    assert_field(&lumped, "body.arm_link.mass", "4.0");
    // The mass centres are at (0.1, 0) and (1, 0.3) along and across the arm.
    assert_close(&lumped, "body.arm_link.mass_centre", &[0.55, 0.15, 0.0]);
    // Steiner's theorem with the reduced mass of 1 kg: 0.2 + 0.3², 0.2 + 0.9², and so on.
    assert_close(&lumped, "body.arm_link.inertia", &[0.29, 1.01, 1.10, -0.27, 0.0, 0.0]);
    assert_field(&lumped, "frame.flange.body", "\"arm_link\"");
    assert_field(&lumped, "frame.flange.rpy_deg", "[0.0, 0.0, 90.0]");
    assert_field(&lumped, "frame.camera.body", "\"arm_link\"");
    assert_close(&lumped, "frame.camera.origin", &[1.0, 0.2, 0.0]);

    let (kept, _) = imported(&urdf, &["--keep-fixed"]);
    assert_field(&kept, "body.arm_link.mass", "2.0");
    assert_field(&kept, "joint.to_camera.type", "\"fixed\"");
    assert_field(&kept, "joint.to_camera.parent", "\"arm_link\"");
    assert_field(&kept, "frame.flange.body", "\"arm_link\"");
}

#[test]
fn base_is_fixed_to_the_world_or_floats() {
    let _section = messages::of_this_test();
    let urdf = robot(&[link("base"), link("a"), joint("j", "continuous", "base", "a", "")]);
    let (fixed, _) = imported(&urdf, &[]);
    assert_field(&fixed, "joint.base_mount.child", "\"base\"");
    let (floating, _) = imported(&urdf, &["--base", "floating"]);
    assert_eq!(at(&floating, "joint.base_mount"), None);
    assert_field(&floating, "body.base.start.position", "[0.0, 0.0, 0.0]");

    // A root link without mass is replaced by the world; one named "world" is the world, and a link
    // fixed there can be set free.
    let on = |root: &str| {
        robot(&[
            format!("<link name=\"{root}\"/>\n"),
            link("base"),
            link("a"),
            joint(
                "footing",
                "fixed",
                root,
                "base",
                "<origin xyz=\"0 0 2\" rpy=\"0 0 1.5\"/>",
            ),
            joint("j", "continuous", "base", "a", ""),
        ])
    };
    let (fixed, _) = imported(&on("world"), &[]);
    assert_field(&fixed, "joint.footing.parent", "\"world\"");
    assert_field(&fixed, "joint.footing.origin", "[0.0, 0.0, 2.0]");
    let (floating, _) = imported(&on("world"), &["--base", "floating"]);
    assert_field(&floating, "body.base.start.position", "[0.0, 0.0, 2.0]");
    let (lumped, _) = imported(&on("dummy"), &["--base", "floating"]);
    assert_field(&lumped, "body.dummy.mass", "2.0");
    assert_field(&lumped, "frame.base.origin", "[0.0, 0.0, 2.0]");

    let sliding = robot(&[
        "<link name=\"world\"/>\n".to_owned(),
        link("a"),
        joint("j", "prismatic", "world", "a", ""),
    ]);
    expect_problems(&sliding, &["--base", "floating"], &[(4, "joint \"j\"")]);
    let massless = robot(&[
        "<link name=\"rail\"/>\n".to_owned(),
        link("a"),
        joint("j", "prismatic", "rail", "a", ""),
    ]);
    expect_problems(&massless, &["--base", "floating"], &[(2, "\"rail\"")]);
    let (carried, printed) = imported(&massless, &[]);
    assert_field(&carried, "joint.j.parent", "\"world\"");
    assert!(printed.contains("link \"rail\""), "{printed}");
    messages::record(printed);
}

#[test]
fn unlikely_data_is_reported() {
    let _section = messages::of_this_test();
    let flat = link("flat").replace("izz=\"0.1\"", "izz=\"0.3\"");
    let centred = link("centred").replace("0.1 0 0", "0 0 0");
    // A rod, merged with the flat link, makes the inertia of the body valid.
    let rod = link("rod")
        .replace("ixx=\"0.1\"", "ixx=\"2\"")
        .replace("iyy=\"0.1\"", "iyy=\"2\"");
    let urdf = robot(&[
        link("base"),
        flat,
        rod,
        centred,
        link("twin"),
        "<link name=\"tip\"/><link name=\"empty\"/>".to_owned(),
        link("2nd-stage"),
        joint("a", "continuous", "base", "flat", ""),
        joint("weld", "fixed", "flat", "rod", ""),
        joint(
            "b",
            "revolute",
            "rod",
            "centred",
            "<limit lower=\"1\" upper=\"2\" effort=\"0\" velocity=\"1\"/>",
        ),
        joint(
            "twin",
            "revolute",
            "base",
            "twin",
            "<mimic joint=\"b\" multiplier=\"-2\" offset=\"0.5\"/>",
        ),
        joint(
            "nothing",
            "revolute",
            "twin",
            "tip",
            "<limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/>",
        ),
        joint("weld2", "fixed", "tip", "empty", ""),
        joint("time", "continuous", "twin", "2nd-stage", ""),
    ]);
    let (spec, printed) = imported(&urdf, &[]);
    for name in [
        "link \"flat\"",
        "centred",
        "joint \"nothing\"",
        "joint \"b\"",
        "joint \"twin\"",
        "time_joint",
        "twin_link",
        "link_2nd_stage",
    ] {
        assert!(printed.contains(name), "{name}:\n{printed}");
    }
    messages::record(printed);
    assert_field(&spec, "joint.b.start.position", "1.5");
    assert_field(&spec, "coupling.twin_mimic.joint", "\"twin\"");
    assert_field(&spec, "coupling.twin_mimic.follows", "\"b\"");
    assert_field(&spec, "coupling.twin_mimic.ratio", "-2.0");
    assert_field(&spec, "coupling.twin_mimic.offset", "0.5");
    assert_field(&spec, "joint.time_joint.child", "\"link_2nd_stage\"");
    assert_field(&spec, "frame.tip.body", "\"twin_link\"");
    assert_field(&spec, "frame.empty.body", "\"twin_link\"");
}

#[test]
fn invalid_spec_is_written_and_its_problems_reported() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    let flat = link("flat").replace("izz=\"0.1\"", "izz=\"0.3\"");
    desk.write(
        "arm.urdf",
        &robot(&[link("base"), flat, joint("a", "continuous", "base", "flat", "")]),
    );
    let outcome = desk.run(&["import", "arm.urdf", "-o", "flat.toml"]);
    assert_eq!(outcome.code, Some(1));
    for text in ["body \"flat\", inertia", "[flat.toml:"] {
        assert!(outcome.errors.contains(text), "{text}: {}", outcome.errors);
    }
    outcome.record();
    assert!(desk.text("flat.toml").contains("[body.flat]"));
}

#[test]
fn all_errors_are_reported_at_once_with_their_lines() {
    let _section = messages::of_this_test();
    let urdf = robot(&[
        link("base"),
        link("a").replace("\"2\"", "\"2,5\""),
        link("a"),
        link("b").replace("<mass value=\"2\"/>", ""),
        joint("j", "planar", "base", "a", ""),
        joint("k", "hinge", "bas", "b", ""),
        joint("l", "revolute", "base", "b", "<axis xyz=\"0 0 0\"/>"),
        joint(
            "m",
            "revolute",
            "base",
            "b",
            "<origin xyz=\"1 2\"/><limit upper=\"${pi}\"/>",
        ),
    ]);
    expect_problems(
        &urdf,
        &[],
        &[
            (3, "\"2,5\""),
            (4, "\"a\""),
            (5, "<mass>"),
            (6, "joint \"j\""),
            (7, "joint \"k\""),
            (7, "\"bas\""),
            (8, "joint \"l\""),
            (9, "xyz = \"1 2\""),
            (9, "upper = \"${pi}\""),
        ],
    );
}

#[test]
fn links_that_do_not_form_a_tree_are_refused() {
    let _section = messages::of_this_test();
    let twice = robot(&[
        link("base"),
        link("a"),
        joint("j", "continuous", "base", "a", ""),
        joint("k", "continuous", "base", "a", ""),
    ]);
    expect_problems(&twice, &[], &[(5, "joint \"j\"")]);
    let circle = robot(&[
        link("base"),
        link("a"),
        link("b"),
        joint("j", "continuous", "a", "b", ""),
        joint("k", "continuous", "b", "a", ""),
    ]);
    expect_problems(&circle, &[], &[(3, "link \"a\"")]);
    let apart = robot(&[link("base"), link("a")]);
    expect_problems(&apart, &[], &[(3, "link \"a\"")]);
    let between = robot(&[
        link("base"),
        "<link name=\"ghost\"/>\n".to_owned(),
        link("a"),
        joint("j", "continuous", "base", "ghost", ""),
        joint("k", "continuous", "ghost", "a", ""),
    ]);
    expect_problems(&between, &[], &[(3, "link \"ghost\"")]);
}

#[test]
fn invalid_urdf_is_refused_with_the_position() {
    let _section = messages::of_this_test();
    for (urdf, line, text) in [
        ("<robot name=\"arm\">\n<link name=\"a\">\n</lnk>\n</robot>", 3, "</lnk>"),
        ("<robot name=\"arm\">\n<link name=\"a\">\n", 2, "<link>"),
        ("<robot name=\"arm\">\n<link name=a/>\n</robot>", 2, ""),
        ("<mujoco/>", 1, "<mujoco>"),
        ("<robot name=\"arm\"/>", 1, ""),
        ("<robot>\n<xacro:include filename=\"x\"/>\n</robot>", 2, "xacro"),
    ] {
        expect_problems(urdf, &[], &[(line, text)]);
    }
    let desk = Desk::new();
    desk.write("arm.urdf.xacro", &robot(&[link("base")]));
    let outcome = desk.run_with(&["import", "arm.urdf.xacro"], &[("PATH", "")]);
    assert!(outcome.errors.contains("xacro"), "{}", outcome.errors);
    outcome.record();
}

#[test]
fn import_keeps_existing_files() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write("arm.urdf", &robot(&[link("base")]));
    desk.write("arm.toml", "mine");
    let outcome = desk.run(&["import", "arm.urdf", "--base", "floating"]);
    assert_eq!((outcome.code, outcome.errors.contains("--force")), (Some(1), true));
    outcome.record();
    assert_eq!(desk.text("arm.toml"), "mine");
    desk.succeed(&["import", "arm.urdf", "--base", "floating", "--force"]);
    let out = desk.succeed(&["simulate", "arm.toml", "--stop-time", "0.1"]);
    assert!(out.contains("run diagnostics: momentum drift"), "{out}");
}

/// The spec allows names of at most 128 characters.
#[test]
fn long_names_are_shortened_and_stay_unique() {
    let _section = messages::of_this_test();
    let [long, longer] = [300, 301].map(|length| "x".repeat(length));
    let (spec, message) = imported(
        &robot(&[link(&long), link(&longer), joint("j", "continuous", &long, &longer, "")]),
        &["--base", "floating"],
    );
    let bodies: Vec<&String> = spec["body"].as_table().expect("bodies").keys().collect();
    assert_eq!(bodies.len(), 2);
    assert!(
        bodies.iter().all(|name| name.starts_with("xxx") && name.len() <= 128),
        "{bodies:?}"
    );
    messages::record(message);
}

/// Mass and inertia of a root link without mass, for a base that floats.
#[test]
fn base_without_mass_gets_one_from_the_command_line() {
    let _section = messages::of_this_test();
    let urdf = robot(&[
        "<link name=\"base\"/>\n".to_owned(),
        link("a"),
        joint("j", "continuous", "base", "a", ""),
    ]);
    let options = [
        "--base",
        "floating",
        "--base-mass",
        "5",
        "--base-inertia",
        "1,2,2.5,0,-0.1,0",
    ];
    let (spec, _) = imported(&urdf, &options);
    assert_field(&spec, "body.base.mass", "5.0");
    assert_field(&spec, "body.base.inertia", "[1.0, 2.0, 2.5, 0.0, -0.1, 0.0]");
    assert_field(&spec, "joint.j.parent", "\"base\"");
    let desk = Desk::new();
    desk.write("arm.urdf", &urdf);
    for (options, code, named) in [
        (&options[2..], 1, "--base floating"),
        (&options[..4], 2, "--base-inertia"),
        (
            &["--base", "floating", "--base-mass", "5", "--base-inertia", "1,2"],
            2,
            "Ixx",
        ),
    ] {
        let outcome = desk.run(&[&["import", "arm.urdf"], options].concat());
        assert_eq!(outcome.code, Some(code), "{}", outcome.errors);
        assert!(outcome.errors.contains(named), "{}", outcome.errors);
    }
    let heavy = robot(&[link("base")]);
    expect_problems(&heavy, &options, &[(2, "\"base\"")]);
}

/// A robot on the frame of a spec: that spec is included and stays as it is.
#[test]
fn robot_is_mounted_on_the_frame_of_a_spec() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.write(
        "arm.urdf",
        &robot(&[link("base"), link("a"), joint("j", "continuous", "base", "a", "")]),
    );
    let bus = "name = \"bus\"\n[body.bus]\nmass = 40.0\ninertia = [4.0, 4.0, 4.0]\n[frame.port]\nbody = \"bus\"\norigin = [1.0, 0.0, 0.0]\n";
    desk.write("bus.toml", bus);
    let outcome = desk.run(&["import", "arm.urdf", "--on", "bus.toml:prt"]);
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.errors.contains("\"port\"") && !desk.path("arm.toml").exists(),
        "{}",
        outcome.errors
    );
    outcome.record();
    let out = desk.succeed(&["import", "arm.urdf", "--on", "bus.toml:port"]);
    assert!(out.contains("next: grapple simulate bus_arm.toml"), "{out}");
    assert_eq!(desk.text("bus.toml"), bus);
    let tree = desk.succeed(&["check", "bus_arm.toml"]);
    let foot = tree
        .lines()
        .find(|line| line.trim().starts_with("arm.base "))
        .expect("the arm's base");
    assert!(
        foot.contains("fixed arm.base_mount") && foot.contains("(1, 0, 0)"),
        "{tree}"
    );
    // A base that floats is fixed to the frame too. Existing files stay.
    let floating = ["import", "arm.urdf", "--base", "floating", "--on", "bus.toml:port"];
    assert_eq!(desk.run(&floating).code, Some(1));
    desk.succeed(&[&floating[..], &["--force"]].concat());
    assert!(desk.succeed(&["check", "bus_arm.toml"]).contains("fixed arm"));
}

/// Xacro is expanded by the program of that name; its errors are shown. Files of other kinds are
/// named.
#[test]
fn xacro_is_expanded_and_files_of_other_kinds_are_named() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    for (file, named) in [
        ("arm.toml", "spec"),
        ("arm.fmu", "FMU"),
        ("arm.ssp", "FMUs"),
        ("arm.sdf", "SDF"),
        ("arm.STL", "mesh"),
        ("arm.csv", "table"),
    ] {
        let outcome = desk.run(&["import", file]);
        assert!(
            outcome.code == Some(1) && outcome.errors.contains(named),
            "{}",
            outcome.errors
        );
        outcome.record();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir(desk.path("bin")).expect("a folder");
        let program = |lines: &str| {
            desk.write("bin/xacro", &format!("#!/bin/sh\n{lines}\n"));
            std::fs::set_permissions(desk.path("bin/xacro"), PermissionsExt::from_mode(0o755)).expect("permissions");
        };
        desk.write("arm.urdf.xacro", "<robot><xacro:arm/></robot>");
        desk.write("expanded.urdf", &robot(&[link("base")]));
        program("test \"$1\" = ./arm.urdf.xacro && exec cat expanded.urdf");
        let path = format!("{}:/usr/bin:/bin", desk.path("bin").display());
        let outcome = desk.run_with(&["import", "arm.urdf.xacro"], &[("PATH", &path)]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.errors);
        assert!(desk.text("arm.toml").contains("[body.base]"));
        program("echo 'undefined property: length' >&2; exit 2");
        let outcome = desk.run_with(&["import", "arm.urdf.xacro"], &[("PATH", &path)]);
        assert!(
            outcome.code == Some(1) && outcome.errors.contains("undefined property"),
            "{}",
            outcome.errors
        );
    }
}
