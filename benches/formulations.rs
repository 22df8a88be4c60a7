//! What a formulation costs: the right-hand side of the ODE, microseconds per evaluation.
//!
//! `cargo bench --bench formulations` times each craft in all formulations, in the same rounds: the examples, then chains of revolute joints on a
//! floating base; then what a payload costs that an arm of seven joints has captured.

mod side_by_side;

use grapple::spec::{Formulation, Output, QuaternionOptions, Spec};
use side_by_side::{Craft, Time, measure, read};
use std::fmt::Write;

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

/// Times an arm of seven joints and a payload: apart, and captured.
fn captured(formulation: Formulation) {
    let craft = |law: Option<&str>| {
        let mut text = chain(7)
            + "[body.payload]\nmass = 50.0\ninertia = [20.0, 25.0, 30.0]\nstart = { position = [8.0, 0.0, 0.0] }\n";
        if let Some(law) = law {
            let contact = format!(
                "[frame.hand]\nbody = \"b7\"\norigin = [1.0, 0.0, 0.0]\n[contact.grip]\na = \"hand\"\nb = \"payload\"\nlaw = \"{law}\"\n"
            );
            text += &contact;
            text += "[signal.\"grip.capture\"]\ntype = \"constant\"\nfrom_host = false\n";
        }
        Craft::new(&Spec {
            formulation,
            ..read(&text)
        })
    };
    let mut all = [craft(None), craft(Some("capture_pin")), craft(Some("capture_grasp"))];
    let [free, pin, grasp] = measure(&mut all).map(|time| time.minimum);
    println!(
        "{:16} {free:9.2} {pin:9.2} {:9.2} {grasp:9.2} {:9.2}",
        formulation.name(),
        pin / free,
        grasp / free
    );
}

/// A floating base with `n` links, hinged about y and z in turn.
fn chain(n: usize) -> String {
    let mut text = String::from("name = \"chain\"\n[body.b0]\nmass = 100.0\ninertia = [50.0, 50.0, 50.0]\n");
    for i in 1..=n {
        let (parent, axis) = (i - 1, if i % 2 == 0 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] });
        write!(
            text,
            "[body.b{i}]\nmass = 2.0\nmass_centre = [0.5, 0.0, 0.0]\ninertia = [0.01, 0.17, 0.17]\n\
             [joint.j{i}]\ntype = \"revolute\"\nparent = \"b{parent}\"\nchild = \"b{i}\"\n\
             origin = [1.0, 0.0, 0.0]\naxis = {axis:?}\n"
        )
        .expect("strings grow");
    }
    text
}

/// Times a craft in each formulation that has it.
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
    let mut craft = [
        in_formulation(Formulation::Recursive, None),
        in_formulation(Formulation::Quaternion, None),
        in_formulation(Formulation::Quaternion, Some(momentum)),
        in_formulation(Formulation::Natural, None),
        in_formulation(rigid, None),
    ]
    .map(|spec| Craft::new(&spec));
    let times = measure(&mut craft);
    print!("{name:16}");
    for (place, Time { median, minimum }) in times.into_iter().enumerate() {
        if place < 4 || is_rigid {
            print!(" {median:9.2} {minimum:9.2}");
        } else {
            print!(" {:>9} {:>9}", "-", "-");
        }
    }
    let [_, quaternion, _, natural, dual] = craft.map(|craft| craft.state_count());
    let dual = if is_rigid { dual.to_string() } else { "-".into() };
    println!(" {quaternion:6} {natural:6} {dual:>6}");
}
