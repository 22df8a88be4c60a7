use crate::algebra::{Scalar, Twist, Vec3, Wrench};
use crate::dynamics::Applied;
use crate::system::{Carrier, Derived, FrameRef, Kinematics, System};
use std::ops::Range;

/// Two frames that act on each other at a point: a wrench there acts on the first, and in reverse on the second.
///
/// Its rows are those of a wrench, world axes: three moments, of which a pair may have none, and three forces.
#[derive(Clone, Copy, Debug)]
pub struct Pair<S: Scalar> {
    /// What carries the frames.
    on: [Carrier; 2],
    /// From the origins of what carries them to the point, m, world axes.
    pub arms: [Vec3<S>; 2],
    /// Whether moments act too.
    pub turns: bool,
}

/// The wrench of one in a row (N·m or N, or of impulses).
pub fn unit<S: Scalar>(row: usize) -> Wrench<S> {
    let one: [S; 6] = std::array::from_fn(|i| if i == row { S::one() } else { S::zero() });
    Wrench::from_slice(&one)
}

impl<S: Scalar> Pair<S> {
    /// The frames a and b, without moments, at the point that is off the origin of a by this `part` of the way to that of b.
    pub fn of(
        (system, derived, kinematics): (&System, &Derived, &Kinematics<S>),
        [a, b]: [FrameRef; 2],
        part: f64,
    ) -> Self {
        let [p_WA, p_WB] = [a, b].map(|frame| kinematics.pose(system, derived, frame).p);
        Self::at((system, derived, kinematics), [a, b], (p_WB - p_WA) * S::lift(part))
    }

    /// The frames a and b, without moments, at the point that is off the origin of a by this much (m, world axes).
    pub fn at(
        (system, derived, kinematics): (&System, &Derived, &Kinematics<S>),
        [a, b]: [FrameRef; 2],
        from_a: Vec3<S>,
    ) -> Self {
        let [p_WA, p_WB] = [a, b].map(|frame| kinematics.pose(system, derived, frame).p);
        let [arm_a, arm_b] = [a, b].map(|frame| kinematics.arm(system, derived, frame).p);
        Self {
            on: [a, b].map(|frame| system.carrier(frame)),
            arms: [arm_a + from_a, arm_b + (p_WA - p_WB) + from_a],
            turns: false,
        }
    }

    /// The same, with moments or without.
    pub fn turning(self, turns: bool) -> Self {
        Self { turns, ..self }
    }

    /// Its rows, among those of a wrench.
    pub fn rows(&self) -> Range<usize> {
        if self.turns { 0..6 } else { 3..6 }
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
