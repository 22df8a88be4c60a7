//! Properties of the impact laws over random pairs of bodies; each test prints the worst deviation.

mod laws;
mod sets;
mod slip;
mod stronge;

test_modules![laws, sets, slip, stronge];

use super::*;
use crate::spec::{Inconsistent, Tangential};
use nalgebra::{DMatrix, DVector, Matrix3, Rotation3, Vector3};
use std::f64::consts::PI;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number that is log-uniform between two powers of ten.
    fn decades(&mut self, low: f64, high: f64) -> f64 {
        10.0_f64.powf(self.between(low, high))
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.between(-1.0, 1.0))
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| self.between(-1.0, 1.0))
    }

    fn rotation(&mut self) -> Rotation3<f64> {
        Rotation3::from_scaled_axis(self.vector().normalize() * self.between(0.0, PI))
    }

    /// Returns a positive definite matrix with a condition number of at most `10^decades`.
    fn positive(&mut self, decades: f64) -> Matrix3<f64> {
        let axes = self.rotation();
        let values = Vector3::from_fn(|_, _| self.decades(-decades, 0.0));
        axes * Matrix3::from_diagonal(&values) * axes.transpose()
    }

    /// Returns a free body with the rates `(v, ω)` and `flexible` modal rates: mass matrix,
    /// Jacobian of its contact point, and rates.
    fn body(&mut self, flexible: usize) -> Body {
        let (n, m) = (6 + flexible, self.decades(-1.0, 1.0));
        let r = self.vector();
        let axes = self.rotation();
        let inertia = Vector3::from_fn(|_, _| m * self.between(0.1, 0.5));
        let mut M = self.matrix(n, n) * (0.05 * m).sqrt();
        M = if flexible > 0 {
            &M * M.transpose()
        } else {
            DMatrix::zeros(n, n)
        };
        for i in 6..n {
            M[(i, i)] += m * 0.2;
        }
        let mut translation = M.view_mut((0, 0), (3, 3));
        translation += Matrix3::identity() * m;
        let mut rotation = M.view_mut((3, 3), (3, 3));
        rotation += axes * Matrix3::from_diagonal(&inertia) * axes.transpose();
        let mut J = self.matrix(3, n);
        J.view_mut((0, 0), (3, 3)).fill_with_identity();
        J.view_mut((0, 3), (3, 3)).copy_from(&-r.cross_matrix());
        let qd = DVector::from_fn(n, |_, _| self.between(-1.0, 1.0));
        Body { M, J, qd }
    }

    /// Returns two bodies that approach each other.
    fn pair(&mut self) -> Pair {
        let flexible = (self.next() % 4) as usize;
        let (a, b) = (self.body(flexible), self.body(0));
        let n = self.vector().normalize();
        let u = a.velocity() - b.velocity();
        let n = if n.dot(&u) < 0.0 { n } else { -n };
        Pair { a, b, u, n }
    }

    /// Returns a contact of two bodies or, in half of the cases, a contact whose `W` is an
    /// arbitrary positive definite matrix.
    fn point_impact(&mut self) -> PointImpact {
        let pair = self.pair();
        if self.next().is_multiple_of(2) {
            return pair.point_impact();
        }
        PointImpact::new(self.positive(4.0), pair.u, pair.n).expect("positive definite")
    }

    /// Returns one law of each type.
    fn laws(&mut self) -> [Law; 4] {
        let (e, mu) = (self.between(0.0, 1.0), self.decades(-2.0, 1.0));
        let (e_t, r_E, r_f) = (self.between(-1.0, 1.0), self.between(0.0, 1.0), self.between(0.0, 1.5));
        [
            Law::Restitution { e, e_t, mu },
            Law::Restitution {
                e,
                e_t,
                mu: f64::INFINITY,
            },
            Law::EnergyFriction {
                r_E,
                r_f,
                tangential: Tangential::Plastic,
                on_inconsistent: Inconsistent::Clamp,
            },
            Law::Stronge { e, mu },
        ]
    }
}

struct Body {
    M: DMatrix<f64>,
    J: DMatrix<f64>,
    qd: DVector<f64>,
}

impl Body {
    fn velocity(&self) -> Vector3<f64> {
        (&self.J * &self.qd).fixed_rows::<3>(0).into()
    }

    /// Returns `M⁻¹ Jᵀ`.
    fn response(&self) -> DMatrix<f64> {
        self.M
            .clone()
            .cholesky()
            .expect("positive definite")
            .solve(&self.J.transpose())
    }

    fn energy(&self) -> f64 {
        0.5 * self.qd.dot(&(&self.M * &self.qd))
    }

    fn after_impulse(&self, p: &Vector3<f64>) -> Self {
        let qd = &self.qd + self.response() * p;
        Self {
            M: self.M.clone(),
            J: self.J.clone(),
            qd,
        }
    }
}

struct Pair {
    a: Body,
    b: Body,
    u: Vector3<f64>,
    n: Vector3<f64>,
}

impl Pair {
    fn W(&self) -> Matrix3<f64> {
        let sum = &self.a.J * self.a.response() + &self.b.J * self.b.response();
        sum.fixed_view::<3, 3>(0, 0).into()
    }

    fn point_impact(&self) -> PointImpact {
        PointImpact::new(self.W(), self.u, self.n).expect("two free bodies")
    }
}

/// Returns the normal and the tangential part: `n·p` and `|p − n n·p|`.
fn parts(p: &Vector3<f64>, n: &Vector3<f64>) -> (f64, f64) {
    (n.dot(p), (p - n * n.dot(p)).norm())
}

/// Replaces `worst` by `value` if that is larger; NaN counts as infinite.
fn keep(worst: &mut f64, value: f64) {
    *worst = if value.is_nan() {
        f64::INFINITY
    } else {
        worst.max(value)
    };
}
