//! Contacts.

use crate::{GOOD, messages, report};

/// Invalid contacts are reported together with all other errors.
#[test]
fn contacts_within_one_rigid_body_are_reported_with_all_other_errors() {
    let _section = messages::of_this_test();
    let frames = "[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[frame.grip]\nbody = \"arm\"\n";
    let contact = |name: &str| format!("[contact.{name}]\na = \"tip\"\nb = \"grip\"\nlaw = \"capture_pin\"\n");
    let command = "[signal.\"one.capture\"]\ntype = \"constant\"\namplitude = 1.0\nfrom_importer = false\n";
    let good = GOOD.replace("mass = 4.0", "mass = -4.0");
    let all = report(&format!("{good}{frames}{}{}{command}", contact("one"), contact("two")));
    assert_eq!(all, ["4: body.base.mass", "20: contact.one.b", "24: contact.two.b"]);
}

/// Errors of a contact are reported with its name: frames that are undefined or on one rigid body,
/// coefficients that belong to another law, are missing or are out of range.
#[test]
fn invalid_contacts_are_reported_with_their_names() {
    let _section = messages::of_this_test();
    let frames = "[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n[frame.grip]\nbody = \"arm\"\n";
    let contact = |fields: &str| report(&format!("{GOOD}{frames}[contact.berth]\n{fields}"));
    assert_eq!(contact("a = \"tip\"\nb = \"base\"\ne = 0.5\n"), Vec::<String>::new());
    let cases: &[(&str, &[&str])] = &[
        (
            "a = \"world\"\nb = \"bse\"\ne = 0.5\n",
            &["19: contact.berth.a", "20: contact.berth.b"],
        ),
        ("a = \"tip\"\nb = \"grip\"\ne = 0.5\n", &["20: contact.berth.b"]),
        ("a = \"tip\"\nb = \"base\"\n", &["18: contact.berth.e"]),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"energy_friction\"\ne = 0.5\nr_E = 0.5\n",
            &["18: contact.berth.r_f", "22: contact.berth.e"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"stronge\"\ne = 1.5\nmu = -0.1\nnormal = [0.0, 0.0, 0.0]\nreach = -1.0\n",
            &[
                "22: contact.berth.e",
                "23: contact.berth.mu",
                "24: contact.berth.normal",
                "25: contact.berth.reach",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"capture_pin\"\ne = 0.5\nbeta = -1.0\n",
            &["22: contact.berth.e"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"capture_grasp\"\nbeta = -1.0\n",
            &["22: contact.berth.beta"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\ne_t = -1.5\n",
            &["22: contact.berth.e_t"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"sphere\"\nreach = 0.1\n",
            &["18: contact.berth.radius_b", "23: contact.berth.reach"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"disc\"\nradius_a = 0.1\nradius_b = 0.1\n",
            &["23: contact.berth.radius_a"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\ne = 0.5\nsurface = \"sphere\"\nradius_b = -0.1\n",
            &["23: contact.berth.radius_b"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"compliant\"\nforce = 10.0\nexponent = 2.0\nslip = 0.1\ne = 0.5\n",
            &[
                "18: contact.berth.depth",
                "18: contact.berth.surface",
                "23: contact.berth.exponent",
                "24: contact.berth.slip",
                "25: contact.berth.e",
            ],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nlaw = \"compliant\"\nsurface = \"sphere\"\nradius_b = 0.2\nforce = 10.0\ndepth = 0.0\n",
            &["25: contact.berth.depth"],
        ),
        (
            "a = \"tip\"\nb = \"base\"\nsurface = \"sphere\"\nradius_a = 0.5\nradius_b = 2.0\ne = 0.5\n",
            &["21: contact.berth.surface"],
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(&contact(fields), expected);
    }
    let sine = "a = \"tip\"\nb = \"base\"\ne = 0.5\n[signal.\"berth.impact\"]\ntype = \"sine\"\nfrequency = 1.0\n";
    assert_eq!(contact(sine), ["23: signal.berth.impact.type"]);
    let fixed = format!("{GOOD}{frames}").replace("type = \"revolute\"", "type = \"fixed\"");
    assert_eq!(
        report(&format!("{fixed}[contact.berth]\na = \"tip\"\nb = \"base\"\ne = 0.5\n")),
        ["20: contact.berth.b"]
    );
}
