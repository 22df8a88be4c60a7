use crate::algebra::{Mat3, Scalar, Twist, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::system::{Carrier, Configuration, FrameRef, Kinematics, System};
use std::ops::Range;

/// Two frames that act on each other at a point: a wrench there acts on the first, and in reverse on the second.
///
/// Its rows are those of a wrench: up to three moments, and three forces along the world's axes.
#[derive(Clone, Copy, Debug)]
pub struct Pair<S: Scalar> {
    /// What carries the frames.
    on: [Carrier; 2],
    /// From the origins of what carries them to the point, m, world axes.
    pub arms: [Vec3<S>; 2],
    /// The first row: 0 with all moments, 1 without that about the first axis, 3 without moments.
    first_row: usize,
    /// What the moments are about, columns: the world's axes, or those of what carries the first, where that has one direction only.
    axes: Mat3<S>,
}

impl<S: Scalar> Pair<S> {
    /// The frames a and b, without moments, at the origin of a.
    pub fn at_a(of: Configuration<S>, frames: [FrameRef; 2]) -> Self {
        Self::at(of, frames, Vec3::zeros())
    }

    /// The frames a and b, without moments, at the point that is off the origin of a by this much (m, world axes).
    pub fn at(of: Configuration<S>, [a, b]: [FrameRef; 2], from_a: Vec3<S>) -> Self {
        let [p_WA, p_WB] = [a, b].map(|frame| of.pose(frame).p);
        let [arm_a, arm_b] = [a, b].map(|frame| of.arm(frame).p);
        Self {
            on: [a, b].map(|frame| of.system.carrier(frame)),
            arms: [arm_a + from_a, arm_b + (p_WA - p_WB) + from_a],
            first_row: 3,
            axes: Mat3::identity(),
        }
    }

    /// Returns the pair with moments, if `turns`. A first frame on an ANCF beam has no moment about its
    /// direction.
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

    /// Its rows, among those of a wrench.
    pub fn rows(&self) -> Range<usize> {
        self.first_row..6
    }

    /// True if moments act too.
    pub fn turns(&self) -> bool {
        self.first_row < 3
    }

    /// The wrench of one in a row, N·m or N, or of impulses, world axes.
    pub fn unit(&self, row: usize) -> Wrench<S> {
        match row {
            0..3 => Wrench::new(self.axes.column(row).into_owned(), Vec3::zeros()),
            _ => Wrench::new(Vec3::zeros(), Vec3::ith(row - 3, S::one())),
        }
    }

    /// All rows of a relative motion (world axes).
    pub fn components(&self, relative: &Twist<S>) -> [S; 6] {
        Twist::new(self.axes.tr_mul(&relative.w), relative.v).to_array()
    }

    /// The relative motion at the point, of what carries the first seen from what carries the second; of motions about their origins.
    pub fn relative(&self, of: impl Fn(Carrier) -> Twist<S>) -> Twist<S> {
        let [a, b] = [0, 1].map(|side| of(self.on[side]).shift(&self.arms[side]));
        a - b
    }

    /// The relative acceleration at the point that the rates alone cause.
    pub fn bias(&self, kinematics: &Kinematics<S>) -> Twist<S> {
        let [a, b] = [0, 1].map(|side| {
            let (at, r) = (kinematics.carrier(self.on[side]), &self.arms[side]);
            let w = &at.V_WB.w;
            let centripetal = w.cross(&w.cross(r));
            at.A_bias.shift(r) + Twist::new(Vec3::zeros(), centripetal)
        });
        a - b
    }

    /// What carries the frames.
    pub fn carriers(&self) -> [Carrier; 2] {
        self.on
    }

    /// Adds a wrench on the first about the point, and its reverse on the second.
    pub fn push(&self, system: &System, kinematics: &Kinematics<S>, applied: &mut Applied<S>, F: Wrench<S>) {
        for (side, F) in [F, Wrench::zero() - F].into_iter().enumerate() {
            applied.push(system, kinematics, self.on[side], F.shift(&self.arms[side]));
        }
    }
}
