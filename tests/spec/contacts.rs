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

/// Errors of shapes are reported at their fields: dimensions that are missing, not positive or of
/// another type, a narrow end that is wider, pairs whose distance is not computed, laws that a pair
/// does not have, and surfaces that overlap at the start.
#[test]
fn invalid_shapes_are_reported_with_their_names() {
    let _section = messages::of_this_test();
    let frames = "[frame.tip]\nbody = \"arm\"\norigin = [1.0, 0.0, 0.0]\n";
    let read = |contact: &str| {
        report(&format!(
            "{GOOD}{frames}[contact.dock]\na = \"tip\"\nb = \"base\"\n{contact}"
        ))
    };
    let ball = "shape_a = { type = \"sphere\", radius = 0.1 }\n";
    let good = "shape_b = { type = \"funnel\", radius = 0.3, end_radius = 0.1, length = 0.4, thickness = 0.02 }\n";
    assert_eq!(read(&format!("{ball}{good}e = 0.5\n")), Vec::<String>::new());
    let cases: &[(&str, &[&str])] = &[
        (
            "shape_a = { type = \"sphere\", radius = 0.1 }\n",
            &["16: contact.dock.shape_b"],
        ),
        (
            "shape_b = { type = \"cylinder\", radius = 0.1, size = [1.0, 1.0, 1.0] }\n",
            &["19: contact.dock.shape_b.length", "19: contact.dock.shape_b.size"],
        ),
        (
            "shape_b = { type = \"box\", size = [0.1, 0.0, 0.1] }\n",
            &["19: contact.dock.shape_b.size"],
        ),
        (
            "shape_b = { type = \"sphere\", radius = 0.0 }\n",
            &["19: contact.dock.shape_b.radius"],
        ),
        (
            "shape_b = { type = \"sphere\", radius = nan }\n",
            &["19: contact.dock.shape_b.radius"],
        ),
        (
            "shape_b = { type = \"cone\", radius = 0.1, end_radius = 0.1, length = 0.2 }\n",
            &["19: contact.dock.shape_b.end_radius"],
        ),
        (
            "shape_b = { type = \"funnel\", radius = 0.1, end_radius = -0.1, length = 0.2, thickness = 0.0 }\n",
            &[
                "19: contact.dock.shape_b.end_radius",
                "19: contact.dock.shape_b.thickness",
            ],
        ),
        (
            "shape_a = { type = \"cylinder\", radius = 0.1, length = 0.1 }\n\
             shape_b = { type = \"funnel\", radius = 0.3, length = 0.4, thickness = 0.02 }\n",
            &["20: contact.dock.shape_b"],
        ),
        (
            "shape_a = { type = \"box\", size = [0.2, 0.2, 0.2] }\nshape_b = { type = \"box\", size = [4.0, 4.0, 2.0] }\n",
            &["20: contact.dock.shape_b"],
        ),
        (
            "shape_b = { type = \"disc\", radius = 0.1 }\n",
            &["19: contact.dock.shape_b"],
        ),
        (
            "shape_b = { type = \"sphere\", radius = 0.1 }\nsurface = \"sphere\"\nradius_b = 0.1\nnormal = [1.0, 0.0, 0.0]\nreach = 0.1\n",
            &[
                "20: contact.dock.surface",
                "22: contact.dock.normal",
                "23: contact.dock.reach",
            ],
        ),
        (
            "shape_b = { type = \"sphere\", radius = 0.1, colour = \"red\" }\n",
            &["19: contact.dock.shape_b.colour"],
        ),
        (
            "shape_a = { type = \"sphere\", radius = 0.5 }\nshape_b = { type = \"box\", size = [2.0, 3.0, 4.0] }\n",
            &["20: contact.dock.shape_b"],
        ),
    ];
    for (shapes, expected) in cases {
        assert_eq!(&read(&format!("{shapes}e = 0.5\n")), expected, "{shapes}");
    }
    let far = frames.replace("[1.0, 0.0, 0.0]", "[1e200, 0.0, 0.0]");
    let text = format!("{GOOD}{far}[contact.dock]\na = \"tip\"\nb = \"base\"\n{ball}{good}e = 0.5\n");
    assert_eq!(report(&text), ["17: contact.dock.a"]);
    let law = "law = \"compliant\"\nforce = 10.0\ndepth = 0.01\n";
    let flat = "shape_a = { type = \"cylinder\", radius = 0.1, length = 0.2 }\nshape_b = { type = \"plane\" }\n";
    assert_eq!(read(&format!("{flat}{law}")), ["21: contact.dock.law"]);
    let conserving = format!("{ball}{good}{law}[solver]\nmethod = \"conserving\"\nstep = 0.1\n");
    let natural = GOOD.replacen("name = ", "formulation = \"natural\"\nname = ", 1);
    let text = format!("{natural}{frames}[contact.dock]\na = \"tip\"\nb = \"base\"\n{conserving}");
    assert_eq!(report(&text), ["22: contact.dock.law"]);
}

/// Errors of groups of contacts are reported at the groups, or at the shapes of their frames: each
/// once, not for each pair.
#[test]
fn invalid_groups_of_contacts_are_reported_once() {
    let _section = messages::of_this_test();
    let body = |name: &str, shape: &str| {
        format!(
            "[body.{name}]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [9.0, 0.0, 0.0] }}\n{shape}"
        )
    };
    let ball = "contact_shape = { type = \"sphere\", radius = 0.1 }\n";
    let bodies = format!(
        "{GOOD}{}{}[frame.tip]\nbody = \"arm\"\n{ball}[frame.deck]\nbody = \"base\"\norigin = [5.0, 0.0, 0.0]\n\
         contact_shape = {{ type = \"box\", size = [0.1, 0.2, 0.3] }}\n[frame.bare]\nbody = \"arm\"\n",
        body("ball", ball),
        body(
            "rod",
            "contact_shape = { type = \"capsule\", radius = 0.1, length = 0.5 }\n"
        )
        .replace("9.0", "-9.0"),
    );
    let group = |fields: &str| report(&format!("{bodies}[contact_group.all]\n{fields}"));
    assert_eq!(
        group("among = [\"base\", \"arm\", \"ball\", \"rod\"]\ne = 0.5\n"),
        Vec::<String>::new()
    );
    let cases: &[(&str, &[&str])] = &[
        ("e = 0.5\n", &["32: contact_group.all"]),
        ("a = [\"tip\"]\ne = 0.5\n", &["32: contact_group.all"]),
        (
            "among = [\"tip\"]\na = [\"tip\"]\nb = [\"ball\"]\ne = 0.5\n",
            &["32: contact_group.all"],
        ),
        (
            "among = [\"tip\", \"bal\", \"world\"]\ne = 0.5\n",
            &["33: contact_group.all.among"; 2],
        ),
        (
            "among = [\"bare\", \"ball\"]\ne = 0.5\n",
            &["33: contact_group.all.among"],
        ),
        (
            "among = [\"ball\", \"tip\"]\nexcept = [[\"ball\", \"tap\"]]\ne = 0.5\n",
            &["34: contact_group.all.except"],
        ),
        // The arm is on a joint of the base.
        ("among = [\"tip\", \"deck\"]\ne = 0.5\n", &["32: contact_group.all"]),
        (
            "among = [\"tip\", \"ball\", \"rod\"]\ne = 1.5\n",
            &["34: contact_group.all.e"],
        ),
        (
            "among = [\"tip\", \"ball\", \"rod\"]\ne = 0.5\nforce = 1.0\n",
            &["35: contact_group.all.force"],
        ),
        ("among = [\"tip\", \"ball\", \"rod\"]\n", &["32: contact_group.all.e"]),
        (
            "among = [\"deck\", \"ball\", \"rod\"]\nlaw = \"compliant\"\nforce = 10.0\ndepth = 0.001\n",
            &["34: contact_group.all.law"],
        ),
        (
            "among = [\"tip\", \"ball\"]\ne = 0.5\n[contact_group.more]\na = [\"ball\"]\nb = [\"tip\"]\ne = 0.5\n",
            &["35: contact_group.more"],
        ),
        (
            "among = [\"tip\", \"ball\"]\ne = 0.5\n[contact.\"all.tip.ball\"]\na = \"base\"\nb = \"ball\"\ne = 0.5\n",
            &["32: contact_group.all"],
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(group(fields), *expected, "{fields}");
    }
    let good = "[contact_group.all]\namong = [\"tip\", \"ball\", \"rod\"]\ne = 0.5\n";
    let shape = |from: &str, to: &str| report(&format!("{}{good}", bodies.replace(from, to)));
    assert_eq!(
        shape("radius = 0.1, length", "radius = -0.1, length"),
        ["22: body.rod.contact_shape.radius"]
    );
    assert_eq!(
        shape("radius = 0.1, length = 0.5", "radius = 0.1"),
        ["22: body.rod.contact_shape.length"]
    );
    let funnel = ("type = \"capsule\"", "type = \"funnel\", thickness = 0.01");
    let boxed = |text: &str| report(&format!("{}{text}", bodies.replace(funnel.0, funnel.1)));
    assert_eq!(
        boxed("[contact_group.all]\namong = [\"deck\", \"rod\"]\ne = 0.5\n"),
        ["32: contact_group.all"]
    );
}

/// Meshes without a hull, with fields of other shapes, and files that only the tool reads are reported
/// at the shape.
#[test]
fn invalid_meshes_of_contacts_are_reported() {
    let _section = messages::of_this_test();
    let mesh = |fields: &str| {
        report(&format!(
            "{GOOD}[contact.touch]\na = \"arm\"\nb = \"world\"\ne = 0.5\nshape_b = {{ type = \"plane\" }}\n\
             shape_a = {{ type = \"mesh\", {fields} }}\n"
        ))
    };
    let corners = "[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]";
    assert_eq!(
        mesh(&format!("vertices = [{corners}, [0.0, 0.0, 0.1]]")),
        Vec::<String>::new()
    );
    assert_eq!(
        mesh(&format!("vertices = [{corners}, [0.1, 0.1, 0.0]]")),
        ["18: contact.touch.shape_a.vertices"]
    );
    let round: Vec<[f64; 3]> = (0..300)
        .map(|k| {
            let (sine, cosine) = (f64::from(k) * 0.1).sin_cos();
            [cosine, sine, f64::from(k % 2)]
        })
        .collect();
    assert_eq!(
        mesh(&format!("vertices = {round:?}")),
        ["18: contact.touch.shape_a.vertices"]
    );
    assert_eq!(mesh("file = \"handle.stl\""), ["18: contact.touch.shape_a.file"]);
    assert_eq!(
        mesh("file = \"handle.stl\", vertices = []"),
        ["18: contact.touch.shape_a.file", "18: contact.touch.shape_a.vertices"]
    );
    assert_eq!(
        mesh("radius = 0.1"),
        ["18: contact.touch.shape_a.file", "18: contact.touch.shape_a.radius"]
    );
}
