//! Adjoints of contacts that rest and slide.

use super::{Point, TOLERANCE, worst};
use crate::run::Run;
use grapple::simulation::State;

/// A crate with propellant and a turning flap, which a force presses on a flexible panel; it slides
/// and turns.
const CRATE: &str = r#"
name = "crate"
[body.hull]
mass = 400.0
inertia = [60.0, 80.0, 90.0]
start = { angular_velocity = [0.02, -0.01, 0.03] }
[body.panel.beam]
length = 4.0
mass_per_length = 2.0
polar_inertia_per_length = 0.05
EI = 8000.0
GJ = 500.0
bending = 2
torsion = 1
damping_ratio = 0.01
[joint.root]
type = "fixed"
parent = "hull"
child = "panel"
origin = [0.5, 0.0, 0.0]
[frame.seat]
body = "panel"
origin = [3.0, 0.0, 0.0]
[body.crate]
mass = 2.0
inertia = [0.02, 0.03, 0.04]
start = { position = [3.5, 0.0, 0.1], velocity = [0.3, 0.1, 0.0], angular_velocity = [0.02, -0.01, 1.5] }
[tank.fuel]
body = "crate"
position = [0.02, 0.01, 0.03]
rigid = { mass = 0.6, inertia = [0.003, 0.002] }
residual = 0.1
[frame.nozzle]
body = "crate"
origin = [0.0, 0.0, 0.1]
[thruster.down]
frame = "nozzle"
direction = [0.0, 0.0, -1.0]
thrust = 20.0
tank = "fuel"
specific_impulse = 200.0
[signal."down.on"]
type = "step"
from = 0.0
from_importer = false
[body.flap]
mass = 0.2
mass_centre = [0.05, 0.0, 0.0]
inertia = [0.001, 0.001, 0.001]
[joint.hinge]
type = "revolute"
axis = [0.0, 1.0, 0.0]
parent = "crate"
child = "flap"
origin = [0.1, 0.0, 0.1]
start = { rate = 0.7 }
[contact.feet]
a = "crate"
b = "seat"
shape_a = { type = "box", size = [0.4, 0.3, 0.2] }
shape_b = { type = "plane" }
e = 0.0
mu = 0.3
rest = 0.002
"#;

/// Four corners, of which three rows are independent: reactions of sliding corners depend on the
/// directions of their velocities, which differ, and the other way round.
#[test]
fn adjoints_equal_products_with_jacobians_while_corners_slide_and_stick() {
    let mut run = Run::new(CRATE, 1e-9);
    for (t, sliding) in [(0.03, 4.0), (0.6, 0.0)] {
        run.go(t);
        assert_eq!(run.values(["feet.resting", "feet.sliding"]), [4.0, sliding], "{t} s");
        let State { t, x, u, discrete, .. } = run.simulation.state.clone();
        let off = worst(&run.simulation.plant, &Point { t, x, u, discrete });
        println!("{t} s: {off:.1e}");
        assert!(off < TOLERANCE, "{t} s: {off:e}");
    }
}
