//! Specs that together use all features, for tests that cover everything.

/// All kinds of joints and loads, a flexible link and a drive, with events.
pub const EVERYTHING: &str = r#"
name = "everything"
[environment]
gravity = [0.0, 0.0, -1.0]
[output]
bodies = true
[body.base]
mass = 40.0
inertia = [4.0, 5.0, 6.0]
[body.a]
mass = 1.0
inertia = [0.1, 0.2, 0.2]
[body.b]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.c]
mass = 1.0
mass_centre = [0.5, 0.0, 0.0]
inertia = [0.1, 0.2, 0.2]
[joint.wrist]
type = "spherical"
parent = "base"
child = "a"
spring = { stiffness = 3.0 }
servo = { kp = 2.0, kd = 0.5 }
[joint.elbow]
type = "revolute"
parent = "a"
child = "b"
origin = [1.0, 0.0, 0.0]
friction = { coulomb = 0.2, slip = 0.1 }
damping = 0.3
range = { min = -0.2, max = 0.2, stop = "compliant", stiffness = 50.0, damping = 1.0 }
start = { rate = 4.0 }
[joint.slide]
type = "cylindrical"
parent = "b"
child = "c"
origin = [1.0, 0.0, 0.0]
[body.nut]
mass = 0.3
inertia = [0.02, 0.03, 0.03]
[body.sled]
mass = 0.4
inertia = [0.02, 0.03, 0.03]
[joint.thread]
type = "screw"
parent = "c"
child = "nut"
pitch = 0.3
friction = { coulomb = 0.02, breakaway = 0.03, stribeck = 0.1 }
start = { rate = 1.5 }
[joint.table]
type = "planar"
parent = "base"
child = "sled"
origin = [-1.0, 0.0, 0.0]
spring = { stiffness = 2.0 }
start = { rate = [0.4, 0.2, -0.3] }
[body.boom]
[body.boom.beam]
length = 2.0
mass_per_length = 1.0
polar_inertia_per_length = 0.01
EI = 500.0
GJ = 100.0
bending = 2
torsion = 1
damping_ratio = 0.01
[body.pod]
mass = 0.5
inertia = [0.01, 0.02, 0.02]
[joint.root]
type = "revolute"
parent = "base"
child = "boom"
origin = [0.0, 1.0, 0.0]
motion = "prescribed"
motions = ["prescribed", "loads"]
[joint.tip]
type = "fixed"
parent = "boom"
child = "pod"
origin = [2.0, 0.0, 0.0]
[frame.middle]
body = "boom"
origin = [1.0, 0.0, 0.1]
[port.bend]
frame = "middle"
[signal."root.qdd"]
type = "sine"
frequency = 0.5
from_importer = false
[spring.tether]
a = "base"
b = "c"
stiffness = 2.0
damping = 0.2
rest_length = 0.8
tension_only = true
[measure.reach]
from = "base"
to = "c"
axis = [1.0, 0.4, -0.2]
axis_to = [0.3, 0.0, 1.0]
[port.push]
frame = "c"
[signal."elbow.tau"]
type = "step"
from = 0.5
from_importer = false
[signal."slide.tau[1]"]
type = "table"
times = [0.0, 0.3, 1.0]
values = [0.0, 1.0, -1.0]
from_importer = false
"#;

/// A joint with a drive train and a DC motor, coupled with one of [`EVERYTHING`].
pub const COUPLED: &str = r#"
[body.crank]
mass = 0.5
inertia = [0.02, 0.03, 0.03]
[joint.crank_hinge]
type = "revolute"
parent = "base"
child = "crank"
origin = [0.0, -1.0, 0.0]
axis = [0.3, 1.0, 0.0]
motions = ["loads", "locked"]
[joint.crank_hinge.drive_train]
ratio = -20.0
rotor_mass = 0.1
rotor_inertia = 1e-3
stiffness = 30.0
hardening = 10.0
damping = 0.2
backlash = 0.01
efficiency = 0.8
friction = { coulomb = 0.05 }
[joint.crank_hinge.dc_motor]
resistance = 0.8
torque_constant = 0.05
inductance = 0.02
voltage_limit = 0.6
[coupling.lead]
joint = "crank_hinge"
follows = "thread"
ratio = 0.2
offset = 0.1
"#;

/// An ANCF beam in a grasp.
pub const IN_GRASP: &str = r#"
[ancf_beam.span]
length = 3.0
elements = 2
mass_per_length = 0.5
EA = 2e3
EI = 20.0
[frame.on_span]
body = "span"
origin = [1.0, 0.0, 0.0]
[grasp.grip]
a = "pod"
b = "on_span"
stiffness = 0.5
damping = 0.1
angular_stiffness = 0.01
angular_damping = 0.01
"#;

/// A geometrically exact beam on a joint, with a body at its tip.
pub const WITH_DIRECTORS: &str = r#"
[body.mast.geometrically_exact_beam]
length = 0.9
elements = 2
mass_per_length = 0.8
polar_inertia_per_length = 0.02
EA = 40.0
GA = 20.0
GJ = 1.0
EI = 2.0
damping_time = 0.01
[joint.step]
type = "universal"
parent = "base"
child = "mast"
[frame.on_mast]
body = "mast"
origin = [0.9, 0.1, 0.0]
[port.tug]
frame = "on_mast"
"#;

/// Tanks with pendulums and masses on springs, a thruster that draws from one, a gyro of variable
/// speed, and a wheel with imbalance and friction.
#[allow(dead_code)] // not every test that includes this file uses it
pub const WITH_LIQUIDS: &str = r#"
[tank.fuel]
body = "base"
position = [0.1, 0.0, -0.5]
model = "pendulum"
acceleration = 1.0
cylinder = { radius = 0.3, height = 0.8, fill = 0.5, mass = 9.0, modes = 2, damping_ratio = 0.01 }
start.mode1 = { position = [0.1, -0.2] }
[tank.bladder]
body = "nut"
axis = [0.2, 1.0, 0.3]
model = "spring_mass"
rigid = { mass = 0.2, inertia = [2e-3, 3e-3] }
[tank.bladder.mode.side]
mass = 0.1
frequency = 0.4
damping_ratio = 0.05
[tank.bladder.mode.bob]
mass = 0.1
frequency = 0.6
directions = "axial"
[cmg.gyro]
body = "base"
position = [0.3, 0.1, -0.2]
gimbal_axis = [0.0, 0.0, 2.0]
spin_axis = [0.0, 3.0, 0.0]
gimbal = { mass = 1.0, inertia = 0.01, damping = 0.1 }
rotor = { mass = 2.0, inertia = 0.02, rate = 30.0, torque_limit = 0.5 }
[wheel.spin]
body = "base"
axis = [0.0, 1.0, 1.0]
mass = 2.0
inertia = 0.02
torque_limit = 1.0
rate_limit = 700.0
rate = 20.0
static_imbalance_g_cm = 5.0
dynamic_imbalance_g_cm2 = 60.0
friction = { coulomb = 0.01, slip = 0.5 }
[thruster.burner]
frame = "base"
direction = [0.0, 0.2, 1.0]
thrust = 0.5
throttle = "level"
tank = "fuel"
specific_impulse = 150.0
[signal."burner.level"]
type = "constant"
amplitude = 0.5
from_importer = false
"#;

/// A tether with a reel between two joints' bodies.
#[allow(dead_code)] // not every test that includes this file uses it
pub const WITH_TETHER: &str = r#"
[tether.leash]
a = "nut"
b = "sled"
length = 3.0
linear_density = 0.1
axial_stiffness = 20.0
damping = 0.5
masses = 3
reel = { unwound = 1.55 }
[signal."leash.rate"]
type = "sine"
amplitude = 0.2
frequency = 0.5
from_importer = false
"#;

/// Returns [`EVERYTHING`] with a rigid rod in place of the flexible boom.
pub fn rigid() -> String {
    let (before, beam) = EVERYTHING.split_once("[body.boom.beam]").expect("a beam");
    let (_, after) = beam.split_once("[body.pod]").expect("what it carries");
    format!("{before}mass = 2.0\ninertia = [0.02, 0.7, 0.7]\n[body.pod]{after}")
}
