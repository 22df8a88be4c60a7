//! Contacts between frames over time.

use crate::html::Floats;
use crate::results::Results;
use grapple::Event;
use grapple::spec::{Body, Frame, Spec, WORLD, rotation};
use serde::Serialize;

/// Time for which an impact remains visible, as a part of the run's duration.
const GLOW: f64 = 0.02;

/// Pose of a frame over time.
#[derive(Serialize)]
pub struct FrameTrack {
    name: String,
    r: Floats,
    /// Index of the rigid body to which it is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<usize>,
    /// Attitude in that body, or in the world at each instant; none if it is not in the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<Floats>,
}

/// Two frames with a contact between them.
#[derive(Serialize)]
pub struct Interface {
    name: String,
    /// Names of the frames.
    a: String,
    b: String,
    state: Vec<State>,
}

/// State of a contact at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Apart,
    /// An impact has just occurred.
    #[serde(rename = "struck")]
    Impact,
    /// Captured, or pressed together by a compliant contact's force.
    #[serde(rename = "held")]
    InContact,
}

/// Returns the poses of all named frames, their positions relative to `origin`. `place` returns the
/// index of a body among the drawn ones by its name.
pub fn tracks(
    spec: &Spec,
    results: &Results,
    rows: &[usize],
    origin: &[f64; 3],
    place: impl Fn(&str) -> Option<usize>,
) -> Vec<FrameTrack> {
    let track = |name: &String, frame: &Frame| {
        let r = results.get_vector::<3>(&format!("{name}.r"))?;
        let is_rigid = spec.body.get(&frame.body).is_some_and(Body::is_rigid);
        let body = place(&frame.body).filter(|_| is_rigid);
        let attitude = results.get_vector::<4>(&format!("{name}.q"));
        Some(FrameTrack {
            name: name.clone(),
            r: Floats::seen_from(origin, &r, rows),
            q: match (body, attitude) {
                (Some(_), _) => Some(Floats(rotation(frame.orientation, frame.rpy_deg).to_array().to_vec())),
                (None, attitude) => attitude.map(|attitude| Floats::of(&attitude, rows)),
            },
            body,
        })
    };
    let frames = spec.frame.iter();
    frames.filter_map(|(name, frame)| track(name, frame)).collect()
}

/// Returns all contacts of the run.
pub fn interfaces(spec: &Spec, results: &Results, events: &[Event], rows: &[usize]) -> Vec<Interface> {
    let interface = |(name, contact): (&String, &grapple::spec::Contact)| {
        let placed = |frame: &String| frame == WORLD || results.get(&format!("{frame}.r[1]")).is_some();
        let impacts = events
            .iter()
            .filter(|event| event.is_impact() && event.contact() == Some(name));
        let impact_times: Vec<f64> = impacts.map(|event| event.t).collect();
        (placed(&contact.a) && placed(&contact.b)).then(|| Interface {
            name: name.clone(),
            a: contact.a.clone(),
            b: contact.b.clone(),
            state: states(name, results, &impact_times, rows),
        })
    };
    spec.contact.iter().filter_map(interface).collect()
}

/// Returns a contact's states at the plotted rows.
fn states(name: &str, results: &Results, impact_times: &[f64], rows: &[usize]) -> Vec<State> {
    let captured = results.get(&format!("{name}.captured"));
    // A compliant contact has no output `captured`; it is held while its force is not zero.
    let pressed = results
        .get_vector::<3>(&format!("{name}.force"))
        .filter(|_| captured.is_none());
    let holds = |row: usize| {
        captured.is_some_and(|captured| captured[row] > 0.5) || pressed.is_some_and(|f| f.iter().any(|f| f[row] != 0.0))
    };
    let time = &results.time;
    let glow = GLOW * (time.last().unwrap_or(&0.0) - time.first().unwrap_or(&0.0));
    let state = |(k, &row): (usize, &usize)| {
        let now = time[row];
        let before = if k == 0 { f64::NEG_INFINITY } else { time[rows[k - 1]] };
        match impact_times
            .iter()
            .any(|&t| t <= now && (t > before || now - t <= glow))
        {
            _ if holds(row) => State::InContact,
            true => State::Impact,
            false => State::Apart,
        }
    };
    rows.iter().enumerate().map(state).collect()
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use crate::results::Column;

    unit_tests![
        an_impact_between_two_rows_is_shown_at_the_next,
        captured_state_lasts_until_the_release,
        compliant_contact_is_shown_while_its_force_acts,
    ];

    fn an_impact_between_two_rows_is_shown_at_the_next() {
        let results = Results {
            time: vec![0.0, 1.0, 2.0, 3.0, 4.0],
            ..Results::default()
        };
        let states = states("dock", &results, &[1.5], &[0, 1, 2, 3, 4]);
        assert_eq!(
            states,
            [State::Apart, State::Apart, State::Impact, State::Apart, State::Apart]
        );
    }

    fn captured_state_lasts_until_the_release() {
        let column = |name: &str, values: [f64; 4]| Column {
            name: name.into(),
            unit: String::new(),
            values: values.into(),
        };
        let results = Results {
            time: vec![0.0, 1.0, 2.0, 3.0],
            columns: vec![column("dock.captured", [0.0, 1.0, 1.0, 0.0])],
            ..Results::default()
        };
        let states = states("dock", &results, &[0.7, 2.5], &[0, 1, 2, 3]);
        assert_eq!(
            states,
            [State::Apart, State::InContact, State::InContact, State::Impact]
        );
    }

    fn compliant_contact_is_shown_while_its_force_acts() {
        let force = |axis: usize, values: [f64; 3]| Column {
            name: format!("pad.force[{axis}]"),
            unit: "N".into(),
            values: values.into(),
        };
        let results = Results {
            time: vec![0.0, 1.0, 2.0],
            columns: vec![force(1, [0.0; 3]), force(2, [0.0, -3.0, 0.0]), force(3, [0.0; 3])],
            ..Results::default()
        };
        let states = states("pad", &results, &[], &[0, 1, 2]);
        assert_eq!(states, [State::Apart, State::InContact, State::Apart]);
    }
}
