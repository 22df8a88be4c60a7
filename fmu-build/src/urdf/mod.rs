//! URDF, the robot description format of ROS: its links and joints as plain data, and their
//! conversion to a spec.
//!
//! | module | contents |
//! |---|---|
//! | [`xml`], [`read`] | the file, and all its errors, each with its position |
//! | [`tree`] | links merged into bodies, joints between bodies, frames on bodies |
//! | [`visual`] | visuals of links, as shapes of bodies |
//! | [`names`], [`spec`] | names, and the text of the spec |
//!
//! Elements without effect on the dynamics (collision, transmission, gazebo) are not read.

mod names;
pub mod read;
pub mod spec;
pub mod tree;
pub mod visual;
mod xml;

use grapple::algebra::{Quaternion, Sym3, Vec3};
use std::ops::Range;
use visual::Visual;

/// An error message with the byte range of its position.
pub type Fault = (String, Option<Range<usize>>);

/// A robot as described in its file.
pub struct Robot {
    pub name: Option<String>,
    pub links: Vec<Link>,
    pub joints: Vec<Joint>,
}

/// A rigid link.
pub struct Link {
    pub name: String,
    pub inertial: Option<Inertial>,
    /// Its visuals, or why one is left out.
    pub visuals: Vec<Result<Visual, String>>,
    pub place: Range<usize>,
}

/// Mass (kg), mass centre (m) and inertia about it (kg·m²) in the link's axes.
#[derive(Clone, Copy)]
pub struct Inertial {
    pub m: f64,
    pub c: Vec3<f64>,
    pub I_cm: Sym3<f64>,
}

/// Connection of one link, the child, with another, the parent; both are indices of links.
pub struct Joint {
    pub name: String,
    pub kind: Kind,
    pub parent: usize,
    pub child: usize,
    /// Pose of the child in the parent at position zero.
    pub placement: Placement,
    /// Axis of motion, child axes.
    pub axis: Vec3<f64>,
    pub lower: Option<f64>,
    pub upper: Option<f64>,
    pub effort: Option<f64>,
    pub velocity: Option<f64>,
    pub damping: f64,
    pub friction: f64,
    pub mimic: Option<Mimic>,
    pub place: Range<usize>,
}

/// URDF's joint types, without planar ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Revolute,
    Continuous,
    Prismatic,
    Fixed,
    Floating,
}

/// Coupling of a joint's position to that of another joint: `q = multiplier · q_joint + offset`.
pub struct Mimic {
    pub joint: String,
    pub multiplier: f64,
    pub offset: f64,
}

/// Pose of a frame B in a frame A.
#[derive(Clone, Copy)]
pub struct Placement {
    pub p_AB: Vec3<f64>,
    pub q_AB: Quaternion<f64>,
    /// Attitude as roll, pitch and yaw, rad, if the file has them.
    pub rpy: Option<[f64; 3]>,
}

impl Placement {
    pub fn identity() -> Self {
        Self {
            p_AB: Vec3::zeros(),
            q_AB: Quaternion::identity(),
            rpy: None,
        }
    }

    pub fn is_identity(&self) -> bool {
        self.p_AB == Vec3::zeros() && !self.is_turned()
    }

    pub fn is_turned(&self) -> bool {
        self.q_AB != Quaternion::identity()
    }

    /// Returns the composition `X_AC = X_AB * X_BC`. If one is the identity, the other is returned
    /// unchanged.
    pub fn compose(&self, bc: &Self) -> Self {
        if self.is_identity() {
            return *bc;
        }
        if bc.is_identity() {
            return *self;
        }
        Self {
            p_AB: self.p_AB + self.q_AB.rotate(bc.p_AB),
            q_AB: self.q_AB * bc.q_AB,
            rpy: None,
        }
    }
}

impl Inertial {
    pub fn nothing() -> Self {
        Self {
            m: 0.0,
            c: Vec3::zeros(),
            I_cm: Sym3::zero(),
        }
    }

    /// Returns true if all numbers are finite.
    pub fn is_finite(&self) -> bool {
        let Sym3 { d, o } = self.I_cm;
        let numbers = [[self.m; 3], self.c.into(), d, o];
        numbers.as_flattened().iter().all(|x| x.is_finite())
    }

    /// Returns the inertial data in a frame in which the link has the pose `X`.
    pub fn seen_from(&self, X: &Placement) -> Self {
        if X.is_identity() {
            return *self;
        }
        Self {
            m: self.m,
            c: X.p_AB + X.q_AB.rotate(self.c),
            I_cm: self.I_cm.express(&X.q_AB.rotation()),
        }
    }

    /// Returns the inertial data of two links that are rigidly connected, in one frame. By
    /// Steiner's theorem their inertias are added to that of two point masses about the common
    /// mass centre, `μ (|d|² 1 − d dᵀ)` with the distance `d` and `μ = m₁ m₂/(m₁ + m₂)`.
    pub fn with(&self, other: &Self) -> Self {
        let m = self.m + other.m;
        let share = if m > 0.0 { other.m / m } else { 0.0 };
        let d = other.c - self.c;
        Self {
            m,
            c: self.c + d * share,
            I_cm: self.I_cm + other.I_cm + Sym3::point_mass(self.m * share, &d),
        }
    }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use grapple::algebra::Mat3;

    unit_tests![merged_inertia_equals_that_of_all_points];

    /// Returns mass, mass centre and inertia of a set of point masses.
    fn cloud(points: &[(f64, Vec3<f64>)]) -> Inertial {
        let m: f64 = points.iter().map(|(m, _)| m).sum();
        let c = points.iter().map(|(m, r)| r * *m).sum::<Vec3<f64>>() / m;
        let mut I = Mat3::zeros();
        for (m, r) in points {
            let d = r - c;
            I += (Mat3::identity() * d.norm_squared() - d * d.transpose()) * *m;
        }
        let I_cm = Sym3::from_upper(&I);
        Inertial { m, c, I_cm }
    }

    fn merged_inertia_equals_that_of_all_points() {
        let points = [
            (1.3, Vec3::new(0.2, -0.7, 0.4)),
            (0.4, Vec3::new(-0.9, 0.1, 0.3)),
            (2.2, Vec3::new(0.5, 0.6, -0.8)),
            (0.7, Vec3::new(1.1, -0.2, 0.6)),
            (0.9, Vec3::new(-0.3, -0.4, -0.5)),
        ];
        let X = Placement {
            p_AB: Vec3::new(0.3, 1.7, -0.6),
            q_AB: Quaternion::new(0.5, -0.1, 0.7, 0.3).normalised(),
            rpy: None,
        };
        let moved = points.map(|(m, r)| (m, X.p_AB + X.q_AB.rotate(r)));
        let (a, b) = (cloud(&points[..2]), cloud(&points[2..]));
        let parts = a.seen_from(&X).with(&b.seen_from(&X));
        let whole = cloud(&moved);
        assert!((parts.m - whole.m).abs() < 1e-15 && (parts.c - whole.c).norm() < 1e-15);
        let off = (parts.I_cm.full() - whole.I_cm.full()).norm();
        assert!(off < 1e-14, "{off:e}");
    }
}
