//! Groups of contacts: their pairs, and the numbers of pairs that are written one by one.

use crate::run::Run;
use std::f64::consts::FRAC_PI_6;

/// Returns a platform with a finger on a revolute joint, a pad on the finger's fixed tip, and clients
/// that fly against them.
fn scene(contacts: &str) -> String {
    let body = |name: &str, start: &str| {
        format!("[body.{name}]\nmass = 1.5\ninertia = [0.02, 0.03, 0.04]\nmass_centre = [0.01, 0.0, 0.02]\n{start}\n")
    };
    format!(
        "name = \"scene\"\n{}{}{}{}{}\
         contact_shape = {{ type = \"capsule\", radius = 0.06, length = 0.2 }}\n\
         [joint.knuckle]\ntype = \"revolute\"\nparent = \"platform\"\nchild = \"finger\"\naxis = [0.0, 1.0, 0.0]\n\
         origin = [0.3, 0.0, 0.0]\nspring = {{ stiffness = 2.0 }}\n\
         [joint.nail]\ntype = \"fixed\"\nparent = \"finger\"\nchild = \"tip\"\norigin = [0.0, 0.0, 0.3]\n\
         [frame.deck]\nbody = \"platform\"\norigin = [-0.3, 0.0, 0.1]\nrpy_deg = [0.0, 10.0, 0.0]\n\
         contact_shape = {{ type = \"box\", size = [0.6, 0.8, 0.1] }}\n\
         [frame.mast]\nbody = \"platform\"\norigin = [-0.5, 0.0, 0.4]\n\
         contact_shape = {{ type = \"cylinder\", radius = 0.05, length = 0.6 }}\n\
         [frame.pad]\nbody = \"tip\"\norigin = [0.0, 0.0, 0.05]\n\
         contact_shape = {{ type = \"sphere\", radius = 0.08 }}\n{contacts}\
         [solver]\nmethod = \"dop853\"\n",
        body("platform", "").replace("1.5", "40.0"),
        body("finger", ""),
        body("tip", ""),
        body(
            "ball",
            "start = { position = [1.4, 0.05, 0.35], velocity = [-1.0, 0.0, 0.0], angular_velocity = [0.3, 1.0, 0.2] }\n\
             contact_shape = { type = \"sphere\", radius = 0.12 }"
        ),
        body(
            "rod",
            "start = { position = [-0.4, 0.1, 1.6], velocity = [0.1, 0.0, -0.9], angular_velocity = [1.0, 0.7, 0.0] }"
        ),
    )
}

fn pairs(run: &Run) -> Vec<String> {
    let model = run.model();
    let gaps = model
        .outputs
        .iter()
        .filter_map(|output| output.quantity.name.strip_suffix(".gap"));
    gaps.map(str::to_owned).collect()
}

/// A group has pairs of frames and bodies with shapes, but not of one rigid part or of parts that a
/// joint connects; a run of it has the bits of the same pairs written one by one.
#[test]
fn group_has_the_bits_of_pairs_written_one_by_one() {
    let shapes = [
        ("deck", "{ type = \"box\", size = [0.6, 0.8, 0.1] }"),
        ("mast", "{ type = \"cylinder\", radius = 0.05, length = 0.6 }"),
        ("pad", "{ type = \"sphere\", radius = 0.08 }"),
        ("ball", "{ type = \"sphere\", radius = 0.12 }"),
        ("rod", "{ type = \"capsule\", radius = 0.06, length = 0.2 }"),
    ];
    let shape = |name: &str| shapes.iter().find(|(known, _)| *known == name).expect("a frame").1;
    let law = "e = 0.7\nmu = 0.2\n";
    let group = scene(&format!(
        "[contact_group.all]\namong = [\"platform\", \"tip\", \"ball\", \"rod\"]\n{law}"
    ));
    let mut run = Run::new(&group, 1e-9);
    let expected = [
        "deck.ball",
        "deck.rod",
        "mast.ball",
        "mast.rod",
        "pad.ball",
        "pad.rod",
        "ball.rod",
    ];
    assert_eq!(pairs(&run), expected.map(|pair| format!("all.{pair}")));
    // The pad is beside the joint of the deck's platform.
    let neighbours = group.replace("e = 0.7\n", "e = 0.7\nneighbours = true\n");
    let neighbours = pairs(&Run::new(&neighbours, 1e-9));
    assert_eq!(neighbours.len(), expected.len() + 2);
    assert!(neighbours.contains(&"all.deck.pad".to_owned()) && neighbours.contains(&"all.mast.pad".to_owned()));
    let by_hand: String = expected
        .iter()
        .map(|pair| {
            let (a, b) = pair.split_once('.').expect("two names");
            let (of_a, of_b) = (shape(a), shape(b));
            format!("[contact.\"all.{pair}\"]\na = \"{a}\"\nb = \"{b}\"\nshape_a = {of_a}\nshape_b = {of_b}\n{law}")
        })
        .collect();
    let mut hand = Run::new(&scene(&by_hand), 1e-9);
    let count = |run: &Run| run.model().indicator_count();
    assert_eq!(count(&run), count(&hand));
    // One indicator for each pair.
    assert_eq!(count(&run), expected.len());
    let mut impacts = 0.0;
    for k in 1..=12 {
        for run in [&mut run, &mut hand] {
            run.go(0.25 * f64::from(k));
        }
        assert_eq!(run.simulation.state.x, hand.simulation.state.x);
        impacts = expected
            .iter()
            .map(|pair| run.value(&format!("all.{pair}.count")))
            .sum();
        for pair in expected {
            let gap = format!("all.{pair}.gap");
            assert_eq!(run.value(&gap).to_bits(), hand.value(&gap).to_bits());
        }
    }
    assert!(impacts >= 2.0, "{impacts} impacts");
}

/// Lists `a` and `b`, exceptions, and pairs that are written apart.
#[test]
fn group_of_two_lists_leaves_out_exceptions_and_written_pairs() {
    let group = "[contact_group.grip]\na = [\"pad\", \"mast\"]\nb = [\"rod\", \"ball\", \"pad\"]\n\
                 except = [[\"platform\", \"rod\"]]\nneighbours = true\ne = 0.7\n";
    assert_eq!(
        pairs(&Run::new(&scene(group), 1e-9)),
        ["grip.pad.rod", "grip.pad.ball", "grip.mast.ball", "grip.mast.pad"]
    );
    let written = "[contact.own]\na = \"ball\"\nb = \"pad\"\nshape_a = { type = \"sphere\", radius = 0.1 }\n\
                   shape_b = { type = \"sphere\", radius = 0.1 }\ne = 0.1\n";
    let both = pairs(&Run::new(&scene(&format!("{written}{group}")), 1e-9));
    assert_eq!(both, ["own", "grip.pad.rod", "grip.mast.ball", "grip.mast.pad"]);
}

/// Boxes that fly against each other from a large distance, face to face, touch at the time of the
/// closed form: the bounding spheres skip no contact.
#[test]
fn boxes_from_far_touch_in_time() {
    let (size, speed) = (0.4, 3.0);
    let text = format!(
        "name = \"far\"\n[body.a]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n\
         contact_shape = {{ type = \"box\", size = [{size}, {size}, {size}] }}\n\
         [body.b]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nstart = {{ position = [100.0, 0.05, 0.02], velocity = [{:?}, 0.0, 0.0] }}\n\
         contact_shape = {{ type = \"box\", size = [{size}, {size}, {size}] }}\n\
         [contact_group.all]\namong = [\"a\", \"b\"]\ne = 1.0\n[solver]\nmethod = \"dop853\"\n",
        -speed
    );
    let mut run = Run::new(&text, 1e-9);
    run.go(34.0);
    let expected = (100.0 - size) / speed;
    let time = run.value("all.a.b.time");
    assert!((time - expected).abs() < 1e-12, "{time} in place of {expected}");
}

/// Three fingers hold a cylinder by friction up to `3 μ τ/(L m)`, with the torque τ of their motors at
/// the lever L: below it the client creeps by the regularised law, above it has the acceleration of
/// sliding friction.
#[test]
fn gripper_holds_a_cylinder_up_to_the_friction_limit() {
    let text = include_str!("../../../examples/contacts/gripper.toml");
    // The client starts in the middle, and turned by no angle: the closed form is symmetric.
    let middle = text.replace("[0.004, -0.003, 1.2], rpy_deg = [0.5, -0.4, 0.0]", "[0.0, 0.0, 1.2]");
    assert_ne!(middle, text);
    let (normal, mu, slip, client, gripper) = (4.0 / 0.2, 0.3, 1e-3, 30.0, 13.0);
    let limit = 3.0 * mu * normal;
    let mut off = [0.0f64; 3];
    // A mesh handle: a prism with six sides, three of which are opposite to the pads.
    let corners: Vec<[f64; 3]> = (0..12)
        .map(|k| {
            let (sine, cosine) = (f64::from(2 * (k / 2) + 1) * FRAC_PI_6).sin_cos();
            let radius = 0.15 / FRAC_PI_6.cos();
            [radius * cosine, radius * sine, if k % 2 == 0 { -0.15 } else { 0.15 }]
        })
        .collect();
    let tube = "{ type = \"cylinder\", radius = 0.15, length = 0.3 }";
    let handle = middle.replace(tube, &format!("{{ type = \"mesh\", vertices = {corners:?} }}"));
    assert_ne!(handle, middle);
    let cases = [12.0, 19.35, 24.0, 30.0, 38.7].map(|force| (&middle, force));
    for (text, force) in cases.into_iter().chain([(&handle, 19.35), (&handle, 38.7)]) {
        let mut run = Run::new(&text.replace("19.35", &format!("{force:?}")), 1e-9);
        let speeds = |run: &Run| ["client.v[3]", "palm.v[3]"].map(|name| run.value(name));
        run.go(2.2);
        let before = speeds(&run);
        run.go(2.3);
        let after = speeds(&run);
        let [of_client, of_palm] = [0, 1].map(|i| (after[i] - before[i]) / 0.1);
        let pressed: f64 = (1..=3)
            .map(|i| run.vector(&format!("grip.pad_{i}.client.force")).xy().norm())
            .sum();
        off[0] = off[0].max((pressed / (3.0 * normal) - 1.0).abs());
        let held = client * force / (client + gripper);
        let expected = if held < limit {
            // The friction is μ N u/√(u² + u_s²).
            let part = held / limit;
            let creep = slip * part / (1.0 - part * part).sqrt();
            off[1] = off[1].max(((after[1] - after[0]) / creep - 1.0).abs());
            [force / (client + gripper); 2]
        } else {
            [limit / client, (force - limit) / gripper]
        };
        for (found, expected) in [of_client, of_palm].into_iter().zip(expected) {
            off[2] = off[2].max((found / expected - 1.0).abs());
        }
    }
    println!(
        "gripper: normal force {:.1e}, creep {:.1e}, accelerations {:.1e} of their closed forms",
        off[0], off[1], off[2]
    );
    assert!(off[0] < 1e-3 && off[1] < 5e-3 && off[2] < 2e-3);
}

/// A client that bounces in a cage keeps the momentum of both, and its energy never grows.
#[test]
fn client_in_a_cage_keeps_momentum_and_never_gains_energy() {
    let mut run = Run::new(include_str!("../../../examples/contacts/cage.toml"), 1e-9);
    run.look();
    assert_eq!(pairs(&run).len(), 12);
    let momentum = |run: &Run| ["system.momentum", "system.angular_momentum"].map(|name| run.vector(name));
    let before = momentum(&run);
    let (mut energy, mut off, mut impacts) = (run.value("system.energy"), 0.0f64, 0.0);
    let begin = energy;
    for k in 1..=60 {
        run.go(0.5 * f64::from(k));
        let now = run.value("system.energy");
        assert!(now < energy + 1e-12, "{k}: {now} after {energy}");
        energy = now;
        for (after, before) in momentum(&run).iter().zip(&before) {
            off = off.max((after - before).norm());
        }
        impacts = pairs(&run).iter().map(|pair| run.value(&format!("{pair}.count"))).sum();
    }
    println!("cage: {impacts} impacts, energy {energy:.3e} of {begin:.3e} J, momentum {off:.1e}");
    assert!(impacts >= 5.0 && energy < begin && off < 1e-10);
}
