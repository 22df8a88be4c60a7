//! Cost of each formulation: the right-hand side of the ODE, microseconds per evaluation.
//!
//! `cargo bench --bench formulations` times each spacecraft in all formulations, in the same
//! rounds: the examples, then chains of revolute joints on a floating base; then a seven-joint arm
//! with and without a captured payload.

mod chain;
mod side_by_side;
mod spacecraft;

use chain::{chain, with_payload};
use grapple::spec::{Formulation, Output, QuaternionOptions, Spec};
use side_by_side::{Time, measure};
use spacecraft::{STATES, Spacecraft, read};

const LINKS: [usize; 9] = [2, 3, 6, 12, 25, 50, 100, 200, 400];

fn main() {
    println!(
        "{:16} {:>19} {:>19} {:>19} {:>19} {:>19} {:>20}",
        "", "recursive", "quaternion", "with momentum rows", "natural", "dual_quaternion", "states of the three"
    );
    print!("{:16}", "µs");
    for _ in 0..5 {
        print!(" {:>9} {:>9}", "median", "minimum");
    }
    println!();
    for (name, text) in [
        ("two_link", include_str!("../examples/two_link.toml")),
        ("klak_2020", include_str!("../examples/klak_2020.toml")),
        ("ssrms_type", include_str!("../examples/ssrms_type.toml")),
        ("ssrms_flexible", include_str!("../examples/ssrms_flexible.toml")),
        ("valverde_2018", include_str!("../examples/valverde_2018.toml")),
    ] {
        line(name, &read(text));
    }
    for n in LINKS {
        line(&format!("chain of {n}"), &read(&chain(n)));
    }
    println!(
        "\n{:16} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "minimum, µs", "free", "pin", "ratio", "grasp", "ratio"
    );
    for formulation in Formulation::ALL {
        captured(formulation);
    }
}

/// Times a seven-joint arm with a payload: separate, captured by a pin, and by a grasp.
fn captured(formulation: Formulation) {
    let spacecraft = |law: Option<&str>| {
        Spacecraft::new(&Spec {
            formulation,
            ..read(&with_payload(law))
        })
    };
    let mut all = [
        spacecraft(None),
        spacecraft(Some("capture_pin")),
        spacecraft(Some("capture_grasp")),
    ];
    let [free, pin, grasp] = measure(&mut all, Spacecraft::sweep, STATES).map(|time| time.minimum);
    println!(
        "{:16} {free:9.2} {pin:9.2} {:9.2} {grasp:9.2} {:9.2}",
        formulation.name(),
        pin / free,
        grasp / free
    );
}

/// Times a spacecraft in each formulation that supports it, and prints a row for each.
fn line(name: &str, written: &Spec) {
    let in_formulation = |formulation, quaternion| Spec {
        formulation,
        quaternion,
        constraints: None,
        output: Output::default(),
        ..written.clone()
    };
    let momentum = QuaternionOptions {
        momentum_rows: true,
        ..QuaternionOptions::default()
    };
    let is_rigid = written
        .body
        .values()
        .all(|body| body.beam.is_none() && body.modal.is_none());
    let rigid = if is_rigid {
        Formulation::DualQuaternion
    } else {
        Formulation::Recursive
    };
    let mut spacecraft = [
        in_formulation(Formulation::Recursive, None),
        in_formulation(Formulation::Quaternion, None),
        in_formulation(Formulation::Quaternion, Some(momentum)),
        in_formulation(Formulation::Natural, None),
        in_formulation(rigid, None),
    ]
    .map(|spec| Spacecraft::new(&spec));
    let times = measure(&mut spacecraft, Spacecraft::sweep, STATES);
    print!("{name:16}");
    for (place, Time { median, minimum }) in times.into_iter().enumerate() {
        if place < 4 || is_rigid {
            print!(" {median:9.2} {minimum:9.2}");
        } else {
            print!(" {:>9} {:>9}", "-", "-");
        }
    }
    let [_, quaternion, _, natural, dual] = spacecraft.map(|spacecraft| spacecraft.states[0].len());
    let dual = if is_rigid { dual.to_string() } else { "-".into() };
    println!(" {quaternion:6} {natural:6} {dual:>6}");
}
