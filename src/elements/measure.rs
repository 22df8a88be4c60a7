use super::{Compiler, Cursor, Element, Invariance, Outputs, View};
use crate::algebra::{Scalar, norm};
use crate::spec::Spec;
use crate::system::{FrameRef, Quantity, System, Unit};

/// Motion of one frame relative to another, as outputs.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    name: String,
    /// Names of the two frames.
    names: [String; 2],
    from: FrameRef,
    to: FrameRef,
}

impl Element for Measure {
    fn compile(from: &mut Compiler) -> Vec<Self> {
        let mut measures = Vec::new();
        for (name, written) in &from.spec.measure {
            let from_frame = from.frame(["measure", name, "from"], &written.from);
            let to_frame = from.frame(["measure", name, "to"], &written.to);
            if let (Some(from), Some(to)) = (from_frame, to_frame) {
                measures.push(Self {
                    name: name.clone(),
                    names: [written.from.clone(), written.to.clone()],
                    from,
                    to,
                });
            }
        }
        measures
    }

    fn outputs(&self, _: &Spec, system: &System, to: &mut Outputs) {
        let invariance = Invariance::Objective.when(system.move_together([self.from, self.to]));
        let (name, [a, b]) = (&self.name, &self.names);
        let relative = format!("of {b} relative to {a}, axes of {a}");
        let vector = |field: &str, unit, what: String| Quantity::vector(&format!("{name}.{field}"), unit, &what);
        to.invariant(invariance, vector("r", Unit::Metre, format!("position {relative}")));
        let what = format!("attitude {relative}, quaternion");
        to.invariant(invariance, Quantity::quaternion(&format!("{name}.q"), &what));
        to.invariant(
            invariance,
            vector("v", Unit::MetrePerSecond, format!("velocity {relative}")),
        );
        to.invariant(
            invariance,
            vector("w", Unit::RadianPerSecond, format!("angular velocity {relative}")),
        );
        let what = format!("distance between the origins of {a} and {b}");
        to.invariant(
            invariance,
            [Quantity::new(format!("{name}.distance"), Unit::Metre, what)],
        );
    }

    /// Writes the motion of `to` as seen by an observer fixed in `from`: the derivative of `r` is
    /// `v`.
    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        let (A, B) = (view.frame(self.from), view.frame(self.to));
        let r_W = B.p_WF - A.p_WF;
        let v_W = B.V_WF.v - A.V_WF.v - A.V_WF.w.cross(&r_W);
        let w_W = B.V_WF.w - A.V_WF.w;
        y.vector(&A.R_WF.tr_mul(&r_W));
        y.quaternion(A.q_WF.conjugate() * B.q_WF);
        y.vector(&A.R_WF.tr_mul(&v_W));
        y.vector(&A.R_WF.tr_mul(&w_W));
        y.number(norm(&r_W));
    }
}
