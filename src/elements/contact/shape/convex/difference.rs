use super::super::Solid;
use super::super::support::support;
use crate::algebra::{Mat3, Vec3};

/// Minkowski difference of the cores of two convex solids: all vectors from a point of the core of b to
/// one of a, in axes of b. The core of a sphere is its centre, of a capsule its axis, of other solids
/// the solid.
#[derive(Clone, Copy)]
pub(super) struct Difference<'a> {
    pub a: &'a Solid<'a>,
    pub b: &'a Solid<'a>,
    /// Rotation from axes of a to those of b.
    pub R: Mat3<f64>,
    /// Position of the origin of a relative to that of b, m.
    pub d: Vec3<f64>,
    /// Length that all extents of the pair have at most, m.
    pub size: f64,
}

impl<'a> Difference<'a> {
    pub fn new([a, b]: [&'a Solid<'a>; 2], R: Mat3<f64>, d: Vec3<f64>) -> Self {
        let size = a.extent().unwrap_or(0.0) + b.extent().unwrap_or(0.0);
        Self { a, b, R, d, size }
    }

    /// Returns a point of the difference that is farthest along −`n` (m).
    pub fn least(&self, n: &Vec3<f64>) -> Vec3<f64> {
        self.d + self.R * core_support(self.a, &-self.R.tr_mul(n)) - core_support(self.b, n)
    }

    /// Returns the signed distance (m) of the solids along the unit vector `n`: of planes
    /// perpendicular to it that touch them. The largest is the gap, outside and inside.
    pub fn along(&self, n: &Vec3<f64>) -> f64 {
        n.dot(&self.least(n)) - core_distance(self.a) - core_distance(self.b)
    }

    /// Returns true if a is not larger than b.
    pub fn is_a_smaller(&self) -> bool {
        self.a.extent() <= self.b.extent()
    }

    /// Returns the points of a along −`n` and of b along the unit vector `n` that are farthest (m), each
    /// in axes of its solid.
    pub fn farthest(&self, n: &Vec3<f64>) -> [Vec3<f64>; 2] {
        let n_a = -self.R.tr_mul(n);
        [
            core_support(self.a, &n_a) + n_a * core_distance(self.a),
            core_support(self.b, n) + n * core_distance(self.b),
        ]
    }
}

fn core_support(of: &Solid, u: &Vec3<f64>) -> Vec3<f64> {
    match *of {
        Solid::Sphere { .. } => Vec3::zeros(),
        Solid::Capsule { half, .. } => Vec3::new(0.0, 0.0, half.copysign(u.z)),
        _ => support(of, *u).unwrap_or_else(Vec3::zeros),
    }
}

fn core_distance(of: &Solid) -> f64 {
    match *of {
        Solid::Sphere { radius } | Solid::Capsule { radius, .. } => radius,
        _ => 0.0,
    }
}
