//! Compliant contacts whose force may jump with the position, or that start deep inside each other.

use super::Plant;
use crate::Problem;
use crate::spec::at;

impl Plant {
    /// Returns a problem for each compliant contact of shapes that may touch along a line or a
    /// circle: the force at one of these points jumps to another with the position. Capsules are
    /// reported if they start nearly parallel. Another problem is a start far beyond the penetration for
    /// which the law is written.
    pub fn doubtful_contacts(&mut self) -> Vec<Problem> {
        let of = self.base.constants();
        // An invalid start is reported by the validation.
        let Ok((q, qd)) = of.model.solved_start(of.derived, 0.0, of.parameters) else {
            return Vec::new();
        };
        self.evaluation.kinematics.update(&of.model.system, of.derived, &q, &qd);
        let configuration = of.at(&self.evaluation.kinematics);
        let mut problems = Vec::new();
        for contact in &of.model.elements.contacts {
            if let Some(what) = contact.starts_deep(of.parameters, configuration) {
                let at = at("contact", &contact.name, "depth");
                problems.push(Problem { at, what });
            }
            let Some(why) = contact.jumps(of.parameters, configuration) else {
                continue;
            };
            problems.push(Problem {
                at: at("contact", &contact.name, "law"),
                what: format!(
                    "{why}. The force acts at one of these points, which jumps to another with the position, so that the \
                     integrator takes very short steps: write an impact law, or a contact with a small sphere for each \
                     of several points"
                ),
            });
        }
        problems
    }
}
