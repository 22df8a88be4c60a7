//! Joints with prescribed motion.

use crate::long::long;
use crate::numbers::Larger;
use crate::run::Run;
use grapple::plant::OperatingPoint;
use grapple::spec::{Capability, Formulation};
use std::path::Path;

/// Returns a two-link arm on a floating base; the joint that `motion` may prescribe has friction, a
/// spring and a rotor.
fn arm(motion: &str) -> String {
    format!(
        r#"
name = "driven"
[body.base]
mass = 4.0
inertia = [0.4, 0.5, 0.6]
[body.upper]
mass = 1.0
mass_centre = [0.5, 0.1, 0.0]
inertia = [0.1, 0.2, 0.25]
[body.lower]
[body.lower.beam]
length = 1.0
mass_per_length = 0.8
EI = 40.0
bending = 2
polar_inertia_per_length = 0.01
[joint.shoulder]
type = "universal"
parent = "base"
child = "upper"
origin = [0.5, 0.0, 0.1]
damping = 0.3
friction = {{ coulomb = 0.2, slip = 0.1 }}
spring = {{ stiffness = 1.5 }}
rotor_inertia = [0.3, 0.2]
{motion}
[joint.elbow]
type = "revolute"
parent = "upper"
child = "lower"
origin = [1.0, 0.0, 0.0]
axis = [0.0, 1.0, 0.3]
"#
    )
}

/// Applied to the free joint, the drive torque gives the prescribed motion: at a general state all
/// derivatives are equal.
#[test]
fn drive_torque_gives_the_prescribed_motion() {
    let (mut driven, mut free) = (crate::plant(&arm("motion = \"prescribed\"")), crate::plant(&arm("")));
    let model = driven.model().clone();
    let x: Vec<f64> = (0..model.states.len()).map(|i| 0.02 * (1.7 * i as f64).sin()).collect();
    let mut x = x;
    x[0] = 1.0;
    let (mut dx, mut y) = (vec![0.0; x.len()], vec![0.0; model.outputs.len()]);
    let discrete = model.discrete();
    // Inputs: two accelerations of the shoulder, the torque of the elbow.
    driven
        .evaluate(
            OperatingPoint::new(0.0, &x, &[0.7, -1.1, 0.4], &discrete),
            &mut dx,
            &mut y,
        )
        .expect("regular");
    let output = |name: &str| {
        let place = model.outputs.iter().position(|o| o.quantity.name == name);
        y[place.expect("an output")]
    };
    let u = [output("shoulder.drive[1]"), output("shoulder.drive[2]"), 0.4];
    let mut expected = vec![0.0; x.len()];
    free.derivative(OperatingPoint::new(0.0, &x, &u, &discrete), &mut expected)
        .expect("regular");
    let off = dx
        .iter()
        .zip(&expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::larger);
    let rates: Vec<f64> = ["shoulder.qd[1]", "shoulder.qd[2]"]
        .iter()
        .map(|name| dx[model.states.iter().position(|s| s.name == *name).expect("a state")])
        .collect();
    println!("torques {u:.3?}, off {off:.1e}");
    assert_eq!(rates, [0.7, -1.1]);
    // The tolerance is round-off times the condition number of the flexible link.
    assert!(off < 1e-10, "{off:e}");
}

/// The work of the drive is part of the energy balance.
#[test]
fn energy_changes_by_the_work_of_the_drive() {
    for formulation in Formulation::ALL {
        energy_is_balanced(formulation);
    }
}

fn energy_is_balanced(formulation: Formulation) {
    let plant = crate::plant_in(formulation, &arm("motion = \"prescribed\""), Path::new("."));
    let mut run = Run::of(plant, 1e-12);
    run.simulation.state.u.copy_from_slice(&[0.8, -0.5, 0.1]);
    let mut worst: f64 = 0.0;
    let (mut peak, mut first) = (0.0_f64, None);
    for i in 1..=if long() { 20 } else { 10 } {
        run.go(0.1 * f64::from(i));
        let balance = run.value("system.energy") - run.value("system.work");
        peak = peak.larger(run.value("system.kinetic_energy"));
        worst = worst.larger((balance - *first.get_or_insert(balance)).abs());
    }
    println!(
        "{}: energy minus work drifts by {worst:.1e} J of {peak:.2} J",
        formulation.name()
    );
    assert!(worst < 1e-10 * peak, "{worst:e} J of {peak} J");
}

/// A brake that closes on a flexible arm stops the joint but not the beam: momentum is conserved
/// (to 1e-13 of the sum of the bodies' magnitudes), and the beam's modal rates jump.
#[test]
fn locking_a_flexible_arm_conserves_momentum() {
    for formulation in Formulation::ALL.into_iter().filter(|f| f.has(Capability::Flexible)) {
        let text = arm("motions = [\"loads\", \"locked\"]\nstart = { rate = [0.8, -0.5] }");
        let mut run = Run::of(crate::plant_in(formulation, &text, Path::new(".")), 1e-12);
        run.go(0.3);
        let momenta = |run: &Run| {
            let (p, h) = (run.vector("system.momentum"), run.vector("system.angular_momentum"));
            (p, h + run.vector("system.mass_centre").cross(&p))
        };
        let (before, eta) = (momenta(&run), run.value("lower.etad[1]"));
        run.set("shoulder.motion", 1.0);
        run.go(0.3 + 1e-14);
        let after = momenta(&run);
        let scales = ["momentum_scale", "angular_momentum_scale"].map(|name| run.value(&format!("system.{name}")));
        let off = ((after.0 - before.0).norm() / scales[0]).larger((after.1 - before.1).norm() / scales[1]);
        let jump = run.value("lower.etad[1]") - eta;
        println!(
            "{}: momentum changed by {off:.1e}, the beam's rate by {jump:.3}",
            formulation.name()
        );
        assert!(off < 1e-13, "{off:e}");
        assert!(jump.abs() > 1e-3 && run.value("shoulder.qd[1]").abs() < 1e-14);
    }
}
