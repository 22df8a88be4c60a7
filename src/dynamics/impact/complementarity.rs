use nalgebra::{DMatrix, DVector};

/// Ratios that differ by less count as equal, and unknowns that are less negative as zero, both for a problem scaled to one.
const ROUND_OFF: f64 = 1e-11;

/// The normal impulses of several contacts at once, without friction, each with its Newtonian restitution `e`, N·s.
///
/// ```text
///     0 ≤ p   ⟂   W p + (1 + e) u_n ≥ 0
/// ```
///
/// `W` (1/kg, symmetric, positive semidefinite) and `u_n` (m/s, negative where the bodies approach) are those of the normals:
/// `Nᵀ W N` and `Nᵀ u`. A contact leaves with `u_n⁺ ≥ −e u_n`, equal if it bears an impulse. The velocities after are unique, with
/// dependent normals the impulses are not. With one `e` for all no energy is gained, and there is always an answer.
///
/// C. E. Lemke's method of complementary pivots, with the lexicographic ratio test, which excludes cycles: R. W. Cottle, J.-S. Pang and
/// R. E. Stone, *The Linear Complementarity Problem* (1992), §§4.4, 4.9.
///
/// Returns `None` if the sizes differ, a number is not finite, an `e` is not from 0 to 1, or no impulses will do: two contacts that
/// face each other with different `e`, or a normal that no impulse moves.
pub fn frictionless(W: &DMatrix<f64>, u_n: &DVector<f64>, e: &[f64]) -> Option<DVector<f64>> {
    let n = u_n.len();
    let sizes = W.shape() == (n, n) && e.len() == n;
    if !sizes || !W.iter().chain(u_n).all(|x| x.is_finite()) || !e.iter().all(|e| (0.0..=1.0).contains(e)) {
        return None;
    }
    // Every contact by its own mass, and the velocities by the fastest approach.
    let own = |i: usize| if W[(i, i)] > 0.0 { W[(i, i)].sqrt().recip() } else { 1.0 };
    let scale = DVector::from_fn(n, |i, _| own(i));
    let M = DMatrix::from_fn(n, n, |i, j| scale[i] * 0.5 * (W[(i, j)] + W[(j, i)]) * scale[j]);
    let q = DVector::from_fn(n, |i, _| scale[i] * (1.0 + e[i]) * u_n[i]);
    let approach = q.iter().fold(0.0, |most: f64, q| most.max(-q));
    if approach <= f64::EPSILON * q.amax() {
        return Some(DVector::zeros(n));
    }
    let p = solve(&M, &(q / approach))?.component_mul(&scale) * approach;
    p.iter().all(|p| p.is_finite()).then_some(p)
}

fn solve(M: &DMatrix<f64>, q: &DVector<f64>) -> Option<DVector<f64>> {
    let (bearing, p) = Tableau::new(M, q).pivot()?;
    // Once more from the contacts found, without the round-off of the pivots.
    let reduced = M.select_rows(&bearing).select_columns(&bearing);
    let again = reduced.lu().solve(&-q.select_rows(&bearing)).map(|solution| {
        let mut p = DVector::zeros(q.len());
        for (&i, x) in bearing.iter().zip(&solution) {
            p[i] = *x;
        }
        p
    });
    again.into_iter().chain([p]).find_map(|p| {
        let least = -ROUND_OFF * (1.0 + p.amax());
        let w = M * &p + q;
        let bears = |i: usize| p[i] >= least && w[i] >= least && w[i].min(p[i]) <= -least;
        (0..q.len()).all(bears).then(|| p.map(|p| p.max(0.0)))
    })
}

/// `w − M p − z = q` with the same `z` in every row. Columns: `w`, `p`, `z`, `q`. One unknown of each row is basic: its column is a unit
/// vector, its value in the last column. All others are zero.
struct Tableau {
    n: usize,
    rows: DMatrix<f64>,
    basis: Vec<usize>,
}

impl Tableau {
    fn new(M: &DMatrix<f64>, q: &DVector<f64>) -> Self {
        let n = q.len();
        let mut rows = DMatrix::zeros(n, 2 * n + 2);
        rows.view_mut((0, 0), (n, n)).fill_with_identity();
        rows.view_mut((0, n), (n, n)).copy_from(&-M);
        rows.column_mut(2 * n).fill(-1.0);
        rows.set_column(2 * n + 1, q);
        Self {
            n,
            rows,
            basis: (0..n).collect(),
        }
    }

    /// The contacts that bear an impulse, and the impulses of all: from `p = 0` and a `z` that lifts the worst row to zero, pivots that
    /// keep `pᵢ wᵢ = 0`, until `z` is zero.
    fn pivot(mut self) -> Option<(Vec<usize>, DVector<f64>)> {
        let (n, z) = (self.n, 2 * self.n);
        let mut entering = z;
        let mut row = self.least(|_| 1.0)?;
        // Problems can be made that take 2ⁿ pivots; those of contacts take about n.
        for _ in 0..100 + 20 * n {
            let left = self.exchange(row, entering);
            if self.z() <= ROUND_OFF {
                return Some(self.impulses());
            }
            entering = if left < n { left + n } else { left - n };
            row = self.blocking(entering)?;
        }
        None
    }

    /// The row that first comes to zero if `entering` grows.
    fn blocking(&self, entering: usize) -> Option<usize> {
        let slope = |row: usize| self.rows[(row, entering)];
        let first = self.least(slope)?;
        let way = |row: usize| self.rows[(row, 2 * self.n + 1)] / slope(row);
        let z = self.row_of_z()?;
        let as_soon = slope(z) > ROUND_OFF && way(z) <= way(first) + ROUND_OFF;
        Some(if as_soon { z } else { first })
    }

    fn row_of_z(&self) -> Option<usize> {
        self.basis.iter().position(|&unknown| unknown == 2 * self.n)
    }

    /// The value of `z`. At zero all is done, whether or not it is still basic.
    fn z(&self) -> f64 {
        self.row_of_z().map_or(0.0, |row| self.rows[(row, 2 * self.n + 1)])
    }

    /// The row with a positive `divisor` whose quotient is least: by `q`, at equality by the columns of `w` in turn.
    fn least(&self, divisor: impl Fn(usize) -> f64) -> Option<usize> {
        let q = 2 * self.n + 1;
        let less = |a: usize, b: usize| {
            let quotients = |column: usize| [a, b].map(|row| self.rows[(row, column)] / divisor(row));
            let differ = |[a, b]: &[f64; 2]| (a - b).abs() > ROUND_OFF * (1.0 + a.abs().min(b.abs()));
            let mut columns = std::iter::once(q).chain(0..self.n).map(quotients);
            columns.find(differ).is_some_and(|[a, b]| a < b)
        };
        let candidates = (0..self.n).filter(|&row| divisor(row) > ROUND_OFF);
        candidates.reduce(|best, row| if less(row, best) { row } else { best })
    }

    /// Makes `entering` basic in a row; returns what was.
    fn exchange(&mut self, row: usize, entering: usize) -> usize {
        let pivot = self.rows[(row, entering)];
        let scaled = self.rows.row(row) / pivot;
        let column = self.rows.column(entering).into_owned();
        for i in 0..self.n {
            if i != row {
                let mut other = self.rows.row_mut(i);
                other -= &scaled * column[i];
            }
        }
        self.rows.set_row(row, &scaled);
        std::mem::replace(&mut self.basis[row], entering)
    }

    fn impulses(&self) -> (Vec<usize>, DVector<f64>) {
        let n = self.n;
        let mut p = DVector::zeros(n);
        let mut bearing = Vec::new();
        for (row, &unknown) in self.basis.iter().enumerate() {
            if (n..2 * n).contains(&unknown) {
                p[unknown - n] = self.rows[(row, 2 * n + 1)];
                bearing.push(unknown - n);
            }
        }
        (bearing, p)
    }
}
