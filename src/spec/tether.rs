//! Tethers with mass, as point masses between two frames.

use super::{Body, FrameField, Inertia, Joint, JointType, Kind, Method, Report, Spec, Table, WORLD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Radius of gyration of a point mass, m: formulations in maximal coordinates need an inertia. The
/// masses do not turn, so that it has no effect.
const GYRATION: f64 = 0.1;

/// Largest number of masses: more is assumed to be an error.
const MOST_MASSES: u32 = 1000;

/// Tether or cable with mass between two frames: point masses in a row, connected by segments that
/// pull only, each a spring and a damper on its line. With a `reel`, the frame `a` is its outlet, from
/// which the tether is unwound at the rate of an input.
///
/// It is shorthand for a body `<tether>_mass<i>` on a cartesian joint `<tether>_point<i>` in the world
/// for each mass, numbered from `b`. The masses start at rest relative to the line between the two
/// frames, in equal distances. The masses of the bodies at `a` and `b` do not include the tether.
///
/// Outputs: `<tether>.tension_a` and `<tether>.tension_b`, the tensions at its ends (N), and
/// `<tether>.stretched_length` (m), the length of the segments that are unwound. With a `reel` there
/// are the input `<tether>.rate` (m/s, positive if it unwinds) and the state `<tether>.unwound` (m).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tether {
    /// Frame, body, ANCF beam or `world` at one end: the outlet of the reel, if there is one.
    pub a: String,
    /// Frame, body, ANCF beam or `world` at the other end.
    pub b: String,
    /// Length of the whole tether without force, m, positive.
    pub length: f64,
    /// Mass per length without force, kg/m, positive.
    pub linear_density: f64,
    /// Axial stiffness `EA`, N, positive: force over strain.
    pub axial_stiffness: f64,
    /// Axial damping, N·s, not negative: force over rate of strain. Default 0.
    #[serde(default)]
    pub damping: f64,
    /// Number of point masses, from 1 to 1000: that of parts of equal length, each with its mass at
    /// its middle.
    pub masses: u32,
    /// Reel at `a`. Default: none, the whole tether is between the frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reel: Option<Reel>,
}

/// Reel of a tether.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reel {
    /// Length that is unwound at the start, m, positive, at most `length` of the tether.
    pub unwound: f64,
}

impl Tether {
    /// Returns the names of the bodies of its masses, each with that of its joint.
    pub fn parts(&self, name: &str) -> Vec<[String; 2]> {
        let part = |i: u32| ["mass", "point"].map(|part| format!("{name}_{part}{i}"));
        (1..=self.masses.min(MOST_MASSES)).map(part).collect()
    }

    /// Returns a mass as a body.
    fn body(&self) -> Body {
        let mass = self.linear_density * self.length / f64::from(self.masses.max(1));
        Body {
            mass: Some(mass),
            inertia: Some(Inertia::Diagonal([mass * GYRATION * GYRATION; 3])),
            ..Body::default()
        }
    }
}

impl Table for Tether {
    fn frames(&self) -> Vec<FrameField<'_>> {
        let field = |name, frame| FrameField::new(name, frame).or_world();
        vec![field("a", &self.a), field("b", &self.b)]
    }

    fn check(&self, spec: &Spec, report: &mut Report) {
        if self.a == self.b {
            report.add("b", format!("`a` and `b` are the same frame, \"{}\"", self.a));
        }
        let positive = [
            ("length", self.length),
            ("linear_density", self.linear_density),
            ("axial_stiffness", self.axial_stiffness),
        ];
        for (field, value) in positive {
            if value <= 0.0 {
                report.add(field, format!("{value} is not positive"));
            } else if !value.is_finite() {
                report.add(field, format!("{value} is not a finite number"));
            }
        }
        match self.masses {
            0 => report.add(
                "masses",
                "a tether has at least one mass; without mass it is a [spring] with `tension_only`",
            ),
            n if n > MOST_MASSES => report.add("masses", format!("{n} masses exceed the maximum of {MOST_MASSES}")),
            _ => {}
        }
        if let Some(reel) = &self.reel {
            self.check_reel(reel, spec, report);
        }
        self.check_frames(spec, report);
    }
}

impl Tether {
    /// Reports a reel with an unwound length that is impossible, and options that do not support it.
    fn check_reel(&self, reel: &Reel, spec: &Spec, report: &mut Report) {
        if reel.unwound <= 0.0 {
            report.add("reel.unwound", format!("{} is not positive", reel.unwound));
        } else if reel.unwound > self.length {
            let what = format!(
                "{} m exceed the tether's `length`, {} m: no more than the whole tether is unwound",
                reel.unwound, self.length
            );
            report.add("reel.unwound", what);
        }
        if self.a == WORLD {
            report.add(
                "a",
                "a reel is on a body: name its frame or body, and let `b` be the world",
            );
        }
        if spec.kind == Kind::Controller {
            report.add(
                "reel",
                "the spacecraft of a controller has no reels: its states are those of joints and modes",
            );
        }
        if spec.solver.method == Method::Conserving {
            let what = "the method conserving does not support unwound lengths that are states; did you mean method = \"auto\"?";
            report.add("reel", what);
        }
    }

    /// Reports ends on ANCF beams in models that are also computed rigid.
    fn check_frames(&self, spec: &Spec, report: &mut Report) {
        let Some((rigid, remedy)) = spec.rigid_model() else {
            return;
        };
        for (field, frame) in [("a", &self.a), ("b", &self.b)] {
            if let Some(beam) = spec.on_ancf_beam(frame) {
                let what = format!(
                    "\"{frame}\" is on the ANCF beam \"{beam}\", whose tethers {rigid} does not include{remedy}"
                );
                report.add(field, what);
            }
        }
    }
}

impl Spec {
    /// Adds the bodies and joints of all tethers.
    pub(super) fn add_tethers(&mut self) {
        for (name, tether) in &self.tether {
            for [body, joint] in tether.parts(name) {
                let placed = Joint {
                    is_placed: true,
                    ..Joint::between(JointType::Cartesian, WORLD, &body)
                };
                self.joint.insert(joint, placed);
                self.body.insert(body, tether.body());
            }
        }
    }
}
