//! The run diagnostics on momentum: its drift if it is conserved, else the external load.

use crate::desk::Desk;
use crate::messages;

/// Returns the spec of a rotating, drifting free body with a boom on a hinge, and with the lines
/// `more`.
fn spacecraft(more: &str) -> String {
    format!(
        r#"
name = "spacecraft"
[body.base]
mass = 3.0
inertia = [1.0, 2.0, 2.5]
start = {{ position = [0.0, 0.0, 1.0], velocity = [0.1, 0.0, -0.5], angular_velocity = [0.0, 0.1, 0.2] }}
[body.boom.beam]
length = 2.0
mass_per_length = 0.5
polar_inertia_per_length = 0.001
EI = 100.0
bending = 1
[joint.hinge]
type = "revolute"
parent = "base"
child = "boom"
origin = [0.5, 0.0, 0.0]
start = {{ rate = 0.1 }}
[frame.nose]
body = "base"
origin = [-0.3, 0.1, 0.0]
[experiment]
stop_time = 0.5
step = 0.1
{more}
"#
    )
}

/// Returns the diagnostics line of a spacecraft's run, and its page.
fn simulated(more: &str) -> (String, String) {
    let desk = Desk::new();
    desk.write("spacecraft.toml", &spacecraft(more));
    let out = desk.succeed(&["simulate", "spacecraft.toml"]);
    let diagnostics = out.lines().last().unwrap_or_default().to_owned();
    (diagnostics, desk.text("spacecraft.html"))
}

#[test]
fn free_spacecraft_conserves_momentum() {
    // Possible external loads that do not act: a port, a thruster that is off, a contact with the
    // world that is never reached.
    let idle = r#"
[port.push]
frame = "nose"
impulse = true
[signal."push.impulse[1]"]
type = "constant"
[thruster.jet]
frame = "nose"
direction = [1.0, 0.0, 0.0]
thrust = 5.0
[contact.floor]
a = "nose"
b = "world"
e = 0.5
[grasp.hold]
a = "world"
b = "nose"
stiffness = 1.0
damping = 1.0
on = false
"#;
    let (diagnostics, page) = simulated(idle);
    assert!(
        diagnostics.starts_with("run diagnostics: momentum drift "),
        "{diagnostics}"
    );
    assert!(page.contains("Momentum drift"));
}

#[test]
fn external_loads_are_named_and_no_drift_is_shown() {
    let _section = messages::of_this_test();
    for (what, spec) in [
        ("gravity", "[environment]\ngravity = [0.0, 0.0, -1.0]"),
        ("orbit", "[environment.orbit]\nsemi_major_axis = 7.0e6"),
        (
            "joint rail",
            "[body.sled]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n\
             [joint.rail]\ntype = \"prismatic\"\nparent = \"world\"\nchild = \"sled\"\naxis = [1.0, 0.0, 0.0]",
        ),
        ("base", "[body.base.attitude_servo]\nkp = 1.0\nkd = 1.0"),
        (
            "thruster jet",
            "[thruster.jet]\nframe = \"nose\"\ndirection = [1.0, 0.0, 0.0]\nthrust = 5.0\n\
             [signal.\"jet.on\"]\ntype = \"constant\"",
        ),
        (
            "grasp hold",
            "[grasp.hold]\na = \"world\"\nb = \"nose\"\nstiffness = 1.0\ndamping = 1.0",
        ),
        // A ball that bounces on the ground.
        (
            "contact floor",
            "[contact.floor]\na = \"base\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.9\ne = 0.8",
        ),
        (
            "contact hook",
            "[contact.hook]\na = \"nose\"\nb = \"world\"\nlaw = \"capture_pin\"\nreach = 9.0\n\
             [signal.\"hook.capture\"]\ntype = \"constant\"\nfrom = 0.11\nuntil = 0.12\nfrom_importer = false",
        ),
        (
            "contact mat",
            "[contact.mat]\na = \"base\"\nb = \"world\"\nsurface = \"plane\"\nradius_a = 0.9\nlaw = \"compliant\"\n\
             force = 100.0\ndepth = 0.01",
        ),
        // The impulse acts between two rows of the results.
        (
            "push",
            "[port.push]\nframe = \"nose\"\nimpulse = true\n[signal.\"push.impulse[1]\"]\ntype = \"constant\"\n\
             from_importer = false\n[signal.\"push.impact\"]\ntype = \"constant\"\nfrom = 0.11\nuntil = 0.12\nfrom_importer = false",
        ),
        (
            "push",
            "[port.push]\nframe = \"nose\"\n[signal.\"push.t[2]\"]\ntype = \"constant\"",
        ),
        (
            "wind",
            "[line_load.wind]\nbody = \"boom\"\n[signal.\"wind.f[3]\"]\ntype = \"constant\"",
        ),
    ] {
        let (diagnostics, page) = simulated(spec);
        let momentum = diagnostics.split(';').next().expect("the momentum comes first");
        assert!(momentum.contains(what), "{what}: {diagnostics}");
        messages::record(momentum);
        assert!(!page.contains("Momentum drift"), "{what}");
    }
}
