//! Sums over a body or station and its outboard bodies.

use crate::algebra::{Mat3, Twist, Vec3, Wrench};

/// Sums of forces and of `2 B`, about the tree's point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    /// Inverse-dynamics wrench `f`.
    pub f: Wrench<f64>,
    /// Moment rows of `2 B`.
    pub C: Mat3<f64>,
    /// Linear momentum, from which the force rows of `2 B` follow.
    pub momentum: Vec3<f64>,
}

/// Sums of loads and their derivatives, used if loads depend on attitudes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    /// Columns of `G`.
    pub G: [Wrench<f64>; 3],
    /// Active loads (those without a potential).
    pub active: Wrench<f64>,
    /// Derivative of their power with respect to a rotation, less the parts of loads fixed to the
    /// bodies and of changed velocities.
    pub power: Vec3<f64>,
}

impl Sum {
    pub fn zero() -> Self {
        Self {
            f: Wrench::zero(),
            C: Mat3::zeros(),
            momentum: Vec3::zeros(),
        }
    }

    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        self.f = self.f + other.f;
        self.C += other.C;
        self.momentum += other.momentum;
    }

    /// Returns `2 B ψ`.
    #[inline(always)]
    pub fn coriolis(&self, psi: &Vec3<f64>) -> Wrench<f64> {
        Wrench::new(self.C * psi, psi.cross(&self.momentum) * 2.0)
    }

    /// Returns `(2 B)ᵀ S`.
    #[inline(always)]
    pub fn coriolis_on(&self, S: &Twist<f64>) -> Vec3<f64> {
        self.C.tr_mul(&S.w) + self.momentum.cross(&S.v) * 2.0
    }
}

impl Turned {
    pub fn zero() -> Self {
        Self {
            G: [Wrench::zero(); 3],
            active: Wrench::zero(),
            power: Vec3::zeros(),
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (G, other) in self.G.iter_mut().zip(&other.G) {
            *G = *G + *other;
        }
        self.active = self.active + other.active;
        self.power += other.power;
    }

    /// Returns `G ξ`.
    pub fn times(&self, xi: &Vec3<f64>) -> Wrench<f64> {
        self.G[0] * xi.x + self.G[1] * xi.y + self.G[2] * xi.z
    }

    /// Returns `Gᵀ S`.
    pub fn on(&self, S: &Twist<f64>) -> Vec3<f64> {
        Vec3::from_fn(|k, _| self.G[k].power(S))
    }
}
