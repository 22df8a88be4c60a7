//! Independent combinations of the rows between two bodies, by which the reactions are solved
//! (`docs/theory/resting-contact.md`, *Rows of one pair of bodies*).

use super::gram_schmidt::{Factor, WRENCHES, orthonormalise};
use super::sticking::StickingBasis;
use super::{Closure, Reaction, Row};
use crate::algebra::{Scalar, Vec3, Wrench};
use crate::system::{Carrier, System};
use nalgebra::{DMatrix, Vector6};
use std::ops::Range;

/// Combinations of rows with an orthonormal basis `Q`, equation (5) of the theory.
///
/// The rows of contact points between two bodies are combinations `C` of the six components of the
/// bodies' relative motion at one point. If there are more than six, they are replaced by at most
/// six combinations `Qᵀ J`, with `C = Q R`. Each other row is its own combination.
#[derive(Clone, Debug)]
pub(super) struct Combined<S: Scalar> {
    /// Combinations, one for each row and column of `W`.
    pub units: Vec<Combination<S>>,
    groups: Vec<Group>,
    /// Components of each row in the basis of its group.
    Q: Vec<Vector6<S>>,
    /// Workspace for the columns of a group.
    columns: Vec<S>,
}

/// Combination of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Combination<S: Scalar> {
    /// Index of the first row of its group.
    pub row: usize,
    /// Index in [`Closure::held`] at whose point it acts.
    pub held: usize,
    /// Direction and unit reaction.
    pub unit: Reaction<S>,
}

/// Rows with a common basis.
#[derive(Clone, Debug)]
struct Group {
    rows: Range<usize>,
    combinations: Range<usize>,
}

impl<S: Scalar> Combined<S> {
    /// Allocates for up to `rows` rows.
    pub fn new(rows: usize) -> Self {
        Self {
            units: Vec::with_capacity(rows),
            groups: Vec::with_capacity(rows),
            Q: Vec::with_capacity(rows),
            columns: Vec::with_capacity(WRENCHES * rows),
        }
    }

    /// Returns the number of combinations.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Computes `Qᵀ b` of numbers `b`, one for each row.
    pub fn project(&self, b: &[S], to: &mut [S]) {
        for Group { rows, combinations } in &self.groups {
            if rows.len() == 1 {
                to[combinations.start] = b[rows.start];
                continue;
            }
            let mut sum = Vector6::zeros();
            for k in rows.clone() {
                sum += self.Q[k] * b[k];
            }
            to[combinations.clone()].copy_from_slice(&sum.as_slice()[..combinations.len()]);
        }
    }

    /// Computes `Q c` of numbers `c`, one for each combination.
    pub fn expand(&self, c: &[S], to: &mut [S]) {
        for Group { rows, combinations } in &self.groups {
            if rows.len() == 1 {
                to[rows.start] = c[combinations.start];
                continue;
            }
            let mut of_group = Vector6::zeros();
            of_group.as_mut_slice()[..combinations.len()].copy_from_slice(&c[combinations.clone()]);
            for k in rows.clone() {
                to[k] = self.Q[k].dot(&of_group);
            }
        }
    }

    /// Computes the diagonal of `Q W Qᵀ` from the lower triangle of the combinations' `W`.
    pub fn own_responses(&self, W: &[S], to: &mut [f64]) {
        let n = self.len();
        for Group { rows, combinations } in &self.groups {
            let first = combinations.start;
            if rows.len() == 1 {
                to[rows.start] = W[first * n + first].value();
                continue;
            }
            for k in rows.clone() {
                let mut sum = 0.0;
                for i in combinations.clone() {
                    for j in combinations.clone() {
                        let entry = W[i.max(j) * n + i.min(j)] * self.Q[k][i - first];
                        sum += (entry * self.Q[k][j - first]).value();
                    }
                }
                to[k] = sum;
            }
        }
    }

    /// Writes the largest of the numbers `of_rows` of each group for each combination.
    pub fn largest(&self, of_rows: &[f64], to: &mut [f64]) {
        for Group { rows, combinations } in &self.groups {
            let most = of_rows[rows.clone()].iter().copied().fold(0.0, f64::max);
            to[combinations.clone()].fill(most);
        }
    }

    fn clear(&mut self) {
        self.units.clear();
        self.groups.clear();
        self.Q.clear();
    }

    /// Adds rows with the combinations `units`, whose components `Q` are the last ones.
    fn add(&mut self, rows: Range<usize>, units: impl Iterator<Item = Combination<S>>) {
        let first = self.units.len();
        self.units.extend(units);
        let combinations = first..self.units.len();
        self.groups.push(Group { rows, combinations });
    }
}

impl Combined<f64> {
    /// Returns `Q W Qᵀ` of `rows` rows, from the lower triangle of the combinations' `W`. It
    /// allocates.
    pub fn expand_matrix(&self, W: &[f64], rows: usize) -> DMatrix<f64> {
        let n = self.len();
        let mut Q = DMatrix::zeros(rows, n);
        for Group { rows, combinations } in &self.groups {
            for k in rows.clone() {
                for (i, Q_k) in combinations.clone().zip(&self.Q[k]) {
                    Q[(k, i)] = *Q_k;
                }
            }
        }
        let half = &Q * DMatrix::from_fn(n, n, |i, j| W[i.max(j) * n + i.min(j)]);
        let full = half * Q.transpose();
        // It is symmetric but for round-off.
        (&full + full.transpose()) * 0.5
    }
}

impl<S: Scalar> Closure<S> {
    /// Lists the combinations of the present rows. If friction makes `W` asymmetric, each row is its
    /// own: the reactions are other combinations than the rows.
    pub(super) fn combine(&mut self) {
        let is_symmetric = self.is_symmetric();
        self.combined.clear();
        let mut k = 0;
        while k < self.rows.len() {
            let end = if is_symmetric { self.end_of_group(k) } else { k + 1 };
            if end - k > WRENCHES {
                self.combine_group(k..end);
            } else {
                (k..end).for_each(|k| self.keep_row(k));
            }
            k = end;
        }
    }

    /// Returns true if all rows, of this rank, are those of contact points and hold bodies that are
    /// [alone](crate::system::Body::is_alone), each in all six directions relative to another or to the
    /// world, without a closed chain: they are then independent in all positions. `trees` is workspace
    /// for one number more than there are bodies.
    pub fn holds_alone(&self, system: &System, rank: usize, trees: &mut [usize]) -> bool {
        if rank != self.combined.len() {
            return false;
        }
        trees.iter_mut().enumerate().for_each(|(i, tree)| *tree = i);
        self.combined.groups.iter().all(|Group { rows, combinations }| {
            let pair = self.held[self.rows[rows.start].held].pair;
            let (Some(pair), WRENCHES, true) = (pair, combinations.len(), rows.len() > WRENCHES) else {
                return false;
            };
            let mut joined = [0; 2];
            for (tree, carrier) in joined.iter_mut().zip(pair.carriers()) {
                *tree = match carrier {
                    Carrier::World => trees[0],
                    Carrier::Body(i) if system.bodies[i].is_alone() => trees[1 + i],
                    _ => return false,
                };
            }
            let [a, b] = joined;
            trees.iter_mut().filter(|tree| **tree == a).for_each(|tree| *tree = b);
            a != b
        })
    }

    /// Adds a row that is its own combination.
    fn keep_row(&mut self, row: usize) {
        let Row { held, unit, .. } = self.rows[row];
        let mut one = Vector6::zeros();
        one[0] = S::one();
        self.combined.Q.push(one);
        let own = Combination { row, held, unit };
        self.combined.add(row..row + 1, std::iter::once(own));
    }

    /// Adds the combinations of the rows between two bodies.
    fn combine_group(&mut self, rows: Range<usize>) {
        let arm = |k: usize| {
            self.held[self.rows[k].held]
                .pair
                .map_or_else(Vec3::zeros, |pair| pair.arms[0])
        };
        let first = arm(rows.start);
        let (row, held) = (rows.start, self.rows[rows.start].held);
        let combination = |unit| Combination { row, held, unit };
        let sticks = self.rows[rows.clone()]
            .chunks(3)
            .all(|of| of.len() == 3 && of[0].held == of[2].held);
        let points = rows.clone().step_by(3).map(|k| arm(k) - first);
        if let Some(basis) = sticks.then(|| StickingBasis::new(points)).flatten() {
            for k in rows.clone() {
                let Reaction::Wrench(Wrench { f, .. }) = self.rows[k].unit else {
                    continue;
                };
                self.combined.Q.push(basis.components(&(arm(k) - first), &f));
            }
            let units = basis.units().into_iter().map(Reaction::Wrench);
            self.combined.add(rows, units.map(combination));
            return;
        }
        for k in rows.clone() {
            let about_first = match self.rows[k].unit {
                Reaction::Wrench(unit) => unit.shift(&(arm(k) - first)),
                Reaction::Torques { .. } => Wrench::zero(),
            };
            self.combined.Q.push(about_first.to_array().into());
        }
        let Combined { Q, columns, .. } = &mut self.combined;
        let Factor { R, rank } = orthonormalise(&mut Q[rows.clone()], columns);
        let units = R.iter().take(rank);
        let units = units.map(|of_unit| Reaction::Wrench(Wrench::from_slice(of_unit.as_slice())));
        self.combined.add(rows, units.map(combination));
    }

    /// Returns the end of the rows from `first` on that are of contact points between the same two
    /// bodies.
    pub(super) fn end_of_group(&self, first: usize) -> usize {
        let carriers = |k: usize| {
            let row = &self.rows[k];
            let pair = self.held[row.held].pair.as_ref().filter(|_| row.rest.is_some())?;
            let carriers = pair.carriers();
            // A point of an ANCF beam takes no moment.
            (!carriers.iter().any(|on| matches!(on, Carrier::Point(_)))).then_some(carriers)
        };
        let of_first = carriers(first);
        let mut end = first + 1;
        while of_first.is_some() && end < self.rows.len() && carriers(end) == of_first {
            end += 1;
        }
        end
    }
}

/// Combinations of scaled rows `D J`, `D Q = Q' R'`, and their `W' = R' W R'ᵀ`.
#[derive(Clone, Debug)]
pub(in super::super) struct Scaled {
    combined: Combined<f64>,
    /// Rows of `R'`.
    R: Vec<Vector6<f64>>,
    /// `W` and `R' W`.
    full: Vec<f64>,
    product: Vec<f64>,
    /// Lower triangle of `W'`, row by row.
    pub W: Vec<f64>,
    /// Mean number of rows in each combination: an upper bound of the mean of its responses, if that
    /// of each scaled row is at most one.
    pub responses: Vec<f64>,
}

impl Scaled {
    /// Allocates for up to `rows` rows with up to `n` combinations.
    pub fn new(rows: usize, n: usize) -> Self {
        Self {
            combined: Combined::new(rows),
            R: Vec::with_capacity(n),
            full: vec![0.0; n * n],
            product: vec![0.0; n * n],
            W: vec![0.0; n * n],
            responses: vec![0.0; n],
        }
    }

    /// Returns the number of combinations.
    pub fn len(&self) -> usize {
        self.combined.len()
    }

    /// Returns the index of the first row of a combination.
    pub fn row(&self, combination: usize) -> usize {
        self.combined.units[combination].row
    }

    /// Computes `Q' c` of numbers `c`, one for each combination.
    pub fn expand(&self, c: &[f64], to: &mut [f64]) {
        self.combined.expand(c, to);
    }

    /// Updates all to combinations with the lower triangle of their `W`, and the scales of their rows.
    fn update(&mut self, of: &Combined<f64>, W: &[f64], scale: &[f64]) {
        let Self { combined, R, .. } = self;
        combined.clear();
        R.clear();
        let scaled = of.Q.iter().zip(scale).map(|(Q, scale)| Q * *scale);
        combined.Q.extend(scaled);
        for Group { rows, combinations } in &of.groups {
            let own = orthonormalise(&mut combined.Q[rows.clone()], &mut combined.columns);
            R.extend_from_slice(&own.R[..own.rank]);
            let units = &of.units[combinations.clone()][..own.rank];
            combined.add(rows.clone(), units.iter().copied());
            let last = combined.groups[combined.groups.len() - 1].combinations.clone();
            self.responses[last].fill(rows.len() as f64 / own.rank.max(1) as f64);
        }
        self.multiply(of, W);
    }

    /// Computes `W' = R' W R'ᵀ`.
    fn multiply(&mut self, of: &Combined<f64>, W: &[f64]) {
        let (n, m) = (of.len(), self.len());
        for i in 0..n {
            for j in 0..=i {
                (self.full[i * n + j], self.full[j * n + i]) = (W[i * n + j], W[i * n + j]);
            }
        }
        let groups = || self.combined.groups.iter().zip(&of.groups);
        for (to, from) in groups() {
            for i in to.combinations.clone() {
                let product = &mut self.product[i * n..(i + 1) * n];
                product.fill(0.0);
                let rows = self.full[n * from.combinations.start..].chunks_exact(n);
                for (row, R) in rows.take(from.combinations.len()).zip(&self.R[i]) {
                    product.iter_mut().zip(row).for_each(|(sum, entry)| *sum += R * entry);
                }
            }
        }
        for i in 0..m {
            for (to, from) in groups() {
                for j in to.combinations.clone().take_while(|j| *j <= i) {
                    let row = &self.product[i * n..][from.combinations.clone()];
                    self.W[i * m + j] = row.iter().zip(&self.R[j]).map(|(product, R)| product * R).sum();
                }
            }
        }
    }
}

impl Closure<f64> {
    /// Computes the combinations of the rows with these scales, after [`hold`](Self::hold) with a
    /// symmetric `W`.
    pub fn scaled(&self, scale: &[f64], to: &mut Scaled) {
        to.update(&self.combined, &self.W, scale);
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::dynamics::LeastNorm;
    use crate::larger::Larger;
    use crate::random::Sequence;
    use nalgebra::DVector;

    unit_tests![combinations_have_the_solution_of_least_norm_and_the_eigenvalues];

    fn matrix(rng: &mut Sequence, n: usize, m: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, m, |_, _| rng.next_in(-1.0..1.0))
    }

    /// Returns groups of rows whose components have these ranks, and the components of all rows: block
    /// diagonal, six columns for each group.
    fn grouped(rng: &mut Sequence, ranks: &[usize]) -> (Combined<f64>, Vec<Vector6<f64>>, DMatrix<f64>) {
        let mut combined = Combined::new(12 * ranks.len());
        let mut R = Vec::new();
        let mut C = DMatrix::zeros(12 * ranks.len(), WRENCHES * ranks.len());
        for (group, &rank) in ranks.iter().enumerate() {
            let own = matrix(rng, 12, rank) * matrix(rng, rank, WRENCHES);
            C.view_mut((12 * group, WRENCHES * group), (12, WRENCHES))
                .copy_from(&own);
            let rows = 12 * group..12 * (group + 1);
            combined
                .Q
                .extend(own.row_iter().map(|row| Vector6::from_iterator(row.iter().copied())));
            let found = orthonormalise(&mut combined.Q[rows.clone()], &mut combined.columns);
            assert_eq!(found.rank, rank);
            R.extend_from_slice(&found.R[..rank]);
            let unit = Combination {
                row: rows.start,
                held: group,
                unit: Reaction::Torques {
                    rates: [0; 2],
                    ratio: 0.0,
                },
            };
            combined.add(rows, std::iter::repeat_n(unit, rank));
        }
        (combined, R, C)
    }

    /// Returns the matrix of a linear function of numbers, one for each row or combination.
    fn linear(n: usize, m: usize, of: impl Fn(&[f64], &mut [f64])) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(m, n);
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            of(&unit, matrix.column_mut(k).as_mut_slice());
        }
        matrix
    }

    fn lower(W: &DMatrix<f64>) -> Vec<f64> {
        let n = W.nrows();
        (0..n * n)
            .map(|k| if k % n > k / n { f64::NAN } else { W[(k / n, k % n)] })
            .collect()
    }

    /// The combinations have orthonormal bases of the ranks of their groups, and the solution by them
    /// is that of least norm: equal to the pseudo-inverse of `W` by singular values. The combinations
    /// of scaled rows have the nonzero eigenvalues of the scaled `W`.
    fn combinations_have_the_solution_of_least_norm_and_the_eigenvalues() {
        let mut rng = Sequence::new(41);
        let [mut basis, mut full, mut solution, mut eigenvalues] = [0.0; 4];
        for case in 0..60 {
            let ranks = [1 + case % 6, 6, 3 + case % 4];
            let (combined, R, C) = grouped(&mut rng, &ranks);
            let (n, m) = (C.nrows(), combined.len());
            let Q = linear(m, n, |c, to| combined.expand(c, to));
            basis = f64::larger(basis, (Q.tr_mul(&Q) - DMatrix::identity(m, m)).amax());
            let project = linear(n, m, |b, to| combined.project(b, to));
            assert!((Q.transpose() - project).amax() < 1e-15);
            let P = matrix(&mut rng, C.ncols(), 24);
            let W = &C * &P * P.transpose() * C.transpose();
            let of_units = DMatrix::from_fn(m, C.ncols(), |i, j| {
                let group = combined.units[i].held;
                let column = j.wrapping_sub(WRENCHES * group);
                if column < WRENCHES { R[i][column] } else { 0.0 }
            });
            let W_r = lower(&(&of_units * &P * P.transpose() * of_units.transpose()));
            full = f64::larger(full, (combined.expand_matrix(&W_r, n) - &W).amax() / W.amax());
            let mut own = vec![0.0; n];
            combined.own_responses(&W_r, &mut own);
            full = f64::larger(full, (DVector::from_vec(own) - W.diagonal()).amax() / W.amax());

            let b = &W * matrix(&mut rng, n, 1).column(0);
            let mut solver = LeastNorm::new(m);
            solver.factor(&W_r, m, m, &vec![W.amax(); m]).expect("of full rank");
            let mut along = vec![0.0; m];
            combined.project(b.as_slice(), &mut along);
            solver.solve(&mut along);
            let mut x = DVector::zeros(n);
            combined.expand(&along, x.as_mut_slice());
            let svd = W.clone().svd(true, true);
            let sizes = svd.singular_values.clone();
            let expected = svd.pseudo_inverse(1e-10 * sizes.max()).expect("vectors") * &b;
            let condition = sizes.max()
                / sizes
                    .iter()
                    .filter(|size| **size > 1e-10 * sizes.max())
                    .fold(f64::MAX, |a, b| a.min(*b));
            solution = f64::larger(solution, (x - &expected).norm() / expected.norm() / condition);

            let scale = DVector::from_fn(n, |_, _| 10f64.powf(rng.next_in(-1.0..1.0)));
            let mut scaled = Scaled::new(n, m);
            scaled.update(&combined, &W_r, scale.as_slice());
            let D = DMatrix::from_diagonal(&scale);
            let expand = linear(scaled.len(), n, |c, to| scaled.expand(c, to));
            let W_scaled = DMatrix::from_fn(m, m, |i, j| scaled.W[i.max(j) * m + i.min(j)]);
            let again = &expand * W_scaled * expand.transpose() - &D * &W * &D;
            eigenvalues = f64::larger(eigenvalues, again.amax() / (&D * &W * &D).amax());
            basis = f64::larger(basis, (expand.tr_mul(&expand) - DMatrix::identity(m, m)).amax());
        }
        println!(
            "basis {basis:.1e}, W {full:.1e}, solution over the condition {solution:.1e}, scaled W {eigenvalues:.1e}"
        );
        assert!(basis < 2e-15 && full < 1e-14 && solution < 1e-14 && eigenvalues < 1e-14);
    }
}
