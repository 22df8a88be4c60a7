//! Limit analysis: friction forces that hold a load together.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Response relative to the largest below which it is round-off.
const ROUND_OFF: f64 = 1e-10;

/// Least limit that is distinguished from zero, relative to the largest.
const LEAST_LIMIT: f64 = 1e-6;

/// Accuracy of the largest ratio, relative to it.
const ACCURACY: f64 = 1e-10;

/// Factor of the barrier's weight from one centre to the next.
const REDUCTION: f64 = 0.1;

/// Largest number of Newton's steps to one centre, and the decrement at which they end.
const STEPS: usize = 60;
const CENTRED: f64 = 1e-2;

/// Friction forces of several contacts, of which the largest ratio to the limits is least.
#[derive(Clone, Debug)]
pub struct Reserve {
    /// N, two for each contact.
    pub forces: DVector<f64>,
    /// Largest ratio of the size of a force to its limit: the load may grow by its inverse.
    pub ratio: f64,
}

/// Returns the forces `p` with `W p + b = 0` whose largest ratio `|p_i|/m_i` to the limits `m` (N) is
/// least. Each contact has two rows, along the surface; `W` is symmetric and positive semidefinite. If
/// its rank is smaller than the number of rows, there are many such forces: by the static theorem of
/// limit analysis (W. Prager and P. G. Hodge, *Theory of Perfectly Plastic Solids* (1951)) the contacts
/// hold the load if the ratio is at most one. `None` if `W` or `b` is not finite.
///
/// Method: barrier method on second-order cones (S. Boyd and L. Vandenberghe, *Convex Optimization*
/// (2004), 11.6). Of forces that are not unique after that, those in the centre of the set are taken.
pub fn with_largest_reserve(W: &DMatrix<f64>, b: &DVector<f64>, limits: &[f64]) -> Option<Reserve> {
    let most = limits.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let limits: Vec<f64> = limits.iter().map(|limit| limit.max(LEAST_LIMIT * most)).collect();
    let (mut forces, free) = truncated_solution(W, b)?;
    let to_ratios = |mut forces: DMatrix<f64>| {
        forces
            .row_iter_mut()
            .enumerate()
            .for_each(|(i, mut row)| row /= limits[i / 2]);
        forces
    };
    let ratios = to_ratios(DMatrix::from_column_slice(b.len(), 1, forces.as_slice()))
        .column(0)
        .into_owned();
    let more = &free
        * Cones {
            ratios,
            free: to_ratios(free.clone()),
        }
        .centred();
    forces += more;
    let ratio = forces
        .as_slice()
        .chunks_exact(2)
        .zip(&limits)
        .map(|(p, limit)| libm::hypot(p[0], p[1]) / limit);
    Some(Reserve {
        ratio: ratio.fold(0.0, f64::max),
        forces,
    })
}

/// Returns the solution `p` of least norm of `W p + b = 0`, and an orthonormal basis of the `p` with `W p =
/// 0`, columns, for a symmetric positive semidefinite `W`, up to round-off; `None` if `W` or `b` is not
/// finite.
pub fn truncated_solution(W: &DMatrix<f64>, b: &DVector<f64>) -> Option<(DVector<f64>, DMatrix<f64>)> {
    if !W.iter().chain(b).all(|entry| entry.is_finite()) {
        return None;
    }
    let eigen = SymmetricEigen::new(W.clone());
    let least = ROUND_OFF * eigen.eigenvalues.amax();
    let mut solution = DVector::zeros(b.len());
    let mut free = Vec::new();
    for (k, &response) in eigen.eigenvalues.iter().enumerate() {
        let direction = eigen.eigenvectors.column(k);
        match response > least {
            true => solution.axpy(-direction.dot(b) / response, &direction, 1.0),
            false => free.push(k),
        }
    }
    Some((solution, eigen.eigenvectors.select_columns(&free)))
}

/// Ratios `r + F y` of forces to limits, two for each contact, for free unknowns `y`.
struct Cones {
    ratios: DVector<f64>,
    free: DMatrix<f64>,
}

impl Cones {
    /// Returns the unknowns with the least largest ratio.
    fn centred(&self) -> DVector<f64> {
        let n = self.free.ncols();
        let mut unknowns = DVector::zeros(n + 1);
        let largest = self.ratios.as_slice().chunks_exact(2).map(|r| libm::hypot(r[0], r[1]));
        let largest = largest.fold(0.0, f64::max);
        if n == 0 || largest == 0.0 {
            return DVector::zeros(n);
        }
        unknowns[n] = 2.0 * largest;
        let mut weight = largest;
        while self.ratios.len() as f64 * weight > ACCURACY * unknowns[n] {
            weight *= REDUCTION;
            for _ in 0..STEPS {
                let Some((step, decrement)) = self.newton(&unknowns, weight) else {
                    break;
                };
                // Inside the cones with a step of this length (self-concordance).
                unknowns.axpy(if decrement < 0.25 { 1.0 } else { 1.0 / (1.0 + decrement) }, &step, 1.0);
                if decrement < CENTRED {
                    break;
                }
            }
        }
        unknowns.rows(0, n).into_owned()
    }

    /// Returns Newton's step of `t/w − Σ log(t² − |r_i|²)` in the unknowns and the bound `t` of all
    /// ratios, which is the last, and the decrement; `None` if round-off prevents it.
    fn newton(&self, unknowns: &DVector<f64>, weight: f64) -> Option<(DVector<f64>, f64)> {
        let n = self.free.ncols();
        let t = unknowns[n];
        let ratios = &self.ratios + &self.free * unknowns.rows(0, n);
        let mut gradient = DVector::zeros(n + 1);
        let mut hessian = DMatrix::zeros(n + 1, n + 1);
        gradient[n] = weight.recip();
        for i in 0..ratios.len() / 2 {
            let (r, F) = (ratios.rows(2 * i, 2), self.free.rows(2 * i, 2));
            let size = r.norm();
            let margin = (t - size) * (t + size);
            if margin <= 0.0 {
                return None;
            }
            let mut of_margin = DVector::zeros(n + 1);
            of_margin.rows_mut(0, n).copy_from(&(F.tr_mul(&r) * -2.0));
            of_margin[n] = 2.0 * t;
            gradient.axpy(-1.0 / margin, &of_margin, 1.0);
            hessian.ger(1.0 / (margin * margin), &of_margin, &of_margin, 1.0);
            hessian[(n, n)] -= 2.0 / margin;
            let mut of_unknowns = hessian.view_mut((0, 0), (n, n));
            of_unknowns += F.tr_mul(&F) * (2.0 / margin);
        }
        let step = -hessian.cholesky()?.solve(&gradient);
        let decrement = (-gradient.dot(&step)).max(0.0).sqrt();
        decrement.is_finite().then_some((step, decrement))
    }
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::random::Sequence;

    unit_tests![
        load_of_feet_is_that_of_the_kinematic_theorem,
        forces_without_choice_are_those_of_the_equations,
    ];

    /// Force (2) and moment of a force at each foot of a rigid body on a plane.
    fn resultants(feet: &[[f64; 2]]) -> DMatrix<f64> {
        DMatrix::from_fn(3, 2 * feet.len(), |row, column| {
            let (foot, along) = (feet[column / 2], column % 2);
            match row {
                2 if along == 0 => -foot[1],
                2 => foot[0],
                _ => f64::from(u8::from(row == along)),
            }
        })
    }

    /// Returns the largest ratio of the power of a load to the power that friction absorbs, over all
    /// motions of the body on the plane: the kinematic theorem.
    fn kinematic(feet: &[[f64; 2]], limits: &[f64], load: &DVector<f64>) -> f64 {
        let ratio = |v: &[f64; 3]| {
            let power = load[0] * v[0] + load[1] * v[1] + load[2] * v[2];
            let absorbed = feet
                .iter()
                .zip(limits)
                .map(|(foot, limit)| limit * (v[0] - v[2] * foot[1]).hypot(v[1] + v[2] * foot[0]));
            power / absorbed.sum::<f64>()
        };
        // Pattern search from many motions, those about the feet among them.
        let mut starts: Vec<[f64; 3]> = feet
            .iter()
            .flat_map(|foot| [1.0, -1.0].map(|w| [w * foot[1], -w * foot[0], w]))
            .collect();
        for k in 0..40 {
            let angle = 0.3 * f64::from(k);
            starts.extend([-1.0, 0.0, 1.0].map(|w| [angle.cos(), angle.sin(), w]));
        }
        let mut best = 0.0_f64;
        for mut v in starts {
            let mut size = 0.3;
            while size > 1e-9 {
                let steps = (0..3).flat_map(|k| [1.0, -1.0].map(|sign| (k, sign)));
                let tried = steps.map(|(k, sign)| {
                    let mut next = v;
                    next[k] += sign * size;
                    next
                });
                let next = tried.max_by(|a, b| ratio(a).total_cmp(&ratio(b))).expect("six");
                match ratio(&next) > ratio(&v) {
                    true => v = next,
                    false => size *= 0.5,
                }
            }
            best = best.max(ratio(&v));
        }
        best
    }

    /// Feet of rigid bodies: the least largest ratio (static theorem) equals the largest ratio of powers
    /// over all motions (kinematic theorem).
    fn load_of_feet_is_that_of_the_kinematic_theorem() {
        let (mut off, mut unbalanced) = (0.0_f64, 0.0_f64);
        for case in 0..60 {
            let mut rng = Sequence::new(case);
            let count = 3 + (case % 4) as usize;
            let feet: Vec<[f64; 2]> = (0..count)
                .map(|_| [rng.next_in(-1.0..1.0), rng.next_in(-1.0..1.0)])
                .collect();
            let limits: Vec<f64> = (0..count).map(|_| rng.next_in(0.05..1.0)).collect();
            let J = resultants(&feet);
            let inertia = DVector::from_vec(vec![1.0, 1.0, rng.next_in(0.2..1.0)]);
            let load = DVector::from_fn(3, |_, _| rng.next_in(-1.0..1.0));
            let W = J.tr_mul(&DMatrix::from_diagonal(&inertia.map(f64::recip))) * &J;
            let b = J.tr_mul(&load.component_div(&inertia));
            let found = with_largest_reserve(&W, &b, &limits).expect("finite");
            unbalanced = unbalanced.max((&J * &found.forces + &load).amax());
            let expected = kinematic(&feet, &limits, &load);
            // The search finds a lower bound.
            off = off.max((found.ratio / expected - 1.0).abs());
        }
        println!("unbalanced {unbalanced:.1e} (1e-9), off by {off:.1e} (1e-6)");
        assert!(unbalanced < 1e-9 && off < 1e-6);
    }

    /// One contact, and contacts of flexible bodies, have one set of forces only.
    fn forces_without_choice_are_those_of_the_equations() {
        let mut rng = Sequence::new(7);
        for count in 1..4 {
            let J = DMatrix::from_fn(2 * count, 2 * count, |_, _| rng.next_in(-1.0..1.0));
            let W = &J * J.transpose();
            let p = DVector::from_fn(2 * count, |_, _| rng.next_in(-1.0..1.0));
            let limits = vec![0.5; count];
            let found = with_largest_reserve(&W, &-(&W * &p), &limits).expect("finite");
            assert!((&found.forces - &p).amax() < 1e-9);
            let expected = p
                .as_slice()
                .chunks_exact(2)
                .map(|p| p[0].hypot(p[1]) / 0.5)
                .fold(0.0, f64::max);
            assert!((found.ratio - expected).abs() < 1e-9);
        }
        assert!(with_largest_reserve(&DMatrix::from_element(2, 2, f64::NAN), &DVector::zeros(2), &[1.0]).is_none());
    }
}
