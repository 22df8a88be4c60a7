//! Tanks that run empty.

use super::{EXHAUST, stage};
use crate::numbers::Larger;
use crate::run::Run;
use grapple::event::{Event, Occurrence};
use grapple::plant::{Adjoint, Jacobians, LANES, OperatingPoint, Seeds, Tangent};

/// Two tanks of different masses without a residual empty at their own times. The mass of the first
/// is exactly zero then: outputs, directional and adjoint derivatives stay finite, and no derivative
/// depends on the throttle. A negative mass among states that replace those of a run is refused.
#[test]
fn empty_tank_without_residual_has_finite_outputs_and_derivatives() {
    let second = "[tank.spare]\nbody = \"hub\"\nposition = [0.5, 0.0, 0.2]\nrigid = { mass = 90.0, inertia = [7.0, 9.0] }\n\
                  [thruster.other]\nframe = \"nozzle0\"\ndirection = [0.0, 0.003, 2.0]\nthrust = 1e4\nthrottle = \"level\"\n\
                  tank = \"spare\"\nspecific_impulse = 150.0\n";
    let text = stage("", &[[0.0, 0.001, -1.0]], 1e4).replace("residual = 5.0\n", "") + second;
    let mut run = Run::new(&text, 1e-10);
    ["jet0.level", "other.level"]
        .iter()
        .for_each(|level| run.set(level, 1.0));
    let ends = [60.0 * EXHAUST / 1e4, 90.0 * 0.5 * EXHAUST / 1e4];
    let mut events = Vec::new();
    run.simulation.advance(1.1 * ends[0], &mut events).expect("runs");
    let named = |event: &Event| match &event.what {
        Occurrence::TankEmpty { tank, .. } => tank.clone(),
        other => panic!("{other:?}"),
    };
    let found: Vec<(String, f64)> = events.iter().map(|event| (named(event), event.t)).collect();
    let expected = [("spare", ends[1]), ("main", ends[0])];
    for ((tank, t), (name, end)) in found.iter().zip(expected) {
        assert!(tank == name && (t / end - 1.0).abs() < 1e-9, "{found:?}");
    }
    assert_eq!(found.len(), 2);
    run.look();
    // Velocities of km/s cancel in the moments.
    let speed = run.vector("hub.v").norm();
    let model = run.simulation.plant.model().clone();
    let number = |name: &str| model.states.iter().position(|state| state.name == name);
    let main = number("main.propellant").expect("a state");
    let state = &mut run.simulation.state;
    state.x[main] = 0.0;
    let (nx, nu, ny) = (model.states.len(), model.inputs.len(), model.outputs.len());
    let at = OperatingPoint::new(state.t, state.x.as_slice(), state.u.as_slice(), &state.discrete);
    let (mut dx, mut y) = (vec![0.0; nx], vec![0.0; ny]);
    let plant = &mut run.simulation.plant;
    plant.evaluate(at, &mut dx, &mut y).expect("finite");
    assert!(y.iter().all(|y| y.is_finite()));
    let mut jacobians = Jacobians::new(&model);
    let mut tangent = Tangent::<LANES>::new(&model);
    tangent.jacobians(plant, at, &mut jacobians).expect("finite");
    assert!(jacobians.B.iter().chain(jacobians.D.iter()).all(|&part| part == 0.0));
    let (mut x_bar, mut u_bar, mut worst) = (vec![0.0; nx], vec![0.0; nu], 0.0f64);
    for k in 0..ny {
        let mut seed = vec![0.0; ny];
        seed[k] = 1.0;
        let seeds = Seeds {
            dx: &vec![0.0; nx],
            y: &seed,
        };
        let mut adjoint = Adjoint::new(&model);
        adjoint
            .evaluate(plant, at, seeds, &mut x_bar, &mut u_bar)
            .expect("finite");
        let largest = jacobians.C.row(k).amax().larger(speed);
        let off = (0..nx).fold(0.0f64, |off, i| off.larger((x_bar[i] - jacobians.C[(k, i)]).abs()));
        worst = worst.larger(off / largest);
        assert!(off < 1e-12 * largest, "{}: {off:e}", model.outputs[k].quantity.name);
    }
    println!("adjoints off by {worst:.1e} of the largest derivative or of the speed, {speed:.0} m/s (1e-12)");
    let mut x = state.x.clone();
    x[main] = -70.0;
    let (t, u) = (state.t, state.u.clone());
    let refused = plant.replace_states(t, &mut x, &u, &mut state.discrete.clone(), &mut Vec::new());
    let refused = refused.expect_err("a negative mass").to_string();
    assert!(refused.contains("main.propellant"), "{refused}");
}
