//! The axis of an initially curved beam, with the axes of its sections.

use crate::algebra::{Mat3, Pose, Quaternion, Vec3};

/// Smallest speed `|dp/dt|` of a spline through points, relative to that of a straight line: below
/// it the tangent is not determined.
const SLOWEST: f64 = 0.05;
/// Number of steps along a spline in which the section's axes are carried, at least.
const STEPS: f64 = 1000.0;
/// Points and weights of Gauss's rule on `[0, 1]`, exact to degree 9.
pub(super) const GAUSS: [(f64, f64); 5] = [
    (0.046_910_077_030_668_004, 0.118_463_442_528_094_54),
    (0.230_765_344_947_158_46, 0.239_314_335_249_683_23),
    (0.5, 0.284_444_444_444_444_44),
    (0.769_234_655_052_841_5, 0.239_314_335_249_683_23),
    (0.953_089_922_969_332, 0.118_463_442_528_094_54),
];

/// Axis of a beam in its stress-free shape, in axes of the root: it starts at the origin along x.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// Circular arc. Its section does not rotate relative to its plane.
    Arc {
        /// Radius, m.
        radius: f64,
        /// Angle, rad.
        angle: f64,
        /// Direction from the root to the centre of curvature, of unit length and normal to x.
        toward: Vec3<f64>,
    },
    /// Cubic spline through points. Its section does not rotate about the tangent.
    Spline(Spline),
}

impl Curve {
    /// Returns its length, m.
    pub fn length(&self) -> f64 {
        match self {
            Self::Arc { radius, angle, .. } => radius * angle,
            Self::Spline(spline) => spline.length(),
        }
    }

    /// Returns the distances from the root, m, at which its curvature is not smooth, ascending.
    pub(super) fn knots(&self) -> &[f64] {
        match self {
            Self::Arc { .. } => &[],
            Self::Spline(spline) => &spline.distances,
        }
    }

    /// Returns the poses of the sections at the distances `s` (m, ascending) from the root along
    /// the curve: position of the centre, and axes with x along the tangent.
    pub fn poses(&self, s: &[f64]) -> Vec<Pose<f64>> {
        match self {
            Self::Arc { radius, toward, .. } => {
                let axis = Vec3::x().cross(toward);
                let at = |s: &f64| {
                    let angle = s / radius;
                    let half_sine = libm::sin(0.5 * angle);
                    let p = Vec3::x() * libm::sin(angle) + toward * (2.0 * half_sine * half_sine);
                    Pose::from_parts(Quaternion::from_axis_angle(axis, angle), p * *radius)
                };
                s.iter().map(at).collect()
            }
            Self::Spline(spline) => spline.poses(s),
        }
    }
}

/// Cubic spline `p(t)` from the origin through given points, with continuous curvature. Its
/// parameter is the length of the polygon through the points; it starts along x and ends with a
/// parabola (constant second derivative).
#[derive(Clone, Debug, PartialEq)]
pub struct Spline {
    /// Parameter of each point, the origin included.
    knots: Vec<f64>,
    points: Vec<Vec3<f64>>,
    /// `dp/dt` at each point.
    slopes: Vec<Vec3<f64>>,
    /// Distance of each point from the root along the spline, m.
    distances: Vec<f64>,
}

impl Spline {
    /// Creates the spline through `points` (m), which follow the origin. Returns the index of a
    /// point that coincides with the one before, or before which the spline has no tangent.
    ///
    /// # Errors
    /// The index of that point.
    pub fn new(points: &[Vec3<f64>]) -> Result<Self, usize> {
        let points: Vec<Vec3<f64>> = std::iter::once(Vec3::zeros()).chain(points.iter().copied()).collect();
        let spans: Vec<f64> = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).collect();
        let size: f64 = spans.iter().sum();
        if let Some(short) = spans.iter().position(|h| !(*h > 1e-9 * size && h.is_finite())) {
            return Err(short);
        }
        let mut spline = Self {
            knots: running_sum(&spans),
            slopes: slopes(&points, &spans),
            points,
            distances: Vec::new(),
        };
        let fast = |i: &usize| {
            let samples = (0..=32).map(|k| f64::from(k) / 32.0);
            samples.fold(true, |fast, at| {
                let t = spline.knots[*i] + at * spans[*i];
                fast && spline.speed(*i, t) > SLOWEST
            })
        };
        if let Some(slow) = (0..spans.len()).find(|i| !fast(i)) {
            return Err(slow);
        }
        let lengths: Vec<f64> = (0..spans.len()).map(|i| spline.way(i, spline.knots[i + 1])).collect();
        spline.distances = running_sum(&lengths);
        Ok(spline)
    }

    fn length(&self) -> f64 {
        self.distances.last().copied().unwrap_or(0.0)
    }

    /// Returns `p` and `dp/dt` at the parameter `t` between the knots `i` and `i + 1`.
    fn at(&self, i: usize, t: f64) -> (Vec3<f64>, Vec3<f64>) {
        let h = self.knots[i + 1] - self.knots[i];
        let x = (t - self.knots[i]) / h;
        let step = self.points[i + 1] - self.points[i];
        let [a, b] = [self.slopes[i], self.slopes[i + 1]].map(|slope| slope * h);
        // p = p_i + x a + x² (3 step − 2 a − b) + x³ (a + b − 2 step)
        let (second, third) = (step * 3.0 - a * 2.0 - b, a + b - step * 2.0);
        let p = self.points[i] + (a + (second + third * x) * x) * x;
        (p, (a + (second * 2.0 + third * (3.0 * x)) * x) / h)
    }

    fn speed(&self, i: usize, t: f64) -> f64 {
        self.at(i, t).1.norm()
    }

    /// Returns the distance along the spline from the knot `i` to the parameter `t` behind it.
    fn way(&self, i: usize, t: f64) -> f64 {
        const PARTS: u32 = 16;
        let first = self.knots[i];
        let part = (t - first) / f64::from(PARTS);
        let points = (0..PARTS).flat_map(|k| GAUSS.map(|(x, weight)| (f64::from(k) + x, weight)));
        points
            .map(|(x, weight)| weight * part * self.speed(i, first + x * part))
            .sum()
    }

    /// Returns the parameter at the distance `s` from the root, with the index of the knot before.
    fn parameter(&self, s: f64) -> (usize, f64) {
        let i = self.distances[1..self.distances.len() - 1].partition_point(|knot| *knot <= s);
        let (first, last) = (self.knots[i], self.knots[i + 1]);
        let (here, next) = (self.distances[i], self.distances[i + 1]);
        let mut t = first + (last - first) * ((s - here) / (next - here));
        // Newton's iteration of a monotonic function that is nearly linear.
        for _ in 0..20 {
            let change = (s - here - self.way(i, t)) / self.speed(i, t);
            t = (t + change).clamp(first, last);
            if change.abs() <= 1e-15 * last {
                break;
            }
        }
        (i, t)
    }

    /// Returns the poses at the distances `s`. The axes y and z are carried along by double
    /// reflections, which approximate a rotation without a component along the tangent to fourth
    /// order (W. Wang, B. Jüttler, D. Zheng and Y. Liu, 10.1145/1330511.1330513).
    fn poses(&self, s: &[f64]) -> Vec<Pose<f64>> {
        let end = self.knots[self.knots.len() - 1];
        let place = |i: usize, t: f64| {
            let (p, slope) = self.at(i, t);
            (p, slope.normalize())
        };
        let (mut before, mut i_before) = (self.knots[0], 0);
        let (mut here, mut y) = (place(0, before), Vec3::y());
        let mut pose = |s: &f64| {
            let (i, t) = self.parameter(*s);
            while i_before <= i {
                let until = if i_before == i { t } else { self.knots[i_before + 1] };
                let steps = ((until - before) / end * STEPS).ceil().max(1.0);
                for k in 1..=steps as u32 {
                    let at = before + (until - before) * (f64::from(k) / steps);
                    let next = place(i_before, at);
                    y = reflected_twice(here, next, &y);
                    here = next;
                }
                before = until;
                if i_before == i {
                    break;
                }
                i_before += 1;
            }
            let tangent = here.1;
            let y = (y - tangent * tangent.dot(&y)).normalize();
            Pose {
                R: Mat3::from_columns(&[tangent, y, tangent.cross(&y)]),
                p: here.0,
            }
        };
        s.iter().map(&mut pose).collect()
    }
}

/// Returns the sums of the first 0, 1, 2 … numbers.
fn running_sum(numbers: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = numbers.iter().map(|number| {
        sum += number;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// Returns the slopes of the spline at its points, at distances `h` in the parameter, from a
/// tridiagonal system:
///
/// ```text
///     p′₀ = e_x
///     h_i p′_{i−1} + 2 (h_{i−1} + h_i) p′_i + h_{i−1} p′_{i+1} = 3 (h_i Δ_{i−1} + h_{i−1} Δ_i)
///     p′_{n−1} + p′_n = 2 Δ_{n−1},      Δ_i = (p_{i+1} − p_i)/h_i
/// ```
fn slopes(points: &[Vec3<f64>], h: &[f64]) -> Vec<Vec3<f64>> {
    let n = h.len();
    let delta = |i: usize| (points[i + 1] - points[i]) / h[i];
    // After elimination p′_i = right_i − upper_i p′_{i+1}.
    let (mut upper, mut right) = (vec![0.0], vec![Vec3::x()]);
    for i in 1..=n {
        let (lower, diagonal, above, known) = match i < n {
            true => {
                let known = (delta(i - 1) * h[i] + delta(i) * h[i - 1]) * 3.0;
                (h[i], 2.0 * (h[i - 1] + h[i]), h[i - 1], known)
            }
            false => (1.0, 1.0, 0.0, delta(n - 1) * 2.0),
        };
        let pivot = diagonal - lower * upper[i - 1];
        right.push((known - right[i - 1] * lower) / pivot);
        upper.push(above / pivot);
    }
    for i in (0..n).rev() {
        let next = right[i + 1];
        right[i] -= next * upper[i];
    }
    right
}

/// Returns the direction `y` (normal to the first tangent) carried from one point of a curve to the
/// next; each is a position and a unit tangent.
fn reflected_twice(from: (Vec3<f64>, Vec3<f64>), to: (Vec3<f64>, Vec3<f64>), y: &Vec3<f64>) -> Vec3<f64> {
    let reflected = |v: &Vec3<f64>, along: &Vec3<f64>| {
        let square = along.norm_squared();
        match square > 0.0 {
            true => v - along * (2.0 * along.dot(v) / square),
            false => *v,
        }
    };
    let chord = to.0 - from.0;
    if chord.norm_squared() == 0.0 {
        return *y;
    }
    let (y, tangent) = (reflected(y, &chord), reflected(&from.1, &chord));
    reflected(&y, &(to.1 - tangent))
}

#[cfg(feature = "inside")]
#[allow(clippy::disallowed_methods)] // expected values
pub(super) mod tests {
    use super::*;
    use crate::larger::Larger;

    unit_tests![
        poses_of_an_arc_are_rotated_about_its_centre,
        spline_through_points_of_an_arc_converges_to_it,
        sections_of_a_spline_do_not_rotate_about_the_tangent,
        spline_without_a_tangent_is_refused,
    ];

    const RADIUS: f64 = 2.0;

    fn arc(angle: f64) -> Curve {
        Curve::Arc {
            radius: RADIUS,
            angle,
            toward: Vec3::new(0.0, 0.6, 0.8),
        }
    }

    /// The section of an arc is normal to its tangent and keeps its orientation to the plane.
    fn poses_of_an_arc_are_rotated_about_its_centre() {
        let curve = arc(2.5);
        assert_eq!(curve.length(), 5.0);
        let centre = Vec3::new(0.0, 0.6, 0.8) * RADIUS;
        for (k, pose) in curve.poses(&[0.0, 1.0, 5.0]).iter().enumerate() {
            let angle = [0.0, 0.5, 2.5][k];
            let about = Quaternion::from_axis_angle(Vec3::new(0.0, -0.8, 0.6), angle);
            let off = (pose.p - (centre - about.rotate(centre))).norm() + (pose.R - about.rotation()).norm();
            assert!(off < 1e-14, "{off:e}");
        }
    }

    /// A spline through points of an arc converges to it with order four, in position and in the
    /// section's axes.
    fn spline_through_points_of_an_arc_converges_to_it() {
        let exact = arc(1.5);
        let off = [4, 8, 16, 32].map(|n: usize| {
            let at: Vec<f64> = (1..=n).map(|k| 3.0 * k as f64 / n as f64).collect();
            let points: Vec<Vec3<f64>> = exact.poses(&at).iter().map(|pose| pose.p).collect();
            let spline = Curve::Spline(Spline::new(&points).expect("points of an arc"));
            let at: Vec<f64> = (0..=10).map(|k| 0.3 * f64::from(k)).collect();
            let pairs = exact.poses(&at).into_iter().zip(spline.poses(&at));
            let off = pairs.map(|(a, b)| (a.p - b.p).norm().larger((a.R - b.R).norm()));
            off.fold((spline.length() - 3.0).abs(), f64::larger)
        });
        let order = (off[2] / off[3]).log2();
        println!("{off:?}, order {order:.2}");
        // The tangent at a parabolic end is of order three.
        assert!(order > 2.9 && off[3] < 3e-5);
    }

    /// Along a helix the axes that do not rotate about the tangent lag the Frenet frame by the
    /// torsion times the length.
    fn sections_of_a_spline_do_not_rotate_about_the_tangent() {
        // A helix of radius a and pitch 2πb that starts along x, as (b t, a sin t, a (1 − cos t))
        // in axes that are rotated about z.
        let (a, b) = (0.8f64, 0.5f64);
        let c = a.hypot(b);
        let level = Mat3::from_columns(&[Vec3::new(b / c, -a / c, 0.0), Vec3::new(a / c, b / c, 0.0), Vec3::z()]);
        let n = 200;
        let points: Vec<Vec3<f64>> = (1..=n)
            .map(|k| {
                let t = 3.0 * f64::from(k) / f64::from(n);
                level * Vec3::new(b * t, a * t.sin(), a * (1.0 - t.cos()))
            })
            .collect();
        let curve = Curve::Spline(Spline::new(&points).expect("points of a helix"));
        let at: Vec<f64> = (0..=8).map(|k| curve.length() * f64::from(k) / 8.0).collect();
        for (s, pose) in at.iter().zip(curve.poses(&at)) {
            let t = s / c;
            // Normal and binormal; at the root the normal is z and the binormal −y.
            let normal = level * Vec3::new(0.0, -t.sin(), t.cos());
            let binormal = pose.R.column(0).cross(&normal);
            let lag = b / (c * c) * s;
            let expected = binormal * -lag.cos() - normal * lag.sin();
            let off = (pose.R.column(1) - expected).norm();
            assert!(off < 2e-5, "{s}: {off:e}");
        }
    }

    /// Points that coincide, or through which the spline turns back, are reported.
    fn spline_without_a_tangent_is_refused() {
        let x = |x: f64| Vec3::x() * x;
        assert_eq!(Spline::new(&[x(1.0), x(1.0)]), Err(1));
        assert_eq!(Spline::new(&[x(1.0), x(2.0), x(1.0)]).err(), Some(2));
        assert!(Spline::new(&[x(1.0)]).is_ok_and(|straight| (straight.length() - 1.0).abs() < 1e-15));
    }
}
