use crate::algebra::fused::{cross, rotated_back};
use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench, column3, one33, zero3};
use crate::dynamics::Applied;
use crate::system::{BodyKinematics, Carrier, Configuration, FrameRef, Kinematics, System};
use std::ops::Range;

/// Two frames that interact at a point: a wrench there acts on the first, its reverse on the
/// second.
///
/// The rows are the components of a wrench: up to three moments, and three forces along the world
/// axes.
#[derive(Clone, Copy, Debug)]
pub struct Pair<S: Scalar> {
    /// Carriers of the frames.
    on: [Carrier; 2],
    /// Vectors from the carriers' origins to the point, m, world axes.
    pub arms: [Vec3<S>; 2],
    /// Index of the first row: 0 with all moments, 1 without that about the first axis, 3 without
    /// moments.
    first_row: usize,
    /// Axes of the moments, as columns: the world axes, or those of the first carrier if it is a
    /// point of an ANCF beam.
    axes: Mat3<S>,
}

impl<S: Scalar> Pair<S> {
    /// Creates the pair of the frames a and b, without moments, at the origin of a.
    pub fn at_a(of: Configuration<S>, frames: [FrameRef; 2]) -> Self {
        Self::at(of, frames, zero3())
    }

    /// Creates the pair of the frames a and b, without moments, at the point `from_a` (m, world
    /// axes) relative to the origin of a.
    pub fn at(of: Configuration<S>, frames: [FrameRef; 2], from_a: Vec3<S>) -> Self {
        let on = frames.map(|frame| of.system.carrier(frame));
        let arms = frames.map(|frame| of.arm(frame).p);
        let [p_WA, p_WB] = frames.map(|frame| of.pose(frame).p);
        Self::at_origin(on, arms, p_WA - p_WB).moved(from_a)
    }

    /// Creates the pair of frames without moments, at the origin of the first, from their carriers, the
    /// vectors `arms` from the carriers' origins to theirs, and the vector `apart` from the origin of the
    /// second to that of the first (m, world axes).
    pub fn at_origin(on: [Carrier; 2], arms: [Vec3<S>; 2], apart: Vec3<S>) -> Self {
        Self {
            on,
            arms: [arms[0], arms[1] + apart],
            first_row: 3,
            axes: one33(),
        }
    }

    /// Returns the pair at a point that is displaced by `r` (m, world axes).
    pub fn moved(self, r: Vec3<S>) -> Self {
        Self {
            arms: self.arms.map(|arm| arm + r),
            ..self
        }
    }

    /// Returns the pair, with moments if `turns`. A first frame on an ANCF beam has no moment about
    /// the beam's tangent.
    pub fn turning(self, kinematics: &Kinematics<S>, turns: bool) -> Self {
        match (turns, self.on[0]) {
            (false, _) => self,
            (true, Carrier::Point(point)) => Self {
                first_row: 1,
                axes: kinematics.points[point].at.R_WB,
                ..self
            },
            (true, _) => Self { first_row: 0, ..self },
        }
    }

    /// Returns the range of its rows among the six of a wrench.
    pub fn rows(&self) -> Range<usize> {
        self.first_row..6
    }

    /// Returns true if the pair has moments.
    pub fn turns(&self) -> bool {
        self.first_row < 3
    }

    /// Returns the unit wrench of a row about the point, world axes: 1 N·m or 1 N, or the impulse
    /// 1 N·m·s or 1 N·s.
    pub fn unit(&self, row: usize) -> Wrench<S> {
        match row {
            0..3 => Wrench::new(column3(&self.axes, row), zero3()),
            _ => Wrench::new(zero3(), Vec3::ith(row - 3, S::one())),
        }
    }

    /// Returns the components of a relative motion (world axes) along all six rows of a wrench.
    pub fn components(&self, relative: &Twist<S>) -> [S; 6] {
        Twist::new(rotated_back(&self.axes, &relative.w), relative.v).to_array()
    }

    /// Returns the motion of the first carrier relative to the second at the point, world axes;
    /// `of` returns the motion of a carrier about its origin.
    pub fn relative(&self, of: impl Fn(Carrier) -> Twist<S>) -> Twist<S> {
        let ([on_a, on_b], [arm_a, arm_b]) = (self.on, &self.arms);
        of(on_a).shift(arm_a) - of(on_b).shift(arm_b)
    }

    /// Returns the velocity-dependent part of the relative acceleration at the point, world axes.
    pub fn bias(&self, kinematics: &Kinematics<S>) -> Twist<S> {
        let [a, b] = self.on;
        self.bias_between(&kinematics.carrier(a), &kinematics.carrier(b))
    }

    /// [`bias`](Self::bias) from the motions of the two carriers.
    pub fn bias_between(&self, a: &BodyKinematics<S>, b: &BodyKinematics<S>) -> Twist<S> {
        bias_at(a, &self.arms[0]) - bias_at(b, &self.arms[1])
    }

    /// Returns the carriers of the frames.
    pub fn carriers(&self) -> [Carrier; 2] {
        self.on
    }

    /// Adds the wrench `F` (about the point, world axes) on the first carrier and its reverse on
    /// the second.
    pub fn push(&self, system: &System, kinematics: &Kinematics<S>, applied: &mut Applied<S>, F: Wrench<S>) {
        for (side, F) in [F, Wrench::zero() - F].into_iter().enumerate() {
            applied.push(system, kinematics, self.on[side], F.shift(&self.arms[side]));
        }
    }
}

/// Returns the velocity-dependent part of the acceleration of a carrier at the vector `r` (m) from its
/// origin, world axes.
#[inline]
fn bias_at<S: Scalar>(at: &BodyKinematics<S>, r: &Vec3<S>) -> Twist<S> {
    let w = &at.V_WB.w;
    let centripetal = cross(w, &cross(w, r));
    at.A_bias.shift(r) + Twist::new(zero3(), centripetal)
}
