//! Adjoints of the outputs of `[kinematics]`.

use super::assert_adjoints;

const ALL: &str = "outputs = [\"jacobian\", \"generalized_jacobian\", \"base_motion\", \"base_inertia\", \
                   \"coupling_inertia\", \"reaction_null_space\", \"singular_value\", \"manipulability\"]\n\
                   components = [\"x\", \"rz\", \"y\"]\nbase_components = [\"ry\", \"z\"]\nlength = 1.7\n";

/// A free-floating base with a flexible boom on a prismatic joint, a link at its tip, and a wheel with
/// propellant on another joint.
const SPACECRAFT: &str = r#"
name = "spacecraft"
[body.hull]
mass = 20.0
mass_centre = [0.1, -0.2, 0.1]
inertia = [2.0, 3.0, 4.0, 0.1, -0.2, 0.3]
start = { angular_velocity = [0.4, -0.3, 0.5], velocity = [0.2, 0.1, -0.3] }
[body.boom]
[body.boom.beam]
length = 2.0
mass_per_length = 1.0
polar_inertia_per_length = 0.01
EI = 50.0
GJ = 10.0
bending = 2
torsion = 1
SEGMENTS
damping_ratio = 0.01
[joint.rail]
type = "prismatic"
axis = [0.0, 0.6, 0.8]
parent = "hull"
child = "boom"
origin = [0.5, 0.1, 0.2]
[body.link]
mass = 0.5
mass_centre = [0.3, 0.1, 0.0]
inertia = [0.01, 0.02, 0.02]
[joint.wrist]
type = "universal"
parent = "boom"
child = "link"
origin = [2.0, 0.0, 0.0]
start = { position = [0.3, -0.2], rate = [0.5, 0.7] }
[frame.tool]
body = "link"
origin = [0.5, 0.1, -0.2]
rpy_deg = [20.0, 10.0, -30.0]
[frame.middle]
body = "boom"
origin = [1.2, 0.1, 0.0]
[body.wheel]
mass = 3.0
mass_centre = [0.0, 0.1, 0.1]
inertia = [0.1, 0.1, 0.15]
[joint.drive]
type = "revolute"
axis = [0.0, 1.0, 0.0]
parent = "hull"
child = "wheel"
origin = [0.0, 0.6, 0.0]
start = { rate = 0.4 }
[frame.nozzle]
body = "wheel"
origin = [0.0, 0.2, 0.1]
[tank.main]
body = "wheel"
rigid = { mass = 20.0, inertia = [1.0, 2.0] }
[thruster.jet]
frame = "nozzle"
direction = [0.0, 0.6, 0.8]
thrust = 2.0
throttle = "level"
tank = "main"
specific_impulse = 300.0
"#;

/// All outputs, of frames on a body, on a flexible body and on the base, with joints that do not
/// move the frame.
#[test]
fn adjoints_equal_products_with_jacobians_for_jacobians_of_frames() {
    for segments in ["", "segments = 2"] {
        let text = SPACECRAFT.replace("SEGMENTS", segments)
            + &format!(
                "[kinematics.of_tool]\nframe = \"tool\"\njoints = [\"rail\", \"wrist\", \"drive\"]\n{ALL}\
                 [kinematics.of_boom]\nframe = \"middle\"\njoints = [\"drive\", \"rail\", \"wrist\"]\n{ALL}\
                 [kinematics.of_hull]\nframe = \"hull\"\njoints = [\"wrist\", \"drive\"]\n{ALL}"
            );
        assert_adjoints(&text);
    }
}

/// Jacobians of an arm on the world: a plane one, whose smallest singular value is zero for components
/// that it cannot move, and a spatial one.
#[test]
fn adjoints_equal_products_with_jacobians_for_jacobians_of_an_arm_on_the_world() {
    let outputs = "outputs = [\"jacobian\", \"singular_value\", \"manipulability\"]";
    for (axis, components) in [
        ("[0.0, 0.0, 1.0]", "[\"x\", \"y\"]"),
        ("[0.0, 0.0, 1.0]", "[\"x\", \"z\"]"),
        ("[0.0, 0.6, 0.8]", "[\"z\", \"rx\", \"y\"]"),
    ] {
        let mut text = "name = \"arm\"\n".to_owned();
        for (k, parent) in ["world", "link_0", "link_1"].into_iter().enumerate() {
            let axis = if k == 1 { axis } else { "[0.0, 0.0, 1.0]" };
            text += &format!(
                "[body.link_{k}]\nmass = 2.0\nmass_centre = [0.5, 0.0, 0.1]\ninertia = [0.1, 0.2, 0.2]\n\
                 [joint.joint_{k}]\ntype = \"revolute\"\nparent = \"{parent}\"\nchild = \"link_{k}\"\n\
                 origin = [{k:?}.0, 0.1, 0.0]\naxis = {axis}\nstart = {{ position = 0.{k}4, rate = 0.3 }}\n"
            );
        }
        text += &format!(
            "[frame.tip]\nbody = \"link_2\"\norigin = [0.7, 0.0, 0.2]\n[kinematics.tip_motion]\nframe = \"tip\"\n\
             joints = [\"joint_0\", \"joint_1\", \"joint_2\"]\n{outputs}\ncomponents = {components}\nlength = 0.8\n"
        );
        assert_adjoints(&text);
    }
}
