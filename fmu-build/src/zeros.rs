//! Eigenvalues zero, found by rank and taken out.
//!
//! A craft that nothing holds has zeros in chains: a place in space does not matter, and a velocity only changes the place.
//! For a solver of eigenvalues a chain of two is the square root of round-off, 1e-8 of the fastest mode, and by chance
//! unstable. So the null space of `A` is found by its singular values, taken out, found again in what is left, and so on
//! until nothing is singular (the staircase of V. N. Kublanovskaya, *USSR Comput. Math. Math. Phys.* 6 (1966)): each step
//! takes one eigenvalue zero for each dimension, and changes no other.
//!
//! With `P` as many coordinates as there are dimensions, and `R` the others, the null space is `x_R = M x_P`. The
//! coordinates `y = x_R − M x_P` do not see it:
//!
//! ```text
//!     ẏ = (A_RR − M A_PR) y                           (1)
//!     left eigenvectors    w_R = w,  w_P = −Mᵀ w      (2)
//!     right eigenvectors   x_P = A_PR u / λ,  x_R = u + M x_P    (3)
//! ```
//!
//! What is zero is told by round-off alone. A row has as much of it as a hair's move of the state makes, and as the largest
//! numbers in it have; rows and columns are scaled by that, so that a slow mode beside a stiff one is not lost.

use faer::{Mat, c64};
use miette::{Result, miette};
use nalgebra::DMatrix;

/// A singular value below this many units of round-off for each row is zero. On the examples, at rest and in motion, those
/// that are zero have less than one, and the least of the others, of a bending nodal beam in orbit, has 900.
const UNITS: f64 = 30.0;

/// A matrix with its zeros taken out.
pub struct Deflated {
    /// What is left: regular, with the eigenvalues that are not zero.
    pub A: DMatrix<f64>,
    /// Its coordinates of those of the whole, `y = Y x`.
    pub Y: DMatrix<f64>,
    steps: Vec<Step>,
}

/// One null space that has been taken out.
struct Step {
    pivots: Vec<usize>,
    rest: Vec<usize>,
    /// `M`.
    slope: DMatrix<f64>,
    /// `A_PR`.
    onto: DMatrix<f64>,
}

impl Deflated {
    /// Of a square matrix, and by how much a hair's move of where it is taken changes its entries.
    ///
    /// # Errors
    /// If the singular values do not converge.
    pub fn of(A: &DMatrix<f64>, noise: &DMatrix<f64>) -> Result<Self> {
        let n = A.nrows();
        let mut left = Self {
            A: A.clone(),
            Y: DMatrix::identity(n, n),
            steps: Vec::new(),
        };
        let (mut rows, mut columns) = scales(&(A.abs() + noise / f64::EPSILON));
        while let Some((pivots, slopes)) = left.singular(&rows, &columns)? {
            let rest: Vec<usize> = (0..columns.len()).filter(|i| !pivots.contains(i)).collect();
            // From columns of one scale to those of the matrix.
            let slope = DMatrix::from_fn(rest.len(), pivots.len(), |i, k| {
                slopes[(rest[i], k)] * columns[pivots[k]] / columns[rest[i]]
            });
            let onto = left.A.select_rows(&pivots).select_columns(&rest);
            left.A = left.A.select_rows(&rest).select_columns(&rest) - &slope * &onto; // (1)
            left.Y = left.Y.select_rows(&rest) - &slope * left.Y.select_rows(&pivots);
            let with_pivots = |(i, &row): (usize, &usize)| {
                let added = (0..pivots.len()).map(|k| slope[(i, k)].abs() * rows[pivots[k]]);
                added.fold(rows[row], f64::max)
            };
            rows = rest.iter().enumerate().map(with_pivots).collect();
            columns = rest.iter().map(|&i| columns[i]).collect();
            left.steps.push(Step {
                pivots,
                rest,
                slope,
                onto,
            });
        }
        Ok(left)
    }

    /// What is singular in what is left: coordinates, and the slopes `M` of the others for columns of one scale; none if it
    /// is regular.
    fn singular(&self, rows: &[f64], columns: &[f64]) -> Result<Option<(Vec<usize>, DMatrix<f64>)>> {
        let n = self.A.nrows();
        let zero = UNITS * n as f64 * f64::EPSILON;
        let entry = |i: usize, k: usize| self.A[(i, k)] / rows[i] / columns[k];
        // Columns and rows of zeros first: a place in space, the rate of a locked joint. With them the slopes are none, and exact.
        let is_single = |&i: &usize| {
            let is_zero = |of: &dyn Fn(usize) -> f64| (0..n).all(|k| of(k).abs() <= zero);
            is_zero(&|k| entry(k, i)) || is_zero(&|k| entry(i, k))
        };
        let single: Vec<usize> = (0..n).filter(is_single).collect();
        if !single.is_empty() {
            let slopes = DMatrix::zeros(n, single.len());
            return Ok(Some((single, slopes)));
        }
        let svd = Mat::from_fn(n, n, entry).svd();
        let svd = svd.map_err(|error| miette!("the singular values cannot be found: {error:?}"))?;
        let regular = (0..n).filter(|&i| svd.S()[i] > zero).count();
        let V = svd.V();
        let basis = DMatrix::from_fn(n, n - regular, |i, k| V[(i, regular + k)]);
        Ok((regular < n).then(|| echelon(basis)))
    }

    /// The right eigenvector of the whole matrix that belongs to one, `u`, of what is left. (3)
    pub fn lift(&self, lambda: c64, u: Vec<c64>) -> Vec<c64> {
        let times = |matrix: &DMatrix<f64>, x: &[c64]| -> Vec<c64> {
            let row = |i| (0..x.len()).map(|k| x[k] * matrix[(i, k)]).sum();
            (0..matrix.nrows()).map(row).collect()
        };
        self.steps.iter().rev().fold(u, |u, step| {
            let at_pivots: Vec<c64> = times(&step.onto, &u).into_iter().map(|part| part / lambda).collect();
            let shift = times(&step.slope, &at_pivots);
            let mut x = vec![c64::new(0.0, 0.0); u.len() + at_pivots.len()];
            for (k, &i) in step.rest.iter().enumerate() {
                x[i] = u[k] + shift[k];
            }
            for (k, &i) in step.pivots.iter().enumerate() {
                x[i] = at_pivots[k];
            }
            x
        })
    }
}

/// Scales of rows and columns by which no entry is above one and each row and column has one near it (D. Ruiz,
/// RAL-TR-2001-034); one where there is nothing.
fn scales(magnitudes: &DMatrix<f64>) -> (Vec<f64>, Vec<f64>) {
    let n = magnitudes.nrows();
    let (mut rows, mut columns) = (vec![1.0; n], vec![1.0; n]);
    let largest = |entries: &mut dyn Iterator<Item = f64>| match entries.fold(0.0, f64::max) {
        0.0 => 1.0,
        largest => largest,
    };
    for _ in 0..10 {
        let entry = |i: usize, k: usize| magnitudes[(i, k)] / rows[i] / columns[k];
        let of_rows: Vec<f64> = (0..n).map(|i| largest(&mut (0..n).map(|k| entry(i, k)))).collect();
        let of_columns: Vec<f64> = (0..n).map(|k| largest(&mut (0..n).map(|i| entry(i, k)))).collect();
        rows.iter_mut().zip(of_rows).for_each(|(scale, by)| *scale *= by.sqrt());
        columns
            .iter_mut()
            .zip(of_columns)
            .for_each(|(scale, by)| *scale *= by.sqrt());
    }
    (rows, columns)
}

/// The same basis as one that is the identity in some rows, the pivots, and small in the others.
fn echelon(mut basis: DMatrix<f64>) -> (Vec<usize>, DMatrix<f64>) {
    let mut pivots = Vec::new();
    for k in 0..basis.ncols() {
        let open = (0..basis.nrows()).filter(|i| !pivots.contains(i));
        let entries = open.flat_map(|i| (k..basis.ncols()).map(move |j| (i, j)));
        let largest = entries.max_by(|&a, &b| basis[a].abs().total_cmp(&basis[b].abs()));
        let (row, column) = largest.expect("there are more rows than columns");
        basis.swap_columns(k, column);
        let pivot = basis.column(k) / basis[(row, k)];
        for j in 0..basis.ncols() {
            let part = basis[(row, j)];
            if j != k {
                basis.column_mut(j).axpy(-part, &pivot, 1.0);
            }
        }
        basis.set_column(k, &pivot);
        pivots.push(row);
    }
    (pivots, basis)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix with a chain of three zeros, a chain of two, a single one and four other eigenvalues, in coordinates of different scales.
    #[test]
    fn chains_of_zeros_are_taken_out_and_the_rest_keeps_its_eigenvectors() {
        let mut jordan = DMatrix::<f64>::zeros(10, 10);
        for i in [0, 1, 3] {
            jordan[(i, i + 1)] = 1.0;
        }
        let regular = [
            [-0.3, 5.0, 0.2, 0.0],
            [-5.0, -0.3, 0.0, 0.1],
            [0.0, 0.0, 1e-3, 0.4],
            [0.0, 0.0, 0.0, -2.0],
        ];
        jordan
            .view_mut((6, 6), (4, 4))
            .copy_from(&DMatrix::from_fn(4, 4, |i, k| regular[i][k]));
        let mix = DMatrix::from_fn(10, 10, |i, k| {
            ((3 * i + 7 * k + i * k) as f64).sin() + if i == k { 4.0 } else { 0.0 }
        });
        let units = DMatrix::from_fn(10, 10, |i, k| if i == k { 10f64.powi(i as i32 % 5 - 2) } else { 0.0 });
        let T = units * mix;
        let inverse = T.clone().try_inverse().expect("it is regular");
        let A = &T * jordan * inverse;
        // What the product has left of zeros is its round-off.
        let noise = A.abs() * 1e-15;
        let left = Deflated::of(&A, &noise).expect("it converges");
        assert_eq!(left.A.nrows(), 4);
        // y = Y x goes its own way: Y A = A' Y.
        let off = (&left.Y * &A - &left.A * &left.Y).abs().max() / A.abs().max();
        assert!(off < 1e-12, "{off:e}");
        let trace = left.A.trace();
        assert!((trace - (-2.6 + 1e-3)).abs() < 1e-10, "{trace}");
        // A right eigenvector of what is left, lifted, is one of the whole.
        let small = Mat::from_fn(4, 4, |i, k| left.A[(i, k)]);
        let eigen = small.eigen().expect("it converges");
        for k in 0..4 {
            let lambda = eigen.S()[k];
            let x = left.lift(lambda, (0..4).map(|i| eigen.U()[(i, k)]).collect());
            let size = x.iter().map(|part| part.norm()).fold(0.0, f64::max) * A.abs().max();
            for i in 0..10 {
                let image: c64 = (0..10).map(|j| x[j] * A[(i, j)]).sum();
                let off = (image - x[i] * lambda).norm() / size;
                assert!(off < 1e-11, "{lambda}: {off:e}");
            }
        }
    }
}
