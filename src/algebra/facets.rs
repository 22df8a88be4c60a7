use super::{ConvexHull, Vec3};

/// Face of a convex polyhedron with all its corners.
#[derive(Clone, Debug, PartialEq)]
pub struct Facet {
    /// Indices of the vertices, counter-clockwise from outside.
    pub corners: Vec<usize>,
    /// Outward unit normal.
    pub normal: Vec3<f64>,
    /// Greatest distance of a vertex of the polyhedron from the lowest corner along the normal, m:
    /// zero if the face is plane.
    pub uneven: f64,
}

impl Facet {
    /// Returns the six faces of a box. Bit i of the index of a vertex is set on the positive side
    /// of axis i.
    pub fn of_box() -> Vec<Self> {
        let face = |number: usize| {
            let (axis, is_positive) = (number / 2, number % 2 == 1);
            let corner = |[y, z]: [usize; 2]| {
                let along = if is_positive { 1 << axis } else { 0 };
                along | y << ((axis + 1) % 3) | z << ((axis + 2) % 3)
            };
            let mut corners: Vec<usize> = [[0, 0], [1, 0], [1, 1], [0, 1]].map(corner).to_vec();
            if !is_positive {
                corners.reverse();
            }
            Self {
                corners,
                normal: Vec3::ith(axis, if is_positive { 1.0 } else { -1.0 }),
                uneven: 0.0,
            }
        };
        (0..6).map(face).collect()
    }

    /// Returns the faces of a convex hull, with the triangles of one plane joined.
    pub fn of_hull(hull: &ConvexHull) -> Vec<Self> {
        let mut group: Vec<usize> = (0..hull.faces.len()).collect();
        let sides = |face: usize| {
            let [a, b, c] = hull.faces[face].vertices;
            [[a, b], [b, c], [c, a]]
        };
        let is_sharp = |[p, q]: [usize; 2]| hull.edges.iter().any(|edge| edge.ends == [p.min(q), p.max(q)]);
        for one in 0..group.len() {
            for other in 0..one {
                let joins = |[p, q]: [usize; 2]| sides(other).contains(&[q, p]) && !is_sharp([p, q]);
                if group[one] != group[other] && sides(one).into_iter().any(joins) {
                    let (from, to) = (group[one], group[other]);
                    group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
                }
            }
        }
        let mut all = Vec::new();
        for number in 0..group.len() {
            let own = || (0..group.len()).filter(|&face| group[face] == number);
            let outline: Vec<[usize; 2]> = own().flat_map(sides).filter(|side| is_sharp(*side)).collect();
            match chained(&outline) {
                Some(corners) => all.push(Self::through(hull, corners)),
                // Triangles without a simple outline stay separate.
                None => all.extend(own().map(|face| Self::through(hull, hull.faces[face].vertices.to_vec()))),
            }
        }
        all
    }

    /// Returns the face with these corners and the normal of its area.
    fn through(hull: &ConvexHull, corners: Vec<usize>) -> Self {
        let p = |k: usize| hull.vertices[corners[k % corners.len()]];
        let area = (1..corners.len()).fold(Vec3::zeros(), |sum: Vec3<f64>, k| {
            sum + (p(k) - p(0)).cross(&(p(k + 1) - p(0)))
        });
        let normal = area.normalize();
        let heights = (0..corners.len()).map(|k| normal.dot(&p(k)));
        let lowest = heights.fold(f64::INFINITY, f64::min);
        Self {
            normal,
            uneven: (hull.farthest(&normal).dot(&normal) - lowest).max(0.0),
            corners,
        }
    }
}

/// Returns the corners of a closed outline from its directed sides, in their order; `None` if they
/// form no single outline.
fn chained(sides: &[[usize; 2]]) -> Option<Vec<usize>> {
    let mut corners = vec![sides.first()?[0]];
    let mut last = sides[0][1];
    while last != corners[0] {
        if corners.len() >= sides.len() {
            return None;
        }
        corners.push(last);
        last = sides.iter().find(|side| side[0] == last)?[1];
    }
    (corners.len() == sides.len()).then_some(corners)
}
