//! What a run cannot start from, judged of a spec's numbers when it is read, and of a host's when they are taken.

use super::context::Constants;
use super::evaluation::Evaluation;
use super::model::Model;
use super::touch;
use crate::dynamics::{Singular, SingularPart};
use crate::loads::SignalSource;
use crate::spec::{self, JointMotion, Waveform, at};
use crate::system::{ParamId, Unit};
use crate::{Error, Problem};
use std::path::Path;

/// What a grasp holds starts within this of what holds it.
const FARTHEST_TURN_DEG: f64 = 175.0;

impl Model {
    /// Reads and compiles a spec; tables are loaded from beside `directory`.
    ///
    /// # Errors
    /// [`Error::Spec`] with every problem found: those of the structure, and those of the numbers in all that is sound.
    pub fn read(text: &str, directory: &Path) -> Result<Self, Error> {
        let (mut spec, mut problems) = spec::parse(text, directory)?;
        if problems.is_empty() {
            let (model, derived) = Self::compile_and_derive(&spec)?;
            let mut evaluation = Evaluation::new(&model);
            let values = model.parameter_starts();
            // A host hears of it where it asks for accelerations.
            let constants = Constants {
                model: &model,
                derived: &derived,
                parameters: &values,
            };
            problems.extend(evaluation.singular_at_start(constants));
            evaluation.judge_start(constants, 0.0, &mut problems);
            return if problems.is_empty() {
                Ok(model)
            } else {
                Err(Error::Spec(problems))
            };
        }
        spec.remove_unsound(&problems);
        if let Err(Error::Spec(mut more)) = Self::compile(&spec) {
            more.retain(|problem| !problems.iter().any(|known| known.at == problem.at));
            problems.append(&mut more);
        }
        Err(Error::Spec(problems))
    }

    /// Complains of ranges and trajectories that do not start where they may.
    pub(super) fn judge_start(&self, values: &[f64], problems: &mut Vec<Problem>) {
        for signal in &self.signals {
            if let Some(start) = self.start_of(signal) {
                signal.judge_start(start, &self.parameters, values, problems);
            }
        }
        let mut q = vec![0.0; self.system.nq];
        let mut qd = vec![0.0; self.system.nv];
        self.start_coordinates(values, &mut q, &mut qd);
        for range in &self.loads.ranges {
            range.judge_start(&self.parameters, values, &q, problems);
        }
    }

    /// Whether a constant signal of the spec commands the capture of a contact, from the start.
    fn is_captured_from_start(&self, contact: &str) -> bool {
        let signal = self.spec.signal.get(&format!("{contact}.capture"));
        signal.is_some_and(|signal| {
            let is_constant = signal.waveform == Waveform::Constant && signal.from.is_none_or(|from| from <= 0.0);
            is_constant && signal.offset + signal.amplitude > 0.5
        })
    }

    /// Where the axis starts that has the signal for its trajectory.
    fn start_of(&self, signal: &SignalSource) -> Option<ParamId> {
        signal.rate_input?;
        let (body, axis) = self.loads.axis_of(signal.input)?;
        let start = self.system.bodies[body].joint.q_start?;
        Some(ParamId(start.0 + axis))
    }
}

impl Evaluation<f64> {
    /// Complains of what cannot start where bodies stand at the time `t` (s): of surfaces in each other, of grasps that are closed on what is turned the other way.
    pub(super) fn judge_start(&mut self, of: Constants, t: f64, problems: &mut Vec<Problem>) {
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
            // What moves no inertia is reported where accelerations are asked for.
            Err(_) => return,
        };
        self.kinematics.update(&model.system, derived, &q, &qd);
        problems.extend(self.inside(of));
        problems.extend(self.out_of_reach(of));
        problems.extend(self.turned(of));
    }

    /// The surfaces that start in each other.
    fn inside(&self, of: Constants) -> impl Iterator<Item = Problem> {
        of.model.loads.touching().filter_map(move |(_, contact)| {
            let depth = touch::inside(of, self, contact)?;
            let [a, b] = &contact.names;
            let what = format!("\"{a}\" starts {depth} m inside the surface of \"{b}\"");
            Some(Problem {
                at: at("contact", &contact.name, "surface"),
                what,
            })
        })
    }

    /// The captures that a signal commands from the start, and that are out of reach there.
    fn out_of_reach(&self, of: Constants) -> impl Iterator<Item = Problem> {
        let Constants {
            model,
            derived,
            parameters,
        } = of;
        model.loads.contacts.iter().filter_map(move |contact| {
            let reach = contact.capture().and_then(|_| contact.reach(parameters))?;
            let [A, B] = [contact.a, contact.b].map(|frame| self.kinematics.pose(&model.system, derived, frame));
            let apart = (A.p - B.p).norm();
            let [a, b] = &contact.names;
            (apart > reach && model.is_captured_from_start(&contact.name)).then(|| Problem {
                at: at("contact", &contact.name, "reach"),
                what: format!(
                    "\"{a}\" is to be captured at the start, {} from \"{b}\", and the reach is {}: start nearer, raise `reach`, or write a [loop], which closes by itself",
                    Unit::Metre.about(apart),
                    Unit::Metre.about(reach)
                ),
            })
        })
    }

    /// The grasps that start closed on what is turned the other way: at half a turn they would not know which way is back.
    fn turned(&self, of: Constants) -> impl Iterator<Item = Problem> {
        let Constants { model, parameters, .. } = of;
        model.loads.grasps.iter().filter_map(move |grasp| {
            let holds = grasp.on && grasp.is_stiff_against_turns(parameters);
            let angle = grasp.angle(of.at(&self.kinematics)).to_degrees();
            let [a, b] = &grasp.names;
            (holds && angle > FARTHEST_TURN_DEG).then(|| Problem {
                at: at("grasp", &grasp.name, "b"),
                what: format!("\"{b}\" starts turned by {angle:.1} deg from \"{a}\", and is held where the two lie alike: turn one, or start with `on = false`"),
            })
        })
    }

    /// The joint or the mode that moves no inertia, if there is one: as the joints start, or with all of them let go that may be.
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
            for drive in &model.loads.drives {
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
                format!("axis {} moves no inertia", axis + 1),
            ),
            SingularPart::Axis(axis) => (at("body", written, ""), format!("axis {} moves no inertia", axis + 1)),
            SingularPart::Mode(mode) => (at("body", written, ""), format!("mode {} moves no inertia", mode + 1)),
            SingularPart::Body => (
                at("body", written, if body.beam.is_some() { "beam" } else { "inertia" }),
                "it has no inertia about some axis".to_owned(),
            ),
        };
        let hint = match body.beam {
            Some(_) => {
                ": a slender beam turns about its own axis without inertia; give it a `polar_inertia_per_length`"
            }
            None => "",
        };
        Some(Problem { at, what: what + hint })
    }
}
