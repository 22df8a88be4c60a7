//! Models of the tests of dependencies.

/// Servos with feed-forward, one on a joint with a brake and one with a motor; an attitude servo, a
/// port, thrusters and a compliant contact.
pub const FED: &str = r#"
name = "fed"
[body.base]
mass = 60.0
mass_centre = [0.05, -0.02, 0.1]
inertia = [9.0, 11.0, 8.0, 0.4, -0.3, 0.2]
[body.base.attitude_servo]
kp = 50.0
kd = 80.0
feed_forward = "rigid"
[body.one]
mass = 6.0
mass_centre = [0.5, 0.02, 0.0]
inertia = [0.1, 0.6, 0.7]
[body.two]
mass = 5.0
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.5, 0.5]
[body.target]
mass = 30.0
inertia = [3.0, 4.0, 5.0]
start = { position = [5.0, 0.0, 0.0] }
[joint.shoulder]
type = "universal"
parent = "base"
child = "one"
origin = [0.5, 0.0, 0.2]
axis = [0.0, 0.3, 1.0]
motions = ["loads", "locked"]
servo = { kp = 60.0, kd = 30.0, feed_forward = "rigid" }
[joint.elbow]
type = "revolute"
parent = "one"
child = "two"
origin = [1.0, 0.0, 0.0]
axis = [0.2, 1.0, 0.1]
motor = { torque_limit = 500.0, rate_limit = 3.0 }
servo = { kp = 60.0, kd = 30.0, feed_forward = "rigid" }
[frame.tip]
body = "two"
origin = [1.0, 0.0, 0.0]
[port.push]
frame = "tip"
[thruster.left]
frame = "tip"
direction = [0.0, -2.0, 0.0]
thrust = 10.0
throttle = "switch"
[thruster.right]
frame = "base"
direction = [0.0, 1.0, 0.5]
thrust = 10.0
throttle = "level"
[contact.bump]
a = "tip"
b = "target"
surface = "sphere"
radius_a = 0.2
radius_b = 1.0
law = "compliant"
force = 40.0
depth = 0.05
dissipation = 0.2
mu = 0.3
slip = 0.01
"#;

/// Slides on the world: no state enters the equations of motion, all masses do.
pub const SLIDES: &str = r#"
name = "slides"
[body.one]
mass = 2.0
inertia = [1.0, 1.0, 1.0]
[body.two]
mass = 3.0
inertia = [1.0, 1.0, 1.0]
[joint.x]
type = "prismatic"
parent = "world"
child = "one"
axis = [1.0, 0.1, 0.2]
[joint.y]
type = "prismatic"
parent = "one"
child = "two"
axis = [0.3, 1.0, 0.2]
input = false
"#;

/// Two spacecraft that act on each other, and loads in body axes.
pub const TETHERED: &str = r#"
name = "tethered"
[body.chaser]
mass = 60.0
mass_centre = [0.05, -0.02, 0.1]
inertia = [9.0, 11.0, 8.0, 0.4, -0.3, 0.2]
[body.arm]
mass = 6.0
mass_centre = [0.5, 0.02, 0.0]
inertia = [0.1, 0.6, 0.7]
[body.target]
mass = 30.0
mass_centre = [0.1, 0.2, 0.0]
inertia = [3.0, 4.0, 5.0]
start = { position = [5.0, 0.0, 0.0] }
[joint.shoulder]
type = "revolute"
parent = "chaser"
child = "arm"
origin = [0.5, 0.0, 0.2]
axis = [0.0, 0.3, 1.0]
[frame.hand]
body = "arm"
origin = [1.0, 0.1, 0.0]
rpy_deg = [10.0, 20.0, 30.0]
[frame.handle]
body = "target"
origin = [-1.0, 0.1, 0.2]
[spring.tether]
a = "chaser"
b = "handle"
stiffness = 20.0
damping = 3.0
[thruster.jet]
frame = "hand"
direction = [0.0, -2.0, 0.0]
thrust = 10.0
throttle = "level"
[port.push]
frame = "handle"
axes = "frame"
[measure.reach]
from = "hand"
to = "handle"
[output]
reactions = true
"#;

/// A grasp between the spacecraft of [`TETHERED`].
pub const GRASPED: &str = r#"
[grasp.grip]
a = "hand"
b = "handle"
stiffness = [20.0, 30.0, 40.0]
damping = 3.0
angular_stiffness = [5.0, 6.0, 7.0]
angular_damping = 1.0
"#;

/// A body on the world, tied to a spacecraft of [`TETHERED`].
pub const MOORED: &str = r#"
[body.post]
mass = 6.0
mass_centre = [0.5, 0.02, 0.0]
inertia = [0.1, 0.6, 0.7]
[joint.hinge]
type = "revolute"
parent = "world"
child = "post"
axis = [0.0, 0.3, 1.0]
[spring.mooring]
a = "post"
b = "handle"
stiffness = 20.0
damping = 3.0
rest_length = 0.5
[measure.distance]
from = "post"
to = "hand"
"#;

/// Effective masses of the hand of [`TETHERED`].
pub const MOUNTED: &str = r#"
[port.mount]
frame = "hand"
axes = "frame"
effective_mass = true
"#;

/// A capture of the target of [`TETHERED`].
pub const CAUGHT: &str = r#"
[contact.grip]
a = "hand"
b = "handle"
law = "capture_grasp"
"#;

/// A task that moves a driven joint, one whose servo has a switch, and one whose motion is
/// switched, so that a frame tracks a pose relative to another spacecraft; Jacobians as outputs.
/// The arm bends, and the inverse is damped everywhere.
pub const TASKED: &str = r#"
name = "tasked"
[body.base]
mass = 60.0
mass_centre = [0.05, -0.02, 0.1]
inertia = [9.0, 11.0, 8.0, 0.4, -0.3, 0.2]
[body.one]
mass = 6.0
mass_centre = [0.5, 0.02, 0.0]
inertia = [0.1, 0.6, 0.7]
[body.one.beam]
length = 1.0
mass_per_length = 6.0
polar_inertia_per_length = 0.1
EI = 1e4
GJ = 8e3
bending = 1
damping_ratio = 0.02
[body.two]
mass = 5.0
mass_centre = [0.4, 0.0, 0.1]
inertia = [0.1, 0.5, 0.5]
[body.three]
mass = 4.0
mass_centre = [0.3, 0.1, 0.0]
inertia = [0.1, 0.3, 0.4]
[body.target]
mass = 30.0
inertia = [3.0, 4.0, 5.0]
start = { position = [5.0, 0.0, 0.0] }
[joint.shoulder]
type = "revolute"
motion = "prescribed"
parent = "base"
child = "one"
origin = [0.5, 0.0, 0.2]
axis = [0.0, 0.3, 1.0]
[joint.elbow]
type = "revolute"
parent = "one"
child = "two"
origin = [1.0, 0.0, 0.0]
axis = [0.2, 1.0, 0.1]
motor = { torque_limit = 500.0 }
servo = { kp = 0.0, kd = 0.0, feed_forward = "rigid" }
[joint.wrist]
type = "revolute"
motions = ["prescribed", "loads"]
parent = "two"
child = "three"
origin = [0.8, 0.0, 0.1]
axis = [0.1, 0.8, -0.5]
[frame.tip]
body = "three"
origin = [0.7, 0.1, 0.0]
rpy_deg = [10.0, 20.0, 30.0]
[task.reach]
frame = "tip"
relative_to = "target"
joints = ["shoulder", "elbow", "wrist"]
components = ["x", "rz"]
null_rates = true
kp = 1.0
kd = 5.0
threshold = 4.0
[kinematics.hand]
frame = "tip"
joints = ["shoulder", "elbow", "wrist"]
outputs = ["jacobian", "generalized_jacobian", "base_motion", "singular_value", "manipulability"]
components = ["x", "rz"]
"#;

/// A ball on a free deck and one on a post that turns, in compliant contacts that stick or slide.
pub const RUBS: &str = r#"
name = "rubs"
[body.deck]
mass = 6.0
mass_centre = [0.05, -0.02, 0.1]
inertia = [0.9, 1.1, 0.8]
[port.push_deck]
frame = "deck"
[body.ball]
mass = 2.0
mass_centre = [0.01, 0.02, 0.01]
inertia = [0.1, 0.2, 0.3]
start = { position = [0.1, 0.2, 0.099] }
[port.push_ball]
frame = "ball"
[contact.on_deck]
a = "ball"
b = "deck"
surface = "plane"
radius_a = 0.1
law = "compliant"
force = 10.0
depth = 0.01
dissipation = 0.2
mu = 0.3
slip = 0.0
[body.post]
mass = 5.0
mass_centre = [0.5, 0.02, 0.0]
inertia = [0.1, 0.6, 0.7]
[joint.hinge]
type = "revolute"
parent = "world"
child = "post"
origin = [0.1, 0.2, 0.29]
axis = [0.0, 0.3, 1.0]
[contact.on_post]
a = "ball"
b = "post"
surface = "sphere"
radius_a = 0.1
radius_b = 0.1
law = "compliant"
force = 10.0
depth = 0.01
mu = 0.3
slip = 0.0
"#;
