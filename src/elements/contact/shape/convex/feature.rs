use super::super::Solid;
use super::hull;
use crate::algebra::{Mat3, Scalar, Vec3, lift3};

/// Feature of a convex solid with one-sided contact: the points of its surface whose outward normals
/// form a set of the same kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Feature<S: Scalar> {
    /// Flat face through `p` (m) with the outward normal `m`.
    Face { p: Vec3<S>, m: Vec3<S> },
    /// Side of a cone or a cylinder, or an edge.
    Ruled(Ruled<S>),
    /// Circle at an end of a cone or a cylinder.
    Rim(Rim<S>),
    /// Point `p` (m); the surface is at the distance `round` (m) from it.
    Point { p: Vec3<S>, round: f64 },
}

/// Side of a cone or a cylinder with the axis `w` through its centre `p` (m), or an edge: its outward
/// normals `m` have `m·w = sine`, and points x of the side with this normal `m·(x − p) = round` (m).
/// Of an edge sine and distance are zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruled<S: Scalar> {
    pub p: Vec3<S>,
    pub w: Vec3<S>,
    pub sine: f64,
    pub round: f64,
    /// Half of the length along `w`, m.
    pub half: f64,
}

/// Circle about `p` (m) with the axis `w`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rim<S: Scalar> {
    pub p: Vec3<S>,
    pub w: Vec3<S>,
    pub radius: f64,
}

impl Feature<f64> {
    /// Returns the feature at the pose with the rotation matrix `R` and the position `d` (m).
    pub fn placed<S: Scalar>(&self, R: &Mat3<S>, d: &Vec3<S>) -> Feature<S> {
        let point = |p: &Vec3<f64>| d + R * lift3::<S>(p);
        let turned = |w: &Vec3<f64>| R * lift3::<S>(w);
        match *self {
            Self::Face { p, m } => Feature::Face {
                p: point(&p),
                m: turned(&m),
            },
            Self::Ruled(Ruled {
                p,
                w,
                sine,
                round,
                half,
            }) => Feature::Ruled(Ruled {
                p: point(&p),
                w: turned(&w),
                sine,
                round,
                half,
            }),
            Self::Rim(Rim { p, w, radius }) => Feature::Rim(Rim {
                p: point(&p),
                w: turned(&w),
                radius,
            }),
            Self::Point { p, round } => Feature::Point { p: point(&p), round },
        }
    }
}

impl Feature<f64> {
    /// Returns the feature with constant numbers of the scalar.
    pub fn lifted<S: Scalar>(&self) -> Feature<S> {
        self.placed(&Mat3::identity(), &Vec3::zeros())
    }

    /// Returns the middle of the feature on the surface, where the outward normal is `m`, m.
    pub fn middle(&self, m: &Vec3<f64>) -> Vec3<f64> {
        match self {
            Self::Face { p, .. } | Self::Point { p, .. } => *p,
            Self::Rim(rim) => rim.p,
            Self::Ruled(side) => side.line(m)[0],
        }
    }
}

/// Largest number of features of a solid near one direction.
const MOST: usize = 26;

/// Features of a solid that are or may be its farthest ones along a direction.
#[derive(Clone, Copy)]
pub(super) struct Features {
    all: [Feature<f64>; MOST],
    count: usize,
}

impl Features {
    /// Returns the features that are farthest along some direction at an angle of about `tolerance`
    /// (sine) or less from the unit vector `m` (axes of the solid).
    pub fn near(solid: &Solid, m: &Vec3<f64>, tolerance: f64) -> Self {
        let mut found = Self {
            all: [point(0.0, 0.0); MOST],
            count: 0,
        };
        match *solid {
            Solid::Sphere { radius } => found.add(point(0.0, radius)),
            Solid::Capsule { radius, half } => {
                if m.z.abs() < tolerance {
                    found.add(side(0.0, radius, half));
                }
                for z in [half, -half] {
                    if z.signum() == m.z.signum() || m.z.abs() < tolerance {
                        found.add(point(z, radius));
                    }
                }
            }
            Solid::Box { half } => found.add_box(half, m, tolerance),
            Solid::Disc { radius } => found.add_round([radius, radius], 0.0, m, tolerance),
            Solid::Cylinder { radius, half } => found.add_round([radius, radius], half, m, tolerance),
            Solid::Cone { radius, end, half } => found.add_round([radius, end], half, m, tolerance),
            Solid::Hull(of) => hull::add_near(of, m, tolerance, &mut found),
            Solid::Plane | Solid::Funnel { .. } => {}
        }
        found
    }

    /// Calls `each` with the features that may be farthest along a direction in the half-space of the unit
    /// vector `m`; of a polyhedron, all of them at a distance of up to `reach` (m) from the point `c` (m).
    pub fn each_at(solid: &Solid, m: &Vec3<f64>, c: &Vec3<f64>, reach: f64, each: &mut dyn FnMut(&Feature<f64>)) {
        match *solid {
            Solid::Hull(of) => hull::each_at(of, c, reach, each),
            _ => Self::near(solid, m, super::ALL).iter().for_each(each),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Feature<f64>> {
        self.all.iter().take(self.count)
    }

    pub fn add(&mut self, feature: Feature<f64>) {
        if let Some(place) = self.all.get_mut(self.count) {
            *place = feature;
            self.count += 1;
        }
    }

    fn add_box(&mut self, half: [f64; 3], m: &Vec3<f64>, tolerance: f64) {
        // Coordinates along which features of both sides are near.
        let is_free = m.map(|m| m.abs() < tolerance);
        let corner = Vec3::from_fn(|i, _| half[i].copysign(m[i]));
        // Corners with some coordinates reversed, and others zero: centres of faces and edges.
        let place = |flips: usize, zero: [bool; 3]| {
            Vec3::from_fn(|i, _| match (zero[i], (flips >> i) & 1) {
                (true, _) => 0.0,
                (false, 0) => corner[i],
                (false, _) => -corner[i],
            })
        };
        // Flips of the free coordinates that are not zero.
        let flips = |zero: [bool; 3]| {
            let may_flip = move |i: usize| is_free[i] && !zero[i];
            (0..8_usize).filter(move |flips| (0..3).all(|i| may_flip(i) || (flips >> i) & 1 == 0))
        };
        for i in 0..3 {
            let zero = [0, 1, 2].map(|k| k != i);
            if (0..3).all(|k| is_free[k] || !zero[k]) {
                for flips in flips(zero) {
                    let p = place(flips, zero);
                    let m = Vec3::ith(i, 1f64.copysign(p[i]));
                    self.add(Feature::Face { p, m });
                }
            }
        }
        for i in (0..3).filter(|i| is_free[*i]) {
            let zero = [0, 1, 2].map(|k| k == i);
            for flips in flips(zero) {
                self.add(Feature::Ruled(Ruled {
                    p: place(flips, zero),
                    w: Vec3::ith(i, 1.0),
                    sine: 0.0,
                    round: 0.0,
                    half: half[i],
                }));
            }
        }
        for flips in flips([false; 3]) {
            let p = place(flips, [false; 3]);
            self.add(Feature::Point { p, round: 0.0 });
        }
    }

    /// Adds features of a cone with the radii `low` and `high` at z = ∓`half`, `low` ≥ `high`.
    fn add_round(&mut self, [low, high]: [f64; 2], half: f64, m: &Vec3<f64>, tolerance: f64) {
        let across = (m.x * m.x + m.y * m.y).sqrt();
        let is_up = m.z > 0.0;
        let (z, radius) = if is_up { (half, high) } else { (-half, low) };
        if across < tolerance && radius > 0.0 {
            self.add(Feature::Face {
                p: Vec3::new(0.0, 0.0, z),
                m: Vec3::new(0.0, 0.0, if is_up { 1.0 } else { -1.0 }),
            });
        }
        // Outward normal of the side in the meridian's plane.
        let (dr, dz) = (high - low, 2.0 * half);
        let length = (dr * dr + dz * dz).sqrt();
        let (cosine, sine) = if length > 0.0 {
            (dz / length, -dr / length)
        } else {
            (1.0, 0.0)
        };
        // Sine of the angle from the side's normal towards the top.
        let above = m.z * cosine - across * sine;
        let is_side = above.abs() < tolerance && across * cosine + m.z * sine > 0.0;
        if is_side && half > 0.0 {
            self.add(side(sine, 0.5 * (low + high) * cosine, half));
        }
        for (z, radius, is_near) in [(half, high, above >= 0.0), (-half, low, above < 0.0)] {
            if is_near || is_side {
                self.add(if radius > 0.0 {
                    Feature::Rim(Rim {
                        p: Vec3::new(0.0, 0.0, z),
                        w: Vec3::z(),
                        radius,
                    })
                } else {
                    point(z, 0.0)
                });
            }
        }
    }
}

fn point(z: f64, round: f64) -> Feature<f64> {
    Feature::Point {
        p: Vec3::new(0.0, 0.0, z),
        round,
    }
}

fn side(sine: f64, round: f64, half: f64) -> Feature<f64> {
    Feature::Ruled(Ruled {
        p: Vec3::zeros(),
        w: Vec3::z(),
        sine,
        round,
        half,
    })
}
