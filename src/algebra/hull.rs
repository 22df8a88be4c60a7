use super::Vec3;

/// Distance from the plane of a face up to which a point counts as inside, relative to the extent.
const FLAT: f64 = 1e-10;
/// Largest distance of a point outside the hull, relative to the extent.
const OUTSIDE: f64 = 1e-8;
/// Sine of the angle between the normals of two faces up to which their edge is in a common plane.
const COPLANAR: f64 = 1e-8;

/// Convex hull of points: a polyhedron with triangles as faces.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvexHull {
    /// Vertices, m.
    pub vertices: Vec<Vec3<f64>>,
    /// Faces. Triangles of one plane are separate faces.
    pub faces: Vec<HullFace>,
    /// Edges between faces that are not in one plane.
    pub edges: Vec<HullEdge>,
    /// Greatest distance of a vertex from the origin, m.
    pub extent: f64,
}

/// Triangle of a convex hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullFace {
    /// Indices of the vertices, counter-clockwise from outside.
    pub vertices: [usize; 3],
    /// Outward unit normal.
    pub normal: Vec3<f64>,
    /// Distance of the plane from the origin along the normal, m.
    pub distance: f64,
}

/// Edge of a convex hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullEdge {
    /// Indices of the vertices at both ends.
    pub ends: [usize; 2],
    /// Indices of the faces at both sides.
    pub faces: [usize; 2],
}

/// Reason for which points have no convex hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoHull {
    /// The points are in a plane, to 1e-8 of their extent.
    Flat,
    /// The hull has more vertices than allowed.
    TooMany,
    /// Points so close to one plane that round-off decides about faces.
    Inexact,
}

/// Face with the points outside its plane that no other face has.
struct Open {
    face: HullFace,
    outside: Vec<usize>,
}

impl ConvexHull {
    /// Returns the convex hull of points (m) with at most `most` vertices, which are some of the
    /// points (C. B. Barber, D. P. Dobkin and H. Huhdanpaa, *ACM Trans. Math. Softw.* 22 (1996)
    /// 469–483). Points less than 1e-10 of the extent outside it are ignored.
    ///
    /// # Errors
    /// [`NoHull`] for points in a plane, and for those with more vertices or without a clear order.
    pub fn of(points: &[Vec3<f64>], most: usize) -> Result<Self, NoHull> {
        let corners = tetrahedron(points)?;
        let extent = points
            .iter()
            .map(|p| (p - points[corners[0]]).norm())
            .fold(0.0, f64::max);
        let flat = FLAT * extent;
        let [a, b, c, d] = corners;
        let mut open: Vec<Open> = Vec::new();
        for corners in [[a, b, c], [a, d, b], [b, d, c], [c, d, a]] {
            open.push(Open {
                face: face(points, corners),
                outside: Vec::new(),
            });
        }
        let everyone: Vec<usize> = (0..points.len()).collect();
        distribute(points, &everyone, &mut open, flat);
        let mut count = 4;
        while let Some(i) = open.iter().position(|open| !open.outside.is_empty()) {
            let Open { face, outside } = &open[i];
            let away = points[face.vertices[0]];
            let height = |p: &Vec3<f64>| face.height(p);
            let Some(new) = farthest(points, outside.iter().copied(), height, &away, flat) else {
                break;
            };
            count += 1;
            if count > most {
                return Err(NoHull::TooMany);
            }
            if !extend(points, new, &mut open, flat) {
                open[i].outside.retain(|k| *k != new);
                count -= 1;
            }
        }
        let faces: Vec<HullFace> = open.into_iter().map(|open| open.face).collect();
        let is_outside = |p: &Vec3<f64>| faces.iter().any(|face| face.height(p) > OUTSIDE * extent);
        if points.iter().any(is_outside) {
            return Err(NoHull::Inexact);
        }
        Ok(Self::joined(points, faces))
    }

    /// Returns the hull with its own vertices.
    fn joined(points: &[Vec3<f64>], mut faces: Vec<HullFace>) -> Self {
        let mut numbers = vec![usize::MAX; points.len()];
        let mut vertices = Vec::new();
        for vertex in faces.iter_mut().flat_map(|face| &mut face.vertices) {
            if numbers[*vertex] == usize::MAX {
                numbers[*vertex] = vertices.len();
                vertices.push(points[*vertex]);
            }
            *vertex = numbers[*vertex];
        }
        let mut sides: Vec<([usize; 2], usize)> = Vec::new();
        for (
            number,
            HullFace {
                vertices: [a, b, c], ..
            },
        ) in faces.iter().enumerate()
        {
            sides.extend([[*a, *b], [*b, *c], [*c, *a]].map(|[p, q]| ([p.min(q), p.max(q)], number)));
        }
        sides.sort_unstable();
        let pairs = sides.as_chunks::<2>().0.iter();
        let edges = pairs.map(|[(ends, one), (_, other)]| HullEdge {
            ends: *ends,
            faces: [*one, *other],
        });
        let is_sharp = |edge: &HullEdge| {
            let [m, n] = edge.faces.map(|face| faces[face].normal);
            m.cross(&n).norm() > COPLANAR
        };
        let edges = edges.filter(is_sharp).collect();
        let extent = vertices.iter().map(Vec3::norm).fold(0.0, f64::max);
        Self {
            vertices,
            faces,
            edges,
            extent,
        }
    }

    /// Returns the vertex that is farthest along `u`, m.
    pub fn farthest(&self, u: &Vec3<f64>) -> Vec3<f64> {
        let (mut most, mut farthest) = (f64::NEG_INFINITY, Vec3::zeros());
        for vertex in &self.vertices {
            let along = vertex.dot(u);
            if along > most {
                (most, farthest) = (along, *vertex);
            }
        }
        farthest
    }

    /// Returns the volume, m³.
    pub fn volume(&self) -> f64 {
        let corners = |face: &HullFace| face.vertices.map(|i| self.vertices[i]);
        self.faces.iter().map(|face| signed_volume(corners(face))).sum()
    }
}

impl HullFace {
    /// Returns the distance of a point outside the plane of the face, m; negative behind it.
    pub fn height(&self, p: &Vec3<f64>) -> f64 {
        self.normal.dot(p) - self.distance
    }
}

/// Returns the volume of the tetrahedron of a triangle and the origin, m³; positive if the triangle is
/// counter-clockwise from the other side.
fn signed_volume([a, b, c]: [Vec3<f64>; 3]) -> f64 {
    a.dot(&b.cross(&c)) / 6.0
}

fn face(points: &[Vec3<f64>], vertices: [usize; 3]) -> HullFace {
    let [a, b, c] = vertices.map(|i| points[i]);
    let normal = (b - a).cross(&(c - a));
    let normal = normal / normal.norm().max(f64::MIN_POSITIVE);
    HullFace {
        vertices,
        normal,
        distance: normal.dot(&a),
    }
}

/// Returns four points that are not in a plane, the first three counter-clockwise from outside.
fn tetrahedron(points: &[Vec3<f64>]) -> Result<[usize; 4], NoHull> {
    let all = || 0..points.len();
    let a = all().max_by(|k, l| {
        let [p, q] = [points[*k], points[*l]];
        let by = |i: usize| p[i].total_cmp(&q[i]);
        by(0).then(by(1)).then(by(2))
    });
    let a = a.ok_or(NoHull::Flat)?;
    let from = points[a];
    let b = farthest(points, all(), |p| (p - from).norm(), &from, 0.0).ok_or(NoHull::Flat)?;
    let along = points[b] - from;
    let flat = FLAT * along.norm();
    let e = along / along.norm().max(f64::MIN_POSITIVE);
    let c = farthest(points, all(), |p| (p - from).cross(&e).norm(), &from, flat).ok_or(NoHull::Flat)?;
    let normal = along.cross(&(points[c] - from));
    let m = normal / normal.norm().max(f64::MIN_POSITIVE);
    let d = farthest(points, all(), |p| (p - from).dot(&m).abs(), &from, flat).ok_or(NoHull::Flat)?;
    let height = (points[d] - from).dot(&normal);
    // Negated, so that NaN is an error.
    if !(height.abs() > OUTSIDE * along.norm() * normal.norm() && normal.norm() > OUTSIDE * along.norm_squared()) {
        return Err(NoHull::Flat);
    }
    Ok(if height < 0.0 { [a, b, c, d] } else { [a, c, b, d] })
}

/// Returns the point with the largest measure (m). Among those less than `flat` (m) smaller, as all
/// points of a face are, it is the one farthest from the point `away`: a vertex.
fn farthest(
    points: &[Vec3<f64>],
    which: impl Iterator<Item = usize> + Clone,
    measure: impl Fn(&Vec3<f64>) -> f64,
    away: &Vec3<f64>,
    flat: f64,
) -> Option<usize> {
    let most = which
        .clone()
        .map(|k| measure(&points[k]))
        .fold(f64::NEG_INFINITY, f64::max);
    let equal = which.filter(|k| measure(&points[*k]) >= most - flat);
    let distance = |k: &usize| (points[*k] - away).norm();
    equal.max_by(|k, l| distance(k).total_cmp(&distance(l)))
}

/// Assigns points outside the hull to the face that is farthest from them.
fn distribute(points: &[Vec3<f64>], which: &[usize], open: &mut [Open], flat: f64) {
    for point in which {
        let mut most = flat;
        let mut place = None;
        for (i, open) in open.iter().enumerate() {
            let height = open.face.height(&points[*point]);
            if height > most {
                (most, place) = (height, Some(i));
            }
        }
        if let Some(i) = place {
            open[i].outside.push(*point);
        }
    }
}

/// Replaces the faces that are visible from a point by triangles from their outline to it. Returns
/// false, without a change, if round-off makes the outline not one loop.
fn extend(points: &[Vec3<f64>], new: usize, open: &mut Vec<Open>, flat: f64) -> bool {
    let is_visible = |open: &Open| open.face.height(&points[new]) > flat;
    let mut outline: Vec<[usize; 2]> = Vec::new();
    for Open { face, .. } in open.iter().filter(|open| is_visible(open)) {
        let [a, b, c] = face.vertices;
        for [from, to] in [[a, b], [b, c], [c, a]] {
            match outline.iter().position(|edge| *edge == [to, from]) {
                Some(place) => {
                    outline.swap_remove(place);
                }
                None => outline.push([from, to]),
            }
        }
    }
    let mut corner = outline.first().map_or(0, |edge| edge[0]);
    for _ in 0..outline.len() {
        let mut next = outline.iter().filter(|edge| edge[0] == corner);
        match (next.next(), next.next()) {
            (Some(edge), None) => corner = edge[1],
            _ => return false,
        }
        if corner == outline[0][0] {
            break;
        }
    }
    let lengths = outline
        .iter()
        .filter(|edge| outline.iter().any(|other| other[0] == edge[1]));
    if lengths.count() != outline.len() || outline.len() < 3 {
        return false;
    }
    let mut orphans = Vec::new();
    let (visible, kept): (Vec<Open>, Vec<Open>) = std::mem::take(open).into_iter().partition(is_visible);
    *open = kept;
    visible.into_iter().for_each(|open| orphans.extend(open.outside));
    orphans.retain(|k| *k != new);
    let first = open.len();
    open.extend(outline.iter().map(|[from, to]| Open {
        face: face(points, [*from, *to, new]),
        outside: Vec::new(),
    }));
    distribute(points, &orphans, &mut open[first..], flat);
    true
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;

    unit_tests![
        hull_of_a_grid_is_its_box,
        points_of_an_ellipsoid_are_the_vertices_of_their_hull,
        points_in_a_plane_and_numbers_that_are_not_finite_have_no_hull,
    ];

    fn grid(n: usize, f: impl Fn([f64; 3]) -> Vec3<f64>) -> Vec<Vec3<f64>> {
        let at = |i: usize| i as f64 / (n - 1) as f64;
        let all = (0..n).flat_map(|i| (0..n).flat_map(move |j| (0..n).map(move |k| [i, j, k])));
        all.map(|cell| f(cell.map(at))).collect()
    }

    /// The hull of a grid in a box is the box: 8 vertices, 12 sharp edges, its volume. So it is for a
    /// box that is turned, whose points are in planes only to round-off.
    fn hull_of_a_grid_is_its_box() {
        let size = Vec3::new(0.5, 2.0, 0.3);
        for turn in [Vec3::zeros(), Vec3::new(0.3, -0.4, 0.5)] {
            let R = super::super::exp(turn).rotation();
            let points = grid(5, |x| R * Vec3::from(x).component_mul(&size));
            let hull = ConvexHull::of(&points, 100).expect("a hull");
            assert_eq!([hull.vertices.len(), hull.faces.len(), hull.edges.len()], [8, 12, 12]);
            assert!((hull.volume() - 0.3).abs() < 1e-15);
        }
    }

    /// All points of an ellipsoid are vertices; Euler's formula holds, and no point is outside.
    fn points_of_an_ellipsoid_are_the_vertices_of_their_hull() {
        let points: Vec<Vec3<f64>> = (0..500)
            .map(|k| {
                let z = 1.0 - (2 * k + 1) as f64 / 500.0;
                let (sine, cosine) = libm::sincos(f64::from(k) * 2.399_963_229_728_653);
                let across = (1.0 - z * z).sqrt();
                Vec3::new(across * cosine, 2.0 * across * sine, 0.5 * z)
            })
            .collect();
        let hull = ConvexHull::of(&points, 500).expect("a hull");
        assert_eq!(
            [hull.vertices.len(), hull.faces.len(), hull.edges.len()],
            [500, 996, 1494]
        );
        for face in &hull.faces {
            assert!(points.iter().all(|p| face.height(p) < 1e-14));
        }
        assert_eq!(ConvexHull::of(&points, 499), Err(NoHull::TooMany));
    }

    fn points_in_a_plane_and_numbers_that_are_not_finite_have_no_hull() {
        let plane = grid(3, |x| Vec3::new(x[0], x[1], x[0] + x[1]));
        assert_eq!(ConvexHull::of(&plane, 100), Err(NoHull::Flat));
        assert_eq!(ConvexHull::of(&[Vec3::x(); 7], 100), Err(NoHull::Flat));
        assert_eq!(ConvexHull::of(&[], 100), Err(NoHull::Flat));
        let broken = grid(3, |x| Vec3::new(x[0], x[1], f64::NAN * x[2]));
        assert!(ConvexHull::of(&broken, 100).is_err());
    }
}
