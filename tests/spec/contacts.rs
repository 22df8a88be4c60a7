//! Contacts.

use crate::{GOOD, report};

/// Invalid contacts are reported together with all other errors.
#[test]
fn contacts_within_one_rigid_body_are_reported_with_all_other_errors() {
    let frames = "[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[frame.grip]\nbody = \"arm\"\n";
    let contact = |name: &str| format!("[contact.{name}]\na = \"tip\"\nb = \"grip\"\nlaw = \"capture_pin\"\n");
    let command = "[signal.\"one.capture\"]\ntype = \"constant\"\namplitude = 1.0\nfrom_importer = false\n";
    let good = GOOD.replace("mass = 4.0", "mass = -4.0");
    let all = report(&format!("{good}{frames}{}{}{command}", contact("one"), contact("two")));
    assert_eq!(all.len(), 3, "{all:?}");
    for (told, what) in all
        .iter()
        .zip(["the mass -4 kg", "contact \"one\", b", "contact \"two\", b"])
    {
        assert!(told.contains(what), "{all:?}");
    }
}

/// Errors of a contact are reported with its name: frames that are undefined or on one rigid body,
/// coefficients that belong to another law, are missing or are out of range.
#[test]
fn invalid_contacts_are_reported_with_their_names() {
    let frames = "[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[frame.grip]\nbody = \"arm\"\n";
    let contact = |fields: &str| {
        let all = report(&format!("{GOOD}{frames}[contact.berth]\n{fields}"));
        let problems = all
            .into_iter()
            .map(|text| text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned()));
        let mut problems: Vec<String> = problems.collect();
        problems.sort();
        problems
    };
    assert_eq!(contact("a = \"tip\"\nb = \"base\"\ne = 0.5\n"), Vec::<String>::new());
    let cases: &[(&str, &[&str])] = &[
        (
            "a = \"world\"\nb = \"bse\"\ne = 0.5\n",
            &[
                "contact \"berth\", a: there is no frame or body \"world\"",
                "contact \"berth\", b: there is no frame or body \"bse\"; did you mean \"base\"?",
            ],
        ),
        (
            "a = \"tip\"\nb = \"grip\"\ne = 0.5\n",
            &["contact \"berth\", b: \"tip\" and \"grip\" belong to one rigid body, or to several on fixed joints"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\n",
            &["contact \"berth\", e: missing field `e`: the law \"restitution\" needs it"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"energy_friction\"\ne = 0.5\nr_E = 0.5\n",
            &[
                "contact \"berth\", e: the law \"energy_friction\" has no `e`",
                "contact \"berth\", r_f: missing field `r_f`: the law \"energy_friction\" needs it",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"stronge\"\ne = 1.5\nmu = -0.1\nnormal = [0.0, 0.0, 0.0]\nreach = -1.0\n",
            &[
                "contact \"berth\", e: berth.e = 1.5 is not between 0 and 1",
                "contact \"berth\", mu: berth.mu = -0.1 is negative",
                "contact \"berth\", normal: the normal of contact \"berth\" has zero length",
                "contact \"berth\", reach: berth.reach = -1 m is negative",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"capture_pin\"\ne = 0.5\nbeta = -1.0\n",
            &["contact \"berth\", e: the law \"capture_pin\" has no `e`"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"capture_grasp\"\nbeta = -1.0\n",
            &["contact \"berth\", beta: berth.beta = -1 1/s is negative"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\ne_t = -1.5\n",
            &["contact \"berth\", e_t: berth.e_t = -1.5 is not between -1 and 1"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"sphere\"\nreach = 0.1\n",
            &[
                "contact \"berth\", radius_b: missing field `radius_b`: the surface needs it",
                "contact \"berth\", reach: `reach` is for contacts without a surface: with one, the impact occurs at zero gap",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"disc\"\nradius_a = 0.1\nradius_b = 0.1\n",
            &[
                "contact \"berth\", radius_a: `radius_a` requires the surface \"plane\" or \"sphere\"; for a disc `a` is a point",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"sphere\"\nradius_b = -0.1\n",
            &["contact \"berth\", radius_b: berth.radius_b = -0.1 m is not positive"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"compliant\"\nforce = 10.0\nexponent = 2.0\nslip = 0.1\ne = 0.5\n",
            &[
                "contact \"berth\", depth: missing field `depth`: the law \"compliant\" needs it",
                "contact \"berth\", e: the law \"compliant\" has no `e`",
                "contact \"berth\", exponent: 2 is neither 1 nor 1.5",
                "contact \"berth\", slip: there is no friction: write `mu` too",
                "contact \"berth\", surface: the law \"compliant\" needs the surface \"plane\" or \"sphere\"",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"compliant\"\nsurface = \"sphere\"\nradius_b = 0.2\nforce = 10.0\ndepth = 0.0\n",
            &["contact \"berth\", depth: berth.depth = 0 m is not positive"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nsurface = \"sphere\"\nradius_a = 0.5\nradius_b = 2.0\ne = 0.5\n",
            &["contact \"berth\", surface: \"tip\" starts 1.5 m inside the surface of \"base\""],
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(&contact(fields), expected);
    }
    let sine = "a = \"tip\"\nb = \"base\"\ne = 0.5\n[signal.\"berth.impact\"]\ntype = \"sine\"\nfrequency = 1.0\n";
    assert_eq!(
        contact(sine),
        ["signal \"berth.impact\", type: a command is a constant, a step, or a table with interpolation = \"hold\""]
    );
    let fixed = format!("{GOOD}{frames}").replace("type = \"revolute\"", "type = \"fixed\"");
    let [problem] = report(&format!("{fixed}[contact.berth]\na = \"tip\"\nb = \"base\"\ne = 0.5\n"))
        .try_into()
        .expect("one");
    assert!(
        problem.ends_with("belong to one rigid body, or to several on fixed joints"),
        "{problem}"
    );
}
