use super::frame::adjoint::{FrameAdjoint, FrameBar, add_resolved, are_zero, is_on_bodies, turn, vector};
use super::{Compiler, Cursor, Element, Invariance, Outputs, Values, View, report};
use crate::Problem;
use crate::algebra::fused::dot;
use crate::algebra::{Scalar, Vec3, Wrench, lift3, norm};
use crate::spec::{self, Spec, at};
use crate::system::{Bound, FrameRef, ParamId, Quantity, System, Unit};

/// Motion of one frame relative to another, as outputs.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    name: String,
    /// Names of the two frames.
    names: [String; 2],
    from: FrameRef,
    to: FrameRef,
    axes: Option<Axes>,
}

/// Axes of the two frames that are parallel without misalignment: in axes of `from`, and of `to`.
#[derive(Clone, Copy, Debug)]
struct Axes {
    from: ParamId,
    to: ParamId,
}

/// Number of outputs.
const OUTPUTS: usize = 3 + 4 + 3 + 3 + 1;

/// Number of the outputs along an axis: offset, misalignment, lateral speed, tumbling rate.
const ALONG_AXIS: usize = 4;

/// Returns the part of `v` that is perpendicular to the unit vector `e`.
fn across<S: Scalar>(v: &Vec3<S>, e: &Vec3<S>) -> Vec3<S> {
    v - e * dot(e, v)
}

/// Returns the unit vector along `v`; zero for a vector of zero length, at which the derivative of
/// a length is zero.
fn unit(v: &Vec3<f64>) -> Vec3<f64> {
    v.try_normalize(0.0).unwrap_or_else(Vec3::zeros)
}

impl Axes {
    fn declare(name: &str, written: &spec::Measure, from: &mut Compiler) -> Option<Self> {
        let axis = written.axis?;
        let mut declare = |field: &str, owner: &str, axis: [f64; 3]| {
            let what = format!("axis of approach of measure {name}, axes of {owner}");
            let quantities = Quantity::vector(&format!("{name}.{field}"), Unit::One, &what);
            let at = at("measure", name, field);
            from.declare.parameters(quantities, &axis, false, &at)
        };
        let first = declare("axis", &written.from, axis);
        let second = written.axis_to.map(|axis| declare("axis_to", &written.to, axis));
        Some(Self {
            from: first,
            to: second.unwrap_or(first),
        })
    }

    /// Returns the two unit vectors, each in axes of its own frame.
    fn directions<S: Scalar>(self, parameters: &[S::Constant]) -> [Vec3<S>; 2] {
        let direction = |axis: ParamId| axis.direction(parameters).unwrap_or_else(Vec3::zeros);
        [self.from, self.to].map(|axis| lift3(&direction(axis)))
    }
}

impl Measure {
    /// Returns true if no frame is on an ANCF beam.
    fn is_on_bodies(&self, system: &System) -> bool {
        is_on_bodies(system, self.from) && is_on_bodies(system, self.to)
    }

    fn count(&self) -> usize {
        OUTPUTS + self.axes.map_or(0, |_| ALONG_AXIS)
    }

    /// Adds the derivatives of the outputs, weighted by `seeds`, (32), if no frame is on an
    /// ANCF beam.
    pub fn weigh(&self, view: &View<f64>, seeds: &[f64], to: &mut FrameAdjoint) {
        if are_zero(&seeds[..self.count()]) || !self.is_on_bodies(view.now.system) {
            return;
        }
        let (A, B) = (view.frame(self.from), view.frame(self.to));
        let r_W = B.p_WF - A.p_WF;
        let v_W = B.V_WF.v - A.V_WF.v - A.V_WF.w.cross(&r_W);
        let w_W = B.V_WF.w - A.V_WF.w;
        // Derivatives with respect to rotations of A, to `r_W`, `v_W` and `w_W`, then the rotation of B
        // relative to A.
        let (mut of_turn, mut of_r, mut of_v, mut of_w) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
        let (mut s_r, mut s_v, mut s_w) = (vector(seeds, 0), vector(seeds, 7), vector(seeds, 10));
        let mut turned = A.R_WF * turn(A.q_WF.conjugate() * B.q_WF, &seeds[3..]);
        if let Some(axes) = self.axes {
            let [e, e_B] = axes.directions::<f64>(view.now.parameters);
            let seeds = &seeds[OUTPUTS..];
            let side = |v_W: &Vec3<f64>| unit(&across(&A.R_WF.tr_mul(v_W), &e));
            s_r += side(&r_W) * seeds[0];
            s_v += side(&v_W) * seeds[2];
            s_w += side(&w_W) * seeds[3];
            turned += unit(&(A.R_WF * e).cross(&(B.R_WF * e_B))) * seeds[1];
        }
        add_resolved(&A.R_WF, &r_W, &s_r, &mut of_r, &mut of_turn);
        add_resolved(&A.R_WF, &v_W, &s_v, &mut of_v, &mut of_turn);
        add_resolved(&A.R_WF, &w_W, &s_w, &mut of_w, &mut of_turn);
        of_r += unit(&r_W) * seeds[13] - of_v.cross(&A.V_WF.w);
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
            if let (Some(from_frame), Some(to_frame)) = (from_frame, to_frame) {
                measures.push(Self {
                    name: name.clone(),
                    names: [written.from.clone(), written.to.clone()],
                    from: from_frame,
                    to: to_frame,
                    axes: Axes::declare(name, written, from),
                });
            }
        }
        measures
    }

    /// Reports axes without direction.
    fn validate(&self, of: Values, problems: &mut Vec<Problem>) {
        let Some(Axes { from, to }) = self.axes else { return };
        let others = (to != from).then_some(to);
        for axis in [from].into_iter().chain(others) {
            if axis.direction(of.values).is_none() {
                report(of.declared, axis, problems, "the axis has zero length".to_owned());
            }
        }
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
        if self.axes.is_some() {
            let of_axis = format!("the axis of approach of {a}");
            let quantities = [
                (
                    "offset",
                    Unit::Metre,
                    format!("distance of the origin of {b} from {of_axis}"),
                ),
                (
                    "misalignment",
                    Unit::Radian,
                    format!("angle between the axis of {b} and {of_axis}"),
                ),
                (
                    "lateral_speed",
                    Unit::MetrePerSecond,
                    format!("velocity of {b} relative to {a} across {of_axis}"),
                ),
                (
                    "tumbling_rate",
                    Unit::RadianPerSecond,
                    format!("angular velocity of {b} relative to {a} across {of_axis}"),
                ),
            ];
            let quantities = quantities.map(|(field, unit, what)| {
                Quantity::new(format!("{name}.{field}"), unit, what).bounded(Bound::NotNegative)
            });
            to.invariant(invariance, quantities);
        }
    }

    /// Writes the motion of `to` as seen by an observer fixed in `from`: the derivative of `r` is
    /// `v`.
    fn observe<S: Scalar>(&self, view: &View<S>, y: &mut Cursor<S>) {
        if view.omits_frames && self.is_on_bodies(view.now.system) {
            return y.skip(self.count());
        }
        let (A, B) = (view.frame(self.from), view.frame(self.to));
        let r_W = B.p_WF - A.p_WF;
        let v_W = B.V_WF.v - A.V_WF.v - A.V_WF.w.cross(&r_W);
        let w_W = B.V_WF.w - A.V_WF.w;
        let [r, v, w] = [r_W, v_W, w_W].map(|vector| A.R_WF.tr_mul(&vector));
        y.vector(&r);
        y.quaternion(A.q_WF.conjugate() * B.q_WF);
        y.vector(&v);
        y.vector(&w);
        y.number(norm(&r_W));
        if let Some(axes) = self.axes {
            let [e, e_B] = axes.directions::<S>(view.now.parameters);
            let e_B = A.R_WF.tr_mul(&(B.R_WF * e_B));
            y.number(norm(&across(&r, &e)));
            y.number(Scalar::atan2(norm(&e.cross(&e_B)), dot(&e, &e_B)));
            y.number(norm(&across(&v, &e)));
            y.number(norm(&across(&w, &e)));
        }
    }
}
