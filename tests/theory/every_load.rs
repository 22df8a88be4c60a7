//! A spacecraft with every joint and every load.

/// Position of the base at an orbital distance, m.
pub const FAR: [f64; 3] = [1e3, 0.0, 7e6];

/// Returns a spec with every joint and every load, on the world and on a floating base: branches,
/// driven joints, beams, segments, modal data. Its base starts at `position` (m).
pub fn every_load(position: [f64; 3]) -> String {
    format!(
        r#"
name = "every_load"
[environment]
gravity = [0.3, -0.2, -1.1]
[body.base]
mass = 4.0
mass_centre = [0.1, -0.2, 0.05]
inertia = [0.4, 0.5, 0.6, 0.02, -0.03, 0.05]
start = {{ attitude = [0.5, -0.5, 0.5, 0.5], angular_velocity = [0.3, -0.7, 0.4], velocity = [1.0, 2.0, 7500.0], position = {position:?} }}
[body.a]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.boom.beam]
length = 1.2
origin = [0.1, 0.0, 0.0]
orientation = [0.1, 0.7, -0.1, 0.7]
mass_per_length = 0.8
EI = 40.0
GJ = 20.0
EA = 1000.0
bending = 2
torsion = 1
axial = 1
damping_ratio = 0.02
polar_inertia_per_length = 0.1
[body.long.beam]
length = 2.0
mass_per_length = 0.5
EI = 4.0
GJ = 3.0
bending = 2
torsion = 1
segments = 3
polar_inertia_per_length = 0.05
[body.array]
mass = 2.0
mass_centre = [0.3, 0.1, -0.2]
inertia = [0.4, 0.5, 0.6]
[body.array.modal]
frequencies = [0.7, 1.1]
damping_ratio = 0.01
participation = [[0.3, 0.2, 0.1, 0.05, 0.1, -0.2], [-0.1, 0.2, 0.3, -0.15, 0.1, 0.1]]
[body.array.modal.node.edge]
position = [0.9, 0.1, 0.0]
displacement = [[0.1, 0.4, 0.3], [0.2, -0.3, 0.5]]
rotation = [[0.3, 0.1, -0.2], [0.1, 0.2, 0.4]]
[body.b]
mass = 1.0
mass_centre = [0.2, 0.1, 0.0]
inertia = [0.1, 0.2, 0.2]
[body.c]
mass = 0.7
mass_centre = [0.2, 0.1, 0.3]
inertia = [0.1, 0.12, 0.2]
[body.d]
mass = 0.5
mass_centre = [0.2, -0.1, 0.0]
inertia = [0.1, 0.2, 0.15]
[body.e]
mass = 0.9
mass_centre = [0.2, -0.1, 0.4]
inertia = [0.1, 0.2, 0.15]
[body.f]
mass = 0.8
mass_centre = [-0.2, -0.1, 0.4]
inertia = [0.1, 0.2, 0.15]
[body.plate]
mass = 0.3
mass_centre = [0.1, -0.1, 0.2]
inertia = [0.05, 0.1, 0.07]
[body.post]
mass = 0.8
mass_centre = [-0.2, -0.1, 0.4]
inertia = [0.1, 0.2, 0.15]
[body.sat]
mass = 0.6
mass_centre = [0.1, -0.1, 0.2]
inertia = [0.1, 0.2, 0.15]
[body.nut]
mass = 0.4
mass_centre = [0.1, 0.05, 0.2]
inertia = [0.05, 0.06, 0.07]
[body.sled]
mass = 0.5
mass_centre = [-0.1, 0.15, 0.1]
inertia = [0.05, 0.06, 0.07]
[joint.wrist]
type = "spherical"
parent = "base"
child = "a"
origin = [0.5, 0.0, 0.1]
spring = {{ stiffness = 3.0 }}
servo = {{ kp = [2.0, 3.0, 4.0], kd = 0.5 }}
damping = [0.2, 0.3, 0.4]
friction = {{ coulomb = 0.2, slip = 0.1 }}
start = {{ rate = [0.4, -0.2, 0.3] }}
[joint.boom_root]
type = "universal"
parent = "a"
child = "boom"
origin = [1.0, 0.0, 0.0]
friction = {{ coulomb = 0.2, slip = 0.1 }}
damping = 0.3
spring = {{ stiffness = 2.0, rest = 0.1 }}
range = {{ min = -0.1, max = 0.1, stop = "compliant", stiffness = 30.0, damping = 2.0 }}
rotor_inertia = [0.3, 0.2]
start = {{ rate = [0.4, -0.2] }}
[joint.tip]
type = "revolute"
motion = "prescribed"
parent = "boom"
child = "b"
origin = [0.9, 0.3, 0.5]
axis = [0.3, 0.5, 0.2]
damping = 0.3
start = {{ rate = 0.7 }}
[joint.middle]
type = "cylindrical"
parent = "boom"
child = "c"
origin = [0.3, 0.1, 0.2]
axis = [0.3, 0.5, 0.2]
servo = {{ kp = [2.0, 3.0], kd = 0.5 }}
motions = ["loads", "locked", "prescribed"]
start = {{ rate = [0.7, 0.2] }}
[joint.long_root]
type = "revolute"
parent = "base"
child = "long"
origin = [-0.4, 0.2, 0.1]
axis = [0.3, 0.5, 0.9]
dc_motor = {{ resistance = 0.8, torque_constant = 0.6, voltage_limit = 12.0 }}
[joint.long_tip]
type = "cartesian"
parent = "long"
child = "array"
origin = [2.0, 0.0, 0.0]
damping = 0.4
spring = {{ stiffness = 5.0 }}
start = {{ rate = [0.2, -0.3, 0.1] }}
[joint.edge]
type = "spherical"
motion = "prescribed"
parent = "array"
child = "d"
origin = [0.9, 0.1, 0.0]
start = {{ rate = [0.2, -0.3, 0.6] }}
[joint.slide]
type = "prismatic"
parent = "d"
child = "e"
origin = [0.1, 0.1, 0.2]
axis = [0.3, 0.5, 0.2]
range = {{ min = -0.1, max = 0.1, stop = "compliant", stiffness = 30.0, damping = 2.0 }}
friction = {{ coulomb = 0.2, breakaway = 0.3, stribeck = 0.4 }}
start = {{ rate = 0.3 }}
[joint.thread]
type = "screw"
parent = "e"
child = "nut"
origin = [0.2, 0.0, 0.1]
axis = [0.1, 0.5, -0.3]
pitch = -0.8
spring = {{ stiffness = 1.5, rest = 0.2 }}
damping = 0.1
rotor_inertia = 0.05
start = {{ rate = 0.6 }}
[joint.table]
type = "planar"
parent = "array"
child = "sled"
origin = [0.9, 0.1, 0.0]
axis = [0.2, -0.3, 0.6]
spring = {{ stiffness = [0.6, 5.0, 6.0] }}
servo = {{ kp = [1.0, 2.0, 3.0], kd = 0.2 }}
friction = {{ coulomb = 0.1, slip = 0.2 }}
start = {{ rate = [0.4, 0.2, -0.3] }}
[joint.float]
type = "rectangular"
parent = "e"
child = "plate"
origin = [0.1, -0.2, 0.1]
orientation = [0.5, 0.5, 0.5, -0.5]
damping = [0.2, 0.1]
spring = {{ stiffness = 2.0 }}
start = {{ rate = [0.3, -0.4] }}
[tank.liquid]
body = "base"
position = [0.2, 0.1, -0.3]
axis = [0.1, -0.2, 0.6]
model = "pendulum"
acceleration = 1.1
rigid = {{ mass = 0.4, height = 0.2, inertia = [0.02, 0.03] }}
mode.first = {{ mass = 0.5, length = 0.3, height = 0.1, damping_ratio = 0.05 }}
[tank.bladder]
body = "post"
model = "spring_mass"
mode.any = {{ mass = 0.3, stiffness = 2.0, directions = "all", damping_ratio = 0.05 }}
[cmg.gyro]
body = "base"
position = [0.3, 0.1, -0.2]
gimbal_axis = [0.0, 0.2, 2.0]
spin_axis = [3.0, 0.0, 0.0]
gimbal = {{ mass = 0.4, inertia = 0.02, damping = 0.1 }}
rotor = {{ mass = 0.5, inertia = 0.04, rate = 2.0, torque_limit = 5.0 }}
[joint.weld]
type = "fixed"
parent = "d"
child = "f"
origin = [-0.3, 0.1, 0.2]
orientation = [0.1, 0.7, -0.1, 0.7]
[joint.ground]
type = "cylindrical"
parent = "world"
child = "post"
origin = [2.0, 1.0, 0.0]
axis = [0.1, 0.5, 0.4]
start = {{ rate = [0.2, -0.3] }}
[joint.leaves]
type = "free"
parent = "post"
child = "sat"
origin = [0.2, 0.1, 0.4]
start = {{ attitude = [0.5, 0.5, 0.5, -0.5], angular_velocity = [0.2, -0.3, 0.6], velocity = [0.1, -0.4, 0.2], position = [1.0, 2.0, 0.4] }}
[frame.grip]
body = "boom"
origin = [0.8, 0.2, 0.4]
orientation = [0.5, 0.5, 0.5, -0.5]
[frame.hold]
body = "e"
origin = [0.3, 0.1, 0.0]
[port.push]
frame = "grip"
axes = "frame"
[port.pull]
frame = "hold"
axes = "world"
[port.panel]
frame = "array"
axes = "frame"
[port.away]
frame = "sat"
axes = "frame"
[line_load.wind]
body = "long"
axes = "world"
[line_load.pressure]
body = "boom"
axes = "frame"
"#
    )
}

/// Loads of the environment, so strong that they are comparable with the others.
const ENVIRONMENT: &str = r#"
[environment.orbit]
semi_major_axis = 6.9e6
eccentricity = 0.01
inclination_deg = 60.0
true_anomaly_deg = 40.0
J2 = 1.1e-3
J3 = -2.5e-4
J6 = 5.4e-4
epoch = "2026-06-20T12:00:00"
third_bodies = ["sun", "moon"]
irradiance = 1.4e8
magnetic_field = {}
atmosphere = { factor = 1e5 }
[exposed_surface.sail]
frame = "grip"
area = 2.0
normal = [0.3, 0.5, -0.7]
two_sided = true
radiation = { specular = 0.3, diffuse = 0.2 }
drag = { coefficient = 2.0 }
[exposed_surface.wing]
frame = "long"
area = 1.0
normal = [0.0, 0.0, 1.0]
two_sided = true
radiation = { specular = 0.1 }
drag = {}
[exposed_surface.edge_on]
frame = "array"
area = 1.0
normal = [0.4, 0.1, 1.0]
radiation = { diffuse = 0.5 }
[exposed_surface.ball]
frame = "hold"
shape = "sphere"
area = 0.5
radiation = { coefficient = 1.3 }
drag = {}
[magnetic_dipole.rod]
frame = "grip"
[magnetic_dipole.coil]
frame = "base"
[thermal_bending.heat]
body = "boom"
[thermal_bending.sunlit]
body = "long"
"#;

/// Returns [`every_load`] in orbit, with all loads of the environment in place of uniform gravity.
pub fn every_load_in_orbit() -> String {
    let text = every_load([1.0, 0.0, 2.0]).replace("7500.0]", "-3.0]");
    text.replace("[environment]\ngravity = [0.3, -0.2, -1.1]\n", "") + ENVIRONMENT
}
