//! `new`, `build`, `describe`, `simulate` and `schema`, as typed by a user.

use crate::desk::{Desk, assert_self_contained, example};
use crate::messages;
use crate::table::{Table, last, table};

#[test]
fn every_template_is_a_spec_that_builds_and_runs() {
    let templates = [
        "arm",
        "two_link",
        "ssrms_type",
        "dual_arm",
        "berthing",
        "assembly",
        "servicer_orbit",
        "blank",
    ];
    let help = Desk::new().succeed(&["new", "--help"]);
    for template in templates {
        assert!(help.contains(&format!("- {template}")), "{template}: {help}");
        let desk = Desk::new();
        desk.succeed(&["new", "my_craft", "--template", template]);
        desk.succeed(&["check", "my_craft.toml"]);
        desk.succeed(&["build", "my_craft.toml"]);
        let out = desk.succeed(&["simulate", "my_craft.fmu", "--stop-time", "0.5"]);
        assert!(out.contains("run diagnostics: momentum"), "{template}: {out}");
    }
}

/// The default template, its controller and its study, by the commands that `new` and the README
/// print.
#[test]
fn arm_controller_and_study_of_the_templates_work_together() {
    let desk = Desk::new();
    let next = |arguments: &[&str]| {
        let out = desk.succeed(arguments);
        let line = out.lines().last().and_then(|line| line.strip_prefix("next: grapple "));
        line.unwrap_or_else(|| panic!("{out}")).to_owned()
    };
    assert_eq!(
        next(&["new", "my_study", "--template", "study"]),
        "new my_arm, then grapple campaign my_study.toml"
    );
    assert_eq!(next(&["new", "my_arm"]), "simulate my_arm.toml");
    assert_eq!(
        next(&["new", "my_control", "--template", "controller"]),
        "couple my_arm.toml my_control.toml"
    );
    let described = desk.succeed(&["describe", "my_arm.toml"]);
    assert!(described.contains("inputs (2)\n  shoulder.tau  N.m"), "{described}");
    let checked = desk.run(&["check", "my_arm.toml", "my_control.toml"]);
    assert_eq!((checked.code, checked.errors.as_str()), (Some(0), ""), "no warnings");
    desk.succeed(&["couple", "my_arm.toml", "my_control.toml"]);
    desk.succeed(&["simulate", "my_arm_my_control.ssp", "--no-page"]);
    let text = desk.text("my_arm_my_control.csv");
    let table = table(&text);
    assert!(
        (last(&table, "my_arm.shoulder.q [rad]") - 0.8).abs() < 1e-3,
        "the joint reaches its goal"
    );
    let again = next(&["new", "my_study", "--template", "study", "--force"]);
    assert_eq!(again, "campaign my_study.toml");
    desk.succeed(&["campaign", "my_study.toml"]);
    let runs = desk.text("my_study/runs.csv");
    assert_eq!((runs.lines().count(), runs.matches(",ok,").count()), (21, 20));

    desk.succeed(&["new", "other", "--template", "study", "--model", "craft.toml"]);
    assert_eq!(
        next(&["new", "craft", "--template", "pair"]),
        "couple craft.toml craft_control.toml"
    );
    desk.succeed(&["couple", "craft.toml", "craft_control.toml"]);
    desk.succeed(&["campaign", "other.toml", "--plan"]);
    assert!(
        !desk.text("craft_control.toml").contains("my_"),
        "both files have the pair's own name"
    );
}

/// Files are named as the spec's file, not by its `name`. The FMU of another model is kept.
#[test]
fn outputs_are_named_as_the_spec_and_replace_no_other_model() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    desk.succeed(&["new", "arm"]);
    let text = desk.text("arm.toml").replace("name = \"arm\"", "name = \"crane\"");
    desk.write("renamed.toml", &text);
    for (verb, outputs) in [
        (&["build", "renamed.toml"][..], &["renamed.fmu"][..]),
        (
            &["simulate", "renamed.fmu", "--stop-time", "0.1"],
            &["renamed.csv", "renamed.html"],
        ),
        (&["linearize", "renamed.toml"], &["renamed_linear"]),
        (
            &["split", "renamed.toml", "--at", "elbow"],
            &["renamed_carrier.toml", "renamed_carried.toml", "renamed_split.ssp"],
        ),
    ] {
        desk.succeed(verb);
        for output in outputs {
            assert!(desk.path(output).exists(), "{verb:?}: {output}");
        }
    }
    desk.succeed(&["build", "renamed.toml"]);
    let before = desk.bytes("renamed.fmu");
    let refused = desk.run(&["build", "arm.toml", "-o", "renamed.fmu"]);
    assert_eq!((refused.code, desk.bytes("renamed.fmu") == before), (Some(1), true));
    for word in ["renamed.fmu", "\"crane\"", "--force", "\"arm\""] {
        assert!(refused.errors.contains(word), "{word}: {}", refused.errors);
    }
    refused.record();
    desk.succeed(&["build", "arm.toml", "-o", "renamed.fmu", "--force"]);
    assert!(
        desk.content("renamed.fmu", "modelDescription.xml")
            .contains("modelName=\"arm\"")
    );
}

/// The blank template, with the comment marks before its fields removed, is a valid spec.
#[test]
fn explanations_of_the_blank_template_are_valid_fields() {
    let desk = Desk::new();
    desk.succeed(&["new", "all", "--template", "blank"]);
    let text = desk.text("all.toml");
    let lines = text.lines().map(|line| match line.strip_prefix("# ") {
        // Gravity and an orbit exclude each other.
        Some(field) if field.starts_with("gravity") => "",
        Some(field) if field.starts_with('[') || field.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) => {
            field
        }
        _ => line,
    });
    let mut spec: Vec<&str> = lines.collect();
    // The template's sections refer to these objects.
    spec.push("[body.payload]\nmass = 5.0\ninertia = [1.0, 1.0, 1.0]\nstart = { position = [9.0, 0.0, 0.0] }");
    spec.push("[joint.root]\ntype = \"fixed\"\nparent = \"base\"\nchild = \"boom\"");
    desk.write("all.toml", &spec.join("\n"));
    let out = desk.succeed(&["check", "all.toml"]);
    assert!(out.contains("4 bodies"), "{out}");
}

/// The run of this template is tested here, since it is not one of the examples.
#[test]
fn beams_of_the_assembly_template_touch() {
    let desk = Desk::new();
    desk.succeed(&["new", "ring", "--template", "assembly"]);
    desk.succeed(&["simulate", "ring.toml"]);
    let csv = desk.text("ring.csv");
    let table = table(&csv);
    let distances = &table["ends.distance [m]"];
    assert!((distances[0] - 18.0).abs() < 1e-9, "{}", distances[0]);
    // At the end of the references the distance is 1 m, up to the servos' errors under gravity
    // gradient and Coriolis forces.
    let off = last(&table, "ends.distance [m]") - 1.0;
    assert!(off.abs() < 1e-3, "{off:e}");
    for gap in ["left.distance [m]", "right.distance [m]"] {
        assert!(table[gap].iter().all(|gap| *gap < 1e-5), "{gap}");
    }
}

#[test]
fn new_keeps_existing_files_and_refuses_names_that_importers_reject() {
    let _section = messages::of_this_test();
    let desk = Desk::with_example("two_link");
    let outcome = desk.run(&["new", "two_link"]);
    assert_eq!((outcome.code, outcome.errors.contains("--force")), (Some(1), true));
    desk.succeed(&["new", "two_link", "--template", "two_link", "--force"]);
    assert_eq!(desk.text("two_link.toml"), example("two_link"));
    outcome.record();
    let illegal = desk.run(&["new", "my-arm"]);
    assert!(illegal.errors.contains("\"my-arm\""), "{}", illegal.errors);
    illegal.record();
}

#[test]
fn the_same_spec_gives_the_same_bytes() {
    let desk = Desk::with_example("ssrms_type");
    desk.succeed(&["build", "ssrms_type.toml", "-o", "a.fmu"]);
    desk.succeed(&["build", "ssrms_type.toml", "-o", "b.fmu"]);
    assert!(desk.bytes("a.fmu") == desk.bytes("b.fmu"));
}

#[test]
fn fmu_offers_the_requested_interfaces_and_names() {
    let desk = Desk::with_example("two_link");
    let xml = |options: &[&str]| {
        desk.succeed(&[&["build", "two_link.toml"], options].concat());
        desk.content("two_link.fmu", "modelDescription.xml")
    };
    for (kind, has_me, has_cs) in [("me", true, false), ("cs", false, true), ("both", true, true)] {
        let xml = xml(&["--fmi-type", kind]);
        assert_eq!(
            (xml.contains("<ModelExchange"), xml.contains("<CoSimulation")),
            (has_me, has_cs),
            "{kind}"
        );
    }
    assert!(xml(&[]).contains("name=\"base.r[1]\""));
    assert!(xml(&["--names", "flat"]).contains("name=\"base_r_1_\""));
}

/// Returns the two-link spacecraft's state after 5 s: base yaw, shoulder, elbow (deg); tip (m).
fn two_link(table: &Table) -> [f64; 5] {
    let half_yaw = f64::atan2(last(table, "base.q[4]"), last(table, "base.q[1]"));
    [
        2.0 * half_yaw.to_degrees(),
        last(table, "shoulder.q [rad]").to_degrees(),
        last(table, "elbow.q [rad]").to_degrees(),
        last(table, "tip.r[1] [m]"),
        last(table, "tip.r[2] [m]"),
    ]
}

/// Values of [`two_link`] by an independent computation, with all digits that it prints.
const TWO_LINK: [f64; 5] = [
    -45.928_029_27,
    48.820_379_95,
    104.927_078_73,
    1.200_381_73,
    0.671_046_02,
];

fn assert_close(values: [f64; 5], tolerance: f64) {
    let close = values
        .iter()
        .zip(TWO_LINK)
        .all(|(value, reference)| (value - reference).abs() < tolerance);
    assert!(close, "{values:?}");
}

#[test]
fn simulate_gives_a_table_a_page_and_run_diagnostics() {
    let desk = Desk::with_example("two_link");
    let out = desk.succeed(&["simulate", "two_link.toml"]);
    let diagnostics = out.lines().last().expect("a last line");
    assert!(
        diagnostics.starts_with("run diagnostics: momentum drift "),
        "{diagnostics}"
    );
    for word in ["linear", "angular", "energy balance", "times real time"] {
        assert!(diagnostics.contains(word), "{word}: {diagnostics}");
    }

    let csv = desk.text("two_link.csv");
    let table = table(&csv);
    assert_eq!(table["time [s]"].len(), 501);
    assert_eq!(last(&table, "time [s]"), 5.0);
    assert_close(two_link(&table), 1e-7);

    let page = desk.text("two_link.html");
    for word in [
        "two_link",
        "Joint angles",
        "Path of tip",
        "Momentum drift",
        "Energy balance",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert_self_contained(&page);
}

/// The page shows no momentum drift, since momentum is not conserved in orbit.
#[test]
fn the_page_of_a_servicer_shows_its_servos_wheels_and_booms() {
    let desk = Desk::with_example("servicer_orbit");
    desk.succeed(&["simulate", "servicer_orbit.toml", "--stop-time", "1"]);
    let page = desk.text("servicer_orbit.html");
    for word in [
        "of the LVLH frame",
        "Tip deflections",
        "Servo errors",
        "Motor torques",
        "Momentum of the wheels",
    ] {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains("Momentum drift"));
}

#[test]
fn fmu_and_spec_give_the_same_run() {
    let desk = Desk::with_example("two_link");
    desk.succeed(&["simulate", "two_link.toml", "-o", "spec.csv", "--page", "spec.html"]);
    desk.succeed(&["build", "two_link.toml"]);
    desk.succeed(&["simulate", "two_link.fmu", "-o", "fmu.csv", "--page", "fmu.html"]);
    assert_eq!(desk.text("spec.csv"), desk.text("fmu.csv"));
    // Flat names change the header, not the numbers; the page has all its charts.
    desk.succeed(&["build", "two_link.toml", "--names", "flat"]);
    desk.succeed(&["simulate", "two_link.fmu", "-o", "flat.csv", "--page", "flat.html"]);
    let rows = |file: &str| desk.text(file).split_once('\n').map(|(_, rows)| rows.to_owned());
    assert_eq!(rows("flat.csv"), rows("fmu.csv"));
    assert!(desk.text("flat.html").contains("Path of tip"));
}

/// Creates a folder with the two-link spacecraft whose signals are set by the importer.
fn with_signals_from_importer() -> Desk {
    let desk = Desk::new();
    desk.write(
        "two_link.toml",
        &example("two_link").replace("from_importer = false", "from_importer = true"),
    );
    desk
}

#[test]
fn signals_set_by_the_importer_agree_with_those_inside_the_fmu() {
    let desk = with_signals_from_importer();
    desk.succeed(&["simulate", "two_link.toml"]);
    let csv = desk.text("two_link.csv");
    // The error of the cubic over a step is (ωh)⁴/384 = 4e-8 of the torque; the angles are about
    // 100°.
    assert_close(two_link(&table(&csv)), 1e-5);
}

#[test]
fn settings_reach_the_fmu_and_invalid_ones_are_refused_by_name() {
    let _section = messages::of_this_test();
    let desk = Desk::with_example("two_link");
    desk.succeed(&[
        "simulate",
        "two_link.toml",
        "--set",
        "base.w_start[3]=0.5",
        "--stop-time",
        "0.1",
    ]);
    assert_eq!(table(&desk.text("two_link.csv"))["base.w[3] [rad/s]"][0], 0.5);
    let errors = |arguments: &[&str]| {
        let outcome = desk.run(&[&["simulate", "two_link.toml"], arguments].concat());
        assert_eq!(outcome.code, Some(1));
        outcome.errors
    };
    let unknown = errors(&["--set", "base.mas=1"]);
    assert!(unknown.contains("\"base.mas\""), "{unknown}");
    messages::record(&unknown);
    let nonsense = errors(&["--set", "base.mass=-3"]);
    assert!(
        nonsense.contains("body \"base\", mass") && nonsense.contains("-3 kg"),
        "{nonsense}"
    );
    messages::record(&nonsense);
}

#[test]
fn external_loads_are_reported_instead_of_a_momentum_drift() {
    let _section = messages::of_this_test();
    let desk = Desk::new();
    let gravity = "\n[environment]\ngravity = [0.0, 0.0, -9.8]\n\n[experiment]\n";
    desk.write(
        "falling.toml",
        &example("two_link").replace("\n[experiment]\n", gravity),
    );
    let out = desk.succeed(&["simulate", "falling.toml", "--stop-time", "0.2"]);
    let diagnostics = out.lines().last().expect("a last line");
    messages::record(diagnostics.split(';').next().expect("the momentum"));
}

#[test]
fn describe_lists_everything_and_writes_a_template_of_the_inputs() {
    let desk = with_signals_from_importer();
    let of_spec = desk.succeed(&["describe", "two_link.toml", "--inputs-template", "inputs.csv"]);
    let version = desk.succeed(&["--version"]);
    for text in [
        "states (18)",
        "inputs (2)",
        "shoulder.tau",
        "N.m",
        "save and restore the state",
        version.split_whitespace().last().expect("the platform"),
    ] {
        assert!(of_spec.contains(text), "{text}: {of_spec}");
    }
    assert_eq!(desk.text("inputs.csv"), "time,shoulder.tau,elbow.tau\n0.0,0.0,0.0\n");
    desk.succeed(&["build", "two_link.toml"]);
    let of_fmu = desk.succeed(&["describe", "two_link.fmu"]);
    let from_states = |text: &str| text.find("states").map(|start| text[start..].to_owned());
    assert!(from_states(&of_spec).is_some_and(|text| text.starts_with(&from_states(&of_fmu).unwrap_or_default())));
}

/// `describe` also prints texts from FMUs of other tools, which may contain control characters.
#[test]
fn control_characters_in_foreign_fmus_are_escaped() {
    let desk = with_signals_from_importer();
    desk.succeed(&["build", "two_link.toml"]);
    desk.rewrite("two_link.fmu", |xml| {
        let start = xml.find("name=\"shoulder.tau\"").expect("it is an input");
        let (before, after) = xml.split_at(start);
        let after = after
            .replacen("shoulder.tau", "push.f[1,2]", 1)
            .replacen("torque on the child", "a&#27;[2Jb&#10;c", 1)
            .replacen("start=\"0\"", "start=\"0.3333333333333333\"", 1);
        format!("{before}{after}")
    });
    let out = desk.succeed(&["describe", "two_link.fmu", "--inputs-template", "inputs.csv"]);
    assert!(
        !out.contains('\u{1b}') && out.contains("a\\u{1b}[2Jb\\nc of joint shoulder"),
        "{out}"
    );
    assert_eq!(
        desk.text("inputs.csv"),
        "time,\"push.f[1,2]\",elbow.tau\n0.0,0.3333333333333333,0.0\n"
    );
}

#[test]
fn help_of_every_verb_has_an_example() {
    let desk = Desk::new();
    let all = desk.succeed(&["--help"]);
    let listed = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    // Continuation lines are indented further.
    let verbs: Vec<&str> = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.strip_prefix("  ")?
                .split(' ')
                .next()
                .filter(|verb| !verb.is_empty())
        })
        .collect();
    assert!(verbs.len() > 9 && verbs.contains(&"linearize"), "{verbs:?}");
    for verb in verbs.into_iter().filter(|verb| *verb != "help") {
        let help = desk.succeed(&[verb, "--help"]);
        assert!(help.contains(&format!("  grapple {verb} ")), "{verb}: {help}");
    }
    assert!(desk.succeed(&["--version"]).contains("FMI 2.0"));
    assert!(desk.succeed(&["schema"]).contains("\"$schema\""));
}

const FIELDS: &str = include_str!("../../../docs/spec.md");

#[test]
fn the_page_of_all_fields_is_up_to_date() {
    let page = Desk::new().succeed(&["schema", "--markdown"]);
    assert!(
        page == FIELDS,
        "write it anew: grapple schema --markdown > docs/spec.md"
    );
}

#[test]
fn page_of_fields_gives_the_unit_of_every_number() {
    let counts = [
        "format",
        "axial",
        "bending",
        "bending_y",
        "bending_z",
        "elements",
        "masses",
        "segments",
        "torsion",
        "work_limit",
        "modes",
        "pole_pairs",
        "seed",
    ];
    let directions = [
        "attitude",
        "axis",
        "axis2",
        "axis_to",
        "direction",
        "gimbal_axis",
        "inertia_axes",
        "normal",
        "orientation",
        "slope",
        "spin_axis",
        "toward",
    ];
    let ratios = [
        "J2",
        "J3",
        "J4",
        "J5",
        "J6",
        "coefficient",
        "diffuse",
        "factor",
        "fill",
        "flattening",
        "scale_factor",
        "specular",
        "damping_ratio",
        "e",
        "e_t",
        "eccentricity",
        "efficiency",
        "energy_balance",
        "exponent",
        "linear_limit",
        "mu",
        "r_E",
        "r_f",
        "ratio",
        "scale",
        "threshold",
        "tolerance",
        "weights",
    ];
    let mut numbers = 0;
    for row in FIELDS.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let name = cells[0].trim_matches(['|', ' ', '`']);
        if cells[1].contains("number") {
            numbers += 1;
            // Start values of inputs have the unit of each input.
            let has_none =
                counts.contains(&name) || directions.contains(&name) || ratios.contains(&name) || name == "input";
            // A delay of samples and the depth of a notch are numbers, unlike others of these names.
            let is_number = row.contains("number of samples") || row.contains("of a notch");
            // The gravitational parameter is called `mu` like the friction coefficient, a ratio,
            // and the damping of an inverse like that of a joint.
            let is_other = row.contains("m³/s²") || row.contains("`λ₀`");
            assert!((cells[2] == "–") == (has_none || is_number) || is_other, "{row}");
        }
    }
    assert!(numbers > 130, "{numbers}");
}
