//! Natural frequencies of flexible arms with locked joints, compared with published values.

use crate::vibration::{mass_and_stiffness, squares};
use grapple::plant::{Model, Plant};
use grapple::spec::{self, Joint, JointType, Spec};
use std::f64::consts::TAU;
use std::path::Path;

const ARM: &str = include_str!("../../examples/ssrms_flexible.toml");

/// Returns the stretched arm with its base fixed, its joints locked, and a payload of the given
/// mass (kg) and inertia (kg·m²).
fn locked(payload: Option<(f64, f64)>) -> Spec {
    let mut spec = spec::read(ARM, Path::new(".")).expect("a sound example");
    spec.signal.clear();
    for joint in spec.joint.values_mut() {
        (joint.kind, joint.axis, joint.start) = (JointType::Fixed, None, None);
    }
    let fixed = |parent: &str, child: &str, origin: [f64; 3]| -> Joint {
        let text = format!(
            "name = \"arm\"\nbody = {{}}\n[joint.fixed]\ntype = \"fixed\"\nparent = {parent:?}\nchild = {child:?}\norigin = {origin:?}"
        );
        spec::from_toml(&text).expect("a joint").joint["fixed"].clone()
    };
    spec.joint.insert("anchor".to_owned(), fixed("world", "base", [0.0; 3]));
    if let Some((mass, moment)) = payload {
        let text =
            format!("name = \"arm\"\n[body.payload]\nmass = {mass:?}\ninertia = [{moment:?}, {moment:?}, {moment:?}]");
        spec.body.extend(spec::from_toml(&text).expect("a body").body);
        let joint = fixed("hand", "payload", spec.frame["tip"].origin);
        spec.joint.insert("grasp".to_owned(), joint);
    }
    spec
}

/// Returns the natural frequencies (Hz) of small motions about rest: `K φ = (2πf)² M φ` over the
/// modal coordinates, the only free ones.
fn frequencies(spec: &Spec) -> Vec<f64> {
    let plant = Plant::new(Model::compile(spec).expect("a sound craft").into()).expect("the spec's own values");
    let squares = squares(&mass_and_stiffness(&plant));
    squares.iter().map(|square| square.sqrt() / TAU).collect()
}

/// Published frequencies of the arms of the Shuttle and the Station are 0.35 to 0.7 Hz unloaded and
/// 0.03 to 0.05 Hz with a heavy payload. Two modes in each plane of each boom agree with eight to
/// 1e-3.
#[test]
fn flexible_arm_has_the_published_frequencies() {
    for (payload, lowest, highest) in [(None, 0.35, 0.7), (Some((20e3, 3e4)), 0.03, 0.05)] {
        let mut spec = locked(payload);
        let found = frequencies(&spec);
        for body in spec.body.values_mut() {
            if let Some(beam) = &mut body.beam {
                (beam.bending, beam.torsion) = (8, 6);
            }
        }
        let converged = frequencies(&spec);
        println!(
            "payload {payload:?}: {found:.4?} Hz, with many modes {:.4?} Hz",
            &converged[..6]
        );
        assert!((lowest..highest).contains(&found[0]), "{} Hz", found[0]);
        assert!(
            (found[0] / converged[0] - 1.0).abs() < 1e-3,
            "{} Hz with many modes",
            converged[0]
        );
    }
}
