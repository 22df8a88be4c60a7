use super::Incidence;
use crate::algebra::{Scalar, SmallSpd};
use nalgebra::{SMatrix, SVector};

pub(super) type Mat6<S> = SMatrix<S, 6, 6>;
pub(super) type Vec6<S> = SVector<S, 6>;

/// The system `X T = b` (60) of the wrenches of all joints, symmetric and positive definite.
///
/// Its blocks are as sparse as `C Cᵀ`. Going from the ends of the branches to the roots, what is eliminated couples
/// joints that are coupled already: those on one body with each other and with the one that carries it. So nothing fills in, and of
/// a chain the cost is linear.
#[derive(Clone, Debug)]
pub(super) struct Reactions<S: Scalar> {
    joints: Vec<Joint<S>>,
}

/// Row and column of one joint.
#[derive(Clone, Debug)]
pub(super) struct Joint<S: Scalar> {
    /// The block on the diagonal; once eliminated what is left of it.
    pub X: Mat6<S>,
    /// The blocks beside it, of the joints before; their columns are those joints'.
    pub coupled: Vec<(usize, Mat6<S>)>,
    /// `b`, then `T`.
    pub b: Vec6<S>,
    /// What is left, factored.
    factors: SmallSpd<S, 6>,
    /// `X⁻¹` times each coupled block.
    gain: Vec<Mat6<S>>,
}

impl<S: Scalar> Reactions<S> {
    /// Room for a tree of so many bodies.
    pub fn new(incidence: &Incidence, bodies: usize) -> Self {
        let joint = |i| {
            let coupled = incidence.coupled(i);
            Joint {
                X: Mat6::identity(),
                gain: vec![Mat6::zeros(); coupled.len()],
                coupled: coupled.into_iter().map(|j| (j, Mat6::zeros())).collect(),
                b: Vec6::zeros(),
                factors: SmallSpd::identity(),
            }
        };
        Self {
            joints: (0..bodies).map(joint).collect(),
        }
    }

    /// The joint that carries body `i`.
    pub fn joint(&mut self, i: usize) -> &mut Joint<S> {
        &mut self.joints[i]
    }

    /// Solves for `T`, in place.
    ///
    /// # Errors
    /// The joint, and which part of its wrench does not follow.
    pub fn solve(&mut self) -> Result<(), (usize, usize)> {
        for i in (0..self.joints.len()).rev() {
            let (before, rest) = self.joints.split_at_mut(i);
            rest[0].eliminate(before).map_err(|part| (i, part))?;
        }
        self.substitute();
        Ok(())
    }

    /// Solves for `T` of another `b`, in place, after [`solve`](Self::solve).
    pub fn solve_again(&mut self) {
        for i in (0..self.joints.len()).rev() {
            let (before, rest) = self.joints.split_at_mut(i);
            let joint = &mut rest[0];
            joint.b = Vec6::from(joint.factors.solve(&joint.b.data.0[0]));
            for (j, block) in &joint.coupled {
                before[*j].b -= block.tr_mul(&joint.b);
            }
        }
        self.substitute();
    }

    /// Goes from the roots to the ends.
    fn substitute(&mut self) {
        for i in 0..self.joints.len() {
            let (before, rest) = self.joints.split_at_mut(i);
            let joint = &mut rest[0];
            for ((j, _), gain) in joint.coupled.iter().zip(&joint.gain) {
                joint.b -= gain * before[*j].b;
            }
        }
    }
}

impl<S: Scalar> Joint<S> {
    fn eliminate(&mut self, before: &mut [Self]) -> Result<(), usize> {
        self.factors = SmallSpd::factor(&self.X.data.0)?;
        self.b = Vec6::from(self.factors.solve(&self.b.data.0[0]));
        for ((_, block), gain) in self.coupled.iter().zip(&mut self.gain) {
            for (column, of_block) in gain.data.0.iter_mut().zip(&block.data.0) {
                *column = self.factors.solve(of_block);
            }
        }
        for (first, (j, block)) in self.coupled.iter().enumerate() {
            let other = &mut before[*j];
            let across = block.transpose();
            other.b -= across * self.b;
            other.X -= across * self.gain[first];
            // The joints coupled with `j` are the rest of those coupled with this one.
            let rest = other.coupled.iter_mut().zip(&self.gain[first + 1..]);
            rest.for_each(|((_, beside), gain)| *beside -= across * gain);
        }
        Ok(())
    }
}
