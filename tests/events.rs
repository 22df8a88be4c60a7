//! Events as values, and their texts: every kind of event, compared with its golden file.
//!
//! `GOLDEN=write cargo test --test events` accepts intended changes; read them in the diff.

use grapple::event::{Amount, Event, Occurrence, Pairing, Refused};
use grapple::plant::{Model, Plant};
use grapple::simulation::Simulation;
use grapple::spec::JointMotion;
use grapple::system::Unit;
use std::path::Path;
use std::sync::Arc;

/// Events of this run: an impact, a capture and its release, an external impulse, an impact out of
/// reach, and a brake.
const SPEC: &str = r#"
name = "events"
[body.a]
mass = 1.0
inertia = [1.0, 1.0, 1.0]
start = { velocity = [0.1, 0.0, 0.0] }
[body.b]
mass = 2.0
inertia = [1.0, 2.0, 2.0]
start = { position = [1.0, 0.0, 0.0] }
[body.rotor]
mass = 0.1
inertia = [0.1, 0.1, 0.1]
[joint.axle]
type = "revolute"
parent = "b"
child = "rotor"
motions = ["loads", "locked"]
start = { rate = 1.0 }
range = { min = -0.05, max = 0.05 }
[frame.tip]
body = "a"
origin = [0.5, 0.0, 0.0]
[frame.pad]
body = "b"
origin = [-0.5, 0.0, 0.0]
[contact.bump]
a = "tip"
b = "pad"
normal = [-1.0, 0.0, 0.0]
e = 0.5
reach = 1.0
[contact.latch]
a = "tip"
b = "pad"
law = "capture_grasp"
reach = 1.0
[contact.far]
a = "a"
b = "b"
e = 0.5
[port.push]
frame = "a"
impulse = true
[signal."bump.impact"]
type = "step"
from = 0.1
from_importer = false
[signal."latch.capture"]
type = "constant"
from = 0.2
until = 0.3
from_importer = false
[signal."far.impact"]
type = "step"
from = 0.4
from_importer = false
[signal."push.impulse[1]"]
type = "constant"
amplitude = 2.0
from_importer = false
[signal."push.impact"]
type = "step"
from = 0.5
from_importer = false
[signal."axle.motion"]
type = "table"
times = [0.0, 0.6]
values = [0.0, 1.0]
interpolation = "hold"
from_importer = false
"#;

/// Returns the events of a run of [`SPEC`].
fn events_of_a_run() -> Vec<Event> {
    let model = Model::read(SPEC, Path::new("")).unwrap_or_else(|error| panic!("{error}"));
    let plant = Plant::new(Arc::new(model)).expect("valid parameters");
    let mut simulation = Simulation::new(plant).expect("a solver");
    simulation.initialise(0.0, None, 1e9).expect("a start");
    let mut events = Vec::new();
    simulation.advance(1.0, &mut events).expect("runs");
    events
}

/// Returns the kinds of events that the run does not have.
fn others() -> Vec<Event> {
    let pairing = |captures| Pairing {
        contact: "berth".to_owned(),
        frames: ["tip", "rim"].map(str::to_owned),
        captures,
    };
    let refused = |captures, reason| Occurrence::ImpactRefused {
        pairing: pairing(captures),
        reason,
    };
    let amount = |value, unit| Amount { value, unit };
    let all = [
        Occurrence::LinearLimitExceeded {
            body: "boom".to_owned(),
            deflection: 0.75,
            limit: 0.5,
            part: 0.1,
        },
        Occurrence::RateLimitReached {
            rate: "elbow.qd".to_owned(),
            limit: amount(0.5, Unit::RadianPerSecond),
        },
        Occurrence::Impact {
            pairing: pairing(false),
            impulse: 2.0,
            work: -1.0,
            clamped: Some([0.1, 0.2]),
            gain: None,
        },
        Occurrence::Impact {
            pairing: pairing(false),
            impulse: 2.0,
            work: -1.0,
            clamped: None,
            gain: Some([1.25, 0.5]),
        },
        Occurrence::TankEmpty {
            tank: "main".to_owned(),
            mass: amount(2.0, Unit::Kilogram),
            thrusters: ["left", "right"].map(str::to_owned).to_vec(),
        },
        refused(false, Refused::Separating { speed: 1.0 }),
        refused(true, Refused::Inclined { angle: 0.3, most: 0.2 }),
        refused(
            false,
            Refused::Inconsistent {
                r_E: 1.0,
                r_f: 0.5,
                bounds: [0.1, 0.2],
            },
        ),
        refused(false, Refused::Adhesive),
        refused(false, Refused::Coupled),
        refused(true, Refused::Unsolved),
        Occurrence::ImpulseApplied {
            port: "push".to_owned(),
            impulse: None,
        },
        Occurrence::MotionSwitched {
            joint: "elbow".to_owned(),
            motion: JointMotion::Prescribed,
            rates: vec![amount(0.25, Unit::RadianPerSecond)],
        },
        Occurrence::MotionSwitched {
            joint: "elbow".to_owned(),
            motion: JointMotion::Loads,
            rates: vec![amount(0.25, Unit::RadianPerSecond)],
        },
        Occurrence::CommandRefused {
            joint: "elbow".to_owned(),
            command: 7.0,
            motions: vec![JointMotion::Loads, JointMotion::Locked],
        },
        Occurrence::MethodChanged {
            method: "radau5".to_owned(),
        },
        Occurrence::MethodChanged {
            method: "dopri5".to_owned(),
        },
    ];
    all.map(|what| Event { t: 1.5, what }).to_vec()
}

#[test]
fn a_run_reports_its_events_with_their_times_and_names() {
    let events = events_of_a_run();
    let at = |t: f64, is: fn(&Event) -> bool| {
        let mut near = events.iter().filter(|event| (event.t - t).abs() < 1e-9);
        assert!(near.any(is), "nothing of the kind at {t} s: {events:#?}");
    };
    at(
        0.05,
        |event| matches!(&event.what, Occurrence::RangeLeft { joint, is_above: true, .. } if joint == "axle"),
    );
    at(0.1, |event| event.is_impact() && event.contact() == Some("bump"));
    at(0.2, |event| event.is_impact() && event.contact() == Some("latch"));
    at(
        0.3,
        |event| matches!(&event.what, Occurrence::Released { contact } if contact == "latch"),
    );
    at(0.4, |event| {
        let is_far = |reason: &Refused| matches!(reason, Refused::OutOfReach { .. });
        matches!(&event.what, Occurrence::ImpactRefused { pairing, reason } if pairing.contact == "far" && is_far(reason))
    });
    at(
        0.5,
        |event| matches!(&event.what, Occurrence::ImpulseApplied { impulse: Some(p), .. } if *p == 2.0),
    );
    at(0.6, |event| {
        matches!(
            &event.what,
            Occurrence::MotionSwitched {
                motion: JointMotion::Locked,
                ..
            }
        )
    });
}

#[test]
fn every_kind_of_event_has_its_golden_text_and_json_round_trip() {
    let events: Vec<Event> = events_of_a_run().into_iter().chain(others()).collect();
    let mut text = String::new();
    for event in &events {
        let json = serde_json::to_string(event).expect("JSON");
        let read: Event = serde_json::from_str(&json).expect("an event");
        assert_eq!(read, *event, "{json}");
        // Numbers are rounded to digits that do not depend on the compiler.
        text += &format!("{}\n{}\n", round(&event.to_string()), round(&event.what.action()));
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/events.txt");
    if std::env::var_os("GOLDEN").is_some_and(|v| v == "write") {
        std::fs::write(&golden, &text).expect("written");
    }
    assert_eq!(text, std::fs::read_to_string(&golden).expect("the golden file"));
}

/// Rounds numbers with a decimal point to six digits.
fn round(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let plain = word.trim_matches(|c: char| !c.is_ascii_digit() && c != '-');
        match plain.parse::<f64>() {
            Ok(number) if plain.contains('.') => word.replacen(plain, &format!("{:.6}", number), 1),
            _ => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
