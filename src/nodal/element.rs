use crate::algebra::{Scalar, Vec3};

/// Curvature measure of the bending energy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curvature {
    /// `|r″|`: quadratic energy with a constant stiffness matrix. An axial strain `ε` causes a
    /// relative error of `2ε` in the curvature.
    #[default]
    Quadratic,
    /// `|r′ × r″| / |r′|²`: rotation of the tangent per undeformed length, work-conjugate to the
    /// moment at any stretch (Gerstmayr and Irschik, 10.1016/j.jsv.2008.04.019). With the curvature
    /// per deformed length, `|r′ × r″| / |r′|³`, a moment would cause stretch.
    Exact,
}

/// ANCF element between two nodes: uniform, straight when undeformed, with equal bending stiffness
/// in all planes.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// Undeformed length, m.
    pub l: f64,
    /// Mass per length, kg/m.
    pub mass_per_length: f64,
    /// Axial stiffness, N.
    pub EA: f64,
    /// Bending stiffness, N·m².
    pub EI: f64,
}

/// Gauss points (0 to 1) and weights of an element: exact for polynomials of degree five. With more
/// points, axial strains that a bent cubic cannot avoid would make the element too stiff.
const GAUSS: [(f64, f64); 3] = [
    (0.112_701_665_379_258_31, 5.0 / 18.0),
    (0.5, 8.0 / 18.0),
    (0.887_298_334_620_741_7, 5.0 / 18.0),
];

/// Returns the weighted sum of an element's nodal coordinates.
pub fn interpolate<S: Scalar>(weights: [f64; 4], e: &[Vec3<S>; 4]) -> Vec3<S> {
    let [a, b, c, d] = weights.map(S::lift);
    e[0] * a + e[1] * b + e[2] * c + e[3] * d
}

impl Element {
    /// Returns the shape functions `S_k` at `x = ξ l`, `ξ` from 0 to 1.
    pub fn shape(&self, xi: f64) -> [f64; 4] {
        let (l, xi2) = (self.l, xi * xi);
        let s = xi2 * (3.0 - 2.0 * xi);
        [1.0 - s, l * xi * (1.0 - xi) * (1.0 - xi), s, l * xi2 * (xi - 1.0)]
    }

    /// Returns the first derivatives of the shape functions, `dS_k/dx`.
    pub fn slope(&self, xi: f64) -> [f64; 4] {
        let s = 6.0 * xi * (1.0 - xi) / self.l;
        [-s, 1.0 + xi * (3.0 * xi - 4.0), s, xi * (3.0 * xi - 2.0)]
    }

    /// Returns the second derivatives of the shape functions, `d²S_k/dx²`.
    pub fn bend(&self, xi: f64) -> [f64; 4] {
        let (l, s) = (self.l, (12.0 * xi - 6.0) / (self.l * self.l));
        [s, (6.0 * xi - 4.0) / l, -s, (6.0 * xi - 2.0) / l]
    }

    /// Returns the mass, kg.
    pub fn mass(&self) -> f64 {
        self.mass_per_length * self.l
    }

    /// Returns the weights of the nodal coordinates in the position of the mass centre,
    /// `∫S dx / l`.
    pub fn centre(&self) -> [f64; 4] {
        let twelfth = self.l / 12.0;
        [0.5, twelfth, 0.5, -twelfth]
    }

    /// Returns the constant mass matrix `m_kl = ∫S_k S_l dm`: the kinetic energy is
    /// `½ Σ m_kl ė_k·ė_l`.
    pub fn mass_matrix(&self) -> [[f64; 4]; 4] {
        let (l, unit) = (self.l, self.mass() / 420.0);
        let l2 = l * l;
        [
            [156.0, 22.0 * l, 54.0, -13.0 * l],
            [22.0 * l, 4.0 * l2, 13.0 * l, -3.0 * l2],
            [54.0, 13.0 * l, 156.0, -22.0 * l],
            [-13.0 * l, -3.0 * l2, -22.0 * l, 4.0 * l2],
        ]
        .map(|row| row.map(|entry| entry * unit))
    }

    /// Returns the bending stiffness matrix for [`Curvature::Quadratic`]: the energy is
    /// `½ Σ k_kl e_k·e_l`.
    fn bending_matrix(&self) -> [[f64; 4]; 4] {
        let (l, unit) = (self.l, self.EI / (self.l * self.l * self.l));
        let l2 = l * l;
        [
            [12.0, 6.0 * l, -12.0, 6.0 * l],
            [6.0 * l, 4.0 * l2, -6.0 * l, 2.0 * l2],
            [-12.0, -6.0 * l, 12.0, -6.0 * l],
            [6.0 * l, 2.0 * l2, -6.0 * l, 4.0 * l2],
        ]
        .map(|row| row.map(|entry| entry * unit))
    }

    /// Returns the strain energy, J, of stretch `ε = (r′·r′ − 1)/2` and of bending.
    pub fn energy<S: Scalar>(&self, e: &[Vec3<S>; 4], curvature: Curvature) -> S {
        let mut energy = S::zero();
        for (xi, weight) in GAUSS {
            let slope = interpolate(self.slope(xi), e);
            let strain = strain(&slope);
            energy += strain * strain * S::lift(0.5 * self.EA * weight * self.l);
            // With the stiffness matrix, the energy far from the origin would be a difference of
            // large numbers.
            let bend = interpolate(self.bend(xi), e);
            let k2 = match curvature {
                Curvature::Quadratic => bend.dot(&bend),
                Curvature::Exact => squared_curvature(&slope, &bend).0,
            };
            energy += k2 * S::lift(0.5 * self.EI * weight * self.l);
        }
        energy
    }

    /// Returns the derivatives of [`energy`](Self::energy) with respect to the nodal coordinates: the
    /// negative elastic forces, without their round-off far from the origin.
    pub fn energy_gradient(&self, e: &[Vec3<f64>; 4], curvature: Curvature) -> [Vec3<f64>; 4] {
        let mut gradient = [Vec3::zeros(); 4];
        for (xi, weight) in GAUSS {
            let (slopes, bends) = (self.slope(xi), self.bend(xi));
            let (slope, bend) = (interpolate(slopes, e), interpolate(bends, e));
            let (by_slope, by_bend) = match curvature {
                Curvature::Quadratic => (Vec3::zeros(), bend * 2.0),
                Curvature::Exact => {
                    let (_, by_slope, by_bend) = squared_curvature(&slope, &bend);
                    (by_slope, by_bend)
                }
            };
            let [stretch, unit] = [self.EA, 0.5 * self.EI].map(|stiffness| stiffness * weight * self.l);
            let on_slope = slope * (strain(&slope) * stretch) + by_slope * unit;
            for (k, gradient) in gradient.iter_mut().enumerate() {
                *gradient += on_slope * slopes[k] + by_bend * (unit * bends[k]);
            }
        }
        gradient
    }

    /// Adds the elastic forces to `Q`, `Q_k −= ∂U/∂e_k`: N on positions, N·m on slopes.
    pub fn add_forces<S: Scalar>(&self, e: &[Vec3<S>; 4], curvature: Curvature, Q: &mut [Vec3<S>; 4]) {
        for (xi, weight) in GAUSS {
            let (slopes, bends) = (self.slope(xi), self.bend(xi));
            let slope = interpolate(slopes, e);
            let mut on_slope = slope * (strain(&slope) * S::lift(self.EA * weight * self.l));
            let mut on_bend = Vec3::zeros();
            if curvature == Curvature::Exact {
                let (_, by_slope, by_bend) = squared_curvature(&slope, &interpolate(bends, e));
                let unit = S::lift(0.5 * self.EI * weight * self.l);
                on_slope += by_slope * unit;
                on_bend = by_bend * unit;
            }
            for (k, Q) in Q.iter_mut().enumerate() {
                *Q -= on_slope * S::lift(slopes[k]) + on_bend * S::lift(bends[k]);
            }
        }
        if curvature == Curvature::Quadratic {
            for (row, Q) in self.bending_matrix().into_iter().zip(Q) {
                *Q -= interpolate(row, e);
            }
        }
    }
}

impl Element {
    /// Adds to the forces at the midpoint of a step (length `h`, s) the correction with which their
    /// work equals the change of the stretch energy. It belongs to the strain `h² |ṙ′|²/8`: the
    /// mean of the strains at both ends minus that at the midpoint. `rate` are the rates at the
    /// midpoint.
    pub fn add_forces_of_step<S: Scalar>(&self, e: &[Vec3<S>; 4], rate: &[Vec3<S>; 4], h: f64, Q: &mut [Vec3<S>; 4]) {
        for (xi, weight) in GAUSS {
            let slopes = self.slope(xi);
            let (slope, change) = (interpolate(slopes, e), interpolate(slopes, rate));
            let on_slope = slope * (change.dot(&change) * S::lift(0.125 * h * h * self.EA * weight * self.l));
            for (Q, part) in Q.iter_mut().zip(slopes) {
                *Q -= on_slope * S::lift(part);
            }
        }
    }
}

/// Returns the Green–Lagrange strain of the centre line.
fn strain<S: Scalar>(slope: &Vec3<S>) -> S {
    (slope.dot(slope) - S::one()) * S::lift(0.5)
}

/// Returns `κ² = (|r′|²|r″|² − (r′·r″)²)/|r′|⁴`, and its derivatives with respect to `r′` and `r″`.
fn squared_curvature<S: Scalar>(slope: &Vec3<S>, bend: &Vec3<S>) -> (S, Vec3<S>, Vec3<S>) {
    let two = S::lift(2.0);
    let (ss, sb, bb) = (slope.dot(slope), slope.dot(bend), bend.dot(bend));
    let per_ss = S::one() / ss;
    let per_s4 = per_ss * per_ss;
    let k2 = (ss * bb - sb * sb) * per_s4;
    let by_slope = (slope * bb - bend * sb) * (two * per_s4) - slope * (S::lift(4.0) * k2 * per_ss);
    let by_bend = (bend * ss - slope * sb) * (two * per_s4);
    (k2, by_slope, by_bend)
}
