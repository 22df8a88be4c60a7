//! Specs that are mounted in others.

use crate::everything::{COUPLED, EVERYTHING, IN_GRASP, WITH_DIRECTORS, WITH_LIQUIDS, WITH_TETHER, rigid};
use crate::example_files::example_files;
use crate::messages;
use grapple::plant::{Model, OperatingPoint, Plant};
use grapple::spec::{Kind, read_text};
use grapple::system::Quantity;
use grapple::{Error, Problem};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::PathBuf;
use std::sync::Arc;
use toml::{Table, Value};

/// Folder with files of a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let test = std::thread::current()
            .name()
            .expect("a test has a name")
            .replace("::", "_");
        let folder = std::env::temp_dir().join(format!("grapple_{}_{test}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).expect("a file");
    }

    fn model(&self, text: &str) -> Model {
        Model::read(text, &self.0).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn problems(&self, text: &str) -> Vec<Problem> {
        match Model::read(text, &self.0) {
            Ok(_) => Vec::new(),
            Err(Error::Spec(problems)) => problems,
            Err(other) => panic!("{other}"),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns a spec with the settings of another one, which it mounts from a file as `part`.
fn host(text: &str, file: &str) -> String {
    let mut table: Table = text.parse().expect("TOML");
    let settings = [
        "name",
        "formulation",
        "constraints",
        "quaternion",
        "environment",
        "output",
        "experiment",
        "solver",
        "monitor",
    ];
    table.retain(|section, _| settings.contains(&section) || section == "assembly");
    if let Some(Value::Table(assembly)) = table.get_mut("assembly") {
        assembly.retain(|field, _| field == "equilibrium");
    }
    let mount = Table::from_iter([("spec".to_owned(), Value::from(file))]);
    table.insert(
        "mount".to_owned(),
        Value::Table(Table::from_iter([("part".to_owned(), Value::Table(mount))])),
    );
    table.to_string()
}

/// Returns a variable's name in a model that mounts its owner as `part`.
fn renamed(name: &str) -> String {
    if let Some(state) = name.strip_prefix("der(") {
        return format!("der({}", renamed(state));
    }
    if let Some(input) = name.strip_prefix("signal.") {
        return format!("signal.{}", renamed(input));
    }
    let owner = name.split('.').next().unwrap_or_default();
    match owner {
        "system" | "environment" | "orbit" | "monitor" | "constraints" => name.to_owned(),
        _ => format!("part.{name}"),
    }
}

fn all(model: &Model) -> impl Iterator<Item = &Quantity> {
    (model.states.iter().chain(&model.derivatives))
        .chain(model.inputs.iter().map(|input| &input.quantity))
        .chain(model.parameters.iter().map(|parameter| &parameter.quantity))
        .chain(model.outputs.iter().map(|output| &output.quantity))
}

/// Asserts that two models are equal up to names, with derivatives and outputs equal to the bit.
fn assert_equal_up_to_names(alone: Model, mounted: Model) {
    assert_eq!(all(&alone).count(), all(&mounted).count());
    for (a, b) in all(&alone).zip(all(&mounted)) {
        assert_eq!(renamed(&a.name), b.name);
        assert_eq!(
            (a.unit, a.nominal.to_bits()),
            (b.unit, b.nominal.to_bits()),
            "{}",
            a.name
        );
    }
    let starts = |model: &Model| {
        let inputs = model
            .inputs
            .iter()
            .map(|input| (input.start.to_bits(), input.is_discrete()));
        let parameters = (model.parameters.iter()).map(|parameter| (parameter.start.to_bits(), parameter.tunable));
        inputs.chain(parameters).collect::<Vec<_>>()
    };
    assert_eq!(starts(&alone), starts(&mounted));
    let name = alone.spec.name.clone();
    let mut plants = [alone, mounted].map(|model| Plant::new(Arc::new(model)).expect("the spec's own values"));
    let mut rng = ChaCha8Rng::seed_from_u64(36);
    for round in 0..3 {
        let model = plants[0].model().clone();
        let sizes: Vec<f64> = model
            .states
            .iter()
            .map(|_| 1e-2 * rng.random_range(-1.0..1.0))
            .collect();
        let u: Vec<f64> = (model.inputs.iter())
            .map(|input| {
                input.start
                    + if input.is_discrete() {
                        0.0
                    } else {
                        rng.random_range(-1.0..1.0)
                    }
            })
            .collect();
        let values = plants.each_mut().map(|plant| {
            let (mut x, mut discrete) = (vec![0.0; sizes.len()], model.discrete());
            plant.start(0.0, &mut x, &mut discrete).expect("a start");
            x.iter_mut().zip(&sizes).for_each(|(x, by)| *x += by);
            let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; model.outputs.len()]);
            let outcome = plant.evaluate(OperatingPoint::new(0.3, &x, &u, &discrete), &mut dx, &mut y);
            let bits: Vec<u64> = dx.iter().chain(&y).map(|value| value.to_bits()).collect();
            outcome.map(|()| bits).map_err(|error| error.to_string())
        });
        assert!(values[0].is_ok(), "{name}, round {round}: {:?}", values[0]);
        assert_eq!(values[0], values[1], "{name}");
    }
}

/// Sections that no example has.
const OTHERS: &str = r#"name = "others"
[body.upper]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.1, 0.1]
[body.lower]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.1, 0.1]
[body.boom.beam]
length = 2.0
mass_per_length = 1.0
EI = 500.0
bending = 1
polar_inertia_per_length = 0.1
[joint.shoulder]
type = "revolute"
parent = "world"
child = "upper"
servo = { kp = 2.0, kd = 0.5 }
start = { position = 0.3 }
[joint.elbow]
type = "revolute"
parent = "upper"
child = "lower"
origin = [1.0, 0.0, 0.0]
servo = { kp = 2.0, kd = 0.5 }
start = { position = 0.6 }
[joint.root]
type = "fixed"
parent = "lower"
child = "boom"
origin = [0.5, 0.0, 0.0]
[frame.tip]
body = "lower"
origin = [1.0, 0.0, 0.0]
[plan.reach]
joints = ["shoulder", "elbow"]
until = 2.0
[[plan.reach.goal]]
frame = "tip"
relative_to = "world"
to = { x = 1.4 }
[[plan.reach.goal]]
mass_centre = ["upper", "lower"]
relative_to = "world"
keep = ["y"]
[line_load.sun]
body = "boom"
[interface.dock]
frame = "tip"
stiffness = 100.0
damping = 1.0
[port.push]
frame = "tip"
[thruster.jet]
frame = "tip"
direction = [1.0, 0.0, 0.0]
thrust = 2.0
[input]
"push.f[1]" = 0.2
"#;

/// A spec that mounts another one, and nothing else, is that spec up to names: for all examples, and
/// for specs with all features. Together they have all sections of named tables.
#[test]
fn mounted_spec_is_the_spec_itself_up_to_names() {
    let folder = Folder::new();
    // Noise depends on the name of its sensor.
    let sensors = include_str!("../../examples/sensors/satellite.toml").lines();
    let everything = [
        sensors
            .filter(|line| !line.contains("noise"))
            .collect::<Vec<_>>()
            .join("\n"),
        rigid(),
        EVERYTHING.to_owned() + COUPLED,
        EVERYTHING.to_owned() + WITH_LIQUIDS,
        EVERYTHING.to_owned() + WITH_TETHER,
        format!("{EVERYTHING}{IN_GRASP}{WITH_DIRECTORS}"),
        OTHERS.to_owned(),
        include_str!("../../examples/tasks/reach.toml").to_owned(),
        include_str!("../../examples/contacts/gripper.toml").to_owned(),
        include_str!("../../examples/environment/low_orbit.toml").to_owned(),
        include_str!("../../examples/bricard.toml").to_owned()
            + "[assembly]\nfixed = [\"hinge1\"]\nweights = { hinge2 = 3.0 }\n",
    ];
    let schema: serde_json::Value = serde_json::from_str(&grapple::spec::schema()).expect("JSON");
    let sections = schema["properties"].as_object().expect("sections").iter();
    let named = sections.filter(|(_, field)| field.get("additionalProperties").is_some());
    let mut missing: Vec<String> = named.map(|(section, _)| section.clone()).collect();
    let mut count = 0;
    for (i, text) in everything.iter().enumerate() {
        let file = format!("{i}.toml");
        folder.write(&file, text);
        let table: Table = text.parse().expect("TOML");
        missing.retain(|section| !table.contains_key(section));
        let (alone, mounted) = (folder.model(text), folder.model(&host(text, &file)));
        assert_equal_up_to_names(alone, mounted);
    }
    for path in example_files() {
        let text = read_text(&path, 1 << 20).expect("a spec");
        let directory = path.parent().expect("a folder");
        let alone = Model::read(&text, directory).expect("a spec");
        if alone.spec.kind == Kind::Controller {
            continue;
        }
        let table: Table = text.parse().expect("TOML");
        missing.retain(|section| !table.contains_key(section));
        let file = path.file_name().expect("a file").to_string_lossy();
        let mounted = Model::read(&host(&text, &file), directory).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_equal_up_to_names(alone, mounted);
        count += 1;
    }
    assert!(count > 10);
    assert_eq!(missing, ["mount"]);
}

const ARM: &str = r#"name = "arm"
[body.foot]
mass = 0.5
inertia = [0.01, 0.02, 0.03]
start = { position = [5.0, 0.0, 0.0] }
[body.link]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.2, 0.3]
[joint.elbow]
type = "revolute"
parent = "foot"
child = "link"
origin = [0.1, 0.2, 0.3]
rpy_deg = [20.0, 0.0, 10.0]
servo = { kp = 3.0, kd = 2.0 }
start = { position = 0.4 }
[frame.tip]
body = "link"
origin = [1.0, 0.0, 0.0]
[signal."elbow.q_ref"]
type = "sine"
frequency = 0.5
amplitude = 0.2
[environment]
gravity = [0.0, 0.0, -9.81]
"#;

const BUS: &str = r#"name = "servicer"
[body.bus]
mass = 40.0
inertia = [4.0, 5.0, 6.0]
[frame.port]
body = "bus"
origin = [0.5, 0.1, -0.2]
rpy_deg = [0.0, 90.0, 30.0]
"#;

fn start(model: Model, names: &[&str]) -> Vec<f64> {
    let mut plant = Plant::new(Arc::new(model)).expect("values");
    let model = plant.model().clone();
    let (mut x, mut discrete) = (vec![0.0; model.states.len()], model.discrete());
    plant.start(0.0, &mut x, &mut discrete).expect("a start");
    let u: Vec<f64> = model.inputs.iter().map(|input| input.start).collect();
    let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; model.outputs.len()]);
    plant
        .evaluate(OperatingPoint::new(0.0, &x, &u, &discrete), &mut dx, &mut y)
        .expect("regular");
    let value = |name: &&str| {
        let state = model.states.iter().position(|state| state.name == **name).map(|i| x[i]);
        let output = model.outputs.iter().position(|output| output.quantity.name == **name);
        state
            .or_else(|| output.map(|i| y[i]))
            .unwrap_or_else(|| panic!("no {name}"))
    };
    names.iter().map(value).collect()
}

/// Two mounts of an arm, changed by name, equal the same tables written out, with a tool that the
/// second one carries on a frame of the first.
#[test]
fn mounted_arms_equal_the_same_tables_written_out() {
    let folder = Folder::new();
    folder.write("arm.toml", ARM);
    folder.write(
        "tool.toml",
        "name = \"tool\"\n[body.claw]\nmass = 0.2\ninertia = [0.001, 0.001, 0.002]\n",
    );
    let mounted = folder.model(&format!(
        "{BUS}[mount.left]\nspec = \"arm.toml\"\non = \"port\"\norigin = [0.1, 0.0, 0.0]\nrpy_deg = [0.0, 0.0, 90.0]\n\
         joint = {{ type = \"revolute\", axis = [0.0, 1.0, 0.0], damping = 0.3, start = {{ rate = 0.1 }} }}\n\
         set.joint.elbow.start.position = 0.7\nset.body.link.mass = 2.0\n\
         [mount.right]\nspec = \"arm.toml\"\non = \"bus\"\n[mount.tool]\nspec = \"tool.toml\"\non = \"left.tip\"\n\
         [signal.\"right.elbow.q_ref\"]\ntype = \"step\"\nfrom = 1.0\n"
    ));
    let arm = |name: &str, mass: f64, start: f64| {
        format!(
            "[body.\"{name}.foot\"]\nmass = 0.5\ninertia = [0.01, 0.02, 0.03]\n[body.\"{name}.link\"]\nmass = {mass:?}\n\
             mass_centre = [0.5, 0.1, 0.0]\ninertia = [0.1, 0.2, 0.3]\n[joint.\"{name}.elbow\"]\ntype = \"revolute\"\n\
             parent = \"{name}.foot\"\nchild = \"{name}.link\"\norigin = [0.1, 0.2, 0.3]\nrpy_deg = [20.0, 0.0, 10.0]\n\
             servo = {{ kp = 3.0, kd = 2.0 }}\nstart = {{ position = {start:?} }}\n[frame.\"{name}.tip\"]\n\
             body = \"{name}.link\"\norigin = [1.0, 0.0, 0.0]\n"
        )
    };
    // R = Rz(30) Ry(90) Rz(90), and the origin is 0.1 m along x of the port, which is -z of the bus.
    let written = folder.model(&format!(
        "{BUS}{}{}[body.\"tool.claw\"]\nmass = 0.2\ninertia = [0.001, 0.001, 0.002]\n[joint.left]\ntype = \"revolute\"\n\
         parent = \"bus\"\nchild = \"left.foot\"\norigin = [0.5, 0.1, -0.3]\norientation = {:?}\naxis = [0.0, 1.0, 0.0]\n\
         damping = 0.3\nstart = {{ rate = 0.1 }}\n[joint.right]\ntype = \"fixed\"\nparent = \"bus\"\nchild = \"right.foot\"\n\
         [joint.tool]\ntype = \"fixed\"\nparent = \"left.link\"\nchild = \"tool.claw\"\norigin = [1.0, 0.0, 0.0]\n",
        arm("left", 2.0, 0.7),
        arm("right", 1.0, 0.4),
        quaternion_of([0.0, 90.0, 30.0], 90.0),
    ));
    assert_eq!(mounted.spec.signal["left.elbow.q_ref"].amplitude, 0.2);
    assert_eq!(mounted.spec.signal["right.elbow.q_ref"].from, Some(1.0));
    assert_eq!(mounted.spec.environment.gravity, None);
    let names: Vec<String> = all(&written).map(|quantity| quantity.name.clone()).collect();
    let mut found: Vec<String> = all(&mounted).map(|quantity| quantity.name.clone()).collect();
    assert_eq!(names.len(), found.len());
    found.sort();
    assert!(names.iter().all(|name| found.binary_search(name).is_ok()));
    let values: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| !name.contains("_start"))
        .collect();
    let is_value = |name: &&&str| {
        written.states.iter().any(|of| of.name == **name) || name.starts_with("der(") || {
            written.outputs.iter().any(|of| of.quantity.name == **name)
        }
    };
    let values: Vec<&str> = values
        .iter()
        .filter(is_value)
        .copied()
        .filter(|name| !name.starts_with("der("))
        .collect();
    assert!(values.len() > 40);
    let (expected, found) = (start(written, &values), start(mounted, &values));
    for ((name, a), b) in values.iter().zip(expected).zip(found) {
        assert!((a - b).abs() < 1e-12, "{name}: {b} instead of {a}");
    }
}

/// Returns Rz(yaw) Ry(pitch) Rx(roll) Rz(turn), degrees.
fn quaternion_of([roll, pitch, yaw]: [f64; 3], turn: f64) -> [f64; 4] {
    use nalgebra::{UnitQuaternion, Vector3};
    let [roll, pitch, yaw, turn] = [roll, pitch, yaw, turn].map(f64::to_radians);
    let z = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn);
    let q = UnitQuaternion::from_euler_angles(roll, pitch, yaw) * z;
    [q.w, q.i, q.j, q.k]
}

/// An arm on the world, with a strut to the world, stands on the frame instead; its settings do not
/// apply.
#[test]
fn carrier_replaces_the_world_of_a_grounded_arm() {
    let folder = Folder::new();
    let grounded = ARM.replace("start = { position = [5.0, 0.0, 0.0] }\n", "")
        + "[joint.base]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"foot\"\norigin = [0.0, 0.0, 0.5]\n\
           [spring.strut]\na = \"world\"\nb = \"tip\"\nstiffness = 10.0\n";
    folder.write("arm.toml", &grounded);
    let mounted = |fields: &str| folder.model(&format!("{BUS}[mount.arm]\nspec = \"arm.toml\"\n{fields}"));
    let port = mounted("on = \"port\"\n");
    assert_eq!(port.spec.joint["arm.base"].parent, "bus");
    assert_eq!(port.spec.spring["arm.strut"].a, "port");
    // The port's x is -z of the bus, its z is (cos 30, sin 30, 0) of the bus.
    let expected = [0.5 + 0.5 * 30f64.to_radians().cos(), 0.1 + 0.25, -0.2];
    let found = port.spec.joint["arm.base"].origin;
    assert!(
        found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15),
        "{found:?}"
    );
    // With a placement of its own, its world is a frame with the name of the mount.
    let placed = mounted("on = \"bus\"\norigin = [1.0, 0.0, 0.0]\n");
    assert_eq!(placed.spec.joint["arm.base"].origin, [1.0, 0.0, 0.5]);
    assert_eq!(placed.spec.spring["arm.strut"].a, "arm");
    assert_eq!(placed.spec.frame["arm"].origin, [1.0, 0.0, 0.0]);
    // Without `on` it stands on the world.
    let standing = mounted("");
    assert_eq!(standing.spec.joint["arm.base"].parent, "world");
    assert_eq!(standing.spec.spring["arm.strut"].a, "world");
}

/// A mounted spec without `on` floats, with the start of its file and the changes of the mount; it
/// may itself mount and include specs.
#[test]
fn free_mount_starts_where_it_is_placed_and_mounts_may_be_nested() {
    let folder = Folder::new();
    folder.write("arm.toml", ARM);
    folder.write(
        "base.toml",
        "[body.hub]\nmass = 9.0\ninertia = [1.0, 1.0, 1.0]\nstart = { velocity = [0.1, 0.0, 0.0] }\n",
    );
    folder.write(
        "client.toml",
        "include = [\"base.toml\"]\n[mount.limb]\nspec = \"arm.toml\"\non = \"hub\"\n",
    );
    let model = folder.model(&format!(
        "{BUS}[mount.client]\nspec = \"client.toml\"\nstart = {{ position = [0.0, 3.0, 0.0] }}\n\
         set.mount.limb.set.body.link.mass = 7.0\n[contact.berth]\na = \"port\"\nb = \"client.limb.tip\"\nlaw = \"capture_pin\"\n"
    ));
    let start = model.spec.body["client.hub"].start.clone().expect("a start");
    assert_eq!((start.position, start.velocity), ([0.0, 3.0, 0.0], [0.1, 0.0, 0.0]));
    assert_eq!(model.spec.body["client.limb.link"].mass, Some(7.0));
    let joint = &model.spec.joint["client.limb"];
    assert_eq!(
        (joint.parent.as_str(), joint.child.as_str()),
        ("client.hub", "client.limb.foot")
    );
}

/// Returns the file's prefix and line of each problem of a composed spec, with the message.
fn located(folder: &Folder, text: &str) -> Vec<String> {
    folder
        .problems(text)
        .iter()
        .map(|problem| format!("{}: {problem}", problem.at.join("/")))
        .collect()
}

#[test]
fn errors_of_mounts_are_reported_at_their_fields() {
    let _section = messages::of_this_test();
    let folder = Folder::new();
    folder.write("arm.toml", ARM);
    folder.write("twins.toml", "[body.a]\nmass = 1.0\n[body.b]\nmass = 1.0\n");
    folder.write(
        "beam.toml",
        "[ancf_beam.span]\nlength = 1.0\nelements = 1\nmass_per_length = 1.0\nEA = 1.0\nEI = 1.0\n",
    );
    folder.write(
        "stand.toml",
        "[body.a]\nmass = 1.0\n[joint.hold]\ntype = \"fixed\"\nparent = \"world\"\nchild = \"a\"\n",
    );
    folder.write("odd.toml", "nam = \"odd\"\n[body.a]\nmass = 1.0\n");
    folder.write("control.toml", "kind = \"controller\"\n");
    folder.write("self.toml", "[mount.again]\nspec = \"self.toml\"\n");
    let cases = [
        ("spec = \"arm.tom\"", "mount/m/spec"),
        ("spec = \"control.toml\"", "mount/m/spec"),
        ("spec = \"self.toml\"", "mount/m.again/spec"),
        ("spec = \"arm.toml\"\nat = \"port\"", "mount/m/at"),
        ("on = \"port\"", "mount/m"),
        ("spec = \"arm.toml\"\non = \"prt\"", "mount/m/on"),
        ("spec = \"twins.toml\"\non = \"port\"", "mount/m/spec"),
        ("spec = \"twins.toml\"\nroot = \"c\"\non = \"port\"", "mount/m/root"),
        ("spec = \"arm.toml\"\nroot = \"link\"\non = \"port\"", "mount/m/root"),
        ("spec = \"arm.toml\"\nroot = \"foot\"", "mount/m/root"),
        ("spec = \"beam.toml\"\non = \"port\"", "mount/m/on"),
        ("spec = \"arm.toml\"\norigin = [1.0, 0.0, 0.0]", "mount/m/origin"),
        (
            "spec = \"arm.toml\"\non = \"port\"\nstart = { position = [1.0, 0.0, 0.0] }",
            "mount/m/start",
        ),
        (
            "spec = \"stand.toml\"\nstart = { position = [1.0, 0.0, 0.0] }",
            "mount/m/start",
        ),
        (
            "spec = \"stand.toml\"\non = \"port\"\njoint = { type = \"fixed\" }",
            "mount/m/joint",
        ),
        (
            "spec = \"arm.toml\"\non = \"port\"\njoint = { type = \"fixed\", parent = \"bus\" }",
            "mount/m/joint",
        ),
        (
            "spec = \"arm.toml\"\non = \"port\"\njoint = { type = \"fixed\", origin = [1.0, 0.0, 0.0] }",
            "mount/m/joint",
        ),
        (
            "spec = \"arm.toml\"\nset.joint.elbw.damping = 1.0",
            "mount/m/set/joint/elbw",
        ),
        ("spec = \"arm.toml\"\nset.solver.step = 1.0", "mount/m/set/solver"),
        ("spec = \"arm.toml\"\n[body.\"m.lnk\"]\nmass = 1.0", "body/m.lnk"),
        (
            "spec = \"arm.toml\"\n[joint.\"m.elbow\"]\ndamping = 1.0",
            "joint/m.elbow",
        ),
        (
            "spec = \"arm.toml\"\non = \"bus\"\n[joint.m]\ntype = \"fixed\"",
            "joint/m",
        ),
        ("spec = \"odd.toml\"", "nam"),
    ];
    for (fields, at) in cases {
        let found = located(&folder, &format!("{BUS}[mount.m]\n{fields}\n"));
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("{at}: ")),
            "{fields}: {found:?}"
        );
        messages::record(&found[0]);
    }
    let found = located(&folder, &format!("{BUS}[mount.\"a.b\"]\nspec = \"arm.toml\"\n"));
    assert!(found[0].starts_with("mount/a.b: "), "{found:?}");
    assert_eq!(located(&folder, &format!("mount = 3\n{BUS}")).len(), 1);
}

/// A file that `set` of a mount names is relative to the folder of the spec with that mount.
#[test]
fn files_in_set_are_relative_to_the_file_that_names_them() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.0.join("sub")).expect("a folder");
    folder.write("sub/arm.toml", ARM);
    folder.write("sub/t.csv", "time,tau\n0.0,0.4\n1.0,0.5\n");
    folder.write(
        "sub/mid.toml",
        "name = \"mid\"\n[mount.arm]\nspec = \"arm.toml\"\nstart = {}\n\
         [mount.arm.set.signal.\"elbow.tau\"]\ntype = \"table\"\nfile = \"t.csv\"\n",
    );
    let text = "name = \"top\"\n[mount.mid]\nspec = \"sub/mid.toml\"\nstart = {}\n";
    assert_eq!(folder.problems(text), []);
}
