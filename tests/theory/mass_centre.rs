//! States of the bodies' mass centres in the formulation `quaternion` (`point = "mass_centre"`).

use crate::capture::craft;
use crate::every_load::every_load;
use crate::impact::{Balance, command};
use crate::long::long;
use crate::numbers::Larger;
use crate::run::Run;

/// Returns the spec in the formulation `quaternion` with the given states.
fn with_states_of(point: &str, text: &str, solver: &str) -> String {
    format!("formulation = \"quaternion\"\n{text}\n[quaternion]\npoint = \"{point}\"\n[solver]\n{solver}\n")
}

/// States of mass centres describe the same motion as those of origins: a spacecraft with every
/// joint and load, with beams and modal data.
#[test]
fn states_of_mass_centres_and_of_origins_give_the_same_motion() {
    let text = every_load([0.0; 3]);
    let end = |point: &str| {
        let mut run = Run::new(&with_states_of(point, &text, "method = \"dop853\""), 1e-12);
        run.look();
        let names: Vec<String> = ["base", "a", "boom", "long"].map(str::to_owned).to_vec();
        run.go(0.2);
        let vectors = names
            .iter()
            .flat_map(|name| ["r", "v", "w"].map(|field| run.vector(&format!("{name}.{field}"))));
        let energy = run.value("system.energy") - run.value("system.work");
        (vectors.collect::<Vec<_>>(), energy)
    };
    let ((origins, energy), (centres, of_centres)) = (end("origin"), end("mass_centre"));
    let off = origins
        .iter()
        .zip(&centres)
        .map(|(a, b)| (a - b).norm() / (1.0 + a.norm()));
    let off = off.fold(0.0, f64::larger);
    let energy = (of_centres / energy - 1.0).abs();
    println!("after 0.2 s: {off:.1e}, energy {energy:.1e} (1e-10, the integrator's error at 1e-12)");
    assert!(off < 1e-10 && energy < 1e-10);
}

/// Linear momentum is a linear function of the states of mass centres, so `rk4` conserves it to
/// round-off: Kłak and Jarzębowska's spacecraft, rigid and flexible, under their torques. States of
/// origins leave the method's error.
#[test]
fn rk4_conserves_linear_momentum_in_states_of_mass_centres() {
    let rigid = include_str!("../../examples/two_link.toml");
    let flexible =
        include_str!("../../examples/klak_2020_quaternion.toml").replace("formulation = \"quaternion\"\n", "");
    let momentum = |point: &str, text: &str, until: f64| {
        let mut run = Run::new(&with_states_of(point, text, "method = \"rk4\"\nstep = 0.001"), 1e-10);
        let mut most = 0.0f64;
        for k in 1..=50 {
            run.go(until * f64::from(k) / 50.0);
            most = most.larger(run.vector("system.momentum").norm());
        }
        most
    };
    let end = if long() { 500.0 } else { 100.0 };
    let [rigid_origin, rigid_centre] =
        [("origin", 50.0), ("mass_centre", end)].map(|(point, t)| momentum(point, rigid, t));
    let flexible = momentum("mass_centre", &flexible, 50.0);
    println!(
        "linear momentum: {rigid_centre:.1e} kg·m/s after {end} s with states of mass centres (1e-13), {flexible:.1e} after 50 s \
         with a flexible link (1e-13); {rigid_origin:.1e} after 50 s with states of origins"
    );
    assert!(rigid_centre < 1e-13 && flexible < 1e-13 && rigid_origin > 1e-12);
}

/// Impulses change the velocities of mass centres consistently: a capture conserves the momenta and
/// loses the energy that it reports.
#[test]
fn a_capture_conserves_momentum_in_states_of_mass_centres() {
    for law in ["capture_pin", "capture_grasp"] {
        let mut run = Run::new(
            &with_states_of("mass_centre", &craft(law), "method = \"dop853\""),
            1e-10,
        );
        run.look();
        let before = Balance::of(&run);
        let events = command(&mut run, "grip.capture");
        assert!(events[0].is_impact(), "{events:?}");
        let after = Balance::of(&run);
        let jump = (after.energy - before.energy - run.value("grip.energy_change")).abs();
        println!(
            "{law}: momentum {:.1e}, energy {jump:.1e} J (both 1e-12)",
            before.off(&after)
        );
        assert!(before.off(&after) < 1e-12 && jump < 1e-12);
    }
}
