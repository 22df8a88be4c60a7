use super::{FromSolid, LEAST_SQUARE, from_point};
use crate::algebra::{Scalar, Vec3};

/// Meridian of a solid of revolution about z: a convex chain of points (ρ, z), m, with the solid on
/// its left. The nearest point of the solid lies in the half-plane of the given point, so that
/// distances are those from the chain in this half-plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meridian {
    points: [[f64; 2]; 5],
    count: usize,
}

/// Feature of a meridian that is nearest to a point.
#[derive(Clone, Copy)]
enum Feature {
    /// Edge from the point with this index to the next: a face, a side or a wall.
    Edge(usize),
    /// Point with this index: a rim or an apex.
    Vertex(usize),
}

/// Returns the width perpendicular to the axis (m) of a conical wall with this thickness (m,
/// perpendicular to the wall), whose radius changes by `widening` (m) over the length `2 half` (m).
pub fn wall_width(thickness: f64, widening: f64, half: f64) -> f64 {
    let slope = widening / (2.0 * half);
    thickness * (1.0 + slope * slope).sqrt()
}

impl Meridian {
    fn of<const N: usize>(chain: [[f64; 2]; N]) -> Self {
        let mut points = [[0.0; 2]; 5];
        points[..N].copy_from_slice(&chain);
        Self { points, count: N }
    }

    /// Returns the meridian of a disc without thickness.
    pub fn disc(radius: f64) -> Self {
        Self::of([[0.0, 0.0], [radius, 0.0], [0.0, 0.0]])
    }

    /// Returns the meridian of a solid cone with the radii `low` and `high` at both ends.
    pub fn cone([low, high]: [f64; 2], half: f64) -> Self {
        let full = [[0.0, -half], [low, -half], [high, half], [0.0, half]];
        match high > 0.0 {
            true => Self::of(full),
            false => Self::of([full[0], full[1], full[3]]),
        }
    }

    /// Returns the meridian of a conical shell with the inner radii `low` and `high` at both ends,
    /// `low` ≤ `high`.
    pub fn funnel([low, high]: [f64; 2], half: f64, thickness: f64) -> Self {
        let w = wall_width(thickness, high - low, half);
        Self::of([
            [low, -half],
            [low + w, -half],
            [high + w, half],
            [high, half],
            [low, -half],
        ])
    }

    /// Returns the direction and the length of an edge.
    fn edge(&self, i: usize) -> ([f64; 2], f64) {
        let ([r, z], [r_1, z_1]) = (self.points[i], self.points[i + 1]);
        let (dr, dz) = (r_1 - r, z_1 - z);
        let length = (dr * dr + dz * dz).sqrt();
        ([dr / length, dz / length], length)
    }

    /// Returns the nearest feature to the point (ρ, z).
    fn feature(&self, [r, z]: [f64; 2]) -> Feature {
        let (mut outermost, mut face) = (f64::NEG_INFINITY, 0);
        let (mut least, mut nearest) = (f64::INFINITY, None);
        for i in 0..self.count - 1 {
            let ([dr, dz], length) = self.edge(i);
            let [along_r, along_z] = [r - self.points[i][0], z - self.points[i][1]];
            let side = dz * along_r - dr * along_z;
            if side > outermost {
                (outermost, face) = (side, i);
            }
            let along = dr * along_r + dz * along_z;
            let off = match along {
                _ if side < 0.0 => continue,
                along if along < 0.0 => along,
                along if along > length => along - length,
                // On the surface, whose distance is that of the outermost edge.
                _ if side == 0.0 => continue,
                _ => 0.0,
            };
            let square = side * side + off * off;
            if square < least {
                least = square;
                nearest = Some(match off {
                    off if off < 0.0 => Feature::Vertex(i),
                    off if off > 0.0 => Feature::Vertex(i + 1),
                    _ => Feature::Edge(i),
                });
            }
        }
        nearest.unwrap_or(Feature::Edge(face))
    }

    /// Returns the signed distance of the point `c`, m.
    ///
    /// On the axis a point of a side or a rim in the half-plane of +x is taken among the nearest.
    pub fn distance_to_solid<S: Scalar>(&self, c: Vec3<S>) -> FromSolid<S> {
        let square = c.x * c.x + c.y * c.y;
        let (rho, radial) = if square.value() > LEAST_SQUARE {
            let rho = square.sqrt();
            (rho, Vec3::new(c.x / rho, c.y / rho, S::zero()))
        } else {
            (c.x, Vec3::x())
        };
        let (i, is_vertex) = match self.feature([rho.value(), c.z.value()]) {
            Feature::Edge(i) => (i, false),
            Feature::Vertex(i) => (i, true),
        };
        let [r_i, z_i] = self.points[i];
        let [dr, dz] = [rho - S::lift(r_i), c.z - S::lift(z_i)];
        if is_vertex && r_i == 0.0 {
            return from_point(Vec3::new(c.x, c.y, dz));
        }
        let square = dr * dr + dz * dz;
        let (distance, n_r, n_z) = if is_vertex && square.value() > LEAST_SQUARE {
            let distance = square.sqrt();
            (distance, dr / distance, dz / distance)
        } else {
            // A point on a rim has the normal of an edge that ends there.
            let ([e_r, e_z], _) = self.edge(i.min(self.count - 2));
            let [n_r, n_z] = [S::lift(e_z), S::lift(-e_r)];
            (n_r * dr + n_z * dz, n_r, n_z)
        };
        (distance, radial * n_r + Vec3::z() * n_z)
    }
}
