//! Validation of the start: of a spec when it is read, and of an importer's parameters when they
//! are set.

use super::Discrete;
use super::context::Constants;
use super::detection;
use super::evaluation::Evaluation;
use super::manifolds::start_points;
use super::model::Model;
use crate::dynamics::{Singular, SingularPart};
use crate::elements::SignalSource;
use crate::spec::{self, Composed, JointMotion, Spec, Waveform, at};
use crate::system::{ParamId, Unit};
use crate::{Error, Problem};
use std::path::Path;

/// Smallest angle at the start from that at which the moment of a closed grasp is undefined, deg.
const LEAST_MARGIN_DEG: f64 = 5.0;

impl Model {
    /// Reads and compiles a spec; included specs and tables are loaded relative to `directory`.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found: of the structure, and of the values in all tables
    /// without structural problems.
    pub fn read(text: &str, directory: &Path) -> Result<Self, Error> {
        Self::read_composed(&spec::compose(text, directory)?, directory)
    }

    /// Reads and compiles a composed spec as [`read`](Self::read) does.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn read_composed(composed: &Composed, directory: &Path) -> Result<Self, Error> {
        let (mut spec, problems) = spec::parse(composed, directory)?;
        let read = Self::read_parsed(&mut spec, problems);
        read.map_err(|error| match error {
            Error::Spec(problems) => Error::Spec(spec.at_groups(problems)),
            other => other,
        })
    }

    /// Compiles a parsed spec with its problems; with problems, unsound tables are removed from it.
    fn read_parsed(spec: &mut Spec, mut problems: Vec<Problem>) -> Result<Self, Error> {
        if problems.is_empty() {
            let (model, derived) = Self::compile_and_derive(spec)?;
            let mut evaluation = Evaluation::new(&model);
            let values = model.parameter_starts();
            // In a run, a singular start is reported by the evaluation of accelerations.
            let constants = Constants {
                model: &model,
                derived: &derived,
                parameters: &values,
            };
            problems.extend(evaluation.singular_at_start(constants));
            evaluation.validate_start(constants, 0.0, &mut problems);
            return if problems.is_empty() {
                Ok(model)
            } else {
                Err(Error::Spec(problems))
            };
        }
        let mut found = spec.at_groups(problems.clone());
        spec.remove_unsound(&problems);
        if let Err(Error::Spec(mut more)) = Self::compile(spec) {
            more.retain(|problem| !problems.iter().any(|known| known.at == problem.at));
            found.append(&mut more);
        }
        Err(Error::Spec(found))
    }

    /// Reports joints that start outside their range, and trajectories that start away from their
    /// joint's start.
    pub(super) fn validate_start(&self, values: &[f64], problems: &mut Vec<Problem>) {
        for signal in &self.elements.signals {
            if let Some(start) = self.start_of(signal) {
                signal.validate_start(start, &self.parameters, values, problems);
            }
        }
        let mut q = vec![0.0; self.system.nq];
        let mut qd = vec![0.0; self.system.nv];
        self.start_coordinates(values, &mut q, &mut qd);
        for range in &self.elements.ranges {
            range.validate_start(&self.parameters, values, &q, problems);
        }
    }

    /// Returns true if a constant signal of the spec commands the capture of a contact from the
    /// start.
    fn is_captured_from_start(&self, contact: &str) -> bool {
        let signal = self.spec.signal.get(&format!("{contact}.capture"));
        signal.is_some_and(|signal| {
            let is_constant = signal.waveform == Waveform::Constant && signal.from.is_none_or(|from| from <= 0.0);
            is_constant && signal.offset + signal.amplitude > 0.5
        })
    }

    /// Returns the parameter with the start position of the axis whose reference the signal sets;
    /// `None` if the signal does not set the reference's rate too.
    fn start_of(&self, signal: &SignalSource) -> Option<ParamId> {
        signal.rate_input?;
        let (body, axis) = self.elements.axis_of(signal.input)?;
        let start = self.system.bodies[body].joint.q_start?;
        Some(start.nth(axis))
    }
}

impl Evaluation<f64> {
    /// Reports an invalid start at the time `t` (s): loops that cannot be closed, no equilibrium,
    /// overlapping surfaces, captures out of reach, and closed grasps with their frames nearly half
    /// a turn apart.
    pub(super) fn validate_start(&mut self, of: Constants, t: f64, problems: &mut Vec<Problem>) {
        let Constants {
            model,
            derived,
            parameters,
        } = of;
        let assembled = model.assembly(derived, t, parameters);
        let (q, qd) = match assembled.and_then(|_| model.solved_start(derived, t, parameters)) {
            Ok(start) => start,
            Err(Error::Assembly { closure, what }) => {
                let at = at("loop", &closure, "");
                problems.push(Problem { at, what });
                return;
            }
            Err(error @ Error::NoEquilibrium { .. }) => {
                let (at, what) = (at("assembly", "", "equilibrium"), error.to_string());
                problems.push(Problem { at, what });
                return;
            }
            // Other errors, such as parts without inertia, are reported by the evaluation of
            // accelerations.
            Err(_) => return,
        };
        self.kinematics.update(&model.system, derived, &q, &qd);
        let mut discrete = model.discrete();
        start_points(of, self, &mut discrete);
        problems.extend(self.undefined(of, &discrete));
        problems.extend(self.inside(of, &discrete));
        problems.extend(self.out_of_reach(of));
        problems.extend(self.turned(of));
    }

    /// Returns a problem for each pair of surfaces whose distance at the start overflows.
    fn undefined(&self, of: Constants, discrete: &Discrete) -> impl Iterator<Item = Problem> {
        of.model.elements.with_detection().filter_map(move |(_, contact)| {
            let gap = detection::gap(of, self, discrete, contact);
            let [a, b] = &contact.names;
            (!gap.is_finite()).then(|| Problem {
                at: at("contact", &contact.name, "a"),
                what: format!(
                    "the gap between \"{a}\" and \"{b}\" at the start is {gap} m: start them nearer to the world's origin"
                ),
            })
        })
    }

    /// Returns a problem for each pair of surfaces that overlap at the start.
    fn inside(&self, of: Constants, discrete: &Discrete) -> impl Iterator<Item = Problem> {
        of.model.elements.with_detection().filter_map(move |(_, contact)| {
            let depth = detection::penetration(of, self, discrete, contact)?;
            let [a, b] = &contact.names;
            let (field, what) = match contact.shape_names() {
                None => (
                    "surface",
                    format!("\"{a}\" starts {depth} m inside the surface of \"{b}\""),
                ),
                Some([of_a, of_b]) => {
                    let depth = Unit::Metre.about(depth);
                    let what = format!(
                        "the {of_a} of \"{a}\" starts {depth} inside the {of_b} of \"{b}\": start farther away"
                    );
                    ("shape_b", what)
                }
            };
            Some(Problem {
                at: at("contact", &contact.name, field),
                what,
            })
        })
    }

    /// Returns a problem for each capture that a signal commands at the start and that is out of
    /// reach.
    fn out_of_reach(&self, of: Constants) -> impl Iterator<Item = Problem> {
        let Constants { model, parameters, .. } = of;
        model.elements.contacts.iter().filter_map(move |contact| {
            let reach = contact.capture().and_then(|_| contact.reach(parameters))?;
            let [A, B] = contact.poses(of.at(&self.kinematics));
            let apart = (A.p - B.p).norm();
            let [a, b] = &contact.names;
            (apart > reach && model.is_captured_from_start(&contact.name)).then(|| Problem {
                at: at("contact", &contact.name, "reach"),
                what: format!(
                    "\"{a}\" is commanded to capture at the start, but is {} from \"{b}\", and the reach is {}: start nearer, \
                    raise `reach`, or use a [loop], whose start is assembled",
                    Unit::Metre.about(apart),
                    Unit::Metre.about(reach)
                ),
            })
        })
    }

    /// Returns a problem for each closed grasp whose frames are nearly half a turn apart, or a
    /// quarter between two ANCF beams: there the sense of the restoring moment is undefined.
    fn turned(&self, of: Constants) -> impl Iterator<Item = Problem> {
        let Constants { model, parameters, .. } = of;
        model.elements.grasps.iter().filter_map(move |grasp| {
            let holds = grasp.on && grasp.is_stiff_against_turns(parameters);
            let angle = grasp.angle(of.at(&self.kinematics)).to_degrees();
            let [a, b] = &grasp.names;
            let undefined = grasp.undefined_angle_deg();
            (holds && angle > undefined - LEAST_MARGIN_DEG).then(|| Problem {
                at: at("grasp", &grasp.name, "b"),
                what: format!(
                    "\"{b}\" starts rotated by {angle:.1} deg relative to \"{a}\", and the restoring moment of a \
                    closed grasp is undefined at {undefined} deg: rotate one of the two frames, or start with `on = false`"
                ),
            })
        })
    }

    /// Returns a problem if a joint or a mode has no inertia, with the joints' motions at the start
    /// or with all joints released that may be.
    fn singular_at_start(&mut self, of: Constants) -> Option<Problem> {
        let Constants {
            model,
            derived,
            parameters,
        } = of;
        let system = &model.system;
        let (q, mut qd) = model.start_at(derived, 0.0, parameters);
        self.kinematics.update(system, derived, &q, &qd);
        let Singular { body, what } = [false, true].into_iter().find_map(|released| {
            for drive in &model.elements.drives {
                let is_free = released && drive.motions().contains(&JointMotion::Loads);
                self.applied.driven[drive.body] = drive.motion() != JointMotion::Loads && !is_free;
            }
            self.dynamics
                .solve(of.at(&self.kinematics), &self.applied, &q, &mut qd)
                .err()
        })?;
        let written = &system.bodies[system.whole(body)].name;
        let body = &system.bodies[body];
        let (at, what) = match what {
            SingularPart::Axis(axis) if body.joint.written => (
                at("joint", &body.joint.name, ""),
                format!("axis {} has no inertia", axis + 1),
            ),
            SingularPart::Axis(axis) => (at("body", written, ""), format!("axis {} has no inertia", axis + 1)),
            SingularPart::Mode(mode) => (at("body", written, ""), format!("mode {} has no inertia", mode + 1)),
            SingularPart::Body => (
                at("body", written, if body.beam.is_some() { "beam" } else { "inertia" }),
                "it has no inertia about one of its axes".to_owned(),
            ),
        };
        let hint = match body.beam {
            Some(_) => ": a slender beam has no inertia about its own axis; write its `polar_inertia_per_length`",
            None => "",
        };
        Some(Problem { at, what: what + hint })
    }
}
