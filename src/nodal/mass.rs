use super::Element;
use crate::algebra::{Scalar, Vec3};

/// Half bandwidth: the two coordinates (position, slope) of a node are coupled with those of its
/// neighbours.
const BAND: usize = 3;

/// Constant mass matrix of a chain of elements, factored as `L D Lᵀ`: one entry for each pair of
/// nodal coordinates (positions and slopes alternating), equal for x, y and z.
#[derive(Clone, Debug)]
pub struct Mass {
    /// For each row, the entries of `L` left of the diagonal, nearest first.
    lower: Vec<[f64; BAND]>,
    /// `1/D`.
    inverse: Vec<f64>,
}

impl Mass {
    /// Assembles and factors the mass matrix of a chain of elements.
    pub fn new(elements: &[Element]) -> Self {
        let n = 2 * (elements.len() + 1);
        // For each row, the diagonal, then the entries left of it, nearest first.
        let mut rows = vec![[0.0; BAND + 1]; n];
        for (i, element) in elements.iter().enumerate() {
            for (k, row) in element.mass_matrix().into_iter().enumerate() {
                for (l, &entry) in row[..=k].iter().enumerate() {
                    rows[2 * i + k][k - l] += entry;
                }
            }
        }
        let mut mass = Self {
            lower: vec![[0.0; BAND]; n],
            inverse: vec![0.0; n],
        };
        for i in 0..n {
            // L_ij D_j = M_ij − Σ_k L_ik D_k L_jk
            let mut scaled = [0.0; BAND];
            let mut pivot = rows[i][0];
            for back in (1..=BAND.min(i)).rev() {
                let j = i - back;
                let mut entry = rows[i][back];
                for further in back + 1..=BAND.min(i) {
                    entry -= scaled[further - 1] * mass.lower[j][further - back - 1];
                }
                scaled[back - 1] = entry;
            }
            for back in 1..=BAND.min(i) {
                let l = scaled[back - 1] * mass.inverse[i - back];
                pivot -= l * scaled[back - 1];
                mass.lower[i][back - 1] = l;
            }
            mass.inverse[i] = 1.0 / pivot;
        }
        mass
    }

    /// Replaces the forces `Q` on the nodal coordinates by the accelerations of the coordinates,
    /// three components each.
    pub fn solve<S: Scalar>(&self, Q: &mut [S]) {
        let at = |Q: &[S], i: usize| Vec3::new(Q[3 * i], Q[3 * i + 1], Q[3 * i + 2]);
        let n = self.inverse.len();
        for i in 0..n {
            let mut value = at(Q, i);
            for (back, &l) in self.lower[i].iter().enumerate().take(i) {
                value -= at(Q, i - back - 1) * S::lift(l);
            }
            Q[3 * i..3 * i + 3].copy_from_slice(value.as_slice());
        }
        for i in (0..n).rev() {
            let mut value = at(Q, i) * S::lift(self.inverse[i]);
            for below in (i + 1)..n.min(i + 1 + BAND) {
                value -= at(Q, below) * S::lift(self.lower[below][below - i - 1]);
            }
            Q[3 * i..3 * i + 3].copy_from_slice(value.as_slice());
        }
    }
}
