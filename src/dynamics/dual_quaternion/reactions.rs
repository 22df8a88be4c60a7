use super::Incidence;
use crate::algebra::{Scalar, SmallSpd};
use nalgebra::{SMatrix, SVector};

pub(super) type Mat6<S> = SMatrix<S, 6, 6>;
pub(super) type Vec6<S> = SVector<S, 6>;

/// The system `X T = b` (60) of all joint wrenches, symmetric and positive definite.
///
/// Its block sparsity is that of `C Cᵀ`, with the incidence matrix `C` of [`Incidence`].
/// Elimination from the leaves to the roots couples only joints that share a body and are coupled
/// already: there is no fill-in, and the cost of a chain is O(n).
#[derive(Clone, Debug)]
pub(super) struct Reactions<S: Scalar> {
    joints: Vec<Joint<S>>,
}

/// The block row and column of one joint.
#[derive(Clone, Debug)]
pub(super) struct Joint<S: Scalar> {
    /// Diagonal block; after elimination its Schur complement.
    pub X: Mat6<S>,
    /// Off-diagonal blocks: the index of each preceding joint that is coupled, and the block in its
    /// columns.
    pub coupled: Vec<(usize, Mat6<S>)>,
    /// `b`, then `T`.
    pub b: Vec6<S>,
    /// Factorisation of the Schur complement.
    factors: SmallSpd<S, 6>,
    /// `X⁻¹` times each coupled block.
    gain: Vec<Mat6<S>>,
}

impl<S: Scalar> Reactions<S> {
    /// Allocates for a tree of `bodies` bodies.
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

    /// Returns the joint that carries body `i`.
    pub fn joint(&mut self, i: usize) -> &mut Joint<S> {
        &mut self.joints[i]
    }

    /// Factors `X` and solves for `T`, which replaces `b`.
    ///
    /// # Errors
    /// The indices of the joint and of its row with a vanishing pivot.
    pub fn solve(&mut self) -> Result<(), (usize, usize)> {
        for i in (0..self.joints.len()).rev() {
            let (before, rest) = self.joints.split_at_mut(i);
            rest[0].eliminate(before).map_err(|part| (i, part))?;
        }
        self.substitute();
        Ok(())
    }

    /// Solves for `T` with another `b`, which `T` replaces; requires [`solve`](Self::solve).
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

    /// Forward substitution, from the roots to the leaves.
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
            // The joints coupled with `j` are the remaining ones coupled with this joint.
            let rest = other.coupled.iter_mut().zip(&self.gain[first + 1..]);
            rest.for_each(|((_, block), gain)| *block -= across * gain);
        }
        Ok(())
    }
}
