//! Natural frequencies of a uniform free beam of constant curvature with shear, stretch and the
//! inertia of its sections, from the differential equations.
//!
//! For the angular frequency ω, displacement `u` and rotation `θ` of the sections, force `N` and
//! moment `M` in them, all in the section's axes and with the natural curvature `k`, satisfy
//!
//! ```text
//!     u′ = N/C_N − k × u − e₁ × θ,      θ′ = M/C_M − k × θ
//!     N′ = −ω² ρA u − k × N,            M′ = −ω² ρJ θ − k × M − e₁ × N
//! ```
//!
//! The coefficients are constant, so the state at the tip is a matrix exponential times that at the
//! root, and the frequencies of a beam with free ends are the roots of a determinant.

use grapple::algebra::{Mat3, Vec3};
use nalgebra::{Matrix6, SMatrix};

/// A uniform beam of constant natural curvature.
pub struct ElasticLine {
    /// Length, m.
    pub length: f64,
    /// Mass per length, kg/m.
    pub mass_per_length: f64,
    /// Inertia of the sections per length, kg·m.
    pub inertia: Vec3<f64>,
    /// `EA, GA_y, GA_z`, N.
    pub stretch: Vec3<f64>,
    /// `GJ, EI_y, EI_z`, N·m².
    pub bend: Vec3<f64>,
    /// Natural curvature, 1/m.
    pub curvature: Vec3<f64>,
}

/// Motions that are uncoupled in a beam whose natural curvature is about z.
#[derive(Clone, Copy, Debug)]
pub enum Plane {
    /// Displacements along x and y, rotations about z.
    In,
    /// Displacements along z, rotations about x and y.
    Out,
}

impl ElasticLine {
    /// Returns the determinant that is zero at the angular frequencies `w` of the free beam.
    fn determinant(&self, w: f64, plane: Plane) -> f64 {
        let cross = |v: &Vec3<f64>| v.cross_matrix();
        let inverse = |v: &Vec3<f64>| Mat3::from_diagonal(&v.map(|x| 1.0 / x));
        let mut A = SMatrix::<f64, 12, 12>::zeros();
        let mut set = |i: usize, j: usize, block: Mat3<f64>| A.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(&block);
        for i in 0..4 {
            set(i, i, -cross(&self.curvature));
        }
        set(0, 1, -cross(&Vec3::x()));
        set(0, 2, inverse(&self.stretch));
        set(1, 3, inverse(&self.bend));
        set(2, 0, Mat3::from_diagonal_element(-w * w * self.mass_per_length));
        set(3, 1, Mat3::from_diagonal(&(self.inertia * (-w * w))));
        set(3, 2, -cross(&Vec3::x()));
        let parts: [usize; 3] = match plane {
            Plane::In => [0, 1, 5],
            Plane::Out => [2, 3, 4],
        };
        let at: Vec<usize> = parts.into_iter().chain(parts.map(|part| part + 6)).collect();
        let own = Matrix6::from_fn(|i, j| A[(at[i], at[j])] * self.length);
        exponential(own).fixed_view::<3, 3>(3, 0).clone_owned().determinant()
    }

    /// Returns the angular frequency between `low` and `high` (rad/s), which enclose one.
    fn root(&self, mut low: f64, mut high: f64, plane: Plane) -> f64 {
        let is_low = self.determinant(low, plane) > 0.0;
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            match (self.determinant(middle, plane) > 0.0) == is_low {
                true => low = middle,
                false => high = middle,
            }
        }
        0.5 * (low + high)
    }

    /// Returns the `n` lowest angular frequencies above `low` (rad/s), found in steps of `step`.
    pub fn frequencies(&self, n: usize, (low, step): (f64, f64), plane: Plane) -> Vec<f64> {
        let mut found = Vec::new();
        let (mut at, mut before) = (low, self.determinant(low, plane));
        while found.len() < n {
            let after = self.determinant(at + step, plane);
            if before * after < 0.0 {
                found.push(self.root(at, at + step, plane));
            }
            (at, before) = (at + step, after);
        }
        found
    }
}

/// Returns the exponential of `A` by its series for a fraction of `A`, and repeated squares.
fn exponential(A: Matrix6<f64>) -> Matrix6<f64> {
    let squares = A.norm().log2().ceil().max(0.0) as i32 + 1;
    let part = A / 2f64.powi(squares);
    let (mut sum, mut term) = (Matrix6::identity(), Matrix6::identity());
    for k in 1..=20 {
        term = term * part / f64::from(k);
        sum += term;
    }
    (0..squares).fold(sum, |power, _| power * power)
}
