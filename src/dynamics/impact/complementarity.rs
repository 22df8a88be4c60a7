use nalgebra::{DMatrix, DVector};

/// Tolerance in the scaled problem: smaller differences of ratios and smaller magnitudes of
/// negative unknowns count as zero.
const ROUND_OFF: f64 = 1e-11;

/// Returns the normal impulses, N·s, of several simultaneous frictionless contacts, each with
/// Newton's coefficient of restitution `e`: the solution of the linear complementarity problem
///
/// ```text
///     0 ≤ p   ⟂   W p + (1 + e) u_n ≥ 0
/// ```
///
/// `W` (1/kg, symmetric, positive semidefinite) and `u_n` (m/s, negative on approach) are response
/// and velocities along the normals `N`: `Nᵀ W N` and `Nᵀ u`. Each contact separates with
/// `u_n⁺ ≥ −e u_n`, with equality if its impulse is positive. The velocities after the impact are
/// unique; with linearly dependent normals the impulses are not. If all `e` are equal, a solution
/// always exists, and the energy does not increase.
///
/// Method: Lemke's complementary pivoting with the lexicographic ratio test, which excludes
/// cycling: R. W. Cottle, J.-S. Pang and R. E. Stone, *The Linear Complementarity Problem* (1992),
/// §§4.4, 4.9.
///
/// Returns `None` if the sizes differ, a value is not finite, an `e` is outside 0 to 1, or the
/// problem has no solution: two opposite contacts with different `e`, or a normal with zero
/// response.
pub fn frictionless(W: &DMatrix<f64>, u_n: &DVector<f64>, e: &[f64]) -> Option<DVector<f64>> {
    let n = u_n.len();
    let sizes = W.shape() == (n, n) && e.len() == n;
    if !sizes || !W.iter().chain(u_n).all(|x| x.is_finite()) || !e.iter().all(|e| (0.0..=1.0).contains(e)) {
        return None;
    }
    // Each contact is scaled by its effective mass, velocities by the fastest approach.
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
    let (active, p) = Tableau::new(M, q).pivot()?;
    // A second solution, for the active contacts only, removes the round-off of the pivots.
    let reduced = M.select_rows(&active).select_columns(&active);
    let again = reduced.lu().solve(&-q.select_rows(&active)).map(|solution| {
        let mut p = DVector::zeros(q.len());
        for (&i, x) in active.iter().zip(&solution) {
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

/// Returns a solution `p` of the linear complementarity problem `0 ≤ p ⟂ M p + q ≥ 0` with the
/// round-off of the pivots; `None` if the method ends without one. `M` need not be symmetric; with a
/// copositive `M` and a `q` that no solution of the homogeneous problem opposes, there is a solution.
pub(super) fn pivoted(M: &DMatrix<f64>, q: &DVector<f64>) -> Option<DVector<f64>> {
    let most = q.iter().fold(0.0, |most: f64, q| most.max(-q));
    if most <= 0.0 {
        return Some(DVector::zeros(q.len()));
    }
    Some(Tableau::new(M, &(q / most)).pivot()?.1 * most)
}

/// Lemke's tableau `w − M p − z = q`, with one artificial variable `z` in all rows. Columns: `w`,
/// `p`, `z`, `q`. Each row has one basic variable: its column is a unit vector, and its value is in
/// the last column. Nonbasic variables are zero.
struct Tableau {
    /// Number of contacts.
    n: usize,
    rows: DMatrix<f64>,
    /// Index of the basic variable of each row, that of its column.
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

    /// Returns the active contacts and the impulses of all contacts; `None` without a solution.
    /// Starts from `p = 0` and the least `z` that makes all rows feasible, and pivots with
    /// `pᵢ wᵢ = 0` until `z` is zero.
    fn pivot(mut self) -> Option<(Vec<usize>, DVector<f64>)> {
        let (n, z) = (self.n, 2 * self.n);
        let mut entering = z;
        let mut row = self.least(|_| 1.0)?;
        // Problems of contacts need about n pivots; specially constructed problems need up to 2ⁿ.
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

    /// Returns the row whose basic variable first becomes zero as `entering` grows (the ratio
    /// test); with equal ratios that of `z`. `None` if no row limits the growth.
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

    /// Returns the value of `z`. If it is zero the problem is solved, even with `z` in the basis.
    fn z(&self) -> f64 {
        self.row_of_z().map_or(0.0, |row| self.rows[(row, 2 * self.n + 1)])
    }

    /// Returns, of the rows with a positive `divisor`, the one with the lexicographically least
    /// quotients by the divisor: first that of `q`, then those of the columns of `w` in turn.
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

    /// Makes `entering` basic in `row`; returns the variable that leaves the basis.
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
        let mut active = Vec::new();
        for (row, &unknown) in self.basis.iter().enumerate() {
            if (n..2 * n).contains(&unknown) {
                p[unknown - n] = self.rows[(row, 2 * n + 1)];
                active.push(unknown - n);
            }
        }
        (active, p)
    }
}
