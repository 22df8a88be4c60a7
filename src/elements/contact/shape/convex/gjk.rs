//! Direction of the point of a convex set nearest to the origin (E. G. Gilbert, D. W. Johnson and
//! S. S. Keerthi, *IEEE J. Robot. Autom.* 4 (1988) 193–203).

use super::difference::Difference;
use crate::algebra::Vec3;

/// Limit of iterations. Round rims need up to 40.
const ITERATIONS: usize = 80;
/// Square of the relative error of the nearest point at which the iteration ends: its direction has an
/// error of 1e-5 rad at most.
const TOLERANCE: f64 = 1e-10;

/// Returns the unit vector along the point of the difference that is nearest to the origin; `None` if
/// it is nearer than `near` (m).
pub(super) fn direction(of: &Difference, near: f64) -> Option<Vec3<f64>> {
    let mut simplex = Simplex {
        points: [Vec3::zeros(); 4],
        count: 0,
    };
    let mut v = of.d;
    if v.norm_squared() == 0.0 {
        return None;
    }
    let mut least = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let w = of.least(&v.normalize());
        let square = v.norm_squared();
        if simplex.count > 0 && square - v.dot(&w) <= TOLERANCE * square {
            break;
        }
        simplex.add(w);
        let nearest = simplex.nearest();
        let square = nearest.norm_squared();
        if square <= near * near || !square.is_finite() {
            return None;
        }
        if square >= least {
            break;
        }
        (least, v) = (square, nearest);
    }
    Some(v.normalize())
}

/// Affinely independent points of the set.
struct Simplex {
    points: [Vec3<f64>; 4],
    count: usize,
}

impl Simplex {
    fn add(&mut self, point: Vec3<f64>) {
        self.points[self.count.min(3)] = point;
        self.count = (self.count + 1).min(4);
    }

    /// Returns the point of the convex hull nearest to the origin, and keeps those points only that
    /// span it.
    fn nearest(&mut self) -> Vec3<f64> {
        let [a, b, c, d] = self.points;
        let (nearest, kept, count) = match self.count {
            1 => (a, [a; 3], 1),
            2 => of_segment([a, b]),
            3 => of_triangle([a, b, c]),
            _ => {
                let faces = [([a, b, c], d), ([a, b, d], c), ([a, c, d], b), ([b, c, d], a)];
                let mut best = (Vec3::zeros(), [a; 3], 4);
                let mut least = f64::INFINITY;
                for (face, opposite) in faces {
                    let normal = (face[1] - face[0]).cross(&(face[2] - face[0]));
                    let inside = normal.dot(&(opposite - face[0]));
                    let side = -normal.dot(&face[0]);
                    if side * inside > 0.0 {
                        continue;
                    }
                    let found = of_triangle(face);
                    if found.0.norm_squared() < least {
                        (least, best) = (found.0.norm_squared(), found);
                    }
                }
                best
            }
        };
        if count < 4 {
            self.points[..3].copy_from_slice(&kept);
            self.count = count;
        }
        nearest
    }
}

/// Point of a simplex nearest to the origin, and the points that span the face on which it lies.
type Spanned = (Vec3<f64>, [Vec3<f64>; 3], usize);

fn of_segment([a, b]: [Vec3<f64>; 2]) -> Spanned {
    let ab = b - a;
    let (along, square) = (-a.dot(&ab), ab.norm_squared());
    if along <= 0.0 || square == 0.0 {
        (a, [a; 3], 1)
    } else if along >= square {
        (b, [b; 3], 1)
    } else {
        (a + ab * (along / square), [a, b, b], 2)
    }
}

/// Returns the point of a triangle nearest to the origin: that of its plane if it is inside, else the
/// nearest one of its edges.
fn of_triangle([a, b, c]: [Vec3<f64>; 3]) -> Spanned {
    let normal = (b - a).cross(&(c - a));
    let square = normal.norm_squared();
    let mut is_inside = square > 0.0;
    let mut best = (a, [a; 3], 1);
    let mut least = f64::INFINITY;
    for [p, q] in [[a, b], [b, c], [c, a]] {
        if (q - p).cross(&-p).dot(&normal) <= 0.0 {
            is_inside = false;
        }
        let found = of_segment([p, q]);
        if found.0.norm_squared() < least {
            (least, best) = (found.0.norm_squared(), found);
        }
    }
    if is_inside {
        (normal * (normal.dot(&a) / square), [a, b, c], 3)
    } else {
        best
    }
}
