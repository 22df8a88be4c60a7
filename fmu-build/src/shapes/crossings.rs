//! Triangles of a mesh that intersect, found by a tree of bounding boxes.

use grapple::algebra::Vec3;
use std::cmp::Ordering;

/// Largest number of triangles of a leaf of the tree.
const LEAF: usize = 4;

/// Corners of a triangle, m.
pub type Triangle = [Vec3<f64>; 3];

/// Two triangles that intersect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Their indices, the lower one first.
    pub triangles: [usize; 2],
    /// Middle of the segment that they have in common, m.
    pub place: Vec3<f64>,
}

/// Node of the tree: a range of the tree's order with its bounding box.
struct Node {
    low: Vec3<f64>,
    high: Vec3<f64>,
    from: usize,
    to: usize,
    /// Indices of the two halves; none for a leaf.
    halves: Option<[usize; 2]>,
}

/// Bounding boxes of triangles, halved at the median of the longest side.
struct Tree<'a> {
    triangles: &'a [Triangle],
    /// Indices of the triangles; those of a node are adjacent.
    order: Vec<usize>,
    nodes: Vec<Node>,
}

/// Returns two triangles that intersect by more than `depth` (m); none for triangles in one plane, and
/// for those that touch.
pub fn crossing(triangles: &[Triangle], depth: f64) -> Option<Crossing> {
    let mut tree = Tree {
        triangles,
        order: (0..triangles.len()).collect(),
        nodes: Vec::new(),
    };
    let root = tree.add(0, triangles.len());
    let mut pairs = vec![[root, root]];
    while let Some([i, k]) = pairs.pop() {
        let (a, b) = (&tree.nodes[i], &tree.nodes[k]);
        if (0..3).any(|x| a.low[x] > b.high[x] || b.low[x] > a.high[x]) {
            continue;
        }
        match (a.halves, b.halves) {
            (Some([first, second]), _) if i == k => pairs.extend([[first, second], [second, second], [first, first]]),
            (Some(halves), _) if b.halves.is_none() || b.to - b.from <= a.to - a.from => {
                pairs.extend(halves.map(|half| [half, k]));
            }
            (_, Some(halves)) => pairs.extend(halves.map(|half| [i, half])),
            _ => {
                let found = tree.crossing_of_leaves(a, b, depth);
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

impl Tree<'_> {
    /// Adds the node of a range of the order, and its halves; returns its index.
    fn add(&mut self, from: usize, to: usize) -> usize {
        let corners = || self.order[from..to].iter().flat_map(|i| &self.triangles[*i]);
        let low = corners().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(p));
        let high = corners().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(p));
        let index = self.nodes.len();
        self.nodes.push(Node {
            low,
            high,
            from,
            to,
            halves: None,
        });
        if to - from > LEAF {
            let (axis, middle) = ((high - low).imax(), (to - from) / 2);
            let centre = |i: usize| self.triangles[i].iter().map(|p| p[axis]).sum::<f64>();
            let before = |i: &usize, k: &usize| -> Ordering { centre(*i).total_cmp(&centre(*k)).then(i.cmp(k)) };
            self.order[from..to].select_nth_unstable_by(middle, before);
            let halves = [self.add(from, from + middle), self.add(from + middle, to)];
            self.nodes[index].halves = Some(halves);
        }
        index
    }

    /// Returns a triangle of each of two leaves that intersect.
    fn crossing_of_leaves(&self, a: &Node, b: &Node, depth: f64) -> Option<Crossing> {
        let of_b = |i: usize| self.order[b.from..b.to].iter().map(move |k| [i.min(*k), i.max(*k)]);
        let mut pairs = self.order[a.from..a.to].iter().flat_map(|i| of_b(*i));
        pairs.find_map(|[i, k]| {
            // A triangle is in its own plane, so it has no intersection with itself.
            let place = common(&self.triangles[i], &self.triangles[k], depth)?;
            Some(Crossing {
                triangles: [i, k],
                place,
            })
        })
    }
}

/// Returns the middle of the segment that two triangles have in common, if it is longer than `depth`, and
/// if each triangle reaches that far to both sides of the other one's plane (T. Möller, *J. Graphics
/// Tools* 2 (1997) 25–30).
fn common(a: &Triangle, b: &Triangle, depth: f64) -> Option<Vec3<f64>> {
    let (normal_a, normal_b) = (normal(a)?, normal(b)?);
    let over_a = b.map(|p| normal_a.dot(&(p - a[0])));
    let crosses = |heights: &[f64; 3]| heights.iter().any(|h| *h > depth) && heights.iter().any(|h| *h < -depth);
    if !crosses(&over_a) {
        return None;
    }
    let over_b = a.map(|p| normal_b.dot(&(p - b[0])));
    if !crosses(&over_b) {
        return None;
    }
    let line = normal_a.cross(&normal_b).try_normalize(0.0)?;
    let ([from_a, to_a], [from_b, to_b]) = (segment(a, &over_b, &line), segment(b, &over_a, &line));
    let along = |p: &Vec3<f64>| line.dot(&(p - a[0]));
    let from = if along(&from_a) > along(&from_b) {
        from_a
    } else {
        from_b
    };
    let to = if along(&to_a) < along(&to_b) { to_a } else { to_b };
    (along(&to) - along(&from) > depth).then(|| (from + to) * 0.5)
}

/// Returns the unit normal of a triangle with an area.
fn normal([a, b, c]: &Triangle) -> Option<Vec3<f64>> {
    (b - a).cross(&(c - a)).try_normalize(0.0)
}

/// Returns the ends, in the order along `line`, of the segment of a triangle in a plane, over which its
/// corners have the given heights, not all of one sign.
fn segment(corners: &Triangle, heights: &[f64; 3], line: &Vec3<f64>) -> [Vec3<f64>; 2] {
    // The corner that is alone on its side.
    let alone = (0..3)
        .find(|i| (0..3).all(|k| k == *i || (heights[k] < 0.0) != (heights[*i] < 0.0)))
        .unwrap_or(0);
    let [p, q] = [1, 2].map(|step| {
        let other = (alone + step) % 3;
        let part = heights[alone] / (heights[alone] - heights[other]);
        corners[alone] + (corners[other] - corners[alone]) * part
    });
    if line.dot(&(q - p)) < 0.0 { [q, p] } else { [p, q] }
}

#[cfg(feature = "inside")]
pub(super) mod tests {
    use super::*;
    use grapple::algebra::{ConvexHull, Pose, Quaternion};
    use grapple::random::Sequence;
    use std::f64::consts::TAU;

    unit_tests![
        sound_meshes_have_no_crossing,
        parts_that_touch_have_no_crossing,
        crossings_are_found_at_their_place,
        tree_finds_a_crossing_if_a_pair_has_one,
    ];

    /// Depth of the tests, m, for meshes of about 1 m.
    const DEPTH: f64 = 3e-5;

    /// Returns a random pose with its position within 1 m.
    fn pose(numbers: &mut Sequence) -> Pose<f64> {
        let [a, b, c, d, x, y, z] = std::array::from_fn(|_| numbers.next_in(-1.0..1.0));
        Pose::from_parts(Quaternion::new(a, b, c, d), Vec3::new(x, y, z))
    }

    /// Returns triangles in a pose, with coordinates of six digits like those of a text.
    fn placed(triangles: &[Triangle], pose: &Pose<f64>) -> Vec<Triangle> {
        let rounded = |x: f64| (x * 1e5).round() / 1e5;
        let place = |p: Vec3<f64>| (pose.R * p + pose.p).map(rounded);
        triangles.iter().map(|corners| corners.map(place)).collect()
    }

    /// Returns a surface of n × m cells over two parameters from 0 to 1.
    fn surface(n: usize, m: usize, at: impl Fn(f64, f64) -> Vec3<f64>) -> Vec<Triangle> {
        let cell = |(i, k): (usize, usize)| {
            let corners = [(i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1)];
            let [a, b, c, d] = corners.map(|(i, k)| at(i as f64 / n as f64, k as f64 / m as f64));
            [[a, b, c], [a, c, d]]
        };
        (0..n)
            .flat_map(|i| (0..m).map(move |k| (i, k)))
            .flat_map(cell)
            .collect()
    }

    /// Returns a torus about z with a tube of the given radius, m, of which the middle line has 0.7 m.
    fn torus(n: usize, radius: f64) -> Vec<Triangle> {
        surface(2 * n, n, |u, v| {
            let [(sine, cosine), (up, out)] = [u, v].map(|part| libm::sincos(TAU * part));
            let across = 0.7 + radius * out;
            Vec3::new(across * cosine, across * sine, radius * up)
        })
    }

    /// Returns a sphere of 1 m with parallels and meridians; triangles at its poles have no area.
    fn sphere(n: usize) -> Vec<Triangle> {
        surface(n, n, |u, v| {
            let [(sine, cosine), (across, up)] = [u, 0.5 * v].map(|part| libm::sincos(TAU * part));
            Vec3::new(across * cosine, across * sine, up)
        })
    }

    /// Returns a box with two opposite corners.
    fn cuboid(low: [f64; 3], high: [f64; 3]) -> Vec<Triangle> {
        let corners = (0..8).map(|i| Vec3::from([0, 1, 2].map(|x| if i >> x & 1 == 0 { low[x] } else { high[x] })));
        hull(&corners.collect::<Vec<_>>())
    }

    /// Returns the convex hull of points.
    fn hull(points: &[Vec3<f64>]) -> Vec<Triangle> {
        let hull = ConvexHull::of(points, 500).expect("a hull");
        let corners = |face: &grapple::algebra::HullFace| face.vertices.map(|i| hull.vertices[i]);
        hull.faces.iter().map(corners).collect()
    }

    /// Closed surfaces, flat, round and saddle-shaped, of few or many triangles, in any pose and rounded to
    /// six digits, have no triangles that intersect.
    fn sound_meshes_have_no_crossing() {
        let mut numbers = Sequence::new(41);
        let mut meshes = vec![torus(20, 0.3), torus(12, 0.6), sphere(12), sphere(30)];
        for count in [4, 8, 20, 100] {
            for _ in 0..10 {
                let points: Vec<Vec3<f64>> = (0..count)
                    .map(|_| Vec3::from_fn(|_, _| numbers.next_in(-1.0..1.0)))
                    .collect();
                meshes.push(hull(&points));
            }
        }
        for mesh in &meshes {
            for _ in 0..2 {
                assert_eq!(crossing(&placed(mesh, &pose(&mut numbers)), DEPTH), None);
            }
        }
    }

    /// Closed parts that share a face, a part of a face, an edge or a stretch of an edge, and parts inside
    /// a cavity, have no triangles that intersect, also if they are rounded to six digits.
    fn parts_that_touch_have_no_crossing() {
        let mut numbers = Sequence::new(42);
        let one = cuboid([0.0; 3], [0.5; 3]);
        for (low, high) in [
            ([0.5, 0.0, 0.0], [1.0, 0.5, 0.5]),
            ([0.5, 0.1, 0.2], [1.0, 0.7, 0.3]),
            ([0.5, 0.5, 0.1], [1.0, 1.0, 0.9]),
            ([0.5, 0.5, 0.5], [1.0, 1.0, 1.0]),
            ([0.1, 0.1, 0.1], [0.4, 0.3, 0.2]),
            ([0.6, 0.1, 0.1], [0.7, 0.3, 0.2]),
        ] {
            let both = [one.clone(), cuboid(low, high)].concat();
            for _ in 0..20 {
                assert_eq!(crossing(&placed(&both, &pose(&mut numbers)), DEPTH), None);
            }
        }
        // A triangle twice, and a corner and an edge on a face.
        let flat = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
        let upon = [
            Vec3::new(0.3, 0.3, 0.0),
            Vec3::new(0.2, 0.3, 0.5),
            Vec3::new(0.6, 0.3, 0.5),
        ];
        let along = [
            Vec3::new(0.3, 0.3, 0.0),
            Vec3::new(0.2, 0.3, 0.0),
            Vec3::new(0.6, 0.3, 0.5),
        ];
        for other in [flat, upon, along] {
            for _ in 0..20 {
                assert_eq!(crossing(&placed(&[flat, other], &pose(&mut numbers)), DEPTH), None);
            }
        }
    }

    /// Boxes that overlap, a prism over a bow tie, a tube that reaches through its own hole and a corner
    /// that reaches 1e-4 m through a face have triangles that intersect, in any pose; the position is in
    /// both triangles.
    fn crossings_are_found_at_their_place() {
        let mut numbers = Sequence::new(43);
        let one = cuboid([0.0; 3], [0.5; 3]);
        let overlapping = [one.clone(), cuboid([0.4, 0.1, 0.1], [0.9, 0.4, 0.4])].concat();
        let shallow = [one, cuboid([0.5 - 1e-4, 0.1, 0.1], [0.9, 0.4, 0.4])].concat();
        let tie = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        let sides = (0..4).flat_map(|i| {
            let corner = |i: usize, z: f64| Vec3::new(tie[i % 4][0], tie[i % 4][1], z);
            let [a, b, c, d] = [corner(i, 0.0), corner(i + 1, 0.0), corner(i + 1, 1.0), corner(i, 1.0)];
            [[a, b, c], [a, c, d]]
        });
        for mesh in [overlapping, shallow, sides.collect(), torus(20, 0.8)] {
            for _ in 0..20 {
                let mesh = placed(&mesh, &pose(&mut numbers));
                let found = crossing(&mesh, DEPTH).expect("a crossing");
                assert!(found.triangles[0] < found.triangles[1]);
                for i in found.triangles {
                    let [a, b, c] = mesh[i];
                    let across = |p: Vec3<f64>, q: Vec3<f64>, r: Vec3<f64>| (q - p).cross(&(r - p));
                    let area = across(a, b, c).norm();
                    let p = found.place;
                    let parts = across(a, b, p).norm() + across(b, c, p).norm() + across(c, a, p).norm();
                    assert!((parts - area).abs() < 1e-12, "{parts} {area}");
                }
            }
        }
    }

    /// Random triangles, few of which intersect: the tree finds two of them if a comparison of all pairs
    /// does.
    fn tree_finds_a_crossing_if_a_pair_has_one() {
        let mut numbers = Sequence::new(44);
        let (mut with, mut without) = (0, 0);
        for _ in 0..100 {
            let triangles: Vec<Triangle> = (0..40)
                .map(|_| {
                    let centre = Vec3::from_fn(|_, _| numbers.next_in(0.0..1.0));
                    [0, 1, 2].map(|_| centre + Vec3::from_fn(|_, _| numbers.next_in(0.0..0.15)))
                })
                .collect();
            let mut pairs = (0..40).flat_map(|i| (0..i).map(move |k| [i, k]));
            let expected = pairs.any(|[i, k]| common(&triangles[i], &triangles[k], DEPTH).is_some());
            assert_eq!(crossing(&triangles, DEPTH).is_some(), expected);
            *if expected { &mut with } else { &mut without } += 1;
        }
        assert!(with > 20 && without > 20, "{with} {without}");
    }
}
