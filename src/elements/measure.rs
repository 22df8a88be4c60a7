use super::frame::adjoint::{FrameAdjoint, FrameBar, add_resolved, are_zero, is_on_bodies, turn, vector};
use super::{Compiler, Cursor, Element, Invariance, Outputs, View};
use crate::algebra::{Scalar, Vec3, Wrench, norm};
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

/// Number of outputs.
const OUTPUTS: usize = 3 + 4 + 3 + 3 + 1;

impl Measure {
    /// Returns true if no frame is on an ANCF beam.
    fn is_on_bodies(&self, system: &System) -> bool {
        is_on_bodies(system, self.from) && is_on_bodies(system, self.to)
    }

    /// Adds the derivatives of the outputs, weighted by `seeds`, (32), if no frame is on an ANCF beam.
    pub fn weigh(&self, view: &View<f64>, seeds: &[f64], to: &mut FrameAdjoint) {
        if are_zero(&seeds[..OUTPUTS]) || !self.is_on_bodies(view.now.system) {
            return;
        }
        let (A, B) = (view.frame(self.from), view.frame(self.to));
        let r_W = B.p_WF - A.p_WF;
        let v_W = B.V_WF.v - A.V_WF.v - A.V_WF.w.cross(&r_W);
        let w_W = B.V_WF.w - A.V_WF.w;
        // Derivatives with respect to rotations of A, to `r_W`, `v_W` and `w_W`, then the rotation of B
        // relative to A.
        let (mut of_turn, mut of_r, mut of_v, mut of_w) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
        add_resolved(&A.R_WF, &r_W, &vector(seeds, 0), &mut of_r, &mut of_turn);
        add_resolved(&A.R_WF, &v_W, &vector(seeds, 7), &mut of_v, &mut of_turn);
        add_resolved(&A.R_WF, &w_W, &vector(seeds, 10), &mut of_w, &mut of_turn);
        let turned = A.R_WF * turn(A.q_WF.conjugate() * B.q_WF, &seeds[3..]);
        let along = r_W.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        of_r += along * seeds[13] - of_v.cross(&A.V_WF.w);
        let (mut of_A, mut of_B) = (FrameBar::zero(), FrameBar::zero());
        of_B.pose = Wrench::new(turned, of_r);
        of_B.velocity = Wrench::new(of_w, of_v);
        of_A.pose = Wrench::new(of_turn - turned, -of_r);
        of_A.velocity = Wrench::new(-of_w - r_W.cross(&of_v), -of_v);
        to.add(view, self.from, &A, &of_A);
        to.add(view, self.to, &B, &of_B);
    }
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
        if view.omits_frames && self.is_on_bodies(view.now.system) {
            return y.skip(OUTPUTS);
        }
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
